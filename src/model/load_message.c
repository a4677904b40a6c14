/* Unpacks messages: any of proto/onnx_header.proto with protobuf-c, TensorProto and SparseTensorProto to
 * struct oc_tensor.
 *
 * protobuf-c recurses without a limit, copies unknown fields, and needs 40 bytes for each field, so a message
 * is first copied without what the schema does not have: lengths, wire types, nesting and limits are checked
 * on the way. `bytes` fields are left out of the copy and become views of the file. */
#include <stdlib.h>
#include <string.h>

#include "base/ck.h"
#include "base/units.h"
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
    free(l->in.item);
    free(l->out.item);
    free(l->attributes.item);
    free(l->metadata.item);
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
    uint32_t nodes; /* number of the list of nodes, which is read from the file */
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
        if (!field || f.num == c->nodes)
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
                     .nodes = d == &oc__graph__descriptor      ? OC_GRAPH_NODES
                              : d == &oc__function__descriptor ? OC_FUNCTION_NODES
                                                               : 0,
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

/* ---- nodes ---------------------------------------------------------------------------------------------- */

static bool next_node(struct oc_node_list *list, ProtobufCBinaryData *v)
{
    struct oc_wire_field f;
    while (oc_wire_next(&list->at, &f))
        if (f.num == list->num && f.type == OC_WIRE_LEN) {
            *v = (ProtobufCBinaryData){f.n, (uint8_t *)(uintptr_t)f.data};
            return true;
        }
    return false;
}

struct oc_node_list oc_node_list_of(ProtobufCBinaryData v, uint32_t num)
{
    struct oc_node_list list = {.at = oc_wire_of(v.data, v.len), .num = num}, all = list;
    ProtobufCBinaryData node;
    while (list.n < UINT32_MAX && next_node(&all, &node))
        list.n++;
    return list;
}

ProtobufCBinaryData oc_node_list_next(struct oc_node_list *list)
{
    ProtobufCBinaryData node = {0};
    next_node(list, &node);
    return node;
}

/* most: OC_LIMIT_STRING_BYTES */
static int read_string(struct oc_loader *l, const struct oc_wire_field *f, uint64_t most, struct oc_str *out)
{
    if (f->n > most)
        return oc_load_over(l, OC_LIMIT_STRING_BYTES, f->n, f->data);
    oc_os_need(f->data, f->n);
    *out = oc_str((const char *)f->data, f->n ? strnlen((const char *)f->data, f->n) : 0);
    return 0;
}

static int wire_end(struct oc_loader *l, const struct oc_wire *w)
{
    return w->bad ? oc_load_fail(l, OC_EFORMAT, w->bad, "%s", w->why) : 0;
}

static void push_text(struct oc_text_list *list, struct oc_str s)
{
    OC_PUSH(list->item, list->n, list->cap) = s;
}

static void push_part(struct oc_part_list *list, const struct oc_wire_field *f)
{
    OC_PUSH(list->item, list->n, list->cap) = (ProtobufCBinaryData){f->n, (uint8_t *)(uintptr_t)f->data};
}

/* The fields of a NodeProto */
enum {
    NODE_INPUT = 1,
    NODE_OUTPUT,
    NODE_NAME,
    NODE_OP_TYPE,
    NODE_ATTRIBUTE,
    NODE_DOC, /* not read */
    NODE_DOMAIN,
    NODE_OVERLOAD,
    NODE_METADATA
};

static void take_node_text(struct oc_loader *l, uint32_t num, struct oc_str s, struct oc_node_header *h)
{
    switch (num) {
    case NODE_INPUT:
        push_text(&l->in, s);
        break;
    case NODE_OUTPUT:
        push_text(&l->out, s);
        break;
    case NODE_NAME:
        h->name = s;
        break;
    case NODE_OP_TYPE:
        h->op_type = s;
        break;
    case NODE_DOMAIN:
        h->domain = s;
        break;
    default:
        h->overload = s;
        break;
    }
}

