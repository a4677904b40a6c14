/* Plans the memory of many models.
 *
 *   memory_plans [-t] [BIND... MODEL]...     -t: times (thousandths of a second) in the table
 *   BIND is shape:x=1x3x48x192 (a scalar has nothing after '=') or value:sr=16000, for the next model
 *
 * Every plan is checked here independently of the check in the library. Prints a line for each model that
 * has 16 or more buffers or a plan above its live bytes (# name nodes buffers live plan ratio), and TAP: plans
 * are valid; nine in ten need at most 1.05 of the peak live bytes. Models with unknown sizes are rejected by
 * the planner and counted. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/map.h"
#include "memory/memory_report.h"
#include "memory/memory_plan.h"
#include "onnxcost.h"
#include "onnxcost/memory.h"

#define MAX_BINDS 8

struct binds {
    struct oc_shape_bind shape[MAX_BINDS];
    struct oc_value_bind value[MAX_BINDS];
    int64_t dim[MAX_BINDS][OC_MAX_RANK];
    size_t n_shape, n_value;
    char *text[2 * MAX_BINDS]; /* names */
    size_t n_text;
};

struct tally {
    unsigned models, planned, empty, refused, close, broken;
    bool times;
};

/* True if the word is a bind, which is added. */
static bool take_bind(struct binds *b, const char *word)
{
    bool shape = !strncmp(word, "shape:", 6);
    if ((!shape && strncmp(word, "value:", 6)) || !strchr(word, '='))
        return false;
    if (b->n_shape == MAX_BINDS || b->n_value == MAX_BINDS)
        exit(2);
    char *name = b->text[b->n_text++] = strdup(word + 6), *what = strchr(name, '=');
    *what++ = 0;
    if (!shape) {
        b->value[b->n_value++] = (struct oc_value_bind){name, what};
        return true;
    }
    struct oc_shape_bind *s = &b->shape[b->n_shape];
    *s = (struct oc_shape_bind){.input = name, .dim = b->dim[b->n_shape]};
    for (b->n_shape++; *what && s->rank < OC_MAX_RANK; what += *what == 'x')
        b->dim[b->n_shape - 1][s->rank++] = strtoll(what, &what, 10);
    return true;
}

static void clear_binds(struct binds *b)
{
    while (b->n_text)
        free(b->text[--b->n_text]);
    b->n_shape = b->n_value = 0;
}

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* All buffers at once. The steps of a body are not steps of another graph: its buffers are compared with each
 * other, and with their arena by check_bodies. */
static bool check_graph(const struct oc_memory_plan *p, uint32_t graph, const char *path)
{
    struct oc_plan_box *box = oc_xmalloc(((size_t)p->n_buffer + 1) * sizeof(*box));
    uint64_t *offset = oc_xmalloc(((size_t)p->n_buffer + 1) * sizeof(*offset));
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n_buffer; i++)
        if (p->buffer[i].graph == graph) {
            box[n] = (struct oc_plan_box){p->buffer[i].bytes, p->buffer[i].first, p->buffer[i].last};
            offset[n++] = p->buffer[i].offset;
        }
    struct oc_err err;
    bool good = !oc_plan_check(box, offset, n, p->align, p->size, &err);
    if (!good)
        printf("# %s: %s\n", path, err.msg);
    free(box);
    free(offset);
    return good;
}

/* Bodies are in the arenas of their nodes. */
static bool check_bodies(const struct oc_memory_plan *p, const char *path)
{
    const struct oc_model *m = p->a->model;
    for (uint32_t i = 0; i < p->n_buffer; i++) {
        const struct oc_planned_buffer *b = &p->buffer[i];
        uint32_t owner = b->graph ? m->graph[b->graph].parent_node : OC_NONE;
        bool inside = owner == OC_NONE;
        for (uint32_t k = 0; k < p->n_buffer && !inside; k++) {
            const struct oc_planned_buffer *o = &p->buffer[k];
            inside = o->value == OC_NONE && o->first_node == owner && o->offset <= b->offset &&
                     b->offset + b->bytes <= o->offset + o->bytes;
        }
        if (!inside) {
            printf("# %s: a buffer of '%s' is outside its arena\n", path, m->graph[b->graph].scope);
            return false;
        }
    }
    return true;
}

static bool check(const struct oc_memory_plan *p, const char *path)
{
    bool good = true;
    for (uint32_t g = 0; g < p->a->model->n_graph; g++)
        good &= check_graph(p, g, path);
    return good && check_bodies(p, path);
}

