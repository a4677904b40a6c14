/* The checksum of gzip (CRC-32, RFC 1952) by carry-less multiplication where the processor supports it, else
 * by zlib. It is four times as fast; zlib's took over a third of the time of inflating. */
#ifndef OC_CHECKSUM_H
#define OC_CHECKSUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Runs CPUID, which takes tens of microseconds on a virtual machine. */
bool oc_crc_is_wide(void);

/* Like zlib's crc32: `before` is 0 or the sum of the preceding bytes. wide: oc_crc_is_wide(), or false. */
uint32_t oc_crc(bool wide, uint32_t before, const void *data, size_t n);

#endif
