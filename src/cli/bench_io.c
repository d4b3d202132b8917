/* invit bench io: generating, writing and reading a million nodes. */
#include "base/clock.h"
#include "base/names.h"
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef struct values {
    int64_t size;
    int repeat;
    const char *directory;
    cli_common common;
} values;

static const cli_option options[] = {
    {.name = "size",
     .letter = 'n',
     .type = CLI_INT64,
     .offset = offsetof(values, size),
     .metavar = "N",
     .min = 1,
     .max = 1e8,
     .help = "nodes"},
    {.name = "repeat",
     .type = CLI_INT,
     .offset = offsetof(values, repeat),
     .metavar = "R",
     .min = 1,
     .max = 1000,
     .help = "times each is measured; the fastest counts"},
    {.name = "directory",
     .type = CLI_STRING,
     .offset = offsetof(values, directory),
     .metavar = "DIR",
     .fallback = "$TMPDIR or /tmp",
     .help = "where the file is written"},
    CLI_JSON(values, common),
    CLI_END,
};
static const cli_spec spec = {
    .command = "bench io",
    .usage = "[OPTION...]",
    .about =
        "Generates, writes (to a synced file) and reads an instance in each format. Memory is the peak of a "
        "process that does only this, above what it needed before.",
    .options = options,
};

typedef struct measurement {
    double seconds;
    double peak; /* bytes */
    bool ok;
    char message[256];
} measurement;

typedef struct job {
    enum { GENERATE, WRITE, READ } what;
    invit_problem problem;
    invit_distribution distribution;
    invit_format format;
    int64_t size;
    const char *path;
} job;

static double peak_memory(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss * 1024.0;
}

static invit_status run_job(const job *j, measurement *m, invit_error *err)
{
    invit_instance *p = NULL;
    invit_writer *w = NULL;
    invit_status status = INVIT_OK;
    if (j->what == WRITE) status = invit_generate(j->problem, j->distribution, j->size, 1, 0, &p, err);
    double before = peak_memory(), start = inv_now();
    if (status != INVIT_OK) return status;
    if (j->what == GENERATE)
        status = invit_generate(j->problem, j->distribution, j->size, 1, 0, &p, err);
    else if (j->what == READ)
        status = invit_instance_read(j->path, 0, &p, err);
    else if ((status = invit_writer_open(j->path, &w, err)) == INVIT_OK) {
        status = invit_writer_instance(w, p, j->format, err);
        invit_status closed = invit_writer_close(w, status == INVIT_OK ? err : NULL);
        if (status == INVIT_OK) status = closed;
    }
    m->seconds = inv_now() - start;
    m->peak = peak_memory() - before;
    invit_instance_destroy(p);
    return status;
}

/* In a process of its own, so that peaks do not add up. */
static measurement measure(const job *j)
{
    measurement m = {.ok = false, .message = "the measuring process ended early"};
    int ends[2];
    fflush(stdout);
    if (pipe(ends) != 0) return m;
    pid_t child = fork();
    if (child == 0) {
        invit_error err = {.message = ""};
        m.ok = run_job(j, &m, &err) == INVIT_OK;
        snprintf(m.message, sizeof m.message, "%.250s", err.message);
        bool sent = write(ends[1], &m, sizeof m) == (ssize_t)sizeof m;
        _exit(sent ? 0 : 1);
    }
    close(ends[1]);
    measurement answer;
    if (child > 0 && read(ends[0], &answer, sizeof answer) == (ssize_t)sizeof answer) m = answer;
    close(ends[0]);
    if (child > 0) waitpid(child, NULL, 0);
    return m;
}

static bool report(const values *v, const char *name, const job *j)
{
    measurement best = measure(j);
    for (int i = 1; i < v->repeat && best.ok && !cli_cancelled(); i++) {
        measurement m = measure(j);
        if (m.ok && m.seconds < best.seconds) best = m;
    }
    if (!best.ok) {
        cli_fail("%s: %s", name, best.message);
        return false;
    }
    struct stat info;
    double bytes = j->what != GENERATE && stat(j->path, &info) == 0 ? (double)info.st_size : 0;
    double n = (double)v->size;
    if (v->common.json) {
        inv_json out = inv_json_to_file(stdout);
        inv_json_open(&out, NULL, '{');
        inv_json_string(&out, "bench", name);
        inv_json_int(&out, "nodes", v->size);
        inv_json_number(&out, "seconds", best.seconds);
        inv_json_number(&out, "nodes_per_second", n / best.seconds);
        inv_json_number(&out, "file_bytes", bytes);
        inv_json_number(&out, "peak_bytes_per_node", best.peak / n);
        inv_json_close(&out);
    } else {
        printf("%-28s %8.3f s %9.2f M nodes/s", name, best.seconds, n / best.seconds / 1e6);
        if (bytes > 0)
            printf(" %8.0f MB/s", bytes / best.seconds / 1e6);
        else
            printf(" %13s", "");
        printf(" %7.1f bytes/node\n", best.peak / n);
    }
    return true;
}

int bench_io(int argc, char **argv)
{
    const char *tmp = getenv("TMPDIR");
    values v = {.size = 1000000, .repeat = 3, .directory = tmp && *tmp ? tmp : "/tmp"};
    cli_args args;
    int code = cli_parse(&spec, &v, argc, argv, &args);
    if (code != CLI_GO) return code;
    char path[4096];
    snprintf(path, sizeof path, "%s/invit-bench-%ld", v.directory, (long)getpid());
    bool ok = true;
    cli_cancel_flag(); /* an interrupt must not leave the file behind */
    for (int d = INVIT_UNIFORM; d <= INVIT_IMPLOSION && ok && !cli_cancelled(); d++) {
        char name[64];
        snprintf(name, sizeof name, "generate %s", inv_distribution_name((invit_distribution)d));
        job j = {.what = GENERATE, .distribution = (invit_distribution)d, .size = v.size};
        ok = report(&v, name, &j);
    }
    static const struct {
        const char *name;
        invit_problem problem;
        invit_format format;
    } files[] = {{"TSPLIB", INVIT_TSP, INVIT_FORMAT_TSPLIB},
                 {"CVRPLIB", INVIT_CVRP, INVIT_FORMAT_TSPLIB},
                 {"MSVDRP TSP", INVIT_TSP, INVIT_FORMAT_MSVDRP},
                 {"MSVDRP CVRP", INVIT_CVRP, INVIT_FORMAT_MSVDRP}};
    for (size_t i = 0; i < sizeof files / sizeof *files && ok && !cli_cancelled(); i++) {
        char name[64];
        job j = {.what = WRITE,
                 .problem = files[i].problem,
                 .format = files[i].format,
                 .size = v.size,
                 .path = path};
        snprintf(name, sizeof name, "write %s", files[i].name);
        ok = report(&v, name, &j);
        j.what = READ;
        snprintf(name, sizeof name, "read %s", files[i].name);
        ok = ok && (cli_cancelled() || report(&v, name, &j));
    }
    unlink(path);
    cli_args_free(&args);
    if (ok && cli_cancelled()) return cli_stopped();
    return ok ? CLI_OK : CLI_FAILED;
}
