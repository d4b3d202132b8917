/* Readers: what real files look like, and one clear message for each way a file can be wrong. */
#include "read_bytes.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static invit_instance *read_good(const char *text)
{
    invit_instance *p;
    invit_error err;
    if (read_bytes(text, strlen(text), &p, &err) != INVIT_OK)
        fail_msg("%s\nwas refused: %s", text, err.message);
    assert_non_null(p);
    return p;
}

/* ---- TSPLIB -------------------------------------------------------------------------------------------- */

static void variants_of_one_tsplib_file_read_alike(void **state)
{
    (void)state;
    static const char *const same[] = {
        "NAME: t\nTYPE: TSP\nCOMMENT: c\nDIMENSION: 3\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n1 0 "
        "0\n2 3 4\n3 3 0\nEOF\n",
        "NAME : t\r\nTYPE : TSP\r\nCOMMENT : c\r\nDIMENSION : 3\r\nEDGE_WEIGHT_TYPE : "
        "EUC_2D\r\nNODE_COORD_SECTION\r\n1 0 0\r\n"
        "2 3 4\r\n3 3 0\r\nEOF\r\n",
        "name:t\ntype:tsp\ncomment:c\ndimension:3\nedge_weight_type:euc_2d\nnode_coord_section\n1 0 0\n2 3 "
        "4\n3 3 0",
        "NAME :\t\"t\"\t\nCOMMENT :\t\"c\"\nTYPE :\tTSP\t\nDIMENSION :\t3\t\nEDGE_WEIGHT_TYPE :\tEUC_2D\t\n"
        "NODE_COORD_SECTION\t\t\n1\t0\t0\t\n2\t3\t4\n3\t3\t0\t\nEOF\t\n",
        "\n\n  NAME: t\n  COMMENT: c\n  TYPE: TSP (somebody)\nDIMENSION: 3\nEDGE_WEIGHT_TYPE: "
        "EUC_2D\nNODE_COORD_SECTION\n"
        "   1  0.00000e+00 0.0E0 \n\n 2  3e0  +4.0\n  3 .3e1 -0\n\n",
        "EDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION :\n7 0 0\n9 3 0\n8 3 4\nTYPE: TSP\nDIMENSION: 3\nNAME: "
        "t\nCOMMENT: c\nEOF\n"
        "anything after EOF\n",
        "NAME: t\nCOMMENT: c\nDIMENSION: 3\nDISPLAY_DATA_TYPE: TWOD_DISPLAY\nNODE_COORD_TYPE: TWOD_COORDS\n"
        "EDGE_WEIGHT_TYPE: EUC_2D\nDISPLAY_DATA_SECTION\n1 5 5\n2 5 5\n3 5 5\nNODE_COORD_SECTION\n0 0 0\n1 3 "
        "4\n2 3 0\n",
        "\xef\xbb\xbfNAME: t\nCOMMENT: c\nDIMENSION: 3\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n1 0 "
        "0\n2 3 4\n3 3 0\n",
        /* a value that could be the header of a table */
        "KEYWORDS\t:\tid,\tx\ty\nNAME: t\nCOMMENT: c\nDIMENSION: 3.0\nEDGE_WEIGHT_TYPE: "
        "EUC_2D\nNODE_COORD_SECTION\n1 0 0\n2 3 4\n3 3 0\n",
        /* old Macs, DOS */
        "NAME: t\rCOMMENT: c\rDIMENSION: 3\rEDGE_WEIGHT_TYPE: EUC_2D\rNODE_COORD_SECTION\r1 0 0\r2 3 4\r3 3 "
        "0\rEOF\r",
        "NAME: t\r\nCOMMENT: c\r\nDIMENSION: 3\r\nEDGE_WEIGHT_TYPE: EUC_2D\r\nNODE_COORD_SECTION\r\n1 0 "
        "0\r\n2 3 4\r\n3 3 0\r\nEOF\x1a",
        "NAME: t\nCOMMENT: c\nDIMENSION: 3\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n1 0 "
        "0\n2 3 4\n3 3 0\n\x1a\x1a",
    };
    static const double xy[] = {0, 0, 3, 4, 3, 0};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        invit_instance *p = read_good(same[i]);
        assert_string_equal(p->name, "t");
        assert_string_equal(p->comment, "c");
        assert_int_equal(p->problem, INVIT_TSP);
        assert_int_equal(p->metric, INVIT_EUC_2D);
        assert_int_equal(p->n, 3);
        for (int k = 0; k < 6; k++) assert_true(p->xy[k] == xy[k]);
        invit_instance_destroy(p);
    }
}

