/* The present figures of a model as a baseline. What is not known has no line. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/units.h"
#include "gate/figures.h"
#include "write/xml_text.h"

static const char *number(struct oc_arena *a, enum oc_gate_metric m, struct oc_gate_number n)
{
    char text[40];
    if (oc_gate_is_whole(m))
        return oc_printf(a, "%" PRIu64, n.n);
    oc_format_repr(n.v, text, sizeof(text));
    return oc_gate_info[m].kind == OC_GATE_TIME ? oc_printf(a, "%s ns", text) : oc_strdup(a, text);
}

static void value(struct oc_buf *b, struct oc_arena *a, enum oc_gate_metric m, const struct oc_figure_span *s)
{
    bool least = oc_gate_info[m].least;
    if (!s->bounded)
        return;
    oc_buf_str(b, "  <value");
    oc_xml_attribute(b, "metric", oc_gate_info[m].name);
    oc_xml_attribute(b, "is", number(a, m, least ? s->lo : s->hi));
    if (s->from)
        oc_xml_attribute(b, "from", s->from);
    oc_buf_str(b, "/>\n");
}

int oc_baseline_write(const struct oc_report_in *in, const struct oc_estimate *estimate, FILE *f,
                      struct oc_err *err)
{
    if (!in->model || !in->analysis || (in->profile && !in->join))
        return oc_fail(err, OC_EARG, "a baseline needs a model, and a profile needs to be joined to it");
    struct oc_figures figures;
    struct oc_arena arena = {0};
    struct oc_buf b = {0};
    const char *slash = strrchr(in->model->path, '/'), *name = slash ? slash + 1 : in->model->path;
    oc_figures_make(&figures, in, estimate, false);
    oc_buf_str(&b, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<baseline version=\"1\"");
    if (*name)
        oc_xml_attribute(&b, "model", name);
    oc_xml_attribute(&b, "tool", ONNXCOST_VERSION);
    oc_buf_str(&b, ">\n");
    for (unsigned m = 0; m < OC_GATE_METRICS; m++) {
        struct oc_figure_span s;
        if (!oc_gate_info[m].baseline)
            continue;
        oc_figure(&figures, (enum oc_gate_metric)m, NULL, NULL, &s);
        value(&b, &arena, (enum oc_gate_metric)m, &s);
        free(s.node);
    }
    oc_buf_str(&b, "</baseline>\n");
    fwrite(b.data, 1, b.n, f);
    oc_buf_free(&b);
    oc_arena_free(&arena);
    oc_figures_free(&figures);
    return 0;
}
