/* Builds devices from the parsed elements: inheritance, selection of peaks, consistency checks, and changes by the
 * user. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "hw/hw_reader.h"
#include "hw/hwdb.h"
#include "onnxcost.h"

/* ---- problems --------------------------------------------------------------------------------------- */

void oc_hw_note(struct oc_hw_findings *f, const char *file, uint32_t line, const char *fmt, ...)
{
    char text[600];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    if (f->n == OC_HW_MAX_FINDINGS)
        return;
    OC_PUSH(f->item, f->n, f->cap) =
        (struct oc_hw_finding){oc_strdup(f->arena, file), oc_strdup(f->arena, text), line};
}

int oc_hw_soften(struct oc_hw_reader *r)
{
    if (!r->how->findings)
        return -1;
    const char *place = strstr(r->err->msg, ": line "), *text = place ? strchr(place + 7, ':') : NULL;
    oc_hw_note(r->how->findings, r->path, r->err->line, "%s", text ? text + 2 : r->err->msg);
    *r->err = (struct oc_err){0};
    return 0;
}

static int device_fail(struct oc_hw_reader *r, const struct oc_hw_draft *d, const char *what)
{
    oc_fail(r->err, OC_EFORMAT, "cannot read '%s': line %u: device '%.60s': %s", r->path, d->dev->line,
            d->dev->info->id, what);
    oc_err_at(r->err, r->path, d->dev->line, 0);
    return oc_hw_soften(r);
}

/* ---- inheritance ------------------------------------------------------------------------------------ */

static struct oc_hw_level *hw_build_find_level(const struct oc_hw_draft *d, const char *name)
{
    for (size_t i = 0; i < d->n_level; i++)
        if (strcmp(d->level[i].name, name) == 0)
            return &d->level[i];
    return NULL;
}

/* Whether the derived device defines that figure itself. */
static bool replaced(const struct oc_hw_draft *heir, const struct oc_hw_entry *x)
{
    if (x->role == ROLE_PEAK)
        return heir->units & (1u << x->unit);
    if (x->role == ROLE_SIZE || x->role == ROLE_BANDWIDTH)
        return hw_build_find_level(heir, x->fig.group) != NULL;
    for (size_t i = 0; i < heir->n_entry; i++)
        if (strcmp(heir->entry[i].fig.group, x->fig.group) == 0 &&
            strcmp(heir->entry[i].fig.what, x->fig.what) == 0)
            return true;
    return false;
}

/* Keeps the order of the base; levels that are not in the base come before DRAM. */
static const char *merge_levels(struct oc_arena *a, struct oc_hw_draft *d, const struct oc_hw_draft *base)
{
    struct oc_hw_level *out = OC_NEW_ARRAY(a, base->n_level + d->n_level, struct oc_hw_level);
    size_t n = 0;
    for (size_t i = 0; i < base->n_level; i++) {
        const struct oc_hw_level *own = hw_build_find_level(d, base->level[i].name);
        if (strcmp(base->level[i].name, "DRAM") == 0)
            for (size_t k = 0; k < d->n_level; k++)
                if (!hw_build_find_level(base, d->level[k].name))
                    out[n++] = d->level[k];
        out[n++] = own ? *own : base->level[i];
    }
    if (!hw_build_find_level(base, "DRAM"))
        for (size_t k = 0; k < d->n_level; k++)
            if (!hw_build_find_level(base, d->level[k].name))
                out[n++] = d->level[k];
    d->level = out;
    d->n_level = n;
    return n > OC_HW_MAX_LEVELS ? oc_printf(a, "more than %d levels", OC_HW_MAX_LEVELS) : NULL;
}

