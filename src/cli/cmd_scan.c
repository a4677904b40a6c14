/* scan: many models or profiles, one row each. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "onnxcost/scan.h"

struct scan_opts {
    struct cli_int jobs;
    const char *files_from, *hash, *rows, *partition;
    bool null, resume, profiles;
    struct cli_list join;
};

#define AT(field) offsetof(struct scan_opts, field)
static const struct cli_option own_options[] = {
    {"jobs", 'j', CLI_INT, AT(jobs), "N", .help = "models that are analysed at the same time",
     .unit = "processes", .otherwise = "one for each processor", .range = "a number from 1 to 1024",
     .least = 1, .most = 1024, .group = "Many models"},
    {"files-from", 0, CLI_TEXT, AT(files_from), "FILE",
     .help = "scan what this file names too, a file or folder a line; -: standard input"},
    {"null", '0', CLI_FLAG, AT(null),
     .help = "names in --files-from end with a null character, as find -print0 writes them"},
    {"hash", 0, CLI_CHOICE, AT(hash), "size|all|off",
     .help = "files whose content is hashed, to find duplicates: those that share their size with another "
             "one, all, none",
     .otherwise = "size"},
    {"resume", 0, CLI_FLAG, AT(resume),
     .help = "keep the rows of --output whose files have not changed, and write each new row at once (csv or "
             "ndjson); parquet: do nothing if --output is complete and no file has changed"},
    {"rows", 0, CLI_TEXT, AT(rows), "models|profiles|nodes",
     .help = "what a row is: a model, a profile, or a node of a model or an operator of a profile",
     .otherwise = "one for each file"},
    {"partition", 0, CLI_TEXT, AT(partition), "K/N",
     .help = "scan only the K-th of N parts, 1/N to N/N; the path of a file decides to which it belongs"},
    {"profiles", 0, CLI_FLAG, AT(profiles),
     .help = "the files are profiles; in folders: *.json, *.csv, *.tsv, *.txt, *.log, *.sqlite, *.db, "
             "*.xplane.pb and these with .gz"},
    {"join", 0, CLI_LIST, AT(join), "DIR",
     .help = "with --profiles: folder of models to join; a.b.json.gz belongs to the first of a.b.json.onnx, "
             "a.b.onnx and a.onnx in its own folder or there (repeatable)"},
};

enum { MAX_LIST_BYTES = 256 << 20 };

/* Set by the first SIGINT, SIGTERM or SIGHUP; the second one has its usual effect. */
static volatile int stopped;

struct job {
    const struct cli_opts *o;
    const struct scan_opts *own;
    const char *format;
    struct cli_list paths; /* what was named, then what a list names */
    char *list;            /* the texts of the list */
    size_t list_bytes;
    struct cli_shapes shapes;
    struct oc_analyze_opts analyze;
    char *settings;
    struct oc_scan_opts scan_opts;
    struct oc_scan *scan;
    struct cli_progress *progress;
    struct oc_scan_writer *writer;
    FILE *out;
    struct oc_hwdb *hwdb;
    bool journal; /* rows that were reused are already in the file */
    bool whole;   /* the output is complete or not there: it cannot be continued */
    size_t n, n_done, n_errors, n_crashes;
    const char *part; /* the file of a scan that was stopped, if it is not the output; heap */
    char *crashed;    /* the first file whose analysis crashed */
};

/* ---- what to scan ----------------------------------------------------------------------------------- */

static int scan_read_list(struct job *j, FILE *f)
{
    size_t cap = 0;
    for (;;) {
        if (cap - j->list_bytes < 2) {
            cap = cap ? cap * 2 : 1 << 16;
            j->list = cli_xrealloc(j->list, cap);
        }
        size_t n = fread(j->list + j->list_bytes, 1, cap - j->list_bytes - 1, f);
        j->list_bytes += n;
        if (!n)
            break;
        if (j->list_bytes > MAX_LIST_BYTES) { /* a device without end */
            errno = EFBIG;
            return -1;
        }
    }
    j->list[j->list_bytes] = '\0';
    return ferror(f) ? -1 : 0;
}

