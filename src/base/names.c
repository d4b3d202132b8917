#include "base/names.h"

static const char *name_of(const char *const *names, unsigned count, int i)
{
    return (unsigned)i < count ? names[i] : "unknown";
}
#define NAME(names, i) name_of(names, sizeof(names) / sizeof *(names), (int)(i))

const char *inv_problem_name(invit_problem problem)
{
    static const char *const names[] = {[INVIT_TSP] = "tsp", [INVIT_CVRP] = "cvrp"};
    return NAME(names, problem);
}

const char *inv_problem_title(invit_problem problem)
{
    static const char *const names[] = {[INVIT_TSP] = "TSP", [INVIT_CVRP] = "CVRP"};
    return NAME(names, problem);
}

const char *inv_metric_name(invit_metric metric)
{
    static const char *const names[] = {
        [INVIT_EXACT] = "exact",  [INVIT_EUC_2D] = "euc_2d", [INVIT_CEIL_2D] = "ceil_2d",
        [INVIT_ATT] = "att",      [INVIT_GEO] = "geo",       [INVIT_HAVERSINE] = "haversine",
        [INVIT_DIMACS] = "dimacs"};
    return NAME(names, metric);
}

const char *inv_distribution_name(invit_distribution distribution)
{
    static const char *const names[] = {[INVIT_UNIFORM] = "uniform",
                                        [INVIT_CLUSTERED] = "clustered",
                                        [INVIT_EXPLOSION] = "explosion",
                                        [INVIT_IMPLOSION] = "implosion"};
    return NAME(names, distribution);
}

const char *inv_construct_name(invit_construct construct)
{
    static const char *const names[] = {
        [INVIT_CONSTRUCT_INVIT] = "invit",        [INVIT_CONSTRUCT_NEAREST] = "nearest",
        [INVIT_CONSTRUCT_GREEDY] = "greedy",      [INVIT_CONSTRUCT_SPACE_FILLING] = "space-filling",
        [INVIT_CONSTRUCT_SAVINGS] = "savings",    [INVIT_CONSTRUCT_START] = "start",
        [INVIT_CONSTRUCT_INSERTION] = "insertion"};
    return NAME(names, construct);
}
