/* Protobuf wire format: a cursor over the fields of one message, and fields that are appended to a message.
 * Lengths are checked against the message, so a field's bytes are always inside the buffer; nothing is copied. */
#ifndef OC_WIRE_H
#define OC_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/os.h"

struct oc_wire {
    const uint8_t *p, *end;
    const uint8_t *bad; /* offset of the first damaged field */
    const char *why;    /* description of the damage */
};

enum oc_wire_type { OC_WIRE_VARINT = 0, OC_WIRE_I64 = 1, OC_WIRE_LEN = 2, OC_WIRE_I32 = 5 };

struct oc_wire_field {
    uint32_t num;
    uint8_t type;        /* enum oc_wire_type */
    uint64_t v;          /* VARINT, I64, I32: the bits */
    const uint8_t *data; /* LEN */
    size_t n;
};

/* Fields of at most this size can be accessed after oc_wire_next in a file that is read on demand; for longer
 * ones call oc_os_need. */
#define OC_WIRE_READY_BYTES ((size_t)1 << 15)

struct oc_wire oc_wire_of(const uint8_t *data, size_t n);
/* Reads on to the end. Whether there is a field that is longer than the rest of the message. */
bool oc_wire_is_cut(struct oc_wire *w);

/* Reads the next field. False at the end or on damage (then w->bad is set). Inlined for the common case: key
 * below 128 and value or length of one byte. */
bool oc_wire_next_any(struct oc_wire *w, struct oc_wire_field *f);

static inline bool oc_wire_next(struct oc_wire *w, struct oc_wire_field *f)
{
    const uint8_t *p = w->p;
    if (p >= w->end)
        return false;
    size_t left = (size_t)(w->end - p);
    oc_os_need(p, left < OC_WIRE_READY_BYTES ? left : OC_WIRE_READY_BYTES);
    if (left < 2 || p[0] < 8 || ((p[0] | p[1]) & 0x80) != 0)
        return oc_wire_next_any(w, f);
    uint8_t type = p[0] & 7;
    bool bytes = type == OC_WIRE_LEN;
    if (bytes ? p[1] > left - 2 : type != OC_WIRE_VARINT)
        return oc_wire_next_any(w, f);
    *f = (struct oc_wire_field){.num = p[0] >> 3,
                                .type = type,
                                .v = bytes ? 0 : p[1],
                                .data = bytes ? p + 2 : NULL,
                                .n = bytes ? p[1] : 0};
    w->p = p + 2 + f->n;
    return true;
}

/* Counts the elements of a repeated number, packed or not: call for each field of that number. SIZE_MAX if
 * the length is not a whole number of elements. width: bytes (4, 8), 0: varints. */
size_t oc_wire_count(const struct oc_wire_field *f, unsigned width);

/* Decodes the elements into out (room for oc_wire_count). Varints and fixed-width values are stored as 64
 * bits. */
void oc_wire_numbers(const struct oc_wire_field *f, unsigned width, uint64_t *out);

/* ---- writing ------------------------------------------------------------------------------------------ */

/* The key and the length of a field of bytes; returns how many of the bytes are used. */
size_t oc_wire_put_head(uint8_t out[20], uint32_t field, uint64_t length);
/* Append a whole field. */
void oc_wire_add_bytes(struct oc_buf *b, uint32_t field, const void *data, size_t n);
void oc_wire_add_text(struct oc_buf *b, uint32_t field, const char *s);
void oc_wire_add_int(struct oc_buf *b, uint32_t field, uint64_t v);

/* ---- little endian ------------------------------------------------------------------------------------ */

/* Little-endian integers of 1 to 8 bytes in files (protobuf, tensors), on any host. */

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
