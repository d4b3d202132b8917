/* The instances a run learns from: a mix of distributions and sizes. */
#ifndef INVIT_LAB_TRAIN_DATA_MIX_H
#define INVIT_LAB_TRAIN_DATA_MIX_H

#include "invit_lab.h"
#include "base/rng.h"
#include "problem/problem.h"

#define INV_MAX_SOURCES 32

typedef struct inv_source {
    invit_distribution distribution;
    int32_t low, high; /* sizes, drawn evenly on a logarithmic scale                        */
    double chance;     /* of drawing an instance from here, the sources before it included  */
} inv_source;

typedef struct inv_mix {
    invit_problem problem;
    int32_t sources;
    inv_source source[INV_MAX_SOURCES];
    int32_t capacity_low, capacity_high; /* CVRP; 0: by size, as published */
    int32_t demand_max;
    double like_library; /* share of instances like the libraries', whatever capacity and demand_max say */
    int32_t largest;     /* nodes of the largest instance, depot included */
} inv_mix;

/* Reads "uniform:100,clustered:200-500:2": the shares are shares of the nodes, so of the decisions. */
invit_status inv_mix_parse(inv_mix *m, const invit_train_options *o, invit_error *err);
/* A fresh instance. */
invit_status inv_mix_draw(const inv_mix *m, inv_rng *rng, invit_instance **out, invit_error *err);
/* The capacity the published CVRP runs use for a size. */
int32_t inv_published_capacity(int32_t customers);

#endif
