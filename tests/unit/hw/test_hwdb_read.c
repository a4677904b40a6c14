#include "hw/hwdb.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "support/many.h"
#include "onnxcost.h"
#include "onnxcost/hardware.h"

/* A complete file, line by line; tests replace one line by another. */
static const char *const good[] = {
    /* 1 */ "<?xml version=\"1.0\"?>",
    /* 2 */ "<hwdb version=\"1\">",
    /* 3 */ "<source id=\"ds\" title=\"Data sheet\" section=\"table 1\" url=\"https://example.com/\"/>",
    /* 4 */ "<source id=\"guide\" title=\"Guide\"/>",
    /* 5 */ "<device id=\"a100\" name=\"A 100\" vendor=\"V\" kind=\"gpu\">",
    /* 6 */ "<alias name=\"Big One\"/>",
    /* 7 */ "<count of=\"SM\" value=\"100\" basis=\"vendor\" source=\"ds\"/>",
    /* 8 */ "<clock kind=\"boost\" value=\"1.5\" unit=\"GHz\" basis=\"vendor\" source=\"ds\"/>",
    /* 9 */ "<unit kind=\"matrix\" name=\"tensor\">",
    /* 10 */
    "<peak class=\"f16\" value=\"60\" unit=\"TFLOP/s\" dense=\"yes\" clock=\"boost\" basis=\"derived\" "
    "accumulate=\"f16\" source=\"ds guide\" formula=\"100 SM * 400 FLOP/cycle * 1.5 GHz\"/>",
    /* 11 */
    "<peak class=\"f16\" value=\"30\" unit=\"TFLOP/s\" dense=\"yes\" clock=\"boost\" basis=\"vendor\" "
    "accumulate=\"f32\" source=\"ds\" section=\"table 2\"/>",
    /* 12 */
    "<peak class=\"i8\" value=\"240\" unit=\"TOP/s\" dense=\"no\" clock=\"boost\" basis=\"vendor\" "
    "accumulate=\"i32\" source=\"ds\"/>",
    /* 13 */ "</unit>",
    /* 14 */ "<unit kind=\"vector\" name=\"cores\">",
    /* 15 */
    "<peak class=\"f32\" value=\"3\" unit=\"TFLOP/s\" dense=\"yes\" clock=\"boost\" basis=\"measured\" "
    "source=\"ds\"/>",
    /* 16 */ "<fallback class=\"f16\" to=\"f32\" note=\"converted\"/>",
    /* 17 */ "</unit>",
    /* 18 */ "<memory name=\"L2\"><size value=\"40\" unit=\"MiB\" basis=\"vendor\" source=\"ds\"/></memory>",
    /* 19 */
    "<memory name=\"DRAM\" type=\"HBM\"><size value=\"40\" unit=\"GB\" basis=\"vendor\" source=\"ds\"/>",
    /* 20 */ "<bandwidth value=\"1.5\" unit=\"TB/s\" basis=\"vendor\" source=\"ds\"/></memory>",
    /* 21 */ "<overhead runtime=\"any\" value=\"5\" unit=\"us\" basis=\"assumed\" note=\"a guess\"/>",
    /* 22 */ "</device>",
    /* 23 */ "</hwdb>",
};
#define LINES (sizeof(good) / sizeof(good[0]))

/* The file with line n (from 1; 0: none) replaced. Freed by the caller. */
static char *text_with(size_t n, const char *replacement)
{
    size_t cap = 16384, used = 0;
    char *text = malloc(cap);
    assert_non_null(text);
    for (size_t i = 0; i < LINES; i++)
        used += (size_t)snprintf(text + used, cap - used, "%s\n", i + 1 == n ? replacement : good[i]);
    assert_true(used < cap);
    return text;
}

static int read_text(const char *text, size_t n, struct oc_arena *arena, struct oc_device_list *list,
                     struct oc_err *err)
{
    return oc_hw_read_mem("x.xml", text, n, arena, list, err);
}

