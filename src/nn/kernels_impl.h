/* The kernels in GCC/clang vector extensions, for vectors of VECTOR_BYTES; included once per instruction set
 * with VECTOR_BYTES, TILE_ROWS (rows of a register tile), KERNELS (the table's symbol) and KERNELS_NAME
 * defined, BF16 for CPUs with AVX-512 BF16, and INT8 for those with AVX-512 VNNI. */
#include "nn/kernels.h"

#include <math.h>
#include <stdint.h>
#include <string.h>
#if defined(BF16) || defined(INT8)
#include <immintrin.h>
#endif

enum { VL = VECTOR_BYTES / 4, NV = INV_PANEL / VL, MR = TILE_ROWS };

typedef float vf __attribute__((vector_size(VECTOR_BYTES)));
typedef int32_t vi __attribute__((vector_size(VECTOR_BYTES)));
typedef float vfu __attribute__((vector_size(VECTOR_BYTES), aligned(4), may_alias));

#define INLINE static inline __attribute__((always_inline))
#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

INLINE vf load(const float *p)
{
    return *(const vfu *)p;
}
INLINE void store(float *p, vf v)
{
    *(vfu *)p = v;
}
INLINE vf splat(float x)
{
#if VECTOR_BYTES == 16
    return (vf){x, x, x, x};
#elif VECTOR_BYTES == 32
    return (vf){x, x, x, x, x, x, x, x};
#else
    return (vf){x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x};
#endif
}
INLINE vf keep(vf x, vi mask)
{
    return (vf)((vi)x & mask);
}
INLINE vf larger(vf a, vf b)
{
    vi m = a > b;
    return (vf)(((vi)a & m) | ((vi)b & ~m));
}
/* Lanes 0..count-1 set. */
INLINE vi first_lanes(int count)
{
    vi m;
    UNROLL for (int i = 0; i < VL; i++) m[i] = i < count ? -1 : 0;
    return m;
}

typedef float v4 __attribute__((vector_size(16)));
typedef float v4u __attribute__((vector_size(16), aligned(4), may_alias));
#if VECTOR_BYTES >= 32
typedef float v8 __attribute__((vector_size(32)));
#endif

typedef int32_t v4i __attribute__((vector_size(16)));
INLINE v4 larger4(v4 a, v4 b)
{
    v4i m = a > b;
    return (v4)(((v4i)a & m) | ((v4i)b & ~m));
}

/* Sum of the lanes, by halves. */
INLINE float sum(vf x)
{
#if VECTOR_BYTES == 64
    v8 y = __builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7) +
           __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15);
#elif VECTOR_BYTES == 32
    v8 y = x;
#endif
#if VECTOR_BYTES >= 32
    v4 z = __builtin_shufflevector(y, y, 0, 1, 2, 3) + __builtin_shufflevector(y, y, 4, 5, 6, 7);
#else
    v4 z = x;
#endif
    z = z + __builtin_shufflevector(z, z, 2, 3, 0, 1);
    return z[0] + z[1];
}

INLINE float largest(vf x)
{
#if VECTOR_BYTES == 64
    x = larger(x, __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7));
#endif
#if VECTOR_BYTES >= 32
    v4 a, b;
    memcpy(&a, &x, 16);
    memcpy(&b, (char *)&x + 16, 16);
    a = larger4(a, b);
#else
    v4 a = x;
#endif
    a = larger4(a, __builtin_shufflevector(a, a, 2, 3, 0, 1));
    return a[0] > a[1] ? a[0] : a[1];
}

/* exp(x) for x <= 0 to 1e-7 relative; 0 below -87. */
INLINE vf exp_nonpositive(vf x)
{
    const vf magic = splat(12582912.0f); /* 1.5 * 2^23: adding it rounds to an integer */
    vi valid = x > splat(-87.0f);
    x = keep(x, valid);
    vf t = x * splat(1.44269504f) + magic;
    vf n = t - magic;
    vf r = x - n * splat(0.693359375f);
    r = r - n * splat(-2.12194440e-4f);
    vf p = splat(1.9875691500e-4f);
    p = p * r + splat(1.3981999507e-3f);
    p = p * r + splat(8.3334519073e-3f);
    p = p * r + splat(4.1665795894e-2f);
    p = p * r + splat(1.6666665459e-1f);
    p = p * r + splat(5.0000001201e-1f);
    p = p * (r * r) + r + splat(1.0f);
    vi power = (vi)t << 23; /* the low bits of t are n; they land in the exponent */
    return keep((vf)((vi)p + power), valid);
}

