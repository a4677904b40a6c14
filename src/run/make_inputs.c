/* Inputs for a recording, generated from the model: types, shapes, values that it accepts. */
#include "run/record_files.h"

#include <math.h>
#include <string.h>

#include "base/ck.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/str.h"
#include "base/units.h"
#include "base/wire.h"
#include "onnxcost.h"
#include "ops/op.h"

/* Allowed values of a scalar: constants that the model compares it with (a sampling rate, a mode). */

static bool constant_int(const struct oc_model *m, uint32_t value, int64_t *out)
{
    const struct oc_value *v = &m->value[value];
    const struct oc_tensor *t = v->constant              ? v->constant
                                : v->producer != OC_NONE ? oc_node_constant(&m->node[v->producer])
                                                         : NULL;
    struct oc_tensor_bytes b;
    if (!t || t->elements != 1 || t->dtype != OC_DT_INT64 || !oc_tensor_bytes_open(m, t, &b))
        return false;
    bool whole = b.size_bytes == sizeof(*out);
    if (whole)
        *out = (int64_t)oc_load_le(b.data, sizeof(*out));
    oc_tensor_bytes_close(&b);
    return whole;
}

/* The first constant in the file that an Equal of the model compares the value with. False: none does. */
static bool compared_value(const struct oc_model *m, uint32_t value, int64_t *out)
{
    for (uint32_t i = 0; i < m->n_node; i++) {
        const struct oc_node *n = &m->node[i];
        if (strcmp(n->op_type, "Equal") != 0 || n->n_in != 2 || n->in[0] == OC_NONE || n->in[1] == OC_NONE)
            continue;
        for (unsigned slot = 0; slot < 2; slot++)
            if (n->in[slot] == value && constant_int(m, n->in[1 - slot], out))
                return true;
    }
    return false;
}

/* Elements of large inputs repeat after so many: a prime number, so that rows differ. */
#define PERIOD UINT64_C(1048583)

struct number { /* both forms of one element */
    int64_t i;
    double d;
};

struct maker {
    const struct oc_model *m;
    struct oc_arena *a;
    struct oc_err *err;
    const struct oc_run_input *all;
    size_t n_all;
    uint64_t bytes;  /* of the inputs up to now */
    uint64_t random; /* state of oc_random */
};

static double next_real(struct maker *k) /* [-1, 1) */
{
    return (double)(oc_random(&k->random) >> 11) * 0x1p-52 - 1;
}

static const char *make_inputs_name_of(const struct maker *k, const struct oc_run_input *in)
{
    return k->m->value[in->value].name;
}

static bool make_inputs_has(const char *text, const char *word)
{
    size_t n = strlen(word);
    for (; *text; text++)
        if (!oc_ncasecmp(text, word, n))
            return true;
    return false;
}

/* ---- one element ------------------------------------------------------------------------------------------ */

static uint16_t bfloat16_of(double d)
{
    float f = (float)d;
    uint32_t u;
    memcpy(&u, &f, sizeof(u));
    return (uint16_t)(u >> 16);
}

/* Rounds towards zero; underflow becomes 0, overflow infinite. */
static uint16_t float16_of(double d)
{
    float f = (float)d;
    uint32_t u;
    memcpy(&u, &f, sizeof(u));
    uint32_t sign = (u >> 16) & 0x8000;
    int32_t exponent = (int32_t)((u >> 23) & 0xff) - 127 + 15;
    if (exponent <= 0)
        return (uint16_t)sign;
    if (exponent >= 31)
        return (uint16_t)(sign | 0x7c00);
    return (uint16_t)(sign | (uint32_t)exponent << 10 | ((u >> 13) & 0x3ff));
}

