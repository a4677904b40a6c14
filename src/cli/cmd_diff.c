/* diff: two models, or one with two profiles, devices or shapes. */
#include <stdlib.h>
#include <string.h>

#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "onnxcost/estimate.h"
#include "onnxcost/gate.h"
#include "onnxcost/profile.h"
#include "onnxcost/report.h"

struct diff_opts {
    bool exit_code;
};

#define AT(field) offsetof(struct diff_opts, field)
static const struct cli_option own_options[] = {
    {"exit-code", 0, CLI_FLAG, AT(exit_code), .help = "exit code 1 when the two are different",
     .group = "Differences"},
};

struct diff_job {
    const struct cli_opts *o;
    const struct diff_opts *own;
    struct cli_opts of[2]; /* the options with the sizes of a side */
    struct cli_list model, profile, optimized;
    const char **recording[2]; /* heap: the paths that the profile of a side names */
    struct cli_side side[2];
    struct oc_report_in *more[2]; /* heap: the recordings of a side but the first */
    struct oc_diff *diff;
    const char *label; /* of the verdict alone; NULL: the whole diff is written */
};

/* ---- who is A, who is B ---------------------------------------------------------------------------- */

/* Whether options are given that say nothing about profiles alone. */
static bool needs_model(const struct cli_opts *o)
{
    return cli_first_given(o, "dim shape value optimized-model");
}

static int sort_files(struct diff_job *j)
{
    const struct cli_opts *o = j->o;
    for (size_t i = 0; i < o->profile.n; i++)
        cli_list_add(&j->profile, o->profile.item[i]);
    for (size_t i = 0; i < o->word.n; i++) {
        enum oc_file_kind kind;
        struct oc_err err;
        if (oc_file_kind(o->word.item[i], &kind, &err))
            return cli_fail_err(&err);
        cli_list_add(kind == OC_FILE_PROFILE ? &j->profile : &j->model, o->word.item[i]);
    }
    if (j->model.n > 2 || (!j->model.n && !j->profile.n))
        return cli_fail(CLI_USAGE,
                        "'diff' needs one or two models, or two profiles: onnxcost diff A.onnx B.onnx, "
                        "onnxcost diff -p A.json -p B.json");
    if (j->profile.n > 2)
        return cli_fail(CLI_USAGE,
                        "'diff' takes one -p for each side, not %zu; several recordings of a side: -p "
                        "a1.json,a2.json, or a folder",
                        j->profile.n);
    if (!j->model.n && j->profile.n == 1)
        return cli_fail(CLI_USAGE,
                        "'diff' without a model needs two profiles: onnxcost diff -p A.json -p B.json");
    if (!j->model.n && needs_model(o))
        return cli_fail(
            CLI_USAGE,
            "sizes (--dim, --shape, --value) and optimized models need a model: onnxcost diff MODEL "
            "-p A.json -p B.json");
    if (j->model.n == 2 && j->profile.n == 1)
        return cli_fail(CLI_USAGE, "'diff' of two models takes a profile for each of them, or none");
    return 0;
}

/* The first of a list for A, the second for B; one for both. */
static const char **side_value(const struct cli_list *l, unsigned side)
{
    return !l->n ? NULL : &l->item[side < l->n ? side : l->n - 1];
}

/* ---- sizes of a side -------------------------------------------------------------------------------- */

static bool names_same(const char *a, const char *b)
{
    const char *eq_a = strrchr(a, '='), *eq_b = strrchr(b, '=');
    return eq_a && eq_b && eq_a - a == eq_b - b && strncmp(a, b, (size_t)(eq_a - a)) == 0;
}

/* Of "NAME=..." given twice the first is for A and the second for B; given once it is for both. *twice: some name is given
 * twice. Returns 0, or CLI_USAGE after a message. */
static int sizes_of(const char *option, const struct cli_list *all, unsigned side, struct cli_list *out,
                    bool *twice)
{
    for (size_t i = 0; i < all->n; i++) {
        size_t before = 0, n = 0;
        for (size_t k = 0; k < all->n; k++) {
            bool same = names_same(all->item[i], all->item[k]);
            n += same;
            before += same && k < i;
        }
        if (n > 2)
            return cli_fail(CLI_USAGE, "--%s: '%s' is one of %zu for this name: one for each side", option,
                            all->item[i], n);
        *twice |= n == 2;
        if (n < 2 || before == side)
            cli_list_add(out, all->item[i]);
    }
    return 0;
}