/* ---- matrix products ----------------------------------------------------------------------------------- */

/* Stores the first `cols` of a row of a tile. */
INLINE void finish_part(int cols, const float *part, inv_epilogue epilogue, const float *mask, float *out)
{
    int j = 0;
    if (epilogue == INV_STORE && !mask)
        for (; j + VL <= cols; j += VL) store(out + j, load(part + j));
    for (; j < cols; j++) {
        float x = part[j];
        if (epilogue == INV_ADD) x += out[j];
        if (mask && !(mask[j] > 0)) x = 0;
        out[j] = x;
    }
}

/* Adds the bias to R rows of one panel, applies the epilogue and stores the first `cols` columns. */
INLINE void finish_tile(const int R, vf c[MR][NV], float *C, ptrdiff_t ldc, int cols, const float *bias,
                        inv_epilogue epilogue, const float *mask)
{
    if (bias) {
        UNROLL for (int v = 0; v < NV; v++)
        {
            vf b = load(bias + v * VL);
            UNROLL for (int r = 0; r < R; r++) c[r][v] += b;
        }
    }
    if (epilogue == INV_RELU) {
        UNROLL for (int r = 0; r < R; r++) UNROLL for (int v = 0; v < NV; v++) c[r][v] =
            keep(c[r][v], c[r][v] > splat(0.0f));
    }
    if (cols < INV_PANEL) { /* the last panel may not touch what lies beyond it */
        float part[MR][INV_PANEL];
        UNROLL for (int r = 0; r < R; r++) UNROLL for (int v = 0; v < NV; v++)
            store(&part[r][v * VL], c[r][v]);
        for (int r = 0; r < R; r++)
            finish_part(cols, part[r], epilogue, mask ? mask + r * ldc : NULL, C + r * ldc);
        return;
    }
    if (epilogue == INV_ADD) {
        UNROLL for (int r = 0; r < R; r++) UNROLL for (int v = 0; v < NV; v++) c[r][v] +=
            load(C + r * ldc + v * VL);
    } else if (mask) {
        UNROLL for (int r = 0; r < R; r++) UNROLL for (int v = 0; v < NV; v++) c[r][v] =
            keep(c[r][v], load(mask + r * ldc + v * VL) > splat(0.0f));
    }
    UNROLL for (int r = 0; r < R; r++) UNROLL for (int v = 0; v < NV; v++)
        store(C + r * ldc + v * VL, c[r][v]);
}

/* R rows x one panel: sums over k of A[r * rs + k * ks] * B[k * bs + 0..15], then the epilogue on `cols`
 * columns. */
INLINE void tile(const int R, int K, const float *A, ptrdiff_t rs, ptrdiff_t ks, const float *B, ptrdiff_t bs,
                 float *C, ptrdiff_t ldc, int cols, const float *bias, inv_epilogue epilogue,
                 const float *mask)
{
    vf c[MR][NV];
    UNROLL for (int r = 0; r < R; r++) UNROLL for (int v = 0; v < NV; v++) c[r][v] = splat(0.0f);
    if (epilogue == INV_ADD) { /* C is needed at the end and may be far away */
        UNROLL for (int r = 0; r < R; r++) __builtin_prefetch(C + r * ldc, 1);
    }
    for (int k = 0; k < K; k++) {
        vf b[NV];
        UNROLL for (int v = 0; v < NV; v++) b[v] = load(B + v * VL);
        UNROLL for (int r = 0; r < R; r++)
        {
            vf a = splat(A[r * rs]);
            UNROLL for (int v = 0; v < NV; v++) c[r][v] += a * b[v];
        }
        A += ks;
        B += bs;
    }
    finish_tile(R, c, C, ldc, cols, bias, epilogue, mask);
}

