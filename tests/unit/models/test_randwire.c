/* The randomly wired network of the zoo. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "support/run_model.h"
#include "zoo.h"
#include "onnxcost.h"

struct net {
    struct zoo z;
    uint8_t *bytes;
    struct oc_model *m;
    struct oc_analysis *a;
};

static struct net wire(uint64_t seed)
{
    struct net n;
    struct oc_err err;
    size_t size;
    zoo_init(&n.z, 17);
    zoo_randwire(&n.z, seed);
    n.bytes = oc_b_pack(n.z.b, &size);
    if (oc_model_load_mem(n.bytes, size, NULL, &n.m, &err) || oc_analyze(n.m, NULL, &n.a, &err))
        fail_msg("%s", err.msg);
    return n;
}

static void net_free(struct net *n)
{
    oc_analysis_free(n->a);
    oc_model_free(n->m);
    free(n->bytes);
    zoo_free(&n->z);
}

static unsigned count_nodes(const struct net *n, const char *op_type)
{
    unsigned k = 0;
    for (uint32_t i = 0; i < n->m->n_node; i++)
        k += !strcmp(n->m->node[i].op_type, op_type);
    return k;
}

/* 3 stages of 32 nodes with a depthwise and a pointwise convolution each, two before, one after: 195. WS(4,
 * p) has 32 * 4 / 2 = 64 edges per stage, each with its sigmoid: 192. Published for the small regime: 5.6
 * million parameters and 583 million multiply-adds for another random wiring: within 5 %. */
static void randwire_has_the_published_structure(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 4; seed++) {
        struct net n = wire(seed);
        assert_int_equal(count_nodes(&n, "Conv"), 195);
        assert_int_equal(count_nodes(&n, "BatchNormalization"), 99);
        assert_int_equal(count_nodes(&n, "Sigmoid"), 192);
        assert_true(zoo_param_elements(&n.z) > 5320000 && zoo_param_elements(&n.z) < 5880000);
        assert_true(n.a->total->macs > 553850000 && n.a->total->macs < 612150000);
        assert_int_equal(n.a->total->unknown_nodes, 0);
        net_free(&n);
    }
}

static uint8_t *pack_micro(const char *kind, uint64_t seed, size_t *size)
{
    struct zoo z;
    zoo_init(&z, 17);
    assert_true(zoo_micro(&z, kind, seed));
    uint8_t *bytes = oc_b_pack(z.b, size);
    zoo_free(&z);
    return bytes;
}

/* Every operator of the networks for calibration has a known cost; a seed gives one network, another seed
 * another. */
static void networks_of_single_operators_are_known_and_differ(void **state)
{
    (void)state;
    static const char *const kinds[] = {"conv",        "conv_other", "depthwise", "transposed",
                                        "product",     "attention",  "recurrent", "integer",
                                        "elementwise", "reduce",     "move"};
    struct zoo none;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct oc_err err;
        struct oc_model *m;
        struct oc_analysis *a = NULL;
        size_t n, same, other;
        uint8_t *bytes = pack_micro(kinds[i], 1, &n), *again = pack_micro(kinds[i], 1, &same),
                *next = pack_micro(kinds[i], 2, &other);
        assert_true(n == same && !memcmp(bytes, again, n));
        assert_true(n != other || memcmp(bytes, next, n) != 0);
        if (oc_model_load_mem(bytes, n, NULL, &m, &err) || oc_analyze(m, NULL, &a, &err))
            fail_msg("%s: %s", kinds[i], err.msg);
        if (a->total->unknown_nodes)
            fail_msg("%s: %u nodes of unknown cost", kinds[i], (unsigned)a->total->unknown_nodes);
        oc_analysis_free(a);
        oc_model_free(m);
        free(bytes);
        free(again);
        free(next);
    }
    zoo_init(&none, 17);
    assert_false(zoo_micro(&none, "convolution", 1));
    zoo_free(&none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(randwire_has_the_published_structure),
        cmocka_unit_test(networks_of_single_operators_are_known_and_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
