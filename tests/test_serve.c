/* The server over real sockets: answers, refusals, limits, streams and rude clients. */
#include "serve_client.h"

static const char square[] = "{\"instance\": {\"coords\": [[0,0],[1,0],[1,1],[0,1]]}, \"time\": 0.05}";

static void answers_the_simple_calls(void **state)
{
    expect(*state, "GET", "/", JSON, "", 200, "<title>invit");
    expect(*state, "GET", "/app.js", JSON, "", 200, "text/javascript");
    expect(*state, "GET", "/v1/health", JSON, "", 200, "\"status\":\"ok\"");
    expect(*state, "GET", "/v1/metrics", JSON, "", 200, "invit_jobs_total{result=\"done\"}");
    expect(*state, "GET", "/v1/openapi.json", JSON, "", 200, "\"openapi\"");
    expect(*state, "POST", "/v1/generate", JSON, "{\"problem\":\"cvrp\",\"size\":20,\"seed\":1}", 200,
           "\"capacity\":50");
    expect(*state, "POST", "/v1/parse", "text/plain", "0 0\n0 3\n4 0\n", 200,
           "\"coords\":[[0.0,0.0],[0.0,3.0],[4.0,0.0]]");
    expect(*state, "POST", "/v1/parse", "text/csv", "id,lat,lon\nA,-17,179.9\nB,-17,-179.9\n", 200,
           "[-179.9"); /* as the file has it, though inside it lies beyond 180 */
    expect(*state, "POST", "/v1/parse?capacity=9", "text/csv", "id;x;y;demand\nA;0;0;0\nB;1,5;2;9\n", 200,
           "\"labels\":[\"A\",\"B\"]");
    expect(*state, "POST", "/v1/parse?capacity=9", "text/csv", "x,y,demand,capacity\n0,0,0,7\n1,1,3,7\n", 200,
           "\"capacity\":7");
    expect(*state, "POST", "/v1/parse", "text/csv", "id;x;y;demand\nA;0;0;0\nB;1,5;2;9\n", 422,
           "\"needs\":\"capacity\"");
    expect(*state, "POST", "/v1/parse?capacity=50&name=too%20big.csv", "text/csv",
           "x,y,demand,capacity\n0,0,0,30\n1,1,31,30\n", 422, "too big.csv:"); /* its own capacity counts */
    expect(*state, "POST", "/v1/solve", JSON, square, 200, "\"length\":4.0");
    expect(*state, "POST", "/v1/solve", JSON,
           "{\"instance\":{\"problem\":\"cvrp\",\"coords\":[[0,0],[1,0],[0,1]],\"demands\":[0,3,3],"
           "\"capacity\":5},\"time\":0}",
           200, "\"routes\":[[");
    expect(*state, "POST", "/v1/solve", JSON,
           "{\"instance\":{\"coords\":[[0,0],[1,0],[0,1]],\"demands\":[0,3,3],\"capacity\":5},\"time\":0}",
           200, "\"problem\":\"cvrp\""); /* demands say what it is */
    expect(*state, "POST", "/v1/solve", JSON,
           "{\"instance\":{\"coords\":[[0,0],[1,1],[1,0],[0,1],[2,2]]},\"iterations\":50,\"rollouts\":1}",
           200, "\"tour\":[1,"); /* ends by itself, without a time */
    expect(*state, "POST", "/v1/solve", JSON, "{\"instance\":{\"coords\":[[0,0],[1,1]]},\"iterations\":-1}",
           422, "\\\"iterations\\\" must be");
}

#define TWENTY_BYTES "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4"
#define LONG_NAME    "x" TWENTY_BYTES TWENTY_BYTES TWENTY_BYTES TWENTY_BYTES

