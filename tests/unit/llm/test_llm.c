/* Analysis of a language model: counts of prefill and decode steps compared with hand calculations, sums
 * compared with single runs, and the tables of a 7B on three devices. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hw/hwdb.h"
#include "llm/llm.h"
#include "zoo.h"
#include "onnxcost.h"
#include "onnxcost/hardware.h"

struct case_ {
    uint8_t *bytes;
    struct oc_model *m;
    struct oc_llm *l;
    struct oc_err err;
};

static struct case_ analyze_llama(const char *size, enum zoo_llama_layout layout, int bits,
                                  const struct oc_llm_opts *o)
{
    struct case_ c = {.l = NULL};
    struct zoo z;
    size_t n;
    zoo_init(&z, 17);
    assert_int_equal(zoo_llama(&z, size, layout, bits), 0);
    c.bytes = oc_b_pack(z.b, &n);
    zoo_free(&z);
    if (oc_model_load_mem(c.bytes, n, NULL, &c.m, &c.err) || oc_llm_make(c.m, o, &c.l, &c.err))
        fail_msg("%s: %s", size, c.err.msg);
    return c;
}

static void case_free(struct case_ *c)
{
    oc_llm_free(c->l);
    oc_model_free(c->m);
    free(c->bytes);
}

static struct oc_llm_counts count_part(const struct case_ *c, enum oc_llm_part part)
{
    struct oc_llm_counts k;
    assert_true(oc_llm_run(c->l, part, &k));
    assert_int_equal(k.quality, OC_EXACT);
    assert_int_equal(k.unknown_nodes, 0);
    return k;
}

/* ---- Llama 2 7B by hand ---------------------------------------------------------------------------------
 *
 * Attention as MatMul, one new token, `past` in the cache. A layer works on vectors of 4096 float16 = V =
 * 8192 bytes and, in the MLP, of 11008 = M = 22016 bytes; keys or values of one token take V too. Views
 * (Reshape, and Transpose of one token) move nothing. */
enum { LAYERS = 32, HEADS = 32, V = 8192, M = 22016, WIDTH = 4096, MLP = 11008 };

/* RMSNorm in float: Cast, Pow, ReduceMean, Add, Sqrt, Div, Mul, Cast, Mul (the weight is a constant). */
static uint64_t norm_read(void)
{
    return V + 2 * V + 2 * V + 4 + 4 + 4 + (2 * V + 4) + 2 * V + V;
}

static uint64_t norm_written(void)
{
    return 2 * V + 2 * V + 4 + 4 + 4 + 4 + 2 * V + V + V;
}

/* x cos + (-x[half:], x[:half]) sin; cos and sin have 128 elements: Mul, Slice, Neg, Slice, Concat, Mul, Add.
 */
static uint64_t rotary_read(void)
{
    return (V + 256) + V / 2 + V / 2 + V / 2 + V + (V + 256) + 2 * V;
}

static uint64_t rotary_written(void)
{
    return V + V / 2 + V / 2 + V / 2 + V + V + V;
}

/* Independent of the cache: q, k and v; rotation of q and k; new keys and values into Concat; q into the
 * scores; o; the sums; gate and up, Sigmoid, Mul, Mul, down. */
static uint64_t layer_read(void)
{
    return 3 * V + 2 * rotary_read() + 2 * V + V + V + 2 * V + 2 * V + M + 2 * M + 2 * M + M + 2 * V;
}

static uint64_t layer_written(void)
{
    return 3 * V + 2 * rotary_written() + V + V + V + 2 * M + M + M + M + V + V;
}

/* Tables of the rotation, from position_ids: Cast, Mul, Concat (reads its input once), Cos, Cast, Sin, Cast.
 */
enum { TABLES_READ = 8 + 4 + 256 + 4 * 512, TABLES_WRITTEN = 4 + 256 + 512 + 512 + 256 + 512 + 256 };

/* One more key: K is transposed, both are multiplied; the scores of 32 heads go through MatMul, Mul, Add
 * (with the mask), Cast, Softmax in float, Cast and MatMul; the mask through Cast, Not, Or, Where. */
static uint64_t key_read(void)
{
    return LAYERS * (3 * V + HEADS * (2 + 2 + 2 + 4 + 4 + 2) + 2) + (8 + 1 + 1 + 1);
}

