/* Large graphs for benchmarks, and a deeply nested one for robustness tests. */
#include "zoo.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void zoo_chain(struct zoo *z, uint64_t nodes)
{
    static const char *const ops[] = {"MatMul", "Add", "Relu"};
    static const char *const second[] = {",weight", ",bias", ""};
    oc_b_input(z->b, "input", "float[batch,64]");
    zoo_param_named(z, "weight", "float[64,64]", ZOO_WEIGHT, 64);
    zoo_param_named(z, "bias", "float[64]", ZOO_SMALL, 0);
    const char *x = "input";
    for (uint64_t i = 0; i < nodes; i++) {
        const char *name = zoo_text(z, "/layers.%" PRIu64 "/%s", i / 3, ops[i % 3]);
        const char *out = i + 1 == nodes ? "output" : zoo_text(z, "%s_output_0", name);
        oc_b_node(z->b, ops[i % 3], name, zoo_text(z, "%s%s", x, second[i % 3]), out, "");
        x = out;
    }
    oc_b_output(z->b, x, "float[batch,64]");
}

void zoo_bigfile(struct zoo *z, uint64_t bytes)
{
    enum { SIDE = 4096 };
    const uint64_t row = (uint64_t)SIDE * 4;
    oc_b_input(z->b, "input", "float[batch,4096]");
    const char *x = "input";
    uint64_t width = SIDE;
    for (uint64_t left = bytes / row; left; left -= width) {
        width = left < SIDE ? left : SIDE;
        const char *w = zoo_param_named(z, zoo_text(z, "weight_%zu", z->n_param),
                                        zoo_text(z, "float[%d,%" PRIu64 "]", SIDE, width), ZOO_WEIGHT, SIDE);
        x = zoo_op2(z, "MatMul", x, w, "");
    }
    oc_b_output(z->b, x, zoo_text(z, "float[batch,%" PRIu64 "]", width));
}

/* ---- nested bodies ------------------------------------------------------------------------------------- */

/* Bytes are written from the end to the beginning, so that the length of a message is known when its tag is
 * written. */
struct back {
    uint8_t *data;
    size_t cap, n; /* content: the last n bytes */
};

static void prepend(struct back *b, const void *p, size_t n)
{
    if (n > b->cap - b->n) {
        size_t cap = 2 * (b->cap + n);
        uint8_t *data = oc_xmalloc(cap);
        if (b->n)
            memcpy(data + cap - b->n, b->data + b->cap - b->n, b->n);
        free(b->data);
        *b = (struct back){data, cap, b->n};
    }
    b->n += n;
    memcpy(b->data + b->cap - b->n, p, n);
}

static void prepend_varint(struct back *b, uint64_t v)
{
    uint8_t buf[10];
    size_t n = 0;
    for (; v >= 0x80; v >>= 7)
        buf[n++] = (uint8_t)(v | 0x80);
    buf[n++] = (uint8_t)v;
    prepend(b, buf, n);
}

/* Makes everything before the last `after` bytes the content of field `field`. */
static void wrap(struct back *b, unsigned field, size_t after)
{
    prepend_varint(b, b->n - after);
    prepend_varint(b, field << 3 | 2);
}

static void string(struct back *b, unsigned field, const char *s)
{
    size_t after = b->n;
    prepend(b, s, strlen(s));
    wrap(b, field, after);
}

static void number(struct back *b, unsigned field, uint64_t v)
{
    prepend_varint(b, v);
    prepend_varint(b, field << 3);
}

/* A ValueInfoProto of a scalar. */
static void scalar(struct back *b, unsigned field, const char *name, int dtype)
{
    size_t after = b->n;
    wrap(b, 2, b->n);
    number(b, 1, (uint64_t)dtype);
    wrap(b, 1, after);
    wrap(b, 2, after);
    string(b, 1, name);
    wrap(b, field, after);
}

/* Wraps a graph as an attribute of a node. */
static void branch(struct back *b, const char *name, size_t after)
{
    wrap(b, 6, after);
    number(b, 20, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPH);
    string(b, 1, name);
    wrap(b, 5, after);
}

/* The rest of a node and of the graph around it. */
static void node(struct back *b, const char *op_type, const char *in, const char *out, size_t after)
{
    string(b, 4, op_type);
    string(b, 2, out);
    string(b, 1, in);
    wrap(b, 1, after);
    scalar(b, 12, out, ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT);
    string(b, 2, out);
}

/* Every message that contains the inner graph ends with it, at the last byte of the file. */
static void level(struct back *b, uint64_t number_of_level)
{
    char name[2][32];
    for (int i = 0; i < 2; i++)
        snprintf(name[i], sizeof(name[i]), "%c%" PRIu64, "ye"[i], number_of_level);
    branch(b, "then_branch", 0);
    size_t after = b->n;
    node(b, "Identity", "x", name[1], after);
    branch(b, "else_branch", after);
    node(b, "If", "c", name[0], 0);
}

int zoo_write_nest(uint64_t depth, FILE *f, struct oc_err *err)
{
    struct back b = {0};
    node(&b, "Identity", "x", "y", 0);
    for (uint64_t i = depth; i-- > 0;)
        level(&b, i);
    scalar(&b, 11, "x", ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT);
    scalar(&b, 11, "c", ONNX__TENSOR_PROTO__DATA_TYPE__BOOL);
    wrap(&b, 7, 0);
    size_t after = b.n;
    number(&b, 2, 17);
    string(&b, 1, "");
    wrap(&b, 8, after);
    number(&b, 1, 8);
    bool ok = fwrite(b.data + b.cap - b.n, 1, b.n, f) == b.n;
    free(b.data);
    return ok ? 0 : oc_fail(err, OC_EOUTPUT, "cannot write: %s", strerror(errno));
}
