/* ONNX Runtime's shared library, loaded on demand: where it may be, and the part of its C API that a
 * recording needs, in declarations of our own.
 *
 * The library exports OrtGetApiBase(), which gives {GetApi(version), GetVersionString()}. An OrtApi is a
 * table of function pointers that only ever grows at its end, so a function is known by its index; enum
 * ort_index has those that are used, all but the last present since API version 5. A function of a later version than
 * OC_ORT_API_VERSION is called only when `api_version` has it. Functions that can fail return an OrtStatus, NULL:
 * fine. Nothing of a library is trusted before oc_ort_open has tried it; still it is foreign code, so it should run
 * in a process of its own (run/record_files.h). */
#ifndef OC_ORT_LIB_H
#define OC_ORT_LIB_H

#include "base/arena.h"

/* Node.js's name of this architecture (process.arch): a folder of the npm package onnxruntime-node */
#if defined(__x86_64__)
#define OC_NODE_ARCH "x64"
#elif defined(__aarch64__)
#define OC_NODE_ARCH "arm64"
#elif defined(__s390x__)
#define OC_NODE_ARCH "s390x"
#elif defined(__powerpc64__)
#define OC_NODE_ARCH "ppc64"
#elif defined(__riscv)
#define OC_NODE_ARCH "riscv64"
#else
#define OC_NODE_ARCH "unknown"
#endif

enum {
    OC_ORT_MIN_VERSION = 10, /* 1.10: the first whose profiles the importer was tested with */
    OC_ORT_API_VERSION = 10
};

enum ort_index {
    ORT_CREATE_STATUS = 0,
    ORT_GET_ERROR_CODE = 1,
    ORT_GET_ERROR_MESSAGE = 2,
    ORT_CREATE_ENV = 3,
    ORT_CREATE_SESSION = 7,
    ORT_RUN = 9,
    ORT_CREATE_SESSION_OPTIONS = 10,
    ORT_SET_OPTIMIZED_MODEL_FILE_PATH = 11,
    ORT_SET_SESSION_EXECUTION_MODE = 13,
    ORT_ENABLE_PROFILING = 14,
    ORT_ENABLE_MEM_PATTERN = 16,
    ORT_DISABLE_MEM_PATTERN = 17,
    ORT_ENABLE_CPU_MEM_ARENA = 18,
    ORT_DISABLE_CPU_MEM_ARENA = 19,
    ORT_SET_GRAPH_OPTIMIZATION_LEVEL = 23,
    ORT_SET_INTRA_OP_NUM_THREADS = 24,
    ORT_SET_INTER_OP_NUM_THREADS = 25,
    ORT_CREATE_TENSOR_AS_ORT_VALUE = 48,
    ORT_CREATE_TENSOR_WITH_DATA = 49,
    ORT_GET_TENSOR_MUTABLE_DATA = 51,
    ORT_FILL_STRING_TENSOR = 52,
    ORT_GET_TENSOR_ELEMENT_TYPE = 60,
    ORT_GET_TENSOR_SHAPE_ELEMENT_COUNT = 64,
    ORT_GET_TENSOR_TYPE_AND_SHAPE = 65,
    ORT_CREATE_CPU_MEMORY_INFO = 69,
    ORT_GET_ALLOCATOR = 78,
    ORT_RELEASE_STATUS = 93,
    ORT_RELEASE_SESSION = 95,
    ORT_RELEASE_VALUE = 96,
    ORT_RELEASE_TENSOR_TYPE_AND_SHAPE_INFO = 99,
    ORT_RELEASE_SESSION_OPTIONS = 100,
    ORT_SESSION_END_PROFILING = 110,
    ORT_GET_AVAILABLE_PROVIDERS = 125,
    ORT_RELEASE_AVAILABLE_PROVIDERS = 126,
    ORT_ADD_SESSION_CONFIG_ENTRY = 130,
    ORT_APPEND_PROVIDER = 216 /* since API version 12 */
};

/* Objects of the library. */
struct ort_status;
struct ort_env;
struct ort_session;
struct ort_options;
struct ort_value;
struct ort_memory;
struct ort_allocator;
struct ort_shape;

