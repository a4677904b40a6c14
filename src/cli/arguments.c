/* cli/: The program: options (options.c), commands (cmd_*.c, each with its row of command.h), messages. It
 * uses only the public headers; whatever a library user would need too belongs in another folder. Nothing
 * else prints.
 * Private to the folder: arguments.h cli.h command.h cost.h mcp_tools.h options.h output.h. */

/* What options name: sizes, rows, shapes, devices, models, the inputs of a report. */
#include "cli/arguments.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/output.h"
#include "onnxcost/estimate.h"
#include "onnxcost/hardware.h"
#include "onnxcost/profile.h"
#include "onnxcost/report.h"

/* ---- sizes ------------------------------------------------------------------------------------------ */

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

/* One entry: a size, or a range with its last size and what leads from one to the next. */
static bool take_entry(const char **p, struct cli_sizes *s)
{
    int64_t first, last, by = 1;
    char how = '+';
    if (!take_number(p, &first))
        return false;
    if (strncmp(*p, "..", 2))
        return add_size(s, first);
    *p += 2;
    if (!take_number(p, &last) || last < first)
        return false;
    if (**p == '+' || **p == '*') {
        how = *(*p)++;
        if (!take_number(p, &by))
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

/* ---- single options --------------------------------------------------------------------------------- */

int32_t cli_warmup(const struct cli_opts *o, int32_t otherwise)
{
    return !o->warmup.set ? otherwise : o->warmup.v ? (int32_t)o->warmup.v : OC_WARMUP_NONE;
}

/* --stat by its name; OC_STAT_TYPICAL without one. */
static enum oc_stat stat_of(const char *name)
{
    static const char *const names[] = {
        [OC_STAT_TYPICAL] = "typical", [OC_STAT_MEAN] = "mean", [OC_STAT_MEDIAN] = "median",
        [OC_STAT_MIN] = "min",         [OC_STAT_MAX] = "max",   [OC_STAT_SUM] = "sum"};
    for (size_t i = 0; name && i < sizeof(names) / sizeof(names[0]); i++)
        if (!strcmp(name, names[i]))
            return (enum oc_stat)i;
    return OC_STAT_TYPICAL;
}

size_t cli_rows(const struct cli_opts *o, size_t otherwise)
{
    return !o->top.set ? otherwise : o->top.v > 0 ? (size_t)o->top.v : 0;
}

int cli_batch(const struct cli_opts *o, int64_t *out)
{
    const char *text = o->batch;
    *out = 0;
    if (!text)
        return 0;
    if (!take_number(&text, out) || *text)
        return cli_fail(CLI_USAGE, "--batch needs an integer, not '%s'", o->batch);
    return *out < 1 ? cli_fail(CLI_USAGE, "--batch needs a number of at least 1, not '%s'", o->batch) : 0;
}

const char *cli_hw(const struct cli_opts *o)
{
    return o->hw.n ? o->hw.item[o->hw.n - 1] : NULL;
}

/* ---- shapes ----------------------------------------------------------------------------------------- */

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

bool cli_is_size_list(const char *dim)
{
    const char *eq = arguments_split(dim);
    return eq && strpbrk(eq, ",*+");
}

/* "NAME=1..64"; NULL: another form. */
static const char *range_dots(const char *text)
{
    const char *eq = arguments_split(text);
    return eq && !cli_is_size_list(text) ? strstr(eq, "..") : NULL;
}

bool cli_has_range(const struct cli_opts *o)
{
    for (size_t i = 0; i < o->dim.n; i++)
        if (range_dots(o->dim.item[i]))
            return true;
    return false;
}

bool cli_has_size_list(const struct cli_opts *o)
{
    for (size_t i = 0; i < o->dim.n; i++)
        if (cli_is_size_list(o->dim.item[i]))
            return true;
    return false;
}

static int parse_range(const struct cli_opts *o, const char *text, struct oc_range_bind *out)
{
    const char *eq = arguments_split(text), *at = eq ? eq + 1 : text, *dots = range_dots(text);
    if (!o->command->ranges)
        return cli_fail(
            CLI_USAGE,
            "--dim: a range goes with the cost of a model and with check; here use --dim NAME=N, not '%s'",
            text);
    bool ok = eq && dots && take_number(&at, &out->from) && at == dots;
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

int cli_shapes_parse(const struct cli_opts *o, struct cli_shapes *out)
{
    *out = (struct cli_shapes){.bind = cli_xcalloc(o->dim.n, sizeof(*out->bind)),
                               .range = cli_xcalloc(o->dim.n, sizeof(*out->range)),
                               .trip = cli_xcalloc(o->trip.n, sizeof(*out->trip)),
                               .value = cli_xcalloc(o->value.n, sizeof(*out->value)),
                               .shape = cli_xcalloc(o->shape.n, sizeof(*out->shape))};
    int rc = 0;
    for (size_t i = 0; i < o->dim.n && !rc; i++)
        if (cli_is_size_list(o->dim.item[i]) && !o->command->lists)
            rc = cli_fail(
                CLI_USAGE,
                "--dim: a list of sizes goes with the cost of a model; here use --dim NAME=N, not '%s'",
                o->dim.item[i]);
    for (size_t i = 0; i < o->dim.n && !rc; i++)
        if (!cli_is_size_list(o->dim.item[i]))
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
    return rc ? rc : load_rules(o->op_rules, &out->rules);
}

/* Shapes from elsewhere, used for inputs that the command line does not speak of. */
static void shapes_add(struct cli_shapes *s, const struct oc_shape_bind *more, size_t n)
{
    s->shape = cli_xrealloc(s->shape, (s->n_shape + n + 1) * sizeof(*s->shape));
    for (size_t i = 0; i < n; i++)
        if (!is_given(s, more[i].input))
            s->shape[s->n_shape++] = more[i];
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

static enum oc_if_mode if_mode_of(const char *name)
{
    return cli_is(name, "then")   ? OC_IF_THEN
           : cli_is(name, "else") ? OC_IF_ELSE
           : cli_is(name, "avg")  ? OC_IF_AVG
                                  : OC_IF_MAX;
}

struct oc_analyze_opts cli_analyze_opts(const struct cli_opts *o, const struct cli_shapes *s)
{
    struct oc_analyze_opts a = o->analyze;
    a.bind = s->bind;
    a.n_bind = s->n_bind;
    a.range = s->range;
    a.n_range = s->n_range;
    a.shape = s->shape;
    a.n_shape = s->n_shape;
    a.value = s->value;
    a.n_value = s->n_value;
    a.trip = s->trip;
    a.n_trip = s->n_trip;
    a.naive_bytes = cli_is(o->bytes, "naive");
    a.graph_bytes = cli_is(o->bytes, "graph");
    a.align_bytes = (uint64_t)o->align.v;
    a.kv_share = cli_is(o->kv_share, "on") ? OC_KV_ON : cli_is(o->kv_share, "off") ? OC_KV_OFF : OC_KV_AUTO;
    a.if_mode = if_mode_of(o->if_mode);
    a.convention = o->convention.n ? o->convention.item[o->convention.n - 1] : NULL;
    a.rules = s->rules;
    return a;
}

/* ---- devices ---------------------------------------------------------------------------------------- */

/* What --hw-set changes of a device. Returns 0, or the exit code after a message. */
static int change_device(const struct cli_opts *o, struct oc_hwdb *db, const struct oc_device **device)
{
    struct oc_err err;
    return o->hw_set.n && oc_device_override(db, *device, o->hw_set.item, o->hw_set.n, device, &err)
               ? cli_fail_err(&err)
               : 0;
}

int cli_find_device(const struct cli_opts *o, const char *name, struct oc_hwdb **db,
                    const struct oc_device **device)
{
    struct oc_err err;
    if (!strcmp(name, "auto"))
        return cli_fail(CLI_USAGE,
                        "--hw auto is the device that a profile names: give a profile, or the device's name");
    if ((!*db && oc_hwdb_open(NULL, db, &err)) || oc_hwdb_get(*db, name, device, &err))
        return cli_fail_err(&err);
    return change_device(o, *db, device);
}

/* As cli_find_device; "auto" is the device that the profile names. p: NULL without a profile. */
static int find_recorded_device(const struct cli_opts *o, const char *name, const struct oc_profile *p,
                                struct oc_hwdb **db, const struct oc_device **device)
{
    struct oc_err err;
    if (strcmp(name, "auto") != 0 || !p)
        return cli_find_device(o, name, db, device);
    if (!oc_profile_device(p))
        return cli_fail(CLI_USAGE,
                        "--hw auto: the profile does not name its device; give the name (onnxcost hw list)");
    if ((!*db && oc_hwdb_open(NULL, db, &err)) || oc_hwdb_find(*db, oc_profile_device(p), device, &err))
        return cli_fail_err(&err);
    return change_device(o, *db, device);
}

/* ---- several devices -------------------------------------------------------------------------------- */

static void devices_add(struct cli_devices *d, const struct oc_device *device)
{
    if (d->n == d->cap) {
        d->cap = d->cap ? d->cap * 2 : 16;
        d->item = cli_xrealloc(d->item, d->cap * sizeof(*d->item));
    }
    d->item[d->n++] = device;
}

size_t cli_devices_index(const struct cli_devices *d, const struct oc_device *device)
{
    const struct oc_device_info *a = oc_device_info(device);
    size_t i = 0;
    for (; i < d->n; i++) {
        const struct oc_device_info *b = oc_device_info(d->item[i]);
        if (!strcmp(a->id, b->id) && !strcmp(a->file, b->file))
            break;
    }
    return i;
}

static int add_filtered(const struct cli_opts *o, const char *filter, struct cli_devices *d)
{
    const struct oc_device *const *list;
    size_t n;
    struct oc_err err;
    if (!d->db && oc_hwdb_open(NULL, &d->db, &err))
        return cli_fail_err(&err);
    if (oc_hwdb_select(d->db, filter, &list, &n, &err))
        return cli_fail_err(&err);
    for (size_t i = 0; i < n; i++) {
        const struct oc_device *device = list[i];
        if (cli_devices_index(d, device) < d->n)
            continue;
        int rc = change_device(o, d->db, &device);
        if (rc)
            return rc;
        devices_add(d, device);
    }
    return 0;
}

static int add_name(const struct cli_opts *o, bool filters, const char *name, struct cli_devices *d)
{
    const struct oc_device *device = NULL;
    if (filters && oc_hwdb_is_filter(name))
        return add_filtered(o, name, d);
    int rc = cli_find_device(o, name, &d->db, &device);
    if (!rc)
        devices_add(d, device);
    return rc;
}

/* One --hw may have several, separated by commas. */
static int add_names(const struct cli_opts *o, bool filters, const char *names, struct cli_devices *d)
{
    for (const char *p = names; p;) {
        size_t n = strcspn(p, ",");
        char *name = cli_xstrndup(p, n);
        int rc = add_name(o, filters, name, d);
        free(name);
        if (rc)
            return rc;
        p = p[n] ? p + n + 1 : NULL;
    }
    return 0;
}

int cli_devices_open(const struct cli_opts *o, bool filters, struct cli_devices *out)
{
    *out = (struct cli_devices){0};
    for (size_t i = 0; i < o->hw.n; i++) {
        int rc = add_names(o, filters, o->hw.item[i], out);
        if (rc)
            return rc;
    }
    return 0;
}

static int take_price(const struct cli_opts *o, const char *text, struct cli_devices *d)
{
    const char *eq = strrchr(text, '=');
    double price;
    if (!eq || eq == text || !oc_parse_positive(eq + 1, "/h", &price))
        return cli_fail(CLI_USAGE, "--price needs DEVICE=2.5/h, not '%s'", text);
    char *name = cli_xstrndup(text, (size_t)(eq - text));
    const struct oc_device *device = NULL;
    int rc = cli_find_device(o, name, &d->db, &device);
    free(name);
    if (rc)
        return rc;
    size_t i = cli_devices_index(d, device);
    if (i == d->n)
        return cli_fail(CLI_USAGE, "--price %s: --hw does not name this device", text);
    d->price_per_hour[i] = price;
    return 0;
}

int cli_devices_prices(const struct cli_opts *o, const struct cli_list *price, struct cli_devices *d)
{
    int rc = 0;
    if (price->n && d->n)
        d->price_per_hour = cli_xcalloc(d->n, sizeof(*d->price_per_hour));
    for (size_t i = 0; i < price->n && !rc; i++)
        rc = take_price(o, price->item[i], d);
    return rc;
}

void cli_devices_close(struct cli_devices *d)
{
    free(d->price_per_hour);
    free(d->item);
    oc_hwdb_free(d->db);
}

/* ---- models ----------------------------------------------------------------------------------------- */

int cli_load_model(const char *path, const struct cli_opts *o, struct oc_model **model)
{
    struct oc_err err;
    struct oc_input_limits limits = o->limits;
    limits.decoder = o->decoder;
    limits.size = sizeof(limits);
    if (!oc_model_load(path, &limits, model, &err))
        return 0;
    const char *format = err.code == OC_EFORMAT ? oc_profile_recognize(path) : NULL;
    if (format)
        return cli_fail(
            CLI_INPUT,
            "cannot read '%s': this is a profile (format %s), not an ONNX model: give the model, and the "
            "profile with --profile where the command takes one",
            path, format);
    return cli_fail_err(&err);
}

bool cli_is_headline(const struct oc_diag *d)
{
    return !strcmp(d->code, OC_DIAG_WRONG_MODEL) || !strcmp(d->code, OC_DIAG_OTHER_MODEL) ||
           !strcmp(d->code, OC_DIAG_OTHER_DEVICE);
}

/* Returns 0, or CLI_INPUT after a message: no operator of the profile is in the model, and there is no --force.
 */
static int check_pair(const struct cli_opts *o, const struct oc_report_in *in)
{
    struct oc_diag d[4];
    size_t n = oc_headlines(in, d, sizeof(d) / sizeof(d[0]));
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(d[i].code, OC_DIAG_WRONG_MODEL) && !o->analyze.force_shapes)
            return cli_fail(CLI_INPUT, "%s --force reports it all the same [%s]", d[i].text, d[i].code);
        cli_warn_diag(&d[i], true);
    }
    return 0;
}

int cli_load_calibration(const struct cli_opts *o, struct oc_calibration **out)
{
    struct oc_err err;
    return o->calibration && oc_calibration_load(o->calibration, out, &err) ? cli_fail_err(&err) : 0;
}

/* ---- profiles --------------------------------------------------------------------------------------- */

int cli_profiles_open(const struct cli_opts *o, const char *const *path, size_t n, struct oc_profile_opts own,
                      struct cli_profiles *out)
{
    struct oc_err err;
    if (o->kernel_names && oc_kernel_names_load(o->kernel_names, &out->kernel_names, &err))
        return cli_fail_err(&err);
    own.format = o->profile_format;
    own.iterations = (uint32_t)o->iterations.v;
    own.map = o->map;
    own.kernel_names = out->kernel_names;
    own.limits = &o->limits;
    own.stop = o->partial ? cli_fault_stop_begin() : NULL;
    int rc = oc_profile_open_all(path, n, &own, &out->item, &out->n, &err);
    cli_fault_stop_over();
    return rc ? cli_fail_err(&err) : 0;
}

void cli_profiles_close(struct cli_profiles *p)
{
    for (size_t i = 0; i < p->n; i++)
        oc_profile_close(p->item[i]);
    free(p->item);
    oc_kernel_names_free(p->kernel_names);
}

/* ---- inputs of a report ----------------------------------------------------------------------------- */

void cli_side_of(const struct cli_opts *o, struct cli_side *s)
{
    s->model_path = o->word.item[0];
    s->optimized_path = o->optimized_model;
    s->hw = cli_hw(o);
    s->profile_path = o->profile.n ? &o->profile.item[o->profile.n - 1] : NULL;
    s->n_profile_path = o->profile.n > 0;
    s->any_device = true;
}

static int side_read_profiles(const struct cli_opts *o, struct cli_side *s)
{
    struct oc_operator_names *operators = s->in.model ? oc_operator_names_make(s->in.model) : NULL;
    const struct oc_profile_opts own = {.warmup = cli_warmup(o, 0),
                                        .stat = stat_of(o->stat),
                                        .by_node = s->in.model != NULL,
                                        .operators = operators,
                                        .reading = cli_progress_reading(s->progress),
                                        .keep_events = s->keep_events};
    cli_progress_say(s->progress, "reading", s->profile_path[0]);
    int rc = cli_profiles_open(o, s->profile_path, s->n_profile_path, own, &s->profiles);
    oc_operator_names_free(operators);
    s->in.profile = rc ? NULL : s->profiles.item[0];
    return rc;
}

int cli_side_read(const struct cli_opts *o, struct cli_side *s)
{
    if (s->optimized_path && !s->n_profile_path)
        return cli_fail(CLI_USAGE,
                        "--optimized-model needs a model and its profile: onnxcost MODEL --profile FILE");
    int rc = cli_shapes_parse(o, &s->shapes);
    if (!rc && s->model_path && !s->same_model) {
        cli_progress_say(s->progress, "loading", s->model_path);
        rc = cli_load_model(s->model_path, o, &s->model);
    }
    s->in.model = s->same_model ? s->same_model : s->model;
    if (!rc && s->n_profile_path)
        rc = side_read_profiles(o, s);
    if (!rc && s->optimized_path)
        rc = cli_load_model(s->optimized_path, o, &s->optimized);
    if (!rc && s->hw)
        rc = find_recorded_device(o, s->hw, s->in.profile, &s->hwdb, &s->in.device);
    return rc;
}

static int side_join(struct cli_side *s)
{
    struct oc_err err;
    s->join = cli_xcalloc(s->profiles.n, sizeof(struct oc_join *));
    for (size_t i = 0; i < s->profiles.n; i++)
        if (oc_join_make(s->in.model, s->analysis, s->profiles.item[i], s->optimized, &s->join[i], &err))
            return cli_fail_err(&err);
    s->in.join = s->profiles.n ? s->join[0] : NULL;
    return s->in.join && oc_join_sizes(s->analysis, &s->opts, s->optimized, s->join[0], &err)
               ? cli_fail_err(&err)
               : 0;
}

static int side_analyze_model(const struct cli_opts *o, struct cli_side *s)
{
    struct oc_err err;
    if (s->in.profile) {
        s->n_profile_shape = oc_profile_input_shapes(s->in.model, s->in.profile, &s->profile_shape);
        shapes_add(&s->shapes, s->profile_shape, s->n_profile_shape);
    }
    s->opts = cli_analyze_opts(o, &s->shapes);
    s->opts.strict = s->strict;
    if (s->in.profile)
        s->opts.n_control = oc_profile_control(s->in.model, s->in.profile, &s->control);
    s->opts.control = s->control;
    cli_progress_say(s->progress, "analysing", s->model_path);
    if (oc_analyze(s->in.model, &s->opts, &s->analysis, &err))
        return cli_fail_err(&err);
    s->in.analysis = s->analysis;
    return side_join(s);
}

int cli_side_analyze(const struct cli_opts *o, struct cli_side *s)
{
    int rc = s->in.model ? side_analyze_model(o, s) : 0;
    struct oc_report_in pair = s->in;
    pair.device = s->any_device ? NULL : pair.device;
    for (size_t i = 0; i < s->profiles.n && !rc; i++) {
        pair.profile = s->profiles.item[i];
        pair.join = s->join ? s->join[i] : NULL;
        rc = check_pair(o, &pair);
    }
    return rc;
}

int cli_side_open(const struct cli_opts *o, struct cli_side *s)
{
    int rc = cli_side_read(o, s);
    return rc ? rc : cli_side_analyze(o, s);
}

void cli_side_close(struct cli_side *s)
{
    for (size_t i = 0; s->join && i < s->profiles.n; i++)
        oc_join_free(s->join[i]);
    free(s->join);
    cli_shapes_free(&s->shapes);
    oc_profile_input_shapes_free(s->profile_shape, s->n_profile_shape);
    free(s->control);
    oc_analysis_free(s->analysis);
    cli_profiles_close(&s->profiles);
    oc_model_free(s->optimized);
    oc_model_free(s->model);
    oc_hwdb_free(s->hwdb);
}
