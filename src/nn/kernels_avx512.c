/* 512-bit vectors with FMA. */
#if defined(__x86_64__)
#define VECTOR_BYTES 64
#define TILE_ROWS    12 /* 12 of 32 registers accumulate, the row values come as broadcast operands */
#define KERNELS      inv_kernels_avx512
#define KERNELS_NAME "avx512"
#include "nn/kernels_impl.h"
#endif
