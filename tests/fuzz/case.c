#include "case.h"

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "cli/cli.h"
#include "wire_mutator.h"

enum { MAX_SEED = 512, MAX_SEED_BYTES = 48 << 10, MAX_OPTIONS = 6 };

/* ---- choices ---------------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static uint64_t next_bytes(struct fuzz_choices *c, size_t n)
{
    uint64_t v = 0;
    if (!c->n && c->endless)
        return mix(c->random += UINT64_C(0x9e3779b97f4a7c15));
    for (size_t i = 0; i < n && c->n; i++, c->n--)
        v = v << 8 | *c->data++;
    return v;
}

size_t fuzz_below(struct fuzz_choices *c, size_t n)
{
    return n < 2 ? 0 : (size_t)(next_bytes(c, n <= 256 ? 1 : n <= 65536 ? 2 : 4) % n);
}

/* Rare choices are not those of a zero: a case without bytes left is a common one. */
bool fuzz_one_in(struct fuzz_choices *c, size_t n)
{
    return fuzz_below(c, n) == n - 1;
}

const char *fuzz_pick(struct fuzz_choices *c, const char *const *text, size_t n)
{
    return text[fuzz_below(c, n)];
}

/* ---- seeds ------------------------------------------------------------------------------------------ */

struct seed {
    enum fuzz_file_kind kind;
    char name[96];
    struct oc_buf bytes;
};

static struct seed seeds[MAX_SEED];
static size_t n_seed;

static enum fuzz_file_kind kind_of_folder(const char *name)
{
    static const struct {
        const char *name;
        enum fuzz_file_kind kind;
    } folder[] = {{"model", FUZZ_MODEL},
                  {"llm", FUZZ_MODEL},
                  {"diff", FUZZ_MODEL},
                  {"advice", FUZZ_MODEL},
                  {"plan", FUZZ_MODEL},
                  {"hwdb", FUZZ_DEVICE},
                  {"calibration", FUZZ_CALIBRATION},
                  {"budget", FUZZ_BUDGET},
                  {"op_rules", FUZZ_OP_RULES},
                  {"kernel_names", FUZZ_KERNEL_NAMES},
                  {"weights", FUZZ_WEIGHTS}};
    /* no files of the program */
    static const char *const other[] = {"csv_rows", "devices", "einsum",      "expr", "fit",    "json",
                                        "options",  "rules",   "text_filter", "wire", "decoder"};
    for (size_t i = 0; i < sizeof(folder) / sizeof(folder[0]); i++)
        if (!strcmp(name, folder[i].name))
            return folder[i].kind;
    for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++)
        if (!strcmp(name, other[i]))
            return FUZZ_N_KINDS;
    return FUZZ_PROFILE;
}

static void load_seed(enum fuzz_file_kind kind, const char *path, const char *name)
{
    char block[4096];
    FILE *f = n_seed < MAX_SEED ? fopen(path, "rb") : NULL;
    struct seed *s = &seeds[n_seed];
    if (!f)
        return;
    *s = (struct seed){.kind = kind, .bytes = {.max = MAX_SEED_BYTES}};
    snprintf(s->name, sizeof(s->name), "%s", name);
    for (size_t n; (n = fread(block, 1, sizeof(block), f)) > 0;)
        oc_buf_add(&s->bytes, block, n);
    fclose(f);
    if (s->bytes.overflowed || !s->bytes.n)
        oc_buf_free(&s->bytes);
    else
        n_seed++;
}

/* Calls `each` for the entries of a folder in the order of their names. */
static void list_folder(const char *path, void (*each)(const char *folder, const char *name))
{
    struct dirent **entry;
    int n = scandir(path, &entry, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        if (entry[i]->d_name[0] != '.')
            each(path, entry[i]->d_name);
        free(entry[i]);
    }
    if (n >= 0)
        free(entry);
}

static void take_file(const char *folder, const char *name)
{
    char path[600];
    const char *slash = strrchr(folder, '/');
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    load_seed(kind_of_folder(slash ? slash + 1 : folder), path, name);
}