static void make_inputs_put(uint8_t dtype, void *data, uint64_t at, struct number v)
{
    switch (dtype) {
    case OC_DT_FLOAT:
        ((float *)data)[at] = (float)v.d;
        return;
    case OC_DT_DOUBLE:
        ((double *)data)[at] = v.d;
        return;
    case OC_DT_FLOAT16:
        ((uint16_t *)data)[at] = float16_of(v.d);
        return;
    case OC_DT_BFLOAT16:
        ((uint16_t *)data)[at] = bfloat16_of(v.d);
        return;
    case OC_DT_COMPLEX64:
        ((float *)data)[2 * at] = (float)v.d;
        return;
    case OC_DT_COMPLEX128:
        ((double *)data)[2 * at] = v.d;
        return;
    case OC_DT_BOOL:
        ((uint8_t *)data)[at] = v.i != 0;
        return;
    case OC_DT_INT8:
        ((int8_t *)data)[at] = (int8_t)v.i;
        return;
    case OC_DT_UINT8:
        ((uint8_t *)data)[at] = (uint8_t)v.i;
        return;
    case OC_DT_INT16:
        ((int16_t *)data)[at] = (int16_t)v.i;
        return;
    case OC_DT_UINT16:
        ((uint16_t *)data)[at] = (uint16_t)v.i;
        return;
    case OC_DT_INT32:
        ((int32_t *)data)[at] = (int32_t)v.i;
        return;
    case OC_DT_UINT32:
        ((uint32_t *)data)[at] = (uint32_t)v.i;
        return;
    default:
        ((int64_t *)data)[at] = v.i;
        return; /* and uint64 */
    }
}

static uint64_t in_period(const struct oc_run_input *in)
{
    return in->elements < PERIOD ? in->elements : PERIOD;
}

/* Fills what follows the first period. */
static void repeat(struct oc_run_input *in)
{
    uint64_t made = in->elements > PERIOD ? in->size_bytes / in->elements * PERIOD : in->size_bytes;
    for (uint64_t n; made < in->size_bytes; made += n) {
        n = in->size_bytes - made < made ? in->size_bytes - made : made;
        memcpy((char *)in->data + made, in->data, (size_t)n);
    }
}

static void make_inputs_fill(struct oc_run_input *in, struct number v)
{
    for (uint64_t i = 0; i < in_period(in); i++)
        make_inputs_put(in->dtype, in->data, i, v);
    repeat(in);
}

/* ---- contents --------------------------------------------------------------------------------------------- */

static void fill_reals(struct maker *k, struct oc_run_input *in)
{
    uint64_t step = in->dtype == OC_DT_COMPLEX64 || in->dtype == OC_DT_COMPLEX128 ? 2 : 1;
    uint8_t dtype = in->dtype == OC_DT_COMPLEX64    ? OC_DT_FLOAT
                    : in->dtype == OC_DT_COMPLEX128 ? OC_DT_DOUBLE
                                                    : in->dtype;
    for (uint64_t i = 0; i < in_period(in) * step; i++)
        make_inputs_put(dtype, in->data, i, (struct number){.d = next_real(k)});
    repeat(in);
    in->content = "-1 to 1";
}

static void fill_between(struct maker *k, struct oc_run_input *in, int64_t from, uint64_t count)
{
    for (uint64_t i = 0; i < in_period(in); i++)
        make_inputs_put(in->dtype, in->data, i,
                        (struct number){.i = from + (int64_t)(oc_random(&k->random) % count)});
    repeat(in);
    in->content = oc_printf(k->a, "%lld to %lld", (long long)from, (long long)(from + (int64_t)count - 1));
}

static void fill_const(struct maker *k, struct oc_run_input *in, int64_t v)
{
    make_inputs_fill(in, (struct number){.i = v, .d = (double)v});
    in->content = oc_printf(k->a, "%lld", (long long)v);
}

static void fill_positions(struct maker *k, struct oc_run_input *in, uint64_t rows)
{
    uint64_t last = in->rank ? (uint64_t)in->dim[in->rank - 1] : 1;
    for (uint64_t i = 0; i < in->elements; i++) {
        uint64_t at = i % last;
        make_inputs_put(in->dtype, in->data, i, (struct number){.i = (int64_t)(rows ? at % rows : at)});
    }
    in->content = last > 1 ? oc_printf(k->a, "0, 1 ... %llu", (unsigned long long)(last - 1)) : "0";
}

static void fill_strings(struct oc_run_input *in, const char *text)
{
    for (uint64_t i = 0; i < in->elements; i++)
        ((const char **)in->data)[i] = text;
    in->content = text;
}

static int64_t longest_other(const struct maker *k, const struct oc_run_input *in)
{
    int64_t longest = 1;
    for (size_t i = 0; i < k->n_all; i++)
        for (uint32_t d = 1; d < k->all[i].rank && &k->all[i] != in; d++)
            longest = k->all[i].dim[d] > longest ? k->all[i].dim[d] : longest;
    return longest;
}

