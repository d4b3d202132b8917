/* A line chart: axes with round ticks, linear or logarithmic, lines, legend. */
#ifndef INVIT_LAB_PLOT_CHART_H
#define INVIT_LAB_PLOT_CHART_H

#include "lab/plot/canvas.h"

typedef struct inv_series {
    const char *name; /* in the legend; NULL for none              */
    const double *x, *y;
    int32_t count;
    int color;   /* in the palette                            */
    bool steps;  /* the value holds until the next point      */
    bool faint;  /* thin and pale: raw values behind a smoothed line */
    bool points; /* a dot at every point                      */
} inv_series;

typedef struct inv_chart {
    const char *title, *x_label, *y_label; /* may be NULL           */
    bool log_x, log_y;                     /* points <= 0 are left out */
    const char *y_unit;                    /* after each tick's number: " %" */
    bool y_from_zero;
    double x_low, x_high; /* at least this range of x is shown; both 0: that of the data */
    const inv_series *series;
    int series_count;
} inv_chart;

/* Draws into the rectangle; values that are not finite are left out. */
void inv_chart_draw(cairo_t *cr, double x, double y, double width, double height, const inv_chart *chart);

/* A step of 1, 2 or 5 times a power of ten that divides `span` into at most `ticks` parts. */
double inv_nice_step(double span, int ticks);

#endif
