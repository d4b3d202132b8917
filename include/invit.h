/* invit.h - public interface of libinvit: neural route construction (INViT) and local search for TSP and CVRP.
 *
 * Conventions
 *  - Handles are opaque; what a call creates, the matching _destroy frees. _destroy(NULL) is allowed.
 *  - Every call that can fail returns an invit_status and, when `err` is not NULL, a message that says what was
 *    wrong and what was expected. The library never prints and never exits.
 *  - There is no global mutable state: separate handles may be used from separate threads.
 *  - Nodes are numbered from 0. TSP: 0..n-1 in the order of the file's ids. CVRP: node 0 is the depot, 1..n-1 are the
 *    customers in that order, so that a node number is also the customer number a CVRPLIB solution uses.
 *
 * In this order: status - progress and cancelling - instances, reading and generating them - solutions, reading, writing
 * and checking them - models - solving - pictures - training - reports, evaluation, statistics - measuring speed.
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

/* Version of the library, for example "0.1.0". */
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

typedef struct invit_control {
    invit_progress_fn progress; /* may be NULL                                       */
    void *user;
    const volatile int *cancel; /* may be NULL; non-zero asks the call to stop soon  */
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
/* "exact", "euc_2d", "ceil_2d", "att", "geo", "haversine" or "dimacs". */
INVIT_API const char *invit_metric_name(invit_metric metric);
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
 * `latest` (start of service; of the depot: leave, be back; NaN: none), or both as `time_windows`, two per node. */
INVIT_API invit_status invit_instance_set_array(invit_instance *instance, const char *name,
                                                const double *values, int64_t count, invit_error *err);
/* One value, as text: `capacity`; `vehicles` (at most so many routes, or "fewest": fewer routes before shorter ones);
 * `open` ("yes": routes end at their last stop); `start_node`, `end_node` (TSP: a path between them); `max_length`,
 * `max_duration` (travel, waiting and service; "480", "8:00" or "8h"), `max_stops` of a route; `speed` (distance per unit of
 * time; with longitudes and latitudes km/h, and times are minutes). "none" takes a limit away. What routes need makes a TSP
 * into a CVRP whose depot is the first node. */
INVIT_API invit_status invit_instance_set(invit_instance *instance, const char *name, const char *value,
                                          invit_error *err);
/* The value of one of these names, NaN when there is none; and of the arrays and matrices (not of demands), or NULL. Also
 * told: `plain` (1: nothing of all this), `timed`, `clock` (1: times were given as hh:mm), `has_coords`, `symmetric`,
 * `fewest`, `demand_scale` (what demands were multiplied with). */
INVIT_API double invit_instance_get(const invit_instance *instance, const char *name);
INVIT_API const double *invit_instance_array(const invit_instance *instance, const char *name);
/* INVIT_ERR_INPUT, with the stop and the rule, when no solution can exist: windows that close before they open, a stop that
 * cannot be served even alone, more load than the vehicles carry. invit_solve asks this too. O(n). */
INVIT_API invit_status invit_instance_validate(const invit_instance *instance, invit_error *err);

/* ---- reading instances --------------------------------------------------------------------------------- */

typedef enum invit_format {
    INVIT_FORMAT_TSPLIB = 0, /* TSPLIB .tsp and CVRPLIB .vrp                                    */
    INVIT_FORMAT_MSVDRP,     /* one instance a line: "x,y x,y ..." or "x,y .|. x,y ... .|. d ... .|. Q" */
    INVIT_FORMAT_LIST,       /* one TSP instance, a node a line: "x y" or "x,y"                 */
    INVIT_FORMAT_NPY,        /* NumPy array of shape (n,2) or (m,n,2)                           */
    INVIT_FORMAT_CSV         /* a header line with x,y or lat,lon, then a node a line           */
} invit_format;

/* Reads instances one after the other from a file, a pipe or ("-") standard input. The format is told from the
 * content. Memory is that of one instance (16 bytes a node, CVRP 20) plus a fixed buffer; time is linear. */
typedef struct invit_reader invit_reader;
INVIT_API invit_status invit_reader_open(const char *path, invit_reader **out, invit_error *err);
/* The same from memory, which must stay until the reader is closed; `name` is what messages call it. */
INVIT_API invit_status invit_reader_open_memory(const void *data, size_t size, const char *name,
                                                invit_reader **out, invit_error *err);
INVIT_API invit_format invit_reader_format(const invit_reader *reader);
/* The capacity, 1 to 2^31 - 1, for a CSV table with demands, which may lack one; call it before
 * invit_reader_next, which refuses any other and a capacity for anything else. */
INVIT_API void invit_reader_set_capacity(invit_reader *reader, int64_t capacity);
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

typedef struct invit_generate_options {
    int64_t capacity;   /* CVRP: vehicle capacity (50)                               */
    int32_t demand_min; /* CVRP: demands are uniform on demand_min..demand_max (1)   */
    int32_t demand_max; /* (10)                                                      */
    bool
        like_library; /* more like the libraries' instances (false). TSP: most nodes move into dense patches, rows and
                         * grids, as in TSPLIB. CVRP: instead of the above, capacity, demands and depot are drawn as for
                         * CVRPLIB's X set: routes of 3 to 25 customers, seven kinds of demands, the depot in the
                         * centre, in a corner or anywhere */
} invit_generate_options;

/* What the MSVDRP sets use. */
INVIT_API invit_generate_options invit_generate_defaults(void);
/* "uniform", "clustered", "explosion" or "implosion". */
INVIT_API const char *invit_distribution_name(invit_distribution distribution);
/* Instance `index` of the stream `seed`: `size` nodes (CVRP: customers, plus a depot) in the unit square. The same
 * arguments give the same bytes on every machine. Clustered: even indices have 3 centres on a side of 10, odd ones 7
 * centres on a side of 50 (before scaling). O(n), about 0.1 us a node. */
INVIT_API invit_status invit_generate(invit_problem problem, invit_distribution distribution, int64_t size,
                                      uint64_t seed, uint64_t index, invit_instance **out, invit_error *err);
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
    double length;  /* what the file claims, or NaN                              */
    double seconds; /* time it took, or NaN                                      */
} invit_solution_info;

