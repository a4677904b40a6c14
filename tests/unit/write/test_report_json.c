/* Consistency of the JSON report: sums, references in both directions, times that add up to the imported
 * time, and the CSV with the same numbers. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/ck.h"
#include "support/build.h"
#include "support/json_paths.h"
#include "support/profiles.h"
#include "onnxcost.h"
#include "onnxcost/profile.h"
#include "onnxcost/report.h"

struct made {
    uint8_t *bytes;
    struct oc_model *model;
    struct oc_analysis *analysis;
    struct oc_profile *profile;
    struct oc_join *join;
    const struct oc_device *device;
};

static void free_made(struct made *x)
{
    oc_join_free(x->join);
    oc_profile_close(x->profile);
    oc_analysis_free(x->analysis);
    oc_model_free(x->model);
    free(x->bytes);
}

static char *write_report(const struct made *x, const struct oc_report_opts *o)
{
    char *text = NULL;
    size_t n = 0;
    struct oc_err err;
    struct oc_report_in in = {.model = x->model,
                              .analysis = x->analysis,
                              .profile = x->profile,
                              .join = x->join,
                              .device = x->device};
    FILE *f = open_memstream(&text, &n);
    if (oc_report_write(&in, o, f, &err))
        fail_msg("%s", err.msg);
    fclose(f);
    return text;
}

static struct t_json json_of(const struct made *x, struct oc_report_opts o)
{
    o.format = "json";
    char *text = write_report(x, &o);
    struct t_json j = t_json_read(text);
    free(text);
    return j;
}

static void analyze(struct made *x, struct oc_builder *b)
{
    size_t n;
    struct oc_err err;
    x->bytes = oc_b_pack(b, &n);
    oc_b_free(b);
    struct oc_analyze_opts o = {0};
    if (oc_model_load_mem(x->bytes, n, NULL, &x->model, &err) || oc_analyze(x->model, &o, &x->analysis, &err))
        fail_msg("%s", err.msg);
}

/* x[b,8] W[8,4] -> Relu, Mystery; also integer operations. */
static void load_model(struct made *x, const char *batch)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_opset(b, "my.domain", 1);
    char type[64];
    snprintf(type, sizeof(type), "float[%s,8]", batch);
    oc_b_input(b, "x", type);
    oc_b_input(b, "i", "int32[10]");
    oc_b_init(b, "w", "float[8,4]");
    oc_b_node(b, "MatMul", "fc", "x,w", "y", "");
    oc_b_node(b, "Relu", "act", "y", "z", "");
    oc_b_node(b, "Add", "", "i,i", "k", "");
    oc_b_node(b, "my.domain::Mystery", "m", "z", "u", "");
    oc_b_output(b, "k", "int32[10]");
    oc_b_output(b, "u", "float");
    analyze(x, b);
}

#define EVENT(cat, name, ts, dur, args)                                                                      \
    "{\"cat\" : \"" cat "\",\"pid\" :1,\"tid\" :1,\"dur\" :" #dur ",\"ts\" :" #ts                            \
    ",\"ph\" : \"X\",\"name\" :\"" name "\",\"args\" : {" args "}},\n"
#define NODE(name, type, ts, dur, types)                                                                     \
    EVENT("Node", name "_kernel_time", ts, dur,                                                              \
          "\"op_name\" : \"" type "\",\"provider\" : \"CPUExecutionProvider\",\"node_index\" : \"0\"" types)
