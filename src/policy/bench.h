/* How fast the network itself is: ready-made random states through forward, or forward and backward. */
#ifndef INVIT_POLICY_BENCH_H
#define INVIT_POLICY_BENCH_H

#include "policy/model.h"

typedef struct inv_bench_policy {
    double seconds;     /* wall time                                                                   */
    double cpu_seconds; /* processor time of all threads                                               */
    int64_t states;     /* states done by all threads                                                  */
} inv_bench_policy;

/* Full views, random weights. `batch` states go through the policy at a time on each thread. With `training`, each step
 * of 512 states is forward, backward, the sum of the threads' gradients, AdamW and the refresh of the prepared weights.
 * Runs for about `seconds`. */
invit_status inv_bench_policy_states(const inv_config *c, int threads, int32_t batch, bool training, double seconds,
                                     inv_bench_policy *out, invit_error *err);

#endif
