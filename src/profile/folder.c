/* A folder that a profiler wrote: its files of one measurement. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "profile/profile.h"

#define MAX_FILES 4096

struct entry {
    const char *path;
    struct oc_probed how;
    uint64_t device; /* the last number in its name, UINT64_MAX: none */
};

struct listing {
    struct oc_arena *a;
    const char *name[MAX_FILES];
    size_t n;
    struct entry *entry;
    size_t n_entry, cap;
};

bool oc_is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int folder_by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* "gpu_op_detail_info_0.csv", "aicore_intermediate_0_detail.csv" */
static uint64_t number_in(const char *name)
{
    const char *end = name + strlen(name), *first;
    while (end > name && !(end[-1] >= '0' && end[-1] <= '9'))
        end--;
    for (first = end; first > name && first[-1] >= '0' && first[-1] <= '9';)
        first--;
    return first < end && end - first < 19 ? strtoull(first, NULL, 10) : UINT64_MAX;
}

static int list_names(struct listing *l, const char *folder, struct oc_err *err)
{
    DIR *d = opendir(folder);
    int rc = 0;
    if (!d)
        return oc_fail(err, OC_EIO, "cannot read the folder '%s': %s", folder, strerror(errno));
    for (struct dirent *e; rc == 0 && (e = readdir(d));) {
        const char *path = oc_printf(l->a, "%s/%s", folder, e->d_name);
        if (e->d_name[0] == '.' || oc_is_folder(path))
            continue;
        if (l->n == MAX_FILES)
            rc = oc_fail(err, OC_ELIMIT,
                         "the folder '%s' has more than %d files: name the files of one profile", folder,
                         MAX_FILES);
        else
            l->name[l->n++] = path;
    }
    closedir(d);
    qsort(l->name, l->n, sizeof(*l->name), folder_by_name);
    return rc;
}

static bool folder_has_times(const struct entry *e)
{
    return e->how.part >= e->how.imp->n_part || !e->how.imp->part[e->how.part].of_others;
}

static void probe_names(struct listing *l)
{
    for (size_t i = 0; i < l->n; i++) {
        const char *slash = strrchr(l->name[i], '/');
        struct entry e = {.path = l->name[i], .device = number_in(slash ? slash + 1 : l->name[i])};
        if (oc_profile_probe(e.path, NULL, &e.how, NULL) != 0)
            continue;
        OC_GROW(l->entry, l->n_entry, l->cap);
        l->entry[l->n_entry++] = e;
    }
}

/* Tables of a measurement in several files come before a timeline of the same run. */
static const struct entry *folder_choose(const struct listing *l)
{
    const struct entry *first = NULL;
    for (size_t i = 0; i < l->n_entry; i++) {
        const struct entry *e = &l->entry[i];
        if (folder_has_times(e) && (!first || (first->how.imp->n_part < 2 && e->how.imp->n_part >= 2)))
            first = e;
    }
    return first;
}

static int fail_several(const char *folder, const struct entry *a, const struct entry *b, struct oc_err *err)
{
    return oc_fail(err, OC_EARG, "the folder '%s' has several profiles, for example '%s' and '%s': name one",
                   folder, a->path, b->path);
}

static int select_files(const struct listing *l, const char *folder, const char ***file, size_t *n,
                        struct oc_err *err)
{
    const struct entry *first = folder_choose(l);
    if (!first)
        return oc_fail(err, OC_EIO,
                       "'%s' is a directory without a profile that can be read: give a file (onnxcost scan "
                       "reads all models of a directory)",
                       folder);
    *file = OC_NEW_ARRAY(l->a, l->n_entry, const char *);
    *n = 0;
    for (size_t i = 0; i < l->n_entry; i++) {
        const struct entry *e = &l->entry[i];
        bool own = e->how.imp == first->how.imp, single = first->how.imp->n_part < 2;
        if (own && e != first && folder_has_times(e) && (single || e->device != first->device))
            return fail_several(folder, first, e, err);
        if (own && e->device == first->device)
            (*file)[(*n)++] = e->path;
    }
    return 0;
}

int oc_profile_folder(const char *path, struct oc_arena *a, const char ***file, size_t *n, struct oc_err *err)
{
    struct listing *l = oc_xmalloc(sizeof(*l));
    size_t k = strlen(path);
    while (k > 1 && path[k - 1] == '/')
        k--;
    const char *folder = oc_strndup(a, path, k), *inner = oc_printf(a, "%s/profiler", folder);
    *l = (struct listing){.a = a};
    int rc = list_names(l, folder, err);
    if (rc == 0)
        probe_names(l);
    if (rc == 0 && !folder_choose(l) && oc_is_folder(inner)) { /* MindSpore's output path */
        l->n = l->n_entry = 0;
        rc = list_names(l, inner, err);
        if (rc == 0)
            probe_names(l);
    }
    if (rc == 0)
        rc = select_files(l, folder, file, n, err);
    free(l->entry);
    free(l);
    return rc;
}
