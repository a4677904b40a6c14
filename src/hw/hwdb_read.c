/* Reads hardware files. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/file.h"
#include "hw/hw_reader.h"
#include "hw/hwdb.h"
#include "onnxcost.h"

#define FIGURE_ATTR "source section formula note"
#define MAX_ALIASES 64

/* ---- figures ---------------------------------------------------------------------------------------- */

static const char *const basis_names[] = {
    [OC_BASIS_VENDOR] = "vendor",
    [OC_BASIS_DERIVED] = "derived",
    [OC_BASIS_MEASURED] = "measured",
    [OC_BASIS_ASSUMED] = "assumed",
};

const char *oc_basis_name(enum oc_basis basis)
{
    return (size_t)basis < OC_COUNT(basis_names) ? basis_names[basis] : "unknown";
}

static bool hwdb_read_find_word(const char *const *list, size_t n, const char *word, unsigned *out)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i], word) == 0) {
            *out = (unsigned)i;
            return true;
        }
    return false;
}

/* source="a b": looks up the documents by id. */
static int resolve_sources(struct oc_hw_reader *r, const struct oc_xml_elem *e, struct oc_hw_figure *f)
{
    const char *ids = oc_xml_get(e, "source");
    size_t n, count = 0;
    f->section = oc_xml_get(e, "section");
    for (; ids && *ids; ids += n) {
        ids += strspn(ids, " ");
        n = strcspn(ids, " ");
        if (!n)
            break;
        if (count == OC_HW_SOURCES)
            return oc_xml_fail(r->xml, "more than %d sources", OC_HW_SOURCES);
        uint32_t at = oc_map_get(&r->source_ids, ids, n);
        if (at == OC_NONE)
            return oc_xml_fail(r->xml, "source '%.*s' is not in this file", (int)(n < 60 ? n : 60), ids);
        r->source[at].used = true;
        f->source[count++] = r->source[at].source;
    }
    return 0;
}

/* A derived figure needs a formula; any formula must give the value within 2 %. */
static int hwdb_read_check_formula(struct oc_hw_reader *r, const struct oc_hw_figure *f)
{
    if (!f->formula)
        return f->basis == OC_BASIS_DERIVED ? oc_xml_fail(r->xml, "basis 'derived' needs a formula") : 0;
    double v;
    const char *bad = "";
    if (!oc_formula_value(f->formula, &v, &bad))
        return oc_xml_fail(r->xml, "formula '%.80s': syntax error at '%.20s'", f->formula, bad);
    if (fabs(v - f->value) > 0.02 * f->value)
        return oc_xml_fail(r->xml, "formula gives %.6g%s%s, value is %.6g", v, *f->unit ? " " : "", f->unit,
                           f->value);
    return 0;
}

static int check_basis(struct oc_hw_reader *r, const struct oc_hw_figure *f)
{
    if (f->basis == OC_BASIS_ASSUMED && !f->note)
        return oc_xml_fail(r->xml, "basis 'assumed' needs a note with the reason");
    if (f->basis != OC_BASIS_ASSUMED && !f->source[0])
        return oc_xml_fail(r->xml, "missing source");
    return hwdb_read_check_formula(r, f);
}

static int read_figure(struct oc_hw_reader *r, const struct oc_xml_elem *e, enum oc_quantity q,
                       struct oc_hw_figure *f)
{
    const char *value = oc_xml_get(e, "value"), *unit = oc_xml_get(e, "unit"),
               *basis = oc_xml_get(e, "basis");
    double scale;
    unsigned which;
    if (!oc_figure_value(value, &f->value))
        return oc_xml_fail(r->xml, "value '%.40s' is not a number above 0", value);
    if (!oc_figure_scale(q, unit ? unit : "", &scale))
        return oc_xml_fail(r->xml, "unit '%.40s': expected %s", unit ? unit : "", oc_quantity_choices(q));
    if (!hwdb_read_find_word(basis_names, OC_COUNT(basis_names), basis, &which))
        return oc_xml_fail(r->xml, "basis '%.40s': expected vendor, derived, measured or assumed", basis);
    f->value *= scale;
    f->unit = oc_quantity_unit(q);
    f->text = unit ? oc_printf(r->arena, "%s %s", value, unit) : value;
    f->basis = (enum oc_basis)which;
    f->formula = oc_xml_get(e, "formula");
    f->note = oc_xml_get(e, "note");
    f->line = e->line;
    return resolve_sources(r, e, f) ? -1 : check_basis(r, f);
}

