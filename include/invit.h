/* invit.h - public interface of libinvit: neural route construction (INViT) and local search for TSP and CVRP.
 *
 * Conventions
 *  - Handles are opaque; what a call creates, the matching _destroy frees. _destroy(NULL) is allowed.
 *  - Every call that can fail returns an invit_status and, when `err` is not NULL, a message that says what was
 *    wrong and what was expected. The library never prints and never exits.
 *  - The interface grows without breaking programs compiled before: options and results are set and asked for by name,
 *    structs that callers make keep their size (new fields take the place of `reserved` ones, which are 0: begin with
 *    {0}), and structs that the library makes (invit_progress, invit_step) grow at their end.
 *  - There is no global mutable state: separate handles may be used from separate threads.
 *  - Nodes are numbered from 0. TSP: 0..n-1 in the order of the file's ids. CVRP: node 0 is the depot, 1..n-1 are the
 *    customers in that order, so that a node number is also the customer number a CVRPLIB solution uses.
 *
 * In this order: status - progress and cancelling - instances, reading and generating them - solutions, reading, writing
 * and checking them - models - solving. Training, evaluation, pictures and the like are in invit_lab.h.
 */
#ifndef INVIT_H
#define INVIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define INVIT_API __attribute__((visibility("default")))
#else
#define INVIT_API
#endif

/* ---- status -------------------------------------------------------------------------------------------- */

typedef enum invit_status {
    INVIT_OK = 0,
    INVIT_ERR_ARGUMENT,    /* the caller asked for something impossible              */
    INVIT_ERR_INPUT,       /* a file or array does not say what it should            */
    INVIT_ERR_UNSUPPORTED, /* valid, but not something this library handles          */
    INVIT_ERR_IO,          /* the system refused to read or write                    */
    INVIT_ERR_MEMORY,      /* out of memory                                          */
    INVIT_ERR_CANCELLED,   /* stopped by the caller before there was a result        */
    INVIT_ERR_INTERNAL     /* a bug: a result did not pass the independent check     */
} invit_status;

typedef struct invit_error {
    invit_status code;
    char message[1024];
} invit_error;

/* Version of the library, for example "0.2.0". */
INVIT_API const char *invit_version(void);

/* ---- progress and cancelling: the same on every long call ---------------------------------------------- */

typedef struct invit_progress {
    const char *stage;   /* "construct", "improve", "label", "train", ...           */
    double elapsed;      /* seconds since the call began                             */
    double fraction;     /* 0..1 of the stage, or negative when unknown              */
    double best;         /* best length so far, or NaN                               */
    int64_t count;       /* decisions, kicks, instances: what the stage counts       */
    const char *message; /* optional text, may be NULL                               */
} invit_progress;

/* Called now and then, from one thread at a time. */
typedef void (*invit_progress_fn)(void *user, const invit_progress *progress);

/* The library reads `cancel` with atomic loads, from any of its threads. Set it in a signal handler, or from another thread
 * with an atomic store: __atomic_store_n(&flag, 1, __ATOMIC_RELAXED), or what the language has for an aligned int. */
typedef struct invit_control {
    invit_progress_fn progress; /* may be NULL                                       */
    void *user;
    const volatile int *cancel; /* may be NULL; non-zero asks the call to stop soon  */
    void *reserved[4];          /* NULL                                              */
} invit_control;

/* ---- instances ----------------------------------------------------------------------------------------- */

typedef enum invit_problem { INVIT_TSP = 0, INVIT_CVRP = 1 } invit_problem;

/* How the length of an edge is measured. EXACT: Euclidean without rounding. HAVERSINE: x is longitude, y latitude
 * in degrees, metres; an instance that crosses the date line is kept with longitudes beyond 180, so that neighbours are
 * neighbours in the plane too. DIMACS: Euclidean, cut to one decimal, as for instances with time windows. The others
 * are TSPLIB's rules. */
typedef enum invit_metric {
    INVIT_EXACT = 0,
    INVIT_EUC_2D,
    INVIT_CEIL_2D,
    INVIT_ATT,
    INVIT_GEO,
    INVIT_HAVERSINE,
    INVIT_DIMACS
} invit_metric;

typedef struct invit_instance invit_instance;

