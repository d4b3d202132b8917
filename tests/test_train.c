/* Whole runs with a tiny model: they learn, they resume bit for bit, and they fail with a message. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "files.h"
#include "invit_lab.h"
#include "fewer.h"
#include "folder.h"
#include "base/rng.h"
#include "policy/model.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A tenth of the steps is too few to learn, and enough to find faults. */
enum { LESS = FEWER(1, 10), LEARNS = FEWER(1, 0), KILLS = FEWER(8, 3) };

static void tiny(invit_train_options *o, invit_problem problem, invit_train_method method, const char *run)
{
    invit_train_defaults(problem, method, o);
    snprintf(o->run, sizeof o->run, "%s/%s", folder, run);
    strcpy(o->views, "6,12");
    strcpy(o->data, "uniform:12-20");
    o->dim = 16, o->ff = 32, o->heads = 2, o->action_layers = o->state_layers = 1, o->decoder_layers = 2;
    o->steps = 30;
    o->threads = 2;
    o->effort = 0.05;
    o->replay_buffer = 256;
    o->batch = 64;
    o->warmup = 5;
    o->lr = 3e-3;
    o->validate_small = o->validate_large = 0;
    o->log_every = 5;
    o->rollin = 0;
    if (method != INVIT_REINFORCE) return;
    /* as published, but small */
    o->batch = 16, o->lanes = 4, o->augment = 4, o->epoch = 10, o->compare = 8;
    o->ema = 0, o->min_p = 0, o->share = 1, o->relative = false;
    strcpy(o->baseline, "greedy");
    strcpy(o->schedule, "exponential");
}

static char *read_of_run(const char *run, const char *name, size_t *size)
{
    char path[1200];
    snprintf(path, sizeof path, "%s/%s", run, name);
    return read_file(path, size);
}

static invit_model *weights_of(const char *run, const char *name)
{
    invit_model *m = NULL;
    char path[1200];
    snprintf(path, sizeof path, "%.1100s/%.60s.safetensors", run, name);
    assert_int_equal(invit_model_load(path, &m, NULL), INVIT_OK);
    return m;
}

/* Bit for bit; only what the files say about their runs differs. */
static void assert_same(const char *a, const char *b, const char *name)
{
    invit_model *x = weights_of(a, name), *y = weights_of(b, name);
    assert_int_equal(x->params, y->params);
    assert_memory_equal(x->param, y->param, x->params * sizeof *x->param);
    invit_model_destroy(x);
    invit_model_destroy(y);
}

static void assert_same_weights(const char *a, const char *b)
{
    assert_same(a, b, "last");
}

/* The value of a key in the first or last line of the log that has it. */
static double logged(const char *run, const char *key, bool last)
{
    size_t size;
    char *log = read_of_run(run, "log.jsonl", &size), pattern[64];
    double value = NAN;
    snprintf(pattern, sizeof pattern, "\"%s\":", key);
    for (char *at = log; (at = strstr(at, pattern)); at++) {
        value = atof(at + strlen(pattern));
        if (!last) break;
    }
    free(log);
    return value;
}

static void run_to_the_end(const invit_train_options *o, bool resume)
{
    invit_error err = {0};
    invit_train_result result;
    invit_status status = invit_train(o, resume, NULL, &result, &err);
    if (status != INVIT_OK) fail_msg("%s", err.message);
    assert_true(result.finished);
    assert_int_equal(result.steps, o->steps);
    if (o->q_regret > 0) return; /* perhaps without a labelled state since the last line of the log */
    assert_true(isfinite(result.loss));
    if (o->method == INVIT_IMITATE) assert_true(result.accuracy >= 0 && result.accuracy <= 1);
}

