#include "run/record_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/diag.h"
#include "base/json_write.h"

static const char *record_files_base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool is_folder(const char *path)
{
    struct stat s;
    return !stat(path, &s) && S_ISDIR(s.st_mode);
}

static bool record_files_same_file(const char *a, const char *b)
{
    struct stat s, t;
    return !stat(a, &s) && !stat(b, &t) && s.st_dev == t.st_dev && s.st_ino == t.st_ino;
}

/* Prefix of the file names. */
static const char *prefix_of(const char *model, const char *output, struct oc_arena *a)
{
    const char *base = record_files_base_of(model);
    size_t n = strlen(base), at = output ? strlen(output) : 0;
    if (n > 5 && !strcmp(base + n - 5, ".onnx"))
        n -= 5;
    if (!at)
        return oc_strndup(a, base, n);
    if (output[at - 1] == '/')
        return oc_printf(a, "%s%.*s", output, (int)n, base);
    return is_folder(output) ? oc_printf(a, "%s/%.*s", output, (int)n, base) : oc_strdup(a, output);
}

/* Like mkdir -p; `path` ends with '/'. */
static int make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0777) && errno != EEXIST)
            return -1;
        *slash = '/';
    }
    return 0;
}

int oc_record_files_open(const char *model, const char *output, struct oc_arena *a,
                         struct oc_record_files *out, struct oc_err *err)
{
    const char *prefix = prefix_of(model, output, a);
    int n_folder = (int)(record_files_base_of(prefix) - prefix);
    *out = (struct oc_record_files){.a = a,
                                    .profile = oc_printf(a, "%s.profile.json", prefix),
                                    .optimized = oc_printf(a, "%s.optimized.onnx", prefix),
                                    .weights_name =
                                        oc_printf(a, "%s.optimized.onnx.data", record_files_base_of(prefix))};
    if (record_files_same_file(model, out->profile) || record_files_same_file(model, out->optimized))
        return oc_fail(err, OC_EARG, "'%s' would be overwritten; --output gives other names", model);
    if (n_folder > 1 && make_folders(oc_strndup(a, prefix, (size_t)n_folder)))
        return oc_fail(err, OC_EOUTPUT, "cannot make the folder '%.*s': %s", n_folder, prefix,
                       strerror(errno));
    char *folder = oc_printf(a, "%.*s.onnxcost-XXXXXX", n_folder, prefix);
    if (!mkdtemp(folder))
        return oc_fail(err, OC_EOUTPUT, "cannot write '%s': %s", out->profile, strerror(errno));
    out->folder = folder;
    out->profile_prefix = oc_printf(a, "%s/profile", folder);
    out->temporary_optimized = oc_printf(a, "%s/%s", folder, record_files_base_of(out->optimized));
    return 0;
}

/* The runtime does not sync its files; they are synced before they replace others. File systems without fsync
 * support are accepted. */
static bool on_disk(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC), rc = 0;
    if (fd < 0)
        return false;
    do {
        rc = fsync(fd);
    } while (rc && errno == EINTR);
    int error = rc ? errno : 0;
    close(fd);
    errno = error;
    return !error || error == EINVAL || error == EROFS || error == ENOTSUP || error == ENOSYS;
}

static int move(const char *from, const char *to, struct oc_err *err)
{
    if (on_disk(from) && !rename(from, to))
        return 0;
    return oc_fail(err, OC_EOUTPUT, "cannot write '%s': %s", to, strerror(errno));
}

/* The runtime does not check whether its profile was written completely; the last byte must close an array.
 * An empty model is invalid. */
static int check_whole(const char *path, const char *shown, char last, struct oc_err *err)
{
    char end[16];
    FILE *f = fopen(path, "rb");
    size_t n = f && (!fseek(f, -(long)sizeof(end), SEEK_END) || !fseek(f, 0, SEEK_SET))
                   ? fread(end, 1, sizeof(end), f)
                   : 0;
    if (f)
        fclose(f);
    while (n && strchr(" \r\n", end[n - 1]))
        n--;
    if (n && (!last || end[n - 1] == last))
        return 0;
    return oc_fail(err, OC_EOUTPUT,
                   "cannot write '%s': ONNX Runtime has left it incomplete: is the disk full?", shown);
}

static void record_files_put_varint(struct oc_buf *b, size_t v)
{
    for (; v > 0x7f; v >>= 7)
        oc_buf_char(b, (char)(v | 0x80));
    oc_buf_char(b, (char)v);
}