/* A TSP instance from n points, xy = {x0, y0, x1, y1, ...}, each coordinate within 1e18 of 0; the array is copied. O(n). */
INVIT_API invit_status invit_instance_create_tsp(const double *xy, int64_t n, invit_metric metric,
                                                 invit_instance **out, invit_error *err);
/* A CVRP instance: n nodes with the depot first, demand[0] ignored; arrays are copied. O(n). */
INVIT_API invit_status invit_instance_create_cvrp(const double *xy, const int64_t *demand, int64_t n,
                                                  int64_t capacity, invit_metric metric, invit_instance **out,
                                                  invit_error *err);
INVIT_API void invit_instance_destroy(invit_instance *instance);

INVIT_API invit_problem invit_instance_problem(const invit_instance *instance);
INVIT_API const char *invit_instance_name(const invit_instance *instance);
INVIT_API invit_status invit_instance_set_name(invit_instance *instance, const char *name, invit_error *err);
/* Number of nodes, the depot included. */
INVIT_API int64_t invit_instance_nodes(const invit_instance *instance);
INVIT_API invit_metric invit_instance_metric(const invit_instance *instance);
/* Measures the instance by another rule. HAVERSINE needs latitudes (y) within +-90 degrees. */
INVIT_API invit_status invit_instance_set_metric(invit_instance *instance, invit_metric metric,
                                                 invit_error *err);
/* What the file calls a node (a CSV's id or name column), or NULL. */
INVIT_API const char *invit_instance_label(const invit_instance *instance, int64_t node);
/* Gives every node a name: `labels` has one text per node (copied), NULL takes them away. O(n). */
INVIT_API invit_status invit_instance_set_labels(invit_instance *instance, const char *const *labels,
                                                 invit_error *err);
/* Coordinates {x0, y0, ...}, valid as long as the instance. */
INVIT_API const double *invit_instance_coords(const invit_instance *instance);
/* Demands, NULL for TSP. */
INVIT_API const int32_t *invit_instance_demands(const invit_instance *instance);
INVIT_API int64_t invit_instance_capacity(const invit_instance *instance);

/* ---- routes as people drive them: matrices, limits, vehicles, open ends, time windows ------------------ */

/* A TSP instance from distances[i][j], from i to j, symmetric or not, without coordinates; the array is copied. O(n^2). */
INVIT_API invit_status invit_instance_create_matrix(const double *distances, int64_t n, invit_instance **out,
                                                    invit_error *err);
/* Gives an instance its own `distances` or `durations`, n rows of n numbers >= 0; the diagonal does not count. Without
 * durations, travel times are distances / speed. */
INVIT_API invit_status invit_instance_set_matrix(invit_instance *instance, const char *name,
                                                 const double *values, int64_t n, invit_error *err);
/* One number per node: `demands` (decimals are kept exactly, by scaling), `service` (time at a stop), `earliest` and
 * `latest` (start of service; of the depot: leave, be back; NaN: none), or both as `time_windows`, two per node; `freeze`
 * (beginnings of routes that are driven already and stay: the node directly before this one, for a first stop 0, for the
 * first node of a tour itself; NaN: free). */
INVIT_API invit_status invit_instance_set_array(invit_instance *instance, const char *name,
                                                const double *values, int64_t count, invit_error *err);
/* One value, as text: `capacity`; `vehicles` (at most so many routes, or "fewest": fewer routes before shorter ones);
 * `open` ("yes": routes end at their last stop); `start_node`, `end_node` (TSP: a path between them); `max_length`,
 * `max_duration` (travel, waiting and service; "480", "8:00" or "8h"), `max_stops` of a route; `speed` (distance per unit
 * of time; with longitudes and latitudes km/h, and times are minutes); `clock` ("yes": times are written as hh:mm);
 * `table`: columns that the solver does not need (addresses, telephone numbers) and the table's dialect, for lists of
 * stops, sheets and maps, as JSON: {"columns": [name, ...], "rows": [[text, ...] for each node],
 * "dialect": "semicolon decimal-comma bom crlf sep-line"}. "none" removes a limit. What only routes have turns a TSP into
 * a CVRP whose depot is the first node. */
INVIT_API invit_status invit_instance_set(invit_instance *instance, const char *name, const char *value,
                                          invit_error *err);