static int choose_sizes(struct diff_job *j, bool *twice)
{
    const struct cli_opts *o = j->o;
    int rc = 0;
    for (unsigned s = 0; s < 2 && !rc; s++) {
        struct cli_opts *of = &j->of[s];
        *of = *o;
        of->dim = of->shape = of->value = (struct cli_list){0};
        rc = sizes_of("dim", &o->dim, s, &of->dim, twice);
        rc = rc ? rc : sizes_of("shape", &o->shape, s, &of->shape, twice);
        rc = rc ? rc : sizes_of("value", &o->value, s, &of->value, twice);
    }
    return rc;
}

/* "none": the profile of this side is of the model as it is. */
static const char *optimized_of(const struct cli_list *l, unsigned side)
{
    const char **path = side_value(l, side);
    return path && !cli_is(*path, "none") ? *path : NULL;
}

static int choose_sides(struct diff_job *j)
{
    const struct cli_opts *o = j->o;
    if (o->hw.n > 2 || j->optimized.n > 2)
        return cli_fail(CLI_USAGE, "'diff' takes one %s for each side, not %zu",
                        o->hw.n > 2 ? "device" : "optimized model", o->hw.n > 2 ? o->hw.n : j->optimized.n);
    if (j->model.n == 2 && j->optimized.n == 1)
        return cli_fail(CLI_USAGE,
                        "--optimized-model of two models: give it twice; none: that side has none");
    for (unsigned s = 0; s < 2; s++) {
        struct oc_err err;
        j->side[s].model_path = j->model.n ? *side_value(&j->model, s) : NULL;
        if (j->profile.n && oc_recordings_named(*side_value(&j->profile, s), &j->recording[s],
                                                &j->side[s].n_profile_path, &err))
            return cli_fail_err(&err);
        j->side[s].profile_path = j->recording[s];
        j->side[s].hw = o->hw.n ? *side_value(&o->hw, s) : NULL;
        j->side[s].optimized_path = optimized_of(&j->optimized, s);
    }
    bool sizes = false;
    int rc = choose_sizes(j, &sizes);
    if (!rc && j->model.n < 2 && j->profile.n < 2 && o->hw.n < 2 && !sizes)
        return cli_fail(CLI_USAGE,
                        "'diff' of one model needs two profiles, two devices, or a size given twice: -d "
                        "batch=1 -d batch=8");
    return rc;
}

static int open_both(struct diff_job *j)
{
    int rc = cli_side_open(&j->of[0], &j->side[0]);
    if (rc)
        return rc;
    if (j->model.n == 1)
        j->side[1].same_model = j->side[0].model;
    return cli_side_open(&j->of[1], &j->side[1]);
}

/* Whether some recordings have only means, and others the chosen statistic. */
static bool statistics_differ(const struct diff_job *j)
{
    bool means = false, others = false;
    for (unsigned s = 0; s < 2; s++)
        for (size_t i = 0; i < j->side[s].profiles.n; i++) {
            bool mean = oc_profile_stat(j->side[s].profiles.item[i]) == OC_STAT_MEAN;
            means |= mean;
            others |= !mean;
        }
    return means && others;
}

static int open_sides(struct diff_job *j)
{
    const struct cli_side asked[2] = {j->side[0], j->side[1]};
    int rc = open_both(j);
    if (rc || !statistics_differ(j) || j->o->stat)
        return rc;
    for (unsigned s = 2; s-- > 0;) {
        cli_side_close(&j->side[s]);
        j->side[s] = asked[s];
        j->of[s].stat = "mean";
    }
    return open_both(j);
}

/* ---- result ---------------------------------------------------------------------------------------- */

