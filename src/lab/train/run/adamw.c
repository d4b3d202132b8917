#include "lab/train/run/adamw.h"

#include <math.h>

void inv_adamw_step(const inv_adamw *o, int64_t step, size_t count, const float *grad, float scale, float *m,
                    float *v, float *param)
{
    float b1 = (float)o->beta1, b2 = (float)o->beta2, c1 = (float)(1 - o->beta1), c2 = (float)(1 - o->beta2);
    float decay = (float)(1 - o->lr * o->weight_decay), eps = (float)o->eps;
    float rate = (float)(o->lr / (1 - pow(o->beta1, (double)step)));
    float root = (float)(1 / sqrt(1 - pow(o->beta2, (double)step)));
    for (size_t i = 0; i < count; i++) {
        float g = scale * grad[i];
        m[i] = b1 * m[i] + c1 * g;
        v[i] = b2 * v[i] + c2 * g * g;
        param[i] = decay * param[i] - rate * (m[i] / (sqrtf(v[i]) * root + eps));
    }
}
