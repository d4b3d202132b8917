/* invit gen: random instances, and the 28 MSVDRP sets. */
#include "base/names.h"
#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

enum { FORMAT_AUTO, FORMAT_MSVDRP, FORMAT_TSPLIB, FORMAT_JSON };

typedef struct values {
    int64_t size, count, capacity;
    int dist, format, demand_min, demand_max;
    bool like_library;
    double route_size;
    double scale;
    const char *output;
    cli_common common;
} values;

/* What is made. */
enum { TSP = 1, CVRP = 2, MSVDRP = 4 };

static const cli_option options[] = {
    {.name = "size",
     .modes = TSP | CVRP,
     .letter = 'n',
     .type = CLI_INT64,
     .offset = offsetof(values, size),
     .metavar = "N",
     .min = 1,
     .max = 1e9,
     .help = "nodes of an instance; of a CVRP: customers, the depot comes on top"},
    {.name = "dist",
     .modes = TSP | CVRP,
     .letter = 'd',
     .type = CLI_CHOICE,
     .offset = offsetof(values, dist),
     .choices = "uniform|clustered|explosion|implosion",
     .help = "how the nodes are distributed"},
    {.name = "count",
     .modes = TSP | CVRP,
     .old_letter = 'c',
     .type = CLI_INT64,
     .offset = offsetof(values, count),
     .metavar = "M",
     .min = 1,
     .max = 1e12,
     .help = "instances to make"},
    CLI_SEED(values, common),
    {.name = "output",
     .letter = 'o',
     .type = CLI_STRING,
     .offset = offsetof(values, output),
     .metavar = "FILE",
     .fallback = "standard output",
     .help = "a file; for TSPLIB and JSON also a directory (NAME/ makes one) or a pattern with %d, one file "
             "per instance"},
    {.name = "format",
     .modes = TSP | CVRP,
     .letter = 'f',
     .type = CLI_CHOICE,
     .offset = offsetof(values, format),
     .choices = "auto|msvdrp|tsplib|json",
     .help = "auto: TSPLIB for .tsp, .vrp and directories, JSON for .json, MSVDRP otherwise"},
    {.name = "scale",
     .modes = TSP | CVRP,
     .type = CLI_DOUBLE,
     .offset = offsetof(values, scale),
     .metavar = "F",
     .fallback = "keep the unit square",
     .min = 1e-9,
     .max = 1e12,
     .help = "TSPLIB, JSON: multiply coordinates by F and measure by EUC_2D, as other solvers expect"},
    {.name = "capacity",
     .modes = CVRP,
     .type = CLI_INT64,
     .offset = offsetof(values, capacity),
     .metavar = "Q",
     .min = 1,
     .max = 2147483647,
     .help = "CVRP: capacity of a vehicle"},
    {.name = "demand-min",
     .modes = CVRP,
     .type = CLI_INT,
     .offset = offsetof(values, demand_min),
     .metavar = "D",
     .min = 0,
     .max = 2147483647,
     .help = "CVRP: smallest demand"},
    {.name = "demand-max",
     .modes = CVRP,
     .type = CLI_INT,
     .offset = offsetof(values, demand_max),
     .metavar = "D",
     .min = 0,
     .max = 2147483647,
     .help = "CVRP: largest demand"},
    {.name = "library",
     .modes = TSP | CVRP,
     .type = CLI_BOOL,
     .offset = offsetof(values, like_library),
     .help = "more like the libraries: TSP: dense patches, rows and grids, as in TSPLIB; CVRP: capacity, "
             "demands and depot as in CVRPLIB's X set: routes of 3 to 25 customers, seven kinds of demands, "
             "depots in the centre, in a corner or anywhere"},
    {.name = "route-size",
     .modes = CVRP,
     .type = CLI_DOUBLE,
     .offset = offsetof(values, route_size),
     .metavar = "C",
     .fallback = "drawn, 3 to 25",
     .min = 1,
     .max = 1e9,
     .help = "CVRP with --library: customers that fit into a route on average; 50 to 200 are long routes"},
    CLI_QUIET(values, common),
    CLI_END,
};
static const cli_spec spec = {
    .command = "gen",
    .usage = "tsp|cvrp [OPTION...]\nmsvdrp -o DIR [--seed S]",
    .about = "Generates instances in the unit square; the same seed gives the same bytes on every machine. "
             "`gen msvdrp` "
             "makes the 28 sets of the MSVDRP benchmark (4 distributions of 4 TSP and 3 CVRP sizes) in a "
             "directory and "
             "goes on where it was interrupted.",
    .options = options,
    .min_args = 1,
    .max_args = 1,
    .more = "Examples:\n"
            "  invit gen tsp -n 1000 --dist clustered --count 20 -o set.txt\n"
            "  invit gen cvrp -n 200 --scale 1000 -o customers.vrp\n"
            "  invit gen tsp -n 100 --count 10 --format tsplib -o 'case-%03d.tsp'\n",
};

