/* User-defined figures that replace those of a file (--hw-set). */
#include "base/diag.h"
#include "hw/hw_reader.h"
#include "hw/hwdb.h"
#include "onnxcost.h"

#include <string.h>

struct change {
    struct oc_arena *arena;
    struct oc_hw_draft *draft;
    const char *key, *text; /* "dram.bandwidth", "400 GB/s" */
    const char *group, *what;
    const char *before;
    struct oc_err *err;
};

static bool hw_override_same_name(struct oc_arena *a, const char *x, const char *y)
{
    return strcmp(oc_hw_name_fold(a, x), oc_hw_name_fold(a, y)) == 0;
}

static int hw_override_bad_value(const struct change *c, enum oc_quantity q)
{
    return oc_fail(c->err, OC_EARG, "--hw-set %.60s: '%.40s' is not a value in %s", c->key, c->text,
                   oc_quantity_choices(q));
}

static bool removes(const struct change *c)
{
    return strcmp(c->text, "none") == 0;
}

/* "400GB/s" or "400 GB/s"; "none": no figure */
static int read_value(const struct change *c, enum oc_quantity q, struct oc_hw_figure *out)
{
    if (removes(c))
        return 0;
    size_t n = strspn(c->text, "0123456789.");
    const char *number = oc_strndup(c->arena, c->text, n), *unit = c->text + n + strspn(c->text + n, " ");
    double scale;
    if (!oc_figure_value(number, &out->value) || !oc_figure_scale(q, unit, &scale))
        return hw_override_bad_value(c, q);
    out->value *= scale;
    out->unit = oc_quantity_unit(q);
    out->text = *unit ? oc_printf(c->arena, "%s %s", number, unit) : number;
    out->basis = OC_BASIS_ASSUMED;
    out->note = "set by --hw-set";
    out->group = c->group;
    out->what = c->what;
    return 0;
}

/* Removes the figures of that name; the text of the first one is the value in the file. */
static void take_out(struct change *c, bool peak)
{
    struct oc_hw_draft *d = c->draft;
    size_t n = 0;
    for (size_t i = 0; i < d->n_entry; i++) {
        const struct oc_hw_figure *f = &d->entry[i].fig;
        if ((d->entry[i].role == ROLE_PEAK) == peak && hw_override_same_name(c->arena, f->group, c->group) &&
            hw_override_same_name(c->arena, f->what, c->what))
            c->before = c->before ? c->before : f->text;
        else
            d->entry[n++] = d->entry[i];
    }
    d->n_entry = n;
}

static int put_in(struct change *c, const struct oc_hw_entry *x)
{
    if (removes(c))
        return 0;
    if (c->draft->n_entry == OC_HW_MAX_FIGURES)
        return oc_fail(c->err, OC_ELIMIT, "--hw-set %.60s: the device already has %d figures", c->key,
                       OC_HW_MAX_FIGURES);
    c->draft->entry[c->draft->n_entry++] = *x; /* the copy has room for all */
    return 0;
}

/* ---- keys ------------------------------------------------------------------------------------------- */

static int unknown_class(const struct change *c)
{
    const char *names[OC_CLASS_COUNT];
    size_t n = 0;
    for (unsigned cls = 0; cls < OC_CLASS_COUNT; cls++)
        if (cls != OC_CLASS_NONE)
            names[n++] = oc_class_name(cls);
    return oc_fail_unknown(
        c->err, OC_EARG,
        &(struct oc_unknown){
            .what = "number type", .where = "for --hw-set", .given = c->what, .valid = names, .n = n});
}

/* Of the kinds of keys; a memory's name stands for itself. */
static int unknown_key(const struct change *c)
{
    const char *names[64];
    size_t n = 0;
    for (unsigned u = 0; u < OC_HW_UNIT_COUNT; u++)
        names[n++] = oc_printf(c->arena, "%s.f32", oc_hw_unit_name(u));
    for (size_t i = 0; i < c->draft->n_level && n + 8 < OC_COUNT(names); i++) {
        names[n++] = oc_printf(c->arena, "%s.bandwidth", c->draft->level[i].name);
        names[n++] = oc_printf(c->arena, "%s.size", c->draft->level[i].name);
    }
    names[n++] = "clock.boost";
    names[n++] = "power.TDP";
    names[n++] = "overhead";
    return oc_fail_unknown(
        c->err, OC_EARG,
        &(struct oc_unknown){
            .what = "key", .where = "for --hw-set", .given = c->key, .valid = names, .n = n});
}

