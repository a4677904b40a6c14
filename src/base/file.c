/* Files: mapped, opened only inside a folder, recognized by their first bytes; the folder of installed data.
 * Byte streams: stream.c; files of web servers: http.c. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/os.h"
#include "base/str.h"

/* ---- watch of mappings --------------------------------------------------------------------------------- */

static void (*_Atomic map_watch)(const char *path, const void *data, size_t size_bytes);

void oc_set_map_watch(void (*watch)(const char *path, const void *data, size_t size_bytes))
{
    atomic_store(&map_watch, watch);
}

static void notify_watch(const char *path, const void *data, uint64_t size_bytes)
{
    void (*watch)(const char *, const void *, size_t) = atomic_load(&map_watch);
    if (watch)
        watch(path, data, (size_t)size_bytes);
}

/* ---- folders that may be read ------------------------------------------------------------------------- */

struct roots {
    size_t n;
    bool urls;
    char *folder[]; /* resolved, without '/' at the end */
};

static struct roots *_Atomic roots; /* NULL: everywhere */

static void free_roots(struct roots *r)
{
    for (size_t i = 0; r && i < r->n; i++)
        free(r->folder[i]);
    free(r);
}

int oc_set_read_roots(const char *const *folder, size_t n, bool urls, struct oc_err *err)
{
    struct roots *r = NULL;
    if (n) {
        r = oc_xmalloc(sizeof(*r) + n * sizeof(r->folder[0]));
        *r = (struct roots){.urls = urls};
    }
    for (size_t i = 0; i < n; i++) {
        char *real = realpath(folder[i], NULL);
        if (!real) {
            oc_check_memory(errno);
            oc_fail(err, OC_ENOTFOUND, "cannot use the folder '%s': %s", folder[i], strerror(errno));
            free_roots(r);
            return -1;
        }
        size_t length = strlen(real);
        real[length - (real[length - 1] == '/')] = '\0';
        r->folder[r->n++] = real;
    }
    free_roots(atomic_exchange(&roots, r));
    return 0;
}

/* The folder that has this resolved path, NULL: none. */
static const char *root_of(const struct roots *r, const char *real)
{
    for (size_t i = 0; i < r->n; i++) {
        size_t n = strlen(r->folder[i]);
        if (!strncmp(r->folder[i], real, n) && (real[n] == '/' || !real[n]))
            return r->folder[i];
    }
    return NULL;
}

int oc_look_readable(const char *path)
{
    char real[PATH_MAX];
    const struct roots *r = atomic_load(&roots);
    if (!r)
        return 0;
    if (!realpath(path, real))
        return errno;
    return root_of(r, real) ? 0 : EXDEV;
}

bool oc_may_read_urls(void)
{
    const struct roots *r = atomic_load(&roots);
    return !r || r->urls;
}

static void (*_Atomic read_watch)(const char *path);

void oc_set_read_watch(void (*watch)(const char *path))
{
    atomic_store(&read_watch, watch);
}

void oc_file_note(const char *path)
{
    void (*watch)(const char *) = atomic_load(&read_watch);
    if (watch)
        watch(path);
}

static int open_to_read(const char *path)
{
    char real[PATH_MAX];
    const struct roots *r = atomic_load(&roots);
    if (!r)
        return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (!realpath(path, real))
        return -1;
    const char *root = root_of(r, real);
    if (!root) {
        errno = EXDEV;
        return -1;
    }
    const char *rest = real + strlen(root);
    /* a link that was placed on the path since the check is not followed */
    return oc_os_open_beneath(*root ? root : "/", *rest ? rest + 1 : ".", real);
}

int oc_file_open(const char *path)
{
    int fd = open_to_read(path);
    if (fd >= 0)
        oc_file_note(path);
    return fd;
}

/* ---- mapping ------------------------------------------------------------------------------------------ */

static int cannot_read(struct oc_err *err, const char *path, enum oc_code code, const char *why)
{
    oc_fail(err, code, "cannot read '%s': %s", path, why);
    return oc_err_at(err, path, 0, 0);
}

