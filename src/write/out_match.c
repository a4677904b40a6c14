#include "write/out_match.h"

#include <string.h>

#include "base/units.h"
#include "join/explain_match.h"
#include "write/plain_table.h"

enum { MAX_NODES = 12 };

static bool is_selected(const struct oc_report_opts *o, const char *name)
{
    for (size_t i = 0; i < o->n_explain_match; i++)
        if (!o->explain_match[i][0] || strcmp(o->explain_match[i], name) == 0)
            return true;
    return false;
}

static void print_record(struct oc_explainer *x, uint32_t i, FILE *f)
{
    const struct oc_join *j = x->j;
    const struct oc_prof_rec *p = &j->profile->rec[i];
    const struct oc_join_rec *r = &j->rec[i];
    double ns = isnan(p->kernel_ns) ? p->self_ns : p->kernel_ns;
    char buf[64], label[256];
    oc_print_line(f, "%s  (%s%s%s)", *p->name ? p->name : "(unnamed)", p->op_type, *p->op_type ? ", " : "",
                  isnan(ns) ? "unknown time" : oc_format_time_ns(ns, buf, sizeof(buf)));
    if (r->n_node) {
        struct oc_buf nodes = {0};
        fprintf(f, "  rule    %s, confidence %.2f\n", r->rule, r->confidence);
        for (uint32_t k = 0; k < r->n_node && k < MAX_NODES; k++)
            oc_buf_printf(&nodes, "%s%s", k ? ", " : "",
                          oc_node_label(j->model, &j->model->node[r->node[k]], label, sizeof(label)));
        if (r->n_node > MAX_NODES)
            oc_buf_printf(&nodes, ", and %u more", r->n_node - MAX_NODES);
        oc_print_line(f, "  nodes   %s", nodes.data);
        oc_buf_free(&nodes);
    } else {
        oc_print_line(f, "  bucket  %s", r->bucket ? r->bucket : "unattributed");
    }
    oc_print_line(f, "  why     %s", oc_join_explain(x, i));
}

int oc_out_match(const struct oc_join *j, const struct oc_report_opts *o, struct oc_arena *a, FILE *f,
                 struct oc_err *err)
{
    uint32_t n = 0;
    struct oc_explainer x;
    oc_explainer_init(&x, j, a);
    for (uint32_t i = 0; i < j->profile->n_rec; i++) {
        if (!is_selected(o, j->profile->rec[i].name))
            continue;
        print_record(&x, i, f);
        n++;
    }
    oc_explainer_free(&x);
    for (size_t i = 0; i < o->n_explain_match && !n; i++)
        return oc_fail(err, OC_ENOTFOUND, "the profile has no record '%.80s'", o->explain_match[i]);
    double all_ns = j->mapped_ns + j->overhead_ns + j->unmatched_ns;
    if (all_ns > 0)
        fprintf(f,
                "%u records; operator time: %.1f %% attributed, %.1f %% runtime-inserted, %.1f %% "
                "unattributed (%u records)\n",
                n, 100 * j->mapped_ns / all_ns, 100 * j->overhead_ns / all_ns, 100 * j->unmatched_ns / all_ns,
                j->n_unmatched);
    return 0;
}
