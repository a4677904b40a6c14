/* Included first in every file of a WebAssembly build: functions of glibc that its C library lacks. */
#ifndef OC_OS_WASM_H
#define OC_OS_WASM_H

#include <stddef.h>

void qsort_r(void *base, size_t n, size_t width, int (*compare)(const void *, const void *, void *),
             void *arg);

#endif
