/* A server in a thread of the test, and a client that speaks plain bytes. */
#ifndef INVIT_TESTS_SERVE_CLIENT_H
#define INVIT_TESTS_SERVE_CLIENT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "serve/serve.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define UNUSED __attribute__((unused)) /* not every test needs all of this */
#define JSON   "application/json"

typedef struct fixture {
    serve_options options;
    int stop;
    _Atomic int port;
    invit_status status;
    invit_error err;
    pthread_t thread;
} fixture;

UNUSED static void nap(double seconds)
{
    nanosleep(&(struct timespec){.tv_sec = (time_t)seconds,
                                 .tv_nsec = (long)(1e9 * (seconds - (double)(time_t)seconds))},
              NULL);
}

UNUSED static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

UNUSED static void ready(void *user, int port)
{
    ((fixture *)user)->port = port;
}

UNUSED static void *run(void *p)
{
    fixture *f = p;
    f->status = serve_run(&f->options, &f->stop, ready, f, &f->err);
    if (!f->port) f->port = -1;
    return NULL;
}

UNUSED static serve_options defaults(void)
{
    serve_options o;
    serve_options_init(&o);
    o.threads = 1;
    return o;
}

UNUSED static fixture *start(const serve_options *o)
{
    fixture *f = calloc(1, sizeof *f);
    f->options = *o;
    f->options.port = 0;
    pthread_create(&f->thread, NULL, run, f);
    while (!f->port) nap(0.01);
    return f;
}

UNUSED static void finish(fixture *f)
{
    __atomic_store_n(&f->stop, 1, __ATOMIC_RELAXED);
    pthread_join(f->thread, NULL);
    free(f);
}

/* From another address of this machine, if `from` is not NULL: another client. */
UNUSED static int open_socket_from(const fixture *f, const char *from)
{
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_port = htons((uint16_t)f->port),
                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)},
                       own = {.sin_family = AF_INET};
    int s = socket(AF_INET, SOCK_STREAM, 0);
    if (from) {
        inet_pton(AF_INET, from, &own.sin_addr);
        assert_int_equal(bind(s, (struct sockaddr *)&own, sizeof own), 0);
    }
    assert_int_equal(connect(s, (struct sockaddr *)&a, sizeof a), 0);
    struct timeval limit = {.tv_sec = 20};
    setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    return s;
}

UNUSED static int open_socket(const fixture *f)
{
    return open_socket_from(f, NULL);
}

/* Sends a request from that address, if it is not NULL; what comes is for the caller. */
UNUSED static int begin(const fixture *f, const char *from, const char *method, const char *path,
                        const char *body)
{
    size_t room = strlen(body) + 256;
    char *text = malloc(room);
    int s = open_socket_from(f, from),
        n = snprintf(text, room,
                     "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                     "Content-Type: " JSON "\r\nContent-Length: %zu\r\n\r\n%s",
                     method, path, strlen(body), body);
    assert_true(send(s, text, (size_t)n, MSG_NOSIGNAL) == n);
    free(text);
    return s;
}

/* Sends bytes and returns all that comes back until the server closes; to be freed. */
UNUSED static char *exchange(const fixture *f, const char *bytes, size_t count)
{
    int s = open_socket(f);
    size_t sent = 0, got = 0, room = 1 << 16;
    while (sent < count) {
        ssize_t n = send(s, bytes + sent, count - sent, MSG_NOSIGNAL);
        if (n <= 0) break;
        sent += (size_t)n;
    }
    char *answer = malloc(room + 1);
    for (;;) {
        ssize_t n = recv(s, answer + got, room - got, 0);
        if (n <= 0) break;
        got += (size_t)n;
        if (got == room) answer = realloc(answer, (room *= 2) + 1);
    }
    answer[got] = 0;
    close(s);
    return answer;
}

UNUSED static char *ask(const fixture *f, const char *method, const char *path, const char *type,
                        const char *body)
{
    size_t room = strlen(body) + 512;
    char *text = malloc(room);
    int n = snprintf(text, room,
                     "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: "
                     "%s\r\nContent-Length: %zu\r\n\r\n%s",
                     method, path, type, strlen(body), body);
    char *answer = exchange(f, text, (size_t)n);
    free(text);
    return answer;
}

UNUSED static int status_of(const char *answer)
{
    int status = 0;
    sscanf(answer, "HTTP/1.1 %d", &status);
    return status;
}

UNUSED static void expect(const fixture *f, const char *method, const char *path, const char *type,
                          const char *body, int status, const char *words)
{
    char *answer = ask(f, method, path, type, body);
    if (status_of(answer) != status || !strstr(answer, words))
        fail_msg("%s %s gave:\n%.600s\ninstead of %d with \"%s\"", method, path, answer, status, words);
    free(answer);
}

UNUSED static void get_id(const char *answer, char id[33])
{
    const char *at = strstr(answer, "\"id\":\"");
    assert_non_null(at);
    memcpy(id, at + 6, 32);
    id[32] = 0;
}

/* Bytes of memory this process, and with it the server, has in use. */
UNUSED static long resident(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%*d %ld", &pages), 1);
    fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

/* A server with narrow limits, for a group of tests. */
UNUSED static int set_up(void **state)
{
    serve_options o;
    serve_options_init(&o);
    o.max_body = 100000;
    o.max_nodes = 500;
    o.sync_nodes = 100;
    o.queue = 2;
    o.max_time = 30;
    o.idle_timeout = 2;
    *state = start(&o);
    return 0;
}

UNUSED static int tear_down(void **state)
{
    finish(*state);
    return 0;
}

#endif
