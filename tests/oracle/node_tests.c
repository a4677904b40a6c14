/* Runs the models of the ONNX backend test set and compares what is inferred with the stored outputs.
 *
 *   node_tests FOLDER SKIPS      FOLDER/<group>/<test>/model.onnx with test_data_set_0/{input,output}_<i>.pb
 *
 * Declared shapes of outputs are dropped. Two passes over each model:
 *   shapes  graph inputs get the stored shapes; small integers are given as values, as a file would have
 * them. Every dim of an output must be the stored one; an unknown dim fails unless the test is listed as
 *           "data-dependent", and its upper bound must hold.
 *   values  every small input is a constant: shapes as before, and every element of an output that a fold
 * rule claims to know must equal the stored one. SKIPS has lines `<pattern> <kind> <reason>`; the kind is
 * "skip" or "data-dependent", '#' starts a comment. A pattern that meets no test is an error. Prints TAP,
 * then `N passed, N failed, N skipped`. */
#include <dirent.h>
#include <fnmatch.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/analysis.h"
#include "base/arena.h"
#include "model/wire.h"
#include "onnx.pb-c.h"

#define MAX_INPUT_VALUES 64 /* elements of an integer input that is given as a value in the first pass */

struct skip {
    char *pattern, *kind, *reason;
    unsigned hits;
};

struct run {
    struct oc_arena arena;
    struct skip *skip;
    size_t n_skip;
    unsigned n, passed, failed, skipped;
    unsigned values; /* output elements whose values were compared */
};

/* ---- files ------------------------------------------------------------------------------------------ */

static uint8_t *read_file(struct oc_arena *a, const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return NULL;
    fseek(f, 0, SEEK_END);
    long size = ftell(f);
    rewind(f);
    uint8_t *data = oc_alloc(a, size > 0 ? (size_t)size : 1);
    *n = fread(data, 1, size > 0 ? (size_t)size : 0, f);
    fclose(f);
    return data;
}

static void read_skips(struct run *r, const char *path)
{
    size_t n;
    char *text = (char *)read_file(&r->arena, path, &n);
    if (!text) {
        fprintf(stderr, "cannot read '%s'\n", path);
        exit(2);
    }
    text = oc_strndup(&r->arena, text, n);
    r->skip = OC_NEW_ARRAY(&r->arena, n / 4 + 1, struct skip);
    for (char *save, *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        char *rest, *pattern = strtok_r(line, " ", &rest);
        if (!pattern || *pattern == '#')
            continue;
        char *kind = strtok_r(NULL, " ", &rest);
        if (!kind || !rest || !*rest) {
            fprintf(stderr, "%s: '%s' has no kind or no reason\n", path, pattern);
            exit(2);
        }
        r->skip[r->n_skip++] = (struct skip){.pattern = pattern, .kind = kind, .reason = rest};
    }
}

static const char *listed(struct run *r, const char *name, const char *kind)
{
    for (size_t i = 0; i < r->n_skip; i++)
        if (strcmp(r->skip[i].kind, kind) == 0 && fnmatch(r->skip[i].pattern, name, 0) == 0) {
            r->skip[i].hits++;
            return r->skip[i].reason;
        }
    return NULL;
}

/* ---- one model -------------------------------------------------------------------------------------- */

struct test {
    struct run *r;
    const char *name, *dir;
    bool dynamic; /* data-dependent shapes are expected */
    bool fold;    /* the second pass */
    const char *problem;
};

