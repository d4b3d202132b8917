/* Files and folders of instances, each with the reference it is measured against. */
#ifndef INVIT_LAB_EVAL_LIBRARY_H
#define INVIT_LAB_EVAL_LIBRARY_H

#include "lab/eval/baselines.h"
#include "lab/eval/eval.h"
#include "lab/eval/eval_known.h"
#include "lab/eval/eval_rules.h"

#include <sys/stat.h>

typedef struct inv_library_item {
    char *path;
    invit_format format;
    int32_t index;            /* of the instance in its file */
    char key[128];            /* what the journal calls it: its name, or where it is when the name is taken */
    invit_instance *instance; /* NULL: could not be read */
    double reference;         /* NaN: none               */
    const char *beside; /* ending of the file beside the instance that it is from; NULL: another source */
    dev_t device;       /* which file it is, whatever its path */
    ino_t inode;
    const inv_published_instance *published;
    inv_outcome outcome;
    bool skipped; /* it has something that is not supported: no failure */
    double other; /* gap of the run or column compared with */
} inv_library_item;

typedef struct inv_library {
    const invit_eval_options *o;
    inv_known_list known; /* of --best-known */
    inv_comm *comm;
    inv_journal *journal, *against; /* files on rank 0 only */
    int against_method;             /* published column, or -1 */
    inv_library_item *item;
    int32_t count, room;
    inv_rule_result rule[2][INV_RULES]; /* [invit_problem] with o->rules */
} inv_library;

/* Reads the files and finds the references; what cannot be used keeps its reason. o->limit keeps the smallest. */
invit_status inv_library_open(inv_library *lib, const char *const *paths, int32_t count, invit_error *err);
/* Frees items and references, not the journals. */
void inv_library_close(inv_library *lib);

/* Nodes of a TSP, customers of a CVRP; INT32_MAX for what could not be read. */
int32_t inv_library_size(const inv_library_item *x);
/* The file beside the instance that has its name and that ending. */
void inv_library_beside(const inv_library_item *x, const char *end, char *path, size_t size);
/* "tsplib" or "cvrplib": what the journal calls the item's set. */
const char *inv_library_set(const inv_library_item *x);

#endif
