/* Reader of calibration files (calibrate.h). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/diag.h"
#include "base/file.h"
#include "base/units.h"
#include "base/xml_read.h"
#include "estimate/calibrate.h"
#include "estimate/curve.h"
#include "onnxcost/estimate.h"

enum { E_CALIBRATION, E_RUN, E_AGAIN, E_KEY, E_CURVE, E_ERRORS, E_KERNEL, E_KINDS };

struct reader {
    const struct oc_xml *xml;
    struct oc_calibration *cal;
    bool has_run, has_again, has_curve, has_errors;
    /* heap, growing */
    struct oc_cal_key *key;
    struct oc_cal_signature *signature;
    size_t cap_key, cap_signature;
};

/* ---- attributes ------------------------------------------------------------------------------------- */

static int bad(struct reader *r, const char *name, const char *text, const char *what)
{
    return oc_xml_fail(r->xml, "%s '%.40s' is not %s", name, text, what);
}

static int get_u64(struct reader *r, const struct oc_xml_elem *e, const char *name, uint64_t most,
                   uint64_t otherwise, uint64_t *out)
{
    const char *text = oc_xml_get(e, name);
    *out = otherwise;
    if (!text || (oc_parse_u64(text, strlen(text), out) && *out <= most))
        return 0;
    return oc_xml_fail(r->xml, "%s '%.40s' is not a number from 0 to %llu", name, text,
                       (unsigned long long)most);
}

static int get_u32(struct reader *r, const struct oc_xml_elem *e, const char *name, uint32_t *out)
{
    uint64_t v;
    int rc = get_u64(r, e, name, UINT32_MAX, 0, &v);
    *out = (uint32_t)v;
    return rc;
}

/* An optional index into a list: -1 if absent. */
static int get_index(struct reader *r, const struct oc_xml_elem *e, const char *name, int32_t *out)
{
    uint64_t v;
    int rc = get_u64(r, e, name, INT32_MAX - 1, 0, &v);
    *out = oc_xml_get(e, name) ? (int32_t)v : -1;
    return rc;
}

static int get_hex(struct reader *r, const struct oc_xml_elem *e, const char *name, uint64_t *out)
{
    const char *text = oc_xml_get(e, name);
    size_t n = strspn(text, "0123456789abcdef");
    if (n != 16 || text[n])
        return bad(r, name, text, "sixteen hexadecimal digits");
    *out = 0;
    for (size_t i = 0; i < n; i++)
        *out = *out << 4 | (uint64_t)(text[i] <= '9' ? text[i] - '0' : text[i] - 'a' + 10);
    return 0;
}

static int get_double(struct reader *r, const struct oc_xml_elem *e, const struct oc_cal_attr *a, double *out)
{
    const char *text = oc_xml_get(e, a->name);
    bool number = oc_parse_double(text, strlen(text), out);
    if (number && isnan(*out) && a->nan)
        return 0;
    if (!number || !(*out >= a->lo && *out <= a->hi))
        return oc_xml_fail(r->xml, "%s '%.40s' is not a number from %g to %g", a->name, text, a->lo, a->hi);
    return 0;
}

static int get_attrs(struct reader *r, const struct oc_xml_elem *e, const struct oc_cal_attrs *list,
                     void *object)
{
    for (size_t i = 0; i < list->n; i++) {
        const struct oc_cal_attr *a = &list->attr[i];
        void *field = (char *)object + a->offset;
        const char *text = oc_xml_get(e, a->name);
        int rc = 0;
        if (a->kind == OC_CAL_A_DOUBLE)
            rc = get_double(r, e, a, field);
        else if (a->kind == OC_CAL_A_U32)
            rc = get_u32(r, e, a->name, field);
        else if (strcmp(text, "yes") != 0 && strcmp(text, "no") != 0)
            rc = bad(r, a->name, text, "yes or no");
        else
            *(bool *)field = !strcmp(text, "yes");
        if (rc)
            return -1;
    }
    return 0;
}

/* Exactly n numbers from lo to hi, separated by blanks. */
static bool cal_read_parse_list(const char *text, double lo, double hi, double *out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t len = strcspn(text, " ");
        if (!oc_parse_double(text, len, &out[i]) || !(out[i] >= lo && out[i] <= hi))
            return false;
        text += len + (text[len] == ' ');
    }
    return !*text;
}

