/* A scan: finds its files, runs them in worker processes, recognizes duplicates. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/c_locale.h"
#include "base/file.h"
#include "base/row_cells.h"
#include "base/str.h"
#include "base/wire.h"
#include "base/os.h"
#include "fleet/scan.h"
#include "fleet/worker_pool.h"

/* ---- models of a folder -------------------------------------------------------------------------- */

/* Which files of a folder are models: a Hugging Face repository has one model in many files. */

enum kind { NOTHING, CONFIG, INDEX, WEIGHTS, GGUF, N_KINDS };

static enum kind kind_of(const char *name)
{
    static const struct {
        const char *suffix;
        enum kind kind;
    } rows[] = {{".safetensors.index.json", INDEX}, {".safetensors", WEIGHTS}, {".gguf", GGUF}};
    size_t n = strlen(name);
    for (size_t i = 0; i < OC_COUNT(rows); i++) {
        size_t k = strlen(rows[i].suffix);
        if (n > k && !strcmp(name + n - k, rows[i].suffix))
            return rows[i].kind;
    }
    return strcmp(name, "config.json") ? NOTHING : CONFIG;
}

bool oc_may_describe(const char *name)
{
    return kind_of(name) != NOTHING;
}

/* "model-00002-of-00003.gguf": 2. 0: not a part of several. */
static unsigned part_number(const char *name)
{
    const char *of = strstr(name, "-of-");
    unsigned part = 0;
    if (!of || of - name < 6 || of[-6] != '-' || strspn(of + 4, "0123456789") != 5)
        return 0;
    for (const char *p = of - 5; p < of; p++) {
        if (*p < '0' || *p > '9')
            return 0;
        part = part * 10 + (unsigned)(*p - '0');
    }
    return part;
}

/* has: number of names of each kind. */
static bool is_chosen(const char *folder, const char *name, const size_t *has, bool has_onnx,
                      struct oc_arena *arena)
{
    unsigned part = part_number(name);
    const char *data;
    size_t n;
    switch (kind_of(name)) {
    case GGUF:
        return part <= 1;
    case INDEX:
        return true;
    case WEIGHTS:
        return part <= 1 && !(part && has[INDEX]);
    case CONFIG: /* any program may have a file of this name */
        return !has[INDEX] && !has[WEIGHTS] && !has[GGUF] && !has_onnx &&
               oc_file_peek(oc_printf(arena, "%s/%s", folder, name), OC_DESCRIBED_BYTES, arena, &data, &n,
                            NULL) == 0 &&
               oc_described_by(name, data, n) == OC_DESCRIBED_CONFIG;
    default:
        return false;
    }
}

size_t oc_choose_described(const char *folder, const char **name, size_t n, bool has_onnx,
                           struct oc_arena *arena)
{
    static const char *const whole[] = {"model.safetensors.index.json", "model.safetensors"};
    size_t has[N_KINDS] = {0}, chosen = 0;
    const char *one = NULL; /* the other weight files are variants and copies of it */
    for (size_t i = 0; i < n; i++)
        has[kind_of(name[i])]++;
    for (size_t k = 0; k < OC_COUNT(whole) && !one; k++)
        for (size_t i = 0; i < n; i++)
            one = strcmp(name[i], whole[k]) ? one : whole[k];
    for (size_t i = 0; i < n; i++) {
        enum kind kind = kind_of(name[i]);
        bool other = one && (kind == INDEX || kind == WEIGHTS) && strcmp(name[i], one) != 0;
        if (!other && is_chosen(folder, name[i], has, has_onnx, arena))
            name[chosen++] = name[i];
    }
    return chosen;
}

/* ---- hash of a file ------------------------------------------------------------------------------ */

/* The algorithm is that of the xxHash specification, version 0.1.1, section "XXH64". */

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

static uint64_t merge_lane(uint64_t h, uint64_t lane)
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
    return merge_lane(merge_lane(merge_lane(merge_lane(h, a), b), c), d);
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
    struct paths described; /* names in the current folder that may describe a model without an ONNX file */
    bool has_onnx;          /* it has an ONNX file, or a folder for them */
};