static void every_metric_is_known(void **state)
{
    (void)state;
    static const char *const names[] = {"EXACT_2D", "EUC_2D", "CEIL_2D", "ATT", "GEO", "HAVERSINE", "DIMACS"};
    for (int i = 0; i <= INVIT_DIMACS; i++) {
        char text[200];
        snprintf(text, sizeof text, "DIMENSION: 1\nEDGE_WEIGHT_TYPE: %s\nNODE_COORD_SECTION\n1 2 3\n",
                 names[i]);
        invit_instance *p = read_good(text);
        assert_int_equal(p->metric, i);
        assert_string_equal(p->name, "f");
        invit_instance_destroy(p);
    }
}

static void names_are_utf8(void **state)
{
    (void)state;
    invit_instance *p = read_good("NAME: St\xe4"
                                  "dte\nCOMMENT: 5 \x80\nDIMENSION: 1\nEDGE_WEIGHT_TYPE: "
                                  "EUC_2D\nNODE_COORD_SECTION\n1 2 3\n");
    assert_string_equal(p->name, "St\xc3\xa4"
                                 "dte");
    assert_string_equal(p->comment, "5 \xe2\x82\xac");
    invit_instance_destroy(p);
    invit_reader *r;
    assert_int_equal(invit_reader_open_memory("1 2\n", 4, "dir/caf\xe9.txt", &r, NULL), INVIT_OK);
    assert_int_equal(invit_reader_next(r, &p, NULL), INVIT_OK);
    assert_string_equal(p->name, "caf\xc3\xa9");
    invit_instance_destroy(p);
    invit_reader_close(r);
}

#define MATRIX_HEAD "DIMENSION: 3\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: "
#define CVRP_HEAD   "NAME: v\nTYPE: CVRP\nDIMENSION: 4\nCAPACITY: 10\nEDGE_WEIGHT_TYPE: EUC_2D\n"
#define CVRP_COORDS "NODE_COORD_SECTION\n1 0 0\n2 1 0\n3 2 0\n4 3 0\n"
#define CVRP_DEMAND "DEMAND_SECTION\n1 0\n2 5\n3 10\n4 7\n"

static void cvrp_sections_come_in_any_order(void **state)
{
    (void)state;
    static const char *const same[] = {
        CVRP_HEAD CVRP_COORDS CVRP_DEMAND "DEPOT_SECTION\n 1\n -1\nEOF\n",
        CVRP_HEAD "DEPOT_SECTION\n1\n-1\n" CVRP_DEMAND CVRP_COORDS,
        "CAPACITY : 10.0\n" CVRP_HEAD CVRP_COORDS CVRP_DEMAND "DEPOT_SECTION\n1\n-1\n",
        CVRP_HEAD "SERVICE_TIME: 0\nVEHICLES: 3\nDEMAND_SECTION\n4 7\n3 10.0\n1 0\n2 "
                  "5e0\nDEPOT_SECTION\n1\nNODE_COORD_SECTION\n4 3 0\n3 2 0\n2 1 0\n"
                  "1 0 0\n",
        /* the depot is a node in the middle: it comes first all the same */
        CVRP_HEAD "NODE_COORD_SECTION\n10 1 0\n11 2 0\n12 0 0\n13 3 0\nDEMAND_SECTION\n10 5\n11 10\n12 0\n13 "
                  "7\nDEPOT_SECTION\n12\n-1\n",
    };
    static const int32_t demand[] = {0, 5, 10, 7};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        invit_instance *p = read_good(same[i]);
        assert_int_equal(p->problem, INVIT_CVRP);
        assert_int_equal(p->capacity, 10);
        for (int k = 0; k < 4; k++) {
            assert_true(p->xy[2 * k] == k && p->xy[2 * k + 1] == 0);
            assert_int_equal(p->demand[k], demand[k]);
        }
        invit_instance_destroy(p);
    }
}

typedef struct bad {
    const char *text;
    invit_status status;
    const char *message; /* must occur in the message */
} bad;

static void refuse_all(const bad *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        invit_instance *p;
        invit_error err;
        invit_status status = read_bytes(cases[i].text, strlen(cases[i].text), &p, &err);
        if (status != cases[i].status || !strstr(err.message, cases[i].message) ||
            strncmp(err.message, "f:", 2) != 0)
            fail_msg("%s\ngave status %d '%s', expected status %d with '%s'", cases[i].text, status,
                     err.message, cases[i].status, cases[i].message);
        assert_null(p);
    }
}

#define TSP_HEAD  "NAME: t\nTYPE: TSP\nDIMENSION: 3\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n"
#define CVRP_TAIL CVRP_COORDS CVRP_DEMAND "DEPOT_SECTION\n1\n-1\n"

