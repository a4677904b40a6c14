/* Input limits (base/diag.h), each from both sides: input at the limit is read, with the limit one lower it
 * is rejected with exit code 3 and the name of the limit, and the option raises it. Then files designed to
 * use much time or memory, within bounds of both. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/xml_read.h"
#include "estimate/calibrate.h"
#include "hw/hwdb.h"
#include "mcp/mcp.h"
#include "ops/user_rules.h"
#include "profile/core/kernel_names.h"
#include "shape/type.h"
#include "support/build.h"

static char dir[] = "/tmp/oc_limits_XXXXXX";

static const char *build_dir(void)
{
    return getenv("BUILD") ? getenv("BUILD") : "build/release";
}

/* Sanitizers reserve terabytes of address space. */
static bool sanitized(void)
{
    return strstr(build_dir(), "release") == NULL;
}

struct result {
    int exit_code;
    char out[1 << 16], err[4096];
};

static void slurp(const char *name, char *buf, size_t cap)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t n = fread(buf, 1, cap - 1, f);
    fclose(f);
    buf[n] = '\0';
}

/* Runs the program in the folder of the files: at most 20 s (60 with a sanitizer), 1 GiB of address space. */
static const struct result *run(const char *arguments)
{
    static struct result r;
    char command[2048], cwd[512];
    assert_non_null(getcwd(cwd, sizeof(cwd)));
    snprintf(command, sizeof(command), "cd %s && %s timeout %d %s%s%s/onnxcost %s >out 2>err </dev/null", dir,
             sanitized() ? "" : "ulimit -v 1048576 &&", sanitized() ? 60 : 20,
             build_dir()[0] == '/' ? "" : cwd, build_dir()[0] == '/' ? "" : "/", build_dir(), arguments);
    int status = system(command);
    assert_true(WIFEXITED(status));
    r.exit_code = WEXITSTATUS(status);
    slurp("out", r.out, sizeof(r.out));
    slurp("err", r.err, sizeof(r.err));
    return &r;
}

static void expect_accepted(const char *arguments)
{
    const struct result *r = run(arguments);
    if (r->exit_code != 0)
        fail_msg("onnxcost %s: exit code %d: %s", arguments, r->exit_code, r->err);
}

/* In one line, without output. */
static void expect_rejected(const char *arguments, const char *words)
{
    const struct result *r = run(arguments);
    const char *end = strchr(r->err, '\n');
    if (r->exit_code != 3 || r->out[0] || !end || end[1] || !strstr(r->err, words))
        fail_msg("onnxcost %s: exit code %d, expected '%s' in: %s", arguments, r->exit_code, words, r->err);
}

/* The file has exactly `at` items. */
static void check_limit(const char *arguments, const char *limit, unsigned long long at)
{
    char line[512], words[80];
    snprintf(words, sizeof(words), "(--limit %s=N)", limit);
    snprintf(line, sizeof(line), "%s --limit %s=%llu", arguments, limit, at);
    expect_accepted(line);
    snprintf(line, sizeof(line), "%s --limit %s=%llu", arguments, limit, at - 1);
    expect_rejected(line, words);
    snprintf(words, sizeof(words), "more than %llu ", at - 1);
    if (!strstr(run(line)->err, words)) {
        snprintf(words, sizeof(words), "more than %llu (", at - 1);
        expect_rejected(line, words);
    }
}

static void write_file(const char *name, const void *data, size_t n)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static size_t save(struct oc_builder *b, const char *name)
{
    size_t n;
    uint8_t *bytes = oc_b_pack(b, &n);
    write_file(name, bytes, n);
    free(bytes);
    oc_b_free(b);
    return n;
}

/* ---- models -------------------------------------------------------------------------------------------- */

static struct oc_builder *chain(unsigned n)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "v0", "float[4]");
    for (unsigned i = 0; i < n; i++) {
        char in[16], out[16];
        snprintf(in, sizeof(in), "v%u", i);
        snprintf(out, sizeof(out), "v%u", i + 1);
        oc_b_node(b, "Relu", NULL, in, out, "");
    }
    char last[16];
    snprintf(last, sizeof(last), "v%u", n);
    oc_b_output(b, last, NULL);
    return b;
}

static void file_size_and_node_limits(void **state)
{
    (void)state;
    size_t n = save(chain(5), "chain.onnx");
    check_limit("chain.onnx", "file-bytes", n);
    check_limit("chain.onnx", "nodes", 5);
    expect_rejected("chain.onnx --limit nodes=4",
                    "cannot read 'chain.onnx': 5 nodes: more than 4 (--limit nodes=N)");
    check_limit("memory chain.onnx", "nodes", 5); /* other commands have the option too */
    check_limit("diff chain.onnx chain.onnx", "nodes", 5);
    expect_accepted("scan chain.onnx --limit nodes=5");
    assert_int_equal(run("scan chain.onnx --limit nodes=4")->exit_code, 1); /* a row with an error */
}

