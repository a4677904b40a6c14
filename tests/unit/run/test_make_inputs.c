/* Generated input contents: within the range of their type and of their use in the model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "run/record_files.h"
#include "support/build.h"
#include "onnxcost.h"

struct made {
    struct oc_model *model;
    uint8_t *bytes;
    struct oc_arena arena;
    struct oc_run_input in[8];
    size_t n;
    struct oc_err err;
};

/* Loads the model and generates all inputs of its main graph with the declared dimensions. Returns the result
 * of oc_make_inputs. */
static int make_inputs(struct made *m, struct oc_builder *b, const struct oc_value_bind *given,
                       size_t n_given, uint64_t seed)
{
    size_t n_bytes;
    *m = (struct made){0};
    m->bytes = oc_b_pack(b, &n_bytes);
    oc_b_free(b);
    if (oc_model_load_mem(m->bytes, n_bytes, NULL, &m->model, &m->err))
        fail_msg("%s", m->err.msg);
    const struct oc_graph *g = &m->model->graph[0];
    for (uint32_t i = 0; i < g->n_input; i++) {
        const struct oc_value *v = &m->model->value[g->input[i]];
        if (v->constant)
            continue;
        int64_t *dim = OC_NEW_ARRAY(&m->arena, v->declared->shape.rank, int64_t);
        for (uint32_t d = 0; d < v->declared->shape.rank; d++)
            dim[d] = v->declared->shape.dim[d].v;
        m->in[m->n++] = (struct oc_run_input){
            .value = g->input[i], .dtype = v->declared->dtype, .rank = v->declared->shape.rank, .dim = dim};
    }
    return oc_make_inputs(m->model, given, n_given, seed, m->in, m->n, &m->arena, &m->err);
}

static void made_free(struct made *m)
{
    oc_arena_free(&m->arena);
    oc_model_free(m->model);
    free(m->bytes);
}

static const int64_t *int64_data(const struct made *m, size_t i)
{
    return m->in[i].data;
}

static struct oc_builder *with_input(const char *name, const char *type)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, name, type);
    oc_b_node(b, "Identity", "copy", name, "y", "");
    oc_b_output(b, "y", type);
    return b;
}

static void floats_are_uniform_and_seeded(void **state)
{
    (void)state;
    struct made m, again, other;
    assert_int_equal(make_inputs(&m, with_input("x", "float[10,100]"), NULL, 0, 1), 0);
    assert_int_equal(make_inputs(&again, with_input("x", "float[10,100]"), NULL, 0, 1), 0);
    assert_int_equal(make_inputs(&other, with_input("x", "float[10,100]"), NULL, 0, 2), 0);
    const float *x = m.in[0].data;
    double sum = 0, least = 0, most = 0;
    for (int i = 0; i < 1000; i++) {
        assert_true(x[i] >= -1 && x[i] <= 1);
        sum += x[i];
        least = x[i] < least ? x[i] : least;
        most = x[i] > most ? x[i] : most;
    }
    /* the mean of 1000 has a deviation of 1 / sqrt(3000) = 0.018 */
    assert_true(sum / 1000 > -0.1 && sum / 1000 < 0.1 && least < -0.9 && most > 0.9);
    assert_string_equal(m.in[0].content, "-1 to 1");
    assert_int_equal(m.in[0].elements, 1000);
    assert_int_equal(m.in[0].size_bytes, 4000);
    assert_memory_equal(m.in[0].data, again.in[0].data, 4000);
    assert_memory_not_equal(m.in[0].data, other.in[0].data, 4000);
    made_free(&m);
    made_free(&again);
    made_free(&other);
}

static double half_to_double(uint16_t h)
{
    double v = (h & 0x3ff) / 1024.0 + 1;
    int exponent = (h >> 10 & 0x1f) - 15;
    for (; exponent < 0; exponent++)
        v /= 2;
    for (; exponent > 0; exponent--)
        v *= 2;
    return h & 0x8000 ? -v : v;
}

