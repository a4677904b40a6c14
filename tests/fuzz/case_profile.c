/* Profiles of the model of a case: names that are its names, or nearly; times and shapes that are odd. */
#include <stdio.h>
#include <string.h>

#include "case.h"

static const char *const times[] = {
    "1",      "12",    "0",   "3.5", "1e3",  "0.000001", "999999999",
    "-1",     "1e308", "100", "250", "null", "17",       "9223372036854775807",
    "1e-320", "40"};
static const char *const bad_characters[] = {"\\u001b[2J", "\\r", "</script>", "\\u0000", "\\ud800", "&amp;"};

static const char *time_of(struct fuzz_choices *c)
{
    return times[fuzz_one_in(c, 6) ? fuzz_below(c, sizeof(times) / sizeof(times[0])) : fuzz_below(c, 2)];
}

static const char *plain_name(struct fuzz_case *k)
{
    return k->n_name ? k->names.data + k->name_at[fuzz_below(k->choices, k->n_name)] : "node";
}

/* Text of a JSON string or CSV field: quotes and control characters are left out. */
static void add_clean(struct oc_buf *out, const char *s, size_t n)
{
    for (; n && *s; n--, s++)
        if ((unsigned char)*s >= ' ' && *s != '"' && *s != '\\' && *s != ',')
            oc_buf_char(out, *s);
}

void fuzz_almost_name(struct fuzz_case *k, struct oc_buf *out)
{
    struct fuzz_choices *c = k->choices;
    const char *s = plain_name(k);
    size_t n = strlen(s);
    switch (fuzz_below(c, 16)) {
    case 0: /* without its end */
        add_clean(out, s, n - n / 3);
        return;
    case 1: /* two of them */
        add_clean(out, s, n);
        oc_buf_str(out, " + ");
        add_clean(out, plain_name(k), SIZE_MAX);
        return;
    case 2:
        oc_buf_str(out, "PWN(");
        add_clean(out, s, n);
        oc_buf_char(out, ')');
        return;
    case 3: /* another number at the end */
        add_clean(out, s, n);
        oc_buf_printf(out, "_%zu", fuzz_below(c, 30));
        return;
    case 4:
        add_clean(out, s, n);
        oc_buf_str(out, FUZZ_PICK(c, bad_characters));
        return;
    case 5:
        oc_buf_str(out, "model/");
        add_clean(out, s, n);
        return;
    default:
        add_clean(out, s, n);
    }
}

static size_t rows(struct fuzz_case *k)
{
    return fuzz_one_in(k->choices, 20) ? 0 : 1 + fuzz_below(k->choices, 40);
}

static void shape(struct fuzz_case *k, struct oc_buf *out)
{
    static const char *const dim[] = {"1", "2", "4", "8", "8", "0", "-1", "9223372036854775807", "16"};
    oc_buf_char(out, '[');
    for (size_t i = fuzz_below(k->choices, 5), first = 1; i; i--, first = 0)
        oc_buf_printf(out, "%s%s", first ? "" : ",", FUZZ_PICK(k->choices, dim));
    oc_buf_char(out, ']');
}

static void onnxruntime(struct fuzz_case *k, struct oc_buf *out)
{
    struct fuzz_choices *c = k->choices;
    unsigned ts = 100, run = 0;
    oc_buf_str(out, "[\n{\"cat\":\"Session\",\"pid\":1,\"tid\":1,\"dur\":10,\"ts\":1,\"ph\":\"X\",\"name\":"
                    "\"session_initialization\",\"args\":{}}");
    for (size_t i = rows(k); i; i--) {
        if (fuzz_one_in(c, 8)) {
            oc_buf_printf(out,
                          ",\n{\"cat\":\"Session\",\"pid\":1,\"tid\":1,\"dur\":%u,\"ts\":%u,\"ph\":\"X\","
                          "\"name\":\"model_run\",\"args\":{}}",
                          ts - run, run);
            run = ts;
        }
        oc_buf_printf(
            out, ",\n{\"cat\":\"Node\",\"pid\":1,\"tid\":%zu,\"dur\":%s,\"ts\":%u,\"ph\":\"X\",\"name\":\"",
            1 + fuzz_below(c, 2), time_of(c), ts);
        fuzz_almost_name(k, out);
        oc_buf_str(out, "_kernel_time\",\"args\":{\"op_name\":\"");
        fuzz_almost_name(k, out);
        oc_buf_printf(out, "\",\"provider\":\"%s\",\"node_index\":\"%zu\",\"input_type_shape\":[{\"float\":",
                      fuzz_one_in(c, 3) ? "CUDAExecutionProvider" : "CPUExecutionProvider",
                      fuzz_below(c, 30));
        shape(k, out);
        oc_buf_str(out, "}],\"output_type_shape\":[{\"float\":");
        shape(k, out);
        oc_buf_str(out, "}],\"output_size\":\"4\"}}");
        ts += 1 + (unsigned)fuzz_below(c, 100);
    }
    oc_buf_str(out, "\n]\n");
}

