/* The 28 sets of MSVDRP: seven sizes by four distributions. */
#include "base/names.h"
#include "invit_lab.h"
#include "lab/eval/eval.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const inv_size_class inv_size_classes[INVIT_EVAL_SETS] = {
    {INVIT_TSP, 100, 2000, "tsp-100", "TSP-100"},     {INVIT_TSP, 1000, 200, "tsp-1000", "TSP-1000"},
    {INVIT_TSP, 5000, 20, "tsp-5000", "TSP-5000"},    {INVIT_TSP, 10000, 20, "tsp-10000", "TSP-10000"},
    {INVIT_CVRP, 50, 2000, "cvrp-50", "CVRP-50"},     {INVIT_CVRP, 500, 200, "cvrp-500", "CVRP-500"},
    {INVIT_CVRP, 5000, 20, "cvrp-5000", "CVRP-5000"},
};

const char *invit_eval_set_name(int i)
{
    return i >= 0 && i < INVIT_EVAL_SETS ? inv_size_classes[i].name : NULL;
}

static invit_status read_set(const char *path, inv_set *set, invit_error *err)
{
    invit_reader *reader = NULL;
    invit_status status;
    const inv_size_class *class = set->class;
    int32_t nodes = class->size + (class->problem == INVIT_CVRP), wanted = set->count;
    INV_TRY(invit_reader_open(path, &reader, err));
    for (set->count = 0; set->count < wanted; set->count++) {
        invit_instance **p = &set->instance[set->count];
        INV_TRY(invit_reader_next(reader, p, err));
        if (!*p) break;
        if ((*p)->problem != class->problem || (*p)->n != nodes) {
            status = inv_fail(err, INVIT_ERR_INPUT, "%s: instance %d is a %s with %d nodes, expected %s",
                              path, set->count, inv_problem_title((*p)->problem),
                              (*p)->n - ((*p)->problem == INVIT_CVRP), class->title);
            set->count++; /* so that it is freed */
            goto done;
        }
    }
    if (set->count == 0) status = inv_fail(err, INVIT_ERR_INPUT, "%s: no instance in this file", path);
done:
    invit_reader_close(reader);
    return status;
}

invit_status inv_set_open(const invit_eval_options *o, const inv_size_class *class, invit_distribution d,
                          inv_set *set, invit_error *err)
{
    invit_status status = INVIT_OK;
    char path[4096];
    memset(set, 0, sizeof *set);
    set->class = class;
    set->distribution = d;
    set->count = o->limit > 0 && o->limit < class->count ? o->limit : class->count;
    snprintf(set->name, sizeof set->name, "%s%d-%s", inv_problem_name(class->problem), class->size,
             inv_distribution_name(d));
    set->instance = calloc((size_t)set->count, sizeof *set->instance);
    set->reference = calloc((size_t)set->count, sizeof *set->reference);
    if (!set->instance || !set->reference) {
        status = inv_no_memory(err, (size_t)set->count * sizeof *set->instance);
        goto done;
    }
    if (o->dir && (size_t)snprintf(path, sizeof path, "%s/%s.txt", o->dir, set->name) >= sizeof path) {
        status = inv_fail(err, INVIT_ERR_ARGUMENT, "%s: name too long", o->dir);
        goto done;
    }
    set->from_file = o->dir && access(path, F_OK) == 0;
    if (set->from_file) {
        INV_TRY(read_set(path, set, err));
    } else {
        for (int32_t i = 0; i < set->count; i++)
            INV_TRY(invit_generate(class->problem, d, class->size, o->data_seed, (uint64_t)i,
                                   &set->instance[i], err));
    }
done:
    if (status != INVIT_OK) inv_set_close(set);
    return status;
}

void inv_instance_name(int32_t i, char name[INV_INSTANCE_NAME])
{
    snprintf(name, INV_INSTANCE_NAME, "%d", i);
}

void inv_set_close(inv_set *set)
{
    for (int32_t i = 0; set->instance && i < set->count; i++) invit_instance_destroy(set->instance[i]);
    free(set->instance);
    free(set->reference);
    memset(set, 0, sizeof *set);
}
