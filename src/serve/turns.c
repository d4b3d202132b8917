#include "serve/turns.h"

int64_t turns_last(const turns *t, uint64_t client)
{
    for (int i = 0; i < TURNS_CLIENTS; i++)
        if (t->item[i].last && t->item[i].client == client) return t->item[i].last;
    return 0;
}

void turns_take(turns *t, uint64_t client)
{
    int at = 0;
    for (int i = 0; i < TURNS_CLIENTS; i++) {
        if (t->item[i].last && t->item[i].client == client) {
            at = i;
            break;
        }
        if (t->item[i].last < t->item[at].last) at = i;
    }
    t->item[at].client = client;
    t->item[at].last = ++t->count;
}
