/* 512-bit vectors with FMA and products of bytes. */
#if defined(__x86_64__)
#define VECTOR_BYTES 64
#define TILE_ROWS    12
#define BYTES
#define KERNELS      inv_kernels_avx512vnni
#define KERNELS_NAME "avx512vnni"
#include "nn/kernels_impl.h"
#endif