/* Reads solutions (TSPLIB .tour, CVRPLIB .sol, MSVDRP lines, told apart by content), each for the instance given. */
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
/* Solution `index` (from 0) of a file of MSVDRP lines, or the one solution of another file. */
INVIT_API invit_status invit_solution_read(const char *path, const invit_instance *instance, int64_t index,
                                           invit_solution **out, invit_solution_info *info, invit_error *err);

typedef enum invit_solution_format {
    INVIT_SOLUTION_TOUR = 0, /* TSPLIB .tour (TSP)                                               */
    INVIT_SOLUTION_ROUTES,   /* CVRPLIB .sol (CVRP)                                              */
    INVIT_SOLUTION_MSVDRP,   /* a line "i,j,k,... length seconds"                                */
    INVIT_SOLUTION_GEOJSON,  /* points and routes for maps (written only)                        */
    INVIT_SOLUTION_STOPS     /* CSV: a stop a line, with load and distance (written only)        */
} invit_solution_format;

/* The format a file's extension asks for (.tour, .sol, .txt, .geojson or .json, .csv), or else the usual one of the problem. */
INVIT_API invit_solution_format invit_solution_format_for(const char *path, invit_problem problem);

/* Writes to a file ("-": standard output). A regular file appears under its name only when it is complete: it is
 * written beside it, synced and renamed by invit_writer_close, which also reports a full disk or a closed pipe. */
typedef struct invit_writer invit_writer;
INVIT_API invit_status invit_writer_open(const char *path, invit_writer **out, invit_error *err);
/* INVIT_FORMAT_TSPLIB or INVIT_FORMAT_MSVDRP. */
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
} invit_stop;

/* Stops of route r in the order they are driven, into an array with room for two more than its nodes; returns how many.
 * O(stops). */
INVIT_API int32_t invit_schedule(const invit_instance *instance, const invit_solution *solution, int32_t r,
                                 invit_stop *stops);

/* The best known length of a library instance (TSPLIB optima, CVRPLIB X), by name; false when there is none. */
INVIT_API bool invit_best_known(const char *name, double *value);

/* ---- models -------------------------------------------------------------------------------------------- */

typedef struct invit_model invit_model;

/* Reads weights and configuration from a safetensors file; every tensor's name, shape and numbers are checked. A path
 * without a folder that is not there may also be the name of a bundled model, "tsp-2v". */