static void refuses_what_is_wrong(void **state)
{
    static const struct {
        const char *method, *path, *type, *body;
        int status;
        const char *words;
    } cases[] = {
        {"GET", "/nothing", JSON, "", 404, "\"message\""},
        {"GET", "/../../etc/passwd", JSON, "", 404, "\"message\""},
        {"GET", "/v1/../v1/health/..", JSON, "", 404, "\"message\""},
        {"GET", "/v1/jobs/00000000000000000000000000000000", JSON, "", 404, "no such job"},
        {"GET", "/v1/jobs/x", JSON, "", 404, "no such call"},
        {"PUT", "/v1/jobs", JSON, "", 405, "Allow: POST"},
        {"PUT", "/v1/jobs/00000000000000000000000000000000", JSON, "", 405, "Allow: GET, HEAD, DELETE"},
        {"DELETE", "/", JSON, "", 405, "Allow: GET, HEAD"},
        {"POST", "/v1/solve", "text/plain", square, 415, "application/json"},
        {"POST", "/v1/solve", JSON, "", 400, "line 1"},
        {"POST", "/v1/solve", JSON, "[1]", 400, "JSON object"},
        {"POST", "/v1/solve", JSON, "{\"instance\": {\"coords\": [[0,0],", 400, "line 1"},
        {"POST", "/v1/solve", JSON, "{\"instance\": {\"coords\": [[0,NaN]]}}", 400, "column"},
        {"POST", "/v1/solve", JSON, "{\"instance\": {\"coords\": [[0,1e999]]}}", 400, "real number overflow"},
        {"POST", "/v1/solve", JSON, "{}", 422, "JSON object with"},
        {"POST", "/v1/solve", JSON, "{\"instance\": {\"coords\": []}}", 422, "at least one pair"},
        {"POST", "/v1/solve", JSON, "{\"instance\": {\"coords\": [[1,2,3]]}}", 422, "pair of numbers"},
        {"POST", "/v1/solve", JSON, "{\"instance\": {\"coords\": [[1e308,-1e308],[0,0]]}}", 422, "too large"},
        {"POST", "/v1/generate", JSON, "{\"problem\": \"vrptw\"}", 422, "tsp or cvrp"},
        {"POST", "/v1/solve", JSON, "{\"instance\": {\"coords\": [[1,2]], \"labels\": [7]}}", 422,
         "must be a text"},
        {"POST", "/v1/solve", JSON, "{\"instance\": {\"coords\": [[1,\"2\"]]}}", 422, "pair of numbers"},
        {"POST", "/v1/solve", JSON, "{\"instance\": {\"problem\": \"vrptw\", \"coords\": [[1,2]]}}", 422,
         "\\\"problem\\\" must be"},
        {"POST", "/v1/solve", JSON,
         "{\"instance\": {\"problem\": \"cvrp\", \"coords\": [[1,2],[2,2]], \"capacity\": 3}}", 422,
         "\\\"demands\\\" must be"},
        {"POST", "/v1/solve", JSON, "{\"instance\": {\"coords\": [[1,2]]}, \"time\": 1e6}", 422,
         "\\\"time\\\" must be"},
        {"POST", "/v1/solve", JSON, "{\"instance\": {\"coords\": [[1,2]]}, \"rollouts\": 1.5}", 422,
         "whole number"},
        {"POST", "/v1/solve", JSON, "{\"instance\": {\"coords\": [[1,2]], \"coords\": [[1,2]]}}", 400,
         "duplicate"},
        {"POST", "/v1/parse", "text/plain", "", 422, "empty"},
        {"POST", "/v1/parse", "text/plain",
         "NAME: x\nTYPE: TSP\nDIMENSION: 2\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n1 0 0\n2 a 0\n",
         422, ":7:"},
        {"POST", "/v1/parse", "text/csv", "x,y\n1,\xe4\n", 422, "found '?'"}, /* not UTF-8 */
        {"POST", "/v1/parse", "text/plain", "DIMENSION : 2\nEDGE_WEIGHT_TYPE : EXPLICIT\n", 422, "EXPLICIT"},
        {"POST", "/v1/generate", JSON, "{\"distribution\": \"spiral\"}", 422, "uniform, clustered"},
        {"POST", "/v1/generate", JSON, "{\"n\": 3}", 422, "\\\"n\\\" is not known"},
        {"POST", "/v1/solve", JSON, "{\"instance\": {\"coords\": [[1,2]]}, \"tiem\": 1}", 422,
         "time rollouts temperature iterations stop_after seed"},
        {"POST", "/v1/solve", JSON, "{\"instance\": {\"coords\": [[1,2]]}, \"rollouts\": 1025}", 422,
         "from 1 to 1024"},
        {"POST", "/v1/solve", JSON, "{\"instance\": {\"coords\": [[1,2]]}, \"temperature\": 0}", 422,
         "from 1e-06 to 1e+06"},
        {"POST", "/v1/solve", JSON, "{\"instance\": {\"coords\": [[1,2]]}, \"threads\": 2}", 422,
         "is not known here"},
        {"POST", "/v1/solve", JSON, "{\"" LONG_NAME "\": 1}", 422, "is not known here"},
        {"POST", "/v1/solve", JSON, "{\"instance\": {\"coords\": [[1,2]], \"demand\": [0]}}", 422,
         "is not known"},
        {"POST", "/v1/solve", JSON, "{\"instance\": {\"coords\": [[1,2],[3,4]], \"capacity\": 5}}", 422,
         "\\\"demands\\\" must be"},
        {"POST", "/v1/generate", JSON, "{\"size\": 1000000000}", 422, "\\\"size\\\" must be"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect(*state, cases[i].method, cases[i].path, cases[i].type, cases[i].body, cases[i].status,
               cases[i].words);
}

static void keeps_its_limits(void **state)
{
    char *big = malloc(300001);
    memset(big, ' ', 300000);
    big[300000] = 0;
    expect(*state, "POST", "/v1/solve", JSON, big, 413, "larger");
    free(big);
    char *many = malloc(20000), *at = many;
    at += sprintf(at, "{\"instance\": {\"coords\": [[0,0]");
    for (int i = 1; i < 200; i++) at += sprintf(at, ",[%d,%d]", i, i * i % 17);
    strcpy(at, "]}, \"time\": 0, \"rollouts\": 1}");
    expect(*state, "POST", "/v1/solve", JSON, many, 422, "synchronous solve takes at most 100");
    expect(*state, "POST", "/v1/solve", JSON, many, 422, "/v1/jobs");
    expect(*state, "POST", "/v1/jobs", JSON, many, 202, "queued"); /* as the message says */
    free(many);
}

/* Sends a head that asks whether the body may follow, and returns the first that comes back. */
static void ask_first(const fixture *f, size_t length, char *answer, size_t room)
{
    char head[256];
    int s = open_socket(f), n = snprintf(head, sizeof head,
                                         "POST /v1/solve HTTP/1.1\r\nHost: localhost\r\nContent-Type: " JSON
                                         "\r\nContent-Length: %zu\r\nExpect: 100-continue\r\n\r\n",
                                         length);
    assert_true(send(s, head, (size_t)n, MSG_NOSIGNAL) == n);
    ssize_t got = recv(s, answer, room - 1, 0);
    assert_true(got > 0);
    answer[got] = 0;
    close(s);
}

static void who_asks_first_is_refused_at_once(void **state)
{
    char answer[2000];
    ask_first(*state, 100000, answer, sizeof answer);
    assert_int_equal(status_of(answer), 100);
    ask_first(*state, 100001, answer, sizeof answer);
    assert_int_equal(status_of(answer), 413);
}

/* Enough nodes to keep the search busy until its time is over. */
static char *submit(const fixture *f, double seconds)
{
    char body[2000];
    int n = snprintf(body, sizeof body, "{\"time\": %g, \"watch\": true, \"instance\": {\"coords\": [[0,0]",
                     seconds);
    for (int i = 1; i < 60; i++)
        n += snprintf(body + n, sizeof body - (size_t)n, ",[%d,%d]", i * 7919 % 101, i * 104729 % 97);
    snprintf(body + n, sizeof body - (size_t)n, "]}}");
    return ask(f, "POST", "/v1/jobs", JSON, body);
}

static void streams_a_job_and_cancels_it(void **state)
{
    fixture *f = *state;
    char id[33], path[80], request[160], stream[1 << 16], *answer = submit(f, 25);
    assert_int_equal(status_of(answer), 202);
    get_id(answer, id);
    free(answer);
    int s = open_socket(f), n = snprintf(request, sizeof request,
                                         "GET /v1/jobs/%s/events HTTP/1.1\r\nHost: localhost\r\n"
                                         "Connection: close\r\n\r\n",
                                         id);
    assert_true(send(s, request, (size_t)n, MSG_NOSIGNAL) == n);
    size_t got = 0;
    stream[0] = 0;
    while (!strstr(stream, "event: solution")) { /* the construction is there: cancel the improvement */
        ssize_t part = recv(s, stream + got, sizeof stream - 1 - got, 0);
        assert_true(part > 0);
        stream[got += (size_t)part] = 0;
    }
    assert_int_equal(status_of(stream), 200);
    assert_non_null(strstr(stream, "text/event-stream"));
    snprintf(path, sizeof path, "/v1/jobs/%s", id);
    expect(f, "GET", path, JSON, "", 200, "running");
    expect(f, "DELETE", path, JSON, "", 202, id);
    for (ssize_t part; (part = recv(s, stream + got, sizeof stream - 1 - got, 0)) > 0;)
        stream[got += (size_t)part] = 0;
    close(s);
    assert_non_null(strstr(stream, "event: done"));
    assert_non_null(strstr(stream, "\"cancelled\":true"));
    static const char *const formats[] = {"solution", "svg", "json"}, *const words[] = {"TOUR_SECTION",
                                                                                        "<svg", "\"tour\":["};
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "/v1/jobs/%s/solution?format=%s", id, formats[i]);
        expect(*state, "GET", path, JSON, "", 200, words[i]);
    }
    snprintf(path, sizeof path, "/v1/jobs/%s/solution?format=exe", id);
    expect(*state, "GET", path, JSON, "", 422, "must be json");
}