static int set_peak(struct change *c)
{
    struct oc_hw_entry x = {.role = ROLE_PEAK, .cls = oc_class_by_name(c->what)};
    while (strcmp(oc_hw_unit_name(x.unit), c->group) != 0)
        x.unit++;
    if (x.cls == OC_CLASS_NONE)
        return unknown_class(c);
    bool ops = x.unit == OC_HW_SPECIAL || oc_class_is_int(x.cls);
    if (read_value(c, ops ? OC_Q_OP_PER_S : OC_Q_FLOP_PER_S, &x.fig))
        return -1;
    x.fig.clock = "unstated";
    take_out(c, true);
    if (x.unit == OC_HW_VECTOR && x.cls == OC_CLASS_F16)
        c->draft->dev->f16_fallback = false;
    return put_in(c, &x);
}

static int set_level(struct change *c)
{
    struct oc_hw_entry x = {.role = strcmp(c->what, "size") == 0 ? ROLE_SIZE : ROLE_BANDWIDTH};
    const struct oc_hw_level *level = NULL;
    for (size_t i = 0; i < c->draft->n_level && !level; i++)
        if (hw_override_same_name(c->arena, c->draft->level[i].name, c->group))
            level = &c->draft->level[i];
    if (!level)
        return unknown_key(c);
    c->group = level->name;
    if (read_value(c, x.role == ROLE_SIZE ? OC_Q_BYTES : OC_Q_BYTES_PER_S, &x.fig))
        return -1;
    take_out(c, false);
    return put_in(c, &x);
}

/* A figure stored unchanged: overhead, power, count. */
static int set_plain(struct change *c, enum oc_quantity q, enum oc_hw_role role)
{
    struct oc_hw_entry x = {.role = role};
    if (read_value(c, q, &x.fig))
        return -1;
    take_out(c, false);
    return put_in(c, &x);
}

/* Scales the peaks that depend on the clock. */
static int set_clock(struct change *c)
{
    struct oc_hw_entry x = {.role = ROLE_PLAIN};
    double before = 0;
    for (size_t i = 0; i < c->draft->n_entry; i++)
        if (strcmp(c->draft->entry[i].fig.group, "clock") == 0 &&
            strcmp(c->draft->entry[i].fig.what, c->what) == 0)
            before = c->draft->entry[i].fig.value;
    if (!(before > 0))
        return oc_fail(c->err, OC_EARG, "--hw-set %.60s: the device '%.60s' has no %.20s clock to scale from",
                       c->key, c->draft->dev->info->id, c->what);
    if (removes(c) || read_value(c, OC_Q_HZ, &x.fig))
        return hw_override_bad_value(c, OC_Q_HZ);
    take_out(c, false);
    for (size_t i = 0; i < c->draft->n_entry; i++) {
        struct oc_hw_figure *f = &c->draft->entry[i].fig;
        if (c->draft->entry[i].role != ROLE_PEAK || !f->clock || strcmp(f->clock, c->what) != 0)
            continue;
        f->formula = oc_printf(c->arena, "%s * %s / %s", f->text, x.fig.text, c->before);
        f->value *= x.fig.value / before;
        f->text = oc_printf(
            c->arena, "%.6g %s", f->value / 1e12,
            oc_class_is_int(c->draft->entry[i].cls) || c->draft->entry[i].unit == OC_HW_SPECIAL ? "TOP/s"
                                                                                                : "TFLOP/s");
        f->basis = OC_BASIS_ASSUMED;
        f->note = "scaled with the clock of --hw-set";
    }
    return put_in(c, &x);
}

