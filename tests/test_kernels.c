/* Every kernel table against plain loops in double precision, at sizes that fit no tile or vector. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/rng.h"
#include "lab/train/run/adamw.h"
#include "nn/kernels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static inv_rng rng;

static float *randoms(size_t count)
{
    float *p = calloc(count + 64, sizeof *p); /* kernels may read whole vectors */
    for (size_t i = 0; i < count; i++) p[i] = (float)inv_rng_normal(&rng);
    return p;
}

static void near(double got, double wanted, double tolerance)
{
    if (!(fabs(got - wanted) <= tolerance * (1 + fabs(wanted))))
        fail_msg("got %.9g, expected %.9g", got, wanted);
}

static int with_each_table(void (*test)(const inv_kernels *))
{
    const inv_kernels *table[INV_KERNELS_MOST];
    int count = inv_kernels_list(table);
    for (int i = 0; i < count; i++) {
        inv_rng_init(&rng, 1, 0);
        test(table[i]);
    }
    return count;
}

static void check_gemm(const inv_kernels *k)
{
    static const int sizes[][3] = {{1, 1, 1},    {5, 16, 7},  {6, 17, 33}, {7, 31, 128}, {13, 128, 9},
                                   {50, 48, 20}, {97, 33, 5}, {2, 15, 64}, {12, 16, 3},  {100, 64, 130}};
    for (int i = 0; i < 10; i++) {
        int M = sizes[i][0], N = sizes[i][1], K = sizes[i][2];
        ptrdiff_t lda = inv_stride(K), ldc = inv_stride(N);
        float *A = randoms((size_t)(M * lda)), *W = randoms((size_t)(N * K)), *bias = randoms((size_t)N);
        float *C = randoms((size_t)(M * ldc)), *before = randoms((size_t)(M * ldc)),
              *mask = randoms((size_t)(M * ldc));
        float *B = calloc(inv_packed_size(N, K) + 64, sizeof *B);
        inv_pack(B, W, N, K, K, 1);
        for (int mode = 0; mode < 4; mode++) {
            memcpy(before, C, (size_t)(M * ldc) * sizeof *C);
            inv_epilogue epilogue = mode == 1 ? INV_RELU : mode == 2 ? INV_ADD : INV_STORE;
            k->gemm(M, N, K, A, lda, B, C, ldc, mode == 3 ? NULL : bias, epilogue, mode == 3 ? mask : NULL);
            for (int m = 0; m < M; m++)
                for (int n = 0; n < N; n++) {
                    double s = mode == 3 ? 0 : (double)bias[n];
                    for (int j = 0; j < K; j++) s += (double)A[m * lda + j] * (double)W[n * K + j];
                    if (mode == 1) s = s > 0 ? s : 0;
                    if (mode == 2) s += (double)before[m * ldc + n];
                    if (mode == 3 && !(mask[m * ldc + n] > 0)) s = 0;
                    near((double)C[m * ldc + n], s, 1e-4);
                }
            for (int m = 0; m < M; m++) /* nothing outside the N columns is touched */
                assert_memory_equal(C + m * ldc + N, before + m * ldc + N, (size_t)(ldc - N) * sizeof *C);
        }
        free(A), free(W), free(bias), free(C), free(before), free(mask), free(B);
    }
}

static void check_rows_alone(const inv_kernels *k)
{
    int M = 61, N = 33, K = 77;
    ptrdiff_t lda = inv_stride(K), ldc = inv_stride(N);
    float *A = randoms((size_t)(M * lda)), *W = randoms((size_t)(N * K)), *C = randoms((size_t)(M * ldc));
    float *B = calloc(inv_packed_size(N, K) + 64, sizeof *B), *one = randoms((size_t)ldc);
    inv_pack(B, W, N, K, K, 1);
    k->gemm(M, N, K, A, lda, B, C, ldc, NULL, INV_STORE, NULL);
    for (int m = 0; m < M; m++) {
        k->gemm(1, N, K, A + m * lda, lda, B, one, ldc, NULL, INV_STORE, NULL);
        assert_memory_equal(one, C + m * ldc, (size_t)N * sizeof *C);
    }
    free(A), free(W), free(C), free(B), free(one);
}

