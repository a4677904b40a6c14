/* Runs that a file shows: steps, the events of each, how long they last; without steps, annotations with the names of a
 * model's nodes, or calls of an optimizer. And whether the events are those of training. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/str.h"
#include "base/units.h"
#include "profile/core/kernel_names.h"
#include "profile/core/run_spread.h"
#include "profile/core/timeline.h"

/* ---- graphs ----------------------------------------------------------------------------------------- */

enum capture { NO_CAPTURE, CAPTURE_BEGINS, CAPTURE_ENDS };

/* What calls of that name do, for CUDA and HIP; NULL: no name begins a capture. */
static uint8_t *find_captures(const struct oc_timeline *t)
{
    uint8_t *of = oc_xcalloc((size_t)t->n_name + 1, 1);
    bool any = false;
    for (uint32_t i = 0; i < t->n_name && t->kinds >> OC_EV_API & 1; i++) {
        of[i] = strstr(t->name[i], "StreamBeginCapture") ? CAPTURE_BEGINS
                : strstr(t->name[i], "StreamEndCapture") ? CAPTURE_ENDS
                                                         : NO_CAPTURE;
        any |= of[i] == CAPTURE_BEGINS;
    }
    if (any)
        return of;
    free(of);
    return NULL;
}

void oc_timeline_mark_captured(struct oc_timeline *t)
{
    uint8_t *of = find_captures(t);
    bool *open = of ? oc_xcalloc(t->n_lane, sizeof(*open)) : NULL;
    uint32_t graphs = 0, n = 0;
    for (size_t i = 0; i < t->n_event && of; i++) {
        struct oc_event *e = &t->event[i];
        enum capture capture = e->kind == OC_EV_API ? of[e->name] : NO_CAPTURE;
        if (capture)
            open[e->lane] = capture == CAPTURE_BEGINS;
        graphs += capture == CAPTURE_BEGINS;
        if (capture == CAPTURE_BEGINS || (open[e->lane] && e->flags & OC_EVF_RECORD))
            e->flags |= OC_EVF_CAPTURED;
        n += (e->flags & (OC_EVF_CAPTURED | OC_EVF_RECORD)) == (OC_EVF_CAPTURED | OC_EVF_RECORD);
    }
    free(open);
    free(of);
    if (graphs)
        oc_diag_add(
            &t->profile->diags, OC_WARNING, "W-capture", "",
            "%u graph%s captured: %u operators were recorded in a graph and not executed, so they have no "
            "device time, and a step that captures a graph is not a run (profile the launches of the graph)",
            graphs, graphs == 1 ? " was" : "s were", n);
}

/* ---- steps ------------------------------------------------------------------------------------------ */

void oc_steps_find(const struct oc_timeline *t, struct oc_steps *s, size_t from, size_t to)
{
    for (size_t i = from; i < to && t->kinds >> OC_EV_STEP & 1; i++) {
        if (t->event[i].kind != OC_EV_STEP)
            continue;
        OC_PUSH(s->event, s->n, s->cap) = (uint32_t)i;
    }
}

static void add_steps(struct oc_timeline *t, const struct oc_steps *s)
{
    t->n_run = 0;
    for (size_t i = 0; i < s->n; i++) {
        struct oc_event *e = &t->event[s->event[i]];
        e->run = t->n_run;
        oc_timeline_add_run(t, e->start_ns, e->dur_ns);
    }
}

/* Whether an event with a record begins in the run, and in no run that begins later, and no capture of a graph
 * (*captures). */
static bool holds_any(const struct oc_timeline *t, uint32_t run, size_t step, bool *captures)
{
    bool any = false;
    const struct oc_interval *r = &t->run[run];
    double next_ns = run + 1 < t->n_run ? r[1].start_ns : (double)INFINITY;
    while (next_ns > r->start_ns && step && t->event[step - 1].start_ns == r->start_ns)
        step--;
    for (size_t i = step; i < t->n_event && t->event[i].start_ns < fmin(next_ns, r->end_ns); i++) {
        any |= (t->event[i].flags & OC_EVF_RECORD) != 0;
        if (t->event[i].flags & OC_EVF_CAPTURED) {
            *captures = true;
            return false;
        }
    }
    return any;
}

struct rank_step {
    uint32_t event, of; /* of: the step of the first process */
};

