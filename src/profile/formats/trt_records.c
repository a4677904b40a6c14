#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "onnxcost/profile.h"
#include "profile/core/kernel_names.h"
#include "profile/formats/trt_reading.h"

#define NS_PER_MS 1e6
#define MAX_LANES 64

struct builder {
    const struct trt_reading *r;
    const struct oc_profile_opts *opts;
    struct oc_profile *p;
    struct oc_map by_name; /* index of the record */
    struct oc_map layers;  /* name to the first unused layer with that name ... */
    uint32_t *next;        /* ... and to the next one */
    double sum_ms;         /* of all layers */
};

/* ---- layers ----------------------------------------------------------------------------------------- */

static void index_layers(struct builder *b)
{
    const struct trt_engine *e = &b->r->engine;
    b->next = oc_xmalloc((e->n + 1) * sizeof(*b->next));
    for (size_t i = e->n; i-- > 0;) {
        const char *name = e->layer[i].name;
        b->next[i] = oc_map_get(&b->layers, name, strlen(name));
        oc_map_set(&b->layers, name, strlen(name), (uint32_t)i);
    }
}

/* The k-th entry with a name in the profile is the k-th layer with that name. */
static const struct trt_layer *take_layer(struct builder *b, const char *name)
{
    uint32_t i = oc_map_get(&b->layers, name, strlen(name));
    if (i == OC_NONE)
        return NULL;
    oc_map_set(&b->layers, name, strlen(name), b->next[i]);
    return &b->r->engine.layer[i];
}

/* Precision and unit: from the kernel's name, otherwise the type that the layer computes in. */
static void set_precision(struct builder *b, struct oc_prof_rec *rec, const struct trt_layer *l)
{
    struct oc_kernel_facts facts;
    oc_kernel_facts(b->opts->kernel_names, l->tactic, &facts);
    rec->unit = facts.unit;
    rec->precision = facts.precision;
    if (!*rec->precision && l->n_in && l->in[0].dtype)
        rec->precision = oc_class_name(oc_dtype_info(l->in[0].dtype)->cls);
}

/* Streams by number; the last lane stands for all further ones. */
static uint32_t trt_records_lane_of(struct builder *b, int64_t stream)
{
    uint32_t i = 0;
    while (i < b->p->n_lane && b->p->lane[i].id != stream)
        i++;
    if (i == MAX_LANES)
        return MAX_LANES - 1;
    if (i == b->p->n_lane)
        b->p->lane[b->p->n_lane++] = (struct oc_lane){
            .name = "", .device = true, .process = OC_NO_ID, .device_id = OC_NO_ID, .id = stream};
    return i;
}

static void trt_records_add_cost(struct oc_prof_rec *rec, const struct trt_cost *k, bool first)
{
    rec->has_macs = k->known && (first || rec->has_macs);
    rec->macs = rec->has_macs ? rec->macs + k->macs : 0;
    rec->flop = k->known ? (first ? k->flop : rec->flop + k->flop) : (double)NAN;
    rec->bytes = first ? k->bytes : rec->bytes + k->bytes;
    rec->param_bytes = k->param_bytes;
    if (k->quality > rec->quality)
        rec->quality = k->quality;
}

/* l: NULL without layer information. */
static void trt_records_set_type(struct builder *b, struct oc_prof_rec *rec, const struct trt_layer *l)
{
    struct trt_typed t = {.name = rec->name, .type = "", .param_type = "", .pooling = ""};
    if (l)
        t = (struct trt_typed){rec->name, l->type, l->param_type, l->pooling, l->marker, l->n_marker};
    struct oc_str type = trt_layer_type(&t);
    rec->op_type = oc_intern(&b->p->names, type.s, type.n);
    rec->source_type = *t.type && !oc_equal(t.type, rec->op_type) ? t.type : NULL;
}

