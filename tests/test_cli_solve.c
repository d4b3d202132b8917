/* invit solve, import and info as a user meets them: what they print, write and refuse. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "program.h"

#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char scratch[] = "/tmp/invit-test-XXXXXX";

#define MODEL(name) TEST_DATA "/golden/" name ".weights.safetensors"

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(scratch) || chdir(scratch) != 0) return 1;
    must(run("invit gen tsp -n 30 -o a.tsp --seed 4"));
    must(run("invit gen cvrp -n 25 -o b.vrp --seed 4"));
    must(run("invit gen tsp -n 12 --count 3 -o many.txt --seed 4"));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    char command[256];
    snprintf(command, sizeof command, "rm -rf %s", scratch);
    return system(command);
}

static json_t *object(const char *text)
{
    json_error_t why;
    json_t *j = json_loads(text, 0, &why);
    if (!j) fail_msg("%s in %s", why.text, text);
    return j;
}

static void tsp_json_has_what_was_promised(void **state)
{
    (void)state;
    must(run("invit solve a.tsp --model " MODEL("tsp-tiny") " --time 0.5 --json --seed 9 -q"));
    json_t *j = object(output);
    assert_string_equal(json_string_value(json_object_get(j, "problem")), "tsp");
    assert_int_equal(json_integer_value(json_object_get(j, "nodes")), 30);
    assert_int_equal(json_integer_value(json_object_get(j, "seed")), 9);
    assert_non_null(strstr(json_string_value(json_object_get(j, "model")), "tsp-tiny"));
    assert_true(json_number_value(json_object_get(j, "length")) > 0);
    assert_true(json_number_value(json_object_get(j, "length_exact")) > 0);
    assert_true(json_is_integer(json_object_get(j, "rollouts")));
    assert_true(json_is_integer(json_object_get(j, "decisions")));
    static const char *const stages[] = {"read", "construct", "improve", "total"};
    for (int i = 0; i < 4; i++)
        assert_true(json_is_number(json_object_get(json_object_get(j, "seconds"), stages[i])));
    json_t *tour = json_object_get(j, "tour");
    bool seen[31] = {false};
    assert_int_equal(json_array_size(tour), 30);
    for (size_t i = 0; i < 30; i++) {
        json_int_t id = json_integer_value(json_array_get(tour, i));
        assert_true(id >= 1 && id <= 30 && !seen[id]);
        seen[id] = true;
    }
    json_decref(j);
}

static void cvrp_json_lists_customers_by_route(void **state)
{
    (void)state;
    must(run("invit solve b.vrp --model " MODEL("cvrp-tiny") " --time 0 --rollouts 5 --json"));
    json_t *j = object(output), *routes = json_object_get(j, "routes");
    bool seen[26] = {false};
    int count = 0;
    for (size_t r = 0; r < json_array_size(routes); r++)
        for (size_t i = 0; i < json_array_size(json_array_get(routes, r)); i++) {
            json_int_t id = json_integer_value(json_array_get(json_array_get(routes, r), i));
            assert_true(id >= 1 && id <= 25 && !seen[id]);
            seen[id] = true;
            count++;
        }
    assert_int_equal(count, 25);
    assert_int_equal(json_integer_value(json_object_get(j, "rollouts")), 5);
    assert_null(json_object_get(j, "tour"));
    json_decref(j);
}

static void files_are_written_and_pass_the_check(void **state)
{
    (void)state;
    must(run("invit solve a.tsp -c greedy --iterations 50 -o a.tour"));
    says("checked");
    must(run("invit check a.tsp a.tour"));
    must(run("invit solve b.vrp -c savings --iterations 50 -o b.sol"));
    must(run("invit check b.vrp b.sol"));
    must(run("invit solve b.vrp --freeze b.sol --start b.sol --iterations 50 --json -q"));
    must(run("invit solve a.tsp --freeze a.tour --iterations 10 -q -o again.tour"));
    must(run("invit check a.tsp again.tour --freeze a.tour"));
    must(run("invit solve a.tsp -c greedy --time 0 -o a.svg"));
    must(run("invit solve a.tsp --start a.tour --iterations 10 --json -q --trace trace.csv"));
    json_t *j = object(output);
    assert_string_equal(json_string_value(json_object_get(j, "construct")), "start");
    json_decref(j);
    char path[256];
    snprintf(path, sizeof path, "%s/trace.csv", scratch);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    char line[64];
    assert_non_null(fgets(line, sizeof line, f));
    assert_string_equal(line, "seconds,length\n");
    assert_non_null(fgets(line, sizeof line, f));
    fclose(f);
}

static void many_instances_give_a_line_each(void **state)
{
    (void)state;
    must(run("invit solve many.txt -c greedy --iterations 5 --json -q -o many.sol.txt"));
    int lines = 0;
    for (char *at = output; *at; at++) lines += *at == '\n';
    assert_int_equal(lines, 3);
    must(run("invit check many.txt many.sol.txt"));
    must(run("invit solve many.txt -c greedy --time 0 --index 2 --json -q"));
    json_decref(object(output));
    assert_int_equal(run("invit solve many.txt -c greedy --time 0 --index 3 -q"), 1);
    says("--index");
    assert_int_equal(run("invit solve many.txt -c greedy --time 0 -q -o many.png"), 1);
    says("--index");
}

static void the_result_does_not_depend_on_threads(void **state)
{
    (void)state;
    char first[8192];
    must(run("invit solve a.tsp --model " MODEL("tsp-tiny") " --time 0 --threads 1 -q -o one.tour"));
    must(run("invit solve a.tsp --model " MODEL("tsp-tiny") " --time 0 --threads 2 -q -o two.tour"));
    snprintf(first, sizeof first, "cmp %s/one.tour %s/two.tour", scratch, scratch);
    assert_int_equal(system(first), 0);
}

static void decoding_follows_the_flags(void **state)
{
    (void)state;
    must(run("invit solve a.tsp --model " MODEL("tsp-tiny") " --time 0 --beam 3 --rollouts 2 --json -q"));
    json_t *j = object(output);
    assert_true(json_integer_value(json_object_get(j, "decisions")) > 2 * 29); /* a beam asks more often */
    json_decref(j);
    must(run("invit solve a.tsp --model " MODEL(
        "tsp-tiny") " --time 0 --decode sample --temperature 0.5 --rollouts 2"));
}

