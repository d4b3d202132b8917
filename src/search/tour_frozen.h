/* Tours and paths with a frozen beginning: what comes behind it is a path problem of its own. */
#ifndef INVIT_SEARCH_TOUR_FROZEN_H
#define INVIT_SEARCH_TOUR_FROZEN_H

#include "search/improve.h"

invit_status inv_construct_frozen(const invit_instance *p, invit_solution **out, invit_error *err);
invit_status inv_improve_frozen(const invit_instance *p, invit_solution *solution,
                                const inv_improve_options *o, inv_improve_stats *stats, invit_error *err);

#endif
