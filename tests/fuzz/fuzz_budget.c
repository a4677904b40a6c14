/* Budget files and baselines: any bytes are read or rejected with a location; the result can be compared with
 * a model, reported in every format, and written as a baseline that reads back. */
#include <stdlib.h>
#include <string.h>

#include "gate/limits.h"
#include "support/build.h"
#include "onnxcost.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

struct subject {
    uint8_t *bytes;
    struct oc_model *model;
    struct oc_analysis *analysis;
};

static void subject_init(struct subject *s)
{
    struct oc_builder *b = oc_b_new(17);
    size_t n;
    struct oc_err err;
    oc_b_input(b, "x", "float[N,3,8,8]");
    oc_b_init(b, "w", "float[4,3,3,3]");
    oc_b_node(b, "Conv", "layer1/conv", "x,w", "y", "");
    oc_b_node(b, "acme::Strange", "layer2/]]>\x01", "y", "z", "");
    oc_b_output(b, "z", NULL);
    s->bytes = oc_b_pack(b, &n);
    oc_b_free(b);
    if (oc_model_load_mem(s->bytes, n, NULL, &s->model, &err) ||
        oc_analyze(s->model, NULL, &s->analysis, &err))
        abort();
}

static void subject_free(struct subject *s)
{
    oc_analysis_free(s->analysis);
    oc_model_free(s->model);
    free(s->bytes);
}

static void report_all(const struct oc_report_in *in, const struct oc_budget *budget)
{
    static const char *const format[] = {"table", "csv", "json", "markdown", "junit", "sarif"};
    struct oc_check *check;
    struct oc_err err = {0};
    if (oc_check_make(in, NULL, budget, &check, &err)) { /* a type or module that the model has not */
        if (!err.msg[0])
            abort();
        return;
    }
    for (size_t i = 0; i < OC_COUNT(format); i++) {
        FILE *f = fopen("/dev/null", "w");
        if (!f || oc_check_write(check, format[i], 0, f, &err))
            abort();
        fclose(f);
    }
    oc_check_free(check);
}

static void read_back(const struct oc_report_in *in)
{
    char *text = NULL;
    size_t n = 0;
    struct oc_err err;
    struct oc_budget *b;
    FILE *f = open_memstream(&text, &n);
    if (!f || oc_baseline_write(in, NULL, NULL, NULL, f, &err) || fclose(f) || oc_budget_make(&b, &err) ||
        oc_baseline_read_mem(b, "made.xml", text, n, NULL, 0, &err))
        abort();
    oc_budget_free(b);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const char *const tolerance[] = {"macs=5%", "latency=2ms"};
    struct subject s;
    subject_init(&s);
    struct oc_report_in in = {.model = s.model, .analysis = s.analysis};
    for (unsigned round = 0; round < 2; round++) {
        struct oc_budget *b;
        struct oc_err err = {0};
        if (oc_budget_make(&b, &err))
            abort();
        int rc = round ? oc_baseline_read_mem(b, "fuzz.xml", data, n, tolerance, OC_COUNT(tolerance), &err)
                       : oc_budget_read_mem(b, "fuzz.xml", data, n, &err);
        if ((rc != 0) != (err.msg[0] != '\0') || (rc && oc_budget_limits(b)))
            abort(); /* a failure without a message, or one that leaks memory */
        if (oc_budget_limits(b))
            report_all(&in, b);
        oc_budget_free(b);
    }
    read_back(&in);
    subject_free(&s);
    return 0;
}