static const char *hw_build_merge(struct oc_arena *a, struct oc_hw_draft *d, const struct oc_hw_draft *base,
                                  size_t *n_inherited)
{
    struct oc_hw_entry *out = OC_NEW_ARRAY(a, base->n_entry + d->n_entry, struct oc_hw_entry);
    size_t n = 0;
    for (size_t i = 0; i < base->n_entry; i++)
        if (!replaced(d, &base->entry[i])) {
            out[n] = base->entry[i];
            out[n].fig.base = out[n].fig.base ? out[n].fig.base : base->dev->info->id;
            n++;
        }
    *n_inherited += n;
    for (size_t i = 0; i < d->n_entry; i++)
        out[n++] = d->entry[i];
    d->entry = out;
    d->n_entry = n;
    if (!(d->units & (1u << OC_HW_VECTOR)))
        d->dev->f16_fallback = base->dev->f16_fallback;
    d->dev->info->vendor = d->dev->info->vendor ? d->dev->info->vendor : base->dev->info->vendor;
    d->dev->info->kind = d->dev->info->kind ? d->dev->info->kind : base->dev->info->kind;
    d->dev->info->sku = d->dev->info->sku ? d->dev->info->sku : base->dev->info->sku;
    d->units |= base->units;
    d->depth = base->depth + 1;
    const char *wrong = merge_levels(a, d, base);
    if (!wrong && d->depth > OC_HW_MAX_BASES)
        wrong = oc_printf(a, "more than %d levels of bases", OC_HW_MAX_BASES);
    if (!wrong && n > OC_HW_MAX_FIGURES)
        wrong = oc_printf(a, "more than %d figures, including those of its base", OC_HW_MAX_FIGURES);
    if (!wrong && *n_inherited > OC_HW_MAX_INHERITED)
        wrong = oc_printf(a, "more than %d inherited figures in a file", OC_HW_MAX_INHERITED);
    return wrong;
}

static struct oc_hw_draft *hw_build_find_base(const struct oc_hw_reader *r, const char *id)
{
    const char *key = oc_hw_name_fold(r->arena, id);
    uint32_t at = oc_map_get(&r->names, key, strlen(key));
    if (at != OC_NONE && at < r->n_draft)
        return r->draft[at];
    const struct oc_device *d = r->how->find ? r->how->find(r->how->user, id) : NULL;
    return d ? d->draft : NULL;
}

/* The device and its bases, the root base last. Returns the error, or NULL. */
static const char *collect_bases(struct oc_hw_reader *r, struct oc_hw_draft **chain, size_t *n)
{
    const char *round = chain[0]->dev->info->id;
    while (chain[*n - 1]->state == DRAFT_READ && chain[*n - 1]->base) {
        struct oc_hw_draft *top = chain[*n - 1], *base = hw_build_find_base(r, top->base);
        top->state = DRAFT_OPEN;
        if (!base)
            return oc_printf(r->arena, "base '%.60s' is not in this file%s", top->base,
                             r->how->find ? " or in the hardware files" : "");
        round = oc_printf(r->arena, "%s, %s", round, base->dev->info->id);
        if (base->state == DRAFT_OPEN)
            return oc_printf(r->arena, "bases form a cycle: %.200s", round);
        if (*n > OC_HW_MAX_BASES)
            return oc_printf(r->arena, "more than %d levels of bases", OC_HW_MAX_BASES);
        chain[(*n)++] = base;
    }
    return NULL;
}

static int inherit(struct oc_hw_reader *r, struct oc_hw_draft *d)
{
    struct oc_hw_draft *chain[OC_HW_MAX_BASES + 1] = {d};
    size_t n = 1;
    const char *wrong = collect_bases(r, chain, &n);
    for (size_t i = n; i-- > 0 && !wrong;) {
        if (chain[i]->state == DRAFT_OPEN && i + 1 < n)
            wrong = hw_build_merge(r->arena, chain[i], chain[i + 1], &r->n_inherited);
        chain[i]->state = DRAFT_MERGED;
    }
    for (size_t i = 0; i < n; i++) { /* in lint, devices with a base error continue without the base */
        struct oc_device_info *info = chain[i]->dev->info;
        chain[i]->state = DRAFT_MERGED;
        info->vendor = info->vendor ? info->vendor : "";
        info->kind = info->kind ? info->kind : "";
    }
    return wrong ? device_fail(r, d, wrong) : 0;
}

