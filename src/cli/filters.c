/* Options that choose or order rows, and would leave nothing without a word. */
#include "cli/filters.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/xmem.h"

static bool has(const char *const *list, size_t n, const char *text)
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

static void add(struct operators *all, const char *name, const char *type)
{
    if (all->n == all->cap) {
        all->cap = all->cap ? all->cap * 2 : 256;
        all->name = cli_xrealloc(all->name, all->cap * sizeof(*all->name));
        all->type = cli_xrealloc(all->type, all->cap * sizeof(*all->type));
    }
    all->name[all->n] = name ? name : "";
    all->type[all->n++] = type ? type : "";
}

static void collect(struct operators *all, const struct oc_analysis *a, struct oc_profile *const *profile,
                    size_t n_profile)
{
    struct oc_node_info info;
    const char *name, *type;
    for (size_t i = 0; a && i < oc_analysis_nodes(a); i++)
        if (!oc_analysis_node(a, i, &info))
            add(all, info.name, info.op_type);
    for (size_t k = 0; k < n_profile; k++)
        for (size_t i = 0; oc_profile_operator(profile[k], i, &name, &type); i++) {
            const char *own = oc_profile_operator_source_type(profile[k], i);
            add(all, name, type);
            if (own)
                add(all, "", own);
        }
}

static void check_types(const struct cli_opts *o, const struct operators *all, bool model)
{
    struct oc_err err;
    size_t n = 0;
    const char **type = cli_xcalloc(all->n + 1, sizeof(*type));
    for (size_t i = 0; i < all->n; i++)
        if (*all->type[i] && !has(type, n, all->type[i]))
            type[n++] = all->type[i];
    for (size_t i = 0; i < o->type.n; i++)
        if (!has(type, n, o->type.item[i]) &&
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
static size_t count_names(const struct operators *all, const char *pattern, bool anywhere, bool any_case)
{
    struct oc_err err;
    size_t n = 0;
    return oc_pattern_count(pattern, anywhere, any_case, all->name, all->n, &n, &err) ? all->n : n;
}

static void check_names(const struct cli_opts *o, const struct operators *all)
{
    static const struct {
        bool anywhere, any_case;
        const char *pattern, *words;
    } wider[] = {{true, false, ".*", "not only at the start of the name"},
                 {false, true, "(?i)", "without letter case"},
                 {true, true, "(?i).*", "anywhere in the name and without letter case"}};
    for (size_t i = 0; i < o->opr_name.n && all->n; i++) {
        const char *p = o->opr_name.item[i];
        size_t k = 0, n = count_names(all, p, false, false);
        for (; !n && k < sizeof(wider) / sizeof(wider[0]); k++)
            if ((n = count_names(all, p, wider[k].anywhere, wider[k].any_case)) > 0)
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
    collect(&all, a, profile, n_profile);
    check_types(o, &all, a != NULL);
    check_names(o, &all);
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
