/* The page of anytime curves, for whoever draws it: invit_plot_traces in a process of its own, the fuzzer in its own. */
#ifndef INVIT_LAB_PLOT_CURVES_H
#define INVIT_LAB_PLOT_CURVES_H

#include "invit_lab.h"
#include "lab/plot/canvas.h"

typedef invit_status inv_page_fn(const inv_page *page, void *context, invit_error *err);

/* Reads the traces and hands the page, which exists during the call only, to use(). */
invit_status inv_traces_page(const char *const *paths, int count, const char *path,
                             const invit_plot_options *options, inv_page_fn *use, void *context,
                             invit_error *err);

#endif
