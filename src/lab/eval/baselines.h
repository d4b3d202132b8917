/* The columns the paper published, as data.
 *
 * Source: H. Fang, Z. Song, P. Weng, Y. Ban, "INViT: A Generalizable Routing Problem Solver with Invariant
 * Nested View Transformer", ICML 2024: its two main tables (MSVDRP), its library table by size, its ablation
 * table and the two per-instance tables of its appendix. Times are those of one RTX 4090 (near-optimal:
 * Gurobi, LKH-3, HGS on its CPU).
 */
#ifndef INVIT_LAB_EVAL_BASELINES_H
#define INVIT_LAB_EVAL_BASELINES_H

#include "base/error.h"

extern const char inv_published_source[]; /* one line, for notes under tables */

enum { INV_PUBLISHED_METHODS = 9 };
enum { INV_PUBLISHED_NEAR_OPTIMAL = 0, INV_PUBLISHED_2V = 7, INV_PUBLISHED_3V = 8 };
extern const char *const inv_published_method[INV_PUBLISHED_METHODS];

/* One MSVDRP set: mean gap in percent (NaN: not published) and total time as printed. */
typedef struct inv_published_set {
    invit_problem problem;
    const char *distribution;
    int32_t size;
    double gap[INV_PUBLISHED_METHODS];
    const char *time[INV_PUBLISHED_METHODS];
} inv_published_set;
/* A time as printed ("23.8m") in seconds. */
double inv_published_seconds(const char *time);
const inv_published_set *inv_published_set_find(invit_problem problem, const char *distribution,
                                                int32_t size);

/* One library instance: gap in percent (NaN: not published, or out of memory there). */
typedef struct inv_published_instance {
    const char *name;
    double gap[INV_PUBLISHED_METHODS];
} inv_published_instance;
const inv_published_instance *inv_published_instance_find(invit_problem problem, const char *name);

/* The size buckets of the library table: lowest..highest nodes (CVRP: customers). */
typedef struct inv_bucket {
    invit_problem problem;
    const char *name;
    int32_t lowest, highest;
    double gap[INV_PUBLISHED_METHODS];
} inv_bucket;
enum { INV_BUCKETS = 7 };
extern const inv_bucket inv_buckets[INV_BUCKETS];

/* The ablation table: mean gap over the four distributions on TSP-1000, TSP-10000, CVRP-500, CVRP-5000. */
typedef struct inv_published_variant {
    const char *name; /* the key `invit eval ablation` uses */
    const char *title;
    double gap[4];
} inv_published_variant;
enum { INV_VARIANTS = 12 };
extern const inv_published_variant inv_published_variants[INV_VARIANTS];

#endif