static invit_status generate(const values *v, invit_problem problem, int64_t index, invit_instance **out,
                             invit_error *err)
{
    invit_generate_options o = {.capacity = v->capacity,
                                .demand_min = v->demand_min,
                                .demand_max = v->demand_max,
                                .like_library = v->like_library,
                                .route_size = v->route_size};
    return invit_generate_with(problem, (invit_distribution)v->dist, v->size, v->common.seed, (uint64_t)index,
                               &o, out, err);
}

/* The instance with coordinates times `scale`, measured by EUC_2D; takes the old one over. */
static invit_status scale_up(invit_instance **instance, double scale, invit_error *err)
{
    invit_instance *p = *instance, *scaled = NULL;
    int64_t n = invit_instance_nodes(p);
    const double *xy = invit_instance_coords(p);
    const int32_t *demand = invit_instance_demands(p);
    double *larger = malloc((size_t)n * 2 * sizeof *larger);
    int64_t *wide = demand ? malloc((size_t)n * sizeof *wide) : NULL;
    invit_status status = INVIT_ERR_MEMORY;
    if (!larger || (demand && !wide)) {
        snprintf(err->message, sizeof err->message, "out of memory");
        err->code = status;
        goto done;
    }
    for (int64_t i = 0; i < 2 * n; i++) larger[i] = xy[i] * scale;
    for (int64_t i = 0; demand && i < n; i++) wide[i] = demand[i];
    status = demand ? invit_instance_create_cvrp(larger, wide, n, invit_instance_capacity(p), INVIT_EUC_2D,
                                                 &scaled, err)
                    : invit_instance_create_tsp(larger, n, INVIT_EUC_2D, &scaled, err);
    if (status == INVIT_OK) status = invit_instance_set_name(scaled, invit_instance_name(p), err);
    if (status == INVIT_OK) {
        invit_instance_destroy(p);
        *instance = scaled;
        scaled = NULL;
    }
done:
    invit_instance_destroy(scaled);
    free(larger);
    free(wide);
    return status;
}

/* All instances into one file. */
static invit_status write_one_file(const values *v, invit_problem problem, invit_format format,
                                   const char *path, cli_progress *progress, invit_error *err)
{
    invit_writer *w = NULL;
    invit_status status = invit_writer_open(path, &w, err);
    for (int64_t i = 0; status == INVIT_OK && i < v->count; i++) {
        invit_instance *p = NULL;
        status = generate(v, problem, i, &p, err);
        if (status == INVIT_OK && v->scale > 0) status = scale_up(&p, v->scale, err);
        if (status == INVIT_OK) status = invit_writer_instance(w, p, format, err);
        invit_instance_destroy(p);
        cli_progress_line(progress, "%s: %lld of %lld", path, (long long)i + 1, (long long)v->count);
        if (status == INVIT_OK && cli_cancelled()) {
            status = err->code = INVIT_ERR_CANCELLED;
            snprintf(err->message, sizeof err->message, "interrupted; %s was not written", path);
        }
    }
    if (status == INVIT_OK) return invit_writer_close(w, err);
    invit_writer_abandon(w);
    return status;
}

/* A pattern's "%d", "%5d" or "%05d" replaced by the index. */
static bool expand(const char *pattern, int64_t index, char *to, size_t room)
{
    const char *percent = strchr(pattern, '%'), *p = percent + 1;
    bool zeros = *p == '0';
    int width = 0;
    while (*p >= '0' && *p <= '9' && width < 100) width = width * 10 + (*p++ - '0');
    if (*p != 'd' || width > 18) return false;
    int n = zeros ? snprintf(to, room, "%.*s%0*lld%s", (int)(percent - pattern), pattern, width,
                             (long long)index, p + 1)
                  : snprintf(to, room, "%.*s%*lld%s", (int)(percent - pattern), pattern, width,
                             (long long)index, p + 1);
    return n > 0 && (size_t)n < room && !strchr(p, '%');
}

