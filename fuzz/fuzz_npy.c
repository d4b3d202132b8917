#include "fuzz.h"

/* The magic bytes are what told the format: the reader may count on them. */
static invit_status read_npy(inv_text *t, inv_read_state *state, invit_instance **out, invit_error *err)
{
    if (state->index == 0) {
        inv_text_ensure(t);
        if (t->end - t->at < 6 || memcmp(t->at, "\x93NUMPY", 6) != 0) return INVIT_OK;
    }
    return inv_read_npy(t, state, out, err);
}

FUZZ_READER(read_npy)