static void trt_records_describe(struct builder *b, struct oc_prof_rec *rec, const struct trt_layer *l,
                                 bool first)
{
    struct trt_cost k;
    trt_cost_of(l, &k);
    trt_records_add_cost(rec, &k, first);
    if (!first)
        return;
    trt_records_set_type(b, rec, l);
    rec->in = l->in;
    rec->out = l->out;
    rec->n_in = l->n_in;
    rec->n_out = l->n_out;
    rec->has_in = rec->has_out = l->detailed;
    rec->lane = trt_records_lane_of(b, l->stream);
    rec->node_name = l->marker;
    rec->n_node_name = l->n_marker;
    if (l->detailed)
        set_precision(b, rec, l);
    if (oc_equal(l->origin, "REFORMAT") || (oc_equal(l->type, "Reformat") && !*l->origin))
        rec->overhead = "reformat";
    else if (oc_equal(l->type, "NoOp"))
        rec->overhead = "no-op";
}

/* ---- records ---------------------------------------------------------------------------------------- */

static struct oc_prof_rec *new_record(struct builder *b, const char *name, bool *first)
{
    uint32_t at = b->p->n_rec;
    *first = oc_map_add(&b->by_name, name, strlen(name), &at, NULL);
    struct oc_prof_rec *rec = &b->p->rec[at];
    if (!*first)
        return rec;
    *rec = oc_prof_rec_new(name);
    rec->calls_per_run = 0; /* of its occurrences */
    rec->overhead = trt_overhead(name, trt_stem(name, strlen(name)));
    trt_records_set_type(b, rec, NULL);
    b->p->n_rec++;
    return rec;
}

static void add_ns(double *sum, double ms, bool first)
{
    double ns = ms * NS_PER_MS;
    if (first || isnan(*sum))
        *sum = ns;
    else if (!isnan(ns))
        *sum += ns;
}

static double statistic(const struct builder *b, const struct trt_time *t)
{
    switch (b->p->stat) {
    case OC_STAT_SUM:
        return t->total_ms;
    case OC_STAT_MEDIAN:
        return t->median_ms;
    default:
        return !isnan(t->average_ms) ? t->average_ms
               : b->p->runs_total    ? t->total_ms / b->p->runs_total
                                     : (double)NAN;
    }
}

static void trt_records_add_times(struct builder *b, struct oc_prof_rec *rec, const struct trt_time *t,
                                  bool first)
{
    double ns = statistic(b, t);
    add_ns(&rec->time_ns, ns, first);
    add_ns(&rec->median_ns, t->median_ms, first);
    add_ns(&rec->total_ns, t->total_ms, first);
    rec->self_ns = rec->kernel_ns = rec->time_ns;
    rec->total_kernel_ns = rec->total_ns;
    rec->calls_per_run += 1;
    rec->calls += b->p->runs_used;
    rec->runs = b->p->runs_used;
    rec->where = first ? t->where : rec->where;
}

/* Elided layers are in the profile with zero time: they get no row. */
static bool is_elided(const struct builder *b, const struct oc_prof_rec *rec)
{
    return b->sum_ms > 0 && rec->total_ns == 0 && !(rec->has_macs && rec->macs);
}

static void layer_records(struct builder *b)
{
    const struct trt_reading *r = b->r;
    double imported_ms = 0;
    for (size_t i = 0; i < r->n_time; i++)
        b->sum_ms += isnan(r->time[i].total_ms) ? 0 : r->time[i].total_ms;
    for (size_t i = 0; i < r->n_time; i++) {
        const struct trt_layer *l = take_layer(b, r->time[i].name);
        bool first;
        struct oc_prof_rec *rec = new_record(b, r->time[i].name, &first);
        trt_records_add_times(b, rec, &r->time[i], first);
        if (l)
            trt_records_describe(b, rec, l, first);
        imported_ms += isnan(r->time[i].total_ms) ? 0 : r->time[i].total_ms;
    }
    for (uint32_t i = 0; i < b->p->n_rec; i++)
        if (is_elided(b, &b->p->rec[i]))
            b->p->rec[i].bucket = "no-op";
    b->p->imported_ns = imported_ms * NS_PER_MS;
}

/* Engines with several optimization profiles repeat their layers; uses one set. */
static bool is_repeated(const char *name)
{
    size_t n = strlen(name);
    return n && name[n - 1] == ']' && strstr(name, " [profile ") != NULL;
}