static void float16_and_bfloat16_are_converted(void **state)
{
    (void)state;
    struct made m;
    assert_int_equal(make_inputs(&m, with_input("x", "float16[500]"), NULL, 0, 1), 0);
    double most = 0;
    for (int i = 0; i < 500; i++) {
        double v = half_to_double(((const uint16_t *)m.in[0].data)[i]);
        assert_true(v >= -1 && v <= 1);
        most = v > most ? v : most;
    }
    assert_true(most > 0.9);
    made_free(&m);
    /* 2.5 = 1.25 * 2: exponent 16, fraction 0x100; 1e9 is too large, 1e-9 too small */
    const struct oc_value_bind given = {"x", "2.5,-2.5,1e9,1e-9,0"};
    assert_int_equal(make_inputs(&m, with_input("x", "float16[5]"), &given, 1, 1), 0);
    const uint16_t want16[] = {0x4100, 0xc100, 0x7c00, 0, 0};
    assert_memory_equal(m.in[0].data, want16, sizeof(want16));
    made_free(&m);
    /* bfloat16 is the upper half of a float: 2.5f is 0x40200000 */
    const struct oc_value_bind more = {"x", "2.5,-2.5"};
    assert_int_equal(make_inputs(&m, with_input("x", "bfloat16[2]"), &more, 1, 1), 0);
    const uint16_t want[] = {0x4020, 0xc020};
    assert_memory_equal(m.in[0].data, want, sizeof(want));
    made_free(&m);
}

/* Ids go through Cast and Reshape into a table of 50 rows, the segments into one of 3; a Gather along axis 1
 * looks up columns (7 of them); a table after DequantizeLinear has 11 rows; the last ids are used in no
 * table. */
static struct oc_builder *lookups(void)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "ids", "int32[1,400]");
    oc_b_input(b, "segment", "int64[1,400]");
    oc_b_input(b, "columns", "int64[400]");
    oc_b_input(b, "codes", "int64[400]");
    oc_b_input(b, "free", "int64[400]");
    oc_b_init(b, "table", "float[50,4]");
    oc_b_init(b, "small", "float[3,4]");
    oc_b_init(b, "wide", "float[50,7]");
    oc_b_init(b, "packed", "int8[11,4]");
    oc_b_init(b, "scale", "float[]{0.5}");
    oc_b_init(b, "to", "int64[1]{-1}");
    oc_b_node(b, "Cast", "c", "ids", "ids64", "to=7");
    oc_b_node(b, "Reshape", "r", "ids64,to", "flat", "");
    oc_b_node(b, "Gather", "g", "table,flat", "a", "");
    oc_b_node(b, "Gather", "s", "small,segment", "b", "axis=0");
    oc_b_node(b, "Gather", "w", "wide,columns", "c1", "axis=-1");
    oc_b_node(b, "DequantizeLinear", "d", "packed,scale", "unpacked", "");
    oc_b_node(b, "Gather", "q", "unpacked,codes", "e", "");
    oc_b_node(b, "Add", "p", "free,free", "f", "");
    oc_b_output(b, "a", NULL);
    return b;
}

static void ids_are_within_the_rows_of_their_table(void **state)
{
    (void)state;
    struct made m;
    assert_int_equal(make_inputs(&m, lookups(), NULL, 0, 1), 0);
    assert_string_equal(m.in[0].content, "0 to 49");
    assert_string_equal(m.in[1].content, "0 to 2");
    assert_string_equal(m.in[2].content, "0 to 6");
    assert_string_equal(m.in[3].content, "0 to 10");
    assert_string_equal(m.in[4].content, "0 to 1");
    bool seen[50] = {false};
    for (int i = 0; i < 400; i++) {
        int32_t id = ((const int32_t *)m.in[0].data)[i];
        assert_in_range(id, 0, 49);
        seen[id] = true;
        assert_in_range(int64_data(&m, 1)[i], 0, 2);
        assert_in_range(int64_data(&m, 4)[i], 0, 1);
    }
    size_t different = 0;
    for (int i = 0; i < 50; i++)
        different += seen[i];
    assert_true(different >
                40); /* 400 draws of 50: one value is missing with probability 50 * 0.98^400 = 1.5 % */
    made_free(&m);
}

