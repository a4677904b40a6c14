/* Compares inferred types with those that ONNX Runtime recorded.
 *
 *   recorded_shapes LIST
 *
 * A line of the list is a case, with fields separated by tabs; '#' starts a comment:
 * MODEL PROFILE OPTIMIZED BINDS...
 *   PROFILE    '-': the model alone
 *   OPTIMIZED  '-': the runtime ran the model unchanged; 'float': the same, but float16 as float between
 *              casts; '+': it optimized the model; otherwise the optimized model that it saved
 *   BINDS      shape:x=1x3x48x192 (a scalar has nothing after '='), dim:batch=1, value:sr=16000
 *
 * A case passes if every operator of the model has a rule and, with a profile, every record of an operator
 * matches nodes of the model and all its recorded output types (dtype and dims) equal the inferred ones.
 * Records of fused nodes are compared with the outputs of the group, layouts changed by the optimizer up to
 * the order of the axes, blocks and their padding. Nodes inserted by the optimizer (layout, copies, casts)
 * have no counterpart: they are counted separately, and are a problem with '-'. A missing MODEL is skipped.
 * Prints TAP. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/analysis.h"
#include "base/units.h"
#include "join/join.h"
#include "onnxcost.h"
#include "onnxcost/profile.h"

#define MAX_BINDS 16

struct binds {
    struct oc_bind dim[MAX_BINDS];
    struct oc_shape_bind shape[MAX_BINDS];
    struct oc_value_bind value[MAX_BINDS];
    int64_t number[MAX_BINDS][OC_MAX_RANK];
    size_t n_dim, n_shape, n_value;
};

struct one_case {
    struct oc_arena arena;
    const char *model_path, *profile_path, *optimized_path;
    bool is_optimized, is_widened;
    struct binds b;
    struct oc_model *model, *optimized;
    struct oc_analysis *analysis;
    struct oc_profile *profile;
    struct oc_join *join;
    unsigned compared, types, inserted, inferred;
    const char *problem;
    unsigned problems;
};

static void problem(struct one_case *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void problem(struct one_case *c, const char *fmt, ...)
{
    char text[1000];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    if (!c->problems++)
        c->problem = oc_strdup(&c->arena, text);
    printf("# %s\n", text);
}

/* ---- binds --------------------------------------------------------------------------------------------- */

static bool parse_shape(struct binds *b, char *name, char *dims)
{
    struct oc_shape_bind *s = &b->shape[b->n_shape];
    *s = (struct oc_shape_bind){.input = name, .dim = b->number[b->n_shape]};
    for (char *save, *d = strtok_r(dims, "x", &save); d; d = strtok_r(NULL, "x", &save))
        if (s->rank >= OC_MAX_RANK || !oc_parse_i64(d, strlen(d), &b->number[b->n_shape][s->rank++]))
            return false;
    b->n_shape++;
    return true;
}

static bool parse_bind(struct binds *b, char *text)
{
    char *name = strchr(text, ':'), *eq = name ? strrchr(name, '=') : NULL;
    if (!eq || b->n_dim == MAX_BINDS || b->n_shape == MAX_BINDS || b->n_value == MAX_BINDS)
        return false;
    *name++ = *eq++ = '\0';
    if (strcmp(text, "shape") == 0)
        return parse_shape(b, name, eq);
    if (strcmp(text, "value") == 0) {
        b->value[b->n_value++] = (struct oc_value_bind){.input = name, .text = eq};
        return true;
    }
    b->dim[b->n_dim].symbol = name;
    return strcmp(text, "dim") == 0 && oc_parse_i64(eq, strlen(eq), &b->dim[b->n_dim++].value);
}

/* ---- comparison ---------------------------------------------------------------------------------------- */

static bool same_kind(const struct one_case *c, const struct oc_type *inferred,
                      const struct oc_type *recorded)
{
    bool widened = c->is_widened && inferred->dtype == OC_DT_FLOAT16 && recorded->dtype == OC_DT_FLOAT;
    return inferred->kind == OC_T_TENSOR && (widened || inferred->dtype == recorded->dtype) &&
           oc_shape_known(&inferred->shape);
}

