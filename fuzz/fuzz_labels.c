/* Label files: any bytes give orders that visit every node once, or an error. The first byte is the problem. */
#include "lab/train/data/label_file.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    invit_error err = {.message = ""};
    inv_label_file *f = NULL;
    inv_demonstration d;
    if (size < 1) return 0;
    invit_problem problem = data[0] & 1 ? INVIT_CVRP : INVIT_TSP;
    if (inv_label_file_parse(data + 1, size - 1, "input", problem, &f, &err) != INVIT_OK) {
        if (strncmp(err.message, "input", 5) != 0) abort();
        return 0;
    }
    if (inv_demonstration_init(&d, inv_label_file_largest(f), &err) != INVIT_OK) abort();
    for (int64_t i = 0; i < inv_label_file_count(f); i++) {
        invit_instance *p = NULL;
        if (inv_label_file_get(f, i, &p, &d, &err) != INVIT_OK || d.count < 1 || d.count > 2 * p->n) abort();
        for (int32_t k = 0; k < d.count; k++)
            if (d.order[k] < 0 || d.order[k] >= p->n) abort();
        invit_instance_destroy(p);
    }
    inv_demonstration_destroy(&d);
    inv_label_file_close(f);
    return 0;
}
