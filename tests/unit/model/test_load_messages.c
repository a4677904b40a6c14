/* Messages that the loader reads where they are: types of values, and nodes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "model/model.h"
#include "onnxcost.h"

/* The input of a graph: float[3]; with two element types, of which the last one counts; with documentation and a
 * denotation of the type; float[N]; without a type; a dimension with two values, of which the last one counts. */
static void declared_types_are_read_in_any_form(void **state)
{
    (void)state;
    static const struct {
        const char *info;
        size_t n;
        unsigned kind, rank;
        int64_t dim;
        const char *symbol;
    } row[] = {
        {"\x0a\x01x\x12\x0a\x0a\x08\x08\x01\x12\x04\x0a\x02\x08\x03", 15, OC_T_TENSOR, 1, 3, NULL},
        {"\x0a\x01x\x12\x0c\x0a\x0a\x08\x07\x08\x01\x12\x04\x0a\x02\x08\x03", 17, OC_T_TENSOR, 1, 3, NULL},
        {"\x0a\x01x\x12\x0d\x0a\x08\x08\x01\x12\x04\x0a\x02\x08\x03\x32\x01T\x1a\x03"
         "doc",
         23, OC_T_TENSOR, 1, 3, NULL},
        {"\x0a\x01x\x12\x0b\x0a\x09\x08\x01\x12\x05\x0a\x03\x12\x01N", 16, OC_T_TENSOR, 1, -1, "N"},
        {"\x0a\x01x", 3, OC_T_NONE, 0, 0, NULL},
        {"\x0a\x01x\x12\x0c\x0a\x0a\x08\x01\x12\x06\x0a\x04\x08\x03\x08\x05", 17, OC_T_TENSOR, 1, 5, NULL},
    };
    for (size_t i = 0; i < OC_COUNT(row); i++) {
        uint8_t file[64] = {
            0x08, 8, 0x42, 2, 0x10, 17, 0x3a, (uint8_t)(row[i].n + 5), 0x12, 1, 'g', 0x5a, (uint8_t)row[i].n};
        struct oc_model *m;
        struct oc_err err;
        memcpy(file + 13, row[i].info, row[i].n);
        if (oc_model_load_mem(file, 13 + row[i].n, NULL, &m, &err))
            fail_msg("%s", err.msg);
        assert_int_equal(m->graph[0].n_input, 1);
        const struct oc_value *v = &m->value[m->graph[0].input[0]];
        assert_string_equal(v->name, "x");
        assert_int_equal(v->declared->kind, row[i].kind);
        assert_int_equal(v->declared->shape.ranked, row[i].kind == OC_T_TENSOR);
        assert_int_equal(v->declared->shape.rank, row[i].rank);
        assert_int_equal(m->n_symbol, row[i].symbol ? 1 : 0);
        if (row[i].rank) {
            assert_int_equal(v->declared->dtype, OC_DT_FLOAT);
            assert_int_equal(v->declared->shape.dim[0].v, row[i].dim);
        }
        if (row[i].symbol)
            assert_string_equal(m->symbol[v->declared->shape.dim[0].expr - 1], row[i].symbol);
        oc_model_free(m);
    }
}

/* A node whose name comes twice, between its inputs, with an unknown field and an output of the wrong wire type. */
static void nodes_are_read_in_any_order_of_fields(void **state)
{
    (void)state;
    static const char node[] = "\x1a\x01m"
                               "\x0a\x01x"
                               "\x22\x03"
                               "Add"
                               "\x10\x05"
                               "\x1a\x01n"
                               "\x9a\x06\x01z"
                               "\x0a\x00"
                               "\x12\x01y"
                               "\x0a\x01x";
    uint8_t file[96] = {0x08, 8,    0x42, 2,    0x10, 17,  0x3a, sizeof(node) - 1 + 10, 0x12, 1,
                        'g',  0x5a, 3,    0x0a, 1,    'x', 0x0a, sizeof(node) - 1};
    struct oc_model *m;
    struct oc_err err;
    memcpy(file + 18, node, sizeof(node) - 1);
    if (oc_model_load_mem(file, 18 + sizeof(node) - 1, NULL, &m, &err))
        fail_msg("%s", err.msg);
    assert_int_equal(m->n_node, 1);
    assert_string_equal(m->node[0].name, "n");
    assert_string_equal(m->node[0].op_type, "Add");
    assert_int_equal(m->node[0].n_in, 3);
    assert_int_equal(m->node[0].in[0], m->node[0].in[2]);
    assert_int_equal(m->node[0].in[1], OC_NONE);
    assert_int_equal(m->node[0].n_out, 1);
    assert_string_equal(m->value[m->node[0].out[0]].name, "y");
    oc_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(declared_types_are_read_in_any_form),
                                       cmocka_unit_test(nodes_are_read_in_any_order_of_fields)};
    return cmocka_run_group_tests_name("model/load_messages", tests, NULL, NULL);
}
