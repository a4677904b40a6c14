/* How time and memory of every command grow with the size of its input: for each kind of size (nodes, inputs
 * of one node, names, events ...) inputs of 1, 2 and 4 times a size, and the exponent of a power that fits
 * the processor time and the memory above those of a tiny input. Times below 50 ms and memory below 32 MiB
 * show no growth. Time above the exponent 1.15 is measured again in instructions (Valgrind), which neither
 * caches nor other processes change, if need be at 4 times the sizes; memory, which grows in blocks, at 4
 * times the sizes. Bytes of memory for each of the sizes are those of the largest input.
 * growth PROGRAM FOLDER [KIND [COMMAND]]     prints a table; COMMAND: how it starts; exit code 1: the last
 * measurement of an exponent is above 1.15, or a command fails. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/build.h"

enum { N_SIZE = 3, MAX_ARGS = 12, RUNS = 2 };
enum { AGAIN = 2 /* doublings of the sizes for the second measurement of memory */ };
static const double most_exponent = 1.15, least_s = 0.05, least_mib = 32;

static void die(const char *what)
{
    fprintf(stderr, "growth: %s: %s\n", what, strerror(errno));
    exit(2);
}

/* ---- models ----------------------------------------------------------------------------------------- */

static const char *text(const char *form, unsigned i)
{
    static char buf[8][96];
    static unsigned next;
    char *s = buf[next++ % 8];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(s, sizeof(buf[0]), form, i);
#pragma GCC diagnostic pop
    return s;
}

static void chain(struct oc_builder *b, unsigned n, const char *name)
{
    for (unsigned i = 0; i < n; i++)
        oc_b_node(b, "Relu", text(name, i), i ? text("v%u", i - 1) : "x", text("v%u", i), "");
    oc_b_output(b, text("v%u", n - 1), NULL);
}

static void nodes(struct oc_builder *b, unsigned n)
{
    oc_b_input(b, "x", "float[N,64]");
    chain(b, n, "/layers.%u/act/Relu");
}

/* one name for all, but for the number */
static void modules(struct oc_builder *b, unsigned n)
{
    oc_b_input(b, "x", "float[N,64]");
    for (unsigned i = 0; i < n; i++) {
        char name[128];
        snprintf(name, sizeof(name), "/m/block.%u/part.%u/sub.%u/Relu", i / 100, i / 10, i);
        oc_b_node(b, "Relu", name, i ? text("v%u", i - 1) : "x", text("v%u", i), "");
    }
    oc_b_output(b, text("v%u", n - 1), NULL);
}

static char *list_of(const char *form, unsigned n)
{
    size_t len = 0;
    char *s = malloc((size_t)n * 16 + 1);
    if (!s)
        die("memory");
    for (unsigned i = 0; i < n; i++)
        len += (size_t)sprintf(s + len, "%s%s", i ? "," : "", text(form, i));
    return s;
}

static void inputs_of_a_node(struct oc_builder *b, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        oc_b_input(b, text("x%u", i), "float[2,4]");
    char *names = list_of("x%u", n);
    oc_b_node(b, "Concat", "join", names, "y", "axis=0");
    oc_b_output(b, "y", NULL);
    free(names);
}

static void readers_of_a_value(struct oc_builder *b, unsigned n)
{
    oc_b_input(b, "x", "float[2,4]");
    for (unsigned i = 0; i < n; i++)
        oc_b_node(b, "Relu", "", "x", text("y%u", i), "");
    char *names = list_of("y%u", n);
    oc_b_node(b, "Sum", "sum", names, "z", "");
    oc_b_output(b, "z", NULL);
    free(names);
}