static void bad_tsplib_files_are_refused_with_a_reason(void **state)
{
    (void)state;
    static const bad cases[] = {
        {"", INVIT_ERR_INPUT, "f:1: expected an instance, found an empty file"},
        {"NAME: t\n", INVIT_ERR_INPUT, "f:2: expected a NODE_COORD_SECTION"},
        {TSP_HEAD "1 0 0\n2 3 4\n", INVIT_ERR_INPUT, "f:8: expected 3 nodes (DIMENSION), found 2"},
        {TSP_HEAD "1 0 0\n2 3 4\nEOF\n", INVIT_ERR_INPUT, "f:8: expected 3 nodes (DIMENSION), found 2"},
        {TSP_HEAD "1 0 0\n2 3 4\n3 3 0\n4 1 1\n", INVIT_ERR_INPUT,
         "f:9: expected a keyword or EOF after 3 nodes"},
        {TSP_HEAD "1 0 0\n2 3\n3 3 0\n", INVIT_ERR_INPUT,
         "f:7: expected a y coordinate, found the end of the line"},
        {TSP_HEAD "1 0 0\n2\n3 3 0\n", INVIT_ERR_INPUT,
         "f:7: expected an x coordinate, found the end of the line"},
        {TSP_HEAD "1 0 0\n2 3 4 5\n3 3 0\n", INVIT_ERR_INPUT,
         "f:7: expected the end of the line after two coordinates, found '5'"},
        {TSP_HEAD "1 0 0\n2 nan 4\n3 3 0\n", INVIT_ERR_INPUT, "f:7: expected an x coordinate, found 'nan'"},
        {TSP_HEAD "1 0 0\n2 3 -inf\n3 3 0\n", INVIT_ERR_INPUT, "f:7: expected a y coordinate, found '-inf'"},
        {TSP_HEAD "1 0 0\n2 3 1e999\n3 3 0\n", INVIT_ERR_INPUT,
         "f:7: expected a y coordinate within the range of numbers, found '1e999'"},
        {TSP_HEAD "1 0 0\n2 3x 4\n3 3 0\n", INVIT_ERR_INPUT, "f:7: expected an x coordinate, found '3x'"},
        {TSP_HEAD "1 0 0\n2 3 4\n2 3 0\n", INVIT_ERR_INPUT, "f:8: duplicate node id 2"},
        {TSP_HEAD "1 0 0\n2 3 4\n4 3 0\n", INVIT_ERR_INPUT,
         "f:8: node id 4 in NODE_COORD_SECTION: expected the ids 1..3"},
        {TSP_HEAD "1 0 0\n-2 3 4\n3 3 0\n", INVIT_ERR_INPUT, "f:7: expected a node id"},
        {TSP_HEAD "1 0 0\n99999999999999999999 3 4\n3 3 0\n", INVIT_ERR_INPUT, "f:7: expected a node id"},
        {TSP_HEAD "1 0 0\n1.5 3 4\n3 3 0\n", INVIT_ERR_INPUT, "f:7: expected a node id"},
        {TSP_HEAD TSP_HEAD "1 0 0\n2 3 4\n3 3 0\n", INVIT_ERR_INPUT, "f:6: expected 3 nodes"},
        {TSP_HEAD "1 0 0\n2 3 4\n3 3 0\nNODE_COORD_SECTION\n1 0 0\n", INVIT_ERR_INPUT,
         "f:9: NODE_COORD_SECTION appears twice"},
        {"DIMENSION: 99999999999999999999\n", INVIT_ERR_INPUT,
         "f:1: DIMENSION '99999999999999999999': expected an integer from 1"},
        {"DIMENSION: 4294967297\n", INVIT_ERR_INPUT, "f:1: DIMENSION '4294967297'"},
        {"DIMENSION: 2147483648\n", INVIT_ERR_INPUT, "f:1: DIMENSION '2147483648'"},
        {"DIMENSION: 0\n", INVIT_ERR_INPUT, "f:1: DIMENSION '0'"},
        {"DIMENSION: -5\n", INVIT_ERR_INPUT, "f:1: DIMENSION '-5'"},
        {"DIMENSION: 5.5\n", INVIT_ERR_INPUT, "f:1: DIMENSION '5.5'"},
        {"DIMENSION:\n", INVIT_ERR_INPUT, "f:1: DIMENSION ''"},
        {"DIMENSION: 5\nDIMENSION: 6\n", INVIT_ERR_INPUT, "f:2: DIMENSION is given twice"},
        {"DIMENSION: 1000000000\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n1 0 0\n", INVIT_ERR_INPUT,
         "f:5: expected 1000000000 nodes"},
        {"NAME: t\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n1 0 0\n", INVIT_ERR_INPUT,
         "f:5: expected DIMENSION"},
        {"NAME: t\nDIMENSION: 1\nNODE_COORD_SECTION\n1 0 0\n", INVIT_ERR_INPUT,
         "f:5: expected EDGE_WEIGHT_TYPE"},
        {"TYPE: HCP\n", INVIT_ERR_UNSUPPORTED, "f:1: TYPE HCP: expected TSP, ATSP, CVRP or VRPTW"},
        {"TYPE: TOUR\n", INVIT_ERR_UNSUPPORTED, "f:1: TYPE TOUR is a solution"},
        {"DIMENSION: 3\nEDGE_WEIGHT_TYPE: EXPLICIT\n", INVIT_ERR_INPUT,
         "f:3: expected an EDGE_WEIGHT_SECTION"},
        {"EDGE_WEIGHT_FORMAT: UPPER\n", INVIT_ERR_UNSUPPORTED,
         "f:1: EDGE_WEIGHT_FORMAT UPPER: expected FULL_MATRIX"},
        {MATRIX_HEAD "FULL_MATRIX\nEDGE_WEIGHT_SECTION\n0 1 2\n3 0\n", INVIT_ERR_INPUT,
         "f:7: expected 9 numbers in EDGE_WEIGHT_SECTION (FULL_MATRIX of 3 nodes), found 5"},
        {MATRIX_HEAD "UPPER_ROW\nEDGE_WEIGHT_SECTION\n1 2\nx\n", INVIT_ERR_INPUT,
         "f:6: expected a number in EDGE_WEIGHT_SECTION, found 'x'"},
        {MATRIX_HEAD "UPPER_ROW\nEDGE_WEIGHT_SECTION\n1 2 3 4\n", INVIT_ERR_INPUT,
         "f:5: expected a keyword or EOF after the matrix, found '4'"},
        {MATRIX_HEAD "UPPER_ROW\nEDGE_WEIGHT_SECTION\n1 -2 3\n", INVIT_ERR_INPUT,
         "f: distance from node 0 to node 2: expected a number from 0 to 1e+15, found -2"},
        {"EDGE_WEIGHT_TYPE: MAN_2D\n", INVIT_ERR_UNSUPPORTED,
         "f:1: EDGE_WEIGHT_TYPE MAN_2D: expected EUC_2D"},
        {"EDGE_WEIGHT_SECTION\n0 1\n", INVIT_ERR_INPUT, "f:1: expected DIMENSION, EDGE_WEIGHT_TYPE"},
        {"NODE_COORD_TYPE: THREED_COORDS\n", INVIT_ERR_UNSUPPORTED, "f:1: NODE_COORD_TYPE"},
        {"FIXED_EDGES_SECTION\n1 2\n-1\n", INVIT_ERR_UNSUPPORTED, "f:1: FIXED_EDGES_SECTION: edges"},
        {"NAME: t\n{}\n", INVIT_ERR_INPUT, "f:2: expected a TSPLIB keyword, found '{}'"},
        {"hello world\n", INVIT_ERR_UNSUPPORTED, "f:1: hello: expected a TSPLIB keyword"},
        {"DISTANCE: far\n" CVRP_HEAD CVRP_TAIL, INVIT_ERR_INPUT, "f:1: DISTANCE 'far'"},
        {"SERVICE_TIME: -1\n" CVRP_HEAD CVRP_TAIL, INVIT_ERR_INPUT, "f:1: SERVICE_TIME '-1'"},
        {CVRP_HEAD "TIME_WINDOW_SECTION\n1 0 9\n2 5 3\n3 0 9\n4 0 9\n" CVRP_TAIL, INVIT_ERR_INPUT,
         "f:8: window of node 2: closes at 3, before it opens, at 5"},
        {CVRP_HEAD "TIME_WINDOW_SECTION\n1 0 9\n2 5\n", INVIT_ERR_INPUT, "f:8: expected a time"},
        {CVRP_HEAD "SERVICE_TIME_SECTION\n1 0\n2 -5\n", INVIT_ERR_INPUT,
         "f:8: expected a service time from 0 to 1e15 for node 2"},
        {CVRP_HEAD CVRP_COORDS CVRP_DEMAND "DEPOT_SECTION\n1\n2\n-1\n", INVIT_ERR_UNSUPPORTED,
         "f:18: more than one depot"},
        {CVRP_HEAD CVRP_COORDS CVRP_DEMAND "DEPOT_SECTION\n-1\n", INVIT_ERR_INPUT, "DEPOT_SECTION"},
        {CVRP_HEAD CVRP_COORDS CVRP_DEMAND "DEPOT_SECTION\n9\n-1\n", INVIT_ERR_INPUT,
         "f:17: depot 9: expected one of the nodes 1..4"},
        {CVRP_HEAD CVRP_COORDS CVRP_DEMAND, INVIT_ERR_INPUT, "f:16: expected a DEPOT_SECTION"},
        {CVRP_HEAD CVRP_COORDS "DEPOT_SECTION\n1\n-1\n", INVIT_ERR_INPUT, "expected a DEMAND_SECTION"},
        {"TYPE: CVRP\nDIMENSION: 4\nEDGE_WEIGHT_TYPE: EUC_2D\n" CVRP_TAIL, INVIT_ERR_INPUT,
         "expected CAPACITY"},
        {"CAPACITY: 0\n", INVIT_ERR_INPUT, "f:1: CAPACITY '0'"},
        {CVRP_HEAD CVRP_COORDS "DEMAND_SECTION\n1 0\n2 5\n3 9.12345678\n4 7\nDEPOT_SECTION\n1\n-1\n",
         INVIT_ERR_UNSUPPORTED, "f: stop 2: demands and capacity are counted in whole units"},
        {CVRP_HEAD CVRP_COORDS "DEMAND_SECTION\n1 0\n2 5\n3 -1\n4 7\n", INVIT_ERR_INPUT,
         "f:14: expected a demand from 0"},
        {CVRP_HEAD CVRP_COORDS "DEMAND_SECTION\n1 0\n2 5\n3 9e99\n4 7\n", INVIT_ERR_INPUT,
         "f:14: expected a demand from 0"},
        {CVRP_HEAD CVRP_COORDS "DEMAND_SECTION\n1 0\n2 5\n3 11\n4 7\nDEPOT_SECTION\n1\n-1\n", INVIT_ERR_INPUT,
         "f:14: demand 11 of node 3: expected at most the capacity, 10"},
        {CVRP_HEAD CVRP_COORDS "DEMAND_SECTION\n1 3\n2 5\n3 1\n4 7\nDEPOT_SECTION\n1\n-1\n", INVIT_ERR_INPUT,
         "f:12: demand 3 of the depot"},
        {CVRP_HEAD CVRP_COORDS "DEMAND_SECTION\n1 0\n2 5\n2 1\n4 7\nDEPOT_SECTION\n1\n-1\n", INVIT_ERR_INPUT,
         "f:14: duplicate node id 2 in DEMAND_SECTION"},
        {CVRP_HEAD CVRP_COORDS "DEMAND_SECTION\n1 0\n2 5\n4 7\nDEPOT_SECTION\n1\n-1\n", INVIT_ERR_INPUT,
         "f:11: node id 3 is missing from DEMAND_SECTION"},
        {CVRP_HEAD CVRP_COORDS "DEMAND_SECTION\n1 0\n2 5\n3 1\n4 7\n5 1\n", INVIT_ERR_INPUT,
         "f:16: expected a keyword or EOF after 4 demands"},
    };
    refuse_all(cases, sizeof cases / sizeof *cases);
}

