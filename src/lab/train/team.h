/* Threads that stay: a step of training hands its lanes to them some times a second without creating
 * anything. */
#ifndef INVIT_LAB_TRAIN_TEAM_H
#define INVIT_LAB_TRAIN_TEAM_H

#include "base/error.h"

typedef struct inv_team inv_team;

invit_status inv_team_create(int threads, inv_team **out, invit_error *err);
void inv_team_destroy(inv_team *t);
int inv_team_size(const inv_team *t);

/* fn(context, member, item) for item = 0..items-1, each taken by the next free member in that order; the
 * calling thread is member 0. Returns when all are done. */
void inv_team_run(inv_team *t, int items, void (*fn)(void *context, int member, int item), void *context);

#endif
