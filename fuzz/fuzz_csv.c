/* Tables, and the lists, maps and sheets that are written from them. */
#include "fuzz.h"

#include "problem/write.h"

enum { MOST_NODES = 40 }; /* that are written: larger ones take the same paths */

static void write_all(const invit_instance *p)
{
    fuzz_look_at(p);
    if (p->n > MOST_NODES) return;
    int32_t start[] = {0, p->n - (p->problem == INVIT_CVRP)}, *node = malloc((size_t)p->n * sizeof *node);
    invit_solution *s = NULL;
    if (!node) return;
    for (int32_t i = 0; i < start[1]; i++) node[i] = i + (p->problem == INVIT_CVRP);
    if (invit_solution_create(node, start, 1, &s, NULL) != INVIT_OK) abort();
    for (int format = INVIT_SOLUTION_GEOJSON; format <= INVIT_SOLUTION_SHEETS; format++) {
        invit_writer *w = NULL;
        char *text = NULL;
        invit_solution *back = NULL;
        invit_solution_reader *reader = NULL;
        size_t size = 0;
        if (invit_writer_open_memory(&text, &size, &w, NULL) != INVIT_OK) abort();
        if (invit_writer_solution(w, p, s, (invit_solution_format)format, NULL, NULL) != INVIT_OK) {
            invit_writer_abandon(w);
            continue;
        }
        if (invit_writer_close(w, NULL) != INVIT_OK) abort();
        if (format == INVIT_SOLUTION_STOPS) { /* what is written is read back */
            if (invit_solution_reader_open_memory(text, size, "back", &reader, NULL) != INVIT_OK) abort();
            if (invit_solution_reader_next(reader, p, &back, NULL, NULL) != INVIT_OK) abort();
            if (back->start[back->routes] != start[1]) abort();
            if (memcmp(back->nodes, node, (size_t)start[1] * sizeof *node) != 0) abort();
            invit_solution_destroy(back);
            invit_solution_reader_close(reader);
        }
        free(text);
    }
    invit_solution_destroy(s);
    free(node);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_reader(inv_read_csv, write_all, data, size);
    return 0;
}