/* Weight gradients: rows summed at a time, and columns of Y that meet all of X before the next ones. With
 * these, a panel of X and a block of Y lie in the first-level cache together. */
enum { DEPTH_BLOCK = 128, WIDTH_BLOCK = 4 * MR };

typedef struct product {
    int K;
    ptrdiff_t rs, ks, bs, ldc;
    inv_epilogue epilogue;
} product;

/* A kind of tile with `rows` rows, a constant in each case, and the rest of its arguments. */
#define TILE_CASE(tile, R, ...)                                                                              \
    case R:                                                                                                  \
        if (R <= MR) tile(R <= MR ? R : 1, __VA_ARGS__);                                                     \
        break;
#define TILE(tile, rows, ...)                                                                                \
    switch (rows) {                                                                                          \
        TILE_CASE(tile, 1, __VA_ARGS__)                                                                      \
        TILE_CASE(tile, 2, __VA_ARGS__)                                                                      \
        TILE_CASE(tile, 3, __VA_ARGS__)                                                                      \
        TILE_CASE(tile, 4, __VA_ARGS__)                                                                      \
        TILE_CASE(tile, 5, __VA_ARGS__)                                                                      \
        TILE_CASE(tile, 6, __VA_ARGS__)                                                                      \
        TILE_CASE(tile, 7, __VA_ARGS__)                                                                      \
        TILE_CASE(tile, 8, __VA_ARGS__)                                                                      \
        TILE_CASE(tile, 9, __VA_ARGS__)                                                                      \
        TILE_CASE(tile, 10, __VA_ARGS__)                                                                     \
        TILE_CASE(tile, 11, __VA_ARGS__)                                                                     \
        TILE_CASE(tile, 12, __VA_ARGS__)                                                                     \
    }

/* General strides: for the small products of attention and the weight gradients. */
static void tile_any(int rows, const product *s, const float *A, const float *B, float *C, int cols,
                     const float *bias, const float *mask)
{
    TILE(tile, rows, s->K, A, s->rs, s->ks, B, s->bs, C, s->ldc, cols, bias, s->epilogue, mask)
}

/* Rows contiguous, B packed: the one that matters. */
static void tile_packed(int rows, const product *s, const float *A, const float *B, float *C, int cols,
                        const float *bias, const float *mask)
{
    TILE(tile, rows, s->K, A, s->rs, 1, B, INV_PANEL, C, s->ldc, cols, bias, s->epilogue, mask)
}

/* A transposed and copied together, B as it is: for weight gradients. */
static void tile_transposed(int rows, const product *s, const float *A, const float *B, float *C, int cols)
{
    TILE(tile, rows, s->K, A, 1, WIDTH_BLOCK, B, s->bs, C, s->ldc, cols, NULL, INV_ADD, NULL)
}

/* Rows are cut into tiles (and tiles into blocks) as evenly as can be: the first `longer` parts have one
 * more. */
typedef struct parts {
    int count, size, longer;
} parts;

INLINE parts cut(int total, int most)
{
    int count = (total + most - 1) / most;
    if (count == 0) return (parts){0, 0, 0};
    return (parts){count, total / count, total % count};
}
INLINE int part_size(parts p, int i)
{
    return p.size + (i < p.longer);
}

enum { ROW_BLOCK = 96 }; /* rows that pass under one panel of B while it is in the first-level cache */

static void gemm(int M, int N, int K, const float *A, ptrdiff_t lda, const float *B, float *C, ptrdiff_t ldc,
                 const float *bias, inv_epilogue epilogue, const float *mask)
{
    product s = {.K = K, .rs = lda, .ldc = ldc, .epilogue = epilogue};
    parts blocks = cut(M, ROW_BLOCK);
    for (int b = 0; b < blocks.count; b++) {
        int rows = part_size(blocks, b);
        parts tiles = cut(rows, MR);
        for (int n = 0; n < N; n += INV_PANEL) {
            const float *panel = B + (ptrdiff_t)n * K, *a = A, *keep_where = mask ? mask + n : NULL;
            const float *shift = bias ? bias + n : NULL;
            float *c = C + n;
            int cols = N - n < INV_PANEL ? N - n : INV_PANEL;
            for (int t = 0; t < tiles.count; t++) {
                int count = part_size(tiles, t);
                tile_packed(count, &s, a, panel, c, cols, shift, keep_where);
                a += count * lda;
                c += count * ldc;
                if (mask) keep_where += count * ldc;
            }
        }
        A += rows * lda;
        C += rows * ldc;
        if (mask) mask += rows * ldc;
    }
}

