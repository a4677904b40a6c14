#include "support/op_rows.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define M "com.microsoft:"

static const struct op_shape_row shapes[] = {
    {M "AllReduce", 1, "group_size=4", "float16[2,3]", "y", "float16[2,3]"},
    {M "AllGather", 1, "axis=1 group_size=4", "float16[2,N]", "y", "float16[2,4*N]"},
    {M "AllGather", 1, "group_size=4", "float[2,3]", "y", "float[8,3]"},
    {M "AllGather", 1, "axis=2 group_size=4", "float[2,3]", "y", "error: axis is out of range for rank 2"},
    {M "AllGather", 1, "group_size=0", "float[2,3]", "y", "error: group_size is 0"},
    {M "AllToAll", 1, "group_size=4", "float[8,3]", "y", "float[8,3]"},
    {M "AdasumAllReduce", 1, "", "float[2] float[3]", "yy", "float[2] float[3]"},
    {M "NcclAllReduce", 1, "", "float[2] float[3]", "yy", "float[2] float[3]"},
    {M "NcclAllGather", 1, "", "float[2] float[3]", "yy", "float[2] float[3]"},
    {M "NcclReduceScatter", 1, "", "float[2] float[3]", "yy", "float[2] float[3]"},
    {M "PassThrough", 1, "", "float[2] int64[3]", "yy", "float[2] int64[3]"},
    {M "Group", 1, "", "float[2] float[3]", "y", "bool[]"},
    {M "Send", 1, "tag=0", "bool[] int64[] float[3]", "y", "bool[]"},
    {M "Recv", 1, "tag=0", "bool[] int64[]", "y", "bool[]"},
    {"HorovodAllReduce", 9, "", "float[2,3]", "yy", "float[2,3] bool[]"},
    {"HorovodBarrier", 9, "", "float[2,3] bool[]", "yy", "float[2,3] bool[]"},
};

static const struct op_hist_row counts[] = {
    {M "AllReduce", 1, "group_size=4", "float16[2,3]", "y", "ADD 6, upper"},
    {M "AdasumAllReduce", 1, "", "float[2] float[3]", "yy", "ADD 5, upper"},
    {M "NcclAllReduce", 1, "", "float[2] float[3]", "yy", "ADD 5, upper"},
    {M "NcclReduceScatter", 1, "", "float[2] float[3]", "yy", "ADD 5, upper"},
    {"HorovodAllReduce", 9, "", "float[2,3]", "yy", "ADD 6, upper"},
    {M "AllGather", 1, "axis=1 group_size=4", "float16[2,3]", "y", "nothing"},
    {M "AllToAll", 1, "group_size=4", "float[8,3]", "y", "nothing"},
    {M "NcclAllGather", 1, "", "float[2]", "y", "nothing"},
    {M "PassThrough", 1, "", "float[2]", "y", "nothing"},
    {M "Group", 1, "", "float[2]", "y", "nothing"},
    {M "Send", 1, "tag=0", "bool[] int64[] float[3]", "y", "nothing"},
    {M "Recv", 1, "tag=0", "bool[] int64[]", "y", "nothing"},
    {"HorovodBarrier", 9, "", "float[2,3] bool[]", "yy", "nothing"},
};

static void collectives_infer_shapes(void **state)
{
    (void)state;
    op_check_shapes(shapes, OC_COUNT(shapes));
}

static void collectives_count_operations(void **state)
{
    (void)state;
    op_check_hists(counts, OC_COUNT(counts));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(collectives_infer_shapes),
                                       cmocka_unit_test(collectives_count_operations)};
    return cmocka_run_group_tests_name("ops/collective", tests, NULL, NULL);
}
