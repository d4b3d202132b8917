/* The bundled instances with known lengths (tests/data/library): every file is read, the canonical tour has its known
 * length, and the search comes as near to the best known solution as it should, with nothing shorter. The same as with the public libraries,
 * which are not bundled. */
#include "shell.h"
#include "invit.h"
#include "problem/problem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct {
    const char *file;
    int64_t nodes;
    double canonical; /* length of the tour 1, 2, ..., n; 0 for a CVRP   */
    double best;      /* as in best_known.csv                            */
    int64_t steps;    /* that find it, with some to spare                */
    double slack;     /* of a length that only searches know: how far from it, as a part of it */
} known[] = {
    {"u100.tsp", 100, 549480, 80129, 20000, 0},    {"c200.tsp", 200, 600701, 64285, 40000, 0},
    {"grid400.tsp", 400, 414943, 40000, 40000, 0}, {"circle60.tsp", 60, 281374, 25132, 5000, 0},
    {"star30.vrp", 31, 0, 9000, 50000, 0},         {"u50.vrp", 51, 0, 9919, 100000, 0.005},
    {"c100.vrp", 101, 0, 6590, 1000000, 0.01},
};
enum { KNOWN = sizeof known / sizeof known[0] };

static invit_instance *open_instance(int i)
{
    char path[512];
    invit_instance *p;
    invit_error err;
    snprintf(path, sizeof path, TEST_DATA "/library/%s", known[i].file);
    if (invit_instance_read(path, 0, &p, &err) != INVIT_OK) fail_msg("%s", err.message);
    return p;
}

static void every_file_is_read(void **state)
{
    (void)state;
    for (int i = 0; i < KNOWN; i++) {
        invit_instance *p = open_instance(i);
        assert_int_equal(invit_instance_nodes(p), known[i].nodes);
        assert_memory_equal(invit_instance_name(p), known[i].file, strlen(invit_instance_name(p)));
        invit_instance_destroy(p);
    }
}

static void canonical_tours_have_their_known_lengths(void **state)
{
    (void)state;
    for (int i = 0; i < KNOWN; i++) {
        if (known[i].canonical == 0) continue;
        invit_instance *p = open_instance(i);
        invit_solution *s;
        invit_check_result result;
        assert_int_equal(inv_solution_alloc(1, p->n, &s, NULL), INVIT_OK);
        for (int32_t v = 0; v < p->n; v++) s->nodes[v] = v;
        s->start[1] = p->n;
        assert_int_equal(invit_check(p, s, &result, NULL), INVIT_OK);
        assert_true(result.feasible);
        assert_true(result.length == known[i].canonical);
        invit_solution_destroy(s);
        invit_instance_destroy(p);
    }
}

/* Through the program, as a user would: a solution that is checked, as long as the best known one or little longer. */
static void the_search_finds_the_best_known(void **state)
{
    (void)state;
    for (int i = 0; i < KNOWN; i++) {
        static char said[1 << 20];
        char command[1024], key[] = "\"length\":";
        snprintf(command, sizeof command,
                 TEST_BINARY
                 " solve " TEST_DATA
                 "/library/%s --construct nearest --threads 1 --iterations %lld --target %.0f --json -q",
                 known[i].file, (long long)known[i].steps, known[i].best);
        assert_int_equal(shell(command, said, sizeof said), 0);
        const char *at = strstr(said, key);
        double length = at ? strtod(at + strlen(key), NULL) : 0;
        if (length > known[i].best * (1 + known[i].slack) || length < known[i].best * (1 - known[i].slack))
            fail_msg("%s: found %.0f, best known is %.0f", known[i].file, length, known[i].best);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_file_is_read),
        cmocka_unit_test(canonical_tours_have_their_known_lengths),
        cmocka_unit_test(the_search_finds_the_best_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
