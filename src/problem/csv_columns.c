#include "problem/csv_columns.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

/* The first name of a kind is our own. Letters are compared without regard to case, and blanks, hyphens and dots
 * count as underscores. */
static const struct {
    const char *name;
    inv_column column;
    double factor; /* 0: 1 */
} known[] = {
    {"x", INV_X, 0},
    {"y", INV_Y, 0},
    {"lat", INV_LATITUDE, 0},
    {"latitude", INV_LATITUDE, 0},
    {"lon", INV_LONGITUDE, 0},
    {"lng", INV_LONGITUDE, 0},
    {"long", INV_LONGITUDE, 0},
    {"longitude", INV_LONGITUDE, 0},
    {"id", INV_ID, 0},
    {"name", INV_ID, 0},
    {"label", INV_ID, 0},
    {"customer", INV_ID, 0},
    {"kunde", INV_ID, 0},
    {"stop_name", INV_ID, 0},
    {"demand", INV_DEMAND, 0},
    {"demands", INV_DEMAND, 0},
    {"menge", INV_DEMAND, 0},
    {"qty", INV_DEMAND, 0},
    {"quantity", INV_DEMAND, 0},
    {"amount", INV_DEMAND, 0},
    {"weight", INV_DEMAND, 0},
    {"gewicht", INV_DEMAND, 0},
    {"weight_kg", INV_DEMAND, 0},
    {"load", INV_DEMAND, 0},
    {"volume", INV_DEMAND, 0},
    {"packages", INV_DEMAND, 0},
    {"parcels", INV_DEMAND, 0},
    {"pakete", INV_DEMAND, 0},
    {"capacity", INV_CAPACITY, 0},
    {"vehicle_capacity", INV_CAPACITY, 0},
    {"kapazitaet", INV_CAPACITY, 0},
    {"kapazit\303\244t", INV_CAPACITY, 0},
    {"max_load", INV_CAPACITY, 0},
    {"service", INV_SERVICE, 0},
    {"service_time", INV_SERVICE, 0},
    {"service_times", INV_SERVICE, 0},
    {"service_min", INV_SERVICE, 0},
    {"service_minutes", INV_SERVICE, 0},
    {"service_duration", INV_SERVICE, 0},
    {"servicezeit", INV_SERVICE, 0},
    {"standzeit", INV_SERVICE, 0},
    {"stop_time", INV_SERVICE, 0},
    {"dwell_time", INV_SERVICE, 0},
    {"unloading_time", INV_SERVICE, 0},
    {"open", INV_OPENS, 0},
    {"opens", INV_OPENS, 0},
    {"earliest", INV_OPENS, 0},
    {"tw_start", INV_OPENS, 0},
    {"tw_open", INV_OPENS, 0},
    {"tw_begin", INV_OPENS, 0},
    {"tw_from", INV_OPENS, 0},
    {"window_start", INV_OPENS, 0},
    {"time_window_start", INV_OPENS, 0},
    {"ready", INV_OPENS, 0},
    {"ready_time", INV_OPENS, 0},
    {"start_time", INV_OPENS, 0},
    {"oeffnet", INV_OPENS, 0},
    {"\303\266ffnet", INV_OPENS, 0},
    {"von", INV_OPENS, 0},
    {"close", INV_CLOSES, 0},
    {"closes", INV_CLOSES, 0},
    {"latest", INV_CLOSES, 0},
    {"tw_end", INV_CLOSES, 0},
    {"tw_close", INV_CLOSES, 0},
    {"tw_to", INV_CLOSES, 0},
    {"window_end", INV_CLOSES, 0},
    {"time_window_end", INV_CLOSES, 0},
    {"due", INV_CLOSES, 0},
    {"due_time", INV_CLOSES, 0},
    {"due_date", INV_CLOSES, 0},
    {"end_time", INV_CLOSES, 0},
    {"deadline", INV_CLOSES, 0},
    {"schliesst", INV_CLOSES, 0},
    {"schlie\303\237t", INV_CLOSES, 0},
    {"bis", INV_CLOSES, 0},
    {"vehicles", INV_VEHICLES, 0},
    {"vehicle_count", INV_VEHICLES, 0},
    {"num_vehicles", INV_VEHICLES, 0},
    {"max_vehicles", INV_VEHICLES, 0},
    {"vans", INV_VEHICLES, 0},
    {"trucks", INV_VEHICLES, 0},
    {"drivers", INV_VEHICLES, 0},
    {"fahrzeuge", INV_VEHICLES, 0},
    {"max_length", INV_MAX_LENGTH, 0},
    {"max_distance", INV_MAX_LENGTH, 0},
    {"max_km", INV_MAX_LENGTH, 1000},
    {"max_duration", INV_MAX_DURATION, 0},
    {"max_time", INV_MAX_DURATION, 0},
    {"max_minutes", INV_MAX_DURATION, 0},
    {"max_hours", INV_MAX_DURATION, 60},
    {"max_stunden", INV_MAX_DURATION, 60},
    {"max_stops", INV_MAX_STOPS, 0},
    {"max_customers", INV_MAX_STOPS, 0},
    {"speed", INV_SPEED, 0},
    {"speed_kmh", INV_SPEED, 0},
    {"kmh", INV_SPEED, 0},
};

static void normalise(const char *name, char *to, size_t room)
{
    size_t n = 0;
    for (; *name && n + 1 < room; name++)
        to[n++] = strchr(" -.", *name)         ? '_'
                  : (unsigned char)*name < 128 ? (char)tolower((unsigned char)*name)
                                               : *name;
    to[n] = 0;
}

inv_column inv_column_of(const char *name, bool *own, double *factor)
{
    char plain[40];
    *own = true;
    *factor = 1;
    if (strlen(name) >= sizeof plain) return INV_OTHER;
    normalise(name, plain, sizeof plain);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (plain[0] == known[i].name[0] && strcmp(plain, known[i].name) == 0) {
            *own = known[i].column < INV_DEMAND || i == 0 || known[i - 1].column != known[i].column;
            if (known[i].factor > 0) *factor = known[i].factor;
            return known[i].column;
        }
    return INV_OTHER;
}

const char *inv_column_name(inv_column column)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].column == column) return known[i].name;
    return "";
}

bool inv_looks_like_a_rule(const char *name)
{
    static const char *const parts[] = {"window",   "service",  "vehicle", "capacity", "demand",   "weight",
                                        "load",     "priority", "skill",   "pickup",   "delivery", "driver",
                                        "truck",    "shift",    "break",   "earliest", "latest",   "deadline",
                                        "duration", "time",     "limit",   "zeit",     "menge",    "fahrzeug",
                                        "gewicht",  "depot",    "hours"};
    static const char *const words[] = {"from", "to", "due",  "ready", "start",
                                        "end",  "tw", "vans", "ab",    "arrival"};
    char plain[64];
    normalise(name, plain, sizeof plain);
    if (strncmp(plain, "max_", 4) == 0 || strncmp(plain, "min_", 4) == 0 || strncmp(plain, "tw_", 3) == 0)
        return true;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(plain, parts[i])) return true;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(plain, words[i]) == 0) return true;
    return false;
}
