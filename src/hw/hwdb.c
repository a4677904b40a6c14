/* The devices of all hardware files: names (one spelling, and what a misspelled one may mean), reading when needed,
 * lists, and selection by kind and vendor. */
#include "hw/hwdb.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/c_locale.h"
#include "base/diag.h"
#include "base/file.h"
#include "base/map.h"
#include "base/os.h"
#include "base/str.h"
#include "onnxcost.h"
#include "onnxcost/hardware.h"

char *oc_hw_name_fold(struct oc_arena *arena, const char *name)
{
    char *s = oc_strdup(arena, name);
    for (char *p = s; *p; p++)
        *p = oc_fold_char(*p);
    return s;
}

/* Fails: no such device, with suggestions. `where`: the file that was searched, NULL: all hardware files. */
static int hw_unknown(struct oc_err *err, const char *name, const char *where,
                      struct oc_device *const *device, size_t n_device)
{
    bool several = name && strchr(name, ',');
    const char *const more = !n_device ? NULL
                             : several ? "one device here; estimate and llm take several"
                                       : "onnxcost hw list lists them";
    size_t n = 0, cap = 0;
    const char **list = NULL;
    for (size_t i = 0; i < n_device; i++) {
        const struct oc_device_info *info = device[i]->info;
        for (size_t k = 0; k <= info->n_alias; k++) {
            OC_PUSH(list, n, cap) = k ? info->alias[k - 1] : info->id;
        }
    }
    char in_file[400];
    snprintf(in_file, sizeof(in_file), "in '%.300s'", where ? where : "");
    oc_fail_unknown(err, OC_ENOTFOUND,
                    &(struct oc_unknown){.what = "device",
                                         .where = where ? in_file : NULL,
                                         .given = name,
                                         .valid = list,
                                         .n = n,
                                         .more = where ? NULL : more});
    free(list);
    return -1;
}

/* ---- hwdb ------------------------------------------------------------------------------------------- */

#define MAX_FILES   1000
#define MAX_FOLDERS 32

struct hw_file {
    const char *path;
    size_t folder;   /* index of the folder */
    size_t first, n; /* its devices in the list, once read */
    bool read;
};

struct oc_hwdb {
    struct oc_arena arena;
    struct hw_file *file; /* in search order */
    size_t n_file, cap_file, n_folder;
    struct {
        const char *path;
        dev_t dev;
        ino_t ino;
    } folder[MAX_FOLDERS];         /* to skip folders already searched */
    struct oc_device_list devices; /* of the files above */
    struct oc_device_list own;     /* of the user's files, in order */
    struct oc_map names;           /* "<folder>:<folded name>" */
    const struct oc_device **sorted;
};

/* ---- folders ---------------------------------------------------------------------------------------- */

static int hwdb_by_path(const void *a, const void *b)
{
    const struct hw_file *x = a, *y = b;
    return strcmp(x->path, y->path);
}

static bool is_hw_file(const char *name)
{
    size_t n = strlen(name);
    return n > 4 && name[0] != '.' && strcmp(name + n - 4, ".xml") == 0;
}

/* False: a duplicate folder, or too many folders. */
static bool new_folder(struct oc_hwdb *db, const char *dir)
{
    struct stat st;
    if (stat(dir, &st) != 0)
        return true;
    for (size_t i = 0; i < db->n_folder; i++)
        if (db->folder[i].dev == st.st_dev && db->folder[i].ino == st.st_ino)
            return false;
    if (db->n_folder == MAX_FOLDERS)
        return false;
    db->folder[db->n_folder].dev = st.st_dev;
    db->folder[db->n_folder].ino = st.st_ino;
    return true;
}

