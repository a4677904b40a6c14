/* Writes a trace of about the given size in the format of PyTorch's profiler (Kineto) of 2024: many steps of
 * 50 blocks, each with a convolution, a normalization and an activation that nest operators and launch
 * kernels. usage: make_kineto BYTES >FILE */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCKS = 50 };

struct writer {
    uint64_t written, limit, host_ns, device_ns;
    uint64_t external, correlation;
    uint32_t random;
};

static unsigned next_random(struct writer *w, unsigned below)
{
    w->random = w->random * 1664525u + 1013904223u;
    return (w->random >> 16) % below;
}

static void put(struct writer *w, int n)
{
    if (n < 0)
        exit(1);
    w->written += (uint64_t)n;
}

#define US(ns) (ns) / 1000, (unsigned)((ns) % 1000)

static void op(struct writer *w, const char *name, uint64_t start, uint64_t dur, const char *dims,
               const char *types)
{
    w->external++;
    put(w,
        printf(
            "  {\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"%s\", \"pid\": 4711, \"tid\": 4711,\n"
            "    \"ts\": %" PRIu64 ".%03u, \"dur\": %" PRIu64 ".%03u,\n"
            "    \"args\": {\n      \"External id\": %" PRIu64 ",\"Record function id\": 0, "
            "\"Concrete Inputs\": [\"\", \"\", \"\", \"[1, 1]\", \"[0, 0]\"], \"Input type\": %s, "
            "\"Input Dims\": %s, \"Ev Idx\": %" PRIu64 "\n    }\n  },\n",
            name, US(start), US(dur), w->external, types, dims, w->external - 1));
}

static void launch(struct writer *w, uint64_t start, const char *kernel, unsigned typical_ns)
{
    uint64_t dur = 4000 + next_random(w, 1000), work = typical_ns + next_random(w, 900);
    uint64_t id = ++w->correlation + 1000000000;
    if (w->device_ns < start + dur)
        w->device_ns = start + dur;
    put(w,
        printf("  {\n    \"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": "
               "4711, \"tid\": 4711,\n    \"ts\": %" PRIu64 ".%03u, \"dur\": %" PRIu64
               ".%03u,\n    \"args\": {\n      \"External id\": %" PRIu64
               ", \"cbid\": 211, \"correlation\": %" PRIu64 "\n    }\n  },\n",
               US(start), US(dur), w->external, id));
    put(w,
        printf("  {\n    \"ph\": \"s\", \"id\": %" PRIu64 ", \"pid\": 4711, \"tid\": 4711, \"ts\": %" PRIu64
               ".%03u,\n    \"cat\": \"ac2g\", \"name\": \"ac2g\"\n  },\n",
               id, US(start)));
    put(w,
        printf(
            "  {\n    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"%s\", \"pid\": 0, \"tid\": 7,\n    "
            "\"ts\": %" PRIu64 ".%03u, \"dur\": %" PRIu64 ".%03u,\n    \"args\": {\n      \"External id\": "
            "%" PRIu64 ",\n      \"queued\": 0, \"device\": 0, \"context\": 1,\n      \"stream\": 7, "
            "\"correlation\": %" PRIu64 ",\n      \"registers per thread\": 128,\n      \"shared memory\": "
            "8192,\n      \"blocks per SM\": 7.25,\n      \"warps per SM\": 58.0,\n      \"grid\": [784, 1, "
            "1],\n      \"block\": [256, 1, 1],\n      \"est. achieved occupancy %%\": 50\n    }\n  },\n",
            kernel, US(w->device_ns), US(work), w->external, id));
    put(w, printf("  {\n    \"ph\": \"f\", \"id\": %" PRIu64 ", \"pid\": 0, \"tid\": 7, \"ts\": %" PRIu64
                  ".%03u,\n    \"cat\": \"ac2g\", \"name\": \"ac2g\", \"bp\": \"e\"\n  },\n",
                  id, US(w->device_ns)));
    w->device_ns += work + 800;
}

