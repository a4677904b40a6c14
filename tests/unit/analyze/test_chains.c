/* Shapes computed by the model itself: the operator chains that exporters write, with unknown sizes and with
 * numbers (shape-inference sections 3 and 8). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/analysis.h"
#include "support/build.h"
#include "onnxcost.h"

static struct oc_arena texts;

/* The type of value y with the symbols unknown (bind NULL) or bound. Frees the builder. */
static const char *infer_output(struct oc_builder *b, const struct oc_bind *bind, size_t n_bind)
{
    const struct oc_analyze_opts o = {.bind = bind, .n_bind = n_bind, .no_defaults = true};
    struct oc_model *m;
    struct oc_analysis *a = NULL;
    struct oc_err err = {0};
    const char *text = "no such value";
    size_t n;
    uint8_t *bytes = oc_b_pack(b, &n);
    oc_b_free(b);
    if (oc_model_load_mem(bytes, n, NULL, &m, &err) || oc_analyze(m, &o, &a, &err))
        fail_msg("%s", err.msg);
    for (size_t i = 0; i < a->diags.n; i++)
        if (a->diags.item[i].severity == OC_ERROR)
            fail_msg("%s", a->diags.item[i].text);
    for (uint32_t i = 0; i < m->n_value; i++)
        if (strcmp(m->value[i].name, "y") == 0)
            text = oc_type_text(&texts, a->exprs, &a->type[i]);
    oc_analysis_free(a);
    oc_model_free(m);
    free(bytes);
    return text;
}

static const struct oc_bind numbers[] = {{"B", 2}, {"S", 128}, {"H", 33}, {"W", 50}, {"past", 7}};

/* Binds the `n` symbols from the first name `from` on. */
static void check_chain(struct oc_builder *(*make)(void), const char *unknown, const char *bound, size_t from,
                        size_t n)
{
    assert_string_equal(infer_output(make(), NULL, 0), unknown);
    assert_string_equal(infer_output(make(), numbers + from, n), bound);
}

static struct oc_builder *with_input(const char *type)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", type);
    oc_b_init(b, "zero", "int64[]{0}");
    oc_b_init(b, "one", "int64[]{1}");
    oc_b_init(b, "first", "int64[1]{0}");
    oc_b_init(b, "minus1", "int64[1]{-1}");
    oc_b_node(b, "Shape", NULL, "x", "s", "");
    return b;
}

static struct oc_builder *finish_model(struct oc_builder *b)
{
    oc_b_output(b, "y", NULL);
    return b;
}

/* b: x[B,S,768] to heads and back */
static struct oc_builder *heads(void)
{
    struct oc_builder *b = with_input("float[B,S,768]");
    oc_b_init(b, "to", "int64[4]{0,0,12,64}");
    oc_b_init(b, "back", "int64[3]{0,0,768}");
    oc_b_node(b, "Reshape", NULL, "x,to", "h", "");
    oc_b_node(b, "Transpose", NULL, "h", "q", "perm=0,2,1,3");
    oc_b_node(b, "Transpose", NULL, "h", "k", "perm=0,2,3,1");
    oc_b_node(b, "MatMul", NULL, "q,k", "p", "");
    oc_b_node(b, "Softmax", NULL, "p", "w", "");
    oc_b_node(b, "MatMul", NULL, "w,q", "o", "");
    oc_b_node(b, "Transpose", NULL, "o", "t", "perm=0,2,1,3");
    oc_b_node(b, "Reshape", NULL, "t,back", "y", "");
    return finish_model(b);
}

/* c: Shape, Gather, Div, Unsqueeze, Concat, Reshape */
static struct oc_builder *half(void)
{
    struct oc_builder *b = with_input("float[B,S,64]");
    oc_b_init(b, "two", "int64[]{2}");
    oc_b_node(b, "Gather", NULL, "s,zero", "batch", "axis=0");
    oc_b_node(b, "Gather", NULL, "s,one", "length", "axis=0");
    oc_b_node(b, "Div", NULL, "length,two", "half", "");
    oc_b_node(b, "Unsqueeze", NULL, "batch,first", "u", "");
    oc_b_node(b, "Unsqueeze", NULL, "half,first", "v", "");
    oc_b_node(b, "Concat", NULL, "u,v,minus1", "shape", "axis=0");
    oc_b_node(b, "Reshape", NULL, "x,shape", "r", "");
    oc_b_node(b, "ReduceSum", NULL, "r,minus1", "y", "keepdims=0");
    return finish_model(b);
}

