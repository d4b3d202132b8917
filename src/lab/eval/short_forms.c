/* Calls of the core with the usual arguments. */
#include "invit_lab.h"
#include "problem/read.h"
#include "problem/write.h"

#include <string.h>
#include <strings.h>

invit_generate_options invit_generate_defaults(void)
{
    return (invit_generate_options){.capacity = 50, .demand_min = 1, .demand_max = 10};
}

invit_status invit_generate(invit_problem problem, invit_distribution distribution, int64_t size,
                            uint64_t seed, uint64_t index, invit_instance **out, invit_error *err)
{
    return invit_generate_with(problem, distribution, size, seed, index, NULL, out, err);
}

invit_status invit_solution_read(const char *path, const invit_instance *instance, int64_t index,
                                 invit_solution **out, invit_solution_info *info, invit_error *err)
{
    return inv_solution_read(path, instance, index, out, info, err);
}

invit_solution_format invit_solution_format_for(const char *path, invit_problem problem)
{
    const char *dot = strrchr(path, '.');
    if (dot && strcasecmp(dot, ".tour") == 0) return INVIT_SOLUTION_TOUR;
    if (dot && strcasecmp(dot, ".sol") == 0 && problem == INVIT_CVRP) return INVIT_SOLUTION_ROUTES;
    if (dot && strcasecmp(dot, ".txt") == 0) return INVIT_SOLUTION_MSVDRP;
    if (dot && (strcasecmp(dot, ".geojson") == 0 || strcasecmp(dot, ".json") == 0))
        return INVIT_SOLUTION_GEOJSON;
    if (dot && strcasecmp(dot, ".csv") == 0) return INVIT_SOLUTION_STOPS;
    if (dot && strcasecmp(dot, ".gpx") == 0) return INVIT_SOLUTION_GPX;
    if (dot && strcasecmp(dot, ".kml") == 0) return INVIT_SOLUTION_KML;
    if (dot && (strcasecmp(dot, ".html") == 0 || strcasecmp(dot, ".htm") == 0)) return INVIT_SOLUTION_SHEETS;
    return problem == INVIT_TSP ? INVIT_SOLUTION_TOUR : INVIT_SOLUTION_ROUTES;
}

invit_status invit_solution_write_folder(const char *path, const invit_instance *instance,
                                         const invit_solution *solution, invit_error *err)
{
    return inv_write_folder(path, instance, solution, err);
}

invit_status invit_instance_read_matrix(invit_instance *p, const char *name, const char *path,
                                        invit_error *err)
{
    return inv_instance_read_matrix(p, name, path, err);
}

void invit_reader_set_threads(invit_reader *reader, int threads)
{
    inv_reader_set_threads(reader, threads);
}