struct size_limit {
    uint64_t bytes;                       /* 0: none */
    const struct oc_input_limits *limits; /* origin of the time limit, NULL: none */
};

static int check_kind(const char *path, const struct stat *st, struct size_limit max, struct oc_err *err)
{
    uint64_t size = (uint64_t)st->st_size;
    if (S_ISDIR(st->st_mode))
        return cannot_read(err, path, OC_EIO,
                           "is a directory: give a file (onnxcost scan reads all models of a directory)");
    if (!S_ISREG(st->st_mode))
        return cannot_read(err, path, OC_EIO, "is not a regular file");
    if (!max.bytes || size <= max.bytes)
        return 0;
    if (max.limits)
        oc_input_limit_fail(max.limits, OC_LIMIT_FILE_BYTES, size, err);
    else
        oc_fail(err, OC_ELIMIT, "%llu bytes: more than %llu", (unsigned long long)size,
                (unsigned long long)max.bytes);
    oc_err_prefix(err, "cannot read '%s'", path);
    return oc_err_at(err, path, 0, 0);
}

struct part {
    uint64_t offset_bytes, size_bytes; /* UINT64_MAX: to the end */
};

static int map_fd(int fd, const char *path, struct size_limit max, struct part part, struct oc_file *out,
                  struct oc_err *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return cannot_read(err, path, OC_EIO, strerror(errno));
    if (check_kind(path, &st, max, err) != 0)
        return -1;
    uint64_t size = (uint64_t)st.st_size, left = size < part.offset_bytes ? 0 : size - part.offset_bytes;
    uint64_t n = left < part.size_bytes ? left : part.size_bytes;
    if (n == 0)
        return 0;
    void *p = oc_os_map(fd, path, part.offset_bytes, n);
    if (!p && errno == ENOMEM)
        oc_out_of_memory((size_t)n);
    if (!p)
        return cannot_read(err, path, OC_EIO, strerror(errno));
    *out = (struct oc_file){.data = p, .size_bytes = n, .mapped = true};
    notify_watch(path, p, n);
    return 0;
}

static const struct part whole = {0, UINT64_MAX};

static bool is_url(const char *path)
{
    size_t n = strspn(path, "abcdefghijklmnopqrstuvwxyz0123456789");
    return n > 1 && strncmp(path + n, "://", 3) == 0;
}

static int cannot_open(struct oc_err *err, const char *path, int error)
{
    if (error == ENOENT && is_url(path))
        return cannot_read(err, path, OC_EIO, "this is a URL, and only files are read: download it first");
    if (error == EMFILE || error == ENFILE)
        return cannot_read(err, path, OC_EMEMORY, strerror(error));
    if (error == EXDEV)
        return cannot_read(err, path, OC_EARG, "it is not inside the folder of --root");
    return cannot_read(err, path, OC_EIO, strerror(error));
}

/* "-" is standard input, which must be a regular file: it is read more than once. */
static int map_input(struct size_limit max, struct oc_file *out, struct oc_err *err)
{
    struct stat st;
    if (fstat(STDIN_FILENO, &st) == 0 && !S_ISREG(st.st_mode))
        return cannot_read(err, "-", OC_EIO, "standard input is not a regular file");
    return map_fd(STDIN_FILENO, "-", max, whole, out, err);
}

static int map_file(const char *path, struct size_limit max, struct oc_file *out, struct oc_err *err)
{
    *out = (struct oc_file){0};
    if (!strcmp(path, "-"))
        return map_input(max, out, err);
    int fd = oc_file_open(path);
    if (fd < 0)
        oc_check_memory(errno);
    if (fd < 0)
        return cannot_open(err, path, errno);
    int rc = map_fd(fd, path, max, whole, out, err);
    close(fd);
    return rc;
}

int oc_file_map(const char *path, uint64_t max_bytes, struct oc_file *out, struct oc_err *err)
{
    return map_file(path, (struct size_limit){.bytes = max_bytes}, out, err);
}

