/* What goes to drivers: tables in the dialect they came in, folders, maps, sheets; and remarks on places that look
 * wrong. As a user runs them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "folder.h"
#include "program.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void does_not_say(const char *text)
{
    if (strstr(output, text)) fail_msg("'%s' says '%s'", output, text);
}

static void write_file(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static const char *read_file(const char *name)
{
    static char text[65536];
    FILE *f = fopen(name, "r");
    if (!f) fail_msg("%s is not there", name);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    return text;
}

/* A German spreadsheet: byte order mark, semicolons, decimal commas, CRLF, quotes; and texts that are not harmless. */
static const char german[] =
    "\xef\xbb\xbfName;Adresse;Telefon;lat;lon;Menge;Kapazit\303\244t;von;bis;standzeit;leg\r\n"
    "Lager;\"Hafenweg 1; Tor 2\";+49 89 123-45;48,174;11,601;0;6;07:00;17:00;0;\r\n"
    "Meier;\"Am \"\"Anker\"\" 3\";0891234;48,2826;11,6274;2,5;;08:00;10:00;5;=1+A1\r\n"
    "Huber;Ring 7, hinten;089/77;48,1935;11,4047;3,5;;;;10;<b>&</b>\r\n"
    "M\303\266ller;Ring 9;089/78;48,1026;11,4041;4;;;;10;\r\n";

static const char whole[] = "\xef\xbb\xbfroute;stop;node;id;lat;lon;demand;load;arrival;waiting;departure;"
                            "leg;distance;Adresse;Telefon;"
                            "Kapazit\303\244t;von;bis;standzeit;input_leg\r\n";

static void lists_keep_columns_and_dialect(void **state)
{
    (void)state;
    write_file("de.csv", german);
    must(run("invit solve de.csv --iterations 200 --threads 1 -q -o plan.csv --summary sum.csv"));
    const char *text = read_file("plan.csv");
    assert_int_equal(strncmp(text, whole, sizeof whole - 1), 0);
    snprintf(output, sizeof output, "%s", text);
    says(";Lager;48,174;11,601;0;");
    says(";\"Hafenweg 1; Tor 2\";+49 89 123-45;6;07:00;17:00;0;\r\n"); /* a telephone number is no formula */
    says(";Meier;48,2826;11,6274;2,5;");
    says(";\"Am \"\"Anker\"\" 3\";0891234;;08:00;10:00;5;'=1+A1\r\n"); /* a formula is one */
    says(";Ring 7, hinten;089/77;;;;10;<b>&</b>\r\n");
    says("M\303\266ller");
    for (const char *at = output; (at = strchr(at, '\n')); at++) assert_true(at[-1] == '\r');
    must(run("invit solve de.csv --start plan.csv --time 0 -q -o plan.geojson && grep Huber plan.geojson"));
    says("\"demand\":3.5,\"depot\":false,\"load\":");
    says(",\"distance\":");
    must(run("invit check de.csv plan.csv && invit solve de.csv --start plan.csv --iterations 1 -q && "
             "invit plot de.csv plan.csv -o plan.svg && test -s plan.svg"));
    snprintf(output, sizeof output, "%s", read_file("sum.csv"));
    says("\xef\xbb\xbfroute;stops;load;capacity;departure;arrival;duration;waiting;service;length\r\n1;");
    says("\r\ntotal;3;10;12;");
}

