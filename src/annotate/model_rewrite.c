#include "annotate/model_rewrite.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/wire.h"

enum { MODEL_PROPS = 14, NODE_PROPS = 9, MAX_DEPTH = 1000 };
#define MAX_MESSAGE ((uint64_t)INT32_MAX)

enum kind { NONE, MODEL, GRAPH, NODE, ATTRIBUTE, FUNCTION, KINDS };

/* Fields whose messages are rewritten, by the kind of the enclosing message; the field of its metadata_props,
 * 0: copied unchanged. */
static const struct {
    struct {
        uint32_t field;
        enum kind kind;
    } child[2];
    uint32_t props;
} layout[KINDS] = {
    [MODEL] = {{{7, GRAPH}, {25, FUNCTION}}, MODEL_PROPS},
    [GRAPH] = {{{1, NODE}}, 0},
    [NODE] = {{{5, ATTRIBUTE}}, NODE_PROPS},
    [ATTRIBUTE] = {{{6, GRAPH}, {11, GRAPH}}, 0},
    [FUNCTION] = {{{7, NODE}}, 0},
};

/* Two identical walks: the first computes `size`, the second writes. */
struct walk {
    const struct oc_file *file;
    const struct oc_rewrite *how;
    struct oc_buf entries;
    uint64_t *size; /* sizes of the messages in order of their start; heap */
    size_t n, cap;
    size_t next; /* position in the second walk */
    FILE *f;     /* NULL: the first walk */
    bool cut;    /* the file was truncated after it was mapped */
    struct oc_err *err;
};

/* ---- protobuf --------------------------------------------------------------------------------------- */

static size_t model_rewrite_put_varint(uint8_t out[10], uint64_t v)
{
    size_t n = 0;
    for (; v > 127; v >>= 7)
        out[n++] = (uint8_t)(v | 128);
    out[n++] = (uint8_t)v;
    return n;
}

static size_t header(uint8_t out[20], uint32_t field, uint64_t length)
{
    size_t n = model_rewrite_put_varint(out, (uint64_t)field << 3 | OC_WIRE_LEN);
    return n + model_rewrite_put_varint(out + n, length);
}

static void text_field(struct oc_buf *b, uint32_t field, const char *s, size_t n)
{
    uint8_t head[20];
    oc_buf_add(b, head, header(head, field, n));
    oc_buf_add(b, s, n);
}

static void entry(struct oc_buf *out, uint32_t field, const char *key, const char *value)
{
    struct oc_buf b = {0};
    text_field(&b, 1, key, strlen(key));
    text_field(&b, 2, value, strlen(value));
    text_field(out, field, b.data, b.n);
    oc_buf_free(&b);
}

void oc_rewrite_model_entry(struct oc_buf *out, const char *key, const char *value)
{
    entry(out, MODEL_PROPS, key, value);
}

void oc_rewrite_node_entry(struct oc_buf *out, const char *key, const char *value)
{
    entry(out, NODE_PROPS, key, value);
}

/* Whether a StringStringEntryProto has a key with the prefix. */
static bool is_ours(const struct walk *w, const struct oc_wire_field *props)
{
    struct oc_wire in = oc_wire_of(props->data, props->n);
    struct oc_wire_field f;
    size_t n = strlen(w->how->prefix);
    while (oc_wire_next(&in, &f))
        if (f.num == 1 && f.type == OC_WIRE_LEN)
            return f.n >= n && memcmp(f.data, w->how->prefix, n) == 0;
    return false;
}

/* ---- bytes ------------------------------------------------------------------------------------------ */

/* Releases pages that were written. */
static void model_rewrite_copy(struct walk *w, const uint8_t *from, size_t n)
{
    enum { PIECE = 8 << 20, LARGE = 1 << 20 };
    while (w->f && n && !w->cut) {
        size_t piece = n < PIECE ? n : PIECE;
        oc_os_need(from, piece);
        w->cut = fwrite(from, 1, piece, w->f) < piece && errno == EFAULT; /* straight from the mapping */
        if (piece >= LARGE)
            oc_file_forget(w->file, (uint64_t)(from - w->file->data), piece);
        from += piece;
        n -= piece;
    }
}

static uint64_t copy_bytes(struct walk *w, const uint8_t *from, const uint8_t *end)
{
    model_rewrite_copy(w, from, (size_t)(end - from));
    return (uint64_t)(end - from);
}

