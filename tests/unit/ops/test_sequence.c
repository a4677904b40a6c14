#include "support/op_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const struct op_shape_row shapes[] = {
    {"SequenceEmpty", 11, "", "", "y", "seq(float[...])"},
    {"SequenceEmpty", 11, "dtype=7", "", "y", "seq(int64[...])"},
    {"SequenceEmpty", 11, "dtype=-3", "", "y", "error: invalid dtype -3"},
    {"SequenceConstruct", 11, "", "float[2] seq(float[2])*2", "y",
     "error: a tensor is expected, not a sequence"},
    {"SequenceConstruct", 11, "", "float[2,3] float[2,3]", "y", "seq(float[2,3])"},
    {"SequenceConstruct", 11, "", "float[2,3] float[4,3]", "y", "seq(float[node.0,3])"},
    {"SequenceConstruct", 11, "", "float[2,3] float[4]", "y", "seq(float[...])"},
    /* the exact type where position and list are known */
    {"SequenceAt", 11, "", "seq(float[2,3];float[4,3]) int64[]!{1}", "y", "float[4,3]"},
    {"SequenceAt", 11, "", "seq(float[2,3];float[4,3]) int64[]!{-2}", "y", "float[2,3]"},
    {"SequenceAt", 11, "", "seq(float[2,3];float[4,3]) int64[]", "y", "float[?,3]"},
    {"SequenceAt", 11, "", "seq(float[2,3])*3 int64[]!{2}", "y", "float[2,3]"},
    {"SequenceAt", 11, "", "seq(float[2,3])*3 int64[]!{3}", "y",
     "error: position 3 is out of range for a sequence of 3"},
    {"SequenceAt", 11, "", "seq(float[2,3])*3 int64[]!{-4}", "y",
     "error: position -4 is out of range for a sequence of 3"},
    {"SequenceAt", 11, "", "seq(float[2,3]) int64[]!{7}", "y", "float[2,3]"},
    {"SequenceAt", 11, "", "? int64[]!{7}", "y", "?"},
    {"SequenceInsert", 11, "", "seq(float)*0 float[5]", "y", "seq(float[5])"},
    {"SequenceInsert", 11, "", "seq(float[5])*N float[6]", "y", "seq(float[node.0])"},
    {"SequenceInsert", 11, "", "seq(float[5])*2 float[5] int64[]!{3}", "y",
     "error: position 3 is out of range for a sequence of 2"},
    {"SequenceInsert", 11, "", "seq(float[5])*2 seq(float[5])*2", "y",
     "error: a tensor is expected, not a sequence"},
    {"SequenceErase", 11, "", "seq(float[2];float[3]) int64[]!{0}", "y", "seq(float[3])"},
    {"SequenceErase", 11, "", "seq(float[2];float[3])", "y", "seq(float[2])"},
    {"SequenceErase", 11, "", "seq(float[2])*0", "y", "error: the sequence is empty"},
    {"SequenceLength", 11, "", "seq(float[2])", "y", "int64[]"},
    {"SplitToSequence", 11, "", "float[3,4]", "y", "seq(float[1,4])"},
    {"SplitToSequence", 11, "keepdims=0 axis=-1", "float[3,4]", "y", "seq(float[3])"},
    {"SplitToSequence", 11, "keepdims=0", "float[3,4] int64[]!{1}", "y", "seq(float[1,4])"},
    {"SplitToSequence", 11, "", "float[6,4] int64[]!{2}", "y", "seq(float[2,4])"},
    {"SplitToSequence", 11, "", "float[5,4] int64[]!{2}", "y", "seq(float[node.0,4])"},
    {"SplitToSequence", 11, "", "float[6,4] int64[2]!{2,4}", "y", "seq(float[node.0,4])"},
    {"SplitToSequence", 11, "", "float[6,4] int64[2]!{3,3}", "y", "seq(float[3,4])"},
    {"SplitToSequence", 11, "", "float[6,4] int64[3]", "y", "seq(float[part,4])"},
    {"SplitToSequence", 11, "", "float[6,4] int64[]", "y", "seq(float[part,4])"},
    {"SplitToSequence", 11, "", "float[6,4] int64[]!{0}", "y", "error: invalid part size 0"},
    {"SplitToSequence", 11, "axis=2", "float[6,4]", "y", "error: axis 2 is out of range for rank 2"},
    {"SplitToSequence", 11, "", "float", "y", "seq(float[...])"},
    {"ConcatFromSequence", 11, "axis=0", "seq(float[2,3];float[4,3])", "y", "float[6,3]"},
    {"ConcatFromSequence", 11, "axis=0", "seq(float[2,3])*5", "y", "float[10,3]"},
    {"ConcatFromSequence", 11, "axis=1", "seq(float[2,3])*N", "y", "float[2,3*N]"},
    {"ConcatFromSequence", 11, "axis=0", "seq(float[2,3])", "y", "float[node.0,3]"},
    /* unknown sizes may differ between elements */
    {"ConcatFromSequence", 11, "axis=0", "seq(float[M,3])*2", "y", "float[node.0,3]"},
    {"ConcatFromSequence", 11, "axis=-1 new_axis=1", "seq(float[2,3])*5", "y", "float[2,3,5]"},
    {"ConcatFromSequence", 11, "axis=0 new_axis=1", "seq(float[2,3])", "y", "float[node.0,2,3]"},
    {"ConcatFromSequence", 11, "axis=2", "seq(float[2,3])*5", "y",
     "error: axis 2 is out of range for rank 2"},
    {"ConcatFromSequence", 11, "axis=0", "seq(float)*5", "y", "float[...]"},
    {"Optional", 15, "", "float[2]", "y", "optional(float[2])"},
    {"Optional", 15, "", "", "y", "optional(?)"},
    {"Optional", 15, "", "seq(float[2])*3", "y", "optional(seq(float[2]))"},
    {"Optional", 15, "", "opt(float[2])", "y", "error: a tensor or a sequence is expected, not an optional"},
    {"OptionalGetElement", 15, "", "opt(float[2])", "y", "float[2]"},
    {"OptionalGetElement", 18, "", "float[2]", "y", "float[2]"},
    {"OptionalGetElement", 15, "", "opt(seq(float[2]))", "y", "seq(float[2])"},
    {"OptionalGetElement", 15, "", "opt(float[2])*0", "y", "error: the optional is empty"},
    {"OptionalHasElement", 15, "", "opt(float[2])", "y", "bool[]"},
};