/* Lengths of more than nine digits too. */
static void the_last_event_has_the_numbers_of_the_job(void **state)
{
    char id[33], path[80];
    char *answer = ask(*state, "POST", "/v1/jobs", JSON,
                       "{\"instance\": {\"coords\": [[0,0],[1234567891,0],[1234567891,3]], \"metric\": "
                       "\"euc_2d\"}, \"time\": 0.05, \"watch\": true}");
    get_id(answer, id);
    free(answer);
    snprintf(path, sizeof path, "/v1/jobs/%s/events", id);
    char *events = ask(*state, "GET", path, JSON, ""); /* until it is done */
    snprintf(path, sizeof path, "/v1/jobs/%s", id);
    char *job = ask(*state, "GET", path, JSON, ""), *solution = strstr(job, "\"solution\":{");
    assert_non_null(solution);
    solution += strlen("\"solution\":");
    solution[strlen(solution) - 1] = 0; /* the brace of the job around it */
    assert_non_null(strstr(solution, "\"length\":2469135785.0"));
    const char *done = strstr(events, "event: done\ndata: ");
    assert_non_null(done);
    assert_non_null(strstr(done, solution));
    const char *shown = strstr(events, "event: solution\n");
    assert_non_null(shown);
    shown = strstr(shown, "\"length\":");
    assert_memory_equal(shown, "\"length\":2469135785.0", strlen("\"length\":2469135785.0"));
    free(job);
    free(events);
}

