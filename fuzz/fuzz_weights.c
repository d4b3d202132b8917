/* Weights files: any bytes give a model or an error. */
#include "policy/weights.h"

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    inv_safetensors s;
    invit_error err;
    invit_model *m = NULL;
    if (inv_safetensors_parse(data, size, "fuzz", &s, &err) != INVIT_OK) return 0;
    if (inv_model_from_safetensors(&s, "fuzz", &m, &err) == INVIT_OK) invit_model_destroy(m);
    inv_safetensors_free(&s);
    return 0;
}
