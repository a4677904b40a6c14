/* Memory of every node for ONNX Runtime's capacity-aware partitioner, as NodeStatsRecorder of
 * core/framework/resource_accountant.cc writes it: a tensor counts once in a run, by its name. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/c_locale.h"
#include "base/ck.h"
#include "memory/memory_report.h"
#include "onnxcost.h"

enum { ARENA_UNIT = 256 }; /* bytes to which the arena of ONNX Runtime rounds up */

struct node_stats {
    const struct oc_analysis *a;
    struct oc_liveness *liveness;
    struct oc_ort_shapes shapes;
    uint32_t *into; /* by buffer: the one whose memory it reuses (ort_run.h) */
    struct oc_map counted;
    struct oc_arena arena;
    struct oc_buf rows;
    struct oc_err *err;
};

/* ---- names ------------------------------------------------------------------------------------------ */

static uint32_t rotate(uint32_t x, unsigned by)
{
    return x << by | x >> (32 - by);
}

static uint32_t finalize(uint32_t h)
{
    h ^= h >> 16;
    h *= 0x85ebca6b;
    h ^= h >> 13;
    h *= 0xc2b2ae35;
    return h ^ h >> 16;
}

static const uint32_t hash_factor[4] = {0x239b961b, 0xab0e9789, 0x38b34ae5, 0xa1e38b93};

/* Mixes one of the four words of a block into the state. */
static uint32_t mix_word(uint32_t word, unsigned i)
{
    return rotate(word * hash_factor[i], 15 + i) * hash_factor[(i + 1) % 4];
}

static uint32_t little_word(const unsigned char *p, size_t n)
{
    uint32_t word = 0;
    for (size_t i = 0; i < n && i < 4; i++)
        word |= (uint32_t)p[i] << (8 * i);
    return word;
}

static void spread(uint32_t h[4])
{
    h[0] += h[1] + h[2] + h[3];
    for (unsigned i = 1; i < 4; i++)
        h[i] += h[0];
}

/* MurmurHash3_x86_128 (Austin Appleby, public domain), seeded with the first word of the last result. */
static void hash_name(uint32_t h[4], const char *name)
{
    static const uint32_t add[4] = {0x561ccd1b, 0x0bcaa747, 0x96cd1c35, 0x32ac3b17};
    static const unsigned turn[4] = {19, 17, 15, 13};
    const unsigned char *p = (const unsigned char *)name;
    size_t n = strlen(name), blocks = n / 16;
    h[1] = h[2] = h[3] = h[0];
    for (size_t b = 0; b < blocks; b++, p += 16)
        for (size_t i = 0; i < 4; i++) {
            h[i] ^= mix_word(little_word(p + 4 * i, 4), (unsigned)i);
            h[i] = (rotate(h[i], turn[i]) + h[(i + 1) % 4]) * 5 + add[i];
        }
    for (size_t i = 0; 4 * i < n % 16; i++)
        h[i] ^= mix_word(little_word(p + 4 * i, n % 16 - 4 * i), (unsigned)i);
    for (unsigned i = 0; i < 4; i++)
        h[i] ^= (uint32_t)n;
    spread(h);
    for (unsigned i = 0; i < 4; i++)
        h[i] = finalize(h[i]);
    spread(h);
}

static const char *value_name(const struct oc_model *m, uint32_t value)
{
    return value == OC_NONE ? "" : m->value[value].name;
}

/* MakeUniqueNodeName: the node's name, else its type, and a hash of the names of its tensors. */
static int print_name(struct node_stats *s, const struct oc_node *n)
{
    const struct oc_model *m = s->a->model;
    const char *name = *n->name ? n->name : n->op_type;
    uint32_t h[4] = {0};
    if (strpbrk(name, ",\r\n"))
        return oc_fail(s->err, OC_EARG,
                       "node '%.60s' has a comma or a line break in its name: ONNX Runtime cannot "
                       "read it: rename the node",
                       name);
    for (uint32_t i = 0; i < n->n_in; i++)
        hash_name(h, value_name(m, n->in[i]));
    for (uint32_t i = 0; i < n->n_out; i++)
        hash_name(h, value_name(m, n->out[i]));
    oc_buf_printf(&s->rows, "%s_%" PRIu64, name, h[0] | (uint64_t)h[1] << 32);
    return 0;
}