static uint64_t key_written(void)
{
    return LAYERS * (V + HEADS * (2 + 2 + 2 + 4 + 4 + 2)) + (1 + 1 + 1 + 2);
}

static uint64_t decode_read(uint64_t past)
{
    uint64_t cache = LAYERS * 2 * V * past; /* Concat reads it */
    return cache + (past + 1) * key_read() + 65 * norm_read() + LAYERS * layer_read() +
           V /* output matrix */ + 8 /* input_ids */ + TABLES_READ;
}

static uint64_t decode_written(uint64_t past)
{
    uint64_t cache = LAYERS * 2 * V * (past + 1);
    return cache + (past + 1) * key_written() + 65 * norm_written() + LAYERS * layer_written() +
           64000 /* logits */ + V /* embedding */ + TABLES_WRITTEN;
}

/* Products 6,607,077,376 and norms 266,240 weights of 2 bytes; a row of the embedding; 64 frequencies; three
 * scalars per norm, one per scale; the two values of the mask; one byte of the folded causal mask per key. */
static uint64_t decode_weights(uint64_t past)
{
    return 2 * (UINT64_C(6607077376) + 266240) + V + 64 * 4 + 65 * 12 + LAYERS * 2 + 4 + (past + 1);
}

static uint64_t decode_macs(uint64_t past)
{
    return UINT64_C(6607077376) + LAYERS * HEADS * (past + 1) * 256;
}

/* A norm: 4 per element and 4. Rotation: 2 Mul, Add, Neg of half. Sums 2, Sigmoid and 2 Mul of the MLP.
 * Tables: Mul of 64, Cos and Sin of 128. Per key: Mul, Add and 5 of Softmax per head, a select in the mask.
 */
static uint64_t decode_flops(uint64_t past)
{
    uint64_t layer = 2 * (3 * WIDTH + WIDTH / 2) + 2 * WIDTH + 3 * MLP;
    return 2 * decode_macs(past) + 65 * (4 * WIDTH + 4) + LAYERS * layer + (64 + 128 + 128) +
           (past + 1) * (LAYERS * HEADS * 7 + 1);
}

static void check_step(const struct oc_llm_counts *k, uint64_t past)
{
    assert_int_equal(k->macs, decode_macs(past));
    assert_int_equal(k->flops, decode_flops(past));
    assert_int_equal(k->bytes_read_weight, decode_weights(past));
    assert_int_equal(k->bytes_read_act, decode_read(past));
    assert_int_equal(k->bytes_written, decode_written(past));
    assert_int_equal(k->kv_read, 524288 * past);
    assert_int_equal(k->kv_written, 524288 * (past + 1));
}

static const struct oc_llm_opts answer = {.batch = 1, .prompt = 128, .generate = 129};

/* 128 prompt tokens, 128 decode steps with 128 to 255 tokens in the cache. */
static void llama_7b_counts_equal_hand_calculation(void **state)
{
    (void)state;
    struct case_ c = analyze_llama("7b", ZOO_LLAMA_OPTIMUM, 16, &answer);
    struct oc_llm_counts k = count_part(&c, OC_LLM_PART_PREFILL);
    assert_int_equal(k.macs, 850000871424); /* tests/unit/models/test_llama.c */
    assert_int_equal(k.kv_read, 0);
    assert_int_equal(k.kv_written, 524288 * 128);
    k = count_part(&c, OC_LLM_PART_FIRST);
    check_step(&k, 128);
    k = count_part(&c, OC_LLM_PART_LAST);
    check_step(&k, 255);
    uint64_t macs = 0, flops = 0, weights = 0, read = 0, written = 0;
    for (uint64_t past = 128; past <= 255; past++) {
        macs += decode_macs(past);
        flops += decode_flops(past);
        weights += decode_weights(past);
        read += decode_read(past);
        written += decode_written(past);
    }
    k = count_part(&c, OC_LLM_PART_STEPS);
    assert_int_equal(k.macs, macs);
    assert_int_equal(k.flops, flops);
    assert_int_equal(k.bytes_read_weight, weights);
    assert_int_equal(k.bytes_read_act, read);
    assert_int_equal(k.bytes_written, written);
    k = count_part(&c, OC_LLM_PART_WHOLE);
    assert_int_equal(k.macs, macs + 850000871424);
    case_free(&c);
}