/* The value of one of these names, NaN when there is none; below, the arrays and matrices (not the demands), or NULL.
 * invit_instance_get also knows, 1 for yes: `plain` (no rules and no matrices), `policy` (the policy can construct for
 * it), `timed`, `clock` (times were given as hh:mm), `has_coords`, `symmetric`, `fewest`; and `demand_scale` (the factor
 * that demands were multiplied with), `first_id` (the file's number of node 0), `table_columns` and `table_bytes` (how
 * many columns of the table are kept, and the bytes of their text), `text_bytes` (those of name, labels and table). */
INVIT_API double invit_instance_get(const invit_instance *instance, const char *name);
INVIT_API const double *invit_instance_array(const invit_instance *instance, const char *name);
/* INVIT_ERR_INPUT, with the stop and the rule, when no solution can exist: windows that close before they open, a stop that
 * cannot be served even alone, more load than the vehicles carry. invit_solve asks this too. O(n). */
INVIT_API invit_status invit_instance_validate(const invit_instance *instance, invit_error *err);

/* ---- reading instances --------------------------------------------------------------------------------- */

typedef enum invit_format {
    INVIT_FORMAT_TSPLIB = 0, /* TSPLIB .tsp and CVRPLIB .vrp                                    */
    INVIT_FORMAT_MSVDRP,     /* one instance per line: "x,y x,y ..." or "x,y .|. x,y ... .|. d ... .|. Q" */
    INVIT_FORMAT_LIST,       /* one TSP instance, one node per line: "x y" or "x,y"                 */
    INVIT_FORMAT_NPY,        /* NumPy array of shape (n,2), (m,n,2), or (n,n): distances       */
    INVIT_FORMAT_CSV,        /* a header line with x,y or lat,lon, then one node per line       */
    INVIT_FORMAT_SOLOMON,    /* time windows as Solomon and Homberger wrote them                */
    INVIT_FORMAT_JSON,       /* one object, see docs/formats.md                                 */
    INVIT_FORMAT_MATRIX      /* distances as n rows of n numbers                                */
} invit_format;

/* Reads instances one after the other from a file, a pipe or ("-") standard input. The format is told from the
 * content. Memory is that of one instance (16 bytes per node, CVRP 20) plus a fixed buffer; time is linear. */
typedef struct invit_reader invit_reader;
INVIT_API invit_status invit_reader_open(const char *path, invit_reader **out, invit_error *err);
/* The same from memory, which must stay until the reader is closed; `name` is what messages call it. */
INVIT_API invit_status invit_reader_open_memory(const void *data, size_t size, const char *name,
                                                invit_reader **out, invit_error *err);
INVIT_API invit_format invit_reader_format(const invit_reader *reader);
/* The capacity, 1 to 2^31 - 1, for a CSV table with demands, which may lack one; call it before
 * invit_reader_next, which refuses any other and a capacity for anything else. */
INVIT_API void invit_reader_set_capacity(invit_reader *reader, int64_t capacity);
/* What of the instances read so far was not used or was assumed (a column that looks like a constraint, a speed), one
 * remark per line; "" when there is nothing to say. Valid as long as the reader. */
INVIT_API const char *invit_reader_note(const invit_reader *reader);
/* The next instance, or NULL in *out after the last. */
INVIT_API invit_status invit_reader_next(invit_reader *reader, invit_instance **out, invit_error *err);
INVIT_API void invit_reader_close(invit_reader *reader);
/* Instance `index` (from 0) of a file. */
INVIT_API invit_status invit_instance_read(const char *path, int64_t index, invit_instance **out,
                                           invit_error *err);

/* ---- random instances: the MSVDRP generators ----------------------------------------------------------- */

typedef enum invit_distribution {
    INVIT_UNIFORM = 0,
    INVIT_CLUSTERED,
    INVIT_EXPLOSION,
    INVIT_IMPLOSION
} invit_distribution;

/* What the MSVDRP sets use is in parentheses. */
typedef struct invit_generate_options {
    int64_t capacity;   /* CVRP: vehicle capacity (50)                               */
    int32_t demand_min; /* CVRP: demands are uniform on demand_min..demand_max (1)   */
    int32_t demand_max; /* (10)                                                      */
    /* More like the libraries' instances (false). TSP: most nodes move into dense patches, rows and grids, as in TSPLIB.
     * CVRP: instead of the above, capacity, demands and depot are drawn as for CVRPLIB's X set: routes of 3 to 25
     * customers, seven kinds of demands, the depot in the centre, in a corner or anywhere. */
    bool like_library;
    double route_size; /* CVRP like the library's: customers that fit into a route on average; 0: drawn (0) */
    double reserved[8]; /* 0 */
} invit_generate_options;

