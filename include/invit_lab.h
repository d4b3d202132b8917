/* invit_lab.h - public interface of libinvit-lab: making and judging models, pictures, training, evaluation, statistics.
 *
 * The conventions are those of invit.h. This interface is less stable: it follows the experiments, and its structs may
 * change from one minor version to the next. Programs that only solve do not need it.
 *
 * In this order: making models - random instances - best known lengths - pictures - training - reports, evaluation, statistics - measuring
 * speed.
 */
#ifndef INVIT_LAB_H
#define INVIT_LAB_H

#include "invit.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- making models ------------------------------------------------------------------------------------- */

/* Writes a model's weights and configuration (32-bit floats), replacing the file only when the new one is complete. */
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
/* A model with random weights and the published sizes, `views` views in all (1..4): the same speed as a trained one. */
INVIT_API invit_status invit_model_random(invit_problem problem, int32_t views, uint64_t seed,
                                          invit_model **out, invit_error *err);

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

/* Where the model came from, or "". */
INVIT_API const char *invit_model_path(const invit_model *model);
/* What a model is, for people to read. */
typedef struct invit_model_summary {
    invit_problem problem;
    int32_t width, feed_forward, heads, action_layers, state_layers, decoder_layers;
    int32_t views;   /* action view and state views                                              */
    int32_t view[9]; /* k of the action view, then of each state view                            */
    bool invariant;
    bool canonical_frame; /* rotations and reflections of a view make no difference */
    int64_t parameters;
    int32_t tensors;
} invit_model_summary;
INVIT_API invit_model_summary invit_model_describe(const invit_model *model);
/* Name and shape of tensor i; *rank is 1 or 2. */
INVIT_API const char *invit_model_tensor(const invit_model *model, int32_t i, int32_t *rank,
                                         int32_t shape[2]);
/* Text kept with the weights (a JSON object of strings), or "". */
INVIT_API const char *invit_model_metadata(const invit_model *model);

/* ---- several machines ---------------------------------------------------------------------------------- */

/* The processes ("ranks") that mpirun started; without mpirun, or built without MPI, there is one. */
typedef struct invit_ranks invit_ranks;
INVIT_API invit_status invit_ranks_join(invit_ranks **out, invit_error *err);
INVIT_API int invit_ranks_rank(const invit_ranks *ranks);
INVIT_API int invit_ranks_size(const invit_ranks *ranks);
/* invit_solve by all ranks; rank 0 calls it, while the others serve. Large instances are shared in pieces, small ones are
 * solved by every rank with a seed of its own, and they exchange solutions. When a rank is lost, or the call is cancelled,
 * the best solution so far is returned. */
INVIT_API invit_status invit_ranks_solve(invit_ranks *ranks, const invit_instance *instance,
                                         const invit_model *model, const invit_options *options,
                                         invit_solution **solution, invit_error *err);
/* The other ranks: does what rank 0 asks for, with so many threads (0: all cores), until rank 0 leaves. */
INVIT_API invit_status invit_ranks_serve(invit_ranks *ranks, int threads, const invit_control *control,
                                         invit_error *err);
/* Bytes that rank 0 has sent and received so far, and in how many rounds (may be NULL). */
INVIT_API int64_t invit_ranks_bytes(const invit_ranks *ranks, int32_t *rounds);
/* The last call. When a rank was lost, ends all of them with this exit code (1 instead of 0) and does not return. */
INVIT_API void invit_ranks_leave(invit_ranks *ranks, int code);

/* ---- random instances as the MSVDRP sets have them ----------------------------------------------------- */

/* The options of invit_generate_with that the MSVDRP sets use, and an instance made with them. */
INVIT_API invit_generate_options invit_generate_defaults(void);
INVIT_API invit_status invit_generate(invit_problem problem, invit_distribution distribution, int64_t size,
                                      uint64_t seed, uint64_t index, invit_instance **out, invit_error *err);

/* ---- files, in short ------------------------------------------------------------------------------------ */

/* The format a file's extension asks for (.tour, .sol, .txt, .geojson or .json, .csv, .gpx, .kml, .html), or else the
 * usual one of the problem. */