/* ---- three devices --------------------------------------------------------------------------------------
 *
 * Dense float16 peaks with float accumulation, and bandwidths, from the hardware files:
 *   A100 SXM4 80GB   312 TFLOP/s   2039 GB/s     RTX 4090   165.2 TFLOP/s   1008 GB/s
 *   AGX Orin 64GB    42.5 TFLOP/s  204.8 GB/s
 * Prefill of 128 tokens: products 2 * 850,000,871,424 / 312e12 = 5.449 ms on the A100; bytes 13,215,753,296
 * of constants, 2,605,111,040 read, 2,146,716,416 written: 17,967,580,752 / 2039e9 = 8.812 ms, the limit.
 *
 * Decode step after 255 tokens: 13,214,696,784 bytes of constants, 355,645,476 read, 218,360,852 written:
 * together 13,788,703,112 / 2039e9 = 6.762 ms, 147.87 tokens/s at most; arithmetic 2 * 6,674,186,240 / 312e12
 * = 42.8 us. */
static void check_near(double a, double b)
{
    if (!(fabs(a - b) <= 1e-12 * fabs(b)))
        fail_msg("%.17g, not %.17g", a, b);
}

static void check_roof(const struct oc_llm_device *d, double peak, double bandwidth)
{
    const struct oc_llm_roof *r = &d->roof[OC_LLM_PART_PREFILL];
    double prompt_bytes = 13215753296.0 + 2605111040.0 + 2146716416.0;
    check_near(r->comp_s, 2 * 850000871424.0 / peak);
    check_near(r->mem_s, prompt_bytes / bandwidth);
    check_near(r->s, fmax(r->comp_s, r->mem_s));
    r = &d->roof[OC_LLM_PART_LAST];
    double bytes = (double)(decode_weights(255) + decode_read(255) + decode_written(255));
    check_near(r->comp_s, 2.0 * (double)decode_macs(255) / peak);
    check_near(r->mem_s, bytes / bandwidth);
    assert_string_equal(r->bound, "DRAM");
    /* fused: constants, 255 tokens of the cache in and one out */
    check_near(r->chip_s, ((double)decode_weights(255) + 524288.0 * 256) / bandwidth);
    double steps = 0;
    for (uint64_t past = 128; past <= 255; past++)
        steps += (double)(decode_weights(past) + decode_read(past) + decode_written(past)) / bandwidth;
    check_near(d->roof[OC_LLM_PART_STEPS].s, steps);
    check_near(d->roof[OC_LLM_PART_WHOLE].s, d->roof[OC_LLM_PART_PREFILL].s + steps);
    /* Each further sequence adds 13,348,372,480 FLOPs, 42.8 us on the A100, but 574 MB, 282 us: never compute
     * bound. */
    assert_true(d->compute_bound.known && d->compute_bound.never);
}

static uint64_t needed_bytes(struct oc_llm *l, int64_t batch, int64_t past)
{
    const struct oc_llm_cost *k = oc_llm_cost_at(l, (struct oc_llm_at){batch, 1, past});
    assert_non_null(k);
    return oc_llm_need(l, k);
}

/* The generation fits; one sequence or token more does not. */
static void check_fit(struct oc_llm *l, const struct oc_llm_device *d)
{
    assert_true(d->batch.known && d->batch.v > 0 && d->context.known);
    assert_true((double)needed_bytes(l, d->batch.v, 255) <= d->memory_bytes);
    assert_true((double)needed_bytes(l, d->batch.v + 1, 255) > d->memory_bytes);
    assert_true((double)needed_bytes(l, 1, d->context.v - 1) <= d->memory_bytes);
    assert_true((double)needed_bytes(l, 1, d->context.v) > d->memory_bytes);
    assert_true(d->prompt.known && d->prompt.v > 0 && !d->prompt.beyond);
    for (int more = 0; more < 2; more++) {
        const struct oc_llm_cost *k = oc_llm_cost_at(l, (struct oc_llm_at){1, d->prompt.v + more, 0});
        assert_int_equal((double)oc_llm_need(l, k) > d->memory_bytes, more);
    }
}

struct devices {
    struct oc_hwdb *db;
    const struct oc_device *item[3];
};