#define TYPES(in, out) ",\"input_type_shape\" : [" in "],\"output_type_shape\" : [" out "]"
/* Two runs of 100 us; 85 of them in operators, 15 of the framework. */
static const char *const cpu_profile = "[\n" EVENT("Session", "session_initialization", 0, 40, "")
    EVENT("Session", "model_run", 100, 100, "") NODE("fc", "MatMul", 101, 50,
                                                     TYPES("{\"float\":[2,8]}", "{\"float\":[2,4]}"))
        NODE("act", "Relu", 152, 20, TYPES("{\"float\":[2,4]}", "{\"float\":[2,4]}"))
            NODE("ReorderOutput", "ReorderOutput", 173, 5, TYPES("{\"float\":[2,4]}", "{\"float\":[2,4]}"))
                NODE("stranger", "Gelu", 179, 10, "") EVENT("Session", "model_run", 300, 100, "")
                    NODE("fc", "MatMul", 301, 50, TYPES("{\"float\":[2,8]}", "{\"float\":[2,4]}"))
                        NODE("act", "Relu", 352, 20, TYPES("{\"float\":[2,4]}", "{\"float\":[2,4]}"))
                            NODE("ReorderOutput", "ReorderOutput", 373, 5,
                                 TYPES("{\"float\":[2,4]}", "{\"float\":[2,4]}"))
                                NODE("stranger", "Gelu", 379, 10, "") "]\n";

static void load_profile(struct made *x, const char *text, enum oc_stat stat)
{
    struct oc_err err;
    struct oc_profile_opts o = {.warmup = OC_WARMUP_NONE, .stat = stat};
    x->profile = t_profile_text(text, &o, &err);
    if (!x->profile)
        fail_msg("%s", err.msg);
}

static void join(struct made *x)
{
    struct oc_err err;
    if (oc_join_make(x->model, x->analysis, x->profile, NULL, &x->join, &err))
        fail_msg("%s", err.msg);
}

/* Times of all rows, and of what is part of no run. */
static double sum_of(const struct t_json *j, const char *list, const char *member)
{
    double ns = 0;
    uint64_t n = t_whole(j, "%s.n", list);
    for (unsigned i = 0; i < n; i++)
        ns += t_number(j, "%s[%u].%s", list, i, member);
    return ns;
}

static void totals_are_sums_over_nodes(void **state)
{
    (void)state;
    static const char *const sums[] = {"macs",         "flops", "ops", "bytes_read_act", "bytes_read_weight",
                                       "bytes_written"};
    struct made x = {0};
    load_model(&x, "2");
    struct t_json j = json_of(&x, (struct oc_report_opts){0});
    for (size_t k = 0; k < OC_COUNT(sums); k++) {
        uint64_t sum = 0;
        for (unsigned i = 0; i < t_whole(&j, "nodes.n"); i++)
            sum += t_whole(&j, "nodes[%u].%s", i, sums[k]);
        assert_int_equal(sum, t_whole(&j, "totals.%s", sums[k]));
    }
    assert_int_equal(t_whole(&j, "totals.macs"), 2 * 8 * 4);
    assert_int_equal(t_whole(&j, "totals.flops"), 2 * 2 * 8 * 4 + 2 * 4);
    assert_int_equal(t_whole(&j, "totals.ops"), 10);
    assert_int_equal(t_whole(&j, "totals.not_exact.nodes"), 1);
    assert_int_equal(t_whole(&j, "totals.not_exact.ops"), 0);
    assert_true(t_is_null(&j, "nodes[3].flops") && t_is_null(&j, "nodes[3].hist") && t_is_null(&j, "join"));
    t_json_free(&j);
    free_made(&x);
}

/* An operator without a rule and an addition of 4 elements: at least 4 FLOPs, and a bound of 0 MACs says
 * nothing. Alone: nothing is known. */