static struct size_limit input_limit(const struct oc_input_limits *limits)
{
    static const struct oc_input_limits defaults = {.external_anywhere = false};
    return (struct size_limit){oc_input_limit(limits, OC_LIMIT_FILE_BYTES), limits ? limits : &defaults};
}

int oc_file_map_capped(const char *path, const struct oc_input_limits *limits, struct oc_file *out,
                       struct oc_err *err)
{
    return map_file(path, input_limit(limits), out, err);
}

int oc_file_map_part(int fd, const char *path, const struct oc_input_limits *limits, uint64_t offset_bytes,
                     uint64_t size_bytes, struct oc_file *out, struct oc_err *err)
{
    *out = (struct oc_file){0};
    return map_fd(fd, path, input_limit(limits), (struct part){offset_bytes, size_bytes}, out, err);
}

void oc_file_unmap(struct oc_file *f)
{
    if (f->mapped) {
        notify_watch(NULL, f->data, f->size_bytes);
        oc_os_unmap(f->data, f->size_bytes);
    }
    if (f->remote)
        oc_remote_unmap(f);
    *f = (struct oc_file){0};
}

void oc_file_forget(const struct oc_file *f, uint64_t offset, size_t n)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE); /* only whole pages inside the range */
    uint64_t from = (offset + page - 1) / page * page, end = (offset + n) / page * page;
    if (f->mapped && end > from && end <= f->size_bytes)
        oc_os_advise(f->data + from, (size_t)(end - from), OC_OS_FORGET);
}

/* ---- inside a folder --------------------------------------------------------------------------------- */

struct place {
    char folder[PATH_MAX], path[PATH_MAX]; /* resolved: no links */
    const char *rest;                      /* length of the path after the folder */
};

static int file_find(const char *folder, const char *path, struct place *out)
{
    char joined[PATH_MAX];
    size_t n = strlen(folder);
    const char *slash = !n || folder[n - 1] == '/' ? "" : "/";
    int len = path[0] == '/' ? snprintf(joined, sizeof(joined), "%s", path)
                             : snprintf(joined, sizeof(joined), "%s%s%s", folder, slash, path);
    if (len < 0 || (size_t)len >= sizeof(joined))
        return ENAMETOOLONG;
    if (!realpath(n ? folder : ".", out->folder) || !realpath(joined, out->path))
        return errno;
    n = strlen(out->folder);
    n -= out->folder[n - 1] == '/'; /* the root folder */
    if (strncmp(out->folder, out->path, n) != 0 || out->path[n] != '/')
        return EXDEV;
    out->rest = out->path + n + 1;
    int error = oc_look_readable(out->path);
    if (!error)
        oc_file_note(out->path);
    return error;
}

int oc_look_inside(const char *folder, const char *path)
{
    struct place p;
    return file_find(folder, path, &p);
}

int oc_open_inside(const char *folder, const char *path)
{
    struct place p;
    int error = file_find(folder, path, &p);
    if (error) {
        errno = error;
        return -1;
    }
    /* a link that was placed on the path since the check is not followed */
    return oc_os_open_beneath(p.folder, p.rest, p.path);
}

/* ---- file type ---------------------------------------------------------------------------------------- */

enum { LOOK_BYTES = 4096, WITH_BYTES = 65536 }; /* text or not; for `with` */

struct row {
    const char *magic; /* bytes at `at`, NULL: any; text that begins so, in any letter case, with `text` */
    unsigned short n, at;
    bool text;
    const char *with;   /* is somewhere in the first WITH_BYTES, NULL: any */
    const char *suffix; /* end of the name, NULL: any */
    struct oc_signature is;
};

#define BYTES(bytes) .magic = (bytes), .n = sizeof(bytes) - 1
#define TEXT(start)  .magic = (start), .n = sizeof(start) - 1, .text = true

#define EXPORT_ENGINE                                                                                        \
    "export its profile: trtexec --loadEngine=FILE --profilingVerbosity=detailed "                           \
    "--exportProfile=x.profile.json --exportLayerInfo=x.graph.json"
