/* Execution providers of a session. ONNX Runtime has three ways to add one, and table `known` says which provider has
 * which: functions of its own in OrtApi (create options, update them by key and value, append, release), the function
 * for all names that OrtApi has since 1.12, or a function that the library exports and that takes one number. A provider
 * that is not in the table is added by its name, so that one of a future version works as well. A function of OrtApi is
 * called only when the version of the library has it. */
#include "run/providers.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/str.h"
#include "base/units.h"
#include "onnxcost.h"
#include "onnxcost/profile.h"
#include "profile/profile.h"

#define SUFFIX "ExecutionProvider"

enum {
    INVALID_ARGUMENT = 2, /* ORT_INVALID_ARGUMENT */
    SINCE_BY_NAME = 12,   /* API version of ORT_APPEND_PROVIDER */
    NAMED_FALLBACKS = 4,  /* operators of the CPU that are named */
};

/* Functions of OrtApi, by index. */
struct own_functions {
    uint16_t since; /* API version; 0: there are none */
    uint16_t create, update, append, release;
};

struct known_provider {
    const char *name;    /* in ONNX Runtime, without SUFFIX */
    const char *by_name; /* for ORT_APPEND_PROVIDER, which compares case; NULL: `name` */
    struct own_functions own;
    const char *exported,
        *number; /* function of the library, and the option that is its argument; NULL: none */
};

#define EXPORTED(name) "OrtSessionOptionsAppendExecutionProvider_" name

static const struct known_provider known[] = {
    {.name = "ACL", .exported = EXPORTED("ACL"), .number = "enable_fast_math"},
    {.name = "ArmNN", .exported = EXPORTED("ArmNN"), .number = "use_arena"},
    {.name = "Azure", .by_name = "AZURE"},
    {.name = "CANN", .own = {13, 221, 222, 220, 224}},
    {.name = "CPU"},
    {.name = "CUDA", .own = {11, 205, 206, 204, 208}, .exported = EXPORTED("CUDA"), .number = "device_id"},
    {.name = "CoreML"},
    {.name = "Dml", .by_name = "DML"},
    {.name = "Dnnl", .own = {15, 240, 241, 239, 243}, .exported = EXPORTED("Dnnl"), .number = "use_arena"},
    {.name = "Js", .by_name = "JS"},
    {.name = "MIGraphX", .exported = EXPORTED("MIGraphX"), .number = "device_id"},
    {.name = "Nnapi", .exported = EXPORTED("Nnapi"), .number = "nnapi_flags"},
    {.name = "NvTensorRTRTX", .by_name = "NvTensorRtRtx"},
    {.name = "OpenVINO"},
    {.name = "QNN"},
    {.name = "ROCM", .own = {16, 255, 256, 153, 258}, .exported = EXPORTED("ROCM"), .number = "device_id"},
    {.name = "SNPE"},
    {.name = "Tensorrt", .own = {10, 171, 172, 170, 174}},
    {.name = "VitisAI"},
    {.name = "WebGpu", .by_name = "WebGPU"},
    {.name = "WebNN", .by_name = "WEBNN"},
    {.name = "Xnnpack", .by_name = "XNNPACK"},
};

/* ---- the text ------------------------------------------------------------------------------------------- */

/* Takes the text up to one of `stops`, which *at then points to, or the end. */
static const char *take_part(struct oc_arena *a, const char **at, const char *stops)
{
    char *out = oc_strdup(a, *at);
    size_t n = 0;
    for (; **at && !strchr(stops, **at); ++*at) {
        *at += **at == '\\' && (*at)[1] && strchr(",+\\", (*at)[1]);
        out[n++] = **at;
    }
    out[n] = '\0';
    return out;
}

/* "KEY=VALUE,KEY=VALUE" up to a '+' or the end. False: another form. */
static bool take_options(struct oc_arena *a, const char **at, struct oc_session_provider *out)
{
    size_t most = strlen(*at) + 1;
    out->key = OC_NEW_ARRAY(a, most, const char *);
    out->value = OC_NEW_ARRAY(a, most, const char *);
    do {
        ++*at;
        out->key[out->n_option] = take_part(a, at, "=,+");
        if (!*out->key[out->n_option] || **at != '=')
            return false;
        ++*at;
        out->value[out->n_option] = take_part(a, at, ",+");
        if (!*out->value[out->n_option++])
            return false;
    } while (**at == ',');
    return true;
}

