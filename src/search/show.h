/* Handing the best solution so far to somebody who draws it. */
#ifndef INVIT_SEARCH_SHOW_H
#define INVIT_SEARCH_SHOW_H

#include "base/clock.h"
#include "search/improve.h"

#define INV_SHOW_SECONDS                                                                                     \
    0.1 /* between two reports to the caller: often enough for a drawing, too seldom to cost */

/* By more than rounding: the same tour summed in another order is not news. */
static inline bool inv_shorter(double length, double than)
{
    return length < than * (1 - 1e-12);
}

typedef struct inv_shown {
    double at, length; /* when and what was shown last */
} inv_shown;

/* Whether inv_show would show a solution of this length now. */
static inline bool inv_show_due(const inv_improve_options *o, const inv_shown *last, double length)
{
    return o->on_solution && inv_shorter(length, last->length) && inv_now() - last->at >= INV_SHOW_SECONDS;
}

/* Shows a whole, feasible solution if it is better than the last one shown and that was a tenth of a second
 * ago. From the thread that called the improver, while nobody changes the solution. */
static inline void inv_show(const inv_improve_options *o, inv_shown *last, double length,
                            const invit_solution *solution)
{
    if (!o->on_solution || length >= last->length * (1 - 1e-12)) return; /* not for a rounding error */
    double now = inv_now();
    if (now - last->at < INV_SHOW_SECONDS) return;
    *last = (inv_shown){now, length};
    o->on_solution(o->on_solution_user, length, solution);
}

#endif