/* Time that the steps have in common, if they have the same name. */
static double common_ns(const struct oc_event *x, const struct oc_event *y)
{
    double end_ns = fmin(x->start_ns + x->dur_ns, y->start_ns + y->dur_ns);
    return x->name == y->name ? end_ns - fmax(x->start_ns, y->start_ns) : 0;
}

/* The processes of a parallel training or inference make the same step at the same time: it is one run. Takes the
 * steps of other processes than the first out of the list where most of their time is that of its step. */
static struct rank_step *join_ranks(const struct oc_timeline *t, struct oc_steps *s, size_t *n_out)
{
    struct rank_step *out = oc_xmalloc((s->n + 1) * sizeof(*out));
    uint32_t *lead = oc_xmalloc((s->n + 1) * sizeof(*lead));
    size_t n_lead = 0, left = 0, at = 0;
    *n_out = 0;
    for (size_t i = 0; i < s->n; i++)
        if (t->lane[t->event[s->event[i]].lane].process == t->lane[t->event[s->event[0]].lane].process)
            lead[n_lead++] = s->event[i];
    for (size_t i = 0; i < s->n; i++) {
        const struct oc_event *e = &t->event[s->event[i]];
        while (at + 1 < n_lead && t->event[lead[at + 1]].start_ns <= e->start_ns)
            at++;
        size_t next = at + (at + 1 < n_lead);
        size_t best = common_ns(e, &t->event[lead[next]]) > common_ns(e, &t->event[lead[at]]) ? next : at;
        if (lead[at] != s->event[i] &&
            t->lane[e->lane].process != t->lane[t->event[lead[best]].lane].process &&
            common_ns(e, &t->event[lead[best]]) > e->dur_ns / 2)
            out[(*n_out)++] = (struct rank_step){s->event[i], lead[best]};
        else
            s->event[left++] = s->event[i];
    }
    s->n = left;
    free(lead);
    return out;
}

void oc_steps_make_runs(struct oc_timeline *t, struct oc_steps *s)
{
    size_t full = 0, n_joined;
    bool captures = false;
    struct rank_step *joined = join_ranks(t, s, &n_joined);
    if (s->n)
        add_steps(t, s);
    bool *holds = oc_xcalloc(s->n, sizeof(*holds));
    for (size_t i = 0; i < s->n; i++)
        full += holds[i] = holds_any(t, (uint32_t)i, s->event[i], &captures);
    if ((full || captures) && full < s->n) {
        full = 0;
        for (size_t i = 0; i < s->n; i++) {
            struct oc_event *e = &t->event[s->event[i]];
            if (holds[i]) {
                s->event[full++] = s->event[i];
            } else {
                e->kind = OC_EV_USER;
                e->run = OC_NONE;
            }
        }
        s->n = full;
        add_steps(t, s);
    }
    for (size_t i = 0; i < n_joined; i++) {
        t->event[joined[i].event].kind = OC_EV_USER;
        t->event[joined[i].event].run = t->event[joined[i].of].run;
    }
    free(joined);
    free(holds);
    free(s->event);
}

/* ---- work that was launched before the recording ---------------------------------------------------- */

/* Streams execute their work in order: work without a launch in the file, before all work of its stream that has one,
 * was launched before the recording. Where such work also follows, the file lacks launches for another reason. */
static bool is_launched_before(const struct oc_timeline *t)
{
    struct oc_interval *lane = oc_xmalloc((t->n_lane + 1) * sizeof(*lane)); /* first launched, last other */
    double first_ns = (double)INFINITY, last_ns = -(double)INFINITY;
    bool before = true;
    for (uint32_t l = 0; l <= t->n_lane; l++)
        lane[l] = (struct oc_interval){(double)INFINITY, -(double)INFINITY};
    for (size_t i = 0; i < t->n_event; i++) {
        const struct oc_event *e = &t->event[i];
        if (!oc_event_is_work(e->kind))
            continue;
        struct oc_interval *l = &lane[e->lane];
        if (e->link != OC_NONE)
            l->start_ns = fmin(l->start_ns, e->start_ns);
        else
            l->end_ns = e->start_ns;
        first_ns = fmin(first_ns, l->start_ns);
        last_ns = fmax(last_ns, l->end_ns);
    }
    for (uint32_t l = 0; l <= t->n_lane; l++)
        before &= lane[l].end_ns < (lane[l].start_ns < (double)INFINITY ? lane[l].start_ns : first_ns);
    free(lane);
    return before && first_ns < (double)INFINITY && last_ns > -(double)INFINITY;
}

