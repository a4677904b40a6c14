/* Assignment of nodes to execution providers: table, CSV of nodes, JSON; and the list of lists. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/units.h"
#include "base/unicode.h"
#include "provider/provider.h"
#include "write/tables/json_keys.h"
#include "write/tables/table.h"
#include "onnxcost.h"
#include "onnxcost/providers.h"
#include "onnxcost/report.h"

enum { VERSION = 1, LABEL = 12 };

struct view {
    const struct oc_providers_in *in;
    struct oc_assignment x;
    struct oc_fallbacks f;
    double roof_s[2][OC_PROVIDER_MAX + 1]; /* best, worst case; by provider */
    uint32_t *runs;                        /* nodes that run, in the arena of x */
    unsigned width;
    FILE *out;
};

/* ---- figures ---------------------------------------------------------------------------------------- */

static const char *provider_id(const struct view *v, uint8_t p)
{
    return p == OC_NO_PROVIDER || p >= v->x.providers->n ? "none" : v->x.providers->list[p]->info.id;
}

/* "cuda", "cuda or cpu" where it is not decided */
static const char *place_text(struct view *v, uint8_t best, uint8_t worst)
{
    return best == worst ? provider_id(v, best)
                         : oc_printf(&v->x.arena, "%s or %s", provider_id(v, best), provider_id(v, worst));
}

static void add_roofline(struct view *v)
{
    struct oc_roof_opts opts = oc_report_roof_opts(&(struct oc_report_opts){.cache = true}, v->in->analysis);
    for (uint32_t i = 0; v->in->device && i < v->in->model->n_node; i++) {
        const struct oc_node_cost *c = &v->in->analysis->cost[i];
        const struct oc_assigned *n = &v->x.node[i];
        struct oc_work work = {0};
        struct oc_roof roof;
        if (!n->runs)
            continue;
        oc_work_add(&work, c);
        work.launches = 1;
        work.unknown = work.unknown || c->quality == OC_UNKNOWN;
        oc_roofline_of(v->in->device, &work, &opts, NAN, &roof);
        for (unsigned side = 0; side < 2 && !isnan(roof.roof_s); side++) {
            uint8_t p = side ? n->worst : n->best;
            v->roof_s[side][p == OC_NO_PROVIDER ? v->x.providers->n : p] += roof.roof_s;
        }
    }
}

static double side_share(const uint64_t *value, size_t n, size_t i)
{
    double all = 0;
    for (size_t k = 0; k <= n; k++)
        all += (double)value[k];
    return all > 0 ? (double)value[i] / all : NAN;
}

static double roof_share(const struct view *v, unsigned side, size_t i)
{
    double all = 0;
    for (size_t k = 0; k <= v->x.providers->n; k++)
        all += v->roof_s[side][k];
    return v->in->device && all > 0 ? v->roof_s[side][i] / all : NAN;
}

/* ---- table ------------------------------------------------------------------------------------------ */

/* "120", "80 to 120" */
static const char *range_text(struct oc_arena *a, uint64_t x, uint64_t y)
{
    char low[32], high[32];
    oc_format_count(x < y ? x : y, low, sizeof(low));
    oc_format_count(x < y ? y : x, high, sizeof(high));
    return x == y ? oc_strdup(a, low) : oc_printf(a, "%s to %s", low, high);
}

static const char *share_text(struct oc_arena *a, double x, double y)
{
    double low = x < y ? x : y, high = x < y ? y : x;
    if (isnan(x) || isnan(y))
        return "-";
    return high - low < 5e-4 ? oc_printf(a, "%.1f", 100 * high)
                             : oc_printf(a, "%.1f to %.1f", 100 * low, 100 * high);
}

