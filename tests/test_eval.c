/* Evaluation: references made once and checked for ever, tables over sets and libraries, faults counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "files.h"
#include "folder.h"
#include "invit_lab.h"
#include "solve/options.h"
#include "policy/model.h"
#include "lab/eval/eval.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Construction alone, that one; the same place each time. */
static const invit_options *by(invit_construct construct)
{
    static invit_options options;
    options.o = inv_solve_defaults();
    options.o.seconds = 0;
    options.o.construct = (int)construct;
    return &options;
}

static int lines(const char *text)
{
    int n = 0;
    for (; *text; text++) n += *text == '\n';
    return n;
}

/* One set, quick references, a constructor that needs no model. */
static invit_eval_options quick(int set, int limit)
{
    invit_eval_options o = invit_eval_defaults();
    for (int i = 0; i < INVIT_EVAL_SETS; i++) o.set[i] = i == set;
    for (int i = 0; i < 4; i++) o.distribution[i] = i == INVIT_CLUSTERED;
    o.dir = folder;
    o.limit = limit;
    o.reference_effort = 0.02;
    o.solve = by(INVIT_CONSTRUCT_NEAREST);
    return o;
}

static invit_status make_references(int set, int limit, invit_error *err)
{
    invit_eval_options o = quick(set, limit);
    invit_report *report = NULL;
    int32_t failures;
    o.references_only = true;
    invit_status status = invit_eval_msvdrp(&o, &report, &failures, err);
    if (status == INVIT_OK) invit_report_destroy(report);
    return status;
}

static void references_are_made_once_and_extended(void **state)
{
    (void)state;
    invit_error err;
    const char *names[] = {"tsp100-clustered.sol.txt", "cvrp50-clustered.sol.txt"};
    for (int cvrp = 0; cvrp < 2; cvrp++) {
        int set = cvrp ? 4 : 0;
        if (make_references(set, 3, &err) != INVIT_OK) fail_msg("%s", err.message);
        char *before = read_file(in_folder(names[cvrp]), NULL);
        assert_int_equal(lines(before), 3);
        assert_int_equal(make_references(set, 5, &err), INVIT_OK);
        assert_int_equal(make_references(set, 2, &err), INVIT_OK);
        char *after = read_file(in_folder(names[cvrp]), NULL);
        assert_int_equal(lines(after), 5);
        assert_memory_equal(before, after, strlen(before));
        /* Cut anywhere in the last line, it is made again. */
        char *last = after + strlen(after) - 2;
        while (last[-1] != '\n') last--;
        for (int k = 0; k < 6; k++) {
            long cut = last - after + (long)(strlen(last) - 1) * k / 5;
            assert_int_equal(truncate(in_folder(names[cvrp]), cut), 0);
            assert_int_equal(make_references(set, 5, &err), INVIT_OK);
            char *again = read_file(in_folder(names[cvrp]), NULL);
            assert_int_equal(lines(again), 5);
            /* the same solution; only its seconds may differ */
            assert_memory_equal(after, again, (size_t)(strrchr(after, ' ') - after));
            free(again);
        }
        free(before);
        free(after);
    }
    json_t *all = json_load_file(in_folder("tsp100-clustered.sol.json"), 0, NULL);
    assert_non_null(all);
    assert_int_equal(json_array_size(json_object_get(all, "runs")), 1);
    json_decref(all);
}

