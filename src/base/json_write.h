/* Streaming JSON writer: it owns commas, indentation and escaping. Invalid UTF-8 bytes are written as U+FFFD.
 * Doubles print shortest round-trip; nan and inf print null. Output goes to a FILE; check ferror at the end.
 */
#ifndef OC_JSON_WRITE_H
#define OC_JSON_WRITE_H

#include "onnxcost_types.h"

struct oc_json_out {
    FILE *f;
    unsigned depth;
    bool pretty;     /* set before use: line breaks and two blanks per level */
    bool need_comma; /* private */
    bool after_key;  /* private */
};

void oc_jw_begin_object(struct oc_json_out *w);
void oc_jw_end_object(struct oc_json_out *w);
void oc_jw_begin_array(struct oc_json_out *w);
void oc_jw_end_array(struct oc_json_out *w);
void oc_jw_key(struct oc_json_out *w, const char *key);
void oc_jw_string(struct oc_json_out *w, const char *s); /* NULL prints null */
void oc_jw_u64(struct oc_json_out *w, uint64_t v);
void oc_jw_i64(struct oc_json_out *w, int64_t v);
void oc_jw_double(struct oc_json_out *w, double v);
void oc_jw_bool(struct oc_json_out *w, bool v);
void oc_jw_null(struct oc_json_out *w);
void oc_jw_raw(struct oc_json_out *w, const char *json); /* an already encoded value */

#endif
