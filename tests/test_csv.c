/* Tables as spreadsheets write them, and great circles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/longitude.h"
#include "base/names.h"
#include "problem/problem.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static invit_status read_table(const char *text, int64_t capacity, invit_instance **p, invit_error *err)
{
    invit_reader *r = NULL;
    *p = NULL;
    invit_status status = invit_reader_open_memory(text, strlen(text), "f", &r, err);
    if (status == INVIT_OK) {
        assert_int_equal(invit_reader_format(r), INVIT_FORMAT_CSV);
        invit_reader_set_capacity(r, capacity);
        status = invit_reader_next(r, p, err);
    }
    invit_reader_close(r);
    return status;
}

static void tables_of_every_dialect_read_alike(void **state)
{
    (void)state;
    static const char *const same[] = {
        "x,y\n1.5,2\n-3,4e1\n",
        "x;y\n1,5;2\n-3;40\n",
        "x;y\n1.5;2\n-3;40\n",
        "\xef\xbb\xbfX,Y\r\n1.5,2\r\n-3,40\r\n",
        "\"x\",\"y\"\n\"1,5\",\"2\"\n\"-3\",40\n",
        "x\ty\n1,5\t2\n-3\t40\n",
        "# made by hand\n\nid, x , y ,note\nA,1.5,2,\"says \"\"hi\"\", twice\"\n\n\"B, or C\", -3 ,40,\n",
        "y,unused,x\n2,,1.5\n40,7,-3",
        "x,y\n1.5,2,,\n-3,40,\n",
        "z\tx\ty\n\t1.5\t2\n\t-3\t40\n",
        "sep=;\nx;y\n1,5;2\n-3;40\n",
        "x;y;z\n1,5;2;\n;;\n-3;40;\n;;\n ;;\n",
        "note,x,y\n\"two\nlines, \"\"quoted\"\"\n\",1.5,2\n5\" wide,-3,40\n",
        "x,y,lat\n1.5,2,none\n-3,40,\n",
        "x,\"a note\r\nof two lines\",y\r\n1.5,,2\r\n-3,\"and\r\nanother\",40\r\n",
        /* a first column of any name, or of none */
        ",x,y\n0,1.5,2\n1,-3,40\n",
        "\tx\ty\n0\t1.5\t2\n1\t-3\t40\n",
        "Customer name,X,Y\nA,1.5,2\nB,-3,40\n",
        "Stra\303\237e,x,y\nA,1.5,2\nB,-3,40\n",
        "x-coord;x;y\n1;1,5;2\n2;-3;40\n",
        "#,x,y\n1,1.5,2\n2,-3,40\n",
        "# a remark, and more\n\n#;y;\"x\"\n1;2;1,5\n2;40;-3\n",
        "nr|x|y\n1|1,5|2\n2|-3|40\n",
        /* what stands in quotes separates nothing */
        "\"title; notes\",x,y\nA,1.5,2\nB,-3,40\n",
        "\"title; \"\"x\"\"; x\nor y\",\"x\",y\nA,1.5,2\nB,-3,40\n",
        "title; notes,x,y\nA,1.5,2\nB,-3,40\n",
        /* old Macs, DOS */
        "x,y\r1.5,2\r-3,40\r",
        "x,y\r\n1.5,2\r\n-3,40\r\n\x1a",
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        invit_instance *p;
        invit_error err;
        if (read_table(same[i], 0, &p, &err) != INVIT_OK) fail_msg("%s: %s", same[i], err.message);
        assert_int_equal(p->problem, INVIT_TSP);
        assert_int_equal(p->metric, INVIT_EXACT);
        assert_int_equal(p->n, 2);
        assert_true(p->xy[0] == 1.5 && p->xy[1] == 2 && p->xy[2] == -3 && p->xy[3] == 40);
        if (i == 6) {
            assert_string_equal(invit_instance_label(p, 0), "A");
            assert_string_equal(invit_instance_label(p, 1), "B, or C");
        } else {
            assert_null(invit_instance_label(p, 0));
        }
        invit_instance_destroy(p);
    }
}

static void places_are_measured_on_the_globe(void **state)
{
    (void)state;
    invit_instance *p;
    invit_check_result r;
    invit_solution *s;
    assert_int_equal(read_table("id;lat;lon\nParis;48,8566;2,3522\nBerlin;52,52;13,405\n", 0, &p, NULL),
                     INVIT_OK);
    assert_int_equal(p->metric, INVIT_HAVERSINE);
    assert_true(p->xy[0] == 2.3522 && p->xy[1] == 48.8566);
    assert_int_equal(invit_solution_create((int32_t[]){0, 1}, (int32_t[]){0, 2}, 1, &s, NULL), INVIT_OK);
    assert_int_equal(invit_check(p, s, &r, NULL), INVIT_OK);
    assert_true(fabs(r.length / 2 - 877464) < 100); /* Paris - Berlin, 877 km */
    invit_solution_destroy(s);
    invit_instance_destroy(p);
}

