/* Bodies: kept within the budget, and read as JSON only when there is room for what they unfold to. */
#include "base/json_size.h"
#include "serve/calls.h"
#include "serve/memory.h"

#include <stdlib.h>
#include <string.h>

void body_drop(request *r)
{
    budget_give(&r->server->budget, (int64_t)r->room);
    free(r->body);
    r->body = NULL;
    r->length = r->room = 0;
}

bool body_take(request *r, const char *bytes, size_t count)
{
    if (r->length + count + 1 > r->room) {
        size_t room = r->room ? r->room : 4096;
        while (room < r->length + count + 1) room *= 2;
        if (!serve_take(r->server, (int64_t)(room - r->room))) return false;
        char *grown = realloc(r->body, room);
        if (!grown) {
            budget_give(&r->server->budget, (int64_t)(room - r->room));
            return false;
        }
        r->body = grown;
        r->room = room;
    }
    memcpy(r->body + r->length, bytes, count);
    r->length += count;
    r->body[r->length] = 0;
    return true;
}

bool body_take_memory(request *r, int64_t needs)
{
    if (serve_take(r->server, needs)) return true;
    bool never = needs > r->server->budget.limit;
    serve_error(r, never ? 413 : 503,
                never ? "this body unfolds to more memory than the server may use"
                      : "the server's memory is taken by other requests; try again later");
    return false;
}

json_t *body_object(request *r)
{
    const char *type = MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, "Content-Type");
    if (!type || strncmp(type, "application/json", 16) != 0) {
        serve_error(r, 415, "send JSON, with Content-Type: application/json");
        return NULL;
    }
    int64_t needs = inv_json_size_of(r->body, r->length);
    if (!body_take_memory(r, needs)) return NULL;
    json_error_t error;
    memory_begin();
    json_t *o = json_loadb(r->body ? r->body : "", r->length, JSON_REJECT_DUPLICATES, &error);
    if (memory_failed()) {
        json_decref(o);
        budget_give(&r->server->budget, needs);
        serve_out_of_memory(r);
        return NULL;
    }
    if (json_is_object(o)) {
        r->unfolded = needs;
        return o;
    }
    char message[512];
    if (o)
        snprintf(message, sizeof message, "the body must be a JSON object");
    else
        snprintf(message, sizeof message, "line %d, column %d of the body: %s", error.line, error.column,
                 error.text);
    if (o) json_decref(o);
    budget_give(&r->server->budget, needs);
    serve_error(r, 400, message);
    return NULL;
}

void body_release_object(request *r, json_t *object)
{
    json_decref(object);
    budget_give(&r->server->budget, r->unfolded);
    r->unfolded = 0;
}
