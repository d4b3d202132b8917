#define _GNU_SOURCE
#include "base/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

int inv_threads(int wanted)
{
    if (wanted > 0) return wanted;
#ifdef CPU_COUNT
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
#endif
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores > 0 ? (int)cores : 1;
}

typedef struct member {
    void (*fn)(void *, int);
    void *context;
    int index;
    pthread_t thread;
} member;

static void *run_member(void *p)
{
    member *m = p;
    m->fn(m->context, m->index);
    return NULL;
}

void inv_parallel(int threads, void (*fn)(void *, int), void *context)
{
    member *team = threads > 1 ? calloc((size_t)threads, sizeof *team) : NULL;
    int started = 0;
    for (int i = 1; team && i < threads; i++) {
        team[i] = (member){.fn = fn, .context = context, .index = i};
        if (pthread_create(&team[i].thread, NULL, run_member, &team[i]) != 0) break;
        started = i;
    }
    fn(context, 0);
    for (int i = started + 1; i < threads; i++) fn(context, i);
    for (int i = 1; i <= started; i++) pthread_join(team[i].thread, NULL);
    free(team);
}
