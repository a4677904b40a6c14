/* Inheritance between devices, and values set by the user. */
#include "hw/hwdb.h"
#include "onnxcost.h"
#include "onnxcost/hardware.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HEAD           "<hwdb version=\"1\"><source id=\"ds\" title=\"Data sheet\"/>\n"
#define V(value, unit) "value=\"" value "\" unit=\"" unit "\" basis=\"vendor\" source=\"ds\""

/* 10 cores x 100 FLOP x 1 GHz = 1 TFLOP/s; the tensor units reach four times that in f16 */
static const char parent[] =
    "<device id=\"big\" name=\"Big\" vendor=\"V\" kind=\"gpu\" sku=\"40 GB\"><alias name=\"large\"/>"
    "<count of=\"core\" value=\"10\" basis=\"vendor\" source=\"ds\"/>"
    "<clock kind=\"boost\" " V("1", "GHz") "/><power of=\"TDP\" " V(
        "300",
        "W") "/>"
             "<unit kind=\"vector\" name=\"c\"><peak class=\"f32\" dense=\"yes\" clock=\"boost\" " V(
                 "1",
                 "TFLOP/s") "/>"
                            "<fallback class=\"f16\" to=\"f32\" note=\"n\"/></unit>"
                            "<unit kind=\"matrix\" name=\"t\"><peak class=\"f16\" accumulate=\"f32\" "
                            "dense=\"yes\" clock=\"boost\" " V(
                                "4",
                                "TFLOP/s") "/></unit>"
                                           "<memory name=\"DRAM\" type=\"X\"><size " V(
                                               "40",
                                               "GB") "/><bandwidth " V("100",
                                                                       "GB/s") "/></memory>"
                                                                               "<overhead runtime=\"any\" " V(
                                                                                   "5", "us") "/></device>\n";

struct files {
    struct oc_arena arena;
    struct oc_device_list list;
    struct oc_err err;
};

static int read_text(struct files *f, const char *text)
{
    return oc_hw_read_mem("x.xml", text, strlen(text), &f->arena, &f->list, &f->err);
}

static const struct oc_device *read_second(struct files *f, const char *heir, bool heir_first)
{
    char text[8192];
    snprintf(text, sizeof(text), "%s%s%s</hwdb>", HEAD, heir_first ? heir : parent,
             heir_first ? parent : heir);
    if (read_text(f, text))
        fail_msg("%s", f->err.msg);
    assert_int_equal(f->list.n, 2);
    return f->list.item[heir_first ? 0 : 1];
}

static void close_files(struct files *f)
{
    free(f->list.item);
    oc_arena_free(&f->arena);
}

static const struct oc_hw_figure *find(const struct oc_device *d, const char *group, const char *what)
{
    for (size_t i = 0; i < d->n_figure; i++)
        if (!strcmp(d->figure[i].group, group) && !strcmp(d->figure[i].what, what))
            return &d->figure[i];
    return NULL;
}

static const char heir[] =
    "<device id=\"big-80\" name=\"Big 80\" base=\"BIG\" sku=\"80 GB\">"
    "<unit kind=\"matrix\" name=\"t\"><peak class=\"i8\" accumulate=\"i32\" dense=\"yes\" clock=\"boost\" " V(
        "8", "TOP/s") "/></unit>"
                      "<memory name=\"L2\"><size " V("40", "MB") "/></memory>"
                                                                 "<memory name=\"DRAM\"><size " V(
                                                                     "80", "GB") "/></memory></device>";

/* Units and memories are replaced as a whole, other values one by one; names stay with their device. */
static void derived_device_inherits_what_it_does_not_replace(void **state)
{
    (void)state;
    for (int first = 0; first < 2; first++) {
        struct files f = {0};
        const struct oc_device *d = read_second(&f, heir, first);
        assert_string_equal(d->info->vendor, "V");
        assert_string_equal(d->info->kind, "gpu");
        assert_string_equal(d->info->sku, "80 GB");
        assert_string_equal(d->info->base, "BIG");
        assert_int_equal(d->info->n_alias, 0);
        assert_true(d->peak[OC_HW_VECTOR][OC_CLASS_F32]->value == 1e12);
        assert_string_equal(d->peak[OC_HW_VECTOR][OC_CLASS_F32]->base, "big");
        assert_null(d->peak[OC_HW_MATRIX][OC_CLASS_F16]);
        assert_true(d->peak[OC_HW_MATRIX][OC_CLASS_I8]->value == 8e12);
        assert_null(d->peak[OC_HW_MATRIX][OC_CLASS_I8]->base);
        assert_true(d->f16_fallback);
        assert_int_equal(d->n_level, 2);
        assert_string_equal(d->level[0].name, "L2");
        assert_true(oc_device_dram(d)->size->value == 80e9);
        assert_null(oc_device_dram(d)->bandwidth);
        assert_null(oc_device_dram(d)->type);
        assert_true(d->power->value == 300);
        assert_true(d->overhead->value == 5 * 1e-6);
        /* the base is unchanged */
        const struct oc_device *base = f.list.item[!first ? 0 : 1];
        assert_true(oc_device_dram(base)->size->value == 40e9);
        assert_int_equal(base->n_level, 1);
        close_files(&f);
    }
}

