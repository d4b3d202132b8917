/* The order in which a Hilbert curve through the bounding square visits the nodes: some 35 % above the
 * optimum, in no time at all. */
#include "search/curve.h"
#include "search/improve.h"

invit_status inv_construct_space_filling(const invit_instance *p, invit_solution **out, invit_error *err)
{
    *out = NULL;
    INV_CHECK(inv_solution_alloc(1, p->n, out, err));
    (*out)->start[0] = 0;
    (*out)->start[1] = p->n;
    invit_status status = inv_curve_order(p->xy, p->n, 1, (*out)->nodes, err);
    if (status != INVIT_OK) {
        invit_solution_destroy(*out);
        *out = NULL;
    }
    return status;
}
