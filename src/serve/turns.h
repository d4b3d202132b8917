/* Whose turn it is: the client that was served longest ago. */
#ifndef INVIT_SERVE_TURNS_H
#define INVIT_SERVE_TURNS_H

#include <stdint.h>

enum { TURNS_CLIENTS = 64 }; /* that are remembered */

/* When each client was last served, by the count of all turns. */
typedef struct turns {
    struct {
        uint64_t client;
        int64_t last;
    } item[TURNS_CLIENTS];
    int64_t count;
} turns;

/* 0: never, or so long ago that it is forgotten. */
int64_t turns_last(const turns *t, uint64_t client);
void turns_take(turns *t, uint64_t client);

#endif