static int apply(struct change *c)
{
    if (!c->group || !*c->group || !c->what || !*c->what)
        return oc_fail(c->err, OC_EARG,
                       "--hw-set %.60s: expected UNIT.CLASS, MEMORY.size, MEMORY.bandwidth, "
                       "clock.KIND, power.TDP or overhead",
                       c->key);
    for (unsigned u = 0; u < OC_HW_UNIT_COUNT; u++)
        if (strcmp(c->group, oc_hw_unit_name(u)) == 0)
            return set_peak(c);
    if (strcmp(c->group, "clock") == 0)
        return set_clock(c);
    if (strcmp(c->group, "power") == 0)
        return set_plain(c, OC_Q_WATTS, ROLE_POWER);
    if (strcmp(c->group, "overhead") == 0)
        return set_plain(c, OC_Q_SECONDS, ROLE_OVERHEAD);
    if (strcmp(c->what, "size") == 0 || strcmp(c->what, "bandwidth") == 0)
        return set_level(c);
    return unknown_key(c);
}

/* "overhead" applies to any runtime. */
static void split_key(struct change *c)
{
    const char *dot = strrchr(c->key, '.');
    if (!dot && strcmp(c->key, "overhead") == 0) {
        c->group = c->key;
        c->what = "any";
    } else if (dot) {
        c->group = oc_strndup(c->arena, c->key, (size_t)(dot - c->key));
        c->what = dot + 1;
    }
}

/* A private copy of the device with room for n more figures. */
static struct oc_hw_draft *copy_draft(struct oc_arena *a, const struct oc_hw_draft *from, size_t n)
{
    struct oc_hw_draft *d = OC_NEW(a, struct oc_hw_draft);
    *d = *from;
    d->dev = OC_NEW(a, struct oc_device);
    *d->dev = (struct oc_device){.info = OC_NEW(a, struct oc_device_info),
                                 .line = from->dev->line,
                                 .f16_fallback = from->dev->f16_fallback,
                                 .draft = d};
    *d->dev->info = *from->dev->info;
    d->entry = OC_NEW_ARRAY(a, from->n_entry + n, struct oc_hw_entry);
    for (size_t i = 0; i < from->n_entry; i++)
        d->entry[i] = from->entry[i];
    d->level = OC_NEW_ARRAY(a, from->n_level, struct oc_hw_level);
    for (size_t i = 0; i < from->n_level; i++)
        d->level[i] = from->level[i];
    return d;
}

int oc_device_change(struct oc_arena *a, const struct oc_device *device, const char *const *set, size_t n,
                     const struct oc_device **out, struct oc_err *err)
{
    struct oc_hw_draft *d = copy_draft(a, device->draft, n);
    struct oc_hw_set *done = OC_NEW_ARRAY(a, device->info->n_set + n, struct oc_hw_set);
    size_t n_done = device->info->n_set;
    for (size_t i = 0; i < n_done; i++)
        done[i] = device->info->set[i];
    *out = NULL;
    for (size_t i = 0; i < n; i++) {
        const char *eq = strchr(set[i], '=');
        if (!eq || eq == set[i])
            return oc_fail(err, OC_EARG, "--hw-set '%.60s': expected KEY=VALUE", set[i]);
        struct change c = {.arena = a,
                           .draft = d,
                           .key = oc_strndup(a, set[i], (size_t)(eq - set[i])),
                           .text = oc_strdup(a, eq + 1),
                           .err = err};
        split_key(&c);
        if (apply(&c))
            return -1;
        if (!removes(&c) || c.before)
            done[n_done++] = (struct oc_hw_set){c.key, c.text, c.before};
    }
    const char *wrong = oc_hw_build(a, d);
    if (wrong)
        return oc_fail(err, OC_EARG, "--hw-set: device '%.60s': %s", d->dev->info->id, wrong);
    d->dev->info->set = done;
    d->dev->info->n_set = n_done;
    *out = d->dev;
    return 0;
}

const char *oc_hw_set_text(struct oc_arena *a, const char *what, const struct oc_hw_set *set)
{
    return oc_printf(a, "%s %s = %s: set by --hw-set (hardware file: %s)", what, set->key, set->value,
                     set->before ? set->before : "nothing");
}