static void a_full_queue_says_so(void **state)
{
    char id[8][33];
    int taken = 0, refused = 0;
    for (int i = 0; i < 8; i++) {
        char *answer = submit(*state, 20);
        if (status_of(answer) == 202)
            get_id(answer, id[taken++]);
        else if (status_of(answer) == 503 && strstr(answer, "Retry-After"))
            refused++;
        free(answer);
    }
    assert_in_range(taken, 2, 3); /* one runs, two wait */
    assert_int_equal(taken + refused, 8);
    for (int i = taken - 1; i >= 0; i--) {
        char path[80];
        snprintf(path, sizeof path, "/v1/jobs/%s", id[i]);
        expect(*state, "DELETE", path, JSON, "", 202, "state");
    }
}

static void rude_clients_stall_nobody(void **state)
{
    fixture *f = *state;
    int slow = open_socket(f); /* says half a request and then nothing */
    assert_true(send(slow, "POST /v1/solve HTTP/1.1\r\nHost: local", 37, MSG_NOSIGNAL) > 0);
    char *answer = submit(f, 5), id[33], request[160];
    get_id(answer, id);
    free(answer);
    int gone = open_socket(f); /* hangs up in the middle of a stream */
    int n =
        snprintf(request, sizeof request, "GET /v1/jobs/%s/events HTTP/1.1\r\nHost: localhost\r\n\r\n", id);
    assert_true(send(gone, request, (size_t)n, MSG_NOSIGNAL) > 0);
    char some[10];
    assert_true(recv(gone, some, sizeof some, 0) > 0);
    close(gone);
    expect(f, "GET", "/v1/health", JSON, "", 200, "ok");
    static const char *const garbage[] = {
        "\x16\x03\x01\x02", "GET / HTTP/9.9\r\n\r\n", "\r\n\r\n\r\n", "GET\0 / HTTP/1.1\r\n\r\n",
        "POST /v1/solve HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n"};
    for (int i = 0; i < 5; i++) {
        int s = open_socket(f);
        send(s, garbage[i], strlen(garbage[i]) + 1, MSG_NOSIGNAL);
        shutdown(s, SHUT_WR);
        while (recv(s, some, sizeof some, 0) > 0) {
        }
        close(s);
    }
    expect(f, "POST", "/v1/solve", "application/jsonx", "x", 400, "line 1");
    snprintf(request, sizeof request, "/v1/jobs/%s", id);
    expect(f, "DELETE", request, JSON, "", 202, "state");
    char byte;
    assert_true(recv(slow, &byte, 1, 0) <= 0 || byte == 'H'); /* dropped, or told 408 */
    close(slow);
}

