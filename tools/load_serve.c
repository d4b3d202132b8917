/* Loads "invit serve" with many clients at once, polite and rude ones, over loopback.
 * usage: load_serve INVIT [CLIENTS [SECONDS [OPTION OF THE SERVER...]]]   (64 clients, 60 seconds)
 * Starts the server on a free port and prints what each kind of request got, how long it took, and the
 * server's memory on the way. Fails on any answer that is not the proper one, when memory keeps growing, and
 * when the server does not end well. */
#define _GNU_SOURCE /* strcasestr */
#include <arpa/inet.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef enum kind { HEALTH, PAGE, SOLVE, JOB, STREAM, CANCEL, MALFORMED, WRONG, RUDE, KINDS } kind;
static const char *const names[KINDS] = {"health",         "page",       "solve",
                                         "submit job",     "follow job", "cancel",
                                         "malformed JSON", "wrong path", "half a request"};

typedef struct tally {
    double *seconds;
    size_t count, room;
    long ok, busy, bad; /* busy: 503, which is proper when the queue is full */
} tally;

typedef struct client {
    pthread_t thread;
    int port, socket; /* socket: kept open from request to request, -1 when there is none */
    double until;
    uint64_t random;
    tally tally[KINDS];
    char answer[1 << 18], id[33], complaint[256];
} client;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void nap(double seconds)
{
    nanosleep(&(struct timespec){(time_t)seconds, (long)(1e9 * fmod(seconds, 1))}, NULL);
}

static unsigned pick(client *c, unsigned below)
{
    c->random = c->random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(c->random >> 33) % below;
}

static void note(client *c, kind k, double began, int status, bool proper)
{
    tally *t = &c->tally[k];
    if (status == 503 && (k == SOLVE || k == JOB))
        t->busy++;
    else if (proper)
        t->ok++;
    else if (t->bad++ == 0)
        snprintf(c->complaint, sizeof c->complaint, "%s: status %d, %.180s", names[k], status, c->answer);
    if (t->count == t->room) {
        t->room = t->room ? 2 * t->room : 1024;
        t->seconds = realloc(t->seconds, t->room * sizeof *t->seconds);
        if (!t->seconds) abort();
    }
    t->seconds[t->count++] = now() - began;
    if (status == 503) nap(0.05); /* as the answer asks, only shorter */
}

/* ---- one request ------------------------------------------------------------------------------- */

static int dial(const client *c)
{
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_port = htons((uint16_t)c->port),
                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct timeval limit = {.tv_sec = 100};
    int s = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
    if (s < 0) return -1;
    setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    if (connect(s, (struct sockaddr *)&a, sizeof a) == 0) return s;
    close(s);
    return -1;
}

static bool send_request(int s, const char *method, const char *path, const char *body)
{
    char text[4096];
    int n = snprintf(text, sizeof text,
                     "%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                     "Content-Length: %zu\r\n\r\n%s",
                     method, path, strlen(body), body);
    return send(s, text, (size_t)n, MSG_NOSIGNAL) == n;
}

/* Reads one answer with a Content-Length into c->answer; its status, 0 when it did not come whole. */
static int read_answer(client *c)
{
    size_t got = 0, length = 0, head = 0;
    int status = 0;
    for (;;) {
        ssize_t n = recv(c->socket, c->answer + got, sizeof c->answer - 1 - got, 0);
        if (n <= 0) return 0;
        got += (size_t)n;
        c->answer[got] = 0;
        char *end = head ? NULL : strstr(c->answer, "\r\n\r\n");
        if (end) {
            const char *field = strcasestr(c->answer, "\r\nContent-Length:");
            if (!field || sscanf(c->answer, "HTTP/1.1 %d", &status) != 1) return 0;
            length = strtoul(field + 17, NULL, 10);
            head = (size_t)(end - c->answer) + 4;
        }
        if (head && got >= head + length) return status;
        if (got + 1 == sizeof c->answer) return 0;
    }
}

static int ask(client *c, const char *method, const char *path, const char *body)
{
    for (int attempt = 0; attempt < 2; attempt++) { /* a kept connection may have been closed meanwhile */
        bool fresh = c->socket < 0;
        if (fresh) c->socket = dial(c);
        if (c->socket < 0) return 0;
        c->answer[0] = 0;
        int status = send_request(c->socket, method, path, body) ? read_answer(c) : 0;
        if (status) return status;
        close(c->socket);
        c->socket = -1;
        if (fresh) return 0;
    }
    return 0;
}

/* ---- what clients do --------------------------------------------------------------------------- */

