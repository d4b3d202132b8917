/* Routes as they are driven, for the writers of lists and maps. */
#ifndef INVIT_PROBLEM_DRIVE_H
#define INVIT_PROBLEM_DRIVE_H

#include "base/outfile.h"
#include "problem/problem.h"
#include "problem/stop_table.h"

/* One route: from the depot (or the first node) through all stops and back. */
typedef struct inv_drive {
    const invit_instance *p;
    const invit_solution *s;
    invit_stop *stop; /* [count] */
    int32_t count;
    int32_t visited; /* nodes of the route, without depot and way back */
    int32_t number;  /* of the route, from 1; those without stops are not counted */
    int32_t next;    /* route of the solution                                      */
    bool depot;      /* CVRP: node 0 stands at the beginning                       */
    bool timed, loaded;
    bool globe;  /* places are latitudes and longitudes                        */
    bool places; /* there are coordinates                                      */
} inv_drive;

/* Room for the longest route; inv_drive_next then takes one route with stops after the other, false after the last. */
invit_status inv_drive_begin(inv_drive *d, const invit_instance *p, const invit_solution *s,
                             invit_error *err);
bool inv_drive_next(inv_drive *d);
void inv_drive_end(inv_drive *d);
/* The next route will be that one, counted from 1. */
void inv_drive_seek(inv_drive *d, int32_t number);
/* Routes that have stops. */
int32_t inv_drive_routes(const inv_drive *d);
/* The i-th stop that is visited, the depot and the way back not among them. */
static inline const invit_stop *inv_drive_visit(const inv_drive *d, int32_t i)
{
    return &d->stop[i + d->depot];
}

/* What a route adds up to. */
typedef struct inv_drive_sum {
    double length, load, departure, arrival, duration, waiting, service;
} inv_drive_sum;
inv_drive_sum inv_drive_total(const inv_drive *d);

/* Where a node is on the map: longitude and latitude, or x and y. */
double inv_map_x(const invit_instance *p, int32_t node);
double inv_map_y(const invit_instance *p, int32_t node);
/* Metres on the globe are told to a tenth: nobody drives by more. */
double inv_told_length(const invit_instance *p, double length);
double inv_demand_of(const invit_instance *p, int32_t node);
/* A time as a number: to a millionth. */
double inv_time_number(double time);
/* "12:40" where times were given so, else the number to a millionth. */
const char *inv_told_time(const invit_instance *p, double time, char text[INV_TIME_TEXT]);
bool inv_has_clock(const invit_instance *p);
/* What a driver calls a stop: its name, or its number. */
const char *inv_stop_name(const invit_instance *p, int32_t node, char text[INV_NODE_TEXT]);
/* Refuses an instance without latitudes and longitudes; `what` is the format. */
invit_status inv_needs_globe(const invit_instance *p, const char *what, invit_error *err);

/* "48.4 km" on the globe, else the number to four digits after the point at most. */
enum { INV_LENGTH_TEXT = 48 };
const char *inv_length_text(const invit_instance *p, double length, char text[INV_LENGTH_TEXT]);

/* Colours of routes, 0xrrggbb, dark enough for white paper; after the last comes the first. */
enum { INV_ROUTE_COLOURS = 8 };
unsigned inv_route_colour(int route);

/* Text within XML or HTML: < > & and quotes as entities, and no control characters. */
void inv_put_xml(inv_outfile *f, const char *text);

#endif
