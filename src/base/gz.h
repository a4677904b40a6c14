/* Inflates gzip data in memory, in windows. Large data is inflated by a worker thread a few blocks ahead of
 * the reader when there is a second processor. Each reader has its own thread and shares no state with other
 * readers. */
#ifndef OC_GZ_H
#define OC_GZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct oc_gz;
bool oc_is_gz(const void *src, size_t n);
struct oc_gz *oc_gz_open(const void *src, size_t n); /* src must outlive the reader */
void oc_gz_close(struct oc_gz *g);                   /* NULL is accepted */

/* Drops the first `used` bytes of the window and, if requested, appends inflated bytes. False: nothing
 * appended, at the end or after an error. The window is valid until the next call. */
bool oc_gz_more(struct oc_gz *g, size_t used, bool add, const char **data, size_t *n);
size_t oc_gz_taken(const struct oc_gz *g);      /* source bytes consumed for the windows so far */
const char *oc_gz_error(const struct oc_gz *g); /* NULL: none */

const char *oc_zlib_version(void);

/* ---- checksum --------------------------------------------------------------------------------------- */

/* The checksum of gzip (CRC-32, RFC 1952) by carry-less multiplication where the processor supports it, else
 * by zlib. It is four times as fast; zlib's took over a third of the time of inflating. */

/* Runs CPUID, which takes tens of microseconds on a virtual machine. */
bool oc_crc_is_wide(void);

/* Like zlib's crc32: `before` is 0 or the sum of the preceding bytes. wide: oc_crc_is_wide(), or false. */
uint32_t oc_crc(bool wide, uint32_t before, const void *data, size_t n);

#endif
