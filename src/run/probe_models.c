/* The networks of the probe: chains of layers as text, and their writer. Together they have every class of kernels that ONNX
 * Runtime commonly runs on processors, each from a few microseconds to a few milliseconds. What must hold: a network is written
 * for opset 15, which ONNX Runtime reads from 1.10 on, and no weight is subnormal. */
#include "run/probe_models.h"

#include <math.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/str.h"
#include "base/units.h"
#include "base/wire.h"
#include "model/graph_writer.h"
#include "shape/type.h"

/* A layer is a sequence of statements, separated by ';': a result, an operator, its inputs and attributes.
 *
 *   x            a variable, the output of the last statement that set it
 *   float[64,3]    a weight of random numbers; float:0.5 a scalar; int64{2,3} a list
 *   -            an absent input
 *   axis=1       attributes: an integer, a list (it has a comma), a number with a point, or a text
 *   $a to $e     the sizes of the layer; $s that of the network: side of an image, length of a sequence
 *
 * "x = Input float 1,3" is an input of the network; its output is the mean of the last x. */
struct layer {
    const char *text;
    int size[5];
};

/* ---- images: $a channels in, $b channels out, $c kernel, $d stride, $e padding ------------------------- */

static const char image[] = "x = Input float 1,$a,$s,$s";
static const char conv[] =
    "x = Conv x float[$b,$a,$c,$c] float[$b] strides=$d,$d pads=$e,$e,$e,$e; x = Relu x";
static const char residual[] = "y = Conv x float[$a,$a,3,3] float[$a] pads=1,1,1,1; y = Relu y;"
                               "y = Conv y float[$a,$a,3,3] float[$a] pads=1,1,1,1; x = Add x y; x = Relu x";
static const char grouped[] = "x = Conv x float[$a,$b,3,3] float[$a] group=$c pads=1,1,1,1; x = LeakyRelu x";
static const char transposed[] = "x = ConvTranspose x float[$a,$b,2,2] float[$b] strides=2,2; x = Sigmoid x";
static const char max_pool[] = "x = MaxPool x kernel_shape=3,3 strides=2,2 pads=1,1,1,1";
static const char average_pool[] = "x = AveragePool x kernel_shape=3,3 strides=1,1 pads=1,1,1,1";
static const char enlarged[] = "x = Resize x - float{1,1,2,2} mode=nearest nearest_mode=floor "
                               "coordinate_transformation_mode=asymmetric";
static const char classified[] =
    "x = GlobalAveragePool x; x = Flatten x; x = Gemm x float[$b,$a] float[$b] transB=1;"
    "x = Softmax x axis=-1";
static const char hard_swish[] = "x = HardSwish x";
static const char expanded[] =
    "y = Conv x float[$b,$a,1,1] float[$b]; y = HardSwish y;"
    "y = Conv y float[$b,1,$c,$c] float[$b] group=$b strides=$d,$d pads=$e,$e,$e,$e";
static const char swish[] = "z = Sigmoid y; y = Mul y z";
static const char squeezed[] = "z = GlobalAveragePool y; z = Conv z float[$b,$a,1,1] float[$b]; z = Relu z;"
                               "z = Conv z float[$a,$b,1,1] float[$a]; z = HardSigmoid z; y = Mul y z";
static const char projected[] = "x = Conv y float[$b,$a,1,1] float[$b]";
static const char projected_sum[] = "y = Conv y float[$b,$a,1,1] float[$b]; x = Add x y";

static const struct layer images[] = {
    {image, {3}},
    {conv, {3, 32, 7, 2, 3}},
    {max_pool, {0}},
    {residual, {32}},
    {conv, {32, 64, 3, 2, 1}},
    {residual, {64}},
    {conv, {64, 256, 1, 1, 0}},
    {grouped, {256, 32, 8}},
    {conv, {256, 128, 1, 1, 0}},
    {conv, {128, 128, 3, 2, 1}},
    {conv, {128, 512, 1, 1, 0}},
    {average_pool, {0}},
    {conv, {512, 18, 1, 1, 0}},
    {conv, {18, 30, 3, 1, 1}}, /* channels that fill no vectors */
    {transposed, {30, 64}},
    {enlarged, {0}},
    {conv, {64, 16, 5, 1, 2}},
    {classified, {16, 1000}},
};