static void block(struct writer *w, unsigned i)
{
    static const char *const conv[] = {"aten::conv2d", "aten::convolution", "aten::_convolution",
                                       "aten::cudnn_convolution"};
    static const char dims[] = "[[8, 64, 56, 56], [64, 64, 3, 3], [], [], [], [], []]";
    static const char types[] =
        "[\"float\", \"float\", \"\", \"ScalarList\", \"ScalarList\", \"ScalarList\", "
        "\"Scalar\"]";
    static const char relu[] =
        "void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous namespace)::"
        "clamp_min_scalar_kernel_impl(at::TensorIteratorBase&, c10::Scalar)::{lambda()#1}::operator()() "
        "const::{lambda()#8}::operator()() const::{lambda(float)#1}, at::detail::Array<char*, 2> >(int, "
        "at::native::(anonymous namespace)::clamp_min_scalar_kernel_impl(at::TensorIteratorBase&, "
        "c10::Scalar)::{lambda()#1}::operator()() const::{lambda()#8}::operator()() "
        "const::{lambda(float)#1}, "
        "at::detail::Array<char*, 2>)";
    uint64_t at = w->host_ns;
    for (unsigned k = 0; k < 4; k++)
        op(w, conv[k], at + 1000 * k, 60000 - 3000 * k + next_random(w, 900), dims, types);
    launch(w, at + 20000, i % 2 ? "implicit_convolve_sgemm" : "ampere_scudnn_128x64_relu_medium_nn_v1",
           90000);
    op(w, "aten::batch_norm", at + 70000, 40000 + next_random(w, 900),
       "[[8, 64, 56, 56], [64], [64], [64], [64]]",
       "[\"float\", \"float\", \"float\", \"float\", \"float\"]");
    op(w, "aten::cudnn_batch_norm", at + 72000, 30000, "[[8, 64, 56, 56], [64], [64], [64], [64]]",
       "[\"float\", \"float\", \"float\", \"float\", \"float\"]");
    launch(w, at + 80000, "cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, int, 512, true, 1, true>(...)",
           20000);
    op(w, "aten::relu_", at + 120000, 20000, "[[8, 64, 56, 56]]", "[\"float\"]");
    op(w, "aten::clamp_min_", at + 122000, 15000, "[[8, 64, 56, 56], []]", "[\"float\", \"Scalar\"]");
    launch(w, at + 124000, relu, 9000);
    w->host_ns += 150000;
}

int main(int argc, char **argv)
{
    struct writer w = {
        .limit = argc > 1 ? strtoull(argv[1], NULL, 10) : 0, .host_ns = 4203669603000000, .random = 1};
    if (!w.limit)
        return 2;
    put(&w, printf("{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [\n    {\n      \"id\": 0, \"name\": "
                   "\"NVIDIA A100\", \"numSms\": 108\n    }\n  ],\n  \"traceEvents\": [\n"));
    for (unsigned step = 0; w.written < w.limit; step++) {
        uint64_t start = w.host_ns;
        w.host_ns += 10000;
        for (unsigned i = 0; i < BLOCKS; i++)
            block(&w, i);
        uint64_t dur = w.host_ns + 5000 - start;
        put(&w, printf("  {\n    \"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#%u\", "
                       "\"pid\": 4711, \"tid\": 4711,\n    \"ts\": %" PRIu64 ".%03u, \"dur\": %" PRIu64
                       ".%03u,\n    \"args\": {\n      \"External id\": %" PRIu64 "\n    }\n  },\n",
                       step, US(start), US(dur), ++w.external));
        w.host_ns += 100000;
    }
    printf("  {\n    \"name\": \"thread_name\", \"ph\": \"M\", \"ts\": 0, \"pid\": 4711, \"tid\": 4711,\n    "
           "\"args\": {\n      \"name\": \"thread 4711 (python)\"\n    }\n  }\n  ],\n  \"traceName\": "
           "\"trace.json\",\n  \"displayTimeUnit\": \"ms\",\n  \"baseTimeNanoseconds\": "
           "1735632360000000000\n}\n");
    return ferror(stdout) != 0;
}
