#include "lab/plot/chart.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct axis {
    double low, high; /* in the axis' own scale: logarithms on a logarithmic one */
    bool log;
    double from, to; /* on the page                                             */
} axis;

static double place(const axis *a, double value)
{
    double v = a->log ? log10(value) : value;
    return a->from + (a->to - a->from) * (v - a->low) / (a->high - a->low);
}

static bool visible(const inv_chart *c, double x, double y)
{
    return isfinite(x) && isfinite(y) && (!c->log_x || x > 0) && (!c->log_y || y > 0);
}

double inv_nice_step(double span, int ticks)
{
    double raw = span / ticks, power = pow(10, floor(log10(raw))), ratio = raw / power;
    if (ratio <= 1.0000001) return power;
    if (ratio <= 2) return 2 * power;
    return ratio <= 5 ? 5 * power : 10 * power;
}

static void find_range(const inv_chart *c, axis *ax, axis *ay)
{
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (int s = 0; s < c->series_count; s++)
        for (int32_t i = 0; i < c->series[s].count; i++) {
            double v[2] = {c->series[s].x[i], c->series[s].y[i]};
            if (!visible(c, v[0], v[1])) continue;
            if (c->log_x) v[0] = log10(v[0]);
            if (c->log_y) v[1] = log10(v[1]);
            for (int k = 0; k < 2; k++) {
                low[k] = fmin(low[k], v[k]);
                high[k] = fmax(high[k], v[k]);
            }
        }
    if (c->x_low != 0 || c->x_high != 0) {
        low[0] = fmin(low[0], c->log_x ? log10(c->x_low) : c->x_low);
        high[0] = fmax(high[0], c->log_x ? log10(c->x_high) : c->x_high);
    }
    if (c->y_from_zero && !c->log_y) low[1] = fmin(low[1], 0);
    axis *axes[2] = {ax, ay};
    for (int k = 0; k < 2; k++) {
        if (!(low[k] <= high[k])) low[k] = 0, high[k] = 1; /* no data */
        if (low[k] == high[k]) {
            double spread = low[k] == 0 ? 1 : 0.05 * fabs(low[k]);
            low[k] -= spread;
            high[k] += spread;
        }
        axes[k]->low = low[k];
        axes[k]->high = high[k];
    }
    double room = 0.04 * (ay->high - ay->low);
    if (!(c->y_from_zero && ay->low == 0)) ay->low -= room;
    ay->high += room;
}

/* Tick values of an axis; returns their number. */
static int find_ticks(const axis *a, int most, double *tick, int room)
{
    int count = 0;
    if (a->log && a->high - a->low > 0.8) {
        bool between = a->high - a->low < 2.5; /* 1, 2, 5 within a decade */
        int step = (int)ceil((a->high - a->low) / most);
        static const double part[] = {1, 2, 5};
        for (int e = (int)floor(a->low); e <= (int)ceil(a->high); e++)
            for (int k = 0; k < (between ? 3 : 1); k++) {
                double v = part[k] * pow(10, e), l = log10(v);
                if (l < a->low - 1e-9 || l > a->high + 1e-9 || count == room) continue;
                if (!between && ((e % step) + step) % step != 0) continue;
                tick[count++] = v;
            }
        return count;
    }
    double low = a->log ? pow(10, a->low) : a->low;
    double high = a->log ? pow(10, a->high) : a->high;
    double step = inv_nice_step(high - low, most);
    for (double v = ceil(low / step - 1e-9) * step; v <= high + 1e-9 * step && count < room; v += step)
        tick[count++] = fabs(v) < 1e-9 * step ? 0 : v;
    return count;
}

static void tick_text(double value, double step, const char *unit, char *text, size_t size)
{
    char buffer[32];
    double magnitude = fabs(value);
    if (magnitude >= 1e6 && fmod(magnitude, 1e4) == 0)
        snprintf(text, size, "%g M%s", value / 1e6, unit);
    else if (magnitude >= 1e4 && magnitude < 1e15 && value == floor(value))
        snprintf(text, size, "%s%s", inv_grouped((int64_t)value, buffer), unit);
    else if (step > 0 && magnitude < 1e15) {
        int digits = (int)fmax(0, ceil(-log10(step) - 1e-9));
        snprintf(text, size, "%.*f%s", digits > 9 ? 9 : digits, value, unit);
    } else
        snprintf(text, size, "%g%s", value, unit);
}