/* Instance `index` of the stream `seed`: `size` nodes (CVRP: customers, plus a depot) in the unit square. The same
 * arguments give the same bytes on every machine. Clustered: even indices have 3 centres on a side of 10, odd ones 7
 * centres on a side of 50 (before scaling). `options` may be NULL. O(n), about 0.1 us per node. */
INVIT_API invit_status invit_generate_with(invit_problem problem, invit_distribution distribution,
                                           int64_t size, uint64_t seed, uint64_t index,
                                           const invit_generate_options *options, invit_instance **out,
                                           invit_error *err);

/* ---- solutions ----------------------------------------------------------------------------------------- */

typedef struct invit_solution invit_solution;

/* `nodes` lists the routes one after the other, `start[r]..start[r+1]-1` being route r (start has routes+1 entries).
 * TSP: one route with every node. CVRP: customers only, the depot is implied at both ends. Arrays are copied;
 * feasibility is not checked here (see invit_check). */
INVIT_API invit_status invit_solution_create(const int32_t *nodes, const int32_t *start, int32_t routes,
                                             invit_solution **out, invit_error *err);
INVIT_API void invit_solution_destroy(invit_solution *solution);
INVIT_API int32_t invit_solution_routes(const invit_solution *solution);
/* Nodes of route r and their number. */
INVIT_API const int32_t *invit_solution_route(const invit_solution *solution, int32_t r, int32_t *count);

/* ---- reading solutions, writing instances and solutions ------------------------------------------------ */

typedef struct invit_solution_info {
    double length;      /* what the file claims, or NaN                              */
    double seconds;     /* time it took, or NaN                                      */
    double route;       /* writing a list of stops: this route alone, from 1; 0: all */
    double reserved[5]; /* 0 */
} invit_solution_info;

/* Reads solutions (TSPLIB .tour, CVRPLIB .sol, MSVDRP lines, lists of stops as CSV, told apart by content), each for the
 * instance given. */
typedef struct invit_solution_reader invit_solution_reader;
INVIT_API invit_status invit_solution_reader_open(const char *path, invit_solution_reader **out,
                                                  invit_error *err);
INVIT_API invit_status invit_solution_reader_open_memory(const void *data, size_t size, const char *name,
                                                         invit_solution_reader **out, invit_error *err);
/* The next solution, or NULL in *out after the last. `info` may be NULL. */
INVIT_API invit_status invit_solution_reader_next(invit_solution_reader *reader,
                                                  const invit_instance *instance, invit_solution **out,
                                                  invit_solution_info *info, invit_error *err);
INVIT_API void invit_solution_reader_close(invit_solution_reader *reader);
typedef enum invit_solution_format {
    INVIT_SOLUTION_TOUR = 0, /* TSPLIB .tour (TSP)                                               */
    INVIT_SOLUTION_ROUTES,   /* CVRPLIB .sol (CVRP)                                              */
    INVIT_SOLUTION_MSVDRP,   /* a line "i,j,k,... length seconds"                                */
    INVIT_SOLUTION_GEOJSON,  /* points and routes for maps (written only)                        */
    INVIT_SOLUTION_STOPS,    /* CSV: one stop per line, with load and distance and the columns of the
                              * table that was read, in its dialect                                 */
    INVIT_SOLUTION_SUMMARY,  /* CSV: one route per line (written only)                               */
    INVIT_SOLUTION_GPX,      /* GPX routes; needs latitudes and longitudes (written only)            */
    INVIT_SOLUTION_KML,      /* KML; needs latitudes and longitudes (written only)                   */
    INVIT_SOLUTION_SHEETS    /* HTML to print, one page per driver (written only)                      */
} invit_solution_format;

/* Writes to a file ("-": standard output). A regular file appears under its name only when it is complete: it is
 * written beside it, synced and renamed by invit_writer_close, which also reports a full disk or a closed pipe. */
typedef struct invit_writer invit_writer;
INVIT_API invit_status invit_writer_open(const char *path, invit_writer **out, invit_error *err);
/* The same to memory: invit_writer_close stores what was written in *text, with a 0 behind it, to be freed with free(),
 * and its length in *size, which may be NULL. Both must stay until then. */
