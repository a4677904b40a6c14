#include "join/record_cost.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "join/join.h"
#include "ops/op.h"
#include "support/profiles.h"
#include "onnxcost.h"
#include "onnxcost/profile.h"

struct fixture {
    struct oc_profile *p;
    struct oc_arena a;
    struct oc_record_cost cost;
};

/* The cost of one event with these recorded types. */
static struct fixture cost_of(const char *name, const char *op, const char *in, const char *out)
{
    struct fixture f = {0};
    char text[1000];
    struct oc_err e;
    snprintf(text, sizeof(text),
             "[\n{\"cat\" : \"Session\",\"tid\" :1,\"dur\" :100,\"ts\" :0,\"name\" :\"model_run\",\"args\" : "
             "{}},\n"
             "{\"cat\" : \"Node\",\"tid\" :1,\"dur\" :5,\"ts\" :20,\"name\" :\"%s_kernel_time\",\"args\" : {"
             "\"op_name\" : \"%s\"%s%s%s%s}}\n]",
             name, op, in ? ",\"input_type_shape\" : " : "", in ? in : "",
             out ? ",\"output_type_shape\" : " : "", out ? out : "");
    f.p = t_profile_text(text, NULL, &e);
    assert_non_null(f.p);
    oc_record_cost(f.p, t_rec(f.p, name), &f.a, NULL, &f.cost);
    return f;
}

static void fixture_free(struct fixture *f)
{
    oc_profile_close(f->p);
    oc_arena_free(&f->a);
}

struct row {
    const char *op, *in, *out;
    uint64_t macs, flops, ops;
    uint8_t quality;
    bool bytes_known;
    uint64_t rd, wr;
};

