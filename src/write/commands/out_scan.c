/* Rows of a scan, and the columns of all tables with one row for each file, node or item of a profile.
 * The columns of the machine-readable formats are those of fleet/scan_tables.c; an unknown value is null
 * or an empty cell. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/row_cells.h"
#include "base/units.h"
#include "fleet/scan.h"
#include "write/commands/page_views.h"
#include "write/tables/html_page.h"

#define CSV_VERSION "1"
enum { JSON_VERSION = 1, MIN_MODEL = 36, LABEL = 11 };

struct oc_scan_writer {
    const struct form *form;
    const struct oc_scan_table *table_of_rows;
    struct oc_parquet *parquet;
    FILE *f;
    struct oc_json_out json;
    struct oc_arena arena;        /* cells of the table */
    struct oc_table table, notes; /* notes: label and text */
    struct oc_fields page;        /* rows of the page */
    const char *made;
    uint64_t n, n_errors, n_duplicates;
};

struct form {
    const char *name;
    void (*begin)(struct oc_scan_writer *w);
    void (*row)(struct oc_scan_writer *w, const struct oc_scan_row *row);
    void (*end)(struct oc_scan_writer *w);
    bool models; /* for rows of models only */
};

/* ---- JSON, NDJSON, CSV, Parquet --------------------------------------------------------------------- */

static void put_rows(struct oc_scan_writer *w, const struct oc_scan_row *row,
                     void (*put)(struct oc_scan_writer *w, const struct oc_datum *cell))
{
    struct oc_datum cell[OC_SCAN_COLUMNS];
    for (struct oc_scan_cursor at = {0}; oc_scan_next_cells(w->table_of_rows, row, &at, cell);)
        put(w, cell);
}

static void cell_fields(const struct oc_scan_writer *w, struct oc_fields *o, const struct oc_datum *cell)
{
    oc_fields_begin(o);
    oc_field_cells(o, &w->table_of_rows->cells, cell);
    oc_fields_end(o);
}

static void ndjson_line(struct oc_scan_writer *w, const struct oc_datum *cell)
{
    struct oc_json_out line = {.f = w->f};
    cell_fields(w, &(struct oc_fields){.json = &line}, cell);
    fputc('\n', w->f);
}

static void ndjson_row(struct oc_scan_writer *w, const struct oc_scan_row *row)
{
    put_rows(w, row, ndjson_line);
}

static void json_begin(struct oc_scan_writer *w)
{
    oc_json_begin(&w->json, w->f, "onnxcost.scan", JSON_VERSION, NULL);
    oc_key_array(&w->json, "rows");
}

static void json_object(struct oc_scan_writer *w, const struct oc_datum *cell)
{
    cell_fields(w, &(struct oc_fields){.json = &w->json}, cell);
}

static void scan_json_row(struct oc_scan_writer *w, const struct oc_scan_row *row)
{
    put_rows(w, row, json_object);
}

static void json_end(struct oc_scan_writer *w)
{
    oc_jw_end_array(&w->json);
    oc_key_u64(&w->json, "models", w->n);
    oc_key_u64(&w->json, "errors", w->n_errors);
    oc_key_u64(&w->json, "duplicates", w->n_duplicates);
    oc_json_end(&w->json);
}

/* cell NULL: the names of the columns */
static void csv_line(struct oc_scan_writer *w, const struct oc_datum *cell)
{
    static const struct oc_datum none[OC_SCAN_COLUMNS];
    struct oc_fields o = {.head_only = !cell, .no_head = cell != NULL};
    cell_fields(w, &o, cell ? cell : none);
    oc_table_csv_rows(&o.table, cell ? CSV_VERSION : "csv_version", w->f);
    oc_fields_free(&o);
}

static void csv_begin(struct oc_scan_writer *w)
{
    csv_line(w, NULL);
}

static void csv_row(struct oc_scan_writer *w, const struct oc_scan_row *row)
{
    put_rows(w, row, csv_line);
}

static void parquet_begin(struct oc_scan_writer *w)
{
    w->parquet = oc_parquet_open(&w->table_of_rows->cells, w->f);
}

static void parquet_cells(struct oc_scan_writer *w, const struct oc_datum *cell)
{
    oc_parquet_row(w->parquet, cell);
}

static void parquet_row(struct oc_scan_writer *w, const struct oc_scan_row *row)
{
    put_rows(w, row, parquet_cells);
}

static void parquet_end(struct oc_scan_writer *w)
{
    oc_parquet_close(w->parquet);
}

/* ---- for people ------------------------------------------------------------------------------------- */

static const char *scan_human(struct oc_scan_writer *w, uint64_t v, bool bytes)
{
    char buf[32];
    if (v == OC_SCAN_UNKNOWN)
        return "-";
    return oc_strdup(&w->arena, bytes ? oc_format_bytes((double)v, buf, sizeof(buf))
                                      : oc_format_si((double)v, "", buf, sizeof(buf)));
}

