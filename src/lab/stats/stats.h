/* What the three statistics share: cells (problem, distribution, size) of generated instances. */
#ifndef INVIT_LAB_STATS_STATS_H
#define INVIT_LAB_STATS_STATS_H

#include "base/names.h"
#include "invit_lab.h"
#include "base/error.h"
#include "lab/eval/tables.h"

/* Checks the options that all three use and fills in the sizes when none are given. */
invit_status inv_stats_check(const invit_stats_options *o, int32_t smallest, invit_error *err);

/* How a statistic ends: both reports when all is well; when the caller cancelled and some instances are
 * finished, both marked as partial; else neither. Returns the status. */
invit_status inv_stats_end(invit_status status, int32_t finished, int32_t asked, invit_report **summary,
                           invit_report **data, invit_error *err);

#endif
