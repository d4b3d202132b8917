/* The server on whole problems: plans that go on, tables, what was parsed. */
#include "serve_client.h"

#include "serve/requests.h"

#define FOUR                                                                                                 \
    "\"instance\":{\"coords\":[[0,0],[1,0],[2,0],[0,1],[0,2]],\"demands\":[0,1,1,1,1],\"capacity\":2}"

/* From routes that are there: measured as they are, improved, refused, or partly kept. */
static void goes_on_from_routes(void **state)
{
    static const struct {
        const char *body;
        int status;
        const char *words;
    } cases[] = {
        {"{\"time\":0,\"start\":[[1,3],[2,4]]," FOUR "}", 200, "\"routes\":[[1,3],[2,4]]"},
        {"{\"time\":0,\"start\":[[1,3],[2,4]]," FOUR "}", 200,
         "{\"node\":3,\"leg\":1.4142135623730951,\"distance\":2.4142135623730949,\"load\":2.0}"},
        {"{\"time\":0.2,\"start\":[[1,3],[2,4]]," FOUR "}", 200, "\"length\":8.0"},
        {"{\"time\":0,\"start\":[[1,3,2],[4]]," FOUR "}", 422, "exceeds the capacity"},
        {"{\"time\":0,\"start\":[[1],[2,4]]," FOUR "}", 200, "\"routes\":[[1,3],[2,4]]"},
        {"{\"time\":0.2,\"start\":[[1,3],[4],[2]],\"locked\":[0]," FOUR "}", 200, "\"routes\":[[1,3],["},
        {"{\"time\":0.2,\"start\":[[1,3],[4],[2]],\"locked\":[0,1,2]," FOUR "}", 200,
         "\"routes\":[[1,3],[4],[2]]"},
        {"{\"time\":0,\"start\":[[1,9]]," FOUR "}", 422, "below the number of coords"},
        {"{\"time\":0,\"start\":[[]]," FOUR "}", 422, "list of nodes"},
        {"{\"time\":0,\"start\":[[1,3],[2,4]],\"locked\":[2]," FOUR "}", 422, "index of a route"},
        {"{\"time\":0,\"locked\":[0]," FOUR "}", 422, "with \\\"start\\\""},
        {"{\"time\":0,\"instance\":{\"coords\":[[0,0],[1,1]],\"open\":3}}", 422, "true or false"},
        {"{\"time\":0,\"instance\":{\"coords\":[[0,0],[1,1]],\"service\":[1]}}", 422, "one per node"},
        {"{\"time\":0,\"instance\":{\"coords\":[[0,0],[1,1]],\"time_windows\":[1,2]}}", 422,
         "earliest, latest"},
        {"{\"time\":0,\"instance\":{\"coords\":[[0,0],[1,1]],\"max_length\":-5}}", 422, "max_length"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect(*state, "POST", "/v1/solve", JSON, cases[i].body, cases[i].status, cases[i].words);
}

/* A German spreadsheet through the page's calls: opened, solved as it came back, and taken along as lists, maps and
 * sheets with all of its columns, in its own dialect. */
static void a_table_comes_through_whole(void **state)
{
    static const char table[] = "\xef\xbb\xbfName;Adresse;lat;lon;Menge;capacity\r\n"
                                "Lager;\"Weg 1; Hof\";48,1;11,5;0;5\r\nMeier;Gasse 2;48,2;11,4;2,5;\r\n"
                                "Huber;;48,25;11,6;2,5;\r\nM\303\274ller;Ring 3;48;11,5;2;\r\n";
    char *answer = ask(*state, "POST", "/v1/parse?name=t.csv", "text/csv", table), id[33], path[120],
         body[4000];
    const char *instance = strstr(answer, "\r\n\r\n");
    assert_int_equal(status_of(answer), 200);
    assert_non_null(strstr(instance, "\"dialect\":\"semicolon decimal-comma bom crlf\""));
    snprintf(body, sizeof body, "{\"instance\":%s,\"time\":0.1}", instance + 4);
    free(answer);
    answer = ask(*state, "POST", "/v1/solve", JSON, body);
    assert_int_equal(status_of(answer), 200);
    get_id(answer, id);
    free(answer);
    static const char *const cases[][2] = {
        {"csv", "\xef\xbb\xbfroute;stop;node;id;lat;lon;demand;load;leg;distance;Adresse;capacity\r\n1;0;0;"
                "Lager;48,1"},
        {"csv", ";\"Weg 1; Hof\";5\r\n"},
        {"csv&route=2", "capacity\r\n2;0;0;Lager;"},
        {"summary", "\r\ntotal;3;7;10;"},
        {"gpx", "Adresse: Gasse 2"},
        {"kml", "Adresse: Ring 3"},
        {"html", "driver sheets</title>"},
        {"html", "Content-Disposition: attachment"}, /* never shown on the server's own page */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(path, sizeof path, "/v1/jobs/%s/solution?format=%s", id, cases[i][0]);
        expect(*state, "GET", path, JSON, "", 200, cases[i][1]);
    }
    snprintf(path, sizeof path, "/v1/jobs/%s/solution?format=csv&route=3", id);
    expect(*state, "GET", path, JSON, "", 422, "a route from 1 to 2");
    snprintf(path, sizeof path, "/v1/jobs/%s/solution?format=csv&route=1x", id);
    expect(*state, "GET", path, JSON, "", 422, "must be the number of a route");
    snprintf(path, sizeof path, "/v1/jobs/%s/instance", id);
    expect(*state, "GET", path, JSON, "", 200, "\"Gasse 2\"");
    snprintf(strstr(body, ",\"time\":0.1"), 60, ",\"time\":0.1,\"start\":[[3],[1,2]],\"locked\":[0]}");
    expect(*state, "POST", "/v1/solve", JSON, body, 200, "\"routes\":[[3],[");
}

/* Matrices and the ends of a path come back from /v1/parse: solved without them, the answer would be another's. */
static void what_was_parsed_is_the_whole_problem(void **state)
{
    static const struct {
        const char *file, *parsed, *solved;
    } cases[] = {
        {"0,1,9\n9,0,1\n1,9,0\n", "\"distances\":[[0.0,1.0,9.0],[9.0,0.0,1.0],[1.0,9.0,0.0]]}",
         "\"length\":3.0"},
        {"{\"coords\":[[0,0],[1,0],[2,0],[3,0]],\"start_node\":1,\"end_node\":3}",
         "\"start_node\":1,\"end_node\":3", "\"length\":4.0"},
        {"{\"coords\":[[0,0],[1,0],[2,0]],\"open\":true}", "\"open\":true", "\"length\":2.0"},
        {"x,y,open,close\n0,0,0,99\n3,4,6,9\n",
         "\"coords\":[[0.0,0.0],[3.0,4.0]],\"time_windows\":[[0.0,99.0],[6.0,9.0]],\"table\":",
         "\"arrival\":6.0"},
        {"{\"coords\":[[0,0],[1,0]],\"vehicles\":1,\"durations\":[[0,7],[8,0]]}",
         "\"durations\":[[0.0,7.0],[8.0,0.0]]", "\"arrival\":15.0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char body[2000], *answer = ask(*state, "POST", "/v1/parse", "text/plain", cases[i].file);
        const char *instance = strstr(answer, "\r\n\r\n");
        if (!strstr(instance, cases[i].parsed)) fail_msg("%s", instance);
        snprintf(body, sizeof body, "{\"instance\":%s,\"time\":0.1}", instance + 4);
        free(answer);
        expect(*state, "POST", "/v1/solve", JSON, body, 200, cases[i].solved);
    }
    expect(*state, "POST", "/v1/solve", JSON,
           "{\"instance\":{\"coords\":[[0,0],[1,0],[1,1],[3,0],[0,2]]},\"stop_after\":-1}", 422,
           "stop_after");
    expect(*state, "POST", "/v1/solve", JSON,
           "{\"instance\":{\"coords\":[[0,0],[1,0],[1,1],[3,0],[0,2]]},\"stop_after\":0.1}", 200,
           "\"length\"");
    expect(*state, "POST", "/v1/solve", JSON,
           "{\"instance\":{\"coords\":[[0,0],[1,0],[1,1],[3,0],[0,2]]},\"iterations\":5,\"rollouts\":3,"
           "\"temperature\":2,\"seed\":9223372036854775807}",
           200, "\"rollouts\":3,");
    expect(*state, "POST", "/v1/solve", JSON,
           "{\"instance\":{\"coords\":[[0,0],[1,0],[1,1],[3,0],[0,2]]},\"time\":0,"
           "\"seed\":9223372036854775807}",
           200, "\"seed\":9223372036854775807");
    expect(
        *state, "POST", "/v1/solve", JSON,
        "{\"instance\":{\"coords\":[[0,0],[90,0]],\"time_windows\":[[480,null],[null,500]],\"clock\":true}}",
        422, "arrives 09:30, closes 08:20");
    expect(*state, "POST", "/v1/solve", JSON,
           "{\"instance\":{\"distances\":[[0,1,2,9],[3,0,4,9],[5,6,0,9],[1,2,3,0]],\"demands\":[0,1,1,1],"
           "\"capacity\":2},\"time\":0.1,\"start\":[[2,3],[1]],\"locked\":[0]}",
           200, "\"routes\":[[2,3],[1]]");
}

/* The page without a server asks for files with whatever its caller gave it. */
static void nothing_is_not_written(void **state)
{
    (void)state;
    static const double xy[] = {0, 0, 1, 0, 1, 1};
    invit_instance *p;
    invit_error err = {.message = ""};
    char *text = NULL;
    size_t length = 0;
    assert_int_equal(invit_instance_create_tsp(xy, 3, INVIT_EXACT, &p, &err), INVIT_OK);
    assert_int_equal(request_write(p, NULL, "csv", 0, &text, &length, &err), INVIT_ERR_INPUT);
    assert_non_null(strstr(err.message, "no routes"));
    invit_instance_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goes_on_from_routes),
        cmocka_unit_test(a_table_comes_through_whole),
        cmocka_unit_test(what_was_parsed_is_the_whole_problem),
        cmocka_unit_test(nothing_is_not_written),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
