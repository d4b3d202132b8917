/* What the statistics begin and end with: options, and what is left of a run that was stopped. */
#include "lab/stats/stats.h"

#include "invit_lab.h"
#include "lab/eval/eval_work.h"

invit_stats_options invit_stats_defaults(void)
{
    return (invit_stats_options){.problem = {true, true},
                                 .distribution = {true, true, true, true},
                                 .count = 20,
                                 .effort = 1,
                                 .seed = 1};
}

invit_status inv_stats_check(const invit_stats_options *o, int32_t smallest, invit_error *err)
{
    if (o->count < 1) return inv_fail(err, INVIT_ERR_ARGUMENT, "count must be at least 1, not %d", o->count);
    if (!(o->effort > 0) || o->seconds < 0)
        return inv_fail(err, INVIT_ERR_ARGUMENT, "the search effort must be positive");
    for (int32_t i = 0; i < o->size_count; i++)
        if (o->sizes[i] < smallest || o->sizes[i] > 1000000)
            return inv_fail(err, INVIT_ERR_ARGUMENT, "size %d is out of range, expected %d to 1000000",
                            o->sizes[i], smallest);
    return INVIT_OK;
}

invit_status inv_stats_end(invit_status status, int32_t finished, int32_t asked, invit_report **summary,
                           invit_report **data, invit_error *err)
{
    if (status == INVIT_OK) return status;
    if (status == INVIT_ERR_CANCELLED) inv_stopped(finished, asked, err);
    if (status == INVIT_ERR_CANCELLED && finished > 0) {
        inv_report_partial(*summary, err);
        inv_report_partial(*data, err);
        return status;
    }
    invit_report_destroy(*summary);
    invit_report_destroy(*data);
    *summary = *data = NULL;
    return status;
}
