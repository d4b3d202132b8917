/* Checkpoints: any bytes give a model or an error. */
#include "invit_lab.h"
#include "lab/model/import.h"

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    invit_import_options o = invit_import_defaults();
    invit_error err;
    invit_model *m = NULL;
    o.heads = 1;
    if (inv_model_import(data, size, "fuzz", &o, &m, &err) == INVIT_OK) invit_model_destroy(m);
    return 0;
}
