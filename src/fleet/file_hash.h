/* XXH64, in the format of xxhsum: fast enough for files of gigabytes. Not collision-resistant: it finds
 * candidates, callers that need certainty compare the files. */
#ifndef OC_FILE_HASH_H
#define OC_FILE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t oc_xxh64(const void *data, size_t n, uint64_t seed);

#endif
