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
    const char *files_from, *hash, *rows;
    bool profiles;
    struct cli_list join;
};

#define AT(field) offsetof(struct scan_opts, field)
static const struct cli_option own_options[] = {
    {"jobs", 'j', CLI_INT, AT(jobs), "N", .help = "models that are analysed at the same time",
     .unit = "processes", .otherwise = "one for each processor", .range = "a number from 1 to 1024",
     .least = 1, .most = 1024, .group = "Many models"},
    {"files-from", 0, CLI_TEXT, AT(files_from), "FILE",
     .help = "scan what this file names too, a file or folder a line, or as find -print0 writes them; -: "
             "standard "
             "input"},
    {"hash", 0, CLI_CHOICE, AT(hash), "size|all|off",
     .help = "files whose content is hashed, to find duplicates: those that share their size with another "
             "one, all, none",
     .otherwise = "size"},
    {"rows", 0, CLI_TEXT, AT(rows), "models|profiles|nodes",
     .help = "what a row is: a model, a profile, or a node of a model or an operator of a profile",
     .otherwise = "one for each file"},
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
    struct cli_list paths; /* what was named, then what a list names */
    char *list;            /* the texts of the list */
    size_t list_bytes;
    struct cli_shapes shapes;
    struct oc_analyze_opts analyze;
    char *settings;
    struct oc_scan_opts scan_opts;
    struct oc_scan *scan;
    struct cli_progress *progress;
    double from_s; /* on the monotonic clock */
    struct oc_scan_writer *writer;
    FILE *out;
    struct oc_hwdb *hwdb;
    size_t n, n_done, n_errors, n_crashes;
    char *crashed; /* the first file whose analysis crashed */
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
    int end = j->list_bytes && memchr(j->list, '\0', j->list_bytes) ? '\0' : '\n'; /* no name has one */
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
    int rc = cli_shapes_parse(o, &j->shapes);
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
    rc = find_device(j);
    return rc ? rc : take_paths(j);
}

/* ---- rows ------------------------------------------------------------------------------------------- */

static int on_row(void *arg, const struct oc_scan_row *row)
{
    struct job *j = arg;
    char part[96], text[112];
    j->n_done++;
    j->n_errors += row->error != NULL;
    if (row->error_code && !strcmp(row->error_code, "crash") && !j->n_crashes++)
        j->crashed = cli_xstrndup(row->path, strlen(row->path));
    oc_part_text(noun(j), j->n_done, j->n, j->from_s, part, sizeof(part));
    snprintf(text, sizeof(text), "%s:", part);
    cli_progress_say(j->progress, text, row->path);
    oc_scan_writer_row(j->writer, row);
    return ferror(j->out) ? -1 : 0;
}

static void scan_stop(int signal_number)
{
    stopped = signal_number;
}

/* Write failures are reported when the file is closed. */
static int scan_run(struct job *j, FILE *f)
{
    struct oc_err err;
    j->out = f;
    j->n = oc_scan_files(j->scan);
    if (!j->n && j->paths.n && j->own->profiles)
        cli_warn("no profile was found in '%s'%s", j->paths.item[0], j->paths.n > 1 ? " and the others" : "");
    else if (!j->n && j->paths.n) /* an empty list of --files-from is accepted */
        cli_warn("no model was found in '%s'%s: a folder is searched for *.onnx, *.safetensors, *.gguf and "
                 "config.json",
                 j->paths.item[0], j->paths.n > 1 ? " and the others" : "");
    if (oc_scan_writer_open(j->scan, j->o->format, cli_width_of(j->o), f, &j->writer, &err))
        return cli_fail_err(&err);
    oc_scan_writer_made(j->writer, j->o->made);
    j->from_s = oc_now_s();
    j->progress = cli_progress_start();
    int rc = oc_scan_run(j->scan, on_row, j, NULL, &err) && !ferror(f) ? cli_fail_err(&err) : 0;
    cli_progress_stop(j->progress);
    j->progress = NULL;
    oc_scan_writer_close(j->writer);
    j->writer = NULL;
    return rc;
}

/* A scan that was stopped leaves the output as it was. */
static int write_rows(struct job *j)
{
    struct cli_output out;
    struct oc_err err;
    if (oc_scan_open(j->paths.item, j->paths.n, &j->scan_opts, &j->scan, &err))
        return cli_fail_err(&err);
    int rc = cli_output_open(j->o->output, &out);
    if (rc)
        return rc;
    int failed = scan_run(j, out.f);
    rc = cli_output_close(&out, !failed && !stopped);
    return failed ? failed : rc;
}

/* ---- all -------------------------------------------------------------------------------------------- */

static void warn_stopped(const struct job *j)
{
    const char *output = j->o->output && strcmp(j->o->output, "-") ? j->o->output : NULL;
    char text[600] = "the output has their rows alone";
    if (output)
        snprintf(text, sizeof(text), "'%.500s' is as it was", output);
    cli_warn("stopped after %zu of %zu %ss: %s", j->n_done, j->n, noun(j), text);
}

static int do_scan(struct job *j)
{
    cli_fault_handle(scan_stop, (int)SA_RESETHAND);
    int rc = write_rows(j);
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
    free(j.crashed);
    return rc;
}

const struct cli_command cmd_scan = {
    .name = "scan",
    .phrase = "many models, one row per model",
    .use = {{"onnxcost scan DIR|FILE... [-j N] [-f ndjson] [-o FILE]",
             "many models, one row per model; a model that cannot be read is a row too"}},
    .run = run_scan,
    .usual = "hw dim shape jobs files-from rows profiles hash format output",
    .sets = CLI_MODEL,
    .options = "hw",
    .own = CLI_OWN(own_options, struct scan_opts),
    .formats = "table|csv|ndjson|json|html|fragment|parquet",
    .example = {{"onnxcost scan models", "a folder of models, one row per model"},
                {"onnxcost scan models -f ndjson -o models.ndjson", "one JSON object per line"},
                {"onnxcost scan models -j 2 -f csv", "two processes, a table for a spreadsheet"}},
    .tool = {{"scan", "Models below a folder: MACs, parameters, memory of each.", "folder!", "",
              .fixed = "--jobs=1",
              .brief = "models errors rows:path,nodes,params,macs,peak_activation_bytes,quality,error",
              .place = 12}},
};