/* In a function, and in the fused embedding of optimized models. */
static void ids_of_tables_in_functions_and_fused_embeddings(void **state)
{
    (void)state;
    struct made m;
    struct oc_builder *b = oc_b_new(17);
    oc_b_opset(b, "com.microsoft", 1);
    oc_b_input(b, "ids", "int32[1,64]");
    oc_b_input(b, "seg", "int32[1,64]");
    oc_b_init(b, "word", "float[1000,8]");
    oc_b_init(b, "pos", "float[64,8]");
    oc_b_init(b, "kind", "float[2,8]");
    oc_b_init(b, "g", "float[8]");
    oc_b_node(b, "com.microsoft::EmbedLayerNormalization", "e", "ids,seg,word,pos,kind,g,g", "y,z", "");
    oc_b_output(b, "y", NULL);
    assert_int_equal(make_inputs(&m, b, NULL, 0, 1), 0);
    assert_string_equal(m.in[0].content, "0 to 999");
    assert_string_equal(m.in[1].content, "0 to 1");
    made_free(&m);

    b = oc_b_new(17);
    oc_b_opset(b, "local", 1);
    oc_b_input(b, "ids", "int64[64]");
    oc_b_node(b, "local::Embed", "e", "ids", "y", "");
    oc_b_output(b, "y", NULL);
    oc_b_function(b, "local", "Embed", "i", "o", "");
    oc_b_opset(b, "", 17);
    oc_b_node(b, "Constant", "k", "", "t", "value=float[5,1]{1,2,3,4,5}");
    oc_b_node(b, "Gather", "g", "t,i", "o", "");
    oc_b_close(b);
    assert_int_equal(make_inputs(&m, b, NULL, 0, 1), 0);
    assert_string_equal(m.in[0].content, "0 to 4");
    made_free(&m);
}

static struct oc_builder *named(void)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "attention_mask", "int64[2,5]");
    oc_b_input(b, "position_ids", "int64[2,5]");
    oc_b_input(b, "input_lengths", "int32[2]");
    oc_b_input(b, "audio", "float[2,3,77]");
    oc_b_input(b, "use_cache", "bool[1]");
    oc_b_input(b, "flags", "bool[64]");
    oc_b_input(b, "image", "uint8[300]");
    oc_b_input(b, "k", "int64[]");
    oc_b_node(b, "Identity", "i", "audio", "y", "");
    oc_b_output(b, "y", NULL);
    return b;
}

static void masks_and_positions_are_recognized_by_name(void **state)
{
    (void)state;
    struct made m;
    assert_int_equal(make_inputs(&m, named(), NULL, 0, 1), 0);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(int64_data(&m, 0)[i], 1);
        assert_int_equal(int64_data(&m, 1)[i], i % 5);
    }
    assert_string_equal(m.in[1].content, "0, 1 ... 4");
    assert_int_equal(((const int32_t *)m.in[2].data)[1], 77);
    assert_int_equal(((const uint8_t *)m.in[4].data)[0], 0);
    int set = 0, most = 0;
    for (int i = 0; i < 64; i++)
        set += ((const uint8_t *)m.in[5].data)[i];
    assert_in_range(set, 10, 54);
    for (int i = 0; i < 300; i++)
        most = ((const uint8_t *)m.in[6].data)[i] > most ? ((const uint8_t *)m.in[6].data)[i] : most;
    assert_true(most > 200);
    assert_int_equal(int64_data(&m, 7)[0], 1);
    made_free(&m);
}