static void tables_with_demands_have_the_depot_first(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t capacity;
    } same[] = {{"x,y,demand\n0,0,0\n1,1,3\n2,2,4\n", 10},
                {"x,y,demand\n0,0,\n1,1,3\n2,2,4.0\n", 10},
                {"x,y,demand,capacity\n0,0,0,10\n1,1,3,\n2,2,4,\n", 0},
                {"capacity;demand;x;y\n10;;0;0\n10;3;1;1\n10;4;2;2\n", 0}};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        invit_instance *p;
        invit_error err;
        if (read_table(same[i].text, same[i].capacity, &p, &err) != INVIT_OK)
            fail_msg("%s: %s", same[i].text, err.message);
        assert_int_equal(p->problem, INVIT_CVRP);
        assert_int_equal(p->capacity, 10);
        assert_memory_equal(p->demand, ((int32_t[]){0, 3, 4}), sizeof(int32_t[3]));
        invit_instance_destroy(p);
    }
}

static void labels_are_utf8(void **state)
{
    (void)state;
    static const char *const tables[] = {
        "id,x,y\nB\xe4"
        "ckerei \x93Zopf\x94 \x80,1,2\nZ\xc3\xbcrich,3,4\n", /* Windows-1252, UTF-8 */
        "id,x,y\r\n\"B\xc3\xa4"
        "ckerei\r\n\xe2\x80\x9cZopf\xe2\x80\x9d \xe2\x82\xac\",1,2\nZ\xc3\xbcrich,3,4\n"};
    for (int i = 0; i < 2; i++) {
        invit_instance *p;
        invit_error err;
        assert_int_equal(read_table(tables[i], 0, &p, &err), INVIT_OK);
        assert_string_equal(invit_instance_label(p, 0), "B\xc3\xa4"
                                                        "ckerei \xe2\x80\x9cZopf\xe2\x80\x9d \xe2\x82\xac");
        assert_string_equal(invit_instance_label(p, 1), "Z\xc3\xbcrich");
        invit_instance_destroy(p);
    }
}

/* A lone x beside lat,lon is something else. */
static void other_columns_do_not_count(void **state)
{
    (void)state;
    invit_instance *p;
    invit_error err;
    assert_int_equal(read_table("id,lat,lon,x\nA,47.1,8.5,no number\nB,47.2,8.6,3\n", 0, &p, &err), INVIT_OK);
    assert_int_equal(p->metric, INVIT_HAVERSINE);
    assert_true(p->xy[0] == 8.5 && p->xy[1] == 47.1);
    invit_instance_destroy(p);
}

static void bad_tables_are_refused_with_a_reason(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"a,b\n1,2\n", "f:1: expected a header with the columns x,y or lat,lon"},
        {"x,lat\n1,2\n", "f:1: expected a header with the columns"},
        {"Stra\xc3\x9f"
         "e,Breite\n1,2\n",
         "f:1: expected a header with the columns"},
        {"Customer name;width\n1;2\n", "f:1: expected a header with the columns"},
        {"x,y,lat,lon\n1,2,3,4\n", "f:1: expected the columns x,y or lat,lon, found both"},
        {"x,x,y\n1,2,3\n", "f:1: column x appears twice"},
        {"x,y\n", "f:2: expected rows after the header"},
        {"x,y\n1\n", "f:2: expected 2 fields as in the header, found 1"},
        {"x,y\n1,2,3\n", "f:2: expected 2 fields as in the header, found more"},
        {"x,y\n1,2\n1,abc\n", "f:3: expected a number in column y, found 'abc'"},
        {"x,y\n1,\n", "f:2: expected a number in column y, found ''"},
        {"x,y\n1,nan\n", "f:2: expected a number in column y, found 'nan'"},
        {"x,y\n1,1e999\n", "f:2: expected a number in column y"},
        {"x;y\n1.000,5;2\n", "f:2: expected a number in column x, found '1.000,5'"},
        {"x,y\n\"1,2\n", "f:2: expected a closing quote"},
        {"x,y\n1,2\n\"1,\n2\n", "f:3: expected a closing quote"},
        {"x,y\n1,3e18\n", "f:2: expected a number in column y, found '3e18'"},
        {"PK\x03\x04 workbook", "f: a workbook or another archive: save the table as CSV"},
        {"\xff\xfex", "f: text in UTF-16"},
        {"x,y\n\"1\"2,3\n", "f:2: expected a delimiter after a closing quote"},
        {"lat,lon\n91,0\n", "f:2: expected a latitude from -90 to 90, found '91'"},
        {"lat,lon\n9,361\n", "f:2: expected a longitude from -180 to 360, found '361'"},
        {"lat,lon\n9,-181\n", "f:2: expected a longitude from -180 to 360, found '-181'"},
        {"x,y,demand\n0,0,0\n1,1,3\n", "expected the vehicles' capacity"},
        {"x,y,demand,capacity\n0,0,0,10\n1,1,11,\n", ":3: demand 11: expected at most the capacity, 10"},
        {"x,y,demand\n0,0,0\n1,1,3\n", "--capacity"},
        {"x,y,demand,capacity\n0,0,0,10\n1,1,1,9\n", "f:3: expected one capacity, found 10 and 9"},
        {"x,y,demand,capacity\n0,0,5,10\n", "f:2: demand of the depot"},
        {"x,y,demand,capacity\n0,0,0,10\n1,1,1e-9,\n", "f: stop 1: demands and capacity are counted"},
        {"x,y,demand,capacity\n0,0,0,10\n1,1,,\n", "f:3: expected a number in column demand"},
        {"x,y,demand,capacity\n0,0,0,0\n", "f:2: expected a number above 0 in column capacity"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        invit_instance *p;
        invit_error err;
        if (read_table(cases[i].text, 0, &p, &err) == INVIT_OK) fail_msg("%s was accepted", cases[i].text);
        if (!strstr(err.message, cases[i].message))
            fail_msg("%s: %s, expected %s", cases[i].text, err.message, cases[i].message);
        assert_null(p);
    }
}