/* ---- a device is complete --------------------------------------------------------------------------- */

/* The highest dense rate, whatever it accumulates in: a peak bounds every runtime, and some accumulate f16
 * products in f16. Of equal rates the one with the wider accumulator. */
static bool is_higher_peak(const struct oc_hw_figure *f, const struct oc_hw_figure *before)
{
    bool wide = f->accumulate && (strcmp(f->accumulate, "f32") == 0 || strcmp(f->accumulate, "i32") == 0);
    return !before || f->value > before->value || (f->value >= before->value && wide);
}

static void place_figure(struct oc_hw_draft *draft, const struct oc_hw_entry *x, const struct oc_hw_figure *f)
{
    struct oc_device *d = draft->dev;
    const struct oc_hw_figure **peak = &d->peak[x->unit][x->cls];
    struct oc_hw_level *level;
    if (f->cores || f->mode) /* of a part of the device, or of one kind of traffic */
        return;
    switch (x->role) {
    case ROLE_PEAK:
        if (!f->sparse && is_higher_peak(f, *peak))
            *peak = f;
        break;
    case ROLE_SIZE:
    case ROLE_BANDWIDTH:
        level = hw_build_find_level(draft, f->group);
        if (level)
            *(x->role == ROLE_SIZE ? &level->size : &level->bandwidth) = f;
        break;
    case ROLE_OVERHEAD:
        if (!d->overhead || strcmp(f->what, "any") == 0)
            d->overhead = f;
        break;
    case ROLE_POWER:
        if (!d->power || strcmp(f->what, "TDP") == 0)
            d->power = f;
        break;
    case ROLE_LINK:
        d->link = d->link ? d->link : f;
        break;
    case ROLE_PLAIN:
        break;
    }
}

/* Levels further from the cores are larger and slower, and DRAM is the last one. */
static const char *check_levels(struct oc_arena *a, const struct oc_device *d)
{
    if (d->n_level && strcmp(d->level[d->n_level - 1].name, "DRAM") != 0)
        return oc_printf(a, "the last memory level is '%.40s', not DRAM", d->level[d->n_level - 1].name);
    const struct oc_hw_figure *size = NULL, *rate = NULL;
    for (size_t i = 0; i < d->n_level; i++) {
        const struct oc_hw_level *m = &d->level[i];
        if (!m->size && !m->bandwidth)
            return oc_printf(a, "memory '%.40s' needs a size or a bandwidth", m->name);
        if (size && m->size && m->size->value <= size->value)
            return oc_printf(a, "memory '%.40s' is not larger than the level before it", m->name);
        if (rate && m->bandwidth && m->bandwidth->value >= rate->value)
            return oc_printf(a, "memory '%.40s' is not slower than the level before it", m->name);
        size = m->size ? m->size : size;
        rate = m->bandwidth ? m->bandwidth : rate;
    }
    return NULL;
}

static const char *check_peaks(const struct oc_device *d)
{
    const struct oc_hw_figure *const *vector = d->peak[OC_HW_VECTOR];
    bool any = false;
    for (unsigned u = 0; u < OC_HW_UNIT_COUNT; u++)
        for (unsigned c = 0; c < OC_CLASS_COUNT; c++)
            any |= d->peak[u][c] != NULL;
    if (!any)
        return "needs a dense peak";
    if (d->f16_fallback && (!vector[OC_CLASS_F32] || vector[OC_CLASS_F16]))
        return "fallback 'f16' needs a vector peak 'f32', and no peak 'f16'";
    return NULL;
}