int oc_session_providers_parse(const char *text, struct oc_arena *a, struct oc_session_providers *out,
                               struct oc_err *err)
{
    *out = (struct oc_session_providers){0};
    if (!text)
        return 0;
    out->item = OC_NEW_ARRAY(a, strlen(text) + 1, struct oc_session_provider);
    for (const char *at = text;; at++) {
        struct oc_session_provider *p = &out->item[out->n++];
        p->name = take_part(a, &at, ":+");
        if (!*p->name || (*at == ':' && !take_options(a, &at, p)))
            return oc_fail(err, OC_EARG, "--provider needs NAME[:KEY=VALUE,...][+NAME...], not '%s'", text);
        if (!*at)
            return 0;
    }
}

/* ---- names ---------------------------------------------------------------------------------------------- */

/* Whether the text is the name of a provider, with or without SUFFIX, in any case. */
static bool is_name(const char *text, const char *name)
{
    size_t n = strlen(text);
    return !oc_ncasecmp(text, name, n) && (!name[n] || !strcmp(name + n, SUFFIX));
}

/* Length without SUFFIX in any case. */
static size_t short_length(const char *text)
{
    size_t n = strlen(text), suffix = strlen(SUFFIX);
    return n > suffix && !oc_ncasecmp(text + n - suffix, SUFFIX, suffix) ? n - suffix : n;
}

static const struct known_provider *find_known(const char *text)
{
    size_t n = short_length(text);
    for (size_t i = 0; i < OC_COUNT(known); i++)
        if (strlen(known[i].name) == n && !oc_ncasecmp(text, known[i].name, n))
            return &known[i];
    return NULL;
}

static bool is_cpu(const char *provider)
{
    return !strcmp(provider, "CPU" SUFFIX);
}

struct offered {
    char **name;
    int n;
};

static int is_absent(const struct oc_ort *ort, const char *text, const struct offered *offered,
                     struct oc_err *err)
{
    struct oc_buf names = {0};
    for (int i = 0; i < offered->n; i++)
        oc_buf_printf(&names, "%s%s", i ? ", " : "", offered->name[i]);
    oc_fail(
        err, find_known(text) ? OC_ELIBRARY : OC_EARG,
        "--provider %s: ONNX Runtime %s has no such execution provider; it offers %s; see --ort-lib ('%s')",
        text, ort->version, names.n ? names.data : "none", ort->file);
    oc_buf_free(&names);
    return -1;
}

/* ---- adding --------------------------------------------------------------------------------------------- */

struct adding {
    const struct oc_ort *ort;
    struct ort_options *options;
    const struct oc_session_provider *given;
    const char *name;                   /* in ONNX Runtime */
    const struct known_provider *known; /* NULL: not in the table */
    struct oc_arena *a;
    struct oc_err *err;
};

typedef struct ort_status *append_by_name(struct ort_options *, const char *name, const char *const *key,
                                          const char *const *value, size_t n);
typedef struct ort_status *append_number(struct ort_options *, int number);
typedef struct ort_status *create_own(void **out);
typedef struct ort_status *update_own(void *own, const char *const *key, const char *const *value, size_t n);
typedef struct ort_status *append_own(struct ort_options *, const void *own);
typedef void release_own(void *own);

/* Stores the function of OrtApi in *out, a pointer to a function. */
static void take_function(const struct adding *x, unsigned index, void *out)
{
    memcpy(out, &x->ort->api[index], sizeof(void *));
}

/* What else may lack where the provider is in a library of its own, which ONNX Runtime loads. */
static const char *library_hint(const struct adding *x, enum oc_code code)
{
    bool own = x->known && x->known->own.since && code == OC_ELIBRARY;
    return own ? "; libonnxruntime_providers_*.so must be next to ONNX Runtime's library, and load" : "";
}

