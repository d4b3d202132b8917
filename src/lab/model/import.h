/* PyTorch checkpoints of the authors' layout, turned into models. */
#ifndef INVIT_LAB_MODEL_IMPORT_H
#define INVIT_LAB_MODEL_IMPORT_H

#include "invit_lab.h"
#include "policy/model.h"

/* From the bytes of a file; `name` is what messages call it. */
invit_status inv_model_import(const uint8_t *bytes, size_t size, const char *name,
                              const invit_import_options *o, struct invit_model **out, invit_error *err);

#endif
