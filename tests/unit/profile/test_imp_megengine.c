#include "profile/formats/native_reports.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/mge_case.h"

extern const struct oc_importer oc_importer_megengine;

static const char dump[] =
    "{\"profiler\":{"
    "\"opr_footprint\":{\"7\":{\"memory\":64,\"computation\":0,\"in_shapes\":[[2,3],[4]],\"out_shapes\":[[]],"
    "\"in_layouts\":[[1,2],null]},\"8\":{\"computation\":\"inf\"}},"
    "\"device\":{\"7\":{\"gpu0:0\":{\"start\":1,\"kern\":1.25,\"end\":1.5},\"gpu1:0\":{\"start\":2,\"kern\":"
    "2.5,\"end\":2.25}},"
    "\"99\":{\"x\":{\"start\":0,\"kern\":0,\"end\":9}}},"
    "\"host\":{\"7\":{\"t\":{\"start\":0,\"kern\":-1,\"end\":1}},\"8\":{\"t\":{\"start\":0.5,\"kern\":0.75,"
    "\"end\":\"nan\"}}}},"
    "\"graph_exec\":{\"operator\":{"
    "\"8\":{\"id\":\"8\",\"name\":\"b\\/c\",\"type\":\"Elemwise\",\"input\":[\"1\",\"2\"]},"
    "\"7\":{\"id\":\"7\",\"name\":\"a\",\"type\":\"Copy\",\"input\":[\"2\"],\"waiting_spec\":null},"
    "\"6\":{\"id\":\"6\",\"name\":\"w\",\"type\":\"SharedDeviceTensor\",\"input\":[]}},"
    "\"var\":{\"1\":{\"mem_plan\":null},\"2\":{\"mem_plan\":{\"layout\":{\"shape\":[1],\"dtype\":\"Float16\"}"
    "}}}}}";

static struct oc_profile p;
static struct oc_err err;

static const struct oc_mge *read_text(const char *text, size_t n)
{
    err = (struct oc_err){0};
    assert_int_equal(mge_read(text, n, &p, &err), 0);
    return p.native;
}

/* Whatever the order of the parts is, operators keep the order of the file. */
static void reads_operators(void **state)
{
    (void)state;
    const struct oc_mge *m = read_text(dump, sizeof(dump) - 1);
    assert_int_equal(m->n, 3);
    assert_true(m->has_device);
    assert_string_equal(m->opr[0].name, "b/c");
    assert_string_equal(m->opr[1].id, "7");
    assert_int_equal(m->opr[0].n_in_dtype, 2);
    assert_null(m->opr[0].in_dtype[0]);
    assert_string_equal(m->opr[0].in_dtype[1], "Float16");
    assert_true(isnan(m->opr[1].computation)); /* 0 means unknown */
    assert_true(m->opr[1].memory == 64 && isinf(m->opr[0].computation));
    assert_int_equal(m->opr[1].in.n, 2);
    assert_int_equal(m->opr[1].in.item[0].dim[1], 3);
    assert_int_equal(m->opr[1].in.item[0].stride[1], 2);
    assert_int_equal(m->opr[1].in.item[1].n_stride, 0);
    assert_true(m->opr[1].out.n == 1 && m->opr[1].out.item[0].rank == 0);
    assert_int_equal(m->opr[0].in.state, OC_MGE_ABSENT);
    mge_free(&p);
}

/* The longest of several computing nodes, for each end separately. */
static void longest_entry_is_used(void **state)
{
    (void)state;
    const struct oc_mge *m = read_text(dump, sizeof(dump) - 1);
    const struct oc_mge_opr *o = &m->opr[1];
    assert_true(o->time[OC_MGE_DEVICE][OC_MGE_END].s == 0.5);
    assert_true(o->time[OC_MGE_DEVICE][OC_MGE_KERN].s == 0.5);
    assert_false(o->time[OC_MGE_DEVICE][OC_MGE_END].integer);
    assert_true(o->time[OC_MGE_HOST][OC_MGE_END].integer && o->time[OC_MGE_HOST][OC_MGE_KERN].s == -1);
    assert_true(m->opr[0].time[OC_MGE_HOST][OC_MGE_END].known &&
                isnan(m->opr[0].time[OC_MGE_HOST][OC_MGE_END].s));
    assert_false(m->opr[0].time[OC_MGE_DEVICE][OC_MGE_END].known);
    mge_free(&p);
}

