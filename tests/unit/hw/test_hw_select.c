/* Devices by kind and vendor, from the installed hardware files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "hw/hwdb.h"
#include "onnxcost.h"
#include "onnxcost/hardware.h"

static struct oc_hwdb *open_db(void)
{
    struct oc_hwdb *db;
    struct oc_err err;
    if (oc_hwdb_open(NULL, &db, &err))
        fail_msg("%s", err.msg);
    return db;
}

static size_t count(struct oc_hwdb *db, const char *filter, const struct oc_device *const **list)
{
    size_t n;
    struct oc_err err;
    if (oc_hwdb_select(db, filter, list, &n, &err))
        fail_msg("%s", err.msg);
    return n;
}

static void kinds_partition_the_devices(void **state)
{
    (void)state;
    struct oc_hwdb *db = open_db();
    const struct oc_device *const *list;
    size_t all = count(db, "all", &list), gpu = count(db, "kind=gpu", &list);
    for (size_t i = 0; i < gpu; i++)
        assert_string_equal(list[i]->info->kind, "gpu");
    assert_true(gpu > 30);
    assert_int_equal(gpu + count(db, "kind=cpu", &list) + count(db, "kind=npu", &list), all);
    oc_hwdb_free(db);
}

static void filters_combine_vendor_and_kind(void **state)
{
    (void)state;
    struct oc_hwdb *db = open_db();
    const struct oc_device *const *list;
    size_t both = count(db, "vendor=amd+kind=cpu", &list);
    assert_true(both > 2);
    for (size_t i = 0; i < both; i++) {
        assert_string_equal(list[i]->info->vendor, "AMD");
        assert_string_equal(list[i]->info->kind, "cpu");
    }
    assert_int_equal(count(db, "kind=cpu+vendor=AMD", &list), both);
    assert_true(count(db, "vendor=amd", &list) > both);
    assert_true(count(db, "vendor=raspberry-pi", &list) > 0);
    oc_hwdb_free(db);
}

static void rejects_malformed_filters(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",          "kind=",       "kind", "kind=gpu+", "kind=gpu+x=1",
                                        "+kind=gpu", "all+kind=gpu"};
    struct oc_hwdb *db = open_db();
    const struct oc_device *const *list;
    struct oc_err err;
    size_t n;
    for (size_t i = 0; i < OC_COUNT(wrong); i++) {
        assert_int_equal(oc_hwdb_select(db, wrong[i], &list, &n, &err), -1);
        assert_int_equal(err.code, OC_EARG);
        assert_int_equal(n, 0);
    }
    assert_int_equal(oc_hwdb_select(db, "kind=gpu+vendor=unknown", &list, &n, &err), -1);
    assert_int_equal(err.code, OC_ENOTFOUND);
    assert_string_equal(
        err.msg,
        "unknown vendor 'unknown' of devices; valid: AMD, AWS, Apple, Arm, Cambricon, Google, Groq, Hailo, "
        "Huawei, Intel, NVIDIA, Qualcomm, Raspberry Pi, Rockchip, STMicroelectronics, Tenstorrent");
    /* both exist, but not in one device */
    assert_int_equal(oc_hwdb_select(db, "kind=npu+vendor=raspberry-pi", &list, &n, &err), -1);
    assert_int_equal(err.code, OC_ENOTFOUND);
    assert_string_equal(err.msg, "no device in the hardware files matches 'kind=npu+vendor=raspberry-pi'; "
                                 "onnxcost hw list shows their kinds and vendors");
    assert_true(oc_hwdb_is_filter("all") && oc_hwdb_is_filter("kind=gpu") && oc_hwdb_is_filter("vendor=x"));
    assert_false(oc_hwdb_is_filter("a100") || oc_hwdb_is_filter("allx") ||
                 oc_hwdb_is_filter("my/kind=gpu.xml"));
    oc_hwdb_free(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_partition_the_devices),
        cmocka_unit_test(filters_combine_vendor_and_kind),
        cmocka_unit_test(rejects_malformed_filters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