static void loops(struct oc_builder *b, unsigned n)
{
    oc_b_input(b, "x", "float[2,4]");
    oc_b_init(b, "M", "int64[]{2}");
    for (unsigned i = 0; i < n; i++) {
        oc_b_node(b, "Loop", "", i ? text("M,,y%u", i - 1) : "M,,x", text("y%u", i), "");
        oc_b_open(b, "body");
        oc_b_input(b, "i", "int64[]");
        oc_b_input(b, "go", "bool[]");
        oc_b_input(b, "a", "float[2,4]");
        oc_b_node(b, "Identity", "", "go", "go_on", "");
        oc_b_node(b, "Relu", "", "a", "r", "");
        oc_b_output(b, "go_on", "bool[]");
        oc_b_output(b, "r", "float[2,4]");
        oc_b_close(b);
    }
    oc_b_output(b, text("y%u", n - 1), NULL);
}

static void outputs_of_a_node(struct oc_builder *b, unsigned n)
{
    oc_b_input(b, "x", text("float[%u,4]", n));
    char *names = list_of("y%u", n);
    oc_b_node(b, "Split", "split", "x", names, "axis=0");
    oc_b_node(b, "Concat", "join", names, "z", "axis=0");
    oc_b_output(b, "z", NULL);
    free(names);
}

static void symbolic_dimensions(struct oc_builder *b, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        oc_b_input(b, text("x%u", i), text("float[d%u,4]", i));
    char *names = list_of("x%u", n);
    oc_b_node(b, "Concat", "sum", names, "y", "axis=0");
    for (unsigned i = 0; i < n; i++) {
        oc_b_node(b, "Relu", text("relu%u", i), text("x%u", i), text("r%u", i), "");
        oc_b_output(b, text("r%u", i), NULL);
    }
    oc_b_output(b, "y", NULL);
    free(names);
}

static void constants(struct oc_builder *b, unsigned n)
{
    oc_b_input(b, "x", "float[N,4]");
    for (unsigned i = 0; i < n; i++) {
        oc_b_init(b, text("w%u", i), "float[4]{1,2,3,4}");
        char in[64] = "x,w0";
        if (i)
            snprintf(in, sizeof(in), "v%u,w%u", i - 1, i);
        oc_b_node(b, "Add", text("add%u", i), in, text("v%u", i), "");
    }
    oc_b_output(b, text("v%u", n - 1), NULL);
}

static void functions(struct oc_builder *b, unsigned n)
{
    oc_b_opset(b, "local", 1);
    oc_b_input(b, "x", "float[N,4]");
    for (unsigned i = 0; i < n; i++) {
        oc_b_function(b, "local", text("F%u", i), "a", "c", "");
        oc_b_opset(b, "", 17);
        oc_b_node(b, "Relu", "r", "a", "b", "");
        oc_b_node(b, "Sigmoid", "s", "b", "c", "");
        oc_b_close(b);
        oc_b_node(b, text("local::F%u", i), text("call%u", i), i ? text("v%u", i - 1) : "x", text("v%u", i),
                  "");
    }
    oc_b_output(b, text("v%u", n - 1), NULL);
}

static void branches(struct oc_builder *b, unsigned n)
{
    oc_b_input(b, "x", "float[N,4]");
    oc_b_input(b, "c", "bool[]");
    for (unsigned i = 0; i < n; i++) {
        const char *in = i ? text("v%u", i - 1) : "x", *t = text("t%u", i), *e = text("e%u", i);
        oc_b_node(b, "If", text("if%u", i), "c", text("v%u", i), "");
        oc_b_open(b, "then_branch");
        oc_b_node(b, "Relu", text("then%u", i), in, t, "");
        oc_b_output(b, t, NULL);
        oc_b_close(b);
        oc_b_open(b, "else_branch");
        oc_b_node(b, "Neg", text("else%u", i), in, e, "");
        oc_b_output(b, e, NULL);
        oc_b_close(b);
    }
    oc_b_output(b, text("v%u", n - 1), NULL);
}

static void loop_body(struct oc_builder *b, unsigned n)
{
    oc_b_input(b, "x", "float[2,4]");
    oc_b_init(b, "trips", "int64[]{3}");
    oc_b_init(b, "go", "bool[]{1}");
    oc_b_node(b, "Loop", "loop", "trips,go,x", "y", "");
    oc_b_open(b, "body");
    oc_b_input(b, "i", "int64[]");
    oc_b_input(b, "more", "bool[]");
    oc_b_input(b, "s", "float[2,4]");
    for (unsigned i = 0; i < n; i++)
        oc_b_node(b, "Relu", text("/body/%u", i), i ? text("v%u", i - 1) : "s", text("v%u", i), "");
    oc_b_output(b, "more", NULL);
    oc_b_output(b, text("v%u", n - 1), NULL);
    oc_b_close(b);
    oc_b_output(b, "y", NULL);
}

