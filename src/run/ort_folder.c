/* Several versions of ONNX Runtime: the libraries in folders, such as packages that were unpacked side by side, in the
 * order of their versions. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/c_locale.h"
#include "base/diag.h"
#include "onnxcost/record.h"
#include "run/ort_lib.h"

enum { DEEPEST = 8, MOST_LIBRARIES = 256 };

struct libraries {
    struct oc_arena a;
    struct oc_library_info *item; /* heap */
    size_t n, cap;
    struct oc_err why; /* of the first file in a folder that cannot be loaded */
};

/* libonnxruntime.so, libonnxruntime.so.1, libonnxruntime.so.1.30.0, libonnxruntime.1.30.0.dylib; not its providers. */
static bool is_library(const char *name)
{
    static const char *const begins[] = {"libonnxruntime.so", "libonnxruntime.dylib", "libonnxruntime.1."};
    for (size_t i = 0; i < OC_COUNT(begins); i++)
        if (!strncmp(name, begins[i], strlen(begins[i])))
            return true;
    return false;
}

/* The numbers of "1.22.0-rev" in their order. */
static int compare_versions(const char *a, const char *b)
{
    while (*a && *b) {
        char *a_end, *b_end;
        unsigned long x = strtoul(a, &a_end, 10), y = strtoul(b, &b_end, 10);
        if (x != y)
            return x < y ? -1 : 1;
        if (*a_end != *b_end || a_end == a || b_end == b)
            return strcmp(a_end, b_end);
        a = a_end + (*a_end != '\0');
        b = b_end + (*b_end != '\0');
    }
    return *a ? 1 : *b ? -1 : 0;
}

static int by_version(const void *a, const void *b)
{
    const struct oc_library_info *x = a, *y = b;
    int c = compare_versions(x->version, y->version);
    return c ? c : strcmp(x->file, y->file);
}

static void add_library(struct libraries *l, const struct oc_library_info *info)
{
    for (size_t i = 0; i < l->n; i++)
        if (!strcmp(l->item[i].version, info->version))
            return;
    OC_GROW(l->item, l->n, l->cap);
    l->item[l->n++] = *info;
}

static void add_found(struct libraries *l, const char *path)
{
    struct oc_library_info info;
    struct oc_err err;
    if (l->n >= MOST_LIBRARIES)
        return;
    if (!oc_onnxruntime_find(path, &info, &err))
        add_library(l, &info);
    else if (!l->why.msg[0])
        l->why = err;
}

static void search_folder(struct libraries *l, const char *path, unsigned depth)
{
    struct dirent **entry;
    int n = depth < DEEPEST ? scandir(path, &entry, NULL, alphasort) : -1;
    for (int i = 0; i < n; i++) {
        const char *name = entry[i]->d_name;
        const char *inside = oc_printf(&l->a, "%s/%s", path, name);
        struct stat s;
        if (name[0] != '.' && !lstat(inside, &s) && S_ISDIR(s.st_mode))
            search_folder(l, inside, depth + 1);
        else if (is_library(name))
            add_found(l, inside);
        free(entry[i]);
    }
    if (n >= 0)
        free(entry);
}

static int add_path(struct libraries *l, const char *path, struct oc_err *err)
{
    struct oc_library_info info;
    struct stat s;
    if (!stat(path, &s) && S_ISDIR(s.st_mode)) {
        size_t before = l->n;
        search_folder(l, path, 0);
        if (l->n > before || !l->why.msg[0])
            return l->n > before ? 0 : oc_fail(err, OC_ELIBRARY, "'%s' has no libonnxruntime.so", path);
        *err = l->why;
        return -1;
    }
    if (oc_onnxruntime_find(path, &info, err))
        return -1;
    add_library(l, &info);
    return 0;
}

int oc_onnxruntime_list(const char *const *path, size_t n_path, struct oc_library_info **out, size_t *n_out,
                        struct oc_err *err)
{
    OC_ENTRY(err);
    struct libraries l = {0};
    int rc = 0;
    *out = NULL;
    *n_out = 0;
    for (size_t i = 0; i < n_path && !rc; i++)
        rc = add_path(&l, path[i], err);
    oc_arena_free(&l.a);
    if (rc) {
        free(l.item);
        return -1;
    }
    if (l.n)
        qsort(l.item, l.n, sizeof(*l.item), by_version);
    *out = l.item;
    *n_out = l.n;
    return 0;
}
