#include "support/build_text.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef Onnx__TypeProto type_msg;
typedef Onnx__TensorProto tensor_msg;
typedef Onnx__AttributeProto attr_msg;

/* A reading position; `text` is kept for messages. */
struct cur {
    struct oc_arena *a;
    const char *p, *text;
};

struct span {
    const char *s;
    size_t n;
};

void oc_bt_bug(const char *what, const char *text)
{
    fprintf(stderr, "builder: %s: \"%s\"\n", what, text ? text : "(null)");
    abort();
}

void *oc_bt_new(struct oc_arena *a, const ProtobufCMessageDescriptor *kind)
{
    void *message = oc_alloc(a, kind->sizeof_message);
    protobuf_c_message_init(kind, message);
    return message;
}

/* The array is moved into one of twice the size whenever its length is a power of two. */
static void *grown(struct oc_arena *a, const void *old, size_t n, size_t elem)
{
    if (n & (n - 1))
        return NULL;
    void *now = oc_alloc_array(a, n ? 2 * n : 1, elem);
    if (n)
        memcpy(now, old, n * elem);
    return now;
}

void oc_bt_append(struct oc_arena *a, void *array_member, size_t *n, void *message)
{
    void *array;
    memcpy(&array, array_member, sizeof(array));
    void *now = grown(a, array, *n, sizeof(void *));
    if (now) {
        array = now;
        memcpy(array_member, &now, sizeof(now));
    }
    memcpy((char *)array + *n * sizeof(void *), &message, sizeof(message));
    ++*n;
}