static void imitation_learns(void **state)
{
    (void)state;
    for (int problem = 0; problem < 2; problem++) {
        invit_train_options o;
        tiny(&o, (invit_problem)problem, INVIT_IMITATE, problem ? "learn-cvrp" : "learn-tsp");
        o.steps = 150 / LESS;
        o.validate_small = 2;
        o.validations = 2;
        o.rollin = 0.3;
        run_to_the_end(&o, false);
        if (LEARNS) assert_true(logged(o.run, "loss", true) < 0.75 * logged(o.run, "loss", false));
        if (LEARNS) assert_true(logged(o.run, "accuracy", true) > 0.5);
        assert_true(logged(o.run, "gap_100", true) > 0 && logged(o.run, "gap_100", true) < 1);
        invit_model *m;
        invit_error err;
        char path[1200];
        snprintf(path, sizeof path, "%s/best.safetensors", o.run);
        assert_int_equal(invit_model_load(path, &m, &err), INVIT_OK);
        assert_int_equal(m->config.problem, (invit_problem)problem);
        assert_non_null(strstr(invit_model_metadata(m), invit_version())); /* where it comes from */
        assert_non_null(strstr(invit_model_metadata(m), o.run));
        invit_model_destroy(m);
        /* the first validation is at the start: its line is the log's first */
        size_t size;
        char *log = read_of_run(o.run, "log.jsonl", &size);
        assert_true(strncmp(log, "{\"step\":0,", 10) == 0 && strstr(log, "gap_100") < strchr(log, '\n'));
        free(log);
    }
}

/* The teacher model is that of the run before, which has no canonical frames. */
static void a_teacher_model_is_distilled(void **state)
{
    (void)state;
    for (int problem = 0; problem < 2; problem++) {
        invit_train_options o;
        char teacher[1200];
        tiny(&o, (invit_problem)problem, INVIT_IMITATE, problem ? "teacher-cvrp" : "teacher-tsp");
        o.steps = 60 / LESS + 1;
        o.canonical_frame = false;
        run_to_the_end(&o, false);
        snprintf(teacher, sizeof teacher, "%s/last.safetensors", o.run);

        tiny(&o, (invit_problem)problem, INVIT_IMITATE, problem ? "learner-cvrp" : "learner-tsp");
        snprintf(o.distill, sizeof o.distill, "%.1000s", teacher);
        o.steps = 120 / LESS;
        o.rollin = 0.5;
        o.threads = 1;
        run_to_the_end(&o, false);
        if (LEARNS) assert_true(logged(o.run, "loss", true) < 0.9 * logged(o.run, "loss", false));
        if (LEARNS) assert_true(logged(o.run, "accuracy", true) > logged(o.run, "accuracy", false) + 0.1);
        char first[1024]; /* the same with two threads */
        snprintf(first, sizeof first, "%.1000s", o.run);
        strcat(o.run, "-again");
        o.threads = 2;
        run_to_the_end(&o, false);
        assert_same_weights(first, o.run);

        invit_error err = {0};
        strcat(o.run, "-wrong");
        snprintf(o.init, sizeof o.init, "%.1000s", teacher);
        assert_int_equal(invit_train(&o, false, NULL, NULL, &err), INVIT_ERR_INPUT);
        assert_non_null(strstr(err.message, "--canonical-frame no"));
        o.init[0] = 0;
        strcpy(o.views, "5,12");
        assert_int_equal(invit_train(&o, false, NULL, NULL, &err), INVIT_ERR_INPUT);
        assert_non_null(strstr(err.message, "--distill"));
        strcpy(o.views, "6,12");
        o.method = INVIT_REINFORCE;
        assert_int_equal(invit_train(&o, false, NULL, NULL, &err), INVIT_ERR_ARGUMENT);
    }
}

static void q_regret_falls(void **state)
{
    (void)state;
    for (int problem = 0; problem < 2; problem++) {
        invit_train_options o;
        tiny(&o, (invit_problem)problem, INVIT_IMITATE, problem ? "regret-cvrp" : "regret-tsp");
        strcpy(o.data, "uniform:12");
        o.steps = (problem == INVIT_TSP ? 50 : 25) / LESS;
        o.q_regret = 0.9;
        run_to_the_end(&o, false);
        if (LEARNS) assert_true(logged(o.run, "q_regret", true) < 0.75 * logged(o.run, "q_regret", false));
    }
}