static void push_path(struct paths *p, const char *path)
{
    OC_GROW(p->item, p->n, p->cap);
    p->item[p->n++] = path;
}

static void add_file(struct oc_model_files *files, const char *path, const struct stat *st, int error)
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

static bool counts(const struct oc_model_files *files, const char *name)
{
    return files->has_name ? files->has_name(name) : is_model_name(name);
}

/* A link is classified by its target; `link` records that it is one. */
static void look_at(struct walk *w, const char *path, const char *name)
{
    struct stat st, own;
    if (lstat(path, &own)) {
        if (counts(w->files, name))
            add_file(w->files, path, NULL, errno);
        return;
    }
    bool link = S_ISLNK(own.st_mode);
    st = own;
    if (link && stat(path, &st)) {
        if (counts(w->files, name))
            add_file(w->files, path, NULL, errno);
        return;
    }
    w->has_onnx |= is_model_name(name) || !strcmp(name, "onnx");
    if (S_ISDIR(st.st_mode))
        push_path(link ? &w->link : &w->folder, path);
    else if (counts(w->files, name))
        add_file(w->files, path, &st, 0);
    else if (!w->files->has_name && oc_may_describe(name))
        push_path(&w->described, path + strlen(path) - strlen(name));
}

static const char *join_path(struct oc_arena *a, const char *folder, const char *name)
{
    size_t n = strlen(folder);
    return oc_printf(a, "%s%s%s", folder, n && folder[n - 1] == '/' ? "" : "/", name);
}

static void add_described(struct walk *w, const char *folder)
{
    struct paths *p = &w->described;
    size_t n = oc_choose_described(folder, p->item, p->n, w->has_onnx, &w->files->arena);
    for (size_t i = 0; i < n; i++) {
        struct stat st;
        const char *path = join_path(&w->files->arena, folder, p->item[i]);
        if (stat(path, &st) == 0)
            add_file(w->files, path, &st, 0);
    }
    p->n = 0;
    w->has_onnx = false;
}

static bool first_visit(struct walk *w, const char *path)
{
    struct stat st;
    uint32_t unused = 0;
    const char *stored;
    if (stat(path, &st)) {
        add_file(w->files, path, NULL, errno);
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
        add_file(w->files, path, NULL, errno);
        return;
    }
    for (struct dirent *e; (e = readdir(d));) {
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
            continue;
        const char *inner = join_path(&w->files->arena, path, e->d_name);
        if (strlen(inner) < MAX_PATH_BYTES)
            look_at(w, inner, e->d_name);
    }
    closedir(d);
    add_described(w, path);
}