static int add_figure(struct oc_hw_reader *r, const struct oc_xml_elem *e, enum oc_quantity q,
                      struct oc_hw_entry *x)
{
    if (r->n_entry == OC_HW_MAX_FIGURES)
        return oc_xml_fail(r->xml, "more than %d figures in a device", OC_HW_MAX_FIGURES);
    if (read_figure(r, e, q, &x->fig))
        return oc_hw_soften(r);
    OC_PUSH(r->entry, r->n_entry, r->cap_entry) = *x;
    return 0;
}

static bool same_text(const char *a, const char *b) /* NULL: none */
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Two figures of the same kind would be ambiguous. */
static bool have_figure(const struct oc_hw_reader *r, const struct oc_hw_figure *f)
{
    for (size_t i = 0; i < r->n_entry; i++) {
        const struct oc_hw_figure *o = &r->entry[i].fig;
        if (strcmp(o->group, f->group) == 0 && strcmp(o->what, f->what) == 0 && same_text(o->mode, f->mode) &&
            same_text(o->cores, f->cores))
            return true;
    }
    return false;
}

/* cores="4": a positive integer */
static int check_cores(const struct oc_hw_reader *r, const char *cores)
{
    if (!cores || (strspn(cores, "0123456789") == strlen(cores) && cores[0] != '0' && strlen(cores) < 8))
        return 0;
    return oc_xml_fail(r->xml, "cores '%.20s': expected a whole number above 0", cores);
}

/* ---- elements --------------------------------------------------------------------------------------- */

static int start_source(void *user, const struct oc_xml_elem *e)
{
    struct oc_hw_reader *r = user;
    const char *id = oc_xml_get(e, "id");
    uint32_t at = (uint32_t)r->n_source;
    if (!oc_map_add(&r->source_ids, id, strlen(id), &at, NULL))
        return oc_xml_fail(r->xml, "given twice");
    struct oc_hw_source *s = OC_NEW(r->arena, struct oc_hw_source);
    *s = (struct oc_hw_source){oc_xml_get(e, "title"), oc_xml_get(e, "section"), oc_xml_get(e, "url")};
    OC_PUSH(r->source, r->n_source, r->cap_source) = (struct oc_hw_listed){s, id, e->line, false};
    return 0;
}

static int hwdb_read_take_name(struct oc_hw_reader *r, const char *name)
{
    const char *key = oc_hw_name_fold(r->arena, name);
    uint32_t at = (uint32_t)r->n_draft;
    if (!*key)
        return oc_xml_fail(r->xml, "empty name");
    if (!oc_map_add(&r->names, key, strlen(key), &at, NULL))
        return oc_xml_fail(r->xml, "name '%.60s' is already used by device '%.60s'", name,
                           at < r->n_draft ? r->draft[at]->dev->info->id : r->dev->info->id);
    return 0;
}

