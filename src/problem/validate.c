/* Can an instance be solved at all? Every stop must be servable by a vehicle that visits it alone, and the
 * vehicles must carry what there is. One message that names the stop and the rule, before anything is solved. */
#include "problem/freeze.h"
#include "problem/metric.h"

#include <math.h>

static double slack(double limit)
{
    return 1e-9 * fmax(1, fabs(limit));
}

static invit_status check_windows(const invit_instance *p, invit_error *err)
{
    const inv_rules *r = p->rules;
    char node[INV_NODE_TEXT], opens[INV_TIME_TEXT], closes[INV_TIME_TEXT];
    for (int32_t i = 0; r->earliest && i < p->n; i++)
        if (r->earliest[i] > r->latest[i])
            return inv_fail(err, INVIT_ERR_INPUT, "%s: %s: closes %s, before it opens, %s", p->name,
                            inv_node_text(p, i, node), inv_time_text(p, r->latest[i], closes),
                            inv_time_text(p, r->earliest[i], opens));
    return INVIT_OK;
}

/* There and back, as late as possible: the duration counts from the departure. */
static invit_status check_alone(const invit_instance *p, int32_t i, invit_error *err)
{
    const inv_rules *r = p->rules;
    char node[INV_NODE_TEXT], a[INV_TIME_TEXT], b[INV_TIME_TEXT], c[INV_TIME_TEXT];
    double there = inv_duration(p, 0, i), back = r->open ? 0 : inv_duration(p, i, 0);
    double service = r->service ? r->service[i] : 0;
    double length = inv_distance(p, 0, i) + (r->open ? 0 : inv_distance(p, i, 0));
    inv_node_text(p, i, node);
    if (length > r->max_length + slack(r->max_length))
        return inv_fail(err, INVIT_ERR_INPUT, "%s: %s: the way %s is %.10g long, more than max_length, %.10g",
                        p->name, node, r->open ? "there" : "there and back", length, r->max_length);
    double total = there + service + back;
    if (total > r->max_duration + slack(r->max_duration))
        return inv_fail(err, INVIT_ERR_INPUT,
                        "%s: %s: the way %s and its service take %s, more than max_duration, %s", p->name,
                        node, r->open ? "there" : "there and back", inv_time_text(p, total, a),
                        inv_time_text(p, r->max_duration, b));
    if (!r->earliest) return INVIT_OK;
    double arrival = r->earliest[0] + there, begin = fmax(arrival, r->earliest[i]);
    if (begin > r->latest[i] + slack(r->latest[i]))
        return inv_fail(err, INVIT_ERR_INPUT,
                        "%s: %s: cannot be reached in time: leaves the depot %s, arrives %s, closes %s",
                        p->name, node, inv_time_text(p, r->earliest[0], a), inv_time_text(p, arrival, b),
                        inv_time_text(p, r->latest[i], c));
    if (!r->open && begin + service + back > r->latest[0] + slack(r->latest[0]))
        return inv_fail(
            err, INVIT_ERR_INPUT,
            "%s: %s: cannot be served in time: its service begins %s at the earliest, back at the "
            "depot %s, which closes %s",
            p->name, node, inv_time_text(p, begin, a), inv_time_text(p, begin + service + back, b),
            inv_time_text(p, r->latest[0], c));
    return INVIT_OK;
}

static invit_status check_vehicles(const invit_instance *p, invit_error *err)
{
    const inv_rules *r = p->rules;
    int64_t sum = 0, stops = p->n - 1;
    if (!r->vehicles) return INVIT_OK;
    for (int32_t i = 1; i < p->n; i++) sum += p->demand[i];
    int64_t need = (sum + p->capacity - 1) / p->capacity;
    if (need > r->vehicles)
        return inv_fail(err, INVIT_ERR_INPUT,
                        "%s: the demands add up to %.10g, and %d vehicles of capacity %.10g carry %.10g: "
                        "at least %lld vehicles are needed",
                        p->name, (double)sum / p->scale, r->vehicles, (double)p->capacity / p->scale,
                        (double)r->vehicles * (double)p->capacity / p->scale, (long long)need);
    need = r->max_stops ? (stops + r->max_stops - 1) / r->max_stops : 1;
    if (need > r->vehicles)
        return inv_fail(
            err, INVIT_ERR_INPUT,
            "%s: %lld stops, and %d vehicles make at most %d each (max_stops): at least %lld vehicles "
            "are needed",
            p->name, (long long)stops, r->vehicles, r->max_stops, (long long)need);
    return INVIT_OK;
}

invit_status invit_instance_validate(const invit_instance *p, invit_error *err)
{
    const inv_rules *r = p->rules;
    if (!r) return INVIT_OK;
    if (p->problem == INVIT_TSP) {
        if (r->start >= 0 && r->start == r->end && p->n > 1)
            return inv_fail(err, INVIT_ERR_INPUT,
                            "%s: start_node and end_node are the same: leave them out for a closed tour",
                            p->name);
        return inv_check_frozen(p, err);
    }
    INV_CHECK(check_windows(p, err));
    for (int32_t i = 1; i < p->n; i++)
        if (!inv_is_frozen(p, i)) INV_CHECK(check_alone(p, i, err));
    INV_CHECK(check_vehicles(p, err));
    return inv_check_frozen(p, err);
}
