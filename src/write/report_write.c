/* The formats of the report: one row for each. */
#include "write/report_write.h"

#include <math.h>
#include <string.h>

#include "advice/advice.h"
#include "base/c_locale.h"
#include "base/diag.h"
#include "onnxcost.h"
#include "onnxcost/report.h"
#include "report/columns.h"
#include "report/headline.h"
#include "report/report.h"
#include "report/select.h"

/* RFC 4180 (CRLF line ends). The last column is the layout version: columns may be added; the version is
 * raised when the meaning of a column changes. */
#define CSV_VERSION "2" /* 2: name is the name that tables print; runtime_name is that of the runtime */

static void report_write_put(struct oc_buf *b, FILE *f)
{
    fwrite(b->data, 1, b->n, f);
    oc_buf_clear(b);
}

static void out_csv(struct oc_report *r, FILE *f)
{
    const struct oc_column *column[OC_MAX_COLUMNS];
    size_t n = oc_columns_for(r, OC_COL_CSV, column);
    struct oc_buf b = {0};
    for (size_t i = 0; i < n; i++)
        oc_buf_printf(&b, "%s,", column[i]->key);
    oc_buf_str(&b, "csv_version\r\n");
    report_write_put(&b, f);

    struct oc_arena scratch = {0};
    struct oc_row room;
    struct oc_line l = {.r = r, .arena = &scratch, .room = &room};
    while (oc_line_next(&l)) {
        for (size_t i = 0; i < n; i++) {
            oc_field_exact(column[i], &l, &b);
            oc_buf_char(&b, ',');
        }
        oc_buf_str(&b, CSV_VERSION "\r\n");
        report_write_put(&b, f);
        oc_arena_free(&scratch);
    }
    oc_buf_free(&b);
}

/* ---- report write ----------------------------------------------------------------------------------- */

/* The formats of --format. */
static const struct oc_format {
    const char *name;
    void (*write)(struct oc_report *r, FILE *f);
    int (*write_file)(struct oc_report *r, FILE *f, struct oc_err *err); /* where it may fail; else NULL */
    bool whole;                                                          /* all rows unless --top is given */
    bool explains;      /* supports --why and --explain-match */
    bool advises;       /* supports --advise */
    bool single;        /* rows must be single operators: no groups, no --what-if */
    bool few;           /* needs only the rows that are printed: see oc_few_rows_do */
    bool one_at_a_time; /* needs no row stored: see oc_rows_on_demand */
    int (*check)(const struct oc_report_in *in, const struct oc_report_opts *o,
                 struct oc_err *err); /* NULL */
} formats[] = {
    {.name = "table", .write = oc_out_term, .explains = true, .advises = true, .few = true},
    {.name = "csv", .write = out_csv, .whole = true, .one_at_a_time = true},
    {.name = "json", .write = oc_out_json, .whole = true, .explains = true, .advises = true},
    {.name = "markdown", .write = oc_out_markdown, .advises = true, .few = true},
    {.name = "md", .write = oc_out_markdown, .advises = true, .few = true},
    {.name = "trace", .write = oc_out_trace, .whole = true, .single = true},
    {.name = "model-explorer",
     .write = oc_out_model_explorer,
     .whole = true,
     .single = true,
     .check = oc_overlay_check},
    {.name = "netron", .write = oc_out_netron, .whole = true, .single = true, .check = oc_attachment_check},
    {.name = "xlsx", .write_file = oc_out_xlsx, .whole = true, .check = oc_xlsx_check},
    {.name = "html", .write = oc_out_html, .whole = true, .advises = true, .one_at_a_time = true},
    {.name = "fragment", .write = oc_out_fragment, .advises = true},
};

enum { TOP = 20, SCREEN_TOP = 10 };

static const struct oc_format *find_format(const char *name)
{
    for (size_t i = 0; i < OC_COUNT(formats); i++)
        if (!name || !strcmp(formats[i].name, name))
            return &formats[i];
    return NULL;
}

