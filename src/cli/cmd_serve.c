/* invit serve: the page and the JSON API. */
#include "cli/cli.h"
#include "serve/serve.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

typedef struct serve_values {
    serve_options o;
    bool quiet;
} serve_values;

#define AT(field) .offset = offsetof(serve_values, o.field)
static const cli_option options[] = {
    {.name = "host",
     .type = CLI_STRING,
     AT(host),
     .metavar = "ADDRESS",
     .help = "address to listen on; beyond this machine only with --token-file"},
    {.name = "port",
     .letter = 'p',
     .type = CLI_INT,
     AT(port),
     .metavar = "N",
     .min = 0,
     .max = 65535,
     .help = "port to listen on; 0 takes a free one"},
    {.name = "token-file",
     .type = CLI_STRING,
     AT(token_file),
     .metavar = "FILE",
     .help = "its first line is the secret that clients must send"},
    {.name = "model",
     .letter = 'm',
     .type = CLI_STRING,
     AT(model),
     .metavar = "FILE",
     .fallback = "the bundled ones",
     .help = "model to construct with: a file, or a bundled model's name"},
    {.name = "threads",
     .letter = 'j',
     .type = CLI_INT,
     AT(threads),
     .metavar = "N",
     .fallback = "all cores",
     .min = 0,
     .max = 4096,
     .help = "threads for solving, all jobs together"},
    {.name = "workers",
     .type = CLI_INT,
     AT(workers),
     .metavar = "N",
     .min = 1,
     .max = 256,
     .help = "jobs solved at the same time; they share the threads"},
    {.name = "queue",
     .type = CLI_INT,
     AT(queue),
     .metavar = "N",
     .min = 1,
     .max = 100000,
     .help = "jobs that may wait; more are answered with 503"},
    {.name = "keep",
     .type = CLI_INT,
     AT(keep),
     .metavar = "N",
     .min = 1,
     .max = 100000,
     .help = "finished jobs kept for fetching"},
    {.name = "connections",
     .type = CLI_INT,
     AT(connections),
     .metavar = "N",
     .min = 4,
     .max = 100000,
     .help = "open connections"},
    {.name = "max-body",
     .type = CLI_INT64,
     AT(max_body),
     .metavar = "BYTES",
     .min = 1024,
     .max = 1e10,
     .help = "largest request"},
    {.name = "max-nodes",
     .type = CLI_INT64,
     AT(max_nodes),
     .metavar = "N",
     .min = 2,
     .max = 1e9,
     .help = "largest instance"},
    {.name = "max-time",
     .type = CLI_SECONDS,
     AT(max_time),
     .metavar = "SECONDS",
     .min = 0.1,
     .max = 1e6,
     .help = "longest time a job may ask for"},
    {.name = "sync-nodes",
     .type = CLI_INT64,
     AT(sync_nodes),
     .metavar = "N",
     .min = 2,
     .max = 1e9,
     .help = "largest instance of a synchronous call"},
    {.name = "sync-time",
     .type = CLI_SECONDS,
     AT(sync_time),
     .metavar = "SECONDS",
     .min = 0.1,
     .max = 1e6,
     .help = "longest time of a synchronous call"},
    {.name = "idle-timeout",
     .type = CLI_SECONDS,
     AT(idle_timeout),
     .metavar = "SECONDS",
     .min = 1,
     .max = 1e6,
     .help = "silent clients are dropped after this"},
    {.name = "header-time",
     .type = CLI_SECONDS,
     AT(header_time),
     .metavar = "SECONDS",
     .min = 0.1,
     .max = 1e6,
     .help = "time for the head of a request"},
    {.name = "body-time",
     .type = CLI_SECONDS,
     AT(body_time),
     .metavar = "SECONDS",
     .min = 0.1,
     .max = 1e6,
     .help = "time for a body, and a second more for every 8 KB that came"},
    {.name = "per-address",
     .type = CLI_INT,
     AT(per_address),
     .metavar = "N",
     .fallback = "3/4 of --connections",
     .min = 0,
     .max = 100000,
     .help = "open connections from one address"},
    {.name = "memory",
     .type = CLI_INT64,
     AT(memory),
     .metavar = "BYTES",
     .min = 1 << 20,
     .max = 1e15,
     .help = "for everything in flight and kept, without the solver's own"},
    {.name = "keep-time",
     .type = CLI_SECONDS,
     AT(keep_time),
     .metavar = "SECONDS",
     .min = 1,
     .max = 1e9,
     .help = "finished jobs are forgotten after this"},
    {.name = "drain",
     .type = CLI_SECONDS,
     AT(drain),
     .metavar = "SECONDS",
     .min = 0,
     .max = 1e6,
     .help = "time for answers on their way when the server stops"},
    {.name = "log",
     .type = CLI_STRING,
     AT(log),
     .metavar = "FILE",
     .fallback = "off",
     .help = "append one line per request; - is standard error"},
    {.name = "tiles",
     .type = CLI_STRING,
     AT(tiles),
     .metavar = "URL",
     .fallback = "off",
     .help = "map behind the routes: https://HOST/{z}/{x}/{y}.png; browsers fetch it"},
    {.name = "tiles-credit",
     .type = CLI_STRING,
     AT(tiles_credit),
     .metavar = "TEXT",
     .fallback = "the tiles' host",
     .help = "whom to name under the map"},
    {.name = "cors",
     .type = CLI_STRING,
     AT(cors),
     .metavar = "ORIGIN",
     .fallback = "off",
     .help = "let pages of that origin call the API"},
    {.name = "quiet",
     .letter = 'q',
     .type = CLI_BOOL,
     .offset = offsetof(serve_values, quiet),
     .help = "do not print the address"},
    CLI_END};

static const cli_spec spec = {
    .command = "serve",
    .usage = "[OPTION...]",
    .about =
        "Serves a page to draw, solve and watch problems, and a JSON API (described at /v1/openapi.json).",
    .options = options,
    .more = "Examples:\n"
            "  invit serve                                  the page at http://127.0.0.1:8080/\n"
            "  invit serve --host 0.0.0.0 --token-file key  for other machines; the page takes #token=...\n"
            "  curl -s localhost:8080/v1/solve -H 'Content-Type: application/json' \\\n"
            "       -d '{\"instance\": {\"coords\": [[0,0],[1,0],[1,1],[0,1]]}, \"time\": 1}'"};

static void announce(void *user, int port)
{
    const serve_values *v = user;
    if (v->quiet) return;
    bool six = strchr(v->o.host, ':') != NULL;
    printf("invit serves http://%s%s%s:%d/ (Ctrl-C stops it)\n", six ? "[" : "", v->o.host, six ? "]" : "",
           port);
    fflush(stdout);
}

int cmd_serve(int argc, char **argv)
{
    serve_values v = {0};
    invit_error err = {0};
    cli_args args;
    serve_options_init(&v.o);
    int code = cli_parse(&spec, &v, argc, argv, &args);
    if (code != CLI_GO) return code;
    invit_status status = serve_run(&v.o, cli_cancel_flag(), announce, &v, &err);
    cli_args_free(&args);
    return status == INVIT_OK ? CLI_OK : cli_report(&err);
}