static void wrong_references_are_refused(void **state)
{
    (void)state;
    invit_error err;
    assert_int_equal(make_references(0, 3, &err), INVIT_OK);
    const char *path = in_folder("tsp100-clustered.sol.txt");
    char *good = read_file(path, NULL), *text = malloc(strlen(good) + 100);

    /* a reference for another instance: two lines exchanged */
    char *second = strchr(good, '\n') + 1, *third = strchr(second, '\n') + 1;
    sprintf(text, "%.*s%.*s%s", (int)(third - second), second, (int)(second - good), good, third);
    write_text(path, text);
    assert_int_equal(make_references(0, 3, &err), INVIT_ERR_INPUT);
    assert_non_null(strstr(err.message, "another instance"));
    assert_non_null(strstr(err.message, "sol.txt:1"));

    /* a node twice, another one not at all */
    char *comma = strchr(good, ',');
    char *next = strchr(comma + 1, ',');
    sprintf(text, "%.*s,%.*s%s", (int)(comma - good), good, (int)(comma - good), good, next);
    write_text(path, text);
    assert_int_equal(make_references(0, 3, &err), INVIT_ERR_INPUT);

    /* the stated length is one per mille off */
    char *space = strchr(good, ' ');
    double length = strtod(space, NULL);
    sprintf(text, "%.*s %.9f 0\n%s", (int)(space - good), good, length * 1.001, second);
    write_text(path, text);
    assert_int_equal(make_references(0, 3, &err), INVIT_ERR_INPUT);
    assert_non_null(strstr(err.message, "states length"));

    /* other instances altogether */
    write_text(path, good);
    invit_eval_options o = quick(0, 3);
    invit_report *report;
    int32_t failures;
    o.data_seed = 2;
    assert_int_equal(invit_eval_msvdrp(&o, &report, &failures, &err), INVIT_ERR_INPUT);
    assert_non_null(strstr(err.message, "other instances"));

    /* somebody else's file is used, but not added to */
    assert_int_equal(unlink(in_folder("tsp100-clustered.sol.json")), 0);
    assert_int_equal(make_references(0, 3, &err), INVIT_OK);
    assert_int_equal(make_references(0, 4, &err), INVIT_ERR_INPUT);
    assert_non_null(strstr(err.message, "3 references, expected 4"));
    free(text);
    free(good);
}

static void a_set_of_another_size_is_refused(void **state)
{
    (void)state;
    invit_error err;
    write_text(in_folder("tsp100-clustered.txt"), "0,0 1,0 1,1 0,1\n");
    assert_int_equal(make_references(0, 3, &err), INVIT_ERR_INPUT);
    assert_non_null(strstr(err.message, "expected TSP-100"));
}

static json_t *table(invit_report *report, const char *title)
{
    char *text;
    assert_int_equal(invit_report_render(report, INVIT_TABLE_JSON, &text, NULL), INVIT_OK);
    json_t *all = json_loads(text, 0, NULL), *found = NULL, *t;
    size_t i;
    free(text);
    assert_non_null(all);
    json_array_foreach(all, i, t) if (strstr(json_string_value(json_object_get(t, "title")), title)) found =
        t;
    if (!found) fail_msg("no table %s", title);
    json_incref(found);
    json_decref(all);
    return found;
}

static double number(json_t *t, int row, const char *column)
{
    json_t *v = json_object_get(json_array_get(json_object_get(t, "rows"), (size_t)row), column);
    return json_is_number(v) ? json_number_value(v) : NAN;
}

static int lines_of(const char *path)
{
    char *text = read_file(path, NULL);
    int count = 0;
    for (const char *c = text; *c; c++) count += *c == '\n';
    free(text);
    return count;
}

