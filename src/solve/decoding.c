/* How many rollouts, and how their decisions are made, where the caller does not say. */
#include "solve/rollout.h"

#include <math.h>
#include <stddef.h>

/* What measured best, see inv_choose_decoding. */
#define TEMPERATURE      0.7
#define MOST_TEMPERATURE 1.5
#define COOLING          10 /* with canonical frames: the temperature is this / sqrt(n) */

int32_t inv_default_rollouts(int64_t n)
{
    static const struct {
        int64_t nodes;
        int32_t rollouts;
    } table[] = {{200, 64}, {1000, 32}, {5000, 16}, {10000, 8}, {100000, 4}, {1000000, 2}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (n <= table[i].nodes) return table[i].rollouts;
    return 1;
}

int32_t inv_rollouts_to_rebuild(invit_problem problem, int64_t n)
{
    if (n > 1000) return 2;
    return problem == INVIT_TSP ? 8 : 4;
}

/* Sampling costs a little at every decision, so it pays where there are few of them: 64 rollouts of a CVRP
 * are 3.0 % instead of 3.3 % above the references with 50 customers, level with greedy ones with 150.
 * Elsewhere rollouts are greedy as long as start nodes or rotations make them different. With
 * canonical frames rotations change nothing, and the temperature is what measured best with 50 customers (1.4),
 * with 100 to 150 (1) and with 500 (0.4). */
void inv_choose_decoding(const invit_instance *p, const inv_config *c, inv_rollout_options *o)
{
    enum { SMALL_CVRP = 200 };
    bool cvrp = p->problem == INVIT_CVRP, small = cvrp && p->n <= SMALL_CVRP;
    int32_t differ = cvrp ? 1 : p->n;
    if (!c->canonical_frame) differ = o->rollouts;
    o->greedy = small ? 1 : differ;
    o->decode = o->greedy < o->rollouts ? INV_DECODE_SAMPLE : INV_DECODE_GREEDY;
    o->temperature = c->canonical_frame ? fmin(MOST_TEMPERATURE, COOLING / sqrt((double)p->n)) : TEMPERATURE;
}