static int get_errors(struct reader *r, const struct oc_xml_elem *e, struct oc_cal_errors *out)
{
    static const struct oc_cal_attr plain[] = {
        {"sd", OC_CAL_A_DOUBLE, offsetof(struct oc_cal_errors, sd), 0, 1e3, false},
        {"bias", OC_CAL_A_DOUBLE, offsetof(struct oc_cal_errors, bias), -1e3, 1e3, false},
    };
    if (get_u32(r, e, "n", &out->n) || get_attrs(r, e, &(struct oc_cal_attrs){plain, OC_COUNT(plain)}, out))
        return -1;
    for (size_t i = 0; i < OC_COUNT(oc_cal_error_lists); i++) {
        const struct oc_cal_error_list *l = &oc_cal_error_lists[i];
        const char *text = oc_xml_get(e, l->name);
        if (!cal_read_parse_list(text, 0, INFINITY, (void *)((char *)out + l->offset), l->n))
            return oc_xml_fail(r->xml, "%s '%.60s' is not %zu numbers of at least 0", l->name, text, l->n);
    }
    return 0;
}

bool oc_cal_text_ok(const char *s)
{
    size_t n = strlen(s), more = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];
        if (more ? (c & 0xc0) != 0x80 : c < 0x20 || c == 0x7f || (c & 0xc0) == 0x80 || c >= 0xf8)
            return false;
        more = more ? more - 1 : c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : c >= 0xc0 ? 1 : 0;
    }
    return n <= OC_CAL_MAX_TEXT && !more;
}

static int get_text(struct reader *r, const struct oc_xml_elem *e, const char *name, const char **out)
{
    const char *text = oc_xml_get(e, name);
    *out = text ? text : "";
    return oc_cal_text_ok(*out) ? 0 : bad(r, name, *out, "a short text");
}

/* ---- elements --------------------------------------------------------------------------------------- */

static int start_calibration(void *user, const struct oc_xml_elem *e)
{
    struct reader *r = user;
    struct oc_calibration *c = r->cal;
    return get_text(r, e, "device", &c->device) || get_text(r, e, "runtime", &c->runtime) ||
                   get_text(r, e, "runtime-version", &c->runtime_version) ||
                   get_text(r, e, "tool", &c->tool_version) || get_text(r, e, "created", &c->created) ||
                   get_text(r, e, "from", &c->from) || get_u32(r, e, "threads", &c->threads) ||
                   get_hex(r, e, "checksum", &c->checksum) || get_u32(r, e, "samples", &c->n_sample) ||
                   get_u32(r, e, "models", &c->n_model) || get_u32(r, e, "rejected", &c->n_rejected)
               ? -1
               : 0;
}

static int expect_once(struct reader *r, bool *flag)
{
    bool again = *flag;
    *flag = true;
    return again ? oc_xml_fail(r->xml, "is given twice") : 0;
}

static int start_run(void *user, const struct oc_xml_elem *e)
{
    struct reader *r = user;
    return expect_once(r, &r->has_run) || get_attrs(r, e, &oc_cal_run_attrs, r->cal) ? -1 : 0;
}

static int start_again(void *user, const struct oc_xml_elem *e)
{
    struct reader *r = user;
    return expect_once(r, &r->has_again) || get_errors(r, e, &r->cal->again) ? -1 : 0;
}

static int cal_read_get_class(struct reader *r, const struct oc_xml_elem *e, struct oc_cal_key *k)
{
    const char *name = oc_xml_get(e, "class"), *dtype = oc_xml_get(e, "dtype");
    k->dtype = OC_CLASS_NONE;
    if (dtype)
        k->dtype = (uint8_t)oc_class_by_name(dtype);
    if (dtype && k->dtype == OC_CLASS_NONE)
        return bad(r, "dtype", dtype, "a class of arithmetic");
    if (!strncmp(name, "group:", 6)) {
        unsigned g = 0;
        while (g < OC_KG_COUNT && strcmp(oc_kernel_group_name(g), name + 6) != 0)
            g++;
        k->cls = (uint8_t)(OC_KC_COUNT + g);
        return g < OC_KG_COUNT ? 0 : bad(r, "class", name, "a group of classes");
    }
    k->cls = (uint8_t)oc_kernel_class_by_name(name);
    return k->cls < OC_KC_COUNT ? 0 : bad(r, "class", name, "a class of kernels");
}