struct earlier {
    uint32_t n;
    double ns, end_ns;
    double launch_ns, start_ns, own_end_ns; /* of the first run's own work: first launch, start, end */
};

static void measure_earlier(const struct oc_timeline *t, struct earlier *x)
{
    *x = (struct earlier){0, 0, -(double)INFINITY, (double)INFINITY, (double)INFINITY, -(double)INFINITY};
    for (size_t i = 0; i < t->n_event; i++) {
        const struct oc_event *e = &t->event[i];
        if (oc_timeline_is_earlier(t, e)) {
            x->n++;
            x->ns += e->dur_ns;
            x->end_ns = fmax(x->end_ns, e->start_ns + e->dur_ns);
        } else if (e->run == 0 && oc_event_is_work(e->kind)) {
            x->launch_ns = fmin(x->launch_ns, t->event[e->link].start_ns);
            x->start_ns = fmin(x->start_ns, e->start_ns);
            x->own_end_ns = fmax(x->own_end_ns, e->start_ns + e->dur_ns);
        }
    }
}

/* Time that the first run waits for earlier work: the device, where the run has launched work before that ends;
 * otherwise the host. What the host does meanwhile is part of the run. */
static double wait_for_earlier(const struct oc_timeline *t, const struct earlier *x)
{
    double from_ns = t->run[0].start_ns, reached = from_ns, ns = 0;
    if (x->launch_ns < x->end_ns)
        return fmax(0, fmin(x->end_ns, x->start_ns) - from_ns);
    for (size_t i = 0; i < t->n_event; i++) {
        const struct oc_event *e = &t->event[i];
        if (e->kind == OC_EV_SYNC && e->run == 0 && !t->lane[e->lane].device && x->end_ns > e->start_ns)
            ns += oc_union_add(&reached, e->start_ns, fmin(e->start_ns + e->dur_ns, x->end_ns));
    }
    return ns;
}

/* A run without the wait for earlier work has its own work to the end, for which the next run waits. */
static void leave_earlier_work(struct oc_timeline *t)
{
    struct earlier x;
    struct oc_interval *run = &t->run[0];
    char text[2][32];
    measure_earlier(t, &x);
    double wait_ns = wait_for_earlier(t, &x);
    bool waits = wait_ns > 0;
    if (waits)
        run->end_ns = fmax(run->end_ns, x.own_end_ns) - wait_ns;
    oc_diag_add(&t->profile->diags, waits ? OC_WARNING : OC_INFO, waits ? "W-earlier-work" : "I-earlier-work",
                "", "%u kernels and copies (%s) were launched before the recording: they are in no run%s%s",
                x.n, oc_format_time_ns(x.ns, text[0], sizeof(text[0])),
                waits ? ", and the first run does not include the wait for them, " : "",
                waits ? oc_format_time_ns(wait_ns, text[1], sizeof(text[1])) : "");
}

/* ---- events of a run -------------------------------------------------------------------------------- */

/* Host events: the run of the enclosing event, otherwise the one they start in. */
static uint32_t host_run(const struct oc_timeline *t, const struct oc_event *e, uint32_t *at)
{
    if (e->parent != OC_NONE && t->event[e->parent].run != OC_NONE)
        return t->event[e->parent].run;
    uint32_t run = oc_timeline_run_at(t, at, e->start_ns);
    return run != OC_NONE && e->start_ns < t->run[run].end_ns ? run : OC_NONE;
}

/* Device work: the run that launched it, otherwise the last one that began before it (asynchronous
 * device). */
static uint32_t device_run(const struct oc_timeline *t, const struct oc_event *e, uint32_t *at)
{
    if (oc_timeline_is_earlier(t, e))
        return OC_NONE;
    uint32_t run = e->link != OC_NONE ? t->event[e->link].run : oc_timeline_run_at(t, at, e->start_ns);
    if (t->runs_found && run == t->n_run - 1 && e->start_ns >= t->runs_end_ns)
        return e->start_ns < t->cut_ns ? OC_RUN_CUT : OC_NONE; /* part of a truncated iteration */
    return run;
}

void oc_timeline_assign_runs(struct oc_timeline *t)
{
    uint32_t at = 0;
    bool early = false; /* clock skew may place device work before its launch: checks it again */
    t->launched_before = !t->runs_found && !t->runs_implicit && !t->launches && is_launched_before(t);
    for (size_t i = 0; i < t->n_event; i++) {
        struct oc_event *e = &t->event[i];
        bool device = oc_event_on_device(e->kind);
        if (e->run != OC_NONE)
            continue;
        if (device && e->link != OC_NONE && e->link > i)
            early = true;
        else
            e->run = device ? device_run(t, e, &at) : host_run(t, e, &at);
    }
    for (size_t i = 0; i < t->n_event && early; i++) {
        struct oc_event *e = &t->event[i];
        if (e->run == OC_NONE && oc_event_on_device(e->kind) && e->link != OC_NONE && e->link > i)
            e->run = device_run(t, e, &at);
    }
}

