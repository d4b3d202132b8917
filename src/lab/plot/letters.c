/* Letters as outlines that come with the program. The font libraries behind cairo's own text (fontconfig) end the process
 * when an allocation fails; and a picture looks the same on every machine this way. */
#include "lab/plot/letters.h"

#include "base/text.h"

#include <stdint.h>
#include <stdlib.h>

typedef struct glyph {
    uint32_t code;
    int advance; /* in thousandths of the size */
    const char *outline;
} glyph;

static const glyph glyphs[] = {
#include "lab/plot/glyphs.inc"
};

enum { GLYPHS = sizeof glyphs / sizeof *glyphs };

static int by_code(const void *key, const void *element)
{
    uint32_t a = *(const uint32_t *)key, b = ((const glyph *)element)->code;
    return (a > b) - (a < b);
}

/* The sign for unknown characters, the table's last, where there is no glyph. */
static const glyph *find(uint32_t code)
{
    const glyph *found = bsearch(&code, glyphs, GLYPHS, sizeof *glyphs, by_code);
    return found ? found : &glyphs[GLYPHS - 1];
}

/* The next character of a text that is UTF-8, or the sign for unknown ones, a byte at a time, where it is not. */
static uint32_t next_code(const char **at)
{
    const unsigned char *s = (const unsigned char *)*at;
    int length = inv_utf8_length(*at);
    *at += length > 0 ? length : 1;
    switch (length) {
    case 1:
        return s[0];
    case 2:
        return (s[0] & 0x1Fu) << 6 | (s[1] & 0x3Fu);
    case 3:
        return (s[0] & 0x0Fu) << 12 | (s[1] & 0x3Fu) << 6 | (s[2] & 0x3Fu);
    case 4:
        return (s[0] & 0x07u) << 18 | (s[1] & 0x3Fu) << 12 | (s[2] & 0x3Fu) << 6 | (s[3] & 0x3Fu);
    default:
        return 0xFFFD;
    }
}

static double number(const char **at)
{
    const char *p = **at == ',' ? *at + 1 : *at;
    int value = 0, sign = *p == '-' ? -1 : 1;
    for (p += *p == '-'; *p >= '0' && *p <= '9'; p++) value = 10 * value + (*p - '0');
    *at = p;
    return sign * value;
}

static void add_outline(cairo_t *cr, const char *o, double x, double y, double unit)
{
    double first_x = x, first_y = y;
    while (*o) {
        char letter = *o++;
        if (letter == 'z') {
            cairo_close_path(cr);
            x = first_x;
            y = first_y;
            continue;
        }
        double dx = unit * number(&o), dy = unit * number(&o);
        if (letter == 'q') { /* a quadratic curve as a cubic one */
            double cx = x + dx, cy = y + dy, to_x = x + unit * number(&o), to_y = y + unit * number(&o);
            cairo_curve_to(cr, x + 2 * (cx - x) / 3, y + 2 * (cy - y) / 3, to_x + 2 * (cx - to_x) / 3,
                           to_y + 2 * (cy - to_y) / 3, to_x, to_y);
            x = to_x;
            y = to_y;
            continue;
        }
        x += dx;
        y += dy;
        if (letter == 'm') {
            cairo_move_to(cr, x, y);
            first_x = x;
            first_y = y;
        } else {
            cairo_line_to(cr, x, y);
        }
    }
}

/* Bold letters are ordinary ones with a rim, and a little wider. */
static const double RIM = 0.045;

double inv_letters_width(double size, bool bold, const char *text)
{
    double width = 0;
    while (*text) width += size * (find(next_code(&text))->advance / 1000.0 + (bold ? RIM : 0));
    return width;
}

void inv_draw_letters(cairo_t *cr, double x, double y, double size, bool bold, const char *text)
{
    cairo_new_path(cr);
    while (*text) {
        const glyph *g = find(next_code(&text));
        add_outline(cr, g->outline, x + (bold ? size * RIM / 2 : 0), y, size / 1000);
        x += size * (g->advance / 1000.0 + (bold ? RIM : 0));
    }
    if (!bold) {
        cairo_fill(cr);
        return;
    }
    cairo_save(cr);
    cairo_set_line_width(cr, size * RIM);
    cairo_set_line_join(cr, CAIRO_LINE_JOIN_ROUND);
    cairo_set_dash(cr, NULL, 0, 0);
    cairo_fill_preserve(cr);
    cairo_stroke(cr);
    cairo_restore(cr);
}
