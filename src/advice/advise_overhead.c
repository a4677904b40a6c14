/* Time outside of arithmetic: layout conversions, copies to and from a device, operators that run on another device,
 * kernels no longer than their launch, gaps, data loading. */
#include <stdlib.h>
#include <string.h>

#include "advice/advisor.h"
#include "base/ck.h"
#include "base/units.h"
#include "hw/hwdb.h"
#include "onnxcost/hardware.h"
#include "profile/core/timeline.h"
#include "profile/time_summary.h"

static const char *format_of(const struct oc_advisor *x)
{
    return x->p ? x->p->format : "";
}

/* ---- layout ----------------------------------------------------------------------------------------- */

/* [0,2,3,1] or [0,3,1,2], and the same for other ranks: channels last, or channels first. */
static bool moves_channels(const struct oc_advisor *x, uint32_t node)
{
    const struct oc_attr *perm = oc_node_attr(&x->m->node[node], "perm");
    if (!oc_advisor_is(x, node, " Transpose ") || !perm || perm->type != OC_ATTR_INTS || perm->n < 4 ||
        perm->ints[0] != 0)
        return false;
    bool out = true, in = true;
    for (uint32_t i = 1; i < perm->n; i++) {
        out = out && perm->ints[i] == (i + 1 < perm->n ? (int64_t)i + 1 : 1);
        in = in && perm->ints[i] == (i > 1 ? (int64_t)i - 1 : (int64_t)perm->n - 1);
    }
    return out || in;
}

/* A Transpose can split heads as well; one that changes the layout is next to an operator with a layout. */
static bool is_spatial(const struct oc_advisor *x, uint32_t node)
{
    return node != OC_NONE && oc_op_has_channels(x->a->op[node]);
}

/* By value: whether such an operator reads it. */
static bool *read_by_spatial(struct oc_advisor *x)
{
    bool *read = x->m ? OC_NEW_ARRAY(&x->scratch, (size_t)x->m->n_value + 1, bool) : NULL;
    for (uint32_t i = 0; x->m && i < x->m->n_node; i++)
        for (uint32_t k = 0; k < x->m->node[i].n_in && is_spatial(x, i); k++)
            if (x->m->node[i].in[k] != OC_NONE)
                read[x->m->node[i].in[k]] = true;
    return read;
}

static bool near_spatial(const struct oc_advisor *x, const bool *read, uint32_t node)
{
    const struct oc_node *n = &x->m->node[node];
    bool before = n->n_in && is_spatial(x, oc_advisor_producer(x, n->in[0]));
    return before || (n->n_out && n->out[0] != OC_NONE && read[n->out[0]]);
}

static const char *layout_of(const struct oc_advisor *x, const bool *read, const struct oc_piece *p)
{
    if (p->bucket && oc_type_in(p->bucket, " layout reformat "))
        return "inserted by the runtime";
    if (oc_type_in(p->type, " ReorderInput ReorderOutput Reformat Reorder "))
        return "inserted by the runtime";
    if (x->m && p->n_node == 1 && moves_channels(x, p->node[0]) && near_spatial(x, read, p->node[0]))
        return "a Transpose of the model that moves the channels";
    return NULL;
}

static const char *layout_todo(const struct oc_advisor *x, bool own)
{
    if (!strcmp(format_of(x), "tensorrt"))
        return "give inputs and outputs the formats of the layers (trtexec --inputIOFormats, "
               "--outputIOFormats), and keep layers in one precision: a change of precision between layers "
               "is a Reformat as well";
    if (own)
        return "export the model in the layout of the runtime (tf2onnx --inputs-as-nchw), so that the "
               "Transposes cancel";
    return "the runtime converts around operators without a kernel in its own layout: replace them "
           "(neighbours of the rows below), or compare with a run without that layout (ONNX Runtime: level "
           "extended instead of all)";
}