/* Only MegEngine's files contain kernel start times. */
static int check_kern(const struct oc_report *r, const struct oc_select *s, struct oc_err *err)
{
    bool known = !s->kern || !r->all.n;
    for (uint32_t i = 0; i < r->all.n && !known; i++)
        known = oc_num_known(r->all.row[i].kern_time_s);
    return known ? 0
                 : oc_fail(err, OC_EARG,
                           "--megengine top-end-key=kern needs a profile with kernel start times");
}

/* Writes the list of groups in addition to the list of their members. */
static int choose_groups(struct oc_report *r, const struct oc_select *s, enum oc_time_of time,
                         struct oc_err *err)
{
    struct oc_select members = *s;
    members.aggregate.how = OC_AGG_NONE;
    members.n_order = 0;
    members.top = 0;
    r->groups.arena = &r->arena;
    return oc_select_rows(&members, &r->all, time, &r->shown, err) ||
                   oc_select_rows(s, &r->all, time, &r->groups, err)
               ? -1
               : 0;
}

static int choose_from_all(struct oc_report *r, const struct oc_format *format, const struct oc_select *s,
                           struct oc_err *err)
{
    enum oc_time_of time = r->has_time ? OC_TIME_DEVICE : OC_TIME_NONE;
    if (check_kern(r, s, err) != 0)
        return -1;
    return s->aggregate.how && format->write == oc_out_json
               ? choose_groups(r, s, time, err)
               : oc_select_rows(s, &r->all, time, &r->shown, err);
}

/* The default screen of the format, see screen.h. */
static bool is_screen(const struct oc_report *r, const struct oc_format *format)
{
    return format->write == oc_out_term && oc_screen_is_default(r->o);
}

/* Largest first: by time if there are times, otherwise by roofline time, otherwise by operations. */
static int report_write_choose_rows(struct oc_report *r, const struct oc_format *format, bool few,
                                    struct oc_err *err)
{
    struct oc_select s;
    bool in_order = format->whole && !r->o->has_top, screen = is_screen(r, format);
    const char *order = screen && oc_screen_by_roofline(r) ? "roofline" : oc_table_order(&r->all);
    int rc = oc_select_init(&s, r->o, r,
                            format->whole ? 0
                            : screen      ? SCREEN_TOP
                                          : TOP,
                            in_order ? NULL : order, err);
    if (!rc)
        rc = few ? (oc_few_rows_choose(r, &s), 0) : choose_from_all(r, format, &s, err);
    if (r->o->outcome)
        r->o->outcome->unordered = r->groups.row ? r->groups.n_unordered : r->shown.n_unordered;
    return rc;
}

/* MegEngine's files have their own report unless another format is requested. */
static bool is_megengine_report(const struct oc_report_in *in, const struct oc_report_opts *o,
                                const struct oc_format *format)
{
    return in->profile && !in->analysis && !in->device && !oc_what_if_asked(o) && !o->advise &&
           format->write == oc_out_term && !strcmp(in->profile->format, "megengine") && in->profile->native &&
           (!o->style || strcmp(o->style, "compact"));
}

/* The texts of --why and --explain-match, which replace the table. */
static bool explains_only(const struct oc_report *r, const struct oc_format *format)
{
    return (r->o->n_why || r->o->n_explain_match) && format->write == oc_out_term;
}

static int find_explained(struct oc_report *r, const struct oc_format *format, struct oc_err *err)
{
    if (oc_receipt_nodes(r, err) || oc_match_select(r, err))
        return -1;
    if (r->o->n_why && !r->n_why && format->write != oc_out_term)
        return oc_fail(err, OC_EARG, "--why '%.80s': '%.80s' covers no node of the model", r->o->why[0],
                       r->unattributed[0]->name);
    return 0;
}

