/* invit solve under mpirun: ranks share an instance and give one checked solution. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "folder.h"
#include "invit_lab.h"
#include "lab/distribute/job.h"
#include "shell.h"
#include "solve/options.h"

#include <stdbool.h>

#define MPIRUN "mpirun --allow-run-as-root --oversubscribe --mca mpi_yield_when_idle 1"
/* Between telling ranks to stop and killing them mpirun waits a second, not enough for rank 0 on a busy machine. */
#define PATIENT " --mca odls_base_sigkill_timeout 5"

static char output[1 << 20];

static int run(const char *command)
{
    return shell(command, output, sizeof output);
}

static bool says(const char *text)
{
    return strstr(output, text) != NULL;
}

static bool no_mpi(void)
{
    return system("mpirun --version >/dev/null 2>&1") != 0;
}

/* Runs "mpirun -n RANKS invit ARGUMENTS" in the folder. */
static int ranks(int count, const char *arguments)
{
    char command[2048];
    snprintf(command, sizeof command, "cd %s && { " MPIRUN " -n %d '%s' %s; } 2>&1", folder, count,
             TEST_BINARY, arguments);
    return run(command);
}

static int alone(const char *arguments)
{
    char command[2048];
    snprintf(command, sizeof command, "cd %s && { '%s' %s; } 2>&1", folder, TEST_BINARY, arguments);
    return run(command);
}

/* The number after "key": in what was printed. */
static double number(const char *key)
{
    const char *at = strstr(output, key);
    assert_non_null(at);
    return strtod(strchr(at, ':') + 1, NULL);
}

/* Large instances in pieces; the same again for the same seed, and no worse than one process by more than a
 * little. */
static void pieces_of_large_instances(void **state)
{
    (void)state;
    if (no_mpi()) skip();
    static const struct {
        const char *make, *name, *how;
    } cases[] = {{"gen tsp -n 20000 -s 3 -o t.tsp -q", "t.tsp", "-c greedy --iterations 8000"},
                 {"gen cvrp -n 4000 -s 3 -o c.vrp -q", "c.vrp", "-c savings --iterations 40000"}};
    char command[512];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double length[4];
        assert_int_equal(alone(cases[i].make), 0);
        for (int k = 0; k < 4; k++) {
            snprintf(command, sizeof command, "solve %s %s --threads 1 --json -q -o %d.sol", cases[i].name,
                     cases[i].how, k);
            assert_int_equal(k < 2 ? ranks(2, command) : k == 2 ? ranks(3, command) : alone(command), 0);
            length[k] = number("\"length\"");
            if (k < 3) assert_true(number("\"rounds\"") >= 2);
            if (k < 3) assert_true(number("\"bytes\"") > 10000);
            snprintf(command, sizeof command, "check %s %d.sol", cases[i].name, k);
            assert_int_equal(alone(command), 0);
        }
        assert_true(length[0] == length[1]);
        assert_true(length[0] < 1.03 * length[3]);
        assert_true(length[2] < 1.03 * length[3]);
    }
}

/* Small ones, and those with rules or matrices, as islands. */
static void islands_of_small_instances(void **state)
{
    (void)state;
    if (no_mpi()) skip();
    assert_int_equal(alone("gen tsp -n 200 -s 3 -o small.tsp -q"), 0);
    assert_int_equal(
        ranks(2, "solve small.tsp -c greedy --iterations 4000 --threads 1 --json -q -o small.tour"), 0);
    assert_true(number("\"count\"") == 2);
    assert_int_equal(alone("check small.tsp small.tour"), 0);
    FILE *f = fopen(in_folder("windows.csv"), "w");
    assert_non_null(f);
    fputs("name,x,y,demand,open,close,service\ndepot,0,0,0,0,500,0\n", f);
    for (int i = 0; i < 30; i++)
        fprintf(f, "s%d,%d,%d,%d,%d,%d,2\n", i, 7 * i % 31, 11 * i % 29, 1 + i % 3, i, 200 + i);
    fclose(f);
    assert_int_equal(
        ranks(2, "solve windows.csv --capacity 12 --iterations 2000 --threads 1 --json -q -o plan.sol"), 0);
    assert_true(says("\"schedule\""));
    assert_int_equal(alone("check windows.csv plan.sol --capacity 12"), 0);
}