static const struct row rows[] = {
    /* 1*4*8*8 outputs, 3*3*3 taps each, bias: 2 * 256 * 27 + 256 */
    {"Conv", "[{\"float\":[1,3,8,8]},{\"float\":[4,3,3,3]},{\"float\":[4]}]", "[{\"float\":[1,4,8,8]}]", 6912,
     14080, 0, OC_EXACT, true, (192 + 108 + 4) * 4, 1024},
    /* depthwise: one input channel per filter: 256 * 9 */
    {"Conv", "[{\"float\":[1,4,8,8]},{\"float\":[4,1,3,3]}]", "[{\"float\":[1,4,8,8]}]", 2304, 4608, 0,
     OC_EXACT, true, (256 + 36) * 4, 1024},
    {"FusedConv", "[{\"float\":[1,4,8,8]},{\"float\":[4,1,3,3]}]", "[{\"float\":[1,4,8,8]}]", 2304, 4608, 0,
     OC_LOWER, true, (256 + 36) * 4, 1024},
    /* a filter that does not fit the input is not a filter */
    {"Conv", "[{\"float\":[1,4,8,8]},{\"float\":[4,3,3,3]}]", "[{\"float\":[1,4,8,8]}]", 0, 0, 0, OC_UNKNOWN,
     true, 0, 0},
    {"Conv", "[{\"float\":[1,4,8,8]}]", "[{\"float\":[1,4,8,8]}]", 0, 0, 0, OC_UNKNOWN, false, 0, 0},
    /* packed B: N(o) * last dim of A = 2*5*7 * 16 */
    {"MatMul", "[{\"float\":[2,5,16]}]", "[{\"float\":[2,5,7]}]", 1120, 2240, 0, OC_EXACT, false, 0, 0},
    {"MatMul", "[{\"float\":[16]},{\"float\":[16,3]}]", "[{\"float\":[3]}]", 48, 96, 0, OC_EXACT, true, 256,
     12},
    /* A transposed or not: 4*6 * 8; bias of 6; B is packed, so its bytes are not recorded */
    {"Gemm", "[{\"float\":[4,8]},{\"float\":[6]}]", "[{\"float\":[4,6]}]", 192, 408, 0, OC_EST, false, 0, 0},
    {"Gemm", "[{\"float\":[8,4]}]", "[{\"float\":[4,6]}]", 192, 384, 0, OC_EST, false, 0, 0},
    {"Gemm", "[{\"float\":[4,8]},{\"float\":[8,6]}]", "[{\"float\":[4,6]}]", 192, 384, 0, OC_EST, true, 320,
     96},
    {"Gemm", "[{\"float\":[4,1]},{\"float\":[1,6]}]", "[{\"float\":[4,6]}]", 0, 0, 0, OC_UNKNOWN, true, 0, 0},
    {"Gemm", "[{\"float\":[5,8]}]", "[{\"float\":[4,6]}]", 0, 0, 0, OC_UNKNOWN, false, 0, 0},
    {"ConvTranspose", "[{\"float\":[1,4,8,8]}]", "[{\"float\":[1,4,16,16]}]", 0, 0, 0, OC_UNKNOWN, false, 0,
     0},
    /* the window is an attribute; what is read and written is recorded */
    {"MaxPool", "[{\"float\":[1,4,8,8]}]", "[{\"float\":[1,4,4,4]}]", 0, 0, 0, OC_UNKNOWN, true, 0, 0},
    /* operators without a row: n * (5 adds and multiplies ...) as the rule counts them */
    {"ReduceMean", "[{\"float\":[2,8]}]", "[{\"float\":[2,1]}]", 0, 18, 0, OC_EXACT, true, 64, 8},
    {"Softplus", "[{\"float\":[2,8]}]", "[{\"float\":[2,8]}]", 0, 48, 0, OC_EXACT, true, 64, 64},
    {"Clip", "[{\"float\":[2,8]}]", "[{\"float\":[2,8]}]", 0, 0, 0, OC_UNKNOWN, false, 0, 0},
    {"Pow", "[{\"float\":[2,8]},{\"float\":[]}]", "[{\"float\":[2,8]}]", 0, 16, 0, OC_EST, true, 68, 64},
    /* names of other frameworks: 64 outputs x 4 channels, 3*3*3 taps; a bias is not part of the product */
    {"fused_nn_conv2d_add", "[{\"float\":[1,3,8,8]},{\"float\":[4,3,3,3]},{\"float\":[1,4,1,1]}]",
     "[{\"float\":[1,4,8,8]}]", 6912, 13824, 0, OC_LOWER, true, (192 + 108 + 4) * 4, 1024},
    /* 3*8*8 inputs are scattered to 4 channels, 2*2 taps */
    {"fused_conv2d_transpose_add", "[{\"float\":[1,3,8,8]},{\"float\":[3,4,2,2]},{\"float\":[1,4,1,1]}]",
     "[{\"float\":[1,4,16,16]}]", 3072, 6144, 0, OC_EST, true, (192 + 48 + 4) * 4, 4096},
    {"fused_conv2d_transpose", "[{\"float\":[1,8,8,3]},{\"float\":[2,2,3,4]}]", "[{\"float\":[1,16,16,4]}]",
     0, 0, 0, OC_UNKNOWN, true, 0, 0},
    /* N(o) x 8; weights are N x K */
    {"fused_nn_dense", "[{\"float\":[4,8]},{\"float\":[6,8]}]", "[{\"float\":[4,6]}]", 192, 384, 0, OC_LOWER,
     true, 320, 96},
    {"MatMulV2", "[{\"float16\":[2,4,16,16]},{\"float16\":[3,2,16,16]}]", "[{\"float16\":[3,4,16,16]}]", 0, 0,
     0, OC_UNKNOWN, false, 0, 0}, /* blocks of 16 x 16 */
    /* versions of CANN's operators; A, B or both are transposed: 4*6 * 8 */
    {"MatMulV3", "[{\"float16\":[8,4]},{\"float16\":[6,8]}]", "[{\"float16\":[4,6]}]", 192, 384, 0, OC_LOWER,
     true, 160, 48},
    {"BatchMatMulV2", "[{\"float16\":[2,4,8]},{\"float16\":[2,8,6]}]", "[{\"float16\":[2,4,6]}]", 384, 768, 0,
     OC_LOWER, true, 320, 96},
    /* no reading of the shapes: the depth is 80 in A and 8 in B; B has another width; A has other rows */
    {"MatMulV2", "[{\"float16\":[80,4]},{\"float16\":[8,6]}]", "[{\"float16\":[4,6]}]", 0, 0, 0, OC_UNKNOWN,
     false, 0, 0},
    {"MatMul", "[{\"float\":[4,8]},{\"float\":[8,7]}]", "[{\"float\":[4,6]}]", 0, 0, 0, OC_UNKNOWN, false, 0,
     0},
    {"MatMul", "[{\"float\":[5,8]},{\"float\":[8,6]}]", "[{\"float\":[4,6]}]", 0, 0, 0, OC_UNKNOWN, false, 0,
     0},
    {"MatMul", "[{\"float\":[2,4,8]},{\"float\":[7,6]}]", "[{\"float\":[2,4,6]}]", 0, 0, 0, OC_UNKNOWN, false,
     0, 0},
    {"ProdEnvV3", "[{\"float16\":[8,4]},{\"float16\":[6,8]}]", "[{\"float16\":[4,6]}]", 0, 0, 0, OC_UNKNOWN,
     false, 0, 0},
    {"conv2d", "[{\"float\":[1,64,56,56]}]", "[{\"float\":[1,64,54,54]}]", 0, 0, 0, OC_UNKNOWN, false, 0, 0},
    /* transposed A: 2 * 4*6 * 8 */
    {"FusedMatMul", "[{\"float\":[2,8,4]},{\"float\":[2,8,6]}]", "[{\"float\":[2,4,6]}]", 384, 768, 0,
     OC_LOWER, true, 640, 192},
    {"MatMulNBits", "[{\"float\":[1,1,64]}]", "[{\"float\":[1,1,32]}]", 2048, 4096, 0, OC_LOWER, false, 0, 0},
    /* X, its scale and zero point, W: 64 outputs x 4 channels, 3*3*3 taps */
    {"QLinearConv",
     "[{\"uint8\":[1,3,8,8]},{\"float\":[]},{\"uint8\":[]},{\"int8\":[4,3,3,3]},{\"float\":[4]}]",
     "[{\"uint8\":[1,4,8,8]}]", 6912, 0, 13824, OC_LOWER, true, 321, 256},
    {"QLinearConv", "[{\"uint8\":[1,3,8,8]},{\"float\":[]},{\"uint8\":[]},{\"float\":[4]}]",
     "[{\"uint8\":[1,4,8,8]}]", 0, 0, 0, OC_UNKNOWN, false, 0, 0},
    {"Add", "[{\"float\":[2,8]},{\"float\":[8]}]", "[{\"float\":[2,8]}]", 0, 16, 0, OC_EXACT, true, 96, 64},
    {"Add", "[{\"int64\":[2,8]},{\"int64\":[8]}]", "[{\"int64\":[2,8]}]", 0, 0, 16, OC_EXACT, true, 192, 128},
    {"Add", "[{\"float\":[2,8]}]", "[{\"float\":[2,8]}]", 0, 0, 0, OC_UNKNOWN, false, 0, 0},
    {"Relu", "[{\"float16\":[2,8]}]", "[{\"float16\":[2,8]}]", 0, 16, 0, OC_EXACT, true, 32, 32},
    {"Identity", "[{\"float\":[2,8]}]", "[{\"float\":[2,8]}]", 0, 0, 0, OC_EXACT, true, 0, 0},
    {"Transpose", "[{\"float\":[2,8]}]", "[{\"float\":[8,2]}]", 0, 0, 0, OC_EXACT, false, 0,
     0}, /* perm decides */
    {"Reshape", "[{\"float\":[2,8]},{\"int64\":[1]}]", "[{\"float\":[16]}]", 0, 0, 0, OC_EXACT, true, 0, 0},
    {"If", "[{\"bool\":[]}]", "[{\"float\":[16]}]", 0, 0, 0, OC_UNKNOWN, false, 0, 0},
    {"NoSuchOperator", "[{\"float\":[2,8]}]", "[{\"float\":[8,2]}]", 0, 0, 0, OC_UNKNOWN, false, 0, 0},
    {"Relu", NULL, NULL, 0, 0, 0, OC_UNKNOWN, false, 0, 0},
    {"MatMul", "[{\"float\":[4294967296,4294967296]}]", "[{\"float\":[4294967295,4294967295]}]", 0, 0, 0,
     OC_UNKNOWN, false, 0, 0},
};

