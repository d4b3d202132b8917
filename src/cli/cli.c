#include "cli/cli.h"

#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* Names of files and arguments may hold control characters, which must not reach the terminal. */
static void print_message(const char *kind, const char *format, va_list args)
{
    char text[4096];
    vsnprintf(text, sizeof text, format, args);
    inv_tame(text);
    fflush(stdout);
    fprintf(stderr, "invit: %s%s\n", kind, text);
}

void cli_print_text(const char *text)
{
    for (; *text; text++) {
        char pair[3] = {text[0], text[1], 0};
        inv_tame(pair);
        putchar(pair[0]);
        if ((unsigned char)text[0] != 0xc2 || pair[1] == text[1]) continue;
        putchar(pair[1]); /* a control character of two bytes */
        text++;
    }
}

int cli_fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_message("", format, args);
    va_end(args);
    return CLI_FAILED;
}

static bool same_file(const char *a, const char *b)
{
    struct stat x, y;
    if (strcmp(a, b) == 0) return strcmp(a, "-") != 0; /* also one that is not there yet */
    return stat(a, &x) == 0 && stat(b, &y) == 0 && S_ISREG(x.st_mode) && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino;
}

int cli_check_differs(const char *output, const char *input, const char *what)
{
    if (!output || !input || !same_file(output, input)) return CLI_GO;
    return cli_fail("%s is %s itself; name another file for what is written", output, what);
}

/* Files are made beside their final name, so the folder counts, not only a file that is there. */
static int check_folder(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    size_t length = slash == path ? 1 : (size_t)(slash - path); /* of "/", too */
    char *folder = slash ? strndup(path, length) : strdup(".");
    int code = folder && access(folder, W_OK | X_OK) != 0
                   ? cli_fail("%s: cannot write: %s", name, strerror(errno))
                   : CLI_GO;
    free(folder);
    return code;
}

int cli_check_output(const char *path)
{
    struct stat st;
    if (!path || strcmp(path, "-") == 0) return CLI_GO;
    if (stat(path, &st) != 0) return check_folder(path, path);
    if (S_ISDIR(st.st_mode)) return cli_fail("%s: cannot write: it is a folder", path);
    if (access(path, W_OK) != 0) return cli_fail("%s: cannot write: %s", path, strerror(errno));
    char *real = S_ISREG(st.st_mode) ? realpath(path, NULL) : NULL;
    int code = real ? check_folder(real, path) : CLI_GO;
    free(real);
    return code;
}

bool cli_is_picture(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot &&
           (strcasecmp(dot, ".svg") == 0 || strcasecmp(dot, ".png") == 0 || strcasecmp(dot, ".pdf") == 0);
}

int cli_check_picture(const char *path)
{
    if (path && !cli_is_picture(path))
        return cli_fail("%s: a picture's name must end in .svg, .png or .pdf", path);
    return cli_check_output(path);
}

int cli_bad_usage(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_message("", format, args);
    va_end(args);
    return CLI_USAGE;
}

void cli_warn(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_message("warning: ", format, args);
    va_end(args);
}

int cli_report(const invit_error *err)
{
    cli_fail("%s", err->message);
    return err->code == INVIT_ERR_CANCELLED ? CLI_INTERRUPTED : CLI_FAILED;
}

int cli_stopped(void)
{
    cli_fail("stopped before all was measured");
    return CLI_INTERRUPTED;
}

bool cli_asks_for_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

int cli_write_report(const invit_report *report, invit_table_format format, const char *path)
{
    invit_error err;
    fflush(stdout); /* the library writes behind it */
    if (!path) path = "-";
    return invit_report_write(report, format, path, &err) == INVIT_OK ? CLI_OK : cli_report(&err);
}

/* Edit distance with insertions, deletions, substitutions and swaps of neighbours. */
static int edit_distance(const char *a, const char *b)
{
    enum { MOST = 40 };
    int la = (int)strlen(a), lb = (int)strlen(b), d[MOST + 1][MOST + 1];
    if (la > MOST || lb > MOST) return MOST;
    for (int i = 0; i <= la; i++) d[i][0] = i;
    for (int j = 0; j <= lb; j++) d[0][j] = j;
    for (int i = 1; i <= la; i++)
        for (int j = 1; j <= lb; j++) {
            int best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            if (d[i - 1][j] + 1 < best) best = d[i - 1][j] + 1;
            if (d[i][j - 1] + 1 < best) best = d[i][j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && d[i - 2][j - 2] + 1 < best)
                best = d[i - 2][j - 2] + 1;
            d[i][j] = best;
        }
    return d[la][lb];
}

const char *cli_nearest(const char *word, const char *const *names, int count)
{
    while (*word == '-') word++;
    const char *near = NULL;
    int least = strlen(word) < 4 ? 2 : 3; /* at least this far is not near */
    for (int i = 0; i < count; i++) {
        int distance = edit_distance(word, names[i]);
        if (distance > 1 && strlen(word) >= 3 && strncmp(word, names[i], strlen(word)) == 0)
            distance = 1; /* abbreviation */
        if (distance < least) {
            least = distance;
            near = names[i];
        }
    }
    return near;
}