INVIT_API invit_solution_format invit_solution_format_for(const char *path, invit_problem problem);
/* Writes a folder, made if it is not there: stops.csv (all routes), summary.csv (one route per line) and route-N.csv for
 * each route, each complete or as it was before; then removes files called route-N.csv that an earlier plan left there.
 * What reads solutions takes the folder for its stops.csv. */
INVIT_API invit_status invit_solution_write_folder(const char *path, const invit_instance *instance,
                                                   const invit_solution *solution, invit_error *err);
/* The same from a file: a NumPy array, or text with one row per line, perhaps with names before rows and columns. */
INVIT_API invit_status invit_instance_read_matrix(invit_instance *instance, const char *name,
                                                  const char *path, invit_error *err);
/* How many threads may read the coordinates of a large file (TSPLIB or a plain list, from 1 MB on); 0: all cores. One
 * does without this call. */
INVIT_API void invit_reader_set_threads(invit_reader *reader, int threads);
/* The `table` of invit_instance_set as JSON, to be freed with free(), with its length in *size, which may be NULL; *json is
 * NULL where there is none. libinvit has it: linking the lab is not necessary for it. */
INVIT_API invit_status invit_instance_table(const invit_instance *instance, char **json, size_t *size,
                                            invit_error *err);
/* Solution `index` (from 0) of a file of MSVDRP lines, or the one solution of another file. */
INVIT_API invit_status invit_solution_read(const char *path, const invit_instance *instance, int64_t index,
                                           invit_solution **out, invit_solution_info *info, invit_error *err);

/* ---- best known lengths -------------------------------------------------------------------------------- */

/* The best known length of a library instance (TSPLIB optima, CVRPLIB X), by name; false when there is none. */
INVIT_API bool invit_best_known(const char *name, double *value);
/* The same for an instance, unless it is measured by another rule. */
INVIT_API bool invit_instance_best_known(const invit_instance *instance, double *value);

/* ---- watching the policy decide ------------------------------------------------------------------------ */

/* Called for each decision of the first rollout (not under beam search); NULL: none. libinvit has it: linking the lab is
 * not necessary for it. */
INVIT_API void invit_options_set_step(invit_options *options, invit_step_fn fn, void *user);

/* ---- pictures ------------------------------------------------------------------------------------------ */