static const struct layer mobile[] = {
    {image, {3}},
    {conv, {3, 16, 3, 2, 1}},
    {hard_swish, {0}},
    {expanded, {16, 64, 3, 2, 1}},
    {projected, {64, 24}},
    {expanded, {24, 72, 5, 1, 2}},
    {squeezed, {72, 24}},
    {projected_sum, {72, 24}},
    {expanded, {24, 144, 5, 2, 2}},
    {squeezed, {144, 40}},
    {projected, {144, 40}},
    {expanded, {40, 240, 3, 2, 1}},
    {swish, {0}},
    {projected, {240, 80}},
    {expanded, {80, 480, 3, 1, 1}},
    {squeezed, {480, 120}},
    {projected_sum, {480, 80}},
    {classified, {80, 1000}},
};

/* ---- text: $a width, $b heads, $c width of a head, $d width between, $e width of the next layer --------- */

static const char embedding[] = "i = Input int64 1,$s; x = Gather float[500,$a] i; x = Add x float[$s,$a]";
static const char norm[] =
    "m = ReduceMean x axes=-1,; d = Sub x m; v = Pow d float:2; v = ReduceMean v axes=-1,;"
    "v = Add v float:0.00001; v = Sqrt v; d = Div d v; d = Mul d float[$a]; x = Add d float[$a]";
static const char attention[] =
    "q = MatMul x float[$a,$a]; q = Add q float[$a]; q = Reshape q int64{1,$s,$b,$c}; q = Transpose q "
    "perm=0,2,1,3;"
    "k = MatMul x float[$a,$a]; k = Add k float[$a]; k = Reshape k int64{1,$s,$b,$c}; k = Transpose k "
    "perm=0,2,3,1;"
    "v = MatMul x float[$a,$a]; v = Add v float[$a]; v = Reshape v int64{1,$s,$b,$c}; v = Transpose v "
    "perm=0,2,1,3;"
    "p = MatMul q k; p = Mul p float:0.125; p = Softmax p axis=-1; y = MatMul p v;"
    "y = Transpose y perm=0,2,1,3; y = Reshape y int64{1,$s,$a}; y = MatMul y float[$a,$a]; y = Add y "
    "float[$a];"
    "x = Add x y";
static const char perceptron[] =
    "y = MatMul x float[$a,$d]; y = Add y float[$d]; z = Div y float:1.41421; z = Erf z;"
    "z = Add z float:1; y = Mul y z; y = Mul y float:0.5;"
    "y = MatMul y float[$d,$a]; y = Add y float[$a]; x = Add x y";
static const char widened[] = "x = MatMul x float[$a,$e]; x = Tanh x";
static const char last_token[] =
    "x = Slice x int64{-1} int64{9999} int64{1}; x = MatMul x float[$a,$e]; x = Softmax x axis=-1";

static const struct layer text[] = {
    {embedding, {192}},
    {norm, {192}},
    {attention, {192, 3, 64}},
    {norm, {192}},
    {perceptron, {192, 0, 0, 768}},
    {norm, {192}},
    {widened, {192, 0, 0, 0, 320}},
    {attention, {320, 5, 64}},
    {norm, {320}},
    {perceptron, {320, 0, 0, 960}},
    {norm, {320}},
    {last_token, {320, 0, 0, 0, 500}},
};

/* ---- recurrent layers: $a width, $b hidden width, $c and $d three and four times that, $e twice that ------ */

static const char sequence[] = "x = Input float $s,1,$a";
static const char lstm[] =
    "x = LSTM x float[1,$d,$a] float[1,$d,$b] hidden_size=$b; x = Reshape x int64{-1,1,$b}";
static const char gru[] =
    "x = GRU x float[1,$c,$a] float[1,$c,$b] hidden_size=$b; x = Reshape x int64{-1,1,$b}";
static const struct layer recurrent[] = {
    {sequence, {40}},
    {lstm, {40, 64, 192, 256}},
    {gru, {64, 128, 384, 512}},
    {lstm, {128, 256, 768, 1024}},
};

/* ---- kernels that are bound by memory: images of $a channels -------------------------------------------- */

static const char arithmetic[] =
    "y = Mul x float[1,$a,1,1]; x = Add x y; x = Sub x float[$s]; x = Tanh x; x = Exp x;"
    "x = Clip x float:0.1 float:2; y = Sqrt x; x = Div x y; y = Erf x; x = Max x y";
