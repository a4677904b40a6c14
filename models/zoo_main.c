/* onnxzoo: writes the models of the zoo, and graphs for benchmarks, as ONNX files. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "probe_fusions.h"

static const char usage[] =
    "usage: onnxzoo list\n"
    "       onnxzoo MODEL [-o FILE] [--weights random] [--seed N] [--symbolic-hw]\n"
    "       onnxzoo llama [--size 1b|7b|70b|toy] [--layout optimum|genai|transformers.js] [--bits 16|4] [-o "
    "FILE]\n"
    "       onnxzoo randwire [-o FILE] [--weights random] [--seed N]   RandWire-WS, wired at random\n"
    "       onnxzoo micro --kind KIND [-o FILE] [--weights random] [--seed N]  single operators (micro.c)\n"
    "       onnxzoo probes --folder F [-o FILE]   how ONNX Runtime optimizes small graphs (probe_fusions.c)\n"
    "       onnxzoo chain --nodes N [-o FILE]     a long graph\n"
    "       onnxzoo bigfile --bytes N [-o FILE]   one file with N bytes of weights\n"
    "       onnxzoo nest --depth N [-o FILE]      nested If nodes\n"
    "       onnxzoo hostile [-o FILE]             names with terminal control sequences\n"
    "       onnxzoo strip --model FILE [-o FILE]  a model file without its weights\n"
    "\n"
    "MODEL is a name from the list. The default file is MODEL.onnx. Without --weights random the weights "
    "stay\n"
    "references into MODEL.onnx.data, which is not written (bigfile is always filled). With --symbolic-hw "
    "the\n"
    "height and width of images stay symbols. A llama has a key-value cache and never has weights.\n";

struct args {
    const char *what, *out, *model, *size, *kind, *folder;
    enum zoo_llama_layout layout;
    int bits;
    bool random_weights, symbolic_hw;
    uint64_t seed, count;
};

static int bad_usage(const char *what, const char *arg)
{
    fprintf(stderr, "onnxzoo: %s '%s'\n%s", what, arg, usage);
    return 2;
}

static bool number_of(const char *s, uint64_t *out)
{
    char *end;
    errno = 0;
    *out = strtoull(s, &end, 10);
    return *s >= '0' && *s <= '9' && !*end && !errno;
}

static bool is_size(const char *name)
{
    for (size_t i = 0; i < zoo_llama_size_count; i++)
        if (!strcmp(zoo_llama_sizes[i].name, name))
            return true;
    return false;
}

/* Options of llama. -1: not an option of llama. */
static int llama_option(struct args *a, const char *name, const char *v)
{
    if (!strcmp(name, "--size")) {
        a->size = v;
        return is_size(v) ? 0 : bad_usage("no such size", v);
    }
    if (!strcmp(name, "--layout")) {
        bool genai = !strcmp(v, "genai");
        a->layout = genai ? ZOO_LLAMA_GENAI : ZOO_LLAMA_OPTIMUM;
        return genai || !strcmp(v, "optimum") || !strcmp(v, "transformers.js")
                   ? 0
                   : bad_usage("no such layout", v);
    }
    if (!strcmp(name, "--bits")) {
        a->bits = !strcmp(v, "4") ? 4 : 16;
        return a->bits == 4 || !strcmp(v, "16") ? 0 : bad_usage("no such width", v);
    }
    return -1;
}

static int option(struct args *a, const char *name, const char *v)
{
    if (!v)
        return bad_usage("missing value after", name);
    if (!strcmp(name, "-o")) {
        a->out = v;
    } else if (!strcmp(name, "--model")) {
        a->model = v;
    } else if (!strcmp(name, "--kind")) {
        a->kind = v;
    } else if (!strcmp(name, "--folder")) {
        a->folder = v;
    } else if (!strcmp(name, "--weights")) {
        a->random_weights = !strcmp(v, "random");
        return a->random_weights ? 0 : bad_usage("--weights takes 'random', not", v);
    } else if (!strcmp(name, "--seed")) {
        return number_of(v, &a->seed) ? 0 : bad_usage("not a number", v);
    } else if (!strcmp(name, "--nodes") || !strcmp(name, "--bytes") || !strcmp(name, "--depth")) {
        return number_of(v, &a->count) && a->count ? 0 : bad_usage("not a positive number", v);
    } else {
        int rc = llama_option(a, name, v);
        return rc < 0 ? bad_usage("no such option", name) : rc;
    }
    return 0;
}

static int list(void)
{
    for (size_t i = 0; i < zoo_model_count; i++) {
        struct zoo z;
        zoo_init(&z, 17);
        zoo_models[i].build(&z);
        printf("%-21s %-25s %5zu nodes %12" PRIu64 " parameters %12" PRIu64 " MACs at %s\n",
               zoo_models[i].name, zoo_models[i].title, oc_b_model(z.b)->graph->n_node,
               zoo_param_elements(&z), zoo_models[i].macs, zoo_models[i].bind);
        zoo_free(&z);
    }
    return 0;
}