static void reinforce_shortens_tours(void **state)
{
    (void)state;
    static const char *const name[] = {"reinforce-greedy", "reinforce-pomo", "reinforce-gae",
                                       "reinforce-reuse"};
    for (int i = 0; i < 4; i++) {
        invit_train_options o;
        tiny(&o, i == 1 ? INVIT_CVRP : INVIT_TSP, INVIT_REINFORCE, name[i]);
        strcpy(o.baseline, i == 0 ? "greedy" : "pomo");
        if (i == 2) o.gae_lambda = 0.8;
        strcpy(o.data, "uniform:15");
        o.steps = (i == 3 ? 60 : 120) / LESS;
        o.reuse = i == 3 ? 3 : 1;
        o.batch = 64, o.lanes = 4, o.augment = 8;
        o.lr = 1e-3;
        run_to_the_end(&o, false);
        assert_int_equal(isnan(logged(o.run, "epoch_model", true)),
                         i != 0); /* nothing frozen: no comparison */
        if (!LEARNS) continue;
        assert_true(logged(o.run, "length", true) < 0.95 * logged(o.run, "length", false));
        if (i == 0) {
            assert_true(logged(o.run, "swaps", true) > 0);
            assert_true(logged(o.run, "epoch_model", false) < logged(o.run, "epoch_baseline", false));
            assert_true(logged(o.run, "epoch_model", true) < logged(o.run, "epoch_baseline", false));
        }
        if (i == 2) assert_true(logged(o.run, "credit", true) < logged(o.run, "spread", true));
        if (i == 3) assert_true(logged(o.run, "clipped", false) > 0 && logged(o.run, "clipped", true) < 0.5);
    }
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    for (int method = 0; method < 2; method++) {
        invit_train_options a, b;
        tiny(&a, INVIT_CVRP, (invit_train_method)method, method ? "threads-1r" : "threads-1");
        tiny(&b, INVIT_CVRP, (invit_train_method)method, method ? "threads-3r" : "threads-3");
        a.rollin = b.rollin = 0.4;
        a.reuse = b.reuse = 2;
        a.steps = b.steps = FEWER(30, 10);
        a.threads = 1;
        b.threads = 3;
        run_to_the_end(&a, false);
        run_to_the_end(&b, false);
        assert_same_weights(a.run, b.run);
    }
}

static volatile int cancel;

static void cancel_now_and_then(void *user, const invit_progress *p)
{
    (void)user;
    (void)p;
    cancel = 1;
}

/* Stops after every few steps and goes on. */
static void clean_stops_change_nothing(void **state)
{
    (void)state;
    for (int method = 0; method < 2; method++) {
        invit_train_options a, b;
        invit_error err = {0};
        tiny(&a, INVIT_TSP, (invit_train_method)method, method ? "whole-r" : "whole");
        tiny(&b, INVIT_TSP, (invit_train_method)method, method ? "stopped-r" : "stopped");
        a.rollin = b.rollin = 0.4;
        a.q_regret = b.q_regret = 0.3;
        a.gae_lambda = b.gae_lambda = 0.9;
        a.reuse = b.reuse = 2;
        a.steps = b.steps = 20;
        run_to_the_end(&a, false);
        invit_train_result result = {0};
        for (int session = 0; !result.finished; session++) {
            cancel = 0;
            invit_control control = {.progress = cancel_now_and_then, .cancel = &cancel};
            assert_true(session < 50);
            assert_int_equal(invit_train(&b, session > 0, &control, &result, &err), INVIT_OK);
        }
        assert_same_weights(a.run, b.run);
        run_to_the_end(&b, true); /* a finished run has nothing left to do */
        assert_same_weights(a.run, b.run);
    }
}

static int validations_logged(const char *run)
{
    size_t size;
    char *log = read_of_run(run, "log.jsonl", &size);
    int validations = 0;
    for (char *at = log; (at = strstr(at, "gap_100_best16")); at++) validations++;
    free(log);
    return validations;
}

/* A run that has ended may be given more: it validates again, keeps what is better, and remembers the new
 * bound. */