static int start_device(void *user, const struct oc_xml_elem *e)
{
    struct oc_hw_reader *r = user;
    static const char *const kinds[] = {"cpu", "gpu", "npu"};
    const char *vendor = oc_xml_get(e, "vendor"), *word = oc_xml_get(e, "kind");
    unsigned kind = 0;
    r->base = oc_xml_get(e, "base");
    if (r->n_draft >= OC_HW_MAX_DEVICES)
        return oc_xml_fail(r->xml, "more than %u devices", OC_HW_MAX_DEVICES);
    if (!r->base && (!vendor || !word))
        return oc_xml_fail(r->xml, "missing %s", vendor ? "kind" : "vendor");
    if (word && !hwdb_read_find_word(kinds, OC_COUNT(kinds), word, &kind))
        return oc_xml_fail(r->xml, "kind '%.40s': expected cpu, gpu or npu", word);
    r->dev = OC_NEW(r->arena, struct oc_device);
    r->dev->line = e->line;
    r->dev->info = OC_NEW(r->arena, struct oc_device_info);
    *r->dev->info = (struct oc_device_info){.id = oc_xml_get(e, "id"),
                                            .name = oc_xml_get(e, "name"),
                                            .vendor = vendor,
                                            .kind = word ? kinds[kind] : NULL,
                                            .sku = oc_xml_get(e, "sku"),
                                            .base = r->base,
                                            .file = r->path};
    r->n_entry = r->n_level = r->n_alias = 0;
    r->units_seen = 0;
    return hwdb_read_take_name(r, r->dev->info->id);
}

static int start_alias(void *user, const struct oc_xml_elem *e)
{
    struct oc_hw_reader *r = user;
    const char *name = oc_xml_get(e, "name");
    if (r->n_alias == MAX_ALIASES)
        return oc_xml_fail(r->xml, "more than %d aliases", MAX_ALIASES);
    if (hwdb_read_take_name(r, name))
        return oc_hw_soften(r);
    OC_PUSH(r->alias, r->n_alias, r->cap_alias) = name;
    return 0;
}

/* An element that is one figure of the device; an attribute names it. */
static int start_figure(void *user, const struct oc_xml_elem *e)
{
    static const struct {
        enum oc_quantity quantity;
        enum oc_hw_role role;
    } kind[E_KINDS] = {
        [E_COUNT] = {OC_Q_COUNT, ROLE_PLAIN},         [E_CLOCK] = {OC_Q_HZ, ROLE_PLAIN},
        [E_POWER] = {OC_Q_WATTS, ROLE_POWER},         [E_LINK] = {OC_Q_BYTES_PER_S, ROLE_LINK},
        [E_OVERHEAD] = {OC_Q_SECONDS, ROLE_OVERHEAD}, [E_LATENCY] = {OC_Q_SECONDS, ROLE_PLAIN}};
    struct oc_hw_reader *r = user;
    const struct oc_xml_spec *spec = &oc_hw_specs[e->kind];
    struct oc_hw_entry x = {.role = kind[e->kind].role,
                            .fig = {.group = spec->name, .what = oc_xml_get(e, spec->label)}};
    if (have_figure(r, &x.fig))
        return oc_xml_fail(r->xml, "given twice");
    return add_figure(r, e, kind[e->kind].quantity, &x);
}

static const char *const unit_names[OC_HW_UNIT_COUNT] = {"vector", "matrix", "special"};

const char *oc_hw_unit_name(unsigned unit)
{
    return unit < OC_HW_UNIT_COUNT ? unit_names[unit] : "unknown";
}

static int start_unit(void *user, const struct oc_xml_elem *e)
{
    struct oc_hw_reader *r = user;
    const char *kind = oc_xml_get(e, "kind");
    if (!hwdb_read_find_word(unit_names, OC_HW_UNIT_COUNT, kind, &r->unit))
        return oc_xml_fail(r->xml, "expected vector, matrix or special");
    if (r->units_seen & (1u << r->unit))
        return oc_xml_fail(r->xml, "given twice");
    r->units_seen |= 1u << r->unit;
    r->unit_name = oc_xml_get(e, "name");
    return 0;
}