static void costs_follow_from_recorded_shapes(void **state)
{
    (void)state;
    for (size_t i = 0; i < OC_COUNT(rows); i++) {
        const struct row *r = &rows[i];
        struct fixture f = cost_of("n", r->op, r->in, r->out);
        print_message("%s %s\n", r->op, r->in ? r->in : "");
        assert_int_equal(f.cost.quality, r->quality);
        assert_int_equal(f.cost.macs, r->macs);
        assert_int_equal(f.cost.flops, r->flops);
        assert_int_equal(f.cost.ops, r->ops);
        assert_int_equal(f.cost.note == NULL, r->quality == OC_EXACT);
        assert_int_equal(f.cost.bytes_known, r->bytes_known);
        if (r->bytes_known && r->quality != OC_UNKNOWN) {
            assert_int_equal(f.cost.rd, r->rd);
            assert_int_equal(f.cost.wr, r->wr);
        }
        fixture_free(&f);
    }
}

static void blocked_channels_are_an_upper_bound(void **state)
{
    (void)state;
    struct fixture f =
        cost_of("y_nchwc", "Conv", "[{\"float\":[1,3,8,8]},{\"float\":[16,3,3,3]},{\"float\":[16]}]",
                "[{\"float\":[1,16,8,8]}]");
    assert_int_equal(f.cost.quality, OC_UPPER);
    assert_int_equal(f.cost.macs, 16 * 64 * 27);
    fixture_free(&f);
}

