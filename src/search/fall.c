#include "search/fall.h"

#include "base/clock.h"

#include <math.h>

#define ROUND_STEPS  50 /* steps per customer before solutions are cut anew or exchanged */
#define LEAST_ROUNDS 6
/* Steps per customer from which a fall begins as hot as can be: hot falls end shorter even if they are fast. 5,000 customers
 * with 20 steps each ended 0.1 to 0.2 % shorter from 1.5 mean edges than from 0.06 in routes of 9, and 4.6 and 4.0 % shorter
 * from 9 than from 0.4 in routes of 110. */
#define HOT_STEPS 10
/* Fewer do not lead back from there to a solution that a search has made: they begin at WARM mean edges at most. */
#define REFINE_STEPS 200
#define WARM         0.3

double inv_fall_first(const inv_improve_options *o, double hot, double cold, double per_customer)
{
    if (o->refine && per_customer < REFINE_STEPS)
        return fmax(cold, fmin(WARM, hot) * per_customer / REFINE_STEPS);
    return fmax(cold, hot * fmin(1, per_customer / HOT_STEPS));
}

inv_fall inv_fall_begin(const inv_improve_options *o, double hot, double cold, double budget, int64_t steps)
{
    return (inv_fall){.o = o, .hot = hot, .cold = cold, .budget = budget, .begun = inv_now(), .first = steps};
}

static bool counted(const inv_fall *f)
{
    return f->o->iterations >= 0;
}

static double temperature(const inv_fall *f, double done)
{
    return f->hot * pow(f->cold / f->hot, done);
}

inv_fall_round inv_fall_next(const inv_fall *f, int32_t customers, double speed, int64_t steps)
{
    double all = counted(f) ? f->budget : speed * f->budget; /* steps of the fall */
    double share = fmin(ROUND_STEPS * (double)customers / all, 1.0 / LEAST_ROUNDS);
    double next = fmin(1, f->done + share);
    inv_fall_round round = {.hot = temperature(f, f->done),
                            .cold = temperature(f, next),
                            .from = inv_now(),
                            .until = f->o->deadline,
                            .steps = INT64_MAX};
    if (counted(f))
        round.steps = (int64_t)ceil(next * f->budget) - (steps - f->first);
    else
        round.until = fmin(f->begun + next * f->budget, f->o->deadline);
    return round;
}

void inv_fall_note(inv_fall *f, int64_t steps)
{
    f->done = (counted(f) ? (double)(steps - f->first) : inv_now() - f->begun) / f->budget;
}

int64_t inv_fall_share(const inv_fall_round *round, int thread, int threads)
{
    if (round->steps == INT64_MAX) return INT64_MAX;
    return round->steps * (thread + 1) / threads - round->steps * thread / threads;
}

double inv_done(const inv_improve_options *o, double begun, int64_t steps)
{
    double done = o->iterations > 0 ? (double)steps / (double)o->iterations : 0;
    if (o->deadline < INFINITY) done = fmax(done, (inv_now() - begun) / (o->deadline - begun));
    return fmin(done, 1);
}
