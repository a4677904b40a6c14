/* XXH64 of bytes, as xxhsum prints it: fast enough for files of gigabytes. It finds candidates; whoever needs
 * certainty compares them. */
#ifndef OC_FILE_HASH_H
#define OC_FILE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t oc_xxh64(const void *data, size_t n, uint64_t seed);

#endif