/* Maximum of the type, plus one. */
static uint64_t room(const struct oc_run_input *in)
{
    const struct oc_dtype_info *t = oc_dtype_info(in->dtype);
    bool is_signed = in->dtype == OC_DT_INT8 || in->dtype == OC_DT_INT16 || in->dtype == OC_DT_INT32 ||
                     in->dtype == OC_DT_INT64;
    unsigned bits = is_signed ? t->bits - 1u : t->bits;
    return bits >= 62 ? UINT64_C(1) << 62 : UINT64_C(1) << bits;
}

/* ---- table rows --------------------------------------------------------------------------------------- */

/* Valid values of ids: follows an input to the tables in which it is looked up. */

/* Slots with indices, and their tables. `by_axis`: along the attribute "axis", else the first axis. */
static const struct lookup {
    const char *op_type;
    uint8_t index, table;
    bool by_axis;
} lookups[] = {
    {"Gather", 1, 0, true},
    {"GatherElements", 1, 0, true},
    {"GatherBlockQuantized", 1, 0, false},
    {"EmbedLayerNormalization", 0, 2, false},
    {"EmbedLayerNormalization", 1, 4, false},
    {"EmbedLayerNormalization", 8, 3, false},
};

struct follow {
    const struct oc_model *m;
    bool *carries; /* by value: has elements of the input */
    uint64_t rows;
};

/* Dimension `axis` of a constant, also after nodes that keep its shape; 0: unknown. */
static uint64_t constant_dim(const struct oc_model *m, uint32_t value, int64_t axis)
{
    const struct oc_tensor *t = oc_value_constant(m, value);
    axis += t && axis < 0 ? t->rank : 0;
    return t && axis >= 0 && axis < t->rank ? (uint64_t)t->dim[axis] : 0;
}

static bool rows_are_carried(const struct follow *f, const struct oc_node *n, uint32_t slot)
{
    return slot < n->n_in && n->in[slot] != OC_NONE && f->carries[n->in[slot]];
}

static void look_up_rows(struct follow *f, const struct oc_node *n)
{
    for (size_t i = 0; i < OC_COUNT(lookups); i++) {
        const struct lookup *l = &lookups[i];
        if (strcmp(l->op_type, n->op_type) || !rows_are_carried(f, n, l->index) || l->table >= n->n_in)
            continue;
        int64_t axis = l->by_axis ? oc_node_int(n, "axis", 0) : 0;
        uint64_t rows = constant_dim(f->m, n->in[l->table], axis);
        if (rows && (!f->rows || rows < f->rows))
            f->rows = rows;
    }
}

static void pass_on(struct follow *f, const struct oc_node *n)
{
    if (n->kind == OC_NODE_CALL) {
        const struct oc_graph *body = &f->m->graph[n->body];
        for (uint32_t i = 0; i < body->n_input && i < n->n_in; i++)
            if (rows_are_carried(f, n, i))
                f->carries[body->input[i]] = true;
        return;
    }
    const struct oc_op *op = oc_op_find(n->domain, n->op_type, n->opset);
    if (!oc_op_selects(op))
        return;
    /* the table of a Gather is data, too: looked-up elements of the input are its elements */
    bool from = rows_are_carried(f, n, 0);
    for (uint32_t i = 1; i < n->n_in && !from; i++)
        from = rows_are_carried(f, n, i) && op->op_class != OC_OP_GATHER;
    for (uint32_t i = 0; from && i < n->n_out; i++)
        if (n->out[i] != OC_NONE)
            f->carries[n->out[i]] = true;
}

/* Rows of the smallest table in which elements of the value are looked up; 0: none is known. */
static uint64_t table_rows(const struct oc_model *m, uint32_t value, struct oc_arena *a)
{
    struct follow f = {.m = m, .carries = OC_NEW_ARRAY(a, m->n_value, bool)};
    f.carries[value] = true;
    for (uint32_t g = 0; g < m->n_graph; g++)
        for (uint32_t i = 0; i < m->graph[g].n_node; i++) {
            const struct oc_node *n = &m->node[m->graph[g].node[i]];
            look_up_rows(&f, n);
            pass_on(&f, n);
        }
    return f.rows;
}

/* ---- ids ----------------------------------------------------------------------------------------------- */

