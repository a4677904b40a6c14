/* Joins of models of which only node lists are stored (their weights are too large for samples): names, types
 * and tensors are all that the rules need. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "join/join.h"
#include "support/build.h"
#include "support/profiles.h"
#include "onnxcost.h"

static char *read_sample(const char *name)
{
    char path[200];
    snprintf(path, sizeof(path), "onnxruntime/%s", name);
    const char *full = t_sample(path);
    if (!full)
        skip();
    struct oc_file f;
    assert_int_equal(oc_file_map(full, 0, &f, NULL), 0);
    char *text = malloc(f.size_bytes + 1);
    memcpy(text, f.data, f.size_bytes);
    text[f.size_bytes] = '\0';
    oc_file_unmap(&f);
    return text;
}

/* Next cell of a line; empty cells are empty texts. */
static char *next_cell(char **at)
{
    char *start = *at, *end = start + strcspn(start, "\t");
    *at = *end ? end + 1 : end;
    *end = '\0';
    return start;
}

struct listed {
    struct oc_builder *b;
    struct oc_map seen; /* tensors that a node produces or that are inputs */
    struct oc_arena arena;
    char last[200];
};

/* Weights are not in the lists: a name without a producer becomes an initializer. */
static void declare(struct listed *l, const char *names)
{
    char text[2000], *save = NULL;
    snprintf(text, sizeof(text), "%s", names);
    for (char *n = strtok_r(text, ",", &save); n; n = strtok_r(NULL, ",", &save)) {
        uint32_t v = 1;
        if (!oc_map_add(&l->seen, n, strlen(n), &v, NULL))
            continue;
        if (strcmp(n, "x") == 0)
            oc_b_input(l->b, n, "float[N,3,H,W]");
        else
            oc_b_init(l->b, n, "float[1]");
    }
}

/* subgraph, position, name, type, domain, inputs, outputs: two passes, since lists are in any order */
static void add_line(struct listed *l, char *line, bool nodes)
{
    char *at = line, type[200];
    next_cell(&at);
    next_cell(&at);
    const char *name = next_cell(&at), *op = next_cell(&at), *domain = next_cell(&at), *in = next_cell(&at),
               *out = next_cell(&at);
    if (!nodes) {
        uint32_t v = 1;
        char text[2000], *save = NULL;
        snprintf(text, sizeof(text), "%s", out);
        for (char *n = strtok_r(text, ",", &save); n; n = strtok_r(NULL, ",", &save))
            oc_map_add(&l->seen, n, strlen(n), &v, NULL);
        return;
    }
    declare(l, in);
    snprintf(type, sizeof(type), "%s%s%s", strcmp(domain, "ai.onnx") ? domain : "",
             strcmp(domain, "ai.onnx") ? "::" : "", op);
    oc_b_node(l->b, type, name[0] ? name : NULL, in, out, strcmp(op, "Constant") ? "" : "value=float[1]{1}");
    snprintf(l->last, sizeof(l->last), "%.*s", (int)strcspn(out, ","), out);
}

static struct oc_model *model_of_list(const char *name, uint8_t **bytes)
{
    free(read_sample(name)); /* skips the test without samples, before anything is allocated */
    struct listed l = {.b = oc_b_new(11)};
    l.seen.arena = &l.arena;
    for (int nodes = 0; nodes < 2; nodes++) {
        char *text = read_sample(name), *save = NULL;
        strtok_r(text, "\n", &save);
        for (char *line = strtok_r(NULL, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
            add_line(&l, line, nodes);
        free(text);
    }
    oc_b_output(l.b, l.last, NULL);
    size_t n;
    struct oc_model *m;
    struct oc_err e;
    *bytes = oc_b_pack(l.b, &n);
    oc_b_free(l.b);
    oc_map_free(&l.seen);
    oc_arena_free(&l.arena);
    if (oc_model_load_mem(*bytes, n, NULL, &m, &e) != 0)
        fail_msg("%s: %s", name, e.msg);
    return m;
}

static const struct {
    const char *profile, *original, *optimized;
    double named; /* minimum share of the time on nodes or in named overhead rows */
} sample[] = {
    {"ppocrv4_det.ort1.30.disabled.3runs.json.gz", "ppocrv4_det.original.nodes.tsv", NULL, 1},
    {"ppocrv4_det.ort1.30.all.3runs.json", "ppocrv4_det.original.nodes.tsv", NULL, 0.99},
    {"ppocrv4_det.ort1.30.all.3runs.json", "ppocrv4_det.original.nodes.tsv",
     "ppocrv4_det.ort1.30.all.optimized.nodes.tsv", 1},
    {"ppocrv4_rec.ort1.30.extended.1run.json", "ppocrv4_rec.original.nodes.tsv", NULL, 0.99},
    {"ppocrv4_rec.ort1.30.extended.1run.json", "ppocrv4_rec.original.nodes.tsv",
     "ppocrv4_rec.ort1.30.extended.optimized.nodes.tsv", 1},
    {"ppocrv4_rec.ort1.30.all.1run.json", "ppocrv4_rec.original.nodes.tsv", NULL, 0.99},
    {"ppocrv4_rec.ort1.30.all.1run.json", "ppocrv4_rec.original.nodes.tsv",
     "ppocrv4_rec.ort1.30.all.optimized.nodes.tsv", 1},
};

static void recorded_node_lists_are_matched(void **state)
{
    (void)state;
    for (size_t i = 0; i < OC_COUNT(sample); i++) {
        uint8_t *bytes, *optimized_bytes = NULL;
        struct oc_model *m = model_of_list(sample[i].original, &bytes), *o = NULL;
        if (sample[i].optimized)
            o = model_of_list(sample[i].optimized, &optimized_bytes);
        char path[200];
        snprintf(path, sizeof(path), "onnxruntime/%s", sample[i].profile);
        struct oc_profile *p;
        struct oc_join *j = NULL;
        struct oc_err e;
        if (oc_profile_open(t_sample(path), NULL, &p, &e) != 0 || oc_join_make(m, NULL, p, o, &j, &e) != 0)
            fail_msg("%s", e.msg);
        double all = j->mapped_ns + j->overhead_ns + j->unmatched_ns;
        print_message("%s%s: %.1f %% attributed, %.1f %% overhead\n", sample[i].profile,
                      o ? " and optimized" : "", 100 * j->mapped_ns / all, 100 * j->overhead_ns / all);
        for (uint32_t k = 0; k < j->n_unmatched && k < 10; k++)
            print_message("  unattributed: %s (%s)\n", p->rec[j->unmatched[k]].name,
                          p->rec[j->unmatched[k]].op_type);
        uint8_t *seen = calloc(m->n_node + 1, 1);
        for (uint32_t r = 0; r < p->n_rec; r++)
            for (uint32_t k = 0; k < j->rec[r].n_node; k++)
                assert_int_equal(seen[j->rec[r].node[k]]++, 0);
        free(seen);
        assert_true((j->mapped_ns + j->overhead_ns) / all >= sample[i].named);
        oc_join_free(j);
        oc_profile_close(p);
        oc_model_free(m);
        oc_model_free(o);
        free(bytes);
        free(optimized_bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recorded_node_lists_are_matched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