INVIT_API invit_status invit_writer_open_memory(char **text, size_t *size, invit_writer **out,
                                                invit_error *err);
/* INVIT_FORMAT_TSPLIB, INVIT_FORMAT_MSVDRP or INVIT_FORMAT_JSON, which has a word for every rule; the others refuse an
 * instance with a rule that they cannot say. */
INVIT_API invit_status invit_writer_instance(invit_writer *writer, const invit_instance *instance,
                                             invit_format format, invit_error *err);
/* `info` (length, seconds) may be NULL. */
INVIT_API invit_status invit_writer_solution(invit_writer *writer, const invit_instance *instance,
                                             const invit_solution *solution, invit_solution_format format,
                                             const invit_solution_info *info, invit_error *err);
/* Frees the writer in every case. */
INVIT_API invit_status invit_writer_close(invit_writer *writer, invit_error *err);
/* Gives up: nothing is left behind. */
INVIT_API void invit_writer_abandon(invit_writer *writer);

/* ---- checking solutions -------------------------------------------------------------------------------- */

typedef struct invit_check_result {
    bool feasible;
    double length;       /* by the instance's own rule (rounded where TSPLIB rounds); NaN when infeasible */
    double length_exact; /* the same edges without rounding                          */
    int32_t routes;      /* routes with at least one customer; 1 for a tour          */
    char message[256];   /* the first reason why it is not feasible, or ""           */
    double reserved[8];  /* 0                                                        */
} invit_check_result;

/* Checks feasibility and measures, with code that shares nothing with the solver. An infeasible solution is a result,
 * not an error. O(n). */
INVIT_API invit_status invit_check(const invit_instance *instance, const invit_solution *solution,
                                   invit_check_result *result, invit_error *err);

/* A stop of a route as it is driven, the depot at both ends included. Times are those of a vehicle that leaves as late as
 * it can without arriving later at the end. */
typedef struct invit_stop {
    int32_t node;
    double leg, distance;               /* from the stop before, and from the beginning of the route */
    double load;                        /* after this stop                                  */
    double arrival, waiting, departure; /* waiting lies between arrival and the start of service */
    double reserved[3];                 /* 0 */
} invit_stop;

/* Stops of route r in the order they are driven, into an array with room for two more than its nodes; returns how many.
 * O(stops). */
INVIT_API int32_t invit_schedule(const invit_instance *instance, const invit_solution *solution, int32_t r,
                                 invit_stop *stops);

/* ---- models -------------------------------------------------------------------------------------------- */

typedef struct invit_model invit_model;

/* Reads weights and configuration from a safetensors file; every tensor's name, shape and numbers are checked. A path
 * without a folder that is not there may also be the name of a bundled model, "tsp-2v". */
INVIT_API invit_status invit_model_load(const char *path, invit_model **out, invit_error *err);
INVIT_API void invit_model_destroy(invit_model *model);
/* The default model for the problem (tsp-2v, cvrp-2v). Models are looked for in the folders of $INVIT_MODELS (separated
 * by ':'), in models/ beside the program or in the source tree it was built from, and in the installed data.
 * INVIT_ERR_IO when there is none. */
INVIT_API invit_status invit_model_load_default(invit_problem problem, invit_model **out, invit_error *err);
INVIT_API invit_problem invit_model_problem(const invit_model *model);

/* ---- solving ------------------------------------------------------------------------------------------- */

typedef enum invit_construct {
    INVIT_CONSTRUCT_INVIT = 0,     /* rollouts of the policy                              */
    INVIT_CONSTRUCT_NEAREST,       /* nearest neighbour                                   */
    INVIT_CONSTRUCT_GREEDY,        /* greedy edges (TSP)                                  */
    INVIT_CONSTRUCT_SPACE_FILLING, /* order along a space-filling curve                   */
    INVIT_CONSTRUCT_SAVINGS,       /* Clarke and Wright (CVRP)                            */
    INVIT_CONSTRUCT_START,         /* the caller's solution (reported, not asked for)     */
    INVIT_CONSTRUCT_INSERTION      /* cheapest insertion, for routes with rules (reported) */
} invit_construct;

