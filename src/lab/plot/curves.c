/* Curves: anytime traces of the solver, and training runs. */
#include "invit_lab.h"
#include "base/error.h"
#include "base/json_memory.h"
#include "base/lines.h"
#include "lab/plot/chart.h"
#include "lab/plot/curves.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_CURVES = 32, MOST_MADE = 4 * MAX_CURVES, MARGIN = 16 };

/* A growing list of points. */
typedef struct curve {
    char name[96];
    double *x, *y;
    int32_t count, room;
} curve;

static invit_status curve_add(curve *c, double x, double y, invit_error *err)
{
    if (c->count == c->room) {
        int32_t room = c->room ? 2 * c->room : 256;
        double *more_x = realloc(c->x, sizeof *c->x * (size_t)room);
        if (more_x) c->x = more_x;
        double *more_y = realloc(c->y, sizeof *c->y * (size_t)room);
        if (more_y) c->y = more_y;
        if (!more_x || !more_y) return inv_no_memory(err, sizeof(double) * (size_t)room);
        c->room = room;
    }
    c->x[c->count] = x;
    c->y[c->count++] = y;
    return INVIT_OK;
}

static void curves_free(curve *c, int count)
{
    for (int i = 0; i < count; i++) {
        free(c[i].x);
        free(c[i].y);
    }
}

/* The file's name without folders and ending. */
static void base_name(const char *path, char *name, size_t size)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') length--;
    size_t from = length;
    while (from > 0 && path[from - 1] != '/') from--;
    snprintf(name, size, "%.*s", (int)(length - from), path + from);
    char *dot = strrchr(name, '.');
    if (dot && dot != name) *dot = 0;
}

/* ---- anytime traces ------------------------------------------------------------------------------------ */

/* Lines `seconds,length`; lines that begin with # and a first line of column names are skipped. */
static invit_status read_trace(const char *path, curve *c, invit_error *err)
{
    invit_status status = INVIT_OK;
    char *line = NULL;
    size_t room = 0;
    FILE *file = fopen(path, "r");
    if (!file) return inv_fail(err, INVIT_ERR_IO, "%s: %s", path, strerror(errno));
    int number = 1;
    for (; status == INVIT_OK && inv_getline(&line, &room, file) >= 0; number++) {
        double x, y;
        char *at = line + strspn(line, " \t"), *end;
        if (*at == '#' || *at == '\n' || *at == '\r' || !*at) continue;
        x = strtod(at, &end);
        bool good = end != at && end[strspn(end, " \t")] == ',';
        if (good) {
            at = end + strspn(end, " \t") + 1;
            y = strtod(at, &end);
            good = end != at && isfinite(x) && isfinite(y) && x >= 0;
        }
        if (good) status = curve_add(c, x, y, err);
        line[strcspn(line, "\r\n")] = 0; /* for the message */
        if (!good && number > 1)
            status = inv_fail(err, INVIT_ERR_INPUT, "%s:%d: expected `seconds,length`, got '%.60s'", path,
                              number, line);
    }
    if (status == INVIT_OK) status = inv_lines_ended(file, path, number, err);
    if (status == INVIT_OK && c->count == 0)
        status = inv_fail(err, INVIT_ERR_INPUT, "%s: no lines `seconds,length`", path);
    free(line);
    fclose(file);
    return status;
}

typedef struct one_chart {
    const inv_chart *chart;
    double width, height;
} one_chart;

static invit_status draw_one_chart(void *context, inv_canvas *c, invit_error *err)
{
    const one_chart *it = context;
    (void)err;
    inv_chart_draw(c->cr, MARGIN, MARGIN, it->width - 2 * MARGIN, it->height - 2 * MARGIN, it->chart);
    return INVIT_OK;
}

