#include "wire_mutator.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/wire.h"

#define MAX_LEVEL 24

struct piece { /* a field with its tag, or the payload of one */
    const uint8_t *p;
    size_t n;
};

struct place { /* a field in its message */
    struct piece whole;
    struct oc_wire_field f;
};

struct mutation {
    uint64_t random;
    struct piece donor;
    fuzz_bytes_fn *bytes;
};

static uint64_t next(struct mutation *m)
{
    uint64_t z = m->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static size_t below(struct mutation *m, size_t n)
{
    return n ? (size_t)(next(m) % n) : 0;
}

/* How many fields, and the one with that index; 0: not a message. */
static size_t fields(struct piece message, size_t index, struct place *out)
{
    struct oc_wire w = oc_wire_of(message.p, message.n);
    struct oc_wire_field f;
    size_t n = 0;
    for (const uint8_t *start = w.p; oc_wire_next(&w, &f); start = w.p, n++) {
        if (f.num == 0 || f.num > 512)
            return 0;
        if (n == index)
            *out = (struct place){{start, (size_t)(w.p - start)}, f};
    }
    return w.bad ? 0 : n;
}

static bool pick(struct mutation *m, struct piece message, struct place *out)
{
    size_t n = fields(message, SIZE_MAX, out);
    return n && fields(message, below(m, n), out);
}

static void put_varint(struct oc_buf *b, uint64_t v)
{
    for (; v > 127; v >>= 7)
        oc_buf_char(b, (char)(v | 0x80));
    oc_buf_char(b, (char)v);
}

static void put_tag(struct oc_buf *b, const struct oc_wire_field *f)
{
    put_varint(b, (uint64_t)f->num << 3 | f->type);
}

/* A length different from the actual one: one in sixty-four. */
static uint64_t wrong_length(struct mutation *m, size_t n)
{
    const uint64_t lies[] = {0, n + 1, n ? n - 1 : 1, n * 2, INT32_MAX, UINT32_MAX, INT64_MAX, UINT64_MAX};
    return below(m, 64) ? n : lies[below(m, OC_COUNT(lies))];
}

static void put_len(struct mutation *m, struct oc_buf *b, const struct oc_wire_field *f, const void *data,
                    size_t n)
{
    put_tag(b, f);
    put_varint(b, wrong_length(m, n));
    if (n)
        oc_buf_add(b, data, n);
}

static uint64_t number(struct mutation *m, uint64_t v)
{
    static const int64_t telling[] = {0,
                                      1,
                                      2,
                                      3,
                                      -1,
                                      -2,
                                      7,
                                      8,
                                      16,
                                      17,
                                      127,
                                      128,
                                      255,
                                      1024,
                                      4096,
                                      INT32_MAX,
                                      INT32_MIN,
                                      INT64_MAX,
                                      INT64_MIN,
                                      1 << 20,
                                      INT64_C(1) << 40,
                                      INT64_C(1) << 62,
                                      64,
                                      65};
    switch (below(m, 6)) {
    case 0:
        return v + 1;
    case 1:
        return v - 1;
    case 2:
        return 0 - v;
    case 3:
        return v ^ UINT64_C(1) << below(m, 64);
    case 4:
        return below(m, 64);
    default:
        return (uint64_t)telling[below(m, OC_COUNT(telling))];
    }
}

/* One number of a packed field, if it can be one. */
static void put_packed(struct mutation *m, struct oc_buf *b, const struct oc_wire_field *f)
{
    struct oc_buf inner = {0};
    size_t n = oc_wire_count(f, 0);
    uint64_t *v = n && n <= 4096 ? calloc(n, sizeof(*v)) : NULL;
    if (v) {
        oc_wire_numbers(f, 0, v);
        size_t i = below(m, n);
        v[i] = number(m, v[i]);
        for (size_t k = 0; k < n; k++)
            put_varint(&inner, v[k]);
        free(v);
    }
    put_len(m, b, f, inner.data, inner.n);
    oc_buf_free(&inner);
}

static void put_bytes(struct mutation *m, struct oc_buf *b, const struct oc_wire_field *f)
{
    size_t cap = f->n + 16;
    uint8_t *copy = calloc(1, cap);
    if (!copy)
        abort();
    if (f->n)
        memcpy(copy, f->data, f->n);
    put_len(m, b, f, copy, m->bytes(copy, f->n, cap));
    free(copy);
}

static void put_changed(struct mutation *m, struct oc_buf *b, const struct oc_wire_field *f)
{
    uint64_t v = number(m, f->v);
    if (f->type == OC_WIRE_LEN) {
        if (below(m, 4))
            put_bytes(m, b, f);
        else
            put_packed(m, b, f);
        return;
    }
    put_tag(b, f);
    if (f->type == OC_WIRE_VARINT)
        put_varint(b, v);
    else
        oc_buf_add(b, &v, f->type == OC_WIRE_I64 ? 8 : 4);
}

/* A field from anywhere in a message. */
static struct piece random_field(struct mutation *m, struct piece message)
{
    struct place at = {0};
    for (int level = 0; level < MAX_LEVEL && pick(m, message, &at); level++) {
        if (at.f.type != OC_WIRE_LEN || below(m, 4) == 0)
            break;
        message = (struct piece){at.f.data, at.f.n};
    }
    return at.whole;
}

static void put_new(struct mutation *m, struct oc_buf *b)
{
    static const uint8_t type[] = {OC_WIRE_VARINT, OC_WIRE_LEN, OC_WIRE_I64, OC_WIRE_I32};
    const struct oc_wire_field f = {.num = 1 + (uint32_t)below(m, 30),
                                    .type = type[below(m, OC_COUNT(type))]};
    put_changed(m, b, &f);
}

static void put_piece(struct oc_buf *b, struct piece p)
{
    if (p.n)
        oc_buf_add(b, p.p, p.n);
}

/* Something instead of the field. */
static void put_other(struct mutation *m, struct oc_buf *b, struct piece message, const struct place *at)
{
    struct place other = *at;
    struct piece from = m->donor.n ? random_field(m, m->donor) : (struct piece){0};
    switch (below(m, m->donor.n ? 12 : 8)) {
    case 0: /* omitted */
        break;
    case 1:
        put_piece(b, at->whole);
        put_piece(b, at->whole);
        break;
    case 2: /* the content of another field under this field's number */
        pick(m, message, &other);
        other.f.num = at->f.num;
        if (other.f.type == OC_WIRE_LEN)
            put_len(m, b, &other.f, other.f.data, other.f.n);
        else
            put_changed(m, b, &other.f);
        break;
    case 3: /* another field duplicated before this one */
        pick(m, message, &other);
        put_piece(b, other.whole);
        put_piece(b, at->whole);
        break;
    case 4:
        put_new(m, b);
        put_piece(b, at->whole);
        break;
    case 5: /* an input, an output, a name that is absent */
        if (at->f.type == OC_WIRE_LEN)
            put_len(m, b, &at->f, (const uint8_t *)"", 0);
        else
            put_changed(m, b, &at->f);
        break;
    case 8:
    case 9:
        put_piece(b, from);
        break;
    case 10:
    case 11:
        put_piece(b, from);
        put_piece(b, at->whole);
        break;
    default:
        put_changed(m, b, &at->f);
    }
}

/* The message with one change somewhere in it; false: not a message. */
static bool rewrite(struct mutation *m, struct oc_buf *b, struct piece message, int level)
{
    struct place at;
    if (level >= MAX_LEVEL || !pick(m, message, &at))
        return false;
    const uint8_t *after = at.whole.p + at.whole.n;
    struct oc_buf inner = {0};
    put_piece(b, (struct piece){message.p, (size_t)(at.whole.p - message.p)});
    if (at.f.type == OC_WIRE_LEN && below(m, 8) &&
        rewrite(m, &inner, (struct piece){at.f.data, at.f.n}, level + 1))
        put_len(m, b, &at.f, inner.data, inner.n);
    else
        put_other(m, b, message, &at);
    oc_buf_free(&inner);
    put_piece(b, (struct piece){after, (size_t)(message.p + message.n - after)});
    return true;
}

size_t fuzz_wire_mutate(uint8_t *data, size_t n, size_t cap, uint64_t seed, const uint8_t *donor,
                        size_t n_donor, fuzz_bytes_fn *bytes)
{
    struct mutation m = {.random = seed, .donor = {donor, n_donor}, .bytes = bytes};
    struct oc_buf b = {0};
    if (below(&m, 32) == 0 || !rewrite(&m, &b, (struct piece){data, n}, 0) || b.n > cap) {
        n = bytes(data, n, cap);
    } else {
        n = b.n;
        if (n)
            memcpy(data, b.data, n);
    }
    oc_buf_free(&b);
    return n;
}
