/* Types, operations and bytes of the operators that the tests of their families omit, so that each operator
 * of the index has a case with exact numbers (tests/check_op_tests.sh). The numbers follow from the counting
 * rules: per element unless stated otherwise; bytes are those of whole tensors except metadata and partial
 * reads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/build.h"
#include "support/op_rows.h"
#include "support/run_model.h"

#define MS    "com.microsoft:"
#define NCHWC "com.microsoft.nchwc:"
#define ML    "ai.onnx.ml:"

struct row {
    const char *op;
    int opset;
    const char *attrs, *in, *out, *types, *hist;
    uint64_t rd, wr; /* bytes of activations and of constants */
};

static const struct row elementwise[] = {
    {"Abs", 13, "", "float[2,3]", "y", "float[2,3]", "CMP 6", 24, 24},
    {"Acos", 7, "", "float[2,3]", "y", "float[2,3]", "TAN 6", 24, 24},
    {"Acosh", 9, "", "float[2,3]", "y", "float[2,3]", "TAN 6", 24, 24},
    {"Asin", 7, "", "float[2,3]", "y", "float[2,3]", "TAN 6", 24, 24},
    {"Asinh", 9, "", "float[2,3]", "y", "float[2,3]", "TAN 6", 24, 24},
    {"Atan", 7, "", "float[2,3]", "y", "float[2,3]", "TAN 6", 24, 24},
    {"Atanh", 9, "", "float[2,3]", "y", "float[2,3]", "TAN 6", 24, 24},
    {"Cosh", 9, "", "float[2,3]", "y", "float[2,3]", "TAN 6", 24, 24},
    {"Tan", 7, "", "double[2,3]", "y", "double[2,3]", "TAN 6", 48, 48},
    {"Sin", 7, "", "float[2,3]", "y", "float[2,3]", "SIN 6", 24, 24},
    {"Erf", 9, "", "float16[2,3]", "y", "float16[2,3]", "ERF 6", 12, 12},
    {"Floor", 13, "", "float[2,3]", "y", "float[2,3]", "RND 6", 24, 24},
    {"Round", 11, "", "float[2,3]", "y", "float[2,3]", "RND 6", 24, 24},
    {"Log", 13, "", "float[2,3]", "y", "float[2,3]", "LOG 6", 24, 24},
    {"Sqrt", 13, "", "float[2,3]", "y", "float[2,3]", "SQRT 6", 24, 24},
    {"Sign", 9, "", "int8[2,3]", "y", "int8[2,3]", "CMP 6", 6, 6},
    {"ThresholdedRelu", 10, "alpha=0.5", "float[2,3]", "y", "float[2,3]", "CMP 6", 24, 24},
    {"IsInf", 10, "", "float[2,3]", "y", "bool[2,3]", "CMP 6", 24, 6},
    {"IsNaN", 9, "", "float[2,3]", "y", "bool[2,3]", "CMP 6", 24, 6},
    {"Affine", 1, "alpha=2.0 beta=1.0", "float[2,3]", "y", "float[2,3]", "ADD 6, MUL 6", 24, 24},
    {"BitwiseNot", 18, "", "int32[2,3]", "y", "int32[2,3]", "BIT 6", 24, 24},
    {"BitwiseOr", 18, "", "int32[2,3] int32[3]", "y", "int32[2,3]", "BIT 6", 36, 24},
    {"BitwiseXor", 18, "", "int32[2,3] int32[3]", "y", "int32[2,3]", "BIT 6", 36, 24},
    {"BitShift", 11, "direction=LEFT", "uint8[2,3] uint8[3]", "y", "uint8[2,3]", "BIT 6", 9, 6},
    {"Or", 7, "", "bool[2,3] bool[3]", "y", "bool[2,3]", "BIT 6", 9, 6},
    {"Less", 13, "", "float[2,3] float[3]", "y", "bool[2,3]", "CMP 6", 36, 6},
    {"LessOrEqual", 16, "", "float[2,3] float[3]", "y", "bool[2,3]", "CMP 6", 36, 6},
    {"GreaterOrEqual", 16, "", "float[2,3] float[3]", "y", "bool[2,3]", "CMP 6", 36, 6},
    {"Min", 13, "", "float[2,3] float[3] float[1]", "y", "float[2,3]", "CMP 12", 40, 24},
    /* without training only the bias is added; the mask has one bit per element, 32 per word */
    {MS "BitmaskBiasDropout", 1, "", "float[5,8] float[8]", "yy", "float[5,8] uint32[2]", "ADD 40", 192, 168},
    {MS "ComplexMulConj", 1, "", "float[5,2] float[5,2]", "y", "float[5,2]", "ADD 10, MUL 20", 80, 40},
    {MS "Range", 1, "", "float[]!{0} float[]!{10} float[]!{2}", "y", "float[5]", "ADD 5, MUL 5", 0, 20},
    {"HammingWindow", 17, "", "int64[]!{10}", "y", "float[10]", "ADD 10, MUL 20, SIN 10", 0, 40},
    {"RandomNormalLike", 1, "", "float[2,3]", "y", "float[2,3]", "ADD 6, MUL 6, RNG 6", 0, 24},
    {"RandomUniform", 1, "shape=[2,3]", "", "y", "float[2,3]", "RNG 6", 0, 24},
    {MS "VarlenNGramHashMapping", 1, "max_ngram_size=3 n_head_per_ngram=4 pad_id=0",
     "int32[5] int32[3] int32[8] int32[5]", "y", "int32[5,8]", "BIT 400, est", 20 + 12 + 32 + 20, 160},
};