invit_status inv_traces_page(const char *const *paths, int count, const char *path,
                             const invit_plot_options *options, inv_page_fn *use, void *context,
                             invit_error *err)
{
    invit_plot_options o = options ? *options : invit_plot_defaults();
    if (count < 1 || count > MAX_CURVES)
        return inv_fail(err, INVIT_ERR_ARGUMENT, "1 to %d traces can be drawn, not %d", MAX_CURVES, count);
    curve c[MAX_CURVES];
    inv_series series[MAX_CURVES];
    memset(c, 0, sizeof c);
    memset(series, 0, sizeof series);
    invit_status status = INVIT_OK;
    bool gap = o.best_known > 0;
    double end = 0;
    for (int i = 0; i < count; i++) {
        base_name(paths[i], c[i].name, sizeof c[i].name);
        INV_TRY(read_trace(paths[i], &c[i], err));
        for (int32_t k = 0; gap && k < c[i].count; k++) c[i].y[k] = 100 * (c[i].y[k] / o.best_known - 1);
        end = fmax(end, c[i].x[c[i].count - 1]);
    }
    for (int i = 0; i < count; i++) {
        /* the last value holds until the last of them ends */
        if (c[i].x[c[i].count - 1] < end) INV_TRY(curve_add(&c[i], end, c[i].y[c[i].count - 1], err));
        series[i] = (inv_series){.name = count > 1 ? c[i].name : NULL,
                                 .x = c[i].x,
                                 .y = c[i].y,
                                 .count = c[i].count,
                                 .color = i,
                                 .steps = true};
    }
    inv_chart chart = {.title = o.title      ? o.title
                                : count == 1 ? c[0].name
                                             : "Length over time",
                       .x_label = "seconds (logarithmic)",
                       .y_label = gap ? "gap to the best known" : "length",
                       .y_unit = gap ? " %" : NULL,
                       .log_x = true,
                       .series = series,
                       .series_count = count};
    if (o.linear_time) {
        chart.log_x = false;
        chart.x_label = "seconds";
    }
    one_chart it = {&chart, o.width, 0.6 * o.width};
    inv_page page = {path, it.width, it.height, o.scale > 0 ? o.scale : 2, draw_one_chart, &it};
    status = use(&page, context, err);
done:
    curves_free(c, count);
    return status;
}

static invit_status write_page(const inv_page *page, void *context, invit_error *err)
{
    (void)context;
    return inv_page_write(page, NULL, err);
}

invit_status invit_plot_traces(const char *const *paths, int count, const char *path,
                               const invit_plot_options *options, invit_error *err)
{
    return inv_traces_page(paths, count, path, options, write_page, NULL, err);
}

/* ---- training runs ------------------------------------------------------------------------------------- */

typedef struct log_table {
    curve column[MAX_CURVES]; /* one per key with numbers; x is the step */
    int columns;
} log_table;

static invit_status add_value(log_table *t, const char *key, double step, double value, invit_error *err)
{
    int i = 0;
    while (i < t->columns && strcmp(t->column[i].name, key) != 0) i++;
    if (i == t->columns) {
        if (i == MAX_CURVES) return INVIT_OK; /* more than anyone draws */
        snprintf(t->column[i].name, sizeof t->column[i].name, "%s", key);
        t->columns++;
    }
    return curve_add(&t->column[i], step, value, err);
}

static invit_status read_log(const char *run, log_table *t, invit_error *err)
{
    char path[4096];
    struct stat info;
    bool folder = stat(run, &info) == 0 && S_ISDIR(info.st_mode);
    if (snprintf(path, sizeof path, folder ? "%s/log.jsonl" : "%s", run) >= (int)sizeof path)
        return inv_fail(err, INVIT_ERR_ARGUMENT, "%.60s...: name too long", run);
    FILE *file = fopen(path, "r");
    if (!file && folder && errno == ENOENT)
        return inv_fail(err, INVIT_ERR_INPUT, "%s: this folder holds no training run: there is no log.jsonl",
                        run);
    if (!file) return inv_fail(err, INVIT_ERR_IO, "%s: %s", path, strerror(errno));
    invit_status status = INVIT_OK;
    char *line = NULL;
    size_t room = 0;
    json_t *object = NULL;
    double last = 0;
    int number = 1;
    for (; inv_getline(&line, &room, file) >= 0; number++) {
        json_error_t problem;
        if (line[strspn(line, " \t\r\n")] == 0) continue;
        object = inv_json_load(line, strlen(line), 0, &problem);
        if (!json_is_object(object)) {
            /* a run that was killed may leave half a line at its end */
            if (!strchr(line, '\n')) break;
            status = inv_fail(err, INVIT_ERR_INPUT, "%s:%d: expected a JSON object: %s", path, number,
                              problem.text);
            goto done;
        }
        const char *key;
        json_t *value, *step = json_object_get(object, "step");
        double at = json_is_number(step) ? json_number_value(step) : last;
        last = at;
        json_object_foreach(object, key, value) if (json_is_number(value) && strcmp(key, "step") != 0)
            INV_TRY(add_value(t, key, at, json_number_value(value), err));
        json_decref(object);
        object = NULL;
    }
    if (!feof(file)) INV_TRY(inv_lines_ended(file, path, number, err));
    if (t->columns == 0) status = inv_fail(err, INVIT_ERR_INPUT, "%s: no numbers to draw", path);
done:
    json_decref(object);
    free(line);
    fclose(file);
    return status;
}