static void instance(client *c, char *out, size_t room, const char *more)
{
    int n = snprintf(out, room, "{%s,\"instance\":{\"coords\":[[0,0]", more);
    for (unsigned i = 0, nodes = 10 + pick(c, 30); i < nodes; i++)
        n += snprintf(out + n, room - (size_t)n, ",[%u,%u]", pick(c, 1000), pick(c, 1000));
    snprintf(out + n, room - (size_t)n, "]}}");
}

/* Follows a job: to its end, or away in the middle of the stream and then cancelled. */
static void follow_job(client *c)
{
    char body[2048], path[80];
    bool leave = pick(c, 2);
    instance(c, body, sizeof body, leave ? "\"time\":0.5,\"watch\":true" : "\"time\":0.02,\"watch\":true");
    double began = now();
    int status = ask(c, "POST", "/v1/jobs", body);
    const char *id = status == 202 ? strstr(c->answer, "\"id\":\"") : NULL;
    note(c, JOB, began, status, id != NULL);
    if (!id) return;
    memcpy(c->id, id + 6, 32);
    snprintf(path, sizeof path, "/v1/jobs/%s/events", c->id);
    began = now();
    int s = dial(c);
    size_t got = 0;
    bool ended = false;
    if (s >= 0 && send_request(s, "GET", path, "")) {
        for (ssize_t n; !ended && !(leave && got > 100); got += (size_t)n) {
            if ((n = recv(s, c->answer + got, sizeof c->answer - 1 - got, 0)) <= 0) break;
            c->answer[got + (size_t)n] = 0;
            ended = strstr(c->answer, "event: done") || strstr(c->answer, "event: failed");
        }
    }
    if (s >= 0) close(s);
    note(c, STREAM, began, ended ? 200 : 0, ended || leave);
    if (!leave) return;
    snprintf(path, sizeof path, "/v1/jobs/%s", c->id);
    began = now();
    status = ask(c, "DELETE", path, "");
    note(c, CANCEL, began, status, status == 202 || status == 404); /* 404: ended and forgotten already */
}

static void be_malformed(client *c)
{
    static const char *const bodies[] = {
        "",
        "{",
        "[1,2]",
        "{\"instance\":{\"coords\":[[0,NaN]]}}",
        "{\"instance\":{\"coords\":[[0,1e999],[1,1]]}}",
        "{\"instance\":{\"coords\":\"many\"},\"time\":-1}",
        "{\"instance\":{\"problem\":\"cvrp\",\"coords\":[[0,0],[1,1]],\"demands\":[0,9]}}"};
    double began = now();
    int status = ask(c, "POST", pick(c, 2) ? "/v1/solve" : "/v1/jobs", bodies[pick(c, 7)]);
    note(c, MALFORMED, began, status, status == 400 || status == 422);
}

static void be_rude(client *c)
{
    static const char half[] =
        "POST /v1/solve HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000\r\n\r\n{\"inst";
    double began = now();
    int s = dial(c);
    bool sent = s >= 0 && send(s, half, pick(c, sizeof half - 1), MSG_NOSIGNAL) >= 0;
    nap(0.001 * pick(c, 20));
    if (s >= 0) close(s);
    note(c, RUDE, began, 0, sent);
}

static void *run(void *p)
{
    client *c = p;
    char body[2048];
    while (now() < c->until) {
        double began = now();
        unsigned dice = pick(c, 100);
        int status;
        if (dice < 40) {
            status = ask(c, "GET", "/v1/health", "");
            note(c, HEALTH, began, status, status == 200);
        } else if (dice < 45) {
            status = ask(c, "GET", "/", "");
            note(c, PAGE, began, status, status == 200);
        } else if (dice < 70) {
            instance(c, body, sizeof body, "\"time\":0.01,\"rollouts\":1");
            status = ask(c, "POST", "/v1/solve", body);
            note(c, SOLVE, began, status, status == 200 && strstr(c->answer, "\"tour\":["));
        } else if (dice < 80) {
            be_malformed(c);
        } else if (dice < 86) {
            status = ask(c, pick(c, 2) ? "GET" : "DELETE", "/v1/solve/../jobs", "");
            note(c, WRONG, began, status, status == 404 || status == 405);
        } else if (dice < 90) {
            be_rude(c);
        } else {
            follow_job(c);
        }
    }
    if (c->socket >= 0) close(c->socket);
    return NULL;
}

/* ---- the server and the account ----------------------------------------------------------------- */

