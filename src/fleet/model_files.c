/* The algorithm is that of the xxHash specification, version 0.1.1, section "XXH64". */
#include "fleet/model_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/str.h"
#include "base/little_endian.h"

#define P1 0x9E3779B185EBCA87u
#define P2 0xC2B2AE3D27D4EB4Fu
#define P3 0x165667B19E3779F9u
#define P4 0x85EBCA77C2B2AE63u
#define P5 0x27D4EB2F165667C5u

static uint64_t rotate(uint64_t v, unsigned bits)
{
    return v << bits | v >> (64 - bits);
}

static uint64_t one_round(uint64_t lane, uint64_t input)
{
    return rotate(lane + input * P2, 31) * P1;
}

static uint64_t model_files_merge(uint64_t h, uint64_t lane)
{
    return (h ^ one_round(0, lane)) * P1 + P4;
}

/* Stripes of 32 bytes in four lanes. Advances *p past the last whole one. */
static uint64_t stripes(const uint8_t **p, const uint8_t *end, uint64_t seed)
{
    uint64_t a = seed + P1 + P2, b = seed + P2, c = seed, d = seed - P1;
    const uint8_t *q = *p;
    for (; end - q >= 32; q += 32) {
        a = one_round(a, oc_load_le(q, 8));
        b = one_round(b, oc_load_le(q + 8, 8));
        c = one_round(c, oc_load_le(q + 16, 8));
        d = one_round(d, oc_load_le(q + 24, 8));
    }
    *p = q;
    uint64_t h = rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18);
    return model_files_merge(model_files_merge(model_files_merge(model_files_merge(h, a), b), c), d);
}

uint64_t oc_xxh64(const void *data, size_t n, uint64_t seed)
{
    static const uint8_t nothing[1];
    const uint8_t *p = n ? data : nothing, *end = p + n;
    uint64_t h = n >= 32 ? stripes(&p, end, seed) : seed + P5;
    h += n;
    for (; end - p >= 8; p += 8)
        h = rotate(h ^ one_round(0, oc_load_le(p, 8)), 27) * P1 + P4;
    if (end - p >= 4) {
        h = rotate(h ^ oc_load_le(p, 4) * P1, 23) * P2 + P3;
        p += 4;
    }
    for (; p < end; p++)
        h = rotate(h ^ *p * P5, 11) * P1;
    h = (h ^ h >> 33) * P2;
    h = (h ^ h >> 29) * P3;
    return h ^ h >> 32;
}

/* ---- model files ------------------------------------------------------------------------------------ */

enum { MAX_PATH_BYTES = 1 << 16 };

struct paths {
    const char **item;
    size_t n, cap;
};

/* State of the walk through one named folder. */
struct walk {
    struct oc_model_files *files;
    struct oc_map visited;     /* folders by device and inode */
    struct paths folder, link; /* pending folders; links to folders are followed last */
};

static void model_files_push(struct paths *p, const char *path)
{
    OC_GROW(p->item, p->n, p->cap);
    p->item[p->n++] = path;
}

static void model_files_add_file(struct oc_model_files *files, const char *path, const struct stat *st,
                                 int error)
{
    uint32_t unused = 0;
    const char *kept;
    if (!oc_map_add(&files->seen, path, strlen(path), &unused, &kept))
        return;
    OC_GROW(files->item, files->n, files->cap);
    struct oc_model_file *f = &files->item[files->n++];
    *f = (struct oc_model_file){.path = kept, .error = error};
    if (st) {
        f->size_bytes = (uint64_t)st->st_size;
        f->mtime_ns = (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
    }
}

static bool is_model_name(const char *name)
{
    size_t n = strlen(name);
    return n > 5 && !oc_casecmp(name + n - 5, ".onnx");
}

/* A link is classified by its target; `link` records that it is one. */
static void look_at(struct walk *w, const char *path, const char *name)
{
    struct stat st, own;
    if (lstat(path, &own)) {
        if (is_model_name(name))
            model_files_add_file(w->files, path, NULL, errno);
        return;
    }
    bool link = S_ISLNK(own.st_mode);
    st = own;
    if (link && stat(path, &st)) {
        if (is_model_name(name))
            model_files_add_file(w->files, path, NULL, errno);
        return;
    }
    if (S_ISDIR(st.st_mode))
        model_files_push(link ? &w->link : &w->folder, path);
    else if (is_model_name(name))
        model_files_add_file(w->files, path, &st, 0);
}

static const char *model_files_join(struct oc_arena *a, const char *folder, const char *name)
{
    size_t n = strlen(folder);
    return oc_printf(a, "%s%s%s", folder, n && folder[n - 1] == '/' ? "" : "/", name);
}

static bool first_visit(struct walk *w, const char *path)
{
    struct stat st;
    uint32_t unused = 0;
    const char *stored;
    if (stat(path, &st)) {
        model_files_add_file(w->files, path, NULL, errno);
        return false;
    }
    uint64_t id[2] = {(uint64_t)st.st_dev, (uint64_t)st.st_ino};
    return oc_map_add(&w->visited, (const char *)id, sizeof(id), &unused, &stored);
}

static void read_folder(struct walk *w, const char *path)
{
    if (!first_visit(w, path))
        return;
    DIR *d = opendir(path);
    if (!d) {
        oc_check_memory(errno);
        model_files_add_file(w->files, path, NULL, errno);
        return;
    }
    for (struct dirent *e; (e = readdir(d));) {
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
            continue;
        const char *inner = model_files_join(&w->files->arena, path, e->d_name);
        if (strlen(inner) < MAX_PATH_BYTES)
            look_at(w, inner, e->d_name);
    }
    closedir(d);
}

static int model_files_by_path(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Links in path order, so that the result is deterministic. */
static void model_files_walk(struct oc_model_files *files, const char *path)
{
    struct walk w = {.files = files, .visited = {.arena = &files->arena}};
    model_files_push(&w.folder, path);
    while (w.folder.n || w.link.n) {
        if (!w.folder.n) {
            struct paths swap = w.folder;
            w.folder = w.link;
            w.link = swap;
            qsort(w.folder.item, w.folder.n, sizeof(*w.folder.item), model_files_by_path);
            for (size_t i = 0; i < w.folder.n / 2; i++) { /* a stack */
                const char *t = w.folder.item[i];
                w.folder.item[i] = w.folder.item[w.folder.n - 1 - i];
                w.folder.item[w.folder.n - 1 - i] = t;
            }
        }
        read_folder(&w, w.folder.item[--w.folder.n]);
    }
    oc_map_free(&w.visited);
    free(w.folder.item);
    free(w.link.item);
}

static int by_file(const void *a, const void *b)
{
    return strcmp(((const struct oc_model_file *)a)->path, ((const struct oc_model_file *)b)->path);
}

void oc_model_files_add(struct oc_model_files *files, const char *const *path, size_t n)
{
    files->seen.arena = &files->arena;
    for (size_t i = 0; i < n; i++) {
        struct stat st;
        size_t from = files->n;
        if (stat(path[i], &st))
            model_files_add_file(files, path[i], NULL, errno);
        else if (!S_ISDIR(st.st_mode))
            model_files_add_file(files, path[i], &st, 0);
        else
            model_files_walk(files, oc_strdup(&files->arena, path[i]));
        if (files->n > from + 1)
            qsort(files->item + from, files->n - from, sizeof(*files->item), by_file);
    }
}

void oc_model_files_free(struct oc_model_files *files)
{
    free(files->item);
    oc_map_free(&files->seen);
    oc_arena_free(&files->arena);
    *files = (struct oc_model_files){0};
}