static void mistakes_are_explained(void **state)
{
    (void)state;
    assert_int_equal(run("invit solve nowhere.tsp"), 1);
    says("nowhere.tsp");
    assert_int_equal(run("invit solve a.tsp --model " MODEL("cvrp-tiny")), 1);
    says("the model is for CVRP");
    assert_int_equal(run("invit solve a.tsp -c savings"), 1);
    says("savings");
    assert_int_equal(run("invit solve a.tsp --decode gredy"), 2);
    assert_int_equal(run("invit solve a.tsp --time -1"), 2);
    assert_int_equal(run("invit solve a.tsp --model a.tsp"), 1);
    assert_int_equal(run("invit solve a.tsp -c greedy -o no/such/folder/a.tour"), 1);
    assert_int_equal(run("invit solve a.tsp --start b.vrp"), 1);
    /* what cannot be written is refused before solving */
    assert_int_equal(run("invit solve b.vrp --time 100 -o b.tour"), 1);
    says("routes go to a .sol");
    assert_int_equal(run("invit solve a.tsp --time 100 -o a.jpg"), 1);
    says(".svg, .png or .pdf");
    assert_int_equal(run("invit solve many.txt --time 100 -o many.csv"), 1);
    says("choose one with --index");
    assert_int_equal(run("invit solve many.txt --time 100 -o many.tour"), 1);
    says("a .txt with a line for each");
    assert_int_equal(run("invit solve a.tsp --time 100 -o a.xlsx"), 1);
    says("a .csv (a table of stops)");
    assert_int_equal(run("invit solve a.tsp --time 100 -o new.vrp"), 1); /* the name of an instance */
    says("a .csv (a table of stops)");
    assert_int_equal(run("invit solve a.tsp --time 100 -o no/such/folder/a.png"), 1);
    assert_int_equal(run("invit solve a.tsp --time 100 -o ./a.tsp"), 1);
    says("is the instance itself");
    assert_int_equal(run("invit solve b.vrp --time 100 --capacity 99"), 1);
    says("CSV table only");
    assert_int_equal(run("invit solve a.tsp --model tsp-99v"), 1);
    says("no bundled model");
    must(run("invit solve many.txt --index 1 -c greedy --time 0 -q -o stops.csv && head -1 stops.csv"));
    says("route,stop");
    assert_int_equal(run("invit solve"), 2);
    must(run("invit gen tsp --size 1 -o one.txt"));
    assert_int_equal(run("invit plot one.txt --views 0 -o one.svg"), 1);
    says("nothing to decide");
}

