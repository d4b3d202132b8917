/* Lines `name = value` of a configuration: any bytes set options of the solver and rules of an instance, or give an error;
 * what was set is one of the values allowed, and the instance is still one that can be checked. */
#include "invit.h"
#include "base/options.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const double xy[] = {0, 0, 3, 4, 6, 0, 3, -4};
    static const int64_t demand[] = {0, 1, 2, 3};
    static const int32_t nodes[] = {1, 2, 3}, start[] = {0, 2, 3};
    invit_instance *p = NULL;
    invit_solution *s = NULL;
    invit_check_result found;
    char *text = malloc(size + 1), *rest = text;
    invit_options *o = invit_options_create();
    if (!text || !o || invit_instance_create_cvrp(xy, demand, 4, 6, INVIT_EXACT, &p, NULL) != INVIT_OK ||
        invit_solution_create(nodes, start, 2, &s, NULL) != INVIT_OK)
        abort();
    memcpy(text, data, size);
    text[size] = 0;
    while (rest && *rest) {
        char *line = rest, *key, *value;
        rest = strchr(rest, '\n');
        if (rest) *rest++ = 0;
        if (!inv_config_line(line, &key, &value) || !key) continue;
        invit_error err = {.message = ""};
        if (invit_options_set(o, key, value, &err) != INVIT_OK && !err.message[0]) abort();
        err.message[0] = 0;
        if (invit_instance_set(p, key, value, &err) != INVIT_OK && !err.message[0]) abort();
    }
    invit_error err = {.message = ""};
    if (invit_instance_validate(p, &err) != INVIT_OK && !err.message[0]) abort();
    if (invit_check(p, s, &found, &err) != INVIT_OK) abort();
    invit_solution_destroy(s);
    invit_instance_destroy(p);
    invit_options_destroy(o);
    free(text);
    return 0;
}