static void save_nested(const char *name, int depth)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "c", "bool[]");
    for (int i = 0; i < depth; i++) {
        oc_b_node(b, "If", NULL, "c", "y", "");
        oc_b_open(b, "else_branch");
        oc_b_node(b, "Identity", NULL, "c", "y", "");
        oc_b_output(b, "y", NULL);
        oc_b_close(b);
        oc_b_open(b, "then_branch");
    }
    oc_b_node(b, "Identity", NULL, "c", "y", "");
    for (int i = 0; i < depth; i++) {
        oc_b_output(b, "y", NULL);
        oc_b_close(b);
    }
    oc_b_output(b, "y", NULL);
    save(b, name);
}

static void nesting_depth_limit(void **state)
{
    (void)state;
    save_nested("three.onnx", 3);
    check_limit("three.onnx", "depth", 3);
    save_nested("deepest.onnx", 256);
    expect_rejected("deepest.onnx", "more than 64 levels of nested graphs (--limit depth=N)");
    expect_accepted("deepest.onnx --limit depth=256"); /* the stack suffices for the maximum */
    expect_accepted("memory deepest.onnx --limit depth=256");
    expect_accepted("deepest.onnx --limit depth=256 -f html -o deepest.html");
    save_nested("deeper.onnx", 257);
    expect_rejected("deeper.onnx --limit depth=256", "more than 256 levels of nested graphs");
}

/* F0 is two Relu, Fi calls F(i-1) twice; n calls of the last. */
static void save_functions(const char *name, int levels)
{
    struct oc_builder *b = oc_b_new(17);
    char fn[16], call[24];
    oc_b_opset(b, "my", 1);
    for (int i = 0; i < levels; i++) {
        snprintf(fn, sizeof(fn), "F%d", i);
        snprintf(call, sizeof(call), i ? "my::F%d" : "Relu", i - 1);
        oc_b_function(b, "my", fn, "a", "r", "");
        oc_b_opset(b, "", 17);
        oc_b_opset(b, "my", 1);
        oc_b_node(b, call, NULL, "a", "t", "");
        oc_b_node(b, call, NULL, "t", "r", "");
        oc_b_close(b);
    }
    oc_b_input(b, "x", "float[1]");
    snprintf(call, sizeof(call), "my::F%d", levels - 1);
    oc_b_node(b, call, NULL, "x", "y", "");
    oc_b_output(b, "y", NULL);
    save(b, name);
}

static void function_limits(void **state)
{
    (void)state;
    save_functions("functions.onnx", 3); /* 2 + 4 + 8 nodes, and the call itself */
    check_limit("functions.onnx", "function-nodes", 14);
    check_limit("functions.onnx", "nodes", 15);
    check_limit("functions.onnx", "depth", 3);
    save_functions("bomb.onnx", 60);
    if (sanitized()) /* ten times slower: not the defaults */
        expect_rejected("bomb.onnx --limit function-nodes=50k", "more than 50000 nodes from functions");
    else
        expect_rejected("bomb.onnx", "more than 1000000 nodes from functions (--limit function-nodes=N)");
    expect_rejected("bomb.onnx --limit function-nodes=1G --limit nodes=20k",
                    "more than 20000 (--limit nodes=N)");
}

/* Nested loops around a Concat that grows its state by one; trips 0: given by an input. */
static void save_loops(const char *name, int depth, int trips)
{
    struct oc_builder *b = oc_b_new(17);
    char text[64], in[16], out[16];
    oc_b_input(b, "s", "float[1]");
    snprintf(text, sizeof(text), "int64[]{%d}", trips);
    if (trips)
        oc_b_init(b, "trips", text);
    else
        oc_b_input(b, "trips", "int64[]");
    oc_b_init(b, "go", "bool[]{1}");
    oc_b_init(b, "one", "float[1]{1}");
    for (int i = 0; i < depth; i++) {
        snprintf(in, sizeof(in), i ? "s%d" : "s", i);
        snprintf(out, sizeof(out), "r%d", i);
        snprintf(text, sizeof(text), "trips,go,%s", in);
        oc_b_node(b, "Loop", NULL, text, out, "");
        oc_b_open(b, "body");
        snprintf(text, sizeof(text), "i%d", i + 1);
        oc_b_input(b, text, "int64[]");
        snprintf(text, sizeof(text), "c%d", i + 1);
        oc_b_input(b, text, "bool[]");
        snprintf(text, sizeof(text), "s%d", i + 1);
        oc_b_input(b, text, NULL);
    }
    snprintf(text, sizeof(text), "s%d,one", depth);
    snprintf(out, sizeof(out), "r%d", depth);
    oc_b_node(b, "Concat", NULL, text, out, "axis=0");
    for (int i = depth; i-- > 0;) {
        snprintf(text, sizeof(text), "c%d", i + 1);
        oc_b_output(b, text, NULL);
        snprintf(text, sizeof(text), "r%d", i + 1);
        oc_b_output(b, text, NULL);
        oc_b_close(b);
    }
    oc_b_output(b, "r0", NULL);
    save(b, name);
}

