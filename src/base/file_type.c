#include "base/file.h"

#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/str.h"

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
#define EXPORT_NSYS   "export it: nsys export --type sqlite --output x.sqlite FILE"
#define EXPORT_QDSTRM "export it: QdstrmImporter -i FILE, then nsys export --type sqlite"
#define EXPORT_NCU    "export it: ncu --import FILE --csv --page raw"
#define EXPORT_TORCH                                                                                         \
    "export the model in Python: torch.onnx.export(model, inputs, \"model.onnx\") (a checkpoint needs its "  \
    "model class)"
#define EXPORT_KERAS    "convert it: python -m tf2onnx.convert --keras FILE --output model.onnx"
#define EXPORT_TF       "convert it: python -m tf2onnx.convert --saved-model FOLDER --output model.onnx"

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
    {TEXT("ir_version:"),
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

static bool file_type_ends_with(const char *s, const char *suffix)
{
    size_t n = strlen(s), k = strlen(suffix);
    return n >= k && oc_ncasecmp(s + n - k, suffix, k) == 0;
}

static bool file_type_fits(const struct row *r, const char *path, const char *data, size_t n, bool text)
{
    if (r->suffix && !file_type_ends_with(path, r->suffix))
        return false;
    if (r->with && !memmem(data, n < WITH_BYTES ? n : WITH_BYTES, r->with, strlen(r->with)))
        return false;
    if (!r->magic)
        return !text;
    if (r->text)
        return n >= r->n && oc_ncasecmp(data, r->magic, r->n) == 0;
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
        if (file_type_fits(&rows[i], path, p + from, n - from, text))
            return &rows[i].is;
    }
    return NULL;
}

enum oc_described oc_described_by(const void *data, size_t n)
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
        return OC_DESCRIBED_NOT;
    return memmem(p, look, "\"model_type\"", 12)   ? OC_DESCRIBED_CONFIG
           : memmem(p, look, "\"weight_map\"", 12) ? OC_DESCRIBED_INDEX
                                                   : OC_DESCRIBED_NOT;
}

static bool describes_model(const char *path, struct oc_arena *arena)
{
    const char *data;
    size_t n;
    return access(path, F_OK) == 0 && oc_file_peek(path, WITH_BYTES, arena, &data, &n, NULL) == 0 &&
           oc_described_by(data, n) != OC_DESCRIBED_NOT;
}

const char *oc_model_of_folder(const char *path, struct oc_arena *arena)
{
    static const char *const name[] = {"model.safetensors.index.json", "model.safetensors", "config.json"};
    size_t n = strlen(path);
    for (size_t i = 0; n && i < OC_COUNT(name); i++) {
        const char *file = oc_printf(arena, "%s%s%s", path, path[n - 1] == '/' ? "" : "/", name[i]);
        if (describes_model(file, arena))
            return file;
    }
    return NULL;
}
