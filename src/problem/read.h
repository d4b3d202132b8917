/* Readers: one file a format, all with the same shape. */
#ifndef INVIT_PROBLEM_READ_H
#define INVIT_PROBLEM_READ_H

#include "base/text.h"
#include "problem/problem.h"

#include <stdarg.h>

/* Each reads the next instance at `t` into *out, or sets *out to NULL when the input holds no more. The name
 * is only set where the file gives one. `state` belongs to the format's reader from one instance to the next.
 */
typedef struct inv_read_state {
    int64_t index;     /* instances read so far                                     */
    int64_t capacity;  /* CSV: the capacity the caller gave, or 0                   */
    int64_t remaining; /* NumPy: instances still to come                            */
    int64_t nodes;     /* NumPy: nodes in each                                      */
    int width;         /* NumPy: bytes in a number                                  */
    bool swap;         /* NumPy: the other byte order                               */
    bool integers;     /* NumPy: integers, not floats                               */
    bool many;         /* the file is of a kind that holds many instances           */
    bool matrix;       /* NumPy: distances, not coordinates                         */
    char note[4096];   /* what of the input was not used or looks wrong, one remark per line */
} inv_read_state;

/* Adds a remark, as far as there is room. */
void inv_read_note(inv_read_state *state, const char *format, va_list args);
/* Remarks on latitudes and longitudes that look wrong: 0, 0; swapped; far from all others. `line` [n] is where the stops
 * stand, or NULL. O(n log n). */
void inv_remark_places(const invit_instance *p, const int32_t *line, inv_read_state *state);
/* Remarks on rows that are there twice, known by their hashes. O(n log n). */
void inv_remark_repeated(const uint64_t *hash, const int32_t *line, int64_t n, inv_read_state *state);

typedef invit_status inv_read_fn(inv_text *t, inv_read_state *state, invit_instance **out, invit_error *err);

inv_read_fn inv_read_tsplib, inv_read_msvdrp, inv_read_list, inv_read_npy, inv_read_csv, inv_read_solomon,
    inv_read_json, inv_read_matrix;

/* Does the text at `p` begin like Solomon's files: a name, then VEHICLE? Is the line at `p` nothing but numbers with
 * one kind of separator, and how many? */
bool inv_is_solomon(const char *p);
bool inv_is_matrix_row(const char *p, int *count);
/* A square matrix from text or from a NumPy array; the caller frees it. */
invit_status inv_read_matrix_text(inv_text *t, double **out, int64_t *n, invit_error *err);
invit_status inv_read_matrix_npy(inv_text *t, double **out, int64_t *n, invit_error *err);

/* Which format the input is in, judged by its first bytes. */
invit_format inv_detect_format(inv_text *t);

/* Tables, from their first line on. The separator (, ; tab |) under which a column of the header at `p` is
 * called x or lat, 0 when there is none; and is the line at `p` a remark, which begins with #? "#,x,y" is a
 * header. */
char inv_table_separator(const char *p);
bool inv_is_remark(const char *p);

/* EDGE_WEIGHT_FORMAT by its name, -1 when there is no such one; and the section that is in it, as n rows of n. */
int inv_matrix_format(const char *name, size_t length);
invit_status inv_read_edge_weights(inv_text *t, int format, int64_t n, double **out, invit_error *err);

/* Coordinates that grow as they are read. */
typedef struct inv_points {
    double *xy;
    int64_t n, room;
} inv_points;

invit_status inv_points_grow(inv_points *p, invit_error *err);
void inv_points_destroy(inv_points *p);
/* A TSP instance that takes the coordinates over. */
invit_status inv_points_to_instance(inv_points *p, invit_metric metric, invit_instance **out,
                                    invit_error *err);

static inline invit_status inv_points_add(inv_points *p, double x, double y, invit_error *err)
{
    if (p->n == p->room) INV_CHECK(inv_points_grow(p, err));
    p->xy[2 * p->n] = x;
    p->xy[2 * p->n + 1] = y;
    p->n++;
    return INVIT_OK;
}

/* Reads lines "x y" or "x,y" by all threads of the text, or "id x y" with ids that count on from `id` >= 0, while there
 * are nothing but such lines and at most `most`. The first line is at t->at. What is left is for the caller. */
invit_status inv_points_read_blocks(inv_points *p, inv_text *t, int64_t id, int64_t most, invit_error *err);

/* Reads one finite number at `t` (no blanks before it) that ends at a blank, a line end, the end or `also`.
 */
invit_status inv_read_number(inv_text *t, char also, const char *what, double *value, invit_error *err);
/* The same, no farther from 0 than INV_FARTHEST. */
invit_status inv_read_coordinate(inv_text *t, char also, const char *what, double *value, invit_error *err);

/* Solution `index` (from 0) of a file of MSVDRP lines, or the one solution of another file. */
invit_status inv_solution_read(const char *path, const invit_instance *p, int64_t index, invit_solution **out,
                               invit_solution_info *info, invit_error *err);

/* The lab's invit_reader_set_threads. */
void inv_reader_set_threads(invit_reader *r, int threads);

/* The lab's invit_instance_read_matrix. */
invit_status inv_instance_read_matrix(invit_instance *p, const char *name, const char *path,
                                      invit_error *err);

#endif