/* ---- MSVDRP, lists ------------------------------------------------------------------------------------- */

static void msvdrp_files_hold_many_instances(void **state)
{
    (void)state;
    static const char text[] = "0.5,0.25 1,1 0,0\n\n1e-3,2 .|. 3,4 5,6 7,8 .|. 1 2.0 3 .|. 50\r\n7,7 8,8";
    invit_reader *r;
    invit_instance *p;
    invit_error err;
    assert_int_equal(invit_reader_open_memory(text, sizeof text - 1, "dir/set.txt", &r, &err), INVIT_OK);
    assert_int_equal(invit_reader_format(r), INVIT_FORMAT_MSVDRP);
    assert_int_equal(invit_reader_next(r, &p, &err), INVIT_OK);
    assert_int_equal(p->n, 3);
    assert_string_equal(p->name, "set#0");
    assert_int_equal(p->metric, INVIT_EXACT);
    assert_true(p->xy[0] == 0.5 && p->xy[1] == 0.25 && p->xy[4] == 0);
    invit_instance_destroy(p);
    assert_int_equal(invit_reader_next(r, &p, &err), INVIT_OK);
    assert_int_equal(p->problem, INVIT_CVRP);
    assert_int_equal(p->n, 4);
    assert_int_equal(p->capacity, 50);
    assert_true(p->xy[0] == 1e-3 && p->xy[7] == 8);
    assert_int_equal(p->demand[2], 2);
    invit_instance_destroy(p);
    assert_int_equal(invit_reader_next(r, &p, &err), INVIT_OK);
    assert_string_equal(p->name, "set#2");
    invit_instance_destroy(p);
    assert_int_equal(invit_reader_next(r, &p, &err), INVIT_OK);
    assert_null(p);
    invit_reader_close(r);
}