static void reads_a_complete_file(void **state)
{
    (void)state;
    struct oc_arena arena = {0};
    struct oc_device_list list = {0};
    struct oc_err err = {0};
    char *text = text_with(0, NULL);
    if (read_text(text, strlen(text), &arena, &list, &err))
        fail_msg("%s", err.msg);
    assert_int_equal(list.n, 1);
    const struct oc_device *d = list.item[0];
    assert_string_equal(d->info->id, "a100");
    assert_string_equal(d->info->kind, "gpu");
    assert_string_equal(d->info->file, "x.xml");
    assert_int_equal(d->info->n_alias, 1);
    assert_int_equal(d->n_figure, 10);
    /* of the two f16 peaks the higher one; the sparse i8 rate is not a peak */
    assert_true(d->peak[OC_HW_MATRIX][OC_CLASS_F16]->value == 60e12);
    assert_string_equal(d->peak[OC_HW_MATRIX][OC_CLASS_F16]->accumulate, "f16");
    assert_null(d->peak[OC_HW_MATRIX][OC_CLASS_I8]);
    assert_true(d->peak[OC_HW_VECTOR][OC_CLASS_F32]->value == 3e12);
    assert_int_equal(d->peak[OC_HW_VECTOR][OC_CLASS_F32]->basis, OC_BASIS_MEASURED);
    assert_true(d->f16_fallback);
    assert_int_equal(d->n_level, 2);
    assert_true(d->level[0].size->value == 40 * 1048576.0);
    assert_null(d->level[0].bandwidth);
    assert_true(oc_device_dram(d)->bandwidth->value == 1.5e12);
    assert_true(d->overhead->value == 5 * 1e-6);
    assert_string_equal(d->overhead->text, "5 us");
    const struct oc_hw_figure *derived = &d->figure[2];
    assert_string_equal(derived->source[0]->title, "Data sheet");
    assert_string_equal(derived->source[1]->title, "Guide");
    assert_null(derived->source[2]);
    assert_string_equal(derived->source[0]->url, "https://example.com/");
    assert_int_equal(derived->line, 10);
    free(text);
    free(list.item);
    oc_arena_free(&arena);
}

#define POWER     "<power of=\"TDP\" value=\"1\" unit=\"W\" basis=\"vendor\" source=\"ds\"/>"
#define BANDWIDTH "<bandwidth value=\"1.5\" unit=\"TB/s\" basis=\"vendor\" source=\"ds\"/>"
#define OVERHEAD  "<overhead runtime=\"any\" value=\"5\" unit=\"us\" basis=\"assumed\" note=\"a guess\"/>"
#define LATENCY   "<latency of=\"x\" value=\"5\" unit=\"us\" basis=\"assumed\" note=\"a guess\"/>"
#define LEVEL(name)                                                                                          \
    "<memory name=\"" name "\"><size value=\"1\" unit=\"MiB\" basis=\"vendor\" source=\"ds\"/></memory>"
#define LEVELS(name) LEVEL(name "1") LEVEL(name "2") LEVEL(name "3") LEVEL(name "4") LEVEL(name "5")