/* *need_bytes: of memory for the node, as that of other messages. */
static int read_node_field(struct oc_loader *l, const struct oc_wire_field *f, uint64_t most_string_bytes,
                           struct oc_node_header *h, uint64_t *need_bytes)
{
    struct oc_str text;
    if (f->type != OC_WIRE_LEN || f->num > NODE_METADATA || f->num == NODE_DOC)
        return 0;
    if (f->num == NODE_ATTRIBUTE || f->num == NODE_METADATA) {
        *need_bytes += sizeof(struct view) + sizeof(ProtobufCBinaryData);
        push_part(f->num == NODE_ATTRIBUTE ? &l->attributes : &l->metadata, f);
        return 0;
    }
    *need_bytes += f->n + FIELD_BYTES;
    if (read_string(l, f, most_string_bytes, &text))
        return -1;
    take_node_text(l, f->num, text, h);
    return 0;
}

int oc_node_header_read(struct oc_loader *l, ProtobufCBinaryData v, struct oc_node_header *out)
{
    uint64_t most = oc_input_limit(l->limits, OC_LIMIT_MODEL_MEMORY), used = l->m->arena.used_bytes,
             most_string_bytes = oc_input_limit(l->limits, OC_LIMIT_STRING_BYTES), need_bytes = 0;
    struct oc_wire w = oc_wire_of(v.data, v.len);
    struct oc_wire_field f;
    int rc = 0;
    *out = (struct oc_node_header){
        .in = l->in.n, .out = l->out.n, .attribute = l->attributes.n, .metadata = l->metadata.n};
    while (rc == 0 && oc_wire_next(&w, &f)) {
        rc = read_node_field(l, &f, most_string_bytes, out, &need_bytes);
        if (rc == 0 && (used > most || need_bytes > most - used))
            rc = oc_load_over(l, OC_LIMIT_MODEL_MEMORY, 0, v.data);
    }
    if (rc == 0)
        rc = wire_end(l, &w);
    out->n_in = l->in.n - out->in;
    out->n_out = l->out.n - out->out;
    out->n_attribute = l->attributes.n - out->attribute;
    out->n_metadata = l->metadata.n - out->metadata;
    if (rc)
        name_message(l, &oc__node__descriptor, v);
    return rc;
}

/* ---- tensors ------------------------------------------------------------------------------------------ */

/* TensorProto and SparseTensorProto to struct oc_tensor: a view; elements are not read. A model has thousands
 * of tensors: the fields are read where they are, without a copy and protobuf-c's message. */

static int set_shape(struct oc_loader *l, const int64_t *dim, size_t rank, const uint8_t *at,
                     struct oc_tensor *t)
{
    if (rank > OC_MAX_RANK)
        return oc_load_fail(l, OC_ELIMIT, at, "tensor: more than %d dimensions", OC_MAX_RANK);
    bool zero = false, over = false;
    uint64_t elements = 1;
    for (size_t i = 0; i < rank; i++) {
        if (dim[i] < 0)
            return oc_load_fail(l, OC_EFORMAT, at, "tensor '%s': negative dimension %lld", t->name,
                                (long long)dim[i]);
        zero |= dim[i] == 0;
        over |= !oc_mul_u64(elements, (uint64_t)dim[i], &elements);
    }
    uint64_t bytes = 0;
    t->elements = zero ? 0 : elements;
    if (!zero && (over || !oc_bytes_of(t->dtype, elements, &bytes) || bytes > INT64_MAX))
        return oc_load_fail(l, OC_ELIMIT, at, "tensor '%s': its dimensions overflow 64 bits", t->name);
    if (t->elements > oc_input_limit(l->limits, OC_LIMIT_TENSOR_ELEMENTS)) {
        oc_load_over(l, OC_LIMIT_TENSOR_ELEMENTS, t->elements, at);
        return oc_err_prefix(l->err, "tensor '%.60s'", t->name);
    }
    t->dim = OC_COPY_ARRAY(&l->m->arena, dim, rank);
    t->rank = (uint8_t)rank;
    if (t->storage != OC_STORE_RAW && t->storage != OC_STORE_EXTERNAL)
        t->size_bytes = bytes;
    if (t->storage == OC_STORE_EXTERNAL && !t->size_bytes)
        t->size_bytes = bytes;
    if (t->storage == OC_STORE_RAW && bytes != t->size_bytes && t->dtype != OC_DT_STRING)
        oc_diag_add(&l->m->diags, OC_WARNING, "W-tensor-size", t->name,
                    "raw data has %llu bytes, the shape needs %llu", (unsigned long long)t->size_bytes,
                    (unsigned long long)bytes);
    return 0;
}

