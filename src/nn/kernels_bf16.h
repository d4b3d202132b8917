/* Products of bf16, a part of kernels_impl.h for machines that multiply pairs of them: the same tiles, of
 * half as many steps. What comes as floats is rounded first, into a block that stays in the cache. */
enum { BF16_ROWS = 4 * MR, BF16_STRIDE = INV_BF16_DEPTH + 32 };

/* A row rounded to bf16; an odd one ends with a zero. */
INLINE void round_row(int K, const float *from, uint16_t *to)
{
    int k = 0;
    for (; k + 2 * VL <= K; k += 2 * VL) {
        __m512bh both = _mm512_cvtne2ps_pbh((__m512)load(from + k + VL), (__m512)load(from + k));
        memcpy(to + k, &both, sizeof both);
    }
    for (; k < K; k++) to[k] = inv_bf16(from[k]);
    if (K % 2) to[K] = 0;
}

/* R rows x one panel, two products of bf16 a lane and step, summed in single precision: over k of the
 * pairs A[r * rs + k * ks] and B[k * bs + 0..15], in bfloat16s. */
INLINE void bf16_tile(const int R, int pairs, const uint16_t *A, ptrdiff_t rs, ptrdiff_t ks,
                      const uint16_t *B, ptrdiff_t bs, float *C, ptrdiff_t ldc, int cols, const float *bias,
                      inv_epilogue epilogue, const float *mask)
{
    vf c[MR][NV];
    UNROLL for (int r = 0; r < R; r++) c[r][0] = splat(0.0f);
    if (epilogue == INV_ADD) { /* as in tile */
        UNROLL for (int r = 0; r < R; r++) __builtin_prefetch(C + r * ldc, 1);
    }
    for (int k = 0; k < pairs; k++) {
        __m512bh b = (__m512bh)_mm512_loadu_si512(B);
        UNROLL for (int r = 0; r < R; r++)
        {
            int32_t a;
            memcpy(&a, A + r * rs, sizeof a);
            c[r][0] = (vf)_mm512_dpbf16_ps((__m512)c[r][0], b, (__m512bh)_mm512_set1_epi32(a));
        }
        A += ks;
        B += bs;
    }
    finish_tile(R, c, C, ldc, cols, bias, epilogue, mask);
}

static void bf16_tile_packed(int rows, int pairs, const uint16_t *A, const uint16_t *B, float *C,
                             ptrdiff_t ldc, int cols, const float *bias, inv_epilogue epilogue,
                             const float *mask)
{
    TILE(bf16_tile, rows, pairs, A, BF16_STRIDE, 2, B, 2 * INV_PANEL, C, ldc, cols, bias, epilogue, mask)
}

static void gemm_bf16(int M, int N, int K, const float *A, ptrdiff_t lda, const uint16_t *B, float *C,
                      ptrdiff_t ldc, const float *bias, inv_epilogue epilogue, const float *mask)
{
    _Alignas(64) uint16_t rounded[BF16_ROWS * BF16_STRIDE];
    int pairs = (K + 1) / 2;
    parts blocks = cut(M, BF16_ROWS);
    for (int b = 0; b < blocks.count; b++) {
        int rows = part_size(blocks, b);
        for (int r = 0; r < rows; r++) round_row(K, A + r * lda, rounded + r * BF16_STRIDE);
        parts tiles = cut(rows, MR);
        for (int n = 0; n < N; n += INV_PANEL) {
            const uint16_t *panel = B + (ptrdiff_t)n * 2 * pairs, *a = rounded;
            const float *shift = bias ? bias + n : NULL;
            const float *keep_where = mask ? mask + n : NULL;
            float *c = C + n;
            int cols = N - n < INV_PANEL ? N - n : INV_PANEL;
            for (int t = 0; t < tiles.count; t++) {
                int count = part_size(tiles, t);
                bf16_tile_packed(count, pairs, a, panel, c, ldc, cols, shift, epilogue, keep_where);
                a += count * BF16_STRIDE;
                c += count * ldc;
                if (mask) keep_where += count * ldc;
            }
        }
        A += rows * lda;
        C += rows * ldc;
        if (mask) mask += rows * ldc;
    }
}

/* Rows two by two, their columns side by side: to[pair * BF16_PAIRS + 2 j] and the one after it. */
enum { BF16_DEPTH = 96, BF16_PAIRS = 2 * INV_BF16_DEPTH + 32 };

static void pair_rows(int M, int width, const float *X, ptrdiff_t ldx, uint16_t *to)
{
    for (int m = 0; m < M; m += 2, X += 2 * ldx, to += BF16_PAIRS)
        for (int j = 0; j < width; j += VL) {
            __m512 next = m + 1 < M ? (__m512)load(X + ldx + j) : (__m512)splat(0.0f);
            __m512i a = _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh((__m512)load(X + j)));
            __m512i b = _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(next));
            _mm512_storeu_si512(to + 2 * j, _mm512_or_si512(a, _mm512_slli_epi32(b, 16)));
        }
}

static void bf16_tile_paired(int rows, int pairs, const uint16_t *A, const uint16_t *B, float *C,
                             ptrdiff_t ldc, int cols)
{
    TILE(bf16_tile, rows, pairs, A, 2, BF16_PAIRS, B, BF16_PAIRS, C, ldc, cols, NULL, INV_ADD, NULL)
}

static void gemm_tn_bf16(int M, int N, int K, const float *Y, ptrdiff_t ldy, const float *X, ptrdiff_t ldx,
                         float *W, ptrdiff_t ldw)
{
    _Alignas(64) uint16_t x[BF16_DEPTH / 2 * BF16_PAIRS], y[BF16_DEPTH / 2 * BF16_PAIRS];
    parts tiles = cut(N, MR);
    for (int m = 0; m < M; m += BF16_DEPTH) {
        int depth = M - m < BF16_DEPTH ? M - m : BF16_DEPTH, pairs = (depth + 1) / 2;
        pair_rows(depth, K, X + m * ldx, ldx, x);
        pair_rows(depth, N, Y + m * ldy, ldy, y);
        for (int j = 0; j < K; j += INV_PANEL) {
            int cols = K - j < INV_PANEL ? K - j : INV_PANEL;
            for (int t = 0, n = 0; t < tiles.count; t++) {
                int count = part_size(tiles, t);
                bf16_tile_paired(count, pairs, y + 2 * n, x + 2 * j, W + n * ldw + j, ldw, cols);
                n += count;
            }
        }
    }
}