static const struct {
    size_t line; /* replaced */
    const char *text, *message;
} broken[] = {
    {10,
     "<peak class=\"f16\" value=\"312\" dense=\"yes\" clock=\"boost\" basis=\"vendor\" accumulate=\"f32\" "
     "source=\"ds\"/>",
     "cannot read 'x.xml': line 10: device 'a100': peak 'f16': missing unit"},
    {2, "<hwdb version=\"2\">", "line 2: version '2' is not supported (this program reads version 1)"},
    {2, "<hwdb>", "line 2: missing version"},
    {2, "<hwdb version=\"1\" xmlns=\"urn:x\">", "line 2: unknown attribute 'xmlns'"},
    {2, "<hardware version=\"1\">", "line 2: unknown element 'hardware'"},
    {3, "<source id=\"ds\"/>", "line 3: source 'ds': missing title"},
    {3, "<source id=\"guide\" title=\"x\"/>", "line 4: source 'guide': given twice"},
    {3, "<!-- the source is gone -->", "device 'a100': count 'SM': source 'ds' is not in this file"},
    {5, "<device id=\"a100\" name=\"A\" vendor=\"V\" kind=\"toaster\">",
     "line 5: device 'a100': kind 'toaster': expected cpu, gpu or npu"},
    {5, "<device id=\"\" name=\"A\" vendor=\"V\" kind=\"gpu\">", "attribute 'id' is empty"},
    {5, "<device id=\"a100\" name=\"A\" vendor=\"V\" kind=\"gpu\" watts=\"1\">",
     "line 5: device 'a100': unknown attribute 'watts'"},
    {6, "<alias name=\"A100\"/>",
     "line 6: device 'a100': alias 'A100': name 'A100' is already used by device 'a100'"},
    {6, "<nick name=\"x\"/>", "line 6: device 'a100': unknown element 'nick'"},
    {6, "<alias name=\"x\">text</alias>", "line 6: text outside of attributes"},
    {7, "<count of=\"SM\" value=\"many\" basis=\"vendor\" source=\"ds\"/>",
     "line 7: device 'a100': count 'SM': value 'many' is not a number above 0"},
    {7, "<count of=\"SM\" value=\"-3\" basis=\"vendor\" source=\"ds\"/>",
     "value '-3' is not a number above 0"},
    {7, "<count of=\"SM\" value=\"0\" basis=\"vendor\" source=\"ds\"/>", "value '0' is not a number above 0"},
    {7, "<count of=\"SM\" value=\"3\" basis=\"hearsay\" source=\"ds\"/>",
     "basis 'hearsay': expected vendor, derived, measured or assumed"},
    {7, "<count of=\"SM\" value=\"3\" basis=\"vendor\"/>", "count 'SM': missing source"},
    {7, "<count of=\"SM\" value=\"3\" basis=\"derived\" source=\"ds\"/>", "basis 'derived' needs a formula"},
    {7, "<count of=\"SM\" value=\"3\" basis=\"assumed\"/>", "basis 'assumed' needs a note with the reason"},
    {7, "<count of=\"SM\" value=\"3\" basis=\"vendor\" source=\"ds ds ds ds\"/>", "more than 3 sources"},
    {7, "<count of=\"SM\" value=\"3\" unit=\"MHz\" basis=\"vendor\" source=\"ds\"/>",
     "unknown attribute 'unit'"},
    {7, "<count of=\"SM\" value=\"3\" basis=\"vendor\" source=\"ds\" formula=\"1 * 2\"/>",
     "formula gives 2, value is 3"},
    {7, "<count of=\"SM\" value=\"3\" basis=\"vendor\" source=\"ds\" formula=\"three\"/>",
     "formula 'three': syntax error at 'three'"},
    {8, "<count of=\"SM\" value=\"3\" basis=\"vendor\" source=\"ds\"/>",
     "line 8: device 'a100': count 'SM': given twice"},
    {8, "<clock kind=\"boost\" value=\"1500\" unit=\"mhz\" basis=\"vendor\" source=\"ds\"/>",
     "unit 'mhz': expected MHz or GHz"},
    {10,
     "<peak class=\"f16\" value=\"1\" unit=\"TFLOP/s\" clock=\"boost\" basis=\"vendor\" accumulate=\"f16\" "
     "source=\"ds\"/>",
     "missing dense"},
    {10,
     "<peak class=\"f16\" value=\"1\" unit=\"TFLOP/s\" dense=\"yes\" clock=\"boost\" basis=\"vendor\" "
     "source=\"ds\"/>",
     "peak 'f16': missing accumulate"},
    {10,
     "<peak class=\"f17\" value=\"1\" unit=\"TFLOP/s\" dense=\"yes\" clock=\"boost\" basis=\"vendor\" "
     "source=\"ds\"/>",
     "peak 'f17': unknown class"},
    {10,
     "<peak class=\"f16\" value=\"1\" unit=\"TFLOP/s\" dense=\"yes\" clock=\"boost\" basis=\"vendor\" "
     "accumulate=\"f32\" source=\"ds\"/>",
     "line 11: device 'a100': peak 'f16': given twice"},
    {12,
     "<peak class=\"i8\" value=\"2\" unit=\"TFLOP/s\" dense=\"yes\" clock=\"boost\" basis=\"vendor\" "
     "accumulate=\"i32\" source=\"ds\"/>",
     "unit 'TFLOP/s': expected GOP/s, TOP/s or POP/s"},
    {8, POWER POWER, "line 8: device 'a100': power 'TDP': given twice"},
    {15,
     "<peak class=\"f32\" value=\"3\" unit=\"TFLOP/s\" dense=\"maybe\" clock=\"boost\" basis=\"measured\" "
     "source=\"ds\"/>",
     "peak 'f32': dense 'maybe': expected yes or no"},
    {18, LEVELS("a") LEVELS("b") LEVELS("c") "<memory name=\"m\"/><memory name=\"n\"/>",
     "memory 'n': more than 16 levels"},
    {20, BANDWIDTH BANDWIDTH "</memory>", "memory 'DRAM': bandwidth: given twice"},
    {21, OVERHEAD OVERHEAD, "overhead 'any': given twice"},
    {21, LATENCY LATENCY, "latency 'x': given twice"},
    {14, "<unit kind=\"matrix\" name=\"again\">", "line 14: device 'a100': unit 'matrix': given twice"},
    {14, "<unit kind=\"special\" name=\"sfu\">", "expected GOP/s, TOP/s or POP/s"},
    {16, "<fallback class=\"bf16\" to=\"f32\" note=\"x\"/>",
     "a fallback is allowed only from class 'f16' to 'f32' on the vector unit"},
    {15,
     "<peak class=\"f64\" value=\"3\" unit=\"TFLOP/s\" dense=\"yes\" clock=\"boost\" basis=\"measured\" "
     "source=\"ds\"/>",
     "fallback 'f16' needs a vector peak 'f32', and no peak 'f16'"},
    {18, "<memory name=\"L2\"><size value=\"41\" unit=\"GB\" basis=\"vendor\" source=\"ds\"/></memory>",
     "memory 'DRAM' is not larger than the level before it"},
    {18, "<memory name=\"L2\"><bandwidth value=\"1\" unit=\"TB/s\" basis=\"vendor\" source=\"ds\"/></memory>",
     "memory 'DRAM' is not slower than the level before it"},
    {18, "<memory name=\"L2\"/>", "memory 'L2' needs a size or a bandwidth"},
    {18, "<memory name=\"DRAM\"/>", "line 19: device 'a100': memory 'DRAM': given twice"},
    {19, "<memory name=\"HBM\"><size value=\"40\" unit=\"GB\" basis=\"vendor\" source=\"ds\"/>",
     "the last memory level is 'HBM', not DRAM"},
    {20, "<bandwidth value=\"1.5\" unit=\"TB\" basis=\"vendor\" source=\"ds\"/></memory>",
     "line 20: device 'a100': memory 'DRAM': bandwidth: unit 'TB': expected MB/s, GB/s or TB/s"},
    {22, "</gadget>", "not well-formed"},
    {23, "", "not well-formed"},
    {23, "</hwdb><hwdb version=\"1\"/>", "not well-formed"},
    {6, "&undeclared;", "line 6: not well-formed"},
    {6, "<alias name=\"&undeclared;\"/>", "line 6: not well-formed"},
    {6, "<xml:alias name=\"x\"/>", "line 6: device 'a100': unknown element 'xml'"},
    {6, "<alias name=\"x\" xml:lang=\"en\"/>", "unknown attribute 'xml:lang'"},
    {6, "<alias xmlns=\"u\" name=\"x\"/>", "unknown attribute 'xmlns'"},
    {6, "<alias name=\"x\">text</alias>", "text outside of attributes"},
    {6, "<![CDATA[x]]>", "text outside of attributes"},
    {6, "<alias name=\"\xff\"/>", "not well-formed"},
};