static void untimed_records(struct builder *b)
{
    const struct trt_engine *e = &b->r->engine;
    for (size_t i = 0; i < e->n; i++) {
        bool first;
        if (is_repeated(e->layer[i].name))
            continue;
        struct oc_prof_rec *rec = new_record(b, e->layer[i].name, &first);
        trt_records_describe(b, rec, &e->layer[i], first);
        rec->calls_per_run += 1;
    }
}

/* ---- times of whole iterations ---------------------------------------------------------------------- */

/* Known values of one kind, in nanoseconds; returns their number. */
static size_t take_runs(const struct trt_reading *r, enum trt_times which, double *v, double *sum_ns)
{
    size_t n = 0;
    *sum_ns = 0;
    for (size_t i = 0; i < r->n_run; i++) {
        double ms = r->run[i].ms[which];
        if (isnan(ms))
            continue;
        v[n++] = ms * NS_PER_MS;
        *sum_ns += ms * NS_PER_MS;
    }
    return n;
}

static double summary_ns(enum oc_stat stat, const struct trt_summary *s)
{
    double ms = stat == OC_STAT_MEAN  ? s->mean_ms
                : stat == OC_STAT_MIN ? s->min_ms
                : stat == OC_STAT_MAX ? s->max_ms
                                      : s->median_ms;
    return NS_PER_MS * (isnan(ms) ? s->mean_ms : ms);
}

/* From the times of all iterations, otherwise from their summary. */
static bool trt_records_times_of(const struct builder *b, enum trt_times which, double *v,
                                 struct oc_prof_rec *out)
{
    const struct trt_summary *s = &b->r->summary[which];
    double sum_ns;
    size_t n = take_runs(b->r, which, v, &sum_ns);
    if (n) {
        out->time_ns = oc_stat_of(b->p->stat, v, n);
        out->median_ns = oc_stat_of(OC_STAT_MEDIAN, v, n);
        out->min_ns = v[0];
        out->max_ns = v[n - 1];
        out->p10_ns = oc_percentile_of(v, n, 0.1);
        out->p90_ns = oc_percentile_of(v, n, 0.9);
    } else {
        n = b->p->runs_used ? b->p->runs_used : 1;
        sum_ns = s->mean_ms * NS_PER_MS * (double)n;
        out->time_ns = b->p->stat == OC_STAT_SUM ? sum_ns : summary_ns(b->p->stat, s);
        out->median_ns = s->median_ms * NS_PER_MS;
        out->min_ns = s->min_ms * NS_PER_MS;
        out->max_ns = s->max_ms * NS_PER_MS;
    }
    out->total_ns = out->total_kernel_ns = sum_ns;
    out->calls = n;
    return sum_ns > 0 || (which == TRT_COMPUTE && b->r->n_run);
}

static void bucket_of_runs(struct builder *b, enum trt_times which, const char *name, const char *bucket,
                           double *v)
{
    struct oc_prof_rec times = oc_prof_rec_new(name);
    bool first;
    if (!trt_records_times_of(b, which, v, &times))
        return;
    struct oc_prof_rec *rec = new_record(b, name, &first);
    *rec = times;
    rec->op_type = "";
    rec->bucket = bucket;
    rec->self_ns = rec->kernel_ns = rec->time_ns;
    rec->calls_per_run = 1;
    rec->runs = (uint32_t)rec->calls;
    b->p->imported_ns = (isnan(b->p->imported_ns) ? 0 : b->p->imported_ns) + rec->total_ns;
}

/* Times without a profile: the time of the whole engine and the copies before and after. */
static void run_records(struct builder *b, double *v)
{
    struct oc_prof_rec enqueue = oc_prof_rec_new("");
    bucket_of_runs(b, TRT_COMPUTE, "(GPU compute)", "whole engine", v);
    bucket_of_runs(b, TRT_COPY_IN, "(copies to the device)", "copies", v);
    bucket_of_runs(b, TRT_COPY_OUT, "(copies to the host)", "copies", v);
    if (b->p->n_rec && trt_records_times_of(b, TRT_ENQUEUE, v, &enqueue))
        b->p->rec[0].host_ns = enqueue.time_ns;
}