/* Codes of operator types, ascending, separated by blanks. */
static int get_ops(struct reader *r, const struct oc_xml_elem *e, struct oc_cal_key *k)
{
    const char *text = oc_xml_get(e, "ops");
    if (!text)
        return 0;
    uint16_t *op = OC_NEW_ARRAY(&r->cal->arena, strlen(text) / 2 + 1, uint16_t);
    for (const char *s = text; *s;) {
        size_t n = strcspn(s, " ");
        uint64_t v;
        if (!oc_parse_u64(s, n, &v) || !v || v > UINT16_MAX || (k->n_op && v <= op[k->n_op - 1]))
            return bad(r, "ops", text, "a list of ascending numbers");
        op[k->n_op++] = (uint16_t)v;
        s += n + (s[n] == ' ');
    }
    k->op = op;
    return 0;
}

static int start_key(void *user, const struct oc_xml_elem *e)
{
    struct reader *r = user;
    struct oc_cal_key k = {0};
    const char *kind = oc_xml_get(e, "kind");
    while (k.kind < OC_CAL_KIND_COUNT && strcmp(oc_cal_kind_names[k.kind], kind) != 0)
        k.kind++;
    if (k.kind == OC_CAL_KIND_COUNT)
        return bad(r, "kind", kind, "one of curve, parent, prior");
    if (r->cal->n_key >= OC_CAL_MAX_KEYS)
        return oc_xml_fail(r->xml, "more than %u keys", OC_CAL_MAX_KEYS);
    if (cal_read_get_class(r, e, &k) || get_attrs(r, e, &oc_cal_key_attrs, &k) ||
        get_index(r, e, "parent", &k.parent) || get_ops(r, e, &k))
        return -1;
    for (size_t i = 0; i < r->cal->n_key; i++)
        if (r->key[i].cls == k.cls && r->key[i].dtype == k.dtype)
            return oc_xml_fail(r->xml, "is given twice");
    OC_GROW(r->key, r->cal->n_key, r->cap_key);
    r->key[r->cal->n_key++] = k;
    r->has_curve = r->has_errors = false;
    return 0;
}

static int end_key(void *user, const struct oc_xml_elem *e)
{
    struct reader *r = user;
    (void)e;
    return r->has_curve && r->has_errors ? 0 : oc_xml_fail(r->xml, "a curve and its errors are missing");
}

static int start_curve(void *user, const struct oc_xml_elem *e)
{
    struct reader *r = user;
    struct oc_cal_curve *c = &r->key[r->cal->n_key - 1].curve;
    if (expect_once(r, &r->has_curve) || get_attrs(r, e, &oc_cal_curve_attrs, c))
        return -1;
    return c->align >= 1 && c->align <= 65536 && c->tile_m <= 65536 && c->tile_n <= 65536
               ? 0
               : oc_xml_fail(r->xml, "align is 1 to 65536, tiles are 0 to 65536");
}

static int start_errors(void *user, const struct oc_xml_elem *e)
{
    struct reader *r = user;
    return expect_once(r, &r->has_errors) || get_errors(r, e, &r->key[r->cal->n_key - 1].errors) ? -1 : 0;
}

static int cal_read_start_kernel(void *user, const struct oc_xml_elem *e)
{
    struct reader *r = user;
    struct oc_cal_signature s;
    static const struct oc_cal_attr plain[] = {
        {"t", OC_CAL_A_DOUBLE, offsetof(struct oc_cal_signature, t_s), 1e-15, 1e9, false},
        {"sd", OC_CAL_A_DOUBLE, offsetof(struct oc_cal_signature, sd), 0, 1e3, false},
        {"n", OC_CAL_A_U32, offsetof(struct oc_cal_signature, n), 0, 0, false},
    };
    size_t n = r->cal->n_signature;
    if (n >= OC_CAL_MAX_SIGNATURES)
        return oc_xml_fail(r->xml, "more than %u kernels", OC_CAL_MAX_SIGNATURES);
    if (get_hex(r, e, "id", &s.signature) ||
        get_attrs(r, e, &(struct oc_cal_attrs){plain, OC_COUNT(plain)}, &s))
        return -1;
    if (n && r->signature[n - 1].signature >= s.signature)
        return oc_xml_fail(r->xml, "kernels must be sorted by id, without duplicates");
    OC_GROW(r->signature, r->cal->n_signature, r->cap_signature);
    r->signature[r->cal->n_signature++] = s;
    return 0;
}

