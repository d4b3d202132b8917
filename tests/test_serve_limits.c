/* Hostile, slow and absent clients, and what the server promises to the others meanwhile. */
#include "serve_client.h"

#include <ctype.h>
#include <math.h>

static void *body_of(int nodes, double seconds, const char *more)
{
    size_t room = 64 + strlen(more) + 32 * (size_t)nodes, n = 0;
    char *body = malloc(room);
    n += (size_t)snprintf(body, room, "{\"time\":%g%s,\"instance\":{\"coords\":[[0,0]", seconds, more);
    for (int i = 1; i < nodes; i++)
        n += (size_t)snprintf(body + n, room - n, ",[%d,%d]", i * 7919 % 1009, (int)(i * 104729L % 997));
    snprintf(body + n, room - n, "]}}");
    return body;
}

static char *submit(const fixture *f, const char *from, double seconds, char id[33])
{
    char *body = body_of(40, seconds, ",\"rollouts\":1"), answer[2000];
    int s = begin(f, from, "POST", "/v1/jobs", body);
    ssize_t got = recv(s, answer, sizeof answer - 1, 0);
    assert_true(got > 0);
    answer[got] = 0;
    close(s);
    free(body);
    if (status_of(answer) != 202) return NULL;
    memcpy(id, strstr(answer, "\"id\":\"") + 6, 32);
    id[32] = 0;
    return id;
}

static bool state_is(const fixture *f, const char *id, const char *state)
{
    char path[80];
    snprintf(path, sizeof path, "/v1/jobs/%s", id);
    char *answer = ask(f, "GET", path, JSON, "");
    bool is = strstr(answer, state) != NULL;
    free(answer);
    return is;
}

/* ---- slow clients -------------------------------------------------------------------------------------- */

