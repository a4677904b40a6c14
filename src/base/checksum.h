/* The check sum of gzip (CRC-32, RFC 1952) by carry-less multiplication where the processor has it, else by
 * zlib: four times as fast, and it was more than a third of the time of inflating. */
#ifndef OC_CHECKSUM_H
#define OC_CHECKSUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Asks the processor, which takes tens of microseconds where that is a virtual one. */
bool oc_crc_is_wide(void);

/* As zlib's crc32: `before` is 0 or the sum of the bytes before. wide: oc_crc_is_wide(), or false. */
uint32_t oc_crc(bool wide, uint32_t before, const void *data, size_t n);

#endif
