/* Is a text a table? It is one when a separator makes a column of its header x or lat. Also used by inv_detect_format,
 * before there is a reader. */
#include "problem/read.h"

#include "base/number.h"
#include "problem/csv_columns.h"

#include <stddef.h>
#include <string.h>

static inv_column role_of(const char *name)
{
    bool own;
    double factor;
    return inv_column_of(name, &own, &factor);
}

/* The closing quote of the field whose text begins at `p`, or the end. */
static const char *closing_quote(const char *p)
{
    for (;; p += 2) { /* "" is a quote within the field */
        p += strcspn(p, "\"");
        if (p[0] != '"' || p[1] != '"') return p;
    }
}

/* Is a column of the header at `p` called x or lat, when `separator` stands between the columns? */
static bool names_a_place(const char *p, char separator)
{
    const char end[] = {separator, '\n', 0};
    for (;; p++) {
        while (inv_is_blank(*p) && *p != separator) p++;
        bool quoted = *p == '"';
        const char *from = p + quoted, *to = quoted ? closing_quote(from) : from + strcspn(from, end);
        char name[16] = "";
        p = to + (*to && quoted);
        while (to > from && inv_is_blank(to[-1])) to--;
        if (to - from < (ptrdiff_t)sizeof name) memcpy(name, from, (size_t)(to - from));
        while (inv_is_blank(*p) && *p != separator) p++;
        if (*p && *p != '\n' && *p != separator) return false; /* after a closing quote: not with this one */
        inv_column role = role_of(name);
        if (role == INV_X || role == INV_LATITUDE) return true;
        if (*p != separator) return false;
    }
}

char inv_table_separator(const char *p)
{
    for (const char *separator = ";,\t|"; *separator; separator++)
        if (names_a_place(p, *separator)) return *separator;
    return 0;
}

bool inv_is_remark(const char *p)
{
    if (*p++ != '#') return false;
    while (inv_is_blank(*p)) p++;
    return !*p || !strchr(",;|", *p) || !inv_table_separator(p);
}
