/* A library with the interface of ONNX Runtime, for tests of `record`: it runs nothing and writes a small
 * profile. The environment variable FAKE_ORT selects failures; each word is listed where it has an effect. It
 * validates its arguments as far as it can and fails with an error that names the problem. Its function
 * indices are taken from the C API's documentation of OrtApi, not from the code under test. Its execution providers are
 * WebGPU and New (added by name), CUDA (functions of its own), MIGraphX (an exported function) and the CPU; they refuse
 * the option "bad". With one of them the profile has a second node, which the CPU runs. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct status {
    int code;
    char text[256];
};
struct options {
    char prefix[512], optimized[512];
    char providers[512]; /* "WebGPU(k=v,)CUDA()" */
    int level, threads;
};
struct session {
    struct options o;
    char model[512];
    int runs;
};
struct value {
    int dtype;
    size_t bytes;
    const void *data;
};

static bool has_mode(const char *word)
{
    const char *m = getenv("FAKE_ORT");
    return m && !strcmp(m, word);
}

static struct status *create_status(int code, const char *text)
{
    struct status *s = calloc(1, sizeof(*s));
    s->code = has_mode("wrong_code") ? code + 1 : code;
    snprintf(s->text, sizeof(s->text), "%s", has_mode("wrong_text") ? "something else" : text);
    return has_mode("no_status") ? (free(s), NULL) : s;
}

static int get_code(const struct status *s)
{
    return s->code;
}

static const char *get_text(const struct status *s)
{
    return s->text;
}

static struct status *create_env(int level, const char *id, void **out)
{
    static int env;
    if (has_mode("env_fails") || level < 0 || level > 4 || !id)
        return create_status(1, "no environment today");
    *out = &env;
    return NULL;
}

static struct status *create_options(struct options **out)
{
    *out = calloc(1, sizeof(**out));
    return NULL;
}

static struct status *set_optimized(struct options *o, const char *path)
{
    snprintf(o->optimized, sizeof(o->optimized), "%s", path);
    return NULL;
}

static struct status *enable_profiling(struct options *o, const char *prefix)
{
    snprintf(o->prefix, sizeof(o->prefix), "%s", prefix);
    return NULL;
}

static struct status *set_level(struct options *o, int level)
{
    o->level = level;
    return level == 0 || level == 1 || level == 2 || level == 99 ? NULL : create_status(2, "bad level");
}

static struct status *set_threads(struct options *o, int n)
{
    o->threads = n;
    return n >= 0 ? NULL : create_status(2, "bad threads");
}

/* Options that take effect nowhere: they must be called with values that exist. */
static struct status *set_mode(struct options *o, int mode)
{
    return o && (mode == 0 || mode == 1) ? NULL : create_status(2, "bad execution mode");
}

static struct status *set_inter_threads(struct options *o, int n)
{
    return o && n >= 0 ? NULL : create_status(2, "bad threads between operators");
}

static struct status *switch_option(struct options *o)
{
    return has_mode("no_switches") ? create_status(2, "this switch is stuck")
           : o                     ? NULL
                                   : create_status(2, "no options");
}

static struct status *create_session(void *env, const char *model, const struct options *o,
                                     struct session **out)
{
    (void)env;
    if (has_mode("prints"))
        puts("this must not be seen"), fflush(stdout);
    if (has_mode("crash_loading"))
        fputs("terminate called\nthe last words\n", stderr), abort();
    if (has_mode("bad_model"))
        return create_status(7, "protobuf parsing\nfailed");
    if (has_mode("compiled") && *o->optimized && *o->providers)
        return create_status(1, "cannot serialize compiled nodes");
    struct session *s = calloc(1, sizeof(*s));
    s->o = *o;
    snprintf(s->model, sizeof(s->model), "%s", model);
    if (*o->optimized && !has_mode("no_optimized")) {
        FILE *from = fopen(model, "rb"), *to = fopen(o->optimized, "wb");
        for (int c; from && to && (c = fgetc(from)) != EOF;)
            fputc(c, to);
        if (from)
            fclose(from);
        if (to)
            fclose(to);
    }
    *out = s;
    return NULL;
}

