/* 512-bit vectors with FMA and products of int8 (AVX-512 VNNI). */
#if defined(__x86_64__)
#define VECTOR_BYTES 64
#define TILE_ROWS    12
#define INT8
#define KERNELS      inv_kernels_avx512vnni
#define KERNELS_NAME "avx512vnni"
#include "nn/kernels_impl.h"
#endif