/* A conversion at an end of the graph may be necessary: the saving is an upper bound. */
void oc_advise_layout(struct oc_advisor *x)
{
    struct oc_advice_item *f = oc_advice_new(x, "layout", "Layout conversions");
    const bool *read = read_by_spatial(x);
    double sum = 0;
    uint32_t n = 0;
    bool own = false;
    for (uint32_t i = 0; i < x->n_piece; i++) {
        struct oc_piece *p = &x->piece[i];
        const char *what = oc_piece_timed(p) ? layout_of(x, read, p) : NULL;
        if (!what)
            continue;
        oc_advice_prove(f, p, p->time_ns, what);
        own = own || *what == 'a';
        sum += p->time_ns;
        n++;
    }
    f->low_ns = 0;
    f->high_ns = sum;
    f->basis = "at most the time of the conversions";
    f->found = oc_printf(x->arena, "%u kernel%s only change%s the layout or type of tensors: %s", n,
                         n == 1 ? "" : "s", n == 1 ? "s" : "", oc_advice_time(x, sum));
    f->todo = layout_todo(x, own);
    oc_advice_keep(x, f);
}

/* ---- copies ----------------------------------------------------------------------------------------- */

static bool is_copy(const struct oc_piece *p)
{
    return (p->bucket && !strcmp(p->bucket, "copies")) || !strncmp(p->type, "Memcpy", 6);
}

static void prove_kernel(struct oc_advisor *x, struct oc_advice_item *f, const struct oc_prof_kernel *k,
                         double ns)
{
    const struct oc_piece none = {
        .row = &(struct oc_row){.record = k->rec}, .name = k->name, .type = "copy", .bytes = k->bytes};
    double runs = x->p->runs_used ? x->p->runs_used : 1;
    oc_advice_prove(f, &none, ns,
                    oc_printf(x->arena, "%s a run", oc_number_text(x->arena, (double)k->calls / runs, 4)));
}

/* Copies from the device's own list, if there is one; else those with rows. */
static double prove_copies(struct oc_advisor *x, struct oc_advice_item *f, bool *pageable)
{
    double sum = 0;
    const struct oc_profile *p = x->p;
    for (uint32_t i = 0; i < p->n_kernel; i++) {
        const struct oc_prof_kernel *k = &p->kernel[i];
        if (k->kind != OC_EV_MEMCPY)
            continue;
        double ns = oc_of_one_run(&x->r->m, k->time_ns);
        if (!(ns > 0))
            continue;
        *pageable = *pageable || strstr(k->name, "ageable");
        prove_kernel(x, f, k, ns);
        sum += ns;
    }
    for (uint32_t i = 0; !f->n_proof && i < x->n_piece; i++)
        if (oc_piece_timed(&x->piece[i]) && is_copy(&x->piece[i]))
            sum += x->piece[i].time_ns;
    for (uint32_t i = 0; !p->n_kernel && i < x->n_piece; i++)
        if (oc_piece_timed(&x->piece[i]) && is_copy(&x->piece[i]))
            oc_advice_prove(f, &x->piece[i], x->piece[i].time_ns, "a copy");
    return sum;
}

void oc_advise_copies(struct oc_advisor *x)
{
    struct oc_advice_item *f = oc_advice_new(x, "copies", "Copies to, from and on the device");
    bool pageable = false;
    double sum = prove_copies(x, f, &pageable);
    f->low_ns = 0;
    f->high_ns = sum;
    f->basis = "at most the time of the copies: necessary ones can overlap with kernels";
    f->found = oc_printf(x->arena, "copies take %s%s", oc_advice_time(x, sum),
                         pageable ? ", some from pageable memory" : "");
    f->todo = !strcmp(format_of(x), "onnxruntime") ? "bind inputs and outputs to device memory (IoBinding)"
              : pageable ? "pin host memory (DataLoader(pin_memory=True), cudaHostAlloc) and copy "
                           "asynchronously (non_blocking=True) on a separate stream"
                         : "keep tensors on the device; copy on a separate stream while kernels run";
    oc_advice_keep(x, f);
}

/* ---- fallbacks -------------------------------------------------------------------------------------- */

/* Priority: ONNX Runtime assigns a node to the first provider of the session that supports it; accelerators
 * precede the general device, and that precedes the CPU. 0: not a provider. */
static int rank_of(const char *provider)
{
    static const char *const first[] = {"Tensorrt", "NvTensorRTRTX", "MIGraphX", "OpenVINO",
                                        "QNN",      "CoreML",        "VitisAI"};
    if (!*provider)
        return 0;
    if (!strncmp(provider, "CPU", 3))
        return 1;
    for (size_t i = 0; i < OC_COUNT(first); i++)
        if (!strncmp(provider, first[i], strlen(first[i])))
            return 3;
    return 2;
}