static void fill_ints(struct maker *k, struct oc_run_input *in)
{
    const char *name = make_inputs_name_of(k, in);
    uint64_t rows = table_rows(k->m, in->value, k->a);
    int64_t compared;
    if (make_inputs_has(name, "position"))
        fill_positions(k, in, rows);
    else if (rows)
        fill_between(k, in, 0, rows < room(in) ? rows : room(in));
    else if (make_inputs_has(name, "length") || make_inputs_has(name, "lens"))
        fill_const(k, in, longest_other(k, in));
    else if (in->dtype == OC_DT_INT8 || in->dtype == OC_DT_UINT8)
        fill_between(k, in, in->dtype == OC_DT_INT8 ? -128 : 0, 256);
    else if (in->elements == 1)
        fill_const(k, in, compared_value(k->m, in->value, &compared) ? compared : 1);
    else
        fill_between(k, in, 0, 2);
}

static int make_up(struct maker *k, struct oc_run_input *in)
{
    const struct oc_dtype_info *t = oc_dtype_info(in->dtype);
    bool small = t->bits < 8 || (t->kind == OC_KIND_FLOAT && t->bits == 8);
    if (t->kind == OC_KIND_STRING) {
        fill_strings(in, "text");
    } else if (t->kind == OC_KIND_NONE || small) {
        return oc_fail(k->err, OC_EUNSUPPORTED,
                       "input '%s': no contents can be generated for element type %s; "
                       "--value INPUT=@file.pb gives it",
                       make_inputs_name_of(k, in), t->name);
    } else if (make_inputs_has(make_inputs_name_of(k, in), "mask")) {
        fill_const(k, in, 1);
    } else if (t->kind == OC_KIND_INT) {
        fill_ints(k, in);
    } else if (t->kind == OC_KIND_BOOL) {
        if (in->elements == 1)
            fill_const(k, in, 0);
        else
            fill_between(k, in, 0, 2);
    } else {
        fill_reals(k, in);
    }
    return 0;
}

/* ---- what the user gives ---------------------------------------------------------------------------------- */

static bool make_inputs_parse_number(const char *s, size_t n, unsigned dtype, struct number *out)
{
    bool is_true = n == 4 && !memcmp(s, "true", 4), is_false = n == 5 && !memcmp(s, "false", 5);
    if (dtype == OC_DT_BOOL && (is_true || is_false)) {
        *out = (struct number){.i = is_true, .d = is_true};
        return true;
    }
    if (oc_parse_i64(s, n, &out->i)) {
        out->d = (double)out->i;
        return true;
    }
    if (!oc_parse_double(s, n, &out->d))
        return false;
    out->i = fabs(out->d) < 9e18 ? (int64_t)out->d : 0;
    return true;
}

static int make_inputs_bad_value(struct maker *k, const struct oc_run_input *in, const char *why)
{
    return oc_fail(k->err, OC_EARG, "--value %s: %s", make_inputs_name_of(k, in), why);
}

static int make_inputs_from_text(struct maker *k, struct oc_run_input *in, const char *text)
{
    struct number v = {0};
    uint64_t count = 0;
    for (const char *p = text;; p++) {
        size_t n = strcspn(p, ",");
        if (!make_inputs_parse_number(p, n, in->dtype, &v))
            return make_inputs_bad_value(k, in, oc_printf(k->a, "'%.*s' is not a number", (int)n, p));
        if (count < in->elements)
            make_inputs_put(in->dtype, in->data, count, v);
        count++;
        p += n;
        if (!*p)
            break;
    }
    if (count == 1)
        make_inputs_fill(in, v);
    else if (count != in->elements)
        return make_inputs_bad_value(k, in,
                                     oc_printf(k->a, "%llu numbers for %llu elements",
                                               (unsigned long long)count, (unsigned long long)in->elements));
    in->content = strlen(text) <= 40 ? text : oc_printf(k->a, "%.36s ...", text);
    return 0;
}

/* Numbers of a file, which are little-endian, in the byte order of this machine. width: bytes of a number; 0:
 * less than one. */
static void copy_numbers(uint8_t *out, const uint8_t *from, size_t bytes, size_t width)
{
    memcpy(out, from, bytes);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    for (size_t i = 0; width && i < bytes; i++)
        out[i] = from[i - i % width + width - 1 - i % width];
#else
    (void)width;
#endif
}