/* d: Where(Equal(target, -1), ones, target) */
static struct oc_builder *expand(void)
{
    struct oc_builder *b = with_input("float[B,1,S]");
    oc_b_init(b, "last", "int64[]{2}");
    oc_b_node(b, "Gather", NULL, "s,zero", "batch", "axis=0");
    oc_b_node(b, "Gather", NULL, "s,last", "length", "axis=0");
    oc_b_node(b, "Unsqueeze", NULL, "batch,first", "u", "");
    oc_b_node(b, "Unsqueeze", NULL, "length,first", "v", "");
    oc_b_node(b, "Concat", NULL, "u,minus1,v", "target", "axis=0");
    oc_b_node(b, "Shape", NULL, "target", "n", "");
    oc_b_node(b, "ConstantOfShape", NULL, "n", "ones", "value=int64[1]{1}");
    oc_b_node(b, "Mul", NULL, "ones,minus1", "minus", "");
    oc_b_node(b, "Equal", NULL, "target,minus", "is_minus", "");
    oc_b_node(b, "Where", NULL, "is_minus,ones,target", "shape", "");
    oc_b_node(b, "Expand", NULL, "x,shape", "y", "");
    return finish_model(b);
}

/* sizes of a Resize: Slice, Cast, Mul, Floor, Cast, Concat */
static struct oc_builder *upscale(void)
{
    struct oc_builder *b = with_input("float[1,3,H,W]");
    oc_b_init(b, "two", "int64[1]{2}");
    oc_b_init(b, "end", "int64[1]{9223372036854775807}");
    oc_b_init(b, "factor", "float[]{1.5}");
    oc_b_node(b, "Slice", NULL, "s,first,two,first", "nc", "");
    oc_b_node(b, "Slice", NULL, "s,two,end,first", "hw", "");
    oc_b_node(b, "Cast", NULL, "hw", "real", "to=1");
    oc_b_node(b, "Mul", NULL, "real,factor", "scaled", "");
    oc_b_node(b, "Floor", NULL, "scaled", "floor", "");
    oc_b_node(b, "Cast", NULL, "floor", "whole", "to=7");
    oc_b_node(b, "Concat", NULL, "nc,whole", "sizes", "axis=0");
    oc_b_node(b, "Resize", NULL, "x,,,sizes", "y", "mode='nearest'");
    return finish_model(b);
}

/* positions: Range over the length, expanded, looked up */
static struct oc_builder *positions(void)
{
    struct oc_builder *b = with_input("int64[B,S]");
    oc_b_init(b, "table", "float[512,768]");
    oc_b_node(b, "Gather", NULL, "s,one", "length", "axis=0");
    oc_b_node(b, "Range", NULL, "zero,length,one", "r", "");
    oc_b_node(b, "Unsqueeze", NULL, "r,first", "row", "");
    oc_b_node(b, "Expand", NULL, "row,s", "ids", "");
    oc_b_node(b, "Gather", NULL, "table,ids", "y", "");
    return finish_model(b);
}

/* a slice of a stored mask, added to scores: the size of the scores is preserved */
static struct oc_builder *mask(void)
{
    struct oc_builder *b = with_input("float[B,12,S,S]");
    oc_b_init(b, "mask", "float[1,1,512,512]");
    oc_b_init(b, "axis2", "int64[1]{2}");
    oc_b_init(b, "axis3", "int64[1]{3}");
    oc_b_init(b, "end", "int64[1]{3}");
    oc_b_node(b, "Slice", NULL, "s,axis2,end,first", "length", "");
    oc_b_node(b, "Slice", NULL, "mask,first,length,axis2", "m", "");
    oc_b_node(b, "Slice", NULL, "m,first,length,axis3", "n", "");
    oc_b_node(b, "Add", NULL, "x,n", "y", "");
    return finish_model(b);
}

