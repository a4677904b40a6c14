/* ONNX Runtime's library. */
#include "run/ort_lib.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/c_locale.h"
#include "base/diag.h"
#include "base/str.h"
#include "base/units.h"
#include "onnxcost/record.h"
#include "run/record_files.h"

/* Possible locations of ONNX Runtime's library, and whether it may be loaded from there: a library is code,
 * so a folder that somebody else wrote (a cloned repository, a shared folder) must not decide what is
 * executed. */

struct places {
    struct oc_arena *a;
    struct oc_ort_place *item; /* heap, growing */
    size_t n, cap;
    bool here; /* what is added was found from the working directory */
};

/* Another user than root and this one owns it, or can write it. A sticky folder (/tmp) protects what is in
 * it. */
static bool is_of_others(const char *path, bool is_parent)
{
    struct stat s;
    if (lstat(path, &s))
        return true;
    bool group = (s.st_mode & S_IWGRP) && s.st_gid != getegid() && s.st_gid != 0;
    bool shared = group || (s.st_mode & S_IWOTH);
    return (s.st_uid != 0 && s.st_uid != geteuid()) || (shared && !(is_parent && (s.st_mode & S_ISVTX)));
}

/* Why the file is not loaded; NULL: it is. Checks the file and all folders above it, without symbolic links.
 */
static const char *doubt(const struct places *p, const char *file)
{
    if (p->here || *file != '/')
        return "it was found from the working directory";
    char *path = realpath(file, NULL);
    bool bad = !path || is_of_others(path, false);
    for (char *slash; path && !bad && (slash = strrchr(path, '/')) && slash > path;) {
        *slash = '\0';
        bad = is_of_others(path, strrchr(file, '/') - file != slash - path);
    }
    free(path);
    return bad ? "another user owns it or can replace it" : NULL;
}

static void add_place(struct places *p, const char *file, const char *why_not)
{
    OC_GROW(p->item, p->n, p->cap);
    p->item[p->n++] = (struct oc_ort_place){oc_strdup(p->a, file), why_not};
}

/* Later names first: newer versions. */
static void add_matching(struct places *p, const char *pattern)
{
    glob_t g;
    if (glob(pattern, 0, NULL, &g))
        return;
    for (size_t i = g.gl_pathc; i-- > 0;)
        add_place(p, g.gl_pathv[i], doubt(p, g.gl_pathv[i]));
    globfree(&g);
}

/* In a folder with lib/python3.x: a virtual environment, /usr, ~/.local, conda. */
static void add_python(struct places *p, const char *prefix)
{
    static const char *const below[] = {"lib/python3*/site-packages", "lib/python3*/dist-packages",
                                        "lib64/python3*/site-packages"};
    if (!prefix || !*prefix)
        return;
    for (size_t i = 0; i < OC_COUNT(below); i++)
        add_matching(p, oc_printf(p->a, "%s/%s/onnxruntime/capi/libonnxruntime.so*", prefix, below[i]));
    add_matching(p, oc_printf(p->a, "%s/lib/libonnxruntime.so*", prefix));
}

static void add_node(struct places *p, const char *modules)
{
    add_matching(p,
                 oc_printf(p->a, "%s/onnxruntime-node/bin/napi-v*/linux/" OC_NODE_ARCH "/libonnxruntime.so*",
                           modules));
}

static void add_node_path(struct places *p, const char *list)
{
    while (list && *list) {
        size_t n = strcspn(list, ":");
        if (n)
            add_node(p, oc_strndup(p->a, list, n));
        list += n + (list[n] == ':');
    }
}

/* node_modules here and in every parent folder, in node's search order. */
static void add_node_above(struct places *p)
{
    char *here = getcwd(NULL, 0);
    while (here && *here) {
        add_node(p, oc_printf(p->a, "%s/node_modules", here));
        char *slash = strrchr(here, '/');
        if (!slash)
            break;
        *slash = '\0';
    }
    free(here);
}

size_t oc_ort_places(struct oc_arena *a, const struct oc_ort_place **out)
{
    struct places p = {.a = a};
    add_place(&p, "libonnxruntime.so.1", NULL); /* by the dynamic linker */
    add_place(&p, "libonnxruntime.so", NULL);
    add_python(&p, getenv("VIRTUAL_ENV"));
    add_python(&p, getenv("CONDA_PREFIX"));
    add_node_path(&p, getenv("NODE_PATH"));
    const char *home = getenv("HOME");
    if (home && *home) {
        add_python(&p, oc_printf(a, "%s/.local", home));
        add_node(&p, oc_printf(a, "%s/.local/node_modules", home));
    }
    add_python(&p, "/usr/local");
    add_python(&p, "/usr");
    add_node(&p, "/usr/local/lib/node_modules");
    add_node(&p, "/usr/lib/node_modules");
    p.here = true; /* named in the message only */
    add_python(&p, ".venv");
    add_node_above(&p);
    struct oc_ort_place *list = OC_NEW_ARRAY(a, p.n, struct oc_ort_place);
    memcpy(list, p.item, p.n * sizeof(*list));
    free(p.item);
    *out = list;
    return p.n;
}

