/* Whether profile and model belong together. Only names and recorded shapes of ONNX Runtime are strong enough
 * evidence: other formats name kernels, or record no shapes. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "join/join.h"

enum {
    FEW_RECORDS = 4,  /* a profile with fewer operators may be one compiled subgraph: no verdict */
    MAX_PADDING = 16, /* blocked layouts pad 1 channel to at most 16 */
    PER_CENT = 100
};
#define ALMOST_NONE 0.01 /* of the operator time: names that models share, such as /Flatten */
#define HALF        0.5

static double own_time(const struct oc_prof_rec *p)
{
    double ns = isnan(p->kernel_ns) ? p->self_ns : p->kernel_ns;
    return isnan(ns) ? 0 : ns;
}

static bool is_blocked(const char *name)
{
    size_t n = strlen(name);
    return n > 6 && strcmp(name + n - 6, "_nchwc") == 0;
}

/* The recorded shapes give other MACs than the nodes have. Padding adds some; trips of a loop do not
 * depend on shapes. */
static bool contradicts(const struct oc_join *j, uint32_t rec)
{
    const struct oc_join_rec *r = &j->rec[rec];
    if (!r->executed_known || r->quality == OC_UNKNOWN || !r->macs || r->part_of != OC_NONE ||
        j->model->node[r->node[0]].graph)
        return false;
    if (r->executed_macs < r->macs)
        return true;
    uint64_t padding = is_blocked(j->profile->rec[rec].name) ? MAX_PADDING : 1;
    return r->executed_macs / padding > r->macs;
}

void oc_join_set_other_shapes(struct oc_join_rec *r)
{
    r->quality = OC_UNKNOWN;
    r->bytes_known = false;
    r->other_shapes = true;
    r->note = "the profile was recorded with different shapes";
}

struct evidence {
    uint32_t ops, mapped, other_shapes; /* records */
    double all_ns, mapped_ns, other_ns;
    uint32_t first; /* record with other shapes, OC_NONE */
};

/* Rates of rows with other shapes would be those of other work. */
static void collect(struct oc_join *j, struct evidence *e)
{
    for (uint32_t i = 0; i < j->profile->n_rec; i++) {
        const struct oc_prof_rec *p = &j->profile->rec[i];
        struct oc_join_rec *r = &j->rec[i];
        if (p->bucket)
            continue;
        e->ops++;
        e->all_ns += own_time(p);
        if (!r->n_node)
            continue;
        e->mapped++;
        e->mapped_ns += own_time(p);
        bool differs = contradicts(j, i);
        if (differs)
            oc_join_set_other_shapes(r);
        if (!r->other_shapes)
            continue;
        e->first = e->first == OC_NONE && differs ? i : e->first;
        e->other_shapes++;
        e->other_ns += own_time(p);
    }
}

static const char *first_contradiction(struct oc_join *j, const struct evidence *e)
{
    for (size_t i = 0; e->first == OC_NONE && i < j->diags.n; i++)
        if (strcmp(j->diags.item[i].code, "W-shape-differs") == 0)
            return oc_printf(&j->arena, "; first: %s: %s", j->diags.item[i].where, j->diags.item[i].text);
    if (e->first == OC_NONE)
        return "";
    return oc_printf(&j->arena,
                     "; first: %.80s: the recorded shapes give %" PRIu64 " MACs, the model %" PRIu64,
                     j->profile->rec[e->first].name, j->rec[e->first].executed_macs, j->rec[e->first].macs);
}

void oc_join_check_model(struct oc_join *j)
{
    struct evidence e = {.first = OC_NONE};
    if (strcmp(j->profile->format, "onnxruntime") != 0)
        return;
    collect(j, &e);
    double good = (e.mapped_ns - e.other_ns) / e.all_ns;
    if (e.ops < FEW_RECORDS || !(e.all_ns > 0))
        return;
    if (!e.mapped)
        oc_diag_add(&j->diags, OC_ERROR, OC_DIAG_WRONG_MODEL, "",
                    "no operator of this profile is in this model: wrong model or profile?");
    else if (good < ALMOST_NONE)
        oc_diag_add(&j->diags, OC_ERROR, OC_DIAG_WRONG_MODEL, "",
                    "almost no operator of this profile is in this model (%u of %u): wrong model or profile?",
                    e.mapped - e.other_shapes, e.ops);
    else if (e.other_shapes || e.mapped_ns < HALF * e.all_ns)
        oc_diag_add(&j->diags, OC_WARNING, OC_DIAG_OTHER_MODEL, "",
                    "profile and model differ: %.1f %% of the operator time is on operators of this model, "
                    "%.1f %% with other shapes%s: wrong model, profile or --dim, --shape?",
                    PER_CENT * e.mapped_ns / e.all_ns, PER_CENT * e.other_ns / e.all_ns,
                    first_contradiction(j, &e));
}