static int make_inputs_from_file(struct maker *k, struct oc_run_input *in, const char *path)
{
    struct oc_model *holder;
    struct oc_tensor t;
    struct oc_tensor_bytes bytes;
    if (oc_tensor_load(path, &holder, &t, k->err))
        return -1;
    int rc = 0;
    if (t.dtype != in->dtype || t.elements != in->elements)
        rc = make_inputs_bad_value(k, in,
                                   oc_printf(k->a, "'%s' has %llu elements of %s, the input %llu of %s", path,
                                             (unsigned long long)t.elements, oc_dtype_info(t.dtype)->name,
                                             (unsigned long long)in->elements,
                                             oc_dtype_info(in->dtype)->name));
    else if (!oc_tensor_bytes_open(holder, &t, &bytes))
        rc = make_inputs_bad_value(k, in, oc_printf(k->a, "'%s' is not numeric", path));
    else {
        if (bytes.size_bytes == in->size_bytes)
            copy_numbers(in->data, bytes.data, (size_t)bytes.size_bytes, oc_dtype_info(in->dtype)->bits / 8);
        else
            rc = make_inputs_bad_value(k, in, oc_printf(k->a, "'%s' is truncated", path));
        oc_tensor_bytes_close(&bytes);
    }
    oc_model_free(holder);
    in->content = path;
    return rc;
}

static int from_user(struct maker *k, struct oc_run_input *in, const char *text)
{
    const struct oc_dtype_info *t = oc_dtype_info(in->dtype);
    if (*text == '@' && t->kind != OC_KIND_STRING)
        return make_inputs_from_file(k, in, text + 1);
    if (t->kind == OC_KIND_STRING) {
        fill_strings(in, text);
        return 0;
    }
    if (t->bits < 8 || (t->kind == OC_KIND_FLOAT && t->bits == 8))
        return make_inputs_bad_value(k, in, oc_printf(k->a, "elements of %s only come from a file", t->name));
    return make_inputs_from_text(k, in, text);
}

/* ---- the inputs ------------------------------------------------------------------------------------------- */

static int make_inputs_measure(struct maker *k, struct oc_run_input *in)
{
    bool text = oc_dtype_info(in->dtype)->kind == OC_KIND_STRING, fits = true;
    in->elements = 1;
    for (uint32_t i = 0; i < in->rank && fits; i++)
        fits = oc_mul_u64(in->elements, (uint64_t)in->dim[i], &in->elements);
    uint64_t size = 0;
    if (fits && text)
        fits = oc_mul_u64(in->elements, sizeof(char *), &size);
    else if (fits)
        fits = oc_bytes_of(in->dtype, in->elements, &size);
    in->size_bytes = size;
    char limit[OC_INPUT_LIMIT_TEXT];
    if (!fits || !oc_add_u64(k->bytes, size, &k->bytes) ||
        k->bytes > oc_input_limit(&k->m->limits, OC_LIMIT_INPUT_BYTES))
        return oc_fail(k->err, OC_ELIMIT, "%s%sinput '%s': %s; --dim or --shape sets its size", k->m->path,
                       *k->m->path ? ": " : "", make_inputs_name_of(k, in),
                       oc_input_limit_text(&k->m->limits, OC_LIMIT_INPUT_BYTES, fits ? k->bytes : 0, limit));
    in->data = oc_alloc(k->a, (size_t)size + 16);
    return 0;
}

int oc_make_inputs(const struct oc_model *m, const struct oc_value_bind *given, size_t n_given, uint64_t seed,
                   struct oc_run_input *in, size_t n, struct oc_arena *a, struct oc_err *err)
{
    struct maker k = {.m = m, .a = a, .err = err, .all = in, .n_all = n};
    for (size_t i = 0; i < n; i++) {
        const char *text = NULL;
        for (size_t v = 0; v < n_given; v++)
            if (!strcmp(given[v].input, make_inputs_name_of(&k, &in[i])))
                text = given[v].text;
        k.random = seed * UINT64_C(0x9e3779b97f4a7c15) + i;
        if (make_inputs_measure(&k, &in[i]) || (text ? from_user(&k, &in[i], text) : make_up(&k, &in[i])))
            return -1;
        uint8_t kind = oc_dtype_info(in[i].dtype)->kind;
        in[i].guessed = !text && in[i].elements == 1 && (kind == OC_KIND_INT || kind == OC_KIND_BOOL);
        if (!in[i].elements)
            in[i].content = "empty";
    }
    return 0;
}