struct api_base {
    const void *const *(*get_api)(uint32_t version);
    const char *(*get_version)(void);
};

static const struct {
    uint16_t index;
    size_t offset_bytes;
} functions[] = {
    {ORT_CREATE_STATUS, offsetof(struct oc_ort, create_status)},
    {ORT_GET_ERROR_CODE, offsetof(struct oc_ort, get_error_code)},
    {ORT_GET_ERROR_MESSAGE, offsetof(struct oc_ort, get_error_message)},
    {ORT_CREATE_ENV, offsetof(struct oc_ort, create_env)},
    {ORT_CREATE_SESSION, offsetof(struct oc_ort, create_session)},
    {ORT_RUN, offsetof(struct oc_ort, run)},
    {ORT_CREATE_SESSION_OPTIONS, offsetof(struct oc_ort, create_options)},
    {ORT_SET_OPTIMIZED_MODEL_FILE_PATH, offsetof(struct oc_ort, set_optimized_model)},
    {ORT_ENABLE_PROFILING, offsetof(struct oc_ort, enable_profiling)},
    {ORT_SET_GRAPH_OPTIMIZATION_LEVEL, offsetof(struct oc_ort, set_level)},
    {ORT_SET_INTRA_OP_NUM_THREADS, offsetof(struct oc_ort, set_intra_threads)},
    {ORT_SET_INTER_OP_NUM_THREADS, offsetof(struct oc_ort, set_inter_threads)},
    {ORT_SET_SESSION_EXECUTION_MODE, offsetof(struct oc_ort, set_execution_mode)},
    {ORT_ENABLE_MEM_PATTERN, offsetof(struct oc_ort, enable_pattern)},
    {ORT_DISABLE_MEM_PATTERN, offsetof(struct oc_ort, disable_pattern)},
    {ORT_ENABLE_CPU_MEM_ARENA, offsetof(struct oc_ort, enable_arena)},
    {ORT_DISABLE_CPU_MEM_ARENA, offsetof(struct oc_ort, disable_arena)},
    {ORT_CREATE_TENSOR_AS_ORT_VALUE, offsetof(struct oc_ort, create_tensor)},
    {ORT_CREATE_TENSOR_WITH_DATA, offsetof(struct oc_ort, wrap_tensor)},
    {ORT_FILL_STRING_TENSOR, offsetof(struct oc_ort, fill_strings)},
    {ORT_GET_TENSOR_MUTABLE_DATA, offsetof(struct oc_ort, get_data)},
    {ORT_GET_TENSOR_TYPE_AND_SHAPE, offsetof(struct oc_ort, get_shape)},
    {ORT_GET_TENSOR_ELEMENT_TYPE, offsetof(struct oc_ort, get_dtype)},
    {ORT_GET_TENSOR_SHAPE_ELEMENT_COUNT, offsetof(struct oc_ort, get_elements)},
    {ORT_RELEASE_TENSOR_TYPE_AND_SHAPE_INFO, offsetof(struct oc_ort, release_shape)},
    {ORT_CREATE_CPU_MEMORY_INFO, offsetof(struct oc_ort, create_cpu_memory)},
    {ORT_GET_ALLOCATOR, offsetof(struct oc_ort, get_allocator)},
    {ORT_RELEASE_STATUS, offsetof(struct oc_ort, release_status)},
    {ORT_RELEASE_SESSION, offsetof(struct oc_ort, release_session)},
    {ORT_RELEASE_VALUE, offsetof(struct oc_ort, release_value)},
    {ORT_RELEASE_SESSION_OPTIONS, offsetof(struct oc_ort, release_options)},
    {ORT_SESSION_END_PROFILING, offsetof(struct oc_ort, end_profiling)},
    {ORT_ADD_SESSION_CONFIG_ENTRY, offsetof(struct oc_ort, add_config)},
    {ORT_GET_AVAILABLE_PROVIDERS, offsetof(struct oc_ort, get_providers)},
    {ORT_RELEASE_AVAILABLE_PROVIDERS, offsetof(struct oc_ort, release_providers)},
};