static void loop_limits(void **state)
{
    (void)state;
    if (sanitized())
        skip();                    /* slow: the arithmetic of trips, which tests of analyze cover */
    save_loops("loop.onnx", 3, 5); /* each body is evaluated again until its types are common to all trips */
    check_limit("loop.onnx", "repeats", 11);
    save_loops("known.onnx", 12, 64); /* 64^12 */
    save_loops("open.onnx", 60, 0);   /* at least 2^60 */
    expect_rejected("open.onnx", "(--limit repeats=N)");
    expect_rejected("known.onnx", "(--limit "); /* the values of the trips, or the trips */
    const struct result *r =
        run("scan -f csv open.onnx chain.onnx --limit repeats=50k"); /* one rejected model is a row, the scan
                                                                        continues */
    assert_int_equal(r->exit_code, 1);
    assert_non_null(strstr(r->out, "(--limit repeats=N)"));
}

/* 4096 numbers plus one, many times: every sum is folded. */
static void save_folded(const char *name, int n)
{
    struct oc_builder *b = oc_b_new(17);
    char in[24], out[16];
    oc_b_init(b, "v0", "int64[4096]{*7}");
    oc_b_init(b, "one", "int64[]{1}");
    for (int i = 0; i < n; i++) {
        snprintf(in, sizeof(in), "v%d,one", i);
        snprintf(out, sizeof(out), "v%d", i + 1);
        oc_b_node(b, "Add", NULL, in, out, "");
    }
    snprintf(out, sizeof(out), "v%d", n);
    oc_b_output(b, out, NULL);
    save(b, name);
}

/* A body that reads 4,000 reals as integers in each of 500 trips: a shape rule copies them. */
static void save_copied(const char *name)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[8,8]");
    oc_b_input(b, "rows", "float[500,4]");
    oc_b_init(b, "list", "float[4000]{*1}");
    oc_b_node(b, "Scan", "scan", "rows", "all", "num_scan_inputs=1");
    oc_b_open(b, "body");
    oc_b_input(b, "row", "float[4]");
    oc_b_node(b, "Pad", "reader", "x,list", "t", "");
    oc_b_node(b, "Shape", "size", "t", "u", "");
    oc_b_output(b, "u", NULL);
    oc_b_close(b);
    oc_b_output(b, "all", NULL);
    save(b, name);
}

static void memory_limits(void **state)
{
    (void)state;
    save_folded("folded.onnx", 50);
    expect_accepted("folded.onnx");
    expect_rejected("folded.onnx --limit folded-bytes=1MiB", "more than 1048576 bytes of tracked values");
    expect_rejected("folded.onnx --limit analysis-memory=1MiB", "(--limit analysis-memory=N)");
    save_folded("many.onnx", 20000); /* 3 GB of them */
    expect_rejected("many.onnx", "(--limit folded-bytes=N)");
    save_copied("copied.onnx");
    expect_rejected("copied.onnx --limit folded-bytes=16MiB", "(--limit folded-bytes=N)");

    struct oc_builder *b = chain(1);
    struct oc_buf text = {0};
    oc_buf_str(&text, "list=1");
    for (int i = 1; i < 200000; i++) /* 1.6 MB in memory */
        oc_buf_str(&text, ",1");
    oc_b_node(b, "my::Op", NULL, "v1", "w", text.data);
    oc_b_output(b, "w", NULL);
    save(b, "list.onnx");
    oc_buf_free(&text);
    expect_accepted("list.onnx");
    check_limit("list.onnx", "list-elements", 200000);
    expect_rejected("list.onnx --limit model-memory=1MiB",
                    "more than 1048576 bytes of memory for a model (--limit model-memory=N)");
}

static void tensor_limits(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[7]");
    oc_b_init(b, "w", "float[7]");
    oc_b_node(b, "Einsum", NULL, "x,w,x", "y", "equation='i,i,i->i'");
    oc_b_output(b, "y", NULL);
    save(b, "tensor.onnx");
    check_limit("tensor.onnx", "tensor-elements", 7);
    check_limit("tensor.onnx", "einsum-operands", 3);
    check_limit("tensor.onnx", "string-bytes", 8); /* equation */
    b = oc_b_new(17);
    oc_b_input(b, "x", "float[1]");
    oc_b_init(b, "w", "float[1048576,1048577]");
    oc_b_node(b, "Mul", NULL, "x,w", "y", "");
    oc_b_output(b, "y", NULL);
    save(b, "large.onnx");
    expect_rejected(
        "large.onnx",
        "tensor 'w': 1099512676352 elements: more than 1099511627776 (--limit tensor-elements=N)");
    expect_accepted("large.onnx --limit tensor-elements=2Ti");
}

