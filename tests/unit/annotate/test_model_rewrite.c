/* Rewriting the file: unusual but valid protobuf, damage, and oversized input. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "annotate/annotate.h"

static void model_entry(void *ctx, struct oc_buf *out)
{
    (void)ctx;
    oc_rewrite_model_entry(out, "p.k", "v");
}

/* Each node gets its offset. */
static void node_entry(void *ctx, uint64_t where, struct oc_buf *out)
{
    char text[24];
    (void)ctx;
    snprintf(text, sizeof(text), "%llu", (unsigned long long)where);
    oc_rewrite_node_entry(out, "p.at", text);
}

static const struct oc_rewrite how = {"p.", model_entry, node_entry, NULL};

static int rewrite(const void *in, size_t n, char **out, size_t *n_out, struct oc_err *err)
{
    const struct oc_file file = {.data = in, .size_bytes = n};
    FILE *f = open_memstream(out, n_out);
    int rc = oc_rewrite_model(&file, &how, f, err);
    fclose(f);
    return rc;
}

static void check(const char *in, size_t n, const char *want, size_t n_want)
{
    char *out = NULL;
    size_t n_out = 0;
    struct oc_err err;
    assert_int_equal(rewrite(in, n, &out, &n_out, &err), 0);
    assert_int_equal(n_out, n_want);
    assert_memory_equal(out, want, n_want);
    free(out);
}
#define CHECK(in, want) check(in, sizeof(in) - 1, want, sizeof(want) - 1)

/* Entries: 0x72 = field 14 of a model, 0x4a = field 9 of a node; 1 key, 2 value. */
#define MODEL_ENTRY                                                                                          \
    "\x72\x08\x0a\x03"                                                                                       \
    "p.k"                                                                                                    \
    "\x12\x01"                                                                                               \
    "v"

static void empty_model_gets_an_entry(void **state)
{
    (void)state;
    CHECK("", MODEL_ENTRY);
    CHECK("\x08\x07", "\x08\x07" MODEL_ENTRY); /* ir_version 7 */
}

/* A graph with the nodes "" and (op_type "R"), and a name between them: the second node's message begins at
 * offset 9. */
static void every_node_gets_an_entry(void **state)
{
    (void)state;
    CHECK("\x3a\x0a"
          "\x0a\x00"
          "\x12\x01"
          "g"
          "\x0a\x03\x22\x01"
          "R",
          "\x3a\x20"
          "\x0a\x0b\x4a\x09\x0a\x04"
          "p.at"
          "\x12\x01"
          "4"
          "\x12\x01"
          "g"
          "\x0a\x0e\x22\x01"
          "R"
          "\x4a\x09\x0a\x04"
          "p.at"
          "\x12\x01"
          "9" MODEL_ENTRY);
}

/* A non-minimal length of two bytes is valid; unknown fields of every type stay in place. */
static void unusual_encodings_are_preserved(void **state)
{
    (void)state;
    CHECK("\x3a\x80\x00", "\x3a\x00" MODEL_ENTRY);
    CHECK("\xf8\x7f\x01\x3a\x00\xfd\x7f\x01\x02\x03\x04\xf9\x7f\x01\x02\x03\x04\x05\x06\x07\x08",
          "\xf8\x7f\x01\x3a\x00\xfd\x7f\x01\x02\x03\x04\xf9\x7f\x01\x02\x03\x04\x05\x06\x07\x08" MODEL_ENTRY);
}

/* Own entries are removed wherever they are; those of other tools stay. */
static void old_entries_are_removed(void **state)
{
    (void)state;
    CHECK("\x72\x07\x0a\x03p.x\x12\x00\x72\x05\x0a\x03q.x\x72\x05\x0a\x03p.y\x08\x07",
          "\x72\x05\x0a\x03q.x\x08\x07" MODEL_ENTRY);
}

static void damaged_models_are_rejected(void **state)
{
    (void)state;
    static const char cut[] = "\x3a\x05\x0a\x07zzz"; /* the node is longer than its graph */
    char *out = NULL;
    size_t n_out = 0;
    struct oc_err err;
    assert_int_equal(rewrite(cut, sizeof(cut) - 1, &out, &n_out, &err), -1);
    assert_int_equal(err.code, OC_EFORMAT);
    assert_non_null(strstr(err.msg, "offset 2"));
    assert_int_equal(n_out, 0); /* nothing is written before all input was read */
    free(out);
}

/* Attributes and graphs alternating, a thousand deep and more: a length of three bytes each. */
static void deep_nesting_is_limited(void **state)
{
    (void)state;
    enum { DEEP = 1200 };
    static uint8_t bytes[DEEP * 4];
    char *out = NULL;
    size_t n_out = 0, at = sizeof(bytes);
    struct oc_err err;
    const uint8_t tag[] = {0x0a, 0x2a, 0x32}; /* graph: node; node: attribute; attribute: graph */
    for (int i = DEEP - 1; i >= 0; i--) {
        size_t n = sizeof(bytes) - at;
        at -= 4;
        bytes[at] = i ? tag[(i - 1) % 3] : 0x3a;
        bytes[at + 1] = (uint8_t)(n | 0x80);
        bytes[at + 2] = (uint8_t)(n >> 7 | 0x80);
        bytes[at + 3] = (uint8_t)(n >> 14);
    }
    assert_int_equal(rewrite(bytes, sizeof(bytes), &out, &n_out, &err), -1);
    assert_non_null(strstr(err.msg, "nested too deeply"));
    free(out);
}

/* One byte less than 2 GiB of zeros in an unknown field: the file itself is valid, with an entry it is not.
 */
static void output_beyond_2_gib_is_rejected(void **state)
{
    (void)state;
    char path[] = "/tmp/onnxcost.rewrite.XXXXXX";
    struct oc_file file;
    struct oc_err err;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    const uint8_t head[] = {0xfa, 0x7f, 0xf8, 0xff, 0xff, 0xff, 0x07}; /* 2^31 - 8 bytes follow */
    assert_int_equal(write(fd, head, sizeof(head)), sizeof(head));
    assert_int_equal(ftruncate(fd, (off_t)INT32_MAX), 0);
    close(fd);
    assert_int_equal(oc_file_map(path, 0, &file, &err), 0);
    FILE *f = fopen("/dev/null", "w");
    assert_int_equal(oc_rewrite_model(&file, &how, f, &err), -1);
    assert_int_equal(err.code, OC_ELIMIT);
    fclose(f);
    oc_file_unmap(&file);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_model_gets_an_entry),       cmocka_unit_test(every_node_gets_an_entry),
        cmocka_unit_test(unusual_encodings_are_preserved), cmocka_unit_test(old_entries_are_removed),
        cmocka_unit_test(damaged_models_are_rejected),     cmocka_unit_test(deep_nesting_is_limited),
        cmocka_unit_test(output_beyond_2_gib_is_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
