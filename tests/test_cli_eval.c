/* invit eval and invit stats as a user meets them: every documented table with a small --limit, and the
 * refusals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "shell.h"
#include "folder.h"

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define GOLDEN TEST_DATA "/golden/"

static char said[1 << 18]; /* what the last command wrote */

/* Runs a command of the shell and returns its exit code. */
static int run(const char *command)
{
    return shell(command, said, sizeof said);
}

/* Runs `invit ARGUMENTS` inside the test's folder and returns its exit code. */
static int invit(const char *arguments)
{
    char command[2048];
    snprintf(command, sizeof command, "cd %s && { '%s' %s; } 2>&1", folder, TEST_BINARY, arguments);
    return run(command);
}

static bool says(const char *text)
{
    return strstr(said, text) != NULL;
}

static void ok(const char *arguments)
{
    int code = invit(arguments);
    if (code != 0) fail_msg("invit %s: exit code %d\n%s", arguments, code, said);
}

static void msvdrp_for_both_problems(void **state)
{
    (void)state;
    ok("eval msvdrp --sets tsp-100,cvrp-50 --dist uniform,clustered --limit 2 --rollouts 2 --ref-effort 0.02"
       " -m " GOLDEN "tsp-tiny.weights.safetensors -m " GOLDEN
       "cvrp-tiny.weights.safetensors --baselines --instances"
       " --results run.csv");
    assert_true(says("TSP-100") && says("CVRP-50") && says("INViT-3V") && says("tsp-tiny.weights") &&
                says("By instance"));
    assert_true(says("nearest neighbour") && says("space-filling curve") && says("greedy edges") &&
                says("savings"));
    assert_true(says("N=3, L=10") && says("N=7, L=50"));
    /* the references are there now: another constructor, compared with the run above */
    ok("eval msvdrp --sets tsp-100 --dist uniform --limit 2 --construct greedy --against run.csv -f json");
    json_t *all = json_loads(said, 0, NULL);
    assert_non_null(all);
    json_t *row = json_array_get(json_object_get(json_array_get(all, 1), "rows"), 0);
    assert_true(json_number_value(json_object_get(row, "wins")) == 2); /* an untrained policy is no match */
    json_decref(all);
    ok("eval msvdrp --sets tsp-100 --dist uniform --limit 1 --construct greedy -f markdown -o out.md");
    char weights[512]; /* a run's best weights are called after the run */
    snprintf(weights, sizeof weights,
             "mkdir -p '%s/my-run' && cp " GOLDEN "tsp-tiny.weights.safetensors '%s/my-run/best.safetensors'",
             folder, folder);
    assert_int_equal(system(weights), 0);
    ok("eval msvdrp --sets tsp-100 --dist uniform --limit 1 --rollouts 1 --no-rules -m "
       "my-run/best.safetensors");
    assert_true(says("my-run") && !says("savings") && !says("nearest neighbour"));
    assert_int_equal(access(strcat(strcpy(said, folder), "/out.md"), F_OK), 0);
}

/* The length in a journal with one result. */
static double kept_length(const char *journal)
{
    char path[4096], line[1024];
    double length = NAN;
    snprintf(path, sizeof path, "%s/%s", folder, journal);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) sscanf(line, "%*[^,],%*d,%*d,%lf", &length);
    fclose(f);
    return length;
}

static void steps_without_a_time_improve(void **state)
{
    (void)state;
#define ONE "eval msvdrp --sets tsp-100 --dist uniform --limit 1 --construct nearest --ref-effort 0.02 "
    ok(ONE "--results built.csv");
    ok(ONE "--iterations 0 --results zero.csv");
    assert_false(says("steps"));
    ok(ONE "--iterations 300 --results better.csv");
    assert_true(says("nearest neighbour + 300 steps"));
    assert_true(kept_length("zero.csv") == kept_length("built.csv"));
    assert_true(kept_length("better.csv") < kept_length("built.csv"));
    ok(ONE "--iterations 3 --improve neural");
    assert_true(says("nearest neighbour + 3 steps with reconstruction"));
    ok(ONE "--iterations 300 --time 0"); /* a time of 0 says: construct only */
    assert_false(says("steps"));
#undef ONE
}