/* ---- durations -------------------------------------------------------------------------------------- */

void oc_timeline_extend_runs(struct oc_timeline *t)
{
    if (t->launched_before)
        leave_earlier_work(t);
    struct oc_interval *run = oc_xcalloc(t->n_run, sizeof(*run)); /* start: busy, end: of its last work */
    uint32_t longer = 0;
    for (size_t i = 0; i < t->n_event; i++) {
        const struct oc_event *e = &t->event[i];
        if (e->run == OC_NONE || e->kind < OC_EV_KERNEL || e->kind > OC_EV_MEMSET)
            continue;
        double end_ns = e->start_ns + e->dur_ns;
        run[e->run].start_ns += fmax(0, end_ns - fmax(e->start_ns, run[e->run].end_ns));
        run[e->run].end_ns = fmax(run[e->run].end_ns, end_ns);
    }
    for (uint32_t k = 0; k < t->n_run; k++) {
        bool more = run[k].start_ns > t->run[k].end_ns - t->run[k].start_ns;
        t->run[k].end_ns = more ? t->run[k].start_ns + run[k].start_ns : t->run[k].end_ns;
        longer += more;
    }
    free(run);
    bool host = (t->kinds & ((1u << OC_EV_KERNEL) - 1)) != 0;
    if (longer)
        oc_diag_add(&t->profile->diags, OC_WARNING, "W-async", "",
                    "in %u of %u runs %s: their time is that of the device", longer, t->n_run,
                    host ? "the device works longer than the host waits"
                         : "other queues work longer than the one that shows the runs");
}

/* ---- annotations with names of nodes ---------------------------------------------------------------- */

/* Annotations that have the name of a node of the model: records of that node, its shapes, and the runs. */

#define NEARLY_ALL 0.95

void oc_timeline_name_operators(struct oc_timeline *t, const struct oc_operator_names *names)
{
    bool any = false;
    if (!names || !(t->kinds >> OC_EV_USER & 1) || !t->n_name)
        return;
    t->operator_type = oc_xcalloc(t->n_name, sizeof(*t->operator_type));
    for (uint32_t i = 0; i < t->n_name; i++) {
        t->operator_type[i] = oc_operator_type_named(names, t->name[i], strlen(t->name[i]));
        any |= t->operator_type[i] != NULL;
    }
    if (any)
        return;
    free(t->operator_type);
    t->operator_type = NULL;
}

static bool is_node_record(const struct oc_timeline *t, const struct oc_event *e)
{
    return e->flags & OC_EVF_RECORD && oc_timeline_is_node(t, e);
}

/* ---- shapes of nodes -------------------------------------------------------------------------------- */

/* Gives an annotation the recorded shapes of the only operator inside it. */
void oc_timeline_shapes_of_nodes(struct oc_timeline *t)
{
    const uint32_t several = OC_NONE - 1; /* operators inside, or one without shapes */
    for (size_t i = 0; i < t->n_event; i++) {
        const struct oc_event *e = &t->event[i];
        struct oc_event *range =
            e->kind == OC_EV_OPERATOR && e->parent != OC_NONE ? &t->event[e->parent] : NULL;
        if (range && is_node_record(t, range))
            range->detail = range->detail != OC_NONE || e->detail == OC_NONE ? several : e->detail;
    }
    for (size_t i = 0; i < t->n_event; i++)
        if (t->event[i].detail == several)
            t->event[i].detail = OC_NONE;
}

/* ---- repetition of nodes ---------------------------------------------------------------------------- */

/* The events of nodes in order of their start. */
static uint32_t *list_nodes(const struct oc_timeline *t, size_t *n)
{
    uint32_t *list = NULL;
    size_t cap = 0;
    *n = 0;
    for (size_t i = 0; i < t->n_event; i++)
        if (is_node_record(t, &t->event[i])) {
            OC_GROW(list, *n, cap);
            list[(*n)++] = (uint32_t)i;
        }
    return list;
}