/* What is read from what was written is the same plan, whatever the dialect and whatever spreadsheets add to it. */
static void every_dialect_is_read_back(void **state)
{
    (void)state;
    static const char *const tables[] = {
        ("id,x,y,demand,capacity,note\nD,0,0,0,5,\nA,3.5,4,2,,\"a, b\"\nB,6,8,3,,\"say "
         "\"\"hi\"\"\"\nC,0,1,4,,;\n"),
        "id;x;y;demand;capacity;note\nD;0;0;0;5;\nA;3,5;4;2;;\"a; b\"\nB;6;8;3;;\nC;0;1;4;;x\n",
        "id\tx\ty\tdemand\tcapacity\nD\t0\t0\t0\t5\nA\t3,5\t4\t2\t\nB\t6\t8\t3\t\nC\t0\t1\t4\t\n",
        "id|x|y|demand|capacity\r\nD|0|0|0|5\r\nA|3,5|4|2|\r\nB|6|8|3|\r\nC|0|1|4|\r\n",
        "sep=;\nid;x;y;demand;capacity\nD;0;0;0;5\nA;3,5;4;2;\nB;6;8;3;\nC;0;1;4;\n",
        "id,x,y,demand,capacity\nD,0,0,0,5\nA,\"3,5\",4,2,\nB,6,8,3,\nC,0,1,4,\n",
        "id;x;y;demand;capacity\rD;0;0;0;5\rA;3,5;4;2;\rB;6;8;3;\rC;0;1;4;\r",
        "\"caf\xe9\";x;y;demand;capacity\nD;0;0;0;5\nA;3,5;4;2;\nB\xe9;6;8;3;\nC;0;1;4;\n",
    };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        write_file("t.csv", tables[i]);
        must(run("rm -rf plan; invit solve t.csv -c savings --time 0 -q -o plan.sol -o plan.csv -o plan/"));
        must(run("invit check t.csv plan.sol"));
        static char expected[sizeof output];
        snprintf(expected, sizeof expected, "%s", output);
        must(run("invit check t.csv plan.csv"));
        assert_string_equal(output, expected);
        must(run("invit check t.csv plan/"));
        assert_string_equal(output, expected);
        const char *text = read_file("plan.csv");
        if (i == 7) assert_int_equal(strncmp(text, "\xef\xbb\xbf", 3), 0); /* it is UTF-8 now, and says so */
        if (i == 7) assert_non_null(strstr(text, "caf\303\251"));
        if (i == 4) assert_int_equal(strncmp(text, "sep=;\nroute;", 12), 0);
        if (i == 5) assert_non_null(strstr(text, ",\"3,5\",4,"));
        if (i == 6) assert_null(strchr(text, '\n'));
    }
    /* as LibreOffice writes it with all texts in quotes */
    write_file("t.csv", tables[0]);
    write_file("quoted.csv", "\"route\",\"stop\",\"node\",\"id\"\n\"1\",\"0\",\"0\",\"D\"\n\"1\",1,1,\"A\"\n"
                             "1,2,2,\"B\"\n\"2\",0,0,\"D\"\n2,1,3,\"C\"\n");
    must(run("invit check t.csv quoted.csv"));
    says("feasible");
}

static void folders_hold_a_list_per_route(void **state)
{
    (void)state;
    write_file("de.csv", german);
    must(run(
        "mkdir drivers; touch drivers/route-7.csv drivers/route-02.csv drivers/route-x.csv drivers/notes.txt;"
        "invit solve de.csv --iterations 200 --threads 1 -q -o drivers/ && ls -1 drivers | tr '\\n' ' '"));
    says("notes.txt route-1.csv route-2.csv route-x.csv stops.csv summary.csv "); /* old lists are gone */
    must(run("cat drivers/stops.csv | wc -l; cat drivers/route-1.csv drivers/route-2.csv | wc -l"));
    says("8\n9\n"); /* one header more */
    assert_int_equal(strncmp(read_file("drivers/route-2.csv"), whole, sizeof whole - 1), 0);
    assert_non_null(strstr(read_file("drivers/route-2.csv"), "\r\n2;0;0;Lager;"));
    assert_null(strstr(read_file("drivers/route-2.csv"), "\r\n1;"));
    must(run("invit solve de.csv --start drivers --iterations 1 -q"));
    assert_int_equal(run("echo x > file; invit solve de.csv --time 0 -q -o file/"), 1);
    says("file/");
    assert_int_equal(run("invit solve de.csv --time 0 -q -o nowhere/near/"), 1);
    says("nowhere/near/: No such file");
    assert_int_equal(run("invit solve de.csv --time 0 -q -o a.csv -o a.csv"), 2);
    says("a.csv: is to be written twice");
}

static void maps_are_well_formed(void **state)
{
    (void)state;
    write_file("de.csv", german);
    write_file("look.py", "import sys, xml.dom.minidom as dom\n"
                          "d = dom.parse(sys.argv[1])\n"
                          "for n in sys.argv[2:]:\n"
                          "    for e in d.getElementsByTagName(n):\n"
                          "        print(n, ' '.join(''.join(c.data for c in e.childNodes if c.nodeType == 3)"
                          ".split()), e.getAttribute('lat'), e.getAttribute('lon'))\n");
    must(run("invit solve de.csv --iterations 200 --threads 1 -q -o m.gpx -o m.kml"));
    must(run("python3 look.py m.gpx rte rtept name desc"));
    says("rte   \nrte   \nrtept"); /* two */
    says("rtept  48.2826 11.6274\n");
    says(" Meier  \n");
    says("Telefon: 089/77; leg: <b>&</b>");
    says("demand 2.5; Adresse: Am \"Anker\" 3");
    says("desc arrive 0");
    must(run("python3 look.py m.kml name coordinates description"));
    says("leg: &lt;b&gt;&amp;&lt;/b&gt;"); /* KML shows descriptions as HTML */
    says("name Route 1  \n");
    says("name Lager  \n");
    says("coordinates 11.601,48.174 1");
    says("coordinates 11.6274,48.2826  \n");
    write_file("plane.csv", "x,y\n0,0\n3,4\n6,8\n");
    assert_int_equal(run("invit solve plane.csv --time 0 -q -o p.gpx"), 1);
    says("plane: GPX needs latitudes and longitudes (columns lat,lon, or --metric haversine)");
    assert_int_equal(run("invit solve plane.csv --time 0 -q -o p.kml"), 1);
    says("KML needs");
    must(run("test ! -e p.gpx; invit solve plane.csv --metric haversine --time 0 -q -o p.gpx"));
}