struct oc_ort {
    void *handle;
    char file[512];
    char version[32];
    uint32_t api_version;   /* highest that the library offers, by its version */
    const void *const *api; /* OrtApi of that version */
    struct ort_status *(*create_status)(int code, const char *text);
    int (*get_error_code)(const struct ort_status *);
    const char *(*get_error_message)(const struct ort_status *);
    struct ort_status *(*create_env)(int log_level, const char *id, struct ort_env **);
    struct ort_status *(*create_session)(struct ort_env *, const char *path, const struct ort_options *,
                                         struct ort_session **);
    struct ort_status *(*run)(struct ort_session *, const void *run_options, const char *const *input_name,
                              const struct ort_value *const *input, size_t n_input,
                              const char *const *output_name, size_t n_output, struct ort_value **output);
    struct ort_status *(*create_options)(struct ort_options **);
    struct ort_status *(*set_optimized_model)(struct ort_options *, const char *path);
    struct ort_status *(*enable_profiling)(struct ort_options *, const char *prefix);
    struct ort_status *(*set_level)(struct ort_options *, int level);
    struct ort_status *(*set_intra_threads)(struct ort_options *, int n);
    struct ort_status *(*set_inter_threads)(struct ort_options *, int n);
    struct ort_status *(*set_execution_mode)(struct ort_options *, int mode);
    struct ort_status *(*enable_pattern)(struct ort_options *);
    struct ort_status *(*disable_pattern)(struct ort_options *);
    struct ort_status *(*enable_arena)(struct ort_options *);
    struct ort_status *(*disable_arena)(struct ort_options *);
    struct ort_status *(*create_tensor)(struct ort_allocator *, const int64_t *dim, size_t rank, int dtype,
                                        struct ort_value **);
    struct ort_status *(*wrap_tensor)(const struct ort_memory *, void *data, size_t bytes, const int64_t *dim,
                                      size_t rank, int dtype, struct ort_value **);
    struct ort_status *(*fill_strings)(struct ort_value *, const char *const *text, size_t n);
    struct ort_status *(*get_data)(struct ort_value *, void **data);
    struct ort_status *(*get_shape)(const struct ort_value *, struct ort_shape **);
    struct ort_status *(*get_dtype)(const struct ort_shape *, int *dtype);
    struct ort_status *(*get_elements)(const struct ort_shape *, size_t *n);
    void (*release_shape)(struct ort_shape *);
    struct ort_status *(*create_cpu_memory)(int allocator_type, int memory_type, struct ort_memory **);
    struct ort_status *(*get_allocator)(struct ort_allocator **);
    void (*release_status)(struct ort_status *);
    void (*release_session)(struct ort_session *);
    void (*release_value)(struct ort_value *);
    void (*release_options)(struct ort_options *);
    struct ort_status *(*end_profiling)(struct ort_session *, struct ort_allocator *, char **file);
    struct ort_status *(*add_config)(struct ort_options *, const char *key, const char *value);
    struct ort_status *(*get_providers)(char ***name, int *n);
    struct ort_status *(*release_providers)(char **name, int n);
};

/* Loads and tests the library: version, API, and whether an error can be read back. */
int oc_ort_open(const char *file, struct oc_ort *out, struct oc_err *err);

/* A file that may be the library. */
struct oc_ort_place {
    const char *file;
    const char *why_not; /* why it is not loaded unless it is named; NULL: it is loaded */
};

/* In the order in which they are tried: what the dynamic linker finds, Python environments and npm folders
 * named by the environment (VIRTUAL_ENV, CONDA_PREFIX, NODE_PATH), those of ~/.local and of the system; then
 * what is not loaded: .venv and node_modules of the working directory and of the folders above it. In the
 * arena. */
size_t oc_ort_places(struct oc_arena *a, const struct oc_ort_place **out);

/* NULL: fine, else -1 with "<what>: <ONNX Runtime's message>". Releases the status. */
int oc_ort_check(const struct oc_ort *ort, struct ort_status *status, enum oc_code code, const char *what,
                 struct oc_err *err);

/* ---- outputs (ort_outputs.c) ---- */

/* The largest difference between outputs of two runs, relative to the largest magnitude of an output; INFINITY: they have
 * other types or sizes, or contents that are not numbers. Outputs that are not tensors are an error of the runtime. */
struct ort_status *oc_ort_difference(const struct oc_ort *ort, struct ort_value *const *a,
                                     struct ort_value *const *b, size_t n, double *difference);

/* ---- session options (session_options.c) ---- */

struct oc_record_opts;
/* Whether threads, level and entries of the session are what ONNX Runtime's options can have. */
int oc_ort_check_options(const struct oc_record_opts *o, struct oc_err *err);
/* Sets them. Returns the status of the first that fails; NULL: fine. */
struct ort_status *oc_ort_set_options(const struct oc_ort *ort, struct ort_options *to,
                                      const struct oc_record_opts *o, struct oc_arena *a);

#endif
