#include "lab/plot/canvas.h"

#include "lab/plot/letters.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

const inv_color inv_palette[INV_PALETTE] = {
    {0.000, 0.447, 0.698}, /* blue        */
    {0.835, 0.369, 0.000}, /* vermilion   */
    {0.000, 0.620, 0.451}, /* green       */
    {0.800, 0.475, 0.655}, /* pink        */
    {0.902, 0.624, 0.000}, /* orange      */
    {0.337, 0.706, 0.914}, /* sky         */
    {0.533, 0.133, 0.333}, /* wine        */
    {0.200, 0.133, 0.533}, /* indigo      */
    {0.600, 0.600, 0.200}, /* olive       */
    {0.267, 0.267, 0.267}, /* charcoal    */
};
const inv_color inv_ink = {0.13, 0.15, 0.18}, inv_grey = {0.42, 0.45, 0.49}, inv_light = {0.88, 0.89, 0.91};

void inv_set_color(cairo_t *cr, inv_color color, double alpha)
{
    cairo_set_source_rgba(cr, color.r, color.g, color.b, alpha);
}

inv_color inv_viridis(double position)
{
    static const inv_color stop[] = {{0.267, 0.005, 0.329}, {0.275, 0.194, 0.496}, {0.212, 0.359, 0.551},
                                     {0.153, 0.497, 0.558}, {0.122, 0.633, 0.530}, {0.290, 0.758, 0.428},
                                     {0.622, 0.854, 0.226}, {0.993, 0.906, 0.144}};
    enum { LAST = sizeof stop / sizeof *stop - 1 };
    double at = fmin(fmax(position, 0), 1) * LAST;
    int i = (int)at < LAST ? (int)at : LAST - 1;
    double t = at - i;
    return (inv_color){stop[i].r + t * (stop[i + 1].r - stop[i].r),
                       stop[i].g + t * (stop[i + 1].g - stop[i].g),
                       stop[i].b + t * (stop[i + 1].b - stop[i].b)};
}

/* ---- a process of its own ------------------------------------------------------------------------------ */

/* cairo's rasteriser ends the process when an allocation fails (1.16 jumps to where nobody is). So pages are drawn in a
 * child, which sends frames: a length and that many bytes of the picture, and at last the length END and the outcome. A
 * child that ends without one takes nothing else with it. */
enum { END = 0xFFFFFFFFu };

typedef struct outcome {
    invit_status status;
    invit_error err;
} outcome;

static bool send_all(int fd, const void *bytes, size_t count)
{
    for (const char *at = bytes; count > 0;) {
        ssize_t n = write(fd, at, count);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        at += n;
        count -= (size_t)n;
    }
    return true;
}

static bool receive_all(int fd, void *bytes, size_t count)
{
    for (char *at = bytes; count > 0;) {
        ssize_t n = read(fd, at, count);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        at += n;
        count -= (size_t)n;
    }
    return true;
}

typedef struct stream {
    int fd;
    bool failed; /* for good: cairo may go on after a part that could not be sent */
} stream;

static cairo_status_t write_out(void *closure, const unsigned char *data, unsigned int length)
{
    stream *s = closure;
    if (!s->failed && length > 0)
        s->failed = !send_all(s->fd, &length, sizeof length) || !send_all(s->fd, data, length);
    return s->failed ? CAIRO_STATUS_WRITE_ERROR : CAIRO_STATUS_SUCCESS;
}

static invit_status cairo_failed(const inv_page *page, cairo_status_t status, invit_error *err)
{
    return inv_fail(err, status == CAIRO_STATUS_NO_MEMORY ? INVIT_ERR_MEMORY : INVIT_ERR_INTERNAL,
                    "%s: cannot draw: %s", page->path, cairo_status_to_string(status));
}

/* cairo passes over some allocations that fail, and a line, a rectangle or an order of colours is missing then. What
 * stays of them is errno, since nothing that succeeds sets it. */
static invit_status draw(const inv_page *page, int fd, invit_error *err)
{
    errno = 0;
    const char *dot = strrchr(page->path, '.');
    bool svg = dot && strcasecmp(dot, ".svg") == 0, pdf = dot && strcasecmp(dot, ".pdf") == 0;
    inv_canvas c = {.vector = svg || pdf};
    stream out = {.fd = fd};
    if (svg)
        c.surface = cairo_svg_surface_create_for_stream(write_out, &out, page->width, page->height);
    else if (pdf)
        c.surface = cairo_pdf_surface_create_for_stream(write_out, &out, page->width, page->height);
    else
        c.surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)ceil(page->width * page->scale),
                                               (int)ceil(page->height * page->scale));
    c.cr = cairo_create(c.surface);
    if (!c.vector) cairo_scale(c.cr, page->scale, page->scale);
    cairo_set_source_rgb(c.cr, 1, 1, 1);
    cairo_paint(c.cr);
    invit_status status = INVIT_OK;
    cairo_status_t drawn = cairo_status(c.cr);
    if (drawn == CAIRO_STATUS_SUCCESS) status = page->draw(page->context, &c, err);
    if (drawn == CAIRO_STATUS_SUCCESS) drawn = cairo_status(c.cr);
    if (status == INVIT_OK && drawn == CAIRO_STATUS_SUCCESS && !c.vector)
        drawn = cairo_surface_write_to_png_stream(c.surface, write_out, &out);
    cairo_destroy(c.cr);
    cairo_surface_finish(c.surface);
    if (drawn == CAIRO_STATUS_SUCCESS) drawn = cairo_surface_status(c.surface);
    cairo_surface_destroy(c.surface);
    if (drawn == CAIRO_STATUS_SUCCESS && errno == ENOMEM) drawn = CAIRO_STATUS_NO_MEMORY;
    if (drawn == CAIRO_STATUS_SUCCESS && out.failed) drawn = CAIRO_STATUS_WRITE_ERROR;
    if (status == INVIT_OK && drawn != CAIRO_STATUS_SUCCESS) status = cairo_failed(page, drawn, err);
    return status;
}