/* The name of the data file that goes with the model file `out`. */
static void data_name(const char *out, char *buf, size_t cap)
{
    const char *slash = strrchr(out, '/');
    snprintf(buf, cap, "%s.data", slash ? slash + 1 : out);
}

static int write_graph(const struct args *a, FILE *f, struct oc_err *err)
{
    char external[256];
    data_name(a->out, external, sizeof(external));
    if (!strcmp(a->what, "nest"))
        return zoo_write_nest(a->count, f, err);
    if (!strcmp(a->what, "strip"))
        return zoo_strip(a->model, external, f, err);
    if (!strcmp(a->what, "probes"))
        return zoo_probe_table(a->folder, f, err);
    struct zoo z;
    zoo_init(&z, 17);
    z.symbolic_hw = a->symbolic_hw;
    const struct zoo_model *m = zoo_find(a->what);
    bool big = !strcmp(a->what, "bigfile"), known = true;
    if (m)
        m->build(&z);
    else if (!strcmp(a->what, "llama"))
        zoo_llama(&z, a->size, a->layout, a->bits);
    else if (!strcmp(a->what, "randwire"))
        zoo_randwire(&z, a->seed);
    else if (!strcmp(a->what, "micro"))
        known = zoo_micro(&z, a->kind, a->seed);
    else if (!strcmp(a->what, "hostile"))
        zoo_hostile(&z);
    else if (big)
        zoo_bigfile(&z, a->count);
    else
        zoo_chain(&z, a->count);
    int rc = known ? zoo_write(&z, a->random_weights || big ? NULL : external, a->seed, f, err)
                   : oc_fail(err, OC_EARG, "no such kind of operators '%s'", a->kind);
    zoo_free(&z);
    return rc;
}

static int run(const struct args *a)
{
    struct oc_err err = {0};
    FILE *f = fopen(a->out, "wb");
    if (!f) {
        fprintf(stderr, "onnxzoo: cannot open '%s': %s\n", a->out, strerror(errno));
        return 3;
    }
    int rc = write_graph(a, f, &err);
    if (fclose(f) && !rc)
        rc = oc_fail(&err, OC_EOUTPUT, "cannot write: %s", strerror(errno));
    if (rc)
        fprintf(stderr, "onnxzoo: '%s': %s\n", a->out, err.msg);
    return rc ? 3 : 0;
}

static bool needs_count(const char *what)
{
    return !strcmp(what, "chain") || !strcmp(what, "bigfile") || !strcmp(what, "nest");
}

int main(int argc, char **argv)
{
    struct args a = {.what = argc > 1 ? argv[1] : "--help", .size = "7b", .bits = 16};
    if (!strcmp(a.what, "--help") || !strcmp(a.what, "-h"))
        return fputs(usage, argc > 1 ? stdout : stderr) < 0 || argc < 2 ? 2 : 0;
    if (!strcmp(a.what, "list"))
        return list();
    for (int i = 2; i < argc; i += 2) {
        if (!strcmp(argv[i], "--symbolic-hw")) {
            a.symbolic_hw = true;
            i--;
            continue;
        }
        int rc = option(&a, argv[i], i + 1 < argc ? argv[i + 1] : NULL);
        if (rc)
            return rc;
    }
    bool strip = !strcmp(a.what, "strip");
    if (strip && !a.model)
        return bad_usage("--model is needed for", a.what);
    bool probes = !strcmp(a.what, "probes");
    if (probes && !a.folder)
        return bad_usage("--folder is needed for", a.what);
    bool llama = !strcmp(a.what, "llama");
    if (llama && a.random_weights)
        return bad_usage("--weights random is not for", a.what);
    bool micro = !strcmp(a.what, "micro");
    if (micro && !a.kind)
        return bad_usage("--kind is needed for", a.what);
    bool wired = micro || !strcmp(a.what, "randwire") || !strcmp(a.what, "hostile");
    if (!zoo_find(a.what) && !needs_count(a.what) && !strip && !llama && !wired && !probes)
        return bad_usage("no such model", a.what);
    if (a.symbolic_hw && !(zoo_find(a.what) && zoo_find(a.what)->any_size))
        return bad_usage("--symbolic-hw is not for", a.what);
    if (needs_count(a.what) && !a.count)
        return bad_usage("--nodes, --bytes or --depth is needed for", a.what);
    char path[256];
    if (!a.out) {
        snprintf(path, sizeof(path), "%s.%s", a.what, probes ? "tsv" : "onnx");
        a.out = path;
    }
    return run(&a);
}
