/* The public way in: the format is told from the content. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    invit_reader *r;
    invit_instance *p;
    invit_error err;
    if (invit_reader_open_memory(data, size, "input", &r, &err) != INVIT_OK) return 0;
    while (invit_reader_next(r, &p, &err) == INVIT_OK && p) {
        fuzz_look_at(p);
        invit_instance_destroy(p);
    }
    invit_reader_close(r);
    return 0;
}
