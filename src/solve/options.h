/* What invit_solve can be told: the struct behind invit_options, whose fields the table in options.c names. */
#ifndef INVIT_SOLVE_OPTIONS_H
#define INVIT_SOLVE_OPTIONS_H

#include "base/options.h"
#include "problem/problem.h"

typedef enum inv_decode {
    INV_DECODE_GREEDY = 0, /* the most probable candidate                               */
    INV_DECODE_SAMPLE,     /* drawn from the policy's distribution                      */
    INV_DECODE_BEAM,       /* the most probable partial solutions side by side          */
    INV_DECODE_AUTO        /* greedy, but sampled where greedy rollouts would be too much alike: those of a
                            * CVRP after the first, if it is small or its views are in the canonical frame */
} inv_decode;

typedef enum inv_improve_kind {
    INV_IMPROVE_SEARCH = 0, /* local search                                             */
    INV_IMPROVE_NEURAL,     /* parts rebuilt by the policy                              */
    INV_IMPROVE_BOTH
} inv_improve_kind;

typedef struct inv_solve_options {
    int construct;                /* an invit_construct (INVIT)                                      */
    const invit_solution *start;  /* begin with this instead (NULL)                                  */
    int rollouts;                 /* rollouts of the policy; 0: by size, see inv_default_rollouts    */
    int decode;                   /* an inv_decode (AUTO)                                            */
    double temperature;           /* of SAMPLE: log-probabilities are divided by it (1); AUTO has its own */
    int beam;                     /* beam search: width (8)                                          */
    double seconds;               /* for everything, 0: construct only; < 0: inv_default_seconds (-1) */
    double elapsed;               /* of these, already spent when the call begins (0)                */
    int64_t iterations;           /* improvement steps instead of a time limit; < 0: no limit (-1)   */
    int improve;                  /* an inv_improve_kind (SEARCH)                                    */
    double stop_after;            /* seconds without a better solution after which to stop; 0: never (0) */
    double target;                /* stop at this length; 0: never (0)                               */
    int threads;                  /* 0: all cores (0)                                                */
    uint64_t seed;                /* (1)                                                             */
    const invit_control *control; /* progress and cancelling (NULL)                                  */
    invit_better_fn better;       /* (NULL)                                                          */
    void *better_user;
    bool with_solution; /* better is told the solution too                                 */
    invit_step_fn step; /* called for each decision of the first rollout (NULL)            */
    void *step_user;
} inv_solve_options;

struct invit_options {
    inv_solve_options o;
    invit_control control; /* o.control points here when there is one */
};

inv_solve_options inv_solve_defaults(void);
/* 64 up to 200 nodes, 32 to 1,000, 16 to 5,000, 8 to 10,000 (the authors' numbers), 4 to 100,000, 2 to 1,000,000, then 1;
 * of a CVRP the customers count. */
int32_t inv_default_rollouts(int64_t nodes);
/* Where reconstruction follows, which makes more of the time: up to 1,000 nodes 8 of a TSP, 4 of a CVRP, then 2. */
int32_t inv_rollouts_to_rebuild(invit_problem problem, int64_t nodes);
/* 20 ms per node, at least 1 s, at most 2 s + 5 ms per node, at most 60 s; or 0.3 ms per node where that is more. */
double inv_default_seconds(int64_t nodes);
/* For users declared in invit_lab.h, but part of libinvit: watching the policy, as Python does, needs nothing of the lab. */
INVIT_API void invit_options_set_step(invit_options *options, invit_step_fn fn, void *user);
/* Puts a value into the options and complains like invit_options_set. */
invit_status inv_solve_set(inv_solve_options *o, const char *name, const char *value, invit_error *err);

/* invit_solve with the struct; *result may be NULL. */
invit_status inv_solve(const invit_instance *instance, const invit_model *model,
                       const inv_solve_options *options, invit_solution **solution, inv_solved *result,
                       invit_error *err);

#endif
