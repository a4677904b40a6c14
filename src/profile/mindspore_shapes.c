#include <string.h>

#include "base/units.h"
#include "profile/mindspore.h"
#include "profile/recorded_types.h"

#define MAX_SLOTS 256

bool ms_is_shapes_header(const struct oc_str *f, size_t n)
{
    return oc_csv_column(f, n, "op_info") != OC_CSV_NONE &&
           (oc_csv_column(f, n, "full_kernel_name") != OC_CSV_NONE ||
            oc_csv_column(f, n, "full_op_name") != OC_CSV_NONE);
}

static bool mindspore_shapes_is_header(void *ctx, const struct oc_str *f, size_t n)
{
    (void)ctx;
    return ms_is_shapes_header(f, n);
}

/* "NUMBER_TYPE_UINT8" (old), "FLOAT16"; UNKNOWN and END are not types. */
static unsigned mindspore_shapes_dtype_of(struct oc_str s)
{
    static const char prefix[] = "NUMBER_TYPE_";
    if (s.n > sizeof(prefix) - 1 && memcmp(s.s, prefix, sizeof(prefix) - 1) == 0)
        s = (struct oc_str){s.s + sizeof(prefix) - 1, s.n - (sizeof(prefix) - 1)};
    return oc_dtype_by_name(s.s, s.n);
}

struct slots {
    struct oc_type type[MAX_SLOTS];
    uint32_t n;
};

/* The shape is a list, or a text "2,3,227,227"; the writer uses the empty text for both "no shape" and a
 * scalar. */
static struct oc_type mindspore_shapes_read_tensor(struct oc_json *j, struct oc_arena *a)
{
    struct oc_type t = oc_tensor_type(OC_DT_UNDEFINED, oc_shape_unranked());
    struct oc_str key, text;
    unsigned dtype = OC_DT_UNDEFINED;
    for (oc_json_enter(j); oc_json_member(j, &key);) {
        if (oc_str_eq(key, "data_type") && oc_json_string(j, &text))
            dtype = mindspore_shapes_dtype_of(text);
        else if (!oc_str_eq(key, "shape"))
            oc_json_skip(j);
        else if (oc_json_peek(j) == OC_JSON_ARRAY)
            oc_recorded_dims(j, a, &t.shape);
        else if (oc_json_string(j, &text) && text.n && !oc_recorded_shape(a, text, dtype, &t))
            t.shape = oc_shape_unranked();
    }
    return oc_tensor_type(dtype, t.shape);
}

/* "input_12": input slot 12. False: another key. */
static bool mindspore_shapes_slot_of(struct oc_str key, const char *what, uint32_t *slot)
{
    size_t n = strlen(what);
    uint64_t v;
    if (key.n <= n || memcmp(key.s, what, n) != 0 || !oc_parse_u64(key.s + n, key.n - n, &v) ||
        v >= MAX_SLOTS)
        return false;
    *slot = (uint32_t)v;
    return true;
}

static void set_slot(struct slots *s, uint32_t slot, struct oc_type type)
{
    while (s->n <= slot)
        s->type[s->n++] = oc_tensor_type(OC_DT_UNDEFINED, oc_shape_unranked());
    s->type[slot] = type;
}

/* False: invalid JSON. */
static bool read_op_info(struct oc_str text, struct oc_arena *a, struct oc_prof_rec *rec)
{
    static const struct slots none;
    struct slots in = none, out = none;
    struct oc_stream *s = oc_stream_mem(text.s, text.n);
    struct oc_json *j = oc_json_open(s);
    struct oc_str key;
    uint64_t offset;
    for (oc_json_enter(j); oc_json_member(j, &key);) {
        uint32_t slot;
        if (mindspore_shapes_slot_of(key, "input_", &slot))
            set_slot(&in, slot, mindspore_shapes_read_tensor(j, a));
        else if (mindspore_shapes_slot_of(key, "output_", &slot))
            set_slot(&out, slot, mindspore_shapes_read_tensor(j, a));
        else
            oc_json_skip(j);
    }
    bool ok = !oc_json_error(j, &offset) && !oc_json_truncated(j);
    if (ok && in.n) {
        rec->in = OC_COPY_ARRAY(a, in.type, in.n);
        rec->n_in = in.n;
        rec->has_in = true;
    }
    if (ok && out.n) {
        rec->out = OC_COPY_ARRAY(a, out.type, out.n);
        rec->n_out = out.n;
        rec->has_out = true;
    }
    oc_json_close(j);
    oc_stream_close(s);
    return ok;
}

struct columns {
    size_t name, type, info;
};

static void mindspore_shapes_take_row(const struct oc_csv *c, const struct columns *col,
                                      const struct oc_str *f, size_t n, const struct oc_map *by_name,
                                      struct oc_profile *p, struct oc_prof_rec *rec)
{
    struct oc_str name = oc_csv_at(f, n, col->name), type = oc_csv_at(f, n, col->type);
    uint32_t i = oc_map_get(by_name, name.s, name.n);
    if (i == OC_NONE || rec[i].has_in || rec[i].has_out) /* several tasks of one operator: use the first */
        return;
    if (type.n)
        rec[i].op_type = oc_prof_text(p, type);
    if (!read_op_info(oc_csv_at(f, n, col->info), &p->arena, &rec[i]))
        oc_diag_add(&p->diags, OC_WARNING, "W-shapes", rec[i].name, "line %u: op_info is not valid JSON",
                    oc_csv_line_number(c));
}

static int mindspore_shapes_read_rows(struct oc_csv *c, const struct oc_map *by_name, struct oc_profile *p,
                                      struct oc_prof_rec *rec, struct oc_err *err)
{
    const struct oc_str *f;
    size_t n;
    if (oc_csv_need(c, mindspore_shapes_is_header, NULL, &f, &n, "with full_kernel_name and op_info", err) !=
        0)
        return -1;
    struct columns col = {oc_csv_column(f, n, "full_kernel_name"), oc_csv_column(f, n, "kernel_type"),
                          oc_csv_column(f, n, "op_info")};
    if (col.name == OC_CSV_NONE)
        col.name = oc_csv_column(f, n, "full_op_name");
    if (col.type == OC_CSV_NONE)
        col.type = oc_csv_column(f, n, "op_type");
    while (oc_csv_row(c, &f, &n))
        if (n > col.info && n > col.name)
            mindspore_shapes_take_row(c, &col, f, n, by_name, p, rec);
    return oc_csv_failed(c) ? oc_csv_error(c, err) : 0;
}

int ms_read_shapes(struct oc_stream *s, struct oc_profile *p, struct oc_prof_rec *rec, size_t n,
                   struct oc_err *err)
{
    struct oc_arena keys = {0};
    struct oc_map by_name = {.arena = &keys};
    struct oc_csv *c = oc_csv_open(s);
    for (size_t i = 0; i < n; i++) {
        uint32_t at = (uint32_t)i;
        oc_map_add(&by_name, rec[i].name, strlen(rec[i].name), &at, NULL);
    }
    int rc = mindspore_shapes_read_rows(c, &by_name, p, rec, err);
    oc_csv_close(c);
    oc_map_free(&by_name);
    oc_arena_free(&keys);
    return rc;
}
