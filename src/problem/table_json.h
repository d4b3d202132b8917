/* The columns that come through to lists of stops, as JSON. */
#ifndef INVIT_PROBLEM_TABLE_JSON_H
#define INVIT_PROBLEM_TABLE_JSON_H

#include "base/json_writer.h"
#include "problem/problem.h"
#include "problem/stop_table.h"

#include <jansson.h>

/* Gives the instance the table of a JSON object. */
invit_status inv_table_from_json(const json_t *object, invit_instance *p, invit_error *err);
/* The same from text, "none" takes it away. */
invit_status inv_instance_set_table(invit_instance *p, const char *json, invit_error *err);
/* In invit_lab.h for callers; libinvit has it. */
INVIT_API invit_status invit_instance_table(const invit_instance *p, char **json, size_t *size,
                                            invit_error *err);
void inv_put_table_json(inv_json *j, const char *key, const inv_stop_table *t);

#endif
