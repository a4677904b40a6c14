/* Any bytes as a model: load, compare with a second reader, and if that works, analyze, with default and with
 * unbound sizes, and recount some nodes for their cost breakdowns and with another convention; write the
 * annotated model, and read it back. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/receipt.h"
#include "memory/memory_report.h"
#include "support/whole_unpack.h"
#include "wire_mutator.h"
#include "onnxcost.h"
#include "onnxcost/report.h"
#include "onnxcost/sparsity.h"
#include "onnxcost/training.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
FUZZ_WIRE_TARGET

static void breakdowns(const struct oc_model *m, const struct oc_analysis *a)
{
    struct oc_arena arena = {0};
    struct oc_recount *r = oc_recount_new(a);
    struct oc_receipt receipt;
    for (uint32_t i = 0; i < m->n_node && i < 100; i++) {
        oc_recount_node(r, i, true, &receipt);
        for (uint32_t k = 0; k < m->node[i].n_in && k < 8; k++)
            if (m->node[i].in[k] != OC_NONE)
                for (unsigned axis = 0; axis < a->type[m->node[i].in[k]].shape.rank; axis++)
                    oc_dim_source(a, &arena, m->node[i].in[k], axis);
    }
    oc_recount_free(r);
    oc_arena_free(&arena);
}

static void explain(const struct oc_model *m, const struct oc_analysis *a)
{
    const struct oc_analyze_opts opts = {.convention = "xla"};
    struct oc_analysis *other = NULL;
    struct oc_explanation x;
    struct oc_err err;
    if (oc_analyze(m, &opts, &other, NULL))
        return;
    const struct oc_analysis *const both[2] = {a, other};
    if (oc_explain(both, &x, &err) == 0)
        oc_explanation_free(&x);
    oc_analysis_free(other);
}

static void memory(const struct oc_analysis *a, FILE *nowhere)
{
    const struct oc_memory_opts opts = {.as_onnxruntime = true};
    struct oc_memory *m = NULL;
    struct oc_err err;
    if (nowhere && oc_memory_make(a, &opts, &m, &err) == 0) {
        oc_memory_write(m, "table", nowhere, &err);
        oc_memory_write(m, "json", nowhere, &err);
    }
    oc_memory_free(m);
    struct oc_liveness_opts o = {.inplace = true, .align = 64, .keep_inputs = true, .kv_share = OC_KV_ON};
    struct oc_liveness *l = oc_liveness_make(a, 0, &o);
    oc_liveness_free(l);
}

/* The written model reads as the same graph. */
static void annotate(const struct oc_model *m, const struct oc_analysis *a)
{
    const struct oc_report_in in = {.model = m, .analysis = a};
    const struct oc_report_opts opts = {0};
    struct oc_model *again = NULL;
    struct oc_err err = {0};
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    int rc = f ? oc_annotate_write(&in, &opts, NULL, f, &err) : -1;
    if (f)
        fclose(f);
    const struct oc_input_limits limits = {.most = {[OC_LIMIT_NODES] = 20000}};
    if (rc == 0 && (oc_model_load_mem(text, n, &limits, &again, &err) != 0 || again->n_node != m->n_node ||
                    again->n_value != m->n_value))
        abort();
    oc_model_free(again);
    free(text);
}

static void training(const struct oc_analysis *a, FILE *nowhere)
{
    const struct oc_training_opts opts = {.width_chars = 60};
    struct oc_training *t;
    struct oc_err err;
    if (!nowhere || oc_training_make(a, &opts, &t, &err))
        return;
    oc_training_write(t, "table", nowhere, &err);
    oc_training_write(t, "json", nowhere, &err);
    oc_training_free(t);
}

static void sparsity(const struct oc_analysis *a, FILE *nowhere)
{
    struct oc_sparsity *s;
    struct oc_err err;
    if (!nowhere || oc_sparsity_make(a, &s, &err))
        return;
    oc_sparsity_write(s, "table", 0, 60, nowhere, &err);
    oc_sparsity_write(s, "json", 0, 0, nowhere, &err);
    oc_sparsity_free(s);
}

static void reports(const struct oc_model *m, const struct oc_analysis *a, FILE *nowhere)
{
    static const char *const format[] = {"table",          "csv", "json", "markdown", "trace",
                                         "model-explorer", "html"};
    const struct oc_report_in in = {.model = m, .analysis = a};
    struct oc_err err;
    for (size_t i = 0; nowhere && i < OC_COUNT(format); i++) {
        const struct oc_report_opts o = {.format = format[i], .width_chars = 60};
        oc_report_write(&in, &o, nowhere, &err);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    const struct oc_input_limits limits = {.most = {[OC_LIMIT_NODES] = 20000}};
    struct oc_model *m = NULL;
    char text[256];
    if (oc_model_load_mem(data, n, &limits, &m, NULL))
        return 0;
    if (!m->built.n && whole_unpack_difference(m, data, n, text, sizeof(text))) {
        fprintf(stderr, "protobuf-c reads another model: %s\n", text);
        abort();
    }
    FILE *nowhere = fopen("/dev/null", "w");
    static const struct oc_analyze_opts ways[] = {
        {.no_defaults = false},
        {.no_defaults = true},
        {.strict = true,
         .no_fold = true,
         .naive_bytes = true,
         .loop_cached = true,
         .graph_bytes = true,
         .dedup_content = true,
         .prefer_functions = true,
         .einsum_optimal = true,
         .kv_share = OC_KV_ON,
         .if_mode = OC_IF_AVG},
    };
    for (size_t i = 0; i < OC_COUNT(ways); i++) {
        struct oc_analysis *a = NULL;
        if (oc_analyze(m, &ways[i], &a, NULL) == 0) {
            breakdowns(m, a);
            explain(m, a);
            annotate(m, a);
            if (i == 0)
                reports(m, a, nowhere);
            if (i < 2)
                memory(a, nowhere);
            training(a, nowhere);
            sparsity(a, nowhere);
        }
        oc_analysis_free(a);
    }
    if (nowhere)
        fclose(nowhere);
    oc_model_free(m);
    return 0;
}