static int hwdb_add_folder(struct oc_hwdb *db, const char *dir, struct oc_err *err)
{
    if (!new_folder(db, dir))
        return 0;
    DIR *d = opendir(dir);
    if (!d)
        oc_check_memory(errno);
    if (!d)
        return oc_fail(err, OC_EIO, "cannot read the hardware folder '%s': %s", dir, strerror(errno));
    size_t first = db->n_file;
    const struct dirent *e;
    int rc = 0;
    while (rc == 0 && (e = readdir(d))) {
        if (!is_hw_file(e->d_name))
            continue;
        if (db->n_file == MAX_FILES) {
            rc = oc_fail(err, OC_ELIMIT, "cannot read the hardware folder '%s': more than %d files", dir,
                         MAX_FILES);
            break;
        }
        OC_PUSH(db->file, db->n_file, db->cap_file) =
            (struct hw_file){.path = oc_printf(&db->arena, "%s/%s", dir, e->d_name), .folder = db->n_folder};
    }
    closedir(d);
    if (db->n_file > first)
        qsort(db->file + first, db->n_file - first, sizeof(*db->file), hwdb_by_path);
    db->folder[db->n_folder++].path = dir;
    return rc;
}

const char *oc_hwdb_folder(const struct oc_hwdb *db, size_t index)
{
    return index < db->n_folder ? db->folder[index].path : NULL;
}

static int add_folder_list(struct oc_hwdb *db, const char *list, struct oc_err *err)
{
    while (*list) {
        size_t n = strcspn(list, OC_OS_PATH_SEPARATOR);
        if (n && hwdb_add_folder(db, oc_strndup(&db->arena, list, n), err))
            return oc_err_prefix(err, "ONNXCOST_HWDB");
        list += n + (list[n] != '\0');
    }
    return 0;
}

static int add_default_folders(struct oc_hwdb *db, struct oc_err *err)
{
    const char *env = getenv("ONNXCOST_HWDB");
    if (env && add_folder_list(db, env, err))
        return -1;
    const char *dir = oc_data_dir(&db->arena, "hwdb");
    return dir ? hwdb_add_folder(db, dir, err) : 0;
}

int oc_hwdb_open(const char *dir, struct oc_hwdb **out, struct oc_err *err)
{
    OC_ENTRY(err);
    struct oc_hwdb *db = oc_xmalloc(sizeof(*db));
    *db = (struct oc_hwdb){0};
    db->names.arena = &db->arena;
    *out = NULL;
    if (dir ? hwdb_add_folder(db, oc_strdup(&db->arena, dir), err) : add_default_folders(db, err)) {
        oc_hwdb_free(db);
        return -1;
    }
    *out = db;
    return 0;
}

void oc_hwdb_free(struct oc_hwdb *db)
{
    if (!db)
        return;
    oc_map_free(&db->names);
    free(db->file);
    free(db->devices.item);
    free(db->own.item);
    free(db->sorted);
    oc_arena_free(&db->arena);
    free(db);
}

/* ---- reading when needed ---------------------------------------------------------------------------- */

static int hwdb_take_name(struct oc_hwdb *db, const struct hw_file *f, const char *name, uint32_t device,
                          struct oc_err *err)
{
    const char *key = oc_printf(&db->arena, "%zu:%s", f->folder, oc_hw_name_fold(&db->arena, name));
    uint32_t at = device;
    if (oc_map_add(&db->names, key, strlen(key), &at, NULL) || at == device)
        return 0;
    return oc_fail(err, OC_EFORMAT, "cannot read '%s': device '%.60s': name '%.60s' is also in '%s'", f->path,
                   db->devices.item[device]->info->id, name, db->devices.item[at]->info->file);
}

static int hwdb_read_one(struct oc_hwdb *db, struct hw_file *f, struct oc_err *err)
{
    if (f->read)
        return 0;
    size_t first = db->devices.n;
    if (oc_hw_read_file(f->path, &db->arena, &db->devices, err))
        return -1;
    f->read = true;
    f->first = first;
    f->n = db->devices.n - first;
    for (size_t i = first; i < db->devices.n; i++) {
        const struct oc_device_info *info = db->devices.item[i]->info;
        if (hwdb_take_name(db, f, info->id, (uint32_t)i, err) ||
            hwdb_take_name(db, f, info->name, (uint32_t)i, err))
            return -1;
        for (size_t k = 0; k < info->n_alias; k++)
            if (hwdb_take_name(db, f, info->alias[k], (uint32_t)i, err))
                return -1;
    }
    return 0;
}

