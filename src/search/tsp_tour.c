/* Between the cut edges a tour falls into k pieces. Piece r runs from the second end of the edge of rank r to
 * the first end of the edge of rank r + 1. Following pieces and new edges in turn shows both whether a move
 * gives one cycle and in which order and direction the pieces come. */
#include "search/tsp_tour.h"

#include <string.h>

static const uint8_t bridge_mate[8] = {5, 4, 7, 6, 1, 0, 3, 2};
static const uint8_t bridge_inverse[8] = {0, 5, 6, 3, 4, 1, 2, 7};

static inline int mate_of(int end, int k, inv_join join)
{
    if (join == INV_BRIDGE) return bridge_mate[end];
    if (end & 1) return end + 1 == 2 * k ? 0 : end + 1;
    return end == 0 ? 2 * k - 1 : end - 1;
}

int inv_kopt_joined(int i, int k, inv_join join)
{
    return mate_of(i, k, join);
}

void inv_kopt_cut(inv_kopt *m, const inv_tour *tour, int32_t a, int32_t b)
{
    int i = m->k++, at = i;
    int32_t pa = tour->pos[a], pb = tour->pos[b];
    bool forward = pa + 1 == tour->n ? pb == 0 : pb == pa + 1;
    int32_t p = forward ? pa : pb;
    m->t[2 * i] = a;
    m->t[2 * i + 1] = b;
    m->cut[i] = p;
    m->first[i] = (uint8_t)(2 * i + !forward);
    for (; at > 0 && m->cut[m->rank[at - 1]] > p; at--) m->rank[at] = m->rank[at - 1];
    m->rank[at] = (uint8_t)i;
}

void inv_kopt_uncut(inv_kopt *m)
{
    int i = --m->k, at = 0;
    while (m->rank[at] != i) at++;
    for (; at < i; at++) m->rank[at] = m->rank[at + 1];
}

typedef struct piece {
    uint8_t number;
    bool backward;
} piece;

/* Lists the pieces in their new order, beginning with piece 0 forward; returns how many the cycle through it
 * has. */
static inline int follow(const inv_kopt *m, inv_join join, piece *list)
{
    int k = m->k, count = 0;
    uint8_t place[INV_MAX_OPT];
    for (int r = 0; r < k; r++) place[m->rank[r]] = (uint8_t)r;
    int start = m->first[m->rank[0]] ^ 1, end = start;
    do {
        int edge = end >> 1, r = place[edge];
        if (end != m->first[edge]) { /* entering piece r at its beginning */
            list[count++] = (piece){(uint8_t)r, false};
            end = m->first[m->rank[r + 1 == k ? 0 : r + 1]];
        } else { /* entering the piece before at its end */
            r = r == 0 ? k - 1 : r - 1;
            list[count++] = (piece){(uint8_t)r, true};
            end = m->first[m->rank[r]] ^ 1;
        }
        end = mate_of(end, k, join);
    } while (end != start);
    return count;
}

/* Runs from `end` through the pieces until `last` or the beginning again, and gives them a role; returns how
 * many they are. */
static int run_through(const inv_kopt *m, const uint8_t *place, int end, int last, bool path, inv_path *out)
{
    int k = m->k, pieces = 0, start = end;
    do {
        int edge = end >> 1, r = place[edge];
        bool forward = end != m->first[edge];
        if (!forward) r = r == 0 ? k - 1 : r - 1;
        int next = r + 1 == k ? 0 : r + 1;
        out->role[r + 1] = forward ? INV_FORWARD : INV_BACKWARD;
        if (!path) out->role[r + 1] = INV_ELSEWHERE;
        end = forward ? m->first[m->rank[next]] : m->first[m->rank[r]] ^ 1;
        pieces++;
        if (end == last) break;
        end = mate_of(end, k, INV_SEQUENTIAL);
    } while (end != start);
    return pieces;
}