static int take_list(struct job *j)
{
    const char *name = j->own->files_from;
    if (!name)
        return 0;
    bool in = !strcmp(name, "-");
    FILE *f = in ? stdin : fopen(name, "r");
    int rc = f ? scan_read_list(j, f) : -1, error = errno;
    if (f && !in)
        fclose(f);
    if (rc)
        return cli_fail(CLI_INPUT, "cannot read '%s': %s", in ? "standard input" : name, strerror(error));
    if (!in)
        cli_input_note(name);
    int end = j->own->null ? '\0' : '\n';
    for (char *p = j->list, *last = j->list + j->list_bytes; p < last;) {
        char *stop = memchr(p, end, (size_t)(last - p));
        if (!stop)
            stop = last;
        *stop = '\0';
        if (*p)
            cli_list_add(&j->paths, p);
        p = stop + 1;
    }
    return 0;
}

static int take_paths(struct job *j)
{
    for (size_t i = 0; i < j->o->word.n; i++)
        cli_list_add(&j->paths, j->o->word.item[i]);
    if (j->own->null && !j->own->files_from)
        return cli_fail(CLI_USAGE, "--null sets the separator of a --files-from list");
    if (!j->o->word.n && !j->own->files_from)
        return cli_fail(CLI_USAGE, "'scan' needs models: onnxcost scan DIR|FILE..., or --files-from FILE");
    return take_list(j);
}

/* ---- how -------------------------------------------------------------------------------------------- */

static void scan_append(char **text, const char *a, const char *b)
{
    size_t old = *text ? strlen(*text) : 0, n = old + strlen(a) + strlen(b) + 3;
    *text = cli_xrealloc(*text, n);
    snprintf(*text + old, n - old, "%s=%s\n", a, b);
}

/* What is scanned. */
static const char *noun(const struct job *j)
{
    return j->own->profiles ? "profile" : "model";
}

/* The options that affect a row: those of the analysis, except its output, and the device. */
static void describe_settings(struct job *j)
{
    const struct cli_option *p;
    scan_append(&j->settings, "onnxcost", ONNXCOST_VERSION);
    for (size_t i = 0; (p = cli_option_nth(i)); i++) {
        const void *field = p->set || !strcmp(p->name, "hw") ? cli_option_value(j->o, p) : NULL;
        char number[32];
        if (!field || !strcmp(p->name, "format") || !strcmp(p->name, "output"))
            continue;
        if (p->kind == CLI_FLAG && *(const bool *)field)
            scan_append(&j->settings, p->name, "");
        if (p->kind == CLI_INT && ((const struct cli_int *)field)->set) {
            snprintf(number, sizeof(number), "%lld", (long long)((const struct cli_int *)field)->v);
            scan_append(&j->settings, p->name, number);
        }
        const struct cli_list *list = field;
        for (size_t k = 0; (p->kind == CLI_LIST || p->kind == CLI_MAYBE) && k < list->n; k++)
            scan_append(&j->settings, p->name, list->item[k]);
        if (p->second && *(const bool *)field)
            scan_append(&j->settings, p->name, strchr(p->arg, '|') + 1);
        else if ((p->kind == CLI_TEXT || p->kind == CLI_CHOICE) && !p->second && *(const char *const *)field)
            scan_append(&j->settings, p->name, *(const char *const *)field);
    }
}

static enum oc_scan_hash hash_mode(const char *name)
{
    return cli_is(name, "all")   ? OC_SCAN_HASH_ALL
           : cli_is(name, "off") ? OC_SCAN_HASH_OFF
                                 : OC_SCAN_HASH_SIZE;
}

static int check_resume(const struct job *j, bool stdout_used)
{
    bool models = !j->own->profiles && (!j->own->rows || cli_is(j->own->rows, "models"));
    if (stdout_used)
        return cli_fail(CLI_USAGE, "--resume needs the file of the rows: --output FILE");
    if (cli_is(j->format, "parquet") || (models && (cli_is(j->format, "csv") || cli_is(j->format, "ndjson"))))
        return 0;
    return cli_fail(CLI_USAGE, "--resume goes with --format %s, not with %s",
                    models ? "ndjson, csv or parquet" : "parquet where a row is not a model", j->format);
}