static void sums_that_are_only_bounded_by_0_are_null(void **state)
{
    (void)state;
    for (int alone = 0; alone < 2; alone++) {
        struct made x = {0};
        struct oc_builder *b = oc_b_new(17);
        oc_b_opset(b, "test.foreign", 1);
        oc_b_input(b, "x", "float[4]");
        oc_b_node(b, "test.foreign::Whale", "whale", "x", "y", "");
        if (!alone)
            oc_b_node(b, "Add", "add", "x,x", "z", "");
        oc_b_output(b, alone ? "y" : "z", NULL);
        analyze(&x, b);
        struct t_json j = json_of(&x, (struct oc_report_opts){0});
        assert_true(t_is_null(&j, "totals.macs") && t_is_null(&j, "totals.ops"));
        assert_true(t_is_null(&j, "totals.bytes_read_weight"));
        assert_int_equal(t_is_null(&j, "totals.flops"), alone);
        assert_int_equal(t_is_null(&j, "totals.bytes_written"), alone);
        assert_int_equal(t_whole(&j, "totals.at_least.macs"), 0);
        if (!alone)
            assert_int_equal(t_whole(&j, "totals.flops"), 4);
        t_json_free(&j);
        free_made(&x);
    }
}

/* NonZero has one column for each element that is not 0: at most as many as the input has elements. */
static void unknown_sizes_have_a_name_and_their_largest_value(void **state)
{
    (void)state;
    static const struct {
        const char *type;
        uint64_t max;
    } c[] = {{"float[0,3]", 0}, {"float[1,1]", 1}, {"float[2,3]", 6}};
    for (size_t i = 0; i < OC_COUNT(c); i++) {
        struct made x = {0};
        struct oc_builder *b = oc_b_new(17);
        oc_b_input(b, "x", c[i].type);
        oc_b_node(b, "NonZero", "where", "x", "y", "");
        oc_b_output(b, "y", NULL);
        analyze(&x, b);
        struct t_json j = json_of(&x, (struct oc_report_opts){0});
        assert_int_equal(t_whole(&j, "model.outputs[0].shape.n"), 2);
        assert_int_equal(t_whole(&j, "model.outputs[0].shape[0]"), 2);
        assert_string_equal(t_text(&j, "model.outputs[0].shape[1].origin"), "where.1");
        assert_false(t_is_null(&j, "model.outputs[0].shape[1].max"));
        assert_int_equal(t_whole(&j, "model.outputs[0].shape[1].max"), c[i].max);
        t_json_free(&j);
        free_made(&x);
    }
}

/* 2 runs of 100 us and 40 us of loading were imported, whatever the rows are. */
static void time_is_conserved(void **state)
{
    (void)state;
    for (unsigned with_model = 0; with_model < 2; with_model++)
        for (unsigned mean = 0; mean < 2; mean++) {
            struct made x = {0};
            load_profile(&x, cpu_profile, mean ? OC_STAT_MEAN : OC_STAT_SUM);
            if (with_model) {
                load_model(&x, "2");
                join(&x);
            }
            struct t_json j = json_of(&x, (struct oc_report_opts){0});
            double run_ns = mean ? 100e3 : 200e3;
            assert_true(fabs(sum_of(&j, "rows", "time_ns") - run_ns) < 1e-3);
            assert_true(fabs(sum_of(&j, "rows", "share") - 1) < 1e-9);
            assert_true(sum_of(&j, "measurement.excluded", "time_ns") == 40e3);
            assert_true(t_number(&j, "totals.time_ns") == run_ns);
            assert_true(t_number(&j, "measurement.latency_ns") == run_ns);
            assert_true(t_number(&j, "profile[0].time_ns") == run_ns);
            t_json_free(&j);
            free_made(&x);
        }
}

static void nodes_and_rows_refer_to_each_other(void **state)
{
    (void)state;
    struct made x = {0};
    load_model(&x, "2");
    load_profile(&x, cpu_profile, OC_STAT_MEDIAN);
    join(&x);
    static const char *const types[] = {"Relu"};
    const struct oc_report_opts o[] = {{0},
                                       {.has_top = true, .top = 1},
                                       {.order_by = "+time"},
                                       {.type = types, .n_type = 1},
                                       {.aggregate = "sum", .group_by = "type"}};
    for (size_t k = 0; k < OC_COUNT(o); k++) {
        struct t_json j = json_of(&x, o[k]);
        unsigned linked = 0;
        for (unsigned i = 0; i < t_whole(&j, "nodes.n"); i++) {
            if (t_is_null(&j, "nodes[%u].row", i))
                continue;
            uint64_t row = t_whole(&j, "nodes[%u].row", i);
            assert_in_range(row, 0, t_whole(&j, "rows.n") - 1);
            assert_int_equal(t_whole(&j, "rows[%u].nodes[0]", (unsigned)row),
                             t_whole(&j, "nodes[%u].index", i));
            assert_true(t_number(&j, "rows[%u].self_time_ns", (unsigned)row) ==
                        t_number(&j, "nodes[%u].time_ns", i));
            linked++;
        }
        assert_int_equal(linked, o[k].has_top || o[k].n_type ? 1 : 2);
        t_json_free(&j);
    }
    free_made(&x);
}

