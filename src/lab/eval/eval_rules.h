/* The rows a practitioner asks for: simple constructions on the same instances, with their times. */
#ifndef INVIT_LAB_EVAL_EVAL_RULES_H
#define INVIT_LAB_EVAL_EVAL_RULES_H

#include "lab/eval/eval.h"

enum { INV_RULES = 4 };

typedef struct inv_rule_result {
    int32_t count;  /* instances with a gap; 0: the rule is not for this problem, or failed */
    int32_t failed; /* instances without a solution                              */
    double gap;     /* their mean, in percent                                    */
    double seconds; /* of all instances                                          */
} inv_rule_result;

/* "nearest neighbour", ... */
const char *inv_rule_name(int rule);
/* Solves all tasks, which are of one problem, with every rule that is for it, construction only. */
invit_status inv_rules_run(const invit_eval_options *o, inv_comm *comm, const inv_task *task, int32_t count,
                           inv_rule_result result[INV_RULES], invit_error *err);

#endif
