/* 256-bit vectors with FMA. */
#if defined(__x86_64__)
#define VECTOR_BYTES 32
#define TILE_ROWS    6 /* 12 of 16 registers accumulate */
#define KERNELS      inv_kernels_avx2
#define KERNELS_NAME "avx2"
#include "nn/kernels_impl.h"
#endif
