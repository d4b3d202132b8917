/* Attention and layer norm, a part of kernels_impl.h. */

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
