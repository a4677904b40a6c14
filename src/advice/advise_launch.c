/* Kernels no longer than their launch. */
#include <stdlib.h>
#include <string.h>

#include "advice/advisor.h"
#include "base/units.h"
#include "hw/hwdb.h"
#include "onnxcost/hardware.h"

enum {
    FEW = 8,             /* fewer tiny kernels are not reported */
    SAMPLE = 5,          /* minimum number of operators for a measured launch time */
    NOTHING_BYTES = 4096 /* bytes of an operator with almost no work */
};

static int advise_launch_by_number(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double advise_launch_per_call(const struct oc_piece *p)
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
            x->piece[i].row->computation / x->piece[i].calls <= NOTHING_BYTES)
            t[(*n)++] = advise_launch_per_call(&x->piece[i]);
    qsort(t, *n, sizeof(*t), advise_launch_by_number);
    if (*n >= SAMPLE)
        launch = t[*n / 2];
    free(t);
    return launch;
}

static bool advise_launch_on_device(const struct oc_profile *p)
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
        double bytes = p->bytes / p->time_ns, flops = p->row->computation / x->r->runs / p->time_ns;
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
    double calls = p->calls > 1 ? p->calls : 1, flops = p->row->computation / x->r->runs;
    if (!oc_piece_timed(p) || advise_launch_per_call(p) > (device ? launch : 1.5 * launch))
        return false;
    double work = (p->bytes > 0 && b->bytes > 0 ? p->bytes / b->bytes : 0) +
                  (flops > 0 && b->flops > 0 ? flops / b->flops : 0);
    return device || (!isnan(p->bytes) && work / calls < launch / 2);
}

/* Device times exclude the launch: the device waits while a kernel is shorter than the next launch. */
static double saved(const struct oc_piece *p, double launch, bool device)
{
    double t = advise_launch_per_call(p), calls = p->calls > 1 ? p->calls : 1;
    return calls * (device ? launch - t : t < launch ? t : launch);
}

void oc_advise_tiny(struct oc_advisor *x)
{
    struct oc_advice_item *f = oc_advice_new(x, "tiny-kernels", "Tiny kernels");
    const struct oc_hw_figure *figure = x->d ? x->d->overhead : NULL;
    bool device = advise_launch_on_device(x->p);
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
            x, f, p, p->time_ns,
            oc_printf(x->arena, "%s call%s", oc_number_text(x->arena, p->calls, 4), p->calls > 1 ? "s" : ""));
        sum += saved(p, launch, device);
        time += p->time_ns;
        calls += p->calls > 1 ? p->calls : 1;
        n++;
    }
    double idle = x->out->run_ns - x->r->total_s * 1e9 / x->r->runs;
    if (n < FEW)
        return;
    f->high_ns = device ? (!(idle >= 0) ? (double)NAN : idle < sum ? idle : sum) : sum;
    f->low_ns = isnan(f->high_ns) ? f->high_ns : 0;
    f->basis = oc_printf(
        x->arena,
        device ? "at most launch - time of each (launch: %s, %s), and at most the idle time of the device"
               : "at most the launch (%s, %s) of each, if all were fused",
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