/* An inserted operator computes nothing, which is known; costs of an unmatched one are unknown. */
static void overhead_is_zero_and_unattributed_is_null(void **state)
{
    (void)state;
    struct made x = {0};
    load_model(&x, "2");
    load_profile(&x, cpu_profile, OC_STAT_MEDIAN);
    join(&x);
    struct t_json j = json_of(&x, (struct oc_report_opts){0});
    unsigned seen = 0;
    for (unsigned i = 0; i < t_whole(&j, "rows.n"); i++) {
        const char *name = t_text(&j, "rows[%u].name", i);
        if (!strcmp(name, "ReorderOutput")) {
            assert_string_equal(t_text(&j, "rows[%u].bucket", i), "layout");
            assert_string_equal(t_text(&j, "rows[%u].flops", i), "0");
            assert_int_equal(t_whole(&j, "rows[%u].bytes", i), 2 * 2 * 4 * 4);
            seen++;
        } else if (!strcmp(name, "stranger")) {
            assert_string_equal(t_text(&j, "rows[%u].bucket", i), "unmatched");
            assert_true(t_is_null(&j, "rows[%u].flops", i) && t_is_null(&j, "rows[%u].bytes", i));
            seen++;
        }
    }
    assert_int_equal(seen, 2);
    t_json_free(&j);
    free_made(&x);
}

/* Without a model the recorded shapes give the costs: Relu of 2x4 floats. MatMul: 2x4 outputs, 8 products
 * each. */
static void rows_of_a_profile_alone_have_costs(void **state)
{
    (void)state;
    struct made x = {0};
    load_profile(&x, cpu_profile, OC_STAT_MEDIAN);
    struct t_json j = json_of(&x, (struct oc_report_opts){0});
    assert_string_equal(t_text(&j, "rows[0].name"), "fc");
    assert_int_equal(t_whole(&j, "rows[0].macs"), 2 * 4 * 8);
    assert_int_equal(t_whole(&j, "rows[0].flops"), 2 * 2 * 4 * 8);
    assert_string_equal(t_text(&j, "rows[1].name"), "act");
    assert_int_equal(t_whole(&j, "rows[1].flops"), 8);
    assert_int_equal(t_whole(&j, "rows[1].bytes"), 2 * 8 * 4);
    assert_string_equal(t_text(&j, "rows[3].quality"), "unknown");
    assert_true(t_is_null(&j, "model") && t_is_null(&j, "totals.macs"));
    t_json_free(&j);
    free_made(&x);
}