static void an_ended_run_goes_on(void **state)
{
    (void)state;
    invit_train_options o, again;
    invit_error err = {0};
    for (int killed = 0; killed < 2; killed++) {
        tiny(&o, INVIT_TSP, INVIT_IMITATE, killed ? "longer-killed" : "longer");
        o.steps = 10;
        o.validate_small = 2;
        o.validations = 2;
        run_to_the_end(&o, false);
        o.steps = 40;
        if (killed) { /* what is left when it is killed before the first checkpoint of the longer run */
            char path[1200];
            snprintf(path, sizeof path, "%s/config", o.run);
            FILE *config = fopen(path, "a");
            fputs("steps = 40\n", config);
            fclose(config);
        }
        run_to_the_end(&o, true);
        assert_int_equal(validations_logged(o.run), 5); /* at 0, 5 and 10, then at 20 and 40 */
        assert_int_equal(invit_train_load(o.run, &again, &err), INVIT_OK);
        assert_int_equal(again.steps, 40);
    }
    char other[1200];
    snprintf(other, sizeof other, "%s/longer", folder);
    assert_same_weights(o.run, other);

    o.steps = 0, o.minutes = 1e-9; /* by the clock: nothing is left to do */
    invit_train_result result;
    assert_int_equal(invit_train(&o, true, NULL, &result, &err), INVIT_OK);
    assert_true(result.finished && result.steps == 40);
    o.minutes = (result.seconds + 0.5) / 60;
    assert_int_equal(invit_train(&o, true, NULL, &result, &err), INVIT_OK);
    assert_true(result.finished && result.steps > 40);
    assert_true(validations_logged(o.run) > 5);
}

/* A validation that is cancelled has not been, and the run is not over before it has. */
static void a_validation_can_be_stopped(void **state)
{
    (void)state;
    invit_train_options o;
    invit_error err = {0};
    invit_train_result result;
    tiny(&o, INVIT_TSP, INVIT_IMITATE, "impatient");
    o.steps = 3;
    o.validate_small = 8;
    o.validations = 1;
    cancel = 0;
    invit_control control = {.progress = cancel_now_and_then, .cancel = &cancel};
    for (int session = 0; session < 4; session++) {
        cancel = session == 2; /* from the start: neither step nor validation */
        assert_int_equal(invit_train(&o, session > 0, &control, &result, &err), INVIT_OK);
        if (result.steps < 3) assert_false(result.finished);
        if (session == 2) assert_false(result.finished);
    }
    cancel = 0;
    assert_int_equal(invit_train(&o, true, NULL, &result, &err), INVIT_OK);
    assert_true(result.finished);
    assert_true(logged(o.run, "gap_100", true) > 0);
}