/* Construction without a time limit, with more rollouts than anybody can wait for. */
static void nobody_works_for_longer_than_allowed(void **state)
{
    (void)state;
    serve_options o;
    serve_options_init(&o);
    o.sync_time = 0.2;
    fixture *f = start(&o);
    size_t room = 1 << 16, n = 0;
    char *body = malloc(room);
    n +=
        (size_t)snprintf(body + n, room - n, "{\"time\":0,\"rollouts\":1024,\"instance\":{\"coords\":[[0,0]");
    for (int i = 1; i < 1500; i++)
        n += (size_t)snprintf(body + n, room - n, ",[%d,%d]", i * 7919 % 1009, i * 104729 % 997);
    snprintf(body + n, room - n, "]}}");
    time_t began = time(NULL);
    char *answer = ask(f, "POST", "/v1/solve", JSON, body);
    assert_true(status_of(answer) == 200 || strstr(answer, "no solution within"));
    assert_true(time(NULL) - began < 12);
    free(answer);
    free(body);
    finish(f);
}

/* A connection that has its place: one answer came over it, and it is kept open. */
static int open_and_ask(const fixture *f)
{
    static const char get[] = "GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n";
    char answer[2000];
    int s = open_socket(f);
    assert_true(send(s, get, sizeof get - 1, MSG_NOSIGNAL) > 0);
    assert_true(recv(s, answer, sizeof answer, 0) > 0);
    return s;
}

