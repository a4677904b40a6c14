/* Possible locations of ONNX Runtime's library, and whether it may be loaded from there: a library is code,
 * so a folder that somebody else wrote (a cloned repository, a shared folder) must not decide what is
 * executed. */
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run/ort_lib.h"

#if defined(__aarch64__)
#define NODE_ARCH "arm64"
#else
#define NODE_ARCH "x64"
#endif

struct places {
    struct oc_arena *a;
    struct oc_ort_place *item; /* heap, growing */
    size_t n, cap;
    bool here; /* what is added was found from the working directory */
};

/* Another user than root and this one owns it, or can write it. A sticky folder (/tmp) protects what is in
 * it. */
static bool is_of_others(const char *path, bool is_parent)
{
    struct stat s;
    if (lstat(path, &s))
        return true;
    bool group = (s.st_mode & S_IWGRP) && s.st_gid != getegid() && s.st_gid != 0;
    bool shared = group || (s.st_mode & S_IWOTH);
    return (s.st_uid != 0 && s.st_uid != geteuid()) || (shared && !(is_parent && (s.st_mode & S_ISVTX)));
}

/* Why the file is not loaded; NULL: it is. Checks the file and all folders above it, without symbolic links.
 */
static const char *doubt(const struct places *p, const char *file)
{
    if (p->here || *file != '/')
        return "it was found from the working directory";
    char *path = realpath(file, NULL);
    bool bad = !path || is_of_others(path, false);
    for (char *slash; path && !bad && (slash = strrchr(path, '/')) && slash > path;) {
        *slash = '\0';
        bad = is_of_others(path, strrchr(file, '/') - file != slash - path);
    }
    free(path);
    return bad ? "another user owns it or can replace it" : NULL;
}

static void ort_find_add(struct places *p, const char *file, const char *why_not)
{
    OC_GROW(p->item, p->n, p->cap);
    p->item[p->n++] = (struct oc_ort_place){oc_strdup(p->a, file), why_not};
}

/* Later names first: newer versions. */
static void add_matching(struct places *p, const char *pattern)
{
    glob_t g;
    if (glob(pattern, 0, NULL, &g))
        return;
    for (size_t i = g.gl_pathc; i-- > 0;)
        ort_find_add(p, g.gl_pathv[i], doubt(p, g.gl_pathv[i]));
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

static void ort_find_add_node(struct places *p, const char *modules)
{
    add_matching(p, oc_printf(p->a, "%s/onnxruntime-node/bin/napi-v*/linux/" NODE_ARCH "/libonnxruntime.so*",
                              modules));
}

static void add_node_path(struct places *p, const char *list)
{
    while (list && *list) {
        size_t n = strcspn(list, ":");
        if (n)
            ort_find_add_node(p, oc_strndup(p->a, list, n));
        list += n + (list[n] == ':');
    }
}

/* node_modules here and in every parent folder, in node's search order. */
static void add_node_above(struct places *p)
{
    char *here = getcwd(NULL, 0);
    while (here && *here) {
        ort_find_add_node(p, oc_printf(p->a, "%s/node_modules", here));
        char *slash = strrchr(here, '/');
        if (!slash)
            break;
        *slash = '\0';
    }
    free(here);
}

size_t oc_ort_places(struct oc_arena *a, const struct oc_ort_place **out)
{
    struct places p = {.a = a};
    ort_find_add(&p, "libonnxruntime.so.1", NULL); /* by the dynamic linker */
    ort_find_add(&p, "libonnxruntime.so", NULL);
    add_python(&p, getenv("VIRTUAL_ENV"));
    add_python(&p, getenv("CONDA_PREFIX"));
    add_node_path(&p, getenv("NODE_PATH"));
    const char *home = getenv("HOME");
    if (home && *home) {
        add_python(&p, oc_printf(a, "%s/.local", home));
        ort_find_add_node(&p, oc_printf(a, "%s/.local/node_modules", home));
    }
    add_python(&p, "/usr/local");
    add_python(&p, "/usr");
    ort_find_add_node(&p, "/usr/local/lib/node_modules");
    ort_find_add_node(&p, "/usr/lib/node_modules");
    p.here = true; /* named in the message only */
    add_python(&p, ".venv");
    add_node_above(&p);
    struct oc_ort_place *list = OC_NEW_ARRAY(a, p.n, struct oc_ort_place);
    memcpy(list, p.item, p.n * sizeof(*list));
    free(p.item);
    *out = list;
    return p.n;
}
