/* cli/: The program: the table of options (options.c), a file per command (cmd_*.c), messages, help. It
 * uses only the public headers; whatever a library user would need too belongs in another folder. Nothing
 * else prints.
 * Private to the folder: arguments.h cli.h devices.h options.h output.h. */

#include "cli/arguments.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/devices.h"
#include "cli/output.h"
#include "onnxcost/estimate.h"
#include "onnxcost/profile.h"
#include "onnxcost/report.h"

enum { MAX_SIZES = 10000 };

static bool add_size(struct cli_sizes *s, int64_t v)
{
    if (s->n == MAX_SIZES)
        return false;
    if (s->n == s->cap) {
        s->cap = s->cap ? s->cap * 2 : 16;
        s->v = cli_xrealloc(s->v, s->cap * sizeof(*s->v));
    }
    s->v[s->n++] = v;
    return true;
}

static bool take_size(const char **p, int64_t *out)
{
    char *end;
    errno = 0;
    if (**p < '0' || **p > '9')
        return false;
    long long v = strtoll(*p, &end, 10);
    *out = v;
    *p = end;
    return !errno;
}

/* One entry: a size, or a range with its last size and what leads from one to the next. */
static bool take_entry(const char **p, struct cli_sizes *s)
{
    int64_t first, last, by = 1;
    char how = '+';
    if (!take_size(p, &first))
        return false;
    if (strncmp(*p, "..", 2))
        return add_size(s, first);
    *p += 2;
    if (!take_size(p, &last) || last < first)
        return false;
    if (**p == '+' || **p == '*') {
        how = *(*p)++;
        if (!take_size(p, &by))
            return false;
    }
    if (by < (how == '*' ? 2 : 1) || (how == '*' && first < 1))
        return false;
    for (int64_t v = first; v <= last;) {
        if (!add_size(s, v))
            return false;
        if (how == '*' ? __builtin_mul_overflow(v, by, &v) : __builtin_add_overflow(v, by, &v))
            break;
    }
    return true;
}

bool cli_sizes_parse(const char *text, struct cli_sizes *out)
{
    bool ok = take_entry(&text, out);
    while (ok && *text == ',') {
        text++;
        ok = take_entry(&text, out);
    }
    return ok && !*text;
}

int cli_check_numbers(const struct cli_opts *o)
{
    const struct {
        const char *name, *range;
        const struct cli_int *given;
        int64_t least, most;
    } number[] = {
        {"default-dim", "a number of at least 1", &o->default_dim, 1, INT64_MAX},
        {"align", "a number of bytes of at least 1", &o->align, 1, INT64_MAX},
        {"warmup", "a number of runs", &o->warmup, 0, INT32_MAX},
        {"prompt", "a number of tokens of at least 1", &o->prompt, 1, INT64_MAX},
        {"generate", "a number of tokens of at least 1", &o->generate, 1, INT64_MAX},
        {"iterations", "a number of runs of at least 1", &o->iterations, 1, INT32_MAX},
        {"samples-per-step", "a number of at least 1", &o->samples_per_step, 1, INT64_MAX},
        {"jobs", "a number from 1 to 1024", &o->jobs, 1, 1024},
    };
    for (size_t i = 0; i < sizeof(number) / sizeof(number[0]); i++) {
        const struct cli_int *n = number[i].given;
        if (n->set && (n->v < number[i].least || n->v > number[i].most))
            return cli_fail(CLI_USAGE, "--%s needs %s, not %lld", number[i].name, number[i].range,
                            (long long)n->v);
    }
    return 0;
}

int32_t cli_warmup(const struct cli_opts *o, int32_t otherwise)
{
    return !o->warmup.set ? otherwise : o->warmup.v ? (int32_t)o->warmup.v : OC_WARMUP_NONE;
}

int cli_take_embed(struct cli_opts *o)
{
    if (!o->embed)
        return 0;
    if (!o->format || strcmp(o->format, "html") != 0)
        return cli_fail(CLI_USAGE, "--embed writes a part of an HTML page: add --format html");
    o->format = "fragment";
    return 0;
}