/* Starts the program and kills it after some milliseconds; true when it ended by itself. */
static bool run_and_kill(const char *const *argv, int milliseconds)
{
    pid_t child = fork();
    if (child == 0) {
        int null = open("/dev/null", O_WRONLY);
        dup2(null, 1);
        dup2(null, 2);
        execv(TEST_BINARY, (char *const *)argv);
        _exit(127);
    }
    int status = 0;
    for (int waited = 0; waited < milliseconds; waited++) {
        if (waitpid(child, &status, WNOHANG) == child) {
            assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
            return true;
        }
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return false;
}

static void kills_change_nothing(void **state)
{
    (void)state;
    const char *kills = getenv("INVIT_TEST_KILLS"); /* the long form: a hundred */
    int wanted = kills ? atoi(kills) : KILLS, killed = 0;
    invit_train_options o;
    tiny(&o, INVIT_TSP, INVIT_IMITATE, "unkilled");
    o.steps = FEWER(60, 30) * wanted;
    o.rollin = 0.3;
    o.validate_small = 2;
    o.validations = 20;
    o.checkpoint = 0;
    run_to_the_end(&o, false);
    char run[128], config[1200], steps[32];
    snprintf(run, sizeof run, "%s/killed", folder);
    snprintf(config, sizeof config, "%s/config", o.run);
    snprintf(steps, sizeof steps, "%lld", (long long)o.steps);
    inv_rng rng;
    inv_rng_init(&rng, (uint64_t)time(NULL), 0);
    const char *start[] = {"invit", "train", "tsp", "--config", config, "--run", run, NULL};
    const char *resume[] = {"invit", "train", "--resume", run, NULL};
    bool done = run_and_kill(start, 40);
    for (int session = 0; !done; session++) {
        struct stat st;
        char path[256];
        snprintf(path, sizeof path, "%s/config", run);
        bool begun = stat(path, &st) == 0;
        bool last = killed >= wanted || session > 10 * wanted;
        done = run_and_kill(begun ? resume : start, last ? 600000 : 20 + (int)inv_rng_below(&rng, 120));
        killed += !done;
    }
    assert_true(killed > 0);
    assert_same_weights(o.run, run);
    assert_same(o.run, run, "best");
    invit_model *m = weights_of(run, "last"); /* the command that began the run, not the last --resume */
    assert_non_null(strstr(invit_model_metadata(m), "train tsp --config"));
    invit_model_destroy(m);
}

static void label_files_teach(void **state)
{
    (void)state;
    invit_train_options o;
    invit_error err = {0};
    tiny(&o, INVIT_CVRP, INVIT_IMITATE, "labelled");
    snprintf(o.labels, sizeof o.labels, "%s/labels", folder);
    assert_int_equal(invit_train_label(&o, 60, o.labels, NULL, &err), INVIT_OK);
    run_to_the_end(&o, false);
    assert_true(logged(o.run, "loss", true) < logged(o.run, "loss", false));
}

static void other_models_are_refused(void **state)
{
    (void)state;
    invit_train_options o, other;
    invit_error err = {0};
    tiny(&o, INVIT_TSP, INVIT_IMITATE, "mine");
    o.steps = 2;
    run_to_the_end(&o, false);
    other = o;
    assert_int_equal(invit_train(&o, false, NULL, NULL, &err), INVIT_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "already holds a run"));
    strcpy(other.views, "6,10");
    assert_int_equal(invit_train(&other, true, NULL, NULL, &err), INVIT_ERR_INPUT);
    assert_non_null(strstr(err.message, "k 6 12"));
    other = o;
    other.problem = INVIT_CVRP;
    assert_int_equal(invit_train(&other, true, NULL, NULL, &err), INVIT_ERR_INPUT);
    assert_non_null(strstr(err.message, "tsp"));
    tiny(&other, INVIT_CVRP, INVIT_IMITATE, "theirs");
    snprintf(other.init, sizeof other.init, "%.900s/last.safetensors", o.run);
    assert_int_equal(invit_train(&other, false, NULL, NULL, &err), INVIT_ERR_INPUT);
    assert_non_null(strstr(err.message, "another model"));
    strcpy(other.run, "");
    assert_int_equal(invit_train(&other, false, NULL, NULL, &err), INVIT_ERR_ARGUMENT);
    snprintf(other.run, sizeof other.run, "%s/nowhere", folder);
    assert_int_equal(invit_train(&other, true, NULL, NULL, &err), INVIT_ERR_INPUT);
}

/* Neither the directory nor anything in it. */
static void refused_options_leave_nothing(void **state)
{
    (void)state;
    invit_train_options o;
    invit_error err = {0};
    struct stat st;
    char path[1200];
    for (int i = 0; i < 3; i++) {
        tiny(&o, INVIT_TSP, INVIT_IMITATE, "refused");
        if (i == 0) o.dim = 7;
        if (i == 1) strcpy(o.init, "/nonexistent.safetensors");
        if (i == 2) strcpy(o.data, "nonsense:7");
        assert_int_not_equal(invit_train(&o, false, NULL, NULL, &err), INVIT_OK);
        assert_int_not_equal(stat(o.run, &st), 0);
        assert_int_equal(mkdir(o.run, 0777), 0); /* one that was there stays, and stays empty */
        assert_int_not_equal(invit_train(&o, false, NULL, NULL, &err), INVIT_OK);
        assert_int_equal(rmdir(o.run), 0);
    }
    tiny(&o, INVIT_TSP, INVIT_IMITATE, "refused");
    snprintf(path, sizeof path, "%s/config", o.run);
    mkdir(o.run, 0777);
    fclose(fopen(path, "w"));
    assert_int_equal(invit_train(&o, false, NULL, NULL, &err), INVIT_ERR_ARGUMENT);
    unlink(path);
    assert_int_equal(rmdir(o.run), 0);
}

/* On the command line the problem may be named again, but not another. */
static void a_resumed_run_keeps_its_problem(void **state)
{
    (void)state;
    invit_train_options o;
    tiny(&o, INVIT_TSP, INVIT_IMITATE, "kept");
    o.steps = 2;
    run_to_the_end(&o, false);
    static const char *const named[] = {"", "tsp", "cvrp", "nonsense"};
    static const int code[] = {0, 0, 2, 2};
    for (int i = 0; i < 4; i++) {
        char command[2048];
        snprintf(command, sizeof command, "'%s' train %s --resume '%.1000s' >/dev/null 2>&1", TEST_BINARY,
                 named[i], o.run);
        assert_int_equal(WEXITSTATUS(system(command)), code[i]);
    }
}