static const unsigned char width[17] = {
    [1] = 4, [2] = 1,  [3] = 1,  [4] = 2,  [5] = 2,  [6] = 4,  [7] = 8,   [8] = 0,
    [9] = 1, [10] = 2, [11] = 8, [12] = 4, [13] = 8, [14] = 8, [15] = 16, [16] = 2};

static struct status *wrap_tensor(const void *memory, void *data, size_t bytes, const int64_t *dim,
                                  size_t rank, int dtype, struct value **out)
{
    uint64_t n = 1;
    for (size_t i = 0; i < rank; i++)
        n *= (uint64_t)dim[i];
    if (!memory || !data || dtype < 1 || dtype > 16 || n * width[dtype] != bytes)
        return create_status(2, "tensor: size and type do not fit");
    *out = calloc(1, sizeof(**out));
    **out = (struct value){dtype, bytes, data};
    return NULL;
}

static struct status *create_tensor(void *allocator, const int64_t *dim, size_t rank, int dtype,
                                    struct value **out)
{
    uint64_t n = 1;
    for (size_t i = 0; i < rank; i++)
        n *= (uint64_t)dim[i];
    if (!allocator || dtype != 8)
        return create_status(2, "only strings are made here");
    *out = calloc(1, sizeof(**out));
    **out = (struct value){dtype, (size_t)n, NULL};
    return NULL;
}

static struct status *fill_strings(struct value *v, const char *const *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!text[i])
            return create_status(2, "a string is NULL");
    return v->dtype == 8 && v->bytes == n ? NULL : create_status(2, "strings do not fit");
}

/* "slow": 400 ms; "noisy": 1, 10, 20, 30 ms and again, so that the quartiles are far apart. Else no time. */
static int run_ms(int run)
{
    return has_mode("slow") ? 400 : has_mode("noisy") ? (run % 4 ? run % 4 * 10 : 1) : 0;
}

static void sleep_ms(int ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L}, NULL);
}

/* Two numbers; "other_outputs": of a temporary file the second one is larger by a thousandth, "rounded": by a millionth. */
static const float *output_of(const struct session *s)
{
    static const float usual[] = {-4, 1}, other[] = {-4, 1.004f}, rounded[] = {-4, 1.000004f};
    bool temporary = strstr(s->model, "onnxcost-") != NULL;
    return temporary && has_mode("other_outputs") ? other
           : temporary && has_mode("rounded")     ? rounded
                                                  : usual;
}

static struct status *get_data(struct value *v, const void **data)
{
    *data = v->data;
    return NULL;
}

static struct status *get_shape(const struct value *v, struct value **out)
{
    *out = malloc(sizeof(**out));
    **out = *v;
    return NULL;
}

static struct status *get_dtype(const struct value *shape, int *dtype)
{
    *dtype = shape->dtype;
    return NULL;
}

static struct status *get_elements(const struct value *shape, size_t *n)
{
    *n = shape->bytes / width[shape->dtype];
    return NULL;
}

static struct status *run(struct session *s, const void *run_options, const char *const *in_name,
                          const struct value *const *in, size_t n_in, const char *const *out_name,
                          size_t n_out, struct value **out)
{
    if (has_mode("crash_running"))
        raise(SIGSEGV);
    if (has_mode("exit_running"))
        exit(7);
    if (has_mode("run_fails"))
        return create_status(1, "shapes do not fit");
    if (run_options || !n_in || !n_out || !in_name[0] || !in[0] || !out_name[0])
        return create_status(2, "bad arguments");
    for (size_t i = 0; i < n_out; i++) {
        out[i] = calloc(1, sizeof(**out));
        *out[i] = (struct value){1, 2 * sizeof(float), output_of(s)};
    }
    s->runs++;
    sleep_ms(run_ms(s->runs));
    return NULL;
}

static struct status *create_memory(int allocator, int type, void **out)
{
    static int memory;
    *out = &memory;
    return allocator == 1 && type == 0 ? NULL : create_status(2, "bad memory");
}

static struct status *get_allocator(void **out)
{
    static int allocator;
    *out = &allocator;
    return NULL;
}