static struct devices open_devices(void)
{
    static const char *const name[] = {"a100-sxm4-80gb", "rtx-4090", "jetson-agx-orin-64gb"};
    struct devices d;
    struct oc_err err;
    if (oc_hwdb_open("hwdb", &d.db, &err))
        fail_msg("%s", err.msg);
    for (size_t i = 0; i < OC_COUNT(name); i++)
        if (oc_hwdb_find(d.db, name[i], &d.item[i], &err))
            fail_msg("%s", err.msg);
    return d;
}

static void llama_7b_on_three_devices_equals_hand_calculation(void **state)
{
    (void)state;
    static const double peak[] = {312e12, 330.3e12, 42.5e12}, bandwidth[] = {2039e9, 1008e9, 204.8e9};
    struct devices d = open_devices();
    struct oc_llm_opts o = answer;
    o.device = d.item;
    o.n_device = 3;
    struct case_ c = analyze_llama("7b", ZOO_LLAMA_OPTIMUM, 16, &o);
    assert_int_equal(c.l->n_device, 3);
    for (size_t i = 0; i < 3; i++) {
        check_roof(&c.l->device[i], peak[i], bandwidth[i]);
        check_fit(c.l, &c.l->device[i]);
    }
    /* No file has a peak for one-bit values: those operations are reported, not counted. */
    assert_string_equal(c.l->device[2].left_out, "b1");
    case_free(&c);
    oc_hwdb_free(d.db);
}

/* GroupQueryAttention on the 70B, four bits: 8 key heads, so another sequence adds little traffic and decode
 * becomes compute bound. The smallest such batch is reported: it is compute bound, one less is not. */
static void llama_70b_becomes_compute_bound_at_the_reported_batch(void **state)
{
    (void)state;
    struct devices d = open_devices();
    struct oc_llm_opts o = {.batch = 1, .prompt = 512, .generate = 1, .device = d.item, .n_device = 2};
    struct case_ c = analyze_llama("70b", ZOO_LLAMA_GENAI, 4, &o);
    for (size_t i = 0; i < 2; i++) {
        const struct oc_llm_limit *at = &c.l->device[i].compute_bound;
        const struct oc_device *dev = d.item[i];
        double peak = dev->peak[OC_HW_MATRIX][OC_CLASS_F16]->value;
        double bandwidth = oc_device_dram(dev)->bandwidth->value;
        assert_true(at->known && !at->never && at->v > 1);
        for (int64_t b = at->v - 1; b <= at->v; b++) {
            const struct oc_llm_cost *k = oc_llm_cost_at(c.l, (struct oc_llm_at){b, 1, 512});
            double bytes = (double)(k->v[OC_LN_READ_ACT] + k->v[OC_LN_READ_WEIGHT] + k->v[OC_LN_WRITTEN]);
            assert_int_equal(2.0 * (double)k->v[OC_LN_MACS] / peak >= bytes / bandwidth, b == at->v);
        }
    }
    /* 36 GiB of weights do not fit 24 GB */
    assert_true(c.l->device[1].batch.known && c.l->device[1].batch.v == 0);
    assert_true(c.l->device[1].context.known && c.l->device[1].context.v == 0);
    case_free(&c);
    oc_hwdb_free(d.db);
}

/* 64 experts of which a token uses 2: from a batch of 32 on all are read, so that no polynomial in the batch
 * gives the weights, but one gives the MACs. */
static void experts_have_no_closed_form_beyond_a_batch_that_reads_all(void **state)
{
    (void)state;
    static const char text[] = "{\"model_type\":\"qwen3_moe\",\"hidden_size\":64,\"intermediate_size\":128,"
                               "\"moe_intermediate_size\":32,\"num_experts\":64,\"num_experts_per_tok\":2,"
                               "\"num_hidden_layers\":2,\"num_attention_heads\":4,\"vocab_size\":100,"
                               "\"norm_topk_prob\":true,\"torch_dtype\":\"float16\"}";
    struct oc_model *m;
    struct oc_llm *l;
    assert_int_equal(oc_model_load_mem(text, sizeof(text) - 1, NULL, &m, NULL), 0);
    assert_int_equal(oc_llm_make(m, NULL, &l, NULL), 0);
    uint64_t v;
    assert_true(oc_llm_law_at(&l->decode_law, OC_LN_MACS, 64, 600, &v));
    assert_int_equal(v, oc_llm_cost_at(l, (struct oc_llm_at){64, 1, 600})->v[OC_LN_MACS]);
    assert_false(oc_llm_law_at(&l->decode_law, OC_LN_READ_WEIGHT, 64, 600, &v));
    oc_llm_free(l);
    oc_model_free(m);
}