#ifdef BF16
#include "nn/kernels_bf16.h"
#endif
#ifdef INT8
#include "nn/kernels_int8.h"
#endif
#undef TILE
#undef TILE_CASE

/* C[M][N] (=, +=) A B with any strides: A[m * rs + k * ks], B[k * bs + n]. */
static void small_gemm(int M, int N, int K, const float *A, ptrdiff_t rs, ptrdiff_t ks, const float *B,
                       ptrdiff_t bs, float *C, ptrdiff_t ldc, inv_epilogue epilogue)
{
    product s = {.K = K, .rs = rs, .ks = ks, .bs = bs, .ldc = ldc, .epilogue = epilogue};
    parts tiles = cut(M, MR);
    for (int n = 0; n < N; n += INV_PANEL) {
        int cols = N - n < INV_PANEL ? N - n : INV_PANEL;
        for (int t = 0, m = 0; t < tiles.count; t++) {
            int count = part_size(tiles, t);
            tile_any(count, &s, A + m * rs, B + n, C + m * ldc + n, cols, NULL, NULL);
            m += count;
        }
    }
}

INLINE void copy_columns(int width, const float *from, float *to)
{
    if (width == WIDTH_BLOCK) {
        UNROLL for (int j = 0; j < WIDTH_BLOCK; j += VL) store(to + j, load(from + j));
    } else {
        for (int j = 0; j < width; j++) to[j] = from[j];
    }
}

static void gemm_tn(int M, int N, int K, const float *Y, ptrdiff_t ldy, const float *X, ptrdiff_t ldx,
                    float *W, ptrdiff_t ldw)
{
    float block[DEPTH_BLOCK * WIDTH_BLOCK]; /* of Y: its own rows are too far apart for the address cache */
    product s = {.bs = ldx, .ldc = ldw};
    for (int m = 0; m < M; m += DEPTH_BLOCK) {
        s.K = M - m < DEPTH_BLOCK ? M - m : DEPTH_BLOCK;
        for (int n = 0; n < N; n += WIDTH_BLOCK) {
            int width = N - n < WIDTH_BLOCK ? N - n : WIDTH_BLOCK;
            for (int i = 0; i < s.K; i++) copy_columns(width, Y + (m + i) * ldy + n, block + i * WIDTH_BLOCK);
            parts tiles = cut(width, MR);
            for (int j = 0; j < K; j += INV_PANEL) {
                int cols = K - j < INV_PANEL ? K - j : INV_PANEL;
                for (int t = 0, at = 0; t < tiles.count; t++) {
                    int count = part_size(tiles, t);
                    tile_transposed(count, &s, block + at, X + m * ldx + j, W + (n + at) * ldw + j, cols);
                    at += count;
                }
            }
        }
    }
}

static void column_sums(int M, int N, const float *Y, ptrdiff_t ldy, float *sums)
{
    int n = 0;
    for (; n + VL <= N; n += VL) {
        vf s = splat(0.0f);
        for (int m = 0; m < M; m++) s += load(Y + m * ldy + n);
        store(sums + n, load(sums + n) + s);
    }
    for (; n < N; n++) {
        float s = 0;
        for (int m = 0; m < M; m++) s += Y[m * ldy + n];
        sums[n] += s;
    }
}

static void axpy(size_t count, float a, const float *x, float *y)
{
    for (size_t i = 0; i < count; i++) y[i] += a * x[i];
}