static void sets_are_measured_and_resumed(void **state)
{
    (void)state;
    invit_error err;
    invit_report *report;
    int32_t failures;
    invit_eval_options o = quick(0, 4);
    o.set[4] = true;
    o.results = in_folder("results.csv");
    o.baselines = o.instances = true;
    if (invit_eval_msvdrp(&o, &report, &failures, &err) != INVIT_OK) fail_msg("%s", err.message);
    assert_int_equal(failures, 0);
    json_t *main_table = table(report, "TSP: mean gap"), *detail = table(report, "By set"),
           *each = table(report, "By instance");
    assert_int_equal(json_array_size(json_object_get(main_table, "rows")),
                     10);                                  /* nine published rows and ours */
    assert_true(number(main_table, 7, "TSP-100") == 3.12); /* INViT-2V, clustered */
    double gap = number(main_table, 9, "TSP-100");
    assert_true(gap > 3 && gap < 60); /* nearest neighbour is some 25 % off */
    assert_true(fabs(number(detail, 0, "gap %") - gap) < 1e-9 && number(detail, 0, "instances") == 4);
    assert_int_equal(json_array_size(json_object_get(each, "rows")), 8);
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        sum += number(each, i, "gap %");
        double l = number(each, i, "length"), r = number(each, i, "reference");
        assert_true(fabs(number(each, i, "gap %") - 100 * (l - r) / r) < 1e-6);
    }
    assert_true(fabs(sum / 4 - gap) < 1e-6);
    json_decref(main_table);
    json_decref(detail);
    json_decref(each);
    invit_report_destroy(report);

    /* Resumed, nothing is done again; compared with itself, everything is a tie. */
    char *before = read_file(o.results, NULL);
    o.resume = true;
    char *copy = strdup(in_folder("copy.csv"));
    write_text(copy, before);
    o.against = copy;
    assert_int_equal(invit_eval_msvdrp(&o, &report, &failures, &err), INVIT_OK);
    detail = table(report, "By set");
    assert_true(number(detail, 0, "ties") == 4 && number(detail, 0, "wins") == 0);
    json_decref(detail);
    invit_report_destroy(report);
    char *after = read_file(o.results, NULL);
    assert_string_equal(before, after);
    free(before);
    free(after);
    /* Nor are references that only the results still know; an instance more, and they are made. */
    const char *references = in_folder("tsp100-clustered.sol.txt");
    assert_int_equal(remove(references), 0);
    assert_int_equal(invit_eval_msvdrp(&o, &report, &failures, &err), INVIT_OK);
    detail = table(report, "By set");
    assert_true(fabs(number(detail, 0, "gap %") - gap) < 1e-5);
    json_decref(detail);
    invit_report_destroy(report);
    assert_int_equal(lines_of(references), 0);
    o.limit = 5;
    assert_int_equal(invit_eval_msvdrp(&o, &report, &failures, &err), INVIT_OK);
    invit_report_destroy(report);
    assert_int_equal(lines_of(references), 5);
    /* Another configuration does not mix with it, and nothing is overwritten. */
    o.solve = by(INVIT_CONSTRUCT_SPACE_FILLING);
    assert_int_equal(invit_eval_msvdrp(&o, &report, &failures, &err), INVIT_ERR_INPUT);
    assert_non_null(strstr(err.message, "construct=nearest there, construct=space-filling here"));
    o.resume = false;
    assert_int_equal(invit_eval_msvdrp(&o, &report, &failures, &err), INVIT_ERR_INPUT);
    assert_non_null(strstr(err.message, "exists"));
    /* What makes no sense is said before anything is done. */
    o.solve = by(INVIT_CONSTRUCT_GREEDY); /* CVRP-50 is among the sets */
    assert_int_equal(invit_eval_msvdrp(&o, &report, &failures, &err), INVIT_ERR_ARGUMENT);
    o.solve = by(INVIT_CONSTRUCT_NEAREST);
    o.paper_length = true;
    assert_int_equal(invit_eval_msvdrp(&o, &report, &failures, &err), INVIT_ERR_ARGUMENT);
    o.paper_length = false;
    o.against = "INViT-2V";
    assert_int_equal(invit_eval_msvdrp(&o, &report, &failures, &err), INVIT_ERR_ARGUMENT);
    free(copy);
}

/* Cancels when that many instances are solved. */
typedef struct impatience {
    int64_t after;
    volatile int cancel;
} impatience;

static void lose_patience(void *user, const invit_progress *p)
{
    impatience *i = user;
    if (strcmp(p->stage, "evaluate") == 0 && p->count >= i->after) i->cancel = 1;
}

static bool rendered_says(const invit_report *report, invit_table_format format, const char *text)
{
    char *all;
    assert_int_equal(invit_report_render(report, format, &all, NULL), INVIT_OK);
    bool found = strstr(all, text) != NULL;
    free(all);
    return found;
}

static void what_is_finished_is_reported(void **state)
{
    (void)state;
    invit_error err;
    invit_report *report;
    int32_t failures;
    impatience i = {.after = 3};
    invit_control control = {.progress = lose_patience, .user = &i, .cancel = &i.cancel};
    assert_int_equal(make_references(0, 5, &err), INVIT_OK);
    invit_eval_options o = quick(0, 5);
    o.set[4] = o.baselines = o.instances = true;
    o.control = &control;
    assert_int_equal(invit_eval_msvdrp(&o, &report, &failures, &err), INVIT_ERR_CANCELLED);
    assert_string_equal(err.message, "stopped after 3 of 10 instances");
    assert_non_null(report);
    static const char said[] = "(partial: stopped after 3 of 10 instances)";
    for (int format = INVIT_TABLE_TEXT; format <= INVIT_TABLE_CSV; format++)
        assert_true(rendered_says(report, (invit_table_format)format, said));
    assert_false(rendered_says(report, INVIT_TABLE_TEXT, "CVRP: mean gap"));
    json_t *detail = table(report, "By set"), *each = table(report, "By instance");
    assert_non_null(json_object_get(detail, "partial"));
    assert_true(number(detail, 0, "instances") == 3 && number(detail, 0, "gap %") > 0);
    assert_int_equal(json_array_size(json_object_get(each, "rows")), 3);
    json_decref(detail);
    json_decref(each);
    invit_report_destroy(report);
    /* nothing is finished: no report */
    assert_int_equal(invit_eval_msvdrp(&o, &report, &failures, &err), INVIT_ERR_CANCELLED);
    assert_null(report);

    write_text(in_folder("set.txt"), "0,0 0,1 1,1 1,0 .5,2\n0,0 0,2 2,2 2,0 1,4\n0,0 0,3 3,3 3,0 1,5\n");
    const char *paths[] = {in_folder("set.txt")};
    i = (impatience){.after = 2};
    assert_int_equal(invit_eval_files(&o, paths, 1, &report, &failures, &err), INVIT_ERR_CANCELLED);
    assert_string_equal(err.message, "stopped after 2 of 3 instances");
    assert_non_null(report);
    json_t *t = table(report, "TSP by instance");
    assert_int_equal(json_array_size(json_object_get(t, "rows")), 2);
    json_decref(t);
    invit_report_destroy(report);
}

