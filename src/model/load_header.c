/* Unpacks messages of proto/onnx_header.proto with protobuf-c. protobuf-c recurses without a limit, copies
 * unknown fields, and needs 40 bytes for each field, so a message is first copied without what the schema
 * does not have: lengths, wire types, nesting and limits are checked on the way. `bytes` fields are left out
 * of the copy and become views of the file. */
#include <stdlib.h>

#include "model/loader.h"

enum {
    MAX_TYPE_DEPTH = 16,
    MAX_DEPTH = 2 * MAX_TYPE_DEPTH + 4, /* an element type is two messages; tensor, shape, dimension */
    FIELD_BYTES = 96,                   /* protobuf-c's memory for a field: its record and its message */
    LENGTH_BYTES = 5,                   /* of a length that is not yet known: a padded varint */
    BLOCK_BYTES = 1 << 16,
    KEPT_COPY_BYTES = 1 << 20
};

/* ---- memory of the unpacked messages: a stack ------------------------------------------------------- */

struct oc_header_block {
    struct oc_header_block *below;
    size_t used, cap; /* bytes */
    uint64_t data[];
};

static void *stack_alloc(void *data, size_t bytes)
{
    struct oc_header_block **top = data, *b = *top;
    bytes = (bytes + 7) & ~(size_t)7;
    if (!b || bytes > b->cap - b->used) {
        size_t cap = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
        b = oc_xmalloc(sizeof(*b) + cap);
        *b = (struct oc_header_block){.below = *top, .cap = cap};
        *top = b;
    }
    b->used += bytes;
    return (char *)b->data + b->used - bytes;
}

static void stack_free(void *data, void *p)
{
    (void)data;
    (void)p;
}

struct oc_header_mark oc_header_mark(const struct oc_loader *l)
{
    return (struct oc_header_mark){l->headers, l->headers ? l->headers->used : 0};
}

void oc_header_release(struct oc_loader *l, struct oc_header_mark mark)
{
    while (l->headers != mark.block) {
        struct oc_header_block *b = l->headers;
        l->headers = b->below;
        free(b);
    }
    if (l->headers)
        l->headers->used = mark.used;
}

void oc_headers_free(struct oc_loader *l)
{
    oc_header_release(l, (struct oc_header_mark){NULL, 0});
    oc_buf_free(&l->copy);
    oc_buf_free(&l->views);
}

/* ---- the copy --------------------------------------------------------------------------------------- */

struct view {
    uint32_t field; /* index in the descriptor */
    ProtobufCBinaryData bytes;
};

struct copy {
    struct oc_loader *l;
    struct oc_buf *out, *views;       /* views: of the message itself, in the order of the file */
    const uint8_t *from, *to;         /* fields that follow each other in the file, copied at once */
    uint32_t run;                     /* number of the list of numbers that is being written, 0: none */
    size_t run_at;                    /* position of its length */
    uint64_t elements, most_elements; /* of lists of numbers, and `bytes` */
    uint64_t need_bytes, most_bytes;  /* of memory for the message; above most_bytes nothing is kept */
    uint64_t most_string_bytes;
};

static void copy_flush(struct copy *c)
{
    if (c->from) {
        oc_os_need(c->from, (size_t)(c->to - c->from));
        oc_buf_add(c->out, c->from, (size_t)(c->to - c->from));
    }
    c->from = NULL;
}

static void copy_verbatim(struct copy *c, const uint8_t *at, const uint8_t *end)
{
    if (c->from && c->to == at) {
        c->to = end;
        return;
    }
    copy_flush(c);
    c->from = at;
    c->to = end;
}

/* Begins a length-delimited field; returns the position of its length. */
static size_t copy_begin(struct copy *c, uint32_t num)
{
    uint64_t key = (uint64_t)num << 3 | OC_WIRE_LEN;
    copy_flush(c);
    for (; key > 127; key >>= 7)
        oc_buf_char(c->out, (char)(key | 128));
    oc_buf_char(c->out, (char)key);
    oc_buf_pad(c->out, 0, LENGTH_BYTES);
    return c->out->n - LENGTH_BYTES;
}

static void copy_end(struct copy *c, size_t at)
{
    copy_flush(c);
    size_t n = c->out->n - at - LENGTH_BYTES;
    for (int i = 0; i < LENGTH_BYTES; i++, n >>= 7)
        c->out->data[at + (size_t)i] = (char)((n & 127) | (i < LENGTH_BYTES - 1 ? 128 : 0));
}