/* ---- serving ---- */

/* The first device with a link of this bandwidth. */
static void set_link(struct devices *d, const char *change)
{
    assert_int_equal(oc_device_override(d->db, d->item[0], &change, 1, &d->item[0], NULL), 0);
}

static const struct oc_llm_serving_row *row_of(const struct oc_llm_serving *s, int64_t batch)
{
    for (uint32_t i = 0; i < s->n_row; i++)
        if (s->row[i].batch == batch)
            return &s->row[i];
    fail_msg("no row for a batch of %lld", (long long)batch);
    return NULL;
}

/* Llama 2 7B on 1 and 8 A100: in the middle of 100 steps after 100 tokens there are 149 in the cache. Each of
 * 8 devices reads an eighth of weights and cache (32 key heads). All-reduce: 2 * 32 layers * 4096 * 2 bytes.
 */
static void serving_equals_hand_calculation(void **state)
{
    (void)state;
    struct devices d = open_devices();
    struct oc_llm_opts o = {
        .prompt = 100, .generate = 101, .device = d.item, .n_device = 1, .parallel = "1,8"};
    for (int slow = 0; slow < 2; slow++) {
        set_link(&d, slow ? "link.bandwidth=100MB/s" : "link.bandwidth=300GB/s");
        struct case_ c = analyze_llama("7b", ZOO_LLAMA_GENAI, 16, &o);
        assert_int_equal(c.l->facts.width, 4096);
        assert_int_equal(c.l->device[0].n_serving, 2);
        const struct oc_llm_serving *one = &c.l->device[0].serving[0], *eight = one + 1;
        const struct oc_llm_cost *k = oc_llm_cost_at(c.l, (struct oc_llm_at){1, 1, 149});
        double bytes = (double)k->v[OC_LN_READ_WEIGHT] + 524288.0 * 150, alone = bytes / 2039e9;
        double exchange = 2.0 * 32 * 4096 * 2 * 7 / 8;
        check_near(row_of(one, 1)->step_s, alone);
        check_near(row_of(eight, 1)->step_s, slow ? exchange / 1e8 : alone / 8);
        assert_string_equal(row_of(eight, 1)->bound, slow ? "link" : "DRAM");
        check_near(row_of(eight, 64)->tokens_per_s, 64 / row_of(eight, 64)->step_s);
        check_near(row_of(eight, 64)->requests_per_s, 64.0 / 100 / row_of(eight, 64)->mixed_s);
        assert_true(isnan(row_of(eight, 64)->draft_tokens_per_s));
        case_free(&c);
    }
    oc_hwdb_free(d.db);
}

/* More sequences: no step is faster, and no rate lower; the last row fits, one sequence more does not. 70B:
 * 140 GB, so not on one A100, and each of 16 devices keeps a copy of one of the 8 key heads. */
static void serving_is_monotone_and_fits(void **state)
{
    (void)state;
    struct devices d = open_devices();
    struct oc_llm_opts o = {.device = d.item, .n_device = 1, .parallel = "1,2,16"};
    struct case_ c = analyze_llama("70b", ZOO_LLAMA_GENAI, 16, &o);
    const struct oc_llm_serving *s = c.l->device[0].serving;
    assert_int_equal(s[0].largest, 0);
    assert_int_equal(s[0].n_row, 0);
    for (size_t k = 1; k < 3; k++) {
        assert_true(s[k].n_row > 2 && s[k].row[s[k].n_row - 1].batch == s[k].largest);
        for (uint32_t i = 0; i < s[k].n_row; i++) {
            const struct oc_llm_serving_row *r = &s[k].row[i];
            assert_true(r->need_bytes <= c.l->device[0].memory_bytes && r->mixed_s >= r->step_s);
            assert_true(!i ||
                        (r->step_s >= r[-1].step_s && r->tokens_per_s >= r[-1].tokens_per_s * (1 - 1e-9)));
        }
    }
    double cache = (double)c.l->facts.kv_bytes_per_token * (512 + 127);
    double added = row_of(&s[2], 2)->need_bytes - row_of(&s[2], 1)->need_bytes;
    assert_true(added >= cache / 8 && added < cache / 8 * 1.2);
    case_free(&c);
    oc_hwdb_free(d.db);
}

