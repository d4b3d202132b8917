/* A program that solves, as small as it can be: scripts/check-links looks at the libraries it loads. */
#include <invit.h>

int main(void)
{
    const double xy[] = {0, 0, 3, 0, 3, 4, 0, 4};
    invit_instance *instance = NULL;
    invit_solution *solution = NULL;
    invit_solve_options options = invit_solve_defaults();
    options.construct = INVIT_CONSTRUCT_GREEDY;
    options.seconds = 0;
    bool solved = invit_instance_create_tsp(xy, 4, INVIT_EXACT, &instance, NULL) == INVIT_OK &&
                  invit_solve(instance, NULL, &options, &solution, NULL, NULL) == INVIT_OK;
    invit_solution_destroy(solution);
    invit_instance_destroy(instance);
    return solved ? 0 : 1;
}
