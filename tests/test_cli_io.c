/* invit gen and invit check, as a user runs them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "folder.h"
#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void a_configuration_file_cannot_name_another(void **state)
{
    (void)state;
    assert_int_equal(run("echo 'config = other' > c; invit gen tsp --config c"), 2);
    says("c:1: a configuration file cannot name another one");
    assert_int_equal(run("yes 'seed = 1' | head -n 20000 | invit gen tsp --config /dev/stdin"), 2);
    says("expected at most 10000 lines");
    assert_int_equal(run("echo 'confgi = other' > c; invit gen tsp --config c"), 2);
    assert_null(strstr(output, "did you mean"));
}

/* The checksum was recorded once; every machine must give it. */
static void the_same_seed_gives_the_same_bytes(void **state)
{
    (void)state;
    assert_int_equal(
        run("for d in uniform clustered explosion implosion; do invit gen tsp -n 50 -d $d -c 4 -s 3; "
            "invit gen cvrp -n 50 -d $d -c 4 -s 3; done | cksum"),
        0);
    says("2959616844 62662");
    assert_int_equal(
        run("invit gen tsp -n 500 -c 3 -o a.txt && invit gen tsp -n 500 -c 3 -o b.txt && cmp a.txt b.txt && "
            "invit gen tsp -n 500 -c 3 -s 2 -o b.txt && ! cmp -s a.txt b.txt"),
        0);
}

static void instances_go_to_files_directories_and_patterns(void **state)
{
    (void)state;
    assert_int_equal(run("invit gen tsp -n 20 -o one.tsp && grep -c . one.tsp"), 0);
    says("27");
    assert_int_equal(run("sed -n 4p one.tsp"), 0); /* where solvers that skip three lines look */
    says("DIMENSION : 20");
    assert_int_equal(
        run("mkdir d && invit gen cvrp -n 20 -c 3 -o d && ls d | wc -l && grep -h ^NAME d/*i2.vrp"), 0);
    says("3\nNAME : cvrp20-uniform-s1-i2");
    assert_int_equal(run("invit gen tsp -n 20 -c 3 -f tsplib --scale 1000 -o 'case-%%03d.tsp' && ls && grep "
                         "-h EDGE case-002.tsp"),
                     0);
    says("case-000.tsp");
    says("EUC_2D");
    assert_int_equal(run("invit gen tsp -n 20 -c 3 -f tsplib -o x.tsp"), 2);
    says("need a directory or a pattern");
    assert_int_equal(run("invit gen tsp -n 20 -c 3 -f tsplib -o new/ && ls new | wc -l"), 0);
    says("3\n");
    assert_int_equal(run("invit gen cvrp -n 20 -o other/ && ls other"), 0);
    says("cvrp20-uniform-s1-i0.vrp\n");
    assert_int_equal(run("invit gen tsp -n 20 -c 3 -o no/where/"), 1);
    says("no/where/: cannot create: No such file");
    assert_int_equal(run("invit gen tsp -n 20 -f msvdrp -o new2/; ls"), 0);
    says("MSVDRP sets are one file");
    assert_null(strstr(strstr(output, "one file"), "new2"));
    assert_int_equal(run("invit gen tsp -n 20 -c 2 -f tsplib -o 'x-%%s.tsp'"), 1);
    says("expected a pattern with one %d");
    assert_int_equal(run("invit gen tsp -n 0"), 2);
    assert_int_equal(run("invit gen other"), 2);
    says("expected tsp, cvrp or msvdrp");
    assert_int_equal(run("invit gen tsp -o no/such/file"), 1);
    says("no/such/file: cannot create");
}

/* Lines of one pair each are a list of nodes to every reader. */
static void single_nodes_are_not_a_list(void **state)
{
    (void)state;
    assert_int_equal(run("invit gen tsp -n 1 -c 5 -o one.txt"), 2);
    says("-f tsplib");
    assert_int_equal(run("invit gen tsp -n 1 -c 5 -f tsplib -o one/ && ls one | wc -l"), 0);
    says("5\n");
    assert_int_equal(run("invit gen tsp -n 1 && invit gen cvrp -n 1 -c 2"), 0);
}

