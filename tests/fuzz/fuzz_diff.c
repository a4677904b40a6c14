/* Two models compared, one of them any bytes: the rows add up or the models are rejected, and every output
 * format works. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "onnxcost.h"
#include "support/build.h"
#include "wire_mutator.h"
#include "onnxcost/gate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
FUZZ_WIRE_TARGET

struct subject {
    uint8_t *bytes;
    struct oc_model *model;
    struct oc_analysis *analysis;
};

/* False: not a model, or a model that cannot be analyzed. */
static bool analyse(struct subject *s, const void *data, size_t n)
{
    struct oc_err err;
    const struct oc_input_limits limits = {.most = {[OC_LIMIT_NODES] = 20000}};
    return !oc_model_load_mem(data, n, &limits, &s->model, &err) &&
           !oc_analyze(s->model, NULL, &s->analysis, &err);
}

static void subject_init(struct subject *s)
{
    struct oc_builder *b = oc_b_new(17);
    size_t n;
    oc_b_input(b, "x", "float[N,3,8,8]");
    oc_b_init(b, "w", "float[4,3,3,3]");
    oc_b_node(b, "Conv", "conv1", "x,w", "1", "strides=2,2");
    oc_b_node(b, "Relu", "", "1", "2", "");
    oc_b_node(b, "acme::Strange", "Strange_1", "2", "3", "alpha=0.5");
    oc_b_node(b, "Relu", "Relu_2", "3", "4", "");
    oc_b_output(b, "4", NULL);
    s->bytes = oc_b_pack(b, &n);
    oc_b_free(b);
    if (!analyse(s, s->bytes, n))
        abort();
}

static void subject_free(struct subject *s)
{
    oc_analysis_free(s->analysis);
    oc_model_free(s->model);
    free(s->bytes);
}

static void compare(const struct subject *a, const struct subject *b)
{
    static const char *const format[] = {"table", "csv", "json", "markdown", "html"};
    const struct oc_report_in x = {.model = a->model, .analysis = a->analysis},
                              y = {.model = b->model, .analysis = b->analysis};
    struct oc_diff *d;
    struct oc_err err;
    if (oc_diff_make(&x, &y, NULL, &d, &err))
        abort();
    for (size_t i = 0; i < OC_COUNT(format); i++) {
        const struct oc_diff_write_opts o = {.format = format[i], .has_top = true, .width_chars = 80};
        FILE *f = fopen("/dev/null", "w");
        if (!f || oc_diff_write(d, &o, f, &err))
            abort();
        fclose(f);
    }
    if (a == b && oc_diff_info(d)->different)
        abort();
    oc_diff_free(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct subject own = {0}, other = {0};
    if (analyse(&other, data, n)) {
        subject_init(&own);
        compare(&own, &other);
        compare(&other, &own);
        compare(&other, &other);
    }
    subject_free(&other);
    subject_free(&own);
    return 0;
}
