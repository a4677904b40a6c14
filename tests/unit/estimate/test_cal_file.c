#include "estimate/calibrate.h"
#include "estimate/curve.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/many.h"
#include "onnxcost/estimate.h"

static struct oc_cal_errors errors(void)
{
    return (struct oc_cal_errors){.bound_s = {1e-5, 1e-3},
                                  .d80 = {0.3, 0.2, 0.1},
                                  .d95 = {0.5, 0.4, INFINITY},
                                  .sd = 0.1,
                                  .bias = -0.02,
                                  .n = 9};
}

static struct oc_cal_key example_key(void)
{
    return (struct oc_cal_key){.cls = OC_KC_CONV_1X1,
                               .dtype = OC_CLASS_F32,
                               .kind = OC_CAL_CURVE,
                               .parent = 1,
                               .curve = {.t0_s = 1.0 / 3e6,
                                         .ec = 0.1 + 0.2, /* no short decimal form */
                                         .w_half_flop = 12345.678,
                                         .em = 0.7,
                                         .b_half_bytes = 5e-324, /* the smallest number */
                                         .p = INFINITY,
                                         .wc = 1,
                                         .alpha = 0.6,
                                         .tile_m = 64,
                                         .tile_n = 128,
                                         .align = 16},
                               .peak_flop_per_s = 1e12,
                               .n = 7,
                               .n_model = 3,
                               .flop_min = 1,
                               .flop_max = 1e9,
                               .bytes_min = 2,
                               .bytes_max = 1e8,
                               .ec_known = true,
                               .lomo_error = NAN,
                               .lambda = 10,
                               .errors = errors()};
}

struct example {
    struct oc_calibration cal;
    struct oc_cal_key key[2];
    struct oc_cal_signature signature[2];
    uint16_t op[2];
};

static void fill(struct example *x)
{
    *x = (struct example){.signature = {{.signature = 1, .t_s = 1e-6, .sd = 0.1, .n = 2},
                                        {.signature = UINT64_MAX, .t_s = 0.25, .sd = 0, .n = 1}},
                          .op = {7, 65535}};
    x->key[0] = example_key();
    x->key[0].op = x->op;
    x->key[0].n_op = 2;
    x->key[1] = example_key();
    x->key[1].cls = (uint8_t)(OC_KC_COUNT + OC_KG_COMPUTE);
    x->key[1].dtype = OC_CLASS_NONE;
    x->key[1].parent = -1;
    x->key[1].kind = OC_CAL_PARENT;
    x->cal = (struct oc_calibration){.device = "a<b>&\"c\"",
                                     .runtime = "onnxruntime",
                                     .runtime_version = "1.30",
                                     .tool_version = "",
                                     .created = "",
                                     .threads = 2,
                                     .checksum = 0xfedcba9876543210,
                                     .n_sample = 11,
                                     .n_model = 3,
                                     .n_rejected = 4,
                                     .key = x->key,
                                     .n_key = 2,
                                     .signature = x->signature,
                                     .n_signature = 2,
                                     .again = errors(),
                                     .dram_bytes_per_s = 1e11,
                                     .llc_bytes = 3e7,
                                     .t_fix_s = 1e-5,
                                     .gap_s = -1e-7,
                                     .tau = 0.1,
                                     .rho = 0.8,
                                     .z80 = 1.28,
                                     .z95 = 1.96};
}

static char *text_of(const struct oc_calibration *c, size_t *n)
{
    FILE *f = tmpfile();
    assert_non_null(f);
    oc_calibration_write(c, f);
    *n = (size_t)ftell(f);
    char *out = calloc(*n + 1, 1);
    assert_non_null(out);
    rewind(f);
    assert_int_equal(fread(out, 1, *n, f), *n);
    fclose(f);
    return out;
}

static struct oc_calibration *read_back(const char *text, size_t n)
{
    struct oc_calibration *c;
    struct oc_err err = {0};
    if (oc_cal_read_mem("cal.xml", text, n, &c, &err))
        fail_msg("%s", err.msg);
    return c;
}

static void assert_bits(double a, double b)
{
    assert_memory_equal(&a, &b, sizeof(a));
}