static void table_begin(struct oc_scan_writer *w)
{
    static const uint8_t drop[] = {3, 2, 0, 4, 5, 1, 0, 0};
    w->table.kinds = "nnnnnnnt";
    w->table.drop = drop;
    w->table.min_text = MIN_MODEL;
    OC_ROW(&w->table, "nodes", "params", "MACs", "FLOPs", "bytes", "peak", "quality", "model");
}

/* Below the table: errors and duplicates, whose texts are not shortened. */
static void add_note(struct oc_scan_writer *w, const struct oc_scan_row *row)
{
    size_t n = strlen(row->path), head = strlen("cannot read '");
    const char *error = row->error ? row->error : "";
    if (!row->error && !row->duplicate_of)
        return;
    if (!strncmp(error, "cannot read '", head) && !strncmp(error + head, row->path, n) &&
        !strncmp(error + head + n, "': ", 3))
        error += head + n + 3;
    OC_ROW(&w->notes, row->error ? "error" : "duplicate",
           row->error ? oc_printf(&w->arena, "%s: %s", row->path, error)
                      : oc_printf(&w->arena, "%s = %s", row->path, row->duplicate_of));
}

static void table_row(struct oc_scan_writer *w, const struct oc_scan_row *row)
{
    bool known = row->nodes != OC_SCAN_UNKNOWN;
    const char *nodes = !known               ? "-"
                        : row->unknown_nodes ? oc_printf(&w->arena, "%" PRIu64 " (%" PRIu64 " unknown)",
                                                         row->nodes, row->unknown_nodes)
                                             : oc_printf(&w->arena, "%" PRIu64, row->nodes);
    OC_ROW(&w->table, nodes, scan_human(w, row->params, false), scan_human(w, row->macs, false),
           scan_human(w, row->flops, false), scan_human(w, row->bytes, true),
           scan_human(w, row->peak_activation_bytes, true),
           row->error     ? "error"
           : row->quality ? row->quality
                          : "-",
           oc_strdup(&w->arena, row->path));
    add_note(w, row);
}

static const char *scan_sentence(struct oc_scan_writer *w)
{
    return oc_printf(&w->arena, "%" PRIu64 " model%s, %" PRIu64 " error%s, %" PRIu64 " duplicate%s", w->n,
                     w->n == 1 ? "" : "s", w->n_errors, w->n_errors == 1 ? "" : "s", w->n_duplicates,
                     w->n_duplicates == 1 ? "" : "s");
}

static void table_end(struct oc_scan_writer *w)
{
    oc_table_print(&w->table, w->f);
    for (size_t i = 0; i < w->notes.n_row; i++)
        oc_plain_say(w->notes.cell[2 * i], LABEL, w->table.width_chars, w->notes.cell[2 * i + 1], w->f);
    fprintf(w->f, "\n%s\n", scan_sentence(w));
}

/* ---- page ------------------------------------------------------------------------------------------- */

static const struct oc_html_column scan_columns[] = {
    {.field = "path", .title = "Model", .kind = OC_HTML_CODE},
    {.field = "nodes", .title = "Nodes", .kind = OC_HTML_COUNT},
    {.field = "unknown_nodes", .title = "Unknown", .kind = OC_HTML_COUNT, .nonzero = true},
    {.field = "params", .title = "Parameters", .kind = OC_HTML_SI, .bar = true},
    {.field = "macs", .title = "MACs", .kind = OC_HTML_SI, .bar = true, .quality = "quality"},
    {.field = "flops", .title = "FLOPs", .kind = OC_HTML_SI, .quality = "quality"},
    {.field = "bytes", .title = "Bytes moved", .kind = OC_HTML_TRAFFIC, .bar = true},
    {.field = "peak_activation_bytes",
     .title = "Peak activation memory",
     .kind = OC_HTML_BYTES,
     .bar = true,
     .quality = "peak_quality"},
    {.field = "const_bytes", .title = "Constants", .kind = OC_HTML_BYTES},
    {.field = "size_bytes", .title = "File", .kind = OC_HTML_BYTES},
    {.field = "opset", .title = "Opset", .kind = OC_HTML_COUNT},
    {.field = "domains", .title = "Other domains", .kind = OC_HTML_CODE},
    {.field = "producer", .title = "Producer", .kind = OC_HTML_CODE},
    {.field = "quality", .title = "Quality"},
    {.field = "assumptions", .title = "Assumptions", .kind = OC_HTML_COUNT, .nonzero = true},
    {.field = "duplicate_of", .title = "Duplicate of", .kind = OC_HTML_CODE},
    {.field = "error", .title = "Error", .kind = OC_HTML_CODE},
};

static void page_row(struct oc_scan_writer *w, const struct oc_scan_row *row)
{
    struct oc_datum cell[OC_SCAN_COLUMNS];
    oc_scan_row_cells(w->table_of_rows, row, cell);
    cell_fields(w, &w->page, cell);
}

