#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fleet/scan.h"

static void hashes_equal_xxhsum(void **state)
{
    /* what xxhsum -H64 prints */
    static const struct {
        const char *text;
        uint64_t hash;
    } row[] = {{"", 0xef46db3751d8e999u},
               {"a", 0xd24ec4f1a98c6e5bu},
               {"abc", 0x44bc2cf5ad770999u},
               {"Nobody inspects the spammish repetition", 0xfbcea83c8a378bf1u}};
    (void)state;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
        assert_true(oc_xxh64(row[i].text, strlen(row[i].text), 0) == row[i].hash);
    assert_true(oc_xxh64(NULL, 0, 0) == row[0].hash);
}

static void every_byte_changes_the_hash(void **state)
{
    unsigned char data[100];
    (void)state;
    for (size_t n = 1; n <= sizeof(data); n++) {
        memset(data, 7, sizeof(data));
        uint64_t plain = oc_xxh64(data, n, 0);
        for (size_t i = 0; i < n; i++) {
            data[i] ^= 1;
            assert_true(oc_xxh64(data, n, 0) != plain);
            data[i] ^= 1;
        }
        if (n > 1)
            assert_true(oc_xxh64(data, n - 1, 0) != plain);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(hashes_equal_xxhsum),
                                       cmocka_unit_test(every_byte_changes_the_hash)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