static const struct row contractions[] = {
    /* 8 channels of 5 elements, 4 taps: 2*8*5*4 */
    {MS "CausalConvWithState", 1, "", "float[2,8,5] float[8,1,4] float[8]", "yy", "float[2,8,5] float[2,8,3]",
     "MAC 320, ADD 80", 320 + 128 + 32, 320 + 192},
    /* 36 positions of 4 filters of 27 taps; the bias; Relu */
    {MS "NhwcFusedConv", 1, "activation=Relu", "float[1,8,8,3] float[4,3,3,3] float[4]", "y",
     "float[1,6,6,4]", "MAC 3888, ADD 144, CMP 144", 768 + 432 + 16, 576},
    /* and the zero point of 192 inputs; requantization of 144 outputs: MUL, RND, ADD, 2 CMP */
    {MS "QLinearConv", 1, "channels_last=1",
     "uint8[1,8,8,3] float[] uint8[] int8[4,3,3,3]! float[]! int8[]! float[] uint8[]", "y", "uint8[1,6,6,4]",
     "MAC 3888, ADD 336, MUL 144, CMP 288, RND 144", 192 + 5 + 108 + 5 + 5, 144},
    {MS "MatMulInteger16", 1, "", "int16[2,3] int16[3,4]", "y", "int32[2,4]", "MAC 24", 36, 32},
    {MS "TransposeMatMul", 1, "transB=1 alpha=0.5", "float[2,3] float[4,3]", "y", "float[2,4]",
     "MAC 24, MUL 8", 72, 32},
    {MS "GemmFloat8", 1, "transB=1 dtype=1 beta=1.0", "float8e4m3fn[2,3] float8e4m3fn[4,3] float[4]", "y",
     "float[2,4]", "MAC 24, ADD 8", 6 + 12 + 16, 32},
    /* the zero point of A; a scale per result */
    {MS "QGemm", 1, "transB=1", "uint8[2,3] float[] uint8[] int8[4,3]! float[]! int8[]!", "y", "float[2,4]",
     "MAC 24, ADD 6, MUL 8", 11 + 17, 32},
    {MS "MatMulBnb4", 1, "K=64 N=10 block_size=64 quant_type=1", "float[3,64] uint8[320]! float[10]!", "y",
     "float[3,10]", "MAC 1920, DEQ 640", 768 + 360, 120},
    {MS "MatMulFpQ4", 1, "", "float[3,64] uint8[400]! int64[2]!{64,10}", "y", "float[3,10]",
     "MAC 1920, DEQ 640", 768 + 400, 120},
    {MS "MatMulBlockQuantizedFp4Weight", 1, "", "float16[3,64] uint8[10,32]! uint8[10,4]! float[]!", "y",
     "float16[3,10]", "MAC 1920, DEQ 640", 384 + 364, 60},
    {MS "MatMulBlockQuantizedFp8Weight", 1, "", "float16[3,64] float8e4m3fn[10,64]! float[1,1]!", "y",
     "float16[3,10]", "MAC 1920, DEQ 640", 384 + 644, 60},
    /* counted as dense: an upper bound, the non-zero elements are unknown */
    {MS "SparseToDenseMatMul", 1, "", "float[2,3] float[3,4]", "y", "float[2,4]", "MAC 24, upper", 72, 32},
    /* 2*8*5*7 = 560 pairs of heads of 64 and 32 */
    {"ai.onnx.preview:FlexAttention", 1, "", "float[2,8,5,64] float[2,8,7,64] float[2,8,7,32]", "y",
     "float[2,8,5,32]", "MAC 53760, ADD 1120, MUL 560, CMP 560, DIV 560, EXP 560", 20480 + 28672 + 14336,
     10240},
    /* 20 tokens of 4 heads of 8 in one tensor with q, k and v; the lengths are data: two of 10, 4*2*10*10
       pairs */
    {MS "PackedMultiHeadAttention", 1, "num_heads=4", "float16[20,4,3,8] - - - int32[2,16] int32[3]", "y",
     "float16[20,32]", "MAC 12800, ADD 1600, MUL 800, CMP 800, DIV 800, EXP 800, est", 3840 + 128 + 12, 1280},
    /* 2 MUL and one ADD for each of 2*5*64 elements */
    {MS "MRotaryEmbedding", 1, "num_heads=8", "float[2,5,64] int64[2,5] float[99,4] float[99,4]", "y",
     "float[2,5,64]", "ADD 640, MUL 1280", 2560 + 80 + 2 * 5 * 2 * 16, 2560},
};