/* Branches in branches. */
static void nested(struct oc_builder *b, unsigned n)
{
    oc_b_input(b, "x", "float[N,4]");
    oc_b_input(b, "c", "bool[]");
    for (unsigned i = 0; i < n; i++) {
        oc_b_node(b, "If", text("if%u", i), "c", text("v%u", i), "");
        oc_b_open(b, "else_branch");
        oc_b_node(b, "Neg", text("else%u", i), "x", text("e%u", i), "");
        oc_b_output(b, text("e%u", i), NULL);
        oc_b_close(b);
        oc_b_open(b, "then_branch");
    }
    oc_b_node(b, "Relu", "inner", "x", text("v%u", n), "");
    for (unsigned i = n; i > 0; i--) {
        oc_b_output(b, text("v%u", i), NULL);
        oc_b_close(b);
    }
    oc_b_output(b, "v0", NULL);
}

/* ---- profiles --------------------------------------------------------------------------------------- */

static FILE *create(const char *path)
{
    FILE *f = fopen(path, "w");
    if (!f)
        die(path);
    return f;
}

static void ort_event(FILE *f, const char *name, unsigned tid, unsigned ts, unsigned rows)
{
    fprintf(f,
            ",\n{\"cat\":\"Node\",\"pid\":1,\"tid\":%u,\"dur\":5,\"ts\":%u,\"ph\":\"X\",\"name\":\"%s_kernel_"
            "time\","
            "\"args\":{\"op_name\":\"Relu\",\"provider\":\"CPUExecutionProvider\",\"input_type_shape\":[{"
            "\"float\":[%u,64]}],"
            "\"output_type_shape\":[{\"float\":[%u,64]}]}}",
            tid, ts, name, rows, rows);
}

static void ort_run(FILE *f, bool first, unsigned ts, unsigned dur)
{
    fprintf(f,
            "%s\n{\"cat\":\"Session\",\"pid\":1,\"tid\":1,\"dur\":%u,\"ts\":%u,\"ph\":\"X\",\"name\":\"model_"
            "run\",\"args\":{}}",
            first ? "[" : ",", dur, ts);
}

/* Runs of 100 nodes. */
static void events(const char *path, unsigned n)
{
    FILE *f = create(path);
    for (unsigned r = 0; r < n / 100; r++) {
        ort_run(f, r == 0, r * 1000, 990);
        for (unsigned i = 0; i < 100; i++)
            ort_event(f, text("/layers.%u/act/Relu", i), 1, r * 1000 + i * 9, 1);
    }
    fprintf(f, "\n]\n");
    fclose(f);
}

/* Every run has shapes of its own. */
static void shapes_of_runs(const char *path, unsigned n)
{
    FILE *f = create(path);
    for (unsigned r = 0; r < n; r++) {
        ort_run(f, r == 0, r * 1000, 990);
        for (unsigned i = 0; i < 10; i++)
            ort_event(f, text("/layers.%u/act/Relu", i), 1, r * 1000 + i * 9, r + 1);
    }
    fprintf(f, "\n]\n");
    fclose(f);
}

/* Names that are not those of the model. */
static void unmatched_names(const char *path, unsigned n)
{
    FILE *f = create(path);
    ort_run(f, true, 0, n * 9);
    for (unsigned i = 0; i < n; i++)
        ort_event(f, text("/layer.%u/act/Relu_fused", i), 1, i * 9, 1);
    fprintf(f, "\n]\n");
    fclose(f);
}