/* MegEngine writes host and device times, and its own operations and bytes. */
static void megengine_reports_both_times(void **state)
{
    (void)state;
    static const char dump[] =
        "{\"graph_exec\":{\"operator\":{\"1\":{\"id\":\"1\",\"name\":\"a\",\"type\":\"Elemwise\",\"input\":[]"
        ","
        "\"output\":[]},\"2\":{\"id\":\"2\",\"name\":\"b\",\"type\":\"Copy\",\"input\":[],\"output\":[]}},"
        "\"var\":{}},"
        "\"profiler\":{\"device\":{\"1\":{\"gpu0\":{\"start\":0,\"kern\":0.25,\"end\":0.5}},"
        "\"2\":{\"gpu0\":{\"start\":0.5,\"kern\":0.5,\"end\":\"nan\"}}},"
        "\"host\":{\"1\":{\"main\":{\"start\":0,\"kern\":-1,\"end\":0.125}}},"
        "\"opr_footprint\":{\"1\":{\"computation\":1000,\"memory\":64,\"in_shapes\":[[2]],\"out_shapes\":[[2]"
        "]}}}}";
    struct made x = {0};
    load_profile(&x, dump, OC_STAT_MEDIAN);
    struct t_json j = json_of(&x, (struct oc_report_opts){0});
    assert_true(t_number(&j, "rows[0].kernel_time_ns") == 0.5e9);
    assert_true(t_number(&j, "rows[0].host_time_ns") == 0.125e9);
    assert_int_equal(t_whole(&j, "rows[0].flops"), 1000);
    assert_int_equal(t_whole(&j, "rows[0].bytes"), 64);
    assert_true(t_number(&j, "profile[0].host_time_ns") == 0.125e9);
    assert_true(t_is_null(&j, "rows[1].time_ns") && t_is_null(&j, "rows[1].flops"));
    t_json_free(&j);
    char *csv = write_report(&x, &(struct oc_report_opts){.format = "csv"});
    assert_non_null(strstr(csv, ",125000000,"));       /* host_time_ns */
    assert_non_null(strstr(csv, "\r\n2,,,1,b,Copy,")); /* an event with an invalid time is still a row */
    free(csv);
    free_made(&x);
}

static void groups_are_listed_with_their_members(void **state)
{
    (void)state;
    struct made x = {0};
    load_model(&x, "2");
    struct t_json j = json_of(
        &x, (struct oc_report_opts){.aggregate = "sum", .group_by = "type", .has_top = true, .top = 1});
    assert_int_equal(t_whole(&j, "nodes.n"), 4);
    assert_int_equal(t_whole(&j, "groups.n"), 1); /* --top applies to groups */
    assert_string_equal(t_text(&j, "groups[0].op_type"), "MatMul");
    assert_int_equal(t_whole(&j, "groups[0].operations"), 2 * 2 * 8 * 4);
    assert_true(t_is_null(&j, "groups[0].time_ns"));
    t_json_free(&j);
    j = json_of(&x, (struct oc_report_opts){.aggregate = "sum"});
    assert_true(t_is_null(&j, "groups[0].op_type"));
    assert_int_equal(t_whole(&j, "groups[0].count"), 4);
    assert_string_equal(t_text(&j, "groups[0].quality"), "lower");
    t_json_free(&j);
    free_made(&x);
}

static struct oc_hwdb *find_a100(struct made *x)
{
    struct oc_hwdb *db;
    struct oc_err err;
    if (oc_hwdb_open("hwdb", &db, &err) || oc_hwdb_get(db, "a100", &x->device, &err))
        fail_msg("%s", err.msg);
    return db;
}

static bool near(double a, double b)
{
    return fabs(a - b) < 1e-3;
}

/* `onnxcost hw show a100`: vector f32 19.5 TFLOP/s, no matrix unit for f32, DRAM 1555 GB/s, 5 us for a
 * launch. x[1048576,8] W[8,4]: fc   2 * 1048576*8*4 = 67,108,864 FLOP / 19.5e12 = 3,441.480 ns (1048576*8 +
 * 8*4 + 1048576*4) * 4 = 50,331,776 bytes / 1555e9 = 32,367.702 ns: memory is slower act  1048576*4 * (4 read
 * + 4 written) = 33,554,432 bytes / 1555e9 = 21,578.413 ns x[2,8]: act moves 64 bytes, 0.0412 ns: the launch
 * takes longer. Ridge 19.5e12 / 1555e9 = 12.5 FLOP/B. */