/* A moving average whose window is a fortieth of the run. */
static invit_status smoothed(const curve *c, curve *out, invit_error *err)
{
    int32_t half = c->count / 80;
    for (int32_t i = 0; i < c->count; i++) {
        int32_t from = i - half > 0 ? i - half : 0;
        int32_t to = i + half < c->count - 1 ? i + half : c->count - 1;
        double sum = 0;
        for (int32_t k = from; k <= to; k++) sum += c->y[k];
        INV_CHECK(curve_add(out, c->x[i], sum / (to - from + 1), err));
    }
    return INVIT_OK;
}

typedef struct panel {
    const char *title, *y_unit;
    const char *keys[8]; /* exact names or, with a leading *, a part of one */
    bool noisy;
    double factor;
} panel;

static const panel panels[] = {
    {.title = "loss", .keys = {"loss"}, .noisy = true, .factor = 1},
    {.title = "accuracy: share of states where the expert's choice is the likeliest",
     .y_unit = " %",
     .keys = {"accuracy"},
     .noisy = true,
     .factor = 100},
    {.title = "validation: gap to the expert", .y_unit = " %", .keys = {"*gap"}, .factor = 100},
    {.title = "tour length, sampled by the model and of the baseline",
     .keys = {"length", "baseline"},
     .noisy = true,
     .factor = 1},
    {.title = "after each epoch: greedy tour length on fresh instances, best of the copies",
     .keys = {"epoch_model", "epoch_baseline"},
     .factor = 1},
};
enum { PANELS = sizeof panels / sizeof *panels };

static bool belongs(const panel *p, const char *key)
{
    for (const char *const *k = p->keys; *k; k++)
        if (**k == '*' ? strstr(key, *k + 1) != NULL : strcmp(key, *k) == 0) return true;
    return false;
}

typedef struct page {
    curve made[MOST_MADE]; /* smoothed or scaled copies            */
    char name[MOST_MADE][160];
    int count;
} page;

/* gap_100_best16 -> 100 nodes, best of 16; epoch_model -> model */
static void line_name(const char *key, char *name, size_t size)
{
    int nodes, best, used = 0;
    if (sscanf(key, "gap_%d_best%d%n", &nodes, &best, &used) == 2 && !key[used]) {
        snprintf(name, size, "%d nodes, best of %d", nodes, best);
    } else if (sscanf(key, "gap_%d%n", &nodes, &used) == 1 && !key[used]) {
        snprintf(name, size, "%d nodes, greedy", nodes);
    } else {
        snprintf(name, size, "%s", strncmp(key, "epoch_", 6) == 0 ? key + 6 : key);
        for (char *c = name; *c; c++)
            if (*c == '_') *c = ' ';
    }
}

/* The lines of one panel; returns through *lines. */
static invit_status fill_panel(const panel *p, const log_table *tables, const char *const *runs, int count,
                               page *g, inv_series *series, int *lines, invit_error *err)
{
    int color = 0;
    *lines = 0;
    for (int r = 0; r < count; r++)
        for (int k = 0; k < tables[r].columns; k++) {
            const curve *c = &tables[r].column[k];
            if (!belongs(p, c->name) || *lines + 2 > 2 * MAX_CURVES || g->count + 2 > MOST_MADE) continue;
            curve *made = &g->made[g->count];
            bool many = p->noisy && c->count > 80;
            if (many)
                INV_CHECK(smoothed(c, made, err));
            else
                for (int32_t i = 0; i < c->count; i++) INV_CHECK(curve_add(made, c->x[i], c->y[i], err));
            for (int32_t i = 0; i < made->count; i++) made->y[i] *= p->factor;
            if (many && g->count + 1 < MOST_MADE && count == 1) { /* the raw values behind */
                curve *raw = &g->made[g->count + 1];
                for (int32_t i = 0; i < c->count; i++)
                    INV_CHECK(curve_add(raw, c->x[i], p->factor * c->y[i], err));
                series[(*lines)++] = (inv_series){
                    .x = raw->x, .y = raw->y, .count = raw->count, .color = color, .faint = true};
            }
            char run[96], line[96];
            base_name(runs[r], run, sizeof run);
            line_name(c->name, line, sizeof line);
            char *name = g->name[g->count];
            g->count += 2;
            snprintf(name, sizeof g->name[0], count > 1 ? "%s: %s" : "%.0s%s", run, line);
            series[(*lines)++] = (inv_series){.name = name,
                                              .x = made->x,
                                              .y = made->y,
                                              .count = made->count,
                                              .color = color,
                                              .points = made->count <= 80};
            color++;
        }
    if (color == 1) series[*lines - 1].name = NULL;
    return INVIT_OK;
}

