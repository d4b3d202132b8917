/* AdamW over one block of parameters (Loshchilov & Hutter; the arithmetic of PyTorch's torch.optim.AdamW). */
#ifndef INVIT_LAB_TRAIN_RUN_ADAMW_H
#define INVIT_LAB_TRAIN_RUN_ADAMW_H

#include <stddef.h>
#include <stdint.h>

typedef struct inv_adamw {
    double lr;           /* 1e-4 in the paper */
    double beta1, beta2; /* 0.9, 0.999        */
    double eps;          /* 1e-8              */
    double weight_decay; /* 0.01              */
} inv_adamw;

/* Step number `step` (from 1): moments m, v and the parameters are updated in place from scale * grad.
 * O(count). */
void inv_adamw_step(const inv_adamw *o, int64_t step, size_t count, const float *grad, float scale, float *m,
                    float *v, float *param);

#endif