static void lists_may_use_blanks_or_commas(void **state)
{
    (void)state;
    static const char *const same[] = {"1 2\n3 4\n",
                                       "1,2\n3,4",
                                       "1, 2\r\n3 ,4\r\n",
                                       "# nodes\n\n  1\t2 \n# more\n3   4\n\n",
                                       "1.0 2e0\n+3 .4e1",
                                       "# x,y\n1,2\n3,4\n",
                                       "# all nodes, x, y\n1 2\n3 4\n",
                                       "#\tx\ty\n1\t2\n3\t4\n",
                                       "1 2\r3 4\r"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        invit_instance *p = read_good(same[i]);
        assert_int_equal(p->n, 2);
        for (int k = 0; k < 4; k++) assert_true(p->xy[k] == k + 1);
        invit_instance_destroy(p);
    }
}

static void bad_lists_are_refused_with_a_reason(void **state)
{
    (void)state;
    static const bad cases[] = {
        {"1 2\n3\n", INVIT_ERR_INPUT, "f:2: expected a y coordinate, found the end of the line"},
        {"1 2\n3 4 5\n", INVIT_ERR_INPUT,
         "f:2: expected the end of the line after two coordinates, found '5'"},
        {"1 2\nnan 4\n", INVIT_ERR_INPUT, "f:2: expected an x coordinate, found 'nan'"},
        {"1 2\n3 inf\n", INVIT_ERR_INPUT, "f:2: expected a y coordinate"},
        {"1 2\n3e18 4\n", INVIT_ERR_INPUT, "f:2: expected an x coordinate from -1e+18 to 1e+18"},
        {"0 0\n1e-170 0\n0 1e-170\n", INVIT_ERR_INPUT,
         "all nodes are within 1e-170 of the first: expected coordinates at least 1e-140 apart"},
        {"1 2\n3 1e400\n", INVIT_ERR_INPUT, "f:2: expected a y coordinate within the range"},
        {"# nothing\n", INVIT_ERR_INPUT, "f:2: expected nodes"},
        {"\n\n  \n", INVIT_ERR_INPUT, "expected nodes"},
        {"1,2 3,4 5\n", INVIT_ERR_INPUT, "f:1: expected a comma between x and y, found the end of the line"},
        {"1,2 3,4 x,5\n", INVIT_ERR_INPUT, "f:1: expected a node x,y, found 'x,5'"},
        {"-2e18,1 2,3\n", INVIT_ERR_INPUT, "f:1: expected a node x,y from -1e+18 to 1e+18, found '-2e18,1'"},
        {"1,2 3,-2e18\n", INVIT_ERR_INPUT,
         "f:1: expected a y coordinate from -1e+18 to 1e+18, found '-2e18'"},
        {"1,2 3,nan\n", INVIT_ERR_INPUT, "f:1: expected a y coordinate, found 'nan'"},
        {"1,2 .|. 3,4\n", INVIT_ERR_INPUT, "f:1: expected '.|.' after the customers"},
        {"1,2 .|. 3,4 .|. 1 2 .|. 5\n", INVIT_ERR_INPUT,
         "f:1: expected '.|.' after as many demands as customers, found '2'"},
        {"1,2 .|. 3,4 5,6 .|. 1 .|. 5\n", INVIT_ERR_INPUT,
         "f:1: expected 2 demands, one per customer, found 1"},
        {"1,2 .|. 3,4 5,6 .|.\n", INVIT_ERR_INPUT, "f:1: expected 2 demands, one per customer, found 0"},
        {"1,2 .|. 3,4 .|. 1.5 .|. 5\n", INVIT_ERR_INPUT, "f:1: expected a demand: a whole number"},
        {"1,2 .|. 3,4 .|. 6 .|. 5\n", INVIT_ERR_INPUT,
         "f:1: demand 6 of customer 1: expected at most the capacity, 5"},
        {"1,2 .|. 3,4 .|. 1 .|. 0\n", INVIT_ERR_INPUT, "f:1: expected a capacity"},
        {"1,2 .|. 3,4 .|. 1 .|.\n", INVIT_ERR_INPUT, "f:1: expected a capacity"},
        {"1,2 .|. 3,4 .|. 1 .|. 5 6\n", INVIT_ERR_INPUT,
         "f:1: expected the end of the line after the capacity"},
        {"1,2 .|. 3,4 .|. 99999999999 .|. 5\n", INVIT_ERR_INPUT, "f:1: expected a demand"},
        {"\x01\x02\x03", INVIT_ERR_INPUT, "f:1: expected"},
    };
    refuse_all(cases, sizeof cases / sizeof *cases);
}

