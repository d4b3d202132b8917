/* 512-bit vectors with FMA and products of bf16 (AVX-512 BF16) and int8 (AVX-512 VNNI). */
#if defined(__x86_64__)
#define VECTOR_BYTES 64
#define TILE_ROWS    12
#define BF16
#define INT8
#define KERNELS      inv_kernels_avx512bf16
#define KERNELS_NAME "avx512bf16"
#include "nn/kernels_impl.h"
#endif