/* Every number of the curves and the kernels reads back exactly. */
static void written_calibration_reads_back_exactly(void **state)
{
    (void)state;
    struct example x;
    size_t n;
    fill(&x);
    char *text = text_of(&x.cal, &n);
    struct oc_calibration *c = read_back(text, n);
    assert_string_equal(c->device, x.cal.device);
    assert_string_equal(c->runtime_version, "1.30");
    assert_string_equal(c->created, "");
    assert_int_equal(c->threads, 2);
    assert_true(c->checksum == x.cal.checksum);
    assert_int_equal(c->n_key, 2);
    assert_bits(c->key[0].curve.ec, 0.1 + 0.2);
    assert_bits(c->key[0].curve.t0_s, 1.0 / 3e6);
    assert_bits(c->key[0].curve.b_half_bytes, 5e-324);
    assert_true(isinf(c->key[0].curve.p));
    assert_true(isnan(c->key[0].lomo_error));
    assert_true(c->key[0].ec_known && !c->key[0].em_known);
    assert_int_equal(c->key[0].parent, 1);
    assert_int_equal(c->key[1].parent, -1);
    assert_int_equal(c->key[1].cls, OC_KC_COUNT + OC_KG_COMPUTE);
    assert_int_equal(c->key[1].kind, OC_CAL_PARENT);
    assert_int_equal(c->key[0].n_op, 2);
    assert_int_equal(c->key[0].op[1], 65535);
    assert_int_equal(c->key[1].n_op, 0);
    assert_memory_equal(&c->key[0].errors, &x.key[0].errors, offsetof(struct oc_cal_errors, n));
    assert_int_equal(c->key[0].errors.n, 9);
    assert_true(c->signature[1].signature == UINT64_MAX);
    assert_bits(c->gap_s, -1e-7);
    size_t n_again;
    char *again = text_of(c, &n_again);
    assert_int_equal(n, n_again);
    assert_memory_equal(text, again, n);
    free(again);
    free(text);
    oc_calibration_free(c);
}

/* Replaces the first `from` by `to`. */
static char *edited(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    if (!at)
        fail_msg("there is no %s", from);
    size_t n = strlen(text) + strlen(to) + 1;
    char *out = malloc(n);
    assert_non_null(out);
    snprintf(out, n, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    return out;
}

static void mistakes_name_the_line(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *says;
    } wrong[] = {
        {"version=\"5\"", "version=\"7\"", "version '7' is not supported"},
        {" ec=\"0.30000000000000004\"", "", "missing ec"},
        {" ec=\"0.30000000000000004\"", " ec=\"nan\"", "ec 'nan' is not a number"},
        {" ec=\"0.30000000000000004\"", " ec=\"-1\"", "ec '-1' is not a number"},
        {"align=\"16\"", "align=\"0\"", "align is 1"},
        {"class=\"conv_1x1\"", "class=\"group:noise\"", "class 'group:noise' is not a group of classes"},
        {"dtype=\"", "dtype=\"x", "is not a class of arithmetic"},
        {"ec-known=\"yes\"", "ec-known=\"1\"", "ec-known '1' is not yes or no"},
        {"kind=\"curve\"", "kind=\"line\"", "kind 'line' is not one of curve, parent, prior"},
        {"parent=\"1\"", "parent=\"9\"", "its parents form a cycle"},
        {"parent=\"1\"", "parent=\"0\"", "its parents form a cycle"},
        {"class=\"conv_1x1\"", "class=\"conv_7x7\"", "class 'conv_7x7' is not a class of kernels"},
        {"d80=\"0.3 0.2 0.1\"", "d80=\"0.3 0.2\"", "is not 3 numbers"},
        {"id=\"0000000000000001\"", "id=\"ffffffffffffffff\"", "must be sorted by id"},
        {"id=\"0000000000000001\"", "id=\"1\"", "sixteen hexadecimal digits"},
        {"<again ",
         "<run dram=\"0\" llc=\"0\" fix=\"0\" gap=\"0\" tau=\"0\" rho=\"0\" z80=\"0\" z95=\"0\"/><again ",
         "is given twice"},
    };
    struct example x;
    size_t n;
    fill(&x);
    char *text = text_of(&x.cal, &n);
    for (size_t i = 0; i < OC_COUNT(wrong); i++) {
        struct oc_calibration *c;
        struct oc_err err = {0};
        char *bad = edited(text, wrong[i].from, wrong[i].to);
        assert_int_equal(oc_cal_read_mem("cal.xml", bad, strlen(bad), &c, &err), -1);
        assert_null(c);
        if (!strstr(err.msg, wrong[i].says))
            fail_msg("%s: %s", wrong[i].says, err.msg);
        assert_true(err.line > 0);
        free(bad);
    }
    free(text);
}

