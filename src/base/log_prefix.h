/* What logging tools put before every line, for readers of printed text. A prefix is found once in the first lines of a
 * text, and then taken from every line; a line without it stays as it is. */
#ifndef OC_BASE_LOG_PREFIX_H
#define OC_BASE_LOG_PREFIX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

struct oc_buf;

/* Kinds of the parts of a prefix, in order; all lines of a log have the same. A label names the process or
 * container that printed the line: "[0]", "[1,0]", "3", "app-1". */
#define OC_LOG_PARTS  8
#define OC_LOG_LABEL  32
#define OC_LOG_LABELS 16
#define OC_LOG_FORM   128
struct oc_log_prefix {
    unsigned char part[OC_LOG_PARTS];
    unsigned n;                /* 0: none */
    bool colors;               /* of terminals: they are removed everywhere */
    char form[OC_LOG_FORM];    /* of a prefix of no known parts; "": parts */
    size_t blanks;             /* at the end of a form, the fewest */
    char logger[OC_LOG_LABEL]; /* its name, the same in all lines; "": none */
    char label[OC_LOG_LABEL];  /* lines with the prefix and another label are dropped; "": none is */
};

/* The prefix of most lines of the text; n 0: most lines have none. */
void oc_log_prefix_of(const char *text, size_t n, struct oc_log_prefix *out);
static inline bool oc_log_prefix_any(const struct oc_log_prefix *p)
{
    return p->n || p->colors;
}

/* The form that at least `percent` of the first lines begin with: the same characters, digits for digits. False: none. */
bool oc_log_form_of(const char *text, size_t n, unsigned percent, struct oc_log_prefix *out);
/* The parts of a line; *text: what follows them, the whole line if its prefix is not the one of `want`. `unpacked` holds
 * the text if it is not a piece of the line. want NULL: any prefix. */
void oc_log_split(struct oc_str line, const struct oc_log_prefix *want, bool colors,
                  struct oc_log_prefix *out, struct oc_buf *unpacked, struct oc_str *text);
/* The line end at or after s, or the end of the text. */
const char *oc_line_end(const char *s, const char *end);
/* The labels of the lines with the prefix in the order of their first lines; returns their number. 0: none, more
 * than OC_LOG_LABELS, or so many for the lines that they are numbers of lines. */
size_t oc_log_labels(const char *text, size_t n, const struct oc_log_prefix *prefix,
                     char label[OC_LOG_LABELS][OC_LOG_LABEL]);

#endif
