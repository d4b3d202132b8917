/* FNV-1a, 64 bits: tells one model or instance from another in files that are kept. Not for anything an enemy may choose. */
#ifndef INVIT_BASE_HASH_H
#define INVIT_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define INV_HASH_START 0xcbf29ce484222325u

static inline uint64_t inv_hash_word(uint64_t hash, uint64_t word)
{
    return (hash ^ word) * 0x100000001b3u;
}

static inline uint64_t inv_hash_bytes(uint64_t hash, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < count; i++) hash = inv_hash_word(hash, at[i]);
    return hash;
}

#endif