static double rounded(float x)
{
    uint32_t bits = (uint32_t)inv_bf16(x) << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static void check_gemm_bf16(const inv_kernels *k)
{
    static const int sizes[][3] = {{1, 1, 1},    {5, 16, 7},  {6, 17, 33}, {7, 31, 128},
                                   {50, 48, 20}, {97, 33, 5}, {12, 16, 3}, {100, 64, INV_BF16_DEPTH}};
    for (int i = 0; k->gemm_bf16 && i < 8; i++) {
        int M = sizes[i][0], N = sizes[i][1], K = sizes[i][2];
        ptrdiff_t lda = inv_stride(K), ldc = inv_stride(N);
        float *A = randoms((size_t)(M * lda)), *W = randoms((size_t)(N * K)), *bias = randoms((size_t)N);
        float *C = randoms((size_t)(M * ldc)), *before = randoms((size_t)(M * ldc)),
              *mask = randoms((size_t)(M * ldc));
        uint16_t *B = calloc(inv_bf16_size(N, K), sizeof *B);
        inv_pack_bf16(B, W, N, K, K, 1);
        for (int mode = 0; mode < 4; mode++) {
            memcpy(before, C, (size_t)(M * ldc) * sizeof *C);
            inv_epilogue epilogue = mode == 1 ? INV_RELU : mode == 2 ? INV_ADD : INV_STORE;
            k->gemm_bf16(M, N, K, A, lda, B, C, ldc, mode == 0 ? NULL : bias, epilogue,
                         mode == 3 ? mask : NULL);
            for (int m = 0; m < M; m++) {
                for (int n = 0; n < N; n++) {
                    double s = mode == 0 ? 0 : (double)bias[n];
                    for (int j = 0; j < K; j++) s += rounded(A[m * lda + j]) * rounded(W[n * K + j]);
                    if (mode == 1) s = s > 0 ? s : 0;
                    if (mode == 2) s += (double)before[m * ldc + n];
                    if (mode == 3 && !(mask[m * ldc + n] > 0)) s = 0;
                    near((double)C[m * ldc + n], s, 1e-4);
                }
                assert_memory_equal(C + m * ldc + N, before + m * ldc + N, (size_t)(ldc - N) * sizeof *C);
            }
        }
        free(A), free(W), free(bias), free(C), free(before), free(mask), free(B);
    }
    assert_int_equal(inv_bf16(1.0f), 0x3f80);
    assert_int_equal(inv_bf16(1.00390625f), 0x3f80); /* half way: to even */
    assert_int_equal(inv_bf16(1.01171875f), 0x3f82);
    assert_int_equal(inv_bf16(-INFINITY), 0xff80);
    assert_true(isnan(rounded(NAN)));
}

/* Whole numbers from -127 to 127, as finely as the largest allows; returns their unit. */
static double to_bytes(int count, const float *x, int *whole)
{
    float most = 0;
    for (int i = 0; i < count; i++) most = fmaxf(most, fabsf(x[i]));
    for (int i = 0; i < count; i++) whole[i] = most > 0 ? (int)lrintf(x[i] * (127.0f / most)) : 0;
    return (double)most / 127;
}

static void check_gemm_int8(const inv_kernels *k)
{
    static const int sizes[][3] = {{1, 1, 1},    {5, 16, 7},  {6, 17, 33}, {7, 31, 128},
                                   {50, 48, 20}, {97, 33, 5}, {12, 16, 3}, {100, 64, INV_INT8_DEPTH}};
    for (int i = 0; k->gemm_int8 && i < 8; i++) {
        int M = sizes[i][0], N = sizes[i][1], K = sizes[i][2], a[INV_INT8_DEPTH], b[INV_INT8_DEPTH];
        ptrdiff_t lda = inv_stride(K), ldc = inv_stride(N);
        float *A = randoms((size_t)(M * lda)), *W = randoms((size_t)(N * K)), *bias = randoms((size_t)N);
        float *C = randoms((size_t)(M * ldc)), *before = randoms((size_t)(M * ldc));
        int8_t *B = calloc(inv_int8_size(N, K), 1);
        memset(A + (M / 2) * lda, 0, (size_t)K * sizeof *A); /* a row and a column of zeros */
        memset(W + (ptrdiff_t)(N / 2) * K, 0, (size_t)K * sizeof *W);
        for (int j = 0; j < K && M > 2; j++) A[lda + j] = -1e3f; /* and one of the largest sums */
        for (int j = 0; j < K && N > 2; j++) W[K + j] = 1e3f;
        inv_pack_int8(B, W, N, K, K, 1);
        for (int mode = 0; mode < 3; mode++) {
            memcpy(before, C, (size_t)(M * ldc) * sizeof *C);
            inv_epilogue epilogue = mode == 1 ? INV_RELU : mode == 2 ? INV_ADD : INV_STORE;
            k->gemm_int8(M, N, K, A, lda, B, C, ldc, mode == 0 ? NULL : bias, epilogue);
            for (int m = 0; m < M; m++) {
                double row = to_bytes(K, A + m * lda, a);
                for (int n = 0; n < N; n++) {
                    double column = to_bytes(K, W + (ptrdiff_t)n * K, b), s = mode == 0 ? 0 : (double)bias[n];
                    int64_t sum = 0;
                    for (int j = 0; j < K; j++) sum += a[j] * b[j];
                    s += (double)sum * row * column;
                    if (mode == 1) s = s > 0 ? s : 0;
                    if (mode == 2) s += (double)before[m * ldc + n];
                    near((double)C[m * ldc + n], s, 1e-5);
                }
                assert_memory_equal(C + m * ldc + N, before + m * ldc + N, (size_t)(ldc - N) * sizeof *C);
            }
        }
        free(A), free(W), free(bias), free(C), free(before), free(B);
    }
}

static void check_gemm_tn(const inv_kernels *k)
{
    static const int sizes[][3] = {{1, 1, 1}, {9, 16, 17}, {130, 50, 33}, {300, 7, 128}, {17, 128, 3}};
    for (int i = 0; i < 5; i++) {
        int M = sizes[i][0], N = sizes[i][1], K = sizes[i][2];
        ptrdiff_t ldy = inv_stride(N), ldx = inv_stride(K);
        float *Y = randoms((size_t)(M * ldy)), *X = randoms((size_t)(M * ldx)), *W = randoms((size_t)(N * K));
        float *before = randoms((size_t)(N * K)), *sums = calloc((size_t)N, sizeof *sums);
        memcpy(before, W, (size_t)(N * K) * sizeof *W);
        k->gemm_tn(M, N, K, Y, ldy, X, ldx, W, K);
        k->column_sums(M, N, Y, ldy, sums);
        for (int n = 0; n < N; n++) {
            double total = 0;
            for (int m = 0; m < M; m++) total += (double)Y[m * ldy + n];
            near((double)sums[n], total, 1e-4);
            for (int j = 0; j < K; j++) {
                double s = (double)before[n * K + j];
                for (int m = 0; m < M; m++) s += (double)Y[m * ldy + n] * (double)X[m * ldx + j];
                near((double)W[n * K + j], s, 1e-4);
            }
        }
        free(Y), free(X), free(W), free(before), free(sums);
    }
}

static void check_gemm_tn_bf16(const inv_kernels *k)
{
    static const int sizes[][3] = {
        {1, 1, 1}, {9, 16, 17}, {130, 50, 33}, {97, INV_BF16_DEPTH, 20}, {17, 128, 3}};
    for (int i = 0; k->gemm_tn_bf16 && i < 5; i++) {
        int M = sizes[i][0], N = sizes[i][1], K = sizes[i][2];
        ptrdiff_t ldy = inv_stride(N), ldx = inv_stride(K);
        float *Y = randoms((size_t)(M * ldy)), *X = randoms((size_t)(M * ldx)), *W = randoms((size_t)(N * K));
        float *before = randoms((size_t)(N * K));
        memcpy(before, W, (size_t)(N * K) * sizeof *W);
        k->gemm_tn_bf16(M, N, K, Y, ldy, X, ldx, W, K);
        for (int n = 0; n < N; n++)
            for (int j = 0; j < K; j++) {
                double s = (double)before[n * K + j];
                for (int m = 0; m < M; m++) s += rounded(Y[m * ldy + n]) * rounded(X[m * ldx + j]);
                near((double)W[n * K + j], s, 1e-4);
            }
        free(Y), free(X), free(W), free(before);
    }
}

/* Forward in double; `p` receives the probabilities. */
static void plain_attention(const inv_attention *a, int h, const float *q, const float *k, const float *v,
                            double *p, double *o)
{
    for (int i = 0; i < a->m; i++) {
        double top = -INFINITY, total = 0;
        for (int j = 0; j < a->n; j++) {
            double s = 0;
            for (int c = 0; c < a->dk; c++)
                s += (double)q[i * a->ldq + h * a->q_head + c] * (double)k[j * a->ldk + h * a->k_head + c];
            p[i * a->n + j] = s * (double)a->scale;
            top = fmax(top, p[i * a->n + j]);
        }
        for (int j = 0; j < a->n; j++) total += p[i * a->n + j] = exp(p[i * a->n + j] - top);
        for (int j = 0; j < a->n; j++) p[i * a->n + j] /= total;
        for (int c = 0; c < a->dv; c++) {
            o[i * a->dv + c] = 0;
            for (int j = 0; j < a->n; j++)
                o[i * a->dv + c] += p[i * a->n + j] * (double)v[j * a->ldv + h * a->v_head + c];
        }
    }
}

static void check_attention(const inv_kernels *k)
{
    static const int shapes[][5] = {{2, 3, 5, 4, 4},    {1, 1, 1, 16, 16},  {8, 17, 37, 16, 16},
                                    {3, 60, 33, 9, 9},  {1, 8, 15, 70, 70}, {4, 100, 64, 5, 5},
                                    {2, 5, 16, 20, 20}, {2, 49, 8, 17, 17}};
    for (int i = 0; i < 8; i++)
        for (int shared = 0; shared < 2; shared++) {
            inv_attention a = {.heads = shapes[i][0],
                               .m = shapes[i][1],
                               .n = shapes[i][2],
                               .dk = shapes[i][3],
                               .dv = shapes[i][4]};
            a.scale = 0.4f;
            a.q_head = a.o_head = a.dk;
            a.k_head = a.v_head = shared ? 0 : a.dk;
            a.ldq = a.ldo = inv_stride(a.heads * a.dk);
            a.ldk = a.ldv = inv_stride(shared ? a.dk : a.heads * a.dk);
            size_t rows = (size_t)(a.m * a.ldq), keys = (size_t)(a.n * a.ldk);
            float *q = randoms(rows), *key = randoms(keys), *v = randoms(keys), *o = randoms(rows),
                  *d_o = randoms(rows);
            float *d_q = randoms(rows), *d_k = calloc(keys + 64, sizeof *d_k),
                  *d_v = calloc(keys + 64, sizeof *d_v);
            float *kept = calloc((size_t)(a.heads * a.m * inv_keys(a.n)) + 64, sizeof *kept);
            float *again = randoms(rows);
            a.scratch = calloc(inv_attention_scratch(a.m, a.n, a.dk, a.dv, true) + 64, sizeof *a.scratch);
            a.q = q, a.k = key, a.v = v, a.o = o, a.p = kept;
            k->attend(&a);
            a.p = NULL, a.o = again; /* not kept: the same bits */
            k->attend(&a);
            a.p = kept, a.o = o, a.d_o = d_o, a.d_q = d_q;
            if (!shared) a.d_k = d_k, a.d_v = d_v;
            k->attend_backward(&a);
            double *p = calloc((size_t)(a.m * a.n), sizeof *p),
                   *want = calloc((size_t)(a.m * a.dv), sizeof *want);
            double *ds = calloc((size_t)(a.m * a.n), sizeof *ds);
            for (int h = 0; h < a.heads; h++) {
                plain_attention(&a, h, q, key, v, p, want);
                for (int m = 0; m < a.m; m++) {
                    double dot = 0;
                    for (int c = 0; c < a.dv; c++) {
                        near((double)o[m * a.ldo + h * a.o_head + c], want[m * a.dv + c], 2e-5);
                        assert_true(o[m * a.ldo + h * a.o_head + c] == again[m * a.ldo + h * a.o_head + c]);
                    }
                    for (int j = 0; j < a.n; j++) {
                        double *d = &ds[m * a.n + j];
                        *d = 0;
                        for (int c = 0; c < a.dv; c++)
                            *d += (double)d_o[m * a.ldo + h * a.o_head + c] *
                                  (double)v[j * a.ldv + h * a.v_head + c];
                        dot += p[m * a.n + j] * *d;
                    }
                    for (int j = 0; j < a.n; j++)
                        ds[m * a.n + j] = p[m * a.n + j] * (ds[m * a.n + j] - dot) * (double)a.scale;
                    for (int c = 0; c < a.dk; c++) {
                        double s = 0;
                        for (int j = 0; j < a.n; j++)
                            s += ds[m * a.n + j] * (double)key[j * a.ldk + h * a.k_head + c];
                        near((double)d_q[m * a.ldq + h * a.q_head + c], s, 5e-5);
                    }
                }
                for (int j = 0; !shared && j < a.n; j++)
                    for (int c = 0; c < a.dk; c++) {
                        double sk = 0, sv = 0;
                        for (int m = 0; m < a.m; m++) {
                            sk += ds[m * a.n + j] * (double)q[m * a.ldq + h * a.q_head + c];
                            sv += p[m * a.n + j] * (double)d_o[m * a.ldo + h * a.o_head + c];
                        }
                        near((double)d_k[j * a.ldk + h * a.k_head + c], sk, 5e-5);
                        near((double)d_v[j * a.ldv + h * a.v_head + c], sv, 5e-5);
                    }
            }
            free(q), free(key), free(v), free(o), free(d_o), free(d_q), free(d_k), free(d_v), free(kept),
                free(again);
            free(a.scratch), free(p), free(want), free(ds);
        }
}

static void check_norm(const inv_kernels *k)
{
    static const int widths[] = {1, 3, 16, 21, 128, 130};
    for (int i = 0; i < 6; i++) {
        int M = 5, d = widths[i];
        ptrdiff_t ld = inv_stride(d);
        size_t count = (size_t)(M * ld);
        float *x = randoms(count), *r = randoms(count), *gamma = randoms((size_t)ld),
              *beta = randoms((size_t)ld);
        float *out = randoms(count), *xhat = randoms(count), rstd[5], *dy = randoms(count),
              *dz = randoms(count);
        float *dgamma = calloc((size_t)d, sizeof *dgamma), *dbeta = calloc((size_t)d, sizeof *dbeta);
        k->norm(M, d, x, r, ld, gamma, beta, 1e-5f, out, xhat, rstd);
        k->norm_backward(M, d, dy, xhat, rstd, ld, gamma, dz, dgamma, dbeta);
        double *sum_g = calloc((size_t)d, sizeof *sum_g), *sum_b = calloc((size_t)d, sizeof *sum_b);
        for (int m = 0; m < M; m++) {
            double mean = 0, variance = 0, s1 = 0, s2 = 0;
            for (int j = 0; j < d; j++) mean += ((double)x[m * ld + j] + (double)r[m * ld + j]) / d;
            for (int j = 0; j < d; j++)
                variance += pow((double)x[m * ld + j] + (double)r[m * ld + j] - mean, 2) / d;
            double inverse = 1 / sqrt(variance + 1e-5);
            for (int j = 0; j < d; j++) {
                double h = ((double)x[m * ld + j] + (double)r[m * ld + j] - mean) * inverse;
                double g = (double)dy[m * ld + j] * (double)gamma[j];
                near((double)out[m * ld + j], h * (double)gamma[j] + (double)beta[j], d > 1 ? 1e-5 : 1e-3);
                s1 += g / d;
                s2 += g * h / d;
                sum_g[j] += (double)dy[m * ld + j] * h;
                sum_b[j] += (double)dy[m * ld + j];
            }
            for (int j = 0; d > 1 && j < d; j++) {
                double h = ((double)x[m * ld + j] + (double)r[m * ld + j] - mean) * inverse;
                double g = (double)dy[m * ld + j] * (double)gamma[j];
                near((double)dz[m * ld + j], inverse * (g - s1 - h * s2), 1e-4);
            }
        }
        for (int j = 0; j < d; j++) {
            near((double)dgamma[j], sum_g[j], 1e-4);
            near((double)dbeta[j], sum_b[j], 1e-4);
        }
        free(x), free(r), free(gamma), free(beta), free(out), free(xhat), free(dy), free(dz), free(dgamma),
            free(dbeta);
        free(sum_g), free(sum_b);
    }
}

static void check_vectors(const inv_kernels *k)
{
    float *x = randoms(200), *y = randoms(200), out[3];
    k->dots(3, 61, x, 64, y, out);
    for (int m = 0; m < 3; m++) {
        double s = 0;
        for (int j = 0; j < 61; j++) s += (double)x[m * 64 + j] * (double)y[j];
        near((double)out[m], s, 1e-5);
    }
    float before = y[100];
    k->axpy(101, 0.5f, x, y);
    near((double)y[100], (double)before + 0.5 * (double)x[100], 1e-6);
    float sink = 0;
    assert_true(k->fma_burst(1, &sink) > 0);
    assert_true(isfinite(sink));
    free(x), free(y);
}

static void gemm_matches_plain_loops(void **state)
{
    (void)state;
    assert_true(with_each_table(check_gemm) >= 1);
    with_each_table(check_gemm_bf16);
    with_each_table(check_gemm_int8);
    with_each_table(check_gemm_tn_bf16);
    with_each_table(check_rows_alone);
    with_each_table(check_gemm_tn);
    with_each_table(check_vectors);
}

static void attention_matches_plain_loops(void **state)
{
    (void)state;
    with_each_table(check_attention);
}

static void norm_matches_plain_loops(void **state)
{
    (void)state;
    with_each_table(check_norm);
}

/* Scores far apart: probabilities 1 and 0, never NaN. */
static void softmax_survives_extremes(void **state)
{
    (void)state;
    const inv_kernels *table[INV_KERNELS_MOST];
    int tables = inv_kernels_list(table);
    for (int i = 0; i < tables; i++) {
        float q[16] = {1e4f}, k[3 * 16] = {0}, v[4 * 16] = {0}, o[16], scratch[1024];
        k[16] = 1e4f, k[32] = -1e4f;
        v[0] = 1, v[16] = 2, v[32] = 3;
        inv_attention a = {.heads = 1,
                           .m = 1,
                           .n = 3,
                           .dk = 1,
                           .dv = 1,
                           .scale = 1,
                           .q = q,
                           .k = k,
                           .v = v,
                           .o = o,
                           .ldq = 16,
                           .ldk = 16,
                           .ldv = 16,
                           .ldo = 16,
                           .scratch = scratch};
        table[i]->attend(&a);
        assert_true(o[0] == 2);
    }
}

static void adamw_takes_the_textbook_step(void **state)
{
    (void)state;
    inv_adamw o = {.lr = 0.01, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .weight_decay = 0.1};
    float param[2] = {1, -2}, m[2] = {0}, v[2] = {0};
    double p[2] = {1, -2}, dm[2] = {0}, dv[2] = {0};
    for (int t = 1; t <= 20; t++) {
        float grad[2] = {(float)sin(t), (float)t};
        for (int i = 0; i < 2; i++) {
            double g = 0.5 * (double)grad[i];
            dm[i] = 0.9 * dm[i] + 0.1 * g;
            dv[i] = 0.999 * dv[i] + 0.001 * g * g;
            p[i] -= 0.01 * 0.1 * p[i];
            p[i] -= 0.01 * (dm[i] / (1 - pow(0.9, t))) / (sqrt(dv[i] / (1 - pow(0.999, t))) + 1e-8);
        }
        inv_adamw_step(&o, t, 2, grad, 0.5f, m, v, param);
    }
    for (int i = 0; i < 2; i++) near((double)param[i], p[i], 1e-5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gemm_matches_plain_loops),      cmocka_unit_test(attention_matches_plain_loops),
        cmocka_unit_test(norm_matches_plain_loops),      cmocka_unit_test(softmax_survives_extremes),
        cmocka_unit_test(adamw_takes_the_textbook_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
