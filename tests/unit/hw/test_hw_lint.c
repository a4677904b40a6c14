/* Wrong values of every kind are found, each with its line, and reading continues after them. */
#include "hw/hwdb.h"
#include "onnxcost.h"
#include "onnxcost/hardware.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define V(value, unit)         "value=\"" value "\" unit=\"" unit "\" basis=\"vendor\" source=\"ds\""
#define PEAK(cls, acc, figure) "<peak class=\"" cls "\" dense=\"yes\" clock=\"boost\"" acc " " figure "/>"
#define F32_ACC                " accumulate=\"f32\""
#define F16_ACC                " accumulate=\"f16\""
#define I32_ACC                " accumulate=\"i32\""

/* 10 SM x 100 x 1 GHz = 1 TFLOP/s */
static const char *const good[] = {
    /* 1 */ "<hwdb version=\"1\">",
    /* 2 */ "<source id=\"ds\" title=\"Data sheet\" section=\"rates\"/>",
    /* 3 */ "<source id=\"sp\" title=\"Data sheet\" section=\"rates with sparsity\"/>",
    /* 4 */ "<device id=\"d\" name=\"D\" vendor=\"V\" kind=\"gpu\" sku=\"s\"><alias name=\"dd\"/>",
    /* 5 */ "<count of=\"SM\" value=\"10\" basis=\"vendor\" source=\"ds\"/>",
    /* 6 */ "<clock kind=\"base\" " V("0.5", "GHz") "/>",
    /* 7 */ "<clock kind=\"boost\" " V("1", "GHz") "/>",
    /* 8 */ "<power of=\"TDP\" " V("100", "W") "/>",
    /* 9 */ "<unit kind=\"vector\" name=\"c\">",
    /* 10 */ PEAK("f32", "", V("1", "TFLOP/s") " formula=\"10 SM * 100 FLOP/cycle * 1 GHz\""),
    /* 11 */ "</unit><unit kind=\"matrix\" name=\"t\">",
    /* 12 */ PEAK("f16", F32_ACC, V("4", "TFLOP/s") " formula=\"10 SM * 400 FLOP/cycle * 1000 MHz\""),
    /* 13 */
    PEAK("i8", I32_ACC,
         "value=\"8\" unit=\"TOP/s\" basis=\"derived\" source=\"sp\" formula=\"16 TOP/s / 2 sparse\""),
    /* 14 */ "</unit>",
    /* 15 */ "<memory name=\"DRAM\"><size " V("8", "GB") "/>",
    /* 16 */ "<bandwidth " V("32", "GB/s") " formula=\"64 bit * 4 Gbit/s / 8\"/></memory>",
    /* 17 */ "<overhead runtime=\"any\" " V("5", "us") "/></device>",
    /* 18 */ "</hwdb>",
};
#define LINES (sizeof(good) / sizeof(good[0]))

