/* Edge assembly crossover (Nagata and Kobayashi 2013), in its localised form: a child is the first parent
 * with one alternating cycle of edges of both parents exchanged (or several, one after the other), and the
 * few subtours that leaves joined again. */
#ifndef INVIT_SEARCH_TSP_EAX_H
#define INVIT_SEARCH_TSP_EAX_H

#include "base/rng.h"
#include "search/tsp_search.h"

typedef struct inv_eax inv_eax; /* one thread's buffers */
invit_status inv_eax_create(const inv_tsp_search *s, inv_eax **out, invit_error *err);
void inv_eax_destroy(inv_eax *x);

/* Makes `child` (neither a nor b) from a by what it can take over from b: cycles are tried in groups of
 * `group`, and the best of each group is kept if it makes the tour shorter, up to `most` of them. One keeps a
 * population varied; many make large instances converge in few generations. Returns how much shorter child is
 * than a. */
double inv_eax_cross(inv_eax *x, const int32_t *a, const int32_t *b, int group, int most, inv_rng *rng,
                     int32_t *child);

#endif