static bool name_in(const char *directory, const invit_instance *p, invit_format format, char *to,
                    size_t room)
{
    const char *ending = invit_instance_problem(p) == INVIT_TSP ? "tsp" : "vrp";
    if (format == INVIT_FORMAT_JSON) ending = "json";
    return snprintf(to, room, "%s/%s.%s", directory, invit_instance_name(p), ending) < (int)room;
}

/* One file per instance. */
static invit_status write_many_files(const values *v, invit_problem problem, invit_format format,
                                     bool directory, cli_progress *progress, invit_error *err)
{
    invit_status status = INVIT_OK;
    for (int64_t i = 0; status == INVIT_OK && i < v->count; i++) {
        char path[4096];
        invit_instance *p = NULL;
        invit_writer *w = NULL;
        status = generate(v, problem, i, &p, err);
        if (status == INVIT_OK && v->scale > 0) status = scale_up(&p, v->scale, err);
        if (status == INVIT_OK) {
            bool fits = directory ? name_in(v->output, p, format, path, sizeof path)
                                  : expand(v->output, i, path, sizeof path);
            if (!fits) {
                status = err->code = INVIT_ERR_ARGUMENT;
                snprintf(err->message, sizeof err->message,
                         "--output '%.200s': expected a pattern with one %%d or %%0Nd", v->output);
            }
        }
        if (status == INVIT_OK) status = invit_writer_open(path, &w, err);
        if (status == INVIT_OK) {
            status = invit_writer_instance(w, p, format, err);
            invit_status closed = invit_writer_close(w, status == INVIT_OK ? err : NULL);
            if (status == INVIT_OK) status = closed;
        }
        invit_instance_destroy(p);
        cli_progress_line(progress, "%lld of %lld files", (long long)i + 1, (long long)v->count);
        if (status == INVIT_OK && cli_cancelled()) {
            status = err->code = INVIT_ERR_CANCELLED;
            snprintf(err->message, sizeof err->message, "interrupted after %lld files", (long long)i + 1);
        }
    }
    return status;
}

static bool ends_in(const char *path, const char *extension)
{
    size_t n = strlen(path), k = strlen(extension);
    return n > k && strcasecmp(path + n - k, extension) == 0;
}

/* CLI_GO, or the exit code after saying why there is none. */
static int make_directory(const char *path)
{
    if (mkdir(path, 0777) == 0 || errno == EEXIST) return CLI_GO;
    return cli_fail("%s: cannot create: %s", path, strerror(errno));
}

/* There, or to be made, which a slash at the end says. */
static bool is_directory(const char *path)
{
    struct stat info;
    size_t n = strlen(path);
    return (n > 0 && path[n - 1] == '/') || (stat(path, &info) == 0 && S_ISDIR(info.st_mode));
}

static int gen_set(values *v, invit_problem problem)
{
    bool directory = is_directory(v->output);
    bool pattern = !directory && strchr(v->output, '%');
    bool json = v->format == FORMAT_JSON || (v->format == FORMAT_AUTO && ends_in(v->output, ".json"));
    bool tsplib = v->format == FORMAT_TSPLIB ||
                  (v->format == FORMAT_AUTO && !json &&
                   (directory || ends_in(v->output, ".tsp") || ends_in(v->output, ".vrp")));
    bool sets = !tsplib && !json;
    if (sets && directory) return cli_bad_usage("%s is a directory: MSVDRP sets are one file", v->output);
    if (sets && v->scale > 0)
        return cli_bad_usage("--scale is for TSPLIB and JSON files; MSVDRP sets keep the unit square");
    if (!sets && v->count > 1 && !directory && !pattern)
        return cli_bad_usage("%lld %s files need a directory or a pattern with %%d as --output; -o NAME/ "
                             "makes a directory",
                             (long long)v->count, json ? "JSON" : "TSPLIB");
    if (sets && problem == INVIT_TSP && v->size == 1 && v->count > 1)
        return cli_bad_usage("%lld instances of one node would be read back as one of %lld; write TSPLIB "
                             "files: -f tsplib -o NAME/",
                             (long long)v->count, (long long)v->count);
    if (directory) {
        int code = make_directory(v->output);
        if (code != CLI_GO) return code;
    }
    cli_progress progress;
    invit_error err;
    cli_control(&progress, v->common.quiet);
    invit_format format = tsplib ? INVIT_FORMAT_TSPLIB : INVIT_FORMAT_MSVDRP;
    if (json) format = INVIT_FORMAT_JSON;
    invit_status status = !sets && (directory || pattern)
                              ? write_many_files(v, problem, format, directory, &progress, &err)
                              : write_one_file(v, problem, format, v->output, &progress, &err);
    cli_progress_clear(&progress);
    return status == INVIT_OK ? CLI_OK : cli_report(&err);
}

