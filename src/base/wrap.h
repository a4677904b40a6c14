/* Text for people: control characters are replaced by '?', lines are broken between words. */
#ifndef OC_WRAP_H
#define OC_WRAP_H

#include <stdio.h>

#include "base/buf.h"

/* One line of text. */
void oc_plain_text(struct oc_buf *b, const char *s);

/* The text wrapped between words to `width` (0: not wrapped); its first line continues a line of `indent`
 * columns, the others are indented by `indent`. A number stays with its unit, a sign with its term. Longer
 * words are cut. */
void oc_plain_wrap(size_t indent, size_t width, const char *text, FILE *f);

/* "label       text", wrapped between words to `width` (0: not wrapped); the text starts at column
 * `label_width`. */
void oc_plain_say_format(const char *label, size_t label_width, size_t width, FILE *f, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
void oc_plain_say(const char *label, size_t label_width, size_t width, const char *text, FILE *f);

#endif