static const char *short_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash && !strcmp(slash, "/model.onnx")) /* tests/NAME/model.onnx */
        for (const char *end = slash; slash > path && (slash[-1] != '/' || slash == end); slash--)
            ;
    return slash ? slash + (*slash == '/') : path;
}

static void count(struct tally *t, const struct oc_memory_plan *p, const char *path, double ms)
{
    uint64_t live = p->liveness->peak;
    double ratio = live ? (double)p->size / (double)live : 1;
    t->planned++;
    t->close += ratio <= 1.05;
    t->broken += !check(p, path);
    if (p->n_buffer < 16 && ratio == 1)
        return; /* nothing new */
    printf("# %-44.44s %6" PRIu32 " %6" PRIu32 " %12" PRIu64 " %12" PRIu64 " %7.4f", short_name(path),
           p->liveness->n_step, p->n_buffer, live, p->size, ratio);
    if (t->times)
        printf(" %7.1f", ms);
    printf("\n");
}

/* Other liveness rules: the plans must be valid as well. */
static void plan_variants(struct tally *t, const struct oc_model *m, const char *path,
                          const struct oc_analyze_opts *opts)
{
    static const struct {
        bool inplace, keep_inputs;
        uint64_t align;
        struct oc_plan_opts plan;
    } variant[] = {
        {.inplace = true},
        {.keep_inputs = true, .align = 64},
        {.plan = {.without_inputs = true, .all = true}},
    };
    for (size_t i = 0; i < OC_COUNT(variant); i++) {
        struct oc_analyze_opts o = *opts;
        struct oc_analysis *a = NULL;
        struct oc_memory_plan *p = NULL;
        struct oc_err err;
        o.inplace = variant[i].inplace;
        o.keep_inputs = variant[i].keep_inputs;
        o.align_bytes = variant[i].align;
        if (!oc_analyze(m, &o, &a, &err) && oc_memory_plan_make(a, &variant[i].plan, &p, &err) &&
            strncmp(err.msg, "cannot plan memory: ", 20)) {
            t->broken++;
            printf("# %s: %s\n", path, err.msg);
        }
        t->broken += p && !check(p, path);
        oc_memory_plan_free(p);
        oc_analysis_free(a);
    }
}

static void plan_model(struct tally *t, const char *path, const struct binds *b)
{
    struct oc_err err;
    struct oc_model *m = NULL;
    struct oc_analysis *a = NULL;
    struct oc_memory_plan *p = NULL;
    struct oc_analyze_opts opts = {
        .shape = b->shape, .n_shape = b->n_shape, .value = b->value, .n_value = b->n_value};
    t->models++;
    double start = now_ms();
    if (oc_model_load(path, NULL, &m, &err) || oc_analyze(m, &opts, &a, &err)) {
        t->refused++;
    } else if (start = now_ms(), oc_memory_plan_make(a, NULL, &p, &err)) {
        t->refused++;
        if (strncmp(err.msg, "cannot plan memory: ", 20)) {
            t->broken++;
            printf("# %s: %s\n", path, err.msg);
        }
    } else if (!p->n_buffer) {
        t->empty++;
    } else {
        count(t, p, path, now_ms() - start);
        plan_variants(t, m, path, &opts);
    }
    oc_memory_plan_free(p);
    oc_analysis_free(a);
    oc_model_free(m);
}

int main(int argc, char **argv)
{
    struct tally t = {0};
    struct binds b = {0};
    int first = 1;
    if (argc > 1 && !strcmp(argv[1], "-t")) {
        t.times = true;
        first = 2;
    }
    printf("# %-44s %6s %6s %12s %12s %7s\n", "model", "steps", "bufs", "live", "plan", "ratio");
    for (int i = first; i < argc; i++)
        if (!take_bind(&b, argv[i])) {
            plan_model(&t, argv[i], &b);
            clear_binds(&b);
        }
    printf("# %u models: %u planned, %u without buffers, %u rejected (unknown sizes, or not a model)\n",
           t.models, t.planned, t.empty, t.refused);
    printf("# plan <= 1.05 live bytes: %u of %u\n", t.close, t.planned);
    bool close = t.planned && t.close * 10 >= t.planned * 9;
    printf("%s 1 - every plan is valid\n", t.broken ? "not ok" : "ok");
    printf("%s 2 - nine in ten plans need at most 1.05 of the live bytes\n", close ? "ok" : "not ok");
    printf("1..2\n");
    return t.broken || !close;
}
