/* Little-endian integers of 1 to 8 bytes in files (protobuf, tensors), on any host. */
#ifndef OC_LITTLE_ENDIAN_H
#define OC_LITTLE_ENDIAN_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if (SIZE_MAX < UINT64_MAX && !defined(__EMSCRIPTEN__)) || !defined(__SIZEOF_INT128__)
#error "onnxcost needs a 64-bit platform: sizes of 64 bits and __int128"
#endif

static inline uint64_t oc_load_le(const uint8_t *p, size_t bytes)
{
    uint64_t v = 0;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    memcpy(&v, p, bytes);
#else
    for (size_t i = 0; i < bytes; i++)
        v |= (uint64_t)p[i] << (8 * i);
#endif
    return v;
}

static inline void oc_store_le(uint8_t *p, uint64_t v, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        p[i] = (uint8_t)(v >> (8 * i));
}

#endif