static void too_many_connections_are_told_so(void **state)
{
    (void)state;
    serve_options o;
    serve_options_init(&o);
    o.connections = 4;
    fixture *f = start(&o);
    int idle[4];
    for (int i = 0; i < 4; i++) idle[i] = open_and_ask(f);
    expect(f, "GET", "/v1/health", JSON, "", 503, "too many connections");
    for (int i = 0; i < 4; i++) close(idle[i]);
    nap(0.3);
    expect(f, "GET", "/v1/health", JSON, "", 200, "ok");
    finish(f);
}

/* Whoever has been let in is answered, however many come while the job is solved. */
static void a_finished_solve_is_not_refused(void **state)
{
    (void)state;
    serve_options o;
    serve_options_init(&o);
    o.connections = 2;
    fixture *f = start(&o);
    char request[600], answer[2000];
    static const char body[] = "{\"instance\": {\"coords\": [[0,0],[9,1],[2,7],[5,5],[1,3],[8,8],[3,1],[6,2],"
                               "[7,4],[4,9],[2,2],[9,6]]}, \"time\": 1}";
    int n = snprintf(request, sizeof request,
                     "POST /v1/solve HTTP/1.1\r\nHost: localhost\r\nContent-Type: " JSON
                     "\r\nContent-Length: %zu\r\n\r\n%s",
                     strlen(body), body);
    int s = open_socket(f), idle[3];
    assert_true(send(s, request, (size_t)n, MSG_NOSIGNAL) == n);
    for (bool running = false; !running; nap(0.02)) {
        char *health = ask(f, "GET", "/v1/health", JSON, "");
        running = strstr(health, "\"running\":1") != NULL;
        free(health);
    }
    for (int i = 0; i < 3; i++) idle[i] = open_and_ask(f);
    expect(f, "GET", "/v1/health", JSON, "", 503, "too many connections");
    ssize_t got = recv(s, answer, sizeof answer - 1, 0);
    assert_true(got > 0);
    answer[got] = 0;
    assert_int_equal(status_of(answer), 200);
    for (int i = 0; i < 3; i++) close(idle[i]);
    close(s);
    finish(f);
}

/* Sends a body that the server does not want, without end: it is answered, and cut off early. */
static void send_unwanted(const fixture *f, const char *call, int status)
{
    enum { PIECE = 1 << 20, PIECES = 48 };
    char *piece = calloc(1, PIECE), head[256], answer[2000];
    long before = resident();
    size_t sent = 0;
    int s = open_socket(f),
        n = snprintf(head, sizeof head,
                     "%s HTTP/1.1\r\nHost: localhost\r\nContent-Type: " JSON "\r\nContent-Length: %d\r\n\r\n",
                     call, PIECES * PIECE);
    assert_true(send(s, head, (size_t)n, MSG_NOSIGNAL) == n);
    for (ssize_t part; sent < PIECES * PIECE && (part = send(s, piece, PIECE, MSG_NOSIGNAL)) > 0;)
        sent += (size_t)part;
    assert_true(sent < 16 * PIECE); /* what the buffers between them hold */
    assert_true(resident() - before < 16 * PIECE);
    ssize_t got = recv(s, answer, sizeof answer - 1, 0);
    if (got > 0) { /* closing may overtake the answer */
        answer[got] = 0;
        assert_int_equal(status_of(answer), status);
    }
    close(s);
    free(piece);
}

static void unwanted_bodies_are_cut_off(const fixture *f)
{
    send_unwanted(f, "POST /v1/solve", 401);
    send_unwanted(f, "POST /v1/nothing", 404);
    send_unwanted(f, "PUT /v1/jobs", 405);
    send_unwanted(f, "GET /v1/health", 200);
    send_unwanted(f, "GET /", 200);
}