#define EXPORT_NSYS     "export it: nsys export --type sqlite --output x.sqlite FILE"
#define EXPORT_QDSTRM   "export it: QdstrmImporter -i FILE, then nsys export --type sqlite"
#define UNPACK          "unpack it: tar -xzf FILE"
#define EXPORT_PERFETTO "convert it: traceconv json FILE x.json"
#define EXPORT_NCU      "export it: ncu --import FILE --csv --page raw"
#define EXPORT_TORCH                                                                                         \
    "export the model in Python: torch.onnx.export(model, inputs, \"model.onnx\") (a checkpoint needs its "  \
    "model class)"
#define EXPORT_KERAS    "convert it: python -m tf2onnx.convert --keras FILE --output model.onnx"
#define EXPORT_TF       "convert it: python -m tf2onnx.convert --saved-model FOLDER --output model.onnx"

#define A_TEXT          "a text file"
#define GET_FILE        "get the file itself: this may be its path (a link without its target) or a placeholder"

#define MINDSPORE_FLOPS "a MindSpore file with FLOPs of operators without times"
#define TABLE_OF_TIMES  "give aicore_intermediate_<n>_detail.csv of the same folder"

/* The first row that fits. */
static const struct row rows[] = {
    /* downloads that went wrong */
    {TEXT("version https://git-lfs.github.com/spec/"),
     .is = {"a Git LFS pointer", "fetch the file: git lfs pull"}},
    {TEXT("<!doctype html"), .is = {"an HTML page", "download the file itself, not the page about it"}},
    {TEXT("<html"), .is = {"an HTML page", "download the file itself, not the page about it"}},
    {TEXT("<?xml"), .with = "<Error>",
     .is = {"an XML error reply of a server", "read it, and download the file again"}},
    {TEXT("{\"error\""), .is = {"a JSON error reply of a server", "read it, and download the file again"}},
    {TEXT("{\"message\""), .is = {"a JSON error reply of a server", "read it, and download the file again"}},
    {TEXT("{\"detail\""), .is = {"a JSON error reply of a server", "read it, and download the file again"}},
    /* other forms of ONNX */
    {TEXT("ir_version"),
     .is = {"an ONNX model in protobuf's text form",
            "convert it: onnx.save(onnx.load(\"FILE\", format=\"textproto\"), \"model.onnx\")"}},
    {TEXT("{"), .with = "\"irVersion\"",
     .is = {"an ONNX model as JSON",
            "convert it: onnx.save(onnx.load(\"FILE\", format=\"json\"), \"model.onnx\")"}},
    {TEXT("<"), .with = "ir_version:",
     .is = {"an ONNX model in ONNX's text syntax",
            "convert it: onnx.save(onnx.parser.parse_model(open(\"FILE\").read()), \"model.onnx\")"}},
    {BYTES("ORTM"), .at = 4,
     .is = {"a model in ORT format", "give the ONNX model that it was made from: ORT format cannot be read"}},
    /* other frameworks */
    {BYTES("PK\3\4"), .with = "data.pkl", .is = {"a PyTorch file", EXPORT_TORCH}},
    {BYTES("PK\3\4"), .with = "constants.pkl", .is = {"a TorchScript file", EXPORT_TORCH}},
    {BYTES("PK\3\4"), .with = ".npy", .is = {"a NumPy archive (.npz)", "give an ONNX model or a profile"}},
    {BYTES("PK\3\4"), .suffix = ".keras", .is = {"a Keras model", EXPORT_KERAS}},
    {BYTES("PK\3\4"), .suffix = ".pt", .is = {"a PyTorch file", EXPORT_TORCH}},
    {BYTES("PK\3\4"), .suffix = ".pth", .is = {"a PyTorch file", EXPORT_TORCH}},
    {BYTES("PK\3\4"), .suffix = ".pt2", .is = {"a PyTorch file", EXPORT_TORCH}},
    {BYTES("PK\3\4"), .is = {"a zip archive", "unpack it: unzip FILE"}},
    {BYTES("PK\5\6"), .is = {"an empty zip archive", "give an ONNX model or a profile"}},
    {BYTES("\x80\2"), .is = {"a Python pickle (maybe a PyTorch checkpoint)", EXPORT_TORCH}},
    {BYTES("\x80\3"), .is = {"a Python pickle (maybe a PyTorch checkpoint)", EXPORT_TORCH}},
    {BYTES("\x80\4"), .is = {"a Python pickle (maybe a PyTorch checkpoint)", EXPORT_TORCH}},
    {BYTES("\x80\5"), .is = {"a Python pickle (maybe a PyTorch checkpoint)", EXPORT_TORCH}},
    {BYTES("TFL3"), .at = 4,
     .is = {"a TensorFlow Lite model",
            "convert it: python -m tf2onnx.convert --tflite FILE --output model.onnx"}},
    {BYTES("\x89HDF\r\n\x1a\n"), .is = {"an HDF5 file (maybe a Keras model)", EXPORT_KERAS}},
    {BYTES("GGUF"), .is = {"a GGUF model of llama.cpp", "give it as the model: onnxcost FILE"}},
    {BYTES("\0\0\0\0{"), .at = 4, .is = {"a safetensors file", "give it as the model: onnxcost FILE"}},
    {.suffix = "saved_model.pb", .is = {"a TensorFlow SavedModel", EXPORT_TF}},
    {.suffix = ".mlmodel", .is = {"a Core ML model", "give the ONNX model that it was made from"}},
    {TEXT("<?xml"), .with = "<net ",
     .is = {"an OpenVINO IR model", "give the ONNX model that it was made from"}},
    {BYTES("ML\xefR"), .is = {"MLIR bytecode", "give the ONNX model that it was made from"}},
    {BYTES("\x93NUMPY"), .is = {"a NumPy array", "give an ONNX model or a profile"}},
    /* engines and reports that only their own tool can read */
    {BYTES("QDSTRM"), .is = {"an Nsight Systems recording", EXPORT_QDSTRM}},
    {.suffix = ".qdstrm", .is = {"an Nsight Systems recording", EXPORT_QDSTRM}},
    {.suffix = ".nsys-rep", .is = {"an Nsight Systems report", EXPORT_NSYS}},
    {.suffix = ".qdrep", .is = {"an Nsight Systems report", EXPORT_NSYS}},
    {BYTES("NVR\0"), .is = {"an Nsight Compute report", EXPORT_NCU}},
    {.suffix = ".tar.gz", .is = {"an archive of files", UNPACK}},
    {.suffix = ".tgz", .is = {"an archive of files", UNPACK}},
    {.suffix = ".pftrace", .is = {"a Perfetto trace", EXPORT_PERFETTO}},
    {.suffix = ".perfetto-trace", .is = {"a Perfetto trace", EXPORT_PERFETTO}},
    {.suffix = ".ncu-rep", .is = {"an Nsight Compute report", EXPORT_NCU}},
    {BYTES("ftrt"), .is = {"a TensorRT engine", EXPORT_ENGINE}},
    {BYTES("ptrt"), .is = {"a TensorRT engine", EXPORT_ENGINE}},
    {.suffix = ".trt", .is = {"a TensorRT engine", EXPORT_ENGINE}},
    {.suffix = ".engine", .is = {"a TensorRT engine", EXPORT_ENGINE}},
    {.suffix = ".plan", .is = {"a TensorRT engine", EXPORT_ENGINE}},
    {BYTES("PERFILE2"), .is = {"a perf recording", "export it: perf report --stdio -n -t, -i FILE"}},
    {.suffix = ".pstats",
     .is = {"Python's profile data",
            "print it: python3 -c 'import pstats; pstats.Stats(\"FILE\").print_stats()'"}},
    /* files of profilers without times */
    {TEXT("{"), .with = "[pytorch|profiler|execution_trace",
     .is = {"a PyTorch execution trace (operators without times)",
            "record times: torch.profiler.profile(...) as prof, then "
            "prof.export_chrome_trace(\"trace.json\")"}},
    {TEXT("full_kernel_name,"), .with = "FLOPS utilization", .is = {MINDSPORE_FLOPS, TABLE_OF_TIMES}},
    {TEXT("{\"FLOPs\""), .with = "\"FLOPS_Utilization\"", .is = {MINDSPORE_FLOPS, TABLE_OF_TIMES}},
    {TEXT("{\"data\": {\"nodes\""), .with = "(Default)\"", .is = {MINDSPORE_FLOPS, TABLE_OF_TIMES}},
    {TEXT("{\"total_time\""), .with = "\"num_of_streams\"",
     .is = {"the summary of a MindSpore timeline", "give the timeline: *_timeline_display_<n>.json"}},
    {TEXT("{"), .with = "speedscope.app/file-format-schema",
     .is = {"a speedscope profile (stacks of functions)",
            "record operators: torch.profiler, or ONNX Runtime with enable_profiling"}},
    {TEXT("[[1"), .suffix = ".json",
     .is = {"a list of numbers (maybe PyTorch's memory timeline, which has no times of operators)",
            "record times: prof.export_chrome_trace(\"trace.json\")"}},
    {TEXT(""), .with = "Performance counter stats for ",
     .is = {"a report of perf stat (counters without functions)",
            "record functions: perf record PROGRAM, then perf report --stdio -n"}},
    {TEXT(""), .with = "DeepSpeed Flops Profiler",
     .is = {"a report of DeepSpeed's flops profiler without the tree of modules",
            "print it with detailed=True (\"flops_profiler\": {\"detailed\": true} in the configuration)"}},
    {TEXT(""), .with = "== Metric result:",
     .is = {"a report of nvprof with metrics and no times", "run nvprof without --metrics and --events"}},
    {TEXT(""), .with = "No kernels were profiled.",
     .is = {"a report of nvprof without kernels", "run nvprof --profile-child-processes PROGRAM, on a GPU "
                                                  "that it supports (compute capability below 8.0)"}},
    {TEXT(""), .with = "Line #      Hits         Time",
     .is = {"a report of line_profiler (the time of a line contains that of the functions it calls)",
            "record functions: python -m cProfile -o run.prof PROGRAM, or operators: torch.profiler"}},
    {TEXT(""), .with = "\"Counter_Name\",\"Counter_Value\"",
     .is = {"a table of rocprofv3 with counters and no times", "run rocprofv3 --kernel-trace"}},
    {TEXT("Dispatch_ID,Kernel_Name,GPU_ID"),
     .is = {"a list of the kernels that rocprof-compute counted, without times",
            "read pmc_kernel_top.csv, or run rocprofv3 --kernel-trace"}},
    {TEXT("["), .with = "\"cumulativeTimePercent\"",
     .is = {"a page of XProf's dashboard (shares of the ten longest operators)",
            "read the file of the trace: plugins/profile/RUN/HOST.xplane.pb"}},
    {TEXT(""), .with = "#parameters or shape",
     .is = {"a table of fvcore (parameters and FLOPs without times)",
            "export the model (torch.onnx.export) to count it, or record times: torch.profiler"}},
    {TEXT("{\"i\": [["), .with = "\"r\": [[",
     .is = {"a tuning log of TVM's auto_scheduler (times of schedules)",
            "build the model with it, then print(report) of debug_executor.profile()"}},
    {TEXT("&&&& RUNNING TensorRT.trtexec"),
     .is = {"a log of trtexec without times of layers",
            "run trtexec with --dumpProfile, or with --exportProfile=x.profile.json"}},
    {TEXT("Processing ["), .with = "/rules/",
     .is = {"a report of Nsight Systems' analysis rules",
            "print times: nsys stats --report cuda_gpu_kern_sum FILE"}},
    /* containers */
    {BYTES("\x1f\x8b"),
     .is = {"a gzip file", "decompress it with gunzip (of .gz files only profiles are read)"}},
    {BYTES("\xfd"
           "7zXZ\0"),
     .is = {"an xz file", "decompress it: unxz FILE"}},
    {BYTES("\x28\xb5\x2f\xfd"), .is = {"a zstd file", "decompress it: unzstd FILE"}},
    {BYTES("BZh"), .is = {"a bzip2 file", "decompress it: bunzip2 FILE"}},
    {BYTES("7z\xbc\xaf\x27\x1c"), .is = {"a 7-Zip archive", "unpack it: 7z x FILE"}},
    {BYTES("ustar"), .at = 257, .is = {"a tar archive", "unpack it: tar xf FILE"}},
    {BYTES("\x7f"
           "ELF"),
     .is = {"a program or shared library (ELF)", "give an ONNX model or a profile"}},
    /* text under a name of other contents */
    {TEXT("{"), .with = "\"onnxcost.",
     .is = {"a JSON file of onnxcost", "give the model or the profile that it was made from"}},
    {TEXT("{"), .suffix = "config.json",
     .is = {"JSON without model_type",
            "give the config.json of a model of Hugging Face's transformers, which has model_type"}},
    {TEXT(""), .suffix = ".onnx", .is = {A_TEXT, GET_FILE}},
    {TEXT(""), .suffix = ".safetensors", .is = {A_TEXT, GET_FILE}},
    {TEXT(""), .suffix = ".gguf", .is = {A_TEXT, GET_FILE}},
    {BYTES("\x89PNG"), .is = {"an image (PNG)", "give an ONNX model or a profile"}},
    {BYTES("\xff\xd8\xff"), .is = {"an image (JPEG)", "give an ONNX model or a profile"}},
    {BYTES("%PDF-"), .is = {"a PDF document", "give an ONNX model or a profile"}},
};