static uint64_t add_entries(struct walk *w, enum kind kind, const uint8_t *data)
{
    oc_buf_clear(&w->entries);
    if (kind == MODEL)
        w->how->model(w->how->ctx, &w->entries);
    else if (kind == NODE)
        w->how->node(w->how->ctx, (uint64_t)(data - w->file->data), &w->entries);
    if (w->f && w->entries.n)
        fwrite(w->entries.data, 1, w->entries.n, w->f);
    return w->entries.n;
}

/* ---- messages --------------------------------------------------------------------------------------- */

static int model_rewrite_damaged(const struct walk *w, const uint8_t *at, const char *why)
{
    return oc_fail(w->err, OC_EFORMAT, "%s (offset %" PRIu64 ")", why, (uint64_t)(at - w->file->data));
}

static enum kind child_of(enum kind kind, const struct oc_wire_field *f)
{
    for (size_t i = 0; i < 2 && f->type == OC_WIRE_LEN; i++)
        if (layout[kind].child[i].field == f->num)
            return layout[kind].child[i].kind;
    return NONE;
}

static int message(struct walk *w, enum kind kind, const uint8_t *data, size_t n, unsigned depth,
                   uint64_t *size);

static int child(struct walk *w, enum kind kind, const struct oc_wire_field *f, unsigned depth,
                 uint64_t *size)
{
    uint8_t head[20];
    uint64_t inner;
    if (w->f && w->next >= w->n) /* differs from the first walk */
        return model_rewrite_damaged(w, f->data, "the model file changed while it was copied");
    if (w->f) {
        size_t n = header(head, f->num, w->size[w->next]);
        fwrite(head, 1, n, w->f);
    }
    if (message(w, kind, f->data, f->n, depth + 1, &inner) != 0)
        return -1;
    *size = header(head, f->num, inner) + inner;
    return 0;
}

/* Index of the size of the message that begins here. */
static size_t place_of_size(struct walk *w)
{
    if (w->f)
        return w->next++;
    if (w->n == w->cap) {
        w->cap = w->cap ? w->cap * 2 : 1024;
        w->size = oc_xrealloc(w->size, w->cap * sizeof(*w->size));
    }
    return w->n++;
}

static int message(struct walk *w, enum kind kind, const uint8_t *data, size_t n, unsigned depth,
                   uint64_t *size)
{
    size_t place = place_of_size(w);
    struct oc_wire in = oc_wire_of(data, n);
    struct oc_wire_field f;
    const uint8_t *kept = data; /* start of the bytes not yet copied */
    *size = 0;
    if (depth > MAX_DEPTH)
        return model_rewrite_damaged(w, data, "nested too deeply");
    for (const uint8_t *at = in.p; oc_wire_next(&in, &f); at = in.p) {
        enum kind inner = child_of(kind, &f);
        bool dropped = layout[kind].props == f.num && f.type == OC_WIRE_LEN && is_ours(w, &f);
        uint64_t more = 0;
        if (inner == NONE && !dropped)
            continue;
        *size += copy_bytes(w, kept, at);
        if (inner != NONE && child(w, inner, &f, depth, &more) != 0)
            return -1;
        *size += more;
        kept = in.p;
    }
    if (in.bad)
        return model_rewrite_damaged(w, in.bad, in.why);
    if (n)
        *size += copy_bytes(w, kept, data + n);
    *size += add_entries(w, kind, data);
    if (!w->f)
        w->size[place] = *size;
    return 0;
}

int oc_rewrite_model(const struct oc_file *file, const struct oc_rewrite *how, FILE *f, struct oc_err *err)
{
    struct walk w = {.file = file, .how = how, .err = err};
    uint64_t size;
    int rc = message(&w, MODEL, file->data, file->size_bytes, 0, &size);
    if (rc == 0 && size > MAX_MESSAGE)
        rc = oc_fail(err, OC_ELIMIT,
                     "the annotated file would have %" PRIu64 " bytes, more than protobuf reads (%" PRIu64
                     "): keep the weights in a file of their own",
                     size, MAX_MESSAGE);
    w.f = f;
    if (rc == 0)
        rc = message(&w, MODEL, file->data, file->size_bytes, 0, &size);
    if (rc == 0 && w.cut)
        rc = oc_fail(err, OC_EIO, "the model file was truncated while it was copied");
    free(w.size);
    oc_buf_free(&w.entries);
    return rc;
}