static const char moved[] =
    "y = Transpose x perm=0,2,3,1; y = Reshape y int64{1,$a,$s,$s}; x = Add x y;"
    "y = Transpose x perm=0,3,1,2; y = Reshape y int64{1,$a,$s,$s}; y = Concat x y axis=1; y = Slice y "
    "int64{1} int64{-1} int64{1};"
    "y = Slice y int64{0} int64{$a} int64{1}; x = Add x y; u,v = Split x axis=1; x = Concat v u axis=1;"
    "y = Pad x int64{0,0,1,1,0,0,1,1}; x = Slice y int64{1,1} int64{-1,-1} int64{2,3};"
    "y = Transpose x perm=0,1,3,2; x = Add x y";
static const char reduced[] = "y = ReduceMean x axes=2,3; x = Sub x y; y = ReduceMean x axes=1,; x = Mul x y;"
                              "y = ReduceMax x axes=3,; x = Sub x y; x = Softmax x axis=3;"
                              "x = Add x y; x = InstanceNormalization x float[$a] float[$a];"
                              "x = BatchNormalization x float[$a] float[$a] float[$a] float[$a]";
static const char chosen[] =
    "c = Greater x float:0; x = Where c x float:0.5; x = PRelu x float[$a,1,1];"
    "y = ArgMax x axis=1; y = Cast y to=1; x = Add x y; y,i = TopK x int64{1} axis=1; x = Add x y";
static const char resized[] =
    "y = MaxPool x kernel_shape=2,2 strides=2,2; z = AveragePool x kernel_shape=2,2 strides=2,2;"
    "y = Add y z; y = Resize y - float{1,1,2,2} mode=linear; x = Add x y;"
    "y = DepthToSpace x blocksize=2; y = SpaceToDepth y blocksize=2; x = Add x y";

static const struct layer memory[] = {
    {image, {32}}, {arithmetic, {32}}, {moved, {32}}, {reduced, {32}}, {chosen, {32}}, {resized, {32}},
};

/* ---- integers: $a channels in, $b channels out, $c kernel, $d stride, $e padding ------------------------- */

static const char quantized[] = "x = QuantizeLinear x float:0.02 uint8:128";
static const char integer_conv[] = "x = QLinearConv x float:0.02 uint8:128 int8[$b,$a,$c,$c] float:0.01 "
                                   "int8:0 float:0.02 uint8:128 int32[$b] "
                                   "strides=$d,$d pads=$e,$e,$e,$e";
static const char integer_depthwise[] =
    "x = QLinearConv x float:0.02 uint8:128 int8[$a,1,3,3] float:0.01 int8:0 float:0.02 uint8:128 "
    "int32[$a] group=$a pads=1,1,1,1";
static const char integer_sum[] =
    "y = DequantizeLinear x float:0.02 uint8:128; z = DequantizeLinear x float:0.03 uint8:128;"
    "y = Add y z; x = QuantizeLinear y float:0.02 uint8:128";
static const char dequantized[] = "x = DequantizeLinear x float:0.02 uint8:128";
static const char rows[] = "x = Reshape x int64{$a,$b}";
static const char integer_product[] =
    "q,u,z = DynamicQuantizeLinear x; y = MatMulInteger q int8[$a,$b] z int8:0;"
    "y = Cast y to=1; u = Mul u float:0.01; x = Mul y u; x = Add x float[$b]";

static const struct layer integers[] = {
    {image, {3}},
    {quantized, {0}},
    {integer_conv, {3, 32, 3, 2, 1}},
    {integer_depthwise, {32}},
    {integer_conv, {32, 64, 1, 1, 0}},
    {integer_sum, {0}},
    {integer_conv, {64, 128, 3, 2, 1}},
    {integer_conv, {128, 256, 1, 1, 0}},
    {dequantized, {0}},
    {rows, {-1, 512}},
    {integer_product, {512, 256}},
    {integer_product, {256, 1024}},
};

/* ---- the networks ---------------------------------------------------------------------------------------- */

#define LAYERS(table) table, OC_COUNT(table)
/* Runs: a network of short kernels is recorded for a tenth of a second at least, over which a machine is steady. */
static const struct network {
    const char *name;
    const struct layer *layer;
    size_t n_layer;
    int size;
    uint32_t runs;
} networks[] = {
    {"probe_images@64", LAYERS(images), 64, 100},
    {"probe_images@288", LAYERS(images), 288, 20},
    {"probe_mobile@64", LAYERS(mobile), 64, 200},
    {"probe_mobile@224", LAYERS(mobile), 224, 40},
    {"probe_text@1", LAYERS(text), 1, 200},
    {"probe_text@16", LAYERS(text), 16, 100},
    {"probe_text@128", LAYERS(text), 128, 20},
    {"probe_recurrent@20", LAYERS(recurrent), 20, 200},
    {"probe_memory@8", LAYERS(memory), 8, 200},
    {"probe_memory@40", LAYERS(memory), 40, 100},
    {"probe_memory@160", LAYERS(memory), 160, 20},
    {"probe_integers@32", LAYERS(integers), 32, 200},
    {"probe_integers@128", LAYERS(integers), 128, 40},
};

