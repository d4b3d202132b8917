/* Instances and solutions as JSON. */
#ifndef INVIT_SERVE_WIRE_H
#define INVIT_SERVE_WIRE_H

#include "invit_lab.h"

#include <jansson.h>

/* {"problem","name","coords":[[x,y],...],"demands":[...],"capacity","metric","labels","table"} and the
 * rules of routes by their names in invit_instance_set ("vehicles", "max_length", ...) -> instance; refuses
 * what is not that. Without "problem" it is a CVRP when there are demands or a capacity. */
invit_status wire_read_instance(const json_t *object, int64_t max_nodes, invit_instance **out,
                                invit_error *err);
json_t *wire_write_instance(const invit_instance *p);
/* TSP: [[node, ...]]; CVRP: one list per route; node numbers as in "coords". */
json_t *wire_write_routes(const invit_solution *s);
/* The stops of each route as they are driven: node, leg, distance, load, and arrival, waiting, departure where there are
 * times. */
json_t *wire_write_stops(const invit_instance *p, const invit_solution *s);

/* A JSON text, whatever its bytes are: messages quote what they were given, which need not be UTF-8, or may be cut within
 * a character. */
json_t *wire_text(const char *message);

/* Refuses members of other names, so that typos are noticed. `names` is a list like "time rollouts
 * seed". */
invit_status wire_only(const json_t *object, const char *names, invit_error *err);
/* Reads a member with a check of its kind and range; the default when it is absent. */
invit_status wire_number(const json_t *object, const char *key, double low, double high, double fallback,
                         double *out, invit_error *err);
invit_status wire_integer(const json_t *object, const char *key, int64_t low, int64_t high, int64_t fallback,
                          int64_t *out, invit_error *err);

#endif
