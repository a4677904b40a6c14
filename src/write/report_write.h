/* Private to the writers of the report: its parts, in the formats that have them. */
#ifndef OC_REPORT_WRITE_H
#define OC_REPORT_WRITE_H

#include "advice/advice.h"
#include "base/arena.h"
#include "base/json_write.h"
#include "join/join.h"
#include "onnxcost_types.h"
#include "profile/formats/native_reports.h"
#include "report/report.h"
#include "write/tables/json_keys.h"

/* Adds the summary lines that are printed without -v, except warnings. */
void oc_main_lines(struct oc_report *r, struct oc_summary *out);

/* The default table of a report: where the time goes (without times: roofline time or operations), by signature where
 * signatures repeat, otherwise the largest operators; with -v both. */

/* Whether the options select no particular rows. */
bool oc_screen_is_default(const struct oc_report_opts *o);

/* Whether there are no times but a device: the tables show roofline times. */
bool oc_screen_by_roofline(const struct oc_report *r);

/* r->shown: the largest operators. If r->all has no rows (oc_few_rows_do), the groups come from the totals of
 * the analysis by operator type. Without -v, at most as many rows as fit below `lines` lines on one screen
 * (oc_rows_left). */
void oc_screen_print(struct oc_report *r, size_t lines, FILE *f);

/* Reports with more rows are not grouped by signature, which needs a text per row. */
enum { OC_SCREEN_MOST_SIGNATURES = 5000 };

/* The sizes of runs that differ in them: one line for each set of sizes. */

/* The sizes of the report; NULL: all runs have the same. */
const struct oc_sizes *oc_report_sizes(const struct oc_report *r);

/* "5 sizes"; "48 to 320" for an open dimension of an input, NULL: it does not vary. */
const char *oc_sizes_range(const struct oc_sizes *s, uint32_t input, unsigned axis, struct oc_arena *a);

/* The sets with the most time, the others as one line. A title before the table. */
void oc_out_sizes(struct oc_report *r, bool markdown, FILE *f);

/* The value of the member "sizes". */
void oc_json_sizes(struct oc_json_out *w, const struct oc_sizes *s);
/* The value of the member "sizes" of a row. */
void oc_json_row_sizes(struct oc_json_out *w, const struct oc_join *j, uint32_t record);

/* Suggestions of --advise: below the table, as a member of the JSON report, as a section of Markdown. */

void oc_advice_text(const struct oc_advice *a, const struct oc_report_opts *o, struct oc_arena *arena,
                    FILE *f);
void oc_advice_json(const struct oc_advice *a, struct oc_json_out *w); /* the value of the member "advice" */
/* The same with at most so many rows of each suggestion, and with them how many there are. */
void oc_advice_json_cut(const struct oc_advice *a, uint32_t most, struct oc_json_out *w);
void oc_advice_markdown(const struct oc_advice *a, struct oc_arena *arena, struct oc_buf *b);

/* The report of --explain-match: for each record of a profile, or the named ones, the rule that matched it to
 * nodes, or the rejected candidates. */

/* Sets r->explained. Errors: as oc_names_find. */
int oc_match_select(struct oc_report *r, struct oc_err *err);
void oc_out_match(struct oc_report *r, FILE *f);

/* Private to the writers of JSON: limits of the hardware. Only reports with hardware have these members. */

/* The member "limits" of a node, a row or a group; row NULL: null. */
void oc_json_limits(struct oc_json_out *w, const struct oc_report *r, const struct oc_row *row);
/* The member "roofline" of the hardware: sums over all rows. */
void oc_json_roofline(struct oc_json_out *w, struct oc_report *r);

/* A workbook; the check fails without libxlsxwriter, or if a table has more rows than a sheet. */
int oc_xlsx_check(const struct oc_report_in *in, const struct oc_report_opts *o, struct oc_err *err);
int oc_out_xlsx(struct oc_report *r, FILE *f, struct oc_err *err);

/* Private to the writers: options of --format model-explorer. */

/* OC_EARG: there is no model, or --order-by is not a numeric quantity of nodes. */
int oc_attachment_check(const struct oc_report_in *in, const struct oc_report_opts *o, struct oc_err *err);
int oc_overlay_check(const struct oc_report_in *in, const struct oc_report_opts *o, struct oc_err *err);

/* ---- details ------------------------------------------------------------------------------------------ */

/* The table of operators in the layout of MegEngine's profile_analyze, for any rows: a grid with several
 * lines per record, or one line per record for wikis. Columns that the original does not have are appended
 * at the right. */

/* An additional column: its header and the function for the text of its cell (lines joined by newlines;
 * arena or static text). */
struct oc_details_column {
    const char *header;
    const char *(*cell)(struct oc_arena *a, const struct oc_row *row);
};

struct oc_details {
    const char *time_title; /* "device self time"; NULL: the rows have no times, no columns about them */
    double total_s;         /* the value of 100 % */
    const struct oc_details_column *extra;
    uint32_t n_extra;
    uint32_t max_shapes; /* maximum per cell, then "... (N shapes)"; 0: all. The width of a column is that
                          * of its widest cell */
};

/* Both end with a newline and allocate in the rows' arena. */
void oc_details_grid(const struct oc_rows *rows, const struct oc_details *d, struct oc_buf *out);
void oc_details_wiki(const struct oc_rows *rows, const struct oc_details *d, struct oc_buf *out);

/* One line per record: the values of its info cell, separated by blanks. */
void oc_details_names(const struct oc_rows *rows, struct oc_buf *out);

/* ---- mge report --------------------------------------------------------------------------------------- */

/* The report of MegEngine's profile_analyze: summary, device table, host table; byte for byte equal to the
 * original's output. Where the original fails (an unknown sort key, an empty selection, no Copy operator)
 * this one continues: unknown values are printed as N/A and sorted last, empty tables are printed empty. */

/* Writes the report. Errors: OC_EARG (options), OC_ELIMIT, OC_EOUTPUT. Nothing is written if the options
 * are invalid. */
int oc_mge_report(const struct oc_mge *m, const struct oc_report_opts *o, FILE *f, struct oc_err *err);

#endif
