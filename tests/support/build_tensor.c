/* Tensor texts: int64[2]{1,2}. */
#include <string.h>

#include "support/build_text.h"

typedef Onnx__TensorProto tensor_msg;

enum form { NUM_INT, NUM_F32, NUM_F64, NUM_F16, NUM_BF16, NUM_STRING };
static const struct layout {
    uint8_t bits, form, parts;
    bool is_signed;
} layouts[] = {
    [1] = {32, NUM_F32, 1, 0},   [2] = {8, NUM_INT, 1, 0},    [3] = {8, NUM_INT, 1, 1},
    [4] = {16, NUM_INT, 1, 0},   [5] = {16, NUM_INT, 1, 1},   [6] = {32, NUM_INT, 1, 1},
    [7] = {64, NUM_INT, 1, 1},   [8] = {0, NUM_STRING, 1, 0}, [9] = {8, NUM_INT, 1, 0},
    [10] = {16, NUM_F16, 1, 0},  [11] = {64, NUM_F64, 1, 0},  [12] = {32, NUM_INT, 1, 0},
    [13] = {64, NUM_INT, 1, 0},  [14] = {32, NUM_F32, 2, 0},  [15] = {64, NUM_F64, 2, 0},
    [16] = {16, NUM_BF16, 1, 0}, [17] = {8, NUM_INT, 1, 0},   [18] = {8, NUM_INT, 1, 0},
    [19] = {8, NUM_INT, 1, 0},   [20] = {8, NUM_INT, 1, 0},   [21] = {4, NUM_INT, 1, 0},
    [22] = {4, NUM_INT, 1, 1},   [23] = {4, NUM_INT, 1, 0},   [24] = {8, NUM_INT, 1, 0},
    [25] = {2, NUM_INT, 1, 0},   [26] = {2, NUM_INT, 1, 1},
};

static uint64_t float_bits(double v)
{
    float f = (float)v;
    uint32_t u;
    memcpy(&u, &f, sizeof(u));
    return u;
}

/* Rounds a significand of `drop` extra bits to nearest, ties to even. */
static uint32_t round_bits(uint32_t v, unsigned drop)
{
    uint32_t half = 1u << (drop - 1);
    return (v + half - 1 + ((v >> drop) & 1)) >> drop;
}

static uint64_t half_bits(double v)
{
    uint32_t u = (uint32_t)float_bits(v), sign = (u >> 16) & 0x8000u, mag = u & 0x7fffffffu;
    if (mag > 0x7f800000u)
        return sign | 0x7e00u;
    if (mag >= 0x477ff000u)
        return sign | 0x7c00u;
    if (mag < 0x33000001u)
        return sign;
    if (mag >= 0x38800000u)
        return sign | round_bits(mag - 0x38000000u, 13);
    uint32_t exponent = mag >> 23;
    return sign | round_bits((mag & 0x7fffffu) | 0x800000u, 126 - exponent);
}

static uint64_t bfloat_bits(double v)
{
    uint32_t u = (uint32_t)float_bits(v);
    return v != v ? 0x7fc0u : round_bits(u, 16);
}

static uint64_t element_bits(struct oc_bt_cur *c, unsigned form, struct oc_bt_span s)
{
    uint64_t u;
    double v;
    switch (form) {
    case NUM_INT:
        return (uint64_t)oc_bt_int_of(c, s);
    case NUM_F64:
        v = oc_bt_double_of(c, s);
        memcpy(&u, &v, sizeof(u));
        return u;
    case NUM_F16:
        return half_bits(oc_bt_double_of(c, s));
    case NUM_BF16:
        return bfloat_bits(oc_bt_double_of(c, s));
    default:
        return float_bits(oc_bt_double_of(c, s));
    }
}

static void put_bits(uint8_t *data, uint64_t index, unsigned bits, uint64_t v)
{
    if (bits < 8) {
        uint64_t at = index * bits;
        data[at / 8] |= (uint8_t)((v & ((1u << bits) - 1)) << (at % 8));
        return;
    }
    for (unsigned i = 0; i < bits / 8; i++)
        data[index * (bits / 8) + i] = (uint8_t)(v >> (8 * i));
}

static uint64_t get_bits(const uint8_t *data, uint64_t index, unsigned bytes)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < bytes; i++)
        v |= (uint64_t)data[index * bytes + i] << (8 * i);
    return v;
}

