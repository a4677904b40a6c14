#include "support/build_text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

typedef Onnx__TypeProto type_msg;

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
void *oc_bt_grown(struct oc_arena *a, const void *old, size_t n, size_t elem)
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
    void *now = oc_bt_grown(a, array, *n, sizeof(void *));
    if (now) {
        array = now;
        memcpy(array_member, &now, sizeof(now));
    }
    memcpy((char *)array + *n * sizeof(void *), &message, sizeof(message));
    ++*n;
}

/* ---- pieces -------------------------------------------------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n';
}

void oc_bt_blanks(struct oc_bt_cur *c)
{
    while (is_blank(*c->p))
        c->p++;
}

bool oc_bt_take(struct oc_bt_cur *c, char want)
{
    oc_bt_blanks(c);
    if (*c->p != want)
        return false;
    c->p++;
    return true;
}

void oc_bt_must(struct oc_bt_cur *c, char want)
{
    char what[] = "expected '?'";
    what[10] = want;
    if (!oc_bt_take(c, want))
        oc_bt_bug(what, c->text);
}

static struct oc_bt_span trimmed(struct oc_bt_span s)
{
    while (s.n && is_blank(s.s[0]))
        s = (struct oc_bt_span){s.s + 1, s.n - 1};
    while (s.n && is_blank(s.s[s.n - 1]))
        s.n--;
    return s;
}

struct oc_bt_span oc_bt_until(struct oc_bt_cur *c, const char *stop)
{
    struct oc_bt_span s = {c->p, strcspn(c->p, stop)};
    c->p += s.n;
    return trimmed(s);
}

struct oc_bt_span oc_bt_word(struct oc_bt_cur *c)
{
    oc_bt_blanks(c);
    const char *from = c->p;
    while (isalnum((unsigned char)*c->p) || *c->p == '_')
        c->p++;
    return (struct oc_bt_span){from, (size_t)(c->p - from)};
}

bool oc_bt_is(struct oc_bt_span s, const char *name)
{
    return strlen(name) == s.n && !memcmp(name, s.s, s.n);
}

char *oc_bt_dup(struct oc_bt_cur *c, struct oc_bt_span s)
{
    return oc_strndup(c->a, s.s, s.n);
}

/* Decimal, or 0x..., signed or up to 2^64 - 1. */
bool oc_bt_read_int(struct oc_bt_span s, int64_t *out)
{
    char buf[32], *end;
    if (!s.n || s.n >= sizeof(buf))
        return false;
    memcpy(buf, s.s, s.n);
    buf[s.n] = '\0';
    *out = buf[0] == '-' ? strtoll(buf, &end, 0) : (int64_t)strtoull(buf, &end, 0);
    return *end == '\0' && end != buf;
}

int64_t oc_bt_int_of(struct oc_bt_cur *c, struct oc_bt_span s)
{
    int64_t v;
    if (!oc_bt_read_int(s, &v))
        oc_bt_bug("not an integer", c->text);
    return v;
}

double oc_bt_double_of(struct oc_bt_cur *c, struct oc_bt_span s)
{
    double v;
    if (!oc_parse_double(s.s, s.n, &v))
        oc_bt_bug("not a number", c->text);
    return v;
}

struct oc_bt_span oc_bt_quoted(struct oc_bt_cur *c)
{
    oc_bt_must(c, '\'');
    const char *end = strchr(c->p, '\'');
    if (!end)
        oc_bt_bug("expected a closing quote", c->text);
    struct oc_bt_span s = {c->p, (size_t)(end - c->p)};
    c->p = end + 1;
    return s;
}

ProtobufCBinaryData oc_bt_bytes_of(struct oc_bt_cur *c, struct oc_bt_span s)
{
    return (ProtobufCBinaryData){s.n, (uint8_t *)oc_bt_dup(c, s)};
}

char **oc_bt_names(struct oc_arena *a, const char *text, size_t *n)
{
    struct {
        char **name;
        size_t n_name;
    } list = {NULL, 0};
    struct oc_bt_cur c = {a, text ? text : "", text};
    oc_bt_blanks(&c);
    bool more = *c.p != '\0';
    while (more) {
        char *name = oc_bt_dup(&c, oc_bt_until(&c, ","));
        OC_BT_APPEND(a, &list, name, name);
        more = oc_bt_take(&c, ',');
    }
    *n = list.n_name;
    return list.name;
}

/* ---- types --------------------------------------------------------------------------------------------- */

int32_t oc_bt_dtype_of(struct oc_bt_cur *c, struct oc_bt_span name)
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

