/* Any bytes as a message: every field is inside the message, the walk advances and reports where it stopped;
 * fields that parse as messages are walked too. */
#include <stdlib.h>
#include <string.h>

#include "base/wire.h"
#include "wire_mutator.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
FUZZ_WIRE_TARGET

static uint64_t numbers(const struct oc_wire_field *f, unsigned width)
{
    size_t n = oc_wire_count(f, width);
    uint64_t sum = 0, *v = n == SIZE_MAX ? NULL : malloc((n + 1) * sizeof(*v));
    if (n != SIZE_MAX && n > f->n + 1)
        abort();
    if (v) {
        oc_wire_numbers(f, width, v);
        for (size_t i = 0; i < n; i++)
            sum += v[i];
    }
    free(v);
    return sum;
}

static uint64_t walk(const uint8_t *data, size_t n, unsigned level)
{
    struct oc_wire w = oc_wire_of(data, n);
    struct oc_wire_field f;
    uint64_t sum = 0;
    for (const uint8_t *last = data; oc_wire_next(&w, &f); last = w.p) {
        if (w.p <= last || w.p > data + n || (f.type == OC_WIRE_LEN && f.n > n))
            abort();
        if (f.type == OC_WIRE_LEN && f.n && (f.data < data || f.data + f.n > data + n))
            abort();
        for (unsigned width = 0; width <= 8; width += 4)
            sum += numbers(&f, width);
        if (f.type == OC_WIRE_LEN && level < 12)
            sum += walk(f.data, f.n, level + 1);
    }
    if (w.bad && (!w.why || w.bad < data || w.bad > data + n))
        abort();
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    volatile uint64_t sum = walk(data, n, 0);
    (void)sum;
    return 0;
}