typedef struct invit_plot_options {
    double width; /* of the page in points (720)                                                        */
    double scale; /* PNG: pixels per point; 0: 2, or 4 for very large instances                           */
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
/* The same to memory, as ".svg", ".png" or ".pdf"; *picture is to be freed with free(). */
INVIT_API invit_status invit_plot_memory(const invit_instance *instance, const invit_solution *solution,
                                         const char *ending, const invit_plot_options *options,
                                         char **picture, size_t *size, invit_error *err);
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
    uint64_t seed;   /* seed                                                                              */
    int64_t threads; /* threads: 0 = all cores                                                            */
    bool exact;      /* exact: single precision throughout, no bf16                                   */
    char views[64];  /* views: k_a, k_1, ... as in "15,35"                                                */
    int64_t dim, ff, heads, action_layers, state_layers, decoder_layers;
    bool invariant;
    bool canonical_frame; /* canonical-frame: views without rotation and reflection, not as published */
    char data[512];    /* data: "uniform:100,clustered:200-500:2": distribution:size[-size][:share]         */
    char capacity[32]; /* capacity: "50" or a range "30-200"; 0: by size as published                       */
    int64_t
        demand_max; /* demand-max: demands are uniform on 1..demand-max                                  */
    double
        like_library; /* library: share of the instances that are made more like those of the libraries     */
    char labels[1024]; /* labels: file of ready labels instead of fresh ones                                */
    char distill
        [1024];    /* distill: a teacher model whose probabilities are learned, not the expert's choices */
    double effort; /* effort: of the expert                                                            */
    double share;  /* share: of a labelled tour's states that is used                                   */
    int64_t walks; /* walks: times each labelled tour is walked (new start, direction, rotation)        */
    int64_t replay_buffer; /* replay-buffer: labelled states kept for mixing */
    double rollin;   /* rollin: share of tours that begin with the policy's own steps                     */
    double q_regret; /* q-regret: share of the policy's own tours whose open choices the expert compares */
    double min_p;    /* min-p: less likely candidates are not sampled */
    int64_t batch;   /* batch: states (imitate) or rollouts (reinforce) a step                            */
    int64_t lanes;   /* lanes: independent parts of a batch; results do not depend on threads             */
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
    double gae_lambda; /* gae-lambda: GAE with the expert as critic; 1: the whole tour, as published */
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
    const char *group;    /* heading under which this and the following options stand, or NULL */
    const char *only_for; /* what else to choose for it to count ("cvrp", "--method reinforce"), or NULL */
    bool hidden;          /* an old name that is still understood */
} invit_option_info;
INVIT_API bool invit_train_option(int i, invit_option_info *info);
/* Whether option `key` changes anything in a run with these problem and method. */
INVIT_API bool invit_train_option_counts(const invit_train_options *options, const char *key);
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
    double loss, accuracy;       /* mean of the last line of the log; accuracy NaN with reinforce */
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
    double imitate_rate;      /* labelled states per second, labels ready                             */
    double reinforce_rate;    /* decisions per second, sampled and baseline, with backward and update */
    double reinforce_learned; /* of these, the sampled ones that were learned from                  */
    double expert_rate;       /* instances of 100 nodes or customers solved a processor second, effort 1 */
    double expert_gap;        /* how much longer they are than with twenty times the effort         */
    double reduce_seconds;    /* to add up one gradient over the ranks (MPI)                        */
    double peak_bytes;        /* most memory in use                                                 */
    int rank;                 /* of this process (MPI); rates are of all ranks together             */
    bool labels_were_ready;   /* false: the time was so long that labels had to be made             */
} invit_train_speed;
/* Measures the model and data of the options for about 4 * seconds. */
INVIT_API invit_status invit_train_measure(const invit_train_options *options, double seconds,
                                           invit_train_speed *speed, invit_error *err);
/* Solves `count` instances of options->data with the expert and writes them to a label file. */
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
        *model[2]; /* [invit_problem]; may be NULL when the construction needs none                   */
    const invit_options
        *solve; /* how to solve; NULL: the policy's rollouts alone, without improvement       */
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
    const char *
        references; /* MSVDRP: results file of an earlier run on the same sets, whose references are taken; NULL: none */
    const char
        *best_known;     /* libraries: CSV file "instance,length" that adds to the built-in values          */
    bool paper_length;   /* libraries: measure as the paper did, the unrounded length rounded up            */
    const char *results; /* file that keeps each instance's outcome as soon as it is known; NULL: none      */
    bool resume;         /* take over what the results file holds                                           */
    bool baselines;      /* show the paper's published columns beside                                       */
    bool rules;          /* show simple constructions on the same instances beside, with their times        */
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
/* Decision `step` (from 0) of a greedy rollout: for each view the attention of the current node's token, head by head,
 * beside the probabilities of the candidates; the data have every layer. The instance is a plain one. */
INVIT_API invit_status invit_stats_decision(const invit_model *model, const invit_instance *instance,
                                            int64_t step, const invit_control *control,
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
    double per_second;     /* decisions per second, all threads together                           */
    double per_cpu_second; /* decisions per second of processor time, times threads                */
    double view_share;     /* part of the time spent finding neighbours                          */
    double walk_bytes;     /* bytes per node and rollout                                        */
    double shared_bytes;   /* bytes per node that all rollouts share: instance and index        */
} invit_policy_speed;

/* The policy's speed on an instance: `rollouts` greedy rollouts on `threads` threads (0: all cores) for about `seconds`,
 * beginning when a share `from` (0..1) of the nodes has been visited (by nearest neighbour, not timed). */
INVIT_API invit_status invit_measure_policy(const invit_instance *instance, const invit_model *model,
                                            int32_t rollouts, int threads, double from, double seconds,
                                            invit_policy_speed *out, invit_error *err);

#ifdef __cplusplus
}
#endif
#endif
