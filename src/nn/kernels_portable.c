/* 128-bit vectors: every x86-64, and NEON. */
#define VECTOR_BYTES 16
#if defined(__aarch64__)
#define TILE_ROWS 6 /* 24 of 32 registers accumulate */
#else
#define TILE_ROWS 3 /* 12 of 16 */
#endif
#define KERNELS      inv_kernels_portable
#define KERNELS_NAME "portable"
#include "nn/kernels_impl.h"