/* ---- every format, through files and pipes ------------------------------------------------------------- */

/* Larger than the reader's buffer, so that every kind of boundary falls somewhere in a number. */
static void large_files_come_back_as_they_were(void **state)
{
    (void)state;
    char path[64] = "/tmp/invit-read-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    for (int problem = 0; problem < 2; problem++)
        for (int format = INVIT_FORMAT_TSPLIB; format <= INVIT_FORMAT_MSVDRP; format++)
            for (int through_pipe = 0; through_pipe < 2; through_pipe++) {
                invit_instance *p, *q;
                invit_writer *w;
                invit_error err;
                assert_int_equal(invit_generate((invit_problem)problem, INVIT_CLUSTERED, 30000 + 7 * format,
                                                5, 1, &p, &err),
                                 INVIT_OK);
                assert_int_equal(invit_writer_open(path, &w, &err), INVIT_OK);
                assert_int_equal(invit_writer_instance(w, p, (invit_format)format, &err), INVIT_OK);
                assert_int_equal(invit_writer_close(w, &err), INVIT_OK);
                if (through_pipe) {
                    char command[128], from[64];
                    snprintf(command, sizeof command, "dd status=none bs=1777 if=%s", path);
                    FILE *pipe = popen(command, "r");
                    snprintf(from, sizeof from, "/dev/fd/%d", fileno(pipe));
                    assert_int_equal(invit_instance_read(from, 0, &q, &err), INVIT_OK);
                    pclose(pipe);
                } else {
                    assert_int_equal(invit_instance_read(path, 0, &q, &err), INVIT_OK);
                }
                assert_int_equal(p->n, q->n);
                assert_int_equal(p->problem, q->problem);
                assert_int_equal(p->capacity, q->capacity);
                assert_int_equal(p->metric, q->metric);
                assert_memory_equal(p->xy, q->xy, 2 * sizeof(double) * (size_t)p->n);
                if (p->demand) assert_memory_equal(p->demand, q->demand, sizeof(int32_t) * (size_t)p->n);
                invit_instance_destroy(p);
                invit_instance_destroy(q);
            }
    unlink(path);
}