/* ONNX Runtime computes shapes on the CPU on purpose, where the results are needed. */
static bool is_shape_work(const struct oc_advisor *x, const struct oc_piece *p)
{
    if (oc_type_in(p->type, " Shape Size "))
        return true;
    for (uint32_t i = 0; x->m && i < p->n_node; i++)
        for (uint32_t k = 0; k < x->m->node[p->node[i]].n_out; k++) {
            uint32_t v = x->m->node[p->node[i]].out[k];
            if (v != OC_NONE && x->a->data[v])
                return true;
        }
    const struct oc_type *t = p->rec && p->rec->has_out && p->rec->n_out ? p->rec->out : NULL;
    uint64_t n;
    return t && (t->dtype == OC_DT_INT64 || t->dtype == OC_DT_INT32) && oc_type_elements(t, &n) && n <= 64;
}

static const char *best_provider(const struct oc_advisor *x, int *rank)
{
    const char *best = NULL;
    double most = 0;
    for (uint32_t i = 0; i < x->n_piece; i++) {
        const struct oc_piece *p = &x->piece[i];
        int r = p->rec && oc_piece_timed(p) && !is_copy(p) ? rank_of(p->rec->provider) : 0;
        if (r > *rank || (r && r == *rank && p->time_ns > most)) {
            *rank = r;
            most = p->time_ns;
            best = p->rec->provider;
        }
    }
    return best;
}

void oc_advise_fallbacks(struct oc_advisor *x)
{
    struct oc_advice_item *f = oc_advice_new(x, "fallback", "Operators that fall back to another provider");
    int rank = 0;
    const char *best = best_provider(x, &rank);
    double fallen = 0, copies = 0;
    uint32_t n = 0;
    for (uint32_t i = 0; i < x->n_piece && rank > 1; i++) {
        struct oc_piece *p = &x->piece[i];
        int r = p->rec && oc_piece_timed(p) && !is_copy(p) ? rank_of(p->rec->provider) : 0;
        if (!r || r >= rank || (r == 1 && is_shape_work(x, p)))
            continue;
        oc_advice_prove(f, p, p->time_ns, oc_printf(x->arena, "on %s", p->rec->provider));
        fallen += p->time_ns;
        n++;
    }
    for (uint32_t i = 0; i < x->n_piece && n; i++) {
        struct oc_piece *p = &x->piece[i];
        if (!oc_piece_timed(p) || !is_copy(p))
            continue;
        oc_advice_prove(f, p, p->time_ns, "a copy between providers, or of an input or output");
        copies += p->time_ns;
    }
    f->low_ns = 0;
    f->high_ns = fallen + copies;
    f->basis = "at most the time of these operators and of the copies; on the device they take time as well";
    f->found =
        oc_printf(x->arena, "%u operator%s do%s not run on %s: %s, and copies %s", n, n == 1 ? "" : "s",
                  n == 1 ? "es" : "", best ? best : "", oc_advice_time(x, fallen), oc_advice_time(x, copies));
    f->todo =
        "find the reason (ONNX Runtime: the verbose session log lists nodes with providers): a type, opset "
        "or attribute without a kernel in the provider; replace the operators, or convert their types";
    if (n)
        oc_advice_keep(x, f);
}

/* ---- kernels no longer than their launch --------------------------------------------------------- */

enum {
    FEW = 8,             /* fewer tiny kernels are not reported */
    SAMPLE = 5,          /* minimum number of operators for a measured launch time */
    NOTHING_BYTES = 4096 /* bytes of an operator with almost no work */
};

static double per_call(const struct oc_piece *p)
{
    return p->time_ns / (p->calls > 1 ? p->calls : 1);
}