/* A model that drafts for itself gains nothing: k steps and a check of k + 1 tokens give k + 1 tokens at
 * most. A small draft with the acceptance a gives (1 - a^5) / (1 - a) tokens for 4 of its steps and a check.
 */
static void draft_tokens_follow_the_acceptance(void **state)
{
    (void)state;
    struct devices d = open_devices();
    struct case_ small = analyze_llama("1b", ZOO_LLAMA_GENAI, 16, NULL);
    struct case_ large = analyze_llama("7b", ZOO_LLAMA_GENAI, 16, NULL);
    struct oc_llm_opts o = {
        .device = d.item, .n_device = 1, .parallel = "1", .draft = large.m, .acceptance = "1"};
    struct oc_llm *l;
    assert_int_equal(oc_llm_make(large.m, &o, &l, NULL), 0);
    const struct oc_llm_serving_row *r = &l->device[0].serving[0].row[0];
    assert_true(r->draft_tokens_per_s <= r->tokens_per_s * (1 + 1e-9));
    oc_llm_free(l);
    double rate[2];
    for (int i = 0; i < 2; i++) {
        o.draft = small.m;
        o.acceptance = i ? "0.5" : "1";
        assert_int_equal(oc_llm_make(large.m, &o, &l, NULL), 0);
        rate[i] = l->device[0].serving[0].row[0].draft_tokens_per_s;
        oc_llm_free(l);
    }
    check_near(rate[1] / rate[0], (1 - 0.03125) / 0.5 / 5);
    case_free(&small);
    case_free(&large);
    oc_hwdb_free(d.db);
}

/* 16 experts in 2 layers, 2 for a token: on 4 groups with 4 experts each, a token has none in a group with the
 * probability 12 * 11 / (16 * 15), and 3 groups are others. A stage of two reads its weights for each of its parts. */
static void stages_and_groups_divide_work_and_exchange(void **state)
{
    (void)state;
    static const char text[] =
        "{\"model_type\":\"mixtral\",\"hidden_size\":64,\"intermediate_size\":128,"
        "\"num_hidden_layers\":2,\"num_attention_heads\":4,\"vocab_size\":100,"
        "\"num_local_experts\":16,\"num_experts_per_tok\":2,\"torch_dtype\":\"float16\"}";
    struct devices d = open_devices();
    set_link(&d, "link.bandwidth=900TB/s");
    struct oc_llm_opts o = {
        .prompt = 100, .generate = 101, .device = d.item, .n_device = 1, .parallel = "1,pp2,ep4,tp2xpp2xep2"};
    struct oc_model *m;
    struct oc_llm *l;
    assert_int_equal(oc_model_load_mem(text, sizeof(text) - 1, NULL, &m, NULL), 0);
    assert_int_equal(oc_llm_make(m, &o, &l, NULL), 0);
    const struct oc_llm_serving *s = l->device[0].serving;
    assert_int_equal(s[3].devices, 8);
    assert_string_equal(s[3].plan, "tp2xpp2xep2");
    assert_int_equal(l->experts.bytes, 2 * 16 * 3 * 64 * 128 * 2);
    const struct oc_llm_at at = {8, 1, 149};
    const struct oc_llm_cost *c = oc_llm_cost_at(l, at);
    double dense = (double)(c->v[OC_LN_READ_WEIGHT] - c->v[OC_LN_READ_EXPERT]),
           experts = (double)oc_llm_load_at(l, at)->const_bytes - dense, cache = 8 * 150 * 2 * 2 * 64 * 2.0;
    check_near(experts, 2 * 2 * 3 * 64 * 128 * 2); /* of one token */
    check_near(row_of(&s[0], 8)->step_s, (dense + experts + cache) / 2039e9);
    check_near(row_of(&s[1], 8)->step_s, (dense + experts + cache / 2) / 2039e9);
    check_near(row_of(&s[2], 8)->step_s, (dense + experts / 4 + cache / 4) / 2039e9);
    double groups = 3 * (1 - 12.0 * 11 / (16 * 15)), two = 1 - 8.0 * 7 / (16 * 15), vector = 64 * 2;
    check_near(row_of(&s[0], 8)->link_bytes + 1, 1);
    check_near(row_of(&s[1], 8)->link_bytes, 8 * vector);
    check_near(row_of(&s[2], 8)->link_bytes, 8 / 4 * vector * 2 * 2 * groups);
    check_near(row_of(&s[3], 8)->link_bytes, 8 / 2 * vector * (2 * 2 / 2 / 2 + 1 + 2 * 2 * two / 2 / 2));
    oc_llm_free(l);
    oc_model_free(m);
    oc_hwdb_free(d.db);
}

