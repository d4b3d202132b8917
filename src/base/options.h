/* Options set by name from text: one row each in a table, which says type, range, default and help. The solver's options
 * (solve/options.c), those of a training run (lab/train/run/options.c), the command line and its configuration files read values with this code, so that they accept the same
 * and say the same of what they refuse. */
#ifndef INVIT_BASE_OPTIONS_H
#define INVIT_BASE_OPTIONS_H

#include "base/error.h"

typedef enum inv_option_type {
    INV_OPTION_INT,     /* int; also 1e6                                                              */
    INV_OPTION_INT64,   /* int64_t; also 1e6                                                          */
    INV_OPTION_UINT64,  /* uint64_t                                                                   */
    INV_OPTION_NUMBER,  /* double                                                                     */
    INV_OPTION_SECONDS, /* double; 10, 10s, 500ms, 2m, 1h                                             */
    INV_OPTION_BOOL,    /* bool; true, yes, on, 1 and their opposites                                 */
    INV_OPTION_CHOICE,  /* int: the position of the word in `choices`                                 */
    INV_OPTION_TEXT     /* char[size]: what is behind the text is 0                                   */
} inv_option_type;

typedef struct inv_option {
    const char *name;
    char letter; /* of the command line, 0 for none                                             */
    inv_option_type type;
    size_t offset;        /* of the value in the struct that holds it                           */
    size_t size;          /* texts: bytes there are for it, with its end                        */
    double min, max;      /* numbers: allowed range; both 0: any                                */
    const char *choices;  /* "uniform|clustered"                                                */
    const char *metavar;  /* N, SECONDS                                                         */
    const char *fallback; /* the default in words, where it is not the value itself; or NULL    */
    const char *help;
} inv_option;

/* The value of the text, checked for type and range, into `value`, which is of the row's type. */
bool inv_option_parse(const inv_option *o, const char *text, void *value);
/* What a value should look like, for messages: "a whole number from 1 to 4096". Returns `buffer`. */
const char *inv_option_expected(const inv_option *o, char *buffer, size_t size);
/* The value as text that inv_option_parse reads back. Returns `buffer`. */
const char *inv_option_text(const inv_option *o, const void *value, char *buffer, size_t size);

/* One number the way options read them; false when the text is not one. */
bool inv_parse_number(const char *text, double *out);
bool inv_parse_integer(const char *text, int64_t *out);
/* The shortest text of 15 to 17 digits that reads back as the same number. */
const char *inv_number_text(double value, char text[32]);

/* A line `key = value` of a configuration file, in place: spaces around both are dropped, # begins a comment line. *key is
 * NULL for a line without content; false when there is no `=`. */
bool inv_config_line(char *line, char **key, char **value);

#endif