static void a_model_is_asked_for(void **state)
{
    (void)state;
    invit_error err;
    invit_report *report;
    int32_t failures;
    invit_eval_options o = quick(0, 2);
    o.solve = by(INVIT_CONSTRUCT_INVIT);
    assert_int_equal(invit_eval_msvdrp(&o, &report, &failures, &err), INVIT_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "no model for TSP"));
    invit_model *m;
    inv_config c;
    inv_config_defaults(&c, INVIT_CVRP);
    assert_int_equal(inv_model_create(&c, &m, &err), INVIT_OK);
    o.model[INVIT_TSP] = m;
    assert_int_equal(invit_eval_msvdrp(&o, &report, &failures, &err), INVIT_ERR_ARGUMENT);
    invit_model_destroy(m);
}

static const char square[] =
    "NAME: square\nTYPE: TSP\nDIMENSION: 4\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n"
    "1 0 0\n2 0 10\n3 10 10\n4 10 0\nEOF\n";

static void libraries_are_measured(void **state)
{
    (void)state;
    invit_error err;
    invit_report *report;
    int32_t failures;
    invit_eval_options o = invit_eval_defaults();
    o.solve = by(INVIT_CONSTRUCT_NEAREST);
    o.baselines = true;
    write_text(in_folder("square.tsp"), square);
    write_text(in_folder("square.opt.tour"), "TYPE: TOUR\nDIMENSION: 4\nTOUR_SECTION\n1\n2\n3\n4\n-1\nEOF\n");
    write_text(in_folder("broken.tsp"), "NAME: broken\nTYPE: TSP\nDIMENSION: 4\n");
    write_text(in_folder("special.tsp"), "NAME: special\nTYPE: TSP\nDIMENSION: 4\nEDGE_WEIGHT_TYPE: SPECIAL\n"
                                         "NODE_COORD_SECTION\n1 0 0\n2 1 0\n3 2 0\n4 3 0\nEOF\n");
    /* berlin52's name is known to the paper and to the best-known table, wherever its nodes are here */
    char berlin[2048] =
        "NAME: berlin52\nTYPE: TSP\nDIMENSION: 52\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n";
    for (int i = 0; i < 52; i++)
        sprintf(berlin + strlen(berlin), "%d %d %d\n", i + 1, i < 26 ? 1000 * i : 1000 * (51 - i),
                i < 26 ? 0 : 500);
    write_text(in_folder("berlin52.tsp"), strcat(berlin, "EOF\n"));
    const char *paths[] = {folder, folder}; /* each file once all the same */
    if (invit_eval_files(&o, paths, 2, &report, &failures, &err) != INVIT_OK) fail_msg("%s", err.message);
    assert_int_equal(failures, 1);
    json_t *t = table(report, "TSP by instance"), *failed = table(report, "Failed"),
           *skipped = table(report, "Skipped"), /* not supported, no failure */
               *compared = table(report, "compared");
    assert_int_equal(json_array_size(json_object_get(t, "rows")), 2);
    assert_true(number(t, 1, "reference") == 7542 && number(t, 1, "length") >= 51000 &&
                number(t, 1, "INViT-2V") == 1.41);
    assert_true(number(t, 0, "reference") == 40 && number(t, 0, "nearest neighbour") == 0);
    assert_int_equal(json_array_size(json_object_get(failed, "rows")), 1);
    assert_int_equal(json_array_size(json_object_get(skipped, "rows")), 1);
    json_decref(skipped);
    assert_true(number(compared, 0, "pairs") == 1 && number(compared, 0, "losses") == 1);
    json_decref(t);
    json_decref(failed);
    json_decref(compared);
    invit_report_destroy(report);

    /* A tour that is none, or whose length is a lie, makes its instance fail, not the run. */
    write_text(in_folder("square.opt.tour"), "TYPE: TOUR\nDIMENSION: 4\nTOUR_SECTION\n1\n2\n2\n4\n-1\nEOF\n");
    assert_int_equal(invit_eval_files(&o, paths, 1, &report, &failures, &err), INVIT_OK);
    assert_int_equal(failures, 2);
    invit_report_destroy(report);

    /* A known name with another number of nodes is another instance. */
    write_text(in_folder("berlin52.tsp"),
               "NAME: berlin52\nTYPE: TSP\nDIMENSION: 3\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n"
               "1 0 0\n2 0 3000\n3 4000 0\nEOF\n");
    assert_int_equal(invit_eval_files(&o, paths, 1, &report, &failures, &err), INVIT_OK);
    t = table(report, "TSP by instance");
    assert_true(json_is_null(json_object_get(json_array_get(json_object_get(t, "rows"), 0), "reference")));
    json_decref(t);
    invit_report_destroy(report);

    const char *nowhere[] = {"/no/such/place"};
    assert_int_equal(invit_eval_files(&o, nowhere, 1, &report, &failures, &err), INVIT_ERR_IO);
    o.against = "/no/such/column";
    assert_int_equal(invit_eval_files(&o, paths, 1, &report, &failures, &err), INVIT_ERR_IO);
}

