/* Records the networks of the probe in a temporary folder, and reads their kernels. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/c_locale.h"
#include "base/diag.h"
#include "onnxcost.h"
#include "onnxcost/estimate.h"
#include "onnxcost/record.h"
#include "run/probe_models.h"
#include "run/record_files.h"

/* MOST_AGAIN: disturbed recordings that are repeated; on a machine that is never idle they take half of the time more. */
enum { WARMUP = 3, MOST_AGAIN = 6 };

struct probing {
    const struct oc_record_opts *given;
    struct oc_arena a;
    const char *folder;
    struct oc_buf list; /* of the recordings, as oc_samples_read takes it */
    size_t at, n;       /* network that is recorded, from 0; of so many */
    size_t again;       /* recordings that were repeated */
    const char *version;
    double fastest_probe_ns;
};

static void on_probe_progress(void *arg, const char *what)
{
    struct probing *p = arg;
    char text[256];
    snprintf(text, sizeof(text), "network %zu of %zu: %s", p->at + 1, p->n, what);
    p->given->progress(p->given->progress_arg, text);
}

static int write_file(const char *path, const struct oc_buf *b, struct oc_err *err)
{
    FILE *f = fopen(path, "wbe");
    bool done = f && fwrite(b->data, 1, b->n, f) == b->n;
    if (f && fclose(f))
        done = false;
    return done ? 0 : oc_fail(err, OC_EOUTPUT, "cannot write '%s': %s", path, strerror(errno));
}

static int write_network(size_t i, const char *path, struct oc_err *err)
{
    struct oc_buf b = {0};
    oc_probe_model_write(i, &b);
    int rc = write_file(path, &b, err);
    oc_buf_free(&b);
    return rc;
}

/* Takes the last recording. Whether it was disturbed, and another one is to replace it. */
static bool list_recording(struct probing *p, const struct oc_record_info *info)
{
    p->fastest_probe_ns = info->fastest_probe_ns;
    if (info->loaded && p->again < MOST_AGAIN) {
        p->again++;
        return true;
    }
    oc_buf_printf(&p->list, "%s\t%.6f\t%d\n", info->profile, info->plain.typical_ns * 1e-6, WARMUP);
    p->version = oc_strdup(&p->a, info->version);
    return false;
}

static int record_once(struct probing *p, const struct oc_model *m, const struct oc_analysis *analysis,
                       bool *again, struct oc_err *err)
{
    const struct oc_record_opts opts = {.library = p->given->library,
                                        .output = p->folder,
                                        .level = p->given->level,
                                        .threads = p->given->threads,
                                        .runs = oc_probe_model_runs(p->at),
                                        .warmup = WARMUP,
                                        .seed = 1,
                                        .progress = p->given->progress ? on_probe_progress : NULL,
                                        .progress_arg = p,
                                        .session_config = p->given->session_config,
                                        .n_session_config = p->given->n_session_config,
                                        .stop = p->given->stop,
                                        .fastest_probe_ns = p->fastest_probe_ns};
    struct oc_recording *r;
    int rc = oc_record(m, analysis, &opts, &r, err);
    *again = !rc && list_recording(p, oc_recording_info(r));
    oc_recording_free(r);
    return rc;
}

static int record_network(struct probing *p, const char *path, struct oc_err *err)
{
    struct oc_model *m = NULL;
    struct oc_analysis *analysis = NULL;
    int rc = oc_model_load(path, NULL, &m, err) || oc_analyze(m, NULL, &analysis, err) ? -1 : 0;
    for (bool again = true; !rc && again;)
        rc = record_once(p, m, analysis, &again, err);
    oc_analysis_free(analysis);
    oc_model_free(m);
    return rc;
}

static int record_networks(struct probing *p, struct oc_err *err)
{
    const char *name;
    oc_buf_str(&p->list, "profile\tplain_ms\twarmup\n");
    for (p->at = 0; (name = oc_probe_model_name(p->at)) != NULL; p->at++) {
        const char *path = oc_printf(&p->a, "%s/%s.onnx", p->folder, name);
        if (write_network(p->at, path, err) || record_network(p, path, err))
            return -1;
    }
    return 0;
}

static int read_recordings(const struct probing *p, const struct oc_device *device, struct oc_samples **out,
                           struct oc_err *err)
{
    const struct oc_samples_opts opts = {
        .device = device, .runtime_version = p->version, .threads = p->given->threads};
    char *path = oc_printf((struct oc_arena *)&p->a, "%s/recordings.tsv", p->folder);
    return write_file(path, &p->list, err) ? -1
                                           : oc_samples_read((const char *const *)&path, 1, &opts, out, err);
}

static int probe_in_folder(struct probing *p, const struct oc_device *device, struct oc_samples **out,
                           struct oc_err *err)
{
    const char *place = getenv("TMPDIR");
    char *folder = oc_printf(&p->a, "%s/onnxcost-XXXXXX", place && *place ? place : "/tmp");
    if (!mkdtemp(folder))
        return oc_fail(err, OC_EOUTPUT, "cannot make the folder '%s': %s", folder, strerror(errno));
    p->folder = folder;
    int rc = record_networks(p, err) || read_recordings(p, device, out, err) ? -1 : 0;
    oc_record_folder_remove(folder, &p->a);
    return rc;
}

int oc_samples_record(const struct oc_device *device, const struct oc_record_opts *given,
                      struct oc_samples **out, struct oc_err *err)
{
    OC_ENTRY(err);
    struct oc_record_opts full;
    *out = NULL;
    if (OC_OPTIONS(&full, given, err))
        return -1;
    struct probing p = {.given = &full};
    while (oc_probe_model_name(p.n))
        p.n++;
    int rc = probe_in_folder(&p, device, out, err);
    oc_buf_free(&p.list);
    oc_arena_free(&p.a);
    return rc;
}