INVIT_API invit_status invit_model_load(const char *path, invit_model **out, invit_error *err);
/* Writes them back (32-bit floats), replacing the file only when the new one is complete. */
INVIT_API invit_status invit_model_save(const invit_model *model, const char *path, invit_error *err);
/* The same with a choice of how numbers are stored; the 16-bit formats take half the space. */
typedef enum invit_storage { INVIT_STORE_F32 = 0, INVIT_STORE_F16, INVIT_STORE_BF16 } invit_storage;
INVIT_API invit_status invit_model_save_as(const invit_model *model, const char *path, invit_storage storage,
                                           invit_error *err);
/* Makes the weights of `model` the mean of its own and those of the others, all of the same architecture; one with fewer
 * state views is grown first, which leaves its decisions as they were. Runs that began with the same weights often average
 * to something better than each of them. */
INVIT_API invit_status invit_model_average(invit_model *model, const invit_model *const *others,
                                           int32_t count, invit_error *err);
INVIT_API void invit_model_destroy(invit_model *model);
/* The default model for the problem (tsp-2v, cvrp-2v) from the places models are kept: the folders in $INVIT_MODELS (separated by ':'), models/
 * beside the program or in the source tree it was built from, and the installed data. INVIT_ERR_IO when there is none. */
INVIT_API invit_status invit_model_load_default(invit_problem problem, invit_model **out, invit_error *err);
/* Where the model came from, or "". */
INVIT_API const char *invit_model_path(const invit_model *model);
INVIT_API invit_problem invit_model_problem(const invit_model *model);

typedef struct invit_import_options {
    int32_t heads;           /* attention heads (8)                                              */
    int32_t views;           /* entries in view; 0: the published sizes 15, 35, 50, 75 (0)       */
    int32_t view[9];         /* k of the action view, then of each state view                    */
    int problem;             /* INVIT_TSP or INVIT_CVRP to insist on it, -1: any (-1)            */
    bool without_invariance; /* the model was trained without the invariant layer (false)        */
} invit_import_options;

INVIT_API invit_import_options invit_import_defaults(void);
/* A model from a PyTorch checkpoint of the authors' layout: the baseline's state dict, or the trained model's, or the
 * file's only one. Widths, layers, number of views and problem are read off the shapes. Nothing in the file is executed;
 * anything but plain data and tensors is refused. */
INVIT_API invit_status invit_model_import(const char *path, const invit_import_options *options,
                                          invit_model **out, invit_error *err);

/* What a model is, for people to read. */
typedef struct invit_model_summary {
    invit_problem problem;
    int32_t width, feed_forward, heads, action_layers, state_layers, decoder_layers;
    int32_t views;   /* action view and state views                                              */
    int32_t view[9]; /* k of the action view, then of each state view                            */
    bool invariant;
    bool turned; /* views are turned too: rotations and reflections make no difference       */
    int64_t parameters;
    int32_t tensors;
} invit_model_summary;
INVIT_API invit_model_summary invit_model_describe(const invit_model *model);
/* Name and shape of tensor i; *rank is 1 or 2. */
INVIT_API const char *invit_model_tensor(const invit_model *model, int32_t i, int32_t *rank,
                                         int32_t shape[2]);
/* Text kept with the weights (a JSON object of strings), or "". */
INVIT_API const char *invit_model_metadata(const invit_model *model);

/* ---- solving ------------------------------------------------------------------------------------------- */

typedef enum invit_decode {
    INVIT_DECODE_GREEDY = 0, /* the most probable candidate                               */
    INVIT_DECODE_SAMPLE,     /* drawn from the policy's distribution                      */
    INVIT_DECODE_BEAM,       /* the most probable partial solutions side by side          */
    INVIT_DECODE_AUTO        /* greedy, but sampled where greedy rollouts would be too much alike: those of a
                              * CVRP after the first, if it is small or the model turns its views */
} invit_decode;

typedef enum invit_construct {
    INVIT_CONSTRUCT_INVIT = 0,     /* rollouts of the policy                              */
    INVIT_CONSTRUCT_NEAREST,       /* nearest neighbour                                   */
    INVIT_CONSTRUCT_GREEDY,        /* greedy edges (TSP)                                  */
    INVIT_CONSTRUCT_SPACE_FILLING, /* order along a space-filling curve                   */
    INVIT_CONSTRUCT_SAVINGS,       /* Clarke and Wright (CVRP)                            */
    INVIT_CONSTRUCT_START          /* the caller's solution (reported, not asked for)     */
} invit_construct;

typedef enum invit_improve {
    INVIT_IMPROVE_SEARCH = 0, /* local search                                             */
    INVIT_IMPROVE_NEURAL,     /* parts rebuilt by the policy                              */
    INVIT_IMPROVE_BOTH
} invit_improve;

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
typedef void (*invit_step_fn)(void *user, const invit_step *step);