static void metrics_can_be_changed(void **state)
{
    (void)state;
    double far[] = {0, 0, 500, 91};
    invit_instance *p;
    invit_error err;
    assert_int_equal(invit_instance_create_tsp(far, 2, INVIT_EXACT, &p, &err), INVIT_OK);
    assert_int_equal(invit_instance_set_metric(p, INVIT_CEIL_2D, &err), INVIT_OK);
    assert_int_equal(p->metric, INVIT_CEIL_2D);
    assert_int_equal(invit_instance_set_metric(p, INVIT_HAVERSINE, &err), INVIT_ERR_INPUT);
    assert_non_null(strstr(err.message, "latitude"));
    assert_int_equal(p->metric, INVIT_CEIL_2D);
    p->xy[2] = 541, p->xy[3] = 0;
    assert_int_equal(invit_instance_set_metric(p, INVIT_HAVERSINE, &err), INVIT_ERR_INPUT);
    assert_non_null(strstr(err.message, "a longitude (x) from -540 to 540"));
    assert_int_equal(invit_instance_set_metric(p, (invit_metric)9, &err), INVIT_ERR_ARGUMENT);
    invit_instance_destroy(p);
    assert_string_equal(inv_metric_name(INVIT_HAVERSINE), "haversine");
}

static void the_date_line_is_no_border(void **state)
{
    (void)state;
    invit_instance *p;
    /* Fiji: on both sides of 180 degrees */
    assert_int_equal(read_table("lat,lon\n-17,179.5\n-17,-179.5\n-18,-179\n-18,178\n", 0, &p, NULL),
                     INVIT_OK);
    assert_true(p->xy[0] == 179.5 && p->xy[2] == 180.5 && p->xy[4] == 181 && p->xy[6] == 178);
    invit_instance_destroy(p);
    assert_int_equal(read_table("lat,lon\n0,-170\n0,170\n0,0\n", 0, &p, NULL), INVIT_OK);
    assert_true(p->xy[0] == 190 && p->xy[2] == 170 && p->xy[4] == 0);
    invit_instance_destroy(p);
    /* counted eastwards from 0 to 360 */
    assert_int_equal(read_table("lat,lon\n0,359\n0,2\n0,180\n", 0, &p, NULL), INVIT_OK);
    assert_true(p->xy[0] == -1 && p->xy[2] == 2 && p->xy[4] == 180);
    invit_instance_destroy(p);
    /* elsewhere longitudes stay as they are written */
    assert_int_equal(read_table("lat,lon\n0,-20\n0,40\n0,0\n", 0, &p, NULL), INVIT_OK);
    assert_true(p->xy[0] == -20 && p->xy[2] == 40 && p->xy[4] == 0);
    invit_instance_destroy(p);
    assert_true(inv_wrap_longitude(180.5) == -179.5 && inv_wrap_longitude(-190) == 170 &&
                inv_wrap_longitude(725) == 5);
}

