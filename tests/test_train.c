/* Whole runs with a tiny model: they learn, and they refuse with a message what they cannot do. */
#include "train_run.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

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
        cmocka_unit_test(label_files_teach),
        cmocka_unit_test(other_models_are_refused),
        cmocka_unit_test(refused_options_leave_nothing),
        cmocka_unit_test(a_command_is_kept_with_its_quotes),
        cmocka_unit_test(views_and_layers_can_be_added),
        cmocka_unit_test(runs_that_blow_up_stop),
        cmocka_unit_test(ranks_agree),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
