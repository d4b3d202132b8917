/* The parts of an evaluation: sets of instances, their references, the run over them, the tables. */
#ifndef INVIT_LAB_EVAL_EVAL_H
#define INVIT_LAB_EVAL_EVAL_H

#include "invit_lab.h"
#include "lab/comm/comm.h"
#include "problem/problem.h"
#include "lab/eval/eval_journal.h"
#include "lab/eval/tables.h"
#include "solve/options.h"

/* How to solve: the caller's options, or the policy's rollouts alone. */
inv_solve_options inv_eval_solve(const invit_eval_options *o);

/* ---- sets (eval_sets.c) ------------------------------------------------------------------------- */

/* The seven sizes of MSVDRP: what a set is called and how many instances it has. */
typedef struct inv_size_class {
    invit_problem problem;
    int32_t size, count;
    const char *name;  /* "tsp-100" */
    const char *title; /* "TSP-100" */
} inv_size_class;
extern const inv_size_class inv_size_classes[INVIT_EVAL_SETS];

typedef struct inv_set {
    const inv_size_class *class;
    invit_distribution distribution;
    char name[64]; /* "tsp100-uniform", as `invit gen msvdrp` calls its file */
    bool from_file;
    int32_t count; /* as many as are wanted: all, or the limit */
    invit_instance **instance;
    double *reference; /* [count], NaN where there is none */
    char remark[160];  /* on how they were made; may be empty */
} inv_set;

/* What an instance is called in results: its number in the set. */
#define INV_INSTANCE_NAME 16
void inv_instance_name(int32_t i, char name[INV_INSTANCE_NAME]);

/* Takes the set from DIR/NAME.txt when that is there, and generates it otherwise. */
invit_status inv_set_open(const invit_eval_options *o, const inv_size_class *class, invit_distribution d,
                          inv_set *set, invit_error *err);
void inv_set_close(inv_set *set);

/* ---- references (eval_reference.c) -------------------------------------------------------------- */

/* A length stated in a file may be off by rounding, relative to the true one, not by more. */
#define INV_STATED_TOLERANCE 1e-4

/* Fills set->reference: from the reference file as far as it goes, every line checked; from `results`, else from `earlier`
 * (NULL: none), if these hold all the others; else by search, each rank its share, and what is found is added to the file
 * line by line. */
invit_status inv_references(const invit_eval_options *o, inv_comm *comm, inv_journal *results,
                            inv_journal *earlier, inv_set *set, invit_error *err);
/* Results of an earlier run on the same sets (o->references). */
invit_status inv_references_read(const invit_eval_options *o, inv_journal **out, invit_error *err);

/* ---- the run (eval_run.c) ----------------------------------------------------------------------- */

/* One line that says everything the outcomes depend on. */
invit_status inv_eval_key(const invit_eval_options *o, const char *what, char *key, size_t size,
                          invit_error *err);
/* Solves every instance that the journal does not hold yet, each rank its share, and records the outcomes in
 * the journal of rank 0. An instance that fails is an outcome with an error; only a journal that cannot be
 * written or the caller's cancelling ends the run. After the latter the journal holds what is finished. */
typedef struct inv_task {
    const invit_instance *instance;
    const char *set, *name;
    double reference;
} inv_task;
invit_status inv_eval_tasks(const invit_eval_options *o, inv_comm *comm, inv_journal *j, const inv_task *task,
                            int32_t count, invit_error *err);
/* What this run is called in tables: the model's file name, or the constructor. */
void inv_eval_label(const invit_eval_options *o, invit_problem problem, char *label, size_t size);
/* ---- MSVDRP as numbers (eval_msvdrp.c) ---------------------------------------------------------- */

/* mean[INVIT_EVAL_SETS]: the mean gap of each size over the distributions, NaN where not asked for. */
invit_status inv_msvdrp_means(const invit_eval_options *o, inv_comm *comm, double *mean, int32_t *failures,
                              invit_error *err);

#endif
