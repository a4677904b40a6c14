#include "base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "base/arena.h"

static const struct {
    const char *path, *data, *what; /* NULL: not recognized */
    size_t n;
} files[] = {
    {"m", "GGUF\3\0\0\0", "a GGUF model of llama.cpp", 8},
    {"m", "GGU", NULL, 3},
    {"m", "\x1c\0\0\0TFL3", "a TensorFlow Lite model", 8},
    {"m", "\x20\0\0\0ORTM", "a model in ORT format", 8},
    {"m", "\x20\0\0\0\0\0\0\0{\"w\"", "a safetensors file", 12},
    {"m", "\xef\xbb\xbf \n<HTML>", "an HTML page", 11}, /* byte order mark, blanks, letter case */
    {"m", "PK\3\4....m/data.pkl", "a PyTorch file", 18},
    {"m", "PK\3\4....readme", "a zip archive", 14},
    {"M.PT", "PK\3\4....readme", "a PyTorch file", 14},
    {"x.engine", "\1\2\3\4", "a TensorRT engine", 4},
    {"x.engine", "only text", NULL, 9}, /* a suffix does not decide for text */
    {"m.onnx", "\x08\x07\x12\x01x:", NULL, 6},
    {"flops_0.txt", "full_kernel_name, FLOPs, FLOPS, FLOPS utilization\n",
     "a MindSpore file with FLOPs of operators without times", 50},
    {"x", "full_kernel_name,execution_time\n", NULL, 32},
    {"x", "Processing [a.sqlite] with [/opt/nsys/rules/cuda_memcpy_sync.py]",
     "a report of Nsight Systems' analysis rules", 64},
    {"x", "Processing [a.sqlite] with [/opt/nsys/reports/cuda_gpu_kern_sum.py]", NULL, 67},
    {"x", "a.out: ok\n\n Performance counter stats for './a.out':\n",
     "a report of perf stat (counters without functions)", 54},
    {"x", "start\n\n------- DeepSpeed Flops Profiler -------\n",
     "a report of DeepSpeed's flops profiler without the tree of modules", 48},
    {"x", "==7== NVPROF is profiling process 7\n==7== Metric result:\n",
     "a report of nvprof with metrics and no times", 57},
    {"x", "==7== NVPROF is profiling process 7\n==7== Profiling result:\nNo kernels were profiled.\n",
     "a report of nvprof without kernels", 86},
    {"x", " | module | #parameters or shape | #flops |\n",
     "a table of fvcore (parameters and FLOPs without times)", 44},
    {"x", "{\"i\": [[\"[]\", \"cuda\"], [[]]], \"r\": [[0.004], 0, 1.4], \"v\": \"v0.6\"}\n",
     "a tuning log of TVM's auto_scheduler (times of schedules)", 67},
    {"x", "&&&& RUNNING TensorRT.trtexec # trtexec --int8\n", "a log of trtexec without times of layers", 47},
    {"memory.json", "[[1726077563878112, 1726077563891027], [[0, 424], [0, 425]]]",
     "a list of numbers (maybe PyTorch's memory timeline, which has no times of operators)", 55},
    {"x", "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\"}",
     "a speedscope profile (stacks of functions)", 64},
    {"model.onnxtxt", "ir_version : 3 producer_name : \"x\" graph {\n",
     "an ONNX model in protobuf's text form", 41},
    {"model.onnx", "../model/model.onnx\n", "a text file", 20}, /* a link that became a file */
    {"model.safetensors", "/cache/model.safetensors", "a text file", 24},
    {"model.bin", "../model/model.bin", NULL, 18},
    {"model.onnx", "", NULL, 0},
    {"x", "{\n  \"schema\": \"onnxcost.report\",", "a JSON file of onnxcost", 32},
    {"x", "{\"schema\":\"other.report\",", NULL, 24},
    {"a/config.json", "{\"dim\": 256}", "JSON without model_type", 12},
    {"a/trace.json", "{\"dim\": 256}", NULL, 12},
    {"empty", "", NULL, 0},
};

static void first_bytes_or_suffix_name_the_file(void **state)
{
    (void)state;
    for (size_t i = 0; i < OC_COUNT(files); i++) {
        const struct oc_signature *is = oc_recognize(files[i].path, files[i].data, files[i].n);
        if ((is == NULL) != (files[i].what == NULL) || (is && strcmp(is->what, files[i].what) != 0))
            fail_msg("row %zu: %s", i, is ? is->what : "not recognized");
        assert_true(!is || strlen(is->todo) > 5);
    }
}

static void signature_beyond_the_data_is_not_read(void **state)
{
    (void)state;
    char tar[262] = {0};
    memcpy(tar + 257, "ustar", 5);
    assert_string_equal(oc_recognize("m", tar, sizeof(tar))->what, "a tar archive");
    assert_null(oc_recognize("m", tar, sizeof(tar) - 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_bytes_or_suffix_name_the_file),
        cmocka_unit_test(signature_beyond_the_data_is_not_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