/* What a TensorProto says, without its elements. */
struct tensor_header {
    struct oc_str name, raw;
    uint32_t dtype, location;
    bool has_raw, has_lists; /* raw_data, lists of typed elements */
    const char *external_path;
    uint64_t external_offset, external_bytes;
    size_t rank;
    int64_t dim[OC_MAX_RANK];
};

static int read_dims(struct oc_loader *l, const struct oc_wire_field *f, const uint8_t *at,
                     struct tensor_header *h)
{
    uint64_t v[OC_MAX_RANK];
    size_t n = oc_wire_count(f, 0);
    if (n == SIZE_MAX)
        return oc_load_fail(l, OC_EFORMAT, at, "a list is truncated");
    if (n > OC_MAX_RANK - h->rank)
        return oc_load_fail(l, OC_ELIMIT, at, "more than %d dimensions", OC_MAX_RANK);
    oc_wire_numbers(f, 0, v);
    for (size_t i = 0; i < n; i++)
        h->dim[h->rank++] = (int64_t)v[i];
    return 0;
}

/* An entry of external_data. */
static int read_external(struct oc_loader *l, const struct oc_wire_field *entry, struct tensor_header *h)
{
    struct oc_wire w = oc_wire_of(entry->data, entry->n);
    struct oc_wire_field f;
    struct oc_str key = {0}, value = {0};
    while (oc_wire_next(&w, &f)) {
        const ProtobufCFieldDescriptor *d = field_of(&oc__pair__descriptor, f.num);
        if (d && f.type == OC_WIRE_LEN &&
            read_string(l, &f, oc_input_limit(l->limits, OC_LIMIT_STRING_BYTES),
                        d->offset == offsetof(Oc__Pair, key) ? &key : &value))
            return -1;
    }
    bool offset = oc_str_eq(key, "offset"), number = offset || oc_str_eq(key, "length");
    if (oc_str_eq(key, "location"))
        h->external_path = oc_load_text(l, value.s, value.n);
    if (number && !oc_parse_u64(value.s, value.n, offset ? &h->external_offset : &h->external_bytes))
        return oc_load_fail(l, OC_EFORMAT, entry->data, "external %s '%.*s' is not a number",
                            offset ? "offset" : "length", value.n < 200 ? (int)value.n : 200,
                            value.n ? value.s : "");
    return wire_end(l, &w);
}

/* A field, by its member of protobuf-c's struct; of lists of typed elements it only matters that they exist. Lists
 * of numbers may be packed or not. */
static int read_tensor_field(struct oc_loader *l, const struct oc_wire_field *f, const uint8_t *at,
                             struct tensor_header *h)
{
    const ProtobufCFieldDescriptor *d = field_of(&oc__tensor__descriptor, f->num);
    bool lists = d && d->type == PROTOBUF_C_TYPE_BYTES && d->offset != offsetof(Oc__Tensor, raw_data);
    bool packed = d && d->offset == offsetof(Oc__Tensor, dims) && f->type == OC_WIRE_LEN;
    if (!d || (f->type != wire_type_of(d) && !lists && !packed))
        return 0;
    switch (d->offset) {
    case offsetof(Oc__Tensor, dims):
        return read_dims(l, f, at, h);
    case offsetof(Oc__Tensor, data_type):
        h->dtype = (uint32_t)f->v;
        return 0;
    case offsetof(Oc__Tensor, data_location):
        h->location = (uint32_t)f->v;
        return 0;
    case offsetof(Oc__Tensor, name):
        return read_string(l, f, oc_input_limit(l->limits, OC_LIMIT_STRING_BYTES), &h->name);
    case offsetof(Oc__Tensor, external_data):
        return read_external(l, f, h);
    case offsetof(Oc__Tensor, raw_data):
        h->has_raw = true;
        h->raw = oc_str((const char *)f->data, f->n);
        return 0;
    default:
        h->has_lists = true;
        return 0;
    }
}

static int read_tensor(struct oc_loader *l, ProtobufCBinaryData v, struct tensor_header *h)
{
    struct oc_wire w = oc_wire_of(v.data, v.len);
    struct oc_wire_field f;
    int rc = 0;
    *h = (struct tensor_header){.rank = 0};
    for (const uint8_t *at = w.p; rc == 0 && oc_wire_next(&w, &f); at = w.p)
        rc = read_tensor_field(l, &f, at, h);
    if (rc == 0)
        rc = wire_end(l, &w);
    if (rc)
        name_message(l, &oc__tensor__descriptor, v);
    return rc;
}