static void problem(struct test *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void problem(struct test *t, const char *fmt, ...)
{
    char text[1000];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    if (!t->problem)
        t->problem = oc_printf(&t->r->arena, "%s pass: %s", t->fold ? "values" : "shapes", text);
}

/* The file's tensor under another name. The set stores bfloat16 as uint16, for want of such a numpy type. */
static Onnx__TensorProto *stored_tensor(struct test *t, const char *kind, size_t i,
                                        const Onnx__ValueInfoProto *v, const char *name)
{
    size_t n;
    const char *path = oc_printf(&t->r->arena, "%s/test_data_set_0/%s_%zu.pb", t->dir, kind, i);
    const uint8_t *data = read_file(&t->r->arena, path, &n);
    Onnx__TensorProto *p = data ? onnx__tensor_proto__unpack(NULL, n, data) : NULL;
    if (!p)
        return NULL;
    free(p->name);
    p->name = strdup(name);
    if (p->data_type == OC_DT_UINT16 && v->type->tensor_type->elem_type == OC_DT_BFLOAT16)
        p->data_type = OC_DT_BFLOAT16;
    return p;
}

static uint64_t count(const Onnx__TensorProto *p)
{
    uint64_t n = 1;
    for (size_t i = 0; i < p->n_dims; i++)
        n *= (uint64_t)p->dims[i];
    return n;
}

static bool is_value(const struct test *t, const Onnx__TensorProto *p)
{
    const struct oc_dtype_info *d = oc_dtype_info((unsigned)p->data_type);
    uint64_t n = count(p);
    if (t->fold)
        return n <= OC_MAX_DATA;
    if (d->kind == OC_KIND_FLOAT) /* scales of a Resize */
        return p->n_dims <= 1 && n <= 8;
    return n <= MAX_INPUT_VALUES;
}

static void add_initializer(Onnx__GraphProto *g, Onnx__TensorProto *p)
{
    g->initializer = oc_xrealloc(g->initializer, (g->n_initializer + 1) * sizeof(*g->initializer));
    g->initializer[g->n_initializer++] = p;
}

static bool is_tensor(const Onnx__ValueInfoProto *v)
{
    return v->type && v->type->tensor_type;
}

/* The declared shape becomes that of the stored tensor. */
static void declare(Onnx__ValueInfoProto *v, const Onnx__TensorProto *p)
{
    Onnx__TensorShapeProto *s = v->type->tensor_type->shape;
    for (size_t i = 0; s && i < s->n_dim && s->n_dim == p->n_dims; i++) {
        free(s->dim[i]->dim_param);
        s->dim[i]->dim_param = NULL;
        s->dim[i]->has_dim_value = true;
        s->dim[i]->dim_value = p->dims[i];
    }
}

/* Stored inputs go in as shapes or as initializers, stored outputs as initializers that nobody reads. */
static void prepare(struct test *t, Onnx__GraphProto *g)
{
    for (size_t i = 0; i < g->n_input; i++) {
        Onnx__TensorProto *p = NULL;
        if (is_tensor(g->input[i]))
            p = stored_tensor(t, "input", i, g->input[i], g->input[i]->name);
        if (!p)
            continue;
        declare(g->input[i], p);
        if (is_value(t, p))
            add_initializer(g, p);
        else
            onnx__tensor_proto__free_unpacked(p, NULL);
    }
    for (size_t i = 0; i < g->n_output; i++) {
        const char *name = oc_printf(&t->r->arena, "expected:%s", g->output[i]->name);
        Onnx__TensorProto *p =
            is_tensor(g->output[i]) ? stored_tensor(t, "output", i, g->output[i], name) : NULL;
        if (p)
            add_initializer(g, p);
        onnx__type_proto__free_unpacked(g->output[i]->type, NULL);
        g->output[i]->type = NULL;
    }
    for (size_t i = 0; i < g->n_value_info; i++)
        onnx__value_info_proto__free_unpacked(g->value_info[i], NULL);
    g->n_value_info = 0;
}

static const struct oc_value *find_value(const struct oc_model *m, const char *name)
{
    for (uint32_t i = 0; i < m->n_value; i++)
        if (m->value[i].graph == 0 && strcmp(m->value[i].name, name) == 0)
            return &m->value[i];
    return NULL;
}

/* ---- comparison ------------------------------------------------------------------------------------- */

static bool same_shape(struct test *t, const struct oc_analysis *a, const struct oc_type *got,
                       const struct oc_tensor *want)
{
    if (!got->shape.ranked || got->shape.rank != want->rank)
        return got->shape.ranked ? false : t->dynamic && !t->fold;
    for (unsigned i = 0; i < want->rank; i++) {
        struct oc_dim d = got->shape.dim[i];
        int64_t max = oc_dim_max_value(a->exprs, d);
        if (oc_is_known(d) ? d.v != want->dim[i] : (!t->dynamic || (max >= 0 && max < want->dim[i])))
            return false;
    }
    return true;
}

static bool same_elem(const struct oc_elem *got, const struct oc_elem *want, unsigned dtype)
{
    double a, b;
    if (got->kind == OC_E_UNKNOWN)
        return true; /* says nothing */
    if (got->kind == OC_E_STRING || want->kind == OC_E_STRING)
        return got->kind == want->kind && got->str && want->str && strcmp(got->str, want->str) == 0;
    if (!oc_elem_known_real(got, &a))
        return true;
    if (!oc_elem_known_real(want, &b))
        return false;
    double tolerance = oc_dtype_info(dtype)->kind != OC_KIND_FLOAT ? 0 : dtype == OC_DT_DOUBLE ? 1e-7 : 1e-5;
    if (oc_dtype_info(dtype)->bits == 16 && tolerance > 0)
        tolerance = 1e-2;
    return (isnan(a) && isnan(b)) || a == b || fabs(a - b) <= tolerance * (1 + fabs(b));
}

static void compare_data(struct test *t, const struct oc_analysis *a, const struct oc_value *v,
                         const struct oc_tensor *want)
{
    const struct oc_data *d = a->data[v - a->model->value];
    if (!d || want->elements > OC_MAX_DATA)
        return;
    struct oc_elem *e = OC_NEW_ARRAY(&t->r->arena, want->elements + 1, struct oc_elem);
    if (d->n != want->elements)
        problem(t, "output '%s': a value of %u elements instead of %llu", v->name, (unsigned)d->n,
                (unsigned long long)want->elements);
    else if (oc_tensor_elems(a->model, want, (uint32_t)want->elements, e, &t->r->arena))
        for (uint32_t i = 0; i < d->n; i++) {
            t->r->values += d->e[i].kind != OC_E_UNKNOWN;
            if (!same_elem(&d->e[i], &e[i], want->dtype))
                problem(t, "output '%s': element %u is wrong", v->name, (unsigned)i);
        }
}

static bool fits_tensor(const struct oc_type *type, const uint8_t *data, size_t n)
{
    Onnx__TensorProto *p = onnx__tensor_proto__unpack(NULL, n, data);
    bool fits = p && type->dtype == p->data_type && (!type->shape.ranked || type->shape.rank == p->n_dims);
    for (unsigned i = 0; fits && i < type->shape.rank; i++)
        fits = !oc_is_known(type->shape.dim[i]) || type->shape.dim[i].v == p->dims[i];
    onnx__tensor_proto__free_unpacked(p, NULL);
    return fits;
}

/* Messages outside of our schema. SequenceProto: field 3 repeats the tensors. OptionalProto: field 3 is a
 * tensor, 5 a sequence. An element type is what all elements have in common, so sizes it leaves open are
 * fine. */
static bool fits(const struct oc_type *type, const uint8_t *data, size_t n)
{
    struct oc_wire w = oc_wire_of(data, n);
    struct oc_field f;
    bool good = true;
    if (type->kind == OC_T_TENSOR)
        return fits_tensor(type, data, n);
    if (type->kind != OC_T_SEQUENCE && type->kind != OC_T_OPTIONAL)
        return false;
    while (good && oc_wire_next(&w, &f))
        if (f.type == OC_WIRE_LEN && (f.num == 3 || (f.num == 5 && type->kind == OC_T_OPTIONAL)))
            good = type->elem && fits(type->elem, f.data, f.n);
    return good && !w.bad;
}

/* A sequence or an optional. */
static void compare_container(struct test *t, const struct oc_analysis *a, size_t i, const char *name)
{
    size_t n;
    const char *path = oc_printf(&t->r->arena, "%s/test_data_set_0/output_%zu.pb", t->dir, i);
    const uint8_t *data = read_file(&t->r->arena, path, &n);
    const struct oc_value *v = find_value(a->model, name);
    const struct oc_type *got = v ? &a->type[v - a->model->value] : NULL;
    if (!data || !got)
        problem(t, "output '%s' is not stored, or nowhere in the model", name);
    else if (!fits(got, data, n))
        problem(t, "output '%s': the stored one is no %s", name, oc_type_text(&t->r->arena, a->exprs, got));
}

static void compare_output(struct test *t, const struct oc_analysis *a, size_t i, const char *name)
{
    const struct oc_model *m = a->model;
    const struct oc_value *v = find_value(m, name);
    const struct oc_value *e = find_value(m, oc_printf(&t->r->arena, "expected:%s", name));
    if (!v || !e || !e->constant) {
        compare_container(t, a, i, name);
        return;
    }
    const struct oc_type *got = &a->type[v - m->value];
    if (got->kind != OC_T_TENSOR || got->dtype != e->constant->dtype || !same_shape(t, a, got, e->constant))
        problem(t, "output '%s': %s instead of %s", name, oc_type_text(&t->r->arena, a->exprs, got),
                oc_type_text(&t->r->arena, a->exprs, &a->type[e - m->value]));
    else
        compare_data(t, a, v, e->constant);
}

static void analyze(struct test *t, const uint8_t *bytes, size_t n, char *const *output, size_t n_output)
{
    struct oc_model *m;
    struct oc_analysis *a;
    struct oc_err err = {0};
    const struct oc_analyze_opts opts = {.no_defaults = true};
    if (oc_model_load_mem(bytes, n, NULL, &m, &err)) {
        problem(t, "%s", err.msg);
        return;
    }
    if (oc_analyze(m, &opts, &a, &err)) {
        problem(t, "%s", err.msg);
    } else {
        const struct oc_diag *d;
        size_t n_diag = oc_analysis_diags(a, &d);
        for (size_t i = 0; i < n_diag; i++)
            if (d[i].severity == OC_ERROR || strcmp(d[i].code, "W-unknown-op") == 0)
                problem(t, "%s", d[i].text);
        for (size_t i = 0; i < n_output; i++)
            compare_output(t, a, i, output[i]);
        oc_analysis_free(a);
    }
    oc_model_free(m);
}

static void one_pass(struct test *t, bool fold)
{
    size_t n;
    const uint8_t *data = read_file(&t->r->arena, oc_printf(&t->r->arena, "%s/model.onnx", t->dir), &n);
    Onnx__ModelProto *model = data ? onnx__model_proto__unpack(NULL, n, data) : NULL;
    t->fold = fold;
    if (!model || !model->graph) {
        problem(t, "the model cannot be read");
    } else {
        Onnx__GraphProto *g = model->graph;
        char **names = OC_NEW_ARRAY(&t->r->arena, g->n_output, char *);
        for (size_t i = 0; i < g->n_output; i++)
            names[i] = oc_strdup(&t->r->arena, g->output[i]->name);
        prepare(t, g);
        uint8_t *bytes = oc_alloc(&t->r->arena, onnx__model_proto__get_packed_size(model));
        size_t n_bytes = onnx__model_proto__pack(model, bytes);
        analyze(t, bytes, n_bytes, names, g->n_output);
    }
    onnx__model_proto__free_unpacked(model, NULL);
}

static void one_test(struct run *r, const char *dir, const char *name)
{
    struct oc_arena keep = r->arena;
    const char *reason = listed(r, name, "skip");
    r->n++;
    if (reason) {
        r->skipped++;
        printf("ok %u - %s # SKIP %s\n", r->n, name, reason);
        return;
    }
    r->arena = (struct oc_arena){0};
    struct test t = {.r = r, .name = name, .dir = dir, .dynamic = listed(r, name, "data-dependent") != NULL};
    one_pass(&t, false);
    one_pass(&t, true);
    r->passed += !t.problem;
    r->failed += t.problem != NULL;
    printf("%sok %u - %s%s%s\n", t.problem ? "not " : "", r->n, name, t.problem ? ": " : "",
           t.problem ? t.problem : "");
    oc_arena_free(&r->arena);
    r->arena = keep;
}

static int visible(const struct dirent *d)
{
    return d->d_name[0] != '.';
}

static void all_tests(struct run *r, const char *root)
{
    struct dirent **group, **test;
    int n_group = scandir(root, &group, visible, alphasort);
    for (int i = 0; i < n_group; i++) {
        char *folder = oc_printf(&r->arena, "%s/%s", root, group[i]->d_name);
        int n_test = scandir(folder, &test, visible, alphasort);
        for (int k = 0; k < n_test; k++) {
            char *dir = oc_printf(&r->arena, "%s/%s", folder, test[k]->d_name);
            FILE *f = fopen(oc_printf(&r->arena, "%s/model.onnx", dir), "rb");
            if (f) {
                fclose(f);
                one_test(r, dir, test[k]->d_name);
            }
            free(test[k]);
        }
        if (n_test >= 0)
            free(test);
        free(group[i]);
    }
    if (n_group >= 0)
        free(group);
}

int main(int argc, char **argv)
{
    struct run r = {0};
    if (argc != 3) {
        fprintf(stderr, "usage: node_tests FOLDER SKIPS\n");
        return 2;
    }
    read_skips(&r, argv[2]);
    all_tests(&r, argv[1]);
    for (size_t i = 0; i < r.n_skip; i++)
        if (!r.skip[i].hits) {
            r.n++;
            r.failed++;
            printf("not ok %u - list: '%s' meets no test\n", r.n, r.skip[i].pattern);
        }
    printf("1..%u\n# %u output elements compared by value\n", r.n, r.values);
    printf("%u passed, %u failed, %u skipped\n", r.passed, r.failed, r.skipped);
    oc_arena_free(&r.arena);
    return r.failed != 0 || r.passed == 0;
}
