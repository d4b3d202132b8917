/* Summaries of samples and paired comparisons. */
#ifndef INVIT_LAB_EVAL_STATISTICS_H
#define INVIT_LAB_EVAL_STATISTICS_H

#include "base/error.h"

typedef struct inv_summary {
    int32_t count;
    double mean, deviation, smallest, largest; /* deviation: of the sample (n - 1); NaN for fewer than two */
} inv_summary;

/* NaN entries are left out (an instance that failed has no gap). */
inv_summary inv_summarise(const double *x, int32_t n);

/* Wins, ties and losses of a against b (smaller is better), pair by pair, and Wilcoxon's signed-rank test of
 * the differences, two-sided. Pairs with a NaN are left out. Zero differences (|a - b| <= tie) are ties and
 * do not enter the test (Wilcoxon's own rule); equal absolute differences share their mean rank. Up to 50
 * differences the p-value is exact, by counting the sign patterns with these very ranks; above, the normal
 * approximation with the correction for ties and for continuity. Without any difference p = 1. */
typedef struct inv_comparison {
    int32_t wins, ties, losses;
    double p;
    bool exact;
} inv_comparison;

invit_status inv_compare(const double *a, const double *b, int32_t n, double tie, inv_comparison *out,
                         invit_error *err);

#endif