/* ---- writer ---------------------------------------------------------------------------------------------- */

enum { OPSET = 15, MOST_WORDS = 24, MOST_DIMS = 5, N_VARIABLE = 26 };

struct probe {
    struct oc_graph_writer g;
    const struct network *network;
    const struct layer *layer;
    const char *variable[N_VARIABLE]; /* x: [23] */
    uint32_t n_weight;
    uint64_t random;
};

/* The text with numbers for $a to $e and $s. */
static char *probe_fill_sizes(struct probe *p)
{
    struct oc_buf b = {0};
    for (const char *c = p->layer->text; *c; c++)
        if (*c == '$')
            oc_buf_int(&b, *++c == 's' ? p->network->size : p->layer->size[*c - 'a']);
        else
            oc_buf_char(&b, *c);
    char *all = oc_strndup(&p->g.arena, b.data, b.n);
    oc_buf_free(&b);
    return all;
}

static uint64_t probe_random(struct probe *p) /* xorshift64* */
{
    p->random ^= p->random >> 12;
    p->random ^= p->random << 25;
    p->random ^= p->random >> 27;
    return p->random * 0x2545f4914f6cdd1dU;
}

/* As raw_data. */
static void probe_put_number(struct oc_buf *b, unsigned dtype, double v)
{
    uint8_t raw[8];
    float f = (float)v;
    uint32_t bits;
    size_t n = oc_dtype_info(dtype)->bits / 8;
    memcpy(&bits, &f, sizeof(bits));
    oc_store_le(raw, dtype == OC_DT_FLOAT ? bits : (uint64_t)(int64_t)v, n);
    oc_buf_add(b, raw, n);
}

/* Random numbers: floats of both signs for products, which keep the magnitude of their inputs, and positive ones for biases,
 * scales and variances; all between 1/4 and 7/4 of a magnitude, so that none is close to zero. */
static void probe_put_random(struct probe *p, struct oc_buf *b, unsigned dtype, size_t rank,
                             const int64_t *dim)
{
    double fan_in = rank == 2 ? (double)dim[0] : 1;
    size_t n = 1;
    for (size_t i = 0; i < rank; i++) {
        n *= (size_t)dim[i];
        fan_in *= rank > 2 && i ? (double)dim[i] : 1;
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t r = probe_random(p);
        double share = (double)(r >> 11) * 0x1p-53, sign = rank > 1 && r & 1 ? -1 : 1;
        probe_put_number(b, dtype,
                         dtype == OC_DT_FLOAT ? sign * (0.25 + 1.5 * share) / sqrt(fan_in)
                                              : (double)(r % 64) - 32);
    }
}

/* Numbers with commas. Returns how many. */
static size_t probe_numbers(const char *s, double *out, size_t most)
{
    size_t n = 0;
    for (; *s && n < most; n++) {
        size_t k = strcspn(s, ",");
        if (!oc_parse_double(s, k, &out[n]))
            break;
        s += k + (s[k] == ',');
    }
    return n;
}

static size_t probe_integers(const char *s, int64_t *out, size_t most)
{
    double v[16];
    size_t n = probe_numbers(s, v, most < OC_COUNT(v) ? most : OC_COUNT(v));
    for (size_t i = 0; i < n; i++)
        out[i] = (int64_t)v[i];
    return n;
}

/* "float[64,3]", "float:0.5" or "int64{2,3}". */
static const char *probe_weight(struct probe *p, const char *word)
{
    size_t at = strcspn(word, "[{:");
    unsigned dtype = oc_dtype_by_name(word, at);
    const char *name = oc_printf(&p->g.arena, "w%u", p->n_weight++);
    char *inside = oc_strdup(&p->g.arena, word + at + 1);
    double v[16];
    int64_t dim[MOST_DIMS];
    struct oc_buf b = {0};
    size_t rank = word[at] == ':' ? 0 : 1;
    inside[strcspn(inside, "]}")] = '\0';
    if (word[at] == '[') {
        rank = probe_integers(inside, dim, MOST_DIMS);
        probe_put_random(p, &b, dtype, rank, dim);
    } else {
        dim[0] = (int64_t)probe_numbers(inside, v, OC_COUNT(v));
        for (int64_t i = 0; i < dim[0]; i++)
            probe_put_number(&b, dtype, v[i]);
    }
    oc_gw_tensor(&p->g, name, dtype, rank, dim, &b);
    oc_buf_free(&b);
    return name;
}