/* Two runs that need the same references: one makes them, the other waits and takes them. */
static void two_runs_share_references(void **state)
{
    (void)state;
#define BOTH "eval msvdrp --sets tsp-100 --dist uniform --limit 4 --construct nearest --ref-effort 0.1 "
    pid_t child = fork();
    if (child == 0) _exit(invit(BOTH));
    int first = invit(BOTH), status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(first, 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    ok(BOTH); /* every reference is there once, and in its place */
    assert_false(says("less effort"));
    ok("eval msvdrp --sets tsp-100 --dist uniform --limit 4 --construct nearest");
    assert_true(says("less effort than asked for: tsp100-uniform"));
#undef BOTH
}

/* A results file is enough to measure something else against the same references. */
static void references_come_from_earlier_results(void **state)
{
    (void)state;
#define HERE "eval msvdrp --sets tsp-100 --dist uniform --no-rules "
    ok(HERE "--limit 3 --construct nearest --ref-effort 0.02 --dir made --results earlier.csv");
    ok(HERE
       "--limit 3 --construct greedy --dir empty --references earlier.csv --against earlier.csv -f json");
    assert_true(says("those of earlier.csv"));
    json_t *all = json_loads(said, 0, NULL);
    assert_non_null(all);
    json_t *row = json_array_get(json_object_get(json_array_get(all, 1), "rows"), 0);
    double other = json_number_value(json_object_get(row, "other gap %"));
    json_decref(all);
    assert_true(other > 5); /* what nearest neighbours were measured at */
    struct stat made;
    char path[512];
    snprintf(path, sizeof path, "%s/empty/tsp100-uniform.sol.txt", folder);
    assert_true(stat(path, &made) != 0 || made.st_size == 0); /* no reference was made */
    assert_int_equal(invit(HERE "--limit 1 --construct greedy --data-seed 2 --references earlier.csv"), 1);
    assert_true(says("earlier.csv: expected results of 'invit eval msvdrp' with --data-seed 2"));
    assert_int_equal(invit(HERE "--limit 1 --construct greedy --references nothing.csv"), 1);
    assert_int_equal(
        invit(HERE "--limit 1 --construct greedy --references earlier.csv --results earlier.csv"), 1);
#undef HERE
}

/* Results of one problem go on with the other. */
static void results_grow_by_a_problem(void **state)
{
    (void)state;
#define RUN                                                                                                  \
    "eval msvdrp --dist uniform --limit 1 --rollouts 1 --ref-effort 0.02 --results r.csv --resume "          \
    "-m " GOLDEN "tsp-tiny.weights.safetensors "
    ok(RUN "--sets tsp-100");
    ok(RUN "--sets tsp-100,cvrp-50 -m " GOLDEN "cvrp-tiny.weights.safetensors");
    ok(RUN "--sets tsp-100");
    assert_int_equal(invit(RUN "--sets tsp-100 --seed 2"), 1);
    assert_true(says("seed=1 there, seed=2 here"));
#undef RUN
}

static void a_library_folder(void **state)
{
    (void)state;
    ok("gen tsp -n 30 -c 3 -s 4 --format tsplib --scale 1000 -o 'g%d.tsp'");
    ok("eval . --construct nearest -f csv");
    assert_true(says("# TSP by instance") && says("# TSP by size"));
    ok("eval . --construct greedy --limit 1 --baselines --against INViT-2V");
    assert_true(says("compared"));
}

static void one_variant_of_the_ablation(void **state)
{
    (void)state;
    ok("eval ablation --minutes 0.005 --variants 1v --problem tsp --sets tsp-1000 --dist uniform --limit 1 "
       "--rollouts 1"
       " --ref-effort 0.01 --baselines");
    assert_true(says("INViT-1V") && says("14.87"));
    /* what is trained and measured is not done again */
    ok("eval ablation --minutes 0.005 --variants 1v --problem tsp --sets tsp-1000 --dist uniform --limit 1 "
       "--rollouts 1"
       " --ref-effort 0.01");
    assert_int_equal(
        invit("eval ablation --minutes 0.01 --variants 1v --problem tsp --sets tsp-1000 --limit 1"), 1);
    assert_true(says("another kind"));
}

static void the_three_findings(void **state)
{
    (void)state;
    ok("stats rank --problem tsp --dist uniform --sizes 50 -c 2 --effort 0.02 --csv rank.csv -o rank.svg");
    assert_true(says("<=8 %"));
    ok("stats edges --problem cvrp --dist uniform --sizes 20,30 -c 2 --effort 0.02 --csv edges.csv -o "
       "edges.png");
    assert_true(says("edges kept %"));
    ok("stats attention --model " GOLDEN
       "tsp-tiny-global.weights.safetensors --sizes 150,200 -c 1 --csv a.csv -o a.pdf");
    assert_true(says("layer"));
    assert_int_equal(invit("stats attention"), 2);
    assert_int_equal(invit("stats nonsense"), 2);
    assert_int_equal(invit("stats rank --sizes ten"), 2);
    assert_int_equal(invit("stats rank --time 0"),
                     2); /* construction only, elsewhere; nothing to measure here */
    assert_int_equal(invit("stats rank --dist uniform --sizes 20 -c 1 --effort 0.02 -o a.gif"), 1);
}

/* Ctrl-C after some instances: their table, on standard output and in the file, and the exit code of an
 * interrupt. --foreground: else the whole group is signalled too, and a second Ctrl-C ends the program at
 * once. */
static void an_interrupt_gives_what_is_finished(void **state)
{
    (void)state;
    ok("gen tsp -n 200 -c 40 -s 4 -o many.txt");
    char command[2048];
    snprintf(command, sizeof command,
             "cd %s && { timeout --foreground --preserve-status -s INT 3 '%s' eval many.txt -c nearest "
             "--time 0.3 --threads 1"
             " -o partial.csv -f csv; } 2>&1",
             folder, TEST_BINARY);
    assert_int_equal(run(command), 130);
    assert_true(says("stopped after ") && says(" of 40 instances"));
    snprintf(command, sizeof command, "cat %s/partial.csv", folder);
    assert_int_equal(run(command), 0);
    assert_true(says("(partial: stopped after ") && says("many#0,200,"));
}

/* A file that may not grow to its size, as on a full disk: what was there stays, and the summary is printed.
 */
static void a_full_disk_leaves_what_was_there(void **state)
{
    (void)state;
    char command[2048];
    static const char *const runs[] = {
        "stats rank --problem tsp --dist uniform --sizes 30 -c 1 --effort 0.02 --csv kept",
        "eval msvdrp --construct nearest --sets tsp-100 --dist uniform --limit 9 --instances --baselines -o "
        "kept"};
    ok("eval msvdrp --construct nearest --sets tsp-100 --dist uniform --limit 9 --ref-effort 0.02");
    for (int i = 0; i < 2; i++) {
        snprintf(command, sizeof command, "cd %s && echo before > kept && { ulimit -f 1; '%s' %s; } 2>&1",
                 folder, TEST_BINARY, runs[i]);
        assert_int_equal(run(command), 1);
        assert_true(says("kept: cannot write") && says("uniform"));
        snprintf(command, sizeof command, "cd %s && cat kept && ls kept*", folder);
        assert_int_equal(run(command), 0);
        assert_string_equal(said, "before\nkept\n");
    }
}

static void refusals(void **state)
{
    (void)state;
    /* files without an end of line do not fill the memory */
    static const char *const endless[] = {"eval msvdrp --sets tsp-100 --results /dev/zero --resume",
                                          "eval msvdrp --sets tsp-100 --against /dev/zero",
                                          "eval " TEST_DATA "/triangle.tsp -c greedy --best-known /dev/zero",
                                          "plot --trace /dev/zero -o x.svg",
                                          "gen tsp --config /dev/zero",
                                          "import /dev/zero -o x.safetensors",
                                          "check /dev/zero /dev/zero"};
    for (size_t i = 0; i < sizeof endless / sizeof *endless; i++) {
        assert_int_equal(invit(endless[i]), 1);
        if (!says("/dev/zero")) fail_msg("%s: %s", endless[i], said);
    }
    assert_int_equal(invit("eval msvdrp --sets tsp-10"), 2);
    assert_true(says("tsp-100")); /* did you mean */
    assert_int_equal(invit("eval msvdrp --dist round"), 2);
    assert_int_equal(invit("eval msvdrp more"), 2);
    assert_int_equal(invit("eval msvdrp --resume --construct nearest"), 2);
    assert_int_equal(invit("eval msvdrp --sets tsp-100 --limit 1 --model /no/such.safetensors"), 1);
    assert_true(says("/no/such.safetensors"));
    assert_int_equal(
        invit("eval msvdrp --sets tsp-100 --limit 1 --model " GOLDEN "cvrp-tiny.weights.safetensors"), 1);
    assert_true(says("no model for TSP"));
    assert_int_equal(invit("eval /no/such/folder --construct nearest"), 1);
    assert_int_equal(invit("eval . --construct nearest"), 1);
    assert_true(says("no .tsp or .vrp file"));
    assert_int_equal(invit("eval ablation --variants 5v"), 2);
    assert_int_equal(invit("eval ablation --sets tsp-100"), 1);
    assert_true(says("not in this table"));
    assert_int_equal(invit("eval ablation --problem tsp --sets cvrp-500"), 1);
    /* an option that would be ignored, and a file that cannot be written, are said before the work */
    assert_int_equal(invit("eval msvdrp --best-known best.csv"), 2);
    assert_int_equal(invit("eval . --sets tsp-100"), 2);
    assert_int_equal(invit("stats rank --model x.safetensors"), 2);
    assert_int_equal(invit("eval msvdrp --construct nearest -o /no/such/folder/out.md"), 1);
    assert_true(says("/no/such/folder/out.md: cannot write"));
    assert_int_equal(invit("stats rank -o /no/such/folder/rank.svg"), 1);
    /* what is written does not take the place of what is read */
    ok("gen tsp -n 10 -c 1 -s 4 --format tsplib -o a.tsp");
    ok("gen tsp -n 10 -c 2 -s 4 -o b.txt");
    assert_int_equal(invit("eval a.tsp --construct nearest -o ./a.tsp"), 1);
    assert_true(says("is the instance itself"));
    assert_int_equal(invit("eval b.txt --construct nearest --results b.txt --resume"), 1);
    assert_true(says("is the instance itself"));
    assert_int_equal(invit("eval . --construct nearest -o a.tsp"), 1);
    assert_int_equal(invit("eval a.tsp --construct nearest -o a.opt.tour"), 1);
    assert_true(says("holds an instance or a solution"));
    assert_int_equal(invit("eval a.tsp --construct nearest --results r.csv -o r.csv"), 1);
    ok("eval a.tsp --construct nearest -o table.txt");
    ok("eval a.tsp --construct nearest -o table.txt");
    /* references of other instances, without lengths that would tell */
    ok("eval msvdrp --sets tsp-100 --dist uniform --limit 2 --construct nearest --ref-effort 0.02");
    assert_int_equal(invit("eval msvdrp --construct nearest -o msvdrp/tsp100-uniform.sol.txt"), 1);
    assert_true(says("is a file of references itself"));
    char command[4096];
    snprintf(command, sizeof command,
             "cd %s/msvdrp && rm *.json && "
             "sed -n 2p tsp100-uniform.sol.txt | cut -d' ' -f1 > new && "
             "sed -n 1p tsp100-uniform.sol.txt | cut -d' ' -f1 >> new && mv new tsp100-uniform.sol.txt",
             folder);
    assert_int_equal(system(command), 0);
    assert_int_equal(invit("eval msvdrp --sets tsp-100 --dist uniform --limit 2 --construct nearest"), 1);
    assert_true(says("sol.txt:1:") && says("a reference for another instance"));
}

/* Another program is this one with another construction: it is run, timed, checked and listed. */
static void other_solvers_beside(void **state)
{
    (void)state;
    ok("gen cvrp -n 20 -s 5 -o beside.vrp");
    ok("solve beside.vrp --time 0.2 --construct savings -q -o beside.sol");
    ok("eval beside.vrp --construct savings --times 0.05,0.1 --figure beside.svg --results beside.csv "
       "--solver "
       "'other=" TEST_BINARY " solve {instance} --construct nearest -q --time {seconds} --seed {seed} "
       "--threads {threads} -o {solution}'");
    assert_true(says("other core s") && says("limit 0.1 s"));
    char command[256];
    snprintf(command, sizeof command, "grep 'cvrplib other@0.1' %s && test -s %s", in_folder("beside.csv"),
             in_folder("beside.svg"));
    assert_int_equal(run(command), 0);
}

static void other_solvers_that_fail(void **state)
{
    (void)state;
    ok("gen tsp -n 12 -s 5 -o fails.tsp");
    const struct {
        const char *command, *message;
    } cases[] = {
        {"echo no, thanks; exit 3 # {instance} {solution}", "exit code 3: no, thanks"},
        {"true {instance} {solution}", "wrote no {solution}"},
        {"kill -9 \\$\\$ # {instance} {solution}", "signal 9"},
        {"printf 'TYPE: TOUR\\nDIMENSION: 12\\nTOUR_SECTION\\n1\\n1\\n-1\\n' > {solution} # {instance}",
         "its solution"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char arguments[1024];
        snprintf(arguments, sizeof arguments,
                 "eval fails.tsp --construct greedy --time 0.05 --solver \"bad=%s\"", cases[i].command);
        assert_int_not_equal(invit(arguments), 0);
        if (!says(cases[i].message)) fail_msg("%s: %s", arguments, said);
    }
    assert_int_equal(invit("eval fails.tsp --construct greedy --time 1 --solver bad=true"), 1);
    assert_true(says("needs {instance} and {solution}"));
    assert_int_not_equal(invit("eval fails.tsp --construct greedy --solver 'a=b {instance} {solution}'"), 0);
    assert_true(says("--time"));
    assert_int_equal(invit("eval fails.tsp --construct greedy --time 1 --figure x.svg"), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(other_solvers_beside, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(other_solvers_that_fail, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(msvdrp_for_both_problems, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(steps_without_a_time_improve, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(two_runs_share_references, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(references_come_from_earlier_results, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(results_grow_by_a_problem, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_library_folder, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(one_variant_of_the_ablation, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(the_three_findings, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(an_interrupt_gives_what_is_finished, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_full_disk_leaves_what_was_there, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(refusals, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