static void rooflines_equal_hand_calculation(void **state)
{
    (void)state;
    struct made x = {0};
    load_model(&x, "1048576");
    struct oc_hwdb *db = find_a100(&x);
    char *csv = write_report(&x, &(struct oc_report_opts){.format = "csv"});
    assert_non_null(strstr(csv, ",67108864,"));
    assert_non_null(strstr(csv, ",DRAM,32367.702,"));
    assert_non_null(strstr(csv, ",DRAM,21578.413,"));
    free(csv);
    struct t_json j = json_of(&x, (struct oc_report_opts){0});
    assert_true(near(t_number(&j, "nodes[0].roofline_time_ns"), 50331776 / 1555e9 * 1e9));
    assert_true(near(t_number(&j, "nodes[1].roofline_time_ns"), 33554432 / 1555e9 * 1e9));
    assert_true(t_is_null(&j, "nodes[0].roofline_efficiency") && t_is_null(&j, "nodes[3].roofline_time_ns"));
    t_json_free(&j);
    char *table = write_report(&x, &(struct oc_report_opts){.print_only = "summary", .verbose = true});
    assert_non_null(strstr(table, "f32 19.50 TFLOP/s"));
    assert_non_null(strstr(table, "ridge point 12.5 FLOP/B"));
    free(table);
    oc_hwdb_free(db);
    free_made(&x);
}

/* act: 64 bytes / 1555e9 = 41.16 ps of 20 us, in both runs: an efficiency of 2.058e-6. A time of 0 would be
 * faster than the hardware allows, which is reported. */
static void efficiency_equals_hand_calculation(void **state)
{
    (void)state;
    struct made x = {0};
    load_model(&x, "2");
    load_profile(&x, cpu_profile, OC_STAT_SUM);
    join(&x);
    struct oc_hwdb *db = find_a100(&x);
    struct t_json j = json_of(&x, (struct oc_report_opts){0});
    assert_true(fabs(t_number(&j, "nodes[1].roofline_efficiency") / (64 / 1555e9 / 20e-6) - 1) < 1e-9);
    assert_string_equal(t_text(&j, "nodes[1].bound_by"), "overhead");
    assert_int_equal(t_whole(&j, "hardware.rows_above_roofline"), 0);
    t_json_free(&j);
    oc_join_free(x.join);
    oc_profile_close(x.profile);
    load_profile(&x,
                 "[" EVENT("Session", "model_run", 100, 100, "") NODE("fc", "MatMul", 101, 50, "")
                     NODE("act", "Relu", 152, 0, "") "]",
                 OC_STAT_MEDIAN);
    join(&x);
    j = json_of(&x, (struct oc_report_opts){0});
    assert_int_equal(t_whole(&j, "hardware.rows_above_roofline"), 1);
    t_json_free(&j);
    char *table = write_report(&x, &(struct oc_report_opts){.print_only = "summary", .verbose = true});
    assert_non_null(strstr(table, "efficiency above 100 % in 1 of 2 operators: 1 ("));
    free(table);
    oc_hwdb_free(db);
    free_made(&x);
}

/* 2^50 + 1 rows: every count is odd and exceeds the precision of a double. */
static void integers_are_exact(void **state)
{
    (void)state;
    struct made x = {0};
    load_model(&x, "1125899906842625");
    struct t_json j = json_of(&x, (struct oc_report_opts){0});
    assert_string_equal(t_text(&j, "nodes[0].macs"), "36028797018964000"); /* 32 x (2^50 + 1) */
    assert_string_equal(t_text(&j, "nodes[0].bytes_read_act"), "36028797018964000");
    assert_string_equal(t_text(&j, "nodes[1].flops"), "4503599627370500");
    t_json_free(&j);
    char *csv = write_report(&x, &(struct oc_report_opts){.format = "csv"});
    assert_non_null(strstr(csv, "1,fc,MatMul,72057594037928000,"));
    assert_non_null(strstr(csv, ",36028797018964000,")); /* macs */
    assert_null(strstr(csv, "e+"));
    free(csv);
    free_made(&x);
}

