/* Five lines: a model, an instance from plain arrays, a tour.
 *
 *     cc policy.c -o policy $(pkg-config --cflags --libs invit) && ./policy [MODEL.safetensors]
 */
#include <invit.h>

#include <stdio.h>

int main(int argc, char **argv)
{
    double xy[] = {0, 0, 3, 1, 1, 4, 5, 5, 4, 0, 2, 2, 0, 5, 5, 2};
    invit_error err;
    invit_model *model = NULL;
    invit_instance *instance = NULL;
    invit_solution *solution = NULL;
    int32_t count = 0;

    if ((argc > 1 ? invit_model_load(argv[1], &model, &err)
                  : invit_model_load_default(INVIT_TSP, &model, &err)) != INVIT_OK ||
        invit_instance_create_tsp(xy, sizeof xy / sizeof *xy / 2, INVIT_EXACT, &instance, &err) != INVIT_OK ||
        invit_solve(instance, model, NULL, &solution, &err) != INVIT_OK)
        fprintf(stderr, "%s\n", err.message);
    else
        for (const int32_t *node = invit_solution_route(solution, 0, &count); count > 0; count--)
            printf("%d ", (int)*node++);
    printf("\n");

    bool solved = solution != NULL;
    invit_solution_destroy(solution);
    invit_instance_destroy(instance);
    invit_model_destroy(model);
    return solved ? 0 : 1;
}