/* The number of nodes until the first one comes again. */
static size_t length_of_run(const struct oc_timeline *t, const uint32_t *list, size_t n)
{
    size_t length = 1;
    while (length < n && t->event[list[length]].name != t->event[list[0]].name)
        length++;
    return length;
}

/* Whether each run has the same nodes in the same order, none of them twice; the last run may be cut short. */
static bool repeats(const struct oc_timeline *t, const uint32_t *list, size_t n, size_t length)
{
    bool *seen = oc_xcalloc(t->n_name, sizeof(*seen)), same = true;
    for (size_t i = 0; i < n && same; i++) {
        uint32_t name = t->event[list[i]].name;
        same = i < length ? !seen[name] : name == t->event[list[i - length]].name;
        seen[name] = true;
    }
    free(seen);
    return same;
}

/* Whether nodes have nearly all the time of kernels, or without kernels of operators: otherwise the runs have more work
 * than the nodes, and begin and end elsewhere. */
static bool nodes_have_the_time(const struct oc_timeline *t)
{
    bool device = t->kinds >> OC_EV_KERNEL & 1;
    double all_ns = 0, nodes_ns = 0;
    for (size_t i = 0; i < t->n_event; i++) {
        const struct oc_event *e = &t->event[i];
        bool counts = device ? e->kind == OC_EV_KERNEL
                             : e->flags & OC_EVF_RECORD &&
                                   (e->parent == OC_NONE || t->event[e->parent].link == OC_NONE);
        uint32_t owner = counts ? oc_timeline_owner(t, (uint32_t)i) : OC_NONE;
        all_ns += counts ? e->dur_ns : 0;
        nodes_ns += owner != OC_NONE && is_node_record(t, &t->event[owner]) ? e->dur_ns : 0;
    }
    return nodes_ns >= NEARLY_ALL * all_ns;
}

/* ---- products of a model ---------------------------------------------------------------------------- */

/* A convolution or matrix product of PyTorch is one product of a model, attention two; others: 0. */
static uint8_t products_of(const char *name)
{
    struct oc_str type;
    if (strncmp(name, "aten::", 6) != 0 || !oc_type_in_name(name, strlen(name), &type))
        return 0;
    return oc_str_eq(type, "Attention") ? 2 : oc_set_has(OC_PRODUCT_TYPES, type.s, type.n);
}

uint32_t oc_timeline_runs_of_model(const struct oc_timeline *t, const struct oc_operator_names *names)
{
    uint64_t n = 0;
    if (!names || !names->n_product)
        return 0;
    uint8_t *of = oc_xcalloc((size_t)t->n_name + 1, 1);
    bool *product = oc_xcalloc(t->n_event + 1, sizeof(*product)); /* or inside one; parents come first */
    for (uint32_t i = 0; i < t->n_name; i++)
        of[i] = products_of(t->name[i]);
    for (size_t i = 0; i < t->n_event; i++) {
        const struct oc_event *e = &t->event[i];
        bool inner = e->parent != OC_NONE && product[e->parent];
        product[i] = inner || (e->kind == OC_EV_OPERATOR && of[e->name]);
        n += product[i] && !inner ? of[e->name] : 0;
    }
    free(product);
    free(of);
    uint64_t runs = n / names->n_product;
    return runs * names->n_product == n && runs < UINT32_MAX ? (uint32_t)runs : 0;
}

/* ---- runs of nodes ---------------------------------------------------------------------------------- */

/* A node runs once per run: adds the runs if the annotations show them. */
void oc_timeline_runs_of_nodes(struct oc_timeline *t)
{
    size_t n;
    uint32_t *list = list_nodes(t, &n);
    size_t length = n ? length_of_run(t, list, n) : 0;
    bool whole = n && repeats(t, list, n, length) && nodes_have_the_time(t);
    for (size_t i = 0; whole && i + length <= n; i += length) {
        const struct oc_event *last = &t->event[list[i + length - 1]];
        double start_ns = t->event[list[i]].start_ns;
        oc_timeline_add_run(t, start_ns, last->start_ns + last->dur_ns - start_ns);
    }
    free(list);
}

/* ---- runs of an optimizer --------------------------------------------------------------------------- */

/* A loop of training updates the weights once per step: PyTorch annotates the update, and loading of data, a forward
 * and a backward pass come before it. */

enum { MIN_UPDATES = 3 };
/* So many of the steps differ less from the median number of operators: optimizers may take turns in a step. */
#define MOST_STEPS 0.8
#define ALIKE      0.15