static void page_end(struct oc_scan_writer *w)
{
    struct oc_html h = {.fragment = oc_is_fragment(w->form->name)};
    oc_html_sentence(&h, oc_printf(&h.arena, "%s.", scan_sentence(w)));
    oc_html_facts_begin(&h);
    oc_html_fact_u64(&h, "Models", "models", OC_HTML_COUNT, w->n, NULL, NULL);
    oc_html_fact_u64(&h, "Errors", "errors", OC_HTML_COUNT, w->n_errors, NULL, NULL);
    oc_html_fact_u64(&h, "Duplicates", "duplicates", OC_HTML_COUNT, w->n_duplicates, NULL, NULL);
    oc_html_facts_end(&h);
    static const char *const figure[][2] = {
        {"params", "Parameters"}, {"macs", "MACs"}, {"peak_activation_bytes", "Peak activation memory (B)"}};
    for (size_t i = 0; i < OC_COUNT(figure) && w->n > 2; i++)
        oc_html_histogram(&h, figure[i][0], figure[i][1], &w->page);
    oc_html_table(&h,
                  &(struct oc_html_table){.id = "models",
                                          .title = "Models",
                                          .json = "rows",
                                          .column = scan_columns,
                                          .n_column = OC_COUNT(scan_columns),
                                          .most = 10000},
                  &w->page);
    oc_html_write(&h, NULL, "scan of models", w->made, w->f);
}

/* ---- formats ---------------------------------------------------------------------------------------- */

static const struct form forms[] = {
    {"table", table_begin, table_row, table_end, true},
    {"csv", csv_begin, csv_row, NULL, false},
    {"ndjson", NULL, ndjson_row, NULL, false},
    {"json", json_begin, scan_json_row, json_end, false},
    {"html", NULL, page_row, page_end, true},
    {"fragment", NULL, page_row, page_end, true},
    {"parquet", parquet_begin, parquet_row, parquet_end, false},
};

static const struct form *form_of(const char *name, bool models)
{
    for (size_t i = 0; i < OC_COUNT(forms); i++)
        if (name ? !strcmp(forms[i].name, name) : models || !forms[i].models)
            return &forms[i];
    return NULL;
}

int oc_scan_writer_open(const struct oc_scan *scan, const char *format, unsigned width_chars, FILE *f,
                        struct oc_scan_writer **out, struct oc_err *err)
{
    OC_ENTRY(err);
    const struct oc_scan_table *table = scan ? scan->table : &oc_scan_models;
    const struct form *form = form_of(format, table == &oc_scan_models);
    *out = NULL;
    if (!form)
        return oc_fail(err, OC_EARG, "unknown format '%s'; valid: table, csv, ndjson, json, html, parquet",
                       format);
    if (form->models && table != &oc_scan_models)
        return oc_fail(err, OC_EARG, "format %s has rows of models only; for %s: csv, ndjson, json, parquet",
                       format, table->cells.name);
    struct oc_scan_writer *w = oc_xmalloc(sizeof(*w));
    *w = (struct oc_scan_writer){
        .form = form, .table_of_rows = table, .f = f, .table.width_chars = width_chars};
    if (form->begin)
        form->begin(w);
    *out = w;
    return 0;
}

void oc_scan_writer_made(struct oc_scan_writer *w, const char *made)
{
    w->made = made ? oc_strdup(&w->arena, made) : NULL;
}

void oc_scan_writer_row(struct oc_scan_writer *w, const struct oc_scan_row *row)
{
    w->n++;
    w->n_errors += row->error != NULL;
    w->n_duplicates += row->duplicate_of != NULL;
    w->form->row(w, row);
}

void oc_scan_writer_close(struct oc_scan_writer *w)
{
    if (!w)
        return;
    if (w->form->end)
        w->form->end(w);
    oc_table_free(&w->table);
    oc_table_free(&w->notes);
    oc_fields_free(&w->page);
    oc_arena_free(&w->arena);
    free(w);
}

/* ---- columns of rows -------------------------------------------------------------------------------- */

bool oc_row_column(const char *rows, size_t index, struct oc_row_column *out)
{
    static const char *const type[] = {[OC_DATUM_TEXT] = "text",
                                       [OC_DATUM_U64] = "u64",
                                       [OC_DATUM_I64] = "i64",
                                       [OC_DATUM_DOUBLE] = "double"};
    const struct oc_cell_table *const tables[] = {&oc_scan_models.cells, &oc_scan_nodes.cells,
                                                  &oc_scan_profiles.cells, &oc_summary_table};
    for (size_t i = 0; i < OC_COUNT(tables); i++) {
        if (strcmp(tables[i]->name, rows) != 0 || index >= tables[i]->n)
            continue;
        const struct oc_cell_column *c = &tables[i]->column[index];
        *out = (struct oc_row_column){c->name, type[c->kind], c->unit, c->what, c->required};
        return true;
    }
    return false;
}