bool oc_is_text(const void *data, size_t n)
{
    const unsigned char *p = data;
    size_t odd = 0;
    for (size_t i = 0; i < n; i++)
        odd += p[i] < 32 && !oc_is_space((char)p[i]);
    return odd * 100 <= n;
}

static bool ends_with(const char *s, const char *suffix)
{
    size_t n = strlen(s), k = strlen(suffix);
    return n >= k && oc_ncasecmp(s + n - k, suffix, k) == 0;
}

static bool fits_row(const struct row *r, const char *path, const char *data, size_t n, bool text)
{
    if (r->suffix && !ends_with(path, r->suffix))
        return false;
    if (r->with && !oc_find(data, n < WITH_BYTES ? n : WITH_BYTES, r->with, strlen(r->with)))
        return false;
    if (!r->magic)
        return !text;
    if (r->text)
        return (r->n || r->with || (text && n)) && n >= r->n && oc_ncasecmp(data, r->magic, r->n) == 0;
    return n >= (size_t)r->at + r->n && memcmp(data + r->at, r->magic, r->n) == 0;
}

const struct oc_signature *oc_recognize(const char *path, const void *data, size_t n)
{
    const char *p = data;
    size_t skip = n >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    while (skip < n && oc_is_space(p[skip]))
        skip++;
    bool text = oc_is_text(data, n < LOOK_BYTES ? n : LOOK_BYTES);
    for (size_t i = 0; i < OC_COUNT(rows); i++) {
        size_t from = rows[i].text ? skip : 0;
        if (fits_row(&rows[i], path, p + from, n - from, text))
            return &rows[i].is;
    }
    return NULL;
}