/* A better solution is known: seconds since the call began, and its length by the instance's rule. */
typedef void (*invit_better_fn)(void *user, double seconds, double length);

/* The same with the solution itself, which holds during the call only. */
typedef void (*invit_show_fn)(void *user, double seconds, double length, const invit_solution *solution);

typedef struct invit_solve_options {
    invit_construct construct;    /* how to begin (INVIT)                                            */
    const invit_solution *start;  /* begin with this instead (NULL)                                */
    int32_t rollouts;             /* rollouts of the policy; 0: by size, see invit_default_rollouts  */
    invit_decode decode;          /* (AUTO)                                                          */
    double temperature;           /* of SAMPLE: log-probabilities are divided by it (1); AUTO has its own */
    int32_t beam;                 /* beam search: width (8)                                          */
    double seconds;               /* for everything, 0: construct only; < 0: invit_default_seconds (-1) */
    int64_t iterations;           /* improvement steps instead of a time limit; < 0: no limit (-1)   */
    invit_improve improve;        /* how to improve (SEARCH)                                         */
    double target;                /* stop at this length; 0: never (0)                               */
    int threads;                  /* 0: all cores (0)                                                */
    uint64_t seed;                /* (1)                                                             */
    const invit_control *control; /* progress and cancelling (NULL)                               */
    invit_better_fn better;       /* called some ten times a second at most (NULL)                   */
    void *better_user;
    invit_step_fn step; /* called for each decision of the first rollout (NULL)            */
    void *step_user;
    invit_show_fn show; /* the constructed solution, then better ones, ten a second at most (NULL) */
    void *show_user;
} invit_solve_options;

typedef struct invit_solve_result {
    double length;       /* by the instance's rule                                          */
    double length_exact; /* without rounding                                                */
    int32_t routes;
    invit_construct construct; /* what the construction was in the end                            */
    int32_t rollouts;          /* completed                                                       */
    int64_t decisions;         /* states the policy was asked about                               */
    double constructed;        /* length before improvement                                       */
    int64_t iterations;        /* improvement steps                                               */
    double seconds_construct, seconds_improve, seconds_total;
} invit_solve_result;

/* Defaults, as in the parentheses above. */
INVIT_API invit_solve_options invit_solve_defaults(void);
/* The cores this process may use, which is what 0 threads stand for. */
INVIT_API int invit_cores(void);
/* 64 up to 200 nodes, 32 to 1,000, 16 to 5,000, 8 to 10,000 (the authors' numbers), 4 to 100,000, 2 to 1,000,000, then 1; of a CVRP the customers count. */
INVIT_API int32_t invit_default_rollouts(int64_t nodes);
/* 20 ms a node, at least 1 s, at most 2 s + 5 ms a node, at most 60 s; or 0.3 ms a node where that is more. */
INVIT_API double invit_default_seconds(int64_t nodes);

/* Constructs a solution, improves it while there is time, and checks it independently of the solver. `model` may be
 * NULL when the construction does not need one; options and result may be NULL. The time limit is kept within 0.1 s + 1 %:
 * rollouts that would not end in a tenth of it (half of it, when their number is given) are given up, and if none is left
 * a quick construction takes their place. Greedy, nearest-neighbour and savings constructions that are asked for by name
 * always run to their end (seconds for a million nodes). When the caller cancels, the best solution so far is the answer,
 * or INVIT_ERR_CANCELLED if there is none. Except for time limits and cancelling, the result depends on the arguments
 * alone, the number of threads among them; construction is the same for any. */
INVIT_API invit_status invit_solve(const invit_instance *instance, const invit_model *model,
                                   const invit_solve_options *options, invit_solution **solution,
                                   invit_solve_result *result, invit_error *err);

/* ---- pictures ------------------------------------------------------------------------------------------ */

typedef struct invit_plot_options {
    double width; /* of the page in points (720)                                                        */
    double scale; /* PNG: pixels a point; 0: 2, or 4 for very large instances                           */
    const char
        *title; /* NULL: the instance's name                                                          */
    double
        best_known;   /* for the gap in the title; NaN: the library's table by name, 0: none                */
    bool linear_time; /* traces: a linear time axis instead of a logarithmic one                            */
} invit_plot_options;
INVIT_API invit_plot_options invit_plot_defaults(void);

