/* A plain list: one TSP instance, one node per line, "x y" or "x,y"; empty lines and lines that begin with # do
 * not count. */
#include "problem/read.h"

invit_status inv_read_list(inv_text *t, inv_read_state *state, invit_instance **out, invit_error *err)
{
    *out = NULL;
    if (state->index > 0) return INVIT_OK;
    invit_status status = INVIT_OK;
    inv_points points = {0};
    while (inv_text_skip_space(t)) {
        if (*t->at == '#') {
            inv_text_skip_line(t);
            continue;
        }
        double x = 0, y = 0;
        INV_TRY(inv_read_coordinate(t, ',', "an x coordinate", &x, err));
        inv_text_skip_blanks(t);
        if (*t->at == ',') t->at++;
        inv_text_skip_blanks(t);
        INV_TRY(inv_read_coordinate(t, 0, "a y coordinate", &y, err));
        if (inv_text_skip_blanks(t))
            INV_TRY(inv_text_expected(t, err, "the end of the line after two coordinates"));
        INV_TRY(inv_points_add(&points, x, y, err));
        if (points.n == 1 && inv_text_skip_space(t))
            INV_TRY(inv_points_read_blocks(&points, t, -1, INT32_MAX, err));
    }
    INV_TRY(inv_text_status(t, err));
    if (points.n == 0) INV_TRY(inv_text_expected(t, err, "nodes, one x y per line"));
    INV_TRY(inv_points_to_instance(&points, INVIT_EXACT, out, err));
done:
    inv_points_destroy(&points);
    return status;
}
