#include "cli/shapes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/xmem.h"

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
static const char *split(const char *text)
{
    const char *eq = strrchr(text, '=');
    return eq && eq != text && eq[1] ? eq : NULL;
}

static int parse_number(const char *option, const char *text, struct oc_bind *out)
{
    const char *eq = split(text), *number = eq ? eq + 1 : NULL;
    if (!eq || !take_number(&number, &out->value) || *number)
        return cli_fail(CLI_USAGE, "--%s needs %s, not '%s'", option,
                        !strcmp(option, "trip") ? "NODE=N such as loop=10" : "NAME=N such as batch=8", text);
    out->symbol = cli_xstrndup(text, (size_t)(eq - text));
    return 0;
}

static bool parse_list(const char *s, struct oc_shape_bind *out)
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
    const char *eq = split(text);
    if (!eq || !parse_list(eq + 1, out))
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
                               .trip = cli_xcalloc(o->trip.n, sizeof(*out->trip)),
                               .value = cli_xcalloc(o->value.n, sizeof(*out->value)),
                               .shape = cli_xcalloc(o->shape.n + n_more, sizeof(*out->shape))};
    int rc = 0;
    for (size_t i = 0; i < o->dim.n && !rc; i++)
        rc = parse_number("dim", o->dim.item[i], &out->bind[out->n_bind++]);
    for (size_t i = 0; i < o->trip.n && !rc; i++)
        rc = parse_number("trip", o->trip.item[i], &out->trip[out->n_trip++]);
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
    for (size_t i = 0; i < s->n_trip; i++)
        free((char *)s->trip[i].symbol);
    for (size_t i = 0; i < s->n_value; i++)
        free((char *)s->value[i].input);
    for (size_t i = 0; i < s->n_own; i++) {
        free((char *)s->shape[i].input);
        free((int64_t *)s->shape[i].dim);
    }
    free(s->bind);
    free(s->trip);
    free(s->value);
    free(s->shape);
    oc_op_rules_free(s->rules);
}

static bool is(const char *value, const char *wanted)
{
    return value && !strcmp(value, wanted);
}

static enum oc_if_mode if_mode_of(const char *name)
{
    return is(name, "then")   ? OC_IF_THEN
           : is(name, "else") ? OC_IF_ELSE
           : is(name, "avg")  ? OC_IF_AVG
                              : OC_IF_MAX;
}

struct oc_analyze_opts cli_analyze_opts(const struct cli_opts *o, const struct cli_shapes *s)
{
    return (struct oc_analyze_opts){
        .bind = s->bind,
        .n_bind = s->n_bind,
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
        .taps_valid = is(o->taps, "valid"),
        .strict_reduce = o->strict_reduce,
        .no_fold = o->no_fold,
        .keep_qdq = is(o->qdq, "keep"),
        .alias_off = is(o->alias, "off"),
        .naive_bytes = is(o->bytes, "naive"),
        .literal_ceil_mode = is(o->ceil_mode, "literal"),
        .attention_full = is(o->attention, "full"),
        .graph_bytes = is(o->bytes, "graph"),
        .einsum_optimal = is(o->einsum, "optimal"),
        .trees_max = is(o->trees, "max"),
        .moe_expected = is(o->moe_active, "expected"),
        .lut = o->lut,
        .inplace = o->inplace,
        .keep_inputs = o->keep_inputs,
        .align_bytes = o->align.set ? (uint64_t)o->align.v : 0,
        .rnn_reload = o->rnn_reload,
        .loop_cached = o->loop_cached,
        .dedup_content = is(o->dedup, "content"),
        .prefer_functions = o->prefer_functions,
        .kv_share = is(o->kv_share, "on")    ? OC_KV_ON
                    : is(o->kv_share, "off") ? OC_KV_OFF
                                             : OC_KV_AUTO,
        .if_mode = if_mode_of(o->if_mode),
        .convention = o->convention.n ? o->convention.item[o->convention.n - 1] : NULL,
        .weights = o->weights,
        .rules = s->rules,
    };
}
