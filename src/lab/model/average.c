/* The mean of models that began with the same weights. */
#include "invit_lab.h"
#include "policy/model.h"

#include <stdlib.h>

invit_status invit_model_average(invit_model *model, const invit_model *const *others, int32_t count,
                                 invit_error *err)
{
    invit_status status = INVIT_OK;
    size_t room = (size_t)(count > 0 ? count : 1);
    struct invit_model **grown = calloc(room, sizeof *grown);
    if (!grown) return inv_no_memory(err, room * sizeof *grown);
    for (int32_t k = 0; k < count; k++) {
        INV_TRY(inv_model_create(&model->config, &grown[k], err));
        const inv_config *c = &others[k]->config;
        bool as_deep =
            c->action_layers == model->config.action_layers &&
            c->state_layers == model->config.state_layers; /* new layers begin at random: no mean */
        if (as_deep && inv_model_grow(others[k], grown[k], 0)) continue;
        status = inv_fail(err, INVIT_ERR_ARGUMENT, "%s and %s are models of another make: no mean of them",
                          invit_model_path(model), invit_model_path(others[k]));
        goto done;
    }
    for (size_t i = 0; i < model->params; i++) {
        double sum = (double)model->param[i];
        for (int32_t k = 0; k < count; k++) sum += (double)grown[k]->param[i];
        model->param[i] = (float)(sum / (count + 1));
    }
done:
    for (int32_t k = 0; k < count; k++) invit_model_destroy(grown[k]);
    free(grown);
    return status;
}
