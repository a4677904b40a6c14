/* Members of gzip data and what stands behind each: sum and length (RFC 1952). Blocks of the reader are 192
 * KiB; from 2 MiB on a thread inflates. */
#include "base/gz.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <cmocka.h>

#define KIB ((size_t)1024)

struct packed {
    char *data, *gz; /* the text, and members with all of it */
    size_t n, n_gz, cap;
    size_t end[64]; /* of each member in gz */
    size_t members;
};

/* Text that can be told from other places of it, and that packs to about a fifth. */
static void add_text(struct packed *p, size_t n)
{
    p->data = realloc(p->data, p->n + n + 1);
    assert_non_null(p->data);
    for (size_t i = 0; i < n; i++, p->n++)
        p->data[p->n] = "0123456789abcdef"[(p->n >> 4 * (p->n % 8)) & 15];
}

static void add_member(struct packed *p, size_t n)
{
    size_t from = p->n;
    z_stream z = {0};
    add_text(p, n);
    if (p->cap < p->n_gz + n + 1024) {
        p->cap = 2 * p->cap + n + 1024;
        p->gz = realloc(p->gz, p->cap);
        assert_non_null(p->gz);
    }
    gz_header head = {.hcrc = 1}; /* it has a sum of its own */
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflateSetHeader(&z, &head), Z_OK);
    z.next_in = (Bytef *)p->data + from;
    z.avail_in = (uInt)n;
    z.next_out = (Bytef *)p->gz + p->n_gz;
    z.avail_out = (uInt)(p->cap - p->n_gz);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    p->n_gz += z.total_out;
    deflateEnd(&z);
    p->end[p->members++ % 64] = p->n_gz;
}

static void let_go(struct packed *p)
{
    free(p->data);
    free(p->gz);
    *p = (struct packed){.n = 0};
}

/* Reads the first n_gz bytes to the end, `pause` calls of crc32 between windows for a reader that is slow;
 * all bytes must be those of the text. Returns how many; *why: the error, "" for none. */
static size_t read_gz(const struct packed *p, size_t n_gz, unsigned pause, char why[160])
{
    struct oc_gz *g = oc_gz_open(p->gz, n_gz);
    const char *data = "";
    size_t n = 0, at = 0, add = 0;
    while (oc_gz_more(g, add, true, &data, &n)) {
        at += add;
        assert_true(n > 0 && at + n <= p->n);
        assert_memory_equal(data, p->data + at, n);
        add = n > 1000 ? n - 1000 : 0;
        for (unsigned i = 0; i < pause; i++)
            crc32(0, (const Bytef *)p->data, (uInt)(p->n < 512 * KIB ? p->n : 512 * KIB));
    }
    at += add;
    snprintf(why, 160, "%s", oc_gz_error(g) ? oc_gz_error(g) : "");
    oc_gz_close(g);
    return at + n;
}

static void members_of_all_sizes(void **state)
{
    (void)state;
    static const size_t size[] = {0, 1, 100, 192 * KIB, 0, 0, 384 * KIB, 192 * KIB - 1, 1, 5000 * KIB, 0, 7};
    struct packed p = {.n = 0};
    char why[160];
    for (size_t i = 0; i < OC_COUNT(size); i++) {
        add_member(&p, size[i]);
        for (unsigned pause = 0; pause < 40; pause += 20) {
            assert_int_equal(read_gz(&p, p.n_gz, pause, why), p.n);
            assert_string_equal(why, "");
        }
    }
    for (size_t i = 0; i < 20000; i++)
        add_member(&p, i % 50);
    assert_int_equal(read_gz(&p, p.n_gz, 0, why), p.n);
    assert_string_equal(why, "");
    let_go(&p);
}

/* What is behind a member that is not what was packed is not read; the member is shown as far as it came. */
static void sums_and_lengths_are_checked(void **state)
{
    (void)state;
    static const size_t size[] = {100, 192 * KIB, 500 * KIB, 6000 * KIB};
    for (size_t i = 0; i < OC_COUNT(size); i++)
        for (unsigned pause = 0; pause < 40; pause += 20) {
            struct packed p = {.n = 0};
            char why[160], want[160];
            add_member(&p, 3);
            add_member(&p, size[i]);
            add_member(&p, 70);
            for (size_t back = 1; back <= 8; back++) { /* bytes of the length, then those of the sum */
                p.gz[p.end[1] - back] ^= 0x40;
                assert_int_equal(read_gz(&p, p.n_gz, pause, why), 3 + size[i]);
                snprintf(want, sizeof(want), "gzip data damaged (compressed offset %zu)",
                         p.end[1] - (back > 4 ? 4 : 0));
                assert_string_equal(why, want);
                p.gz[p.end[1] - back] ^= 0x40;
            }
            assert_int_equal(read_gz(&p, p.n_gz, pause, why), p.n);
            assert_string_equal(why, "");
            let_go(&p);
        }
}

static void cut_off_behind_the_data(void **state)
{
    (void)state;
    for (size_t n = 100; n < 4000 * KIB; n *= 30) {
        struct packed p = {.n = 0};
        char why[160], want[160];
        add_member(&p, n);
        for (size_t back = 1; back <= 8; back++) {
            assert_int_equal(read_gz(&p, p.n_gz - back, 0, why), p.n);
            snprintf(want, sizeof(want), "gzip data cut off (compressed offset %zu)", p.n_gz - back);
            assert_string_equal(why, want);
        }
        let_go(&p);
    }
}

/* Bit 4 of the header: the sum of the header is wrong then. */
static void the_sum_of_a_header_is_checked(void **state)
{
    (void)state;
    struct packed p = {.n = 0};
    char why[160];
    add_member(&p, 3000 * KIB);
    size_t second = p.n_gz;
    add_member(&p, 100);
    p.gz[second + 4] ^= 1; /* the time */
    assert_int_equal(read_gz(&p, p.n_gz, 0, why), 3000 * KIB);
    assert_non_null(strstr(why, "damaged"));
    let_go(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_of_all_sizes),
        cmocka_unit_test(sums_and_lengths_are_checked),
        cmocka_unit_test(cut_off_behind_the_data),
        cmocka_unit_test(the_sum_of_a_header_is_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
