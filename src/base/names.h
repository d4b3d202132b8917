/* What the public enumerations are called: in files, JSON, tables and messages. */
#ifndef INVIT_BASE_NAMES_H
#define INVIT_BASE_NAMES_H

#include "invit.h"

/* "tsp", "cvrp". */
const char *inv_problem_name(invit_problem problem);
/* "TSP", "CVRP": for people. */
const char *inv_problem_title(invit_problem problem);
/* "exact", "euc_2d", ... */
const char *inv_metric_name(invit_metric metric);
/* "uniform", "clustered", "explosion", "implosion". */
const char *inv_distribution_name(invit_distribution distribution);
/* "invit", "nearest", ... */
const char *inv_construct_name(invit_construct construct);

#endif