#define APPEND_VALUE(arena, msg, member, value)                                                              \
    do {                                                                                                     \
        void *now_ = grown((arena), (msg)->member, (msg)->n_##member, sizeof(*(msg)->member));               \
        if (now_)                                                                                            \
            (msg)->member = now_;                                                                            \
        (msg)->member[(msg)->n_##member++] = (value);                                                        \
    } while (0)

/* ---- pieces ------------------------------------------------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n';
}

static void blanks(struct cur *c)
{
    while (is_blank(*c->p))
        c->p++;
}

static bool take(struct cur *c, char want)
{
    blanks(c);
    if (*c->p != want)
        return false;
    c->p++;
    return true;
}

static void must(struct cur *c, char want)
{
    char what[] = "expected '?'";
    what[10] = want;
    if (!take(c, want))
        oc_bt_bug(what, c->text);
}

static struct span trimmed(struct span s)
{
    while (s.n && is_blank(s.s[0]))
        s = (struct span){s.s + 1, s.n - 1};
    while (s.n && is_blank(s.s[s.n - 1]))
        s.n--;
    return s;
}

static struct span until(struct cur *c, const char *stop)
{
    struct span s = {c->p, strcspn(c->p, stop)};
    c->p += s.n;
    return trimmed(s);
}

static struct span word(struct cur *c)
{
    blanks(c);
    const char *from = c->p;
    while (isalnum((unsigned char)*c->p) || *c->p == '_')
        c->p++;
    return (struct span){from, (size_t)(c->p - from)};
}

static bool is(struct span s, const char *name)
{
    return strlen(name) == s.n && !memcmp(name, s.s, s.n);
}

static char *dup(struct cur *c, struct span s)
{
    return oc_strndup(c->a, s.s, s.n);
}

/* Decimal, or 0x..., signed or up to 2^64 - 1. */
static bool read_int(struct span s, int64_t *out)
{
    char buf[32], *end;
    if (!s.n || s.n >= sizeof(buf))
        return false;
    memcpy(buf, s.s, s.n);
    buf[s.n] = '\0';
    *out = buf[0] == '-' ? strtoll(buf, &end, 0) : (int64_t)strtoull(buf, &end, 0);
    return *end == '\0' && end != buf;
}

static bool read_double(struct span s, double *out)
{
    char buf[64], *end;
    if (!s.n || s.n >= sizeof(buf))
        return false;
    memcpy(buf, s.s, s.n);
    buf[s.n] = '\0';
    *out = strtod(buf, &end);
    return *end == '\0' && end != buf;
}

static int64_t int_of(struct cur *c, struct span s)
{
    int64_t v;
    if (!read_int(s, &v))
        oc_bt_bug("not an integer", c->text);
    return v;
}

static double double_of(struct cur *c, struct span s)
{
    double v;
    if (!read_double(s, &v))
        oc_bt_bug("not a number", c->text);
    return v;
}

char **oc_bt_names(struct oc_arena *a, const char *text, size_t *n)
{
    struct {
        char **name;
        size_t n_name;
    } list = {NULL, 0};
    struct cur c = {a, text ? text : "", text};
    blanks(&c);
    bool more = *c.p != '\0';
    while (more) {
        char *name = dup(&c, until(&c, ","));
        OC_BT_APPEND(a, &list, name, name);
        more = take(&c, ',');
    }
    *n = list.n_name;
    return list.name;
}

/* ---- types -------------------------------------------------------------------------------------------- */

static int32_t dtype_of(struct cur *c, struct span name)
{
    char upper[32];
    if (name.n >= sizeof(upper))
        oc_bt_bug("no such element type", c->text);
    for (size_t i = 0; i < name.n; i++)
        upper[i] = (char)toupper((unsigned char)name.s[i]);
    upper[name.n] = '\0';
    const ProtobufCEnumValue *v =
        protobuf_c_enum_descriptor_get_value_by_name(&onnx__tensor_proto__data_type__descriptor, upper);
    if (!v)
        oc_bt_bug("no such element type", c->text);
    return v->value;
}

static Onnx__TensorShapeProto *shape(struct cur *c)
{
    if (!take(c, '['))
        return NULL;
    Onnx__TensorShapeProto *s = oc_bt_new(c->a, &onnx__tensor_shape_proto__descriptor);
    for (bool more = !take(c, ']'); more; more = !take(c, ']')) {
        if (s->n_dim)
            must(c, ',');
        Onnx__TensorShapeProto__Dimension *d =
            oc_bt_new(c->a, &onnx__tensor_shape_proto__dimension__descriptor);
        struct span t = until(c, ",]");
        if (read_int(t, &d->dim_value))
            d->has_dim_value = 1;
        else if (!is(t, "?"))
            d->dim_param = dup(c, t);
        OC_BT_APPEND(c->a, s, dim, d);
        if (!*c->p)
            oc_bt_bug("expected ']'", c->text);
    }
    return s;
}

static type_msg *type(struct cur *c);

static void type_sequence(struct cur *c, type_msg *t)
{
    t->sequence_type = oc_bt_new(c->a, &onnx__type_proto__sequence__descriptor);
    t->sequence_type->elem_type = type(c);
}

static void type_optional(struct cur *c, type_msg *t)
{
    t->optional_type = oc_bt_new(c->a, &onnx__type_proto__optional__descriptor);
    t->optional_type->elem_type = type(c);
}

static void type_map(struct cur *c, type_msg *t)
{
    t->map_type = oc_bt_new(c->a, &onnx__type_proto__map__descriptor);
    t->map_type->has_key_type = 1;
    t->map_type->key_type = dtype_of(c, word(c));
    must(c, ',');
    t->map_type->value_type = type(c);
}

static void type_sparse(struct cur *c, type_msg *t)
{
    t->sparse_tensor_type = oc_bt_new(c->a, &onnx__type_proto__sparse_tensor__descriptor);
    t->sparse_tensor_type->has_elem_type = 1;
    t->sparse_tensor_type->elem_type = dtype_of(c, word(c));
    t->sparse_tensor_type->shape = shape(c);
}

static void type_opaque(struct cur *c, type_msg *t)
{
    t->opaque_type = oc_bt_new(c->a, &onnx__type_proto__opaque__descriptor);
    t->opaque_type->domain = dup(c, until(c, ",)"));
    if (take(c, ','))
        t->opaque_type->name = dup(c, until(c, ")"));
}

static void type_tensor(struct cur *c, struct span dtype, type_msg *t)
{
    t->tensor_type = oc_bt_new(c->a, &onnx__type_proto__tensor__descriptor);
    t->tensor_type->has_elem_type = 1;
    t->tensor_type->elem_type = dtype_of(c, dtype);
    t->tensor_type->shape = shape(c);
}

static type_msg *type(struct cur *c)
{
    static const struct {
        const char *name;
        void (*read)(struct cur *, type_msg *);
    } forms[] = {{"seq", type_sequence},
                 {"optional", type_optional},
                 {"map", type_map},
                 {"sparse", type_sparse},
                 {"opaque", type_opaque}};
    type_msg *t = oc_bt_new(c->a, &onnx__type_proto__descriptor);
    struct span name = word(c);
    for (size_t i = 0; i < OC_COUNT(forms); i++)
        if (is(name, forms[i].name)) {
            must(c, '(');
            forms[i].read(c, t);
            must(c, ')');
            return t;
        }
    type_tensor(c, name, t);
    return t;
}

static void at_end(struct cur *c)
{
    blanks(c);
    if (*c->p)
        oc_bt_bug("text goes on after its end", c->text);
}

type_msg *oc_bt_type(struct oc_arena *a, const char *text)
{
    if (!text)
        return NULL;
    struct cur c = {a, text, text};
    type_msg *t = type(&c);
    at_end(&c);
    return t;
}

/* ---- tensors ------------------------------------------------------------------------------------------ */

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

static uint64_t element_bits(struct cur *c, unsigned form, struct span s)
{
    uint64_t u;
    double v;
    switch (form) {
    case NUM_INT:
        return (uint64_t)int_of(c, s);
    case NUM_F64:
        v = double_of(c, s);
        memcpy(&u, &v, sizeof(u));
        return u;
    case NUM_F16:
        return half_bits(double_of(c, s));
    case NUM_BF16:
        return bfloat_bits(double_of(c, s));
    default:
        return float_bits(double_of(c, s));
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

static struct span quoted(struct cur *c)
{
    must(c, '\'');
    const char *end = strchr(c->p, '\'');
    if (!end)
        oc_bt_bug("expected a closing quote", c->text);
    struct span s = {c->p, (size_t)(end - c->p)};
    c->p = end + 1;
    return s;
}

static ProtobufCBinaryData bytes_of(struct cur *c, struct span s)
{
    return (ProtobufCBinaryData){s.n, (uint8_t *)dup(c, s)};
}

static void string_elements(struct cur *c, tensor_msg *t, uint64_t n)
{
    while (!take(c, '}')) {
        if (t->n_string_data)
            must(c, ',');
        blanks(c);
        APPEND_VALUE(c->a, t, string_data, bytes_of(c, quoted(c)));
    }
    if (t->n_string_data != n)
        oc_bt_bug("number of elements differs from the shape", c->text);
}

static void raw_elements(struct cur *c, tensor_msg *t, const struct layout *l, uint64_t n)
{
    t->has_raw_data = 1;
    t->raw_data.len = (size_t)((n * l->bits + 7) / 8);
    t->raw_data.data = oc_alloc(c->a, t->raw_data.len ? t->raw_data.len : 1);
    if (take(c, '*')) {
        uint64_t v = element_bits(c, l->form, until(c, "}"));
        for (uint64_t i = 0; i < n; i++)
            put_bits(t->raw_data.data, i, l->bits, v);
        must(c, '}');
        return;
    }
    uint64_t got = 0;
    for (; !take(c, '}'); got++) {
        if (got)
            must(c, ',');
        uint64_t v = element_bits(c, l->form, until(c, ",}"));
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

static void to_fields(struct cur *c, tensor_msg *t, const struct layout *l)
{
    unsigned bytes = l->bits < 8 ? 1 : l->bits / 8u;
    for (size_t i = 0; i < t->raw_data.len / bytes; i++) {
        uint64_t v = get_bits(t->raw_data.data, i, bytes);
        float f;
        double d;
        if (l->form == NUM_F32) {
            memcpy(&f, &(uint32_t){(uint32_t)v}, sizeof(f));
            APPEND_VALUE(c->a, t, float_data, f);
        } else if (l->form == NUM_F64) {
            memcpy(&d, &v, sizeof(d));
            APPEND_VALUE(c->a, t, double_data, d);
        } else if (l->bits == 64 && l->is_signed) {
            APPEND_VALUE(c->a, t, int64_data, (int64_t)v);
        } else if (l->bits >= 32 && !l->is_signed) {
            APPEND_VALUE(c->a, t, uint64_data, v);
        } else {
            APPEND_VALUE(c->a, t, int32_data, narrow(v, l));
        }
    }
    t->has_raw_data = 0;
    t->raw_data = (ProtobufCBinaryData){0, NULL};
}

static tensor_msg *tensor(struct cur *c, int fields)
{
    tensor_msg *t = oc_bt_new(c->a, &onnx__tensor_proto__descriptor);
    t->has_data_type = 1;
    t->data_type = dtype_of(c, word(c));
    const struct layout *l = &layouts[t->data_type];
    const Onnx__TensorShapeProto *s = shape(c);
    uint64_t n = l->parts;
    for (size_t i = 0; s && i < s->n_dim; i++) {
        if (!s->dim[i]->has_dim_value)
            oc_bt_bug("a tensor needs numbers as dimensions", c->text);
        APPEND_VALUE(c->a, t, dims, s->dim[i]->dim_value);
        n *= (uint64_t)s->dim[i]->dim_value;
    }
    if (!take(c, '{'))
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

tensor_msg *oc_bt_tensor(struct oc_arena *a, const char *text, int fields)
{
    struct cur c = {a, text, text};
    tensor_msg *t = tensor(&c, fields);
    at_end(&c);
    return t;
}

/* ---- attributes --------------------------------------------------------------------------------------- */

static unsigned kind_of(struct cur *c, struct span name)
{
    static const char *const kinds[] = {
        [1] = "float",   [2] = "int",     [3] = "string",         [4] = "tensor",
        [5] = "graph",   [6] = "floats",  [7] = "ints",           [8] = "strings",
        [9] = "tensors", [10] = "graphs", [11] = "sparse_tensor", [12] = "sparse_tensors",
        [13] = "type",   [14] = "types",
    };
    for (unsigned i = 1; i < OC_COUNT(kinds); i++)
        if (is(name, kinds[i]))
            return i;
    oc_bt_bug("no such kind of attribute", c->text);
}

enum { A_FLOAT = 1, A_INT, A_STRING, A_TENSOR, A_FLOATS = 6, A_INTS, A_STRINGS, A_TYPE = 13 };

struct items {
    struct span *item;
    size_t n_item;
    bool is_list;
};

/* One value or several: 1   1,2   [1]   'a','b'   [] */
static struct items items(struct cur *c)
{
    struct items l = {0};
    l.is_list = take(c, '[');
    if (l.is_list && take(c, ']'))
        return l;
    do {
        struct span s = *c->p == '\'' ? quoted(c) : until(c, ", \t\n]");
        APPEND_VALUE(c->a, &l, item, s);
    } while (*c->p == ',' && c->p++);
    if (l.n_item > 1 && !l.is_list)
        l.is_list = true;
    else if (l.is_list)
        must(c, ']');
    if (*c->p == ']')
        c->p++;
    return l;
}

static unsigned guess(const struct items *l, bool is_quoted)
{
    int64_t i;
    double d;
    unsigned kind = A_INT;
    for (size_t k = 0; k < l->n_item && !is_quoted; k++) {
        if (kind == A_INT && !read_int(l->item[k], &i))
            kind = A_FLOAT;
        if (kind == A_FLOAT && !read_double(l->item[k], &d))
            is_quoted = true;
    }
    kind = is_quoted ? A_STRING : kind;
    return l->is_list ? kind + (A_FLOATS - A_FLOAT) : kind;
}

static void set_one(struct cur *c, attr_msg *m, unsigned kind, struct span s)
{
    switch (kind) {
    case A_FLOAT:
        m->has_f = 1;
        m->f = (float)double_of(c, s);
        break;
    case A_INT:
        m->has_i = 1;
        m->i = int_of(c, s);
        break;
    case A_STRING:
        m->has_s = 1;
        m->s = bytes_of(c, s);
        break;
    case A_FLOATS:
        APPEND_VALUE(c->a, m, floats, (float)double_of(c, s));
        break;
    case A_INTS:
        APPEND_VALUE(c->a, m, ints, int_of(c, s));
        break;
    default:
        APPEND_VALUE(c->a, m, strings, bytes_of(c, s));
    }
}

static void set_items(struct cur *c, attr_msg *m, unsigned kind)
{
    bool is_quoted = *c->p == '\'' || (c->p[0] == '[' && c->p[1] == '\'');
    struct items l = items(c);
    if (!kind)
        kind = guess(&l, is_quoted);
    if (kind < A_FLOATS && l.n_item != 1)
        oc_bt_bug("one value expected", c->text);
    m->type = (Onnx__AttributeProto__AttributeType)kind;
    for (size_t i = 0; i < l.n_item; i++)
        set_one(c, m, kind, l.item[i]);
}

/* A tensor is a word, perhaps a shape, and a brace. */
static bool is_tensor(const char *p)
{
    while (isalnum((unsigned char)*p) || *p == '_')
        p++;
    if (*p == '[')
        p += strcspn(p, "]") + (strchr(p, ']') != NULL);
    return *p == '{';
}

static attr_msg *attribute(struct cur *c)
{
    attr_msg *m = oc_bt_new(c->a, &onnx__attribute_proto__descriptor);
    m->name = dup(c, word(c));
    if (!*m->name)
        oc_bt_bug("expected the name of an attribute", c->text);
    unsigned kind = *c->p == ':' ? (c->p++, kind_of(c, word(c))) : 0;
    if (*c->p != '=')
        return m;
    c->p++;
    m->has_type = 1;
    m->type = (Onnx__AttributeProto__AttributeType)kind;
    if (*c->p == '@') {
        c->p++;
        m->ref_attr_name = dup(c, word(c));
    } else if (kind == A_TYPE) {
        m->tp = type(c);
    } else if (is_tensor(c->p)) {
        m->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR;
        m->t = tensor(c, 0);
    } else {
        set_items(c, m, kind);
    }
    return m;
}

void oc_bt_attributes(struct oc_arena *a, const char *text, void (*take_one)(void *, attr_msg *), void *ctx)
{
    struct cur c = {a, text ? text : "", text};
    for (blanks(&c); *c.p; blanks(&c))
        take_one(ctx, attribute(&c));
}
