/* Escapes inside JSON strings. Part of json_read.c. */
#ifndef OC_JSON_ESCAPE_H
#define OC_JSON_ESCAPE_H

#include <stddef.h>

/* Decodes n bytes between quotes into out (room for n + 8) and returns the length: escapes never grow (\uXXXX
 * is 6 bytes for at most 3, a pair 12 for 4). Unknown escapes are kept as written. */
size_t oc_json_unescape(const char *p, size_t n, char *out);

#endif
