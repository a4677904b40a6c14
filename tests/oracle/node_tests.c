/* Runs the models of the ONNX backend test set and compares inferred types with the stored outputs.
 *
 *   node_tests FOLDER SKIPS      FOLDER/<group>/<test>/model.onnx with test_data_set_0/{input,output}_<i>.pb
 *
 * Declared types of outputs and intermediate values are removed. Passes over each model:
 *   alone      No values are given. An output is exact or unknown; the known part of an unknown output
 *              matches the stored one and its root cause is a graph input, whose value (or unknown size)
 *              decides.
 *   values     Every stored input is given as the value of its input, as with --value NAME=@FILE. Every
 *              output is exact, except for tests listed as "data-dependent": bounds that contain the
 *              stored output.
 *   constants  Every small stored input is an initializer. Shapes as before, and every element of an
 *              output that a fold rule computes must equal the stored one.
 * SKIPS has lines `<pattern> <kind> <reason>`; the kind is "skip" or "data-dependent", '#' starts a
 * comment. A pattern that matches no test is an error. Prints TAP, the result of the passes, and
 * `N passed, N failed, N skipped`. */
#include <dirent.h>
#include <fnmatch.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/analysis.h"
#include "base/arena.h"
#include "base/wire.h"
#include "onnx.pb-c.h"
#include "support/whole_unpack.h"
#include "onnxcost.h"

#define MAX_INPUTS 64

enum pass { ALONE, OTHERS, VALUES, CONSTANTS, N_PASS };
static const char *const pass_name[] = {"model alone", "all except the deciding value", "with --value",
                                        "with constants"};
static_assert(OC_COUNT(pass_name) == N_PASS, "a name for each pass");

struct skip {
    char *pattern, *kind, *reason;
    unsigned hits;
};

struct tally { /* models */
    unsigned exact, open, wrong;
};

struct run {
    struct oc_arena arena;
    struct tally concrete[N_PASS], other[N_PASS]; /* node tests with concrete shapes; all others */
    struct skip *skip;
    size_t n_skip;
    unsigned n, passed, failed, skipped;
    unsigned values; /* output elements whose values were compared */
};

/* ---- files --------------------------------------------------------------------------------------------- */

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

/* ---- one model ----------------------------------------------------------------------------------------- */

struct test {
    struct run *r;
    const char *name, *dir;
    bool dynamic;  /* data-dependent shapes are expected */
    bool concrete; /* a node test whose declared outputs are tensors with numbers for sizes */
    enum pass pass;
    bool open; /* an output of the current pass is not exact */
    const char *problem;
    const char *decides; /* the graph input that the last open output names */
    struct oc_value_bind value[MAX_INPUTS];
    size_t n_value;
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
        t->problem = oc_printf(&t->r->arena, "%s: %s", pass_name[t->pass], text);
}

/* The file's tensor under another name. The set stores bfloat16 as uint16 because numpy has no such type. */
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

static bool is_concrete(const Onnx__ValueInfoProto *v)
{
    const Onnx__TensorShapeProto *s = is_tensor(v) ? v->type->tensor_type->shape : NULL;
    bool concrete = s != NULL;
    for (size_t i = 0; concrete && i < s->n_dim; i++)
        concrete = s->dim[i]->has_dim_value;
    return concrete;
}

static void give_input(struct test *t, Onnx__GraphProto *g, size_t i)
{
    Onnx__TensorProto *p = NULL;
    if (is_tensor(g->input[i]) && t->pass != ALONE)
        p = stored_tensor(t, "input", i, g->input[i], g->input[i]->name);
    bool give = t->pass == VALUES || (t->pass == OTHERS && strcmp(p ? p->name : "", t->decides) != 0);
    if (p && give && t->n_value < MAX_INPUTS)
        t->value[t->n_value++] = (struct oc_value_bind){
            .input = oc_strdup(&t->r->arena, g->input[i]->name),
            .text = oc_printf(&t->r->arena, "@%s/test_data_set_0/input_%zu.pb", t->dir, i)};
    if (p && t->pass == CONSTANTS)
        declare(g->input[i], p);
    if (p && t->pass == CONSTANTS && count(p) <= OC_MAX_DATA)
        add_initializer(g, p);
    else if (p)
        onnx__tensor_proto__free_unpacked(p, NULL);
}

