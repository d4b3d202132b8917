/* The small files that evaluation and training read back: results (first byte 0 modulo 3), best-known lengths
 * (1), a training configuration (2). Any bytes give records or one error that names the file. */
#include "invit_lab.h"
#include "lab/eval/eval_journal.h"
#include "lab/eval/eval_known.h"
#include "file.h"

#include <math.h>
#include <string.h>

static void look_at(const uint8_t *data, size_t size, int kind)
{
    const char *path = fuzz_file(data, size);
    invit_error err = {.message = ""};
    invit_status status;
    if (kind == 0) {
        inv_journal *j = NULL;
        status = inv_journal_read(path, &j, &err);
        for (int32_t i = 0; status == INVIT_OK && i < inv_journal_count(j); i++) {
            const inv_outcome *o = inv_journal_item(j, i);
            if (o->nodes < 1 || (!o->error[0] && !(o->length > 0))) abort();
            if (!inv_journal_find(j, o->set, o->name)) abort();
        }
        inv_journal_close(j);
    } else if (kind == 1) {
        inv_known_list known;
        status = inv_known_read(path, &known, &err);
        for (int32_t i = 0; i < known.count; i++)
            if (!(known.item[i].length > 0) || !isfinite(known.item[i].length)) abort();
        inv_known_free(&known);
    } else {
        invit_train_options o;
        invit_train_defaults(INVIT_TSP, INVIT_IMITATE, &o);
        status = invit_train_read_config(&o, path, &err);
    }
    if (status != INVIT_OK && strncmp(err.message, path, strlen(path)) != 0) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 0) look_at(data + 1, size - 1, data[0] % 3);
    return 0;
}
