/* Summaries and Wilcoxon's signed-rank test. */
#include "lab/eval/statistics.h"

#include <math.h>
#include <stdlib.h>

enum { EXACT_UP_TO = 50 };

inv_summary inv_summarise(const double *x, int32_t n)
{
    inv_summary s = {0, NAN, NAN, NAN, NAN};
    double sum = 0;
    for (int32_t i = 0; i < n; i++) {
        if (isnan(x[i])) continue;
        sum += x[i];
        if (s.count == 0 || x[i] < s.smallest) s.smallest = x[i];
        if (s.count == 0 || x[i] > s.largest) s.largest = x[i];
        s.count++;
    }
    if (s.count == 0) return s;
    s.mean = sum / s.count;
    double square = 0; /* second pass: no cancellation */
    for (int32_t i = 0; i < n; i++)
        if (!isnan(x[i])) square += (x[i] - s.mean) * (x[i] - s.mean);
    if (s.count > 1) s.deviation = sqrt(square / (s.count - 1));
    return s;
}

static int by_magnitude(const void *a, const void *b)
{
    double x = fabs(*(const double *)a), y = fabs(*(const double *)b);
    return (x > y) - (x < y);
}

/* Share of the 2^n sign patterns whose sum of positive (doubled) ranks is <= low. */
static double exact_tail(const int32_t *rank2, int32_t n, int32_t low)
{
    double count[EXACT_UP_TO * (EXACT_UP_TO + 1) + 1] = {1};
    int32_t reach = 0;
    for (int32_t i = 0; i < n; i++) {
        reach += rank2[i];
        for (int32_t s = reach; s >= 0; s--)
            count[s] = 0.5 * (count[s] + (s >= rank2[i] ? count[s - rank2[i]] : 0));
    }
    double share = 0;
    for (int32_t s = 0; s <= low && s <= reach; s++) share += count[s];
    return share;
}

invit_status inv_compare(const double *a, const double *b, int32_t n, double tie, inv_comparison *out,
                         invit_error *err)
{
    *out = (inv_comparison){0, 0, 0, 1, true};
    double *d = malloc(((size_t)n + 1) * sizeof *d);
    int32_t *rank2 =
        malloc(((size_t)n + 1) * sizeof *rank2); /* ranks doubled: shared ranks stay whole numbers */
    invit_status status = INVIT_OK;
    if (!d || !rank2) {
        status = inv_no_memory(err, (size_t)n * sizeof *d);
        goto done;
    }
    int32_t m = 0;
    for (int32_t i = 0; i < n; i++) {
        double x = a[i] - b[i];
        if (isnan(x)) continue;
        if (fabs(x) <= tie)
            out->ties++;
        else if (x < 0)
            out->wins++;
        else
            out->losses++;
        if (fabs(x) > tie) d[m++] = x;
    }
    if (m == 0) goto done;
    qsort(d, (size_t)m, sizeof *d, by_magnitude);
    double positive2 = 0, total2 = 0, tie_term = 0;
    for (int32_t i = 0; i < m;) {
        int32_t j = i;
        while (j < m && fabs(d[j]) == fabs(d[i])) j++;
        double t = j - i;
        tie_term += t * t * t - t;
        for (int32_t k = i; k < j; k++) {
            rank2[k] = i + j + 1; /* twice the mean of ranks i+1..j */
            total2 += rank2[k];
            if (d[k] > 0) positive2 += rank2[k];
        }
        i = j;
    }
    double smaller2 = positive2 < total2 - positive2 ? positive2 : total2 - positive2;
    out->exact = m <= EXACT_UP_TO;
    if (out->exact) {
        out->p = fmin(1, 2 * exact_tail(rank2, m, (int32_t)smaller2));
    } else {
        double mu = m * (m + 1.0) / 4, var = m * (m + 1.0) * (2.0 * m + 1) / 24 - tie_term / 48;
        double z = (mu - smaller2 / 2 - 0.5) / sqrt(var);
        out->p = z <= 0 ? 1 : erfc(z / sqrt(2.0));
    }
done:
    free(d);
    free(rank2);
    return status;
}