static int hwdb_read_all(struct oc_hwdb *db, struct oc_err *err)
{
    for (size_t i = 0; i < db->n_file; i++)
        if (hwdb_read_one(db, &db->file[i], err))
            return -1;
    return 0;
}

static bool is_quote(char c)
{
    return c == '"' || c == '\'';
}

/* Whether the folded text is the value of an attribute: between quotes of this kind. */
static bool quotes_value(struct oc_str text, const char *folded, char quote)
{
    size_t n = strlen(folded);
    for (const char *at; (at = oc_str_chr(text, quote)); text = oc_str_from(text, at + 1)) {
        size_t left = (size_t)(text.s + text.n - at) - 1, k = 0;
        while (k < n && k < left && oc_fold_char(at[1 + k]) == folded[k])
            k++;
        if (k == n && n < left && is_quote(at[1 + n]))
            return true;
    }
    return false;
}

/* Whether the file may have a device of this name; NULL: any, written with references to characters. */
static bool may_have(const char *path, const char *folded)
{
    struct oc_file file;
    if (oc_file_map(path, OC_HW_MAX_FILE_BYTES, &file, NULL))
        return true; /* the reader reports what is wrong */
    struct oc_str text = {(const char *)file.data, (size_t)file.size_bytes};
    bool found = !folded     ? oc_str_chr(text, '&') != NULL
                 : folded[0] ? quotes_value(text, folded, '"') || quotes_value(text, folded, '\'')
                             : false;
    oc_file_unmap(&file);
    return found;
}

static bool has_name(const struct oc_device *d, struct oc_arena *scratch, const char *folded)
{
    if (strcmp(oc_hw_name_fold(scratch, d->info->id), folded) == 0 ||
        strcmp(oc_hw_name_fold(scratch, d->info->name), folded) == 0)
        return true;
    for (size_t i = 0; i < d->info->n_alias; i++)
        if (strcmp(oc_hw_name_fold(scratch, d->info->alias[i]), folded) == 0)
            return true;
    return false;
}

static const struct oc_device *hwdb_search(struct oc_device *const *device, size_t n, const char *folded)
{
    struct oc_arena scratch = {0};
    const struct oc_device *found = NULL;
    for (size_t i = 0; i < n && !found; i++)
        if (has_name(device[i], &scratch, folded))
            found = device[i];
    oc_arena_free(&scratch);
    return found;
}

static int hwdb_not_found(struct oc_hwdb *db, const char *name, struct oc_err *err)
{
    if (!db->n_file)
        return oc_fail(err, OC_ENOTFOUND,
                       "no device '%.60s': no hardware files found (set ONNXCOST_HWDB to their folder)",
                       name);
    return hw_unknown(err, name, NULL, db->devices.item, db->devices.n);
}

/* Parses only files in which the name occurs, most often one; or those with references to characters. */
static int search_files(struct oc_hwdb *db, const char *folded, bool references, const struct oc_device **out,
                        struct oc_err *err)
{
    for (size_t i = 0; i < db->n_file && !*out; i++) {
        struct hw_file *f = &db->file[i];
        if (!f->read && !may_have(f->path, references ? NULL : folded))
            continue;
        if (hwdb_read_one(db, f, err))
            return -1;
        *out = hwdb_search(db->devices.item + f->first, f->n, folded);
    }
    return 0;
}

int oc_hwdb_find(struct oc_hwdb *db, const char *name, const struct oc_device **out, struct oc_err *err)
{
    const char *folded = oc_hw_name_fold(&db->arena, name);
    *out = NULL;
    if (search_files(db, folded, false, out, err) || (!*out && search_files(db, folded, true, out, err)))
        return -1;
    if (!*out && err) { /* or with other white space; and suggestions need all names */
        if (hwdb_read_all(db, err))
            return -1;
        *out = hwdb_search(db->devices.item, db->devices.n, folded);
    }
    return *out ? 0 : hwdb_not_found(db, name, err);
}