static void tensorrt_layers(const char *path, unsigned n)
{
    FILE *f = create(path);
    fprintf(f, "[\n {\"count\":10}");
    for (unsigned i = 0; i < n; i++)
        fprintf(f,
                ",\n {\"name\":\"/layers.%u/act/Relu + "
                "/layer_%u\",\"timeMs\":1.5,\"averageMs\":0.15,\"percentage\":1}",
                i, i);
    fprintf(f, "\n]\n");
    fclose(f);
}

/* Operators on `lanes` threads, each with a kernel of its own name. */
static void kineto(const char *path, unsigned n, unsigned lanes, bool names)
{
    FILE *f = create(path);
    fprintf(f, "{\"schemaVersion\":1,\"traceEvents\":[");
    for (unsigned i = 0; i < n; i++)
        fprintf(f,
                "%s\n{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::relu\",\"pid\":1,\"tid\":%u,\"ts\":%u,"
                "\"dur\":8,\"args\":{\"External id\":%u}},"
                "\n{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,\"tid\":%u,"
                "\"ts\":%u,\"dur\":2,\"args\":{\"correlation\":%u}},"
                "\n{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"relu_kernel_%u\",\"pid\":0,\"tid\":7,\"ts\":%"
                "u,\"dur\":5,\"args\":{\"correlation\":%u,\"stream\":7}}",
                i ? "," : "", 100 + i % lanes, i * 10, i + 1, 100 + i % lanes, i * 10 + 1, i + 1,
                names ? i : 0, i * 10 + 4, i + 1);
    fprintf(f, "\n]}\n");
    fclose(f);
}

static void kernels(const char *path, unsigned n)
{
    kineto(path, n, 1, true);
}

static void lanes(const char *path, unsigned n)
{
    kineto(path, n, n, false);
}

/* A folder of models. */
static void models(const char *path, unsigned n)
{
    if ((remove(path) && errno != ENOENT) || mkdir(path, 0700))
        die(path);
    for (unsigned i = 0; i < n; i++) {
        char file[600];
        struct oc_builder *b = oc_b_new(17);
        snprintf(file, sizeof(file), "%s/%u.onnx", path, i);
        nodes(b, 5);
        if (oc_b_save(b, file))
            die(file);
        oc_b_free(b);
    }
}

/* ---- what is swept ---------------------------------------------------------------------------------- */

/* %m: the model, %p: the profile, %o: a file to write */
static const char *const model_commands[] = {"cost %m",
                                             "cost %m -f json",
                                             "cost %m -f html",
                                             "cost %m --group-by signature",
                                             "cost %m --group-by module --all",
                                             "cost %m --formula",
                                             "cost %m --hw a100-sxm4-80gb --advise",
                                             "cost %m --hw a100-sxm4-80gb --what-if fuse=elementwise",
                                             "cost %m --annotate %o.onnx",
                                             "cost %m --training adam",
                                             "cost %m -f netron",
                                             "cost %m -f xlsx -o %o.xlsx",
                                             "providers %m --provider cuda+cpu",
                                             "memory %m",
                                             "memory %m --plan %o.json",
                                             "memory %m --count allocator=ort",
                                             "diff %m %m",
                                             "diff %m --convention thop --convention mge",
                                             "estimate %m --hw a100-sxm4-80gb",
                                             "estimate %m --hw a100-sxm4-80gb --hw t4",
                                             "check %m --max macs=1G --forbid-op Loop",
                                             "scan %m -j 1 -f ndjson",
                                             "scan %m -j 1 --rows nodes -f parquet -o %o.parquet",
                                             NULL};
static const char *const profile_commands[] = {
    "cost %p", "cost %p -f json", "cost %p -f html --all", "summary %p", "cost %p -f trace -o %o.json", NULL};
static const char *const folder_commands[] = {"scan %p -j 1", "scan %p -j 1 -f json", "scan %p -j 1 -f html",
                                              "scan %p -j 1 -f parquet -o %o.parquet", NULL};
static const char *const joined_commands[] = {"cost %m -p %p --force",
                                              "cost %m -p %p --force -f json",
                                              "cost %m -p %p --force -f html",
                                              "cost %m -p %p --force --explain-match",
                                              "cost %m -p %p --force --hw a100-sxm4-80gb --advise",
                                              "diff %m -p %p -p %p",
                                              "summary %p",
                                              NULL};

