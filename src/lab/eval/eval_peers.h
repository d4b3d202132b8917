/* Side by side: this solver and other programs on the same instances, one run after the other. */
#ifndef INVIT_LAB_EVAL_EVAL_PEERS_H
#define INVIT_LAB_EVAL_EVAL_PEERS_H

#include "lab/eval/library.h"

/* Whether the options ask for it: other solvers, or several time limits. */
bool inv_peers_wanted(const invit_eval_options *o);
/* Runs every solver with every time limit on every instance of the library, checks each solution, and gives a table by
 * instance, for the longest limit, and one of mean gaps by limit, which invit_report_figure draws. */
invit_status inv_peers_report(inv_library *lib, invit_report **out, int32_t *failures, invit_error *err);

#endif