/* The recordings of a side but the first. Returns how many. */
static size_t add_recordings(struct diff_job *j, unsigned s)
{
    const struct cli_side *side = &j->side[s];
    size_t n = side->profiles.n ? side->profiles.n - 1 : 0;
    j->more[s] = cli_xcalloc(n, sizeof(*j->more[s]));
    for (size_t i = 0; i < n; i++) {
        j->more[s][i] = side->in;
        j->more[s][i].profile = side->profiles.item[i + 1];
        j->more[s][i].join = side->join ? side->join[i + 1] : NULL;
    }
    return n;
}

static int make_diff(struct diff_job *j)
{
    struct oc_err err;
    struct oc_diff_opts opts = {.cache = !cli_is(j->o->cache, "off")};
    opts.n_more_a = add_recordings(j, 0);
    opts.n_more_b = add_recordings(j, 1);
    opts.more_a = j->more[0];
    opts.more_b = j->more[1];
    return oc_diff_make(&j->side[0].in, &j->side[1].in, &opts, &j->diff, &err) ? cli_fail_err(&err) : 0;
}

static int write_diff_markdown(const void *diff, FILE *f, struct oc_err *err)
{
    return oc_diff_write(diff, &(struct oc_diff_write_opts){.format = "markdown"}, f, err);
}

static int put_diff(const void *job, const struct cli_output *out, struct oc_err *err)
{
    const struct diff_job *j = job;
    const struct cli_opts *o = j->o;
    const struct oc_diff_write_opts opts = {.format = o->format,
                                            .sort = o->sort,
                                            .has_top = o->top.set,
                                            .top = o->top.v,
                                            .width_chars = cli_width(out, &o->width),
                                            .color = cli_color(out, o->color),
                                            .made = o->made};
    return oc_diff_write(j->diff, &opts, out->f, err);
}

static int write_diff(struct diff_job *j)
{
    const struct cli_opts *o = j->o;
    int rc = cli_output_write(o->output, put_diff, j);
    rc = rc ? rc : cli_step_summary(o, write_diff_markdown, j->diff);
    if (rc)
        return rc;
    return j->own->exit_code && oc_diff_info(j->diff)->different ? CLI_FINDINGS : CLI_OK;
}

static int put_verdict(const void *job, const struct cli_output *out, struct oc_err *err)
{
    const struct diff_job *j = job;
    const char *note, *verdict = oc_diff_verdict(j->diff, &note);
    static const char *const start[] = {"session", "first run"};
    (void)err;
    fprintf(out->f, "%-12s%s%s%s\n", j->label, verdict ? verdict : "not compared: a recording has no latency",
            verdict ? ". " : "", verdict ? note : "");
    for (unsigned i = 0; i < 2; i++)
        if (oc_diff_start(j->diff, i > 0))
            fprintf(out->f, "  %-10s%s\n", start[i], oc_diff_start(j->diff, i > 0));
    return 0;
}

static int print_verdict(struct diff_job *j)
{
    return cli_output_write(NULL, put_verdict, j);
}

/* ---- diff of two conventions ------------------------------------------------------------------------ */

struct convention_job {
    const struct cli_opts *o;
    struct cli_side side;
    struct oc_analysis *analysis[2]; /* they differ in their convention alone */
};

static int analyze_conventions(struct convention_job *j)
{
    const struct cli_opts *o = j->o;
    struct oc_err err;
    if (o->word.n != 1 || o->convention.n != 2 || cli_first_given(o, "profile hw order-by top exit-code"))
        return cli_fail(CLI_USAGE, "two conventions compare the counts of one model, without profiles, "
                                   "devices, --order-by, --top and "
                                   "--exit-code: onnxcost diff MODEL --convention A --convention B");
    j->side.model_path = o->word.item[0];
    int rc = cli_side_read(o, &j->side);
    if (rc)
        return rc;
    struct oc_analyze_opts opts = cli_analyze_opts(o, &j->side.shapes);
    for (size_t i = 0; i < 2; i++) {
        opts.convention = o->convention.item[i];
        if (oc_analyze(j->side.model, &opts, &j->analysis[i], &err))
            return cli_fail_err(&err);
    }
    return 0;
}

