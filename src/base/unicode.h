/* The little of Unicode that laying out text needs: code points of UTF-8, and the classes of characters that
 * Python's str and re know (white space, word, decimal digit, line boundary). No locale. Text may be broken
 * UTF-8: a byte that belongs to no sequence counts as one character. */
#ifndef OC_UNICODE_H
#define OC_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "onnxcost.h"

#define OC_BAD_BYTE 0x110000u /* added to a byte that is not UTF-8 */

uint32_t oc_utf8_next(const char **p, const char *end); /* *p < end; advances *p */
size_t oc_utf8_put(char *out, uint32_t cp);             /* up to 4 bytes; returns how many */
size_t oc_utf8_count(const char *s, size_t n);          /* characters */

/* Columns of a terminal that the text takes: 2 for most characters of East Asia, 0 for combining ones. */
unsigned oc_uni_columns(uint32_t cp);
size_t oc_utf8_columns(const char *s, size_t n);

/* Start of the text without blanks at both ends; *n becomes its length in bytes. */
const char *oc_utf8_strip(const char *s, size_t *n);

/* What is not shown and makes a terminal or a page do something: C0 and C1 controls, line and paragraph
 * separators, controls of direction (Bidi_Control), bytes that are not UTF-8. oc_make_visible puts '?' there.
 */
bool oc_uni_is_hidden(uint32_t cp);

bool oc_uni_is_space(uint32_t cp);      /* str.isspace */
bool oc_uni_is_line_break(uint32_t cp); /* where str.splitlines cuts */
bool oc_uni_is_word(uint32_t cp);       /* \w of a re pattern */
int oc_uni_digit(uint32_t cp);          /* value of a decimal digit (\d), -1 if it is none */

#endif
