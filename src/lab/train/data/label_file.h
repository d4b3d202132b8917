/* Label files: instances and good solutions of them, compact. */
#ifndef INVIT_LAB_TRAIN_DATA_LABEL_FILE_H
#define INVIT_LAB_TRAIN_DATA_LABEL_FILE_H

#include "lab/train/data/demonstration.h"

typedef struct inv_label_file inv_label_file;

/* A file is outside data: every record is looked at, and every order visits each node once. */
invit_status inv_label_file_open(const char *path, invit_problem problem, inv_label_file **out,
                                 invit_error *err);
/* From memory, which must stay; `name` is what messages call it. */
invit_status inv_label_file_parse(const void *bytes, size_t size, const char *name, invit_problem problem,
                                  inv_label_file **out, invit_error *err);
void inv_label_file_close(inv_label_file *f);
int64_t inv_label_file_count(const inv_label_file *f);
int32_t inv_label_file_largest(const inv_label_file *f);
/* Instance i and its order. */
invit_status inv_label_file_get(const inv_label_file *f, int64_t i, invit_instance **p, inv_demonstration *d,
                                invit_error *err);

extern const char inv_label_magic[8];
/* Bytes of a record before its order's length, for n nodes. */
size_t inv_label_head(invit_problem problem, int32_t n);

#endif