static void string_inputs_have_a_text(void **state)
{
    (void)state;
    struct made m;
    assert_int_equal(make_inputs(&m, with_input("s", "string[2]"), NULL, 0, 1), 0);
    assert_string_equal(((const char **)m.in[0].data)[1], "text");
    made_free(&m);
    const struct oc_value_bind given = {"s", "hello"};
    assert_int_equal(make_inputs(&m, with_input("s", "string[2]"), &given, 1, 1), 0);
    assert_string_equal(((const char **)m.in[0].data)[1], "hello");
    made_free(&m);
}

static void given_values_are_used(void **state)
{
    (void)state;
    struct made m;
    const struct oc_value_bind one = {"k", "7"}, three = {"k", "1,-2,3"}, two = {"k", "1,2"},
                               word = {"k", "1,x,3"};
    assert_int_equal(make_inputs(&m, with_input("k", "int64[3]"), &one, 1, 1), 0);
    assert_true(int64_data(&m, 0)[0] == 7 && int64_data(&m, 0)[2] == 7);
    assert_string_equal(m.in[0].content, "7");
    made_free(&m);
    assert_int_equal(make_inputs(&m, with_input("k", "int64[3]"), &three, 1, 1), 0);
    assert_true(int64_data(&m, 0)[0] == 1 && int64_data(&m, 0)[1] == -2 && int64_data(&m, 0)[2] == 3);
    made_free(&m);
    assert_int_equal(make_inputs(&m, with_input("k", "int64[3]"), &two, 1, 1), -1);
    assert_string_equal(m.err.msg, "--value k: 2 numbers for 3 elements");
    assert_int_equal(m.err.code, OC_EARG);
    made_free(&m);
    assert_int_equal(make_inputs(&m, with_input("k", "int64[3]"), &word, 1, 1), -1);
    assert_string_equal(m.err.msg, "--value k: 'x' is not a number");
    made_free(&m);
    const struct oc_value_bind flags = {"k", "true,false,1"}, flag = {"k", "true"};
    assert_int_equal(make_inputs(&m, with_input("k", "bool[3]"), &flags, 1, 1), 0);
    assert_memory_equal(m.in[0].data, "\1\0\1", 3);
    made_free(&m);
    assert_int_equal(make_inputs(&m, with_input("k", "int64[1]"), &flag, 1, 1), -1);
    assert_string_equal(m.err.msg, "--value k: 'true' is not a number");
    made_free(&m);
}

static void write_bytes(const char *path, const void *data, size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, n, f), n);
    fclose(f);
}

static void values_are_read_from_files(void **state)
{
    (void)state;
    /* TensorProto: dims (field 1) 2, data_type (2) 1 = float, raw_data (9) 1.0f and 2.0f */
    static const uint8_t tensor[] = {0x08, 2, 0x10, 1, 0x4a, 8, 0, 0, 0x80, 0x3f, 0, 0, 0, 0x40};
    char path[] = "/tmp/oc_tensor_XXXXXX", text[64];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    write_bytes(path, tensor, sizeof(tensor));
    snprintf(text, sizeof(text), "@%s", path);
    const struct oc_value_bind bind = {"x", text};
    struct made m;
    assert_int_equal(make_inputs(&m, with_input("x", "float[1,2]"), &bind, 1, 1), 0);
    assert_true(((const float *)m.in[0].data)[0] == 1 && ((const float *)m.in[0].data)[1] == 2);
    made_free(&m);
    assert_int_equal(make_inputs(&m, with_input("x", "float[3]"), &bind, 1, 1), -1);
    assert_non_null(strstr(m.err.msg, "has 2 elements of float, the input 3 of float"));
    made_free(&m);
    assert_int_equal(make_inputs(&m, with_input("x", "int32[2]"), &bind, 1, 1), -1);
    assert_non_null(strstr(m.err.msg, "the input 2 of int32"));
    made_free(&m);
    unlink(path);
    assert_int_equal(make_inputs(&m, with_input("x", "float[2]"), &bind, 1, 1), -1);
    made_free(&m);
}