static void copy_end_run(struct copy *c)
{
    if (c->run)
        copy_end(c, c->run_at);
    c->run = 0;
}

/* As protobuf_c_message_descriptor_get_field, which is a call and a binary search. */
static const ProtobufCFieldDescriptor *field_of(const ProtobufCMessageDescriptor *d, uint32_t num)
{
    const ProtobufCIntRange *r = d->field_ranges; /* the last one is their end */
    for (unsigned i = 0; i < d->n_field_ranges && num >= (uint32_t)r[i].start_value; i++) {
        size_t index = num - (uint32_t)r[i].start_value + r[i].orig_index;
        if (index < r[i + 1].orig_index)
            return &d->fields[index];
    }
    return NULL;
}

static unsigned wire_type_of(const ProtobufCFieldDescriptor *d)
{
    switch (d->type) {
    case PROTOBUF_C_TYPE_FLOAT:
        return OC_WIRE_I32;
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_BYTES:
    case PROTOBUF_C_TYPE_MESSAGE:
        return OC_WIRE_LEN;
    default:
        return OC_WIRE_VARINT;
    }
}

/* Consecutive fields of a list of numbers, packed or not, become one packed field. */
static int copy_numbers(struct copy *c, const ProtobufCFieldDescriptor *d, const struct oc_wire_field *f,
                        const uint8_t *at, const uint8_t *end)
{
    size_t n = oc_wire_count(f, d->type == PROTOBUF_C_TYPE_FLOAT ? 4 : 0);
    if (n == SIZE_MAX)
        return oc_load_fail(c->l, OC_EFORMAT, at, "a list is truncated");
    c->elements += n;
    c->need_bytes += n * sizeof(int64_t);
    if (c->elements > c->most_elements)
        return 0; /* only counted, for the error */
    if (c->run != d->id) {
        copy_end_run(c);
        c->run_at = copy_begin(c, d->id);
        c->run = d->id;
    }
    if (f->type == OC_WIRE_LEN) {
        at = f->data;
    } else {
        while (*at++ & 128) /* the key */
            ;
    }
    copy_verbatim(c, at, end);
    return 0;
}

static int copy_fields(struct copy *c, const ProtobufCMessageDescriptor *d, ProtobufCBinaryData v,
                       unsigned depth)
{
    if (depth > MAX_DEPTH)
        return oc_load_fail(c->l, OC_ELIMIT, v.data, "type: nested deeper than %d", MAX_TYPE_DEPTH);
    struct oc_wire w = oc_wire_of(v.data, v.len);
    struct oc_wire_field f;
    for (const uint8_t *at = w.p; oc_wire_next(&w, &f); at = w.p) {
        const ProtobufCFieldDescriptor *field = field_of(d, f.num);
        if (!field)
            continue;
        unsigned type = wire_type_of(field);
        if (field->type == PROTOBUF_C_TYPE_BYTES && f.type == OC_WIRE_LEN) {
            struct view view = {(uint32_t)(field - d->fields), {f.n, (uint8_t *)(uintptr_t)f.data}};
            c->need_bytes += sizeof(view) + sizeof(view.bytes);
            c->elements++;
            if (depth == 0 && c->need_bytes <= c->most_bytes && c->elements <= c->most_elements)
                oc_buf_add(c->views, &view, sizeof(view));
        } else if (field->label == PROTOBUF_C_LABEL_REPEATED && type != OC_WIRE_LEN) {
            if ((f.type == type || f.type == OC_WIRE_LEN) && copy_numbers(c, field, &f, at, w.p))
                return -1;
        } else if (f.type == type) {
            copy_end_run(c);
            c->need_bytes += f.n + FIELD_BYTES;
            if (field->type == PROTOBUF_C_TYPE_MESSAGE) {
                size_t length = copy_begin(c, f.num);
                if (copy_fields(c, field->descriptor,
                                (ProtobufCBinaryData){f.n, (uint8_t *)(uintptr_t)f.data}, depth + 1))
                    return -1;
                copy_end(c, length);
            } else {
                if (type == OC_WIRE_LEN && f.n > c->most_string_bytes)
                    return oc_load_over(c->l, OC_LIMIT_STRING_BYTES, f.n, f.data);
                copy_verbatim(c, at, w.p);
            }
        }
    }
    copy_end_run(c);
    copy_flush(c);
    return w.bad ? oc_load_fail(c->l, OC_EFORMAT, w.bad, "%s", w.why) : 0;
}

