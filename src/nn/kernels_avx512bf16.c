/* 512-bit vectors with FMA and products of bfloat16 and of bytes. */
#if defined(__x86_64__)
#define VECTOR_BYTES 64
#define TILE_ROWS    12
#define BRIEF
#define BYTES
#define KERNELS      inv_kernels_avx512bf16
#define KERNELS_NAME "avx512bf16"
#include "nn/kernels_impl.h"
#endif
