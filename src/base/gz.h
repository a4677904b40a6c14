/* Inflates gzip data in memory, in windows. Readers share no state. */
#ifndef OC_GZ_H
#define OC_GZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct oc_buf;

struct oc_gz;
bool oc_is_gz(const void *src, size_t n);
struct oc_gz *oc_gz_open(const void *src, size_t n); /* src must outlive the reader */
void oc_gz_close(struct oc_gz *g);                   /* NULL is accepted */

/* Drops the first `used` bytes of the window and, if requested, appends inflated bytes. False: nothing
 * appended, at the end or after an error. The window is valid until the next call. */
bool oc_gz_more(struct oc_gz *g, size_t used, bool add, const char **data, size_t *n);
size_t oc_gz_taken(const struct oc_gz *g);      /* source bytes consumed for the windows so far */
const char *oc_gz_error(const struct oc_gz *g); /* NULL: none */

/* Appends the data as one gzip member, the same for the same data. False: too large, or no memory. */
bool oc_gz_pack(const void *src, size_t n, struct oc_buf *out);

const char *oc_zlib_version(void);

#endif