static void draw_axes(cairo_t *cr, const inv_chart *c, const axis *ax, const axis *ay)
{
    enum { ROOM = 64, SIZE = 10 };
    double tick[ROOM];
    char text[64];
    cairo_set_line_width(cr, 0.6);
    int count = find_ticks(ay, (int)fmax(2, fabs(ay->to - ay->from) / 27), tick, ROOM);
    double step = count > 1 && !(ay->log && ay->high - ay->low > 0.8) ? tick[1] - tick[0] : 0;
    for (int i = 0; i < count; i++) {
        double y = place(ay, tick[i]);
        inv_set_color(cr, inv_light, 1);
        cairo_move_to(cr, ax->from, y);
        cairo_line_to(cr, ax->to, y);
        cairo_stroke(cr);
        inv_set_color(cr, inv_grey, 1);
        tick_text(tick[i], step, c->y_unit ? c->y_unit : "", text, sizeof text);
        inv_draw_text(cr, ax->from - 6, y + 3.5, 1, SIZE, false, text);
    }
    count = find_ticks(ax, (int)fmax(2, (ax->to - ax->from) / 75), tick, ROOM);
    step = count > 1 && !(ax->log && ax->high - ax->low > 0.8) ? tick[1] - tick[0] : 0;
    inv_set_color(cr, inv_grey, 1);
    cairo_move_to(cr, ax->from, ay->from);
    cairo_line_to(cr, ax->to, ay->from);
    cairo_stroke(cr);
    for (int i = 0; i < count; i++) {
        double x = place(ax, tick[i]);
        cairo_move_to(cr, x, ay->from);
        cairo_line_to(cr, x, ay->from + 4);
        cairo_stroke(cr);
        tick_text(tick[i], step, "", text, sizeof text);
        inv_draw_text(cr, x, ay->from + 15, 0.5, SIZE, false, text);
    }
}

static void draw_series(cairo_t *cr, const inv_chart *c, const inv_series *s, const axis *ax, const axis *ay)
{
    bool pen = false;
    double last_y = 0;
    inv_set_color(cr, inv_palette[s->color % INV_PALETTE], s->faint ? 0.25 : 1);
    cairo_set_line_width(cr, s->faint ? 0.7 : 1.6);
    cairo_set_line_join(cr, CAIRO_LINE_JOIN_ROUND);
    for (int32_t i = 0; i < s->count; i++) {
        if (!visible(c, s->x[i], s->y[i])) {
            pen = false;
            continue;
        }
        double x = place(ax, s->x[i]), y = place(ay, s->y[i]);
        if (pen && s->steps) cairo_line_to(cr, x, last_y);
        if (pen)
            cairo_line_to(cr, x, y);
        else
            cairo_move_to(cr, x, y);
        pen = true;
        last_y = y;
    }
    cairo_stroke(cr);
    for (int32_t i = 0; s->points && i < s->count; i++) {
        if (!visible(c, s->x[i], s->y[i])) continue;
        cairo_arc(cr, place(ax, s->x[i]), place(ay, s->y[i]), 2.4, 0, 2 * M_PI);
        cairo_fill(cr);
    }
}

enum { LEGEND_TEXT = 10, SAMPLE = 18 };

static void draw_sample(cairo_t *cr, const inv_series *s, double x, double y)
{
    inv_set_color(cr, inv_palette[s->color % INV_PALETTE], 1);
    cairo_set_line_width(cr, 2.2);
    cairo_move_to(cr, x + 6, y - 3.5);
    cairo_line_to(cr, x + 6 + SAMPLE, y - 3.5);
    cairo_stroke(cr);
    inv_set_color(cr, inv_ink, 1);
    inv_draw_text(cr, x + SAMPLE + 12, y, 0, LEGEND_TEXT, false, s->name);
}

/* Width of the names, with their samples, in one row; 0: there is none. */
static double row_width(cairo_t *cr, const inv_chart *c)
{
    double width = 0;
    for (int s = 0; s < c->series_count; s++)
        if (c->series[s].name)
            width += inv_drawn_width(cr, LEGEND_TEXT, false, c->series[s].name) + SAMPLE + 22;
    return width;
}

/* In one row above the lines, beside the label of the axis or else beside the title: how far above; 0: there is no room. */
static double room_above(cairo_t *cr, const inv_chart *c, const axis *ax)
{
    double width = row_width(cr, c), room = ax->to - ax->from + 24;
    double label = c->y_label ? inv_drawn_width(cr, 10, false, c->y_label) : 0;
    double title = c->title ? inv_drawn_width(cr, 13, true, c->title) : 0;
    if (c->y_label && width + label <= room) return 9;
    if (!c->title || width + title > room) return 0;
    return c->y_label ? 28 : 16;
}

static void draw_row(cairo_t *cr, const inv_chart *c, const axis *ax, double y)
{
    double x = ax->to - row_width(cr, c);
    for (int s = 0; s < c->series_count; s++) {
        if (!c->series[s].name) continue;
        draw_sample(cr, &c->series[s], x, y);
        x += inv_drawn_width(cr, LEGEND_TEXT, false, c->series[s].name) + SAMPLE + 22;
    }
}

