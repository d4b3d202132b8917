/* Instances and solutions as JSON. */
#ifndef INVIT_SERVE_WIRE_H
#define INVIT_SERVE_WIRE_H

#include "invit.h"

#include <jansson.h>

/* {"problem","name","coords":[[x,y],...],"demands":[...],"capacity","metric","labels"} -> instance; refuses what is
 * not that. */
invit_status wire_read_instance(const json_t *object, int64_t max_nodes, invit_instance **out,
                                invit_error *err);
json_t *wire_write_instance(const invit_instance *p);
/* TSP: [[node, ...]]; CVRP: one list per route; node numbers as in "coords". */
json_t *wire_write_routes(const invit_solution *s);

/* Reads a member with a check of its kind and range; the default when it is absent. */
invit_status wire_number(const json_t *object, const char *key, double low, double high, double fallback,
                         double *out, invit_error *err);
invit_status wire_integer(const json_t *object, const char *key, int64_t low, int64_t high, int64_t fallback,
                          int64_t *out, invit_error *err);

#endif
