/* Files of a recording: made in a temporary folder next to their destination, marked with what is known of the machine,
 * and moved when they are complete. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/json_write.h"
#include "base/str.h"
#include "onnxcost/record.h"
#include "profile/profile.h"
#include "run/record_files.h"

static bool is_folder(const char *path)
{
    struct stat s;
    return !stat(path, &s) && S_ISDIR(s.st_mode);
}

static bool same_file(const char *a, const char *b)
{
    struct stat s, t;
    return !stat(a, &s) && !stat(b, &t) && s.st_dev == t.st_dev && s.st_ino == t.st_ino;
}

/* Prefix of the file names. */
static const char *prefix_of(const char *model, const struct oc_record_opts *o, struct oc_arena *a)
{
    const char *output = o->output;
    const char *base = oc_base_name(model);
    size_t n = strlen(base), at = output ? strlen(output) : 0;
    if (n > 5 && !strcmp(base + n - 5, ".onnx"))
        n -= 5;
    const char *tag = o->tag ? o->tag : "";
    if (!at)
        return oc_printf(a, "%.*s%s", (int)n, base, tag);
    if (output[at - 1] == '/')
        return oc_printf(a, "%s%.*s%s", output, (int)n, base, tag);
    return is_folder(output) ? oc_printf(a, "%s/%.*s%s", output, (int)n, base, tag)
                             : oc_printf(a, "%s%s", output, tag);
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

/* Fails if a file of the recording is the model or another input. */
static int check_destinations(const struct oc_record_files *f, const char *model, bool (*keeps)(const char *),
                              struct oc_err *err)
{
    const char *const path[] = {f->profile, f->optimized, oc_printf(f->a, "%s.data", f->optimized)};
    for (size_t i = 0; i < OC_COUNT(path); i++)
        if (same_file(model, path[i]) || (keeps && keeps(path[i])))
            return oc_fail(err, OC_EARG, "'%s' would be overwritten; --output gives other names",
                           same_file(model, path[i]) ? model : path[i]);
    return 0;
}

int oc_record_files_open(const char *model, const struct oc_record_opts *o, struct oc_arena *a,
                         struct oc_record_files *out, struct oc_err *err)
{
    const char *prefix = prefix_of(model, o, a);
    int n_folder = (int)(oc_base_name(prefix) - prefix);
    *out = (struct oc_record_files){.a = a,
                                    .profile = oc_printf(a, "%s.profile.json", prefix),
                                    .optimized = oc_printf(a, "%s.optimized.onnx", prefix),
                                    .weights_name =
                                        oc_printf(a, "%s.optimized.onnx.data", oc_base_name(prefix))};
    out->no_optimized = o->no_optimized;
    if (check_destinations(out, model, o->keeps, err))
        return -1;
    if (n_folder > 1 && make_folders(oc_strndup(a, prefix, (size_t)n_folder)))
        return oc_fail(err, OC_EOUTPUT, "cannot make the folder '%.*s': %s", n_folder, prefix,
                       strerror(errno));
    char *folder = oc_printf(a, "%.*s.onnxcost-XXXXXX", n_folder, prefix);
    if (!mkdtemp(folder))
        return oc_fail(err, OC_EOUTPUT, "cannot write '%s': %s", out->profile, strerror(errno));
    out->folder = folder;
    out->profile_prefix = oc_printf(a, "%s/profile", folder);
    out->temporary_optimized = oc_printf(a, "%s/%s", folder, oc_base_name(out->optimized));
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

static void put_varint(struct oc_buf *b, size_t v)
{
    for (; v > 0x7f; v >>= 7)
        oc_buf_char(b, (char)(v | 0x80));
    oc_buf_char(b, (char)v);
}

static void put_field(struct oc_buf *b, unsigned number, const char *data, size_t n)
{
    oc_buf_char(b, (char)(number << 3 | 2)); /* length-delimited */
    put_varint(b, n);
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

static void mark_turns(const struct oc_prof_machine *m, FILE *f)
{
    fprintf(f, "\"in_turns\" : %.0f,\"in_turns_ns\" : [", m->turns_id);
    for (uint32_t i = 0; i < m->n_turn; i++)
        fprintf(f, "%s%.0f", i ? "," : "", m->turn_ns[i]);
    fputs("],", f);
}

/* Inserts a metadata event before the bracket that closes the array of events. */
static int mark_profile(const char *path, const char *assumed, const struct oc_prof_machine *m,
                        struct oc_err *err)
{
    struct oc_buf b = {0};
    long back = closing_bytes(path);
    struct oc_json_out w = {.f = oc_buf_stream(&b)}, text = {.f = w.f};
    fputs(",\n{\"cat\" : \"onnxcost\",\"pid\" :0,\"tid\" :0,\"dur\" :0,\"ts\" :0,\"ph\" : \"M\",\"name\" :",
          w.f);
    oc_jw_string(&w, assumed);
    fputs(",\"args\" : {", w.f);
    if (m->providers && *m->providers) {
        fputs("\"execution_providers\" : ", w.f);
        oc_jw_string(&text, m->providers);
        fputc(',', w.f);
    }
    if (m->turns_id > 0)
        mark_turns(m, w.f);
    fprintf(w.f,
            "\"started_s\" : %.3f,\"processors\" : %.0f,\"threads\" : %.0f,"
            "\"processors_of_others\" : %.3f,\"processors_stolen\" : %.3f,\"throttled\" : %.0f,"
            "\"vector_probe_ns\" : %.5g,\"vector_probe_fastest_ns\" : %.5g,\"session_ns\" : "
            "%.0f,\"first_run_ns\" : %.0f,\"clock_limits\" : ",
            m->started_s, m->processors, m->threads, m->others, m->stolen, m->throttled, m->probe_ns,
            m->probe_fastest_ns, m->session_ns, m->first_run_ns);
    w = (struct oc_json_out){.f = w.f};
    oc_jw_string(&w, m->limits);
    fputs("}}\n]\n", w.f);
    fclose(w.f);
    int rc = back ? write_at_end(path, back, &b, err) : 0;
    oc_buf_free(&b);
    return rc;
}

static int keep_files(struct oc_record_files *f, const char *profile, const struct oc_prof_machine *m,
                      struct oc_err *err)
{
    const char *weights = oc_printf(f->a, "%s/%s", f->folder, f->weights_name);
    if (access(profile, R_OK))
        return oc_fail(err, OC_ELIBRARY, "ONNX Runtime has written no profile");
    bool lacks = access(f->temporary_optimized, R_OK) != 0;
    f->no_optimized |= lacks;
    if (lacks && !f->may_lack)
        return oc_fail(err, OC_ELIBRARY, "ONNX Runtime has not saved the optimized model");
    if (check_whole(profile, f->profile, ']', err) ||
        (!lacks && check_whole(f->temporary_optimized, f->optimized, '\0', err)))
        return -1;
    bool assumed = f->assumed && *f->assumed;
    if ((assumed && !lacks && mark_model(f->temporary_optimized, f->assumed, err)) ||
        mark_profile(profile, assumed ? f->assumed : "", m, err))
        return -1;
    if (f->no_optimized)
        return move(profile, f->profile, err);
    if (!access(weights, R_OK) && move(weights, oc_printf(f->a, "%s.data", f->optimized), err))
        return -1;
    return move(f->temporary_optimized, f->optimized, err) || move(profile, f->profile, err) ? -1 : 0;
}

void oc_record_folder_remove(const char *folder, struct oc_arena *a)
{
    DIR *d = opendir(folder);
    const struct dirent *e;
    while (d && (e = readdir(d)))
        if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
            unlink(oc_printf(a, "%s/%s", folder, e->d_name));
    if (d)
        closedir(d);
    rmdir(folder);
}

int oc_record_files_close(struct oc_record_files *f, const char *profile, const struct oc_prof_machine *m,
                          struct oc_err *err)
{
    int rc = profile ? keep_files(f, profile, m, err) : 0;
    if (f->folder)
        oc_record_folder_remove(f->folder, f->a);
    f->folder = NULL;
    return rc;
}
