/* The protobuf wire format. */
#include "base/wire.h"

struct oc_wire oc_wire_of(const uint8_t *data, size_t n)
{
    return (struct oc_wire){.p = data, .end = data ? data + n : data};
}

static bool wire_damaged(struct oc_wire *w, const uint8_t *at, const char *why)
{
    w->bad = at;
    w->why = why;
    w->p = w->end;
    return false;
}

/* Reads a varint of at most 10 bytes; returns the byte after it, or NULL. */
static const uint8_t *varint(const uint8_t *p, const uint8_t *end, uint64_t *out)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 64 && p < end; shift += 7) {
        uint8_t b = *p++;
        v |= (uint64_t)(b & 0x7f) << shift;
        if (!(b & 0x80)) {
            *out = v;
            return p;
        }
    }
    return NULL;
}

static bool wire_fixed(struct oc_wire *w, struct oc_wire_field *f, const uint8_t *at, size_t width)
{
    if ((size_t)(w->end - w->p) < width)
        return wire_damaged(w, at, "the message ends inside a field");
    f->v = oc_load_le(w->p, width);
    w->p += width;
    return true;
}

static const char longer[] = "a field is longer than the rest of its message";

static bool wire_length(struct oc_wire *w, struct oc_wire_field *f, const uint8_t *at)
{
    uint64_t n;
    const uint8_t *p = varint(w->p, w->end, &n);
    if (!p)
        return wire_damaged(w, at, "the length of a field is damaged");
    if (n > (uint64_t)(w->end - p))
        return wire_damaged(w, at, longer);
    f->data = p;
    f->n = (size_t)n;
    w->p = p + n;
    return true;
}

bool oc_wire_next_any(struct oc_wire *w, struct oc_wire_field *f)
{
    if (w->p >= w->end)
        return false;
    const uint8_t *at = w->p;
    uint64_t key;
    const uint8_t *p = varint(w->p, w->end, &key);
    if (!p || key >> 3 == 0 || key >> 3 > 0x1fffffff)
        return wire_damaged(w, at, "not a protobuf field");
    w->p = p;
    *f = (struct oc_wire_field){.num = (uint32_t)(key >> 3), .type = (uint8_t)(key & 7)};
    switch (f->type) {
    case OC_WIRE_VARINT:
        w->p = varint(p, w->end, &f->v);
        if (!w->p)
            return wire_damaged(w, at, "the message ends inside a number");
        return true;
    case OC_WIRE_I64:
        return wire_fixed(w, f, at, 8);
    case OC_WIRE_I32:
        return wire_fixed(w, f, at, 4);
    case OC_WIRE_LEN:
        return wire_length(w, f, at);
    default:
        return wire_damaged(w, at, "not a protobuf field");
    }
}

size_t oc_wire_count(const struct oc_wire_field *f, unsigned width)
{
    if (f->type != OC_WIRE_LEN)
        return 1;
    if (width)
        return f->n % width ? SIZE_MAX : f->n / width;
    oc_os_need(f->data, f->n);
    size_t n = 0;
    for (size_t i = 0; i < f->n; i++)
        n += !(f->data[i] & 0x80);
    return f->n && (f->data[f->n - 1] & 0x80) ? SIZE_MAX : n;
}

void oc_wire_numbers(const struct oc_wire_field *f, unsigned width, uint64_t *out)
{
    if (f->type != OC_WIRE_LEN) {
        out[0] = f->v;
        return;
    }
    const uint8_t *p = f->data, *end = f->data + f->n;
    oc_os_need(p, f->n);
    for (size_t i = 0; p && p < end; i++) {
        out[i] = 0;
        if (width) {
            out[i] = oc_load_le(p, width);
            p += width;
            continue;
        }
        /* A varint of more than 10 bytes is damaged; its terminator was counted, so advance over it. */
        const uint8_t *next = varint(p, end, &out[i]);
        while (!next && p < end)
            if (!(*p++ & 0x80))
                next = p;
        p = next;
    }
}

bool oc_wire_is_cut(struct oc_wire *w)
{
    struct oc_wire_field f;
    while (oc_wire_next(w, &f))
        continue;
    return w->why == longer;
}

/* ---- writing ------------------------------------------------------------------------------------------ */

static size_t put_varint(uint8_t *out, uint64_t v)
{
    size_t n = 0;
    for (; v > 127; v >>= 7)
        out[n++] = (uint8_t)(v | 128);
    out[n++] = (uint8_t)v;
    return n;
}

size_t oc_wire_put_head(uint8_t out[20], uint32_t field, uint64_t length)
{
    size_t n = put_varint(out, (uint64_t)field << 3 | OC_WIRE_LEN);
    return n + put_varint(out + n, length);
}

void oc_wire_add_bytes(struct oc_buf *b, uint32_t field, const void *data, size_t n)
{
    uint8_t head[20];
    oc_buf_add(b, head, oc_wire_put_head(head, field, n));
    oc_buf_add(b, data, n);
}

void oc_wire_add_text(struct oc_buf *b, uint32_t field, const char *s)
{
    oc_wire_add_bytes(b, field, s, strlen(s));
}

void oc_wire_add_int(struct oc_buf *b, uint32_t field, uint64_t v)
{
    uint8_t out[20];
    size_t n = put_varint(out, (uint64_t)field << 3 | OC_WIRE_VARINT);
    oc_buf_add(b, out, n + put_varint(out + n, v));
}