static bool same_type(const struct one_case *c, const struct oc_type *inferred,
                      const struct oc_type *recorded)
{
    return same_kind(c, inferred, recorded) && oc_shape_equal(&inferred->shape, &recorded->shape);
}

static const char *type_text(struct one_case *c, uint32_t value)
{
    return oc_type_text(&c->arena, c->analysis->exprs, &c->analysis->type[value]);
}

/* The runtime lists the outputs that exist and are tensors, in order. */
static void compare_node(struct one_case *c, const struct oc_prof_rec *p, uint32_t node)
{
    const struct oc_node *n = &c->model->node[node];
    uint32_t at = 0;
    for (uint32_t k = 0; k < n->n_out; k++) {
        uint32_t v = n->out[k];
        const struct oc_type *t = v == OC_NONE ? NULL : &c->analysis->type[v];
        if (!t || (t->kind != OC_T_TENSOR && t->kind != OC_T_NONE))
            continue;
        if (at == p->n_out) /* an output that the runtime did not produce because it has no reader */
            break;
        if (!same_type(c, t, &p->out[at]))
            problem(c, "%s (%s): output %u '%s' is %s, recorded %s", p->name, p->op_type, (unsigned)k,
                    c->model->value[v].name, type_text(c, v),
                    oc_type_text(&c->arena, c->profile->exprs, &p->out[at]));
        at++;
        c->types++;
    }
    if (at < p->n_out)
        problem(c, "%s (%s): %u tensors recorded, the node has %u", p->name, p->op_type, (unsigned)p->n_out,
                (unsigned)at);
}

static bool in_group(const struct oc_join_rec *r, uint32_t node)
{
    for (uint32_t i = 0; i < r->n_node; i++)
        if (r->node[i] == node)
            return true;
    return false;
}

/* Read by a node outside the group, or an output of the model. */
static bool leaves_group(const struct one_case *c, const struct oc_join_rec *r, uint32_t v)
{
    bool used = c->model->value[v].graph_output;
    for (uint32_t i = 0; i < c->model->n_node && !used; i++)
        for (uint32_t k = 0; k < c->model->node[i].n_in && !used; k++)
            used = c->model->node[i].in[k] == v && !in_group(r, i);
    return used;
}

/* Blocked layouts round the channels up to a multiple of the block: [N,C,H,W] or [N,C/b,H,W,b]. */
static bool same_blocked(const struct oc_shape *inferred, const struct oc_shape *recorded)
{
    const struct oc_dim *a = inferred->dim, *b = recorded->dim;
    if (inferred->rank != 4 || (recorded->rank != 4 && recorded->rank != 5))
        return false;
    int64_t channels = a[1].v, block = recorded->rank == 5 ? b[4].v : 8;
    int64_t padded = recorded->rank == 5 ? b[1].v * block : b[1].v;
    return (block == 8 || block == 16) && padded % block == 0 && padded >= channels &&
           padded < channels + 16 && a[0].v == b[0].v && a[2].v == b[2].v && a[3].v == b[3].v;
}

/* The same axes in another order: the optimizer moves transpositions. */
static bool same_axes(const struct oc_shape *inferred, const struct oc_shape *recorded)
{
    bool taken[OC_MAX_RANK] = {false};
    if (inferred->rank != recorded->rank)
        return false;
    for (unsigned i = 0; i < inferred->rank; i++) {
        unsigned k = 0;
        while (k < recorded->rank && (taken[k] || recorded->dim[k].v != inferred->dim[i].v))
            k++;
        if (k == recorded->rank)
            return false;
        taken[k] = true;
    }
    return true;
}

static bool same_in_group(const struct one_case *c, const struct oc_type *inferred,
                          const struct oc_type *recorded)
{
    return same_kind(c, inferred, recorded) && (same_axes(&inferred->shape, &recorded->shape) ||
                                                same_blocked(&inferred->shape, &recorded->shape));
}