static int check_added(const struct adding *x, struct ort_status *status)
{
    if (!status)
        return 0;
    enum oc_code code = x->ort->get_error_code(status) == INVALID_ARGUMENT ? OC_EARG : OC_ELIBRARY;
    const char *what = oc_printf(x->a, "--provider %s: ONNX Runtime %s cannot add %s", x->given->name,
                                 x->ort->version, x->name);
    struct oc_err cause = {0};
    oc_ort_check(x->ort, status, code, what, &cause);
    return oc_fail(x->err, code, "%s%s", cause.msg, library_hint(x, code));
}

static int add_by_own_functions(const struct adding *x)
{
    const struct own_functions *own = &x->known->own;
    const struct oc_session_provider *p = x->given;
    create_own *create;
    update_own *update;
    append_own *append;
    release_own *release;
    void *options = NULL;
    take_function(x, own->create, &create);
    take_function(x, own->update, &update);
    take_function(x, own->append, &append);
    take_function(x, own->release, &release);
    if (check_added(x, create(&options)))
        return -1;
    int rc = p->n_option ? check_added(x, update(options, p->key, p->value, p->n_option)) : 0;
    rc = rc ? rc : check_added(x, append(x->options, options));
    release(options);
    return rc;
}

static int add_by_name(const struct adding *x)
{
    const struct oc_session_provider *p = x->given;
    const char *name =
        x->known && x->known->by_name ? x->known->by_name : oc_strndup(x->a, x->name, short_length(x->name));
    append_by_name *append;
    take_function(x, ORT_APPEND_PROVIDER, &append);
    return check_added(x, append(x->options, name, p->key, p->value, p->n_option));
}

/* By the exported function, whose address is not NULL. */
static int add_by_number(const struct adding *x, const void *exported)
{
    const struct oc_session_provider *p = x->given;
    append_number *append;
    int64_t number = 0;
    memcpy(&append, &exported, sizeof(append));
    if (p->n_option > 1 || (p->n_option && (strcmp(p->key[0], x->known->number) != 0 ||
                                            !oc_parse_i64(p->value[0], strlen(p->value[0]), &number) ||
                                            number < 0 || number > INT32_MAX)))
        return oc_fail(x->err, OC_EARG,
                       "--provider %s: in ONNX Runtime %s %s has one option, %s, which is a number", p->name,
                       x->ort->version, x->name, x->known->number);
    return check_added(x, append(x->options, (int)number));
}

/* Version of the API that has what this provider needs, above that of the library. */
static int is_too_old(const struct adding *x)
{
    unsigned since = x->known && x->known->own.since ? x->known->own.since : SINCE_BY_NAME;
    return oc_fail(x->err, OC_ELIBRARY, "--provider %s: ONNX Runtime %s is too old to add %s: 1.%u needed",
                   x->given->name, x->ort->version, x->name, since);
}

/* The CPU provider is part of every session, as the last one. */
static int add_cpu(const struct adding *x, bool last)
{
    if (!last)
        return oc_fail(x->err, OC_EARG,
                       "--provider: %s runs what the others do not take: put it last, or leave it out",
                       x->name);
    return x->given->n_option
               ? oc_fail(x->err, OC_EARG, "--provider %s: %s has no options", x->given->name, x->name)
               : 0;
}

static int add_provider(struct adding *x, bool last)
{
    const struct known_provider *k = x->known = find_known(x->name);
    uint32_t version = x->ort->api_version;
    if (is_cpu(x->name))
        return add_cpu(x, last);
    if (k && k->own.since && k->own.since <= version)
        return add_by_own_functions(x);
    const void *exported = k && k->exported ? dlsym(x->ort->handle, k->exported) : NULL;
    if (exported)
        return add_by_number(x, exported);
    return version < SINCE_BY_NAME || (k && k->own.since) ? is_too_old(x) : add_by_name(x);
}