/* Checks for the first tensor of each external file whether the file exists and may be read; does not open
 * it. */
static void note_external(struct oc_loader *l, struct oc_tensor *t)
{
    const char *path = t->external_path ? t->external_path : "";
    bool again = path == l->last_path; /* texts are interned: compare pointers */
    uint32_t state = again ? l->last_state : OC_EXTERNAL_FOUND;
    bool is_new = !again && oc_map_add(&l->externals, path, strlen(path), &state, NULL);
    if (is_new && path[0]) {
        state = oc_external_look(l->m, path);
        oc_map_set(&l->externals, path, strlen(path), state);
    }
    l->last_path = path;
    l->last_state = state;
    t->missing = state == OC_EXTERNAL_MISSING;
    if (!path[0] || state == OC_EXTERNAL_OUTSIDE) {
        oc_diag_add(&l->m->diags, OC_WARNING, "W-external-path", t->name,
                    "external data '%s' refused: not a path inside the model's folder (--limit "
                    "external-data=anywhere allows it)",
                    path);
        t->external_path = NULL;
    } else if (is_new && state == OC_EXTERNAL_MISSING) {
        oc_diag_add(&l->m->diags, OC_WARNING, "W-external-missing", path,
                    "external data file is missing: weights have no values (sizes come from the model)");
    }
}

static void set_dtype(struct oc_loader *l, uint32_t dtype, struct oc_tensor *t)
{
    uint32_t end = l->m->built.n ? OC_DT_ALL : OC_DT_COUNT;
    t->dtype = dtype < end ? (uint8_t)dtype : OC_DT_UNDEFINED;
    if (dtype >= end)
        oc_diag_add(&l->m->diags, OC_WARNING, "W-dtype", t->name, "unknown data type %lu",
                    (unsigned long)dtype);
}

static enum oc_storage storage_of(const struct tensor_header *h)
{
    enum { EXTERNAL = 1 };
    if (h->location == EXTERNAL)
        return OC_STORE_EXTERNAL;
    if (h->has_raw)
        return OC_STORE_RAW;
    return h->has_lists ? OC_STORE_FIELDS : OC_STORE_NONE;
}

int oc_load_tensor(struct oc_loader *l, ProtobufCBinaryData v, struct oc_tensor *out)
{
    struct tensor_header h;
    if (read_tensor(l, v, &h))
        return -1;
    *out = (struct oc_tensor){.name = h.name.n ? oc_load_keep(l, h.name.s, h.name.n) : "",
                              .storage = (uint8_t)storage_of(&h),
                              .data = (const uint8_t *)h.raw.s,
                              .size_bytes = h.external_bytes ? h.external_bytes : h.raw.n,
                              .external_path = h.external_path,
                              .external_offset_bytes = h.external_offset,
                              .where = oc_load_offset(l, v.data)};
    set_dtype(l, h.dtype, out);
    if (out->storage == OC_STORE_FIELDS) {
        out->data = v.data;
        out->message_bytes = v.len;
    }
    if (out->storage == OC_STORE_EXTERNAL)
        note_external(l, out);
    return set_shape(l, h.dim, h.rank, v.data, out);
}

int oc_load_sparse(struct oc_loader *l, ProtobufCBinaryData v, struct oc_tensor *out)
{
    struct oc_header_mark mark = oc_header_mark(l);
    const Oc__SparseTensor *h = oc_header_read(l, &oc__sparse_tensor__descriptor, v);
    struct oc_tensor *values = OC_NEW(&l->m->arena, struct oc_tensor);
    struct oc_tensor *indices = OC_NEW(&l->m->arena, struct oc_tensor);
    if (!h || oc_load_tensor(l, h->values, values) || oc_load_tensor(l, h->indices, indices))
        return -1;
    *out = (struct oc_tensor){.name = values->name,
                              .dtype = values->dtype,
                              .storage = OC_STORE_SPARSE,
                              .values = values,
                              .indices = indices,
                              .where = oc_load_offset(l, v.data)};
    if (set_shape(l, h->dims, h->n_dims, v.data, out))
        return -1;
    out->size_bytes = values->size_bytes + indices->size_bytes;
    oc_header_release(l, mark);
    return 0;
}