static int put_conventions(const void *job, const struct cli_output *out, struct oc_err *err)
{
    const struct convention_job *j = job;
    return oc_convention_diff_write(j->side.model, j->analysis[0], j->analysis[1], j->o->format,
                                    cli_width(out, &j->o->width), out->f, err);
}

static int diff_conventions(const struct cli_opts *o)
{
    struct convention_job j = {.o = o};
    int rc = analyze_conventions(&j);
    rc = rc ? rc : cli_output_write(o->output, put_conventions, &j);
    oc_analysis_free(j.analysis[0]);
    oc_analysis_free(j.analysis[1]);
    cli_side_close(&j.side);
    return rc;
}

/* optimized: the models of the two sides, or one for both. */
static int diff_with(const struct cli_opts *o, struct cli_list optimized, const char *label)
{
    int (*const steps[])(struct diff_job *) = {sort_files, choose_sides, open_sides, make_diff,
                                               label ? print_verdict : write_diff};
    struct diff_job j = {.o = o, .own = o->own, .optimized = optimized, .label = label};
    int rc = 0;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && !rc; i++)
        rc = steps[i](&j);
    oc_diff_free(j.diff);
    for (unsigned s = 2; s-- > 0;) {
        cli_side_close(&j.side[s]);
        free(j.recording[s]);
        free(j.more[s]);
        free(j.of[s].dim.item);
        free(j.of[s].shape.item);
        free(j.of[s].value.item);
    }
    free(j.model.item);
    free(j.profile.item);
    return rc;
}

int cli_diff_recordings(const struct cli_opts *o, const char *a_optimized, const char *b_optimized,
                        const char *label)
{
    const char *path[] = {a_optimized ? a_optimized : "none", b_optimized ? b_optimized : "none"};
    struct diff_opts own = {0};
    struct cli_opts diff = *o;
    diff.own = &own;
    return diff_with(&diff, (struct cli_list){.item = path, .n = 2}, label);
}

static int run_diff(const struct cli_opts *o)
{
    struct cli_list optimized = {0};
    if (o->convention.n > 1)
        return diff_conventions(o);
    cli_option_values(o, "optimized-model", &optimized);
    int rc = diff_with(o, optimized, NULL);
    free(optimized.item);
    return rc;
}

const struct cli_command cmd_diff = {
    .name = "diff",
    .phrase = "compare two models, profiles, devices or shapes",
    .use = {{"onnxcost diff A.onnx B.onnx | [MODEL] -p A -p B | MODEL --hw A --hw B | MODEL -d N=1 -d N=8",
             "two models, or one with two profiles, devices or shapes, or two profiles without a model: what "
             "was added, removed and changed"},
            {"onnxcost diff MODEL --convention A --convention B",
             "the difference between two ways of counting, term by term"}},
    .run = run_diff,
    .usual = "profile hw dim shape convention order-by top exit-code format output",
    .sets = CLI_MODEL,
    .options = "profile profile-format optimized-model warmup iterations stat hw hw-set cache top "
               "order-by",
    .own = CLI_OWN(own_options, struct diff_opts),
    .formats = "table|csv|json|markdown|md|html|fragment|github",
    .example = {{"onnxcost diff old.onnx new.onnx", "operators added, removed and changed"},
                {"onnxcost diff resnet50.onnx -p a.json -p b.json", "the times and fusions of two profiles"},
                {"onnxcost diff -p before.json -p after.json", "the same of profiles without a model"}},
    .tool =
        {{"diff", "Two models or profiles: is one slower, why; what was added, removed, changed.", "a! b!",
          "dim top", .more = "hw order-by" CLI_TOOL_SHAPES CLI_TOOL_COUNTS,
          .brief =
              "latency=totals.latency:verdict,a,b,delta,ratio,ratio_interval,order,recordings_for_3_percent "
              "decomposition:part,place,delta_ns,rows rows_by_status "
              "macs=totals.macs:a,b,delta flops=totals.flops:a,b,delta bytes=totals.bytes:a,b,delta "
              "params=totals.params:a,b,delta peak_activation_bytes=totals.peak_activation_bytes:a,b,delta "
              "rows:status,name_a,name_b,op_type_b,flops_delta,time_a_ns,time_b_ns,what",
          .top = "10", .place = 8}},
};
