/* A TSPLIB file while it is read: the specification (read_tsplib.c), its sections (tsplib_sections.c), and the instance made of
 * both (tsplib_build.c). */
#ifndef INVIT_PROBLEM_TSPLIB_H
#define INVIT_PROBLEM_TSPLIB_H

#include "problem/read.h"

/* The node ids of a section. Nearly always they count up by one, and then no list of them is kept. */
typedef struct inv_tsplib_ids {
    int32_t first; /* the first id seen                                              */
    int32_t *id;   /* NULL while the ids are first, first + 1, ...                    */
    int64_t n, room;
    int64_t line; /* of the section's keyword; 0: the section was not seen           */
    bool regular; /* entry i stands in line `line` + 1 + i                           */
} inv_tsplib_ids;

/* A section with one or two numbers for each node. */
typedef struct inv_tsplib_section {
    inv_tsplib_ids ids;
    int width;
    double *value; /* [ids.n][width] */
} inv_tsplib_section;

typedef struct inv_tsplib {
    inv_text *t;
    char *name, *comment;
    int problem;                        /* invit_problem, -1: not said                                   */
    int metric;                         /* invit_metric, -1: not said                                    */
    bool matrix;                        /* EDGE_WEIGHT_TYPE : EXPLICIT                                   */
    int format;                         /* of the matrix, -1: not said                                   */
    int64_t dimension;                  /* 0: not said                                                   */
    double capacity, distance, service; /* 0: not said                                  */
    int64_t vehicles;                   /* 0: not said                                  */
    inv_points points, display;
    inv_tsplib_ids coord_ids, display_ids;
    inv_tsplib_section demands, services, windows;
    double *weights;
    int64_t weights_line;
    int64_t depot, depot_line; /* line 0: not said                                        */
} inv_tsplib;

/* "what is not supported", with file and line. */
invit_status inv_tsplib_unsupported(const inv_tsplib *f, int64_t line, invit_error *err, const char *what);

int64_t inv_tsplib_id(const inv_tsplib_ids *c, int64_t i);
invit_status inv_tsplib_check_ids(const inv_tsplib *f, const inv_tsplib_ids *c, int64_t low, int64_t n,
                                  const char *section, invit_error *err);
bool inv_tsplib_keyword(char c);
invit_status inv_tsplib_coords(inv_tsplib *f, inv_tsplib_ids *ids, inv_points *points, const char *name,
                               invit_error *err);
invit_status inv_tsplib_values(inv_tsplib *f, inv_tsplib_section *s, int width, const char *name,
                               const char *what, double low, invit_error *err);
invit_status inv_tsplib_weights(inv_tsplib *f, int64_t line, invit_error *err);
invit_status inv_tsplib_depots(inv_tsplib *f, invit_error *err);
invit_status inv_tsplib_build(inv_tsplib *f, invit_instance **out, invit_error *err);

#endif
