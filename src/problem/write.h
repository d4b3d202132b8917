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
/* `only`: that route, counted from 1 without those that have no stops; 0: all. */
invit_status inv_write_stops(inv_outfile *f, const invit_instance *p, const invit_solution *s, int32_t only,
                             invit_error *err);
invit_status inv_write_summary(inv_outfile *f, const invit_instance *p, const invit_solution *s,
                               invit_error *err);
invit_status inv_write_gpx(inv_outfile *f, const invit_instance *p, const invit_solution *s,
                           invit_error *err);
invit_status inv_write_kml(inv_outfile *f, const invit_instance *p, const invit_solution *s,
                           invit_error *err);
invit_status inv_write_sheets(inv_outfile *f, const invit_instance *p, const invit_solution *s,
                              invit_error *err);

/* A folder (made if it is not there) with stops.csv, summary.csv and one route-N.csv for each route. Files of that name
 * that an earlier plan has left there are removed. */
invit_status inv_write_folder(const char *path, const invit_instance *p, const invit_solution *s,
                              invit_error *err);

/* Instances with rules: whether a TSPLIB file can say them, and its lines for them. */
invit_status inv_check_writable(const invit_instance *p, invit_error *err);
void inv_write_rules_head(inv_outfile *f, const invit_instance *p);
void inv_write_rules_sections(inv_outfile *f, const invit_instance *p, int64_t first);
/* Everything, as one JSON object. */
invit_status inv_write_json(inv_outfile *f, const invit_instance *p, invit_error *err);

#endif