/* Compares with the real time of an iteration: layers are timed one by one but may run concurrently. */
static void set_run_time(struct builder *b, double *v)
{
    double sum_ns;
    size_t n = take_runs(b->r, TRT_COMPUTE, v, &sum_ns);
    struct oc_profile *p = b->p;
    enum oc_stat stat = p->stat == OC_STAT_SUM ? OC_STAT_MEDIAN : p->stat;
    double ns = n ? oc_stat_of(stat, v, n) : summary_ns(stat, &b->r->summary[TRT_COMPUTE]);
    p->run_ns = p->stat == OC_STAT_SUM && p->runs_used ? ns * p->runs_used : ns;
    if (b->r->has_times && b->sum_ms > 0 && p->runs_used && !isnan(ns))
        oc_diag_add(
            &p->diags, OC_INFO, "N-layer-sum", "",
            "the layers, timed one by one, add up to %.6g ms per iteration; the engine as a whole takes %.6g "
            "ms (%s)",
            b->sum_ms / p->runs_used, ns / NS_PER_MS, n ? "its times" : "its summary");
}

/* ---- inputs ----------------------------------------------------------------------------------------- */

static void trt_records_add_input(struct builder *b, struct oc_map *seen, struct oc_prof_input *out,
                                  const struct oc_prof_input *input)
{
    uint32_t at = b->p->n_input;
    if (oc_shape_known(&input->type.shape) && oc_map_add(seen, input->name, strlen(input->name), &at, NULL))
        out[b->p->n_input++] = *input;
}

/* Inputs and outputs of the engine, by name: index; OC_NONE for those that a layer writes. */
static void index_io(const struct trt_engine *e, struct oc_map *io)
{
    for (size_t i = 0; i < e->n_io; i++)
        oc_map_set(io, e->io[i].name, strlen(e->io[i].name), (uint32_t)i);
    for (size_t i = 0; i < e->n; i++)
        for (uint32_t k = 0; k < e->layer[i].n_out; k++) {
            const char *name = e->layer[i].out_name[k];
            if (oc_map_get(io, name, strlen(name)) != OC_NONE)
                oc_map_set(io, name, strlen(name), OC_NONE);
        }
}

/* The engine's inputs: those that the log or the summary reports, and tensors of the engine that layers read
 * but do not write. */
static void set_inputs(struct builder *b)
{
    const struct trt_reading *r = b->r;
    const struct trt_engine *e = &r->engine;
    struct oc_map seen = {.arena = &b->p->arena}, io = {.arena = &b->p->arena};
    struct oc_prof_input *out = OC_NEW_ARRAY(&b->p->arena, r->n_input + e->n_io, struct oc_prof_input);
    b->p->input = out;
    for (size_t i = 0; i < r->n_input; i++)
        trt_records_add_input(b, &seen, out, &r->input[i]);
    index_io(e, &io);
    for (size_t i = 0; i < e->n; i++)
        for (uint32_t k = 0; k < e->layer[i].n_in; k++) {
            const char *name = e->layer[i].in_name[k];
            if (oc_map_get(&io, name, strlen(name)) != OC_NONE)
                trt_records_add_input(b, &seen, out, &(struct oc_prof_input){name, e->layer[i].in[k]});
        }
    oc_map_free(&seen);
    oc_map_free(&io);
}

/* ---- the profile ------------------------------------------------------------------------------------ */

/* A profile has sums, means and, from 8.4 on, medians; other statistics are not available. */
static void choose_layer_stat(struct builder *b)
{
    bool medians = b->r->n_time > 0;
    enum oc_stat wanted = b->opts->stat == OC_STAT_AUTO ? OC_STAT_MEDIAN : b->opts->stat;
    for (size_t i = 0; i < b->r->n_time; i++)
        medians = medians && !isnan(b->r->time[i].median_ms);
    if (!b->r->has_times || wanted == OC_STAT_SUM || wanted == OC_STAT_MEAN ||
        (wanted == OC_STAT_MEDIAN && medians))
        return;
    b->p->stat = medians ? OC_STAT_MEDIAN : OC_STAT_MEAN;
    oc_diag_add(&b->p->diags, wanted == OC_STAT_MEDIAN ? OC_INFO : OC_WARNING, "W-no-statistic", "",
                "the profile does not contain the %s of layer times: the %s is shown", oc_stat_name(wanted),
                oc_stat_name(b->p->stat));
}