/* ---- the benchmark ------------------------------------------------------------------------------------- */

static const struct {
    invit_problem problem;
    int64_t size, count;
} sets[] = {{INVIT_TSP, 100, 2000}, {INVIT_TSP, 1000, 200}, {INVIT_TSP, 5000, 20}, {INVIT_TSP, 10000, 20},
            {INVIT_CVRP, 50, 2000}, {INVIT_CVRP, 500, 200}, {INVIT_CVRP, 5000, 20}};

/* A set that exists is complete (files appear whole); it must also be of this seed. */
static invit_status same_first_instance(const values *v, invit_problem problem, const char *path, bool *same,
                                        invit_error *err)
{
    invit_instance *there = NULL, *here = NULL;
    invit_status status = invit_instance_read(path, 0, &there, err);
    if (status == INVIT_OK) status = generate(v, problem, 0, &here, err);
    if (status == INVIT_OK) {
        int64_t n = invit_instance_nodes(here);
        *same = n == invit_instance_nodes(there) &&
                memcmp(invit_instance_coords(here), invit_instance_coords(there),
                       (size_t)n * 2 * sizeof(double)) == 0;
    }
    invit_instance_destroy(there);
    invit_instance_destroy(here);
    return status;
}

static int gen_msvdrp(values *v)
{
    struct stat info;
    invit_error err;
    cli_progress progress;
    cli_control(&progress, v->common.quiet);
    if (strcmp(v->output, "-") == 0) return cli_bad_usage("gen msvdrp needs a directory: -o DIR");
    int code = make_directory(v->output);
    if (code != CLI_GO) return code;
    int made = 0, kept = 0;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        for (v->dist = INVIT_UNIFORM; v->dist <= INVIT_IMPLOSION; v->dist++) {
            char path[4096];
            bool same = false;
            v->size = sets[i].size;
            v->count = sets[i].count;
            snprintf(path, sizeof path, "%s/%s%lld-%s.txt", v->output, inv_problem_name(sets[i].problem),
                     (long long)v->size, inv_distribution_name((invit_distribution)v->dist));
            invit_status status;
            if (stat(path, &info) == 0) {
                status = same_first_instance(v, sets[i].problem, path, &same, &err);
                if (status == INVIT_OK && !same)
                    return cli_fail(
                        "%s exists and is not the set of seed %llu; remove it or choose another directory",
                        path, (unsigned long long)v->common.seed);
                kept++;
            } else {
                status = write_one_file(v, sets[i].problem, INVIT_FORMAT_MSVDRP, path, &progress, &err);
                made++;
            }
            cli_progress_clear(&progress);
            if (status != INVIT_OK) return cli_report(&err);
        }
    if (!v->common.quiet) printf("%s: %d sets made, %d already there\n", v->output, made, kept);
    return CLI_OK;
}

int cmd_gen(int argc, char **argv)
{
    invit_generate_options o = invit_generate_defaults();
    values v = {.size = 100,
                .count = 1,
                .capacity = o.capacity,
                .demand_min = o.demand_min,
                .demand_max = o.demand_max,
                .output = "-",
                .common = {.seed = 1}};
    cli_args args;
    int code = cli_parse(&spec, &v, argc, argv, &args);
    if (code != CLI_GO) return code;
    static const char *const kinds[] = {"tsp", "cvrp", "msvdrp"};
    int kind = 0;
    while (kind < 3 && strcmp(args.item[0], kinds[kind]) != 0) kind++;
    if (kind == 3)
        code = cli_bad_usage("'%s': expected tsp, cvrp or msvdrp", args.item[0]);
    else
        code = cli_check_mode(&args, 1u << kind, kinds[kind]);
    static const char *const ranges[] = {"capacity", "demand-min", "demand-max"};
    for (int i = 0; i < 3 && code == CLI_GO && v.like_library; i++)
        if (cli_given(&args, ranges[i]))
            code = cli_bad_usage("--library draws what --%s would set; give one of them", ranges[i]);
    if (code == CLI_GO && cli_given(&args, "route-size") && !v.like_library)
        code = cli_bad_usage("--route-size sets what --library draws; without it, --capacity does");
    invit_problem problem = kind ? INVIT_CVRP : INVIT_TSP;
    if (code == CLI_GO) code = 1 << kind == MSVDRP ? gen_msvdrp(&v) : gen_set(&v, problem);
    cli_args_free(&args);
    return code;
}
