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

/* Returns 0 when the file is written; -1: there is no such rewrite, or it cannot be written. */
static int write_rewrite(struct oc_tune *t, const char *name, const char *path, int fd, struct oc_err *err)
{
    const struct oc_report_in in = {.model = t->trials.model, .analysis = t->trials.analysis};
    struct oc_applied applied;
    FILE *f = fdopen(fd, "wb");
    if (!f) {
        close(fd);
        return oc_fail(err, OC_EOUTPUT, "cannot write '%s'", path);
    }
    int rc = oc_apply_write(&in, NULL, name, path, f, &applied, err);
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

void oc_tune_add_rewrites(struct oc_tune *t, const struct oc_record_opts *given)
{
    const char *name;
    for (size_t i = 0; t->trials.model && (name = oc_apply_name(i)) != NULL; i++) { /* tests have no model */
        struct oc_record_opts opts = *given;
        struct oc_err err = {0};
        char *path = template_of(t);
        int fd = mkstemp(path);
        if (fd < 0)
            continue;
        OC_PUSH(t->file, t->n_file, t->cap_file) = path;
        opts.rewritten = path;
        if (!write_rewrite(t, name, path, fd, &err))
            oc_tune_add_rewrite(t, name, path, refuse(t, &opts));
        else if (err.code != OC_EARG && err.code != OC_EUNSUPPORTED) /* those say that the model has none */
            oc_tune_add_rewrite(t, name, path, oc_strdup(&t->arena, err.msg));
    }
}
