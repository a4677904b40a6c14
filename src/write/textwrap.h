/* Breaks a value into lines of a given width by the rules of Python's textwrap.wrap: at white space, after
 * hyphens inside words, and anywhere in words that are too long. */
#ifndef OC_TEXTWRAP_H
#define OC_TEXTWRAP_H

#include "base/buf.h"

/* Appends the lines of the text to out, joined by `joint`. An empty (or blank) text appends nothing.
 * Width is in characters and at least 1. */
void oc_wrap(const char *text, size_t width, const char *joint, struct oc_buf *out);

#endif
