/* A page of a command as one HTML file, complete without scripts: a head, figures, bars, tables. The shell
 * (src/write/page/shell.html) adds the style, and a script that sorts and filters tables. Text is escaped. */
#ifndef OC_HTML_PAGE_H
#define OC_HTML_PAGE_H

#include "write/tables/json_keys.h"

/* The built-in files with marks: of the costs (written by out_html.c), the shell of all other pages,
 * and that of fragments. */
extern const unsigned char oc_page[], oc_shell[], oc_fragment[];
extern const size_t oc_page_bytes, oc_shell_bytes, oc_fragment_bytes;
/* Writes such a file from `at` up to a mark. Returns what follows the mark; `end` without the mark. */
const char *oc_page_until(const char *at, const char *end, const char *mark, FILE *f);

struct oc_html {
    struct oc_buf b; /* the body; writers may append markup of their own */
    struct oc_arena arena;
    bool fragment; /* a part of somebody else's page */
};
/* The format "fragment": the page as one element with its own style, for a notebook or a dashboard. It has no
 * scripts and no ids, takes its colours from the page around it, and its tables are short. */
bool oc_is_fragment(const char *format);

/* How a number is shown; the page has the exact number in data-v. */
enum oc_html_kind {
    OC_HTML_TEXT,
    OC_HTML_CODE, /* names from files */
    OC_HTML_COUNT,
    OC_HTML_SI,
    OC_HTML_BYTES,   /* of memory and files: KiB, MiB */
    OC_HTML_TRAFFIC, /* bytes that are moved: kB, MB, as in rates */
    OC_HTML_NS,
    OC_HTML_SECONDS,
    OC_HTML_PERCENT, /* of a fraction */
    OC_HTML_NUMBER,
    OC_HTML_STEP, /* counts from 0; shown from 1 */
    OC_HTML_YES   /* of 1 and 0 */
};

/* Writes the whole file, or the fragment, and frees the page. Its title: the last part of the path (NULL:
 * none) and `what`. made: version, date and command line, NULL: none. */
void oc_html_write(struct oc_html *h, const char *path, const char *what, const char *made, FILE *f);

void oc_html_escaped(struct oc_html *h, const char *text);
void oc_html_sentence(struct oc_html *h, const char *text); /* the first line of the page */
void oc_html_note(struct oc_html *h, const char *text);
void oc_html_begin(struct oc_html *h, const char *id, const char *title); /* a section */
void oc_html_end(struct oc_html *h);

/* Figures. key: the path of the same figure in the JSON document ("activations.peak_bytes"), NULL: none.
 * cell: the exact number as text, "" unknown; mark: before the number; note: below it, NULL: none. */
void oc_html_facts_begin(struct oc_html *h);
void oc_html_fact(struct oc_html *h, const char *title, const char *key, enum oc_html_kind kind,
                  const char *cell, const char *mark, const char *note);
void oc_html_fact_u64(struct oc_html *h, const char *title, const char *key, enum oc_html_kind kind,
                      uint64_t v, const char *mark, const char *note);
void oc_html_fact_double(struct oc_html *h, const char *title, const char *key, enum oc_html_kind kind,
                         double v, const char *note);
void oc_html_facts_end(struct oc_html *h);

/* A bar of parts of a whole, with a legend. */
struct oc_html_part {
    const char *name;
    double value;
    unsigned color; /* 0 ... 5: .part0 of the style */
};
void oc_html_strip(struct oc_html *h, const char *label, enum oc_html_kind kind,
                   const struct oc_html_part *part, size_t n, double whole);

/* A table of the rows that JSON and CSV have (oc_fields without json). Columns without a known value are left
 * out. */
struct oc_html_column {
    const char *field; /* name of the field */
    const char *json;  /* its path in JSON, with "_" between members; NULL: the same name */
    const char *title;
    enum oc_html_kind kind;
    bool bar;            /* in the cell: share of the largest of the column */
    bool nonzero;        /* left out where all rows have 0 */
    const char *unlike;  /* field: the column is left out where every row has the same text there */
    const char *high;    /* field with the end of a range that begins at `field`: a bar without a number */
    const char *pair;    /* field of a second bar below that of `field`, on the same scale */
    bool delta;          /* a difference: with its sign; growth is marked as worse */
    const char *quality; /* field with the quality of the number */
};
struct oc_html_table {
    const char *id, *title;
    const char *json;   /* path of the array in the JSON document */
    const uint32_t *at; /* index of each row in it; NULL: the rows are the array */
    const bool *marked; /* by row; NULL: none */
    const char *status; /* field: a row with "added" has the class status-added; NULL: none */
    const struct oc_html_column *column;
    size_t n_column;
    size_t most; /* rows that are written; 0: OC_HTML_ROWS; a fragment has OC_FRAGMENT_ROWS at most */
};
/* A table of texts as such a table; frees its rows. */
void oc_html_texts(struct oc_html *h, const char *id, const char *title, struct oc_table *t);

/* How many rows have a number of a field in each power of ten. id: of the section. */
void oc_html_histogram(struct oc_html *h, const char *field, const char *title, const struct oc_fields *rows);

enum { OC_HTML_ROWS = 2000, OC_FRAGMENT_ROWS = 100 };
void oc_html_table(struct oc_html *h, const struct oc_html_table *t, const struct oc_fields *rows);
void oc_html_list(struct oc_html *h, const struct oc_html_table *t, const struct oc_row_list *rows);
/* Lines of the text format that `write` prints; nothing where it prints none. */
void oc_html_text_of(struct oc_html *h, void (*write)(void *of, FILE *f), void *of);

#endif