/* A file that has a name of weights is one, however broken: its reader says what is wrong. */
static enum oc_described described_by_name(const char *path, const void *data, size_t n)
{
    struct oc_str name = oc_str(path, strlen(path));
    enum oc_described is = oc_str_ends(name, ".safetensors")              ? OC_DESCRIBED_SAFETENSORS
                           : oc_str_ends(name, ".safetensors.index.json") ? OC_DESCRIBED_INDEX
                                                                          : OC_DESCRIBED_NOT;
    return is && !oc_recognize(path, data, n) ? is : OC_DESCRIBED_NOT;
}

enum oc_described oc_described_by(const char *path, const void *data, size_t n)
{
    const char *p = data;
    size_t i = 0, look = n < WITH_BYTES ? n : WITH_BYTES;
    if (n >= 4 && !memcmp(p, "GGUF", 4))
        return OC_DESCRIBED_GGUF;
    if (n > 9 && !memcmp(p + 4, "\0\0\0\0{", 5))
        return OC_DESCRIBED_SAFETENSORS;
    while (i < n && i < 64 && strchr(" \t\r\n", p[i]) && p[i])
        i++;
    if (i == n || p[i] != '{')
        return described_by_name(path, data, n);
    if (oc_find(p, look, "\"weight_map\"", 12))
        return OC_DESCRIBED_INDEX;
    static const char *const said[] = {"\"model_type\"", "\"hidden_size\"", "\"n_layers\"",
                                       "\"architectures\"", "\"ssm_cfg\""};
    for (i = 0; i < OC_COUNT(said); i++)
        if (oc_find(p, look, said[i], strlen(said[i])))
            return OC_DESCRIBED_CONFIG;
    return described_by_name(path, data, n);
}

