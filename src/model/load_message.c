/* Unpacks messages: any of proto/onnx_header.proto with protobuf-c, TensorProto and SparseTensorProto to
 * struct oc_tensor, AttributeProto to struct oc_attr.
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

/* ---- tensors ------------------------------------------------------------------------------------------ */

/* TensorProto and SparseTensorProto to struct oc_tensor: a view; elements are not read. */

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

/* Entries of external_data. */
static int load_external(struct oc_loader *l, const Oc__Tensor *h, const uint8_t *at, struct oc_tensor *t)
{
    for (size_t i = 0; i < h->n_external_data; i++) {
        const Oc__Pair *p = h->external_data[i];
        bool offset = strcmp(p->key, "offset") == 0, number = offset || strcmp(p->key, "length") == 0;
        if (strcmp(p->key, "location") == 0)
            t->external_path = oc_load_text(l, p->value);
        if (number &&
            !oc_parse_u64(p->value, strlen(p->value), offset ? &t->external_offset_bytes : &t->size_bytes))
            return oc_load_fail(l, OC_EFORMAT, at, "tensor '%s': external %s '%.200s' is not a number",
                                t->name, p->key, p->value);
    }
    return 0;
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
    if (!path[0] || state == OC_EXTERNAL_OUTSIDE) {
        oc_diag_add(&l->m->diags, OC_WARNING, "W-external-path", t->name,
                    "external data '%s' refused: not a path inside the model's folder (--external-data "
                    "anywhere allows it)",
                    path);
        t->external_path = NULL;
    } else if (is_new && state == OC_EXTERNAL_MISSING) {
        oc_diag_add(&l->m->diags, OC_WARNING, "W-external-missing", path,
                    "external data file is missing: weights have no values (sizes come from the model)");
    }
}

static void set_dtype(struct oc_loader *l, const Oc__Tensor *h, struct oc_tensor *t)
{
    uint32_t dtype = (uint32_t)h->data_type, end = l->m->built.n ? OC_DT_ALL : OC_DT_COUNT;
    t->dtype = dtype < end ? (uint8_t)dtype : OC_DT_UNDEFINED;
    if (dtype >= end)
        oc_diag_add(&l->m->diags, OC_WARNING, "W-dtype", t->name, "unknown data type %lu",
                    (unsigned long)dtype);
}

static enum oc_storage storage_of(const Oc__Tensor *h)
{
    enum { EXTERNAL = 1 };
    if (h->data_location == EXTERNAL)
        return OC_STORE_EXTERNAL;
    if (h->has_raw_data)
        return OC_STORE_RAW;
    return h->has_float_data || h->has_int32_data || h->has_string_data || h->has_int64_data ||
                   h->has_double_data || h->has_uint64_data
               ? OC_STORE_FIELDS
               : OC_STORE_NONE;
}