static int check_format(struct job *j)
{
    const struct cli_opts *o = j->o;
    const char *end = o->output ? strrchr(o->output, '.') : NULL;
    bool stdout_used = !o->output || !strcmp(o->output, "-");
    j->format = o->format;
    if (!j->format && j->own->resume)
        j->format = end && !strcmp(end, ".csv")       ? "csv"
                    : end && !strcmp(end, ".parquet") ? "parquet"
                                                      : "ndjson";
    j->whole = cli_is(j->format, "parquet") || j->own->profiles || cli_is(j->own->rows, "nodes");
    return j->own->resume ? check_resume(j, stdout_used) : 0;
}

/* "3/16" */
static int parse_partition(struct job *j)
{
    const char *text = j->own->partition;
    unsigned long k, n;
    char *end;
    if (!text)
        return 0;
    k = strtoul(text, &end, 10);
    n = *end == '/' ? strtoul(end + 1, &end, 10) : 0;
    if (*end || text[0] < '0' || text[0] > '9' || !k || k > n || n > 1000000)
        return cli_fail(CLI_USAGE, "--partition: '%s' is not a part; write K/N, such as 1/16 to 16/16", text);
    j->scan_opts.part = (uint32_t)k;
    j->scan_opts.of_parts = (uint32_t)n;
    return 0;
}

static int find_device(struct job *j)
{
    const struct cli_opts *o = j->o;
    if (!o->hw.n)
        return 0;
    if (o->hw.n > 1 || !strcmp(cli_hw(o), "auto"))
        return cli_fail(CLI_USAGE, "a scan has one device, by its name: --hw NAME (onnxcost hw list)");
    if (!j->own->profiles && !cli_is(j->own->rows, "nodes"))
        return cli_fail(CLI_USAGE,
                        "--hw gives rooflines of nodes and profiles: add --rows nodes or --profiles");
    return cli_find_device(o, cli_hw(o), &j->hwdb, &j->scan_opts.device);
}

static int take_options(struct job *j)
{
    const struct cli_opts *o = j->o;
    int rc = check_format(j);
    rc = rc ? rc : cli_shapes_parse(o, &j->shapes);
    if (rc)
        return rc;
    describe_settings(j);
    j->analyze = cli_analyze_opts(o, &j->shapes);
    j->scan_opts = (struct oc_scan_opts){.analyze = &j->analyze,
                                         .limits = &o->limits,
                                         .jobs = j->own->jobs.set ? (unsigned)j->own->jobs.v : 0,
                                         .hash = hash_mode(j->own->hash),
                                         .settings = j->settings,
                                         .rows = j->own->rows,
                                         .profiles = j->own->profiles,
                                         .models = j->own->join.item,
                                         .n_models = j->own->join.n,
                                         .stop = &stopped};
    if (j->own->join.n && !j->own->profiles)
        return cli_fail(CLI_USAGE, "--join names a folder of models for --profiles");
    rc = parse_partition(j);
    rc = rc ? rc : find_device(j);
    return rc ? rc : take_paths(j);
}

/* ---- rows ------------------------------------------------------------------------------------------- */

static int on_row(void *arg, const struct oc_scan_row *row)
{
    struct job *j = arg;
    char text[64];
    j->n_done++;
    j->n_errors += row->error != NULL;
    if (row->error_code && !strcmp(row->error_code, "crash") && !row->kept && !j->n_crashes++)
        j->crashed = cli_xstrndup(row->path, strlen(row->path));
    snprintf(text, sizeof(text), "%s %zu of %zu:", noun(j), j->n_done, j->n);
    cli_progress_say(j->progress, text, row->path);
    if (j->journal && row->kept)
        return 0;
    oc_scan_writer_row(j->writer, row);
    return j->journal && fflush(j->out) ? -1 : ferror(j->out) ? -1 : 0;
}

static void scan_stop(int signal_number)
{
    stopped = signal_number;
}