const char *cli_format(const struct cli_opts *o)
{
    return o->format && !strcmp(o->format, "compact") ? "table" : o->format;
}

/* ---- limit arg -------------------------------------------------------------------------------------- */

int cli_take_limits(struct cli_opts *o)
{
    struct oc_err err;
    for (size_t i = 0; i < o->limit.n; i++)
        if (oc_input_limits_set(&o->limits, o->limit.item[i], &err))
            return cli_fail_err(&err);
    o->limits.external_anywhere = o->external_data && !strcmp(o->external_data, "anywhere");
    return 0;
}

const char *cli_limit_amount(const struct oc_input_limit_info *c, char *buf, size_t cap)
{
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    uint64_t v = c->otherwise;
    size_t i = 0;
    if (strcmp(c->unit, "B") != 0) {
        snprintf(buf, cap, "%" PRIu64 "%s%s", v, c->unit[0] ? " " : "", c->unit);
        return buf;
    }
    for (; v % 1024 == 0 && i + 1 < sizeof(unit) / sizeof(unit[0]); i++)
        v /= 1024;
    snprintf(buf, cap, "%" PRIu64 " %s", v, unit[i]);
    return buf;
}

/* ---- recordings arg --------------------------------------------------------------------------------- */

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
                                         .warmup = cli_warmup(o, 0),
                                         .progress = on_recording,
                                         .progress_arg = p,
                                         .limits = &o->limits};
    int rc = oc_samples_read(o->word.item, o->word.n, &opts, &m->samples, &err);
    cli_progress_stop(p);
    return rc ? cli_fail_err(&err) : 0;
}

static void arguments_print_warnings(const struct oc_samples *samples)
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
        arguments_print_warnings(out->samples);
    return rc;
}

void cli_measured_free(struct cli_measured *m)
{
    oc_samples_free(m->samples);
    oc_hwdb_free(m->hwdb);
}

/* ---- filters ---------------------------------------------------------------------------------------- */

/* Options that choose or order rows, and would leave nothing without a word. */

static bool arguments_has(const char *const *list, size_t n, const char *text)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(list[i], text))
            return true;
    return false;
}

/* Of all operators; in the profiles, that is the records. */
struct operators {
    const char **name, **type;
    size_t n, cap;
};

static void arguments_add(struct operators *all, const char *name, const char *type)
{
    if (all->n == all->cap) {
        all->cap = all->cap ? all->cap * 2 : 256;
        all->name = cli_xrealloc(all->name, all->cap * sizeof(*all->name));
        all->type = cli_xrealloc(all->type, all->cap * sizeof(*all->type));
    }
    all->name[all->n] = name ? name : "";
    all->type[all->n++] = type ? type : "";
}

static void arguments_collect(struct operators *all, const struct oc_analysis *a,
                              struct oc_profile *const *profile, size_t n_profile)
{
    struct oc_node_info info;
    const char *name, *type;
    for (size_t i = 0; a && i < oc_analysis_nodes(a); i++)
        if (!oc_analysis_node(a, i, &info))
            arguments_add(all, info.name, info.op_type);
    for (size_t k = 0; k < n_profile; k++)
        for (size_t i = 0; oc_profile_operator(profile[k], i, &name, &type); i++) {
            const char *own = oc_profile_operator_source_type(profile[k], i);
            arguments_add(all, name, type);
            if (own)
                arguments_add(all, "", own);
        }
}

static void check_types(const struct cli_opts *o, const struct operators *all, bool model)
{
    struct oc_err err;
    size_t n = 0;
    const char **type = cli_xcalloc(all->n + 1, sizeof(*type));
    for (size_t i = 0; i < all->n; i++)
        if (*all->type[i] && !arguments_has(type, n, all->type[i]))
            type[n++] = all->type[i];
    for (size_t i = 0; i < o->type.n; i++)
        if (!arguments_has(type, n, o->type.item[i]) &&
            oc_fail_unknown(&err, OC_EARG,
                            &(struct oc_unknown){.what = "operator type",
                                                 .where = "for --type",
                                                 .given = o->type.item[i],
                                                 .valid = type,
                                                 .n = n,
                                                 .more = model ? "the types of this model"
                                                               : "the types of this profile"}))
            cli_warn("%s", err.msg);
    free(type);
}