static void each_mistake_has_its_own_message(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
        struct oc_arena arena = {0};
        struct oc_device_list list = {0};
        struct oc_err err = {0};
        char *text = text_with(broken[i].line, broken[i].text);
        if (read_text(text, strlen(text), &arena, &list, &err) == 0)
            fail_msg("%s: was accepted", broken[i].text);
        if (!strstr(err.msg, broken[i].message) || strncmp(err.msg, "cannot read 'x.xml': line ", 26) != 0)
            fail_msg("%s: wrong message: %s", broken[i].text, err.msg);
        assert_int_equal(err.code, OC_EFORMAT);
        assert_true(err.line > 0);
        assert_string_equal(err.file, "x.xml");
        assert_null(strchr(err.msg, '\n'));
        assert_int_equal(list.n, 0);
        free(text);
        free(list.item);
        oc_arena_free(&arena);
    }
}

static void expect_read_error(const char *text, size_t n, const char *message)
{
    struct oc_arena arena = {0};
    struct oc_device_list list = {0};
    struct oc_err err = {0};
    assert_int_equal(read_text(text, n, &arena, &list, &err), -1);
    if (!strstr(err.msg, message))
        fail_msg("wrong message: %s", err.msg);
    assert_int_equal(list.n, 0);
    free(list.item);
    oc_arena_free(&arena);
}

