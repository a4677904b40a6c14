/* onnxzoo: writes the models of the zoo, and graphs for benchmarks, as ONNX files. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "zoo.h"

static const char usage[] =
    "usage: onnxzoo list\n"
    "       onnxzoo MODEL [-o FILE] [--fill absent|random] [--seed N]\n"
    "       onnxzoo chain --nodes N [-o FILE]     a long graph\n"
    "       onnxzoo bigfile --bytes N [-o FILE]   one file with that much weight\n"
    "       onnxzoo nest --depth N [-o FILE]      If nodes inside each other\n"
    "\n"
    "MODEL is a name from the list. The default file is MODEL.onnx. Without --fill random the weights stay\n"
    "references into MODEL.onnx.data, which is not written (bigfile is always filled).\n";

struct args {
    const char *what, *out;
    bool fill;
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

static int option(struct args *a, const char *name, const char *v)
{
    if (!v)
        return bad_usage("missing value after", name);
    if (!strcmp(name, "-o")) {
        a->out = v;
    } else if (!strcmp(name, "--fill")) {
        a->fill = !strcmp(v, "random");
        return a->fill || !strcmp(v, "absent") ? 0 : bad_usage("no such fill", v);
    } else if (!strcmp(name, "--seed")) {
        return number_of(v, &a->seed) ? 0 : bad_usage("not a number", v);
    } else if (!strcmp(name, "--nodes") || !strcmp(name, "--bytes") || !strcmp(name, "--depth")) {
        return number_of(v, &a->count) && a->count ? 0 : bad_usage("not a positive number", v);
    } else {
        return bad_usage("no such option", name);
    }
    return 0;
}

static int list(void)
{
    for (size_t i = 0; i < zoo_model_count; i++) {
        struct zoo z;
        zoo_init(&z, 17);
        zoo_models[i].build(&z);
        printf("%-12s %-24s %5zu nodes %12" PRIu64 " parameters %12" PRIu64 " MACs at %s\n",
               zoo_models[i].name, zoo_models[i].title, oc_b_model(z.b)->graph->n_node,
               zoo_param_elements(&z), zoo_models[i].macs, zoo_models[i].bind);
        zoo_free(&z);
    }
    return 0;
}

static int write_graph(const struct args *a, FILE *f, struct oc_err *err)
{
    struct zoo z;
    zoo_init(&z, 17);
    bool fill = a->fill;
    const struct zoo_model *m = zoo_find(a->what);
    if (m) {
        m->build(&z);
    } else if (!strcmp(a->what, "chain")) {
        zoo_chain(&z, a->count);
    } else {
        zoo_bigfile(&z, a->count);
        fill = true;
    }
    const char *slash = strrchr(a->out, '/');
    const char *external = zoo_text(&z, "%s.data", slash ? slash + 1 : a->out);
    int rc = zoo_write(&z, fill ? NULL : external, a->seed, f, err);
    zoo_free(&z);
    return rc;
}

static int run(struct args *a)
{
    struct oc_err err;
    FILE *f = fopen(a->out, "wb");
    if (!f) {
        fprintf(stderr, "onnxzoo: cannot open '%s': %s\n", a->out, strerror(errno));
        return 3;
    }
    int rc = !strcmp(a->what, "nest") ? zoo_write_nest(a->count, f, &err) : write_graph(a, f, &err);
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
    struct args a = {.what = argc > 1 ? argv[1] : "--help"};
    if (!strcmp(a.what, "--help") || !strcmp(a.what, "-h"))
        return fputs(usage, argc > 1 ? stdout : stderr) < 0 || argc < 2 ? 2 : 0;
    if (!strcmp(a.what, "list"))
        return list();
    for (int i = 2; i < argc; i += 2) {
        int rc = option(&a, argv[i], i + 1 < argc ? argv[i + 1] : NULL);
        if (rc)
            return rc;
    }
    if (!zoo_find(a.what) && !needs_count(a.what))
        return bad_usage("no such model", a.what);
    if (needs_count(a.what) && !a.count)
        return bad_usage("--nodes, --bytes or --depth is needed for", a.what);
    char path[256];
    if (!a.out) {
        snprintf(path, sizeof(path), "%s.onnx", a.what);
        a.out = path;
    }
    return run(&a);
}