/* e: a cache grows by one and is sliced back */
static struct oc_builder *cache(void)
{
    struct oc_builder *b = with_input("float[B,8,past,64]");
    oc_b_input(b, "new", "float[B,8,1,64]");
    oc_b_init(b, "axis2", "int64[1]{2}");
    oc_b_node(b, "Concat", NULL, "x,new", "grown", "axis=2");
    oc_b_node(b, "Slice", NULL, "grown,first,minus1,axis2", "cut", "");
    oc_b_node(b, "Concat", NULL, "cut,grown", "y", "axis=2");
    return finish_model(b);
}

/* Tile by a computed count; pads computed the way an exporter writes them (reversed pairs) */
static struct oc_builder *tile_and_pad(void)
{
    struct oc_builder *b = with_input("float[B,S]");
    oc_b_init(b, "pads", "int64[4]{1,2,3,4}"); /* last axis first: begin 1, end 2; then 3, 4 */
    oc_b_init(b, "pairs", "int64[2]{-1,2}");
    oc_b_init(b, "lowest", "int64[1]{-9223372036854775807}");
    oc_b_node(b, "Reshape", NULL, "pads,pairs", "p2", "");
    oc_b_node(b, "Slice", NULL, "p2,minus1,lowest,first,minus1", "reversed", "");
    oc_b_node(b, "Transpose", NULL, "reversed", "t", "");
    oc_b_node(b, "Reshape", NULL, "t,minus1", "flat", "");
    oc_b_node(b, "Pad", NULL, "x,flat", "padded", "mode='constant'");
    oc_b_node(b, "Gather", NULL, "s,first", "batch", "");
    oc_b_init(b, "single", "int64[1]{1}");
    oc_b_node(b, "Concat", NULL, "single,batch", "repeats", "axis=0");
    oc_b_node(b, "Tile", NULL, "padded,repeats", "y", "");
    return finish_model(b);
}

static void exporter_chains_keep_symbols_and_fold_numbers(void **state)
{
    (void)state;
    check_chain(heads, "float[B,S,768]", "float[2,128,768]", 0, 2);
    check_chain(half, "float[B,floor(S/2)]", "float[2,64]", 0, 2);
    check_chain(expand, "float[B,1,S]", "float[2,1,128]", 0, 2);
    check_chain(upscale, "float[1,3,floor((3*H)/2),floor((3*W)/2)]", "float[1,3,49,75]", 2, 2);
    check_chain(positions, "float[B,S,768]", "float[2,128,768]", 0, 2);
    check_chain(mask, "float[B,12,S,S]", "float[2,12,128,128]", 0, 2);
    check_chain(tile_and_pad, "float[B + 7,B*S + 3*B]", "float[9,262]", 0,
                2); /* 2 + 3 + 4; 2*(128 + 1 + 2) */
    assert_string_equal(infer_output(cache(), NULL, 0), "float[B,8,2*past + 1,64]");
}

/* n: a data-dependent size is propagated as one unknown with its bound */
static void data_dependent_size_is_one_bounded_unknown(void **state)
{
    (void)state;
    struct oc_builder *b = with_input("float[4,S]");
    oc_b_node(b, "NonZero", "found", "x", "at", "");
    oc_b_node(b, "Transpose", NULL, "at", "rows", "");
    oc_b_node(b, "GatherND", NULL, "x,rows", "values", "");
    oc_b_node(b, "Concat", NULL, "values,values", "y", "axis=0");
    finish_model(b);
    assert_string_equal(infer_output(b, numbers + 1, 1), "float[2*found.1]");
}

static int free_texts(void **state)
{
    (void)state;
    oc_arena_free(&texts);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(exporter_chains_keep_symbols_and_fold_numbers),
                                       cmocka_unit_test(data_dependent_size_is_one_bounded_unknown)};
    return cmocka_run_group_tests(tests, NULL, free_texts);
}