static pid_t start_server(const char *program, char **more, int *port)
{
    int out[2];
    char line[200] = "";
    if (pipe(out) != 0) return -1;
    pid_t pid = fork();
    if (pid == 0) {
        dup2(out[1], 1);
        const char *arguments[32] = {program, "serve", "--port", "0"};
        for (int i = 4; *more && i < 31; i++) arguments[i] = *more++;
        execv(program, (char **)(uintptr_t)arguments);
        perror(program);
        _exit(127);
    }
    close(out[1]);
    FILE *f = fdopen(out[0], "r");
    bool said = f && fgets(line, sizeof line, f);
    const char *colon = said ? strrchr(line, ':') : NULL;
    *port = colon ? atoi(colon + 1) : 0;
    if (f) fclose(f);
    return *port > 0 ? pid : -1;
}

static double memory_of(pid_t pid) /* resident, in MB */
{
    char path[64], line[200];
    long kilobytes = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f)) sscanf(line, "VmRSS: %ld", &kilobytes);
    if (f) fclose(f);
    return (double)kilobytes / 1024;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* One line per kind; the number of improper answers. */
static long account(client *c, int clients, double seconds)
{
    long requests = 0, bad = 0;
    printf("%-15s %9s %9s %6s %9s %9s %9s\n", "request", "proper", "503 busy", "bad", "p50 ms", "p99 ms",
           "max ms");
    for (int k = 0; k < KINDS; k++) {
        tally all = {0};
        for (int i = 0; i < clients; i++) all.count += c[i].tally[k].count;
        all.seconds = malloc((all.count + 1) * sizeof *all.seconds);
        if (!all.seconds) abort();
        all.count = 0;
        for (int i = 0; i < clients; i++) {
            const tally *t = &c[i].tally[k];
            if (t->count) memcpy(all.seconds + all.count, t->seconds, t->count * sizeof *t->seconds);
            all.count += t->count;
            all.ok += t->ok, all.busy += t->busy, all.bad += t->bad;
        }
        qsort(all.seconds, all.count, sizeof *all.seconds, by_size);
        if (all.count)
            printf("%-15s %9ld %9ld %6ld %9.2f %9.2f %9.2f\n", names[k], all.ok, all.busy, all.bad,
                   1e3 * all.seconds[all.count / 2], 1e3 * all.seconds[all.count * 99 / 100],
                   1e3 * all.seconds[all.count - 1]);
        requests += (long)all.count;
        bad += all.bad;
        free(all.seconds);
    }
    printf("%ld requests by %d clients in %.0f s: %.0f per second\n", requests, clients, seconds,
           (double)requests / seconds);
    return bad;
}

int main(int argc, char **argv)
{
    int clients = argc > 2 ? atoi(argv[2]) : 64, port;
    double seconds = argc > 3 ? atof(argv[3]) : 60;
    if (argc < 2 || clients < 1 || !(seconds > 0)) {
        fprintf(stderr, "usage: load_serve INVIT [CLIENTS [SECONDS [OPTION...]]]\n");
        return 2;
    }
    pid_t server = start_server(argv[1], argc > 4 ? argv + 4 : argv + argc, &port);
    if (server < 0) return 1;
    client *c = calloc((size_t)clients, sizeof *c);
    if (!c) return 1;
    double began = now(), memory[4];
    for (int i = 0; i < clients; i++) {
        c[i].port = port;
        c[i].socket = -1;
        c[i].until = began + seconds;
        c[i].random = 12345 + 977 * (uint64_t)i;
        if (pthread_create(&c[i].thread, NULL, run, &c[i]) != 0) return 1;
    }
    static const double when[4] = {0.1, 0.4, 0.7, 1};
    for (int i = 0; i < 4; i++) {
        nap(fmax(0, began + when[i] * seconds - now()));
        memory[i] = memory_of(server);
    }
    for (int i = 0; i < clients; i++) pthread_join(c[i].thread, NULL);
    long bad = account(c, clients, seconds);
    printf("memory of the server: %.1f MB after %.0f s, %.1f after %.0f s, %.1f after %.0f s, %.1f after "
           "%.0f s\n",
           memory[0], when[0] * seconds, memory[1], when[1] * seconds, memory[2], when[2] * seconds,
           memory[3], seconds);
    for (int i = 0; i < clients; i++) {
        if (c[i].complaint[0]) printf("first bad answer to client %d: %s\n", i, c[i].complaint);
        for (int k = 0; k < KINDS; k++) free(c[i].tally[k].seconds);
    }
    free(c);
    kill(server, SIGTERM);
    int status = -1;
    waitpid(server, &status, 0);
    bool ended = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (!ended) printf("the server did not end well (status %x)\n", (unsigned)status);
    /* a shorter run is still filling its pools, above all under a sanitizer: it says nothing about leaks */
    bool flat = seconds < 3 || memory[3] <= 1.2 * memory[1] + 8;
    if (!flat) printf("memory grew\n");
    return bad == 0 && ended && flat ? 0 : 1;
}
