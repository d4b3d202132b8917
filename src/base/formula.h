/* Texts that a spreadsheet would compute instead of showing them. */
#ifndef INVIT_BASE_FORMULA_H
#define INVIT_BASE_FORMULA_H

#include <stdbool.h>

/* Does it begin like a formula, and is neither a number nor a telephone number? Such a text gets an apostrophe. */
bool inv_is_formula(const char *text);
/* The same behind any apostrophes: with one more for each of these, the text can be told from what it was. */
bool inv_is_quoted_formula(const char *text);

#endif
