/* Writing models, and random ones to measure with. */
#include "invit_lab.h"
#include "policy/weights.h"

invit_status invit_model_save(const invit_model *m, const char *path, invit_error *err)
{
    return inv_model_save(m, path, INV_F32, err);
}

invit_status invit_model_save_as(const invit_model *m, const char *path, invit_storage storage,
                                 invit_error *err)
{
    static const inv_dtype dtype[] = {
        [INVIT_STORE_F32] = INV_F32, [INVIT_STORE_F16] = INV_F16, [INVIT_STORE_BF16] = INV_BF16};
    if (storage < INVIT_STORE_F32 || storage > INVIT_STORE_BF16)
        return inv_fail(err, INVIT_ERR_ARGUMENT, "no storage of number %d", (int)storage);
    return inv_model_save(m, path, dtype[storage], err);
}

invit_status invit_model_random(invit_problem problem, int32_t views, uint64_t seed, invit_model **out,
                                invit_error *err)
{
    static const int32_t published[] = {35, 50, 75};
    inv_config c;
    *out = NULL;
    if (views < 1 || views > 4) return inv_fail(err, INVIT_ERR_ARGUMENT, "1 to 4 views, not %d", views);
    inv_config_defaults(&c, problem);
    c.state_views = views - 1;
    for (int32_t i = 0; i < c.state_views; i++) c.state_k[i] = published[i];
    INV_CHECK(inv_model_create(&c, out, err));
    inv_model_randomise(*out, seed);
    return INVIT_OK;
}