static void put_field(struct oc_buf *b, unsigned number, const char *data, size_t n)
{
    oc_buf_char(b, (char)(number << 3 | 2)); /* length-delimited */
    record_files_put_varint(b, n);
    oc_buf_add(b, data, n);
}

/* Writes at an offset from the end of the file. */
static int write_at_end(const char *path, long back, const struct oc_buf *b, struct oc_err *err)
{
    FILE *f = fopen(path, "r+b");
    bool done = f && !fseek(f, -back, SEEK_END) && fwrite(b->data, 1, b->n, f) == b->n;
    if (f && fclose(f))
        done = false;
    return done ? 0 : oc_fail(err, OC_EOUTPUT, "cannot write '%s': %s", path, strerror(errno));
}

/* Repeated fields of a protobuf message may come at its end: an entry of metadata_props (field 14). */
static int mark_model(const char *path, const char *assumed, struct oc_err *err)
{
    static const char key[] = "onnxcost.assumed_inputs";
    struct oc_buf entry = {0}, field = {0};
    put_field(&entry, 1, key, sizeof(key) - 1);
    put_field(&entry, 2, assumed, strlen(assumed));
    put_field(&field, 14, entry.data, entry.n);
    int rc = write_at_end(path, 0, &field, err);
    oc_buf_free(&entry);
    oc_buf_free(&field);
    return rc;
}

/* Number of bytes at the end of the file that close the array. */
static long closing_bytes(const char *path)
{
    char end[16];
    long n = 0;
    FILE *f = fopen(path, "rb");
    size_t got = f && !fseek(f, -(long)sizeof(end), SEEK_END) ? fread(end, 1, sizeof(end), f) : 0;
    if (f)
        fclose(f);
    while (got && strchr(" \r\n", end[got - 1]))
        got--, n++;
    return got && end[got - 1] == ']' ? n + 1 : 0;
}

/* Inserts a metadata event before the bracket that closes the array of events. */
static int mark_profile(const char *path, const char *assumed, struct oc_err *err)
{
    struct oc_buf b = {0};
    long back = closing_bytes(path);
    struct oc_json_out w = {.f = oc_buf_stream(&b)};
    fputs(",\n{\"cat\" : \"onnxcost\",\"pid\" :0,\"tid\" :0,\"dur\" :0,\"ts\" :0,\"ph\" : \"M\",\"name\" :",
          w.f);
    oc_jw_string(&w, assumed);
    fputs(",\"args\" : {}}\n]\n", w.f);
    fclose(w.f);
    int rc = back ? write_at_end(path, back, &b, err) : 0;
    oc_buf_free(&b);
    return rc;
}

static int record_files_keep(const struct oc_record_files *f, const char *profile, struct oc_err *err)
{
    const char *weights = oc_printf(f->a, "%s/%s", f->folder, f->weights_name);
    if (access(profile, R_OK))
        return oc_fail(err, OC_ELIBRARY, "ONNX Runtime has written no profile");
    if (access(f->temporary_optimized, R_OK))
        return oc_fail(err, OC_ELIBRARY, "ONNX Runtime has not saved the optimized model");
    if (check_whole(profile, f->profile, ']', err) ||
        check_whole(f->temporary_optimized, f->optimized, '\0', err))
        return -1;
    if (f->assumed && *f->assumed &&
        (mark_model(f->temporary_optimized, f->assumed, err) || mark_profile(profile, f->assumed, err)))
        return -1;
    if (!access(weights, R_OK) && move(weights, oc_printf(f->a, "%s.data", f->optimized), err))
        return -1;
    return move(f->temporary_optimized, f->optimized, err) || move(profile, f->profile, err) ? -1 : 0;
}

static void remove_folder(struct oc_record_files *f)
{
    DIR *d = opendir(f->folder);
    const struct dirent *e;
    while (d && (e = readdir(d)))
        if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
            unlink(oc_printf(f->a, "%s/%s", f->folder, e->d_name));
    if (d)
        closedir(d);
    rmdir(f->folder);
    f->folder = NULL;
}

int oc_record_files_close(struct oc_record_files *f, const char *profile, struct oc_err *err)
{
    int rc = profile ? record_files_keep(f, profile, err) : 0;
    if (f->folder)
        remove_folder(f);
    return rc;
}