static const struct {
    unsigned line; /* replaced */
    const char *text;
    unsigned at;
    const char *message;
} wrong[] = {
    {10, PEAK("f32", "", V("1.1", "TFLOP/s") " formula=\"10 SM * 100 FLOP/cycle * 1 GHz\""), 10,
     "device 'd': peak 'f32': formula gives 1e+12 FLOP/s, value is 1.1e+12"},
    {10, PEAK("f32", "", V("1.1", "TFLOP/s") " formula=\"11 SM * 100 FLOP/cycle * 1 GHz\""), 10,
     "vector f32: formula has 11 SM, the device has 10"},
    {10, PEAK("f32", "", V("1.2", "TFLOP/s") " formula=\"10 SM * 100 FLOP/cycle * 1.2 GHz\""), 10,
     "vector f32: formula has 1.2 GHz, the device's boost clock is 1 GHz"},
    {10, PEAK("f32", "", V("1", "TFLOP/s")), 10, "vector f32: needs a formula"},
    {16, "<bandwidth " V("64", "GB/s") " formula=\"64 bit * 4 Gbit/s / 8\"/></memory>", 16,
     "bandwidth: formula gives 3.2e+10 B/s, value is 6.4e+10"},
    {10, PEAK("f32", "", "value=\"1\" unit=\"TFLOP/s\" basis=\"vendor\" formula=\"10 SM * 100 * 1 GHz\""), 10,
     "missing source"},
    {5, "<count of=\"SM\" value=\"10\" source=\"ds\"/>", 5, "count 'SM': missing basis"},
    {13,
     PEAK("i8", I32_ACC,
          "value=\"16\" unit=\"TOP/s\" basis=\"vendor\" source=\"sp\" "
          "formula=\"10 SM * 1600 OP/cycle * 1 GHz\""),
     13, "matrix i8 into i32: the source gives the rate with sparsity"},
    {13, PEAK("i8", I32_ACC, V("16", "TOP/s") " formula=\"10 SM * 1600 OP/cycle * 1 GHz\""), 13,
     "matrix i8 into i32: 4 times the rate of f16; is it the sparse one?"},
    {13,
     PEAK("i8", I32_ACC,
          V("8", "TOP/s") " formula=\"10 SM * 800 OP/cycle * 1 GHz\"") "<peak class=\"i8\" dense=\"no\" "
                                                                       "clock=\"boost\"" I32_ACC " " V(
                                                                           "8",
                                                                           "TOP/s") " formula=\"10 SM * 800 "
                                                                                    "OP/cycle * 1 GHz\"/>",
     13, "the dense figure equals the sparse one of line 13"},
    {7, "<clock kind=\"boost\" " V("0.4", "GHz") "/>", 7, "clock boost: below the base clock (0.5 GHz)"},
    {10,
     PEAK(
         "f32", "",
         V("1", "TFLOP/s") " formula=\"10 SM * 100 FLOP/cycle * 1 GHz\"") "<peak class=\"f32\" dense=\"yes\" "
                                                                          "clock=\"base\" " V(
                                                                              "2", "TFLOP/s") " formula"
                                                                                              "=\"10 "
                                                                                              "SM * "
                                                                                              "400 "
                                                                                              "FLOP/"
                                                                                              "cycle * "
                                                                                              "0.5 "
                                                                                              "GHz\"/>",
     10, "vector f32: below the peak at the base clock (2 TFLOP/s)"},
    {10,
     PEAK("f32", "", V("1", "TFLOP/s") " formula=\"10 SM * 100 FLOP/cycle * 1 GHz\"")
         PEAK("f64", "", V("2", "TFLOP/s") " formula=\"10 SM * 200 FLOP/cycle * 1 GHz\""),
     10, "vector f64: above f32 (1 TFLOP/s)"},
    {8, "<power of=\"TDP\" " V("100000", "W") "/>", 8, "power TDP: 100000 W is not between 0.1 and 5000 W"},
    {16, "<bandwidth " V("32", "MB/s") "/></memory>", 16, "DRAM bandwidth: 32 MB/s is not between"},
    {10, PEAK("f32", "", V("1", "TFLOP/s") " formula=\"15 core * 66.667 FLOP/cycle * 1 GHz\""), 10,
     "vector f32: formula has 15 core, not a multiple of 10 SM"},
    {13,
     PEAK("i8", I32_ACC,
          "value=\"8\" unit=\"TOP/s\" basis=\"derived\" source=\"ds\" formula=\"16 TOP/s / 2 sparse\""),
     13, "matrix i8 into i32: the formula halves a sparse rate, but no source gives rates with sparsity"},
    /* twice the best f16 rate, four times the rate into the same accumulator */
    {13,
     PEAK("f16", F16_ACC, V("8", "TFLOP/s") " formula=\"10 SM * 800 FLOP/cycle * 1 GHz\"")
         PEAK("f8", F32_ACC, V("16", "TFLOP/s") " formula=\"10 SM * 1600 FLOP/cycle * 1 GHz\""),
     13, "matrix f8 into f32: 4 times the rate of f16; is it the sparse one?"},
    {13,
     PEAK("f4", F32_ACC, V("32", "TFLOP/s") " formula=\"10 SM * 3200 FLOP/cycle * 1 GHz\"")
         PEAK("f8", F32_ACC, V("8", "TFLOP/s") " formula=\"10 SM * 800 FLOP/cycle * 1 GHz\""),
     13, "matrix f4 into f32: 4 times the rate of f8; is it the sparse one?"},
    {13, PEAK("f16", F16_ACC, V("2", "TFLOP/s") " formula=\"10 SM * 200 FLOP/cycle * 1 GHz\""), 12,
     "matrix f16 into f32: above the rate into f16 (2 TFLOP/s)"},
    {10,
     PEAK("f32", "", V("3", "TFLOP/s") " formula=\"10 SM * 300 FLOP/cycle * 1 GHz\"")
         PEAK("f16", "", V("6", "TFLOP/s") " formula=\"10 SM * 600 FLOP/cycle * 1 GHz\""),
     10, "vector f16: above the matrix unit (4 TFLOP/s)"},
    {15, "<memory name=\"DRAM\" type=\"DDR5-4800, 8 channels\"><size " V("8", "GB") "/>", 16,
     "DRAM bandwidth: DDR5-4800, 8 channels gives 307.2 GB/s, value is 32 GB/s"},
    {15, "<memory name=\"DRAM\" type=\"LPDDR4X-4267, 32 bit\"><size " V("8", "GB") "/>", 16,
     "DRAM bandwidth: LPDDR4X-4267, 32 bit gives 17.068 GB/s, value is 32 GB/s"},
    {15, "<memory name=\"DRAM\" type=\"hbm2, stacked\"><size " V("8", "GB") "/>", 16,
     "DRAM bandwidth: formula has 4 Gbit/s; the maximum of hbm2, stacked is 2.43 Gbit/s"},
    {4, "<device id=\"d\" name=\"D\" vendor=\"V\" kind=\"gpu\" sku=\"s\"><alias name=\"D\"/>", 4,
     "name 'D' is already used by device 'd'"},
    {4, "<device id=\"d\" name=\"D\" vendor=\"V\" kind=\"gpu\">", 4, "missing sku"},
    {17, "</device><device id=\"e\" name=\"E\" base=\"d\"><clock kind=\"boost\" " V("2", "GHz") "/></device>",
     17, "device 'e': vector f32: formula has 1 GHz, the device's boost clock is 2 GHz"},
    {17, "</device><device id=\"e\" name=\"E\" base=\"f\"/><device id=\"f\" name=\"F\" base=\"e\"/>", 17,
     "device 'e': bases form a cycle: e, f, e"},
    {2, "<source id=\"ds\" title=\"Data sheet\" section=\"rates\"/><source id=\"un\" title=\"t\"/>", 2,
     "source 'un' is not used"},
    {10,
     PEAK("f32", "", V("1", "TFLOP/s") " formula=\"10 SM * 100 FLOP/cycle * 1 GHz\"")
         PEAK("f64", " isa=\"avx2\" cores=\"1\"",
              "value=\"64\" unit=\"GFLOP/s\" basis=\"measured\" source=\"ds\""),
     10, "vector f64: 64 operations per cycle and core; the limit of avx2 is 16"},
    {18, "</hwdb", 18, "not well-formed: the file does not end with a tag"},
};