/* Draws an instance, and a solution unless it is NULL, to a file whose name ends in .svg, .png or .pdf. The title says
 * what the independent checker says of the solution: its length and gap, or why it is not feasible. Above 20,000
 * nodes SVG and PDF hold the map as one raster image. O(n). `options` may be NULL. */
INVIT_API invit_status invit_plot(const invit_instance *instance, const invit_solution *solution,
                                  const char *path, const invit_plot_options *options, invit_error *err);
/* Draws anytime curves from files of `seconds,length` lines, up to 32 in one chart; as gaps when best_known is set. */
INVIT_API invit_status invit_plot_traces(const char *const *traces, int count, const char *path,
                                         const invit_plot_options *options, invit_error *err);
/* Draws one decision: the partial tour, the nested views as discs around the node last visited, the candidates'
 * probabilities as colours. `view` holds k of the action view and of each state view (see invit_model_describe). Meant to
 * be called from an invit_step_fn. */
INVIT_API invit_status invit_plot_step(const invit_instance *instance, const invit_step *step,
                                       const int32_t *view, int views, const char *path,
                                       const invit_plot_options *options, invit_error *err);
/* Draws training runs (directories with a log.jsonl, up to 8): loss, accuracy, validation gaps, lengths. */
INVIT_API invit_status invit_plot_runs(const char *const *runs, int count, const char *path,
                                       const invit_plot_options *options, invit_error *err);

/* ---- training ------------------------------------------------------------------------------------------ */

typedef enum invit_train_method { INVIT_IMITATE = 0, INVIT_REINFORCE } invit_train_method;

/* Everything a training run can be told. Each field has a key (the flag's name, see invit_train_option); strings are
 * held inside so that the struct can be copied. */
typedef struct invit_train_options {
    invit_problem problem;
    invit_train_method method;
    char run[1024];  /* run: the run's directory                                                          */
    char init[1024]; /* init: weights to begin with                                                       */
    double minutes;  /* minutes: stop after this time                                                     */
    int64_t steps;   /* steps: stop after this many steps (0: minutes decide)                             */
    int64_t seed;    /* seed                                                                              */
    int64_t threads; /* threads: 0 = all cores                                                            */
    bool exact;      /* exact: single precision throughout, no bfloat16                                   */
    char views[64];  /* views: k_a, k_1, ... as in "15,35"                                                */
    int64_t dim, ff, heads, action_layers, state_layers, decoder_layers;
    bool invariant;
    bool turned;       /* turned: the invariant layer turns views too, not as published                     */
    char data[512];    /* data: "uniform:100,clustered:200-500:2": distribution:size[-size][:share]         */
    char capacity[32]; /* capacity: "50" or a range "30-200"; 0: by size as published                       */
    int64_t
        demand_max; /* demand-max: demands are uniform on 1..demand-max                                  */
    double
        like_library; /* library: share of the instances that are made more like those of the libraries     */
    char labels[1024]; /* labels: file of ready labels instead of fresh ones                                */
    char
        mentor[1024]; /* mentor: a model whose opinion is learned instead of the teacher's tours            */
    double effort;    /* effort: of the teacher                                                            */
    double share;     /* share: of a labelled tour's states that is used                                   */
    int64_t walks;    /* walks: times each labelled tour is walked (new start, direction, rotation)        */
    int64_t pool;     /* pool: states held back for mixing                                                 */
    double rollin;    /* rollin: share of tours that begin with the policy's own steps                     */
    double regret;    /* regret: share of tours of the policy's own whose doubtful choices are priced      */
    double doubt;     /* doubt: less likely candidates are not sampled; a choice of one is not learned     */
    int64_t batch;    /* batch: states (imitate) or rollouts (reinforce) a step                            */
    int64_t lanes;    /* lanes: independent parts of a batch; results do not depend on threads             */
    double lr,
        lr_final;      /* lr, lr-final: peak learning rate and where it ends as a part of it                */
    int64_t warmup;    /* warmup: steps of linear rise                                                      */
    char schedule[16]; /* schedule: cosine, exponential or constant                                         */
    double decay;      /* decay: factor of the exponential schedule per epoch                               */
    double clip;       /* clip: largest gradient norm (0: none)                                             */
    double weight_decay, beta1, beta2, epsilon;
    double ema;        /* ema: decay of the moving average of the weights (0: none)                         */
    int64_t augment;   /* augment: rotated and reflected copies of an instance (reinforce)                  */
    char baseline[16]; /* baseline: greedy (frozen, as published) or pomo (mean over the copies)            */
    bool relative;     /* relative: advantages as a part of the baseline's length (mixed data)              */
    double
        lambda; /* lambda: how far decisions answer for what follows; 1: for the whole tour, as published */
    int64_t reuse;   /* reuse: updates from the decisions of a step (reinforce)                            */
    int64_t epoch;   /* epoch: steps between comparisons with the frozen baseline                         */
    int64_t compare; /* compare: instances of that comparison                                             */
    double margin;   /* margin: how much shorter the model must be to become the baseline                 */
    int64_t
        validations; /* validations: during the run (0: every six minutes, 2 to 100; 10 with steps)       */
    int64_t validate_small,
        validate_large; /* instances of TSP-100 and TSP-1000, or CVRP-100 and CVRP-500        */
    double checkpoint; /* checkpoint: seconds between checkpoints                                           */
    int64_t log_every; /* log-every: steps between lines of the log                                         */
    char
        command[1024]; /* the exact command, for the record                                                 */
} invit_train_options;