/* Weights count whatever is in them: the reader says what is wrong. */
static bool describes_model(const char *path, struct oc_arena *arena)
{
    const char *data;
    size_t n;
    return access(path, F_OK) == 0 && oc_file_peek(path, WITH_BYTES, arena, &data, &n, NULL) == 0 &&
           (oc_described_by(path, data, n) != OC_DESCRIBED_NOT ||
            oc_str_ends(oc_str(path, strlen(path)), ".safetensors"));
}

const char *oc_model_of_folder(const char *path, struct oc_arena *arena)
{
    static const char *const name[] = {"model.safetensors.index.json", "model.safetensors"};
    size_t n = strlen(path);
    const char *slash = n && path[n - 1] == '/' ? "" : "/";
    struct stat st;
    for (size_t i = 0; n && i < OC_COUNT(name); i++) {
        const char *file = oc_printf(arena, "%s%s%s", path, slash, name[i]);
        if (lstat(file, &st) ==
            0) /* also broken, or a link to nothing: weights that cannot be read are not absent */
            return file;
    }
    const char *config = oc_printf(arena, "%s%sconfig.json", path, slash);
    return n && describes_model(config, arena) ? config : NULL;
}

/* ---- folder of installed data ------------------------------------------------------------------------- */

#define LEVELS 6 /* build/<mode>/unit/<folder>/test is five levels below the checkout */