/* Write failures are reported when the file is closed. */
static int scan_run(struct job *j, FILE *f, bool more)
{
    struct oc_err err;
    j->out = f;
    j->n = oc_scan_files(j->scan);
    j->n_done = j->n_errors = 0;
    if (!j->n && j->paths.n && j->own->profiles && !j->own->partition)
        cli_warn("no profile was found in '%s'%s", j->paths.item[0], j->paths.n > 1 ? " and the others" : "");
    else if (!j->n && j->paths.n && !j->own->partition) /* an empty list of --files-from is accepted */
        cli_warn("no model was found in '%s'%s: a folder is searched for *.onnx, *.safetensors, *.gguf and "
                 "config.json",
                 j->paths.item[0], j->paths.n > 1 ? " and the others" : "");
    if (oc_scan_writer_open(j->scan, j->format, more, cli_width_of(j->o), f, &j->writer, &err))
        return cli_fail_err(&err);
    oc_scan_writer_made(j->writer, j->o->made);
    j->progress = cli_progress_start();
    int rc = oc_scan_run(j->scan, on_row, j, NULL, &err) && !ferror(f) ? cli_fail_err(&err) : 0;
    cli_progress_stop(j->progress);
    j->progress = NULL;
    oc_scan_writer_close(j->writer);
    j->writer = NULL;
    return rc;
}

/* A scan that was stopped never replaces a file. A new file of rows, which --resume continues, is made; all else is
 * a file of its own. */
static void keep_part(struct job *j, struct cli_output *out)
{
    struct stat st;
    bool rows = cli_is(j->format, "ndjson") || cli_is(j->format, "csv");
    if (!out->target || (rows && stat(out->target, &st)))
        return;
    j->part = cli_output_rename(out, ".part");
}

static int write_once(struct job *j)
{
    struct cli_output out;
    struct oc_err err;
    bool complete = false;
    if (oc_scan_open(j->paths.item, j->paths.n, &j->scan_opts, &j->scan, &err))
        return cli_fail_err(&err);
    if (j->own->resume && oc_scan_is_complete(j->scan, j->o->output, &complete, &err))
        return cli_fail_err(&err);
    if (complete)
        return 0;
    int rc = cli_output_open(j->o->output, &out);
    if (rc)
        return rc;
    int failed = scan_run(j, out.f, false);
    if (!failed && stopped && !j->whole)
        keep_part(j, &out);
    rc = cli_output_close(&out, !failed && !(stopped && j->whole));
    return failed ? failed : rc;
}

/* ---- --resume --------------------------------------------------------------------------------------- */

/* Appends rows after the last complete line. *more: there are lines. */
static FILE *open_journal(const char *path, bool *more)
{
    FILE *f = fopen(path, "a+");
    off_t end = 0, at = 0;
    if (!f)
        return NULL;
    rewind(f);
    for (int c; (c = getc(f)) != EOF; at++)
        if (c == '\n')
            end = at + 1;
    *more = end > 0;
    if (ferror(f) || (end < at && ftruncate(fileno(f), end)) || fseek(f, 0, SEEK_END)) {
        fclose(f);
        return NULL;
    }
    return f;
}

static int scan_keep(struct job *j)
{
    struct oc_err err;
    struct stat st;
    size_t n_kept;
    if (oc_scan_open(j->paths.item, j->paths.n, &j->scan_opts, &j->scan, &err))
        return cli_fail_err(&err);
    if (stat(j->o->output, &st) && errno == ENOENT)
        return 0;
    int rc = oc_scan_keep(j->scan, j->o->output, &n_kept, &err) ? cli_fail_err(&err) : 0;
    cli_input_forget(j->o->output); /* its rows are kept */
    return rc;
}

static int scan_fail_write(const struct job *j)
{
    return cli_fail(CLI_ENVIRONMENT, "cannot write '%s': %s", j->o->output, strerror(errno));
}