static void repeats_the_contents_of_large_inputs(void **state)
{
    (void)state;
    enum { PERIOD = 1048583, N = 3 * PERIOD + 17 };
    char type[32];
    struct made m;
    snprintf(type, sizeof(type), "int64[%d]", N);
    assert_int_equal(make_inputs(&m, with_input("x", type), NULL, 0, 1), 0);
    const int64_t *x = m.in[0].data;
    size_t ones = 0;
    for (size_t i = 0; i < N; i++)
        ones += x[i] == 1;
    assert_in_range(ones, N / 2 - N / 100, N / 2 + N / 100);
    for (size_t i = PERIOD; i < N; i++)
        if (x[i] != x[i - PERIOD])
            fail_msg("element %zu is not element %zu", i, i - PERIOD);
    made_free(&m);
}

static void rejects_oversized_and_mismatched_inputs(void **state)
{
    (void)state;
    struct made m;
    /* 2^31 floats are 8 GiB; 2^62 elements overflow in bytes */
    assert_int_equal(make_inputs(&m, with_input("x", "float[2147483648]"), NULL, 0, 1), -1);
    assert_int_equal(m.err.code, OC_ELIMIT);
    assert_string_equal(m.err.msg,
                        "input 'x': 8589934592 bytes of inputs for a run: more than 536870912 (--limit "
                        "input-bytes=N); --dim or --shape sets its size");
    made_free(&m);
    struct oc_builder *two = with_input("x", "float[100000000]"); /* the limit is that of all inputs */
    oc_b_input(two, "z", "float[100000000]");
    assert_int_equal(make_inputs(&m, two, NULL, 0, 1), -1);
    assert_memory_equal(m.err.msg, "input 'z': 800000000 bytes", 26);
    made_free(&m);
    assert_int_equal(make_inputs(&m, with_input("x", "int64[4611686018427387904,8]"), NULL, 0, 1), -1);
    assert_int_equal(m.err.code, OC_ELIMIT);
    made_free(&m);
    assert_int_equal(make_inputs(&m, with_input("x", "int4[8]"), NULL, 0, 1), -1);
    assert_int_equal(m.err.code, OC_EUNSUPPORTED);
    made_free(&m);
    /* an empty value is not a value */
    assert_int_equal(make_inputs(&m, with_input("past", "float[1,0,4]"), NULL, 0, 1), 0);
    assert_int_equal(m.in[0].elements, 0);
    assert_string_equal(m.in[0].content, "empty");
    assert_non_null(m.in[0].data);
    made_free(&m);
}

/* A sampling rate, say: the branch of 16000 is the one that the model was made for. */
static void compared_scalar_gets_the_constant_of_the_comparison(void **state)
{
    (void)state;
    for (int compared = 0; compared < 2; compared++) {
        struct made m;
        struct oc_builder *b = with_input("sr", "int64[]");
        oc_b_init(b, "rate", "int64[]{16000}");
        oc_b_node(b, compared ? "Equal" : "Add", "n", "rate,sr", "z", "");
        oc_b_output(b, "z", compared ? "bool[]" : "int64[]");
        assert_int_equal(make_inputs(&m, b, NULL, 0, 1), 0);
        assert_int_equal(int64_data(&m, 0)[0], compared ? 16000 : 1);
        assert_true(m.in[0].guessed);
        made_free(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floats_are_uniform_and_seeded),
        cmocka_unit_test(float16_and_bfloat16_are_converted),
        cmocka_unit_test(ids_are_within_the_rows_of_their_table),
        cmocka_unit_test(masks_and_positions_are_recognized_by_name),
        cmocka_unit_test(string_inputs_have_a_text),
        cmocka_unit_test(ids_of_tables_in_functions_and_fused_embeddings),
        cmocka_unit_test(given_values_are_used),
        cmocka_unit_test(values_are_read_from_files),
        cmocka_unit_test(repeats_the_contents_of_large_inputs),
        cmocka_unit_test(rejects_oversized_and_mismatched_inputs),
        cmocka_unit_test(compared_scalar_gets_the_constant_of_the_comparison),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