static void take_folder(const char *folder, const char *name)
{
    char path[400];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    if (kind_of_folder(name) != FUZZ_N_KINDS)
        list_folder(path, take_file);
}

void fuzz_seeds_load(const char *folder)
{
    list_folder(folder, take_folder);
}

void fuzz_seeds_free(void)
{
    while (n_seed)
        oc_buf_free(&seeds[--n_seed].bytes);
}

static const struct seed *any_seed(struct fuzz_choices *c, enum fuzz_file_kind kind)
{
    size_t n = 0, which;
    for (size_t i = 0; i < n_seed; i++)
        n += seeds[i].kind == kind;
    which = fuzz_below(c, n);
    for (size_t i = 0; i < n_seed; i++)
        if (seeds[i].kind == kind && !which--)
            return &seeds[i];
    return NULL;
}

/* ---- files ------------------------------------------------------------------------------------------ */

static size_t change_few(uint8_t *data, size_t n, size_t cap)
{
    (void)cap;
    if (n)
        data[n / 2] ^= (uint8_t)(1U << n % 8);
    return n;
}

static void damage(struct fuzz_choices *c, struct oc_buf *b, bool is_message)
{
    if (is_message && fuzz_one_in(c, 2)) {
        size_t n = b->n;
        oc_buf_pad(b, 0, 256);
        b->n = fuzz_wire_mutate((uint8_t *)b->data, n, n + 256, fuzz_below(c, SIZE_MAX), NULL, 0, change_few);
        return;
    }
    for (size_t i = 1 + fuzz_below(c, 3); i && b->n; i--)
        b->data[fuzz_below(c, b->n)] ^= (char)(1U << fuzz_below(c, 8));
    if (fuzz_one_in(c, 4))
        b->n = fuzz_below(c, b->n + 1);
}

/* Adds a file; NULL: there are too many. */
static struct fuzz_file *add_file(struct fuzz_case *k, enum fuzz_file_kind kind)
{
    static const char *const suffix_of[] = {"onnx", "json", "xml", "xml", "xml", "xml", "xml", "txt"};
    if (k->n_file == FUZZ_MAX_FILES)
        return NULL;
    struct fuzz_file *f = &k->file[k->n_file];
    const char *suffix = suffix_of[kind], *stem = "";
    const struct seed *s = NULL;
    if (kind != FUZZ_MODEL || fuzz_one_in(k->choices, 8))
        s = (kind == FUZZ_PROFILE || kind == FUZZ_DEVICE) && !fuzz_one_in(k->choices, 4)
                ? NULL
                : any_seed(k->choices, kind);
    if (s) {
        oc_buf_add(&f->bytes, s->bytes.data, s->bytes.n);
        stem = s->name; /* some formats are recognized by the name */
        suffix = NULL;
    } else if (kind == FUZZ_MODEL) {
        fuzz_make_model(k, &f->bytes);
    } else if (kind == FUZZ_PROFILE) {
        fuzz_make_profile(k, &f->bytes, &suffix);
    } else if (kind == FUZZ_DEVICE) {
        fuzz_make_device(k->choices, &f->bytes);
    }
    if (f->bytes.n && fuzz_one_in(k->choices, 12))
        damage(k->choices, &f->bytes, kind == FUZZ_MODEL);
    snprintf(f->path, sizeof(f->path), "%s/%zu%s%s", k->folder, k->n_file, suffix ? "." : "-",
             suffix ? suffix : stem);
    k->n_file++;
    return f;
}

static const char *file(struct fuzz_case *k, enum fuzz_file_kind kind)
{
    for (size_t i = 0; i < k->n_file; i++)
        if (fuzz_one_in(k->choices, 8))
            return k->file[i].path;
    const struct fuzz_file *f = add_file(k, kind);
    return f ? f->path : k->file[0].path;
}

bool fuzz_case_write(const struct fuzz_case *k)
{
    bool good = true;
    for (size_t i = 0; i < k->n_file; i++) {
        FILE *f = fopen(k->file[i].path, "wb");
        good &= f && fwrite(k->file[i].bytes.data, 1, k->file[i].bytes.n, f) == k->file[i].bytes.n;
        if (f && fclose(f))
            good = false;
    }
    return good;
}