/* The command in the run's configuration is one that a shell reads as it was. */
static void a_command_is_kept_with_its_quotes(void **state)
{
    (void)state;
    invit_train_options o;
    tiny(&o, INVIT_TSP, INVIT_IMITATE, "it");
    o.steps = 2;
    run_to_the_end(&o, false);
    char command[2048], quoted[1100], renamed[1100];
    snprintf(renamed, sizeof renamed, "%.1000s's run", o.run);
    snprintf(quoted, sizeof quoted, "'%.1000s'\\''s run'", o.run);
    assert_int_equal(rename(o.run, renamed), 0);
    snprintf(command, sizeof command, "'%s' train --resume %s --steps 3 >/dev/null 2>&1", TEST_BINARY,
             quoted);
    assert_int_equal(WEXITSTATUS(system(command)), 0);
    size_t size;
    char *config = read_of_run(renamed, "config", &size);
    if (!strstr(config, quoted)) fail_msg("%s is not in %s", quoted, config);
    free(config);
}

static void views_and_layers_can_be_added(void **state)
{
    (void)state;
    invit_train_options o, more;
    invit_model *m = NULL;
    tiny(&o, INVIT_TSP, INVIT_IMITATE, "few");
    o.steps = 2;
    run_to_the_end(&o, false);
    tiny(&more, INVIT_TSP, INVIT_REINFORCE, "many");
    more.steps = 2;
    more.action_layers = 3; /* of 1 */
    snprintf(more.init, sizeof more.init, "%.900s/last.safetensors", o.run);
    snprintf(more.views, sizeof more.views, "%.50s,20", o.views);
    run_to_the_end(&more, false);
    char path[1100];
    snprintf(path, sizeof path, "%.900s/last.safetensors", more.run);
    assert_int_equal(invit_model_load(path, &m, NULL), INVIT_OK);
    invit_model_destroy(m);
}

static void damage_is_noticed(void **state)
{
    (void)state;
    invit_train_options o;
    invit_error err = {0};
    char path[1200];
    tiny(&o, INVIT_TSP, INVIT_IMITATE, "damaged");
    o.steps = 2;
    run_to_the_end(&o, false);
    snprintf(path, sizeof path, "%s/checkpoint", o.run);
    size_t size;
    char *bytes = read_of_run(o.run, "checkpoint", &size);
    for (int round = 0; round < 40; round++) {
        size_t keep = round % 2 ? size * (size_t)round / 40 : size;
        FILE *f = fopen(path, "wb");
        bytes[(size_t)round * (size - 1) / 39] ^= 4;
        fwrite(bytes, 1, keep, f);
        fclose(f);
        bytes[(size_t)round * (size - 1) / 39] ^= 4;
        invit_status status = invit_train(&o, true, NULL, NULL, &err);
        assert_true(status == INVIT_ERR_INPUT || status == INVIT_ERR_UNSUPPORTED);
    }
    free(bytes);
}

static void runs_that_blow_up_stop(void **state)
{
    (void)state;
    invit_train_options o;
    invit_error err = {0};
    tiny(&o, INVIT_TSP, INVIT_IMITATE, "seed-weights");
    o.steps = 1;
    run_to_the_end(&o, false);
    invit_model *m;
    char path[1200];
    snprintf(path, sizeof path, "%s/last.safetensors", o.run);
    assert_int_equal(invit_model_load(path, &m, &err), INVIT_OK);
    for (size_t i = 0; i < m->params; i++) m->param[i] *= 1e30f;
    assert_int_equal(invit_model_save(m, path, &err), INVIT_OK);
    invit_model_destroy(m);
    tiny(&o, INVIT_TSP, INVIT_IMITATE, "blown");
    strcpy(o.init, path);
    assert_int_equal(invit_train(&o, false, NULL, NULL, &err), INVIT_ERR_INTERNAL);
    assert_non_null(strstr(err.message, "not finite 3 times"));
    size_t size;
    char *log = read_of_run(o.run, "log.jsonl", &size), *at = log;
    int dropped = 0;
    while ((at = strstr(at, "dropped"))) dropped++, at++;
    assert_int_equal(dropped, 3);
    free(log);
}