/* The defaults of a method: the ones that worked. */
INVIT_API void invit_train_defaults(invit_problem problem, invit_train_method method,
                                    invit_train_options *options);

/* One row of the table of options: key, what its value looks like, what it means. Returns false past the end. */
typedef struct invit_option_info {
    const char *key, *value, *help;
    bool hidden; /* an old name that is still understood */
} invit_option_info;
INVIT_API bool invit_train_option(int i, invit_option_info *info);
/* Sets one option from text; the error says what was expected. */
INVIT_API invit_status invit_train_set(invit_train_options *options, const char *key, const char *text,
                                       invit_error *err);
/* The value of an option as text. */
INVIT_API invit_status invit_train_get(const invit_train_options *options, const char *key, char *text,
                                       size_t size, invit_error *err);
/* Sets every option that a file of lines `key = value` names; # begins a comment. */
INVIT_API invit_status invit_train_read_config(invit_train_options *options, const char *path,
                                               invit_error *err);

typedef struct invit_train_result {
    int64_t steps, states;       /* done in all, earlier sessions of the run included */
    double seconds;              /* likewise                                          */
    double loss, accuracy;       /* mean since the last line of the log               */
    double small_gap, large_gap; /* last validation: mean greedy gap, or NaN      */
    bool finished;               /* false: stopped by the caller; resume continues    */
    int rank;                    /* of this process (MPI): 0 should do the talking    */
} invit_train_result;

/* Trains as the options say, in a new run directory; or, with resume, goes on with the run in options->run, whose saved
 * configuration (invit_train_load) the options should be, but for minutes, steps and threads. Bit-identical whether or
 * not it was interrupted, and for any number of threads. Cancelling stops after the current step with a checkpoint
 * written. Messages for the user come through the progress callback. */
INVIT_API invit_status invit_train(const invit_train_options *options, bool resume,
                                   const invit_control *control, invit_train_result *result,
                                   invit_error *err);
/* Reads a run's saved configuration. */
INVIT_API invit_status invit_train_load(const char *run, invit_train_options *options, invit_error *err);
typedef struct invit_train_speed {
    double peak_gflops;       /* FP32 multiply-adds, all threads, around the imitation below        */
    double imitate_rate;      /* labelled states a second, labels ready                             */
    double reinforce_rate;    /* decisions a second, sampled and baseline, with backward and update */
    double reinforce_learned; /* of these, the sampled ones that were learned from                  */
    double teacher_rate;      /* instances of 100 nodes or customers solved a processor second, effort 1 */
    double teacher_gap;       /* how much longer they are than with twenty times the effort         */
    double reduce_seconds;    /* to add up one gradient over the ranks (MPI)                        */
    double peak_bytes;        /* most memory in use                                                 */
    int rank;                 /* of this process (MPI); rates are of all ranks together             */
    bool labels_were_ready;   /* false: the time was so long that labels had to be made             */
} invit_train_speed;
/* Measures the model and data of the options for about 4 * seconds. */
INVIT_API invit_status invit_train_measure(const invit_train_options *options, double seconds,
                                           invit_train_speed *speed, invit_error *err);
/* Solves `count` instances of options->data with the teacher and writes them to a label file. */
INVIT_API invit_status invit_train_label(const invit_train_options *options, int64_t count, const char *path,
                                         const invit_control *control, invit_error *err);

/* ---- reports: tables of results ------------------------------------------------------------------------ */