static void compare_group(struct one_case *c, const struct oc_prof_rec *p, const struct oc_join_rec *r)
{
    char seen[400] = "";
    for (uint32_t o = 0; o < p->n_out; o++) {
        bool found = false;
        for (uint32_t i = 0; i < r->n_node && !found; i++) {
            const struct oc_node *n = &c->model->node[r->node[i]];
            for (uint32_t k = 0; k < n->n_out && !found; k++) {
                if (n->out[k] == OC_NONE || !leaves_group(c, r, n->out[k]))
                    continue;
                const struct oc_type *t = &c->analysis->type[n->out[k]];
                found = same_in_group(c, t, &p->out[o]);
                size_t len = strlen(seen);
                snprintf(seen + len, sizeof(seen) - len, " %s", type_text(c, n->out[k]));
            }
        }
        c->types++;
        if (!found)
            problem(c, "%s (%s, %u nodes): recorded %s, the outputs of the group are%s", p->name, p->op_type,
                    (unsigned)r->n_node, oc_type_text(&c->arena, c->profile->exprs, &p->out[o]), seen);
    }
}

/* Without optimization every node that runs is recorded; the runtime does not run constants. */
static void find_nodes_without_record(struct one_case *c)
{
    for (uint32_t i = 0; i < c->model->n_node; i++) {
        const struct oc_node *n = &c->model->node[i];
        bool no_kernel = n->kind == OC_NODE_CALL || strcmp(n->op_type, "Constant") == 0 ||
                         (c->is_widened && strcmp(n->op_type, "Cast") == 0);
        if (c->join->node_rec[i] == OC_NONE && c->analysis->cost[i].state != OC_NODE_NOT_TAKEN && !no_kernel)
            problem(c, "%s (%s): no record", n->name, n->op_type);
    }
}

static void compare_records(struct one_case *c)
{
    unsigned with_types = 0;
    for (uint32_t i = 0; i < c->profile->n_rec; i++) {
        const struct oc_prof_rec *p = &c->profile->rec[i];
        const struct oc_join_rec *r = &c->join->rec[i];
        if (p->bucket)
            continue;
        with_types += p->has_out;
        bool strange = r->bucket && strcmp(r->bucket, "unmatched") == 0;
        bool may_insert = c->is_optimized || (c->is_widened && strcmp(p->op_type, "Cast") == 0);
        if (strange || (!r->n_node && !may_insert))
            problem(c, "%s (%s): matches no node of the model", p->name, p->op_type);
        if (!r->n_node || !p->has_out) {
            c->inserted += !r->n_node;
            continue;
        }
        c->compared++;
        if (!c->is_optimized && r->n_node == 1)
            compare_node(c, p, r->node[0]);
        else
            compare_group(c, p, r);
    }
    if (!with_types)
        problem(c, "the profile records no types");
    if (!c->is_optimized)
        find_nodes_without_record(c);
}

/* ---- one case ------------------------------------------------------------------------------------------ */

static void check_rules(struct one_case *c)
{
    for (uint32_t i = 0; i < c->model->n_node; i++) {
        const struct oc_node *n = &c->model->node[i];
        c->inferred += c->analysis->cost[i].state != OC_NODE_NOT_TAKEN;
        if (!c->analysis->op[i] && n->kind != OC_NODE_CALL &&
            c->analysis->cost[i].state == OC_NODE_UNKNOWN_OP)
            problem(c, "%s: no rule for '%s' of domain '%s', opset %d", n->name, n->op_type, n->domain,
                    (int)n->opset);
    }
    const struct oc_diag *d;
    size_t n = oc_analysis_diags(c->analysis, &d);
    for (size_t i = 0; i < n; i++)
        if (d[i].severity != OC_INFO)
            problem(c, "%s: %s: %s", d[i].code, d[i].where, d[i].text);
}