/* Two files with the same name inside, and one file with several instances: each is measured for itself. */
static void same_names_and_many_in_a_file(void **state)
{
    (void)state;
    invit_error err;
    invit_report *report;
    int32_t failures;
    invit_eval_options o = invit_eval_defaults();
    o.solve = by(INVIT_CONSTRUCT_NEAREST);
    o.results = in_folder("results.csv");
    write_text(in_folder("a.tsp"), square);
    write_text(in_folder("b.tsp"),
               "NAME: square\nTYPE: TSP\nDIMENSION: 4\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n"
               "1 0 0\n2 0 20\n3 20 20\n4 20 0\nEOF\n");
    write_text(in_folder("set.txt"), "0,0 0,1 1,1 1,0 .5,2\n0,0 0,2 2,2 2,0 1,4\n");
    const char *paths[] = {folder, in_folder("set.txt")};
    if (invit_eval_files(&o, paths, 2, &report, &failures, &err) != INVIT_OK) fail_msg("%s", err.message);
    assert_int_equal(failures, 0);
    json_t *t = table(report, "TSP by instance");
    assert_int_equal(json_array_size(json_object_get(t, "rows")), 4);
    assert_true(number(t, 0, "length") == 40 && number(t, 1, "length") == 80);
    assert_true(number(t, 2, "length") > 4 &&
                fabs(number(t, 3, "length") - 2 * number(t, 2, "length")) < 1e-9);
    json_decref(t);
    invit_report_destroy(report);
}