static const char **probe_variable(struct probe *p, const char *word)
{
    return &p->variable[word[0] - 'a'];
}

/* "axis=1" for the next node. */
static void probe_attribute(struct probe *p, const char *word)
{
    size_t n = strcspn(word, "=");
    const char *name = oc_strndup(&p->g.arena, word, n), *value = word + n + 1;
    double v[1];
    int64_t list[16];
    if (strchr(value, ','))
        oc_gw_attr_ints(&p->g, name, list, probe_integers(value, list, OC_COUNT(list)));
    else if (!probe_numbers(value, v, 1))
        oc_gw_attr_s(&p->g, name, value);
    else if (strchr(value, '.'))
        oc_gw_attr_f(&p->g, name, (float)v[0]);
    else
        oc_gw_attr_i(&p->g, name, (int64_t)v[0]);
}

static void probe_value_info(struct probe *p, struct oc_messages *list, const char *name, unsigned dtype,
                             char *dims)
{
    const char *dim[MOST_DIMS + 1] = {0};
    size_t n = 0;
    for (char *at = NULL, *d = strtok_r(dims, ",", &at); d && n < MOST_DIMS; d = strtok_r(NULL, ",", &at))
        dim[n++] = d;
    oc_gw_value_info(&p->g, list, name, (int)dtype, dim);
}

/* word: result "=" operator inputs and attributes */
static void probe_statement(struct probe *p, char **word, size_t n)
{
    const char *in[MOST_WORDS] = {0}, *out[N_VARIABLE] = {0};
    size_t n_in = 0, n_out = 0;
    if (!strcmp(word[2], "Input")) {
        *probe_variable(p, word[0]) = word[0];
        probe_value_info(p, &p->g.input, word[0], oc_dtype_by_name(word[3], strlen(word[3])), word[4]);
        return;
    }
    for (size_t i = 3; i < n; i++)
        if (strchr(word[i], '='))
            probe_attribute(p, word[i]);
        else
            in[n_in++] = !strcmp(word[i], "-") ? ""
                         : !word[i][1]         ? *probe_variable(p, word[i])
                                               : probe_weight(p, word[i]);
    for (const char *w = word[0]; *w; w += strcspn(w, ",") + (w[1] == ',')) {
        const char *name = oc_printf(&p->g.arena, "%c%zu", *w, p->g.node.n);
        *probe_variable(p, w) = out[n_out++] = name;
    }
    oc_gw_node(&p->g, "", word[2], in, out);
}

static void probe_layer(struct probe *p)
{
    char *at = NULL, *part = NULL, *all = probe_fill_sizes(p);
    for (char *s = strtok_r(all, ";", &at); s; s = strtok_r(NULL, ";", &at)) {
        char *word[MOST_WORDS], none[] = "";
        size_t n = 0;
        for (size_t i = 0; i < MOST_WORDS; i++)
            word[i] = none;
        for (char *w = strtok_r(s, " ", &part); w && n < MOST_WORDS; w = strtok_r(NULL, " ", &part))
            word[n++] = w;
        probe_statement(p, word, n);
    }
}

const char *oc_probe_model_name(size_t i)
{
    return i < OC_COUNT(networks) ? networks[i].name : NULL;
}

uint32_t oc_probe_model_runs(size_t i)
{
    return networks[i].runs;
}

void oc_probe_model_write(size_t i, struct oc_buf *out)
{
    static const struct layer end = {"x = ReduceMean x keepdims=0", {0}};
    char none[] = "";
    struct probe p = {.network = &networks[i], .random = 0x9e3779b97f4a7c15U + i};
    p.g.names.arena = &p.g.arena;
    p.g.opset = OPSET;
    for (size_t k = 0; k <= p.network->n_layer; k++) {
        p.layer = k < p.network->n_layer ? &p.network->layer[k] : &end;
        probe_layer(&p);
    }
    probe_value_info(&p, &p.g.output, *probe_variable(&p, "x"), OC_DT_FLOAT, none);
    oc_gw_write(&p.g, "onnxcost", out);
    oc_gw_free(&p.g);
}
