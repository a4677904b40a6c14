/* Text as programs read it, in windows: UTF-16 (PowerShell's `>`) becomes UTF-8, and the prefixes that
 * logging tools put before every line (time stamps, levels, container and rank labels) are removed. */
#ifndef OC_TEXT_FILTER_H
#define OC_TEXT_FILTER_H

#include "base/arena.h"

enum oc_text_encoding { OC_TEXT_BYTES, OC_TEXT_UTF16LE, OC_TEXT_UTF16BE };

/* From the byte order mark, or from ASCII characters with zero bytes between them. */
enum oc_text_encoding oc_text_encoding(const void *src, size_t n);

/* Kinds of the parts of a prefix, in order; all lines of a log have the same. */
#define OC_LOG_PARTS 8
struct oc_log_prefix {
    unsigned char part[OC_LOG_PARTS];
    unsigned n; /* 0: none */
};

/* The prefix of most lines of the text; n 0: most lines have none. */
void oc_log_prefix_of(const char *text, size_t n, struct oc_log_prefix *out);

struct oc_text_filter;
/* src must outlive the filter. prefix: NULL or copied. */
struct oc_text_filter *oc_text_filter_open(const void *src, size_t n, enum oc_text_encoding encoding,
                                           const struct oc_log_prefix *prefix);
void oc_text_filter_close(struct oc_text_filter *f); /* NULL is accepted */
/* Drops the first `used` bytes of the window and, if requested, appends text. False: nothing appended. */
bool oc_text_filter_more(struct oc_text_filter *f, size_t used, bool add, const char **data, size_t *n);
size_t oc_text_filter_taken(const struct oc_text_filter *f); /* source bytes consumed so far */

#endif