/* Nested entities would expand to 10^9 copies; external ones would read files. Both need a document type. */
static void rejects_xml_entities(void **state)
{
    (void)state;
    static const char bomb[] = "<?xml version=\"1.0\"?>\n<!DOCTYPE hwdb [<!ENTITY a \"aaaaaaaaaa\">\n"
                               "<!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;\">\n"
                               "<!ENTITY c \"&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;\">]>\n"
                               "<hwdb version=\"1\"><source id=\"&c;\" title=\"x\"/></hwdb>";
    static const char external[] = "<!DOCTYPE hwdb [<!ENTITY x SYSTEM \"file:///etc/passwd\">]>"
                                   "<hwdb version=\"1\">&x;</hwdb>";
    static const char subset[] = "<!DOCTYPE hwdb SYSTEM \"http://example.com/x.dtd\"><hwdb version=\"1\"/>";
    expect_read_error(bomb, strlen(bomb), "line 2: document types and entities are not allowed");
    expect_read_error(external, strlen(external), "line 1: document types and entities are not allowed");
    expect_read_error(subset, strlen(subset), "line 1: document types and entities are not allowed");
    /* UTF-16 would hide the word from a byte search */
    static const char wide[] = "\xff\xfe<\0!\0D\0O\0C\0T\0Y\0P\0E\0";
    expect_read_error(wide, sizeof(wide) - 1, "a zero byte");
    static const char declared[] =
        "<?xml version=\"1.0\" encoding=\"UTF-7\"?><hwdb version=\"1\">+ADw-</hwdb>";
    expect_read_error(declared, strlen(declared), "text outside of attributes");
}

static void rejects_empty_and_oversized_files(void **state)
{
    (void)state;
    expect_read_error("", 0, "the file is empty");
    expect_read_error("\n\n", 2, "not XML: an XML file with <hwdb> is expected");
    expect_read_error("plain text", 10, "not XML: an XML file with <hwdb> is expected");
    expect_read_error("\x08\x07\x12\0", 4, "not XML"); /* a model */
    expect_read_error("\xef\xbb\xbf <hwdb", 9, "not well-formed");
    size_t n = OC_HW_MAX_FILE_BYTES + 1;
    char *big = malloc(n);
    assert_non_null(big);
    memset(big, ' ', n);
    expect_read_error(big, n, "larger than 16 MiB");
    free(big);
}

static void rejects_long_values(void **state)
{
    (void)state;
    char line[1200];
    memset(line, 'x', sizeof(line));
    memcpy(line, "<alias name=\"", 13);
    memcpy(line + sizeof(line) - 4, "\"/>", 4);
    char *text = text_with(6, line);
    expect_read_error(text, strlen(text),
                      "line 6: device 'a100': alias: attribute 'name' is longer than 1000 bytes");
    free(text);
}

/* The good file, which has 10 values, with n more counts. */
static char *with_counts(size_t n)
{
    char *counts = t_many("", "<count of=\"#\" value=\"1\" basis=\"vendor\" source=\"ds\"/>", n, "");
    struct oc_buf b = {0};
    for (size_t i = 0; i < LINES; i++)
        oc_buf_printf(&b, "%s%s\n", i == 6 ? counts : "", good[i]);
    free(counts);
    return b.data;
}

