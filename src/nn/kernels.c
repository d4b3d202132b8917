#include "nn/kernels.h"

#include "base/clock.h"
#include "base/parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void inv_pack(float *packed, const float *src, ptrdiff_t n, ptrdiff_t k, ptrdiff_t sn, ptrdiff_t sk)
{
    for (ptrdiff_t panel = 0; panel < n; panel += INV_PANEL)
        for (ptrdiff_t i = 0; i < k; i++)
            for (ptrdiff_t j = panel; j < panel + INV_PANEL; j++)
                *packed++ = j < n ? src[j * sn + i * sk] : 0.0f;
}

void inv_pack_bf16(uint16_t *packed, const float *src, ptrdiff_t n, ptrdiff_t k, ptrdiff_t sn, ptrdiff_t sk)
{
    for (ptrdiff_t panel = 0; panel < n; panel += INV_PANEL)
        for (ptrdiff_t i = 0; i < k + k % 2; i += 2)
            for (ptrdiff_t j = panel; j < panel + INV_PANEL; j++)
                for (ptrdiff_t l = i; l < i + 2; l++)
                    *packed++ = j < n && l < k ? inv_bf16(src[j * sn + l * sk]) : 0;
}

void inv_pack_int8(int8_t *packed, const float *src, ptrdiff_t n, ptrdiff_t k, ptrdiff_t sn, ptrdiff_t sk)
{
    for (ptrdiff_t panel = 0; panel < n; panel += INV_PANEL, packed += inv_int8_panel(k)) {
        memset(packed, 0, (size_t)inv_int8_panel(k));
        int8_t *end = packed + inv_int8_panel(k) - 8 * INV_PANEL;
        for (ptrdiff_t j = 0; j < INV_PANEL && panel + j < n; j++) {
            const float *column = src + (panel + j) * sn;
            float most = 0;
            for (ptrdiff_t i = 0; i < k; i++)
                if (!(fabsf(column[i * sk]) <= most)) most = fabsf(column[i * sk]);
            float unit = most / INV_INT8_MOST, finer = most > 0 ? INV_INT8_MOST / most : 0;
            int32_t extra = 0;
            for (ptrdiff_t i = 0; i < k; i++) {
                int8_t whole = (int8_t)lrintf(column[i * sk] * finer);
                packed[i / 4 * 4 * INV_PANEL + j * 4 + i % 4] = whole;
                extra += 128 * whole;
            }
            memcpy(end + 4 * j, &unit, sizeof unit);
            memcpy(end + 4 * INV_PANEL + 4 * j, &extra, sizeof extra);
        }
    }
}

int inv_kernels_list(const inv_kernels **list)
{
    int count = 0;
    list[count++] = &inv_kernels_portable;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        list[count++] = &inv_kernels_avx2;
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
            __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) {
            list[count++] = &inv_kernels_avx512;
            if (__builtin_cpu_supports("avx512vnni")) {
                list[count++] = &inv_kernels_avx512vnni;
                if (__builtin_cpu_supports("avx512bf16")) list[count++] = &inv_kernels_avx512bf16;
            }
        }
    }
#endif
    return count;
}

const inv_kernels *inv_kernels_best(void)
{
    const inv_kernels *list[INV_KERNELS_MOST];
    int count = inv_kernels_list(list);
    const char *wanted = getenv("INVIT_KERNELS");
    for (int i = 0; wanted && i < count; i++)
        if (strcmp(wanted, list[i]->name) == 0) return list[i];
    return list[count - 1];
}

typedef struct peak {
    const inv_kernels *kernels;
    double seconds;
    double *rate; /* [threads] */
} peak;

static void measure(void *context, int member)
{
    peak *p = context;
    float sink = 0;
    double flops = 0, start = inv_now(), now = start;
    do {
        flops += p->kernels->fma_burst(1000, &sink);
        now = inv_now();
    } while (now - start < p->seconds);
    p->rate[member] = flops / (now - start);
}

double inv_measure_peak(int threads, double seconds)
{
    peak p = {.kernels = inv_kernels_best(), .seconds = seconds};
    threads = threads < 1 ? 1 : threads;
    p.rate = calloc((size_t)threads, sizeof *p.rate);
    if (!p.rate) return 0;
    inv_parallel(threads, measure, &p);
    double sum = 0;
    for (int i = 0; i < threads; i++) sum += p.rate[i];
    free(p.rate);
    return sum / 1e9;
}
