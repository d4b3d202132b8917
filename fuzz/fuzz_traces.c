/* Anytime curves: any bytes are drawn, or give an error that names the file. Drawn in this process, not in one of its own,
 * where a crash would pass for a lack of memory; and on a page of one pixel, since cairo's part is not what is tried. */
#include "lab/plot/curves.h"
#include "file.h"

#include <string.h>

static invit_status draw(const inv_page *page, void *context, invit_error *err)
{
    (void)context;
    inv_canvas c = {.surface = cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1)};
    c.cr = cairo_create(c.surface);
    invit_status status = page->draw(page->context, &c, err);
    cairo_destroy(c.cr);
    cairo_surface_destroy(c.surface);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    invit_error err = {.message = ""};
    if (size < 1) return 0;
    const char *path = fuzz_file(data + 1, size - 1);
    const char *paths[] = {path, path}; /* two of them have a legend */
    invit_plot_options o = invit_plot_defaults();
    o.linear_time = data[0] & 2;
    if (data[0] & 4) o.best_known = 7542;
    if (inv_traces_page(paths, 1 + (data[0] & 1), "picture.svg", &o, draw, NULL, &err) != INVIT_OK &&
        strncmp(err.message, path, strlen(path)) != 0)
        abort();
    return 0;
}