/* ---- by several threads -------------------------------------------------------------------------------- */

enum { MANY = 220000 }; /* lines: more than one block of 4 MB */

/* A file with `lines` lines of coordinates, of which line `odd` is another one. */
static char *write_many(const char *head, bool ids, const char *between, const char *end, int odd,
                        const char *instead, const char *tail)
{
    char *text = malloc((size_t)MANY * 48 + 400), *at = text;
    at += sprintf(at, "%s", head);
    for (int i = 0; i < MANY; i++) {
        if (i == odd) {
            at += sprintf(at, "%s", instead);
            continue;
        }
        if (ids) at += sprintf(at, "%d ", i + 1);
        at += sprintf(at, "%d.%d%s%d.5e1%s", i % 1000, i, between, i, end);
    }
    sprintf(at, "%s", tail);
    return text;
}

static invit_status read_by(int threads, const char *text, invit_instance **p, invit_error *err)
{
    invit_reader *r = NULL;
    *p = NULL;
    err->message[0] = 0;
    assert_int_equal(invit_reader_open_memory(text, strlen(text), "f", &r, err), INVIT_OK);
    if (threads > 0) invit_reader_set_threads(r, threads);
    invit_status status = invit_reader_next(r, p, err);
    invit_reader_close(r);
    return status;
}

