/* A folder that a profiler wrote: its files of one measurement. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/c_locale.h"
#include "base/diag.h"
#include "base/file.h"
#include "base/str.h"
#include "onnxcost/profile.h"
#include "profile/profile.h"

#define MAX_FILES 4096

struct entry {
    const char *path;
    struct oc_probed how;
    uint64_t device; /* the last number in its name, UINT64_MAX: none */
    unsigned view;   /* index in `views`, OC_NONE: it is not one of them */
};

/* Files of Ascend's tools that show one recording in several ways, the one with most detail first. */
static const char *const views[] = {"kernel_details",          "op_summary", "op_statistic",
                                    "operator_details",        "task_time",  "step_trace",
                                    "communication_statistic", "trace_view", "msprof"};

static unsigned view_of(const char *name)
{
    for (size_t i = 0; i < OC_COUNT(views); i++)
        if (strncmp(name, views[i], strlen(views[i])) == 0)
            return (unsigned)i;
    return OC_NONE;
}

struct listing {
    struct oc_arena *a;
    const char *folder;
    const char *name[MAX_FILES];
    size_t n;
    struct entry *entry;
    size_t n_entry, cap;
};

static void close_listing(struct listing *l)
{
    if (l)
        free(l->entry);
    free(l);
}

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
    while (end > name && !oc_is_digit(end[-1]))
        end--;
    for (first = end; first > name && oc_is_digit(first[-1]);)
        first--;
    return first < end && end - first < 19 ? strtoull(first, NULL, 10) : UINT64_MAX;
}

static int list_names(struct listing *l, const char *folder, struct oc_err *err)
{
    if (oc_look_readable(folder) == EXDEV)
        return oc_fail(err, OC_EARG, "the folder '%s' is not inside the folder of --root", folder);
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
        const char *name = oc_base_name(l->name[i]);
        struct entry e = {.path = l->name[i], .device = number_in(name), .view = view_of(name)};
        if (oc_profile_probe(e.path, NULL, &e.how, NULL) != 0)
            continue;
        OC_PUSH(l->entry, l->n_entry, l->cap) = e;
    }
}

/* Tables of a measurement in several files come before a timeline of the same run. */
static const struct entry *folder_choose(const struct listing *l)
{
    const struct entry *first = NULL;
    for (size_t i = 0; i < l->n_entry; i++) {
        const struct entry *e = &l->entry[i];
        bool more = first && (first->how.imp->n_part < 2 && e->how.imp->n_part >= 2);
        if (folder_has_times(e) && (!first || more || e->view < first->view))
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
        bool other_view = e->view != first->view && first->view != OC_NONE;
        if (other_view)
            continue;
        if (own && e != first && folder_has_times(e) && (single || e->device != first->device))
            return fail_several(folder, first, e, err);
        if (own && e->device == first->device)
            (*file)[(*n)++] = e->path;
    }
    return 0;
}

enum { MAX_INNER = 2 };

/* The only folder of torch_npu or msprof in this one, NULL. */
static const char *only_rank(const char *folder, struct oc_arena *a)
{
    static const char suffix[] = "_ascend_pt", prefix[] = "PROF_";
    DIR *d = opendir(folder);
    const char *found = NULL;
    unsigned n = 0;
    for (struct dirent *e; d && (e = readdir(d));) {
        size_t len = strlen(e->d_name), end = sizeof(suffix) - 1;
        bool fits = (len > end && strcmp(e->d_name + len - end, suffix) == 0) ||
                    strncmp(e->d_name, prefix, sizeof(prefix) - 1) == 0;
        const char *path = fits ? oc_printf(a, "%s/%s", folder, e->d_name) : NULL;
        if (path && oc_is_folder(path)) {
            found = path;
            n++;
        }
    }
    if (d)
        closedir(d);
    return n == 1 ? found : NULL;
}

