/* gzip data in memory, inflated in windows. Large data is inflated by a thread of its own, a few blocks ahead
 * of whoever reads, where there is a second processor. Nothing else is shared with that thread: a reader and
 * its thread are one, and readers know nothing of each other. */
#ifndef OC_GZ_H
#define OC_GZ_H

#include "base/arena.h"

struct oc_gz;
bool oc_is_gz(const void *src, size_t n);
struct oc_gz *oc_gz_open(const void *src, size_t n); /* src must outlive the reader */
void oc_gz_close(struct oc_gz *g);                   /* NULL is fine */

/* Drops the first `used` bytes of the window and, if asked to, adds inflated ones behind. False: nothing
 * added, at the end or because of an error. The window is valid until the next call. */
bool oc_gz_more(struct oc_gz *g, size_t used, bool add, const char **data, size_t *n);
size_t oc_gz_taken(const struct oc_gz *g);      /* bytes of src that the windows so far were made of */
const char *oc_gz_error(const struct oc_gz *g); /* NULL: none */

const char *oc_zlib_version(void);

#endif