static bool peak_given(const struct oc_hw_reader *r, const struct oc_hw_entry *x)
{
    for (size_t i = 0; i < r->n_entry; i++) {
        const struct oc_hw_entry *o = &r->entry[i];
        if (o->role == ROLE_PEAK && o->unit == x->unit && o->cls == x->cls &&
            o->fig.sparse == x->fig.sparse && strcmp(o->fig.clock, x->fig.clock) == 0 &&
            same_text(o->fig.accumulate, x->fig.accumulate) && same_text(o->fig.isa, x->fig.isa) &&
            same_text(o->fig.cores, x->fig.cores))
            return true;
    }
    return false;
}

/* Matrix units differ in speed by the accumulator type. */
static bool needs_accumulate(unsigned unit, unsigned cls)
{
    return unit == OC_HW_MATRIX && cls != OC_CLASS_F64 && cls != OC_CLASS_F32;
}

static int start_peak(void *user, const struct oc_xml_elem *e)
{
    struct oc_hw_reader *r = user;
    const char *dense = oc_xml_get(e, "dense"), *name = oc_xml_get(e, "class"),
               *acc = oc_xml_get(e, "accumulate");
    struct oc_hw_entry x = {.role = ROLE_PEAK, .unit = r->unit, .cls = oc_class_by_name(name)};
    if (x.cls == OC_CLASS_NONE)
        return oc_xml_fail(r->xml, "unknown class");
    if (strcmp(dense, "yes") != 0 && strcmp(dense, "no") != 0)
        return oc_xml_fail(r->xml, "dense '%.20s': expected yes or no", dense);
    if (acc && oc_class_by_name(acc) == OC_CLASS_NONE)
        return oc_xml_fail(r->xml, "accumulate '%.20s': unknown class", acc);
    if (!acc && needs_accumulate(x.unit, x.cls))
        return oc_xml_fail(r->xml, "missing accumulate");
    x.fig = (struct oc_hw_figure){.group = unit_names[r->unit],
                                  .what = name,
                                  .clock = oc_xml_get(e, "clock"),
                                  .accumulate = acc,
                                  .isa = oc_xml_get(e, "isa"),
                                  .unit_name = r->unit_name,
                                  .cores = oc_xml_get(e, "cores"),
                                  .sparse = strcmp(dense, "no") == 0};
    if (check_cores(r, x.fig.cores))
        return -1;
    if (peak_given(r, &x))
        return oc_xml_fail(r->xml, "given twice");
    bool ops = r->unit == OC_HW_SPECIAL || oc_class_is_int(x.cls);
    return add_figure(r, e, ops ? OC_Q_OP_PER_S : OC_Q_FLOP_PER_S, &x);
}

static int start_fallback(void *user, const struct oc_xml_elem *e)
{
    struct oc_hw_reader *r = user;
    if (r->unit != OC_HW_VECTOR || strcmp(oc_xml_get(e, "class"), "f16") != 0 ||
        strcmp(oc_xml_get(e, "to"), "f32") != 0)
        return oc_xml_fail(r->xml, "a fallback is allowed only from class 'f16' to 'f32' on the vector unit");
    r->dev->f16_fallback = true;
    return 0;
}

static int start_memory(void *user, const struct oc_xml_elem *e)
{
    struct oc_hw_reader *r = user;
    const char *name = oc_xml_get(e, "name");
    for (size_t i = 0; i < r->n_level; i++)
        if (strcmp(r->level[i].name, name) == 0)
            return oc_xml_fail(r->xml, "given twice");
    if (r->n_level && strcmp(r->level[r->n_level - 1].name, "DRAM") == 0)
        return oc_xml_fail(r->xml, "must be before DRAM, the last level");
    if (r->n_level == OC_HW_MAX_LEVELS)
        return oc_xml_fail(r->xml, "more than %d levels", OC_HW_MAX_LEVELS);
    OC_PUSH(r->level, r->n_level, r->cap_level) =
        (struct oc_hw_level){.name = name, .type = oc_xml_get(e, "type")};
    return 0;
}

