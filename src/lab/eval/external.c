/* Another program as a solver: its command line, its process, its solution. */
#include "lab/eval/external.h"

#include "invit_lab.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "lab/eval/eval_work.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { COMMAND_SIZE = 16384, PATH_SIZE = 512 };
/* A program that does not end by itself is stopped after its time limit times this plus this. */
#define PATIENCE_FACTOR  2.0
#define PATIENCE_SECONDS 30.0
/* How often a running program is looked at. */
#define POLL_NANOSECONDS 5000000

/* ---- the command line --------------------------------------------------------------------------- */

invit_status inv_external_parse(const char *text, inv_external *x, invit_error *err)
{
    const char *equals = strchr(text, '=');
    size_t name = equals ? (size_t)(equals - text) : 0;
    if (name == 0 || name >= sizeof x->name || !equals[1])
        return inv_fail(err, INVIT_ERR_ARGUMENT,
                        "expected NAME=COMMAND with a name of 1 to %zu letters, found '%s'",
                        sizeof x->name - 1, text);
    memcpy(x->name, text, name);
    x->name[name] = 0;
    for (char *c = x->name; *c; c++)
        if (*c == ',' || *c == '"' || *c == '@' || (unsigned char)*c < ' ')
            return inv_fail(
                err, INVIT_ERR_ARGUMENT,
                "the name in '%s' has a character that tables cannot hold: use letters, digits and -", text);
    x->command = equals + 1;
    if (!strstr(x->command, "{instance}") || !strstr(x->command, "{solution}"))
        return inv_fail(err, INVIT_ERR_ARGUMENT,
                        "the command of %s needs {instance} and {solution}, found '%s'", x->name, x->command);
    return INVIT_OK;
}

/* Appends text in single quotes, as the shell takes it literally. */
static void append_quoted(char *out, size_t *at, const char *text)
{
    if (*at < COMMAND_SIZE) out[(*at)++] = '\'';
    for (; *text; text++) {
        const char *piece = *text == '\'' ? "'\\''" : (char[]){*text, 0};
        for (; *piece; piece++)
            if (*at < COMMAND_SIZE) out[(*at)++] = *piece;
    }
    if (*at < COMMAND_SIZE) out[(*at)++] = '\'';
}

static invit_status fill_command(const inv_external *x, const inv_external_run *run, const char *instance,
                                 const char *solution, char *out, invit_error *err)
{
    char seconds[32], core_seconds[32], threads[16], seed[24];
    snprintf(seconds, sizeof seconds, "%g", run->seconds);
    snprintf(core_seconds, sizeof core_seconds, "%g", run->seconds * run->threads);
    snprintf(threads, sizeof threads, "%d", run->threads);
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)run->seed);
    const struct {
        const char *key, *value;
    } keys[] = {{"{instance}", instance}, {"{solution}", solution},         {"{seconds}", seconds},
                {"{threads}", threads},   {"{core_seconds}", core_seconds}, {"{seed}", seed}};
    size_t at = 0;
    for (const char *c = x->command; *c;) {
        size_t k = 0, count = sizeof keys / sizeof *keys;
        while (k < count && strncmp(c, keys[k].key, strlen(keys[k].key)) != 0) k++;
        if (k < count) {
            append_quoted(out, &at, keys[k].value);
            c += strlen(keys[k].key);
        } else {
            if (at < COMMAND_SIZE) out[at++] = *c;
            c++;
        }
    }
    if (at >= COMMAND_SIZE)
        return inv_fail(err, INVIT_ERR_ARGUMENT, "the command of %s is longer than %d bytes", x->name,
                        COMMAND_SIZE);
    out[at] = 0;
    return INVIT_OK;
}

/* ---- the process -------------------------------------------------------------------------------- */

/* Starts the shell in a process group of its own, with its output in the file `log`. */
static invit_status start(const char *command, const char *log, pid_t *child, invit_error *err)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    char *argv[] = {"sh", "-c", (char *)(uintptr_t)command, NULL};
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&files, 1, 2);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attributes, 0);
    int failed = posix_spawn(child, "/bin/sh", &files, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    if (failed) return inv_fail(err, INVIT_ERR_IO, "cannot start /bin/sh: %s", strerror(failed));
    return INVIT_OK;
}

typedef struct ended {
    int status; /* as waitpid gives it */
    bool late, cancelled;
    double cpu;
} ended;

/* Waits for the program; ends it when the caller cancels or its time is long over. */
static invit_status await(pid_t child, double deadline, const invit_control *control, ended *e,
                          invit_error *err)
{
    struct rusage usage;
    double killed = INFINITY;
    for (;;) {
        pid_t got = wait4(child, &e->status, WNOHANG, &usage);
        if (got == child) break;
        if (got < 0 && errno != EINTR)
            return inv_fail(err, INVIT_ERR_IO, "waiting for a program: %s", strerror(errno));
        double now = inv_now();
        e->cancelled = e->cancelled || inv_cancelled(control);
        e->late = e->late || now > deadline;
        if ((e->cancelled || e->late) && isinf(killed)) {
            kill(-child, SIGTERM);
            killed = now;
        }
        if (now > killed + 2) kill(-child, SIGKILL);
        nanosleep(&(struct timespec){.tv_nsec = POLL_NANOSECONDS}, NULL);
    }
    kill(-child, SIGKILL); /* what it left behind in its group */
    e->cpu = (double)usage.ru_utime.tv_sec + 1e-6 * (double)usage.ru_utime.tv_usec +
             (double)usage.ru_stime.tv_sec + 1e-6 * (double)usage.ru_stime.tv_usec;
    return INVIT_OK;
}