static void chrome(struct fuzz_case *k, struct oc_buf *out)
{
    static const char *const cat[] = {"cpu_op",       "kernel",     "Kernel",  "op",
                                      "cuda_runtime", "gpu_memcpy", "Operator"};
    static const char *const phase[] = {"X", "X", "X", "B", "E", "i", "s", "f", "M"};
    struct fuzz_choices *c = k->choices;
    unsigned ts = 1;
    oc_buf_str(out, fuzz_one_in(c, 2) ? "{\"schemaVersion\":1,\"traceEvents\":[" : "{\"traceEvents\":[");
    for (size_t i = rows(k), first = 1; i; i--, first = 0) {
        oc_buf_printf(
            out, "%s\n{\"ph\":\"%s\",\"cat\":\"%s\",\"pid\":%zu,\"tid\":%zu,\"ts\":%u,\"dur\":%s,\"name\":\"",
            first ? "" : ",", FUZZ_PICK(c, phase), FUZZ_PICK(c, cat), fuzz_below(c, 2), fuzz_below(c, 3), ts,
            time_of(c));
        fuzz_almost_name(k, out);
        oc_buf_printf(out,
                      "\",\"args\":{\"External id\":%zu,\"correlation\":%zu,\"stream\":%zu,\"Input Dims\":[",
                      fuzz_below(c, 8), fuzz_below(c, 8), fuzz_below(c, 3));
        shape(k, out);
        oc_buf_str(out, "]}}");
        ts += (unsigned)fuzz_below(c, 50);
    }
    oc_buf_str(out, "\n]}\n");
}

static void tensorrt(struct fuzz_case *k, struct oc_buf *out)
{
    struct fuzz_choices *c = k->choices;
    oc_buf_printf(out, "[\n {\"count\":%zu}", fuzz_below(c, 4) * 10);
    for (size_t i = rows(k); i; i--) {
        oc_buf_str(out, ",\n {\"name\":\"");
        fuzz_almost_name(k, out);
        oc_buf_printf(out, "\",\"timeMs\":%s,\"averageMs\":%s,\"medianMs\":%s,\"percentage\":%s}", time_of(c),
                      time_of(c), time_of(c), time_of(c));
    }
    oc_buf_str(out, "\n]\n");
}

static void csv(struct fuzz_case *k, struct oc_buf *out)
{
    static const char *const head[] = {"name,op_type,time_us,calls\n", "Name,Type,Duration (ns),Count\n",
                                       "layer;type;avg ms;n\n", "op_name,kernel,Total Time (ms),#Calls\n"};
    const char *h = FUZZ_PICK(k->choices, head);
    char separator = strchr(h, ';') ? ';' : ',';
    oc_buf_str(out, h);
    for (size_t i = rows(k); i; i--) {
        fuzz_almost_name(k, out);
        oc_buf_char(out, separator);
        fuzz_almost_name(k, out);
        oc_buf_printf(out, "%c%s%c%zu%s", separator, time_of(k->choices), separator,
                      fuzz_below(k->choices, 5), fuzz_one_in(k->choices, 30) ? "\r\n" : "\n");
    }
}

static void trtexec(struct fuzz_case *k, struct oc_buf *out)
{
    oc_buf_str(out, "&&&& RUNNING TensorRT.trtexec [TensorRT v8601] # trtexec --onnx=x.onnx --dumpProfile\n"
                    "[05/08/2024-14:05:14] [I] === Profile (100 iterations ) ===\n"
                    "[05/08/2024-14:05:14] [I]    Time(ms)     Avg.(ms)   Median(ms)   Time(%)   Layer\n");
    for (size_t i = rows(k); i; i--) {
        oc_buf_printf(out, "[05/08/2024-14:05:14] [I]   %s %s %s 1.0 ", time_of(k->choices),
                      time_of(k->choices), time_of(k->choices));
        fuzz_almost_name(k, out);
        oc_buf_char(out, '\n');
    }
}

void fuzz_make_profile(struct fuzz_case *k, struct oc_buf *out, const char **suffix)
{
    static const struct {
        void (*make)(struct fuzz_case *k, struct oc_buf *out);
        const char *suffix;
    } format[] = {{onnxruntime, "json"}, {onnxruntime, "json"}, {chrome, "json"},
                  {tensorrt, "json"},    {csv, "csv"},          {trtexec, "log"}};
    size_t f = fuzz_below(k->choices, sizeof(format) / sizeof(format[0]));
    *suffix = format[f].suffix;
    format[f].make(k, out);
}