/* Launch time from host times: the median of operators with almost no work. NAN: too few of them. */
static double measured_launch(const struct oc_advisor *x, uint32_t *n)
{
    double *t = oc_xmalloc(((size_t)x->n_piece + 1) * sizeof(*t)), launch = NAN;
    *n = 0;
    for (uint32_t i = 0; i < x->n_piece; i++)
        if (oc_piece_timed(&x->piece[i]) && x->piece[i].bytes / x->piece[i].calls <= NOTHING_BYTES &&
            x->piece[i].computation / x->piece[i].calls <= NOTHING_BYTES)
            t[(*n)++] = per_call(&x->piece[i]);
    qsort(t, *n, sizeof(*t), oc_by_double);
    if (*n >= SAMPLE)
        launch = t[*n / 2];
    free(t);
    return launch;
}

static bool on_device(const struct oc_profile *p)
{
    return !strcmp(p->time_kind, "device time") || p->n_kernel;
}

/* Highest bytes and operations per second of any operator of this run. */
struct best {
    double bytes, flops;
};

static struct best best_rates(const struct oc_advisor *x)
{
    struct best b = {0, 0};
    for (uint32_t i = 0; i < x->n_piece; i++) {
        const struct oc_piece *p = &x->piece[i];
        double bytes = p->bytes / p->time_ns, flops = oc_of_one_run(&x->r->m, p->computation) / p->time_ns;
        if (!oc_piece_timed(p))
            continue;
        b.bytes = bytes > b.bytes ? bytes : b.bytes;
        b.flops = flops > b.flops ? flops : b.flops;
    }
    return b;
}

/* Not longer than a launch, and with work that takes less than half of a launch at the best rates of this
 * run. */
static bool is_tiny(const struct oc_advisor *x, const struct oc_piece *p, const struct best *b, double launch,
                    bool device)
{
    double calls = p->calls > 1 ? p->calls : 1, flops = oc_of_one_run(&x->r->m, p->computation);
    if (!oc_piece_timed(p) || per_call(p) > (device ? launch : 1.5 * launch))
        return false;
    double work = (p->bytes > 0 && b->bytes > 0 ? p->bytes / b->bytes : 0) +
                  (flops > 0 && b->flops > 0 ? flops / b->flops : 0);
    return device || (!isnan(p->bytes) && work / calls < launch / 2);
}

/* Device times exclude the launch: the device waits while a kernel is shorter than the next launch. */
static double saved(const struct oc_piece *p, double launch, bool device)
{
    double t = per_call(p), calls = p->calls > 1 ? p->calls : 1;
    return calls * (device ? launch - t : t < launch ? t : launch);
}

static double operators_ns(const struct oc_advisor *x)
{
    double sum = 0;
    for (uint32_t i = 0; i < x->n_piece; i++)
        sum += isnan(x->piece[i].row->time_s) ? 0 : x->piece[i].row->time_s;
    return oc_of_one_run(&x->r->m, sum) * 1e9;
}

void oc_advise_tiny(struct oc_advisor *x)
{
    struct oc_advice_item *f = oc_advice_new(x, "tiny-kernels", "Tiny kernels");
    const struct oc_hw_figure *figure = x->d ? x->d->overhead : NULL;
    bool device = on_device(x->p);
    uint32_t n_sample = 0, n = 0;
    double launch = device ? (figure ? figure->value * 1e9 : (double)NAN) : measured_launch(x, &n_sample);
    bool measured = !isnan(launch) && !device;
    if (isnan(launch) && figure)
        launch = figure->value * 1e9;
    double sum = 0, time = 0, calls = 0;
    struct best best = best_rates(x);
    for (uint32_t i = 0; i < x->n_piece && launch > 0; i++) {
        struct oc_piece *p = &x->piece[i];
        if (!is_tiny(x, p, &best, launch, device))
            continue;
        oc_advice_prove(
            f, p, p->time_ns,
            oc_printf(x->arena, "%s call%s", oc_number_text(x->arena, p->calls, 4), p->calls > 1 ? "s" : ""));
        sum += saved(p, launch, device);
        time += p->time_ns;
        calls += p->calls > 1 ? p->calls : 1;
        n++;
    }
    double idle = x->out->run_ns - operators_ns(x);
    if (n < FEW)
        return;
    f->high_ns = device ? (!(idle >= 0) ? (double)NAN : idle < sum ? idle : sum) : sum;
    f->low_ns = isnan(f->high_ns) ? f->high_ns : 0;
    f->basis = oc_printf(
        x->arena,
        device ? "at most launch - time of each (launch: %s, %s), and at most the idle time of the device"
               : "at most the launch (%s, %s) of each, if all were fused; profiling overhead is part of it",
        oc_advice_duration(x, launch),
        measured ? oc_printf(x->arena, "median of %u operators with almost no work", n_sample)
                 : oc_printf(x->arena, "%s figure of the device file", oc_basis_name(figure->basis)));
    f->found = oc_printf(x->arena, "%.0f kernels of a run are no longer than their launch: %s in total",
                         calls, oc_advice_time(x, time));
    f->todo = device ? "record the launches once (CUDA graphs: trtexec --useCudaGraph, enable_cuda_graph of "
                       "ONNX Runtime, torch.compile(mode=\"reduce-overhead\")), fuse, or use a larger batch"
                     : "fuse them, fix dimensions so that shape computations fold, or use a larger batch";
    oc_advice_keep(x, f);
}