static void expect_read_error(char *text, const char *says)
{
    struct oc_calibration *c;
    struct oc_err err = {0};
    assert_int_equal(oc_cal_read_mem("cal.xml", text, strlen(text), &c, &err), -1);
    assert_null(c);
    if (!strstr(err.msg, says))
        fail_msg("%s: %s", says, err.msg);
    free(text);
}

/* Replaces two parts of the text, such as the beginning and the end of a comment. */
static void expect_error_without(const struct example *x, const char *from, const char *end, const char *says)
{
    char open[40], close[40];
    size_t n;
    snprintf(open, sizeof(open), "<!-- %s", from);
    snprintf(close, sizeof(close), "--> %s", end);
    char *text = text_of(&x->cal, &n), *one = edited(text, from, open);
    expect_read_error(edited(one, end, close), says);
    free(one);
    free(text);
}

static void missing_and_duplicate_elements_are_rejected(void **state)
{
    (void)state;
    struct example x;
    size_t n;
    fill(&x);
    expect_error_without(&x, "<curve", "<errors", "a curve and its errors are missing");
    expect_error_without(&x, "<again", "<key", "'run' or 'again' is missing");
    x.key[1].cls = x.key[0].cls;
    x.key[1].dtype = x.key[0].dtype;
    expect_read_error(text_of(&x.cal, &n), "is given twice");
}

/* Inserts `n` times `part` before `from`. */
static void expect_error_with_many(const char *from, const char *before, const char *part, size_t n,
                                   const char *after, const char *says)
{
    struct example x;
    size_t bytes;
    fill(&x);
    char *text = text_of(&x.cal, &bytes), *many = t_many(before, part, n, after);
    expect_read_error(edited(text, from, many), says);
    free(many);
    free(text);
}

static void rejects_files_beyond_the_size_limits(void **state)
{
    (void)state;
    expect_error_with_many("<kernel", "", "<kernel id=\"000000000#\" t=\"1\" sd=\"0\" n=\"1\"/>",
                           OC_CAL_MAX_SIGNATURES, "<kernel", "more than 1000000 kernels");
}

/* A file of another program's XML, an empty file, half of a file. */
static void rejects_other_files(void **state)
{
    (void)state;
    struct example x;
    size_t n;
    fill(&x);
    char *text = text_of(&x.cal, &n);
    struct oc_calibration *c;
    struct oc_err err = {0};
    assert_int_equal(oc_cal_read_mem("cal.xml", "", 0, &c, &err), -1);
    assert_int_equal(oc_cal_read_mem("cal.xml", "<hwdb version=\"1\"/>", 19, &c, &err), -1);
    for (size_t k = 1; k < n - 1; k += 37) {
        assert_int_equal(oc_cal_read_mem("cal.xml", text, k, &c, &err), -1);
        assert_null(c);
    }
    free(text);
}

static void calibration_texts_are_valid_utf8_lines(void **state)
{
    (void)state;
    assert_true(oc_cal_text_ok("onnxruntime 1.30 \xc3\xa9"));
    assert_false(oc_cal_text_ok("a\nb"));
    assert_false(oc_cal_text_ok("\xc3"));
    assert_false(oc_cal_text_ok("\xa9"));
    char longer[OC_CAL_MAX_TEXT + 2];
    memset(longer, 'x', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    assert_false(oc_cal_text_ok(longer));
    longer[OC_CAL_MAX_TEXT] = '\0';
    assert_true(oc_cal_text_ok(longer));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(written_calibration_reads_back_exactly),
        cmocka_unit_test(mistakes_name_the_line),
        cmocka_unit_test(missing_and_duplicate_elements_are_rejected),
        cmocka_unit_test(rejects_files_beyond_the_size_limits),
        cmocka_unit_test(rejects_other_files),
        cmocka_unit_test(calibration_texts_are_valid_utf8_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
