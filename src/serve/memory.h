/* Whether JSON lacks something for want of memory, so that such an answer is never sent. */
#ifndef INVIT_SERVE_MEMORY_H
#define INVIT_SERVE_MEMORY_H

#include <stdbool.h>

/* On each thread: forgets failures so far; has one come since? Once inv_json_watch has been called. */
void memory_begin(void);
bool memory_failed(void);

#endif