/* The new rows, each at once. */
static int scan_add_rows(struct job *j)
{
    bool more;
    int rc = scan_keep(j);
    if (rc)
        return rc;
    FILE *f = open_journal(j->o->output, &more);
    if (!f)
        return scan_fail_write(j);
    j->journal = true;
    rc = scan_run(j, f, more);
    j->journal = false;
    bool bad = ferror(f), empty = !more && ftello(f) <= 0;
    if (fclose(f) || bad)
        rc = rc ? rc : scan_fail_write(j);
    if (rc && empty)
        unlink(j->o->output);
    return rc;
}

/* All rows in order, and no others: those that were added make earlier ones of the same files void. */
static int put_in_order(struct job *j)
{
    struct cli_output out;
    oc_scan_free(j->scan);
    j->scan = NULL;
    j->scan_opts.kept_only = true;
    j->scan_opts.stop = NULL;
    int rc = scan_keep(j);
    if (!rc)
        rc = cli_output_open(j->o->output, &out);
    if (rc)
        return rc;
    int failed = scan_run(j, out.f, false);
    rc = cli_output_close(&out, !failed);
    return failed ? failed : rc;
}

static int write_resumed(struct job *j)
{
    int rc = scan_add_rows(j);
    if (rc)
        return rc;
    size_t done = j->n_done, errors = j->n_errors;
    rc = put_in_order(j);
    j->n_done = done;
    j->n_errors = errors;
    return rc;
}

/* ---- all -------------------------------------------------------------------------------------------- */

/* What a scan that was stopped has left. */
static void warn_stopped(const struct job *j)
{
    const char *output = j->o->output && strcmp(j->o->output, "-") ? j->o->output : NULL;
    char text[1200] = "";
    if (j->part)
        snprintf(text, sizeof(text), "'%.500s' has their rows, '%.500s' is as it was", j->part, output);
    else if (output && j->whole)
        snprintf(text, sizeof(text), "'%.500s' is as it was", output);
    else if (output)
        snprintf(text, sizeof(text), "'%.500s' has their rows, --resume continues", output);
    else
        snprintf(text, sizeof(text), "the output has their rows alone");
    cli_warn("stopped after %zu of %zu %ss: %s", j->n_done, j->n, noun(j), text);
}

static int do_scan(struct job *j)
{
    cli_fault_handle(scan_stop, (int)SA_RESETHAND);
    int rc = j->own->resume && !j->whole ? write_resumed(j) : write_once(j);
    cli_fault_handle(SIG_DFL, 0);
    if (stopped) {
        warn_stopped(j);
        raise(stopped);
    }
    if (rc)
        return rc;
    if (j->n_crashes)
        cli_warn("%s: the analysis crashed (%zu of %zu %ss did): a fault of onnxcost, please report it with "
                 "the file",
                 j->crashed, j->n_crashes, j->n_done, noun(j));
    if (j->n_errors)
        cli_warn("%zu of %zu %ss could not be %s", j->n_errors, j->n_done, noun(j),
                 j->own->profiles ? "read" : "analysed");
    return j->n_errors ? CLI_FINDINGS : CLI_OK;
}

static int run_scan(const struct cli_opts *o)
{
    struct job j = {.o = o, .own = o->own};
    int rc = take_options(&j);
    if (!rc)
        rc = do_scan(&j);
    oc_scan_free(j.scan);
    oc_hwdb_free(j.hwdb);
    cli_shapes_free(&j.shapes);
    free(j.paths.item);
    free(j.list);
    free(j.settings);
    free((char *)(uintptr_t)j.part);
    free(j.crashed);
    return rc;
}

const struct cli_command cmd_scan = {
    .name = "scan",
    .phrase = "many models, one row per model",
    .use = {{"onnxcost scan DIR|FILE... [-j N] [-f ndjson] [--resume -o FILE]",
             "many models, one row per model; a model that cannot be read is a row too"}},
    .run = run_scan,
    .sets = CLI_MODEL,
    .options = "hw embed",
    .own = CLI_OWN(own_options, struct scan_opts),
    .formats = "table|csv|ndjson|json|html|parquet",
    .example = {{"onnxcost scan models", "a folder of models, one row per model"},
                {"onnxcost scan models -f ndjson -o models.ndjson", "one JSON object per line"},
                {"onnxcost scan models -j 2 -f csv", "two processes, a table for a spreadsheet"}},
};