/* Shapes of 2^40 elements are only numbers: nothing of that size is allocated. */
static void huge_shapes_are_not_allocated(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[1]");
    oc_b_input(b, "i", "int64[3]");
    oc_b_init(b, "k", "int64[1]{1099511627776}");
    oc_b_init(b, "n", "int64[]{1099511627776}");
    oc_b_init(b, "zero", "int64[]{0}");
    oc_b_init(b, "one", "int64[]{1}");
    oc_b_init(b, "pair", "float[2]{0,1}");
    oc_b_node(b, "ConstantOfShape", NULL, "k", "a", "");
    oc_b_node(b, "Expand", NULL, "x,k", "b", "");
    oc_b_node(b, "Tile", NULL, "x,k", "c", "");
    oc_b_node(b, "Range", NULL, "zero,n,one", "d", "");
    oc_b_node(b, "OneHot", NULL, "i,n,pair", "e", "");
    static const char *const out[] = {"a", "b", "c", "d", "e"};
    for (size_t i = 0; i < 5; i++)
        oc_b_output(b, out[i], NULL);
    save(b, "shapes.onnx");
    expect_accepted("shapes.onnx");
    assert_non_null(strstr(run("shapes.onnx -f csv")->out, "1099511627776"));
}

static void thousands_of_operands_are_rejected_in_bounded_time(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    struct oc_buf in = {0}, equation = {0};
    oc_b_input(b, "x", "float[3,4]");
    for (int i = 0; i < 5000; i++) {
        oc_buf_str(&in, i ? ",x" : "x");
        oc_buf_str(&equation, i ? ",ij" : "equation='ij");
    }
    oc_buf_str(&equation, "->ij'");
    oc_b_node(b, "Einsum", NULL, in.data, "y", equation.data);
    oc_b_output(b, "y", NULL);
    save(b, "operands.onnx");
    oc_buf_free(&in);
    oc_buf_free(&equation);
    expect_rejected("operands.onnx", "5000 operands: more than 256 (--limit einsum-operands=N)");
    expect_accepted("operands.onnx --limit einsum-operands=5000");
    expect_accepted("operands.onnx --limit einsum-operands=5000 --count einsum=optimal");
}

/* ---- profiles ------------------------------------------------------------------------------------------ */

static void add_events(struct oc_buf *text, int n)
{
    for (int i = 0; i < n; i++)
        oc_buf_printf(
            text, "%s{\"ph\":\"X\",\"cat\":\"op\",\"name\":\"n%d\",\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":5}",
            i ? ",\n" : "", i, 10 * i);
}

static void trace_limits(void **state)
{
    (void)state;
    struct oc_buf text = {0};
    oc_buf_str(&text, "{\"traceEvents\":[");
    add_events(&text, 9);
    oc_buf_str(&text, "]}\n");
    write_file("trace.json", text.data, text.n);
    check_limit("trace.json", "events", 9);
    check_limit("summary trace.json", "events", 9);
    check_limit("trace.json", "file-bytes", text.n);
    oc_buf_clear(&text);
    oc_buf_str(&text, "[\n");
    for (int i = 0; i < 4; i++)
        oc_buf_printf(
            &text,
            "%s{\"cat\":\"Node\",\"pid\":1,\"tid\":1,\"dur\":5,\"ts\":%d,\"ph\":\"X\",\"name\":"
            "\"c%d_kernel_time\",\"args\":{\"op_name\":\"Conv\",\"provider\":\"CPU\",\"node_index\":"
            "\"%d\"}}",
            i ? ",\n" : "", 10 * i, i, i);
    oc_buf_str(&text, "]\n");
    write_file("ort.json", text.data, text.n);
    check_limit("ort.json", "events", 4);
    oc_buf_free(&text);
}

#define MAP " --map name=name,type=type,time=time_us:us"

static void table_limits(void **state)
{
    (void)state;
    static const char text[] = "name,type,time_us,note,note\nconv,Conv,5,,\nrelu,Relu,7,,\n\"a,b\",Add,9,,\n";
    write_file("table.csv", text, strlen(text));
    check_limit("table.csv" MAP, "table-rows", 3);
    check_limit("table.csv" MAP, "csv-columns", 5);
    check_limit("table.csv" MAP, "csv-row-bytes", strlen("name,type,time_us,note,note"));
}

