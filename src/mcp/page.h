/* Pages of a JSON document: its rows in parts, the rest of it on every page. */
#ifndef OC_PAGE_H
#define OC_PAGE_H

#include "base/buf.h"

/* Appends the text without blanks between its parts. False: strings or brackets are not complete, or a line
 * ends in a string. */
bool oc_json_compact(const char *s, size_t n, struct oc_buf *out);

/* Rows are the items of arrays that are not in other arrays and have more than OC_PAGE_KEPT_BYTES. They are
 * numbered through the document. */
enum { OC_PAGE_KEPT_BYTES = 512, OC_PAGE_NOTE_BYTES = 1300 };

struct oc_page {
    struct oc_buf json; /* the document without blanks, with the rows of this page */
    struct oc_buf note; /* "nodes 1 to 12 of 175, warnings 0 of 3"; empty: all rows are on this page */
    size_t next;        /* first row of the next page, 0: none */
    size_t n_rows;
    uint64_t hash; /* of the document */
    bool twice;    /* the JSON fits a second time, inside a string */
};

/* The page that begins with row `first` and fits most_bytes, together with its copy as a JSON string if
 * possible. A row that does not fit at all is left out, which the note says. OC_EFORMAT: the text is not a
 * JSON object; OC_ELIMIT: the document does not fit without rows. */
int oc_page_make(const char *document, size_t n, size_t first, size_t most_bytes, struct oc_page *out,
                 struct oc_err *err);
void oc_page_free(struct oc_page *p);

#endif
