/* Text in pictures, without a font library. */
#ifndef INVIT_LAB_PLOT_LETTERS_H
#define INVIT_LAB_PLOT_LETTERS_H

#include <cairo.h>
#include <stdbool.h>

double inv_letters_width(double size, bool bold, const char *text);
/* Begins at x, with its baseline at y, in the colour that is set. */
void inv_draw_letters(cairo_t *cr, double x, double y, double size, bool bold, const char *text);

#endif
