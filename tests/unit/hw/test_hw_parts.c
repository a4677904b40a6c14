/* Values of a part of a device: of some cores, of one instruction set, of one kind of traffic. */
#include "hw/hwdb.h"
#include "onnxcost/hardware.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define V(value, unit) " value=\"" value "\" unit=\"" unit "\" basis=\"measured\" source=\"m\""
#define PEAK(more)     "<peak class=\"f32\" dense=\"yes\" clock=\"sustained\" " more "/>"

static int read_with(const char *peaks, const char *rates, const char *times, struct oc_arena *a,
                     struct oc_device_list *list, struct oc_err *err)
{
    char text[4096];
    snprintf(text, sizeof(text),
             "<hwdb version=\"1\"><source id=\"m\" title=\"M\"/>"
             "<device id=\"d\" name=\"D\" vendor=\"V\" kind=\"cpu\" sku=\"s\">"
             "<unit kind=\"vector\" name=\"u\">%s</unit><memory name=\"DRAM\">%s</memory>%s</device></hwdb>",
             peaks, rates, times);
    return oc_hw_read_mem("x.xml", text, strlen(text), a, list, err);
}

/* The first value of the whole device is used, whatever partial values precede it. */
static void partial_values_are_listed_and_not_used_as_peaks(void **state)
{
    struct oc_arena a = {0};
    struct oc_device_list list = {0};
    struct oc_err err;
    (void)state;
    if (read_with(
            PEAK("cores=\"1\" isa=\"wide\"" V("60", "GFLOP/s")) PEAK("isa=\"wide\"" V("100", "GFLOP/s"))
                PEAK("isa=\"narrow\"" V("50", "GFLOP/s")),
            "<bandwidth mode=\"read\" cores=\"1\"" V("5", "GB/s") "/><bandwidth mode=\"read\"" V(
                "9", "GB/s") "/><bandwidth" V("10", "GB/s") "/><bandwidth mode=\"copy-nt\"" V("10",
                                                                                              "GB/s") "/>",
            "<latency of=\"parallel-region\"" V("300", "ns") "/>", &a, &list, &err))
        fail_msg("%s", err.msg);
    const struct oc_device *d = list.item[0];
    assert_true(d->peak[OC_HW_VECTOR][OC_CLASS_F32]->value == 100e9);
    assert_string_equal(d->peak[OC_HW_VECTOR][OC_CLASS_F32]->isa, "wide");
    assert_true(oc_device_dram(d)->bandwidth->value == 10e9);
    assert_null(d->overhead); /* a latency is not a bandwidth */
    assert_int_equal(d->n_figure, 8);
    assert_string_equal(d->figure[0].cores, "1");
    assert_string_equal(d->figure[3].mode, "read");
    assert_string_equal(d->figure[7].group, "latency");
    free(list.item);
    oc_arena_free(&a);
}

static void rejects_invalid_partial_values(void **state)
{
    static const struct {
        const char *peaks, *rates, *says;
    } cases[] = {
        {PEAK("isa=\"a\"" V("1", "GFLOP/s")) PEAK("isa=\"a\"" V("2", "GFLOP/s")), "", "given twice"},
        {PEAK("cores=\"1\"" V("1", "GFLOP/s")) PEAK("cores=\"1\"" V("2", "GFLOP/s")), "", "given twice"},
        {PEAK("cores=\"0\"" V("1", "GFLOP/s")), "", "cores '0': expected a whole number above 0"},
        {PEAK("cores=\"two\"" V("1", "GFLOP/s")), "", "cores 'two'"},
        {PEAK("cores=\"\"" V("1", "GFLOP/s")), "", "is empty"},
        {PEAK("cores=\"1\"" V("1", "GFLOP/s")), "<bandwidth" V("9", "GB/s") "/>", "needs a dense peak"},
        {PEAK(V("1", "GFLOP/s")),
         "<bandwidth mode=\"read\"" V("9", "GB/s") "/><bandwidth mode=\"read\"" V("8", "GB/s") "/>",
         "given twice"},
        {PEAK(V("1", "GFLOP/s")), "<bandwidth mode=\"read\"" V("9", "GB/s") "/>",
         "needs a size or a bandwidth"},
    };
    (void)state;
    for (size_t i = 0; i < OC_COUNT(cases); i++) {
        struct oc_arena a = {0};
        struct oc_device_list list = {0};
        struct oc_err err;
        assert_int_equal(read_with(cases[i].peaks, cases[i].rates, "", &a, &list, &err), -1);
        if (!strstr(err.msg, cases[i].says))
            fail_msg("case %zu: %s", i, err.msg);
        free(list.item);
        oc_arena_free(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(partial_values_are_listed_and_not_used_as_peaks),
        cmocka_unit_test(rejects_invalid_partial_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