/* The last line that the program printed, for the message about its failure. */
static void last_words(const char *log, char *words, size_t size)
{
    char line[256];
    words[0] = 0;
    FILE *f = fopen(log, "r");
    while (f && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\r\n")] = 0;
        for (char *c = line; *c; c++)
            if ((unsigned char)*c < ' ') *c = ' ';
        if (line[strspn(line, " ")]) snprintf(words, size, "%.150s", line);
    }
    if (f) fclose(f);
}

static invit_status judge(const inv_external *x, const ended *e, const char *log, const char *solution,
                          invit_error *err)
{
    char words[160];
    if (e->cancelled) return inv_fail(err, INVIT_ERR_CANCELLED, "stopped");
    last_words(log, words, sizeof words);
    const char *colon = words[0] ? ": " : "";
    if (e->late)
        return inv_fail(err, INVIT_ERR_INPUT, "%s did not end long after its time limit%s%s", x->name, colon,
                        words);
    if (WIFSIGNALED(e->status))
        return inv_fail(err, INVIT_ERR_INPUT, "%s was ended by signal %d%s%s", x->name, WTERMSIG(e->status),
                        colon, words);
    if (WEXITSTATUS(e->status) != 0)
        return inv_fail(err, INVIT_ERR_INPUT, "%s ended with exit code %d%s%s", x->name,
                        WEXITSTATUS(e->status), colon, words);
    if (access(solution, R_OK) != 0)
        return inv_fail(err, INVIT_ERR_INPUT, "%s wrote no {solution}%s%s", x->name, colon, words);
    return INVIT_OK;
}

/* ---- the whole ---------------------------------------------------------------------------------- */

static invit_status write_instance(const invit_instance *p, const char *path, invit_error *err)
{
    invit_writer *w = NULL;
    INV_CHECK(invit_writer_open(path, &w, err));
    invit_status status = invit_writer_instance(w, p, INVIT_FORMAT_TSPLIB, err);
    if (status == INVIT_OK) return invit_writer_close(w, err);
    invit_writer_abandon(w);
    return status;
}

static invit_status measure(const inv_external *x, const invit_instance *p, const char *path,
                            inv_external_result *r, invit_error *err)
{
    invit_solution *s = NULL;
    invit_check_result check;
    invit_error why = {0};
    if (invit_solution_read(path, p, 0, &s, NULL, &why) != INVIT_OK)
        return inv_fail(err, INVIT_ERR_INPUT, "%s: its solution cannot be read: %.700s", x->name,
                        why.message);
    invit_status status = invit_check(p, s, &check, err);
    invit_solution_destroy(s);
    INV_CHECK(status);
    if (!check.feasible)
        return inv_fail(err, INVIT_ERR_INPUT, "%s: its solution is not feasible: %s", x->name, check.message);
    r->length = check.length;
    r->length_exact = check.length_exact;
    return INVIT_OK;
}

invit_status inv_external_solve(const inv_external *x, const invit_instance *p, const inv_external_run *run,
                                inv_external_result *result, invit_error *err)
{
    invit_status status = INVIT_OK;
    bool cvrp = p->problem == INVIT_CVRP;
    const char *tmp = getenv("TMPDIR");
    char folder[PATH_SIZE - 32], instance[PATH_SIZE], solution[PATH_SIZE], log[PATH_SIZE];
    char *command = malloc(COMMAND_SIZE + 1);
    pid_t child = 0;
    ended e = {0};
    if (!command) return inv_no_memory(err, COMMAND_SIZE);
    int length = snprintf(folder, sizeof folder, "%s/invit-eval-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (length >= (int)sizeof folder || !mkdtemp(folder)) {
        free(command);
        return inv_fail(err, INVIT_ERR_IO, "cannot make a folder for %s's files in %s: %s", x->name,
                        tmp && *tmp ? tmp : "/tmp", strerror(errno));
    }
    snprintf(instance, sizeof instance, "%s/instance.%s", folder, cvrp ? "vrp" : "tsp");
    snprintf(solution, sizeof solution, "%s/solution.%s", folder, cvrp ? "sol" : "tour");
    snprintf(log, sizeof log, "%s/output.txt", folder);
    if (!run->file) INV_TRY(write_instance(p, instance, err));
    INV_TRY(fill_command(x, run, run->file ? run->file : instance, solution, command, err));
    double begun = inv_now();
    INV_TRY(start(command, log, &child, err));
    INV_TRY(await(child, begun + PATIENCE_FACTOR * run->seconds * run->threads + PATIENCE_SECONDS,
                  run->control, &e, err));
    result->wall = inv_now() - begun;
    result->cpu = e.cpu;
    INV_TRY(judge(x, &e, log, solution, err));
    INV_TRY(measure(x, p, solution, result, err));
done:
    unlink(instance);
    unlink(solution);
    unlink(log);
    rmdir(folder);
    free(command);
    return status;
}
