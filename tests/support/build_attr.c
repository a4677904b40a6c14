/* Attribute texts: axis=1 pads=1,1,1,1 mode='linear'. */
#include <ctype.h>
#include <string.h>

#include "base/units.h"
#include "support/build_text.h"

typedef Onnx__AttributeProto attr_msg;

static unsigned kind_of(struct oc_bt_cur *c, struct oc_bt_span name)
{
    static const char *const kinds[] = {
        [1] = "float",   [2] = "int",     [3] = "string",         [4] = "tensor",
        [5] = "graph",   [6] = "floats",  [7] = "ints",           [8] = "strings",
        [9] = "tensors", [10] = "graphs", [11] = "sparse_tensor", [12] = "sparse_tensors",
        [13] = "type",   [14] = "types",
    };
    for (unsigned i = 1; i < OC_COUNT(kinds); i++)
        if (oc_bt_is(name, kinds[i]))
            return i;
    oc_bt_bug("no such kind of attribute", c->text);
}

enum { A_FLOAT = 1, A_INT, A_STRING, A_TENSOR, A_FLOATS = 6, A_INTS, A_STRINGS, A_TYPE = 13 };

struct items {
    struct oc_bt_span *item;
    size_t n_item;
    bool is_list;
};

/* One value or several: 1   1,2   [1]   'a','b'   [] */
static struct items items(struct oc_bt_cur *c)
{
    struct items l = {0};
    l.is_list = oc_bt_take(c, '[');
    if (l.is_list && oc_bt_take(c, ']'))
        return l;
    do {
        struct oc_bt_span s = *c->p == '\'' ? oc_bt_quoted(c) : oc_bt_until(c, ", \t\n]");
        OC_BT_APPEND_VALUE(c->a, &l, item, s);
    } while (*c->p == ',' && c->p++);
    if (l.n_item > 1 && !l.is_list)
        l.is_list = true;
    else if (l.is_list)
        oc_bt_must(c, ']');
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
        if (kind == A_INT && !oc_bt_read_int(l->item[k], &i))
            kind = A_FLOAT;
        if (kind == A_FLOAT && !oc_parse_double(l->item[k].s, l->item[k].n, &d))
            is_quoted = true;
    }
    kind = is_quoted ? A_STRING : kind;
    return l->is_list ? kind + (A_FLOATS - A_FLOAT) : kind;
}

static void set_one(struct oc_bt_cur *c, attr_msg *m, unsigned kind, struct oc_bt_span s)
{
    switch (kind) {
    case A_FLOAT:
        m->has_f = 1;
        m->f = (float)oc_bt_double_of(c, s);
        break;
    case A_INT:
        m->has_i = 1;
        m->i = oc_bt_int_of(c, s);
        break;
    case A_STRING:
        m->has_s = 1;
        m->s = oc_bt_bytes_of(c, s);
        break;
    case A_FLOATS:
        OC_BT_APPEND_VALUE(c->a, m, floats, (float)oc_bt_double_of(c, s));
        break;
    case A_INTS:
        OC_BT_APPEND_VALUE(c->a, m, ints, oc_bt_int_of(c, s));
        break;
    default:
        OC_BT_APPEND_VALUE(c->a, m, strings, oc_bt_bytes_of(c, s));
    }
}

static void set_items(struct oc_bt_cur *c, attr_msg *m, unsigned kind)
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

/* A tensor is a word, optionally a shape, and a brace. */
static bool is_tensor(const char *p)
{
    while (isalnum((unsigned char)*p) || *p == '_')
        p++;
    if (*p == '[')
        p += strcspn(p, "]") + (strchr(p, ']') != NULL);
    return *p == '{';
}

static attr_msg *attribute(struct oc_bt_cur *c)
{
    attr_msg *m = oc_bt_new(c->a, &onnx__attribute_proto__descriptor);
    m->name = oc_bt_dup(c, oc_bt_word(c));
    if (!*m->name)
        oc_bt_bug("expected the name of an attribute", c->text);
    unsigned kind = *c->p == ':' ? (c->p++, kind_of(c, oc_bt_word(c))) : 0;
    if (*c->p != '=')
        return m;
    c->p++;
    m->has_type = 1;
    m->type = (Onnx__AttributeProto__AttributeType)kind;
    if (*c->p == '@') {
        c->p++;
        m->ref_attr_name = oc_bt_dup(c, oc_bt_word(c));
    } else if (kind == A_TYPE) {
        m->tp = oc_bt_read_type(c);
    } else if (is_tensor(c->p)) {
        m->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR;
        m->t = oc_bt_read_tensor(c, false);
    } else {
        set_items(c, m, kind);
    }
    return m;
}

void oc_bt_attributes(struct oc_arena *a, const char *text, void (*take_one)(void *, attr_msg *), void *ctx)
{
    struct oc_bt_cur c = {a, text ? text : "", text};
    for (oc_bt_blanks(&c); *c.p; oc_bt_blanks(&c))
        take_one(ctx, attribute(&c));
}
