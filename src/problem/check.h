/* The checker for solutions from which stops are missing. */
#ifndef INVIT_PROBLEM_CHECK_H
#define INVIT_PROBLEM_CHECK_H

#include "invit.h"

/* As invit_check, but nodes may be missing: the routes that there are keep all rules. */
invit_status inv_check_part(const invit_instance *instance, const invit_solution *part,
                            invit_check_result *result, invit_error *err);

#endif