static void row_width_limits(void **state)
{
    (void)state;
    struct oc_buf text = {0};
    oc_buf_str(&text, "name,type,time_us\nconv,Conv,5");
    for (int i = 0; i < 1000000; i++)
        oc_buf_str(&text, ",1");
    oc_buf_str(&text, "\n");
    write_file("wide.csv", text.data, text.n);
    expect_rejected("wide.csv" MAP, "line 2: more than 8192 columns (--limit csv-columns=N)");
    expect_accepted("wide.csv" MAP " --limit csv-columns=1000003");
    oc_buf_clear(&text);
    for (int i = 0; i < 1000000; i++)
        oc_buf_str(&text, "column,");
    oc_buf_str(&text, "name,type,time_us\n");
    write_file("header.csv", text.data, text.n);
    expect_rejected("header.csv" MAP, "more than 8192 columns (--limit csv-columns=N)");
    oc_buf_clear(&text);
    oc_buf_str(&text, "name,type,time_us\nconv,Conv,5");
    for (int i = 0; i < 1 << 20; i++)
        oc_buf_str(&text, ";0123456789ABCDEF0123456789ABCDE");
    write_file("long.csv", text.data, text.n);
    oc_buf_free(&text);
    expect_rejected("long.csv" MAP, "line 2: more than 16777216 bytes in a row (--limit csv-row-bytes=N)");
}

/* A gzip member of these bytes, repeated `times`. */
static void write_gz(const char *name, const char *const *piece, const size_t *n, const int *times, int count)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    for (int i = 0; i < count; i++) {
        z_stream z = {.zalloc = NULL};
        assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
        size_t cap = deflateBound(&z, n[i]);
        unsigned char *out = malloc(cap);
        z.next_in = (Bytef *)(uintptr_t)piece[i];
        z.avail_in = (uInt)n[i];
        z.next_out = out;
        z.avail_out = (uInt)cap;
        assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
        for (int k = 0; k < times[i]; k++)
            assert_int_equal(fwrite(out, 1, z.total_out, f), z.total_out);
        deflateEnd(&z);
        free(out);
    }
    assert_int_equal(fclose(f), 0);
}

/* A trace with 64 MiB of `fill` between its events, repeated; enclosed by `open` and `close`. Returns the
 * size of the fill. */
static size_t write_bomb(const char *name, char fill, int times, const char *open, const char *close)
{
    const size_t size = (size_t)64 << 20;
    char *much = malloc(size);
    memset(much, fill, size);
    struct oc_buf start = {0}, text = {0};
    oc_buf_str(&start, "{\"traceEvents\":[");
    add_events(&start, 2);
    oc_buf_printf(&start, ",%s", open);
    oc_buf_str(&text, close);
    add_events(&text, 2);
    oc_buf_str(&text, "]}\n");
    const char *piece[] = {start.data, much, text.data};
    const size_t n[] = {start.n, size, text.n};
    const int k[] = {1, times, 1};
    write_gz(name, piece, n, k, 3);
    free(much);
    oc_buf_free(&start);
    oc_buf_free(&text);
    return n[0] + n[2];
}

static void gzip_ratio_limit(void **state)
{
    (void)state;
    if (sanitized())
        skip(); /* slow: hundreds of MiB of blanks; tests of base/stream.c cover the reader */
    unsigned long long n = write_bomb("some.json.gz", ' ', 1, "", "");
    expect_rejected("some.json.gz", "more than 200 bytes out of each byte of gzip data (--limit gz-ratio=N)");
    expect_accepted("some.json.gz --limit gz-ratio=1032");
    check_limit("some.json.gz --limit gz-ratio=1032", "gz-bytes", n + (64 << 20));
    const int many = 4; /* 256 MiB of blanks and of zeros, and a string of 512 MiB */
    write_bomb("blanks.json.gz", ' ', many, "", "");
    expect_rejected("blanks.json.gz", "(--limit gz-ratio=N)");
    expect_rejected("summary blanks.json.gz", "(--limit gz-ratio=N)");
    write_bomb("zeros.json.gz", '\0', many, "", "");
    expect_rejected("zeros.json.gz", "");
    write_bomb("string.json.gz", 'x', 8, "{\"name\":\"", "\"},");
    expect_rejected("string.json.gz --limit gz-ratio=1032", "(--limit gz-value-bytes=N)");
}

