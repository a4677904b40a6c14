/* JSON by the letter of RFC 8259, for tests: the reader of the library forgives much. */
#ifndef OC_STRICT_JSON_H
#define OC_STRICT_JSON_H

#include <stdbool.h>
#include <stddef.h>

struct strict_json {
    size_t values;  /* of objects and arrays too */
    size_t members; /* of objects */
    size_t depth;   /* of the deepest value; a scalar: 1 */
};

/* Whether the text is one value of JSON in UTF-8 and nothing else, at most 256 levels deep. *found (may be
 * NULL) is filled if so. */
bool strict_json(const char *text, size_t n, struct strict_json *found);

#endif