static char *written(const invit_instance *p, const invit_solution *s, invit_solution_format format)
{
    static char text[8192];
    char path[64] = "/tmp/invit-stops-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    invit_writer *w;
    assert_int_equal(invit_writer_open(path, &w, NULL), INVIT_OK);
    assert_int_equal(invit_writer_solution(w, p, s, format, NULL, NULL), INVIT_OK);
    assert_int_equal(invit_writer_close(w, NULL), INVIT_OK);
    close(fd);
    FILE *f = fopen(path, "r");
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    unlink(path);
    return text;
}

static void drivers_get_a_table_of_stops(void **state)
{
    (void)state;
    invit_instance *p;
    invit_solution *s;
    assert_int_equal(
        read_table("id,x,y,demand\ndepot,0,0,0\n\"Smith, J.\",3,4,2\nB,6,8,3\nC,0,1,4\n", 9, &p, NULL),
        INVIT_OK);
    assert_int_equal(invit_solution_create((int32_t[]){1, 2, 3}, (int32_t[]){0, 2, 3}, 2, &s, NULL),
                     INVIT_OK);
    assert_string_equal(written(p, s, INVIT_SOLUTION_STOPS),
                        "route,stop,node,id,x,y,demand,load,leg,distance\n"
                        "1,0,0,depot,0,0,0,0,0,0\n"
                        "1,1,1,\"Smith, J.\",3,4,2,2,5,5\n"
                        "1,2,2,B,6,8,3,5,5,10\n"
                        "1,3,0,depot,0,0,0,5,10,20\n"
                        "2,0,0,depot,0,0,0,0,0,0\n"
                        "2,1,3,C,0,1,4,4,1,1\n"
                        "2,2,0,depot,0,0,0,4,1,2\n");
    invit_solution_destroy(s);
    invit_instance_destroy(p);
}

static void maps_get_points_and_lines(void **state)
{
    (void)state;
    invit_instance *p;
    invit_solution *s;
    json_error_t error;
    assert_int_equal(
        read_table("id,lat,lon\n\"say \"\"A\"\"\",-17,179\nB,-18,-179\nC,-19,178\n", 0, &p, NULL), INVIT_OK);
    assert_int_equal(invit_solution_create((int32_t[]){0, 1, 2}, (int32_t[]){0, 3}, 1, &s, NULL), INVIT_OK);
    json_t *root = json_loads(written(p, s, INVIT_SOLUTION_GEOJSON), 0, &error);
    if (!root) fail_msg("%s", error.text);
    json_t *features = json_object_get(root, "features");
    assert_int_equal(json_array_size(features), 4);
    const char *id, *type;
    double lon, lat, length;
    int order;
    json_t *lines, *legs;
    assert_int_equal(json_unpack(json_array_get(features, 0), "{s:{s:s,s:[F,F]},s:{s:s,s:i}}", "geometry",
                                 "type", &type, "coordinates", &lon, &lat, "properties", "id", &id, "order",
                                 &order),
                     0);
    assert_string_equal(type, "Point");
    assert_string_equal(id, "say \"A\"");
    assert_true(lon == 179 && lat == -17 && order == 1);
    assert_int_equal(json_unpack(json_array_get(features, 3), "{s:{s:o},s:{s:F,s:o}}", "geometry",
                                 "coordinates", &lines, "properties", "length", &length, "legs", &legs),
                     0);
    /* out over the date line and back: three pieces, cut at 180 half way between 179 and -179 */
    assert_int_equal(json_array_size(lines), 3);
    assert_int_equal(json_array_size(legs), 3);
    assert_int_equal(json_unpack(json_array_get(json_array_get(lines, 0), 1), "[F,F]", &lon, &lat), 0);
    assert_true(lon == 180 && lat == -17.5);
    assert_int_equal(json_unpack(json_array_get(json_array_get(lines, 1), 0), "[F,F]", &lon, &lat), 0);
    assert_true(lon == -180 && lat == -17.5);
    invit_check_result check;
    assert_int_equal(invit_check(p, s, &check, NULL), INVIT_OK);
    assert_true(fabs(check.length - length) < 1e-6 * length);
    json_decref(root);
    invit_solution_destroy(s);
    invit_instance_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_of_every_dialect_read_alike),
        cmocka_unit_test(places_are_measured_on_the_globe),
        cmocka_unit_test(tables_with_demands_have_the_depot_first),
        cmocka_unit_test(labels_are_utf8),
        cmocka_unit_test(other_columns_do_not_count),
        cmocka_unit_test(bad_tables_are_refused_with_a_reason),
        cmocka_unit_test(metrics_can_be_changed),
        cmocka_unit_test(the_date_line_is_no_border),
        cmocka_unit_test(drivers_get_a_table_of_stops),
        cmocka_unit_test(maps_get_points_and_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