static void long_values_are_limited(void **state)
{
    (void)state;
    struct oc_buf text = {0};
    oc_buf_str(
        &text,
        "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"op\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":5,\"name\":\"");
    for (int i = 0; i < 100000; i++)
        oc_buf_str(&text, "0123456789\\n");
    oc_buf_str(&text, "\"},");
    add_events(&text, 2);
    oc_buf_str(&text, "]}\n");
    write_file("string.json", text.data, text.n);
    expect_rejected("string.json --limit string-bytes=1200000",
                    "(--limit string-bytes=N)"); /* the event is longer */
    expect_accepted("string.json --limit string-bytes=1200100");
    const char *piece[] = {text.data};
    const int once = 1;
    write_gz("value.json.gz", piece, &text.n, &once, 1);
    expect_accepted("value.json.gz --limit gz-value-bytes=2MB");
    expect_rejected("value.json.gz --limit gz-value-bytes=300kB",
                    "more than 300000 bytes in one value of gzip data");
    oc_buf_clear(&text);
    /* a number of 10^8 digits */
    oc_buf_str(&text, "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"op\",\"pid\":1,\"tid\":1,\"name\":\"n\","
                      "\"dur\":5,\"ts\":");
    char *digits = malloc(100000001);
    memset(digits, '7', 100000000);
    digits[100000000] = '\0';
    oc_buf_str(&text, digits);
    oc_buf_str(&text, "},");
    add_events(&text, 2);
    oc_buf_str(&text, "]}\n");
    write_file("number.json", text.data, text.n);
    expect_rejected("number.json", "more than 67108864 (--limit string-bytes=N)");
    expect_accepted("number.json --limit string-bytes=200M"); /* not a number: one event is skipped */
    /* a million arrays */
    memset(digits, '[', 1000000);
    digits[1000000] = '\0';
    oc_buf_clear(&text);
    oc_buf_str(&text, "{\"traceEvents\":[{\"ph\":\"X\",\"args\":");
    oc_buf_str(&text, digits);
    write_file("deep.json", text.data, text.n);
    assert_int_equal(run("deep.json --profile-format chrome")->exit_code, 3);
    free(digits);
    oc_buf_free(&text);
}

/* ---- special files ---- */

static void special_files_are_rejected(void **state)
{
    (void)state;
    expect_rejected("scan --files-from /dev/zero", "cannot read '/dev/zero'");
    static const char *const what[] = {"/dev/zero", "pipe", "empty", "/dev/tty0", "pipe.link"};
    static const char *const how[] = {"%s",
                                      "memory %s",
                                      "summary %s",
                                      "chain.onnx -p %s",
                                      "chain.onnx --op-rules %s",
                                      "chain.onnx --kernel-names %s -p ort.json",
                                      "chain.onnx --count weights=./%s",
                                      "chain.onnx -p ort.json --optimized-model %s",
                                      "chain.onnx --hw ./%s",
                                      "estimate chain.onnx --hw t4 --calibration %s",
                                      "check chain.onnx --budget %s",
                                      "check chain.onnx --baseline %s"};
    char path[256], line[256];
    save(chain(5), "chain.onnx");
    snprintf(path, sizeof(path), "%s/pipe", dir);
    assert_int_equal(mkfifo(path, 0600), 0);
    snprintf(path, sizeof(path), "%s/empty", dir); /* a directory */
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof(path), "%s/pipe.link", dir);
    assert_int_equal(symlink("pipe", path), 0);
    for (size_t i = 0; i < sizeof(what) / sizeof(what[0]); i++)
        for (size_t k = 0; k < sizeof(how) / sizeof(how[0]); k++) {
            snprintf(line, sizeof(line), how[k], what[i]);
            int code = run(line)->exit_code;
            if (code != 3 && code != 2) /* never a hang, which would give 124 */
                fail_msg("onnxcost %s: exit code %d", line, code);
        }
}

/* ---- external weights ---- */

/* Reshape needs the two numbers of the file: x is then 6 by 2. */
static void save_external(const char *name, const char *location)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[12]");
    oc_b_init_external(b, "shape", "int64[2]", location, 0, 16);
    oc_b_node(b, "Reshape", NULL, "x,shape", "y", "");
    oc_b_node(b, "Relu", NULL, "y", "z", "");
    oc_b_output(b, "z", NULL);
    save(b, name);
}

static bool reads_file(const char *options)
{
    char line[256];
    snprintf(line, sizeof(line), "model/m.onnx %s -f csv", options);
    const struct result *r = run(line);
    if (r->exit_code != 0)
        fail_msg("onnxcost %s: exit code %d: %s", line, r->exit_code, r->err);
    return strstr(r->out, "6x2") != NULL;
}

static void make_link(const char *to, const char *name)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    assert_int_equal(symlink(to, path), 0);
}