/* A signal in the middle of a long run; returns the exit code. */
static int signalled_after(useconds_t wait, int signal, const char *const *arguments)
{
    pid_t child = fork();
    if (child == 0) {
        if (chdir(scratch) != 0 || !freopen("/dev/null", "w", stdout)) _exit(9);
        execv(TEST_BINARY, (char *const *)arguments);
        _exit(9);
    }
    usleep(wait);
    kill(child, signal);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int stopped_after(useconds_t wait, const char *const *arguments)
{
    return signalled_after(wait, SIGTERM, arguments);
}

/* The best so far is written, and it passes the check. */
static void a_signal_gives_the_best_so_far(void **state)
{
    (void)state;
    const char *const arguments[] = {"invit", "solve", "a.tsp", "-c",           "greedy", "--time",
                                     "100",   "-q",    "-o",    "stopped.tour", NULL};
    static const int signals[] = {SIGTERM, SIGINT, SIGHUP};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(signalled_after(700000, signals[i], arguments), 0);
        must(run("invit check a.tsp stopped.tour && rm stopped.tour"));
    }
}

/* Also when the policy has not made a whole tour yet. */
static void a_signal_during_construction_gives_a_quick_solution(void **state)
{
    (void)state;
    must(run("invit gen tsp -n 300000 -o large.txt"));
    const char *const arguments[] = {
        "invit",  "solve", "large.txt", "--model", MODEL("tsp-tiny"), "--rollouts", "1", "-j", "1",
        "--time", "0",     "-q",        "-o",      "large.sol.txt",   NULL};
    assert_int_equal(stopped_after(1500000, arguments), 0);
    must(run("invit check large.txt large.sol.txt"));
}

static void a_signal_among_many_instances_is_no_success(void **state)
{
    (void)state;
    const char *const arguments[] = {"invit", "solve", "many.txt", "-c",       "greedy", "--time",
                                     "100",   "-q",    "-o",       "some.txt", NULL};
    assert_int_equal(stopped_after(700000, arguments), 130);
    must(run("invit check many.txt some.txt --index 0"));
}

static void what_cannot_be_written_is_an_error(void **state)
{
    (void)state;
    assert_int_equal(run("invit solve a.tsp -c greedy --time 0.1 --trace /dev/full"), 1);
    says("/dev/full: cannot write: No space left");
    assert_int_equal(run("invit solve a.tsp -c greedy --time 0.1 --trace one.csv -o one.csv"), 1);
    says("one.csv is the trace itself");
    /* no file takes the place of a closed stream */
    assert_int_equal(
        run("invit solve a.tsp -c greedy --time 0.1 --trace closed.csv -o closed.tour >&- 2>&- <&- #"), 1);
    must(run("invit check a.tsp closed.tour"));
    must(run("invit plot --trace closed.csv -o closed.svg"));
}