static const struct op_fold_row folds[] = {
    {"SequenceLength", 11, "", "seq(float[2])", "none"},
    {"SequenceLength", 11, "", "seq(float[2])*3", "3"},
    {"SequenceLength", 11, "", "seq(float[2])*N", "N"},
    {"SequenceLength", 11, "", "seq(float[2];float[3])", "2"},
    {"OptionalHasElement", 15, "", "opt(float[2])", "none"},
    {"OptionalHasElement", 15, "", "opt(float[2])*0", "0"},
    {"OptionalHasElement", 15, "", "opt(float[2])*1", "1"},
    {"OptionalHasElement", 18, "", "float[2]", "1"},
    {"OptionalHasElement", 18, "", "-", "0"},
    {"OptionalHasElement", 18, "", "", "0"},
    {"OptionalHasElement", 18, "", "?", "none"},
    {"Optional", 15, "", "int64[2]{4,5}", "4,5"},
    {"OptionalGetElement", 18, "", "int64[2]{4,5}", "4,5"},
};

static const struct op_cost_row costs[] = {
    {"SequenceConstruct", 11, "", "float[2,3] float[2,3]", "y", 0, 0, 0, 0, 0},
    {"SequenceAt", 11, "", "seq(float[2,3])*3 int64[]!{2}", "y", 0, 0, 0, 0, 0},
    {"SplitToSequence", 11, "", "float[3,4]", "y", 0, 0, 48, 0, 48},
    {"SplitToSequence", 11, "", "float[3,4] int64[]!{2}", "y", 0, 0, 48, 0, 48},
    {"ConcatFromSequence", 11, "axis=0", "seq(float16[2,3];float16[4,3])", "y", 0, 0, 36, 0, 36},
    {"Optional", 15, "", "float[2]", "y", 0, 0, 0, 0, 0},
};

