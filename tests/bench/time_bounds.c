/* Speed of lower bounds as closed forms (onnxcost/bounds.h): set-up, processor time of a size, share of the sizes that need no
 * analysis, and the largest difference from analyses of the same sizes.
 *
 * usage: time_bounds DEVICE MODEL SYMBOL=FROM..TO ... | time_bounds DEVICE llm MODEL */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "estimate/bound.h"
#include "llm/llm.h"
#include "onnxcost.h"
#include "onnxcost/bounds.h"
#include "onnxcost/llm.h"

enum { POINTS = 4096, TURNS = 256, CHECKED = 20, MAX_VARS = 8 };

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void stop(const struct oc_err *err)
{
    printf("time_bounds: %s\n", err->msg);
    exit(1);
}

static int64_t drawn(uint64_t *random, const struct oc_range_bind *r)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return r->from + (int64_t)((*random >> 11) % (uint64_t)(r->to - r->from + 1));
}

struct case_ {
    const char *name;
    struct oc_time_bound *bound;
    const struct oc_range_bind *range;
    size_t n_range;
    double made_ms;
    double (*analysed_ns)(const struct case_ *c, const int64_t *size);
    const struct oc_model *model;
    const struct oc_device *device;
    struct oc_llm *llm;
};

static double of_model(const struct case_ *c, const int64_t *size)
{
    struct oc_bind bind[MAX_VARS];
    struct oc_analysis *a;
    struct oc_err err;
    for (size_t i = 0; i < c->n_range; i++)
        bind[i] = (struct oc_bind){c->range[i].symbol, size[i]};
    if (oc_analyze(c->model, &(struct oc_analyze_opts){.bind = bind, .n_bind = c->n_range}, &a, &err))
        return NAN;
    double s = oc_bound_of(a, NULL, c->device, true);
    oc_analysis_free(a);
    return s * 1e9;
}

static double of_step(const struct case_ *c, const int64_t *size)
{
    struct oc_analysis *a;
    if (oc_llm_analyze_decode(c->llm, size, &a))
        return NAN;
    double s = oc_bound_of(a, NULL, c->device, true);
    oc_analysis_free(a);
    return s * 1e9;
}

static void measure(const struct case_ *c)
{
    static int64_t size[POINTS * MAX_VARS];
    static double ns[POINTS];
    uint64_t random = 88172645463325252u;
    size_t closed = 0, n = 0;
    double worst = 0;
    for (size_t i = 0; i < POINTS; i++) {
        for (size_t v = 0; v < c->n_range; v++)
            size[n * c->n_range + v] = drawn(&random, &c->range[v]);
        bool is = oc_time_bound_is_closed(c->bound, &size[n * c->n_range]);
        closed += is;
        n += is;
    }
    double start = now_ms();
    for (unsigned t = 0; t < TURNS; t++)
        oc_time_bound_all(c->bound, size, n, ns);
    double per_size = (now_ms() - start) * 1e6 / (double)(n * TURNS);
    for (size_t i = 0; i < CHECKED && i < n; i++) {
        double want = c->analysed_ns(c, &size[i * c->n_range]);
        worst = fmax(worst, fabs(ns[i] - want) / want);
    }
    printf("bound  %-24s  set-up %7.0f ms  %6.0f ns a size  %5.1f %% of sizes closed  differs by %.0e\n",
           c->name, c->made_ms, per_size, 100.0 * (double)closed / POINTS, worst);
}

static size_t read_ranges(char **arg, size_t n, struct oc_range_bind *range)
{
    for (size_t i = 0; i < n; i++) {
        char *at = strchr(arg[i], '='), *end;
        if (!at)
            return 0;
        *at = '\0';
        range[i] = (struct oc_range_bind){.symbol = arg[i], .from = strtoll(at + 1, &end, 10)};
        range[i].to = strtoll(end + 2, NULL, 10);
    }
    return n;
}

int main(int argc, char **argv)
{
    static const struct oc_range_bind decode[] = {{"batch", 1, 512}, {"past", 1, 131072}};
    struct oc_range_bind range[MAX_VARS];
    struct oc_hwdb *db;
    const struct oc_device *device;
    struct oc_model *model;
    struct oc_err err;
    if (argc < 4 || argc > 3 + MAX_VARS)
        return 2;
    bool llm = !strcmp(argv[2], "llm");
    const char *path = argv[llm ? 3 : 2];
    if (oc_hwdb_open(NULL, &db, &err) || oc_hwdb_get(db, argv[1], &device, &err) ||
        oc_model_load(path, NULL, &model, &err))
        stop(&err);
    const char *slash = strrchr(path, '/');
    struct case_ c = {.name = slash ? slash + 1 : path, .model = model, .device = device};
    const struct oc_llm_opts opts = {.device = &device, .n_device = 1, .cache = true};
    if (llm && oc_llm_make(model, &opts, &c.llm, &err))
        stop(&err);
    c.range = llm ? decode : range;
    c.n_range = llm ? 2 : read_ranges(argv + 3, (size_t)argc - 3, range);
    c.analysed_ns = llm ? of_step : of_model;
    double start = now_ms();
    if (llm ? oc_llm_time_bound(c.llm, &(struct oc_llm_time_bound_opts){.part = OC_LLM_PART_FIRST}, &c.bound,
                                &err)
            : oc_time_bound_make(
                  model, device,
                  &(struct oc_time_bound_opts){.range = c.range, .n_range = c.n_range, .cache = true},
                  &c.bound, &err))
        stop(&err);
    c.made_ms = now_ms() - start;
    measure(&c);
    oc_time_bound_free(c.bound);
    oc_llm_free(c.llm);
    oc_model_free(model);
    oc_hwdb_free(db);
    return 0;
}