/* How many names match; an expression that is not valid fails in the report. */
static size_t arguments_count_names(const struct operators *all, const char *pattern, bool anywhere,
                                    bool any_case)
{
    struct oc_err err;
    size_t n = 0;
    return oc_pattern_count(pattern, anywhere, any_case, all->name, all->n, &n, &err) ? all->n : n;
}

static void arguments_check_names(const struct cli_opts *o, const struct operators *all)
{
    static const struct {
        bool anywhere, any_case;
        const char *pattern, *words;
    } wider[] = {{true, false, ".*", "not only at the start of the name"},
                 {false, true, "(?i)", "without letter case"},
                 {true, true, "(?i).*", "anywhere in the name and without letter case"}};
    for (size_t i = 0; i < o->opr_name.n && all->n; i++) {
        const char *p = o->opr_name.item[i];
        size_t k = 0, n = arguments_count_names(all, p, false, false);
        for (; !n && k < sizeof(wider) / sizeof(wider[0]); k++)
            if ((n = arguments_count_names(all, p, wider[k].anywhere, wider[k].any_case)) > 0)
                cli_warn("no operator has a name that begins with --opr-name '%s'; '%s%s' matches %zu (%s)",
                         p, wider[k].pattern, p, n, wider[k].words);
        if (!n)
            cli_warn("no operator has a name that matches --opr-name '%s'; -f csv lists the names", p);
    }
}

void cli_check_filters(const struct cli_opts *o, const struct oc_analysis *a,
                       struct oc_profile *const *profile, size_t n_profile)
{
    struct operators all = {0};
    if (!o->type.n && !o->opr_name.n)
        return;
    arguments_collect(&all, a, profile, n_profile);
    check_types(o, &all, a != NULL);
    arguments_check_names(o, &all);
    free(all.name);
    free(all.type);
}

int cli_check_order(const char *order_by, bool profile, bool device)
{
    static const struct {
        const char *name;
        bool profile, device;
    } needs[] = {{"time", true, false},      {"min", true, false},   {"max", true, false},
                 {"self", true, false},      {"flops", true, false}, {"bandwidth", true, false},
                 {"efficiency", true, true}, {"wasted", true, true}, {"roofline", false, true}};
    for (const char *at = order_by; at; at = *at ? at + 1 : NULL) {
        at += *at == '+';
        size_t n = strcspn(at, ",");
        for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++) {
            if (strlen(needs[i].name) != n || memcmp(needs[i].name, at, n) != 0)
                continue;
            if (needs[i].profile && !profile)
                return cli_fail(CLI_USAGE,
                                "--order-by %s needs measured times: give a profile with --profile FILE",
                                needs[i].name);
            if (needs[i].device && !device)
                return cli_fail(CLI_USAGE, "--order-by %s needs a device: name it with --hw", needs[i].name);
        }
        at += n;
    }
    return 0;
}

/* ---- shapes ----------------------------------------------------------------------------------------- */

/* Parses a number >= 0 at *s and advances *s. */
static bool take_number(const char **s, int64_t *out)
{
    char *end;
    if (**s < '0' || **s > '9')
        return false;
    errno = 0;
    long long v = strtoll(*s, &end, 10);
    if (errno)
        return false;
    *out = v;
    *s = end;
    return true;
}

/* Names may hold '=': the last one counts. */
static const char *arguments_split(const char *text)
{
    const char *eq = strrchr(text, '=');
    return eq && eq != text && eq[1] ? eq : NULL;
}

static int arguments_parse_number(const char *option, const char *text, struct oc_bind *out)
{
    const char *eq = arguments_split(text), *number = eq ? eq + 1 : NULL;
    if (!eq || !take_number(&number, &out->value) || *number)
        return cli_fail(CLI_USAGE, "--%s needs %s, not '%s'", option,
                        !strcmp(option, "trip") ? "NODE=N such as loop=10" : "NAME=N such as batch=8", text);
    out->symbol = cli_xstrndup(text, (size_t)(eq - text));
    return 0;
}

