/* Pictures: every kind of file, every shape of instance, and nothing left behind when it cannot be written.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "files.h"
#include "invit_lab.h"
#include "lab/plot/chart.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static const char *in_folder(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static long file_size(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 ? (long)info.st_size : -1;
}

static bool contains(const char *path, const char *text)
{
    FILE *file = fopen(path, "rb");
    if (!file) return false;
    char line[65536];
    bool found = false;
    while (!found && fgets(line, sizeof line, file)) found = strstr(line, text) != NULL;
    fclose(file);
    return found;
}

/* The nodes in file order, a vehicle for every five customers. */
static invit_solution *trivial(const invit_instance *p)
{
    bool cvrp = invit_instance_problem(p) == INVIT_CVRP;
    int32_t n = (int32_t)invit_instance_nodes(p), count = n - cvrp, routes = cvrp ? (count + 4) / 5 : 1;
    int32_t *node = malloc(sizeof *node * (size_t)n), *start = malloc(sizeof *start * (size_t)(routes + 1));
    for (int32_t i = 0; i < count; i++) node[i] = i + cvrp;
    for (int32_t r = 0; r < routes; r++) start[r] = r * 5;
    start[routes] = count;
    invit_solution *s = NULL;
    assert_int_equal(invit_solution_create(node, start, routes, &s, NULL), INVIT_OK);
    free(node);
    free(start);
    return s;
}

static void every_kind_of_file(void **state)
{
    (void)state;
    static const char *const magic[] = {"<svg", "PNG", "%PDF"}, *const name[] = {"a.svg", "a.PNG", "a.pdf"};
    for (int problem = 0; problem < 2; problem++) {
        invit_instance *p;
        assert_int_equal(invit_generate((invit_problem)problem, INVIT_CLUSTERED, 60, 1, 0, &p, NULL),
                         INVIT_OK);
        invit_solution *s = trivial(p);
        for (int k = 0; k < 3; k++) {
            assert_int_equal(invit_plot(p, k == 1 ? NULL : s, in_folder(name[k]), NULL, NULL), INVIT_OK);
            assert_true(contains(in_folder(name[k]), magic[k]));
        }
        invit_solution_destroy(s);
        invit_instance_destroy(p);
    }
}

static void odd_instances(void **state)
{
    (void)state;
    static const double shapes[][6] = {
        {5, 5, 5, 5, 5, 5}, {0, 0, 1, 0, 2, 0}, {0, 0, 0, 1, 0, 2}, {-1e9, 1e9, 0, 0, 1e9, 1e-9}};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
        for (int metric = 0; metric <= INVIT_DIMACS; metric++)
            for (int n = 1; n <= 3; n++) {
                double xy[6];
                for (int i = 0; i < 6; i++)
                    xy[i] = metric >= INVIT_GEO ? fmin(fmax(shapes[k][i], -80), 80) : shapes[k][i];
                invit_instance *p;
                assert_int_equal(invit_instance_create_tsp(xy, n, (invit_metric)metric, &p, NULL), INVIT_OK);
                invit_solution *s = trivial(p);
                assert_int_equal(invit_plot(p, s, in_folder("odd.svg"), NULL, NULL), INVIT_OK);
                assert_false(contains(in_folder("odd.svg"), "nan"));
                assert_false(contains(in_folder("odd.svg"), "inf"));
                invit_solution_destroy(s);
                invit_instance_destroy(p);
            }
}

/* Titles are drawn as UTF-8, whatever the file was written in. */
static void names_of_older_files_can_be_drawn(void **state)
{
    (void)state;
    invit_instance *p;
    invit_error err;
    write_text(in_folder("old.tsp"), "NAME: St\xe4"
                                     "dte\nDIMENSION: 2\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n1 0 "
                                     "0\n2 3 4\nEOF\n");
    assert_int_equal(invit_instance_read(in_folder("old.tsp"), 0, &p, &err), INVIT_OK);
    assert_int_equal(invit_plot(p, NULL, in_folder("old.svg"), NULL, &err), INVIT_OK);
    invit_instance_destroy(p);
}

static void large_maps_are_raster_inside(void **state)
{
    (void)state;
    invit_instance *p;
    assert_int_equal(invit_generate(INVIT_TSP, INVIT_UNIFORM, 30000, 1, 0, &p, NULL), INVIT_OK);
    invit_plot_options o = invit_plot_defaults();
    o.scale = 1;
    assert_int_equal(invit_plot(p, NULL, in_folder("large.svg"), &o, NULL), INVIT_OK);
    assert_true(contains(in_folder("large.svg"), "<image"));
    assert_in_range(file_size(in_folder("large.svg")), 1000, 2000000);
    invit_instance_destroy(p);
}

static void refusals_have_messages_and_leave_nothing(void **state)
{
    (void)state;
    invit_error err;
    invit_instance *p;
    assert_int_equal(invit_generate(INVIT_TSP, INVIT_UNIFORM, 10, 1, 0, &p, NULL), INVIT_OK);
    assert_int_equal(invit_plot(p, NULL, in_folder("a.jpeg"), NULL, &err), INVIT_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, ".svg"));
    assert_int_equal(invit_plot(p, NULL, in_folder("no/such/folder.svg"), NULL, &err), INVIT_ERR_IO);
    int32_t node[] = {0, 10}, start[] = {0, 2};
    invit_solution *s;
    assert_int_equal(invit_solution_create(node, start, 1, &s, NULL), INVIT_OK);
    assert_int_equal(invit_plot(p, s, in_folder("foreign.svg"), NULL, &err), INVIT_ERR_INPUT);
    assert_int_equal(file_size(in_folder("foreign.svg")), -1);
    invit_solution_destroy(s);
    invit_instance_destroy(p);
}