/* Three times as many as there are places, each sending a byte of its head now and then. */
static void slow_heads_keep_nobody_out(void **state)
{
    (void)state;
    serve_options o = defaults();
    o.connections = 40;
    o.header_time = 2;
    fixture *f = start(&o);
    enum { SLOW = 120 };
    static const char head[] =
        "GET /v1/health HTTP/1.1\r\nHost: localhost\r\nX-Slow: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    int s[SLOW], cut = 0;
    for (int i = 0; i < SLOW; i++) s[i] = open_socket(f);
    for (int round = 0; round < 12; round++) {
        for (int i = 0; i < SLOW; i++) send(s[i], head + round, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
        double began = now();
        expect(f, "GET", "/v1/health", JSON, "", 200, "ok");
        assert_true(now() - began < 5);
        nap(0.3);
    }
    for (int i = 0; i < SLOW; i++) {
        char byte;
        cut += recv(s[i], &byte, 1, MSG_DONTWAIT) == 0;
        close(s[i]);
    }
    assert_true(cut >= SLOW - 20); /* 3.6 s went by, and a head has 2 */
    finish(f);
}

static void a_slow_body_is_cut_off(void **state)
{
    (void)state;
    serve_options o = defaults();
    o.body_time = 1;
    fixture *f = start(&o);
    static const char head[] = "POST /v1/solve HTTP/1.1\r\nHost: localhost\r\nContent-Type: " JSON
                               "\r\nContent-Length: 60000000\r\n\r\n";
    int s = open_socket(f);
    assert_true(send(s, head, sizeof head - 1, MSG_NOSIGNAL) > 0);
    double began = now();
    while (send(s, " ", 1, MSG_NOSIGNAL) == 1 && now() - began < 15) nap(0.1);
    assert_true(now() - began < 10);
    close(s);
    finish(f);
}

static void one_address_does_not_take_all_places(void **state)
{
    (void)state;
    serve_options o = defaults();
    o.connections = 40;
    o.per_address = 3;
    fixture *f = start(&o);
    int s[3];
    for (int i = 0; i < 3; i++) { /* answered once, and kept open */
        s[i] = open_socket(f);
        char answer[2000];
        static const char get[] = "GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n";
        assert_true(send(s[i], get, sizeof get - 1, MSG_NOSIGNAL) > 0);
        assert_true(recv(s[i], answer, sizeof answer, 0) > 0);
    }
    expect(f, "GET", "/v1/health", JSON, "", 503, "too many connections");
    int other = begin(f, "127.0.0.2", "GET", "/v1/health", "");
    char answer[2000] = "";
    assert_true(recv(other, answer, sizeof answer - 1, 0) > 0);
    assert_int_equal(status_of(answer), 200);
    close(other);
    for (int i = 0; i < 3; i++) close(s[i]);
    finish(f);
}

/* ---- clients that leave -------------------------------------------------------------------------------- */

static void who_hangs_up_is_not_solved_for(void **state)
{
    (void)state;
    serve_options o = defaults();
    fixture *f = start(&o);
    char *body = body_of(300, 9, "");
    for (int i = 0; i < 8; i++) { /* 72 s of solving, if they were waited for */
        int s = begin(f, NULL, "POST", "/v1/solve", body);
        nap(0.05);
        if (i % 2)
            assert_int_equal(send(s, "GET", 3, MSG_NOSIGNAL),
                             3); /* nobody reads that before it is answered */
        close(s);
    }
    double began = now();
    expect(f, "POST", "/v1/solve", JSON, "{\"instance\":{\"coords\":[[0,0],[1,0],[1,1]]},\"time\":0.1}", 200,
           "\"tour\"");
    assert_true(now() - began < 9);
    free(body);
    finish(f);
}

/* A stream that was left is not a reason to make others wait, but its job is not lost at once. */
static void jobs_that_all_have_left_come_last(void **state)
{
    (void)state;
    serve_options o = defaults();
    fixture *f = start(&o);
    char id[6][33], live[33], path[96];
    int s[6];
    for (int i = 0; i < 6; i++) {
        assert_non_null(submit(f, NULL, 30, id[i]));
        snprintf(path, sizeof path, "/v1/jobs/%s/events", id[i]);
        s[i] = begin(f, NULL, "GET", path, "");
    }
    char some[64];
    assert_true(recv(s[0], some, sizeof some, 0) > 0); /* it runs */
    for (int i = 0; i < 6; i++) close(s[i]);
    assert_non_null(submit(f, NULL, 0.2, live));
    double began = now();
    while (!state_is(f, live, "\"state\":\"done\"")) {
        assert_true(now() - began < 25); /* 5 of patience with the one that ran; 180 if all were solved */
        nap(0.1);
    }
    snprintf(path, sizeof path, "/v1/jobs/%s", id[0]);
    expect(f, "GET", path, JSON, "", 200, "\"solution\""); /* the best it had */
    finish(f);
}

static void clients_take_turns(void **state)
{
    (void)state;
    serve_options o = defaults();
    o.queue = 8;
    fixture *f = start(&o);
    char id[16][33], other[33];
    int taken = 0;
    while (taken < 16 && submit(f, "127.0.0.1", 0.5, id[taken])) taken++;
    assert_in_range(taken, 6, 8); /* three quarters of the queue, and what a worker took meanwhile */
    assert_non_null(submit(f, "127.0.0.2", 0.1, other));
    while (!state_is(f, other, "\"state\":\"done\"")) nap(0.05);
    assert_true(state_is(f, id[taken - 1], "queued")); /* the others' last ones still wait */
    finish(f);
}

/* ---- memory -------------------------------------------------------------------------------------------- */

static void json_that_unfolds_is_refused(void **state)
{
    (void)state;
    serve_options o = defaults();
    o.memory = 64 << 20;
    fixture *f = start(&o);
    enum { TIMES = 3000000 };
    char *body = malloc(3 * TIMES + 64), *at = body + sprintf(body, "{\"instance\":[");
    for (int i = 0; i < TIMES; i++, at += 3) memcpy(at, "{},", 3);
    strcpy(at, "0]}");
    long before = resident();
    expect(f, "POST", "/v1/jobs", JSON, body, 413, "unfolds to more memory");
    assert_true(resident() - before < (64 << 20));
    before = resident();
    expect(f, "POST", "/v1/parse", "text/plain", body, 413, "unfolds to more memory");
    assert_true(resident() - before < (64 << 20));
    free(body);
    expect(f, "POST", "/v1/generate", JSON, "{\"size\": 900000}", 503, "memory");
    expect(f, "POST", "/v1/generate", JSON, "{\"size\": 9000}", 200, "coords");
    finish(f);
}

/* Answers that nobody reads are counted until they have gone. */
static void unread_answers_are_bounded(void **state)
{
    (void)state;
    serve_options o = defaults();
    o.memory = 48 << 20;
    fixture *f = start(&o);
    enum { CLIENTS = 30 };
    int s[CLIENTS];
    long before = resident();
    for (int i = 0; i < CLIENTS; i++)
        s[i] = begin(f, NULL, "POST", "/v1/generate", "{\"size\": 100000}"); /* 4 MB each */
    nap(4);
    assert_true(resident() - before < (long)(150 << 20));
    double began = now();
    expect(f, "GET", "/v1/health", JSON, "", 200, "ok");
    assert_true(now() - began < 2);
    for (int i = 0; i < CLIENTS; i++) close(s[i]);
    for (double until = now() + 60;; nap(0.1)) { /* given back, once those under way have noticed */
        char *metrics = ask(f, "GET", "/v1/metrics", JSON, ""),
             *used = strstr(metrics, "\ninvit_memory_bytes ");
        assert_non_null(used);
        bool free_again = atol(used + 20) < (8 << 20);
        free(metrics);
        if (free_again) break;
        assert_true(now() < until);
    }
    finish(f);
}

static void kept_jobs_expire_and_make_room(void **state)
{
    (void)state;
    serve_options o = defaults();
    o.keep_time = 1;
    fixture *f = start(&o);
    char id[33], path[80];
    assert_non_null(submit(f, NULL, 0.05, id));
    while (!state_is(f, id, "\"state\":\"done\"")) nap(0.05);
    nap(1.5);
    snprintf(path, sizeof path, "/v1/jobs/%s", id);
    expect(f, "GET", path, JSON, "", 404, "no such job");
    finish(f);

    o = defaults();
    o.memory = 20 << 20;
    f = start(&o);
    char *body = body_of(30000, 0, ",\"rollouts\":1"); /* 5 MB each by the account, and 15 to read */
    for (int i = 0; i < 6; i++) {                      /* the kept ones make room for the next */
        char *answer = ask(f, "POST", "/v1/jobs", JSON, body);
        assert_int_equal(status_of(answer), 202);
        get_id(answer, id);
        free(answer);
        snprintf(path, sizeof path, "/v1/jobs/%s", id);
        free(ask(f, "DELETE", path, JSON, ""));
        while (state_is(f, id, "queued") || state_is(f, id, "running")) nap(0.05);
    }
    free(body);
    finish(f);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void *generate_on(void *p)
{
    const fixture *f = p;
    for (int i = 0; i < 3; i++) free(ask(f, "POST", "/v1/generate", JSON, "{\"size\": 200000}"));
    return NULL;
}

/* Half a second is for machines where tests run beside other things; docs/serve.md has figures. */
static void health_answers_while_others_work(void **state)
{
    (void)state;
    serve_options o = defaults();
    o.threads = 2;
    fixture *f = start(&o);
    char id[33];
    assert_non_null(submit(f, NULL, 30, id));
    pthread_t t[3];
    for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, generate_on, f);
    enum { TIMES = 200 };
    double took[TIMES];
    for (int i = 0; i < TIMES; i++) {
        double began = now();
        expect(f, "GET", "/v1/health", JSON, "", 200, "ok");
        took[i] = now() - began;
        nap(0.005);
    }
    for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
    qsort(took, TIMES, sizeof *took, by_size);
    print_message("health while others work: p50 %.1f ms, p99 %.1f ms\n", 1e3 * took[TIMES / 2],
                  1e3 * took[TIMES * 99 / 100]);
    assert_true(took[TIMES * 95 / 100] < 0.5);
    finish(f);
}

/* ---- the end ------------------------------------------------------------------------------------------- */

static char *rest_of(int s)
{
    size_t got = 0, room = 1 << 20;
    char *text = malloc(room);
    for (ssize_t n; got < room - 1 && (n = recv(s, text + got, room - 1 - got, 0)) > 0;) got += (size_t)n;
    text[got] = 0;
    close(s);
    return text;
}

static void those_who_wait_are_answered_at_the_end(void **state)
{
    (void)state;
    serve_options o = defaults();
    o.workers = 2;
    fixture *f = start(&o);
    char id[3][33], path[96];
    int stream[3];
    char *body = body_of(40, 9, ",\"rollouts\":1");
    int solve = begin(f, NULL, "POST", "/v1/solve", body);
    free(body);
    for (int i = 0; i < 3; i++) { /* one runs, two wait */
        assert_non_null(submit(f, NULL, 30, id[i]));
        snprintf(path, sizeof path, "/v1/jobs/%s/events", id[i]);
        stream[i] = begin(f, NULL, "GET", path, "");
    }
    while (!state_is(f, id[0], "running")) nap(0.05);
    nap(1);
    double began = now();
    finish(f);
    assert_true(now() - began < 8); /* --drain is 5 */
    char *answer = rest_of(solve);
    assert_int_equal(status_of(answer), 200);
    assert_non_null(strstr(answer, "\"cancelled\":true"));
    free(answer);
    for (int i = 0; i < 3; i++) {
        char *events = rest_of(stream[i]);
        if (!strstr(events, i == 0 ? "event: done" : "event: failed")) fail_msg("stream %d: %s", i, events);
        if (i) assert_non_null(strstr(events, "the server stopped"));
        assert_string_equal(events + strlen(events) - 5, "0\r\n\r\n"); /* a whole answer, not a broken one */
        free(events);
    }
}

/* ---- names, origins, headers --------------------------------------------------------------------------- */

static char *raw(const fixture *f, const char *text)
{
    return exchange(f, text, strlen(text));
}

static void expect_raw(const fixture *f, const char *text, int status, const char *words)
{
    char *answer = raw(f, text);
    if (status_of(answer) != status || !strstr(answer, words))
        fail_msg("%s\ngave:\n%.900s\ninstead of %d with \"%s\"", text, answer, status, words);
    free(answer);
}

#define CLOSE "Connection: close\r\n\r\n"

static void names_origins_and_methods(void **state)
{
    (void)state;
    serve_options o = defaults();
    char path[] = "/tmp/invit-log-XXXXXX", log[4096] = "";
    int file = mkstemp(path);
    o.log = path;
    o.tiles = "https://tiles.example/{z}/{x}/{y}.png";
    fixture *f = start(&o);
    expect_raw(f, "GET /v1/health HTTP/1.1\r\nHost: LOCALHOST:80\r\n" CLOSE, 200, "ok");
    expect_raw(f, "GET /v1/health HTTP/1.1\r\nHost: localhost.evil\r\n" CLOSE, 403, "localhost");
    expect_raw(f, "GET / HTTP/1.1\r\nHost: localhost\r\n" CLOSE, 200,
               "img-src 'self' data: blob: https://tiles.example; frame-ancestors 'none'; base-uri 'none'; "
               "form-action 'none'");
    expect_raw(f, "GET / HTTP/1.1\r\nHost: localhost\r\n" CLOSE, 200, "Referrer-Policy: no-referrer");
    char *answer = raw(f, "HEAD /v1/health HTTP/1.1\r\nHost: localhost\r\n" CLOSE);
    assert_int_equal(status_of(answer), 200);
    assert_null(strstr(answer, "\"status\""));
    free(answer);
    static const char parse[] =
        "POST /v1/parse HTTP/1.1\r\nHost: localhost:1\r\nOrigin: %s\r\n"
        "Content-Type: text/plain\r\nContent-Length: 8\r\nConnection: close\r\n\r\n0 0\n0 1\n";
    char request[400];
    snprintf(request, sizeof request, parse, "https://evil.example");
    expect_raw(f, request, 403, "--cors");
    snprintf(request, sizeof request, parse, "null");
    expect_raw(f, request, 403, "--cors");
    snprintf(request, sizeof request, parse, "http://localhost:1");
    expect_raw(f, request, 200, "coords");
    expect_raw(f, "\x1b[31mGET\x07 /v1/\x1b[0m HTTP/1.1\r\nHost: localhost\r\n" CLOSE, 404, "no such call");
    finish(f);
    assert_true(read(file, log, sizeof log - 1) > 0);
    assert_non_null(strstr(log, " 127.0.0.1 GET /v1/health 200 "));
    assert_non_null(strstr(log, " POST /v1/parse 403 "));
    assert_non_null(strstr(log, " ?[31mGET? /v1/?[0m 404 "));
    close(file);
    unlink(path);
}

static void other_addresses_of_this_machine_work_as_announced(void **state)
{
    (void)state;
    serve_options o = defaults();
    o.host = "127.0.0.2";
    fixture *f = start(&o);
    assert_true(f->port > 0);
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)f->port)};
    inet_pton(AF_INET, "127.0.0.2", &a.sin_addr);
    int s = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(s, (struct sockaddr *)&a, sizeof a), 0);
    static const char get[] = "GET /v1/health HTTP/1.1\r\nHost: 127.0.0.2:8080\r\n" CLOSE;
    assert_true(send(s, get, sizeof get - 1, MSG_NOSIGNAL) > 0);
    char *answer = rest_of(s);
    assert_int_equal(status_of(answer), 200);
    free(answer);
    finish(f);

    o.host = "::1";
    f = start(&o);
    if (f->port > 0) { /* there are machines without IPv6 */
        struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)f->port)};
        inet_pton(AF_INET6, "::1", &six.sin6_addr);
        s = socket(AF_INET6, SOCK_STREAM, 0);
        assert_int_equal(connect(s, (struct sockaddr *)&six, sizeof six), 0);
        static const char get6[] = "GET /v1/health HTTP/1.1\r\nHost: [::1]:8080\r\n" CLOSE;
        assert_true(send(s, get6, sizeof get6 - 1, MSG_NOSIGNAL) > 0);
        answer = rest_of(s);
        assert_int_equal(status_of(answer), 200);
        free(answer);
    }
    finish(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slow_heads_keep_nobody_out),
        cmocka_unit_test(a_slow_body_is_cut_off),
        cmocka_unit_test(one_address_does_not_take_all_places),
        cmocka_unit_test(who_hangs_up_is_not_solved_for),
        cmocka_unit_test(jobs_that_all_have_left_come_last),
        cmocka_unit_test(clients_take_turns),
        cmocka_unit_test(json_that_unfolds_is_refused),
        cmocka_unit_test(unread_answers_are_bounded),
        cmocka_unit_test(kept_jobs_expire_and_make_room),
        cmocka_unit_test(health_answers_while_others_work),
        cmocka_unit_test(those_who_wait_are_answered_at_the_end),
        cmocka_unit_test(names_origins_and_methods),
        cmocka_unit_test(other_addresses_of_this_machine_work_as_announced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