/* A limit on the size of files stands for a full disk. */
static void a_full_disk_leaves_the_checkpoint(void **state)
{
    (void)state;
    invit_train_options o;
    tiny(&o, INVIT_TSP, INVIT_IMITATE, "full");
    o.steps = 5;
    run_to_the_end(&o, false);
    size_t n, m;
    char *before = read_of_run(o.run, "checkpoint", &n);
    pid_t child = fork();
    if (child == 0) {
        struct rlimit limit = {20000, 20000};
        invit_error err = {0};
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &limit);
        o.checkpoint = 0;
        o.steps = 10;
        _exit(invit_train(&o, true, NULL, NULL, &err) == INVIT_ERR_IO && strstr(err.message, "checkpoint")
                  ? 0
                  : 1);
    }
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    char *after = read_of_run(o.run, "checkpoint", &m);
    assert_int_equal(n, m);
    assert_memory_equal(before, after, n);
    free(before);
    free(after);
    o.steps = 10;
    run_to_the_end(&o, true);
}

/* Rounding apart, two ranks do what one does. */
static void ranks_agree(void **state)
{
    (void)state;
    if (system("mpirun --version >/dev/null 2>&1") != 0) skip();
    setenv("ASAN_OPTIONS", "detect_leaks=0", 1); /* the MPI library keeps memory of its own to the end */
    char command[2048];
    for (int method = 0; method < 2; method++) {
        invit_train_options o;
        tiny(&o, INVIT_TSP, (invit_train_method)method, method ? "rank-r" : "rank");
        o.exact = true; /* bfloat16 would magnify the rounding */
        o.steps = 6;
        o.validate_small = 2;
        run_to_the_end(&o, false);
        o.steps = 8;
        run_to_the_end(&o, true);
        snprintf(command, sizeof command,
                 "mpirun --allow-run-as-root --oversubscribe -n 2 %s train tsp --config %.500s/config "
                 "--steps 6 --threads 1 --run "
                 "%s/ranks%d >/dev/null 2>&1",
                 TEST_BINARY, o.run, folder, method);
        assert_int_equal(system(command), 0);
        /* what two ranks saved, one can go on with */
        snprintf(command, sizeof command, "%s train --resume %s/ranks%d --steps 8 >/dev/null 2>&1",
                 TEST_BINARY, folder, method);
        assert_int_equal(system(command), 0);
        invit_model *a, *b;
        invit_error err;
        char path[1200];
        snprintf(path, sizeof path, "%s/last.safetensors", o.run);
        assert_int_equal(invit_model_load(path, &a, &err), INVIT_OK);
        snprintf(path, sizeof path, "%s/ranks%d/last.safetensors", folder, method);
        assert_int_equal(invit_model_load(path, &b, &err), INVIT_OK);
        double difference = 0, norm = 0;
        for (size_t i = 0; i < a->params; i++) {
            difference += pow((double)a->param[i] - (double)b->param[i], 2);
            norm += pow((double)a->param[i], 2);
        }
        assert_true(sqrt(difference / norm) < 1e-4);
        invit_model_destroy(a);
        invit_model_destroy(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(imitation_learns),
        cmocka_unit_test(a_teacher_model_is_distilled),
        cmocka_unit_test(q_regret_falls),
        cmocka_unit_test(reinforce_shortens_tours),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(clean_stops_change_nothing),
        cmocka_unit_test(an_ended_run_goes_on),
        cmocka_unit_test(a_validation_can_be_stopped),
        cmocka_unit_test(kills_change_nothing),
        cmocka_unit_test(label_files_teach),
        cmocka_unit_test(other_models_are_refused),
        cmocka_unit_test(refused_options_leave_nothing),
        cmocka_unit_test(a_resumed_run_keeps_its_problem),
        cmocka_unit_test(a_command_is_kept_with_its_quotes),
        cmocka_unit_test(views_and_layers_can_be_added),
        cmocka_unit_test(damage_is_noticed),
        cmocka_unit_test(runs_that_blow_up_stop),
        cmocka_unit_test(a_full_disk_leaves_the_checkpoint),
        cmocka_unit_test(ranks_agree),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