/* One decision of the policy, for those who want to watch. Pointers hold during the call only. */
typedef struct invit_step {
    int64_t step;             /* 0, 1, ... of this rollout                                        */
    const int32_t *order;     /* visited so far; CVRP: 0 for each return to the depot             */
    int32_t visited;          /* entries in order                                                 */
    int32_t last, first;      /* where the vehicle stands; the start node or the depot            */
    const int32_t *neighbour; /* action view, then the further nodes of the state views           */
    int32_t action, further;  /* how many of each                                                 */
    const float *probability; /* [action], and for CVRP one more: the depot's                     */
    int32_t chosen;           /* the node it goes to                                              */
} invit_step;
typedef void (*invit_step_fn)(void *user, const invit_step *step); /* see invit_lab.h */

/* A better solution is known: seconds since the call began, its length by the instance's rule, and, if that was asked
 * for, the solution, which holds during the call only; else NULL. */
typedef void (*invit_better_fn)(void *user, double seconds, double length, const invit_solution *solution);

/* How to solve. Options are set by name, so that new ones do not change the interface; the names, ranges and defaults are
 * those of the command line (`invit solve --help`), --config files, Python and the JSON API. */
typedef struct invit_options invit_options;
/* All options at their defaults; NULL when there is no memory. */
INVIT_API invit_options *invit_options_create(void);
INVIT_API void invit_options_destroy(invit_options *options);
/* Sets one option from text, as in ("time", "30"), ("construct", "greedy"), ("threads", "2"). The error says what was
 * expected. */
INVIT_API invit_status invit_options_set(invit_options *options, const char *name, const char *value,
                                         invit_error *err);

typedef struct invit_option {
    const char *name;
    char letter;          /* of the command line, or 0                                               */
    const char *type;     /* "int", "uint64", "number", "seconds" or "choice"                        */
    const char *choices;  /* "a|b|c", or NULL                                                        */
    double min, max;      /* of numbers                                                              */
    const char *metavar;  /* what help calls the value                                               */
    const char *fallback; /* the default, in words where it depends on the instance                  */
    const char *help;
    char value[64]; /* the value it has in `options`; "" where it depends on the instance      */
} invit_option;
/* Row i of the table of options; false past the end. `options` may be NULL: then values are the defaults. `size` is
 * sizeof(invit_option): a program compiled before a field was added gets the ones it knows. */
INVIT_API bool invit_options_row(const invit_options *options, int i, invit_option *row, size_t size);

/* Begin with this solution, which must stay until the call has ended; NULL: construct one. Stops and routes that are missing
 * from it are inserted where they cost least. */
INVIT_API void invit_options_set_start(invit_options *options, const invit_solution *start);
/* Progress and cancelling; *control is copied. NULL: none. */
INVIT_API void invit_options_set_control(invit_options *options, const invit_control *control);
/* Called with the constructed solution, then with better ones, some ten times a second at most; with_solution: the
 * solution itself too, which costs a copy of it. NULL: none. */
INVIT_API void invit_options_set_better(invit_options *options, invit_better_fn fn, void *user,
                                        bool with_solution);

/* Constructs a solution, improves it while there is time, and checks it independently of the solver. `model` may be
 * NULL when the construction does not need one; options may be NULL. The time limit is kept within 0.1 s + 1 %: rollouts
 * that would not end in a tenth of it (half of it, when their number is given or with "improve" "neural") are given up,
 * and if none is left a fast construction takes their place; so does a space-filling curve for any other construction that would not end. Without
 * memory for improvement the constructed solution is the answer. When the caller cancels, the answer is the best solution
 * so far, or a fast construction if there is none yet. Without a time limit the result depends on the arguments alone,
 * the number of threads among them; construction is the same for any number of threads. */
INVIT_API invit_status invit_solve(const invit_instance *instance, const invit_model *model,
                                   const invit_options *options, invit_solution **solution, invit_error *err);
/* What invit_solve says of its solution, NaN for a name it does not know and for other solutions: "length" (by the
 * instance's rule), "length_exact" (without rounding), "routes", "construct" (an invit_construct: what the construction
 * was in the end), "rollouts" (completed), "decisions" (states the policy was asked about), "constructed" (length before
 * improvement), "iterations" (improvement steps), "short_of_memory" (1: improvement ended for lack of it),
 * "seconds_construct", "seconds_improve", "seconds_total". */
INVIT_API double invit_solution_get(const invit_solution *solution, const char *name);

#ifdef __cplusplus
}
#endif
#endif