/* "NAME=1..64"; NULL: another form. */
static const char *range_dots(const char *text)
{
    const char *eq = arguments_split(text);
    return eq ? strstr(eq, "..") : NULL;
}

bool cli_has_range(const struct cli_opts *o)
{
    for (size_t i = 0; i < o->dim.n; i++)
        if (range_dots(o->dim.item[i]))
            return true;
    return false;
}

static int parse_range(const struct cli_opts *o, const char *text, struct oc_range_bind *out)
{
    const char *eq = arguments_split(text), *at = eq + 1, *dots = range_dots(text);
    if (!o->ranges)
        return cli_fail(
            CLI_USAGE,
            "--dim: a range goes with the cost of a model and with check; here use --dim NAME=N, not '%s'",
            text);
    bool ok = dots && take_number(&at, &out->from) && at == dots;
    at = ok ? dots + 2 : text;
    ok = ok && take_number(&at, &out->to) && !*at && out->from <= out->to;
    if (!ok)
        return cli_fail(CLI_USAGE, "--dim needs a range such as batch=1..64, not '%s'", text);
    out->symbol = cli_xstrndup(text, (size_t)(eq - text));
    return 0;
}

static bool arguments_parse_list(const char *s, struct oc_shape_bind *out)
{
    if (!strcmp(s, "scalar"))
        return true;
    int64_t *dim = cli_xcalloc(strlen(s) / 2 + 1, sizeof(*dim));
    out->dim = dim;
    for (;; s++) {
        if (!take_number(&s, &dim[out->rank]))
            return false;
        out->rank++;
        if (!*s)
            return true;
        if (*s != 'x' && *s != ',')
            return false;
    }
}

static int parse_shape(const char *text, struct oc_shape_bind *out)
{
    const char *eq = arguments_split(text);
    if (!eq || !arguments_parse_list(eq + 1, out))
        return cli_fail(CLI_USAGE, "--shape needs INPUT=1x3x224x224 or INPUT=scalar, not '%s'", text);
    out->input = cli_xstrndup(text, (size_t)(eq - text));
    return 0;
}

/* The first '=' ends the name: values are numbers or a file's path. */
static int parse_value(const char *text, struct oc_value_bind *out)
{
    const char *eq = strchr(text, '=');
    if (!eq || eq == text || !eq[1])
        return cli_fail(CLI_USAGE, "--value needs INPUT=1,3,8 or INPUT=@file.pb, not '%s'", text);
    out->input = cli_xstrndup(text, (size_t)(eq - text));
    out->text = eq + 1;
    return 0;
}

static bool is_given(const struct cli_shapes *s, const char *input)
{
    for (size_t i = 0; i < s->n_own; i++)
        if (!strcmp(s->shape[i].input, input))
            return true;
    return false;
}

static int load_rules(const char *path, struct oc_op_rules **out)
{
    struct oc_err err;
    return path && oc_op_rules_load(path, out, &err) ? cli_fail_err(&err) : 0;
}

int cli_shapes_parse(const struct cli_opts *o, const struct oc_shape_bind *more, size_t n_more,
                     struct cli_shapes *out)
{
    *out = (struct cli_shapes){.bind = cli_xcalloc(o->dim.n, sizeof(*out->bind)),
                               .range = cli_xcalloc(o->dim.n, sizeof(*out->range)),
                               .trip = cli_xcalloc(o->trip.n, sizeof(*out->trip)),
                               .value = cli_xcalloc(o->value.n, sizeof(*out->value)),
                               .shape = cli_xcalloc(o->shape.n + n_more, sizeof(*out->shape))};
    int rc = 0;
    for (size_t i = 0; i < o->dim.n && !rc; i++)
        rc = range_dots(o->dim.item[i])
                 ? parse_range(o, o->dim.item[i], &out->range[out->n_range++])
                 : arguments_parse_number("dim", o->dim.item[i], &out->bind[out->n_bind++]);
    for (size_t i = 0; i < o->trip.n && !rc; i++)
        rc = arguments_parse_number("trip", o->trip.item[i], &out->trip[out->n_trip++]);
    for (size_t i = 0; i < o->value.n && !rc; i++)
        rc = parse_value(o->value.item[i], &out->value[out->n_value++]);
    for (size_t i = 0; i < o->shape.n && !rc; i++)
        rc = parse_shape(o->shape.item[i], &out->shape[out->n_shape++]);
    out->n_own = out->n_shape;
    for (size_t i = 0; i < n_more && !rc; i++)
        if (!is_given(out, more[i].input))
            out->shape[out->n_shape++] = more[i];
    return rc ? rc : load_rules(o->op_rules, &out->rules);
}

