/* Lenient streaming pull reader for JSON: a cursor, no tree. Lenient means: raw control characters and
 * unknown escapes inside strings are kept; nan, inf, -nan, NaN, Infinity are numbers; a missing or trailing
 * comma is accepted; the text may end anywhere (then every open call reports the end and oc_json_truncated is
 * true with the offset). Nesting is limited to 256.
 *
 * Usage: peek the type, then read or skip the value. Objects: oc_json_enter, then while (oc_json_member(j,
 * &key)) read or skip one value. Arrays: oc_json_enter, then while (oc_json_item(j)) read or skip one value.
 * Views (struct oc_str) stay valid until the next call on the reader.
 *
 * A quote inside a string that is not followed by one of , : } ] " or the end belongs to the string (writers
 * that do not escape); the name of a member ends at its first quote, where a colon has to follow. A value of
 * another type than requested is skipped: the call returns false, without an error.
 *
 * Errors are sticky: after the first one every call returns false and oc_json_error has the text. An error
 * inside an array of objects can be repaired with oc_json_resync. */
#ifndef OC_JSON_READ_H
#define OC_JSON_READ_H

#include <stddef.h>

#include "base/file.h"
#include "base/str.h"

enum oc_json_type {
    OC_JSON_NONE, /* end of text or error */
    OC_JSON_OBJECT,
    OC_JSON_ARRAY,
    OC_JSON_STRING,
    OC_JSON_NUMBER,
    OC_JSON_TRUE,
    OC_JSON_FALSE,
    OC_JSON_NULL,
};

struct oc_json;
struct oc_json *oc_json_open(struct oc_stream *s); /* the stream must outlive the reader */
void oc_json_close(struct oc_json *j);

enum oc_json_type oc_json_peek(struct oc_json *j);
bool oc_json_enter(struct oc_json *j); /* the value must be an object or an array */
/* Enters an array whose '[' is lost: the cursor is at its next element. */
void oc_json_enter_rest(struct oc_json *j);
/* The same for a value of that type; any other value is skipped. */
bool oc_json_enter_type(struct oc_json *j, enum oc_json_type type);
bool oc_json_item(struct oc_json *j); /* false: the array ended (and was left) */
/* False: the object ended (and was left), or an error; *key is then the name without a colon. */
bool oc_json_member(struct oc_json *j, struct oc_str *key);
bool oc_json_string(struct oc_json *j, struct oc_str *out); /* escapes decoded (\u to UTF-8) */
bool oc_json_i64(struct oc_json *j, int64_t *out);          /* exact; also an integral float, also "123" */
bool oc_json_double(struct oc_json *j, double *out); /* correctly rounded, no locale; also "1.5", "inf" */
bool oc_json_bool(struct oc_json *j, bool *out);
bool oc_json_skip(struct oc_json *j);                     /* any value, scanned with SIMD */
bool oc_json_raw(struct oc_json *j, struct oc_str *text); /* returns any value as its text, and skips it */

/* For readers that expect a known layout: returns the buffered bytes from the cursor on (at least so many if
 * the text goes on) without moving; then advances over a whole value found in them. */
struct oc_str oc_json_ahead(struct oc_json *j, size_t at_least);
void oc_json_step(struct oc_json *j, size_t bytes);

uint64_t oc_json_offset(const struct oc_json *j); /* inflated bytes before the cursor */
bool oc_json_truncated(const struct oc_json *j);  /* the text ended inside a value */
const char *oc_json_error(const struct oc_json *j, uint64_t *offset_bytes); /* NULL: none */

/* After an error: moves to the next line that starts an object ("{" after "},", or after "}" and preceded by
 * a comma), inside the array at `depth` (see oc_json_depth), and clears the error. False: no such line. */
bool oc_json_resync(struct oc_json *j, unsigned depth);
unsigned oc_json_depth(const struct oc_json *j); /* number of entered containers */

/* ---- escapes ---------------------------------------------------------------------------------------- */

/* Escapes inside JSON strings. Part of json_read.c. */

/* Decodes n bytes between quotes into out (room for n + 8) and returns the length: escapes never grow (\uXXXX
 * is 6 bytes for at most 3, a pair 12 for 4). Unknown escapes are kept as written. */
size_t oc_json_unescape(const char *p, size_t n, char *out);

#endif
