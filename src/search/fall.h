/* A fall of the temperature, in rounds: how hot, how long and of how many steps the next one is. Shared by the searches for
 * CVRP and for routes with rules. */
#ifndef INVIT_SEARCH_FALL_H
#define INVIT_SEARCH_FALL_H

#include "search/improve.h"

typedef struct inv_fall {
    const inv_improve_options *o;
    double hot, cold; /* at its two ends                                      */
    double budget;    /* in seconds or, where o->iterations says so, steps    */
    double begun;     /* inv_now()                                            */
    int64_t first;    /* steps made before it                                 */
    double done;      /* share of the budget                                  */
} inv_fall;

typedef struct inv_fall_round {
    double hot, cold;
    double from, until; /* inv_now() at its two ends             */
    int64_t steps;      /* of all threads; INT64_MAX: by the clock */
} inv_fall_round;

/* The first temperature of a fall of so many steps per customer, between cold and hot. */
double inv_fall_first(const inv_improve_options *o, double hot, double cold, double per_customer);
inv_fall inv_fall_begin(const inv_improve_options *o, double hot, double cold, double budget, int64_t steps);
/* A share of the budget, at most what some steps per customer take at `speed` steps per second. */
inv_fall_round inv_fall_next(const inv_fall *f, int32_t customers, double speed, int64_t steps);
/* A round has ended, after `steps` in all. */
void inv_fall_note(inv_fall *f, int64_t steps);
/* How many of a round's steps are a thread's own. */
int64_t inv_fall_share(const inv_fall_round *round, int thread, int threads);
/* What is done of all: of the options' steps and of the time since `begun`, the larger share. */
double inv_done(const inv_improve_options *o, double begun, int64_t steps);

#endif