/* The first provider as profiles name it. */
static const char *first_provider(const struct options *o)
{
    static char name[64];
    const char *cpu = *o->providers ? o->providers : "CPU(";
    snprintf(name, sizeof(name), "%.*sExecutionProvider", (int)strcspn(cpu, "("), cpu);
    return strncmp(name, "WebGPU", 6) ? name : "WebGpuExecutionProvider";
}

/* In the format of version 1.16: a session, and a node in each run. A run takes 20 us, and 10 more for each thread of
 * the options. */
static struct status *end_profiling(struct session *s, void *allocator, char **file)
{
    if (!*s->o.prefix || !allocator)
        return create_status(1, "there is no profile");
    size_t cap = strlen(s->o.prefix) + 64;
    int run_us = 20 + 10 * s->o.threads;
    *file = malloc(cap);
    snprintf(*file, cap, "%s_2026-01-01_00-00-00.json", s->o.prefix);
    if (has_mode("no_profile"))
        return NULL;
    FILE *f = fopen(*file, "wb");
    if (!f)
        return create_status(1, "cannot write");
    fprintf(f,
            "[\n{\"cat\" : \"Session\",\"pid\" :1,\"tid\" :1,\"dur\" :100,\"ts\" :1,\"ph\" : \"X\",\"name\" "
            ":\"session_initialization\",\"args\" : {\"added\" : \"%s\"}},\n",
            s->o.providers);
    for (int i = 0; i < s->runs && *s->o.providers; i++)
        fprintf(f,
                "{\"cat\" : \"Node\",\"pid\" :1,\"tid\" :1,\"dur\" :2,\"ts\" :%d,\"ph\" : \"X\",\"name\" "
                ":\"sum_kernel_time\",\"args\" : {\"provider\" : \"CPUExecutionProvider\",\"op_name\" : "
                "\"Add\",\"node_index\" : \"1\"}},\n",
                996 + 100 * i);
    for (int i = 0; i < s->runs; i++)
        fprintf(f,
                "{\"cat\" : \"Node\",\"pid\" :1,\"tid\" :1,\"dur\" :%d,\"ts\" :%d,\"ph\" : \"X\",\"name\" "
                ":\"act_kernel_time\",\"args\" : {\"provider\" : \"%s\",\"op_name\" : \"Relu\","
                "\"node_index\" : \"0\",\"thread_scheduling_stats\" : \"\"}},\n"
                "{\"cat\" : \"Session\",\"pid\" :1,\"tid\" :1,\"dur\" :%d,\"ts\" :%d,\"ph\" : \"X\",\"name\" "
                ":\"model_run\",\"args\" : {}}%s\n",
                10 + i % 5, 1000 + 100 * i, first_provider(&s->o), run_us, 995 + 100 * i,
                i + 1 < s->runs ? "," : "");
    fputs("]\n", f);
    fclose(f);
    return NULL;
}

static struct status *add_config(struct options *o, const char *key, const char *value)
{
    return o && key && value ? NULL : create_status(2, "bad entry");
}

/* ---- execution providers ---- */

static struct status *get_providers(char ***out, int *n)
{
    static char *names[] = {"CUDAExecutionProvider", "WebGpuExecutionProvider", "MIGraphXExecutionProvider",
                            "NewExecutionProvider", "CPUExecutionProvider"};
    if (has_mode("no_list"))
        return create_status(1, "no list today");
    *out = names;
    *n = 5;
    return NULL;
}

static struct status *release_providers(char **names, int n)
{
    return names && n == 5 ? NULL : create_status(2, "not the list");
}

static struct status *put_options(char *out, size_t cap, const char *const *key, const char *const *value,
                                  size_t n)
{
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(key[i], "bad"))
            return create_status(2, "there is no option bad");
        used += (size_t)snprintf(out + used, cap - used, "%s=%s,", key[i], value[i]);
    }
    return NULL;
}

static void put_provider(struct options *o, const char *name, const char *options)
{
    size_t used = strlen(o->providers);
    snprintf(o->providers + used, sizeof(o->providers) - used, "%s(%s)", name, options);
}