static const struct kind {
    const char *name;
    unsigned from; /* the smallest of the sizes */
    void (*model)(struct oc_builder *b, unsigned n);
    void (*profile)(const char *path, unsigned n);
    const char *const *command;
    unsigned fixed_nodes; /* of the model, if only the profile grows */
} kinds[] = {
    {"nodes", 16000, nodes, NULL, model_commands, 0},
    {"module path", 16000, modules, NULL, model_commands, 0},
    {"inputs of a node", 8000, inputs_of_a_node, NULL, model_commands, 0},
    {"readers of a value", 8000, readers_of_a_value, NULL, model_commands, 0},
    {"loops", 2000, loops, NULL, model_commands, 0},
    {"outputs of a node", 8000, outputs_of_a_node, NULL, model_commands, 0},
    {"symbolic dimensions", 2000, symbolic_dimensions, NULL, model_commands, 0},
    {"constants", 16000, constants, NULL, model_commands, 0},
    {"functions", 4000, functions, NULL, model_commands, 0},
    {"branches", 4000, branches, NULL, model_commands, 0},
    {"nodes of a body", 8000, loop_body, NULL, model_commands, 0},
    {"nested branches", 15, nested, NULL, model_commands, 0},
    {"events", 100000, NULL, events, profile_commands, 0},
    {"lanes", 4000, NULL, lanes, profile_commands, 0},
    {"kernel names", 20000, NULL, kernels, profile_commands, 0},
    {"shapes of runs", 1000, NULL, shapes_of_runs, profile_commands, 0},
    {"joined nodes", 8000, nodes, unmatched_names, joined_commands, 0},
    {"joined layers", 8000, nodes, tensorrt_layers, joined_commands, 0},
    {"joined events", 100000, nodes, events, joined_commands, 100},
    {"joined runs", 1000, nodes, shapes_of_runs, joined_commands, 10},
    {"models", 2000, NULL, models, folder_commands, 0}, /* last: folders replace the files */
};

/* ---- measurement ------------------------------------------------------------------------------------ */

struct use {
    double s, mib;
    int status;
};