/* Evaluations and statistics give reports. One that the caller cancels returns INVIT_ERR_CANCELLED, "stopped after 3 of 8
 * instances", and gives the report over what is finished all the same, marked as partial; NULL when nothing is. */
typedef struct invit_report invit_report;

typedef enum invit_table_format {
    INVIT_TABLE_TEXT = 0, /* aligned columns                                             */
    INVIT_TABLE_MARKDOWN,
    INVIT_TABLE_CSV, /* numbers in full; with several tables each has a "# title" line, and so has a partial one */
    INVIT_TABLE_JSON /* an array of {title, partial, note, rows: [{column: value}]}                              */
} invit_table_format;

/* The whole report as one string, to be freed with free(). */
INVIT_API invit_status invit_report_render(const invit_report *report, invit_table_format format, char **text,
                                           invit_error *err);
/* The same to a file ("-": standard output), which appears under its name only when it is complete. */
INVIT_API invit_status invit_report_write(const invit_report *report, invit_table_format format,
                                          const char *path, invit_error *err);
INVIT_API void invit_report_destroy(invit_report *report);
/* Draws the data of a statistic to a file whose name ends in .svg, .png or .pdf. */
INVIT_API invit_status invit_report_figure(const invit_report *data, const char *path, invit_error *err);

/* ---- evaluation: gaps and times over sets of instances ------------------------------------------------- */

enum { INVIT_EVAL_SETS = 7 }; /* sizes of MSVDRP: tsp-100, -1000, -5000, -10000, cvrp-50, -500, -5000 */

typedef struct invit_eval_options {
    const invit_model
        *model[2]; /* [invit_problem]; may be NULL when solve.construct needs none                    */
    invit_solve_options
        solve; /* how to solve; by default the policy's rollouts alone, without improvement       */
    bool set
        [INVIT_EVAL_SETS]; /* MSVDRP: which sizes (all)                                                       */
    bool
        distribution[4]; /* MSVDRP: which distributions (all)                                               */
    const char *dir;    /* MSVDRP: sets (NAME.txt, generated when absent) and references (NAME.sol.txt)     */
    int32_t limit;      /* at most so many instances of a set, or files; 0: all                            */
    uint64_t data_seed; /* MSVDRP: of generated sets (1)                                                   */
    double
        reference_seconds; /* search per reference; 0: a fixed number of steps by size (0)                    */
    double
        reference_effort; /* times that number (1)                                                           */
    bool
        references_only; /* MSVDRP: make the references and stop                                            */
    const char
        *best_known;     /* libraries: CSV file "instance,length" that adds to the built-in values          */
    bool paper_length;   /* libraries: measure as the paper did, the unrounded length rounded up            */
    const char *results; /* file that keeps each instance's outcome as soon as it is known; NULL: none      */
    bool resume;         /* take over what the results file holds                                           */
    bool baselines;      /* show the paper's published columns beside                                       */
    bool peak;           /* MSVDRP: measure the machine's FP32 peak too and show decisions/s relative to it */
    bool instances;      /* add a table with every instance                                                 */
    const char *against; /* compare with a published column (libraries) or another run's results file       */
    const char *label;   /* what to call this run in tables; NULL: after the model                          */
    const char *const
        *solvers;         /* files: other programs beside, "NAME=COMMAND" with {instance} {solution}        */
    int32_t solver_count; /* {seconds} {core_seconds} {threads} {seed}                                     */
    const double *times;  /* files: several limits in seconds, each a run of its own                       */
    int32_t time_count;
    int threads; /* 0: all cores                                                                    */
    const invit_control *control;
} invit_eval_options;

INVIT_API invit_eval_options invit_eval_defaults(void);
/* Name of a set ("tsp-100", ...), NULL past the end. */
INVIT_API const char *invit_eval_set_name(int i);
/* The paper's two main tables. Instances that fail are counted in *failures and do not end the run. */
INVIT_API invit_status invit_eval_msvdrp(const invit_eval_options *options, invit_report **out,
                                         int32_t *failures, invit_error *err);
/* Files and folders of TSPLIB and CVRPLIB instances (.tsp, .vrp): a table by instance and one by size. The reference is
 * the one of options->best_known, the built-in best-known value, or the solution in a file beside the instance (.opt.tour or
 * .tour for a TSP, .sol for a CVRP), which the table's note then names. */
INVIT_API invit_status invit_eval_files(const invit_eval_options *options, const char *const *paths,
                                        int32_t count, invit_report **out, int32_t *failures,
                                        invit_error *err);