/* fc takes half of each run: FLOPs, bytes and rates in all formats of the report follow from the same
 * minimum. */
static const char *const noisy_profile =
    "[\n" EVENT("Session", "model_run", 0, 400, "") NODE("fc", "MatMul", 1, 200, "")
        EVENT("Session", "model_run", 1000, 1100, "") NODE("fc", "MatMul", 1001, 550, "")
            EVENT("Session", "model_run", 3000, 200, "") NODE("fc", "MatMul", 3001, 100, "")
                EVENT("Session", "model_run", 4000, 600, "") NODE("fc", "MatMul", 4001, 300, "")
                    EVENT("Session", "model_run", 5000, 900, "") NODE("fc", "MatMul", 5001, 450, "") "]\n";

static void expect_texts(const struct made *x, const char *format, const char *const *text, size_t n)
{
    char *out = write_report(x, &(struct oc_report_opts){.format = format});
    for (size_t i = 0; i < n; i++)
        if (!strstr(out, text[i]))
            fail_msg("%s has no '%s': %s", format ? format : "table", text[i], out);
    free(out);
}

static void rates_in_every_format_use_the_statistic_of_the_latency(void **state)
{
    (void)state;
    struct made x = {0};
    load_model(&x, "2");
    load_profile(&x, noisy_profile, OC_STAT_MIN);
    join(&x);
    struct t_json j = json_of(&x, (struct oc_report_opts){0});
    assert_string_equal(t_text(&j, "profile[0].statistic"), "min");
    assert_true(t_number(&j, "totals.time_ns") == 200e3 && t_number(&j, "profile[0].time_ns") == 200e3);
    assert_true(t_number(&j, "totals.achieved_flops_per_s") == 2 * 2 * 8 * 4 / 200e-6);
    assert_true(t_number(&j, "totals.operator_flops_per_s") == 2 * 2 * 8 * 4 / 100e-6);
    assert_true(t_number(&j, "totals.inferences_per_s") == 5000);
    assert_true(t_number(&j, "rows[0].time_ns") == 100e3);
    assert_int_equal(t_whole(&j, "profile[0].run_times.runs"), 5);
    assert_true(t_number(&j, "profile[0].run_times.median_ns") == 600e3);
    assert_true(t_number(&j, "profile[0].run_times.max_ns") == 1100e3);
    t_json_free(&j);
    static const char *const people[] = {
        "200 us (fastest of 5 runs; NOISY: 200 us to 1.10 ms, spread 83.3 %)", "5000 inferences/s",
        "0.00064 GFLOP/s", "W-noisy-runs"};
    static const char *const page[] = {"\"statistic\":\"min\"", "\"run_ns\":200000", "\"flops_per_s\":640000",
                                       "\"inferences_per_s\":5000"};
    static const char *const csv[] = {"1,100000,0.5,0.5,fc,MatMul,128,1280000,"};
    expect_texts(&x, NULL, people, 4);
    expect_texts(&x, "markdown", people, 4);
    expect_texts(&x, "html", page, 4);
    expect_texts(&x, "csv", csv, 1);
    free_made(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(totals_are_sums_over_nodes),
        cmocka_unit_test(sums_that_are_only_bounded_by_0_are_null),
        cmocka_unit_test(unknown_sizes_have_a_name_and_their_largest_value),
        cmocka_unit_test(time_is_conserved),
        cmocka_unit_test(nodes_and_rows_refer_to_each_other),
        cmocka_unit_test(overhead_is_zero_and_unattributed_is_null),
        cmocka_unit_test(rows_of_a_profile_alone_have_costs),
        cmocka_unit_test(megengine_reports_both_times),
        cmocka_unit_test(groups_are_listed_with_their_members),
        cmocka_unit_test(rooflines_equal_hand_calculation),
        cmocka_unit_test(efficiency_equals_hand_calculation),
        cmocka_unit_test(integers_are_exact),
        cmocka_unit_test(rates_in_every_format_use_the_statistic_of_the_latency),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
