/* Options that choose or order rows, and would leave nothing without a word. */
#include "cli/filters.h"

#include <regex.h>
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

static void check_types(const struct cli_opts *o, const struct oc_analysis *a)
{
    struct oc_node_info info;
    struct oc_err err;
    size_t n = 0, nodes = oc_analysis_nodes(a);
    const char **type = cli_xcalloc(nodes + 1, sizeof(*type));
    for (size_t i = 0; i < nodes; i++)
        if (!oc_analysis_node(a, i, &info) && info.op_type && !has(type, n, info.op_type))
            type[n++] = info.op_type;
    for (size_t i = 0; i < o->type.n; i++)
        if (!has(type, n, o->type.item[i]) &&
            oc_fail_unknown(&err, OC_EARG,
                            &(struct oc_unknown){.what = "operator type",
                                                 .where = "for --type",
                                                 .given = o->type.item[i],
                                                 .valid = type,
                                                 .n = n,
                                                 .more = "the types of this model"}))
            cli_warn("%s", err.msg);
    free(type);
}

/* Operators whose name matches; SIZE_MAX: unknown, the expression is not a POSIX one. */
static size_t count_names(const struct oc_analysis *a, const char *before, const char *pattern, int flags)
{
    char text[300];
    regex_t re;
    struct oc_node_info info;
    size_t n = 0;
    if ((size_t)snprintf(text, sizeof(text), "%s(%s)", before, pattern) >= sizeof(text) ||
        regcomp(&re, text, REG_EXTENDED | REG_NOSUB | flags))
        return SIZE_MAX;
    for (size_t i = 0; i < oc_analysis_nodes(a); i++)
        n += !oc_analysis_node(a, i, &info) && info.name && !regexec(&re, info.name, 0, NULL, 0);
    regfree(&re);
    return n;
}

static void check_names(const struct cli_opts *o, const struct oc_analysis *a)
{
    for (size_t i = 0; i < o->opr_name.n; i++) {
        const char *p = o->opr_name.item[i];
        size_t n;
        if (count_names(a, "^", p, 0) > 0)
            continue;
        if ((n = count_names(a, "", p, 0)) > 0)
            cli_warn("no operator has a name that begins with --opr-name '%s'; '.*%s' matches %zu", p, p, n);
        else if ((n = count_names(a, "", p, REG_ICASE)) > 0)
            cli_warn(
                "no operator has a name that matches --opr-name '%s'; '(?i).*%s' matches %zu without letter "
                "case",
                p, p, n);
        else
            cli_warn("no operator has a name that matches --opr-name '%s'; -f csv lists the names", p);
    }
}

void cli_check_filters(const struct cli_opts *o, const struct oc_analysis *a)
{
    check_types(o, a);
    check_names(o, a);
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