/* Exact costs must equal those of the model's analysis for the same node. */
static void exact_costs_equal_the_analysis(void **state)
{
    (void)state;
    struct oc_err e;
    struct oc_model *m;
    struct oc_analysis *a;
    struct oc_profile *p;
    struct oc_join *j;
    struct oc_shape_bind *shape;
    struct oc_arena arena = {0};
    const char *path = t_sample("onnxruntime/ppocr_cls.onnx");
    if (!path || oc_model_load(path, NULL, &m, &e) != 0)
        skip();
    path = t_sample("onnxruntime/ppocr_cls.ort1.30.disabled.2runs.json");
    assert_int_equal(oc_profile_open(path, NULL, &p, &e), 0);
    struct oc_analyze_opts opts = {.n_shape = oc_profile_input_shapes(m, p, &shape)};
    opts.shape = shape;
    assert_int_equal(oc_analyze(m, &opts, &a, &e), 0);
    assert_int_equal(oc_join_make(m, a, p, NULL, &j, &e), 0);
    uint64_t macs = 0;
    size_t exact = 0;
    for (uint32_t i = 0; i < p->n_rec; i++) {
        struct oc_record_cost c;
        if (p->rec[i].bucket)
            continue;
        oc_record_cost(p, &p->rec[i], &arena, NULL, &c);
        macs += c.macs;
        if (c.quality != OC_EXACT)
            continue;
        exact++;
        assert_int_equal(c.macs, j->rec[i].macs);
        assert_int_equal(c.flops, j->rec[i].flops);
        assert_int_equal(c.ops, j->rec[i].ops);
        if (c.bytes_known)
            assert_int_equal(c.rd + c.wr, j->rec[i].rd_act + j->rec[i].rd_wt + j->rec[i].wr);
    }
    assert_int_equal(macs, 16315376);
    assert_true(exact > 150);
    oc_join_free(j);
    oc_analysis_free(a);
    oc_profile_close(p);
    oc_profile_input_shapes_free(shape, opts.n_shape);
    oc_model_free(m);
    oc_arena_free(&arena);
}

static uint32_t draw(uint32_t *state, uint32_t n)
{
    *state = *state * 1664525 + 1013904223;
    return (*state >> 8) % n;
}

static struct oc_type draw_type(struct oc_arena *a, uint32_t *state)
{
    static const uint8_t dtypes[] = {OC_DT_FLOAT, OC_DT_FLOAT,     OC_DT_INT64,
                                     OC_DT_UINT8, OC_DT_UNDEFINED, OC_DT_STRING};
    static const int64_t sizes[] = {1, 2, 3, 8, 0, INT64_MAX};
    struct oc_dim dim[6];
    unsigned rank = draw(state, 6);
    for (unsigned i = 0; i < rank; i++)
        dim[i] = oc_known(sizes[draw(state, OC_COUNT(sizes))]);
    return oc_tensor_type(dtypes[draw(state, OC_COUNT(dtypes))], oc_shape_of(a, rank, dim));
}

/* Files can record shapes that no model has: no rule reads dimensions that are not there (sanitizers). */
static void any_recorded_shapes(void **state)
{
    (void)state;
    const struct oc_profile p = {.format = "onnxruntime"};
    struct oc_arena a = {0};
    struct oc_record_cost cost;
    struct oc_type in[8], out[4];
    size_t n_family, known = 0;
    uint32_t seed = 1;
    const struct oc_op_family *const *family = oc_op_families(&n_family);
    for (size_t f = 0; f < n_family; f++)
        for (uint32_t i = 0; i < family[f]->n * 400; i++) {
            struct oc_prof_rec r = {
                .name = "", .op_type = family[f]->op[i / 400].name, .has_in = true, .has_out = true};
            r.n_in = draw(&seed, OC_COUNT(in) + 1);
            r.n_out = draw(&seed, OC_COUNT(out) + 1);
            for (uint32_t k = 0; k < OC_COUNT(in); k++)
                in[k] = draw_type(&a, &seed);
            for (uint32_t k = 0; k < OC_COUNT(out); k++)
                out[k] = draw(&seed, 2) ? in[0] : draw_type(&a, &seed);
            r.in = in;
            r.out = out;
            oc_record_cost(&p, &r, &a, NULL, &cost);
            known += cost.quality != OC_UNKNOWN;
            oc_arena_free(&a);
        }
    assert_true(known > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(costs_follow_from_recorded_shapes),
        cmocka_unit_test(blocked_channels_are_an_upper_bound),
        cmocka_unit_test(exact_costs_equal_the_analysis),
        cmocka_unit_test(any_recorded_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