Onnx__TensorShapeProto *oc_bt_read_shape(struct oc_bt_cur *c)
{
    if (!oc_bt_take(c, '['))
        return NULL;
    Onnx__TensorShapeProto *s = oc_bt_new(c->a, &onnx__tensor_shape_proto__descriptor);
    for (bool more = !oc_bt_take(c, ']'); more; more = !oc_bt_take(c, ']')) {
        if (s->n_dim)
            oc_bt_must(c, ',');
        Onnx__TensorShapeProto__Dimension *d =
            oc_bt_new(c->a, &onnx__tensor_shape_proto__dimension__descriptor);
        struct oc_bt_span t = oc_bt_until(c, ",]");
        if (oc_bt_read_int(t, &d->dim_value))
            d->has_dim_value = 1;
        else if (!oc_bt_is(t, "?"))
            d->dim_param = oc_bt_dup(c, t);
        OC_BT_APPEND(c->a, s, dim, d);
        if (!*c->p)
            oc_bt_bug("expected ']'", c->text);
    }
    return s;
}

static void type_sequence(struct oc_bt_cur *c, type_msg *t)
{
    t->sequence_type = oc_bt_new(c->a, &onnx__type_proto__sequence__descriptor);
    t->sequence_type->elem_type = oc_bt_read_type(c);
}

static void type_optional(struct oc_bt_cur *c, type_msg *t)
{
    t->optional_type = oc_bt_new(c->a, &onnx__type_proto__optional__descriptor);
    t->optional_type->elem_type = oc_bt_read_type(c);
}

static void type_map(struct oc_bt_cur *c, type_msg *t)
{
    t->map_type = oc_bt_new(c->a, &onnx__type_proto__map__descriptor);
    t->map_type->has_key_type = 1;
    t->map_type->key_type = oc_bt_dtype_of(c, oc_bt_word(c));
    oc_bt_must(c, ',');
    t->map_type->value_type = oc_bt_read_type(c);
}

static void type_sparse(struct oc_bt_cur *c, type_msg *t)
{
    t->sparse_tensor_type = oc_bt_new(c->a, &onnx__type_proto__sparse_tensor__descriptor);
    t->sparse_tensor_type->has_elem_type = 1;
    t->sparse_tensor_type->elem_type = oc_bt_dtype_of(c, oc_bt_word(c));
    t->sparse_tensor_type->shape = oc_bt_read_shape(c);
}

static void type_opaque(struct oc_bt_cur *c, type_msg *t)
{
    t->opaque_type = oc_bt_new(c->a, &onnx__type_proto__opaque__descriptor);
    t->opaque_type->domain = oc_bt_dup(c, oc_bt_until(c, ",)"));
    if (oc_bt_take(c, ','))
        t->opaque_type->name = oc_bt_dup(c, oc_bt_until(c, ")"));
}

static void type_tensor(struct oc_bt_cur *c, struct oc_bt_span dtype, type_msg *t)
{
    t->tensor_type = oc_bt_new(c->a, &onnx__type_proto__tensor__descriptor);
    t->tensor_type->has_elem_type = 1;
    t->tensor_type->elem_type = oc_bt_dtype_of(c, dtype);
    t->tensor_type->shape = oc_bt_read_shape(c);
}

type_msg *oc_bt_read_type(struct oc_bt_cur *c)
{
    static const struct {
        const char *name;
        void (*read)(struct oc_bt_cur *, type_msg *);
    } forms[] = {{"seq", type_sequence},
                 {"optional", type_optional},
                 {"map", type_map},
                 {"sparse", type_sparse},
                 {"opaque", type_opaque}};
    type_msg *t = oc_bt_new(c->a, &onnx__type_proto__descriptor);
    struct oc_bt_span name = oc_bt_word(c);
    for (size_t i = 0; i < OC_COUNT(forms); i++)
        if (oc_bt_is(name, forms[i].name)) {
            oc_bt_must(c, '(');
            forms[i].read(c, t);
            oc_bt_must(c, ')');
            return t;
        }
    type_tensor(c, name, t);
    return t;
}

void oc_bt_at_end(struct oc_bt_cur *c)
{
    oc_bt_blanks(c);
    if (*c->p)
        oc_bt_bug("text continues after its end", c->text);
}

type_msg *oc_bt_type(struct oc_arena *a, const char *text)
{
    if (!text)
        return NULL;
    struct oc_bt_cur c = {a, text, text};
    type_msg *t = oc_bt_read_type(&c);
    oc_bt_at_end(&c);
    return t;
}