struct file {
    char path[64];
    struct oc_hwdb *db;
};

static int open_file(void **state)
{
    struct file *f = calloc(1, sizeof(*f));
    struct oc_err err;
    if (!f)
        return -1;
    strcpy(f->path, "/tmp/test_hw_lint_XXXXXX");
    int fd = mkstemp(f->path);
    *state = f;
    return fd < 0 || close(fd) || oc_hwdb_open(NULL, &f->db, &err) ? -1 : 0;
}

static int close_file(void **state)
{
    struct file *f = *state;
    unlink(f->path);
    oc_hwdb_free(f->db);
    free(f);
    return 0;
}

static struct oc_hw_lint *lint_lines(struct file *f, const char *const *line)
{
    FILE *out = fopen(f->path, "w");
    const char *path = f->path;
    struct oc_hw_lint *lint;
    struct oc_err err = {0};
    assert_non_null(out);
    for (size_t i = 0; i < LINES; i++)
        fprintf(out, "%s\n", line[i]);
    fclose(out);
    if (oc_hwdb_lint(f->db, &path, 1, &lint, &err))
        fail_msg("%s", err.msg);
    return lint;
}

/* The warnings of the file with one or two lines replaced. */
static struct oc_hw_lint *lint_with(struct file *f, size_t a, size_t b)
{
    const char *line[LINES];
    memcpy(line, good, sizeof(line));
    for (size_t k = 0; k < 2; k++) {
        size_t at = k ? b : a;
        if (at != SIZE_MAX)
            line[wrong[at].line - 1] = wrong[at].text;
    }
    return lint_lines(f, line);
}

