/* The solver in a browser: what the page asks of a server, answered without one. Compiled to WebAssembly (make web) and
 * called by worker.js. Every call takes and gives JSON texts in the API's words, and keeps nothing but the models. */
#include "serve/solve.h"
#include "base/json_memory.h"
#include "base/json_text.h"
#include "serve/memory.h"
#include "serve/wire.h"

#include <emscripten.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NODES = 200000 }; /* what fits into a browser's memory with room to spare */
static const double LONGEST = 86400;

struct job {
    char id[40];
    job_request request;
    int cancel;
    size_t told; /* bytes of events */
};

/* Tells the page of an event: its name, and what happened as JSON. */
EM_JS(void, tell, (const char *name, const char *data),
      { Module.onevent(UTF8ToString(name), UTF8ToString(data)); })

/* ---- what solve.c needs of a job ---- */

const char *job_id(const job *j)
{
    return j->id;
}
const job_request *job_get_request(const job *j)
{
    return &j->request;
}
const invit_instance *job_instance(const job *j)
{
    return j->request.instance;
}
const volatile int *job_cancel_flag(const job *j)
{
    return &j->cancel;
}
size_t job_event_bytes(job *j)
{
    return j->told;
}

/* Decisions are many, and only drawn. */
void job_add_event(job *j, const char *name, json_t *data)
{
    size_t digits = strcmp(name, "steps") == 0 ? 9 : 17;
    char *text = data ? inv_json_text(data, JSON_COMPACT | JSON_REAL_PRECISION(digits)) : NULL;
    if (text && !memory_failed()) {
        j->told += strlen(text);
        tell(name, text);
    }
    json_decref(data);
    free(text);
}

/* ---- the calls; each answers with a JSON text that the caller frees, {"error": ...} when it was not possible ---- */

static void begin(void)
{
    inv_json_watch();
    memory_begin();
}

/* NULL when there was no memory, also where JSON would lack something for it. */
static char *answer(json_t *o)
{
    char *text = o ? inv_json_text(o, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(o);
    if (!memory_failed()) return text;
    free(text);
    return NULL;
}

static json_t *describe_error(const invit_error *err)
{
    json_t *e = json_pack("{s:o}", "message", wire_text(err->message));
    if (request_needs_capacity(err)) json_object_set_new(e, "needs", json_string("capacity"));
    return json_pack("{s:o}", "error", e);
}

static json_t *read_json(const char *text, invit_error *err)
{
    json_error_t why;
    json_t *o = json_loads(text, JSON_REJECT_DUPLICATES, &why);
    if (!o) snprintf(err->message, sizeof err->message, "not JSON: %s", why.text);
    return o;
}

static json_t *write_instance(invit_status status, invit_instance *p, const invit_error *err)
{
    json_t *o = status == INVIT_OK ? wire_write_instance(p) : describe_error(err);
    invit_instance_destroy(p);
    return o;
}

EMSCRIPTEN_KEEPALIVE char *web_parse(const char *bytes, size_t length, const char *name, double capacity)
{
    begin();
    invit_error err = {.message = "out of memory"};
    invit_instance *p = NULL;
    json_t *remarks = json_array();
    invit_status status =
        request_parse(bytes, length, name, (int64_t)capacity, MOST_NODES, &p, remarks, &err);
    json_t *o = write_instance(status, p, &err);
    if (status == INVIT_OK && json_array_size(remarks) > 0) json_object_set(o, "remarks", remarks);
    json_decref(remarks);
    return answer(o);
}

EMSCRIPTEN_KEEPALIVE char *web_generate(const char *wanted)
{
    begin();
    invit_error err = {.message = "out of memory"};
    invit_instance *p = NULL;
    json_t *o = read_json(wanted, &err);
    invit_status status = o ? request_generate(o, MOST_NODES, &p, &err) : INVIT_ERR_INPUT;
    json_decref(o);
    return answer(write_instance(status, p, &err));
}

/* {"instance", "start": routes} as a file with that ending, or one route of a list: {"text": ...}. */
EMSCRIPTEN_KEEPALIVE char *web_write(const char *solved, const char *ending, int route)
{
    begin();
    invit_error err = {.message = "out of memory"};
    job_request q = {0};
    char *text = NULL;
    size_t length = 0;
    json_t *o = read_json(solved, &err);
    invit_status status = o ? request_solve(o, MOST_NODES, LONGEST, &q, &err) : INVIT_ERR_INPUT;
    if (status == INVIT_OK)
        status = request_write(q.instance, q.plan.start, ending, route, &text, &length, &err);
    json_t *out = status == INVIT_OK ? json_pack("{s:s#}", "text", text, length) : describe_error(&err);
    free(text);
    job_request_destroy(&q);
    json_decref(o);
    return answer(out);
}

/* The weights are loaded when they are first needed; worker.js has put them where the library looks. */
static invit_status get_context(solve_context **out, invit_error *err)
{
    static serve_options options = {.threads = 1, .workers = 1};
    static solve_context *context;
    invit_status status = context ? INVIT_OK : solve_context_create(&options, &context, err);
    *out = context;
    return status;
}

/* Solves, telling events on the way. `stopped`: somebody has pressed Stop, and the start, or else a fast construction,
 * is all there will be. */
EMSCRIPTEN_KEEPALIVE char *web_solve(const char *wanted, const char *id, int stopped)
{
    begin();
    invit_error err = {.message = "out of memory"};
    job j = {.cancel = stopped};
    solve_context *context = NULL;
    solve_outcome out = {0};
    json_t *o = read_json(wanted, &err);
    snprintf(j.id, sizeof j.id, "%s", id);
    invit_status status = o ? request_solve(o, MOST_NODES, LONGEST, &j.request, &err) : INVIT_ERR_INPUT;
    json_decref(o);
    if (status == INVIT_OK) status = get_context(&context, &err);
    if (status == INVIT_OK) {
        out = solve_job(context, &j);
        if (!out.result) err = out.error;
    }
    invit_solution_destroy(out.solution);
    job_request_destroy(&j.request);
    return answer(out.result ? out.result : describe_error(&err));
}
