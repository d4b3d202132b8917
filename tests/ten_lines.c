/* A program that solves, as small as it can be: scripts/check-links looks at the libraries it loads. */
#include <invit.h>

int main(void)
{
    const double xy[] = {0, 0, 3, 0, 3, 4, 0, 4};
    invit_instance *instance = NULL;
    invit_solution *solution = NULL;
    invit_options *options = invit_options_create();
    bool solved = invit_options_set(options, "construct", "greedy", NULL) == INVIT_OK &&
                  invit_options_set(options, "time", "0", NULL) == INVIT_OK &&
                  invit_instance_create_tsp(xy, 4, INVIT_EXACT, &instance, NULL) == INVIT_OK &&
                  invit_solve(instance, NULL, options, &solution, NULL) == INVIT_OK &&
                  invit_solution_get(solution, "length") == 14;
    invit_options_destroy(options);
    invit_solution_destroy(solution);
    invit_instance_destroy(instance);
    return solved ? 0 : 1;
}