/* A job whose time was over before it began ends at once. */
static void jobs_that_come_too_late(void **state)
{
    (void)state;
    for (int kind = INV_JOB_SOLVE; kind <= INV_JOB_IMPROVE; kind++) {
        inv_job job = {.kind = kind, .seconds = -1, .iterations = -1, .construct = INVIT_CONSTRUCT_GREEDY};
        inv_job_result result;
        assert_int_equal(invit_generate(INVIT_TSP, INVIT_UNIFORM, 3000, 1, 0, &job.p, NULL), INVIT_OK);
        if (kind == INV_JOB_IMPROVE) {
            assert_int_equal(inv_solution_alloc(1, 3000, &job.start, NULL), INVIT_OK);
            job.start->start[0] = 0;
            job.start->start[1] = 3000;
            for (int i = 0; i < 3000; i++) job.start->nodes[i] = i;
        }
        double begun = inv_now();
        inv_job_do(&job, 1, NULL, NULL, &result);
        assert_true(inv_now() - begun < 0.2 * inv_default_seconds(3000));
        assert_int_equal(result.status, INVIT_OK);
        assert_non_null(result.solution);
        invit_solution_destroy(result.solution);
        inv_job_clear(&job);
    }
}

/* A rank that dies takes the job with it, but not the best solution so far. */
static void a_lost_rank_leaves_the_best_so_far(void **state)
{
    (void)state;
    if (no_mpi()) skip();
    assert_int_equal(alone("gen tsp -n 20000 -s 4 -o lost.tsp -q"), 0);
    char command[2048];
    snprintf(command, sizeof command,
             "cd %s && { " MPIRUN PATIENT
             " -n 2 '%s' solve %s/lost.tsp -c greedy --time 12 --threads 1 -o lost.tour -q & "
             "sleep 5; pkill -9 -n -f 'solve %s/lost.ts[p]'; wait $!; } 2>&1",
             folder, TEST_BINARY, folder, folder);
    assert_int_not_equal(run(command), 0);
    assert_int_equal(alone("check lost.tsp lost.tour"), 0);
}

/* Ctrl-C: mpirun passes it on, and the best so far is written. */
static void a_stop_leaves_the_best_so_far(void **state)
{
    (void)state;
    if (no_mpi()) skip();
    assert_int_equal(alone("gen tsp -n 20000 -s 5 -o stop.tsp -q"), 0);
    char command[2048];
    snprintf(command, sizeof command,
             "cd %s && { timeout -s INT 6 " MPIRUN PATIENT
             " -n 2 '%s' solve stop.tsp -c greedy --time 18 --threads 1 -o stop.tour -q; } 2>&1",
             folder, TEST_BINARY);
    assert_int_not_equal(run(command), 0);
    assert_int_equal(alone("check stop.tsp stop.tour"), 0);
}

static void errors_are_told_once(void **state)
{
    (void)state;
    if (no_mpi()) skip();
    assert_int_equal(ranks(2, "solve nothere.tsp"), 1);
    const char *first = strstr(output, "nothere.tsp: cannot open");
    assert_non_null(first);
    assert_null(strstr(first + 1, "nothere.tsp: cannot open"));
}

int main(void)
{
    setenv("ASAN_OPTIONS", "detect_leaks=0", 1); /* the MPI library keeps memory of its own to the end */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_of_large_instances),     cmocka_unit_test(islands_of_small_instances),
        cmocka_unit_test(jobs_that_come_too_late),       cmocka_unit_test(a_lost_rank_leaves_the_best_so_far),
        cmocka_unit_test(a_stop_leaves_the_best_so_far), cmocka_unit_test(errors_are_told_once),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