static const struct row others[] = {
    {"ArgMin", 13, "axis=1", "float[2,3]", "y", "int64[2,1]", "CMP 6", 24, 16},
    {"ReduceMin", 18, "", "float[2,3] int64[1]!{1}", "y", "float[2,1]", "CMP 6", 24, 8},
    {NCHWC "GlobalAveragePool", 1, "", "float[1,16,4,5]", "y", "float[1,16,1,1]", "ADD 320, DIV 16", 1280,
     64},
    {NCHWC "GlobalMaxPool", 1, "", "float[1,16,4,5]", "y", "float[1,16,1,1]", "CMP 320", 1280, 64},
    {NCHWC "MaxPool", 1, "kernel_shape=[2,2] strides=[2,2]", "float[1,16,8,8]", "y", "float[1,16,4,4]",
     "CMP 1024", 4096, 1024},
    {MS "MaxpoolWithMask", 1, "kernel_shape=[2,2] strides=[2,2]", "float[1,3,8,8] int32[1,3,8,8]", "y",
     "float[1,3,4,4]", "CMP 192", 768 + 768, 192},
    /* 4 values of 4 MUL, 3 ADD; 4 positions of 2 + 4 MUL, 6 ADD, 2 RND; 4*4 samples are read */
    {MS "GridSample", 1, "", "float[1,1,8,8] float[1,2,2,2]", "y", "float[1,1,2,2]", "ADD 36, MUL 40, RND 8",
     64 + 32, 16},
    /* 16 elements in 2 rows: 4*16 + 2 ADD, 3*16 MUL, 3*2 DIV, 2 SQRT; without mean and bias 16 + 2 ADD, 2*2
       DIV */
    {MS "LayerNormalization", 1, "", "float[2,8] float[8] float[8]", "y", "float[2,8]",
     "ADD 66, MUL 48, DIV 6, SQRT 2", 64 + 64, 64},
    {"SimplifiedLayerNormalization", 1, "", "float[2,8] float[8]", "y", "float[2,8]",
     "ADD 18, MUL 48, DIV 4, SQRT 2", 64 + 32, 64},
    /* ADD, MUL; without a zero point only MUL */
    {MS "DequantizeLinear", 1, "", "uint8[2,3] float[] uint8[]", "y", "float[2,3]", "ADD 6, MUL 6", 11, 24},
    {MS "DequantizeWithOrder", 1, "to=10", "int8[2,3] float[]", "y", "float16[2,3]", "MUL 6", 10, 12},
    {MS "QuantizeLinear", 1, "", "float[2,3] float[] uint8[]", "y", "uint8[2,3]",
     "ADD 6, CMP 12, DIV 6, RND 6", 29, 6},
    {MS "QuantizeWithOrder", 1, "", "float[2,3] float[]", "y", "int8[2,3]", "CMP 12, DIV 6, RND 6", 28, 6},
    /* CMP; ADD and MUL; MUL, RND, ADD, 2 CMP */
    {MS "QLinearWhere", 1, "", "bool[3] uint8[2,1] float[] uint8[] uint8[] float[] uint8[] float[] uint8[]",
     "y", "uint8[2,3]", "ADD 12, MUL 12, CMP 18, RND 6", 3 + 2 + 5 + 1 + 5 + 5, 6},
    {"Scatter", 9, "axis=1", "float[3,4] int64[3,2] float[3,2]", "y", "float[3,4]", "nothing", 48 + 48 + 24,
     48},
    {ML "CategoryMapper", 1, "cats_int64s=[0,1] cats_strings=[\"a\",\"b\"]", "int64[2,3]", "y", "string[2,3]",
     "CMP 6", 48, 0},
};

