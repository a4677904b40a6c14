/* Possible locations of ONNX Runtime's library. */
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run/ort_lib.h"

#if defined(__aarch64__)
#define NODE_ARCH "arm64"
#else
#define NODE_ARCH "x64"
#endif

struct places {
    struct oc_arena *a;
    const char **item; /* heap, growing */
    size_t n, cap;
};

static void add(struct places *p, const char *file)
{
    OC_GROW(p->item, p->n, p->cap);
    p->item[p->n++] = oc_strdup(p->a, file);
}

/* Later names first: newer versions. */
static void add_matching(struct places *p, const char *pattern)
{
    glob_t g;
    if (glob(pattern, 0, NULL, &g))
        return;
    for (size_t i = g.gl_pathc; i-- > 0;)
        add(p, g.gl_pathv[i]);
    globfree(&g);
}

/* In a folder with lib/python3.x: a virtual environment, /usr, ~/.local, conda. */
static void add_python(struct places *p, const char *prefix)
{
    static const char *const below[] = {"lib/python3*/site-packages", "lib/python3*/dist-packages",
                                        "lib64/python3*/site-packages"};
    if (!prefix || !*prefix)
        return;
    for (size_t i = 0; i < OC_COUNT(below); i++)
        add_matching(p, oc_printf(p->a, "%s/%s/onnxruntime/capi/libonnxruntime.so*", prefix, below[i]));
    add_matching(p, oc_printf(p->a, "%s/lib/libonnxruntime.so*", prefix));
}

static void add_node(struct places *p, const char *modules)
{
    add_matching(p, oc_printf(p->a, "%s/onnxruntime-node/bin/napi-v*/linux/" NODE_ARCH "/libonnxruntime.so*",
                              modules));
}

static void add_node_path(struct places *p, const char *list)
{
    while (list && *list) {
        size_t n = strcspn(list, ":");
        if (n)
            add_node(p, oc_strndup(p->a, list, n));
        list += n + (list[n] == ':');
    }
}

/* node_modules here and in every parent folder, in node's search order. */
static void add_node_above(struct places *p)
{
    char *here = getcwd(NULL, 0);
    while (here && *here) {
        add_node(p, oc_printf(p->a, "%s/node_modules", here));
        char *slash = strrchr(here, '/');
        if (!slash)
            break;
        *slash = '\0';
    }
    free(here);
}

size_t oc_ort_places(struct oc_arena *a, const char *const **out)
{
    struct places p = {.a = a};
    add(&p, "libonnxruntime.so.1");
    add(&p, "libonnxruntime.so");
    add_python(&p, getenv("VIRTUAL_ENV"));
    add_python(&p, getenv("CONDA_PREFIX"));
    const char *home = getenv("HOME");
    if (home && *home)
        add_python(&p, oc_printf(a, "%s/.local", home));
    add_python(&p, "/usr/local");
    add_python(&p, "/usr");
    add_python(&p, ".venv");
    add_node_path(&p, getenv("NODE_PATH"));
    add_node_above(&p);
    add_node(&p, "/usr/local/lib/node_modules");
    add_node(&p, "/usr/lib/node_modules");
    const char **list = OC_NEW_ARRAY(a, p.n, const char *);
    memcpy(list, p.item, p.n * sizeof(*list));
    free(p.item);
    *out = list;
    return p.n;
}