/* A user's device may have a base in the hardware files. */
static const struct oc_device *find_for_heir(void *user, const char *id)
{
    const struct oc_device *found;
    return oc_hwdb_find(user, id, &found, NULL) ? NULL : found;
}

int oc_device_load(struct oc_hwdb *db, const char *file, const char *id, const struct oc_device **out,
                   struct oc_err *err)
{
    OC_ENTRY(err);
    size_t first = db->own.n;
    struct oc_hw_reading how = {.arena = &db->arena, .list = &db->own, .find = find_for_heir, .user = db};
    *out = NULL;
    if (oc_hw_read_path(&how, file, err))
        return -1;
    struct oc_device *const *device = db->own.item + first;
    size_t n = db->own.n - first;
    if (!n)
        return oc_fail(err, OC_EFORMAT, "cannot read '%s': no device in it", file);
    if (!id && n > 1)
        return oc_fail(err, OC_EARG, "'%s' has %zu devices: select one with %s#ID, such as %s#%s", file, n,
                       file, file, device[0]->info->id);
    *out = id ? hwdb_search(device, n, oc_hw_name_fold(&db->arena, id)) : device[0];
    if (*out)
        return 0;
    return hw_unknown(err, id, file, device, n);
}

int oc_hwdb_get(struct oc_hwdb *db, const char *name_or_file, const struct oc_device **out,
                struct oc_err *err)
{
    const char *hash = strrchr(name_or_file, '#');
    size_t n = hash ? (size_t)(hash - name_or_file) : strlen(name_or_file);
    const char *path = oc_strndup(&db->arena, name_or_file, n);
    if (!strchr(path, '/') && !is_hw_file(path))
        return oc_hwdb_find(db, name_or_file, out, err);
    return oc_device_load(db, path, hash ? hash + 1 : NULL, out, err);
}

int oc_device_override(struct oc_hwdb *db, const struct oc_device *device, const char *const *set, size_t n,
                       const struct oc_device **out, struct oc_err *err)
{
    OC_ENTRY(err);
    return oc_device_change(&db->arena, device, set, n, out, err);
}

const char *oc_hwdb_file(const struct oc_hwdb *db, size_t i)
{
    return i < db->n_file ? db->file[i].path : NULL;
}

/* ---- list ------------------------------------------------------------------------------------------- */

static int by_vendor_and_id(const void *a, const void *b)
{
    const struct oc_device *const *x = a, *const *y = b;
    int c = strcmp((*x)->info->vendor, (*y)->info->vendor);
    return c ? c : strcmp((*x)->info->id, (*y)->info->id);
}

/* Whether a lookup of the device's id finds this device, or one in an earlier folder hides it. */
static bool is_visible(const struct oc_hwdb *db, size_t file, const struct oc_device *d,
                       struct oc_arena *scratch)
{
    const char *folded = oc_hw_name_fold(scratch, d->info->id);
    for (size_t folder = 0; folder < db->file[file].folder; folder++) {
        const char *key = oc_printf(scratch, "%zu:%s", folder, folded);
        if (oc_map_get(&db->names, key, strlen(key)) != OC_NONE)
            return false;
    }
    return true;
}

int oc_hwdb_list(struct oc_hwdb *db, const struct oc_device *const **out, size_t *n, struct oc_err *err)
{
    OC_ENTRY(err);
    *out = NULL;
    *n = 0;
    if (hwdb_read_all(db, err))
        return -1;
    struct oc_arena scratch = {0};
    db->sorted = oc_xrealloc(db->sorted, (db->devices.n + 1) * sizeof(*db->sorted));
    for (size_t f = 0; f < db->n_file; f++)
        for (size_t i = 0; i < db->file[f].n; i++) {
            const struct oc_device *d = db->devices.item[db->file[f].first + i];
            if (is_visible(db, f, d, &scratch))
                db->sorted[(*n)++] = d;
        }
    oc_arena_free(&scratch);
    qsort(db->sorted, *n, sizeof(*db->sorted), by_vendor_and_id);
    *out = db->sorted;
    return 0;
}

