/* What the calls of the API ask for, without HTTP: for the server, and for the page that has none (src/web). */
#ifndef INVIT_SERVE_REQUESTS_H
#define INVIT_SERVE_REQUESTS_H

#include "serve/plan.h"

/* What a job was asked to do. */
typedef struct job_request {
    invit_instance *instance;
    invit_options *options; /* what it says of them; solving adds the server's own          */
    double limit;           /* seconds after which it is stopped whatever it asked for      */
    bool watch;             /* record decisions and intermediate solutions for a viewer     */
    plan plan;              /* routes to start from, and those that stay                    */
    uint64_t client;        /* whose share of the queue it takes                            */
} job_request;

/* Instance and options of a job; `longest` are the seconds it may ask for. What was read before an error stays in *out:
 * job_request_destroy in any case. */
invit_status request_solve(const json_t *o, int64_t max_nodes, double longest, job_request *out,
                           invit_error *err);
void job_request_destroy(job_request *q);
uint64_t request_seed(const job_request *q);

invit_status request_generate(const json_t *o, int64_t max_nodes, invit_instance **out, invit_error *err);
/* The first instance of a file of any format, called `name` in messages. `capacity` (0: none) is for tables that have
 * demands and do not say theirs. What the reader remarks is added to the array `remarks`. */
invit_status request_parse(const char *text, size_t length, const char *name, int64_t capacity,
                           int64_t max_nodes, invit_instance **out, json_t *remarks, invit_error *err);
/* Would request_parse read it as JSON? */
bool request_is_json(const char *text, size_t length);
/* Did request_parse want a capacity? */
bool request_needs_capacity(const invit_error *err);

/* The solution as a file with that ending ("tour", "sol", "geojson", "csv", "gpx", "kml", "html"; "summary": a table of
 * routes); of lists of stops that of one route (from 1; 0: all). The text is to be freed. */
invit_status request_write(const invit_instance *p, const invit_solution *s, const char *ending, int route,
                           char **text, size_t *length, invit_error *err);

#endif