/* ---- idle time of the device or of the run ------------------------------------------------------- */

/* Shares of a run below which idle time is normal. */
#define IDLE_SHARE   0.1
#define READER_SHARE 0.05

static struct oc_time_summary *summary_of(const struct oc_advisor *x)
{
    static const struct oc_sum_table_opts opts = {0};
    return x->p->timeline ? oc_time_summary_make(x->p, &opts) : NULL;
}

static void prove_text(struct oc_advice_item *f, const char *name, double ns, const char *text)
{
    const struct oc_piece what = {
        .row = &(struct oc_row){.record = OC_NONE}, .name = name, .type = "", .bytes = NAN};
    oc_advice_prove(f, &what, ns, text);
}

struct gap {
    double ns;
    uint32_t before, after; /* names */
};

enum { GAPS = 20 };

static void add_gap(struct gap *longest, uint32_t *n, struct gap g)
{
    uint32_t at = *n < GAPS ? (*n)++ : GAPS;
    while (at > 0 && longest[at - 1].ns < g.ns) {
        if (at < GAPS)
            longest[at] = longest[at - 1];
        at--;
    }
    if (at < GAPS)
        longest[at] = g;
}

/* The longest gaps of a run, with the events before and after. */
static void prove_gaps(struct oc_advisor *x, struct oc_advice_item *f, int64_t device_id)
{
    const struct oc_timeline *t = x->p->timeline;
    struct gap longest[GAPS];
    double end = NAN;
    uint32_t n = 0, run = OC_NONE, before = 0;
    for (size_t i = 0; i < t->n_event; i++) {
        const struct oc_event *e = &t->event[i];
        if (e->kind < OC_EV_KERNEL || e->kind > OC_EV_MEMSET || x->p->lane[e->lane].device_id != device_id)
            continue;
        if (!t->runs_implicit && (e->run == OC_NONE || e->run < t->first_used_run))
            continue;
        bool first = e->run != run && !t->runs_implicit;
        double from = first ? t->run[e->run].start_ns : end;
        if ((first || e->run == run) && e->start_ns > from)
            add_gap(longest, &n, (struct gap){e->start_ns - from, first ? OC_NONE : before, e->name});
        if (e->run != run || !(e->start_ns + e->dur_ns < end)) {
            end = e->start_ns + e->dur_ns;
            before = e->name;
        }
        run = e->run;
    }
    for (uint32_t i = 0; i < n; i++)
        prove_text(f, oc_printf(x->arena, "before %s", t->name[longest[i].after]), longest[i].ns,
                   longest[i].before == OC_NONE
                       ? "from the start of the run"
                       : oc_printf(x->arena, "after %s", t->name[longest[i].before]));
}