static void external_data_stays_below_the_model_folder(void **state)
{
    (void)state;
    static const uint8_t shape[16] = {[0] = 6, [8] = 2}; /* int64, little-endian */
    char path[256], absolute[300];
    static const char *const folders[] = {"model", "model/sub", "outside"};
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof(path), "%s/%s", dir, folders[i]);
        assert_int_equal(mkdir(path, 0700), 0);
    }
    write_file("model/in.bin", shape, sizeof(shape));
    write_file("model/sub/in.bin", shape, sizeof(shape));
    write_file("outside/canary", shape, sizeof(shape));
    write_file("model2", shape, sizeof(shape)); /* begins with the name of the folder */
    make_link("../outside/canary", "model/link");
    make_link("../outside", "model/folder");
    make_link("sub", "model/inner");
    make_link("../model/sub", "model/round");
    snprintf(path, sizeof(path), "%s/model/sub/in.bin", dir);
    make_link(path, "model/absolute");
    make_link("/dev/zero", "model/zero");
    make_link("nowhere", "model/dangling");
    make_link("loop", "model/loop");
    snprintf(path, sizeof(path), "%s/model/fifo", dir);
    assert_int_equal(mkfifo(path, 0600), 0);
    snprintf(path, sizeof(path), "%s/outside/fifo", dir);
    assert_int_equal(mkfifo(path, 0600), 0);
    make_link("../outside/fifo", "model/trap");
    snprintf(absolute, sizeof(absolute), "%s/outside/canary", dir);
    const struct {
        const char *location;
        bool inside, anywhere;
        const char *code;
    } all[] = {
        {"in.bin", true, true, NULL},
        {"./in.bin", true, true, NULL},
        {"sub/in.bin", true, true, NULL},
        {"inner/in.bin", true, true, NULL},
        {"round/in.bin", true, true, NULL}, /* a link that points back inside */
        {"absolute", true, true, NULL},
        {"../outside/canary", false, true, "W-external-path"},
        {"sub/../../outside/canary", false, true, "W-external-path"},
        {"../model/in.bin", false, true, "W-external-path"},
        {"../model2", false, true, "W-external-path"},
        {absolute, false, true, "W-external-path"},
        {"link", false, true, "W-external-path"},
        {"folder/canary", false, true, "W-external-path"},
        {"zero", false, false, "W-external-path"},
        {"trap", false, false, "W-external-path"}, /* opening it would wait for a writer */
        {"fifo", false, false, NULL},
        {"sub", false, false, NULL},
        {"dangling", false, false, "W-external-missing"},
        {"loop", false, false, "W-external-missing"},
        {"gone", false, false, "W-external-missing"},
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        save_external("model/m.onnx", all[i].location);
        if (reads_file("") != all[i].inside || reads_file("--limit external-data=inside") != all[i].inside)
            fail_msg("'%s' is %sread", all[i].location, all[i].inside ? "not " : "");
        bool told = all[i].code ? strstr(run("model/m.onnx -f csv")->err, all[i].code) != NULL : true;
        if (!told)
            fail_msg("'%s': no %s", all[i].location, all[i].code);
        if (reads_file("--limit external-data=anywhere") != all[i].anywhere)
            fail_msg("'%s' is %sread when all paths are allowed", all[i].location,
                     all[i].anywhere ? "not " : "");
    }
    /* ONNX Runtime does not get rejected files */
    save_external("model/m.onnx", "link");
    const struct result *r = run("record model/m.onnx -o recorded --ort-lib /nonexistent");
    if (r->exit_code != 3 || !strstr(r->err, "refused: not a path inside the model's folder"))
        fail_msg("exit code %d: %s", r->exit_code, r->err);
}

/* ---- XML ----------------------------------------------------------------------------------------------- */

static void xml_bombs_and_external_entities_are_rejected(void **state)
{
    (void)state;
    char path[256];
    struct oc_buf bomb = {0}, text = {0};
    snprintf(path, sizeof(path), "%s/canary", dir);
    assert_int_equal(mkfifo(path, 0600), 0); /* opening it would block */
    save(chain(1), "chain.onnx");
    oc_buf_str(&bomb, "<?xml version=\"1.0\"?>\n<!DOCTYPE b [<!ENTITY a \"aaaaaaaaaa\">");
    for (char c = 'b'; c < 'm'; c++) {
        oc_buf_printf(&bomb, "<!ENTITY %c \"", c);
        for (int i = 0; i < 10; i++)
            oc_buf_printf(&bomb, "&%c;", c - 1);
        oc_buf_str(&bomb, "\">\n");
    }
    oc_buf_str(&bomb, "]><b>&l;</b>");
    const char *const file[] = {
        bomb.data,
        "<!DOCTYPE b [<!ENTITY x SYSTEM \"canary\">]><b>&x;</b>",
        "<!DOCTYPE b SYSTEM \"canary\"><b/>",
        "<!DOCTYPE b [<!ENTITY % x SYSTEM \"canary\"> %x;]><b/>",
        "<!DOCTYPE b SYSTEM \"http://localhost:9/x.dtd\"><b/>",
        "<b xmlns:xi=\"http://www.w3.org/2001/XInclude\"><xi:include href=\"canary\" parse=\"text\"/></b>",
        "<xi:include xmlns:xi=\"http://www.w3.org/2001/XInclude\" href=\"canary\"/>",
        "<?xml-stylesheet href=\"canary\"?><b/>",
    };
    static const char *const how[] = {
        "chain.onnx --op-rules x.xml", "chain.onnx --hw ./x.xml", "trace.json --kernel-names x.xml",
        "estimate chain.onnx --hw t4 --calibration x.xml", "check chain.onnx --budget x.xml"};
    oc_buf_str(&text, "{\"traceEvents\":[");
    add_events(&text, 2);
    oc_buf_str(&text, "]}\n");
    write_file("trace.json", text.data, text.n);
    for (size_t i = 0; i < sizeof(file) / sizeof(file[0]); i++) {
        write_file("x.xml", file[i], strlen(file[i]));
        for (size_t k = 0; k < sizeof(how) / sizeof(how[0]); k++)
            expect_rejected(how[k],
                            i < 5 ? "document types and entities are not allowed" : "unknown element");
    }
    oc_buf_free(&bomb);
    oc_buf_free(&text);
}