/* The bandwidth is 32 GB/s, by 64 bit x 4 Gbit/s. */
static struct oc_hw_lint *lint_with_type(struct file *f, const char *type)
{
    const char *line[LINES];
    char text[200];
    memcpy(line, good, sizeof(line));
    snprintf(text, sizeof(text), "<memory name=\"DRAM\" type=\"%s\"><size " V("8", "GB") "/>", type);
    line[14] = text;
    return lint_lines(f, line);
}

static bool found(const struct oc_hw_lint *lint, size_t i)
{
    const struct oc_hw_finding *finding;
    size_t n = oc_hw_lint_findings(lint, &finding);
    for (size_t k = 0; k < n; k++)
        if (finding[k].line == wrong[i].at && strstr(finding[k].text, wrong[i].message))
            return true;
    return false;
}

static void print_all(const struct oc_hw_lint *lint)
{
    oc_hw_lint_write(lint, NULL, stderr, NULL);
}

static void good_file_has_no_warnings(void **state)
{
    struct oc_hw_lint *lint = lint_with(*state, SIZE_MAX, SIZE_MAX);
    const struct oc_hw_finding *finding;
    if (oc_hw_lint_findings(lint, &finding)) {
        print_all(lint);
        fail();
    }
    oc_hw_lint_free(lint);
}

static void each_wrong_value_is_found(void **state)
{
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct oc_hw_lint *lint = lint_with(*state, i, SIZE_MAX);
        if (!found(lint, i)) {
            print_all(lint);
            fail_msg("not found: line %u: %s", wrong[i].at, wrong[i].message);
        }
        oc_hw_lint_free(lint);
    }
}

/* Correct values next to the wrong ones. */
static void consistent_memory_types_have_no_warnings(void **state)
{
    static const char *const type[] = {"LPDDR5, 64 bit",    "DDR5-2000, 2 channels",
                                       "DDR5-4000, 64 bit", "HBM3",
                                       "of its own kind",   "x-",
                                       "-, 7 channels",     " channels"};
    for (size_t i = 0; i < sizeof(type) / sizeof(type[0]); i++) {
        struct oc_hw_lint *lint = lint_with_type(*state, type[i]);
        const struct oc_hw_finding *finding;
        if (oc_hw_lint_findings(lint, &finding)) {
            print_all(lint);
            fail_msg("%s", type[i]);
        }
        oc_hw_lint_free(lint);
    }
}

/* A wrong formula does not hide the next one. */
static void note_without_sparsity_confirms_a_rate_above_twice_the_wider_one(void **state)
{
    const char *line[LINES];
    memcpy(line, good, sizeof(line));
    line[12] = PEAK("f4", F32_ACC,
                    V("24", "TFLOP/s") " formula=\"10 SM * 2400 FLOP/cycle * 1 GHz\" "
                                       "note=\"Three times the f8 rate, without sparsity.\"")
        PEAK("f8", F32_ACC, V("8", "TFLOP/s") " formula=\"10 SM * 800 FLOP/cycle * 1 GHz\"");
    struct oc_hw_lint *lint = lint_lines(*state, line);
    for (size_t i = 0; i < lint->findings.n; i++)
        assert_null(strstr(lint->findings.item[i].text, "is it the sparse one?"));
    oc_hw_lint_free(lint);
}

static void all_wrong_values_are_found_in_one_pass(void **state)
{
    struct oc_hw_lint *lint = lint_with(*state, 0, 4);
    assert_true(found(lint, 0));
    assert_true(found(lint, 4));
    oc_hw_lint_free(lint);
}

static void missing_file_is_a_warning(void **state)
{
    struct file *f = *state;
    const char *path = "/nonexistent/x.xml";
    struct oc_hw_lint *lint;
    const struct oc_hw_finding *finding;
    struct oc_err err = {0};
    assert_int_equal(oc_hwdb_lint(f->db, &path, 1, &lint, &err), 0);
    assert_int_equal(oc_hw_lint_findings(lint, &finding), 1);
    assert_string_equal(finding->file, path);
    oc_hw_lint_free(lint);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_file_has_no_warnings),
        cmocka_unit_test(each_wrong_value_is_found),
        cmocka_unit_test(consistent_memory_types_have_no_warnings),
        cmocka_unit_test(note_without_sparsity_confirms_a_rate_above_twice_the_wider_one),
        cmocka_unit_test(all_wrong_values_are_found_in_one_pass),
        cmocka_unit_test(missing_file_is_a_warning),
    };
    return cmocka_run_group_tests(tests, open_file, close_file);
}
