/* Solutions of a TSP (odd first byte) or a CVRP with ten nodes; what is read goes through the checker. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1) return 0;
    double xy[20];
    int64_t demand[10];
    for (int i = 0; i < 20; i++) xy[i] = i * 7 % 11;
    for (int i = 0; i < 10; i++) demand[i] = i;
    invit_instance *p;
    invit_error err;
    invit_status made = data[0] & 1 ? invit_instance_create_tsp(xy, 10, INVIT_EUC_2D, &p, &err)
                                    : invit_instance_create_cvrp(xy, demand, 10, 20, INVIT_EUC_2D, &p, &err);
    if (made != INVIT_OK) abort();
    invit_solution_reader *r;
    invit_solution *s;
    invit_solution_info info;
    invit_check_result result;
    if (invit_solution_reader_open_memory(data + 1, size - 1, "input", &r, &err) == INVIT_OK) {
        while (invit_solution_reader_next(r, p, &s, &info, &err) == INVIT_OK && s) {
            if (invit_check(p, s, &result, &err) != INVIT_OK) abort();
            if (result.feasible && !(result.length >= 0)) abort();
            invit_solution_destroy(s);
        }
        invit_solution_reader_close(r);
    }
    invit_instance_destroy(p);
    return 0;
}