static bool is_update(const struct oc_timeline *t, const struct oc_event *e)
{
    return e->kind == OC_EV_OPTIMIZATION && strncmp(t->name[e->name], "Optimizer.step", 14) == 0;
}

static bool is_work(const struct oc_event *e)
{
    return !oc_event_on_device(e->kind) && (e->flags & OC_EVF_RECORD || e->kind == OC_EV_DATALOADER);
}

/* The ends of the updates, without updates inside others. */
static struct oc_interval *list_steps(const struct oc_timeline *t, uint32_t *n)
{
    struct oc_interval *step = NULL;
    double first_ns = (double)INFINITY;
    uint32_t cap = 0;
    *n = 0;
    for (size_t i = 0; i < t->n_event; i++) {
        const struct oc_event *e = &t->event[i];
        first_ns = is_work(e) ? fmin(first_ns, e->start_ns) : first_ns;
        double from_ns = *n ? step[*n - 1].end_ns : first_ns;
        if (!is_update(t, e) || !(e->start_ns >= from_ns))
            continue;
        OC_GROW(step, *n, cap);
        step[(*n)++] = (struct oc_interval){from_ns, e->start_ns + e->dur_ns};
    }
    return step;
}

/* Whether most steps have about as many operators as the median one. */
static bool are_alike(const struct oc_timeline *t, const struct oc_interval *step, uint32_t n)
{
    double *count = oc_xcalloc(2 * (size_t)n, sizeof(*count)), *copy = oc_xmalloc(n * sizeof(*copy));
    uint32_t at = 0, alike = 0;
    for (size_t i = 0; i < t->n_event && at < n; i++) {
        while (at < n && t->event[i].start_ns >= step[at].end_ns)
            at++;
        if (at < n && is_work(&t->event[i]))
            count[at]++;
    }
    memcpy(copy, count, n * sizeof(*copy));
    double median = oc_median_of(copy, n, count + n);
    for (uint32_t k = 0; k < n; k++)
        alike += fabs(count[k] - median) <= ALIKE * median;
    free(count);
    free(copy);
    return median > 0 && alike >= MOST_STEPS * n;
}

void oc_timeline_runs_of_optimizer(struct oc_timeline *t)
{
    uint32_t n = 0;
    struct oc_interval *step = t->kinds >> OC_EV_OPTIMIZATION & 1 ? list_steps(t, &n) : NULL;
    if (n >= MIN_UPDATES && are_alike(t, step, n)) {
        for (uint32_t k = 0; k < n; k++)
            oc_timeline_add_run(t, step[k].start_ns, step[k].end_ns - step[k].start_ns);
        t->runs_follow = true;
        oc_diag_add(&t->profile->diags, OC_INFO, "I-runs-by-optimizer", "",
                    "the file marks no runs: each of %u calls of the optimizer ends a step of training", n);
    }
    free(step);
}

/* ---- training --------------------------------------------------------------------------------------- */

/* Names of work that only training has: gradients of weights, of normalizations and activations, updates. A
 * transposed convolution computes the gradient of an input, too, so that this one does not count. */
static bool is_of_training(const char *name)
{
    static const char *const part[] = {"autograd::engine::evaluate_function",
                                       "BackpropFilter", /* TensorFlow */
                                       "gradient_tape/",
                                       "ResourceApply",
                                       "ApplyAdam",
                                       "ApplyMomentum",
                                       "ApplyGradientDescent",
                                       "transpose(jvp(",  /* JAX */
                                       "layer_norm_grad", /* PyTorch */
                                       "GradGammaBeta",
                                       "SoftMaxBackward",
                                       "threshold_backward",
                                       "batch_norm_backward",
                                       "embedding_backward",
                                       "nll_loss_backward",
                                       "::bn_bw_"}; /* cuDNN */
    for (size_t i = 0; i < OC_COUNT(part); i++)
        if (strstr(name, part[i]))
            return true;
    return false;
}

bool oc_timeline_trains(const struct oc_timeline *t)
{
    bool *of = NULL, any = false;
    for (uint32_t i = 0; i < t->n_name; i++)
        if (is_of_training(t->name[i])) {
            of = of ? of : oc_xcalloc(t->n_name, sizeof(*of));
            of[i] = true;
        }
    for (size_t i = 0; i < t->n_event && of && !any; i++)
        any = of[t->event[i].name] &&
              t->event[i].kind != OC_EV_PYTHON; /* a function of that name may do nothing */
    free(of);
    return any;
}