void cli_shapes_free(struct cli_shapes *s)
{
    for (size_t i = 0; i < s->n_bind; i++)
        free((char *)s->bind[i].symbol);
    for (size_t i = 0; i < s->n_range; i++)
        free((char *)s->range[i].symbol);
    for (size_t i = 0; i < s->n_trip; i++)
        free((char *)s->trip[i].symbol);
    for (size_t i = 0; i < s->n_value; i++)
        free((char *)s->value[i].input);
    for (size_t i = 0; i < s->n_own; i++) {
        free((char *)s->shape[i].input);
        free((int64_t *)s->shape[i].dim);
    }
    free(s->bind);
    free(s->range);
    free(s->trip);
    free(s->value);
    free(s->shape);
    oc_op_rules_free(s->rules);
}

static bool arguments_is(const char *value, const char *wanted)
{
    return value && !strcmp(value, wanted);
}

static enum oc_if_mode if_mode_of(const char *name)
{
    return arguments_is(name, "then")   ? OC_IF_THEN
           : arguments_is(name, "else") ? OC_IF_ELSE
           : arguments_is(name, "avg")  ? OC_IF_AVG
                                        : OC_IF_MAX;
}

struct oc_analyze_opts cli_analyze_opts(const struct cli_opts *o, const struct cli_shapes *s)
{
    return (struct oc_analyze_opts){
        .bind = s->bind,
        .n_bind = s->n_bind,
        .range = s->range,
        .n_range = s->n_range,
        .shape = s->shape,
        .n_shape = s->n_shape,
        .value = s->value,
        .n_value = s->n_value,
        .trip = s->trip,
        .n_trip = s->n_trip,
        .force_shapes = o->force,
        .no_defaults = o->no_defaults,
        .default_dim = o->default_dim.set ? o->default_dim.v : 0,
        .strict = o->strict,
        .taps_valid = arguments_is(o->taps, "valid"),
        .strict_reduce = o->strict_reduce,
        .no_fold = o->no_fold,
        .keep_qdq = arguments_is(o->qdq, "keep"),
        .alias_off = arguments_is(o->alias, "off"),
        .naive_bytes = arguments_is(o->bytes, "naive"),
        .literal_ceil_mode = arguments_is(o->ceil_mode, "literal"),
        .attention_full = arguments_is(o->attention, "full"),
        .graph_bytes = arguments_is(o->bytes, "graph"),
        .einsum_optimal = arguments_is(o->einsum, "optimal"),
        .trees_max = arguments_is(o->trees, "max"),
        .moe_expected = arguments_is(o->moe_active, "expected"),
        .lut = o->lut,
        .inplace = o->inplace,
        .keep_inputs = o->keep_inputs,
        .align_bytes = o->align.set ? (uint64_t)o->align.v : 0,
        .rnn_reload = o->rnn_reload,
        .loop_cached = o->loop_cached,
        .dedup_content = arguments_is(o->dedup, "content"),
        .prefer_functions = o->prefer_functions,
        .kv_share = arguments_is(o->kv_share, "on")    ? OC_KV_ON
                    : arguments_is(o->kv_share, "off") ? OC_KV_OFF
                                                       : OC_KV_AUTO,
        .if_mode = if_mode_of(o->if_mode),
        .convention = o->convention.n ? o->convention.item[o->convention.n - 1] : NULL,
        .weights = o->weights,
        .rules = s->rules,
    };
}
