#include "cli/recordings_arg.h"

#include "cli/devices.h"
#include "cli/progress.h"

static void on_recording(void *arg, const char *name)
{
    cli_progress_say(arg, "reading", name);
}

static int read_samples(const struct cli_opts *o, struct cli_measured *m)
{
    struct oc_err err;
    struct cli_progress *p = cli_progress_start();
    const struct oc_samples_opts opts = {.device = m->device,
                                         .profile_format = o->profile_format,
                                         .runtime_version = o->runtime_version,
                                         .threads = o->threads.set ? (uint32_t)o->threads.v : 0,
                                         .warmup = o->warmup.set ? (int32_t)o->warmup.v : -1,
                                         .progress = on_recording,
                                         .progress_arg = p,
                                         .caps = &o->caps};
    int rc = oc_samples_read(o->word.item, o->word.n, &opts, &m->samples, &err);
    cli_progress_stop(p);
    return rc ? cli_fail_err(&err) : 0;
}

static void print_warnings(const struct oc_samples *samples)
{
    const struct oc_diag *d;
    size_t n = oc_samples_diags(samples, &d);
    for (size_t i = 0; i < n; i++)
        cli_warn("%s: %s", d[i].where, d[i].text);
}

int cli_measured_read(const struct cli_opts *o, const char *command, struct cli_measured *out)
{
    const int64_t most = 1000000;
    *out = (struct cli_measured){0};
    if (!o->word.n)
        return cli_fail(CLI_USAGE, "%s needs recordings: profiles next to their models, or lists of them",
                        command);
    if (o->threads.set && (o->threads.v < 1 || o->threads.v > most))
        return cli_fail(CLI_USAGE, "--threads needs a number of at least 1, not %lld",
                        (long long)o->threads.v);
    if (o->warmup.set && (o->warmup.v < 0 || o->warmup.v > most))
        return cli_fail(CLI_USAGE, "--warmup needs a number from 0 to %lld, not %lld", (long long)most,
                        (long long)o->warmup.v);
    if (o->hw_set.n && !o->hw.n)
        return cli_fail(CLI_USAGE, "--hw-set changes a device: name it with --hw");
    int rc = o->hw.n ? cli_find_device(o, cli_hw(o), &out->hwdb, &out->device) : 0;
    rc = rc ? rc : read_samples(o, out);
    if (!rc)
        print_warnings(out->samples);
    return rc;
}

void cli_measured_free(struct cli_measured *m)
{
    oc_samples_free(m->samples);
    oc_hwdb_free(m->hwdb);
}