static struct status *append_by_name(struct options *o, const char *name, const char *const *key,
                                     const char *const *value, size_t n)
{
    char text[256] = "";
    struct status *s = put_options(text, sizeof(text), key, value, n);
    if (strcmp(name, "WebGPU") != 0 && strcmp(name, "New") != 0)
        return create_status(2, "unknown provider name");
    if (has_mode("no_device"))
        return create_status(1, "no device");
    if (!s)
        put_provider(o, name, text);
    return s;
}

static struct status *create_cuda(char **out)
{
    *out = calloc(1, 256);
    return NULL;
}

static struct status *update_cuda(char *cuda, const char *const *key, const char *const *value, size_t n)
{
    return n ? put_options(cuda, 256, key, value, n) : create_status(2, "nothing to update");
}

static struct status *append_cuda(struct options *o, const char *cuda)
{
    if (has_mode("no_device"))
        return create_status(1, "no device");
    put_provider(o, "CUDA", cuda);
    return NULL;
}

__attribute__((visibility("default"))) struct status *
OrtSessionOptionsAppendExecutionProvider_MIGraphX(struct options *o, int device);
struct status *OrtSessionOptionsAppendExecutionProvider_MIGraphX(struct options *o, int device)
{
    char text[32];
    snprintf(text, sizeof(text), "%d", device);
    put_provider(o, "MIGraphX", text);
    return NULL;
}

static void release(void *p)
{
    free(p);
}

static const void *table[256];
static const void *const *get_api(uint32_t version)
{
    if (version < 1 || version > (has_mode("1.10") ? 10 : 16) || has_mode("no_api"))
        return NULL;
    for (size_t i = 0; i < 256; i++) /* an entry that must not be called */
        table[i] = (const void *)abort;
#define SET(at, f) table[at] = (const void *)(f)
    SET(0, create_status), SET(1, get_code), SET(2, get_text), SET(3, create_env), SET(7, create_session);
    SET(9, run), SET(10, create_options), SET(11, set_optimized), SET(14, enable_profiling),
        SET(23, set_level);
    SET(24, set_threads), SET(48, create_tensor), SET(49, wrap_tensor), SET(52, fill_strings);
    SET(51, get_data), SET(60, get_dtype), SET(64, get_elements), SET(65, get_shape);
    SET(69, create_memory), SET(78, get_allocator), SET(110, end_profiling), SET(130, add_config);
    SET(13, set_mode), SET(25, set_inter_threads);
    for (int i = 16; i <= 19; i++) /* EnableMemPattern ... DisableCpuMemArena */
        SET(i, switch_option);
    for (int i = 92; i <= 100; i++) /* ReleaseEnv ... ReleaseSessionOptions */
        SET(i, release);
    SET(125, get_providers), SET(126, release_providers);
    if (version >= 11)
        SET(204, append_cuda), SET(205, create_cuda), SET(206, update_cuda), SET(208, release);
    if (version >= 12)
        SET(216, append_by_name);
    if (has_mode("hole"))
        table[110] = NULL;
    return table;
}

/* The version that the name of this file has: libonnxruntime.so.1.14.0; NULL: none. */
static const char *version_of_file(void)
{
    Dl_info info;
    const char *at = dladdr((const void *)version_of_file, &info) && info.dli_fname
                         ? strstr(info.dli_fname, ".so.1.")
                         : NULL;
    return at ? at + 4 : NULL;
}

static const char *get_version(void)
{
    return version_of_file()       ? version_of_file()
           : has_mode("old")       ? "1.3.0"
           : has_mode("ancient")   ? "0.5.0"
           : has_mode("words")     ? "latest"
           : has_mode("no_number") ? NULL
           : has_mode("1.10")      ? "1.10.0"
                                   : "1.16.0";
}

struct base {
    const void *const *(*get_api)(uint32_t);
    const char *(*get_version)(void);
};

__attribute__((visibility("default"))) const struct base *OrtGetApiBase(void);
const struct base *OrtGetApiBase(void)
{
    static const struct base base = {get_api, get_version}, empty = {NULL, NULL};
    return has_mode("no_base") ? NULL : has_mode("empty_base") ? &empty : &base;
}