static void import_and_info_tell_the_same(void **state)
{
    (void)state;
    must(run("invit import " TEST_DATA
             "/golden/cvrp-tiny-3v.checkpoint.pkl --heads 2 --views 4,7,11 -o m.safetensors"));
    says("INViT-3V for CVRP");
    must(run("invit info m.safetensors"));
    says("state k = 7, 11");
    must(run("invit info m.safetensors --json"));
    json_t *j = object(output);
    assert_int_equal(json_array_size(json_object_get(j, "views")), 3);
    assert_int_equal(json_integer_value(json_object_get(j, "heads")), 2);
    assert_int_equal(json_array_size(json_object_get(j, "tensors")), 134);
    json_decref(j);
    must(run("invit solve b.vrp --model m.safetensors --time 0 --rollouts 2"));
    assert_int_equal(
        run("invit import " TEST_DATA "/golden/tsp-tiny.checkpoint.pkl --problem cvrp -o x.safetensors"), 1);
    says("TSP");
    assert_int_equal(run("invit import " TEST_DATA "/golden/tsp-tiny.checkpoint.pkl"), 2);
    must(run("invit import " TEST_DATA
             "/golden/tsp-tiny.weights.safetensors -o half.safetensors --store f16"));
    must(run("invit info half.safetensors"));
    /* several: their mean; of a model and itself, the model */
    must(run(
        "invit import half.safetensors half.safetensors half.safetensors -o mean.safetensors --store f16"));
    must(run("invit info mean.safetensors"));
    assert_int_equal(run("invit import half.safetensors m.safetensors -o x.safetensors"), 1);
    says("another make");
    assert_int_equal(run("invit import a.tsp -o x.safetensors"), 1);
    must(run("invit info a.tsp")); /* an instance */
    says("distances");
    assert_int_equal(run("invit info a.tsp --tensors"), 2);
    assert_int_equal(run("invit info m.safetensors -o x.json"), 2);
}

/* A bundled model that cannot be read is not the same as none: the policy was to construct, and does not. */
static void a_damaged_bundled_model_is_an_error(void **state)
{
    (void)state;
    static const char damage[] =
        "rm -rf models; mkdir models; head -c 3000 " MODEL("tsp-tiny") " > models/tsp-2v.safetensors; ";
    char command[2048];
    snprintf(command, sizeof command, "cd %s; %s INVIT_MODELS=models %s solve a.tsp --time 0.1 -q 2>&1",
             scratch, damage, TEST_BINARY);
    assert_int_equal(shell(command, output, sizeof output), 1);
    says("models/tsp-2v.safetensors: ");
    snprintf(command, sizeof command,
             "cd %s; INVIT_MODELS=models %s solve a.tsp -c greedy --time 0.1 -q 2>&1", scratch, TEST_BINARY);
    must(shell(command, output, sizeof output));
    snprintf(command, sizeof command, "cd %s; INVIT_MODELS=models timeout 20 %s serve --port 0 2>&1", scratch,
             TEST_BINARY);
    assert_int_equal(shell(command, output, sizeof output), 1);
    says("models/tsp-2v.safetensors: ");
}

/* Escape sequences of a file do not reach the terminal, neither in results nor in messages. */
static void control_characters_are_not_printed(void **state)
{
    (void)state;
    char command[1024];
    snprintf(command, sizeof command,
             "cd %s; printf 'NAME: a\\033[31mb\\nTYPE: TSP\\nDIMENSION: 3\\nEDGE_WEIGHT_TYPE: EUC_2D\\n"
             "NODE_COORD_SECTION\\n1 0 0\\n2 5 0\\n3 0 5\\nEOF\\n' > esc.tsp; printf '1 2\\n\\033]0;x 4\\n' "
             "> esc.txt",
             scratch);
    assert_int_equal(system(command), 0);
    must(run("invit solve esc.tsp -c greedy --time 0"));
    says("a?[31mb: length");
    assert_null(strchr(output, 033));
    must(run("invit solve esc.tsp -c greedy --time 0 --json"));
    assert_null(strchr(output, 033));
    assert_int_equal(run("invit solve esc.txt -c greedy --time 0"), 1);
    says("found '?]0;x'");
    assert_null(strchr(output, 033));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tsp_json_has_what_was_promised),
        cmocka_unit_test(cvrp_json_lists_customers_by_route),
        cmocka_unit_test(files_are_written_and_pass_the_check),
        cmocka_unit_test(many_instances_give_a_line_each),
        cmocka_unit_test(the_result_does_not_depend_on_threads),
        cmocka_unit_test(decoding_follows_the_flags),
        cmocka_unit_test(mistakes_are_explained),
        cmocka_unit_test(a_signal_gives_the_best_so_far),
        cmocka_unit_test(a_signal_during_construction_gives_a_quick_solution),
        cmocka_unit_test(a_signal_among_many_instances_is_no_success),
        cmocka_unit_test(what_cannot_be_written_is_an_error),
        cmocka_unit_test(a_damaged_bundled_model_is_an_error),
        cmocka_unit_test(control_characters_are_not_printed),
        cmocka_unit_test(import_and_info_tell_the_same),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