static int add_all(const struct oc_session_providers *list, const struct offered *offered, struct adding *x)
{
    for (size_t i = 0; i < list->n; i++) {
        x->given = &list->item[i];
        int at = 0;
        while (at < offered->n && !is_name(x->given->name, offered->name[at]))
            at++;
        if (at == offered->n)
            return is_absent(x->ort, x->given->name, offered, x->err);
        x->name = offered->name[at];
        if (add_provider(x, i + 1 == list->n))
            return -1;
    }
    return 0;
}

int oc_session_providers_add(const struct oc_ort *ort, const struct oc_session_providers *list,
                             struct ort_options *options, struct oc_arena *a, struct oc_err *err)
{
    struct adding x = {.ort = ort, .options = options, .a = a, .err = err};
    struct offered offered = {0};
    if (!list->n)
        return 0;
    if (oc_ort_check(ort, ort->get_providers(&offered.name, &offered.n), OC_ELIBRARY,
                     "ONNX Runtime cannot list its execution providers", err))
        return -1;
    int rc = add_all(list, &offered, &x);
    struct ort_status *ignored = ort->release_providers(offered.name, offered.n);
    if (ignored)
        ort->release_status(ignored);
    return rc;
}

/* ---- placement ------------------------------------------------------------------------------------------ */

/* Operators of a profile by provider. */
struct share {
    const char *provider;
    uint32_t n;
};

struct placement {
    struct share *item; /* arena; the most operators first, the CPU last */
    size_t n;
    uint32_t operators;
};

static bool is_operator(const struct oc_prof_rec *r)
{
    return !r->bucket && !r->overhead && !r->rest && *r->provider;
}

static int by_operators(const void *a, const void *b)
{
    const struct share *x = a, *y = b;
    if (is_cpu(x->provider) != is_cpu(y->provider))
        return is_cpu(x->provider) ? 1 : -1;
    return x->n != y->n ? (x->n < y->n) - (x->n > y->n) : strcmp(x->provider, y->provider);
}

static void count_providers(const struct oc_profile *p, struct placement *out, struct oc_arena *a)
{
    out->item = OC_NEW_ARRAY(a, p->n_rec + 1, struct share);
    for (uint32_t i = 0; i < p->n_rec; i++) {
        size_t k = 0;
        if (!is_operator(&p->rec[i]))
            continue;
        while (k < out->n && strcmp(out->item[k].provider, p->rec[i].provider) != 0)
            k++;
        if (k == out->n)
            out->item[out->n++] = (struct share){.provider = p->rec[i].provider};
        out->item[k].n++;
        out->operators++;
    }
    qsort(out->item, out->n, sizeof(*out->item), by_operators);
}

/* "Shape_1 (Shape), Gather_2 (Gather) and 3 more" */
static void put_fallbacks(const struct oc_profile *p, uint32_t all, struct oc_buf *b)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n_rec && n < NAMED_FALLBACKS; i++)
        if (is_operator(&p->rec[i]) && is_cpu(p->rec[i].provider))
            oc_buf_printf(b, "%s%s (%s)", n++ ? ", " : ": ", p->rec[i].name, p->rec[i].op_type);
    if (n < all)
        oc_buf_printf(b, " and %u more", all - n);
}

static void put_placement(const struct oc_profile *p, const struct placement *all, struct oc_buf *b)
{
    for (size_t i = 0; i < all->n; i++) {
        const struct share *s = &all->item[i];
        if (i)
            oc_buf_printf(b, "; %u by %s", s->n, s->provider);
        else
            oc_buf_printf(b, "%u of %u operators by %s", s->n, all->operators, s->provider);
        if (all->n > 1 && is_cpu(s->provider))
            put_fallbacks(p, s->n, b);
    }
}

const char *oc_session_providers_placement(const char *profile, struct oc_arena *a)
{
    const struct oc_profile_opts opts = {.format = "onnxruntime"};
    struct placement all = {0};
    struct oc_profile *p;
    struct oc_err err;
    struct oc_buf b = {0};
    if (oc_profile_open(profile, &opts, &p, &err))
        return NULL;
    count_providers(p, &all, a);
    put_placement(p, &all, &b);
    const char *text = all.n ? oc_strdup(a, b.data) : NULL;
    oc_buf_free(&b);
    oc_profile_close(p);
    return text;
}
