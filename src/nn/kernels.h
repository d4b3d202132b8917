/* The arithmetic of the network: a table of plain functions, one table per instruction set, chosen at run
 * time.
 *
 * Matrices are row-major with a row stride ("ld", in floats). Activations use inv_stride(width) as stride, so
 * that a row has room for whole vectors and rows do not collide in the cache. Weights are packed by inv_pack
 * into panels of INV_PANEL columns, K deep. Every output element is summed in the same order whatever M is,
 * so a row's result does not depend on the rows beside it.
 */
#ifndef INVIT_NN_KERNELS_H
#define INVIT_NN_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INV_PANEL 16

/* Row stride for activations of `width` floats: whole cache lines, an odd number of them. */
static inline ptrdiff_t inv_stride(ptrdiff_t width)
{
    ptrdiff_t lines = (width + INV_PANEL - 1) / INV_PANEL;
    return INV_PANEL * (lines | 1);
}

/* Floats that a packed [K][N] matrix takes. */
static inline size_t inv_packed_size(ptrdiff_t n, ptrdiff_t k)
{
    return (size_t)((n + INV_PANEL - 1) / INV_PANEL * INV_PANEL) * (size_t)k;
}
/* Packs B[k][n] = src[n * sn + k * sk]; columns past n are zero. */
void inv_pack(float *packed, const float *src, ptrdiff_t n, ptrdiff_t k, ptrdiff_t sn, ptrdiff_t sk);

/* bf16 weights are the upper half of a float: half the size, and on CPUs with AVX-512 BF16
 * twice as fast. They are packed in panels too, two values of k side by side. Rows of at most
 * INV_BF16_DEPTH. */
#define INV_BF16_DEPTH 512
static inline uint16_t inv_bf16(float x)
{
    union {
        float value;
        uint32_t bits;
    } u = {.value = x};
    if (x != x) return 0x7fc0;
    return (uint16_t)((u.bits + 0x7fff + (u.bits >> 16 & 1)) >> 16); /* to nearest, ties to even */
}
static inline size_t inv_bf16_size(ptrdiff_t n, ptrdiff_t k) /* in bfloat16s */
{
    return inv_packed_size(n, k + k % 2);
}
void inv_pack_bf16(uint16_t *packed, const float *src, ptrdiff_t n, ptrdiff_t k, ptrdiff_t sn, ptrdiff_t sk);

/* int8 weights are quantised: whole numbers from -127 to 127, each column in a unit of its own: a quarter of the size,
 * and on CPUs with AVX-512 VNNI four times as fast. Panels hold four values of k side by
 * side and end with 16 units (floats) and 128 times the sums of the columns (32-bit). Rows of at most
 * INV_INT8_DEPTH. */
#define INV_INT8_DEPTH 512
#define INV_INT8_MOST  127.0f
static inline ptrdiff_t inv_int8_panel(ptrdiff_t k) /* bytes of a panel */
{
    return ((k + 3) / 4 + 2) * 4 * INV_PANEL;
}
static inline size_t inv_int8_size(ptrdiff_t n, ptrdiff_t k)
{
    return (size_t)((n + INV_PANEL - 1) / INV_PANEL * inv_int8_panel(k));
}
void inv_pack_int8(int8_t *packed, const float *src, ptrdiff_t n, ptrdiff_t k, ptrdiff_t sn, ptrdiff_t sk);

typedef enum inv_epilogue {
    INV_STORE, /* C = A B + bias          */
    INV_RELU,  /* C = max(0, A B + bias)  */
    INV_ADD,   /* C += A B + bias         */
} inv_epilogue;

/* softmax(scale Q K^T) V for one state, per head. Head `a` of Q starts at q + a * q_head; likewise k, v, o,
 * so that a head stride of 0 shares K and V between heads. */
typedef struct inv_attention {
    int heads, m, n; /* m queries, n keys                                                       */
    int dk, dv;      /* width of a head's queries and keys, and of its values                   */
    float scale;
    const float *q, *k, *v; /* [m][dk], [n][dk], [n][dv]                                               */
    float *o;               /* [m][dv]; backward reads its gradient from d_o                           */
    ptrdiff_t ldq, ldk, ldv, ldo, q_head, k_head, v_head, o_head;
    float *p;         /* probabilities [heads][m][inv_keys(n)], or NULL: not kept                */
    float *scratch;   /* inv_attention_scratch floats                                            */
    const float *d_o; /* backward: gradient of o                                                 */
    float *d_q;       /* backward: set                                                           */
    float *d_k, *d_v; /* backward: added to; may both be NULL                                    */
} inv_attention;