static void sheets_have_a_page_per_driver(void **state)
{
    (void)state;
    write_file("de.csv", german);
    write_file("look.py", "import html.parser, re\n"
                          "class P(html.parser.HTMLParser):\n"
                          "    void = {'meta', 'br', 'path', 'circle', 'rect'}\n"
                          "    def __init__(self): super().__init__(); self.open = []; self.text = []\n"
                          "    def handle_starttag(self, tag, attrs):\n"
                          "        if tag not in self.void: self.open.append(tag)\n"
                          "    def handle_startendtag(self, tag, attrs): pass\n"
                          "    def handle_endtag(self, tag): assert self.open.pop() == tag, tag\n"
                          "    def handle_data(self, data): self.text.append(data)\n"
                          "source = open('s.html', encoding='utf-8').read()\n"
                          "p = P(); p.feed(source); p.close(); assert not p.open, p.open\n"
                          "print('sections', source.count('<section'), 'maps', source.count('<svg'))\n"
                          "assert not re.search(r'(src|href)=', source)\n"
                          "print(re.sub(r'\\s+', ' ', ' '.join(p.text)))\n");
    must(run("invit solve de.csv --iterations 200 --threads 1 -q -o s.html && python3 look.py"));
    says("sections 3 maps 3");
    says("Route 1 of 2");
    says("Route 2 of 2");
    says("Am \"Anker\" 3");
    says("<b>&</b>"); /* as text */
    says("08:00\342\200\22310:00");
    does_not_say("input_");
    write_file("plain.csv", "x,y\n0,0\n3,4\n6,8\n0,1\n");
    must(run("invit solve plain.csv --time 0 -q -o s.html && python3 look.py"));
    says("sections 1 maps 1");
    write_file("one.csv", "lat,lon\n5,5\n5,5\n");
    must(run("invit solve one.csv --time 0 -q -o s.html && python3 look.py"));
    does_not_say("nan");
    write_file("matrix.csv", "0,1,2\n3,0,4\n5,6,0\n");
    must(run("invit solve matrix.csv --time 0 -q -o s.html && python3 look.py"));
    says("sections 1 maps 0");
}

/* ---- remarks ------------------------------------------------------------------------------------------- */

static const char around[] =
    "id,lat,lon\nA,48.1,11.5\nB,48.2,11.6\nC,48.3,11.4\nD,48.15,11.55\nE,48.22,11.48\n";

static void remarks_of(const char *rows)
{
    char text[2048];
    snprintf(text, sizeof text, "%s%s", around, rows);
    write_file("r.csv", text);
    must(run("invit solve r.csv --time 0 -c greedy"));
}