void inv_kopt_path(const inv_kopt *m, inv_path *path)
{
    enum { UNKNOWN = 255 };
    int k = m->k;
    uint8_t place[INV_MAX_OPT];
    for (int r = 0; r < k; r++) place[m->rank[r]] = (uint8_t)r;
    memset(path->role, UNKNOWN, sizeof path->role);
    path->cycles = 0;
    int left = k - run_through(m, place, 2 * k - 1, 0, true, path);
    for (int r = 0; left > 0; r++) {
        if (path->role[r + 1] != UNKNOWN) continue;
        left -= run_through(m, place, m->first[m->rank[r]] ^ 1, -1, false, path);
        path->cycles++;
    }
    path->role[0] = path->role[k];
}

bool inv_kopt_apply(const inv_kopt *m, inv_join join, inv_tour *tour, int32_t limit)
{
    int k = m->k;
    int32_t n = tour->n, begin[INV_MAX_OPT], length[INV_MAX_OPT];
    piece list[INV_MAX_OPT], turned[INV_MAX_OPT];
    if (follow(m, join, list) != k) return false;

    int longest = 0;
    for (int r = 0; r < k; r++) {
        int32_t from = m->cut[m->rank[r]], to = m->cut[m->rank[r + 1 == k ? 0 : r + 1]];
        begin[r] = from + 1 == n ? 0 : from + 1;
        length[r] = to > from ? to - from : to - from + n;
        if (length[r] > length[longest]) longest = r;
    }

    /* The longest piece stays where it is: begin the list after it, turned round if need be. */
    int at = 0;
    while (list[at].number != longest) at++;
    bool turn = list[at].backward;
    for (int i = 0; i < k - 1; i++) {
        int before = at == 0 ? k - 1 : at - 1;
        int after = at + 1 == k ? 0 : at + 1;
        at = turn ? before : after;
        turned[i] = (piece){list[at].number, list[at].backward != turn};
    }

    /* Pieces at either end that also stay need no work. */
    int32_t from = begin[longest] + length[longest], count = n - length[longest];
    int head = 0, tail = k - 1;
    if (from >= n) from -= n;
    int32_t to = begin[longest];
    while (head < tail && !turned[head].backward && begin[turned[head].number] == from) {
        int32_t l = length[turned[head++].number];
        from = from + l >= n ? from + l - n : from + l;
        count -= l;
    }
    while (tail > head && !turned[tail - 1].backward) {
        int32_t b = begin[turned[tail - 1].number], l = length[turned[tail - 1].number];
        if ((b + l >= n ? b + l - n : b + l) != to) break;
        to = b;
        count -= l;
        tail--;
    }
    if (count > limit) return false;

    int32_t *new_order = tour->scratch;
    for (int i = head; i < tail; i++) {
        int32_t l = length[turned[i].number], p = begin[turned[i].number];
        if (turned[i].backward) {
            p = p + l > n ? p + l - 1 - n : p + l - 1;
            for (; l > 0; l--) {
                *new_order++ = tour->order[p];
                p = p == 0 ? n - 1 : p - 1;
            }
        } else {
            for (; l > 0; l--) {
                *new_order++ = tour->order[p];
                p = p + 1 == n ? 0 : p + 1;
            }
        }
    }
    for (int32_t i = 0, p = from; i < count; i++) {
        int32_t v = tour->scratch[i];
        tour->order[p] = v;
        tour->pos[v] = p;
        p = p + 1 == n ? 0 : p + 1;
    }
    return true;
}

void inv_kopt_inverse(const int32_t *t, int k, inv_join join, const inv_tour *tour, inv_kopt *back)
{
    int32_t u[2 * INV_MAX_OPT];
    for (int i = 0; i < 2 * k; i++) {
        int next = i + 1 == 2 * k ? 0 : i + 1;
        u[i] = t[join == INV_BRIDGE ? bridge_inverse[i] : next];
    }
    back->k = 0;
    for (int i = 0; i < k; i++) inv_kopt_cut(back, tour, u[2 * i], u[2 * i + 1]);
}
