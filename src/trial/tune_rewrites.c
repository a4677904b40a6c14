/* Rewrites of the model as candidates of tune: each suggestion that can be carried out is written to a temporary file, whose
 * outputs must be those of the model up to rounding; then it is measured like a setting. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/os.h"
#include "base/str.h"
#include "model/model.h"
#include "onnxcost.h"
#include "onnxcost/report.h"
#include "trial/tune.h"

/* Rounding of float32 in another order: 2^-23 for each of about a thousand operations. */
static const double MOST_DIFFERENCE = 1e-4;

/* Part of a run: what saves less cannot be shown by the processes of a search. */
static const double LEAST_GAIN = 0.03;

/* Tensors in other files are found from the folder of the model. */
static bool has_other_files(const struct oc_model *m)
{
    for (uint32_t i = 0; i < m->n_value; i++)
        if (m->value[i].constant && m->value[i].constant->external_path)
            return true;
    return false;
}

/* A name for mkstemp. */
static char *template_of(struct oc_tune *t)
{
    const struct oc_model *m = t->trials.model;
    const char *folder = getenv("TMPDIR"), *base = oc_base_name(m->path);
    if (has_other_files(m))
        return oc_printf(&t->arena, "%.*s.onnxcost-XXXXXX", (int)(base - m->path), m->path);
    return oc_printf(&t->arena, "%s/onnxcost-XXXXXX", folder && *folder ? folder : "/tmp");
}

/* ---- a recording of the default, for what a rewrite is expected to save ----------------------------------- */

struct evidence {  /* NULL: there is none */
    double run_ns; /* without profiling; NAN: unknown */
    struct oc_profile *profile;
    struct oc_model *optimized;
    struct oc_join *join;
};

static void evidence_free(struct evidence *e)
{
    oc_join_free(e->join);
    oc_model_free(e->optimized);
    oc_profile_close(e->profile);
    *e = (struct evidence){.run_ns = (double)NAN};
}

/* Most time is that of operators of the model. */
static bool is_of_the_model(const struct oc_join *j)
{
    const struct oc_diag *d;
    for (size_t n = oc_join_diags(j, &d), i = 0; i < n; i++)
        if (d[i].severity == OC_ERROR || !strcmp(d[i].code, "W-coverage"))
            return false;
    return true;
}

/* Reads what a recording has written and removes the files. */
static void read_evidence(struct oc_tune *t, const struct oc_record_info *info, struct evidence *e)
{
    struct oc_err err;
    bool bad = oc_profile_open(info->profile, NULL, &e->profile, &err) ||
               (info->optimized && oc_model_load(info->optimized, NULL, &e->optimized, &err)) ||
               oc_join_make(t->trials.model, t->trials.analysis, e->profile, e->optimized, &e->join, &err);
    e->run_ns = info->plain.typical_ns;
    if (bad || !is_of_the_model(e->join))
        evidence_free(e);
    unlink(info->profile);
    if (info->optimized)
        unlink(info->optimized);
}

/* A run with the default settings and profiling. Nothing where it fails: rewrites are then tried without an expectation. */
static void record_evidence(struct oc_tune *t, const struct oc_record_opts *given, struct evidence *e)
{
    struct oc_record_opts opts = *given;
    struct oc_recording *recording;
    struct oc_err err;
    const char *folder = getenv("TMPDIR");
    char *path = oc_printf(&t->arena, "%s/onnxcost-XXXXXX", folder && *folder ? folder : "/tmp");
    if (!mkdtemp(path))
        return;
    opts.plain = false;
    opts.output = path;
    opts.time_budget = opts.time_budget ? opts.time_budget : "5s";
    if (!oc_record(t->trials.model, t->trials.analysis, &opts, &recording, &err)) {
        read_evidence(t, oc_recording_info(recording), e);
        oc_recording_free(recording);
    }
    rmdir(path);
}

/* ---- rewrites ------------------------------------------------------------------------------------------ */

static struct oc_report_in inputs_of(const struct oc_tune *t, const struct evidence *e)
{
    return (struct oc_report_in){
        .model = t->trials.model, .analysis = t->trials.analysis, .profile = e->profile, .join = e->join};
}

/* Returns 0 when the file is written; -1: there is no such rewrite, or it cannot be written. */
static int write_rewrite(struct oc_tune *t, const char *name, const struct evidence *e, const char *path,
                         int fd, struct oc_applied *applied, struct oc_err *err)
{
    const struct oc_report_in in = inputs_of(t, e);
    FILE *f = fdopen(fd, "wb");
    if (!f) {
        close(fd);
        return oc_fail(err, OC_EOUTPUT, "cannot write '%s'", path);
    }
    int rc = oc_apply_write(&in, NULL, name, path, f, applied, err);
    bool bad = ferror(f) != 0;
    if ((fclose(f) || bad) && !rc)
        rc = oc_fail(err, OC_EOUTPUT, "cannot write '%s': is the disk full?", path);
    return rc;
}

/* Why the rewrite is not measured; NULL: its outputs are those of the model. */
static const char *refuse(struct oc_tune *t, const struct oc_record_opts *opts)
{
    struct oc_err err;
    double difference;
    if (oc_record_compare(t->trials.model, t->trials.analysis, opts, &difference, &err))
        return oc_strdup(&t->arena, err.msg);
    return difference <= MOST_DIFFERENCE
               ? NULL
               : oc_printf(&t->arena, "its outputs differ by %.2g of their largest element (most: %.2g)",
                           difference, MOST_DIFFERENCE);
}

/* NAN: not known */
static double part_of(double ns, const struct evidence *e)
{
    double part = ns / e->run_ns;
    return part > 1 ? 1 : part;
}

static void try_rewrite(struct oc_tune *t, const char *name, const struct evidence *e,
                        const struct oc_record_opts *given)
{
    struct oc_record_opts opts = *given;
    struct oc_applied applied = {.low_ns = (double)NAN, .high_ns = (double)NAN};
    struct oc_err err = {0};
    char *path = template_of(t);
    int fd = mkstemp(path);
    if (fd < 0)
        return;
    OC_PUSH(t->file, t->n_file, t->cap_file) = path;
    opts.rewritten = path;
    if (!write_rewrite(t, name, e, path, fd, &applied, &err)) {
        if ((applied.low_ns + applied.high_ns) / 2 < LEAST_GAIN * e->run_ns)
            return;
        struct oc_setting *s = oc_tune_add_rewrite(t, name, path, refuse(t, &opts));
        s->low = part_of(applied.low_ns, e);
        s->high = part_of(applied.high_ns, e);
    } else if (err.code != OC_EARG && err.code != OC_EUNSUPPORTED) /* those say that the model has none */
        oc_tune_add_rewrite(t, name, path, oc_strdup(&t->arena, err.msg));
}

void oc_tune_add_rewrites(struct oc_tune *t, const struct oc_record_opts *given)
{
    struct evidence e = {.run_ns = (double)NAN};
    const char *name;
    if (!t->trials.model) /* tests have none */
        return;
    record_evidence(t, given, &e);
    for (size_t i = 0; (name = oc_apply_name(i)) != NULL; i++)
        try_rewrite(t, name, &e, given);
    const struct oc_report_in in = inputs_of(t, &e);
    struct oc_applied gain;
    struct oc_err err;
    if (!oc_apply_write(&in, NULL, "subnormal", NULL, NULL, &gain, &err)) {
        t->subnormal_low = part_of(gain.low_ns, &e);
        t->subnormal_high = part_of(gain.high_ns, &e);
    }
    evidence_free(&e);
}