/* The spread of the iterations chooses the statistic only where no layer has times of its own. */
static void trt_records_choose_stat(struct builder *b, double *v)
{
    struct oc_profile *p = b->p;
    double sum_ns;
    choose_layer_stat(b);
    oc_run_spread_of(v, take_runs(b->r, TRT_COMPUTE, v, &sum_ns), &p->spread);
    p->stat = oc_run_spread_stat(&p->spread, b->r->has_times ? p->stat : b->opts->stat, &p->diags);
}

static void warn_dla(struct builder *b)
{
    double ns = 0;
    for (uint32_t i = 0; i < b->p->n_rec; i++) {
        const struct oc_prof_rec *r = &b->p->rec[i];
        ns += r->overhead && oc_equal(r->overhead, "DLA transfers") && !isnan(r->total_ns) ? r->total_ns : 0;
    }
    if (ns > 0)
        oc_diag_add(&b->p->diags, OC_WARNING, "W-dla", "",
                    "%.1f %% of the time is in transfers to and from the DLA, which include the wait for it: "
                    "TensorRT does not time layers on the DLA",
                    100 * ns / b->p->imported_ns);
}

static void check_layers(struct builder *b)
{
    const struct trt_engine *e = &b->r->engine;
    uint32_t found = 0;
    for (uint32_t i = 0; i < b->p->n_rec; i++)
        found += b->p->rec[i].has_in;
    bool names_only = e->n && !e->layer[0].detailed;
    if (names_only)
        oc_diag_add(&b->p->diags, OC_INFO, "N-names-only", "",
                    "the layer information has names only: build the engine with "
                    "--profilingVerbosity=detailed for shapes "
                    "and costs");
    else if (e->n && b->r->n_time && !found)
        oc_diag_add(&b->p->diags, OC_WARNING, "W-other-engine", "",
                    "no layer of the profile is in the layer information: it belongs to another engine");
}

void trt_fill(const struct trt_reading *r, const struct oc_profile_opts *opts, struct oc_profile *p)
{
    struct oc_arena scratch = {0};
    struct builder b = {.r = r, .opts = opts, .p = p, .by_name.arena = &scratch, .layers.arena = &scratch};
    double *v = oc_xmalloc((r->n_run + 1) * sizeof(*v));
    uint64_t runs = r->has_times || r->has_count ? (uint64_t)r->count
                    : r->n_run                   ? r->n_run
                                                 : (uint64_t)r->n_query;
    p->rec = OC_NEW_ARRAY(&p->arena, r->n_time + r->engine.n + 3, struct oc_prof_rec);
    p->lane = OC_NEW_ARRAY(&p->arena, MAX_LANES, struct oc_lane);
    trt_records_lane_of(&b, 0);
    p->producer = "TensorRT";
    p->device = *r->device ? r->device : "CUDA";
    p->time_kind = "device time";
    p->runs_total = p->runs_used = runs < UINT32_MAX ? (uint32_t)runs : UINT32_MAX;
    p->runs_from = runs ? OC_RUNS_MARKED : trt_has_summary(r) ? OC_RUNS_MEAN : OC_RUNS_UNKNOWN;
    p->run_ns = p->busy_ns = NAN;
    trt_records_choose_stat(&b, v);
    index_layers(&b);
    if (r->has_times || r->has_count)
        layer_records(&b);
    else if (r->engine.n)
        untimed_records(&b);
    else
        run_records(&b, v);
    set_run_time(&b, v);
    set_inputs(&b);
    warn_dla(&b);
    check_layers(&b);
    free(v);
    free(b.next);
    oc_map_free(&b.by_name);
    oc_map_free(&b.layers);
    oc_arena_free(&scratch);
}

void trt_free_reading(struct trt_reading *r)
{
    free(r->engine.layer);
    free(r->engine.io);
    free(r->time);
    free(r->run);
    free(r->input);
}
