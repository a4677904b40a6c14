#include "support/op_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void einsum_infers_shapes(void **state)
{
    static const struct op_shape_row rows[] = {
        {"Einsum", 12, "equation=ij,jk->ik", "float[2,3] float[3,4]", "y", "float[2,4]"},
        {"Einsum", 12, "equation=ij,jk", "float[2,3] float[3,4]", "y", "float[2,4]"}, /* once: i and k */
        {"Einsum", 12, "equation=ba", "float[2,3]", "y", "float[3,2]"},               /* sorted */
        {"Einsum", 12, "equation=ii->i", "float[3,3]", "y", "float[3]"},
        {"Einsum", 12, "equation=ii", "float[3,3]", "y", "float[]"},
        {"Einsum", 12, "equation=...ij,...jk->...ik", "float[5,1,2,3] float[7,3,4]", "y", "float[5,7,2,4]"},
        {"Einsum", 12, "equation=...ij,jk", "float[5,2,3] float[3,4]", "y", "float[5,2,4]"},
        {"Einsum", 12, "equation=i...->...", "float[5,2,3]", "y", "float[2,3]"},
        {"Einsum", 12, "equation=i,i->", "float[5] float[5]", "y", "float[]"},
        {"Einsum", 12, "equation=bhid,bhjd->bhij", "float[B,4,S,32] float[B,4,T,32]", "y", "float[B,4,S,T]"},
        {"Einsum", 12, "equation=aB,Bc->ac", "float[2,3] float[3,4]", "y", "float[2,4]"}, /* case matters */
        {"Einsum", 12, "equation=ij,jk->ik", "float[2,3] float[4,5]", "y",
         "error: a label has sizes 3 and 4"},
        {"Einsum", 12, "equation=ij->ik", "float[2,3]", "y", "error: equation*"},
        {"Einsum", 12, "equation=ij,jk->ik", "float[2,3]", "y", "error: *"},
        {"Einsum", 12, "equation=ijk->i", "float[2,3]", "y",
         "error: operand 0 has rank 2 but its term has 3 labels"},
        {"Einsum", 12, "equation=i$->i", "float[2,3]", "y", "error: *"},
        {"Einsum", 12, "equation=ij,jk->ik", "float float[3,4]", "y", "float[...]"},
        {"Einsum", 12, "", "float[2]", "y", "error: attribute 'equation' is missing"},
        {"Einsum", 12, "equation=i...$->i", "float[2,3]", "y", "error: malformed equation 'i...$->i'"},
        {"Einsum", 12, "equation=ij->i$", "float[2,3]", "y", "error: malformed equation 'ij->i$'"},
        {"Einsum", 12, "equation=ij,jk", "float[2,3]", "y",
         "error: equation 'ij,jk' does not have one term for each of 1 operands"},
        {"Einsum", 12, "equation=ij->ij", "float[2,3] float[3]", "y",
         "error: equation 'ij->ij' does not have one term for each of 2 operands"},
    };
    (void)state;
    op_check_shapes(rows, OC_COUNT(rows));
}

/* 64 letters of the result and 64 axes of "...": more labels than a term has places. */
static void einsum_refuses_a_result_of_too_many_axes(void **state)
{
    char attrs[256], in[512] = "float[2]";
    (void)state;
    for (unsigned letters = OC_MAX_RANK - 1; letters < OC_MAX_RANK + 2; letters++) {
        snprintf(attrs, sizeof(attrs), "equation=...i->%.*s...", (int)letters,
                 "iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii");
        for (unsigned rank = 1; rank <= OC_MAX_RANK; rank += rank == 1 ? OC_MAX_RANK - 2 : 1) {
            size_t n = (size_t)snprintf(in, sizeof(in), "float[2");
            for (unsigned i = 1; i < rank; i++)
                n += (size_t)snprintf(in + n, sizeof(in) - n, ",1");
            snprintf(in + n, sizeof(in) - n, "]");
            const char *types = op_shapes("Einsum", 12, attrs, in, "y");
            assert_int_equal(!strncmp(types, "error: malformed equation", 25),
                             letters + rank - 1 > OC_MAX_RANK);
        }
    }
}

static void einsum_counts_operations(void **state)
{
    static const struct op_hist_row rows[] = {
        {"Einsum", 12, "equation=ij,jk->ik", "float[2,3] float[3,4]", "y", "MAC 24"},
        {"Einsum", 12, "equation=ij->ji", "float[2,3]", "y", "nothing"},
        {"Einsum", 12, "equation=ij->i", "float[2,3]", "y", "ADD 6"},
        {"Einsum", 12, "equation=ii->", "float[3,3]", "y", "ADD 3"}, /* the diagonal only */
        {"Einsum", 12, "equation=i,j->ij", "float[2] float[3]", "y", "MUL 6"},
        {"Einsum", 12, "equation=...ij,...jk->...ik", "float[5,1,2,3] float[7,3,4]", "y",
         "MAC 840"}, /* 35*24 */
        /* left to right: ab,bc -> ac (2*3*4), then ac,cd -> ad (2*4*5) */
        {"Einsum", 12, "equation=ab,bc,cd->ad", "float[2,3] float[3,4] float[4,5]", "y", "MAC 64"},
        /* a label used by a later operand is kept: i,i -> i is a product, then i,i -> is a sum */
        {"Einsum", 12, "equation=i,i,i->", "float[5] float[5] float[5]", "y", "MAC 5, MUL 5"},
        {"Einsum", 12, "equation=ij,jk->ik", "float[N,3] float[3,4]", "y", "nothing, unknown"},
    };
    (void)state;
    op_check_hists(rows, OC_COUNT(rows));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(einsum_infers_shapes),
                                       cmocka_unit_test(einsum_refuses_a_result_of_too_many_axes),
                                       cmocka_unit_test(einsum_counts_operations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
