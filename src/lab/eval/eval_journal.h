/* The journal of an evaluation: one CSV line per instance, on disk as soon as the instance is done, so that a
 * run which was stopped anywhere goes on where it was. */
#ifndef INVIT_LAB_EVAL_EVAL_JOURNAL_H
#define INVIT_LAB_EVAL_EVAL_JOURNAL_H

#include "base/error.h"

/* What became of one instance. */
typedef struct inv_outcome {
    char set[64];      /* "tsp100-uniform", or "tsplib" and "cvrplib"                    */
    char name[128];    /* "17", or the instance's name                                   */
    int32_t nodes;     /* customers for CVRP                                             */
    double length;     /* NaN: failed                                                    */
    double reference;  /* NaN: none known                                                */
    double gap;        /* percent, NaN when either is missing                            */
    double seconds;    /* wall time of the solve                                         */
    int64_t decisions; /* of the policy                                                  */
    char error[256];   /* why it failed, or empty                                        */
} inv_outcome;

double inv_gap_percent(double length, double reference);

typedef struct inv_journal inv_journal;

/* `key` says what was run (model, rollouts, seed, ...) in one line. With resume the file's own key must say
 * the same, except that either may lack a model, and the results in its complete lines are taken over;
 * failures are not, and a last line that was cut off is dropped. Without resume a file that holds something
 * is refused. A NULL path gives a journal that is only in memory. */
invit_status inv_journal_open(const char *path, const char *key, bool resume, inv_journal **out,
                              invit_error *err);
/* A finished file, to compare with. */
invit_status inv_journal_read(const char *path, inv_journal **out, invit_error *err);
/* Frees the journal; what was added is already on disk. */
void inv_journal_close(inv_journal *j);

const char *inv_journal_key(const inv_journal *j);
int32_t inv_journal_count(const inv_journal *j);
const inv_outcome *inv_journal_item(const inv_journal *j, int32_t i);
/* The outcome of that instance, or NULL. O(1) when lines come in the order of the run. */
const inv_outcome *inv_journal_find(inv_journal *j, const char *set, const char *name);
invit_status inv_journal_add(inv_journal *j, const inv_outcome *o, invit_error *err);

#endif
