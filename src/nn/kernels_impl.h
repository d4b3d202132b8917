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

#include "nn/kernels_layers.h"

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
