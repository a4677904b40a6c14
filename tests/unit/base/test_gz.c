/* Members of gzip data with their trailer: CRC and length (RFC 1952). The reader inflates
 * 192 KiB at a time. */
#include "base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <cmocka.h>

#include "base/arena.h"

#define KIB ((size_t)1024)

struct packed {
    char *data, *gz; /* the text, and the gzip members that contain all of it */
    size_t n, cap_data, n_gz, cap;
    size_t end[64]; /* of each member in gz */
    size_t members;
};

/* Text that differs at every position and compresses to about a fifth. */
static void add_text(struct packed *p, size_t n)
{
    if (p->cap_data < p->n + n + 1) {
        p->cap_data = 2 * p->cap_data + n + 1;
        p->data = realloc(p->data, p->cap_data);
        assert_non_null(p->data);
    }
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
    gz_header head = {.hcrc = 1}; /* the member has its own CRC */
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

static void packed_free(struct packed *p)
{
    free(p->data);
    free(p->gz);
    *p = (struct packed){.n = 0};
}

/* Reads the first n_gz bytes to the end, with `pause` calls of crc32 between windows to simulate a slow
 * reader; all bytes must equal the text. Returns their number; *why: the error, "" for none. */
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

static void reads_members_of_all_sizes(void **state)
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
    packed_free(&p);
}

/* Data after a damaged member is not read; the member is returned up to its end. */
static void damaged_checksum_or_length_is_an_error(void **state)
{
    (void)state;
    static const size_t size[] = {100, 192 * KIB, 500 * KIB, 6000 * KIB};
    for (size_t i = 0; i < OC_COUNT(size); i++)
        for (unsigned pause = 0; pause < 40; pause += 20) {
            struct packed p = {.n = 0};
            char why[160], zlib[160],
                isal[160]; /* ISA-L reads the whole trailer before it compares the CRC */
            add_member(&p, 3);
            add_member(&p, size[i]);
            add_member(&p, 70);
            for (size_t back = 1; back <= 8; back++) { /* bytes of the length, then those of the CRC */
                p.gz[p.end[1] - back] ^= 0x40;
                assert_int_equal(read_gz(&p, p.n_gz, pause, why), 3 + size[i]);
                snprintf(isal, sizeof(isal), "gzip data damaged (compressed offset %zu)", p.end[1]);
                snprintf(zlib, sizeof(zlib), "gzip data damaged (compressed offset %zu)",
                         p.end[1] - (back > 4 ? 4 : 0));
                assert_string_equal(why, strcmp(why, isal) == 0 ? isal : zlib);
                p.gz[p.end[1] - back] ^= 0x40;
            }
            assert_int_equal(read_gz(&p, p.n_gz, pause, why), p.n);
            assert_string_equal(why, "");
            packed_free(&p);
        }
}

/* After some windows, and before the first. */
static void closes_at_any_window(void **state)
{
    (void)state;
    struct packed p = {.n = 0};
    add_member(&p, 4000 * KIB);
    for (unsigned windows = 0; windows < 20; windows++) {
        struct oc_gz *g = oc_gz_open(p.gz, p.n_gz);
        const char *data;
        size_t n = 0;
        for (unsigned i = 0; i < windows; i++)
            assert_true(oc_gz_more(g, n, true, &data, &n));
        oc_gz_close(g);
    }
    packed_free(&p);
}

static void truncated_trailer_is_an_error(void **state)
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
        packed_free(&p);
    }
}

/* Bit 4 of the header: the CRC of the header is wrong then. */
static void header_checksum_is_verified(void **state)
{
    (void)state;
    struct packed p = {.n = 0};
    char why[160];
    add_member(&p, 3000 * KIB);
    size_t second = p.n_gz;
    add_member(&p, 100);
    p.gz[second + 4] ^= 1; /* the time stamp */
    assert_int_equal(read_gz(&p, p.n_gz, 0, why), 3000 * KIB);
    assert_non_null(strstr(why, "damaged"));
    packed_free(&p);
}

static void packed_data_is_read_back(void **state)
{
    (void)state;
    static const size_t size[] = {0, 1, 100, 300 * KIB};
    for (size_t i = 0; i < OC_COUNT(size); i++) {
        struct packed p = {.n = 0};
        struct oc_buf gz = {0}, again = {0};
        char why[160];
        add_member(&p, size[i]);
        assert_true(oc_gz_pack(p.data, p.n, &gz));
        assert_true(oc_gz_pack(p.data, p.n, &again));
        assert_int_equal(gz.n, again.n);
        assert_memory_equal(gz.data, again.data, gz.n);
        struct packed own = {.data = p.data, .n = p.n, .gz = (void *)gz.data, .n_gz = gz.n};
        assert_int_equal(read_gz(&own, gz.n, 0, why), size[i]);
        assert_string_equal(why, "");
        oc_buf_free(&gz);
        oc_buf_free(&again);
        packed_free(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_members_of_all_sizes),
        cmocka_unit_test(damaged_checksum_or_length_is_an_error),
        cmocka_unit_test(closes_at_any_window),
        cmocka_unit_test(truncated_trailer_is_an_error),
        cmocka_unit_test(header_checksum_is_verified),
        cmocka_unit_test(packed_data_is_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