static void expect_build_error(const char *body, const char *message)
{
    struct files f = {0};
    size_t cap = strlen(body) + sizeof(parent) + sizeof(HEAD) + 16;
    char *text = malloc(cap);
    assert_non_null(text);
    snprintf(text, cap, "%s%s%s</hwdb>", HEAD, parent, body);
    if (read_text(&f, text) == 0)
        fail_msg("accepted: %s", body);
    if (!strstr(f.err.msg, message))
        fail_msg("wrong message: %s", f.err.msg);
    assert_int_equal(f.list.n, 0);
    free(text);
    close_files(&f);
}

static void rejects_missing_and_circular_bases(void **state)
{
    (void)state;
    expect_build_error("<device id=\"a\" name=\"a\" base=\"b\"/>\n<device id=\"b\" name=\"b\" base=\"a\"/>",
                       "cannot read 'x.xml': line 3: device 'a': bases form a cycle: a, b, a");
    expect_build_error("<device id=\"a\" name=\"a\" base=\"a\"/>",
                       "line 3: device 'a': bases form a cycle: a, a");
    expect_build_error("<device id=\"a\" name=\"a\" base=\"none\"/>",
                       "line 3: device 'a': base 'none' is not in this file");
    expect_build_error("<device id=\"a\" name=\"a\" kind=\"gpu\"/>", "line 3: device 'a': missing vendor");
    expect_build_error("<device id=\"a\" name=\"a\" base=\"big\"><memory name=\"L2\"><size " V(
                           "50", "GB") "/></memory></device>",
                       "line 3: device 'a': memory 'DRAM' is not larger than the level before it");
}

/* At most eight levels of bases, in either order of the file. */
static void inheritance_depth_is_limited(void **state)
{
    (void)state;
    for (int backwards = 0; backwards < 2; backwards++)
        for (int depth = 8; depth <= 9; depth++) {
            char text[4096] = "", line[128];
            for (int k = 1; k <= depth; k++) {
                int i = backwards ? depth + 1 - k : k;
                snprintf(line, sizeof(line), "<device id=\"d%d\" name=\"d\" base=\"%s%.0d\"/>", i,
                         i == 1 ? "big" : "d", i - 1);
                strcat(text, line);
            }
            if (depth == 9) {
                expect_build_error(text, "more than 8 levels of bases");
                continue;
            }
            struct files f = {0};
            char file[8192];
            snprintf(file, sizeof(file), "%s%s%s</hwdb>", HEAD, parent, text);
            if (read_text(&f, file))
                fail_msg("%s", f.err.msg);
            assert_int_equal(f.list.n, 9);
            for (size_t i = 0; i < f.list.n; i++)
                assert_true(f.list.item[i]->power->value == 300);
            close_files(&f);
        }
}

/* 10000 devices derived from a device with many values would need gigabytes. */
static void inherited_values_are_limited(void **state)
{
    (void)state;
    size_t cap = 1u << 20, used = 0;
    char *text = malloc(cap);
    assert_non_null(text);
    used += (size_t)snprintf(text, cap, "<device id=\"wide\" name=\"w\" base=\"big\">");
    for (int i = 0; i < 200; i++)
        used += (size_t)snprintf(text + used, cap - used,
                                 "<count of=\"c%d\" value=\"1\" basis=\"vendor\" source=\"ds\"/>", i);
    used += (size_t)snprintf(text + used, cap - used, "</device>");
    for (int i = 0; i < 600; i++)
        used += (size_t)snprintf(text + used, cap - used, "<device id=\"h%d\" name=\"h\" base=\"wide\"/>", i);
    assert_true(used < cap);
    expect_build_error(text, "more than 100000 inherited figures in a file");
    free(text);
}

/* ---- values set by the user ---- */

static const struct {
    const char *set, *message;
} wrong_sets[] = {
    {"dram.bandwidth", "expected KEY=VALUE"},
    {"=5", "expected KEY=VALUE"},
    {"bandwidth=5GB/s", "expected UNIT.CLASS"},
    {"dram.=5GB/s", "expected UNIT.CLASS"},
    {"dram.bandwidth=5", "is not a value in MB/s, GB/s or TB/s"},
    {"dram.bandwidth=-5GB/s", "is not a value in"},
    {"dram.bandwidth=1e3GB/s", "is not a value in"},
    {"dram.bandwidth=nanGB/s", "is not a value in"},
    {"dram.speed=5GB/s", "unknown key"},
    {"L3.size=5MB", "unknown key 'L3.size' for --hw-set"},
    {"vector.f17=5TFLOP/s", "unknown number type 'f17' for --hw-set; did you mean 'f16'"},
    {"vector.f32=5TOP/s", "is not a value in GFLOP/s"},
    {"clock.turbo=5GHz", "no turbo clock to scale from"},
    {"overhead=5", "is not a value in ns, us or ms"},
};

