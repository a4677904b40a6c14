#include "cli/limit_arg.h"

#include <inttypes.h>
#include <string.h>

#include "cli/cli.h"

int cli_take_limits(struct cli_opts *o)
{
    struct oc_err err;
    for (size_t i = 0; i < o->limit.n; i++)
        if (oc_caps_set(&o->caps, o->limit.item[i], &err))
            return cli_fail_err(&err);
    o->caps.external_anywhere = o->external_data && !strcmp(o->external_data, "anywhere");
    return 0;
}

const char *cli_limit_amount(const struct oc_cap_info *c, char *buf, size_t cap)
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