static void fills_the_common_records(void **state)
{
    (void)state;
    read_text(dump, sizeof(dump) - 1);
    assert_int_equal(p.n_rec, 3); /* the weight did not run; 99 is not an operator of the graph */
    assert_string_equal(p.rec[2].bucket, "times of no operator");
    assert_true(p.rec[2].total_ns == 9e9 && p.imported_ns == 9e9 + 5e8); /* nan is not a time */
    const struct oc_prof_rec *r = &p.rec[1];
    assert_string_equal(r->name, "a");
    assert_string_equal(r->op_type, "Copy");
    assert_int_equal(r->index, 7);
    assert_true(r->time_ns == 5e8 && r->kernel_ns == 5e8 && r->wait_ns == 5e8 && r->start_ns == 1e9);
    assert_true(isnan(r->flop) && r->bytes == 64);
    assert_int_equal(r->n_in, 2);
    assert_int_equal(r->in[0].dtype, OC_DT_FLOAT16);
    assert_int_equal(r->in[0].shape.dim[0].v, 2);
    assert_true(isnan(p.rec[0].kernel_ns)); /* host time only */
    assert_string_equal(p.time_kind, "device time");
    assert_true(p.runs_total == 1 && p.runs_used == 1 && p.diags.n == 0);
    mge_free(&p);
}

/* Truncated anywhere, a dump gives its complete part, or an error that names the missing part. */
static void truncated_dump_gives_its_complete_part_or_an_error(void **state)
{
    (void)state;
    size_t usable = 0;
    for (size_t n = 0; n < sizeof(dump) - 1; n++) {
        char *copy = malloc(n + 1);
        memcpy(copy, dump, n);
        err = (struct oc_err){0};
        if (mge_read(copy, n, &p, &err) == 0) {
            usable++;
            assert_true(p.truncated && p.diags.n > 0);
        } else {
            assert_int_equal(err.code, OC_EFORMAT);
            assert_true(strlen(err.msg) > 0);
        }
        mge_free(&p);
        free(copy);
    }
    assert_true(usable > 100);
}

static void missing_members_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"{}", "missing \"graph_exec\""},
        {"{\"graph_exec\":{}}", "missing \"profiler\""},
        {"[]", "missing \"graph_exec\""},
        {"{\"graph_exec\":[],\"profiler\":7}", "missing \"graph_exec\""},
    };
    for (size_t i = 0; i < OC_COUNT(cases); i++) {
        err = (struct oc_err){0};
        assert_int_equal(mge_read(cases[i].text, strlen(cases[i].text), &p, &err), -1);
        assert_string_equal(err.msg, cases[i].message);
        mge_free(&p);
    }
}

static void missing_device_times_are_reported(void **state)
{
    (void)state;
    static const char empty[] = "{\"graph_exec\":{},\"profiler\":{\"device\":{}}}";
    static const char absent[] = "{\"graph_exec\":{},\"profiler\":{}}";
    assert_true(read_text(empty, sizeof(empty) - 1)->has_device);
    assert_int_equal(p.diags.n, 1);
    assert_string_equal(p.diags.item[0].code, "W-host-times-only");
    mge_free(&p);
    assert_false(read_text(absent, sizeof(absent) - 1)->has_device);
    assert_non_null(strstr(p.diags.item[0].text, "host table is shown"));
    mge_free(&p);
}

static int score(const char *text)
{
    struct oc_bid bid = {0};
    oc_importer_megengine.probe(&(struct oc_peek){.path = "x.json", .data = text, .n = strlen(text)}, &bid);
    return bid.score;
}

static void probes_by_content(void **state)
{
    (void)state;
    assert_int_equal(score(dump), 100);
    assert_int_equal(score("{\"graph_exec\": {\"operator\": {\"1\": {\"node_type\": \"operator\""), 90);
    assert_int_equal(score("{\"profiler\": {\"opr_footprint\": {"), 90);
    assert_int_equal(score("[{\"cat\" : \"Session\",\"name\":\"graph_exec profiler\"}]"), 0);
    assert_int_equal(score(""), 0);
    assert_int_equal(score("{\"traceEvents\": []}"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_operators),
        cmocka_unit_test(longest_entry_is_used),
        cmocka_unit_test(fills_the_common_records),
        cmocka_unit_test(truncated_dump_gives_its_complete_part_or_an_error),
        cmocka_unit_test(missing_members_are_named),
        cmocka_unit_test(missing_device_times_are_reported),
        cmocka_unit_test(probes_by_content),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