/* Of a profile with more rows than a screen groups by their shapes, only the shown rows need them. */
static bool only_shown_need_texts(const struct oc_report *r)
{
    return r->in->profile && !r->in->join && r->in->profile->n_rec > OC_SCREEN_MOST_SIGNATURES &&
           !oc_report_grouped(r->o) && !r->o->order_by;
}

static int report_write_all(struct oc_report *r, const struct oc_format *format, FILE *f, struct oc_err *err)
{
    const struct oc_report_opts *opts = r->o;
    r->texts_of_shown = only_shown_need_texts(r);
    bool few = format->few && oc_few_rows_do(r) && !opts->n_why &&
               !(is_screen(r, format) && r->in->model->n_node <= OC_SCREEN_MOST_SIGNATURES);
    if (format->one_at_a_time && oc_rows_on_demand(r))
        oc_report_list_rows(r);
    else if (!few)
        oc_report_rows(r);
    oc_report_roofs(r);
    if (find_explained(r, format, err))
        return -1;
    if (explains_only(r, format)) {
        if (opts->n_explain_match)
            oc_out_match(r, f);
        else
            oc_receipts_text(r, f);
        return 0;
    }
    int rc = oc_what_if_make(r, err);
    oc_limit_columns(r);
    oc_report_count_runs(r);
    r->shown.arena = &r->arena;
    if (r->all.node)
        r->shown = r->all;
    else if (!rc)
        rc = report_write_choose_rows(r, format, few, err);
    if (!rc) {
        oc_report_finish(r);
        oc_advice_explain_anomalies(r);
        r->advice = opts->advise || format->write == oc_out_html ? oc_advice_make(r) : NULL;
        if (format->write_file)
            rc = format->write_file(r, f, err);
        else
            format->write(r, f);
        if (r->advice && format->write == oc_out_term)
            oc_advice_text(r->advice, opts, &r->arena, f);
    }
    return rc;
}

int oc_report_write(const struct oc_report_in *in, const struct oc_report_opts *given, FILE *f,
                    struct oc_err *err)
{
    OC_ENTRY(err);
    struct oc_report_opts full, *const opts = &full;
    if (OC_OPTIONS(&full, given, err))
        return -1;
    const struct oc_format *format = find_format(opts->format);
    if (!format)
        return oc_fail(
            err, OC_EARG,
            "unknown format '%s'; valid: table, csv, json, markdown, html, trace, model-explorer, xlsx",
            opts->format);
    if (!in->analysis && !in->profile)
        return oc_fail(err, OC_EARG, "a report needs a model or a profile");
    if (opts->n_why && !in->analysis)
        return oc_fail(err, OC_EARG, "--why needs a model");
    if (opts->n_why && !format->explains)
        return oc_fail(err, OC_EARG, "--why supports the formats table and json, not %s", opts->format);
    if (opts->n_explain_match && !in->join)
        return oc_fail(err, OC_EARG, "--explain-match needs a model and a profile");
    if (opts->n_explain_match && !format->explains)
        return oc_fail(err, OC_EARG, "--explain-match supports the formats table and json, not %s",
                       opts->format);
    if (format->check && format->check(in, opts, err))
        return -1;
    if (opts->advise && !format->advises)
        return oc_fail(err, OC_EARG, "--advise supports the formats table, json, markdown and html, not %s",
                       opts->format);
    if (format->single && (oc_report_grouped(opts) || oc_what_if_asked(opts)))
        return oc_fail(err, OC_EARG, "format %s has single operators: no groups, no --what-if", opts->format);
    if (is_megengine_report(in, opts, format))
        return oc_mge_report(in->profile->native, opts, f, err);
    struct oc_report r = {.in = in, .o = opts};
    int rc = report_write_all(&r, format, f, err);
    oc_arena_free(&r.arena);
    return rc;
}

/* ---- schema ------------------------------------------------------------------------------------------- */

int oc_schema_write(FILE *f, struct oc_err *err)
{
    static const char text[] =
#include "report_schema.h"
        ;
    OC_ENTRY(err);
    fputs(text, f);
    return 0;
}