/* Threads read what one does, and say the same of what is wrong. */
static void threads_read_the_same(void **state)
{
    (void)state;
#define HEAD(n) "DIMENSION: " #n "\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n"
    static const struct {
        const char *head, *between, *end, *instead, *tail;
        bool ids, good;
    } cases[] = {
        {HEAD(220000), " ", "\n", "210000 1 2\n", "EOF\n", true, true},
        {HEAD(220000), "\t", " \r\n", "  210000\t1\t 2\r\n", "", true, true},
        {HEAD(220000), " ", "\n", "\n\n210000 1 2\n", "EOF\n", true, true},
        {HEAD(220000), " ", "\n", "210000 1 2\n", "7 7 7\n", true, false},
        {HEAD(220000), " ", "\n", "209999 1 2\n", "EOF\n", true, false},
        {HEAD(220000), " ", "\n", "210000 1 2 3\n", "EOF\n", true, false},
        {HEAD(220000), " ", "\n", "210000 1\n", "EOF\n", true, false},
        {HEAD(220000), " ", "\n", "210000 1 2x\n", "EOF\n", true, false},
        {HEAD(220000), " ", "\n", "210000 1 1e301\n", "EOF\n", true, false},
        {HEAD(219999), " ", "\n", "210000 1 2\n", "EOF\n", true, false},
        {HEAD(220001), " ", "\n", "210000 1 2\n", "EOF\n", true, false},
        {HEAD(220001), " ", "\n", "210000 1 2\n", "220001 1 2", true, true},
        {"", " ", "\n", "1 2\n", "", false, true},
        {"", ",", "\r\n", "1 , 2\r\n", "5 6", false, true},
        {"# list\n", " ", "\n", "# remark\n", "", false, true},
        {"", ",", "\n", "1,,2\n", "", false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = write_many(cases[i].head, cases[i].ids, cases[i].between, cases[i].end, 209999,
                                cases[i].instead, cases[i].tail);
        invit_instance *p[2];
        invit_error err[2];
        for (int k = 0; k < 2; k++)
            assert_int_equal(read_by(3 * k, text, &p[k], &err[k]) == INVIT_OK, cases[i].good);
        assert_string_equal(err[0].message, err[1].message);
        if (cases[i].good) {
            assert_in_range(p[0]->n, MANY - 1, MANY + 1);
            assert_int_equal(p[0]->n, p[1]->n);
            assert_int_equal(p[0]->first_id, p[1]->first_id);
            assert_memory_equal(p[0]->xy, p[1]->xy, 2 * sizeof(double) * (size_t)p[0]->n);
        }
        for (int k = 0; k < 2; k++) invit_instance_destroy(p[k]);
        free(text);
    }
}

static void files_that_cannot_be_read_are_named(void **state)
{
    (void)state;
    invit_instance *p;
    invit_error err;
    assert_int_equal(invit_instance_read("/no/such/file", 0, &p, &err), INVIT_ERR_IO);
    assert_non_null(strstr(err.message, "/no/such/file: cannot open: No such file"));
    assert_int_equal(invit_instance_read("/tmp", 0, &p, &err), INVIT_ERR_IO);
    assert_non_null(strstr(err.message, "/tmp: is a directory"));
    assert_int_equal(invit_instance_read(TEST_DATA "/triangle.tsp", 1, &p, &err), INVIT_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "no instance 1: the file holds 1"));
    assert_int_equal(invit_instance_read(TEST_DATA "/triangle.tsp", -1, &p, &err), INVIT_ERR_ARGUMENT);
}

/* ---- the libraries' own files -------------------------------------------------------------------------- */

static int read_folder(const char *folder)
{
    DIR *d = opendir(folder);
    if (!d) return 0;
    int count = 0;
    for (struct dirent *e; (e = readdir(d));) {
        if (e->d_name[0] == '.') continue;
        char path[1024];
        invit_instance *p;
        invit_error err;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (invit_instance_read(path, 0, &p, &err) != INVIT_OK) fail_msg("%s", err.message);
        assert_memory_equal(p->name, e->d_name, strlen(p->name));
        count++;
        invit_instance_destroy(p);
    }
    closedir(d);
    return count;
}

static void library_files_all_read(void **state)
{
    (void)state;
    int count = read_folder(TEST_LIBRARIES "/tsplib") + read_folder(TEST_LIBRARIES "/cvrplib");
    assert_true(count >= 30);
}

static void canonical_tours_have_their_known_lengths(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        double length;
    } known[] = {{TEST_LIBRARIES "/tsplib/berlin52.tsp", 22205},
                 {TEST_LIBRARIES "/tsplib/pcb442.tsp", 221440}};
    for (int i = 0; i < 2; i++) {
        invit_instance *p;
        invit_solution *s;
        invit_check_result result;
        assert_int_equal(invit_instance_read(known[i].path, 0, &p, NULL), INVIT_OK);
        assert_int_equal(inv_solution_alloc(1, p->n, &s, NULL), INVIT_OK);
        for (int32_t v = 0; v < p->n; v++) s->nodes[v] = v;
        s->start[1] = p->n;
        assert_int_equal(invit_check(p, s, &result, NULL), INVIT_OK);
        assert_true(result.feasible && result.length == known[i].length);
        invit_solution_destroy(s);
        invit_instance_destroy(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variants_of_one_tsplib_file_read_alike),
        cmocka_unit_test(every_metric_is_known),
        cmocka_unit_test(names_are_utf8),
        cmocka_unit_test(cvrp_sections_come_in_any_order),
        cmocka_unit_test(bad_tsplib_files_are_refused_with_a_reason),
        cmocka_unit_test(msvdrp_files_hold_many_instances),
        cmocka_unit_test(lists_may_use_blanks_or_commas),
        cmocka_unit_test(bad_lists_are_refused_with_a_reason),
        cmocka_unit_test(large_files_come_back_as_they_were),
        cmocka_unit_test(threads_read_the_same),
        cmocka_unit_test(files_that_cannot_be_read_are_named),
    };
    /* where the libraries' own files are at hand; test_library has instances of ours with proven lengths */
    const struct CMUnitTest libraries[] = {
        cmocka_unit_test(library_files_all_read),
        cmocka_unit_test(canonical_tours_have_their_known_lengths),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (access(TEST_LIBRARIES "/tsplib", R_OK) == 0) failed += cmocka_run_group_tests(libraries, NULL, NULL);
    return failed;
}
