/* Mutations of protobuf messages that preserve the message format: a changed value, a field omitted,
 * duplicated, moved, inserted from another message, and rarely a wrong length. Uses no schema: bytes that
 * parse as fields to the end are treated as a message. The same seed gives the same mutation. */
#ifndef FUZZ_WIRE_MUTATOR_H
#define FUZZ_WIRE_MUTATOR_H

#include <stddef.h>
#include <stdint.h>

/* Changes some bytes in place and returns the new length, at most cap (as LLVMFuzzerMutate). */
typedef size_t fuzz_bytes_fn(uint8_t *data, size_t n, size_t cap);

/* One mutation of `data`, in place; returns its size, at most `cap` bytes. `donor` (n_donor may be 0) is a
 * message from which fields are taken. */
size_t fuzz_wire_mutate(uint8_t *data, size_t n, size_t cap, uint64_t seed, const uint8_t *donor,
                        size_t n_donor, fuzz_bytes_fn *bytes);

/* For LLVMFuzzerCustomMutator and LLVMFuzzerCustomCrossOver of targets whose input is a message. */
#define FUZZ_WIRE_TARGET                                                                                     \
    size_t LLVMFuzzerMutate(uint8_t *, size_t, size_t);                                                      \
    size_t LLVMFuzzerCustomMutator(uint8_t *, size_t, size_t, unsigned);                                     \
    size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t cap, unsigned seed)                       \
    {                                                                                                        \
        return fuzz_wire_mutate(data, n, cap, seed, NULL, 0, LLVMFuzzerMutate);                              \
    }                                                                                                        \
    size_t LLVMFuzzerCustomCrossOver(const uint8_t *, size_t, const uint8_t *, size_t, uint8_t *, size_t,    \
                                     unsigned);                                                              \
    size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t n_a, const uint8_t *b, size_t n_b,             \
                                     uint8_t *out, size_t cap, unsigned seed)                                \
    {                                                                                                        \
        if (n_a > cap)                                                                                       \
            return 0;                                                                                        \
        memcpy(out, a, n_a);                                                                                 \
        return fuzz_wire_mutate(out, n_a, cap, seed, b, n_b, LLVMFuzzerMutate);                              \
    }

#endif