/* ---- selection -------------------------------------------------------------------------------------- */

/* Selects devices by kind and vendor. */

static bool same(const char *text, size_t n, const char *name)
{
    if (!name || strlen(name) != n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (oc_fold_char(text[i]) != oc_fold_char(name[i]))
            return false;
    return true;
}

struct condition {
    bool vendor; /* or the kind */
    const char *value;
    size_t n;
};

/* Parses one condition at *p and advances *p past it and a '+'. */
static bool take_condition(const char **p, struct condition *out)
{
    static const char *const keys[] = {"kind=", "vendor="};
    for (size_t i = 0; i < OC_COUNT(keys); i++) {
        size_t n = strlen(keys[i]);
        if (strncmp(*p, keys[i], n) != 0)
            continue;
        *out = (struct condition){.vendor = i == 1, .value = *p + n, .n = strcspn(*p + n, "+")};
        *p = out->value + out->n;
        bool more = **p == '+';
        *p += more;
        return out->n && !(more && !**p);
    }
    return false;
}

static bool passes(const struct oc_device *d, const char *filter)
{
    struct condition c;
    while (*filter && take_condition(&filter, &c))
        if (!same(c.value, c.n, c.vendor ? d->info->vendor : d->info->kind))
            return false;
    return true;
}

static bool is_valid(const char *filter)
{
    struct condition c;
    do {
        if (!take_condition(&filter, &c))
            return false;
    } while (*filter);
    return true;
}

/* Of every device, each once. */
static size_t values_of(const struct oc_device *const *list, size_t n, bool vendor, const char **out)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        const char *value = vendor ? list[i]->info->vendor : list[i]->info->kind;
        size_t k = 0;
        while (value && k < found && !same(value, strlen(value), out[k]))
            k++;
        if (value && k == found)
            out[found++] = value;
    }
    return found;
}

static bool has_value(const char *const *value, size_t n, const struct condition *c)
{
    for (size_t i = 0; i < n; i++)
        if (same(c->value, c->n, value[i]))
            return true;
    return false;
}

static int fail_no_device(const struct oc_device *const *list, size_t n_all, const char *filter,
                          struct oc_err *err)
{
    const char **value = oc_xmalloc((n_all + 1) * sizeof(*value));
    struct condition c;
    bool told = false;
    for (const char *at = filter; *at && !told && take_condition(&at, &c);) {
        size_t n = values_of(list, n_all, c.vendor, value);
        told = !has_value(value, n, &c);
        if (told)
            oc_fail_unknown(err, OC_ENOTFOUND,
                            &(struct oc_unknown){.what = c.vendor ? "vendor" : "kind",
                                                 .where = "of devices",
                                                 .given = c.value,
                                                 .given_n = c.n,
                                                 .valid = value,
                                                 .n = n});
    }
    free(value);
    return told ? -1
                : oc_fail(
                      err, OC_ENOTFOUND,
                      "no device in the hardware files matches '%.60s'; onnxcost hw list shows their kinds "
                      "and vendors",
                      filter);
}

bool oc_hwdb_is_filter(const char *name)
{
    return strcmp(name, "all") == 0 || strncmp(name, "kind=", 5) == 0 || strncmp(name, "vendor=", 7) == 0;
}

int oc_hwdb_select(struct oc_hwdb *db, const char *filter, const struct oc_device *const **out, size_t *n,
                   struct oc_err *err)
{
    bool all = strcmp(filter, "all") == 0;
    size_t n_all = 0;
    *n = 0;
    if (!all && !is_valid(filter))
        return oc_fail(err, OC_EARG,
                       "select devices with all, kind=KIND, vendor=NAME, or both joined by '+', not '%.60s'",
                       filter);
    if (oc_hwdb_list(db, out, &n_all, err))
        return -1;
    const struct oc_device **list = (const struct oc_device **)*out; /* a private database for this call */
    for (size_t i = 0; i < n_all; i++)
        if (all || passes(list[i], filter))
            list[(*n)++] = list[i];
    return *n ? 0 : fail_no_device(list, n_all, filter, err);
}
