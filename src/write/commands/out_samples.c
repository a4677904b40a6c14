/* Measured kernels as CSV, one row each, or JSON with the recordings and the excluded kernels. */
#include <string.h>

#include "base/diag.h"
#include "estimate/samples.h"
#include "write/tables/json_keys.h"
#include "onnxcost/estimate.h"

enum { VERSION = 1 };

static void samples_row(struct oc_fields *f, const struct oc_samples *s, const struct oc_sample *x)
{
    const struct oc_sample_model *m = &s->set.model[x->model];
    oc_fields_begin(f);
    oc_field_text(f, "recording", m->name);
    oc_field_text(f, "model", m->model_id);
    oc_field_text(f, "family", m->family_id);
    oc_field_text(f, "label", x->kernel.label);
    oc_field_double(f, "time_s", x->t_s);
    oc_field_double(f, "p10_s", x->p10_s);
    oc_field_double(f, "p90_s", x->p90_s);
    oc_field_u64(f, "runs", x->runs);
    oc_field_u64(f, "repeats", x->repeats);
    oc_kernel_fields(f, &x->kernel, s->device);
    oc_fields_end(f);
}

static void samples_rows(struct oc_fields *f, const struct oc_samples *s)
{
    for (size_t i = 0; i < s->set.n; i++)
        samples_row(f, s, &s->set.item[i]);
}

static void recordings_json(struct oc_fields *f, const struct oc_samples *s)
{
    oc_key_array(f->json, "recordings");
    for (size_t i = 0; i < s->set.n_model; i++) {
        const struct oc_sample_model *m = &s->set.model[i];
        oc_fields_begin(f);
        oc_field_text(f, "name", m->name);
        oc_field_text(f, "model", m->model_id);
        oc_field_text(f, "family", m->family_id);
        oc_field_double(f, "run_s", m->run_s);
        oc_field_double(f, "plain_s", m->plain_s);
        oc_field_double(f, "kernels_s", m->kernels_s);
        oc_field_u64(f, "const_bytes", m->const_bytes);
        oc_fields_end(f);
    }
    oc_jw_end_array(f->json);
}

static void rejects_json(struct oc_fields *f, const struct oc_samples *s)
{
    oc_key_array(f->json, "left_out");
    for (unsigned i = 0; i < OC_REJECT_COUNT; i++) {
        if (!s->reject[i].n)
            continue;
        oc_fields_begin(f);
        oc_field_text(f, "reason", oc_reject_reason_name(i));
        oc_field_u64(f, "kernels", s->reject[i].n);
        oc_field_double(f, "time_s", s->reject[i].time_s);
        oc_field_double(f, "time_fraction", s->reject[i].time_s / s->kernels_s);
        oc_fields_end(f);
    }
    oc_jw_end_array(f->json);
}

static void samples_write_json(struct oc_fields *f, const struct oc_samples *s, FILE *out)
{
    struct oc_json_out w;
    f->json = &w;
    oc_json_begin(&w, out, "onnxcost.samples", VERSION, NULL);
    oc_key_text(&w, "device", *s->set.device ? s->set.device : NULL);
    oc_key_text(&w, "runtime", s->set.runtime);
    oc_key_text(&w, "runtime_version", *s->set.runtime_version ? s->set.runtime_version : NULL);
    oc_key_u64_if(&w, "threads", s->set.threads, s->set.threads);
    oc_key_u64(&w, "kernels", s->n_kernel);
    oc_key_double(&w, "kernels_s", s->kernels_s);
    recordings_json(f, s);
    rejects_json(f, s);
    oc_key_array(&w, "samples");
    samples_rows(f, s);
    oc_jw_end_array(&w);
    oc_json_end(&w);
    f->json = NULL;
}

int oc_samples_write(const struct oc_samples *s, const char *format, FILE *out, struct oc_err *err)
{
    struct oc_fields f = {0};
    if (format && strcmp(format, "csv") != 0 && strcmp(format, "json") != 0)
        return oc_fail(err, OC_EARG, "samples are written as csv or json, not '%s'", format);
    if (format && !strcmp(format, "json")) {
        samples_write_json(&f, s, out);
    } else {
        samples_rows(&f, s);
        oc_fields_csv(&f, "1", out);
    }
    oc_fields_free(&f);
    return 0;
}