/* Each problem has its own kind of solution file; the other one's may lie beside it. */
static void references_beside_fit_the_problem(void **state)
{
    (void)state;
    invit_error err;
    invit_report *report;
    int32_t failures;
    invit_eval_options o = invit_eval_defaults();
    o.solve = by(INVIT_CONSTRUCT_NEAREST);
    write_text(in_folder("p.tsp"), square);
    write_text(in_folder("p.tour"), "TYPE: TOUR\nDIMENSION: 4\nTOUR_SECTION\n1\n2\n3\n4\n-1\nEOF\n");
    write_text(
        in_folder("p.vrp"),
        "NAME: p\nTYPE: CVRP\nDIMENSION: 3\nEDGE_WEIGHT_TYPE: EUC_2D\nCAPACITY: 2\nNODE_COORD_SECTION\n"
        "1 0 0\n2 0 10\n3 10 0\nDEMAND_SECTION\n1 0\n2 1\n3 2\nDEPOT_SECTION\n1\n-1\nEOF\n");
    write_text(in_folder("p.sol"), "Route #1: 1\nRoute #2: 2\nCost 40\n");
    const char *paths[] = {folder};
    assert_int_equal(invit_eval_files(&o, paths, 1, &report, &failures, &err), INVIT_OK);
    assert_int_equal(failures, 0);
    json_t *tsp = table(report, "TSP by instance"), *cvrp = table(report, "CVRP by instance");
    assert_true(number(tsp, 0, "reference") == 40 && number(cvrp, 0, "reference") == 40);
    assert_non_null(strstr(json_string_value(json_object_get(tsp, "note")), "p.tour"));
    assert_non_null(strstr(json_string_value(json_object_get(cvrp, "note")), "p.sol"));
    json_decref(tsp);
    json_decref(cvrp);
    invit_report_destroy(report);
    /* the other kind alone: not a reference, and no failure */
    assert_int_equal(unlink(in_folder("p.sol")), 0);
    assert_int_equal(invit_eval_files(&o, paths, 1, &report, &failures, &err), INVIT_OK);
    assert_int_equal(failures, 0);
    cvrp = table(report, "CVRP by instance");
    assert_true(isnan(number(cvrp, 0, "reference")));
    assert_null(json_object_get(cvrp, "note"));
    json_decref(cvrp);
    invit_report_destroy(report);
}

static void a_file_keeps_its_order(void **state)
{
    (void)state;
    invit_error err;
    invit_report *report;
    int32_t failures;
    invit_eval_options o = invit_eval_defaults();
    o.solve = by(INVIT_CONSTRUCT_NEAREST);
    o.limit = 3;
    char text[1024] = "";
    for (int i = 0; i < 12; i++) sprintf(text + strlen(text), "0,0 0,%d %d,0\n", i + 1, i + 1);
    write_text(in_folder("many.txt"), text);
    const char *paths[] = {in_folder("many.txt")};
    assert_int_equal(invit_eval_files(&o, paths, 1, &report, &failures, &err), INVIT_OK);
    json_t *t = table(report, "TSP by instance");
    for (int i = 0; i < 3; i++) {
        char name[16];
        snprintf(name, sizeof name, "many#%d", i);
        json_t *row = json_array_get(json_object_get(t, "rows"), (size_t)i);
        assert_string_equal(json_string_value(json_object_get(row, "instance")), name);
    }
    json_decref(t);
    invit_report_destroy(report);
}

static void best_known_values_from_a_file(void **state)
{
    (void)state;
    invit_error err;
    invit_report *report;
    int32_t failures;
    invit_eval_options o = invit_eval_defaults();
    o.solve = by(INVIT_CONSTRUCT_NEAREST);
    o.best_known = in_folder("best.csv");
    write_text(in_folder("square.tsp"), square);
    write_text(in_folder("best.csv"), "instance,best_known\nsquare,32\n");
    const char *paths[] = {in_folder("square.tsp")};
    assert_int_equal(invit_eval_files(&o, paths, 1, &report, &failures, &err), INVIT_OK);
    json_t *t = table(report, "TSP by instance");
    assert_true(fabs(number(t, 0, "nearest neighbour") - 25) < 1e-9);
    json_decref(t);
    invit_report_destroy(report);
    write_text(in_folder("best.csv"), "instance,best_known\nsquare,many\n");
    assert_int_equal(invit_eval_files(&o, paths, 1, &report, &failures, &err), INVIT_ERR_INPUT);
    assert_non_null(strstr(err.message, "best.csv:2: expected INSTANCE,LENGTH"));
    write_text(in_folder("best.csv"), "square,32\nother,5\nsquare,33\n");
    assert_int_equal(invit_eval_files(&o, paths, 1, &report, &failures, &err), INVIT_ERR_INPUT);
    assert_non_null(strstr(err.message, "best.csv:3: square is there twice"));
    write_text(in_folder("best.csv"), "# the best there are\n\nsquare,32,proven\n");
    assert_int_equal(invit_eval_files(&o, paths, 1, &report, &failures, &err), INVIT_OK);
    invit_report_destroy(report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(references_are_made_once_and_extended, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(wrong_references_are_refused, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_set_of_another_size_is_refused, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(sets_are_measured_and_resumed, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(what_is_finished_is_reported, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_model_is_asked_for, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(libraries_are_measured, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(same_names_and_many_in_a_file, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(references_beside_fit_the_problem, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_file_keeps_its_order, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(best_known_values_from_a_file, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
