#include "cli/options.h"

#include "base/lines.h"
#include "base/options.h"
#include "cli/cli.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HELP_COLUMN = 26, HELP_WIDTH = 80 };

/* ---- memory the values point into ---------------------------------------------------------------------- */

typedef struct block {
    struct block *next;
    max_align_t data[];
} block;

/* Out of memory while reading the command line: nothing sensible is left to do but say so. */
static void *keep(cli_args *args, size_t bytes)
{
    block *b = malloc(sizeof *b + bytes);
    if (!b) exit(cli_fail("out of memory"));
    b->next = args->memory;
    args->memory = b;
    return b->data;
}

void cli_args_free(cli_args *args)
{
    for (block *b = args->memory, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    memset(args, 0, sizeof *args);
}

/* ---- values -------------------------------------------------------------------------------------------- */

bool cli_number(const char *text, double *out)
{
    return inv_parse_number(text, out);
}

bool cli_integer(const char *text, int64_t *out)
{
    return inv_parse_integer(text, out);
}

/* The row as the library's own options have it; false for text and lists, which only the command line knows. */
static bool library_row(const cli_option *o, inv_option *row)
{
    static const inv_option_type type[] = {
        [CLI_INT] = INV_OPTION_INT,         [CLI_INT64] = INV_OPTION_INT64,
        [CLI_UINT64] = INV_OPTION_UINT64,   [CLI_DOUBLE] = INV_OPTION_NUMBER,
        [CLI_SECONDS] = INV_OPTION_SECONDS, [CLI_BOOL] = INV_OPTION_BOOL,
        [CLI_CHOICE] = INV_OPTION_CHOICE};
    if (o->type == CLI_STRING || o->type == CLI_LIST || o->type == CLI_TEXTS) return false;
    *row = (inv_option){.type = type[o->type], .min = o->min, .max = o->max, .choices = o->choices};
    return true;
}

static void append_list(cli_args *args, cli_list *list, const char *text, char separator)
{
    int more = 1;
    for (const char *c = text; separator && *c; c++) more += *c == separator;
    const char **item = keep(args, sizeof *item * (size_t)(list->count + more));
    if (list->count) memcpy(item, list->item, sizeof *item * (size_t)list->count);
    char *copy = keep(args, strlen(text) + 1);
    strcpy(copy, text);
    for (char *at = copy; at;) {
        char *comma = separator ? strchr(at, separator) : NULL;
        if (comma) *comma = 0;
        if (*at) item[list->count++] = at;
        at = comma ? comma + 1 : NULL;
    }
    list->item = item;
}

/* Stores the text as the option's value; `where` begins the message ("--size", "run.conf:3: size"). */
static int set_value(const cli_option *o, void *values, cli_args *args, const char *where, const char *text)
{
    void *target = (char *)values + o->offset;
    max_align_t scratch;
    inv_option row;
    char expected[256] = "text";
    bool good = *text != 0;
    if (library_row(o, &row)) {
        good = inv_option_parse(&row, text, o->from_library ? (void *)&scratch : target);
        if (good && o->from_library) *(const char **)target = text;
        inv_option_expected(&row, expected, sizeof expected);
    } else if (o->type == CLI_STRING) {
        *(const char **)target = text;
        good = true;
    } else if (good) {
        append_list(args, target, text, o->type == CLI_LIST ? ',' : 0);
    }
    return good ? CLI_GO : cli_bad_usage("%s: expected %s, got '%s'", where, expected, text);
}

/* ---- help ---------------------------------------------------------------------------------------------- */

/* Prints text wrapped to HELP_WIDTH, with `indent` spaces before every line but the first; `column` is where
 * we are. An empty line in the text begins a new paragraph. */
static void print_wrapped(const char *text, int column, int indent)
{
    while (*text) {
        size_t word = strcspn(text, " \n"), gap = strspn(text + word, " \n");
        if (column > indent && column + 1 + (int)word > HELP_WIDTH) {
            printf("\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            putchar(' ');
            column++;
        }
        printf("%.*s", (int)word, text);
        column += (int)word;
        if (gap > 1 && text[word] == '\n' && text[word + 1] == '\n') {
            printf("\n\n%*s", indent, "");
            column = indent;
        }
        text += word + gap;
    }
    putchar('\n');
}

/* The default as the user would type it; "" when there is none worth showing. */
static const char *default_text(const cli_option *o, const void *values, char *buffer, size_t size)
{
    const char *source = (const char *)values + o->offset;
    inv_option row;
    buffer[0] = 0;
    if (o->fallback)
        snprintf(buffer, size, "%s", o->fallback);
    else if (o->type == CLI_BOOL)
        snprintf(buffer, size, "%s", *(const bool *)source ? "on" : "");
    else if (o->type == CLI_STRING && *(const char *const *)source)
        snprintf(buffer, size, "%s", *(const char *const *)source);
    else if (o->type == CLI_DOUBLE || o->type == CLI_SECONDS)
        inv_number_text(*(const double *)source, buffer);
    else if (library_row(o, &row))
        inv_option_text(&row, source, buffer, size);
    return buffer;
}

static void print_option(const cli_option *o, const void *values)
{
    char left[256], fallback[128], text[1024];
    char letter[5] = "    ";
    if (o->letter) snprintf(letter, sizeof letter, "-%c, ", o->letter);
    const char *metavar = o->type == CLI_BOOL     ? ""
                          : o->type == CLI_CHOICE ? o->choices
                          : o->metavar            ? o->metavar
                                                  : "VALUE";
    int column = snprintf(left, sizeof left, "  %s--%s%s%s", letter, o->name, *metavar ? " " : "", metavar);
    default_text(o, values, fallback, sizeof fallback);
    snprintf(text, sizeof text, *fallback ? "%s (default: %s)" : "%s", o->help, fallback);
    fputs(left, stdout);
    if (column + 2 > HELP_COLUMN) {
        printf("\n%*s", HELP_COLUMN, "");
    } else {
        printf("%*s", HELP_COLUMN - column, "");
    }
    print_wrapped(text, HELP_COLUMN, HELP_COLUMN);
}

static const cli_option help_option = {
    .name = "help", .letter = 'h', .type = CLI_BOOL, .fallback = "", .help = "show this help"};
static const cli_option config_option = {
    .name = "config",
    .type = CLI_STRING,
    .metavar = "FILE",
    .fallback = "",
    .help = "read options from a file of `flag-name = value` lines; flags win"};

void cli_print_help(const cli_spec *spec, const void *values)
{
    const char *usage = spec->usage;
    for (int first = 1; first || *usage; first = 0) {
        size_t line = strcspn(usage, "\n");
        printf("%s invit %s %.*s\n", first ? "usage:" : "      ", spec->command, (int)line, usage);
        usage += line + (usage[line] == '\n');
    }
    putchar('\n');
    print_wrapped(spec->about, 0, 0);
    if (!spec->options || !spec->options->name || !spec->options->group) printf("\nOptions:\n");
    bool general = true; /* the last heading is not that of special options */
    for (const cli_option *o = spec->options; o && o->name; o++) {
        if (o->hidden) continue;
        if (o->group) {
            printf("\n%s:\n", o->group);
            general = strcmp(o->group, "More") == 0;
        }
        print_option(o, values);
    }
    if (!general) printf("\nMore:\n");
    print_option(&config_option, values);
    print_option(&help_option, values);
    if (spec->more) printf("\n%s\n", spec->more);
}

/* ---- parsing ------------------------------------------------------------------------------------------- */

static int option_count(const cli_spec *spec)
{
    int count = 0;
    while (spec->options && spec->options[count].name) count++;
    return count;
}

static const cli_option *find_long(const cli_spec *spec, const char *name, size_t length)
{
    for (const cli_option *o = spec->options; o && o->name; o++)
        if (strlen(o->name) == length && strncmp(o->name, name, length) == 0) return o;
    if (length == 6 && strncmp(name, "config", 6) == 0) return &config_option;
    if (length == 4 && strncmp(name, "help", 4) == 0) return &help_option;
    return NULL;
}

static const cli_option *find_letter(const cli_spec *spec, char letter)
{
    for (const cli_option *o = spec->options; o && o->name; o++)
        if (o->letter == letter || (o->old_letter && o->old_letter == letter)) return o;
    return letter == 'h' ? &help_option : NULL;
}

/* `where` is the place in a configuration file, or "" on the command line. */
static int unknown_option(const cli_spec *spec, const char *where, const char *name, size_t length)
{
    const char *names[128];
    char word[64];
    int count = 0;
    for (const cli_option *o = spec->options; o && o->name && count < 126; o++) names[count++] = o->name;
    if (!*where) names[count++] = "config", names[count++] = "help";
    snprintf(word, sizeof word, "%.*s", (int)length, name);
    const char *near = cli_nearest(word, names, count);
    if (near)
        return cli_bad_usage("%sunknown option '%s'; did you mean '%s%s'?", where, word, *where ? "" : "--",
                             near);
    return cli_bad_usage("%sunknown option '%s'; `invit %s --help` lists them", where, word, spec->command);
}

/* One walk over the command line. The first (values == NULL) only checks that flags exist and finds --help
 * and --config; the second stores the values, after the configuration file has been read. */
typedef struct pass {
    const cli_spec *spec;
    void *values;
    cli_args *args;
    const char *config;
    bool help;
} pass;

static int take(pass *p, const cli_option *o, const char *where, const char *text)
{
    if (o == &help_option)
        p->help = true;
    else if (o == &config_option)
        p->config = text;
    else if (p->values) {
        bool *given = &p->args->given[o - p->spec->options];
        /* a list on the command line replaces the configuration file's, then grows */
        if ((o->type == CLI_LIST || o->type == CLI_TEXTS) && !*given)
            *(cli_list *)((char *)p->values + o->offset) = (cli_list){0, NULL};
        *given = true;
        return set_value(o, p->values, p->args, where, text);
    }
    return CLI_GO;
}

static int take_long(pass *p, int argc, char **argv, int *i)
{
    const char *name = argv[*i] + 2, *equals = strchr(name, '='), *text = equals ? equals + 1 : NULL;
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    char where[80];
    const cli_option *o = find_long(p->spec, name, length);
    if (!o && length > 3 && strncmp(name, "no-", 3) == 0 && !equals) {
        o = find_long(p->spec, name + 3, length - 3);
        if (o && o->type == CLI_BOOL && o != &help_option) return take(p, o, name, "false");
        o = NULL;
    }
    if (!o) return unknown_option(p->spec, "", argv[*i], length + 2);
    snprintf(where, sizeof where, "--%s", o->name);
    if (!text && o->type == CLI_BOOL)
        text = "true";
    else if (!text) {
        if (*i + 1 >= argc) return cli_bad_usage("%s: a value must follow", where);
        text = argv[++*i];
    }
    return take(p, o, where, text);
}

/* -j4, -j 4, -qj4 */
static int take_letters(pass *p, int argc, char **argv, int *i)
{
    for (const char *c = argv[*i] + 1; *c; c++) {
        char where[3] = {'-', *c, 0};
        const cli_option *o = find_letter(p->spec, *c);
        if (!o) return unknown_option(p->spec, "", where, 2);
        if (o->type == CLI_BOOL) {
            int code = take(p, o, where, "true");
            if (code != CLI_GO) return code;
            continue;
        }
        if (!c[1] && *i + 1 >= argc) return cli_bad_usage("%s: a value must follow", where);
        return take(p, o, where, c[1] ? c + 1 : argv[++*i]);
    }
    return CLI_GO;
}

static int walk(pass *p, int argc, char **argv)
{
    bool only_positional = false;
    p->args->count = 0;
    for (int i = 1; i < argc; i++) {
        double number;
        int code = CLI_GO;
        if (only_positional || argv[i][0] != '-' || !argv[i][1] || cli_number(argv[i], &number))
            p->args->item[p->args->count++] = argv[i];
        else if (strcmp(argv[i], "--") == 0)
            only_positional = true;
        else if (argv[i][1] == '-')
            code = take_long(p, argc, argv, &i);
        else
            code = take_letters(p, argc, argv, &i);
        if (code != CLI_GO) return code;
    }
    return CLI_GO;
}

/* Editors on other systems begin a file with a byte order mark; one in UTF-16 cannot be read. */
static int skip_mark(const char *path, char **line)
{
    if (strncmp(*line, "\xff\xfe", 2) == 0 || strncmp(*line, "\xfe\xff", 2) == 0)
        return cli_fail("%s: text in UTF-16: save it as UTF-8", path);
    if (strncmp(*line, "\xef\xbb\xbf", 3) == 0) *line += 3;
    return CLI_GO;
}

enum { MOST_LINES = 10000 }; /* of a configuration: a pipe that does not end does not fill the memory */

static int read_config(const cli_spec *spec, void *values, cli_args *args, const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file) return cli_fail("%s: %s", path, strerror(errno));
    char *line = NULL;
    size_t room = 0;
    int code = CLI_GO;
    int number = 1;
    for (; code == CLI_GO && inv_getline(&line, &room, file) >= 0; number++) {
        char where[512], *key = line;
        if (number == 1 && (code = skip_mark(path, &key)) != CLI_GO) break;
        if (number > MOST_LINES) {
            code = cli_bad_usage("%s: expected at most %d lines", path, MOST_LINES);
            break;
        }
        char *value;
        snprintf(where, sizeof where, "%s:%d: ", path, number);
        char *text = key;
        if (!inv_config_line(text, &key, &value)) {
            code = cli_bad_usage("%sexpected `flag-name = value`, got '%.*s'", where,
                                 (int)strcspn(text, "\r\n"), text);
            break;
        }
        if (!key) continue;
        const cli_option *o = find_long(spec, key, strlen(key));
        if (!o || o == &help_option || o == &config_option) {
            code = o == &config_option
                       ? cli_bad_usage("%sa configuration file cannot name another one", where)
                       : unknown_option(spec, where, key, strlen(key));
            break;
        }
        size_t length = strlen(value);
        if (length >= 2 && value[0] == '"' && value[length - 1] == '"') {
            value[length - 1] = 0;
            value++;
        }
        char *copy = keep(args, strlen(value) + 1);
        strcpy(copy, value);
        snprintf(where, sizeof where, "%s:%d: %s", path, number, o->name);
        code = set_value(o, values, args, where, copy);
        args->given[o - spec->options] = true;
    }
    invit_error err;
    if (code == CLI_GO && inv_lines_ended(file, path, number, &err) != INVIT_OK)
        code = cli_fail("%s", err.message);
    free(line);
    fclose(file);
    return code;
}

int cli_parse(const cli_spec *spec, void *values, int argc, char **argv, cli_args *args)
{
    memset(args, 0, sizeof *args);
    args->spec = spec;
    args->item = keep(args, sizeof *args->item * (size_t)(argc + 1));
    int count = option_count(spec);
    args->given = keep(args, (size_t)count + 1);
    memset(args->given, 0, (size_t)count + 1);
    bool *from_file = keep(args, (size_t)count + 1);

    pass first = {.spec = spec, .args = args};
    int code = walk(&first, argc, argv);
    if (code == CLI_GO && first.help) {
        cli_print_help(spec, values);
        code = CLI_OK;
    }
    if (code == CLI_GO && first.config) code = read_config(spec, values, args, first.config);
    memcpy(from_file, args->given, (size_t)count + 1);
    memset(args->given, 0, (size_t)count + 1);
    pass second = {.spec = spec, .values = values, .args = args};
    if (code == CLI_GO) code = walk(&second, argc, argv);
    for (int i = 0; i < count; i++) args->given[i] |= from_file[i];
    int first_line = (int)strcspn(spec->usage, "\n");
    if (code == CLI_GO && args->count < spec->min_args)
        code = cli_bad_usage("usage: invit %s %.*s (`invit %s --help` has it all)", spec->command, first_line,
                             spec->usage, spec->command);
    if (code == CLI_GO && spec->max_args >= 0 && args->count > spec->max_args)
        code = cli_bad_usage("unexpected argument '%s'; usage: invit %s %.*s", args->item[spec->max_args],
                             spec->command, first_line, spec->usage);
    if (code != CLI_GO) cli_args_free(args);
    return code;
}

bool cli_given(const cli_args *args, const char *name)
{
    const cli_option *o = find_long(args->spec, name, strlen(name));
    return o && o != &help_option && o != &config_option && args->given[o - args->spec->options];
}

int cli_check_mode(const cli_args *args, unsigned mode, const char *what)
{
    const cli_option *o = args->spec->options;
    for (int i = 0; o[i].name; i++)
        if (args->given[i] && o[i].modes && !(o[i].modes & mode))
            return cli_bad_usage("--%s is not for %s", o[i].name, what);
    return CLI_GO;
}

int cli_choose(const cli_list *list, const char *const *names, int count, bool *chosen, const char *what)
{
    for (int i = 0; list->count > 0 && i < count; i++) chosen[i] = false;
    for (int k = 0; k < list->count; k++) {
        int i = 0;
        while (i < count && strcmp(list->item[k], names[i]) != 0) i++;
        const char *near = i == count ? cli_nearest(list->item[k], names, count) : NULL;
        if (near) return cli_bad_usage("unknown %s '%s'; did you mean '%s'?", what, list->item[k], near);
        if (i == count) return cli_bad_usage("unknown %s '%s'", what, list->item[k]);
        chosen[i] = true;
    }
    return CLI_GO;
}
