/* Work beside the polling thread: whose turn it is, who has left, and the end. And bodies that nobody wants. */
#include "serve_client.h"

/* Sockets on which nothing has come yet. */
static int unanswered(const int *s, int count)
{
    int waiting = 0;
    char byte;
    for (int i = 0; i < count; i++) waiting += recv(s[i], &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0;
    return waiting;
}

static const char large[] =
    "{\"size\": 300000}"; /* a few of these at a time would keep the threads busy for a minute */

enum { MANY = 100 };

static void begin_many(const fixture *f, int *s)
{
    for (int i = 0; i < MANY; i++) s[i] = begin(f, "127.0.0.1", "POST", "/v1/generate", large);
    while (unanswered(s, MANY) == MANY) nap(0.01); /* the first is done, the others wait */
}

static void work_for_clients_takes_turns(void **state)
{
    (void)state;
    serve_options o = defaults();
    fixture *f = start(&o);
    int s[MANY];
    begin_many(f, s);
    int other = begin(f, "127.0.0.2", "POST", "/v1/generate", "{\"size\": 3}");
    char answer[2000] = "";
    assert_true(recv(other, answer, sizeof answer - 1, 0) > 0);
    assert_int_equal(status_of(answer), 200);
    assert_true(unanswered(s, MANY) > MANY / 2);
    close(other);
    for (int i = 0; i < MANY; i++) close(s[i]);
    finish(f);
}

static void work_for_clients_that_left_is_not_begun(void **state)
{
    (void)state;
    serve_options o = defaults();
    fixture *f = start(&o);
    int s[MANY];
    begin_many(f, s);
    for (int i = 0; i < MANY; i++) close(s[i]);
    long left = 0;
    for (double until = now() + 15; left < MANY / 2 && now() < until; nap(0.1)) {
        char *metrics = ask(f, "GET", "/v1/metrics", JSON, ""),
             *at = strstr(metrics, "\ninvit_hangups_total ");
        assert_non_null(at);
        left = atol(at + 21);
        free(metrics);
    }
    assert_true(left >= MANY / 2);
    expect(f, "POST", "/v1/generate", JSON, "{\"size\": 3}", 200, "coords");
    finish(f);
}

/* What waits for a thread when --drain is over is not begun: the end does not take as long as all of it would. */
static void the_end_does_not_wait_for_what_was_not_begun(void **state)
{
    (void)state;
    serve_options o = defaults();
    o.drain = 0.2;
    fixture *f = start(&o);
    int s[MANY];
    begin_many(f, s);
    finish(f);
    int answered = 0;
    for (int i = 0; i < MANY; i++) {
        char byte;
        answered += recv(s[i], &byte, 1, 0) == 1;
        close(s[i]);
    }
    assert_true(answered < MANY / 2);
}

/* ---- memory -------------------------------------------------------------------------------------------- */

static long used_by(const fixture *f)
{
    char *metrics = ask(f, "GET", "/v1/metrics", JSON, ""), *at = strstr(metrics, "\ninvit_memory_bytes ");
    assert_non_null(at);
    long used = atol(at + 20);
    free(metrics);
    return used;
}

static char *matrix_body(int n)
{
    char *body = malloc(64 + (size_t)n * (2 * (size_t)n + 2)),
         *at = body + sprintf(body, "{\"time\":0,\"rollouts\":1,\"instance\":{\"distances\":[");
    for (int i = 0; i < n; i++) {
        at += sprintf(at, i ? ",[1" : "[1");
        for (int j = 1; j < n; j++) at += sprintf(at, ",1");
        *at++ = ']';
    }
    strcpy(at, "]}}");
    return body;
}

/* Jobs that are kept with their matrices are within the budget: the oldest make room. */
/* The job's end. */
static void wait_for(const fixture *f, const char *id)
{
    for (bool done = false; !done; nap(0.05)) {
        char path[80];
        snprintf(path, sizeof path, "/v1/jobs/%s", id);
        char *answer = ask(f, "GET", path, JSON, "");
        done = strstr(answer, "\"state\":\"done\"") != NULL;
        free(answer);
    }
}

static void matrices_count(void **state)
{
    (void)state;
    enum { NODES = 600 };
    serve_options o = defaults();
    o.memory = 64 << 20;
    fixture *f = start(&o);
    char *body = matrix_body(NODES), id[33], *answer = ask(f, "POST", "/v1/jobs", JSON, body);
    assert_int_equal(status_of(answer), 202);
    get_id(answer, id);
    free(answer);
    wait_for(f, id);
    assert_true(used_by(f) > 8L * NODES * NODES);
    free(body);
    finish(f);
}

static void names_and_labels_count(void **state)
{
    (void)state;
    enum { LENGTH = 4 << 20 };
    serve_options o = defaults();
    o.memory = 256 << 20;
    fixture *f = start(&o);
    char *text = malloc(LENGTH + 1), *body = malloc(2 * LENGTH + 200), id[33];
    memset(text, 'x', LENGTH);
    text[LENGTH] = 0;
    sprintf(body,
            "{\"time\":0,\"instance\":{\"coords\":[[0,0],[1,1]],\"name\":\"%s\",\"labels\":[\"%s\",\"\"]}}",
            text, text);
    char *answer = ask(f, "POST", "/v1/jobs", JSON, body);
    assert_int_equal(status_of(answer), 202);
    get_id(answer, id);
    free(answer);
    wait_for(f, id);
    assert_true(used_by(f) >
                4L * LENGTH); /* twice in the instance, and the name in the solution and the last event */
    free(text);
    free(body);
    finish(f);
}

/* The sanitizers' allocators keep what is freed on purpose. */
#ifdef __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define KEEPS_MEMORY
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define KEEPS_MEMORY
#endif

static void memory_goes_back_to_the_system(void **state)
{
    (void)state;
#ifdef KEEPS_MEMORY
    skip();
#endif
    serve_options o = defaults();
    fixture *f = start(&o);
    enum { TIMES = 1500000 };
    char *body = malloc(6 * TIMES + 64), *at = body + sprintf(body, "{\"instance\":[");
    for (int i = 0; i < TIMES; i++, at += 4) memcpy(at, "\"a\",", 4);
    strcpy(at, "0]}");
    long before = resident();
    expect(f, "POST", "/v1/jobs", JSON, body, 422, "must be a JSON object");
    for (double until = now() + 20; resident() - before > (24 << 20) && now() < until;) nap(0.1);
    assert_true(resident() - before < (24 << 20));
    free(body);
    finish(f);
}

/* A body that is refused ends its connection: who has no token cannot send one after the other. */
static void an_unwanted_body_is_the_last(void **state)
{
    (void)state;
    char path[] = "/tmp/invit-token-XXXXXX";
    int file = mkstemp(path);
    assert_true(write(file, "0123456789abcdef\n", 17) == 17);
    serve_options o = defaults();
    o.token_file = path;
    fixture *f = start(&o);
    static const char two[] = "POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\n1234"
                              "GET /v1/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
                      without[] = "DELETE /v1/jobs/x HTTP/1.1\r\nHost: localhost\r\n\r\n"
                                  "GET /v1/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    char *answer = exchange(f, two, sizeof two - 1);
    assert_int_equal(status_of(answer), 401);
    assert_null(strstr(answer, "HTTP/1.1 200"));
    free(answer);
    answer = exchange(f, without, sizeof without - 1);
    assert_int_equal(status_of(answer), 404);
    assert_non_null(strstr(answer, "HTTP/1.1 200"));
    free(answer);
    finish(f);
    close(file);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_for_clients_takes_turns),
        cmocka_unit_test(work_for_clients_that_left_is_not_begun),
        cmocka_unit_test(the_end_does_not_wait_for_what_was_not_begun),
        cmocka_unit_test(matrices_count),
        cmocka_unit_test(names_and_labels_count),
        cmocka_unit_test(memory_goes_back_to_the_system),
        cmocka_unit_test(an_unwanted_body_is_the_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