static int not_ort(const char *file, const char *why, struct oc_err *err)
{
    return oc_fail(err, OC_ELIBRARY, "cannot use '%s': not an ONNX Runtime library (%s)", file, why);
}

/* "1.30.0", "1.23.0-dev": the first two numbers. */
static bool parse_version(const char *s, int64_t *major, int64_t *minor)
{
    size_t n = strspn(s, "0123456789");
    if (!n || s[n] != '.' || !oc_parse_i64(s, n, major))
        return false;
    s += n + 1;
    n = strspn(s, "0123456789");
    return n && (!s[n] || strchr(".-+", s[n])) && oc_parse_i64(s, n, minor);
}

static int check_version(struct oc_ort *ort, const char *version, struct oc_err *err)
{
    int64_t major, minor;
    if (!version || strnlen(version, sizeof(ort->version)) >= sizeof(ort->version))
        return not_ort(ort->file, "it has no version", err);
    snprintf(ort->version, sizeof(ort->version), "%s", version);
    if (!parse_version(version, &major, &minor))
        return not_ort(ort->file, "its version is not a number", err);
    if (major < 1 || (major == 1 && minor < OC_ORT_MIN_VERSION))
        return oc_fail(err, OC_ELIBRARY, "cannot use '%s': ONNX Runtime %s is too old: 1.%d needed",
                       ort->file, version, OC_ORT_MIN_VERSION);
    ort->api_version = major == 1 ? (uint32_t)minor : OC_ORT_API_VERSION; /* 1.N has API version N */
    return 0;
}

/* Creates an error and reads it back: detects tables that are not an OrtApi. */
static int try_status(const struct oc_ort *ort, struct oc_err *err)
{
    static const char text[] = "a test by onnxcost";
    const int code = 3; /* ORT_NO_SUCHFILE */
    struct ort_status *s = ort->create_status(code, text);
    if (!s)
        return not_ort(ort->file, "it makes no errors", err);
    const char *back = ort->get_error_message(s);
    bool same = ort->get_error_code(s) == code && back && !strcmp(back, text);
    ort->release_status(s);
    return same ? 0 : not_ort(ort->file, "an error did not come back as it was made", err);
}

static int take_functions(struct oc_ort *ort, const struct api_base *base, struct oc_err *err)
{
    if (!base || !base->get_api || !base->get_version)
        return not_ort(ort->file, "OrtGetApiBase gives nothing", err);
    if (check_version(ort, base->get_version(), err))
        return -1;
    const void *const *api = base->get_api(OC_ORT_API_VERSION);
    if (!api)
        return oc_fail(err, OC_ELIBRARY,
                       "cannot use '%s': ONNX Runtime %s does not offer version %d of its API", ort->file,
                       ort->version, OC_ORT_API_VERSION);
    for (size_t i = 0; i < OC_COUNT(functions); i++) {
        if (!api[functions[i].index])
            return not_ort(ort->file, "functions are missing in its API", err);
        memcpy((char *)ort + functions[i].offset_bytes, &api[functions[i].index], sizeof(void *));
    }
    ort->api = ort->api_version > OC_ORT_API_VERSION ? base->get_api(ort->api_version) : NULL;
    if (!ort->api) {
        ort->api = api;
        ort->api_version = OC_ORT_API_VERSION;
    }
    return try_status(ort, err);
}

/* dlerror's texts often begin with the file name: skip it. */
static const char *why_not(const char *file)
{
    const char *text = dlerror();
    size_t n = strlen(file);
    if (!text)
        return "no reason given";
    return !strncmp(text, file, n) && !strncmp(text + n, ": ", 2) ? text + n + 2 : text;
}

static int open_file(const char *file, struct oc_ort *ort, struct oc_err *err)
{
    *ort = (struct oc_ort){0};
    snprintf(ort->file, sizeof(ort->file), "%s", file);
    /* dlopen would search a relative path without a slash in the library path. */
    ort->handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!ort->handle)
        return oc_fail(err, OC_ELIBRARY, "cannot load '%s': %s", file, why_not(file));
    const struct api_base *(*get_base)(void);
    void *found = dlsym(ort->handle, "OrtGetApiBase");
    if (!found)
        return not_ort(file, "it has no function OrtGetApiBase", err);
    memcpy(&get_base, &found, sizeof(found));
    /* File found by the linker. */
    Dl_info where;
    if (dladdr(found, &where) && where.dli_fname)
        snprintf(ort->file, sizeof(ort->file), "%s", where.dli_fname);
    return take_functions(ort, get_base(), err);
}

