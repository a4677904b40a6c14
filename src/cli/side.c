#include "cli/devices.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "onnxcost/profile.h"

static size_t count_dashes(const struct cli_opts *o)
{
    const struct cli_list *const lists[] = {&o->word, &o->profile};
    const char *const files[] = {o->optimized_model, o->b_optimized_model};
    size_t n = 0;
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        for (size_t k = 0; k < lists[i]->n; k++)
            n += !strcmp(lists[i]->item[k], "-");
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        n += files[i] && !strcmp(files[i], "-");
    return n;
}

static uint64_t most_bytes(const struct cli_opts *o)
{
    struct oc_input_limit_info info;
    oc_input_limit_info(OC_LIMIT_FILE_BYTES, &info);
    uint64_t set = o->limits.most[OC_LIMIT_FILE_BYTES];
    return set ? set : info.otherwise;
}

static bool side_write_all(int fd, const char *data, size_t n)
{
    while (n) {
        ssize_t done = write(fd, data, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        data += done;
        n -= (size_t)done;
    }
    return true;
}

/* All of standard input into `fd`. */
static int side_copy(int fd, uint64_t most)
{
    static char piece[1 << 16];
    uint64_t bytes = 0;
    for (;;) {
        ssize_t n = read(STDIN_FILENO, piece, sizeof(piece));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return cli_fail(CLI_INPUT, "cannot read '-': %s", strerror(errno));
        if (!n)
            return 0;
        bytes += (uint64_t)n;
        if (bytes > most)
            return cli_fail(CLI_INPUT,
                            "cannot read '-': more than %llu bytes on standard input: raise the limit with "
                            "--limit file-bytes=N",
                            (unsigned long long)most);
        if (!side_write_all(fd, piece, (size_t)n))
            return cli_fail(CLI_ENVIRONMENT, "cannot keep standard input in memory: %s", strerror(errno));
    }
}

int cli_take_stdin(const struct cli_opts *o)
{
    struct stat st;
    size_t n = count_dashes(o);
    if (!n)
        return 0;
    if (n > 1)
        return cli_fail(CLI_USAGE, "'-' is given %zu times: standard input is one file, name the others", n);
    if (isatty(STDIN_FILENO))
        return cli_fail(CLI_USAGE, "cannot read '-': standard input is a terminal: redirect a file into it");
    if (fstat(STDIN_FILENO, &st) == 0 && S_ISREG(st.st_mode))
        return 0;
    int fd = memfd_create("standard input", MFD_CLOEXEC);
    if (fd < 0)
        return cli_fail(CLI_ENVIRONMENT, "cannot keep standard input in memory: %s", strerror(errno));
    int rc = side_copy(fd, most_bytes(o));
    if (!rc && dup2(fd, STDIN_FILENO) < 0)
        rc = cli_fail(CLI_ENVIRONMENT, "cannot keep standard input in memory: %s", strerror(errno));
    close(fd);
    return rc;
}

/* ---- side ------------------------------------------------------------------------------------------- */

enum oc_stat cli_stat(const char *name)
{
    static const char *const names[] = {[OC_STAT_MEDIAN] = "median",
                                        [OC_STAT_MEAN] = "mean",
                                        [OC_STAT_MIN] = "min",
                                        [OC_STAT_MAX] = "max",
                                        [OC_STAT_SUM] = "sum"};
    for (size_t i = 0; name && i < sizeof(names) / sizeof(names[0]); i++)
        if (!strcmp(name, names[i]))
            return (enum oc_stat)i;
    return OC_STAT_AUTO;
}

static int side_check_options(const struct cli_opts *o, const struct cli_side *s)
{
    if (s->optimized_path && !s->profile_path)
        return cli_fail(CLI_USAGE,
                        "--optimized-model needs a model and its profile: onnxcost MODEL --profile FILE");
    if (o->hw_set.n && !o->hw.n)
        return cli_fail(CLI_USAGE, "--hw-set changes a device: name it with --hw");
    return 0;
}

static int side_read_files(const struct cli_opts *o, struct cli_side *s)
{
    struct oc_err err;
    struct oc_profile_opts opts = {.format = o->profile_format,
                                   .warmup = cli_warmup(o, 0),
                                   .iterations = (uint32_t)o->iterations.v,
                                   .stat = cli_stat(o->stat),
                                   .by_node = true,
                                   .limits = &o->limits};
    int rc = s->same_model ? 0 : cli_load_model(s->model_path, o, &s->model);
    if (rc)
        return rc;
    s->in.model = s->same_model ? s->same_model : s->model;
    if (s->profile_path) {
        struct oc_operator_names *operators = oc_operator_names_make(s->in.model);
        opts.operators = operators;
        rc = oc_profile_open(s->profile_path, &opts, &s->profile, &err);
        oc_operator_names_free(operators);
        if (rc)
            return cli_fail_err(&err);
    }
    if (s->optimized_path && (rc = cli_load_model(s->optimized_path, o, &s->optimized)) != 0)
        return rc;
    s->in.profile = s->profile;
    return s->hw ? cli_find_recorded_device(o, s->hw, s->profile, &s->hwdb, &s->in.device) : 0;
}

static int side_analyze(const struct cli_opts *o, struct cli_side *s)
{
    struct oc_err err;
    if (s->profile)
        s->n_profile_shape = oc_profile_input_shapes(s->in.model, s->profile, &s->profile_shape);
    int rc = cli_shapes_parse(o, s->profile_shape, s->n_profile_shape, &s->shapes);
    if (rc)
        return rc;
    s->opts = cli_analyze_opts(o, &s->shapes);
    if (s->profile)
        s->opts.n_control = oc_profile_control(s->in.model, s->profile, &s->control);
    s->opts.control = s->control;
    if (oc_analyze(s->in.model, &s->opts, &s->analysis, &err))
        return cli_fail_err(&err);
    s->in.analysis = s->analysis;
    if (s->profile && oc_join_make(s->in.model, s->analysis, s->profile, s->optimized, &s->join, &err))
        return cli_fail_err(&err);
    s->in.join = s->join;
    if (s->join && oc_join_sizes(s->analysis, &s->opts, s->optimized, s->join, &err))
        return cli_fail_err(&err);
    struct oc_report_in pair = s->in;
    pair.device = s->any_device ? NULL : pair.device;
    return cli_check_pair(o, &pair);
}

int cli_side_open(const struct cli_opts *o, struct cli_side *s)
{
    int rc = side_check_options(o, s);
    if (!rc)
        rc = side_read_files(o, s);
    return rc ? rc : side_analyze(o, s);
}

void cli_side_close(struct cli_side *s)
{
    oc_join_free(s->join);
    cli_shapes_free(&s->shapes);
    oc_profile_input_shapes_free(s->profile_shape, s->n_profile_shape);
    free(s->control);
    oc_analysis_free(s->analysis);
    oc_profile_close(s->profile);
    oc_model_free(s->optimized);
    oc_model_free(s->model);
    oc_hwdb_free(s->hwdb);
}