static void dots(int M, int width, const float *X, ptrdiff_t ldx, const float *u, float *out)
{
    int whole = width / VL * VL;
    for (int m = 0; m < M; m++, X += ldx) {
        vf s = splat(0.0f);
        for (int j = 0; j < whole; j += VL) s += load(X + j) * load(u + j);
        float dot = sum(s);
        for (int j = whole; j < width; j++) dot += X[j] * u[j];
        out[m] = dot;
    }
}

/* ---- attention ----------------------------------------------------------------------------------------- */

/* Four rows of four, transposed: out[c * INV_PANEL + r] = row[r][c]. */
INLINE void transpose4(const float *const row[4], float *out)
{
    v4 a = *(const v4u *)row[0], b = *(const v4u *)row[1], c = *(const v4u *)row[2], d = *(const v4u *)row[3];
    v4 ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
    *(v4u *)(out + 0 * INV_PANEL) = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
    *(v4u *)(out + 1 * INV_PANEL) = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
    ab = __builtin_shufflevector(a, b, 2, 6, 3, 7), cd = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    *(v4u *)(out + 2 * INV_PANEL) = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
    *(v4u *)(out + 3 * INV_PANEL) = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
}

/* X[n][width] transposed into panels of 16 rows, the form the products want for Q K^T; missing rows are 0. */
static void pack_rows(int n, int width, const float *X, ptrdiff_t ldx, float *packed)
{
    static const float zero[4];
    for (int j = 0; j < n; j += INV_PANEL, packed += width * INV_PANEL)
        for (int l = 0; l < INV_PANEL; l += 4) {
            float *out = packed + l;
            int c = 0;
            for (; c + 4 <= width; c += 4) {
                const float *row[4];
                UNROLL for (int r = 0; r < 4; r++) row[r] = j + l + r < n ? X + (j + l + r) * ldx + c : zero;
                transpose4(row, out + c * INV_PANEL);
            }
            for (; c < width; c++)
                for (int r = 0; r < 4; r++)
                    out[c * INV_PANEL + r] = j + l + r < n ? X[(j + l + r) * ldx + c] : 0;
        }
}

/* S[m][n] = A[m][width] packed^T. */
INLINE void scores(int m, int n, int width, const float *A, ptrdiff_t lda, const float *packed, float *S)
{
    product s = {.K = width, .rs = lda, .ldc = inv_keys(n), .epilogue = INV_STORE};
    parts tiles = cut(m, MR);
    for (int j = 0; j < n; j += INV_PANEL)
        for (int t = 0, i = 0; t < tiles.count; t++) {
            int count = part_size(tiles, t);
            tile_packed(count, &s, A + i * lda, packed + (ptrdiff_t)j * width, S + i * s.ldc + j, INV_PANEL,
                        NULL, NULL);
            i += count;
        }
}

/* Softmax of scale * S over the first n of each of at most INV_QUERY_BLOCK rows; the rest becomes 0. In three
 * passes, so that the rows' long chains of dependent operations overlap. */
INLINE void softmax(int m, int n, float scale, float *S)
{
    ptrdiff_t ld = inv_keys(n);
    int last = (n - 1) / VL * VL;
    vi tail = first_lanes(n - last);
    vf outside = (vf)((vi)splat(-INFINITY) & ~tail), by = splat(scale);
    float number[INV_QUERY_BLOCK];
    for (int i = 0; i < m; i++) {
        float *row = S + i * ld;
        vf top = (vf)((vi)keep(load(row + last), tail) | (vi)outside);
        store(row + last, top);
        for (int j = 0; j < last; j += VL) top = larger(load(row + j), top);
        number[i] = largest(top);
    }
    for (int i = 0; i < m; i++) {
        float *row = S + i * ld;
        vf total = splat(0.0f), shift = splat(number[i]);
        for (int j = 0; j <= last; j += VL) {
            vf p = exp_nonpositive((load(row + j) - shift) * by);
            total += p;
            store(row + j, p);
        }
        number[i] = 1.0f / sum(total);
    }
    for (int i = 0; i < m; i++) {
        float *row = S + i * ld;
        vf inverse = splat(number[i]);
        for (int j = 0; j <= last; j += VL) store(row + j, load(row + j) * inverse);
        for (int j = last + VL; j < ld; j += VL) store(row + j, splat(0.0f));
    }
}