static int start_level_figure(void *user, const struct oc_xml_elem *e)
{
    struct oc_hw_reader *r = user;
    bool size = e->kind == E_SIZE;
    struct oc_hw_entry x = {.role = size ? ROLE_SIZE : ROLE_BANDWIDTH};
    x.fig.group = r->level[r->n_level - 1].name;
    x.fig.what = size ? "size" : "bandwidth";
    x.fig.mode = size ? NULL : oc_xml_get(e, "mode");
    x.fig.cores = size ? NULL : oc_xml_get(e, "cores");
    if (check_cores(r, x.fig.cores))
        return -1;
    if (have_figure(r, &x.fig))
        return oc_xml_fail(r->xml, "given twice");
    return add_figure(r, e, size ? OC_Q_BYTES : OC_Q_BYTES_PER_S, &x);
}

/* ---- a device is read ------------------------------------------------------------------------------- */

static int end_device(void *user, const struct oc_xml_elem *e)
{
    struct oc_hw_reader *r = user;
    (void)e;
    struct oc_hw_draft *d = OC_NEW(r->arena, struct oc_hw_draft);
    *d = (struct oc_hw_draft){.dev = r->dev,
                              .base = r->base,
                              .entry = OC_COPY_ARRAY(r->arena, r->entry, r->n_entry),
                              .n_entry = r->n_entry,
                              .level = OC_COPY_ARRAY(r->arena, r->level, r->n_level),
                              .n_level = r->n_level,
                              .units = r->units_seen};
    r->dev->draft = d;
    r->dev->info->alias = OC_COPY_ARRAY(r->arena, r->alias, r->n_alias);
    r->dev->info->n_alias = r->n_alias;
    OC_PUSH(r->draft, r->n_draft, r->cap_draft) = d;
    return 0;
}

const struct oc_xml_spec oc_hw_specs[E_KINDS] = {
    [E_HWDB] = {"hwdb", OC_XML_ROOT, NULL, false, "version", "", NULL, NULL},
    [E_SOURCE] = {"source", E_HWDB, "id", false, "id title", "url section", start_source, NULL},
    [E_DEVICE] = {"device", E_HWDB, "id", false, "id name", "vendor kind base sku", start_device, end_device},
    [E_ALIAS] = {"alias", E_DEVICE, "name", false, "name", "", start_alias, NULL},
    [E_COUNT] = {"count", E_DEVICE, "of", false, "of value basis", FIGURE_ATTR, start_figure, NULL},
    [E_CLOCK] = {"clock", E_DEVICE, "kind", false, "kind value unit basis", FIGURE_ATTR, start_figure, NULL},
    [E_POWER] = {"power", E_DEVICE, "of", false, "of value unit basis", FIGURE_ATTR, start_figure, NULL},
    [E_LINK] = {"link", E_DEVICE, "of", false, "of value unit basis", FIGURE_ATTR, start_figure, NULL},
    [E_UNIT] = {"unit", E_DEVICE, "kind", true, "kind name", "", start_unit, NULL},
    [E_PEAK] = {"peak", E_UNIT, "class", false, "class value unit basis dense clock",
                "accumulate isa cores " FIGURE_ATTR, start_peak, NULL},
    [E_FALLBACK] = {"fallback", E_UNIT, "class", false, "class to note", "", start_fallback, NULL},
    [E_MEMORY] = {"memory", E_DEVICE, "name", false, "name", "type", start_memory, NULL},
    [E_SIZE] = {"size", E_MEMORY, NULL, false, "value unit basis", FIGURE_ATTR, start_level_figure, NULL},
    [E_BANDWIDTH] = {"bandwidth", E_MEMORY, NULL, false, "value unit basis", "mode cores " FIGURE_ATTR,
                     start_level_figure, NULL},
    [E_OVERHEAD] = {"overhead", E_DEVICE, "runtime", false, "runtime value unit basis", FIGURE_ATTR,
                    start_figure, NULL},
    [E_LATENCY] = {"latency", E_DEVICE, "of", false, "of value unit basis", FIGURE_ATTR, start_figure, NULL},
};

