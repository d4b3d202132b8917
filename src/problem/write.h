/* Pieces of output that the writers share. */
#ifndef INVIT_PROBLEM_WRITE_H
#define INVIT_PROBLEM_WRITE_H

#include "base/outfile.h"
#include "problem/problem.h"

/* A number and one character after it; 0 for none. */
void inv_put_int(inv_outfile *f, int64_t v, char after);
void inv_put_number(inv_outfile *f, double v, char after);

/* Solutions for maps and for drivers. */
invit_status inv_write_geojson(inv_outfile *f, const invit_instance *p, const invit_solution *s,
                               invit_error *err);
invit_status inv_write_stops(inv_outfile *f, const invit_instance *p, const invit_solution *s,
                             invit_error *err);

#endif