static void asks_for_the_secret(void **state)
{
    (void)state;
    serve_options o;
    serve_options_init(&o);
    o.host = "0.0.0.0";
    fixture *f = start(&o);
    assert_int_equal(f->port, -1);
    assert_non_null(strstr(f->err.message, "--token-file"));
    finish(f);

    char path[] = "/tmp/invit-token-XXXXXX";
    int file = mkstemp(path);
    assert_true(write(file, "correct horse battery\n", 22) == 22);
    close(file);
    o.host = "127.0.0.1";
    o.token_file = path;
    f = start(&o);
    assert_true(f->port > 0);
    expect(f, "GET", "/v1/health", JSON, "", 200, "ok");
    expect(f, "POST", "/v1/solve", JSON, square, 401, "token");
    unwanted_bodies_are_cut_off(f);
    char request[600];
    for (int right = 0; right < 2; right++) {
        int n = snprintf(request, sizeof request,
                         "POST /v1/solve HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: "
                         "bearer %s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
                         right ? "correct horse battery" : "correct horse batterz", strlen(square), square);
        char *answer = exchange(f, request, (size_t)n);
        assert_int_equal(status_of(answer), right ? 200 : 401);
        free(answer);
    }
    finish(f);
    unlink(path);
}

static void a_named_model_solves_its_problem_and_two_jobs_run_at_once(void **state)
{
    (void)state;
    serve_options o;
    serve_options_init(&o);
    o.model = TEST_DATA "/no-such-model.safetensors";
    fixture *f = start(&o);
    assert_int_equal(f->port, -1);
    assert_non_null(strstr(f->err.message, "no-such-model.safetensors"));
    finish(f);

    o.model = TEST_DATA "/golden/tsp-tiny.weights.safetensors";
    o.workers = 2;
    o.threads = 2;
    f = start(&o);
    assert_true(f->port > 0);
    expect(f, "POST", "/v1/solve", JSON, square, 200, "/golden/tsp-tiny.weights.safetensors\"");
    expect(f, "POST", "/v1/solve", JSON,
           "{\"instance\":{\"coords\":[[0,0],[1,0],[0,1]],\"demands\":[0,3,3],\"capacity\":5},\"time\":0}",
           200, "\"model\":\"bundled\"");

    char id[2][33], path[96];
    for (int i = 0; i < 2; i++) {
        char *answer = submit(f, 20);
        get_id(answer, id[i]);
        free(answer);
    }
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "/v1/jobs/%s", id[i]);
        for (int tries = 0;; tries++) {
            char *answer = ask(f, "GET", path, JSON, "");
            bool running = strstr(answer, "\"state\":\"running\"") != NULL;
            free(answer);
            if (running) break;
            assert_true(tries < 200);
            nap(0.05);
        }
    }
    expect(f, "GET", "/v1/health", JSON, "", 200, "\"running\":2");
    finish(f);
}

static void other_names_for_this_machine_are_refused(void **state)
{
    static const char request[] =
        "GET /v1/health HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n";
    char *answer = exchange(*state, request, sizeof request - 1);
    assert_int_equal(status_of(answer), 403);
    free(answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_the_simple_calls),
        cmocka_unit_test(refuses_what_is_wrong),
        cmocka_unit_test(keeps_its_limits),
        cmocka_unit_test(who_asks_first_is_refused_at_once),
        cmocka_unit_test(streams_a_job_and_cancels_it),
        cmocka_unit_test(the_last_event_has_the_numbers_of_the_job),
        cmocka_unit_test(a_full_queue_says_so),
        cmocka_unit_test(rude_clients_stall_nobody),
        cmocka_unit_test(nobody_works_for_longer_than_allowed),
        cmocka_unit_test(too_many_connections_are_told_so),
        cmocka_unit_test(a_finished_solve_is_not_refused),
        cmocka_unit_test(asks_for_the_secret),
        cmocka_unit_test(a_named_model_solves_its_problem_and_two_jobs_run_at_once),
        cmocka_unit_test(other_names_for_this_machine_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