/* Idle time of a device. */
static void idle_device(struct oc_advisor *x, const struct oc_time_summary *s, const struct oc_sum_lane *l)
{
    struct oc_advice_item *f = oc_advice_new(x, "idle", "The device is idle");
    bool by_run = x->p->runs_used && s->run.n && !x->p->timeline->runs_implicit; /* as in set_whole */
    double runs = by_run ? s->run.n : 1, span = l->busy_ns + l->idle_ns;
    if (!(span > 0) || l->idle_ns < IDLE_SHARE * span)
        return;
    prove_text(f, oc_printf(x->arena, "device %lld", (long long)l->device_id), l->idle_ns / runs,
               oc_printf(x->arena, "busy %.1f %% of the time", l->busy_ns / span * 100));
    prove_gaps(x, f, l->device_id);
    f->low_ns = 0;
    f->high_ns = l->idle_ns / runs;
    if (x->out->run_ns > 0) /* the recording may be longer than its runs: work continues after them */
        f->high_ns = fmin(f->high_ns, l->idle_ns / span * x->out->run_ns);
    f->basis = "at most the idle time of the device";
    f->found = oc_printf(x->arena, "the device is idle for %.1f %% of the time", l->idle_ns / span * 100);
    f->todo = "give it more work at once (a larger batch, several requests), launch less often (CUDA graphs, "
              "torch.compile, fused operators), and do not synchronize in between (item(), cpu(), "
              "cudaDeviceSynchronize)";
    oc_advice_keep(x, f);
}

/* Time of a sequential run outside its operators. */
static void between_operators(struct oc_advisor *x)
{
    struct oc_advice_item *f = oc_advice_new(x, "idle", "Time between operators");
    double run = oc_of_one_run(&x->r->m, x->r->m.latency_ns), busy = oc_of_one_run(&x->r->m, x->r->m.busy_ns),
           idle = run - busy;
    if (!(idle > IDLE_SHARE * run))
        return;
    uint32_t n = 0;
    for (uint32_t i = 0; i < x->n_piece; i++)
        n += oc_piece_timed(&x->piece[i]);
    prove_text(f, "run", run, oc_printf(x->arena, "operator time %s", oc_advice_time(x, busy)));
    f->proof[0].time_ns = idle;
    f->low_ns = 0;
    f->high_ns = idle;
    f->basis = "at most run time - operator time; profiling overhead is part of it";
    f->found =
        oc_printf(x->arena, "%s are outside the %u operator%s: kernel selection, allocation, profiling",
                  oc_advice_time(x, idle), n, n == 1 ? "" : "s");
    f->todo = "compare with a run without profiling first; then fewer and larger operators (optimization "
              "level all, a larger batch) and shapes that do not change";
    oc_advice_keep(x, f);
}

void oc_advise_idle(struct oc_advisor *x)
{
    struct oc_time_summary *s = summary_of(x);
    bool device = false;
    for (uint32_t i = 0; s && i < s->n_lane; i++) {
        const struct oc_sum_lane *l = &s->lane[i];
        if (!l->device || l->lane != OC_NONE)
            continue;
        device = true;
        idle_device(x, s, l);
    }
    oc_time_summary_free(s);
    for (uint32_t i = 0; i < x->p->n_lane; i++)
        device = device || x->p->lane[i].device;
    if (!device)
        between_operators(x);
}

/* Paddle's profiler reports reader_cost and batch_cost; their ratio should be close to 0. */
void oc_advise_dataloader(struct oc_advisor *x)
{
    struct oc_time_summary *s = summary_of(x);
    struct oc_advice_item *f = oc_advice_new(x, "dataloader", "Steps wait for data");
    if (s && s->reader_cost.n && s->batch_cost.mean > 0 &&
        s->reader_cost.mean >= READER_SHARE * s->batch_cost.mean) {
        double share = s->reader_cost.mean / s->batch_cost.mean;
        prove_text(f, "reader_cost", s->reader_cost.mean,
                   oc_printf(x->arena, "mean of %u steps; from %s to %s", s->reader_cost.n,
                             oc_advice_time(x, s->reader_cost.min), oc_advice_time(x, s->reader_cost.max)));
        prove_text(f, "batch_cost", s->batch_cost.mean, "the whole step");
        f->low_ns = 0;
        f->high_ns = s->reader_cost.mean;
        f->basis = "at most the mean time that a step waits for its data";
        f->found = oc_printf(x->arena, "%.1f %% of a step waits for data", share * 100);
        f->todo =
            "load data in more processes and ahead of time (DataLoader(num_workers=4, prefetch_factor=4, "
            "use_shared_memory=True)), and move decoding and augmentation there or on the device";
        oc_advice_keep(x, f);
    }
    oc_time_summary_free(s);
}