static void print_totals(struct view *v)
{
    const struct oc_assignment *x = &v->x;
    struct oc_arena *a = &v->x.arena;
    size_t n = x->providers->n;
    struct oc_table t = {.kinds = "nnnnt", .width_chars = v->width};
    bool roof = v->in->device != NULL;
    OC_ROW(&t, "nodes", "partitions", "MACs %", roof ? "roofline %" : "", "provider");
    for (size_t p = 0; p <= n; p++) {
        const struct oc_assignment_side *b = &x->best, *w = &x->worst;
        if (p == n && !b->nodes[p] && !w->nodes[p])
            continue;
        OC_ROW(
            &t, range_text(a, b->nodes[p], w->nodes[p]),
            p < n ? range_text(a, b->partitions[p], w->partitions[p]) : "-",
            share_text(a, side_share(b->macs, n, p), side_share(w->macs, n, p)),
            roof ? share_text(a, roof_share(v, 0, p), roof_share(v, 1, p)) : "",
            p < n ? oc_printf(a, "%s %s", x->providers->list[p]->info.id, x->providers->list[p]->info.release)
                  : "no provider of the list");
    }
    oc_table_print(&t, v->out);
}

static const char *bytes_text(struct oc_arena *a, uint64_t bytes, uint32_t unknown)
{
    return oc_printf(a, "%s%s", unknown ? "at least " : "", oc_si_text(a, (double)bytes, "B"));
}

static void print_transfers(struct view *v, const char *title, const struct oc_assignment_side *s)
{
    struct oc_buf b = {0};
    for (uint32_t i = 0; i < s->n_transfer; i++) {
        const struct oc_transfer *t = &s->transfer[i];
        oc_buf_printf(&b, "%s%s to %s %u (%s)", i ? ", " : "", provider_id(v, t->from), provider_id(v, t->to),
                      t->tensors, bytes_text(&v->x.arena, t->bytes, t->unknown));
    }
    oc_plain_say(title, LABEL, v->width, b.n ? b.data : "none", v->out);
    oc_buf_free(&b);
}

static bool same_case(const struct oc_assignment *x)
{
    for (uint32_t i = 0; i < x->analysis->model->n_node; i++)
        if (x->node[i].best != x->node[i].worst)
            return false;
    return true;
}

static void print_fallbacks(struct view *v)
{
    struct oc_table t = {.kinds = "nntttt", .width_chars = v->width, .min_text = 20};
    uint64_t all = 0;
    for (size_t p = 0; p <= v->x.providers->n; p++)
        all += v->x.best.macs[p];
    if (!v->f.n)
        return;
    fputc('\n', v->out);
    OC_ROW(&t, "nodes", "MACs %", "operator", "not on", "runs on", "reason");
    for (uint32_t i = 0; i < v->f.n; i++) {
        const struct oc_fallback *g = &v->f.item[i];
        double share = all ? (double)g->macs / (double)all : 0;
        OC_ROW(&t, oc_printf(&v->x.arena, "%u", g->nodes),
               oc_printf(&v->x.arena, "%s%.1f", g->unknown ? ">=" : "", 100 * share),
               oc_printf(&v->x.arena, "%s%s%s", g->domain, *g->domain ? "." : "", g->op_type),
               provider_id(v, g->from), place_text(v, g->best, g->worst), g->reason ? g->reason : "-");
    }
    oc_table_print(&t, v->out);
}

static void print_notes(struct view *v)
{
    uint32_t casts = 0;
    for (uint32_t i = 0; i < v->in->model->n_node; i++)
        casts += v->x.node[i].casts;
    if (casts)
        oc_plain_say_format("casts", LABEL, v->width, v->out,
                            "%u nodes run in another type, between casts that ONNX Runtime inserts", casts);
    for (size_t p = 0; p < v->x.providers->n; p++) {
        const struct oc_provider_info *i = &v->x.providers->list[p]->info;
        oc_plain_say_format(p ? "" : "lists", LABEL, v->width, v->out, "%s: %s%s%s", i->id, i->source,
                            *i->note ? "; " : "", i->note);
    }
}