static void rejects_too_many_values(void **state)
{
    (void)state;
    char *text = with_counts(247);
    expect_read_error(text, strlen(text), "more than 256 figures in a device");
    free(text);
}

static void rejects_too_many_names(void **state)
{
    (void)state;
    char *aliases = t_many("", "<alias name=\"#\"/>", 65, ""), *text = text_with(6, aliases);
    expect_read_error(text, strlen(text), "more than 64 aliases");
    free(text);
    free(aliases);
    text = t_many("<hwdb version=\"1\">", "<device id=\"#\" name=\"D\" vendor=\"V\" kind=\"cpu\"/>",
                  OC_HW_MAX_DEVICES + 1, "</hwdb>");
    expect_read_error(text, strlen(text), "more than 10000 devices");
    free(text);
    struct oc_arena arena = {0};
    struct oc_device_list full = {.n = OC_HW_MAX_DEVICES}; /* of the earlier files */
    struct oc_err err = {0};
    text = text_with(0, NULL);
    assert_int_equal(read_text(text, strlen(text), &arena, &full, &err), -1);
    assert_int_equal(err.code, OC_ELIMIT);
    assert_non_null(strstr(err.msg, "cannot read 'x.xml': more than 10000 devices in total"));
    free(text);
    oc_arena_free(&arena);
}

/* Values set by the user follow the same rules as files. */
static void hw_settings_follow_the_rules_of_files(void **state)
{
    (void)state;
    static const char *const slow = "L2.bandwidth=1 TB/s", *const power = "power.idle=1 W";
    struct oc_arena arena = {0};
    struct oc_device_list list = {0};
    struct oc_err err = {0};
    const struct oc_device *changed;
    char *text = text_with(0, NULL);
    assert_int_equal(read_text(text, strlen(text), &arena, &list, &err), 0);
    assert_int_equal(oc_device_change(&arena, list.item[0], &slow, 1, &changed, &err), -1);
    assert_null(changed);
    assert_non_null(strstr(err.msg, "--hw-set: device 'a100': memory 'DRAM' is not slower"));
    free(text);
    text = with_counts(246);
    if (read_text(text, strlen(text), &arena, &list, &err))
        fail_msg("%s", err.msg);
    assert_int_equal(oc_device_change(&arena, list.item[list.n - 1], &power, 1, &changed, &err), -1);
    assert_int_equal(err.code, OC_ELIMIT);
    assert_non_null(strstr(err.msg, "--hw-set power.idle: the device already has 256 figures"));
    free(text);
    free(list.item);
    oc_arena_free(&arena);
}

/* Truncated anywhere, the file is an error with a line, and no device is read from it. */
static void truncated_files_are_errors_with_a_line(void **state)
{
    (void)state;
    char *text = text_with(0, NULL);
    size_t n = strlen(text);
    for (size_t i = 0; i < 64; i++) {
        size_t cut = n * i / 64;
        char *part = malloc(cut ? cut : 1); /* exact size: a sanitizer reports a read past it */
        assert_non_null(part);
        memcpy(part, text, cut);
        expect_read_error(part, cut, "cannot read 'x.xml': line ");
        free(part);
    }
    free(text);
}

static void error_pointer_may_be_null(void **state)
{
    (void)state;
    struct oc_arena arena = {0};
    struct oc_device_list list = {0};
    assert_int_equal(read_text("<x/>", 4, &arena, &list, NULL), -1);
    free(list.item);
    oc_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_complete_file),
        cmocka_unit_test(each_mistake_has_its_own_message),
        cmocka_unit_test(rejects_xml_entities),
        cmocka_unit_test(rejects_empty_and_oversized_files),
        cmocka_unit_test(rejects_long_values),
        cmocka_unit_test(rejects_too_many_values),
        cmocka_unit_test(rejects_too_many_names),
        cmocka_unit_test(hw_settings_follow_the_rules_of_files),
        cmocka_unit_test(truncated_files_are_errors_with_a_line),
        cmocka_unit_test(error_pointer_may_be_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