/* Nested types: one message in another, never deeper than sixteen. */
static void deeply_nested_types_are_rejected(void **state)
{
    (void)state;
    struct oc_buf text = {0};
    for (int i = 0; i < 17; i++)
        oc_buf_str(&text, "seq(");
    oc_buf_str(&text, "float[1]");
    for (int i = 0; i < 17; i++)
        oc_buf_str(&text, ")");
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", text.data);
    oc_b_node(b, "Identity", NULL, "x", "y", "");
    oc_b_output(b, "y", NULL);
    save(b, "types.onnx");
    expect_rejected("types.onnx", "type: nested deeper than 16");
    oc_buf_free(&text);
    expect_accepted("chain.onnx --limit depth=256");
}

/* The listed values of constants defined elsewhere. */
static void fixed_limits_are_listed_with_their_values(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint64_t is;
    } all[] = {{"tensor-rank", OC_MAX_RANK},
               {"value-elements", OC_MAX_DATA},
               {"xml-depth", OC_XML_MAX_DEPTH},
               {"xml-value", OC_XML_MAX_VALUE},
               {"hardware-file", OC_HW_MAX_FILE_BYTES},
               {"calibration-file", OC_CAL_MAX_FILE_BYTES},
               {"op-rules-file", OC_RULES_MAX_FILE_BYTES},
               {"small-file", OC_KERNEL_NAMES_MAX_FILE_BYTES},
               {"mcp-request", OC_MCP_LINE_BYTES}};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        struct oc_input_limit_info info;
        bool found = false;
        for (size_t k = OC_LIMIT_COUNT; !found && oc_input_limit_info(k, &info); k++)
            found = !strcmp(info.name, all[i].name);
        assert_true(found);
        assert_int_equal(info.otherwise, all[i].is);
    }
}

static void rejects_malformed_limit_options(void **state)
{
    (void)state;
    static const char *const bad[] = {"nodes", "nodes=", "nodes=0", "nodes=x", "node=5", "tensor-rank=65"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char line[128];
        snprintf(line, sizeof(line), "chain.onnx --limit %s", bad[i]);
        assert_int_equal(run(line)->exit_code, 2);
    }
    assert_int_equal(run("chain.onnx --limit external-data=sideways")->exit_code, 2);
    assert_int_equal(run("hw list --limit nodes=5")->exit_code, 2);
    assert_int_equal(run("chain.onnx --limit nodes=0x10")->exit_code, 2);
    expect_accepted("chain.onnx --limit nodes=1 --limit nodes=1k"); /* the last one counts */
}

static int set_up(void **state)
{
    (void)state;
    char hwdb[600], cwd[512];
    if (!mkdtemp(dir) || !getcwd(cwd, sizeof(cwd)))
        return -1;
    snprintf(hwdb, sizeof(hwdb), "%s/hwdb", cwd);
    setenv("ONNXCOST_HWDB", hwdb, 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof(command), "rm -r %s", dir);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(file_size_and_node_limits),
        cmocka_unit_test(nesting_depth_limit),
        cmocka_unit_test(function_limits),
        cmocka_unit_test(loop_limits),
        cmocka_unit_test(memory_limits),
        cmocka_unit_test(tensor_limits),
        cmocka_unit_test(huge_shapes_are_not_allocated),
        cmocka_unit_test(thousands_of_operands_are_rejected_in_bounded_time),
        cmocka_unit_test(trace_limits),
        cmocka_unit_test(table_limits),
        cmocka_unit_test(row_width_limits),
        cmocka_unit_test(gzip_ratio_limit),
        cmocka_unit_test(long_values_are_limited),
        cmocka_unit_test(special_files_are_rejected),
        cmocka_unit_test(external_data_stays_below_the_model_folder),
        cmocka_unit_test(fixed_limits_are_listed_with_their_values),
        cmocka_unit_test(xml_bombs_and_external_entities_are_rejected),
        cmocka_unit_test(deeply_nested_types_are_rejected),
        cmocka_unit_test(rejects_malformed_limit_options),
    };
    return cmocka_run_group_tests_name("cli/input_limits", tests, set_up, tear_down);
}