/* Indices are valid, and the path from each key to its root ends. */
static int end_calibration(void *user, const struct oc_xml_elem *e)
{
    struct reader *r = user;
    struct oc_calibration *c = r->cal;
    (void)e;
    if (!r->has_run || !r->has_again)
        return oc_xml_fail(r->xml, "'run' or 'again' is missing");
    for (size_t i = 0; i < c->n_key; i++) {
        size_t steps = 0;
        for (int32_t k = r->key[i].parent; k >= 0; k = r->key[k].parent)
            if (k >= (int32_t)c->n_key || steps++ > c->n_key)
                return oc_xml_fail(r->xml, "key %zu: its parents form a cycle", i);
    }
    return 0;
}

#define ERRORS "n sd bias bounds d80 d95"
static const struct oc_xml_spec specs[E_KINDS] = {
    [E_CALIBRATION] = {"calibration", OC_XML_ROOT, "", true,
                       "version device runtime checksum samples models rejected",
                       "runtime-version threads tool created from", start_calibration, end_calibration},
    [E_RUN] = {"run", E_CALIBRATION, "", true, "dram llc fix gap tau rho z80 z95", "", start_run, NULL},
    [E_AGAIN] = {"again", E_CALIBRATION, "", true, ERRORS, "", start_again, NULL},
    [E_KEY] = {"key", E_CALIBRATION, "class dtype", false,
               "class kind n models flop-min flop-max bytes-min bytes-max ec-known em-known lomo-error "
               "lambda peak",
               "dtype parent ops", start_key, end_key},
    [E_CURVE] = {"curve", E_KEY, "", false, "t0 ec w-half em b-half p wc alpha tile-m tile-n align", "",
                 start_curve, NULL},
    [E_ERRORS] = {"errors", E_KEY, "", false, ERRORS, "", start_errors, NULL},
    [E_KERNEL] = {"kernel", E_CALIBRATION, "id", false, "id t sd n", "", cal_read_start_kernel, NULL},
};
static const struct oc_xml_format format = {specs, E_KINDS, "5", OC_CAL_MAX_FILE_BYTES};

/* ---- files ------------------------------------------------------------------------------------------ */

static void cal_read_copy_to_arena(struct reader *r)
{
    struct oc_calibration *c = r->cal;
    c->key = OC_NEW_ARRAY(&c->arena, c->n_key, struct oc_cal_key);
    c->signature = OC_NEW_ARRAY(&c->arena, c->n_signature, struct oc_cal_signature);
    if (c->n_key)
        memcpy(c->key, r->key, c->n_key * sizeof(*c->key));
    if (c->n_signature)
        memcpy(c->signature, r->signature, c->n_signature * sizeof(*c->signature));
}

int oc_cal_read_mem(const char *name, const void *data, size_t n, struct oc_calibration **out,
                    struct oc_err *err)
{
    struct oc_calibration *c = oc_xmalloc(sizeof(*c));
    *c = (struct oc_calibration){0};
    struct reader r = {.cal = c};
    int rc = oc_xml_read(&format, name, data, n, &c->arena, &r, &r.xml, err);
    if (!rc)
        cal_read_copy_to_arena(&r);
    free(r.key);
    free(r.signature);
    if (rc) {
        oc_calibration_free(c);
        c = NULL;
    }
    *out = c;
    return rc;
}

int oc_calibration_load(const char *path, struct oc_calibration **out, struct oc_err *err)
{
    OC_ENTRY(err);
    struct oc_file file;
    *out = NULL;
    if (oc_file_map(path, OC_CAL_MAX_FILE_BYTES, &file, err))
        return -1;
    int rc = oc_cal_read_mem(path, file.data, (size_t)file.size_bytes, out, err);
    oc_file_unmap(&file);
    return rc;
}
