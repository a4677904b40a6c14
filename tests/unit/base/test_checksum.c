#include "base/gz.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <cmocka.h>

/* All lengths around the block sizes of the implementation, at all alignments, continuing any earlier sum. */
static void crc_equals_zlib_at_all_lengths_and_alignments(void **state)
{
    (void)state;
    enum { BYTES = 100000 };
    static unsigned char data[BYTES];
    unsigned random = 1;
    for (size_t i = 0; i < BYTES; i++) {
        random = random * 1664525u + 1013904223u;
        data[i] = (unsigned char)(random >> 24);
    }
    for (int wide = 0; wide <= oc_crc_is_wide(); wide++) {
        assert_int_equal(oc_crc(wide, 0, "", 0), 0);
        assert_int_equal(oc_crc(wide, 0, "123456789", 9), 0xcbf43926); /* the check value of this CRC */
        for (size_t n = 0; n < 700; n++)
            for (size_t from = 0; from < 17; from++) {
                uint32_t before = (uint32_t)(n * 2654435761u);
                assert_int_equal(oc_crc(wide, before, data + from, n), crc32(before, data + from, (uInt)n));
            }
        assert_int_equal(oc_crc(wide, 7, data, BYTES), crc32(7, data, BYTES));
        uint32_t sum = 0;
        for (size_t at = 0, n = 0; at < BYTES; at += n) {
            n = at % 4099 + 1 < BYTES - at ? at % 4099 + 1 : BYTES - at;
            sum = oc_crc(wide, sum, data + at, n);
        }
        assert_int_equal(sum, crc32(0, data, BYTES));
    }
}

/* x^n mod P as the folding code uses it: bits reflected, shifted one place up. */
static uint64_t power(unsigned n)
{
    uint32_t v = 1; /* x^0; P is x^32 + 04c11db7 */
    while (n--)
        v = v << 1 ^ (v >> 31 ? 0x04c11db7u : 0);
    uint64_t mirrored = 0;
    for (unsigned i = 0; i < 32; i++)
        mirrored |= (uint64_t)(v >> i & 1) << (31 - i);
    return mirrored << 1;
}

/* The constants in the source. */
static void folding_constants_are_powers_of_x(void **state)
{
    (void)state;
    assert_int_equal(power(544), 0x154442bd4);
    assert_int_equal(power(480), 0x1c6e41596);
    assert_int_equal(power(160), 0x1751997d0);
    assert_int_equal(power(96), 0x0ccaa009e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(crc_equals_zlib_at_all_lengths_and_alignments),
                                       cmocka_unit_test(folding_constants_are_powers_of_x)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