static void serving_rejects_bad_options(void **state)
{
    (void)state;
    struct case_ c = analyze_llama("toy", ZOO_LLAMA_GENAI, 16, NULL);
    const struct oc_llm_opts bad[] = {
        {.parallel = ""},
        {.parallel = "0"},
        {.parallel = "1,x"},
        {.parallel = "1,"},
        {.parallel = "99999999999999999999"},
        {.parallel = "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1"},
        {.parallel = "tp2xtp2"},
        {.parallel = "pp"},
        {.parallel = "ep2"},
        {.parallel = "pp1024"},
        {.parallel = "tp64xpp64"},
        {.parallel = "2", .draft = c.m},
        {.parallel = "2", .draft = c.m, .acceptance = "2"},
        {.parallel = "2", .draft = c.m, .acceptance = "nan"},
        {.parallel = "2", .draft = c.m, .acceptance = "0.5", .draft_tokens = 65},
    };
    for (size_t i = 0; i < OC_COUNT(bad); i++) {
        struct oc_llm *l = NULL;
        struct oc_err err;
        assert_int_equal(oc_llm_make(c.m, &bad[i], &l, &err), -1);
        assert_null(l);
        assert_int_equal(err.code, OC_EARG);
    }
    case_free(&c);
}

/* ---- facts and closed forms ---- */

/* 2 * layers * key heads * size * bytes: 7B 2*32*32*128*2, 70B 2*80*8*128*2, 1B 2*22*4*64*2 */
static void kv_cache_bytes_per_token_are_exact(void **state)
{
    (void)state;
    static const struct {
        const char *size;
        int64_t heads, kv_heads, head;
        uint32_t layers;
        uint64_t bytes;
    } rows[] = {
        {"7b", 32, 32, 128, 32, 524288}, {"70b", 64, 8, 128, 80, 327680}, {"1b", 32, 4, 64, 22, 22528}};
    const struct oc_llm_opts o = {.batch = 1, .prompt = 1, .generate = 1};
    for (size_t i = 0; i < OC_COUNT(rows); i++)
        for (int genai = 0; genai < 2; genai++) {
            struct case_ c =
                analyze_llama(rows[i].size, genai ? ZOO_LLAMA_GENAI : ZOO_LLAMA_OPTIMUM, genai ? 4 : 16, &o);
            const struct oc_llm_facts *f = oc_llm_facts(c.l);
            assert_int_equal(f->layers, rows[i].layers);
            assert_int_equal(f->kv_pairs, 2 * rows[i].layers);
            assert_int_equal(f->heads, rows[i].heads);
            assert_int_equal(f->kv_heads, rows[i].kv_heads);
            assert_int_equal(f->head_size, rows[i].head);
            assert_int_equal(f->vocabulary, 32000);
            assert_int_equal(f->window, -1);
            assert_string_equal(f->kv_dtype, "float16");
            assert_true(f->kv_bytes_known);
            assert_int_equal(f->kv_bytes_per_token, rows[i].bytes);
            case_free(&c);
        }
}

static uint64_t bytes_stored(const struct oc_llm *l, const char *label)
{
    for (uint32_t i = 0; i < l->n_weights; i++)
        if (!strcmp(l->weights[i].label, label))
            return l->weights[i].bytes;
    return 0;
}

/* test_llama.c has the calculation. */
static void four_bit_weights_count_their_stored_bytes(void **state)
{
    (void)state;
    const struct oc_llm_opts o = {.batch = 1, .prompt = 1, .generate = 1};
    struct case_ c = analyze_llama("7b", ZOO_LLAMA_GENAI, 4, &o);
    assert_int_equal(bytes_stored(c.l, "4 bits in blocks of 32"), 6607077376 / 2);
    assert_int_equal(bytes_stored(c.l, "scales, zero points"), 6607077376 / 32 * 2);
    assert_int_equal(bytes_stored(c.l, "float16"), 262144000 + 532480 + 1048576);
    case_free(&c);
}