static struct use run_once(char **argv)
{
    struct rusage r;
    struct use u = {0};
    pid_t pid = fork();
    if (pid < 0)
        die("fork");
    if (!pid) {
        int null = open("/dev/null", O_RDWR);
        if (null < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0)
            _exit(126);
        execv(argv[0], argv);
        _exit(127);
    }
    if (wait4(pid, &u.status, 0, &r) != pid)
        die("wait");
    u.s = (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
          (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e6;
    u.mib = (double)r.ru_maxrss / 1024;
    return u;
}

/* The command with its files; words are separated by blanks. */
struct command_line {
    char buf[1024], *argv[MAX_ARGS + 8];
    int argc;
};

static void add_word(struct command_line *l, const char *word)
{
    l->argv[l->argc++] = (char *)(uintptr_t)word;
}

static void add_command(struct command_line *l, const char *program, const char *command, const char *stem)
{
    char *out = l->buf;
    add_word(l, program);
    for (const char *p = command; *p && l->argc < MAX_ARGS + 7; p += *p == ' ') {
        add_word(l, out);
        for (; *p && *p != ' '; p++)
            if (*p == '%') {
                p++;
                out += sprintf(out, "%s%s", stem, *p == 'm' ? ".onnx" : *p == 'p' ? ".json" : ".out");
            } else {
                *out++ = *p;
            }
        *out++ = '\0';
    }
}

static struct use run(const char *program, const char *command, const char *stem)
{
    struct command_line l = {0};
    add_command(&l, program, command, stem);
    struct use best = run_once(l.argv);
    for (int i = 1; i < RUNS && best.s < 0.5; i++) {
        struct use again = run_once(l.argv);
        best.s = again.s < best.s ? again.s : best.s;
        best.mib = again.mib < best.mib ? again.mib : best.mib;
    }
    return best;
}

/* Instructions of the command in millions, kernel excluded; NAN: Valgrind is missing. */
static double instructions(const char *program, const char *command, const char *stem)
{
    struct command_line l = {0};
    char log[600], log_option[640], line[256];
    double n = NAN;
    snprintf(log, sizeof(log), "%s.log", stem);
    snprintf(log_option, sizeof(log_option), "--log-file=%s", log);
    const char *const words[] = {"/usr/bin/valgrind", "--tool=cachegrind", "--cache-sim=no",
                                 "--cachegrind-out-file=/dev/null", log_option};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        add_word(&l, words[i]);
    add_command(&l, program, command, stem);
    run_once(l.argv);
    FILE *f = fopen(log, "r");
    while (f && fgets(line, sizeof(line), f)) { /* a line per process */
        const char *p = strstr(line, "refs:");
        double refs = 0;
        for (const char *q = p; q && *q; q++)
            if (*q >= '0' && *q <= '9')
                refs = refs * 10 + (*q - '0');
        if (p)
            n = isnan(n) ? refs : n + refs;
    }
    if (f)
        fclose(f);
    return n / 1e6;
}

static void make_files(const struct kind *k, unsigned n, const char *stem)
{
    char path[600];
    if (k->model) {
        struct oc_builder *b = oc_b_new(17);
        snprintf(path, sizeof(path), "%s.onnx", stem);
        k->model(b, k->fixed_nodes ? k->fixed_nodes : n);
        if (oc_b_save(b, path))
            die(path);
        oc_b_free(b);
    }
    if (k->profile) {
        snprintf(path, sizeof(path), "%s.json", stem);
        k->profile(path, n);
    }
}

/* Slope of the least-squares line through the logarithms of what exceeds `base`. */
static double slope(const double *v, double base)
{
    double sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (int i = 0; i < N_SIZE; i++) {
        double x = i, y = log2(v[i] - base > 1e-4 ? v[i] - base : 1e-4);
        sx += x;
        sy += y;
        sxx += x * x;
        sxy += x * y;
    }
    return (N_SIZE * sxy - sx * sy) / (N_SIZE * sxx - sx * sx);
}

/* Of the memory: the last step, because the first ones fit into what the start reserves. */
static double last_step(const double *v, double base)
{
    return v[N_SIZE - 1] - base < least_mib ? NAN : log2((v[N_SIZE - 1] - base) / (v[N_SIZE - 2] - base));
}

static const char *shown(int decimals, double e)
{
    static char buf[5][16];
    static unsigned next;
    char *s = buf[next++ % 5];
    if (isnan(e))
        return "";
    snprintf(s, sizeof(buf[0]), "%.*f", decimals, e);
    return s;
}

struct files { /* names without suffix */
    char tiny[512], size[N_SIZE][512], large[2][512];
    bool has_large;
};

static void make_large(const struct kind *k, struct files *f)
{
    for (int i = 0; i < 2 && !f->has_large; i++)
        make_files(k, k->from << (N_SIZE - 2 + AGAIN + i), f->large[i]);
    f->has_large = true;
}

struct row {
    double s[N_SIZE], mib[N_SIZE];
    double time, instructions, memory, large_memory; /* exponents; NAN: not measured */
    double bytes;                                    /* for each of the largest input's; NAN: not shown */
    int status;                                      /* of the largest input */
};

static struct row measure(const struct kind *k, const char *program, const char *command, struct files *f)
{
    struct row r = {.instructions = NAN, .large_memory = NAN};
    struct use base = run(program, command, f->tiny);
    for (int i = 0; i < N_SIZE; i++) {
        struct use u = run(program, command, f->size[i]);
        r.s[i] = u.s;
        r.mib[i] = u.mib;
        r.status = u.status;
    }
    r.time = r.s[N_SIZE - 1] - base.s < least_s ? NAN : slope(r.s, base.s);
    r.memory = last_step(r.mib, base.mib);
    r.bytes = isnan(r.memory) ? NAN : (r.mib[N_SIZE - 1] - base.mib) * 1048576 / (k->from << (N_SIZE - 1));
    if (r.time > most_exponent) {
        double n[N_SIZE];
        for (int i = 0; i < N_SIZE; i++)
            n[i] = instructions(program, command, f->size[i]);
        double tiny = instructions(program, command, f->tiny);
        r.instructions = slope(n, tiny);
        if (r.instructions > most_exponent) { /* a threshold among the sizes: larger data is compressed */
            make_large(k, f);
            for (int i = 0; i < 2; i++)
                n[i] = instructions(program, command, f->large[i]) - tiny;
            r.instructions = log2(n[1] / n[0]);
        }
    }
    if (r.memory > most_exponent) {
        double last[2];
        make_large(k, f);
        for (int i = 0; i < 2; i++)
            last[i] = run(program, command, f->large[i]).mib - base.mib;
        r.large_memory = log2(last[1] / last[0]);
    }
    return r;
}

static double final(double first, double second)
{
    return isnan(second) ? first : second;
}

/* Returns how many exponents are too large. */
static int sweep(const struct kind *k, const char *program, const char *folder, const char *only,
                 double *worst)
{
    struct files f = {0};
    int bad = 0;
    snprintf(f.tiny, sizeof(f.tiny), "%s/tiny", folder);
    make_files(k, k->profile == events ? 200 : 2, f.tiny);
    for (int i = 0; i < N_SIZE; i++) {
        snprintf(f.size[i], sizeof(f.size[i]), "%s/%u", folder, k->from << i);
        make_files(k, k->from << i, f.size[i]);
    }
    for (int i = 0; i < 2; i++)
        snprintf(f.large[i], sizeof(f.large[i]), "%s/large%d", folder, i);
    for (const char *const *c = k->command; *c; c++) {
        if (strncmp(*c, only, strlen(only)) != 0)
            continue;
        struct row r = measure(k, program, *c, &f);
        double time = final(r.time, r.instructions), memory = final(r.memory, r.large_memory);
        bool over = time > most_exponent || memory > most_exponent;
        bool refused = WIFEXITED(r.status) && WEXITSTATUS(r.status) == 3; /* a documented limit */
        bool failed = !WIFEXITED(r.status) || (WEXITSTATUS(r.status) > 1 && !refused);
        bad += (over && !refused) || failed;
        *worst = fmax(*worst, fmax(time, memory));
        printf("%-20s %8u  %-52s %8.3f %8s %8s %8.0f %8s %8s %8s%s\n", k->name, k->from << (N_SIZE - 1), *c,
               r.s[N_SIZE - 1], shown(2, r.time), shown(2, r.instructions), r.mib[N_SIZE - 1],
               shown(2, r.memory), shown(2, r.large_memory), shown(0, r.bytes),
               failed    ? "  failed"
               : refused ? "  refused"
               : over    ? "  above 1.15"
                         : "");
        fflush(stdout);
    }
    return bad;
}

static void remove_files(const char *folder)
{
    char command[600];
    snprintf(command, sizeof(command), "rm -rf '%s'", folder);
    if (system(command))
        die(folder);
}

int main(int argc, char **argv)
{
    int bad = 0;
    double worst = 0;
    if (argc < 3) {
        fprintf(stderr, "usage: growth PROGRAM FOLDER [KIND [COMMAND]]\n");
        return 2;
    }
    if (mkdir(argv[2], 0700) && errno != EEXIST)
        die(argv[2]);
    printf("%-20s %8s  %-52s %8s %8s %8s %8s %8s %8s %8s\n", "size", "largest", "command", "s", "exponent",
           "of instr", "MiB", "exponent", "at 4x", "bytes");
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (argc < 4 || !strcmp(argv[3], kinds[i].name))
            bad += sweep(&kinds[i], argv[1], argv[2], argc < 5 ? "" : argv[4], &worst);
    remove_files(argv[2]);
    printf("largest exponent %.2f; %d above %.2f or failed\n", worst, bad, most_exponent);
    return bad > 0;
}