static void places_that_look_wrong_are_named(void **state)
{
    (void)state;
    remarks_of("");
    does_not_say("note");
    remarks_of("\n\nF,11.5,48.1\nG,11.6,48.2\n"); /* swapped, two of them near each other */
    says("r.csv: note: line 9, node 5 'F': latitude and longitude look swapped (lat 11.5, lon 48.1)");
    says("line 10, node 6 'G': latitude and longitude look swapped");
    remarks_of("F,0,0\n");
    says("line 7, node 5 'F': an address that was not found? it is at 0, 0");
    does_not_say("500 km");
    remarks_of("F,-33.9,151.2\n");
    says("line 7, node 5 'F': more than 500 km from every other stop (lat -33.9, lon 151.2)");
    remarks_of("B,48.2,11.6\nB,48.2,11.7\n");
    says("line 7: the same row as line 3; it is visited twice");
    does_not_say("line 8");
    /* all far apart: nothing is wrong */
    write_file("capitals.csv",
               "id,lat,lon\nBerlin,52.5,13.4\nLima,-12,-77\nCanberra,-35.3,149.1\nTokio,35.7,139.7\n"
               "Nairobi,-1.3,36.8\n");
    must(run("invit solve capitals.csv --time 0 -c greedy"));
    does_not_say("note");
    remarks_of("F,11.5,48.1\n");
    must(run("invit solve r.csv --time 0 -c greedy -q --json"));
    json_error_t error;
    json_t *j = json_loads(output, 0, &error), *remarks = json_object_get(j, "remarks");
    assert_int_equal(json_array_size(remarks), 1);
    assert_non_null(strstr(json_string_value(json_array_get(remarks, 0)), "swapped"));
    json_decref(j);
    remarks_of("F,11.5,48.1\nF,11.5,48.2\nF,11.5,48.3\nF,11.5,48.4\nF,11.6,48.1\nF,11.6,48.2\nF,11.6,48.3\n"
               "X,48,11.5\nX,48,11.6\nX,48,11.7\n");
    says("2 more stops: latitude and longitude look swapped");
    write_file("swapped.csv", "lat,lon\n151.2,-33.9\n");
    assert_int_equal(run("invit solve swapped.csv"), 1);
    says("found '151.2' (are latitude and longitude swapped?)");
}

static void the_result_leads_with_the_plan(void **state)
{
    (void)state;
    write_file("de.csv", german);
    must(run("invit solve de.csv --iterations 200 --threads 1"));
    says("de: 2 vans, ");
    says(" km, ");
    says(" hours; 3 stops, load 10 of 12 (83 %); checked, ");
    says("  route 1: leaves ");
    does_not_say("constructed");
    must(run("invit solve de.csv --iterations 200 --threads 1 --verbose"));
    says("  constructed (insertion; policy: not asked: time windows) in ");
    write_file("t.tsp", "0 0\n3 4\n6 8\n");
    must(run("invit solve t.tsp --time 0 -c greedy"));
    says("t: length 20; tour of 3 nodes; checked, 0.0 s\n");
}

/* What was understood of a file, and the same problem in another format: solved from there, the lists are the same. */
static void an_instance_is_described_and_written(void **state)
{
    (void)state;
    write_file("de.csv", german);
    must(run("invit info de.csv -o de.json"));
    says(
        "  problem     CVRP 'de', 3 customers and a depot (table)\n  distances   great circles, in metres\n");
    says("  demands     10 in all, capacity 6: at least 2 vehicles\n");
    says("1 time windows, service times\n");
    says("  columns     Adresse, Telefon, Menge, ");
    says("  written to  de.json\n");
    must(run("invit solve de.csv --iterations 200 --threads 1 -q -o a.csv -o a.html && "
             "invit solve de.json --iterations 200 --threads 1 -q -o b.csv -o b.html && "
             "cmp a.csv b.csv && cmp a.html b.html"));
    must(run("invit info de.csv --vehicles 3 -o - | invit info - --json"));
    says("\"vehicles\": 3");
    must(run("invit info de.csv --max-duration 0:20"));
    says("more than max_duration");
    assert_int_equal(run("invit info de.csv -o de.vrp"), 1);
    says("cannot say speed: write it as JSON");
    assert_int_equal(run("invit info de.csv -o de.pdf"), 2);
    assert_int_equal(run("invit info de.csv -o ./de.csv"), 2);
    assert_int_equal(run("invit info de.csv --index 1"), 1);
    must(
        run("invit gen cvrp -n 9 --scale 100 -o g.json && invit gen cvrp -n 9 --scale 100 -o g.vrp && "
            "invit info g.json -o h.vrp && grep -v COMMENT g.vrp >a && grep -v COMMENT h.vrp >b && cmp a b"));
    must(run("invit gen tsp -n 4 --count 2 -f json -o d/ && invit info d/tsp4-uniform-s1-i1.json"));
    assert_int_equal(run("invit gen tsp -n 4 --count 2 -o two.json"), 2);
    must(run("invit info tsp-2v"));
    says("INViT-2V for TSP");
}

#define IN_DIRECTORY(f) cmocka_unit_test_setup_teardown(f, enter_folder, leave_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(lists_keep_columns_and_dialect), IN_DIRECTORY(every_dialect_is_read_back),
        IN_DIRECTORY(folders_hold_a_list_per_route),  IN_DIRECTORY(maps_are_well_formed),
        IN_DIRECTORY(sheets_have_a_page_per_driver),  IN_DIRECTORY(places_that_look_wrong_are_named),
        IN_DIRECTORY(the_result_leads_with_the_plan), IN_DIRECTORY(an_instance_is_described_and_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
