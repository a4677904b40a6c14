#include "base/c_locale.h"
#include "fleet/scan.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fleet/crew.h"
#include "fleet/model_files.h"
#ifdef __linux__
#include <sched.h>
#endif

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
    enum oc_scan_hash how = s->opts->hash;
    return how == OC_SCAN_HASH_ALL || (how == OC_SCAN_HASH_SIZE && s->shares_size[i]);
}

void oc_scan_open(const char *const *path, size_t n, const struct oc_scan_opts *opts, struct oc_scan **out)
{
    struct oc_scan *s = oc_xmalloc(sizeof(*s));
    *s = (struct oc_scan){.opts = opts};
    s->by_path.arena = s->first_of.arena = &s->arena;
    if (opts->analyze)
        s->analyze = *opts->analyze;
    s->analyze.skip_unused = true;
    char *text = oc_printf(&s->arena, ONNXCOST_VERSION "\n%s", opts->settings ? opts->settings : "");
    snprintf(s->settings, sizeof(s->settings), "%016" PRIx64, oc_xxh64(text, strlen(text), 0));
    oc_model_files_add(&s->files, path, n);
    s->kept = OC_NEW_ARRAY(&s->arena, s->files.n + 1, const struct oc_scan_row *);
    s->shares_size = OC_NEW_ARRAY(&s->arena, s->files.n + 1, bool);
    for (size_t i = 0; i < s->files.n; i++)
        oc_map_set(&s->by_path, s->files.item[i].path, strlen(s->files.item[i].path), (uint32_t)i);
    find_equal_sizes(s);
    *out = s;
}

void oc_scan_free(struct oc_scan *s)
{
    if (!s)
        return;
    oc_map_free(&s->by_path);
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

/* A reused row counts as a duplicate only if the first file's row was reused as well. */
static void find_first(struct oc_scan *s, size_t index, struct oc_scan_row *row)
{
    char key[64];
    uint32_t first = (uint32_t)index;
    const char *known = row->duplicate_of;
    row->duplicate_of = NULL;
    if (!row->hash || row->size_bytes == OC_SCAN_UNKNOWN)
        return;
    int n = snprintf(key, sizeof(key), "%" PRIu64 " %s", row->size_bytes, row->hash);
    if (oc_map_add(&s->first_of, key, (size_t)n, &first, NULL))
        return;
    const char *path = s->files.item[first].path;
    bool believed = s->kept[index] && s->kept[first] && known && !strcmp(known, path);
    if (believed || same_bytes(path, row->path))
        row->duplicate_of = path;
}

/* ---- work ------------------------------------------------------------------------------------------- */

static void scan_run_work(void *arg, size_t index, void *result)
{
    struct oc_scan *s = arg;
    oc_scan_one(s->files.item[index].path, &s->analyze, s->opts->caps, wants_hash(s, index), result);
}

static bool ready(void *arg, size_t index, void *result)
{
    struct oc_scan *s = arg;
    const struct oc_model_file *f = &s->files.item[index];
    struct oc_scan_result *r = result;
    struct oc_err err;
    if (s->kept[index] || s->opts->kept_only)
        return true;
    if (!f->error)
        return false;
    oc_scan_row_clear(&r->row);
    oc_fail(&err, OC_EIO, "cannot read '%s': %s", f->path, strerror(f->error));
    oc_err_at(&err, f->path, 0, 0);
    oc_scan_failed(r, &err);
    return true;
}

static void lost(void *arg, size_t index, enum oc_crew_end end, int number, void *result)
{
    struct oc_scan *s = arg;
    struct oc_scan_result *r = result;
    const char *path = s->files.item[index].path;
    struct oc_err err;
    oc_scan_row_clear(&r->row);
    r->crashed = end != OC_CREW_SIGNAL || number != SIGBUS;
    r->no_memory = end == OC_CREW_NO_MEMORY;
    if (end == OC_CREW_NO_MEMORY)
        oc_fail(&err, OC_ELIMIT, "cannot read '%s': out of memory", path);
    else if (end == OC_CREW_SIGNAL && number == SIGBUS)
        oc_fail(&err, OC_EIO,
                "cannot read '%s': the file was truncated, or its disk failed, while it was read", path);
    else if (end == OC_CREW_SIGNAL)
        oc_fail(&err, OC_ELIMIT, "cannot read '%s': the analysis was terminated by signal %d (%s)", path,
                number, strsignal(number));
    else
        oc_fail(&err, OC_ELIMIT, "cannot read '%s': the analysis exited with code %d", path, number);
    oc_err_at(&err, path, 0, 0);
    oc_scan_failed(r, &err);
}

static int done(void *arg, size_t index, void *result, struct oc_err *err)
{
    struct oc_scan *s = arg;
    const struct oc_model_file *f = &s->files.item[index];
    struct oc_scan_result *r = result;
    struct oc_scan_row row;
    if (s->opts->kept_only && !s->kept[index])
        return 0;
    if (s->kept[index]) {
        row = *s->kept[index];
    } else {
        oc_scan_result_texts(r);
        row = r->row;
        row.path = f->path;
        row.settings = s->settings;
        if (!f->error) {
            row.size_bytes = f->size_bytes;
            row.mtime_ns = f->mtime_ns;
        }
    }
    find_first(s, index, &row);
    s->n_done++;
    return s->row(s->row_arg, &row) ? oc_fail(err, OC_EOUTPUT, "the scan was interrupted") : 0;
}

static unsigned processors(void)
{
    long n = 0;
#ifdef __linux__
    cpu_set_t set;
    if (!sched_getaffinity(0, sizeof(set), &set))
        n = CPU_COUNT(&set);
#endif
    if (n < 1)
        n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : (unsigned)n;
}

int oc_scan_run(struct oc_scan *s, int (*row)(void *arg, const struct oc_scan_row *row), void *arg,
                size_t *n_done, struct oc_err *err)
{
    OC_C_LOCALE;
    unsigned jobs = s->opts->jobs ? s->opts->jobs : processors();
    struct oc_crew crew = {.jobs = jobs < MAX_JOBS ? jobs : MAX_JOBS,
                           .n = s->files.n,
                           .result_bytes = sizeof(struct oc_scan_result),
                           .arg = s,
                           .work = scan_run_work,
                           .ready = ready,
                           .lost = lost,
                           .done = done,
                           .stop = s->opts->stop};
    s->row = row;
    s->row_arg = arg;
    s->n_done = 0;
    int rc = oc_crew_run(&crew, err);
    if (n_done)
        *n_done = s->n_done;
    return rc;
}