/* ---- messages --------------------------------------------------------------------------------------- */

static void set_views(struct oc_loader *l, ProtobufCMessage *m)
{
    const struct view *view = (const struct view *)(const void *)l->views.data;
    size_t n_view = l->views.n / sizeof(*view);
    for (size_t i = 0; i < n_view; i++) {
        const ProtobufCFieldDescriptor *d = &m->descriptor->fields[view[i].field];
        void *member = (char *)m + d->offset, *quantifier = (char *)m + d->quantifier_offset;
        if (d->label == PROTOBUF_C_LABEL_REPEATED) {
            ProtobufCBinaryData **list = member;
            size_t *n = quantifier, count = 0;
            for (size_t k = i; !*list && k < n_view; k++)
                count += view[k].field == view[i].field;
            if (!*list)
                *list = stack_alloc(&l->headers, count * sizeof(**list));
            (*list)[(*n)++] = view[i].bytes;
        } else {
            *(ProtobufCBinaryData *)member = view[i].bytes;
            *(protobuf_c_boolean *)quantifier = true;
        }
    }
}

/* Prefixes the error with the kind of the message and its name. */
static void name_message(struct oc_loader *l, const ProtobufCMessageDescriptor *d, ProtobufCBinaryData v)
{
    const ProtobufCFieldDescriptor *name = protobuf_c_message_descriptor_get_field_by_name(d, "name");
    struct oc_wire w = oc_wire_of(v.data, v.len);
    struct oc_wire_field f;
    char what[32];
    size_t n = 0;
    for (const char *s = d->short_name; *s && n + 2 < sizeof(what); s++) { /* "ValueInfo": "value info" */
        if (*s >= 'A' && *s <= 'Z' && n)
            what[n++] = ' ';
        what[n++] = (char)(*s >= 'A' && *s <= 'Z' ? *s - 'A' + 'a' : *s);
    }
    while (name && oc_wire_next(&w, &f))
        if (f.num == name->id && f.type == OC_WIRE_LEN && f.n) {
            oc_err_prefix(l->err, "%.*s '%.*s'", (int)n, what, f.n < 60 ? (int)f.n : 60,
                          (const char *)f.data);
            return;
        }
    oc_err_prefix(l->err, "%.*s", (int)n, what);
}

void *oc_header_read(struct oc_loader *l, const ProtobufCMessageDescriptor *d, ProtobufCBinaryData v)
{
    bool attribute = d == &oc__attribute__descriptor;
    uint64_t most = oc_input_limit(l->limits, OC_LIMIT_MODEL_MEMORY), used = l->m->arena.used_bytes;
    struct copy c = {.l = l,
                     .out = &l->copy,
                     .views = &l->views,
                     .most_bytes = most > used ? most - used : 0,
                     .most_string_bytes = oc_input_limit(l->limits, OC_LIMIT_STRING_BYTES),
                     .most_elements =
                         attribute ? oc_input_limit(l->limits, OC_LIMIT_LIST_ELEMENTS) : UINT64_MAX};
    ProtobufCAllocator stack = {stack_alloc, stack_free, &l->headers};
    ProtobufCMessage *m = NULL;
    oc_buf_clear(c.out);
    oc_buf_clear(c.views);
    int rc = copy_fields(&c, d, v, 0);
    if (rc == 0 && c.elements > c.most_elements)
        rc = oc_load_over(l, OC_LIMIT_LIST_ELEMENTS, c.elements, v.data);
    if (rc == 0 && (used > most || c.need_bytes > c.most_bytes))
        rc = oc_load_over(l, OC_LIMIT_MODEL_MEMORY, 0, v.data);
    if (rc == 0) {
        m = protobuf_c_message_unpack(d, &stack, c.out->n, (const uint8_t *)c.out->data);
        if (!m)
            oc_load_fail(l, OC_EFORMAT, v.data, "a field is damaged");
    }
    if (m)
        set_views(l, m);
    else
        name_message(l, d, v);
    if (c.out->cap > KEPT_COPY_BYTES)
        oc_buf_free(c.out);
    if (c.views->cap > KEPT_COPY_BYTES)
        oc_buf_free(c.views);
    return m;
}

const char *oc_protobuf_version(void)
{
    return protobuf_c_version();
}