static void string_elements(struct oc_bt_cur *c, tensor_msg *t, uint64_t n)
{
    while (!oc_bt_take(c, '}')) {
        if (t->n_string_data)
            oc_bt_must(c, ',');
        oc_bt_blanks(c);
        OC_BT_APPEND_VALUE(c->a, t, string_data, oc_bt_bytes_of(c, oc_bt_quoted(c)));
    }
    if (t->n_string_data != n)
        oc_bt_bug("number of elements differs from the shape", c->text);
}

static void raw_elements(struct oc_bt_cur *c, tensor_msg *t, const struct layout *l, uint64_t n)
{
    t->has_raw_data = 1;
    t->raw_data.len = (size_t)((n * l->bits + 7) / 8);
    t->raw_data.data = oc_alloc(c->a, t->raw_data.len ? t->raw_data.len : 1);
    if (oc_bt_take(c, '*')) {
        uint64_t v = element_bits(c, l->form, oc_bt_until(c, "}"));
        for (uint64_t i = 0; i < n; i++)
            put_bits(t->raw_data.data, i, l->bits, v);
        oc_bt_must(c, '}');
        return;
    }
    uint64_t got = 0;
    for (; !oc_bt_take(c, '}'); got++) {
        if (got)
            oc_bt_must(c, ',');
        uint64_t v = element_bits(c, l->form, oc_bt_until(c, ",}"));
        if (got < n)
            put_bits(t->raw_data.data, got, l->bits, v);
    }
    if (got != n)
        oc_bt_bug("number of elements differs from the shape", c->text);
}

static int32_t narrow(uint64_t v, const struct layout *l)
{
    if (l->is_signed && l->bits >= 8 && l->bits < 64 && (v >> (l->bits - 1)) & 1)
        v |= ~(uint64_t)0 << l->bits;
    return (int32_t)v;
}

static void to_fields(struct oc_bt_cur *c, tensor_msg *t, const struct layout *l)
{
    unsigned bytes = l->bits < 8 ? 1 : l->bits / 8u;
    for (size_t i = 0; i < t->raw_data.len / bytes; i++) {
        uint64_t v = get_bits(t->raw_data.data, i, bytes);
        float f;
        double d;
        if (l->form == NUM_F32) {
            memcpy(&f, &(uint32_t){(uint32_t)v}, sizeof(f));
            OC_BT_APPEND_VALUE(c->a, t, float_data, f);
        } else if (l->form == NUM_F64) {
            memcpy(&d, &v, sizeof(d));
            OC_BT_APPEND_VALUE(c->a, t, double_data, d);
        } else if (l->bits == 64 && l->is_signed) {
            OC_BT_APPEND_VALUE(c->a, t, int64_data, (int64_t)v);
        } else if (l->bits >= 32 && !l->is_signed) {
            OC_BT_APPEND_VALUE(c->a, t, uint64_data, v);
        } else {
            OC_BT_APPEND_VALUE(c->a, t, int32_data, narrow(v, l));
        }
    }
    t->has_raw_data = 0;
    t->raw_data = (ProtobufCBinaryData){0, NULL};
}

tensor_msg *oc_bt_read_tensor(struct oc_bt_cur *c, bool fields)
{
    tensor_msg *t = oc_bt_new(c->a, &onnx__tensor_proto__descriptor);
    t->has_data_type = 1;
    t->data_type = oc_bt_dtype_of(c, oc_bt_word(c));
    const struct layout *l = &layouts[t->data_type];
    const Onnx__TensorShapeProto *s = oc_bt_read_shape(c);
    uint64_t n = l->parts;
    for (size_t i = 0; s && i < s->n_dim; i++) {
        if (!s->dim[i]->has_dim_value)
            oc_bt_bug("a tensor needs numbers as dimensions", c->text);
        OC_BT_APPEND_VALUE(c->a, t, dims, s->dim[i]->dim_value);
        n *= (uint64_t)s->dim[i]->dim_value;
    }
    if (!oc_bt_take(c, '{'))
        return t;
    if (l->form == NUM_STRING) {
        string_elements(c, t, n);
        return t;
    }
    raw_elements(c, t, l, n);
    if (fields)
        to_fields(c, t, l);
    return t;
}

tensor_msg *oc_bt_tensor(struct oc_arena *a, const char *text, bool fields)
{
    struct oc_bt_cur c = {a, text, text};
    tensor_msg *t = oc_bt_read_tensor(&c, fields);
    oc_bt_at_end(&c);
    return t;
}
