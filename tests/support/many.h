/* Texts longer than a reader accepts: one part repeated. */
#ifndef TEST_MANY_H
#define TEST_MANY_H

#include <stddef.h>

/* before, n times part with its '#', if any, replaced by 0000000, 0000001 ..., after. The caller frees it. */
char *t_many(const char *before, const char *part, size_t n, const char *after);

#endif
