/* When a vehicle is where: arrival, waiting, departure, load and distance at each stop of a route. */
#include "problem/metric.h"

#include <math.h>

/* The route as it is driven, the depot or the way back to the first node included. */
static int32_t length_of(const invit_instance *p, int32_t count)
{
    const inv_rules *r = p->rules;
    if (p->problem == INVIT_CVRP) return count + (r && r->open ? 1 : 2);
    return inv_is_path(p) || count == 0 ? count : count + 1;
}

static int32_t node_at(const invit_instance *p, const int32_t *node, int32_t count, int32_t i)
{
    if (p->problem == INVIT_CVRP) return i == 0 || i == count + 1 ? 0 : node[i - 1];
    return node[i % count];
}

/* How much later than `begin` the vehicle may leave without being anywhere later than it must be: waiting at
 * the stops is turned into a later departure. */
static double delay(const inv_rules *r, const invit_stop *stops, int32_t count)
{
    double most = INFINITY, waited = 0;
    for (int32_t i = 1; i < count; i++) {
        waited += stops[i].waiting;
        most = fmin(most, r->latest[stops[i].node] - (stops[i].arrival + stops[i].waiting) + waited);
    }
    most = fmin(fmin(most, waited), r->latest[stops[0].node] - stops[0].departure);
    return fmax(0, most);
}

static void drive(const invit_instance *p, invit_stop *stops, int32_t count, double departure)
{
    const inv_rules *r = p->rules;
    stops[0].arrival = stops[0].departure = departure;
    stops[0].waiting = 0;
    for (int32_t i = 1; i < count; i++) {
        int32_t node = stops[i].node;
        bool depot = p->problem == INVIT_CVRP && node == 0;
        stops[i].arrival = stops[i - 1].departure + inv_duration(p, stops[i - 1].node, node);
        double begin = r && r->earliest ? fmax(stops[i].arrival, r->earliest[node]) : stops[i].arrival;
        if (depot) begin = stops[i].arrival; /* one may be back before it opens */
        stops[i].waiting = begin - stops[i].arrival;
        stops[i].departure = begin + (r && r->service && !depot ? r->service[node] : 0);
    }
}

int32_t invit_schedule(const invit_instance *p, const invit_solution *s, int32_t route, invit_stop *stops)
{
    const inv_rules *r = p->rules;
    const int32_t *node = s->nodes + s->start[route];
    int32_t visited = s->start[route + 1] - s->start[route], count = length_of(p, visited);
    if (visited == 0) return 0;
    double distance = 0;
    int64_t load = 0;
    for (int32_t i = 0; i < count; i++) {
        invit_stop *at = &stops[i];
        *at = (invit_stop){.node = node_at(p, node, visited, i)};
        at->leg = i > 0 ? inv_distance(p, stops[i - 1].node, at->node) : 0;
        distance += at->leg;
        at->distance = distance;
        load += p->demand ? p->demand[at->node] : 0;
        at->load = (double)load / p->scale;
    }
    double begin = r && r->earliest ? r->earliest[stops[0].node] : 0;
    drive(p, stops, count, begin);
    if (r && r->earliest) drive(p, stops, count, begin + delay(r, stops, count));
    return count;
}