/* A logarithmic axis where values differ so much that the first steps, or another run, would flatten the rest. */
static bool needs_log(const inv_series *series, int count)
{
    enum { TIMES = 4 };
    double low = INFINITY, high = -INFINITY;
    for (int s = 0; s < count; s++)
        for (int32_t i = 0; i < series[s].count; i++) {
            double y = series[s].y[i];
            if (!isfinite(y)) continue;
            if (y <= 0) return false;
            low = fmin(low, y);
            high = fmax(high, y);
        }
    return high > TIMES * low;
}

typedef struct run_page {
    const char *title;
    double width, height; /* of a panel */
    double last;          /* step, so that all panels share one axis */
    int lines[PANELS];
    inv_series series[PANELS][2 * MAX_CURVES];
} run_page;

static invit_status draw_panels(void *context, inv_canvas *c, invit_error *err)
{
    const run_page *it = context;
    double y = MARGIN + 30;
    (void)err;
    inv_set_color(c->cr, inv_ink, 1);
    inv_draw_text(c->cr, MARGIN + 10, MARGIN + 16, 0, 17, true, it->title);
    for (int k = 0; k < PANELS; k++) {
        if (it->lines[k] == 0) continue;
        inv_chart chart = {.title = panels[k].title,
                           .y_unit = panels[k].y_unit,
                           .log_y = needs_log(it->series[k], it->lines[k]),
                           .series = it->series[k],
                           .series_count = it->lines[k],
                           .x_label = "step",
                           .x_high = it->last};
        inv_chart_draw(c->cr, MARGIN, y, it->width - 2 * MARGIN, it->height - 12, &chart);
        y += it->height;
    }
    return INVIT_OK;
}

invit_status invit_plot_runs(const char *const *runs, int count, const char *path,
                             const invit_plot_options *options, invit_error *err)
{
    invit_plot_options o = options ? *options : invit_plot_defaults();
    enum { MAX_RUNS = 8, PANEL_HEIGHT = 230 };
    if (count < 1 || count > MAX_RUNS)
        return inv_fail(err, INVIT_ERR_ARGUMENT, "1 to %d runs can be drawn, not %d", MAX_RUNS, count);
    log_table *tables = calloc((size_t)count, sizeof *tables);
    page *g = calloc(1, sizeof *g);
    run_page it = {.width = o.width, .height = PANEL_HEIGHT};
    int shown = 0;
    invit_status status = INVIT_OK;
    if (!tables || !g) {
        status = inv_no_memory(err, sizeof *tables * (size_t)count + sizeof *g);
        goto done;
    }
    for (int r = 0; r < count; r++) INV_TRY(read_log(runs[r], &tables[r], err));
    for (int k = 0; k < PANELS; k++) {
        INV_TRY(fill_panel(&panels[k], tables, runs, count, g, it.series[k], &it.lines[k], err));
        shown += it.lines[k] > 0;
        for (int i = 0; i < it.lines[k]; i++) {
            const inv_series *s = &it.series[k][i];
            if (s->count > 0) it.last = fmax(it.last, s->x[s->count - 1]);
        }
    }
    if (shown == 0) {
        status = inv_fail(err, INVIT_ERR_INPUT, "%s: the log has neither loss, accuracy, gaps nor lengths",
                          runs[0]);
        goto done;
    }
    char title[128];
    base_name(runs[0], title, sizeof title);
    it.title = count == 1 ? title : "Training runs";
    if (o.title) it.title = o.title;
    inv_page paper = {path,        o.width, shown * PANEL_HEIGHT + 2 * MARGIN + 30, o.scale > 0 ? o.scale : 2,
                      draw_panels, &it};
    status = inv_page_write(&paper, NULL, err);
done:
    for (int r = 0; tables && r < count; r++) curves_free(tables[r].column, tables[r].columns);
    if (g) curves_free(g->made, g->count);
    free(tables);
    free(g);
    return status;
}
