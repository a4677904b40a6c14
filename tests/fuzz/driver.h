/* The fuzz targets of a program without libFuzzer: targets.sh writes the table, driver.c runs one. */
#ifndef FUZZ_DRIVER_H
#define FUZZ_DRIVER_H

#include <stddef.h>
#include <stdint.h>

typedef int fuzz_input_fn(const uint8_t *data, size_t n);
typedef size_t fuzz_mutator_fn(uint8_t *data, size_t n, size_t cap, unsigned seed);

/* The functions of libFuzzer's interface; mutator may be NULL. The last one of the table has no name. */
struct fuzz_target {
    const char *name;
    fuzz_input_fn *input;
    fuzz_mutator_fn *mutator;
};

extern const struct fuzz_target fuzz_targets[];

#endif
