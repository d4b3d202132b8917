/* Models in files: safetensors with the configuration in the metadata. */
#ifndef INVIT_POLICY_WEIGHTS_H
#define INVIT_POLICY_WEIGHTS_H

#include "policy/model.h"
#include "policy/safetensors.h"

/* A model from an open file: the configuration from its metadata, every tensor by name with its shape
 * checked; a missing, extra, mis-shaped or non-finite tensor is an error. `name` is what messages call the
 * file. */
invit_status inv_model_from_safetensors(const inv_safetensors *s, const char *name, struct invit_model **out,
                                        invit_error *err);
/* storage: INV_F32, INV_F16 or INV_BF16. */
invit_status inv_model_save(const struct invit_model *m, const char *path, inv_dtype storage,
                            invit_error *err);

/* The file of a bundled model ("tsp-2v"), looked for where invit_model_load_default looks; false when there is none. */
enum { INV_MODEL_PATH = 4096 + 64 };
bool inv_find_model(const char *name, char path[INV_MODEL_PATH]);

/* The configuration as metadata strings and back. */
json_t *inv_config_to_metadata(const inv_config *c); /* NULL: no memory */
invit_status inv_config_from_metadata(const json_t *metadata, const char *name, inv_config *out,
                                      invit_error *err);

#endif
