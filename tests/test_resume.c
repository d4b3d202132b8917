/* Runs that are stopped, killed, damaged or out of disk: they go on bit for bit, or fail with a message. */
#include "train_run.h"

#include "base/rng.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clean_stops_change_nothing),        cmocka_unit_test(an_ended_run_goes_on),
        cmocka_unit_test(a_validation_can_be_stopped),       cmocka_unit_test(kills_change_nothing),
        cmocka_unit_test(a_resumed_run_keeps_its_problem),   cmocka_unit_test(damage_is_noticed),
        cmocka_unit_test(a_full_disk_leaves_the_checkpoint),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
