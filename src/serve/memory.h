/* Jansson leaves out what it finds no memory for, without a word: a digit of a number it reads, a stop of a route it
 * writes. Here its failed allocations are noticed, so that such an answer is never sent. */
#ifndef INVIT_SERVE_MEMORY_H
#define INVIT_SERVE_MEMORY_H

#include <stdbool.h>

/* Once, before any JSON is made. */
void memory_watch_json(void);
/* On each thread: forgets failures so far; has one come since? */
void memory_begin(void);
bool memory_failed(void);

#endif