/* The nearest folder `name` in a parent folder of `path`; modifies `path`. NULL: none exists. */
static const char *above(struct oc_arena *a, char *path, const char *name)
{
    static const char *const below[] = {"", "share/onnxcost/"};
    for (int level = 0; level < LEVELS; level++) {
        char *slash = strrchr(path, '/');
        if (!slash)
            return NULL;
        *slash = '\0';
        for (size_t i = 0; i < OC_COUNT(below); i++) {
            const char *dir = oc_printf(a, "%s/%s%s", path, below[i], name);
            if (access(oc_printf(a, "%s/%s.rng", dir, name), R_OK) == 0)
                return dir;
        }
    }
    return NULL;
}

static char *program_path(struct oc_arena *a)
{
    char path[PATH_MAX];
    return oc_os_program_path(path, sizeof(path)) ? oc_strdup(a, path) : NULL;
}

/* The file that this code was loaded from, without symbolic links. NULL: unknown, or the loader has only a
 * relative name. */
static char *library_path(struct oc_arena *a)
{
    static const char here = 0;
    char file[PATH_MAX], path[PATH_MAX];
    oc_os_library_file(&here, file, sizeof(file));
    if (file[0] != '/' || !realpath(file, path))
        return NULL;
    return oc_strdup(a, path);
}

const char *oc_data_dir(struct oc_arena *a, const char *name)
{
    /* the library first: the program may be an interpreter next to another installation's data */
    char *place[] = {library_path(a), program_path(a)};
    for (size_t i = 0; i < OC_COUNT(place); i++) {
        const char *dir = place[i] ? above(a, place[i], name) : NULL;
        if (dir)
            return dir;
    }
    const char *installed = oc_printf(a, OC_DATADIR "/%s", name);
    return access(installed, R_OK) == 0 ? installed : NULL;
}
