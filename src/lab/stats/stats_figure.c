/* Figures from tables: y over x, lines and panels by the columns before x; values with the same x are
 * averaged. */
#include "invit_lab.h"
#include "lab/plot/chart.h"
#include "lab/eval/tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PANELS = 16, MAX_LINES = 12, WIDTH = 640, HEIGHT = 250, MARGIN = 12 };

typedef struct line {
    char name[64];
    double *x, *y, *weight;
    int32_t count, room;
} line;

typedef struct panel {
    char name[128];
    line line[MAX_LINES];
    int lines;
} panel;

static invit_status add_point(line *l, double x, double y, invit_error *err)
{
    for (int32_t i = 0; i < l->count; i++) {
        if (l->x[i] != x) continue;
        l->y[i] = (l->y[i] * l->weight[i] + y) / (l->weight[i] + 1);
        l->weight[i]++;
        return INVIT_OK;
    }
    if (l->count == l->room) {
        int32_t room = l->room ? 2 * l->room : 32;
        double **array[] = {&l->x, &l->y, &l->weight};
        for (int a = 0; a < 3; a++) {
            double *bigger = realloc(*array[a], (size_t)room * sizeof *bigger);
            if (!bigger) return inv_no_memory(err, (size_t)room * sizeof *bigger);
            *array[a] = bigger;
        }
        l->room = room;
    }
    l->x[l->count] = x;
    l->y[l->count] = y;
    l->weight[l->count++] = 1;
    return INVIT_OK;
}

static invit_status collect(const inv_table *t, panel *panels, int *count, invit_error *err)
{
    const inv_table_drawing *d = &t->drawing;
    for (int32_t r = 0; r < t->rows; r++) {
        const inv_cell *cell = &t->cell[(size_t)r * (size_t)t->columns];
        char name[128] = "";
        for (int32_t c = 0; c < d->x; c++)
            if (c != d->line)
                snprintf(name + strlen(name), sizeof name - strlen(name), "%s%s %s", name[0] ? ", " : "",
                         t->column[c].name, cell[c].text ? cell[c].text : "");
        int p = 0, l = 0;
        while (p < *count && strcmp(panels[p].name, name) != 0) p++;
        if (p == MAX_PANELS) continue;
        if (p == *count) {
            memcpy(panels[p].name, name, sizeof name);
            ++*count;
        }
        const char *which = cell[d->line].text ? cell[d->line].text : "";
        while (l < panels[p].lines && strcmp(panels[p].line[l].name, which) != 0) l++;
        if (l == MAX_LINES) continue;
        if (l == panels[p].lines) {
            snprintf(panels[p].line[l].name, sizeof panels[p].line[l].name, "%s", which);
            panels[p].lines++;
        }
        INV_CHECK(add_point(&panels[p].line[l], cell[d->x].number, cell[d->y].number, err));
    }
    return INVIT_OK;
}

typedef struct figure {
    const inv_table *t;
    const panel *panels;
    int count, columns;
    bool partial;
} figure;

static invit_status draw_figure(void *context, inv_canvas *c, invit_error *err)
{
    const figure *it = context;
    (void)err;
    for (int p = 0; p < it->count; p++) {
        const panel *from = &it->panels[p];
        inv_series series[MAX_LINES];
        for (int l = 0; l < from->lines; l++)
            series[l] = (inv_series){.name = from->line[l].name,
                                     .x = from->line[l].x,
                                     .y = from->line[l].y,
                                     .count = from->line[l].count,
                                     .color = l % INV_PALETTE,
                                     .points = true};
        char title[160];
        snprintf(title, sizeof title, "%s%s", from->name, it->partial ? " (partial)" : "");
        inv_chart chart = {.title = title,
                           .x_label = it->t->drawing.x_label,
                           .y_label = it->t->drawing.y_label,
                           .y_unit = it->t->drawing.y_unit,
                           .log_x = it->t->drawing.log_x,
                           .series = series,
                           .series_count = from->lines};
        inv_chart_draw(c->cr, MARGIN + p % it->columns * WIDTH, MARGIN + p / it->columns * HEIGHT, WIDTH - 12,
                       HEIGHT - 12, &chart);
    }
    return INVIT_OK;
}

invit_status invit_report_figure(const invit_report *data, const char *path, invit_error *err)
{
    invit_status status = INVIT_OK;
    int count = 0;
    panel *panels = NULL;
    const inv_table *t = NULL;
    for (int32_t i = 0; i < data->tables && !t; i++)
        if (data->table[i] && data->table[i]->drawn) t = data->table[i];
    if (!t || data->failed || t->failed || !t->drawn || t->rows == 0)
        return inv_fail(err, INVIT_ERR_ARGUMENT, "there is nothing to draw in this report");
    panels = calloc(MAX_PANELS, sizeof *panels);
    if (!panels) return inv_no_memory(err, MAX_PANELS * sizeof *panels);
    INV_TRY(collect(t, panels, &count, err));
    int rows = (count + 1) / 2, columns = count > 1 ? 2 : 1;
    figure it = {t, panels, count, columns, data->partial[0] != 0};
    inv_page page = {path, columns * WIDTH + 2 * MARGIN, rows * HEIGHT + 2 * MARGIN, 2, draw_figure, &it};
    status = inv_page_write(&page, NULL, err);
done:
    for (int p = 0; p < MAX_PANELS; p++)
        for (int l = 0; l < MAX_LINES; l++) {
            free(panels[p].line[l].x);
            free(panels[p].line[l].y);
            free(panels[p].line[l].weight);
        }
    free(panels);
    return status;
}