/* What belongs to the parent (a server's connections) must not stay open here. */
static void close_all_but(int fd)
{
    if (fd != 3 && dup2(fd, 3) == 3) fd = 3;
#ifdef SYS_close_range
    if (fd == 3) syscall(SYS_close_range, 4u, ~0u, 0u);
#endif
}

static _Noreturn void be_the_child(const inv_page *page, int fd)
{
    static const unsigned int end = END;
    outcome o = {.err = {.message = ""}};
    close_all_but(fd);
    o.status = draw(page, 3, &o.err);
    bool sent = send_all(3, &end, sizeof end) && send_all(3, &o, sizeof o);
    _exit(sent ? 0 : 1);
}

/* Passes the picture on to the file; the outcome is the child's. */
static invit_status receive(const inv_page *page, int fd, inv_outfile *file, invit_error *err)
{
    char bytes[4096];
    unsigned int left;
    while (receive_all(fd, &left, sizeof left)) {
        if (left == END) {
            outcome o;
            if (!receive_all(fd, &o, sizeof o)) break;
            if (o.status != INVIT_OK) return inv_fail(err, o.status, "%s", o.err.message);
            return INVIT_OK;
        }
        while (left > 0) {
            size_t part = left < sizeof bytes ? left : sizeof bytes;
            if (!receive_all(fd, bytes, part))
                left = 0;
            else
                inv_outfile_write(file, bytes, part), left -= (unsigned int)part;
        }
    }
    return inv_fail(err, INVIT_ERR_MEMORY,
                    "%s: cannot draw: the drawing library gave up, probably out of memory", page->path);
}

static invit_status draw_apart(const inv_page *page, inv_outfile *file, invit_error *err)
{
    int ends[2];
    if (pipe(ends) != 0)
        return inv_fail(err, INVIT_ERR_IO, "%s: cannot draw: %s", page->path, strerror(errno));
    pid_t child = fork();
    if (child == 0) be_the_child(page, ends[1]);
    int why = errno;
    close(ends[1]);
    invit_status status = INVIT_OK;
    if (child < 0)
        status = inv_fail(err, why == ENOMEM ? INVIT_ERR_MEMORY : INVIT_ERR_IO,
                          "%s: cannot start a process to draw in: %s", page->path, strerror(why));
    else
        status = receive(page, ends[0], file, err);
    close(ends[0]);
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR) continue;
    return status;
}

static invit_status check_ending(const char *path, invit_error *err)
{
    const char *dot = strrchr(path, '.');
    if (dot && (strcasecmp(dot, ".svg") == 0 || strcasecmp(dot, ".pdf") == 0 || strcasecmp(dot, ".png") == 0))
        return INVIT_OK;
    return inv_fail(err, INVIT_ERR_ARGUMENT, "%s: a picture's name must end in .svg, .png or .pdf", path);
}

invit_status inv_page_write(const inv_page *page, inv_outfile *file, invit_error *err)
{
    invit_status status = INVIT_OK;
    if (!file) {
        INV_CHECK(check_ending(page->path, err));
        INV_CHECK(inv_outfile_open(page->path, &file, err));
    }
    INV_TRY(draw_apart(page, file, err));
    return inv_outfile_close(file, err);
done:
    inv_outfile_abandon(file);
    return status;
}

/* ---- text ---------------------------------------------------------------------------------------------- */

double inv_drawn_width(cairo_t *cr, double size, bool bold, const char *text)
{
    (void)cr;
    return inv_letters_width(size, bold, text);
}

double inv_draw_text(cairo_t *cr, double x, double y, double align, double size, bool bold, const char *text)
{
    double width = inv_letters_width(size, bold, text);
    inv_draw_letters(cr, x - align * width, y, size, bold, text);
    return width;
}

const char *inv_grouped(int64_t value, char buffer[32])
{
    char plain[32];
    int digits = snprintf(plain, sizeof plain, "%lld", (long long)(value < 0 ? -value : value)), at = 0;
    if (value < 0) buffer[at++] = '-';
    for (int i = 0; i < digits; i++) {
        if (i && (digits - i) % 3 == 0) buffer[at++] = ',';
        buffer[at++] = plain[i];
    }
    buffer[at] = 0;
    return buffer;
}