/* No arithmetic: only data movement. */
static const struct row moves[] = {
    {"Crop", 1, "border=[1,2,3,4]", "float[1,3,10,10]", "y", "float[1,3,4,6]", "nothing", 288, 288},
    {"DynamicSlice", 1, "", "float[4,5] int64[1]!{1} int64[1]!{3} int64[1]!{1}", "y", "float[4,2]", "nothing",
     32, 32},
    {"DepthToSpace", 13, "blocksize=2", "float[1,8,2,3]", "y", "float[1,2,4,6]", "nothing", 192, 192},
    {"SpaceToDepth", 13, "blocksize=2", "float[1,2,4,6]", "y", "float[1,8,2,3]", "nothing", 192, 192},
    {"GivenTensorFill", 1, "shape=[2,3]", "", "y", "float[2,3]", "nothing", 0, 24},
    {"ReverseSequence", 10, "", "float[4,2,3] int64[2]", "y", "float[4,2,3]", "nothing", 96 + 16, 96},
    {"Trilu", 14, "", "float[4,4] int64[]!{1}", "y", "float[4,4]", "nothing", 64, 64},
    {MS "Trilu", 1, "", "float[4,4] int64[]!{1}", "y", "float[4,4]", "nothing", 64, 64},
    {"MemcpyFromHost", 1, "", "float[2,3]", "y", "float[2,3]", "nothing", 24, 24},
    {"MemcpyToHost", 1, "", "float[2,3]", "y", "float[2,3]", "nothing", 24, 24},
    {MS "MemcpyFromHost", 1, "", "float[2,3]", "y", "float[2,3]", "nothing", 24, 24},
    {MS "Pad", 1, "", "float[2,3] int64[4]!{0,1,0,1}", "y", "float[2,5]", "nothing", 24, 40},
    {MS "GatherND", 1, "", "float[2,3] int64[4,1]", "y", "float[4,3]", "nothing", 48 + 32, 48},
    {MS "TorchEmbedding", 1, "", "float[50,8] int64[2,3]", "y", "float[2,3,8]", "nothing", 192 + 48, 192},
    {MS "RestorePadding", 1, "", "float[7,8] int32[2,5]", "y", "float[2,5,8]", "nothing", 224 + 40, 320},
    /* 24 of 32 channels are used */
    {NCHWC "ReorderOutput", 1, "channels=24", "float[1,32,56,56]", "y", "float[1,24,56,56]", "nothing",
     401408, 301056},
    {ML "FeatureVectorizer", 1, "inputdimensions=[2,3]", "float[2,2] int64[2,3]", "y", "float[2,5]",
     "nothing", 64, 40},
    /* maps and strings count as zero bytes */
    {ML "CastMap", 1, "map_form=SPARSE max_map=9", "map(int64,float[])", "y", "float[1,9]", "nothing, est", 0,
     36},
    {ML "DictVectorizer", 1, "int64_vocabulary=[1,2]", "map(int64,float[])", "y", "float[1,2]",
     "nothing, est", 0, 8},
    {"RegexFullMatch", 20, "pattern=a", "string[3]", "y", "bool[3]", "nothing, est", 0, 3},
    {"StringConcat", 20, "", "string[2,3] string[3]", "y", "string[2,3]", "nothing, est", 0, 0},
    {"StringSplit", 20, "", "string[2,3]", "-y", "- int64[2,3]", "nothing, est", 0, 48},
    {MS "Tokenizer", 1, "", "string[2,3]", "y", "string[2,3,words]", "nothing, est", 0, 0},
};

