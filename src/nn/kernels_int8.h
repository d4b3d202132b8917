/* Products in int8, a part of kernels_impl.h for CPUs with AVX-512 VNNI, which multiplies four pairs of them at once:
 * the same tiles, of a quarter as many steps. A row of A is quantised to whole numbers from 1 to 255 around 128, as
 * finely as its largest entry allows; sums are exact, and what the 128 adds to them is known beforehand. */
enum { INT8_ROWS = 4 * MR, INT8_STRIDE = INV_INT8_DEPTH + 64 };

/* Returns what one step of the row's numbers is worth. Past K there are up to 15 numbers that mean zero. */
INLINE float quantise_row(int K, const float *from, uint8_t *to)
{
    __mmask16 last = (__mmask16)(0xffff >> (15 - (K - 1) % VL));
    int end = (K - 1) / VL * VL;
    /* Without their signs the bits of floats are in order, and what is not a number comes last. */
    __m512i bits = _mm512_set1_epi32(INT32_MAX),
            top = _mm512_and_si512(bits, _mm512_castps_si512(_mm512_maskz_loadu_ps(last, from + end)));
    for (int k = 0; k < end; k += VL)
        top = _mm512_max_epi32(top, _mm512_and_si512(bits, _mm512_loadu_si512(from + k)));
    int32_t largest_bits = _mm512_reduce_max_epi32(top);
    float most;
    memcpy(&most, &largest_bits, sizeof most);
    __m512 finer = _mm512_set1_ps(most > 0 ? INV_INT8_MOST / most : 0);
    __m512i middle = _mm512_set1_epi32(128);
    for (int k = 0; k <= end; k += VL) {
        __m512 x = k < end ? _mm512_loadu_ps(from + k) : _mm512_maskz_loadu_ps(last, from + k);
        __m512i whole = _mm512_add_epi32(_mm512_cvtps_epi32(_mm512_mul_ps(x, finer)), middle);
        _mm_storeu_si128((__m128i *)(to + k), _mm512_cvtepi32_epi8(whole));
    }
    return most / INV_INT8_MOST;
}

/* sum + a * b, four int8 per lane, a unsigned and b signed. GCC 12 surrounds the intrinsic with copies. */
INLINE __m512i add_fours(__m512i sum, __m512i a, __m512i b)
{
    __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
    return sum;
}

/* R rows x one panel, which ends with its columns' units and with what 128 in every row of A adds. */
INLINE void int8_tile(const int R, int quads, const uint8_t *A, const float *unit, const int8_t *B, float *C,
                      ptrdiff_t ldc, int cols, const float *bias, inv_epilogue epilogue)
{
    __m512i sum[MR];
    vf c[MR][NV];
    UNROLL for (int r = 0; r < R; r++) sum[r] = _mm512_setzero_si512();
    for (int k = 0; k < quads; k++) {
        __m512i b = _mm512_loadu_si512(B);
        UNROLL for (int r = 0; r < R; r++)
        {
            int32_t a;
            memcpy(&a, A + r * INT8_STRIDE, sizeof a);
            sum[r] = add_fours(sum[r], _mm512_set1_epi32(a), b);
        }
        A += 4;
        B += 4 * INV_PANEL;
    }
    __m512 column = _mm512_loadu_ps(B);
    __m512i extra = _mm512_loadu_si512(B + 4 * INV_PANEL);
    UNROLL for (int r = 0; r < R; r++)
    {
        __m512 whole = _mm512_cvtepi32_ps(_mm512_sub_epi32(sum[r], extra));
        c[r][0] = (vf)_mm512_mul_ps(whole, _mm512_mul_ps(_mm512_set1_ps(unit[r]), column));
    }
    finish_tile(R, c, C, ldc, cols, bias, epilogue, NULL);
}

static void int8_tile_packed(int rows, int quads, const uint8_t *A, const float *unit, const int8_t *B,
                             float *C, ptrdiff_t ldc, int cols, const float *bias, inv_epilogue epilogue)
{
    TILE(int8_tile, rows, quads, A, unit, B, C, ldc, cols, bias, epilogue)
}

static void gemm_int8(int M, int N, int K, const float *A, ptrdiff_t lda, const int8_t *B, float *C,
                      ptrdiff_t ldc, const float *bias, inv_epilogue epilogue)
{
    _Alignas(64) uint8_t rounded[INT8_ROWS * INT8_STRIDE];
    float unit[INT8_ROWS];
    int quads = (K + 3) / 4;
    parts blocks = cut(M, INT8_ROWS);
    for (int b = 0; b < blocks.count; b++) {
        int rows = part_size(blocks, b);
        for (int r = 0; r < rows; r++) unit[r] = quantise_row(K, A + r * lda, rounded + r * INT8_STRIDE);
        parts tiles = cut(rows, MR);
        const int8_t *panel = B;
        for (int n = 0; n < N; n += INV_PANEL, panel += inv_int8_panel(K)) {
            int cols = N - n < INV_PANEL ? N - n : INV_PANEL;
            for (int t = 0, r = 0; t < tiles.count; t++) {
                int count = part_size(tiles, t);
                int8_tile_packed(count, quads, rounded + r * INT8_STRIDE, unit + r, panel, C + r * ldc + n,
                                 ldc, cols, bias ? bias + n : NULL, epilogue);
                r += count;
            }
        }
        A += rows * lda;
        C += rows * ldc;
    }
}
