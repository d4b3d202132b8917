/* Label files: instances and good solutions of them, compact. */
#ifndef INVIT_LAB_TRAIN_LABELFILE_H
#define INVIT_LAB_TRAIN_LABELFILE_H

#include "lab/train/lesson.h"

typedef struct inv_labelfile inv_labelfile;

invit_status inv_labelfile_open(const char *path, invit_problem problem, inv_labelfile **out,
                                invit_error *err);
void inv_labelfile_close(inv_labelfile *f);
int64_t inv_labelfile_count(const inv_labelfile *f);
int32_t inv_labelfile_largest(const inv_labelfile *f);
/* Instance i and its order. */
invit_status inv_labelfile_get(const inv_labelfile *f, int64_t i, invit_instance **p, inv_lesson *l,
                               invit_error *err);

#endif
