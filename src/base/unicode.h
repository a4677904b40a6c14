/* Unicode for text layout: UTF-8 code points, and the character classes of Python's str and re (white space,
 * word, decimal digit, line boundary). Independent of the locale. In invalid UTF-8 each byte outside a
 * sequence counts as one character. */
#ifndef OC_UNICODE_H
#define OC_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "onnxcost_types.h"

#define OC_BAD_BYTE 0x110000u /* added to a byte of invalid UTF-8 */

uint32_t oc_utf8_next(const char **p, const char *end); /* *p < end; advances *p */
size_t oc_utf8_put(char *out, uint32_t cp);             /* up to 4 bytes; returns how many */
size_t oc_utf8_count(const char *s, size_t n);          /* number of characters */

/* Terminal columns of the text: 2 for most East Asian characters, 0 for combining ones. */
unsigned oc_uni_columns(uint32_t cp);
size_t oc_utf8_columns(const char *s, size_t n);

/* Start of the text without leading and trailing blanks; *n becomes its length in bytes. */
const char *oc_utf8_strip(const char *s, size_t *n);

/* Characters that a terminal or browser interprets instead of showing: C0 and C1 controls, line and paragraph
 * separators, bidirectional controls (Bidi_Control), bytes of invalid UTF-8. oc_make_visible replaces them by
 * '?'. */
bool oc_uni_is_hidden(uint32_t cp);

bool oc_uni_is_space(uint32_t cp);      /* str.isspace */
bool oc_uni_is_line_break(uint32_t cp); /* line boundaries of str.splitlines */
bool oc_uni_is_word(uint32_t cp);       /* \w of a re pattern */
int oc_uni_digit(uint32_t cp);          /* value of a decimal digit (\d), else -1 */

/* ---- wrap ---------------------------------------------------------------------------------------------- */

/* Text for people: control characters are replaced by '?', lines are broken between words. */

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