/* ---- bytes ------------------------------------------------------------------------------------------ */

/* Counts a tensor, in units of `unit` bytes, unless its name was counted before. */
static int count_value(struct node_stats *s, uint32_t value, uint64_t unit, uint64_t *sum)
{
    const char *name = s->a->model->value[value].name;
    const struct oc_type *t = &s->a->type[value];
    uint32_t one = 1;
    uint64_t bytes;
    if (t->kind != OC_T_TENSOR || !oc_map_add(&s->counted, name, strlen(name), &one, NULL))
        return 0;
    if (!oc_type_bytes(t, &bytes) || !oc_add_u64(bytes, unit - 1, &bytes) ||
        !oc_add_u64(*sum, bytes / unit * unit, sum))
        return oc_fail(s->err, OC_EARG, "the size of '%.60s' is unknown: give sizes with --dim or --shape",
                       name);
    return 0;
}

/* Whether the node allocates the output, and does not write it over another tensor. */
static bool allocates(const struct node_stats *s, uint32_t value)
{
    uint32_t i = s->liveness->of_value[value];
    return i < s->liveness->n_life && s->into[i] == i && s->liveness->life[i].value == value;
}

static int node_row(struct node_stats *s, uint32_t node)
{
    const struct oc_node *n = &s->a->model->node[node];
    uint64_t inputs = 0, constants = 0, made = 0;
    for (uint32_t i = 0; i < n->n_in; i++) {
        uint32_t v = n->in[i];
        if (v != OC_NONE && count_value(s, v, 1, s->a->is_const[v] ? &constants : &inputs))
            return -1;
    }
    for (uint32_t i = 0; i < n->n_out; i++)
        if (n->out[i] != OC_NONE && allocates(s, n->out[i]) && count_value(s, n->out[i], ARENA_UNIT, &made))
            return -1;
    if (print_name(s, n))
        return -1;
    oc_buf_printf(&s->rows, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",0\n", inputs, constants, made);
    return 0;
}

int oc_node_stats_write(const struct oc_analysis *analysis, FILE *out, struct oc_err *err)
{
    OC_C_LOCALE;
    if (!analysis)
        return oc_fail(err, OC_EARG, "node statistics need an analysis");
    struct oc_liveness_opts o = oc_memory_runtime_opts(analysis);
    struct oc_analysis *open = oc_memory_open_shapes(analysis);
    struct node_stats s = {.a = analysis, .liveness = oc_liveness_make(analysis, 0, &o), .err = err};
    s.counted.arena = &s.arena;
    s.into = oc_xcalloc((size_t)s.liveness->n_life + 1, sizeof(*s.into));
    for (uint32_t i = 0; i < s.liveness->n_life; i++)
        s.into[i] = i;
    if (open) {
        oc_ort_shapes_init(&s.shapes, open);
        oc_ort_reuse(s.liveness, &s.shapes, s.into);
        oc_ort_shapes_free(&s.shapes);
    }
    oc_buf_str(&s.rows, "#name,input_sizes,initializers_sizes,total_dynamic_sizes,total_temp_allocations\n");
    int rc = 0;
    for (uint32_t i = 0; i < s.liveness->n_step && !rc; i++)
        rc = node_row(&s, s.liveness->step[i]);
    if (!rc)
        fwrite(s.rows.data, 1, s.rows.n, out);
    oc_buf_free(&s.rows);
    oc_map_free(&s.counted);
    oc_arena_free(&s.arena);
    free(s.into);
    oc_liveness_free(s.liveness);
    oc_analysis_free(open);
    return rc;
}