int oc_load_tensor(struct oc_loader *l, ProtobufCBinaryData v, struct oc_tensor *out)
{
    struct oc_header_mark mark = oc_header_mark(l);
    const Oc__Tensor *h = oc_header_read(l, &oc__tensor__descriptor, v);
    if (!h)
        return -1;
    *out = (struct oc_tensor){.name = h->name[0] ? oc_load_keep(l, h->name, strlen(h->name)) : "",
                              .storage = (uint8_t)storage_of(h),
                              .where = oc_load_offset(l, v.data)};
    set_dtype(l, h, out);
    if (h->has_raw_data) {
        out->data = h->raw_data.data;
        out->size_bytes = h->raw_data.len;
    }
    if (load_external(l, h, v.data, out))
        return -1;
    if (out->storage == OC_STORE_FIELDS) {
        out->data = v.data;
        out->message_bytes = v.len;
    }
    if (out->storage == OC_STORE_EXTERNAL)
        note_external(l, out);
    int rc = set_shape(l, h->dims, h->n_dims, v.data, out);
    oc_header_release(l, mark);
    return rc;
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

/* ---- attributes --------------------------------------------------------------------------------------- */

/* AttributeProto to struct oc_attr: numbers and strings are copied, tensors are views, graphs are loaded
 * later. */

/* The type, or that of the last member of a file of IR version 1 or 2, which have no type. */
static uint8_t attribute_type(const Oc__Attribute *h)
{
    const struct {
        bool set;
        uint8_t type;
    } member[] = {{h->has_f, OC_ATTR_FLOAT},
                  {h->has_i, OC_ATTR_INT},
                  {h->has_s, OC_ATTR_STRING},
                  {h->has_t, OC_ATTR_TENSOR},
                  {h->has_g, OC_ATTR_GRAPH},
                  {h->n_floats > 0, OC_ATTR_FLOATS},
                  {h->n_ints > 0, OC_ATTR_INTS},
                  {h->n_strings > 0, OC_ATTR_STRINGS},
                  {h->n_tensors > 0, OC_ATTR_TENSORS},
                  {h->n_graphs > 0, OC_ATTR_GRAPHS},
                  {h->has_tp, OC_ATTR_TYPE_PROTO},
                  {h->n_type_protos > 0, OC_ATTR_TYPE_PROTOS},
                  {h->has_sparse_tensor, OC_ATTR_SPARSE_TENSOR},
                  {h->n_sparse_tensors > 0, OC_ATTR_SPARSE_TENSORS}};
    uint32_t type = (uint32_t)h->type;
    for (size_t i = 0; !h->type && i < OC_COUNT(member); i++)
        if (member[i].set)
            type = member[i].type;
    return type <= OC_ATTR_TYPE_PROTOS ? (uint8_t)type : OC_ATTR_NONE;
}

static struct oc_bytes load_bytes(struct oc_loader *l, ProtobufCBinaryData v)
{
    const char *s = v.len ? oc_strndup(&l->m->arena, (const char *)v.data, v.len) : "";
    return (struct oc_bytes){.s = s, .n = v.len};
}

static const struct oc_bytes *load_strings(struct oc_loader *l, const Oc__Attribute *h)
{
    struct oc_bytes *list = OC_NEW_ARRAY(&l->m->arena, h->n_strings, struct oc_bytes);
    for (size_t i = 0; i < h->n_strings; i++)
        list[i] = load_bytes(l, h->strings[i]);
    return list;
}

/* The tensors of the four members. */
static int load_tensors(struct oc_loader *l, const Oc__Attribute *h, struct oc_attr *out)
{
    const struct {
        const ProtobufCBinaryData *view;
        size_t n;
        int (*load)(struct oc_loader *, ProtobufCBinaryData, struct oc_tensor *);
    } member[] = {{&h->t, h->has_t ? 1U : 0U, oc_load_tensor},
                  {h->tensors, h->n_tensors, oc_load_tensor},
                  {&h->sparse_tensor, h->has_sparse_tensor ? 1U : 0U, oc_load_sparse},
                  {h->sparse_tensors, h->n_sparse_tensors, oc_load_sparse}};
    size_t n = member[0].n + member[1].n + member[2].n + member[3].n;
    struct oc_tensor *list = OC_NEW_ARRAY(&l->m->arena, n, struct oc_tensor);
    out->tensors_or_null = n ? list : NULL;
    out->n = (uint32_t)n;
    for (size_t i = 0; i < OC_COUNT(member); i++)
        for (size_t k = 0; k < member[i].n; k++)
            if (member[i].load(l, member[i].view[k], list++))
                return -1;
    return 0;
}

/* Numbers the graphs; they are loaded after the graph of the node. */
static int load_graphs(struct oc_loader *l, const struct oc_scope *sc, uint32_t owner, const Oc__Attribute *h,
                       struct oc_attr *out)
{
    size_t n = h->n_graphs + (h->has_g ? 1U : 0U);
    uint32_t *list = n ? OC_NEW_ARRAY(&l->m->arena, n, uint32_t) : NULL;
    out->graph = list;
    out->n = (uint32_t)n;
    for (size_t i = 0; i < n; i++) {
        ProtobufCBinaryData v = i < h->n_graphs ? h->graphs[i] : h->g;
        if (sc->depth + 1 > oc_input_limit(l->limits, OC_LIMIT_DEPTH))
            return oc_load_over(l, OC_LIMIT_DEPTH, 0, v.data);
        list[i] = oc_load_new_graph(l);
        OC_GROW(l->body, l->n_body, l->cap_body);
        l->body[l->n_body++] = (struct oc_body){.view = v, .graph = list[i], .owner = owner};
    }
    return 0;
}

/* Inside a function body: resolves a reference to the call's attribute, or to the function's default. */
static int resolve_reference(struct oc_loader *l, const struct oc_scope *sc, uint32_t owner, const char *ref,
                             struct oc_attr *out, bool *dropped)
{
    const struct oc_call *call = sc->call;
    const struct oc_attr *given = oc_node_attr(&l->m->node[call->node], ref);
    const Oc__Function *fn = call->fn->header;
    const char *name = out->name;
    *dropped = !given;
    if (given)
        *out = *given;
    for (size_t i = 0; !given && i < fn->n_attribute_proto; i++) {
        const Oc__Attribute *h = oc_header_read(l, &oc__attribute__descriptor, fn->attribute_proto[i]);
        if (!h)
            return -1;
        if (strcmp(h->name, ref) != 0 || h->ref_attr_name[0])
            continue;
        if (oc_load_attr(l, sc, owner, fn->attribute_proto[i], out, dropped))
            return -1;
        break;
    }
    out->name = name;
    return 0;
}

static int load_members(struct oc_loader *l, const struct oc_scope *sc, uint32_t owner,
                        const Oc__Attribute *h, struct oc_attr *out)
{
    static const int64_t no_ints[1];
    static const float no_floats[1];
    static const struct oc_bytes no_strings[1];
    struct oc_arena *arena = &l->m->arena;
    out->type = attribute_type(h);
    out->n = 1;
    out->f = h->f;
    out->i = h->i;
    out->s = load_bytes(l, h->s);
    out->ints = h->n_ints ? OC_COPY_ARRAY(arena, h->ints, h->n_ints) : no_ints;
    out->floats = h->n_floats ? OC_COPY_ARRAY(arena, h->floats, h->n_floats) : no_floats;
    out->strings = h->n_strings ? load_strings(l, h) : no_strings;
    switch (out->type) {
    case OC_ATTR_FLOATS:
        out->n = (uint32_t)h->n_floats;
        return 0;
    case OC_ATTR_INTS:
        out->n = (uint32_t)h->n_ints;
        return 0;
    case OC_ATTR_STRINGS:
        out->n = (uint32_t)h->n_strings;
        return 0;
    case OC_ATTR_TENSOR:
    case OC_ATTR_TENSORS:
    case OC_ATTR_SPARSE_TENSOR:
    case OC_ATTR_SPARSE_TENSORS:
        return load_tensors(l, h, out);
    case OC_ATTR_GRAPH:
    case OC_ATTR_GRAPHS:
        return load_graphs(l, sc, owner, h, out);
    default:
        return 0;
    }
}

/* Where the cache has the message, if at all; NULL: it is too long. */
static struct oc_recent_attr *recent_attribute(struct oc_loader *l, ProtobufCBinaryData v)
{
    static const struct oc_hash_secret none = {{0x9e3779b97f4a7c15u, 0xbf58476d1ce4e5b9u}};
    if (!v.len || v.len > sizeof(l->recent_attr->message))
        return NULL;
    oc_os_need(v.data, v.len);
    return &l->recent_attr[oc_hash(&none, (const char *)v.data, v.len) % OC_COUNT(l->recent_attr)];
}

int oc_load_attr(struct oc_loader *l, const struct oc_scope *sc, uint32_t owner, ProtobufCBinaryData v,
                 struct oc_attr *out, bool *dropped)
{
    struct oc_recent_attr *recent = recent_attribute(l, v);
    *dropped = false;
    if (recent && recent->n == v.len && memcmp(recent->message, v.data, v.len) == 0) {
        *out = recent->attr;
        return 0;
    }
    struct oc_header_mark mark = oc_header_mark(l);
    const Oc__Attribute *h = oc_header_read(l, &oc__attribute__descriptor, v);
    if (!h)
        return -1;
    *out = (struct oc_attr){.name = oc_load_text(l, h->name)};
    int rc = h->ref_attr_name[0] && sc->call ? resolve_reference(l, sc, owner, h->ref_attr_name, out, dropped)
                                             : load_members(l, sc, owner, h, out);
    if (rc == 0 && recent && !h->ref_attr_name[0] && !out->tensors_or_null && !out->graph) {
        memcpy(recent->message, v.data, v.len);
        recent->n = v.len;
        recent->attr = *out;
    }
    oc_header_release(l, mark);
    return rc;
}