static int open_named(const char *file, const char *by, struct oc_ort *out, struct oc_err *err)
{
    char path[512];
    snprintf(path, sizeof(path), "%s%s", strchr(file, '/') ? "" : "./", file);
    return open_file(path, out, err) ? oc_err_prefix(err, "%s", by) : 0;
}

/* The first file that was found but is not loaded by itself; else how to install one. */
static int ort_lib_not_found(const struct oc_ort_place *place, size_t n, struct oc_err *err)
{
    for (size_t i = 0; i < n; i++)
        if (place[i].why_not)
            return oc_fail(err, OC_ELIBRARY,
                           "ONNX Runtime is not loaded from '%s': %s. To load it: --ort-lib '%s'",
                           place[i].file, place[i].why_not, place[i].file);
    return oc_fail(
        err, OC_ELIBRARY,
        "ONNX Runtime's library (libonnxruntime.so.1) was not found; to install it for this user: "
        "npm install --prefix ~/.local --ignore-scripts onnxruntime-node, or in a Python environment: "
        "pip install onnxruntime. Elsewhere name the file with --ort-lib FILE or ONNXRUNTIME_LIB");
}

static int open_usual(struct oc_ort *out, struct oc_err *err)
{
    struct oc_arena a = {0};
    struct oc_err first = {0}, e;
    const struct oc_ort_place *place;
    size_t n = oc_ort_places(&a, &place);
    bool done = false;
    for (size_t i = 0; i < n && !done; i++) {
        if (place[i].why_not)
            continue;
        done = !open_file(place[i].file, out, &e);
        if (!done && strchr(place[i].file, '/') && !first.msg[0])
            first = e;
    }
    if (!done && first.msg[0])
        *err = first;
    else if (!done)
        ort_lib_not_found(place, n, err);
    oc_arena_free(&a);
    return done ? 0 : -1;
}

int oc_ort_open(const char *file, struct oc_ort *out, struct oc_err *err)
{
    const char *named = getenv("ONNXRUNTIME_LIB");
    if (file)
        return open_named(file, "--ort-lib", out, err);
    if (named && *named)
        return open_named(named, "ONNXRUNTIME_LIB", out, err);
    return open_usual(out, err);
}

int oc_ort_check(const struct oc_ort *ort, struct ort_status *status, enum oc_code code, const char *what,
                 struct oc_err *err)
{
    if (!status)
        return 0;
    const char *text = ort->get_error_message(status);
    oc_fail(err, code, "%s: %s", what, text && *text ? text : "no reason given");
    for (char *p = err->msg; *p; p++)
        if (*p == '\n')
            *p = ' ';
    ort->release_status(status);
    return -1;
}

/* ---- ort try ------------------------------------------------------------------------------------------ */

/* Finds ONNX Runtime and its version. The library is loaded in a separate process. */

enum { FILE_NAME, VERSION, PROVIDERS };

/* A library that cannot list them has none. */
static void send_providers(const struct oc_ort *ort, struct oc_child *c)
{
    struct oc_buf b = {0};
    char **name;
    int n = 0;
    struct ort_status *status = ort->get_providers(&name, &n);
    for (int i = 0; !status && i < n; i++)
        oc_buf_printf(&b, "%s%s", i ? " " : "", name[i]);
    status = status ? status : ort->release_providers(name, n);
    if (status)
        ort->release_status(status);
    if (b.n)
        oc_child_text(c, PROVIDERS, b.data);
    oc_buf_free(&b);
}

static int try_library(void *arg, struct oc_child *c, struct oc_err *err)
{
    struct oc_ort ort;
    oc_child_stage(c, "loading ONNX Runtime");
    if (oc_ort_open(arg, &ort, err))
        return -1;
    oc_child_text(c, FILE_NAME, ort.file);
    oc_child_text(c, VERSION, ort.version);
    send_providers(&ort, c);
    return 0;
}

static void heard(void *arg, unsigned what, const char *text)
{
    struct oc_library_info *out = arg;
    char *const slot[] = {out->file, out->version, out->providers};
    const size_t cap[] = {sizeof(out->file), sizeof(out->version), sizeof(out->providers)};
    snprintf(slot[what], cap[what], "%s", text);
}

int oc_onnxruntime_find(const char *library, struct oc_library_info *out, struct oc_err *err)
{
    OC_ENTRY(err);
    struct oc_child_listener listener = {.text = heard, .arg = out};
    char named[512];
    snprintf(named, sizeof(named), "%s", library ? library : "");
    *out = (struct oc_library_info){.name = "ONNX Runtime", .use = "record", .on_demand = true};
    out->found = oc_child_run("ONNX Runtime", try_library, library ? named : NULL, &listener, err) == 0;
    return out->found ? 0 : -1;
}
