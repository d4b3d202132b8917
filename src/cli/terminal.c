#include "cli/terminal.h"

#include "base/cancel.h"
#include "base/clock.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

/* A signal handler can reach nothing but a global. */
static volatile int cancel;

static void on_signal(int signal)
{
    inv_set_flag(&cancel);
    if (signal != SIGINT) return;
    int kept = errno; /* the code that was interrupted may be about to read it */
    struct sigaction usual;
    memset(&usual, 0, sizeof usual);
    usual.sa_handler = SIG_DFL;
    sigaction(SIGINT, &usual, NULL); /* the second Ctrl-C ends the program */
    errno = kept;
}

const volatile int *cli_cancel_flag(void)
{
    static bool installed;
    if (!installed) {
        struct sigaction polite;
        memset(&polite, 0, sizeof polite);
        polite.sa_handler = on_signal;
        polite.sa_flags = SA_RESTART;
        sigaction(SIGINT, &polite, NULL);
        sigaction(SIGTERM, &polite, NULL);
        struct sigaction before; /* under nohup a hang-up stays without effect */
        if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(SIGHUP, &polite, NULL);
        installed = true;
    }
    return &cancel;
}

bool cli_cancelled(void)
{
    return inv_flag_set(&cancel);
}

static void draw(cli_progress *p, const char *text)
{
    struct winsize size;
    int columns = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
    fprintf(stderr, "\r%s%.*s\033[K", p->prefix, columns - 1 - (int)strlen(p->prefix), text);
    fflush(stderr);
    p->on_screen = true;
    p->last = inv_now();
}

static bool due(const cli_progress *p)
{
    return p->shown && (!p->on_screen || inv_now() - p->last >= 0.1);
}

static void on_progress(void *user, const invit_progress *progress)
{
    cli_progress *p = user;
    if (!due(p)) return;
    char text[256];
    int at = snprintf(text, sizeof text, "%-9s %6.1f s", progress->stage ? progress->stage : "",
                      progress->elapsed);
    if (progress->fraction >= 0)
        at += snprintf(text + at, sizeof text - (size_t)at, "  %3.0f %%", 100 * progress->fraction);
    if (!isnan(progress->best))
        at += snprintf(text + at, sizeof text - (size_t)at, "  best %.10g", progress->best);
    if (progress->message) snprintf(text + at, sizeof text - (size_t)at, "  %.120s", progress->message);
    draw(p, text);
}

invit_control cli_control(cli_progress *p, bool quiet)
{
    memset(p, 0, sizeof *p);
    const char *term = getenv("TERM");
    p->shown = !quiet && isatty(STDERR_FILENO) && !(term && strcmp(term, "dumb") == 0);
    return (invit_control){.progress = on_progress, .user = p, .cancel = cli_cancel_flag()};
}

void cli_progress_line(cli_progress *p, const char *format, ...)
{
    if (!due(p)) return;
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    draw(p, text);
}

void cli_progress_clear(cli_progress *p)
{
    if (!p->on_screen) return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    p->on_screen = false;
}
