#include "search/tsp_exact.h"

#include "problem/metric.h"

enum { REST = INV_EXACT_MAX - 1, SETS = 1 << REST };

void inv_exact_order(const invit_instance *p, int32_t fix_a, int32_t fix_b, int32_t *order)
{
    int n = p->n, rest = n - 1;
    double d[INV_EXACT_MAX][INV_EXACT_MAX], longest = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            d[i][j] = inv_distance(p, i, j);
            if (d[i][j] > longest) longest = d[i][j];
        }
    if (fix_a >= 0) d[fix_a][fix_b] = d[fix_b][fix_a] = -INV_EXACT_MAX * (longest + 1);

    /* cost[set][last]: shortest path from node 0 through `set` that ends in `last`; bit i stands for node i
     * + 1. */
    double cost[SETS][REST];
    int8_t from[SETS][REST];
    for (int set = 1; set < 1 << rest; set++)
        for (int last = 0; last < rest; last++) {
            if (!(set >> last & 1)) continue;
            int before = set & ~(1 << last);
            cost[set][last] = before ? INFINITY : d[0][last + 1];
            from[set][last] = -1;
            for (int i = 0; i < rest; i++) {
                if (!(before >> i & 1)) continue;
                double c = cost[before][i] + d[i + 1][last + 1];
                if (c < cost[set][last]) {
                    cost[set][last] = c;
                    from[set][last] = (int8_t)i;
                }
            }
        }

    int set = (1 << rest) - 1, last = 0;
    for (int i = 1; i < rest; i++)
        if (cost[set][i] + d[i + 1][0] < cost[set][last] + d[last + 1][0]) last = i;
    order[0] = 0;
    for (int at = rest; at > 0; at--) {
        order[at] = last + 1;
        int before = from[set][last];
        set &= ~(1 << last);
        last = before;
    }
}