static void a_full_disk_or_a_closed_pipe_is_an_error(void **state)
{
    (void)state;
    assert_int_equal(run("invit gen tsp -n 10 -o /dev/full"), 1);
    says("/dev/full: cannot write: No space left on device");
    assert_int_equal(run("invit gen tsp -n 10 > /dev/full"), 1);
    says("standard output: cannot write");
    assert_int_equal(run("invit gen tsp -n 100000 2>message | true; sleep 0.3; cat message"), 0);
    says("standard output: cannot write: Broken pipe");
    assert_int_equal(run("(ulimit -f 20; invit gen tsp -n 100000 -o big.txt); ls"), 0);
    says("big.txt: cannot write: File too large");
    assert_null(strstr(strstr(output, "too large"), "big.txt")); /* and no part of it is left */
}

static void solutions_are_checked(void **state)
{
    (void)state;
    assert_int_equal(
        run("printf 'TOUR_SECTION\\n1 2 3 -1\\n' > t.tour; invit check '%s/triangle.tsp' t.tour", TEST_DATA),
        0);
    says("triangle: feasible, length 12\n");
    assert_int_equal(run("invit check '%s/triangle.tsp' - --json < t.tour", TEST_DATA), 0);
    says("\"feasible\": true");
    says("\"length\": 12,");
    assert_int_equal(run("printf '0,1 1\\n' | invit check '%s/triangle.tsp' -", TEST_DATA), 1);
    says("triangle: infeasible: node 2, counted from 0, is not visited");
    assert_int_equal(run("printf '0,1,2 99\\n' | invit check '%s/triangle.tsp' -", TEST_DATA), 0);
    says("the file claims a length of 99");
    assert_int_equal(
        run("printf '0,1,2 12\\n' | invit check '%s/triangle.tsp' - --metric ceil_2d", TEST_DATA), 0);
    assert_int_equal(run("invit check '%s/triangle.tsp' /no/such", TEST_DATA), 1);
    says("/no/such: cannot open");
    assert_int_equal(run("invit check '%s/triangle.tsp'", TEST_DATA), 2);
}

static void sets_are_checked_line_by_line(void **state)
{
    (void)state;
    run("printf '0,0 3,4 3,0\\n0,0 .|. 3,4 .|. 1 .|. 5\\n0,0 1,0\\n' > set.txt; printf '0,1,2 12 0\\n0,1,0 "
        "10 0\\n1,0 2 0\\n' > set.sol");
    assert_int_equal(run("invit check set.txt set.sol"), 0);
    says("set#0: feasible, length 12\nset#1: feasible, length 10, 1 routes\nset#2: feasible, length 2\n");
    assert_int_equal(run("invit check set.txt set.sol --index 1"), 0);
    says("set#1: feasible, length 10");
    assert_int_equal(run("invit check set.txt set.sol --index 3"), 1);
    says("no instance 3: the file holds 3");
    assert_int_equal(run("head -2 set.sol | invit check set.txt -"), 1);
    says("expected a solution of instance 2");
    assert_int_equal(run("(cat set.sol; echo 0,1,2,3,4) | invit check set.txt -"), 1);
    says("set#2: feasible");
    says(": expected 3 solutions, as many as instances, found more");
    assert_int_equal(
        run("printf '0,1,2 12\\n2,1,0 12\\n' > two.txt; invit check '%s/triangle.tsp' two.txt", TEST_DATA),
        1);
    says("two.txt: expected 1 solution, as many as instances, found more");
    assert_int_equal(run("invit check '%s/triangle.tsp' two.txt --index 0", TEST_DATA), 0);
}

static void tables_are_checked_on_the_globe(void **state)
{
    (void)state;
    run("printf 'id;lat;lon;demand\\nP;48,8566;2,3522;0\\nB;52,52;13,405;3\\n' > places.csv; printf 'Route "
        "#1: 1\\n' > places.sol");
    assert_int_equal(run("invit check places.csv places.sol --capacity 10"), 0);
    says("places: feasible, length 17549");
    assert_int_equal(run("invit check places.csv places.sol"), 1);
    says("places.csv:4: expected the vehicles' capacity");
}

int main(void)
{
#define IN_DIRECTORY(f) cmocka_unit_test_setup_teardown(f, enter_folder, leave_folder)
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(a_configuration_file_cannot_name_another),
        IN_DIRECTORY(the_same_seed_gives_the_same_bytes),
        IN_DIRECTORY(single_nodes_are_not_a_list),
        IN_DIRECTORY(instances_go_to_files_directories_and_patterns),
        IN_DIRECTORY(a_full_disk_or_a_closed_pipe_is_an_error),
        IN_DIRECTORY(solutions_are_checked),
        IN_DIRECTORY(sets_are_checked_line_by_line),
        IN_DIRECTORY(tables_are_checked_on_the_globe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