static void traces_and_runs(void **state)
{
    (void)state;
    invit_error err;
    char trace[128], run[128];
    snprintf(trace, sizeof trace, "%s/t.csv", folder);
    snprintf(run, sizeof run, "%s/log.jsonl", folder);
    const char *traces[] = {trace, trace}, *runs[] = {folder};
    write_text(trace, "seconds,length\n0.5,100\n1.0,90.5\n# remark\n\n2,90\n");
    assert_int_equal(invit_plot_traces(traces, 2, in_folder("t.svg"), NULL, &err), INVIT_OK);
    write_text(trace, "0,100\n");
    assert_int_equal(invit_plot_traces(traces, 1, in_folder("t.svg"), NULL, &err), INVIT_OK);
    assert_false(contains(in_folder("t.svg"), "nan"));
    write_text(trace, "1,1000\n5,50\n20,1e40\n"); /* larger than a tick's whole number can be */
    assert_int_equal(invit_plot_traces(traces, 1, in_folder("t.svg"), NULL, &err), INVIT_OK);
    write_text(trace, "seconds,length\n1,ten\n");
    assert_int_equal(invit_plot_traces(traces, 1, in_folder("t.svg"), NULL, &err), INVIT_ERR_INPUT);
    assert_non_null(strstr(err.message, "t.csv:2"));
    write_text(trace, "seconds,length\n");
    assert_int_equal(invit_plot_traces(traces, 1, in_folder("t.svg"), NULL, &err), INVIT_ERR_INPUT);

    assert_int_equal(invit_plot_runs(runs, 1, in_folder("r.pdf"), NULL, &err), INVIT_ERR_INPUT);
    assert_non_null(strstr(err.message, "holds no training run"));
    write_text(run, "{\"step\": 1, \"loss\": 2.5, \"accuracy\": 0.3}\n{\"step\": 2, \"loss\": 2.0, "
                    "\"small_gap\": 0.2}\n{\"st");
    assert_int_equal(invit_plot_runs(runs, 1, in_folder("r.pdf"), NULL, &err), INVIT_OK);
    write_text(run, "{\"step\": 300, \"epoch_model\": 9.5, \"epoch_baseline\": 20.5}\n");
    assert_int_equal(invit_plot_runs(runs, 1, in_folder("e.svg"), NULL, &err), INVIT_OK);
    write_text(run, "{\"step\": 1}\nnot json\n");
    assert_int_equal(invit_plot_runs(runs, 1, in_folder("r.pdf"), NULL, &err), INVIT_ERR_INPUT);
    assert_non_null(strstr(err.message, "log.jsonl:2"));
    write_text(run, "{\"step\": 1, \"host\": \"x\"}\n");
    assert_int_equal(invit_plot_runs(runs, 1, in_folder("r.pdf"), NULL, &err), INVIT_ERR_INPUT);
}

static void one_decision(void **state)
{
    (void)state;
    invit_error err;
    for (int problem = 0; problem < 2; problem++) {
        invit_instance *p;
        assert_int_equal(invit_generate((invit_problem)problem, INVIT_UNIFORM, 40, 5, 0, &p, NULL), INVIT_OK);
        int32_t order[] = {3, 7, 9}, neighbour[] = {4, 5, 6, 8, 10, 11}, view[] = {3, 6};
        float probability[] = {0.7F, 0.2F, 0.05F, 0.05F}; /* the fourth: the depot */
        invit_step step = {.step = 3,
                           .order = order,
                           .visited = 3,
                           .last = 9,
                           .first = problem ? 0 : 3,
                           .neighbour = neighbour,
                           .action = 3,
                           .further = 3,
                           .probability = probability,
                           .chosen = 4};
        assert_int_equal(invit_plot_step(p, &step, view, 2, in_folder("step.svg"), NULL, &err), INVIT_OK);
        assert_false(contains(in_folder("step.svg"), "nan"));
        step.action = step.further = 0; /* only the depot is left to go to */
        probability[0] = 1;
        assert_int_equal(invit_plot_step(p, &step, view, 2, in_folder("step.svg"), NULL, &err), INVIT_OK);
        step.action = 3;
        neighbour[1] = 41;
        assert_int_equal(invit_plot_step(p, &step, view, 2, in_folder("step.svg"), NULL, &err),
                         INVIT_ERR_ARGUMENT);
        invit_instance_destroy(p);
    }
}

static void ticks_are_round(void **state)
{
    (void)state;
    assert_true(fabs(inv_nice_step(10, 5) - 2) < 1e-12);
    assert_true(fabs(inv_nice_step(0.07, 5) - 0.02) < 1e-12);
    assert_true(fabs(inv_nice_step(1234, 4) - 500) < 1e-9);
}

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/invit-plot-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));)
        if (e->d_name[0] != '.') unlink(in_folder(e->d_name));
    if (d) closedir(d);
    return rmdir(folder); /* fails when a picture that could not be finished was left behind */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_file),
        cmocka_unit_test(odd_instances),
        cmocka_unit_test(names_of_older_files_can_be_drawn),
        cmocka_unit_test(large_maps_are_raster_inside),
        cmocka_unit_test(refusals_have_messages_and_leave_nothing),
        cmocka_unit_test(traces_and_runs),
        cmocka_unit_test(one_decision),
        cmocka_unit_test(ticks_are_round),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
