/* The library in one page: an instance from a file or from an array, a solution, its length.
 *
 *     cc solve.c -o solve $(pkg-config --cflags --libs invit) && ./solve [FILE]
 *
 * With a model (invit_model_load) instead of NULL the tour is constructed by INViT. */
#include <invit.h>

#include <stdio.h>
#include <stdlib.h>

static void on_progress(void *user, const invit_progress *p)
{
    (void)user;
    fprintf(stderr, "%-10s %5.1f s  best %.4f\n", p->stage, p->elapsed, p->best);
}

int main(int argc, char **argv)
{
    enum { N = 200 };
    double xy[2 * N];
    srand(1);
    for (int i = 0; i < 2 * N; i++) xy[i] = rand() / (double)RAND_MAX;

    invit_error err;
    invit_instance *instance = NULL;
    invit_solution *solution = NULL;
    invit_check_result check;
    int code = EXIT_FAILURE;

    invit_control control = {.progress = on_progress};
    invit_options *options = invit_options_create();
    if (!options) return EXIT_FAILURE;
    invit_options_set_control(options, &control);
    if ((argc > 1 ? invit_instance_read(argv[1], 0, &instance, &err)
                  : invit_instance_create_tsp(xy, N, INVIT_EXACT, &instance, &err)) != INVIT_OK)
        goto failed;
    const char *construct = invit_instance_problem(instance) == INVIT_TSP ? "greedy" : "savings";
    if (invit_options_set(options, "construct", construct, &err) != INVIT_OK) goto failed;
    if (invit_options_set(options, "time", "0.5", &err) != INVIT_OK) goto failed;
    if (invit_solve(instance, NULL, options, &solution, &err) != INVIT_OK) goto failed;
    if (invit_check(instance, solution, &check, &err) != INVIT_OK) goto failed;

    int32_t count;
    const int32_t *tour = invit_solution_route(solution, 0, &count);
    printf("%d routes, length %.4f, the first with %d nodes, beginning", (int)check.routes, check.length,
           (int)count);
    for (int i = 0; i < 8 && i < count; i++) printf(" %d", (int)tour[i]);
    printf(" ...\n");
    code = check.feasible ? EXIT_SUCCESS : EXIT_FAILURE;
    goto done;
failed:
    fprintf(stderr, "%s\n", err.message);
done:
    invit_options_destroy(options);
    invit_solution_destroy(solution);
    invit_instance_destroy(instance);
    return code;
}