/* The paper's ablation table: variants of the model, each trained from nothing for the same time, then measured on
 * TSP-1000 and -10000, CVRP-500 and -5000 over the distributions. */
enum { INVIT_EVAL_VARIANTS = 12 };

typedef struct invit_ablation_options {
    bool problem[2]; /* which problems (both)                                                   */
    bool variant
        [INVIT_EVAL_VARIANTS]; /* which variants (all)                                                    */
    double minutes;            /* of training for each variant and problem                                */
    invit_train_method method; /* (INVIT_IMITATE)                                                         */
    const char *runs;          /* folder of the training runs, one each; finished ones are not run again  */
    invit_eval_options eval;   /* sets, limit, references, rollouts, seed, threads, control, baselines    */
} invit_ablation_options;

INVIT_API invit_ablation_options invit_ablation_defaults(void);
/* Name of a variant ("2v", "2v-global", ...), NULL past the end. */
INVIT_API const char *invit_eval_variant_name(int i);
INVIT_API invit_status invit_eval_ablation(const invit_ablation_options *options, invit_report **out,
                                           int32_t *failures, invit_error *err);

/* ---- statistics: the paper's three findings on generated instances ------------------------------------- */

typedef struct invit_stats_options {
    bool problem[2];      /* [invit_problem] which ones (both)                                              */
    bool distribution[4]; /* [invit_distribution] which ones (all); attention uses uniform                  */
    const int32_t *sizes; /* nodes or customers; edges: the first is the square alone, then totals          */
    int32_t size_count;   /* 0: the call's own sizes                                                        */
    int32_t count;        /* instances per size and distribution (20)                                       */
    double seconds;       /* search per near-optimal solution; 0: a fixed number of steps by size           */
    double effort;        /* times that number (1)                                                          */
    uint64_t seed;        /* (1)                                                                            */
    int threads;          /* 0: all cores                                                                   */
} invit_stats_options;

INVIT_API invit_stats_options invit_stats_defaults(void);
/* Each gives a summary for people and the data behind it as one long table (for CSV and figures).
 * rank: of the next node among the nearest feasible ones along near-optimal solutions.
 * edges: of a solution that survive when nodes are added outside the unit square.
 * attention: mass beyond the 100 nearest of the model's largest state view when it is given the whole instance. */
INVIT_API invit_status invit_stats_rank(const invit_stats_options *options, const invit_control *control,
                                        invit_report **summary, invit_report **data, invit_error *err);
INVIT_API invit_status invit_stats_edges(const invit_stats_options *options, const invit_control *control,
                                         invit_report **summary, invit_report **data, invit_error *err);
INVIT_API invit_status invit_stats_attention(const invit_model *model, const invit_stats_options *options,
                                             const invit_control *control, invit_report **summary,
                                             invit_report **data, invit_error *err);

/* ---- measuring speed ----------------------------------------------------------------------------------- */

/* Fused multiply-adds of 32-bit floats, in GFLOPS, on that many threads (0: all cores), measured for about `seconds`. *cpu
 * (may be NULL) is the same per second of processor time times threads: on a busy machine the rate one would have alone. */
INVIT_API double invit_measure_peak(int threads, double seconds, double *cpu);

typedef struct invit_policy_speed {
    int64_t decisions;
    double per_second;     /* decisions a second, all threads together                           */
    double per_cpu_second; /* decisions a second of processor time, times threads                */
    double view_share;     /* part of the time spent finding neighbours                          */
    double walk_bytes;     /* memory a node and rollout                                          */
    double shared_bytes;   /* memory a node that all rollouts share: instance and index          */
} invit_policy_speed;

/* The policy's speed on an instance: `rollouts` greedy rollouts on `threads` threads (0: all cores) for about `seconds`,
 * beginning when a share `from` (0..1) of the nodes has been visited (by nearest neighbour, not timed). */
INVIT_API invit_status invit_measure_policy(const invit_instance *instance, const invit_model *model,
                                            int32_t rollouts, int threads, double from, double seconds,
                                            invit_policy_speed *out, invit_error *err);
/* A model with random weights and the published sizes, `views` views in all (1..4): the same speed as a trained one. */
INVIT_API invit_status invit_model_random(invit_problem problem, int32_t views, uint64_t seed,
                                          invit_model **out, invit_error *err);

#ifdef __cplusplus
}
#endif
#endif