static void print_measured(struct view *v)
{
    const uint32_t *c = v->f.count;
    uint32_t measured = c[OC_AGREES] + c[OC_AGREES_IF] + c[OC_DIFFERS];
    if (!v->in->join)
        return;
    if (!measured) {
        oc_plain_say("profile", LABEL, v->width, "names no provider", v->out);
        return;
    }
    oc_plain_say_format("profile", LABEL, v->width, v->out,
                        "agrees for %u of %u nodes, not decided %u, differs %u", c[OC_AGREES], measured,
                        c[OC_AGREES_IF], c[OC_DIFFERS]);
}

/* "qnn takes 246 to 605 of 763 nodes, 0.0 to 100.0 % of the MACs; cpu takes 158 to 517" */
static void providers_print_verdict(struct view *v)
{
    const struct oc_assignment_side *b = &v->x.best, *w = &v->x.worst;
    size_t n = v->x.providers->n;
    struct oc_arena *a = &v->x.arena;
    const char *text = "";
    for (size_t p = 0; p <= n; p++) {
        const char *nodes = range_text(a, b->nodes[p], w->nodes[p]);
        if (p == 0)
            text =
                oc_printf(a, "%s takes %s of %u nodes, %s %% of the MACs", provider_id(v, 0), nodes,
                          v->x.n_runs, share_text(a, side_share(b->macs, n, 0), side_share(w->macs, n, 0)));
        else if (p < n)
            text = oc_printf(a, "%s; %s takes %s", text, provider_id(v, (uint8_t)p), nodes);
        else if (b->nodes[n] || w->nodes[n])
            text = oc_printf(a, "%s; no provider of the list takes %s", text, nodes);
    }
    oc_plain_say("verdict", LABEL, v->width, text, v->out);
}

static void providers_text(void *of, FILE *f)
{
    struct view *v = of;
    v->out = f;
    providers_print_verdict(v);
    oc_plain_say_format("model", LABEL, v->width, v->out, "%s: %u nodes run, %u constant", v->in->model->path,
                        v->x.n_runs, v->x.n_constant);
    print_measured(v);
    print_notes(v);
    print_transfers(v, "transfers", &v->x.best);
    if (!same_case(&v->x)) {
        oc_plain_say("", LABEL, v->width,
                     "if every condition that is not decided holds; if none does:", v->out);
        print_transfers(v, "", &v->x.worst);
    }
    fputc('\n', v->out);
    print_totals(v);
    print_fallbacks(v);
}

/* ---- nodes: CSV, JSON ------------------------------------------------------------------------------- */

static void node_fields(struct oc_fields *o, const void *of, size_t index)
{
    const struct view *v = of;
    uint32_t i = v->runs[index];
    const struct oc_node *n = &v->in->model->node[i];
    const struct oc_assigned *at = &v->x.node[i];
    const struct oc_node_cost *c = &v->in->analysis->cost[i];
    char label[512];
    bool none = at->best == OC_NO_PROVIDER;
    oc_field_u64(o, "id", i);
    oc_field_text(o, "name", oc_strdup(&o->arena, oc_node_label(v->in->model, n, label, sizeof(label))));
    oc_field_text(o, "type", n->op_type);
    oc_field_text(o, "domain", n->domain);
    oc_field_u64_if(o, "opset", n->opset > 0, n->opset > 0 ? (uint64_t)n->opset : 0);
    oc_field_text(o, "provider", none ? NULL : provider_id(v, at->best));
    oc_field_text(o, "provider_otherwise", at->worst == OC_NO_PROVIDER ? NULL : provider_id(v, at->worst));
    oc_field_bool(o, "decided", at->best == at->worst);
    oc_field_u64_if(o, "partition", !none, at->group);
    oc_field_bool(o, "casts", at->casts);
    oc_field_text(o, "falls_back_from", at->first == OC_NO_PROVIDER ? NULL : provider_id(v, at->first));
    oc_field_text(o, "reason", at->reason);
    oc_field_u64_if(o, "macs", c->quality != OC_UNKNOWN, c->macs);
    oc_field_text(o, "measured_provider", v->f.measured[i]);
    oc_field_text(o, "agreement", v->f.agrees[i] ? oc_agreement_name(v->f.agrees[i]) : NULL);
}