/* How much of the lines is within a box: points, and the lines between them in small steps. */
static int count_within(const inv_chart *c, const axis *ax, const axis *ay, double left, double top,
                        double width, double height)
{
    enum { STEPS = 24 };
    int hits = 0;
    for (int s = 0; s < c->series_count; s++)
        for (int32_t i = 0; i < c->series[s].count; i++) {
            const inv_series *l = &c->series[s];
            if (!visible(c, l->x[i], l->y[i])) continue;
            int32_t next = i + 1 < l->count && visible(c, l->x[i + 1], l->y[i + 1]) ? i + 1 : i;
            double x0 = place(ax, l->x[i]), y0 = place(ay, l->y[i]);
            double x1 = place(ax, l->x[next]), y1 = place(ay, l->y[next]);
            for (int k = 0; k < (next == i ? 1 : STEPS); k++) {
                double x = x0 + (x1 - x0) * k / STEPS, y = y0 + (y1 - y0) * k / STEPS;
                hits += x >= left && x <= left + width && y >= top && y <= top + height;
            }
        }
    return hits;
}

enum { LINE = 15 };

typedef struct legend {
    double left, top, width, height; /* a box, one name per line               */
    double above;                    /* or a row, so far above the lines       */
    bool some;
} legend;

/* In the corner where the lines are not: right when they fall, left when they rise. Where they are everywhere, above;
 * where there is no room either, beside the lines, which get narrower. */
static legend place_legend(cairo_t *cr, const inv_chart *c, axis *ax, const axis *ay)
{
    legend l = {0};
    int rows = 0, fewest = 0;
    for (int s = 0; s < c->series_count; s++) {
        if (!c->series[s].name) continue;
        rows++;
        l.width = fmax(l.width, inv_drawn_width(cr, LEGEND_TEXT, false, c->series[s].name) + SAMPLE + 16);
    }
    l.some = rows > 0;
    l.height = rows * LINE + 6;
    for (int k = 0; l.some && k < 4; k++) {
        double left = k % 2 ? ax->from + 8 : ax->to - l.width - 4;
        double top = k / 2 ? ay->from - l.height - 8 : ay->to + 4;
        int hits = count_within(c, ax, ay, left, top, l.width, l.height);
        if (k > 0 && hits >= fewest) continue;
        fewest = hits;
        l.left = left;
        l.top = top;
    }
    if (!l.some || fewest == 0) return l;
    l.above = room_above(cr, c, ax);
    if (l.above > 0 || l.width > (ax->to - ax->from) / 2) return l;
    ax->to -= l.width + 8;
    l.left = ax->to + 8;
    l.top = ay->to + 4;
    return l;
}

static void draw_legend(cairo_t *cr, const inv_chart *c, const legend *l, const axis *ax, const axis *ay)
{
    if (!l->some) return;
    if (l->above > 0) {
        draw_row(cr, c, ax, ay->to - l->above);
        return;
    }
    cairo_rectangle(cr, l->left, l->top, l->width, l->height);
    cairo_set_source_rgba(cr, 1, 1, 1, 0.85);
    cairo_fill(cr);
    double y = l->top + LINE - 2;
    for (int s = 0; s < c->series_count; s++) {
        if (!c->series[s].name) continue;
        draw_sample(cr, &c->series[s], l->left, y);
        y += LINE;
    }
}

void inv_chart_draw(cairo_t *cr, double x, double y, double width, double height, const inv_chart *c)
{
    axis ax = {.log = c->log_x, .from = x + 58, .to = x + width - 14};
    axis ay = {.log = c->log_y, .from = y + height - 24, .to = y + 12};
    if (c->x_label) ay.from -= 14;
    if (c->title) ay.to += 22;
    if (c->y_label) ay.to += c->title ? 12 : 10;
    find_range(c, &ax, &ay);
    legend l = place_legend(cr, c, &ax, &ay);
    if (c->title) {
        inv_set_color(cr, inv_ink, 1);
        inv_draw_text(cr, x + 10, y + 18, 0, 13, true, c->title);
    }
    if (c->y_label) {
        inv_set_color(cr, inv_grey, 1);
        inv_draw_text(cr, x + 10, ay.to - 9, 0, 10, false, c->y_label);
    }
    if (c->x_label) {
        inv_set_color(cr, inv_grey, 1);
        inv_draw_text(cr, (ax.from + ax.to) / 2, y + height - 7, 0.5, 10, false, c->x_label);
    }
    draw_axes(cr, c, &ax, &ay);
    for (int s = 0; s < c->series_count; s++)
        if (c->series[s].faint) draw_series(cr, c, &c->series[s], &ax, &ay);
    for (int s = 0; s < c->series_count; s++)
        if (!c->series[s].faint) draw_series(cr, c, &c->series[s], &ax, &ay);
    draw_legend(cr, c, &l, &ax, &ay);
}
