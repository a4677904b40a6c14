/* Fusion plans of the probes (models/probe_fusions.c), compared with what ONNX Runtime made of them
 * (tests/data/fusions.tsv, written by models/probe_fusions.sh). tests/data/fusions_known.tsv lists the
 * differences that are known; a difference that is gone must leave the list. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/map.h"
#include "estimate/fusion_plan.h"
#include "onnxcost.h"
#include "probe_fusions.h"

enum { LEVELS = 4, CELLS = LEVELS + 1 };

static const struct level {
    const char *name;
    enum oc_fusion_rules rules[3]; /* by instruction set */
} levels[LEVELS] = {{"disabled", {OC_FUSE_NONE, OC_FUSE_NONE, OC_FUSE_NONE}},
                    {"basic", {OC_FUSE_ORT_BASIC, OC_FUSE_ORT_BASIC, OC_FUSE_ORT_BASIC}},
                    {"extended", {OC_FUSE_ORT_EXTENDED, OC_FUSE_ORT_EXTENDED, OC_FUSE_ORT_EXTENDED}},
                    {"all", {OC_FUSE_ORT_CPU, OC_FUSE_ORT_AVX2, OC_FUSE_ORT_NEON}}};
static const char *const sets[] = {"avx512", "avx2", "neon"};

/* Rows of a table by their key. */
struct rows {
    struct oc_arena arena;
    struct oc_map map;
    char *(*cell)[CELLS];
    uint32_t n;
};

static void read_rows(struct rows *r, const char *path)
{
    char line[4096];
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    r->cell = oc_xmalloc(20000 * sizeof(*r->cell));
    r->map.arena = &r->arena;
    while (fgets(line, sizeof(line), f)) {
        char *rest = NULL, *text = line;
        line[strcspn(line, "\n")] = '\0';
        if (*line == '#' || !*line)
            continue;
        for (int i = 0; i < CELLS; i++, text = NULL) {
            const char *cell = strtok_r(text, "\t", &rest);
            r->cell[r->n][i] = cell ? oc_strdup(&r->arena, cell) : NULL;
        }
        const char *key = r->cell[r->n][0];
        uint32_t at = r->n++;
        assert_true(oc_map_add(&r->map, key, strlen(key), &at, NULL));
    }
    fclose(f);
}

static void free_rows(struct rows *r)
{
    free(r->cell);
    oc_map_free(&r->map);
    oc_arena_free(&r->arena);
}

static char *const *find_row(struct rows *r, const char *key)
{
    uint32_t at = oc_map_get(&r->map, key, strlen(key));
    return at == OC_NONE ? NULL : r->cell[at];
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* "Add FusedConv": the operators of the plan, sorted. */
static void plan_of(const struct oc_model *m, const struct oc_analysis *a, enum oc_fusion_rules rules,
                    struct oc_buf *out)
{
    struct oc_arena arena = {0};
    struct oc_kernel_list list;
    oc_fusion_plan(m, a, rules, &arena, &list);
    const char **name = OC_NEW_ARRAY(&arena, list.n + 1, const char *);
    for (size_t i = 0; i < list.n; i++)
        name[i] = list.item[i].type;
    qsort(name, list.n, sizeof(*name), by_name);
    oc_buf_clear(out);
    for (size_t i = 0; i < list.n; i++)
        oc_buf_printf(out, "%s%s", i ? " " : "", name[i]);
    if (!list.n)
        oc_buf_str(out, "-");
    oc_arena_free(&arena);
}

struct check {
    struct rows table, known;
    unsigned set, compared, differ, listed;
};

static void compare_level(struct check *c, const char *id, int level, const char *expected, const char *plan)
{
    char key[200];
    bool same = !strcmp(expected, plan);
    snprintf(key, sizeof(key), "%s %s %s", id, levels[level].name, sets[c->set]);
    bool known = find_row(&c->known, key) != NULL;
    c->compared++;
    c->listed += known;
    if (same != known)
        return;
    c->differ++;
    print_message("%s\n  runtime: %s\n  plan:    %s%s\n", key, expected, plan,
                  known ? "  (listed as a known difference)" : "");
}

/* Tables of other instruction sets have only rows that differ from the first one. */
static void visit(void *context, const char *id, const char *text)
{
    struct check *c = context;
    char key[200];
    snprintf(key, sizeof(key), "%s %s", id, sets[c->set]);
    char *const *row = find_row(&c->table, key);
    row = row ? row : find_row(&c->table, id);
    if (!row)
        fail_msg("%s is not in the table: run models/probe_fusions.sh", id);
    struct oc_model *m;
    struct oc_analysis *a;
    struct oc_err e;
    struct oc_buf plan = {0};
    size_t n;
    uint8_t *bytes = zoo_probe(text, &n);
    if (oc_model_load_mem(bytes, n, NULL, &m, &e) || oc_analyze(m, &(struct oc_analyze_opts){0}, &a, &e))
        fail_msg("%s: %s", id, e.msg);
    const char *expected = NULL;
    for (int i = 0; i < LEVELS; i++) {
        expected = strcmp(row[i + 1], "=") != 0 ? row[i + 1] : expected;
        if (c->set && i < LEVELS - 1)
            continue;
        plan_of(m, a, levels[i].rules[c->set], &plan);
        compare_level(c, id, i, expected, plan.data);
    }
    oc_buf_free(&plan);
    oc_analysis_free(a);
    oc_model_free(m);
    free(bytes);
}

static void plans_of_probes_equal_the_runtime(void **state)
{
    (void)state;
    struct check c = {0};
    read_rows(&c.table, "tests/data/fusions.tsv");
    read_rows(&c.known, "tests/data/fusions_known.tsv");
    for (c.set = 0; c.set < OC_COUNT(sets); c.set++)
        zoo_each_probe(visit, &c);
    print_message("%u plans compared, %u known differences, %u unexpected\n", c.compared, c.listed, c.differ);
    assert_true(c.compared > 8000);
    assert_int_equal(c.listed, c.known.n);
    assert_int_equal(c.differ, 0);
    free_rows(&c.table);
    free_rows(&c.known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(plans_of_probes_equal_the_runtime)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