static void attend(const inv_attention *a)
{
    ptrdiff_t np = inv_keys(a->n);
    float *keys = a->scratch, *block = keys + np * a->dk;
    for (int h = 0; h < a->heads; h++) {
        const float *q = a->q + h * a->q_head, *v = a->v + h * a->v_head;
        float *o = a->o + h * a->o_head;
        if (h == 0 || a->k_head != 0) pack_rows(a->n, a->dk, a->k + h * a->k_head, a->ldk, keys);
        for (int i = 0; i < a->m; i += INV_QUERY_BLOCK) {
            int rows = a->m - i < INV_QUERY_BLOCK ? a->m - i : INV_QUERY_BLOCK;
            float *p = a->p ? a->p + ((ptrdiff_t)h * a->m + i) * np : block;
            scores(rows, a->n, a->dk, q + i * a->ldq, a->ldq, keys, p);
            softmax(rows, a->n, a->scale, p);
            small_gemm(rows, a->dv, a->n, p, np, 1, v, a->ldv, o + i * a->ldo, a->ldo, INV_STORE);
        }
    }
}

/* With S = scale Q K^T, P = softmax(S), O = P V:  dV = P^T dO,  dP = dO V^T,  dS = scale P (dP - sum P dP),
 * dQ = dS K,  dK = dS^T Q. */
static void attend_backward(const inv_attention *a)
{
    ptrdiff_t np = inv_keys(a->n);
    float *values = a->scratch, *ds = values + np * a->dv;
    for (int h = 0; h < a->heads; h++) {
        const float *p = a->p + (ptrdiff_t)h * a->m * np, *d_o = a->d_o + h * a->o_head;
        if (h == 0 || a->v_head != 0) pack_rows(a->n, a->dv, a->v + h * a->v_head, a->ldv, values);
        scores(a->m, a->n, a->dv, d_o, a->ldo, values, ds);
        for (int i = 0; i < a->m; i++) {
            vf dot = splat(0.0f);
            float *row = ds + i * np;
            const float *pr = p + i * np;
            for (int j = 0; j < a->n; j += VL) dot += load(pr + j) * load(row + j);
            vf mean = splat(sum(dot)), by = splat(a->scale);
            for (int j = 0; j < a->n; j += VL) store(row + j, load(pr + j) * (load(row + j) - mean) * by);
        }
        small_gemm(a->m, a->dk, a->n, ds, np, 1, a->k + h * a->k_head, a->ldk, a->d_q + h * a->q_head, a->ldq,
                   INV_STORE);
        if (a->d_k)
            small_gemm(a->n, a->dk, a->m, ds, 1, np, a->q + h * a->q_head, a->ldq, a->d_k + h * a->k_head,
                       a->ldk, INV_ADD);
        if (a->d_v)
            small_gemm(a->n, a->dv, a->m, p, 1, np, d_o, a->ldo, a->d_v + h * a->v_head, a->ldv, INV_ADD);
    }
}

/* ---- layer norm ---------------------------------------------------------------------------------------- */

/* Four running sums hide the latency of adding; what is left after the fours goes to the first. */
#define FOUR(body)                                                                                           \
    for (; j + 4 * VL <= whole; j += 4 * VL) {                                                               \
        UNROLL for (int u = 0; u < 4; u++)                                                                   \
        {                                                                                                    \
            int at = j + u * VL;                                                                             \
            body                                                                                             \
        }                                                                                                    \
    }                                                                                                        \
    for (; j < whole; j += VL) {                                                                             \
        int at = j, u = 0;                                                                                   \
        body                                                                                                 \
    }

INLINE float sum4(const vf *s)
{
    return sum((s[0] + s[1]) + (s[2] + s[3]));
}

