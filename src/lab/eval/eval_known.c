/* Best-known lengths from a CSV file. */
#include "lab/eval/eval_known.h"

#include "base/lines.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const inv_known *inv_known_find(const inv_known_list *list, const char *name)
{
    for (int32_t i = 0; i < list->count; i++)
        if (strcmp(list->item[i].name, name) == 0) return &list->item[i];
    return NULL;
}

void inv_known_free(inv_known_list *list)
{
    free(list->item);
    *list = (inv_known_list){0};
}

/* "instance,length" and perhaps more; false when it is something else. */
static bool parse_line(const char *line, inv_known *k)
{
    const char *comma = strchr(line, ',');
    char *end;
    if (!comma || comma == line || (size_t)(comma - line) >= sizeof k->name) return false;
    size_t n = (size_t)(comma - line);
    memcpy(k->name, line, n);
    k->name[n] = 0;
    k->length = strtod(comma + 1, &end);
    end += strspn(end, " \t\r\n");
    return end != comma + 1 && (*end == 0 || *end == ',') && k->length > 0 && isfinite(k->length);
}

static invit_status add(inv_known_list *list, const inv_known *k, const char *path, int64_t number,
                        invit_error *err)
{
    if (inv_known_find(list, k->name))
        return inv_fail(err, INVIT_ERR_INPUT, "%s:%lld: %s is there twice", path, (long long)number, k->name);
    size_t size = ((size_t)list->count + 1) * sizeof *list->item;
    inv_known *more = realloc(list->item, size);
    if (!more) return inv_no_memory(err, size);
    list->item = more;
    list->item[list->count++] = *k;
    return INVIT_OK;
}

invit_status inv_known_read(const char *path, inv_known_list *list, invit_error *err)
{
    *list = (inv_known_list){0};
    FILE *f = fopen(path, "r");
    if (!f) return inv_fail(err, INVIT_ERR_IO, "%s: %s", path, strerror(errno));
    invit_status status = INVIT_OK;
    char *line = NULL;
    size_t room = 0;
    int64_t number = 1;
    for (; status == INVIT_OK && inv_getline(&line, &room, f) >= 0; number++) {
        inv_known k;
        if (line[strspn(line, " \t\r\n")] == 0 || line[0] == '#') continue;
        if (parse_line(line, &k))
            status = add(list, &k, path, number, err);
        else if (number > 1)
            status =
                inv_fail(err, INVIT_ERR_INPUT, "%s:%lld: expected INSTANCE,LENGTH with a positive length",
                         path, (long long)number);
    }
    if (status == INVIT_OK) status = inv_lines_ended(f, path, number, err);
    free(line);
    fclose(f);
    if (status != INVIT_OK) inv_known_free(list);
    return status;
}