/* Fills the device of a merged draft. NULL, or the error (arena memory). */
static const char *hw_build(struct oc_arena *arena, struct oc_hw_draft *d)
{
    struct oc_device *dev = d->dev;
    struct oc_hw_figure *figure = OC_NEW_ARRAY(arena, d->n_entry, struct oc_hw_figure);
    for (size_t i = 0; i < d->n_level; i++)
        d->level[i].size = d->level[i].bandwidth = NULL;
    for (size_t i = 0; i < d->n_entry; i++) {
        figure[i] = d->entry[i].fig;
        place_figure(d, &d->entry[i], &figure[i]);
    }
    dev->figure = figure;
    dev->n_figure = d->n_entry;
    dev->level = d->level;
    dev->n_level = d->n_level;
    const char *wrong = check_levels(arena, dev);
    return wrong ? wrong : check_peaks(dev);
}

int oc_hw_finish(struct oc_hw_reader *r)
{
    for (size_t i = 0; i < r->n_source && r->how->findings; i++)
        if (!r->source[i].used)
            oc_hw_note(r->how->findings, r->path, r->source[i].line, "source '%.60s' is not used",
                       r->source[i].id);
    for (size_t i = 0; i < r->n_draft; i++)
        if (inherit(r, r->draft[i]))
            return -1;
    for (size_t i = 0; i < r->n_draft; i++) {
        const char *wrong = hw_build(r->arena, r->draft[i]);
        if (wrong && device_fail(r, r->draft[i], wrong))
            return -1;
    }
    return 0;
}

/* ---- changes by the user ---------------------------------------------------------------------------- */

/* User-defined figures that replace those of a file (--hw-set). */

struct change {
    struct oc_arena *arena;
    struct oc_hw_draft *draft;
    const char *key, *text; /* "dram.bandwidth", "400 GB/s" */
    const char *group, *what;
    const char *before;
    struct oc_err *err;
};

static bool same_name(struct oc_arena *a, const char *x, const char *y)
{
    return strcmp(oc_hw_name_fold(a, x), oc_hw_name_fold(a, y)) == 0;
}

static int bad_value(const struct change *c, enum oc_quantity q)
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
        return bad_value(c, q);
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
        if ((d->entry[i].role == ROLE_PEAK) == peak && same_name(c->arena, f->group, c->group) &&
            same_name(c->arena, f->what, c->what))
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

/* ---- keys of changes -------------------------------------------------------------------------------- */

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
    for (size_t i = 0; i < c->draft->n_level && n + 9 < OC_COUNT(names); i++) {
        names[n++] = oc_printf(c->arena, "%s.bandwidth", c->draft->level[i].name);
        names[n++] = oc_printf(c->arena, "%s.size", c->draft->level[i].name);
    }
    names[n++] = "link.bandwidth";
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
        if (same_name(c->arena, c->draft->level[i].name, c->group))
            level = &c->draft->level[i];
    if (!level)
        return unknown_key(c);
    c->group = level->name;
    if (read_value(c, x.role == ROLE_SIZE ? OC_Q_BYTES : OC_Q_BYTES_PER_S, &x.fig))
        return -1;
    take_out(c, false);
    return put_in(c, &x);
}

/* In place of every link of the file. */
static int set_link(struct change *c)
{
    struct oc_hw_draft *d = c->draft;
    struct oc_hw_entry x = {.role = ROLE_LINK};
    size_t n = 0;
    if (read_value(c, OC_Q_BYTES_PER_S, &x.fig))
        return -1;
    for (size_t i = 0; i < d->n_entry; i++)
        if (d->entry[i].role == ROLE_LINK)
            c->before = c->before ? c->before : d->entry[i].fig.text;
        else
            d->entry[n++] = d->entry[i];
    d->n_entry = n;
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
        return bad_value(c, OC_Q_HZ);
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
                       "link.bandwidth, clock.KIND, power.TDP or overhead",
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
    if (strcmp(c->key, "link.bandwidth") == 0)
        return set_link(c);
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
    d->level = OC_COPY_ARRAY(a, from->level, from->n_level);
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
    const char *wrong = hw_build(a, d);
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