struct length_row {
    const char *op, *attrs, *in;
    const char *length; /* of the resulting sequence, or the types of its elements */
};

static const struct length_row lengths[] = {
    {"SequenceEmpty", "", "", "0"},
    {"SequenceConstruct", "", "float[2,3] float[2,3]", "2"},
    {"SequenceConstruct", "", "float[2,3] float[4,3]", "float[2,3] float[4,3]"},
    {"SequenceInsert", "", "seq(float)*0 float[5]", "1"},
    {"SequenceInsert", "", "seq(float[5])*N float[5]", "N + 1"},
    {"SequenceInsert", "", "seq(float[5]) float[5]", "?"},
    {"SequenceInsert", "", "seq(float[1];float[2]) float[9]", "float[1] float[2] float[9]"},
    {"SequenceInsert", "", "seq(float[1];float[2]) float[9] int64[]!{0}", "float[9] float[1] float[2]"},
    {"SequenceInsert", "", "seq(float[1];float[2]) float[9] int64[]!{-1}", "float[1] float[9] float[2]"},
    {"SequenceInsert", "", "seq(float[1];float[2]) float[9] int64[]", "3"},
    {"SequenceInsert", "", "seq(float[1])*100 float[9]", "101"},
    {"SequenceErase", "", "seq(float[1];float[2];float[3]) int64[]!{1}", "float[1] float[3]"},
    {"SequenceErase", "", "seq(float[1];float[2];float[3])", "float[1] float[2]"},
    {"SequenceErase", "", "seq(float[1])*N", "N - 1"},
    {"SequenceErase", "", "seq(float[1])*1 int64[]!{0}", "0"},
    {"SplitToSequence", "", "float[N,4]", "N"},
    {"SplitToSequence", "", "float[5,4] int64[]!{2}", "float[2,4] float[2,4] float[1,4]"},
    {"SplitToSequence", "", "float[1000,4] int64[]!{3}", "334"},
    {"SplitToSequence", "", "float[6,4] int64[3]", "3"},
    {"SplitToSequence", "", "float[6,4] int64[2]!{2,4}", "float[2,4] float[4,4]"},
};

static const char *length_text(struct op_case *t)
{
    const struct oc_type *type = oc_out(&t->ctx, 0);
    const char *s = "";
    if (type->kind != OC_T_SEQUENCE || !type->shape.ranked)
        return "?";
    if (!type->item)
        return oc_dim_text(t->exprs, type->shape.dim[0]);
    for (int64_t i = 0; i < type->shape.dim[0].v; i++)
        s = oc_printf(&t->arena, "%s%s%s", s, i ? " " : "",
                      oc_type_text(&t->arena, t->exprs, &type->item[i]));
    return s;
}

static void sequence_lengths_are_inferred(void **state)
{
    (void)state;
    for (size_t i = 0; i < OC_COUNT(lengths); i++) {
        const struct length_row *r = &lengths[i];
        struct op_case t;
        op_case_init(&t, r->op, 11, r->attrs, r->in, "y");
        if (op_case_shape(&t))
            fail_msg("%s (%s): %s", r->op, r->in, t.err.msg);
        if (strcmp(length_text(&t), r->length) != 0)
            fail_msg("%s (%s): %s instead of %s", r->op, r->in, length_text(&t), r->length);
        op_case_free(&t);
    }
}

static void sequence_infers_shapes(void **state)
{
    (void)state;
    op_check_shapes(shapes, OC_COUNT(shapes));
}

static void sequence_folds_values(void **state)
{
    (void)state;
    op_check_folds(folds, OC_COUNT(folds));
}

static void sequence_counts_operations(void **state)
{
    (void)state;
    op_check_costs(costs, OC_COUNT(costs));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sequence_infers_shapes), cmocka_unit_test(sequence_lengths_are_inferred),
        cmocka_unit_test(sequence_folds_values), cmocka_unit_test(sequence_counts_operations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