static inline ptrdiff_t inv_keys(ptrdiff_t n)
{
    return (n + INV_PANEL - 1) / INV_PANEL * INV_PANEL;
}
/* Queries handled together; bounds the scratch when probabilities are not kept. */
#define INV_QUERY_BLOCK 48
static inline size_t inv_attention_scratch(ptrdiff_t m, ptrdiff_t n, ptrdiff_t dk, ptrdiff_t dv,
                                           bool training)
{
    ptrdiff_t rows = training || m < INV_QUERY_BLOCK ? m : INV_QUERY_BLOCK;
    return (size_t)inv_keys(n) * (size_t)(rows + (dk > dv ? dk : dv));
}

typedef struct inv_kernels {
    const char *name;
    /* C[M][N] from A[M][K] and a packed B[K][N]; bias[N] or NULL. Where `mask` (C's stride; or
     * NULL) is not > 0, 0 is stored: ReLU's derivative. */
    void (*gemm)(int M, int N, int K, const float *A, ptrdiff_t lda, const float *B, float *C, ptrdiff_t ldc,
                 const float *bias, inv_epilogue epilogue, const float *mask);
    /* The same from bf16 weights, K <= INV_BF16_DEPTH: A is rounded like them, sums are floats. NULL where
     * the machine has no such products. */
    void (*gemm_bf16)(int M, int N, int K, const float *A, ptrdiff_t lda, const uint16_t *B, float *C,
                      ptrdiff_t ldc, const float *bias, inv_epilogue epilogue, const float *mask);
    /* The same from int8 weights, K <= INV_INT8_DEPTH, without a mask: a row of A is quantised, too,
     * in a unit of its own; sums are exact. NULL likewise. */
    void (*gemm_int8)(int M, int N, int K, const float *A, ptrdiff_t lda, const int8_t *B, float *C,
                      ptrdiff_t ldc, const float *bias, inv_epilogue epilogue);
    /* W[N][K] += Y[M][N]^T X[M][K]: the gradient of a weight. Rows of X have room for whole panels. */
    void (*gemm_tn)(int M, int N, int K, const float *Y, ptrdiff_t ldy, const float *X, ptrdiff_t ldx,
                    float *W, ptrdiff_t ldw);
    /* The same with both rounded, N and K <= INV_BF16_DEPTH; NULL likewise. Rows of Y have room, too. */
    void (*gemm_tn_bf16)(int M, int N, int K, const float *Y, ptrdiff_t ldy, const float *X, ptrdiff_t ldx,
                         float *W, ptrdiff_t ldw);
    /* sums[N] += column sums of Y[M][N]: the gradient of a bias. */
    void (*column_sums)(int M, int N, const float *Y, ptrdiff_t ldy, float *sums);
    void (*attend)(const inv_attention *a);
    void (*attend_backward)(const inv_attention *a);
    /* out = LN(x + r) over d columns; gamma and beta have room for whole panels. xhat and rstd are kept if
     * not NULL. out may be x or r. All matrices share the stride ld. */
    void (*norm)(int M, int d, const float *x, const float *r, ptrdiff_t ld, const float *gamma,
                 const float *beta, float eps, float *out, float *xhat, float *rstd);
    /* dz = gradient of x + r from dy = gradient of out; adds to dgamma[d], dbeta[d]. dz may be dy. */
    void (*norm_backward)(int M, int d, const float *dy, const float *xhat, const float *rstd, ptrdiff_t ld,
                          const float *gamma, float *dz, float *dgamma, float *dbeta);
    /* y += a x, `count` floats. */
    void (*axpy)(size_t count, float a, const float *x, float *y);
    /* out[i] = X[i] . u over `width` columns, for M rows. */
    void (*dots)(int M, int width, const float *X, ptrdiff_t ldx, const float *u, float *out);
    /* Does about `rounds` * 1000 fused multiply-adds per vector lane in registers; returns the flops done. */
    double (*fma_burst)(long rounds, float *sink);
} inv_kernels;

#define INV_KERNELS_MOST 5
extern const inv_kernels inv_kernels_portable;
#if defined(__x86_64__)
extern const inv_kernels inv_kernels_avx2, inv_kernels_avx512, inv_kernels_avx512vnni, inv_kernels_avx512bf16;
#endif

/* The fastest table this machine can run. INVIT_KERNELS=portable|avx2|avx512|avx512vnni|avx512bf16 in the
 * environment asks for another one (ignored if the machine cannot run it). */
const inv_kernels *inv_kernels_best(void);
/* Tables this machine can run: fills list (room for INV_KERNELS_MOST) and returns their number. */
int inv_kernels_list(const inv_kernels **list);

/* FP32 multiply-add peak in GFLOPS on that many threads at once, measured for about `seconds`. */
double inv_measure_peak(int threads, double seconds);

#endif