static void norm(int M, int d, const float *x, const float *r, ptrdiff_t ld, const float *gamma,
                 const float *beta, float eps, float *out, float *xhat, float *rstd)
{
    int whole = d / VL * VL;
    vi tail = first_lanes(d - whole);
    for (int m = 0; m < M; m++, x += ld, r += ld, out += ld) {
        vf s[4] = {splat(0.0f), splat(0.0f), splat(0.0f), splat(0.0f)}, q[4] = {s[0], s[0], s[0], s[0]};
        int j = 0;
        FOUR(vf z = load(x + at) + load(r + at); s[u] += z; store(out + at, z);)
        if (whole < d) {
            vf z = keep(load(x + whole) + load(r + whole), tail);
            s[0] += z;
            store(out + whole, z);
        }
        vf mean = splat(sum4(s) / (float)d);
        j = 0;
        FOUR(vf z = load(out + at) - mean; q[u] += z * z;)
        if (whole < d) {
            vf z = keep(load(out + whole) - mean, tail);
            q[0] += z * z;
        }
        float inverse = 1.0f / sqrtf(sum4(q) / (float)d + eps);
        vf by = splat(inverse);
        for (j = 0; j < d; j += VL) {
            vf z = (load(out + j) - mean) * by;
            if (xhat) store(xhat + m * ld + j, z);
            store(out + j, z * load(gamma + j) + load(beta + j));
        }
        if (rstd) rstd[m] = inverse;
    }
}

/* dz = rstd (g - mean(g) - xhat mean(g xhat)) with g = dy gamma. */
static void norm_backward(int M, int d, const float *dy, const float *xhat, const float *rstd, ptrdiff_t ld,
                          const float *gamma, float *dz, float *dgamma, float *dbeta)
{
    int whole = d / VL * VL;
    vi tail = first_lanes(d - whole);
    for (int m = 0; m < M; m++, dy += ld, xhat += ld, dz += ld) {
        vf s[4] = {splat(0.0f), splat(0.0f), splat(0.0f), splat(0.0f)}, q[4] = {s[0], s[0], s[0], s[0]};
        int j = 0;
        FOUR(vf y = load(dy + at); vf h = load(xhat + at); vf g = y * load(gamma + at); s[u] += g;
             q[u] += g * h; store(dgamma + at, load(dgamma + at) + y * h);
             store(dbeta + at, load(dbeta + at) + y);)
        if (whole < d) {
            vf h = keep(load(xhat + whole), tail), g = keep(load(dy + whole) * load(gamma + whole), tail);
            s[0] += g;
            q[0] += g * h;
            for (j = whole; j < d; j++) {
                dgamma[j] += dy[j] * xhat[j];
                dbeta[j] += dy[j];
            }
        }
        vf a = splat(sum4(s) / (float)d), b = splat(sum4(q) / (float)d), by = splat(rstd[m]);
        for (j = 0; j < d; j += VL) {
            vf g = load(dy + j) * load(gamma + j);
            store(dz + j, (g - a - load(xhat + j) * b) * by);
        }
    }
}

/* ---- the machine's peak -------------------------------------------------------------------------------- */

static double fma_burst(long rounds, float *sink)
{
    enum { CHAINS = 12 };
    vf c[CHAINS], a = splat(0.999f), b = splat(1e-3f);
    UNROLL for (int i = 0; i < CHAINS; i++) c[i] = splat((float)i);
    for (long k = 0; k < rounds * 1000; k++) {
        UNROLL for (int i = 0; i < CHAINS; i++) c[i] = c[i] * a + b;
    }
    vf total = c[0];
    UNROLL for (int i = 1; i < CHAINS; i++) total += c[i];
    *sink += sum(total);
    return 2.0 * VL * CHAINS * 1000.0 * (double)rounds;
}

const inv_kernels KERNELS = {.name = KERNELS_NAME,
                             .gemm = gemm,
#ifdef BF16
                             .gemm_bf16 = gemm_bf16,
                             .gemm_tn_bf16 = gemm_tn_bf16,
#endif
#ifdef INT8
                             .gemm_int8 = gemm_int8,
#endif
                             .gemm_tn = gemm_tn,
                             .column_sums = column_sums,
                             .attend = attend,
                             .attend_backward = attend_backward,
                             .norm = norm,
                             .norm_backward = norm_backward,
                             .axpy = axpy,
                             .dots = dots,
                             .fma_burst = fma_burst};