static int analyze(struct one_case *c, struct oc_err *err)
{
    struct oc_control_bind *control = NULL;
    struct oc_analyze_opts o = {.no_defaults = true,
                                .bind = c->b.dim,
                                .n_bind = c->b.n_dim,
                                .shape = c->b.shape,
                                .n_shape = c->b.n_shape,
                                .value = c->b.value,
                                .n_value = c->b.n_value};
    if (c->profile)
        o.n_control = oc_profile_control(c->model, c->profile, &control);
    o.control = control;
    int rc = oc_analyze(c->model, &o, &c->analysis, err);
    free(control);
    return rc;
}

static int run_case(struct one_case *c, struct oc_err *err)
{
    const struct oc_profile_opts all_runs = {.warmup = OC_WARMUP_NONE};
    if (oc_model_load(c->model_path, NULL, &c->model, err) ||
        (c->optimized_path && oc_model_load(c->optimized_path, NULL, &c->optimized, err)) ||
        (c->profile_path && oc_profile_open(c->profile_path, &all_runs, &c->profile, err)) || analyze(c, err))
        return -1;
    check_rules(c);
    if (!c->profile)
        return 0;
    if (oc_join_make(c->model, c->analysis, c->profile, c->optimized, &c->join, err))
        return -1;
    compare_records(c);
    return 0;
}

static bool parse_case(struct one_case *c, char *line)
{
    char *save, *field[3 + MAX_BINDS];
    size_t n = 0;
    for (char *f = strtok_r(line, "\t\n", &save); f && n < OC_COUNT(field); f = strtok_r(NULL, "\t\n", &save))
        field[n++] = f;
    if (n < 3)
        return false;
    c->model_path = field[0];
    c->profile_path = strcmp(field[1], "-") ? field[1] : NULL;
    c->is_widened = strcmp(field[2], "float") == 0;
    c->is_optimized = strcmp(field[2], "-") != 0 && !c->is_widened;
    c->optimized_path = c->is_optimized && strcmp(field[2], "+") != 0 ? field[2] : NULL;
    for (size_t i = 3; i < n; i++)
        if (!parse_bind(&c->b, field[i]))
            return false;
    return true;
}

static const char *base(const char *path)
{
    return strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
}

/* Returns whether the case passed. */
static bool one_line(char *line, unsigned number, bool *skipped)
{
    struct one_case c = {0};
    struct oc_err err = {0};
    if (!parse_case(&c, line)) {
        printf("not ok %u - the line of '%s' cannot be read\n", number, line);
        return false;
    }
    FILE *f = fopen(c.model_path, "rb");
    *skipped = !f;
    if (!f) {
        printf("ok %u - %s # SKIP %s: '%s' is missing\n", number, base(c.model_path), base(c.model_path),
               c.model_path);
        return true;
    }
    fclose(f);
    if (run_case(&c, &err))
        problem(&c, "%s: %s", err.file, err.msg);
    printf("%sok %u - %s", c.problems ? "not " : "", number, base(c.model_path));
    if (c.profile_path)
        printf(", %s: %u records, %u types, %u inserted nodes", base(c.profile_path), c.compared, c.types,
               c.inserted);
    else
        printf(": %u nodes", c.inferred);
    if (c.problems)
        printf(": %u problems, the first: %s", c.problems, c.problem);
    putchar('\n');
    oc_join_free(c.join);
    oc_profile_close(c.profile);
    oc_analysis_free(c.analysis);
    oc_model_free(c.optimized);
    oc_model_free(c.model);
    oc_arena_free(&c.arena);
    return !c.problems;
}

int main(int argc, char **argv)
{
    char line[4000];
    unsigned n = 0, failed = 0, skips = 0;
    FILE *f = argc == 2 ? fopen(argv[1], "r") : NULL;
    if (!f) {
        fprintf(stderr, "usage: recorded_shapes LIST\n");
        return 2;
    }
    while (fgets(line, sizeof(line), f)) {
        bool skipped = false;
        if (*line == '#' || *line == '\n')
            continue;
        failed += !one_line(line, ++n, &skipped);
        skips += skipped;
    }
    fclose(f);
    printf("1..%u\n%u passed, %u failed, %u skipped\n", n, n - failed - skips, failed, skips);
    return failed || !n;
}