/* Aliases move no data. */
static const struct row views[] = {
    {"BitCast", 26, "to=6", "float[2,3]", "y", "int32[2,3]", "nothing, alias", 0, 0},
    {"Identity", 13, "", "float[2,3]", "y", "float[2,3]", "nothing, alias", 0, 0},
    {"Size", 13, "", "float[2,3]", "y", "int64[]", "nothing, alias", 0, 0},
    {"Squeeze", 13, "", "float[2,1] int64[1]!{1}", "y", "float[2]", "nothing, alias", 0, 0},
    {"Unsqueeze", 13, "", "float[2] int64[1]!{1}", "y", "float[2,1]", "nothing, alias", 0, 0},
    {MS "ExpandDims", 1, "", "float[2,3] int32[]!{1}", "y", "float[2,1,3]", "nothing, alias", 0, 0},
    {"OptionalGetElement", 18, "", "opt(float[2])", "y", "float[2]", "nothing, alias", 0, 0},
    {"OptionalHasElement", 18, "", "opt(float[2])", "y", "bool[]", "nothing, alias", 0, 0},
    {"SequenceEmpty", 11, "", "", "y", "seq(float[...])", "nothing, alias", 0, 0},
    {"SequenceErase", 11, "", "seq(float[2];float[3]) int64[]!{0}", "y", "seq(float[3])", "nothing, alias", 0,
     0},
    {"SequenceInsert", 11, "", "seq(float[5])*2 float[5]", "y", "seq(float[5])", "nothing, alias", 0, 0},
    {"SequenceLength", 11, "", "seq(float[5])*2", "y", "int64[]", "nothing, alias", 0, 0},
};

static unsigned check_op(const struct row *r)
{
    struct op_case t;
    op_case_run(&t, r->op, r->opset, r->attrs, r->in, r->out);
    const char *types = t.rc ? t.err.msg : op_case_types(&t);
    uint64_t rd = t.rd_act + t.rd_const;
    unsigned wrong = strcmp(types, r->types) != 0 || rd != r->rd || t.wr != r->wr;
    if (wrong)
        print_error("%s: %s, reads %llu, writes %llu; expected %s, %llu, %llu\n", r->op, types,
                    (unsigned long long)rd, (unsigned long long)t.wr, r->types, (unsigned long long)r->rd,
                    (unsigned long long)r->wr);
    op_case_free(&t);
    const char *hist = op_hist(r->op, r->opset, r->attrs, r->in, r->out);
    if (strcmp(hist, r->hist) != 0)
        print_error("%s: %s; expected %s\n", r->op, hist, r->hist);
    return wrong || strcmp(hist, r->hist) != 0;
}

