/* The table of how ONNX Runtime optimizes the probes: it saves the optimized model of each, whose operators
 * are listed. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "onnxcost.h"
#include "model/model.h"
#include "probe_fusions.h"
#include "run/ort_lib.h"

static const struct {
    const char *name;
    int number;
} levels[] = {{"disabled", 0}, {"basic", 1}, {"extended", 2}, {"all", 99}};

struct table {
    const char *folder;
    FILE *out;
    struct oc_ort ort;
    struct ort_env *env; /* NULL: not loaded yet */
    struct oc_err *err;
    unsigned failed;
};

static int write_file(const char *path, const uint8_t *bytes, size_t n, struct oc_err *err)
{
    FILE *f = fopen(path, "wb");
    bool bad = !f || fwrite(bytes, 1, n, f) != n;
    bad |= f && fclose(f);
    return bad ? oc_fail(err, OC_EOUTPUT, "cannot write '%s': %s", path, strerror(errno)) : 0;
}

static int open_runtime(struct table *t, struct oc_err *err)
{
    const int fatal = 4;
    if (t->env)
        return 0;
    return oc_ort_open(NULL, &t->ort, err) ||
                   oc_ort_check(&t->ort, t->ort.create_env(fatal, "probes", &t->env), OC_ELIBRARY,
                                "environment", err)
               ? -1
               : 0;
}

/* Creating a session writes the optimized model. */
static int optimize(struct table *t, const char *model, const char *optimized, int level, struct oc_err *err)
{
    struct ort_options *options = NULL;
    struct ort_session *session = NULL;
    if (open_runtime(t, err))
        return -1;
    const struct oc_ort *o = &t->ort;
    int rc =
        oc_ort_check(o, o->create_options(&options), OC_ELIBRARY, "options", err) ||
        oc_ort_check(o, o->set_level(options, level), OC_ELIBRARY, "level", err) ||
        oc_ort_check(o, o->set_intra_threads(options, 1), OC_ELIBRARY, "threads", err) ||
        oc_ort_check(o, o->set_optimized_model(options, optimized), OC_ELIBRARY, "optimized model", err) ||
        oc_ort_check(o, o->create_session(t->env, model, options, &session), OC_ELIBRARY, "session", err);
    if (session)
        o->release_session(session);
    if (options)
        o->release_options(options);
    return rc ? -1 : 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* "Add FusedConv nchwc.Conv": the operators of the main graph, sorted. */
static int operators_of(const char *path, struct oc_buf *out, struct oc_err *err)
{
    struct oc_model *m;
    struct oc_arena arena = {0};
    if (oc_model_load(path, NULL, &m, err))
        return -1;
    const char **name = OC_NEW_ARRAY(&arena, (size_t)m->n_node + 1, const char *);
    size_t n = 0;
    for (uint32_t k = 0; k < m->graph[0].n_node; k++) {
        const struct oc_node *node = &m->node[m->graph[0].node[k]];
        bool blocked = !strcmp(node->domain, "com.microsoft.nchwc");
        if (strcmp(node->op_type, "Constant") != 0)
            name[n++] = oc_printf(&arena, "%s%s", blocked ? "nchwc." : "", node->op_type);
    }
    qsort(name, n, sizeof(*name), by_name);
    for (size_t i = 0; i < n; i++)
        oc_buf_printf(out, "%s%s", i ? " " : "", name[i]);
    oc_arena_free(&arena);
    oc_model_free(m);
    return 0;
}

static int add_row(struct table *t, const char *id, const char *text, struct oc_buf *row, struct oc_err *err)
{
    char path[512], optimized[512];
    struct oc_buf cell = {0}, before = {0};
    size_t n;
    uint8_t *bytes = zoo_probe(text, &n);
    snprintf(path, sizeof(path), "%s/%s.onnx", t->folder, id);
    int rc = write_file(path, bytes, n, err);
    free(bytes);
    oc_buf_str(row, id);
    for (size_t i = 0; i < OC_COUNT(levels) && !rc; i++) {
        snprintf(optimized, sizeof(optimized), "%s/%s.%s.onnx", t->folder, id, levels[i].name);
        oc_buf_clear(&cell);
        rc = (access(optimized, R_OK) && optimize(t, path, optimized, levels[i].number, err)) ||
             operators_of(optimized, &cell, err);
        bool same = i && cell.n == before.n && !memcmp(cell.data, before.data, cell.n);
        oc_buf_printf(row, "\t%s", same ? "=" : cell.n ? cell.data : "-");
        oc_buf_clear(&before);
        oc_buf_add(&before, cell.data, cell.n);
    }
    oc_buf_free(&cell);
    oc_buf_free(&before);
    return rc;
}

static void visit_row(void *context, const char *id, const char *text)
{
    struct table *t = context;
    struct oc_buf row = {0};
    struct oc_err err = {0};
    if (add_row(t, id, text, &row, &err)) {
        fprintf(stderr, "%s: %s\n", id, err.msg);
        t->failed++;
    } else {
        fprintf(t->out, "%s\n", row.data);
    }
    oc_buf_free(&row);
}

int zoo_probe_table(const char *folder, FILE *out, struct oc_err *err)
{
    struct table t = {.folder = folder, .out = out, .err = err};
    fprintf(out, "probe");
    for (size_t i = 0; i < OC_COUNT(levels); i++)
        fprintf(out, "\t%s", levels[i].name);
    fprintf(out, "\n");
    zoo_each_probe(visit_row, &t);
    return t.failed ? oc_fail(err, OC_ELIBRARY, "%u probes failed", t.failed) : 0;
}