/* The closed form in batch and tokens equals the analysis at points it was not fitted to; the sum of the
 * steps equals the sum of single analyses. */
static void closed_forms_equal_single_analyses(void **state)
{
    (void)state;
    static const int64_t at[][2] = {{2, 77}, {11, 5000}, {5, 1}};
    const struct oc_llm_opts o = {.batch = 3, .prompt = 10, .generate = 30};
    for (int genai = 0; genai < 2; genai++) {
        struct case_ c = analyze_llama("toy", genai ? ZOO_LLAMA_GENAI : ZOO_LLAMA_OPTIMUM, 4, &o);
        for (size_t i = 0; i < OC_COUNT(at); i++) {
            const struct oc_llm_cost *k = oc_llm_cost_at(c.l, (struct oc_llm_at){at[i][0], 1, at[i][1]});
            uint64_t v;
            for (unsigned n = 0; n < OC_LN_PEAK; n++)
                if (oc_llm_law_at(&c.l->decode_law, (enum oc_llm_num)n, at[i][0], at[i][1], &v))
                    assert_int_equal(v, k->v[n]);
            assert_true(oc_llm_law_at(&c.l->decode_law, OC_LN_MACS, at[i][0], at[i][1], &v));
        }
        uint64_t sum[OC_LN_COUNT] = {0};
        for (int64_t past = 10; past < 39; past++) {
            const struct oc_llm_cost *k = oc_llm_cost_at(c.l, (struct oc_llm_at){3, 1, past});
            for (unsigned n = 0; n < OC_LN_COUNT; n++)
                sum[n] += k->v[n];
        }
        assert_true(c.l->sums_known);
        for (unsigned n = 0; n < OC_LN_COUNT; n++)
            if (n != OC_LN_PEAK)
                assert_int_equal(c.l->sum[n], sum[n]);
        case_free(&c);
    }
}

static void rejects_invalid_sizes(void **state)
{
    (void)state;
    static const struct oc_llm_opts bad[] = {
        {.batch = -1, .prompt = 1, .generate = 1},
        {.batch = 1, .prompt = -5, .generate = 1},
        {.batch = 1, .prompt = 1, .generate = INT64_MAX},
        {.batch = INT64_MAX, .prompt = 1, .generate = 1},
    };
    struct zoo z;
    size_t n;
    zoo_init(&z, 17);
    zoo_llama(&z, "toy", ZOO_LLAMA_GENAI, 16);
    uint8_t *bytes = oc_b_pack(z.b, &n);
    zoo_free(&z);
    struct oc_model *m;
    struct oc_err err;
    assert_int_equal(oc_model_load_mem(bytes, n, NULL, &m, &err), 0);
    for (size_t i = 0; i < OC_COUNT(bad); i++) {
        struct oc_llm *l = NULL;
        assert_int_equal(oc_llm_make(m, &bad[i], &l, &err), -1);
        assert_int_equal(err.code, OC_EARG);
    }
    oc_model_free(m);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(llama_7b_counts_equal_hand_calculation),
        cmocka_unit_test(llama_7b_on_three_devices_equals_hand_calculation),
        cmocka_unit_test(llama_70b_becomes_compute_bound_at_the_reported_batch),
        cmocka_unit_test(experts_have_no_closed_form_beyond_a_batch_that_reads_all),
        cmocka_unit_test(serving_equals_hand_calculation),
        cmocka_unit_test(serving_is_monotone_and_fits),
        cmocka_unit_test(stages_and_groups_divide_work_and_exchange),
        cmocka_unit_test(draft_tokens_follow_the_acceptance),
        cmocka_unit_test(serving_rejects_bad_options),
        cmocka_unit_test(kv_cache_bytes_per_token_are_exact),
        cmocka_unit_test(four_bit_weights_count_their_stored_bytes),
        cmocka_unit_test(closed_forms_equal_single_analyses),
        cmocka_unit_test(rejects_invalid_sizes),
    };
    return cmocka_run_group_tests_name("llm", tests, NULL, NULL);
}