static int by_path(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Links in path order, so that the result is deterministic. */
static void walk_folder(struct oc_model_files *files, const char *path)
{
    struct walk w = {.files = files, .visited = {.arena = &files->arena}};
    push_path(&w.folder, path);
    while (w.folder.n || w.link.n) {
        if (!w.folder.n) {
            struct paths swap = w.folder;
            w.folder = w.link;
            w.link = swap;
            qsort(w.folder.item, w.folder.n, sizeof(*w.folder.item), by_path);
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
    free(w.described.item);
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
            add_file(files, path[i], NULL, errno);
        else if (!S_ISDIR(st.st_mode))
            add_file(files, path[i], &st, 0);
        else
            walk_folder(files, oc_strdup(&files->arena, path[i]));
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

enum { MAX_JOBS = 1024, PIECE_BYTES = 1 << 16 };

/* ---- files ------------------------------------------------------------------------------------------ */

static int scan_run_by_size(const void *a, const void *b)
{
    uint64_t x = (*(const struct oc_model_file *const *)a)->size_bytes,
             y = (*(const struct oc_model_file *const *)b)->size_bytes;
    return x < y ? -1 : x > y;
}

static void find_equal_sizes(struct oc_scan *s)
{
    size_t n = s->files.n;
    const struct oc_model_file **f = oc_xmalloc((n + 1) * sizeof(*f));
    for (size_t i = 0; i < n; i++)
        f[i] = &s->files.item[i];
    qsort(f, n, sizeof(*f), scan_run_by_size);
    for (size_t i = 1; i < n; i++)
        if (!f[i]->error && !f[i - 1]->error && f[i]->size_bytes == f[i - 1]->size_bytes)
            s->shares_size[f[i] - s->files.item] = s->shares_size[f[i - 1] - s->files.item] = true;
    free(f);
}

static bool wants_hash(const struct oc_scan *s, size_t i)
{
    enum oc_scan_hash how = s->opts.hash;
    return how == OC_SCAN_HASH_ALL || (how == OC_SCAN_HASH_SIZE && s->shares_size[i]);
}

static int check_options(const struct oc_scan *s, struct oc_err *err)
{
    const struct oc_scan_opts *o = &s->opts;
    if (!s->table)
        return oc_fail(err, OC_EARG, "no rows '%s' of %s; valid: %s, nodes", o->rows,
                       o->profiles ? "profiles" : "models", o->profiles ? "profiles" : "models");
    const struct oc_option_range hash = {"hash", (int64_t)o->hash, OC_SCAN_HASH_SIZE, OC_SCAN_HASH_OFF};
    return oc_options_check(&hash, 1, err);
}

int oc_scan_open(const char *const *path, size_t n, const struct oc_scan_opts *given, struct oc_scan **out,
                 struct oc_err *err)
{
    struct oc_scan *s = oc_xmalloc(sizeof(*s));
    *s = (struct oc_scan){.n_done = 0};
    *out = NULL;
    s->first_of.arena = &s->arena;
    if (OC_OPTIONS(&s->opts, given, err) || OC_OPTIONS(&s->analyze, s->opts.analyze, err)) {
        oc_scan_free(s);
        return -1;
    }
    s->table = oc_scan_table_of(s->opts.rows, s->opts.profiles);
    if (check_options(s, err)) {
        oc_scan_free(s);
        return -1;
    }
    s->analyze.skip_unused = true;
    char *text = oc_printf(&s->arena, ONNXCOST_VERSION "\n%s", s->opts.settings ? s->opts.settings : "");
    snprintf(s->settings, sizeof(s->settings), "%016" PRIx64, oc_xxh64(text, strlen(text), 0));
    s->files.has_name = s->opts.profiles ? oc_scan_is_profile_name : NULL;
    oc_model_files_add(&s->files, path, n);
    s->shares_size = OC_NEW_ARRAY(&s->arena, s->files.n + 1, bool);
    find_equal_sizes(s);
    if (s->opts.profiles)
        oc_scan_find_models(s);
    *out = s;
    return 0;
}

void oc_scan_free(struct oc_scan *s)
{
    if (!s)
        return;
    oc_map_free(&s->first_of);
    oc_model_files_free(&s->files);
    oc_arena_free(&s->arena);
    free(s);
}

size_t oc_scan_files(const struct oc_scan *s)
{
    return s->files.n;
}

/* ---- duplicates ------------------------------------------------------------------------------------- */

static ssize_t read_piece(int fd, char *buf)
{
    size_t n = 0;
    while (n < PIECE_BYTES) {
        ssize_t got = read(fd, buf + n, PIECE_BYTES - n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (!got)
            break;
        n += (size_t)got;
    }
    return (ssize_t)n;
}

/* Uses read, not mmap: the file may be truncated while it is compared. */
static bool same_bytes(const char *a, const char *b)
{
    int fa = open(a, O_RDONLY | O_CLOEXEC), fb = fa < 0 ? -1 : open(b, O_RDONLY | O_CLOEXEC);
    bool same = fb >= 0;
    char *buf = oc_xmalloc((size_t)2 * PIECE_BYTES);
    for (ssize_t n = 1; same && n > 0;) {
        n = read_piece(fa, buf);
        same = n >= 0 && read_piece(fb, buf + PIECE_BYTES) == n && !memcmp(buf, buf + PIECE_BYTES, (size_t)n);
    }
    free(buf);
    if (fa >= 0)
        close(fa);
    if (fb >= 0)
        close(fb);
    return same;
}

static void find_first(struct oc_scan *s, size_t index, struct oc_scan_row *row)
{
    char key[64];
    uint32_t first = (uint32_t)index;
    if (!row->hash || row->size_bytes == OC_SCAN_UNKNOWN)
        return;
    int n = snprintf(key, sizeof(key), "%" PRIu64 " %s", row->size_bytes, row->hash);
    if (oc_map_add(&s->first_of, key, (size_t)n, &first, NULL))
        return;
    const char *path = s->files.item[first].path;
    if (same_bytes(path, row->path))
        row->duplicate_of = path;
}

/* ---- work ------------------------------------------------------------------------------------------- */

static void scan_run_work(void *arg, size_t index, void *result, struct oc_buf *cells)
{
    struct oc_scan *s = arg;
    const struct oc_model_file *f = &s->files.item[index];
    struct oc_scan_result *r = result;
    struct oc_err err;
    if (!f->error) {
        oc_scan_one(s, index, wants_hash(s, index), r, cells);
        return;
    }
    oc_scan_row_clear(&r->row);
    oc_fail(&err, OC_EIO, "cannot read '%s': %s", f->path, strerror(f->error));
    oc_err_at(&err, f->path, 0, 0);
    oc_scan_failed(r, &err);
}

static void lost(void *arg, size_t index, enum oc_worker_pool_end end, int number, void *result)
{
    struct oc_scan *s = arg;
    struct oc_scan_result *r = result;
    const char *path = s->files.item[index].path;
    struct oc_err err;
    oc_scan_row_clear(&r->row);
    r->crashed = end != OC_WORKER_POOL_SIGNAL || number != SIGBUS;
    r->no_memory = end == OC_WORKER_POOL_NO_MEMORY;
    if (end == OC_WORKER_POOL_NO_MEMORY)
        oc_fail(&err, OC_ELIMIT, "cannot read '%s': out of memory", path);
    else if (end == OC_WORKER_POOL_SIGNAL && number == SIGBUS)
        oc_fail(&err, OC_EIO,
                "cannot read '%s': the file was truncated, or its disk failed, while it was read", path);
    else if (end == OC_WORKER_POOL_SIGNAL)
        oc_fail(&err, OC_ELIMIT, "cannot read '%s': the analysis was terminated by signal %d (%s)", path,
                number, strsignal(number));
    else
        oc_fail(&err, OC_ELIMIT, "cannot read '%s': the analysis exited with code %d", path, number);
    oc_err_at(&err, path, 0, 0);
    oc_scan_failed(r, &err);
}

static int done(void *arg, size_t index, void *result, const char *cells, size_t n_cells, struct oc_err *err)
{
    struct oc_scan *s = arg;
    const struct oc_model_file *f = &s->files.item[index];
    struct oc_scan_result *r = result;
    oc_scan_result_texts(r);
    struct oc_scan_row row = r->row;
    row.path = f->path;
    row.settings = s->settings;
    row.cells = cells;
    row.n_cells_bytes = n_cells;
    if (!f->error) {
        row.size_bytes = f->size_bytes;
        row.mtime_ns = f->mtime_ns;
    }
    find_first(s, index, &row);
    s->n_done++;
    return s->row(s->row_arg, &row) ? oc_fail(err, OC_EOUTPUT, "the scan was interrupted") : 0;
}

int oc_scan_run(struct oc_scan *s, int (*row)(void *arg, const struct oc_scan_row *row), void *arg,
                size_t *n_done, struct oc_err *err)
{
    OC_ENTRY(err);
    unsigned jobs = s->opts.jobs ? s->opts.jobs : oc_os_processors();
    struct oc_worker_pool pool = {.jobs = jobs < MAX_JOBS ? jobs : MAX_JOBS,
                                  .n = s->files.n,
                                  .result_bytes = sizeof(struct oc_scan_result),
                                  .arg = s,
                                  .work = scan_run_work,
                                  .lost = lost,
                                  .done = done,
                                  .stop = s->opts.stop};
    s->row = row;
    s->row_arg = arg;
    s->n_done = 0;
    int rc = oc_worker_pool_run(&pool, err);
    if (n_done)
        *n_done = s->n_done;
    return rc;
}
