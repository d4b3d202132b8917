/* matrix [LIBRARY.so...]: GFLOPS of the matrix kernels on the network's shapes, on one core, beside those of
 * any shared libraries that have cblas_sgemm (OpenBLAS, BLIS) or dnnl_sgemm (oneDNN). Each number is the best
 * of several short runs, in processor time, so that other load disturbs little. Libraries should be told to
 * use one thread. */
#include "nn/kernels.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RUNS = 16, MOST = 8 };

typedef void (*cblas_fn)(int, int, int, int, int, int, float, const float *, int, const float *, int, float,
                         float *, int);
typedef int (*dnnl_fn)(char, char, int64_t, int64_t, int64_t, float, const float *, int64_t, const float *,
                       int64_t, float, float *, int64_t);

typedef struct library {
    const char *name;
    cblas_fn cblas;
    dnnl_fn dnnl;
} library;

static double cpu_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static float *numbers(ptrdiff_t count)
{
    float *p = aligned_alloc(64, ((size_t)count * sizeof *p + 127) / 64 * 64);
    if (!p) exit(2);
    for (ptrdiff_t i = 0; i < count; i++) p[i] = 0.01f * (float)(i % 7 - 3);
    return p;
}

/* C[M][N] = A[M][K] B[K][N]; number 0 is our own. Returns GFLOPS of the best run. */
static double measure(const library *lib, const inv_kernels *k, int M, int N, int K)
{
    ptrdiff_t lda = inv_stride(K), ldc = inv_stride(N);
    float *A = numbers(M * lda), *B = numbers((ptrdiff_t)N * K),
          *packed = numbers((ptrdiff_t)inv_packed_size(N, K));
    float *C = numbers(M * ldc);
    double flops = 2.0 * M * N * K, best = 0;
    int times = (int)(2e7 / flops) + 1;
    inv_pack(packed, B, N, K, 1, N);
    for (int r = 0; r < RUNS; r++) {
        double start = cpu_now();
        for (int i = 0; i < times; i++) {
            if (!lib)
                k->gemm(M, N, K, A, lda, packed, C, ldc, NULL, INV_STORE, NULL);
            else if (lib->cblas)
                lib->cblas(101, 111, 111, M, N, K, 1.0f, A, (int)lda, B, N, 0.0f, C,
                           (int)ldc); /* row-major */
            else
                lib->dnnl('N', 'N', M, N, K, 1.0f, A, lda, B, N, 0.0f, C, ldc);
        }
        double rate = flops * times / (cpu_now() - start) / 1e9;
        best = rate > best ? rate : best;
    }
    free(A), free(B), free(packed), free(C);
    return best;
}

static double peak(const inv_kernels *k)
{
    double best = 0;
    float sink = 0;
    for (int r = 0; r < RUNS; r++) {
        double start = cpu_now(), flops = k->fma_burst(500, &sink), rate = flops / (cpu_now() - start) / 1e9;
        best = rate > best ? rate : best;
    }
    return best;
}

int main(int argc, char **argv)
{
    static const int shapes[][3] = {{592, 512, 128}, {592, 128, 512}, {592, 128, 128},
                                    {37, 512, 128},  {37, 128, 512},  {37, 128, 128}};
    library libs[MOST];
    int count = 0;
    for (int i = 1; i < argc && count < MOST; i++) {
        void *handle = dlopen(argv[i], RTLD_LAZY | RTLD_LOCAL);
        if (!handle) {
            fprintf(stderr, "matrix: %s\n", dlerror());
            return 2;
        }
        const char *slash = strrchr(argv[i], '/');
        library *l = &libs[count++];
        l->name = slash ? slash + 1 : argv[i];
        *(void **)&l->cblas = dlsym(handle, "cblas_sgemm");
        *(void **)&l->dnnl = dlsym(handle, "dnnl_sgemm");
        if (!l->cblas && !l->dnnl) {
            fprintf(stderr, "matrix: %s has neither cblas_sgemm nor dnnl_sgemm\n", argv[i]);
            return 2;
        }
    }
    const inv_kernels *k = inv_kernels_best();
    double top = peak(k);
    printf("FP32 multiply-add peak of one core (%s): %.1f GFLOPS\n%-18s %14s", k->name, top, "rows x K x N",
           "own");
    for (int l = 0; l < count; l++) printf(" %20.20s", libs[l].name);
    printf("\n");
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        int M = shapes[s][0], N = shapes[s][1], K = shapes[s][2];
        char shape[32];
        snprintf(shape, sizeof shape, "%d x %d x %d", M, K, N);
        double own = measure(NULL, k, M, N, K);
        printf("%-18s %7.1f (%3.0f%%)", shape, own, 100 * own / top);
        for (int l = 0; l < count; l++) {
            double rate = measure(&libs[l], k, M, N, K);
            printf(" %13.1f (%3.0f%%)", rate, 100 * rate / top);
        }
        printf("\n");
    }
    return 0;
}