static void json_info(struct oc_json_out *w, const struct oc_provider_info *i)
{
    oc_key_text(w, "id", i->id);
    oc_key_text(w, "name", i->name);
    oc_key_text(w, "variant", *i->variant ? i->variant : NULL);
    oc_key_text(w, "release", i->release);
    oc_key_text(w, "source", i->source);
    oc_key_text(w, "url", i->url);
    oc_key_text(w, "note", *i->note ? i->note : NULL);
    oc_key_u64(w, "operators", i->operators);
}

static void json_side(struct view *v, struct oc_json_out *w, const char *key, unsigned which)
{
    const struct oc_assignment_side *s = which ? &v->x.worst : &v->x.best;
    size_t n = v->x.providers->n;
    oc_key_object(w, key);
    oc_key_array(w, "providers");
    for (size_t p = 0; p <= n; p++) {
        oc_jw_begin_object(w);
        oc_key_text(w, "provider", p < n ? provider_id(v, (uint8_t)p) : NULL);
        oc_key_u64(w, "nodes", s->nodes[p]);
        oc_key_u64_if(w, "partitions", p < n, p < n ? s->partitions[p] : 0);
        oc_key_u64(w, "macs", s->macs[p]);
        oc_key_u64(w, "nodes_of_unknown_macs", s->unknown[p]);
        oc_key_double(w, "macs_fraction", side_share(s->macs, n, p));
        oc_key_time(w, "roofline_ns", v->in->device ? v->roof_s[which][p] * 1e9 : NAN);
        oc_key_double(w, "roofline_fraction", roof_share(v, which, p));
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
    oc_key_array(w, "transfers");
    for (uint32_t i = 0; i < s->n_transfer; i++) {
        oc_jw_begin_object(w);
        oc_key_text(w, "from", provider_id(v, s->transfer[i].from));
        oc_key_text(w, "to", provider_id(v, s->transfer[i].to));
        oc_key_u64(w, "tensors", s->transfer[i].tensors);
        oc_key_u64(w, "bytes", s->transfer[i].bytes);
        oc_key_u64(w, "tensors_of_unknown_size", s->transfer[i].unknown);
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
    oc_jw_end_object(w);
}

static void json_fallbacks(struct view *v, struct oc_json_out *w)
{
    oc_key_array(w, "fallbacks");
    for (uint32_t i = 0; i < v->f.n; i++) {
        const struct oc_fallback *g = &v->f.item[i];
        oc_jw_begin_object(w);
        oc_key_text(w, "type", g->op_type);
        oc_key_text(w, "domain", g->domain);
        oc_key_text(w, "from", provider_id(v, g->from));
        oc_key_text(w, "provider", g->best == OC_NO_PROVIDER ? NULL : provider_id(v, g->best));
        oc_key_text(w, "provider_otherwise", g->worst == OC_NO_PROVIDER ? NULL : provider_id(v, g->worst));
        oc_key_text(w, "reason", g->reason);
        oc_key_u64(w, "nodes", g->nodes);
        oc_key_u64(w, "macs", g->macs);
        oc_key_u64(w, "nodes_of_unknown_macs", g->unknown);
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
}

static void json_measured(struct view *v, struct oc_json_out *w)
{
    if (!oc_key_object_if(w, "measured", v->in->join != NULL))
        return;
    oc_key_u64(w, "agrees", v->f.count[OC_AGREES]);
    oc_key_u64(w, "not_decided", v->f.count[OC_AGREES_IF]);
    oc_key_u64(w, "differs", v->f.count[OC_DIFFERS]);
    oc_jw_end_object(w);
}

static void providers_members(void *of, struct oc_json_out *w)
{
    struct view *v = of;
    oc_key_text(w, "device", v->in->device ? oc_device_info(v->in->device)->id : NULL);
    oc_key_array(w, "lists");
    for (size_t p = 0; p < v->x.providers->n; p++) {
        oc_jw_begin_object(w);
        json_info(w, &v->x.providers->list[p]->info);
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
    oc_key_u64(w, "nodes_that_run", v->x.n_runs);
    oc_key_u64(w, "nodes_constant", v->x.n_constant);
    json_side(v, w, "if_conditions_hold", 0);
    json_side(v, w, "if_no_condition_holds", 1);
    json_fallbacks(v, w);
    json_measured(v, w);
}

int oc_providers_write(const struct oc_providers_in *in, const char *format, unsigned width_chars, FILE *f,
                       struct oc_err *err)
{
    if (!in || !in->providers || !in->model || !in->analysis)
        return oc_fail(err, OC_EARG, "an assignment needs lists of providers and an analysed model");
    struct view v = {.in = in, .width = width_chars};
    size_t n_runs = 0;
    oc_assign(in->providers, in->analysis, in->file, &v.x);
    oc_fallbacks_make(&v.x, in->join, &v.f);
    add_roofline(&v);
    v.runs = OC_NEW_ARRAY(&v.x.arena, in->model->n_node, uint32_t);
    for (uint32_t i = 0; i < in->model->n_node; i++)
        if (v.x.node[i].runs)
            v.runs[n_runs++] = i;
    const struct oc_output out = {.what = "an assignment to providers",
                                  .of = &v,
                                  .text = providers_text,
                                  .rows = OC_ROWS(n_runs, &v, node_fields),
                                  .key = "nodes",
                                  .schema = "onnxcost.providers",
                                  .model = in->model->path,
                                  .members = providers_members};
    int rc = oc_output_write(&out, format, f, err);
    oc_fallbacks_free(&v.f);
    oc_assignment_free(&v.x);
    return rc;
}

/* ---- lists ------------------------------------------------------------------------------------------ */

struct lists_out {
    const struct oc_providers *x;
    unsigned width_chars;
};

static void lists_text(void *of, FILE *f)
{
    const struct lists_out *o = of;
    struct oc_arena a = {0};
    struct oc_table t = {.kinds = "ntttt", .width_chars = o->width_chars, .min_text = 20};
    OC_ROW(&t, "operators", "provider", "release", "name", "source");
    for (size_t i = 0; i < o->x->n; i++) {
        const struct oc_provider_info *p = &o->x->list[i]->info;
        OC_ROW(&t, oc_printf(&a, "%u", p->operators), p->id, p->release, p->name, p->source);
    }
    oc_table_print(&t, f);
    oc_arena_free(&a);
}

static void list_fields(struct oc_fields *o, const void *of, size_t i)
{
    const struct oc_provider_info *p = &((const struct oc_providers *)of)->list[i]->info;
    if (o->json) {
        json_info(o->json, p);
        return;
    }
    oc_field_text(o, "id", p->id);
    oc_field_text(o, "name", p->name);
    oc_field_text(o, "variant", p->variant);
    oc_field_text(o, "release", p->release);
    oc_field_u64(o, "operators", p->operators);
    oc_field_text(o, "source", p->source);
    oc_field_text(o, "url", p->url);
    oc_field_text(o, "note", p->note);
}

int oc_providers_write_lists(const char *format, unsigned width_chars, FILE *f, struct oc_err *err)
{
    struct oc_providers *x = NULL;
    if (oc_providers_open_all(&x, err))
        return -1;
    struct lists_out o = {.x = x, .width_chars = width_chars};
    const struct oc_output out = {.what = "the list of providers",
                                  .of = &o,
                                  .text = lists_text,
                                  .rows = OC_ROWS(x->n, x, list_fields),
                                  .key = "lists",
                                  .schema = "onnxcost.providers.list"};
    int rc = oc_output_write(&out, format, f, err);
    oc_providers_free(x);
    return rc;
}