static int remove_entry(const char *path, const struct stat *s, int type, struct FTW *walk)
{
    (void)s;
    (void)type;
    return walk->level ? remove(path) : 0;
}

void fuzz_case_remove(const struct fuzz_case *k)
{
    nftw(k->folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

void fuzz_case_free(struct fuzz_case *k)
{
    for (size_t i = 0; i < k->n_file; i++)
        oc_buf_free(&k->file[i].bytes);
    for (size_t i = 0; i < FUZZ_MAX_ARGS; i++)
        oc_buf_free(&k->arg[i]);
    oc_buf_free(&k->names);
}

/* ---- arguments -------------------------------------------------------------------------------------- */

static struct oc_buf *new_arg(struct fuzz_case *k)
{
    if (k->argc == FUZZ_MAX_ARGS)
        k->argc--;
    struct oc_buf *b = &k->arg[k->argc++];
    oc_buf_clear(b);
    return b;
}

static void add_arg(struct fuzz_case *k, const char *text)
{
    oc_buf_str(new_arg(k), text);
}

/* The first half of each list are values that a careful user gives. */
static const char *const numbers[] = {
    "1", "2",   "8", "100", "16", "3", "64", "0", "-1", "4294967296", "9223372036854775807",
    "x", "1e3", "",  "007", "1.5"};
static const char *const devices[] = {"a100-sxm4-80gb",
                                      "rtx-3090",
                                      "t4",
                                      "h100-sxm",
                                      "jetson-orin-nano-8gb",
                                      "xeon-platinum-8480-plus",
                                      "auto",
                                      "no such device",
                                      "t",
                                      "a100",
                                      "nan",
                                      "h"};
static const char *const keys[] = {"time",  "flops", "type", "module", "signature", "name",  "+bytes", "macs",
                                   "bound", "roof",  "gap",  "params", "n",         "share", "order"};
static const char *const sizes[] = {
    "1MiB", "1e9", "10%", "2us", "100ms", "1.5G", "0", "-5", "nan", "9999999999999999999G", "", "1e-320"};
static const char *const dimensions[] = {"N=1",   "batch=8", "batch=1,2",    "N=2",  "seq_len=4",
                                         "N=4",   "N=0",     "seq_len=1..3", "N=-1", "N=4611686018427387904",
                                         "a=b=c", "=3"};
static const char *const shapes[] = {"x=1,4,8,8", "x=2,4,8,8", "x=N,4,?,8", "x=4,4,8,8",
                                     "x=",        "y=1",       "x=-1,4",    "x=9999999999,9999999999"};
static const char *const texts[] = {"a",    ".*",       "(",   "Conv",  "[",        "(a+)+$",
                                    "\xff", "\x1b[31m", "<b>", "layer", "Conv|Relu"};
static const char *const maps[] = {"name=name,time=time_us", "name=Name,time=Duration (ns),type=Type",
                                   "time=x", "name"};
static const char *const settings[] = {"dram.bandwidth=200GB/s", "vector.f32=1TFLOP/s", "x", "DRAM.size=0"};
static const char *const what_ifs[] = {"all=2x", "Conv=80%", "hw=a100-sxm4-80gb", "fuse=elementwise",
                                       "hw=t4",  "peak=2x",  "clock=0",           "dram=1e308x"};
static const char *const providers[] = {"cuda,cpu",  "tensorrt,cuda,cpu", "qnn,cpu", "coreml,cpu",
                                        "webnn,cpu", "dml,openvino,cpu",  "x",       ","};
static const char *const views[] = {"device", "overview", "runs",  "model",    "distribution",
                                    "type",   "operator", "event", "kernel",   "memory",
                                    "copies", "user",     "lanes", "benchmark"};
static const char *const profile_formats[] = {"onnxruntime", "tensorrt", "kineto", "chrome", "x", ""};
static const char *const limits[] = {
    "nodes=10",        "depth=1",           "events=5",       "string-bytes=16",         "table-rows=2",
    "list-elements=1", "folded-bytes=1024", "file-bytes=100", "analysis-memory=1048576", "x=1"};

/* Values of an option, by the name of its argument. */
static const struct {
    const char *arg;
    const char *const *text;
    size_t n;
} values[] = {
#define VALUES(arg, array)                                                                                   \
    {                                                                                                        \
        arg, array, sizeof(array) / sizeof((array)[0])                                                       \
    }
    VALUES("N", numbers),
    VALUES("N|none", numbers),
    VALUES("SIZE", sizes),
    VALUES("TIME", sizes),
    VALUES("SHARE", sizes),
    VALUES("NAME=N", dimensions),
    VALUES("NAME=SIZES", dimensions),
    VALUES("INPUT=SHAPE", shapes),
    VALUES("INPUT=VALUE", shapes),
    VALUES("KEY", keys),
    VALUES("KEY,...", keys),
    VALUES("[+]COLUMN,...", keys),
    VALUES("REGEX", texts),
    VALUES("TEXT", texts),
    VALUES("NAME|FILE|auto", devices),
    VALUES("N,N", numbers),
    VALUES("KEY=COLUMN,...", maps),
    VALUES("NAME,...", providers),
    VALUES("KEY=VALUE", settings),
    VALUES("KEY=80%|KEY=2x|hw=NAME|fuse=elementwise", what_ifs),
};

static const struct {
    const char *option;
    enum fuzz_file_kind kind;
} file_options[] = {{"profile", FUZZ_PROFILE},
                    {"hw", FUZZ_DEVICE},
                    {"optimized-model", FUZZ_MODEL},
                    {"op-rules", FUZZ_OP_RULES},
                    {"kernel-names", FUZZ_KERNEL_NAMES},
                    {"calibration", FUZZ_CALIBRATION},
                    {"budget", FUZZ_BUDGET},
                    {"baseline", FUZZ_BUDGET},
                    {"weights", FUZZ_WEIGHTS}};
/* the program writes these */
static const char *const outputs[] = {"output", "annotate", "plan", "save-baseline"};

/* One of `list`, separated by '|'; of output formats mostly those of every command. */
static void choice(struct fuzz_choices *c, const char *list, struct oc_buf *out)
{
    size_t n = 1;
    for (const char *p = list; *p; p++)
        n += *p == '|';
    if (n > 12 && !fuzz_one_in(c, 3))
        list = "json|csv|table", n = 3;
    n = fuzz_below(c, n);
    for (; n; n--)
        list = strchr(list, '|') + 1;
    oc_buf_add(out, list, strcspn(list, "|"));
}

static void value(struct fuzz_case *k, const struct cli_option *o, struct oc_buf *out)
{
    static const char *const suffixes[] = {"json", "csv", "onnx", "xml", "html"};
    struct fuzz_choices *c = k->choices;
    if (o->kind == CLI_INT) {
        oc_buf_str(out, fuzz_pick(c, numbers, fuzz_one_in(c, 8) ? OC_COUNT(numbers) : OC_COUNT(numbers) / 2));
        return;
    }
    if (o->kind == CLI_CHOICE) {
        choice(c, o->arg, out);
        return;
    }
    for (size_t i = 0; i < sizeof(outputs) / sizeof(outputs[0]); i++)
        if (!strcmp(o->name, outputs[i])) {
            k->writes = true;
            oc_buf_printf(out, "%s/out.%s", k->folder, FUZZ_PICK(c, suffixes));
            return;
        }
    if (!strcmp(o->name, "limit")) {
        oc_buf_str(out, FUZZ_PICK(c, limits));
        return;
    }
    for (size_t i = 0; i < sizeof(file_options) / sizeof(file_options[0]); i++)
        if (!strcmp(o->name, file_options[i].option) && !(!strcmp(o->name, "hw") && !fuzz_one_in(c, 3))) {
            oc_buf_str(out, file(k, file_options[i].kind));
            return;
        }
    if (!strcmp(o->name, "profile-format")) {
        oc_buf_str(out, FUZZ_PICK(c, profile_formats));
        return;
    }
    if (!strcmp(o->name, "view")) {
        oc_buf_str(out, FUZZ_PICK(c, views));
        return;
    }
    if (strstr(o->arg, "NODE") || !strcmp(o->name, "why") ||
        (strstr(o->arg, "NAME") && strcmp(o->name, "hw") != 0 && fuzz_one_in(c, 3))) {
        fuzz_almost_name(k, out);
        oc_buf_str(out, strchr(o->arg, '=') ? "=3" : "");
        return;
    }
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
        if (!strcmp(o->arg, values[i].arg)) {
            oc_buf_str(out, fuzz_pick(c, values[i].text, fuzz_one_in(c, 8) ? values[i].n : values[i].n / 2));
            return;
        }
    oc_buf_str(out, FUZZ_PICK(c, texts));
}

/* One of the keys of an option whose value is KEY=VALUE; an option without keys is itself. */
static const struct cli_option *key_of(struct fuzz_choices *c, const struct cli_option *o)
{
    const struct cli_option *p, *chosen = o;
    size_t n = 0;
    for (size_t i = 0; o->kind == CLI_KEYS && (p = cli_option_nth(i)); i++)
        if (p->of && !strcmp(p->of, o->name) && fuzz_one_in(c, ++n))
            chosen = p;
    return chosen;
}

static void option(struct fuzz_case *k, const struct cli_option *o)
{
    struct oc_buf text = {0};
    o = fuzz_one_in(k->choices, 8) ? o : key_of(k->choices, o);
    if (o->arg) /* files are made before the argument */
        value(k, o, &text);
    struct oc_buf *b = new_arg(k);
    oc_buf_printf(b, "--%s%s%s%s%s", o->of ? o->of : "", o->of ? "=" : "", o->name, o->arg ? "=" : "",
                  text.n ? text.data : "");
    if (!strcmp(o->name, "format"))
        k->format = o->arg ? k->arg[k->argc - 1].data + strlen("--format=") : NULL;
    oc_buf_free(&text);
}

static const struct cli_option *option_named(const char *name)
{
    return cli_option_named(name, strlen(name), cli_commands[0]);
}

/* Not chosen: an outside program, or no analysis. */
static bool is_left_out(const char *name)
{
    static const char *const left_out[] = {"help",       "version", "ort-lib", "jobs",
                                           "files-from", "threads", "quick",   "null"};
    for (size_t i = 0; i < sizeof(left_out) / sizeof(left_out[0]); i++)
        if (!strcmp(name, left_out[i]))
            return true;
    return false;
}

static bool is_given(const struct fuzz_case *k, const char *name)
{
    size_t n = strlen(name);
    for (int i = 0; i < k->argc; i++)
        if (k->arg[i].n > n + 2 && !strncmp(k->arg[i].data, "--", 2) &&
            !strncmp(k->arg[i].data + 2, name, n) && strchr("=", k->arg[i].data[n + 2]))
            return true;
    return false;
}

/* Any option or key that the command takes; rarely one of another command, or one that is given already. */
static void any_options(struct fuzz_case *k, const struct cli_command *c)
{
    for (size_t n = fuzz_below(k->choices, MAX_OPTIONS + 1); n; n--) {
        const struct cli_option *o = NULL, *p;
        size_t n_fit = 0;
        bool foreign = fuzz_one_in(k->choices, 60), again = fuzz_one_in(k->choices, 30);
        for (size_t i = 0; (p = cli_option_nth(i)); i++)
            if ((cli_takes(c, p) || foreign) && !is_left_out(p->name) && (again || !is_given(k, p->name)) &&
                fuzz_one_in(k->choices, ++n_fit))
                o = p;
        if (o)
            option(k, o);
    }
}

/* ---- commands --------------------------------------------------------------------------------------- */

/* What follows the command: m a model, p a profile, r a recording (a profile with its model), h a device by
 * name or file, H two --hw, N --provider, c two --convention, l a limit of check, o --output,
 * otherwise literal words between '.'. */
static const struct {
    const char *command, *form;
} forms[] = {{"cost", "m"},
             {"cost", "p"},
             {"cost", "mP"},
             {"cost", "mP"},
             {"cost", "mPh"},
             {"cost", "mPHP"},
             {"summary", "p"},
             {"summary", "pp"},
             {"diff", "mc"},
             {"estimate", "mH"},
             {"llm", "mh"},
             {"llm", "m"},
             {"scan", "mmp.-j1."},
             {"memory", "m"},
             {"memory", "mh"},
             {"estimate", "mh"},
             {"estimate", "mPh"},
             {"diff", "mm"},
             {"diff", "mPP"},
             {"diff", "mH"},
             {"check", "ml"},
             {"check", "mPhl"},
             {"calibrate", "rrh"},
             {"calibrate", "rrrh.--check."},
             {"hw", ".lint.d"},
             {"hw", ".list."},
             {"hw", ".show.n"},
             {"hw", ".diff.nn"},
             {"ops", ""},
             {"schema", ""},
             {"help", ".cost."},
             {"completion", ".bash."},
             {"cost", "mh"},
             {"record", "mo.--runs=1."},
             {"providers", "mN"},
             {"providers", "mNP"},
             {"providers", ""},
             {"cost", "m.--training=adam."},
             {"cost", "m.--sparsity."}};

static void recording(struct fuzz_case *k)
{
    const char *model = file(k, FUZZ_MODEL);
    struct fuzz_file *f = k->n_file < FUZZ_MAX_FILES ? &k->file[k->n_file] : NULL;
    const char *suffix;
    if (!f)
        return;
    fuzz_make_profile(k, &f->bytes, &suffix);
    snprintf(f->path, sizeof(f->path), "%.*s.json", (int)strcspn(model, "."), model);
    add_arg(k, f->path);
    k->n_file++;
}

static void form_part(struct fuzz_case *k, const char **form)
{
    static const char *const limit_options[] = {"max", "min", "budget", "baseline", "forbid-op"};
    static const char *const conventions[] = {"mge", "fvcore", "thop", "onnx-tool", "xla", "onnxcost"};
    switch (*(*form)++) {
    case 'm':
        add_arg(k, file(k, FUZZ_MODEL));
        break;
    case 'p':
        add_arg(k, file(k, FUZZ_PROFILE));
        break;
    case 'P':
        option(k, option_named("profile"));
        break;
    case 'o':
        option(k, option_named("output"));
        break;
    case 'd':
        add_arg(k, file(k, FUZZ_DEVICE));
        break;
    case 'n':
        add_arg(k, FUZZ_PICK(k->choices, devices));
        break;
    case 'r':
        recording(k);
        break;
    case 'H':
        option(k, option_named("hw"));
        option(k, option_named("hw"));
        break;
    case 'h':
        option(k, option_named("hw"));
        break;
    case 'l':
        option(k, option_named(FUZZ_PICK(k->choices, limit_options)));
        break;
    case 'N':
        oc_buf_printf(new_arg(k), "--provider=%s", FUZZ_PICK(k->choices, providers));
        break;
    case 'c':
        for (int i = 0; i < 2; i++)
            oc_buf_printf(new_arg(k), "--convention=%s", FUZZ_PICK(k->choices, conventions));
        break;
    default: {
        size_t n = strcspn(*form, ".");
        oc_buf_add(new_arg(k), *form, n);
        *form += n + ((*form)[n] == '.');
    }
    }
}

void fuzz_case_make(struct fuzz_case *k, const char *folder, struct fuzz_choices *choices)
{
    *k = (struct fuzz_case){.folder = folder, .choices = choices};
    size_t i = fuzz_below(choices, sizeof(forms) / sizeof(forms[0]));
    const char *form = forms[i].form;
    k->command = forms[i].command;
    add_arg(k, "onnxcost");
    add_arg(k, k->command);
    while (*form)
        form_part(k, &form);
    any_options(k, cli_command_named(k->command));
    for (int a = 0; a < k->argc; a++) {
        oc_buf_str(&k->arg[a], ""); /* never NULL */
        k->argv[a] = k->arg[a].data;
    }
    k->argv[k->argc] = NULL;
    if (k->format) /* the buffer may have moved */
        for (int a = 0; a < k->argc; a++)
            if (!strncmp(k->argv[a], "--format=", 9))
                k->format = k->argv[a] + 9;
}