/* ---- hwdb read -------------------------------------------------------------------------------------- */

/* Reader of hardware files. Layout (hwdb/hwdb.rng is the schema):
 *
 *   hwdb version="1"
 *     source id title [url] [section]                      a document that figures come from
 *     device id name vendor kind [sku]                     or: id name base [vendor] [kind] [sku]
 *       alias name
 *       count of                      FIGURE               how many of something (SM, core, channel)
 *       clock kind                    FIGURE
 *       power of                      FIGURE               "TDP": design power
 *       link of                       FIGURE               "NVLink": to the other devices, in one direction
 *       unit kind name                                     vector, matrix or special
 *         peak class dense clock [accumulate]  FIGURE
 *         fallback class="f16" to="f32" note
 *       memory name [type]                                 nearest level first, DRAM last
 *         size FIGURE, bandwidth FIGURE
 *       overhead runtime              FIGURE               per launched operator
 *
 *   FIGURE: value [unit] basis [source] [section] [formula] [note]
 *
 * A device with base="ID" has what that device has, except for elements that it gives itself: a count by its
 * `of`, a clock by its kind, a power by its `of`, an overhead by its runtime; a unit by its kind and a memory
 * by its name, each as a whole. Names and aliases are not inherited.
 *
 * Everything not listed is an error. */

static const struct oc_xml_format format = {oc_hw_specs, E_KINDS, "1", OC_HW_MAX_FILE_BYTES};

static int append_devices(const struct oc_hw_reader *r, const char *name, struct oc_err *err)
{
    struct oc_device_list *list = r->how->list;
    if (list->n + r->n_draft > OC_HW_MAX_DEVICES)
        return oc_fail(err, OC_ELIMIT, "cannot read '%s': more than %u devices in total", name,
                       OC_HW_MAX_DEVICES);
    for (size_t i = 0; i < r->n_draft; i++) {
        OC_PUSH(list->item, list->n, list->cap) = r->draft[i]->dev;
    }
    return 0;
}

int oc_hw_read_text(const struct oc_hw_reading *how, const char *name, const void *data, size_t n,
                    struct oc_err *err)
{
    struct oc_err own = {0};
    err = err ? err : &own;
    struct oc_hw_reader r = {
        .arena = how->arena, .how = how, .err = err, .path = oc_strdup(how->arena, name)};
    r.source_ids.arena = r.names.arena = how->arena;
    int rc = oc_xml_read(&format, name, data, n, how->arena, &r, &r.xml, err);
    if (rc == 0)
        rc = oc_hw_finish(&r);
    if (rc == 0)
        rc = append_devices(&r, name, err);
    oc_map_free(&r.source_ids);
    oc_map_free(&r.names);
    free(r.source);
    free(r.draft);
    free(r.entry);
    free(r.level);
    free(r.alias);
    return rc;
}

int oc_hw_read_path(const struct oc_hw_reading *how, const char *path, struct oc_err *err)
{
    struct oc_file file;
    if (oc_file_map(path, OC_HW_MAX_FILE_BYTES, &file, err))
        return -1;
    int rc = oc_hw_read_text(how, path, file.data, (size_t)file.size_bytes, err);
    oc_file_unmap(&file);
    return rc;
}

int oc_hw_read_mem(const char *name, const void *data, size_t n, struct oc_arena *arena,
                   struct oc_device_list *list, struct oc_err *err)
{
    return oc_hw_read_text(&(struct oc_hw_reading){.arena = arena, .list = list}, name, data, n, err);
}

int oc_hw_read_file(const char *path, struct oc_arena *arena, struct oc_device_list *list, struct oc_err *err)
{
    return oc_hw_read_path(&(struct oc_hw_reading){.arena = arena, .list = list}, path, err);
}