#define CHECK(rows)                                                                                          \
    static void test_##rows(void **state)                                                                    \
    {                                                                                                        \
        unsigned wrong = 0;                                                                                  \
        (void)state;                                                                                         \
        for (size_t i = 0; i < OC_COUNT(rows); i++)                                                          \
            wrong += check_op(&rows[i]);                                                                     \
        assert_int_equal(wrong, 0);                                                                          \
    }
CHECK(elementwise)
CHECK(contractions)
CHECK(others)
CHECK(moves)
CHECK(views)

/* A constant exists before the model runs: it costs nothing. */
static void constant_costs_nothing(void **state)
{
    (void)state;
    assert_string_equal(op_shapes("Constant", 13, "value=int64[2]{1,2}", "", "y"), "int64[2]");
    assert_string_equal(op_hist("Constant", 13, "value=int64[2]{1,2}", "", "y"), "nothing");
}

/* Sorting 6: 6*clog2(6) = 6*3. The number of results is unknown. */
static void unique_output_size_is_unknown(void **state)
{
    (void)state;
    assert_string_equal(op_shapes("com.microsoft:Unique", 1, "", "int64[6]", "yyy"),
                        "int64[node.0] int64[node.0] int64[6]");
    assert_string_equal(op_hist("com.microsoft:Unique", 1, "", "int64[6]", "y"), "CMP 18, upper");
}

/* A model of one node with the inputs `types`, separated by blanks. */
static void analyze_node(const struct oc_op *op, const char *types, const char *out)
{
    struct oc_builder *b = oc_b_new(*op->domain ? 21 : op->since);
    char name[160], in[64] = "", type[40];
    size_t used = 0;
    if (*op->domain)
        oc_b_opset(b, op->domain, op->since);
    for (unsigned i = 0; *types; i++) {
        size_t length = strcspn(types, " ");
        snprintf(type, sizeof(type), "%.*s", (int)length, types);
        snprintf(name, sizeof(name), "x%u", i);
        used += (size_t)snprintf(in + used, sizeof(in) - used, "%s%s", i ? "," : "", name);
        oc_b_input(b, name, type);
        types += length + (types[length] == ' ');
    }
    snprintf(name, sizeof(name), "%s%s%s", op->domain, *op->domain ? "::" : "", op->name);
    oc_b_node(b, name, "", in, out, "");
    struct oc_run run = oc_run_model(b, NULL);
    oc_run_free(&run);
}

/* Nodes without the inputs and outputs that the rules of their operator name: whatever the result, nothing is read
 * or written beyond the slots of the node (AddressSanitizer sees the gaps of the arena). */
static void rules_face_missing_slots(void **state)
{
    static const char *const in[] = {"",
                                     "float[2,3]",
                                     "uint8[2,8]",
                                     "uint8[2,8] int64[2]",
                                     "float[2,3] int64[2]",
                                     "float[2,3] float[2,3] int64[2]",
                                     "float[1,4,8,8]",
                                     "float[1,4,8,8] float[4,4,3,3]",
                                     "float[2,4,8] float[2,4,8]",
                                     "float[2,4,8] float[2,4,8] float[2,4,8]"};
    size_t n, runs = 0;
    const struct oc_op_family *const *f = oc_op_families(&n);
    (void)state;
    for (size_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < f[i]->n; k++)
            for (size_t j = 0; j < OC_COUNT(in); j++, runs += 2) {
                analyze_node(&f[i]->op[k], in[j], "");
                analyze_node(&f[i]->op[k], in[j], "y");
            }
    assert_true(runs > 10000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_face_missing_slots),
        cmocka_unit_test(test_elementwise),
        cmocka_unit_test(test_contractions),
        cmocka_unit_test(test_others),
        cmocka_unit_test(test_moves),
        cmocka_unit_test(test_views),
        cmocka_unit_test(constant_costs_nothing),
        cmocka_unit_test(unique_output_size_is_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
