/* The options of a training run, checked and saved. */
#ifndef INVIT_LAB_TRAIN_RUN_OPTIONS_H
#define INVIT_LAB_TRAIN_RUN_OPTIONS_H

#include "invit_lab.h"
#include "base/outfile.h"
#include "policy/model.h"

/* Reports the first thing that cannot work. */
invit_status inv_options_check(const invit_train_options *o, invit_error *err);
/* The model these options describe. */
invit_status inv_options_model(const invit_train_options *o, inv_config *c, invit_error *err);
/* All options as lines `key = value`, readable by invit_train_read_config and by --config. */
invit_status inv_options_write(const invit_train_options *o, const char *path, invit_error *err);
/* Adds lines for a bound that was given anew when the run was resumed; the last one counts. */
invit_status inv_options_append_bound(const invit_train_options *o, const char *path, invit_error *err);

#endif