/* The profiles of one folder; none: those of the folder inside it that a tool makes. */
static int list_profiles(struct listing *l, const char *folder, unsigned depth, struct oc_err *err)
{
    /* MindSpore; torch_npu, in a folder for each rank; msprof */
    static const char *const inner[] = {"profiler", "ASCEND_PROFILER_OUTPUT", "mindstudio_profiler_output"};
    l->n = l->n_entry = 0;
    if (list_names(l, folder, err) != 0)
        return -1;
    probe_names(l);
    for (size_t i = 0; i < OC_COUNT(inner) && depth < MAX_INNER && !folder_choose(l); i++) {
        const char *path = oc_printf(l->a, "%s/%s", folder, inner[i]);
        if (oc_is_folder(path) && list_profiles(l, path, MAX_INNER, err) != 0)
            return -1;
    }
    const char *rank = depth < MAX_INNER && !folder_choose(l) ? only_rank(folder, l->a) : NULL;
    return rank ? list_profiles(l, rank, depth + 1, err) : 0;
}

static struct listing *list_folder(const char *path, struct oc_arena *a, struct oc_err *err)
{
    struct listing *l = oc_xcalloc(1, sizeof(*l));
    size_t k = strlen(path);
    while (k > 1 && path[k - 1] == '/')
        k--;
    l->a = a;
    l->folder = oc_strndup(a, path, k);
    if (list_profiles(l, l->folder, 0, err) == 0)
        return l;
    close_listing(l);
    return NULL;
}

int oc_profile_folder(const char *path, struct oc_arena *a, const char ***file, size_t *n, struct oc_err *err)
{
    struct listing *l = list_folder(path, a, err);
    int rc = l ? select_files(l, l->folder, file, n, err) : -1;
    close_listing(l);
    return rc;
}

/* ---- recordings that one argument names -------------------------------------------------------------- */

struct named {
    struct oc_arena *a;
    const char **path;
    size_t n, cap;
};

/* A folder with several files of one kind, each a measurement of its own, names all of them; any other names the
 * one measurement in it. */
static int add_folder(struct named *t, const char *folder, struct oc_err *err)
{
    struct listing *l = list_folder(folder, t->a, err);
    if (!l)
        return -1;
    const struct entry *first = folder_choose(l);
    size_t before = t->n;
    for (size_t i = 0; i < l->n_entry && first && first->how.imp->n_part < 2 && first->view == OC_NONE; i++)
        if (l->entry[i].how.imp == first->how.imp)
            OC_PUSH(t->path, t->n, t->cap) = l->entry[i].path;
    if (t->n - before < 2) {
        t->n = before;
        OC_PUSH(t->path, t->n, t->cap) = folder;
    }
    close_listing(l);
    return 0;
}

static int add_named(struct named *t, const char *path, struct oc_err *err)
{
    if (oc_is_folder(path))
        return add_folder(t, path, err);
    OC_PUSH(t->path, t->n, t->cap) = path;
    return 0;
}

int oc_recordings_named(const char *text, const char ***path, size_t *n, struct oc_err *err)
{
    OC_ENTRY(err);
    struct oc_arena a = {0};
    struct named t = {.a = &a};
    struct stat st;
    bool one = stat(text, &st) == 0; /* a name may have a comma */
    int rc = 0;
    for (const char *at = text; at && rc == 0;) {
        size_t len = one ? strlen(at) : strcspn(at, ",");
        rc = add_named(&t, oc_strndup(&a, at, len), err);
        at = at[len] ? at + len + 1 : NULL;
    }
    size_t bytes = t.n * sizeof(*t.path);
    for (size_t i = 0; i < t.n; i++)
        bytes += strlen(t.path[i]) + 1;
    char **list = oc_xmalloc(bytes + 1), *to = (char *)(list + t.n);
    for (size_t i = 0; i < t.n; i++) {
        size_t size = strlen(t.path[i]) + 1;
        list[i] = memcpy(to, t.path[i], size);
        to += size;
    }
    *path = rc ? NULL : (const char **)list;
    *n = rc ? 0 : t.n;
    if (rc)
        free(list);
    free(t.path);
    oc_arena_free(&a);
    return rc;
}