static void rejects_invalid_hw_settings(void **state)
{
    (void)state;
    struct files f = {0};
    read_second(&f, heir, false);
    for (size_t i = 0; i < sizeof(wrong_sets) / sizeof(wrong_sets[0]); i++) {
        const struct oc_device *d;
        assert_int_equal(oc_device_change(&f.arena, f.list.item[0], &wrong_sets[i].set, 1, &d, &f.err), -1);
        if (!strstr(f.err.msg, wrong_sets[i].message))
            fail_msg("%s: wrong message: %s", wrong_sets[i].set, f.err.msg);
        assert_int_equal(f.err.code, OC_EARG);
        assert_null(d);
    }
    close_files(&f);
}

static void hw_settings_change_a_copy_of_the_device(void **state)
{
    (void)state;
    struct files f = {0};
    const struct oc_device *base = read_second(&f, heir, false), *d;
    base = f.list.item[0];
    static const char *const set[] = {"dram.bandwidth=50 GB/s", "clock.boost=500MHz", "matrix.i8=9TOP/s",
                                      "vector.f16=3TFLOP/s",    "overhead=2us",       "power.TDP=100W"};
    if (oc_device_change(&f.arena, base, set, 6, &d, &f.err))
        fail_msg("%s", f.err.msg);
    assert_true(oc_device_dram(d)->bandwidth->value == 50e9);
    assert_int_equal(oc_device_dram(d)->bandwidth->basis, OC_BASIS_ASSUMED);
    assert_true(oc_device_dram(d)->size->value == 40e9);
    assert_true(find(d, "clock", "boost")->value == 500e6);
    assert_true(d->peak[OC_HW_VECTOR][OC_CLASS_F32]->value == 0.5e12); /* 1 TFLOP/s at 1 GHz */
    assert_true(d->peak[OC_HW_MATRIX][OC_CLASS_F16]->value == 2e12);
    assert_true(d->peak[OC_HW_MATRIX][OC_CLASS_I8]->value == 9e12);
    assert_true(d->peak[OC_HW_VECTOR][OC_CLASS_F16]->value == 3e12);
    assert_false(d->f16_fallback);
    assert_true(d->overhead->value == 2 * 1e-6);
    assert_true(d->power->value == 100);
    assert_int_equal(d->info->n_set, 6);
    assert_string_equal(d->info->set[0].key, "dram.bandwidth");
    assert_string_equal(d->info->set[0].before, "100 GB/s");
    assert_null(d->info->set[2].before);
    /* the device of the file is unchanged, and a second change builds on the first */
    assert_true(oc_device_dram(base)->bandwidth->value == 100e9);
    assert_int_equal(base->info->n_set, 0);
    static const char *const again[] = {"dram.bandwidth=60GB/s"};
    const struct oc_device *e;
    assert_int_equal(oc_device_change(&f.arena, d, again, 1, &e, &f.err), 0);
    assert_int_equal(e->info->n_set, 7);
    assert_string_equal(e->info->set[6].before, "50 GB/s");
    assert_true(e->overhead->value == 2 * 1e-6);
    close_files(&f);
}

/* "none" removes a figure; what is not there is not a change. */
static void hw_setting_none_removes_a_figure(void **state)
{
    (void)state;
    struct files f = {0};
    const struct oc_device *base = read_second(&f, heir, false), *d;
    base = f.list.item[0];
    static const char *const set[] = {"matrix.f16=none", "matrix.tf32=none", "dram.bandwidth=none"};
    assert_non_null(base->peak[OC_HW_MATRIX][OC_CLASS_F16]);
    if (oc_device_change(&f.arena, base, set, 3, &d, &f.err))
        fail_msg("%s", f.err.msg);
    assert_null(d->peak[OC_HW_MATRIX][OC_CLASS_F16]);
    assert_null(oc_device_dram(d)->bandwidth);
    assert_int_equal(d->info->n_set, 2);
    assert_string_equal(d->info->set[1].key, "dram.bandwidth");
    static const char *const clock[] = {"clock.boost=none"};
    assert_int_equal(oc_device_change(&f.arena, base, clock, 1, &d, &f.err), -1);
    close_files(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derived_device_inherits_what_it_does_not_replace),
        cmocka_unit_test(rejects_missing_and_circular_bases),
        cmocka_unit_test(inheritance_depth_is_limited),
        cmocka_unit_test(inherited_values_are_limited),
        cmocka_unit_test(rejects_invalid_hw_settings),
        cmocka_unit_test(hw_settings_change_a_copy_of_the_device),
        cmocka_unit_test(hw_setting_none_removes_a_figure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