/* Stored outputs become initializers without readers. */
static void prepare(struct test *t, Onnx__GraphProto *g)
{
    t->n_value = 0;
    t->concrete = strstr(t->dir, "/node/") != NULL;
    for (size_t i = 0; i < g->n_input; i++)
        give_input(t, g, i);
    for (size_t i = 0; i < g->n_output; i++) {
        const char *name = oc_printf(&t->r->arena, "expected:%s", g->output[i]->name);
        Onnx__TensorProto *p =
            is_tensor(g->output[i]) ? stored_tensor(t, "output", i, g->output[i], name) : NULL;
        if (p)
            add_initializer(g, p);
        t->concrete &= p && is_concrete(g->output[i]);
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

/* ---- comparison ---------------------------------------------------------------------------------------- */

enum fit { WRONG, OPEN, EXACT };

/* Unknown sizes: the known part matches. */
static enum fit fit_of(const struct oc_analysis *a, const struct oc_type *got, const struct oc_tensor *want)
{
    enum fit fit = EXACT;
    if (got->kind != OC_T_TENSOR || got->dtype != want->dtype)
        return WRONG;
    if (!got->shape.ranked || got->shape.rank != want->rank)
        return got->shape.ranked ? WRONG : OPEN;
    for (unsigned i = 0; i < want->rank; i++) {
        struct oc_dim d = got->shape.dim[i];
        int64_t max = oc_dim_max_value(a->exprs, d);
        if (oc_is_known(d) ? d.v != want->dim[i] : max >= 0 && max < want->dim[i])
            return WRONG;
        fit = oc_is_known(d) ? fit : OPEN;
    }
    return fit;
}

/* The graph input that decides an output of unknown size. */
static bool names_input(struct test *t, const struct oc_analysis *a, uint32_t v)
{
    uint32_t cause = a->root_cause[v];
    if (cause != OC_NONE && a->model->value[cause].graph_input && a->model->value[cause].graph == 0) {
        t->decides = oc_strdup(&t->r->arena, a->model->value[cause].name);
        return true;
    }
    problem(t, "output '%s' is unknown because of '%s', which is not a graph input", a->model->value[v].name,
            cause == OC_NONE ? "" : a->model->value[cause].name);
    return false;
}

static bool same_elem(const struct oc_elem *got, const struct oc_elem *want, unsigned dtype)
{
    double a, b;
    if (got->kind == OC_E_UNKNOWN)
        return true; /* no claim */
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

/* Messages outside our schema. SequenceProto: field 3 repeats the tensors. OptionalProto: field 3 is a
 * tensor, 5 a sequence. An element type is the common type of all elements, so it may leave sizes unknown. */
static bool fits(const struct oc_type *type, const uint8_t *data, size_t n)
{
    struct oc_wire w = oc_wire_of(data, n);
    struct oc_wire_field f;
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
    bool says_nothing = got && (got->kind == OC_T_NONE || (got->kind != OC_T_TENSOR && !got->elem));
    t->open |= says_nothing;
    if (data && says_nothing && t->pass <= OTHERS)
        (void)(t->pass == OTHERS || names_input(t, a, (uint32_t)(v - a->model->value)));
    else if (!data || !got)
        problem(t, "output '%s' is not stored, or nowhere in the model", name);
    else if (!fits(got, data, n))
        problem(t, "output '%s': the stored one is not a %s", name,
                oc_type_text(&t->r->arena, a->exprs, got));
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
    enum fit fit = fit_of(a, got, e->constant);
    t->open |= fit == OPEN;
    if (fit == WRONG || (fit == OPEN && t->pass > OTHERS && !t->dynamic))
        problem(t, "output '%s': %s instead of %s", name, oc_type_text(&t->r->arena, a->exprs, got),
                oc_type_text(&t->r->arena, a->exprs, &a->type[e - m->value]));
    else if (fit == EXACT || t->pass != ALONE || names_input(t, a, (uint32_t)(v - m->value)))
        compare_data(t, a, v, e->constant);
}

/* For tests/count_op_tests.sh. */
static void count_operators(const struct test *t, const struct oc_model *m)
{
    const char *path = getenv("ONNXCOST_COUNT_OPS");
    FILE *f = path && *path && t->pass == VALUES ? fopen(path, "a") : NULL;
    if (!f)
        return;
    for (uint32_t i = 0; i < m->n_node; i++)
        fprintf(f, "node\t%s\t%s\t%s\n", m->node[i].domain, m->node[i].op_type, t->name);
    fclose(f);
}

static void analyze(struct test *t, const uint8_t *bytes, size_t n, char *const *output, size_t n_output)
{
    struct oc_model *m;
    struct oc_analysis *a;
    struct oc_err err = {0};
    const struct oc_analyze_opts opts = {.no_defaults = true, .value = t->value, .n_value = t->n_value};
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
        count_operators(t, m);
    }
    oc_model_free(m);
}

/* The loader reads the same graph as protobuf-c. */
static void compare_readers(struct test *t, const uint8_t *data, size_t n)
{
    struct oc_model *m;
    struct oc_err err = {0};
    char text[256];
    if (oc_model_load_mem(data, n, NULL, &m, &err)) {
        problem(t, "%s", err.msg);
        return;
    }
    if (whole_unpack_difference(m, data, n, text, sizeof(text)))
        problem(t, "protobuf-c reads another model: %s", text);
    oc_model_free(m);
}

static void one_pass(struct test *t, enum pass pass)
{
    size_t n;
    const uint8_t *data = read_file(&t->r->arena, oc_printf(&t->r->arena, "%s/model.onnx", t->dir), &n);
    Onnx__ModelProto *model = data ? onnx__model_proto__unpack(NULL, n, data) : NULL;
    const char *before = t->problem;
    t->pass = pass;
    t->open = false;
    if (!model || !model->graph) {
        problem(t, "the model cannot be read");
    } else {
        Onnx__GraphProto *g = model->graph;
        if (pass == ALONE)
            compare_readers(t, data, n);
        char **names = OC_NEW_ARRAY(&t->r->arena, g->n_output, char *);
        for (size_t i = 0; i < g->n_output; i++)
            names[i] = oc_strdup(&t->r->arena, g->output[i]->name);
        prepare(t, g);
        uint8_t *bytes = oc_alloc(&t->r->arena, onnx__model_proto__get_packed_size(model));
        size_t n_bytes = onnx__model_proto__pack(model, bytes);
        analyze(t, bytes, n_bytes, names, g->n_output);
    }
    onnx__model_proto__free_unpacked(model, NULL);
    struct tally *tally = t->concrete ? &t->r->concrete[pass] : &t->r->other[pass];
    if (t->problem == before && t->open)
        printf("# open, %s: %s\n", pass_name[pass], t->name);
    ++*(t->problem != before ? &tally->wrong : t->open ? &tally->open : &tally->exact);
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
    one_pass(&t, ALONE);
    if (!t.problem && t.open) {
        one_pass(&t, OTHERS);
        if (!t.open)
            problem(&t, "'%s' is named, but the output is known without its value", t.decides);
    }
    for (int pass = VALUES; pass < N_PASS && !t.problem; pass++)
        one_pass(&t, (enum pass)pass);
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

static void print_tally(const char *what, const struct tally *t)
{
    printf(", %s: %u of %u exact, %u open, %u wrong", what, t->exact, t->exact + t->open + t->wrong, t->open,
           t->wrong);
}

/* The number of exact results must not decrease; other versions of the test set have other numbers. */
static void check_minimum(struct run *r)
{
    static const struct {
        enum pass pass;
        unsigned models, exact;
    } reached[] = {{ALONE, 911, 790}, {VALUES, 911, 902}};
    for (size_t i = 0; i < OC_COUNT(reached); i++) {
        const struct tally *t = &r->concrete[reached[i].pass];
        bool bad = t->exact + t->open + t->wrong == reached[i].models && t->exact < reached[i].exact;
        r->n++;
        *(bad ? &r->failed : &r->passed) += 1;
        printf("%sok %u - %s: at least %u exact\n", bad ? "not " : "", r->n, pass_name[reached[i].pass],
               reached[i].exact);
    }
}

static void print_passes(const struct run *r)
{
    for (int i = 0; i < N_PASS; i++) {
        printf("# %s", pass_name[i]);
        print_tally("node tests with concrete shapes", &r->concrete[i]);
        print_tally("all others", &r->other[i]);
        putchar('\n');
    }
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
            printf("not ok %u - list: '%s' matches no test\n", r.n, r.skip[i].pattern);
        }
    check_minimum(&r);
    printf("1..%u\n# %u output elements compared by value\n", r.n, r.values);
    print_passes(&r);
    printf("%u passed, %u failed, %u skipped\n", r.passed, r.failed, r.skipped);
    oc_arena_free(&r.arena);
    return r.failed != 0 || r.passed == 0;
}
