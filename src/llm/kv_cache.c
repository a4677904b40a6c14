/* llm/: Decoders with a KV cache: prefill, decode step, memory, serving on devices. Counts come from the
 * analysis of the real graph; a naming scheme of caches is a row of kv_cache.c. */

#include "llm/llm.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/liveness.h"
#include "base/arena.h"
#include "base/map.h"

#define OPTIMUM "optimum, transformers.js, onnxruntime-genai"
#define ORT     "onnxruntime.transformers"

/* "@": key or value; "$": k or v */
static const struct oc_kv_pattern patterns[] = {
    {"past_key_values.%d.@", "present.%d.@", OC_KV_KEY, false, OPTIMUM},
    {"past_key_values.%d.@", "present_key_values.%d.@", OC_KV_KEY, false, "optimum"},
    {"past_key_values.%d.key_value", "present.%d.key_value", OC_KV_BOTH, false,
     "optimum (one tensor per layer)"},
    {"past_key_values.%d", "present.%d", OC_KV_BOTH, false, "optimum (one tensor per layer)"},
    {"past_key_values.%d.latent", "present.%d.latent", OC_KV_LATENT, false, "onnxcost (config.json)"},
    /* encoder and decoder */
    {"past_key_values.%d.decoder.@", "present.%d.decoder.@", OC_KV_KEY, false, OPTIMUM},
    {"past_key_values.%d.encoder.@", "present.%d.encoder.@", OC_KV_KEY, true, OPTIMUM},
    {"past_@_self_%d", "present_@_self_%d", OC_KV_KEY, false, ORT},
    {"past_@_cross_%d", "present_@_cross_%d", OC_KV_KEY, true, ORT},
    {"past_self_@_%d", "present_self_@_%d", OC_KV_KEY, false, ORT},
    {"past_cross_@_%d", "present_cross_@_%d", OC_KV_KEY, true, ORT},
    {"cross_past_key_values.%d.@", "cross_present.%d.@", OC_KV_KEY, true, "onnxruntime-genai"},
    {"past_key_values.%d.self.@", "present.%d.self.@", OC_KV_KEY, false, "onnxruntime-genai"},
    /* ONNX Runtime's own converters: keys and values in one tensor of 2 x batch x heads x length x size */
    {"past_%d", "present_%d", OC_KV_BOTH, false, ORT},
    {"past_@_%d", "present_@_%d", OC_KV_KEY, false, ORT},
    {"past.%d.@", "present.%d.@", OC_KV_KEY, false, "others"},
    {"past_$_%d", "present_$_%d", OC_KV_KEY, false, "others"},
    {"cache.%d.@", "cache.%d.@_out", OC_KV_KEY, false, "others"},
    {"$_cache_%d", "$_cache_out_%d", OC_KV_KEY, false, "others"},
    {"@_cache_%d", "@_cache_out_%d", OC_KV_KEY, false, "others"},
};

bool oc_kv_match(const char *pattern, const char *name, uint32_t *layer)
{
    const char *hole = strstr(pattern, "%d");
    size_t before = (size_t)(hole - pattern);
    if (strncmp(pattern, name, before))
        return false;
    uint32_t v = 0;
    const char *p = name + before, *first = p;
    for (; *p >= '0' && *p <= '9'; p++) {
        v = v * 10 + (uint32_t)(*p - '0');
        if (v >= OC_KV_MAX_LAYERS)
            return false;
    }
    if (p == first || (*first == '0' && p > first + 1) || strcmp(p, hole + 2))
        return false;
    *layer = v;
    return true;
}

/* The pattern for keys (part 0) or values. False: it is for both. */
static bool pattern_of_part(const char *pattern, unsigned part, char text[128])
{
    static const char *const words[2][2] = {{"key", "value"}, {"k", "v"}};
    size_t n = strcspn(pattern, "@$");
    const char *at = pattern + n;
    snprintf(text, 128, "%.*s%s%s", (int)n, pattern, *at ? words[*at == '$'][part] : "", *at ? at + 1 : "");
    return *at || !part;
}

/* ---- kv cache --------------------------------------------------------------------------------------- */

/* Pairs the past and present of KV caches: by name and the graph between them, else by structure. */

enum {
    MAX_PAIRS = 8192,
    MAX_STEPS = 256 /* maximum nodes between a present and its past */
};

/* ---- from a present back to its past ---------------------------------------------------------------- */

struct walk {
    const struct oc_model *m;
    uint32_t value[MAX_STEPS]; /* visited values, by distance */
    unsigned n;
};

static void step_to(struct walk *w, uint32_t value)
{
    if (value == OC_NONE || w->n == MAX_STEPS)
        return;
    for (unsigned i = 0; i < w->n; i++)
        if (w->value[i] == value)
            return;
    w->value[w->n++] = value;
}

/* Continues into the bodies of the node: their outputs for its output `slot`. */
static void step_into(struct walk *w, const struct oc_node *n, uint32_t slot)
{
    for (uint32_t a = 0; a < n->n_attr; a++)
        for (uint32_t i = 0; n->attr[a].graph && i < n->attr[a].n; i++) {
            const struct oc_graph *g = &w->m->graph[n->attr[a].graph[i]];
            if (slot < g->n_output)
                step_to(w, g->output[slot]);
        }
    if (n->body != OC_NONE && slot < w->m->graph[n->body].n_output)
        step_to(w, w->m->graph[n->body].output[slot]);
}

static uint32_t kv_cache_slot_of(const uint32_t *list, uint32_t n, uint32_t value)
{
    for (uint32_t i = 0; i < n && i < MAX_STEPS; i++)
        if (list[i] == value)
            return i;
    return OC_NONE;
}

/* Sets reader, writer and their slots. False: the present is not derived from the past within the search
 * limit. */
static bool connect(const struct oc_model *m, struct oc_kv_pair *p)
{
    struct walk w = {.m = m};
    step_to(&w, p->present);
    for (unsigned i = 0; i < w.n; i++) {
        uint32_t node = m->value[w.value[i]].producer;
        if (w.value[i] == p->past)
            return true; /* passed through unchanged */
        if (node == OC_NONE)
            continue;
        const struct oc_node *n = &m->node[node];
        uint32_t out = kv_cache_slot_of(n->out, n->n_out, w.value[i]),
                 in = kv_cache_slot_of(n->in, n->n_in, p->past);
        if (i == 0) {
            p->writer = node;
            p->present_slot = out;
        }
        if (in != OC_NONE) {
            p->reader = node;
            p->past_slot = in;
            return true;
        }
        step_into(&w, n, out);
        for (uint32_t k = 0; k < n->n_in && k < MAX_STEPS; k++)
            step_to(&w, n->in[k]);
    }
    return false;
}

/* ---- axes ------------------------------------------------------------------------------------------- */

/* The only open dimension after the batch is the length; otherwise the usual axis. */
static unsigned length_axis(const struct oc_shape *s, unsigned batch, unsigned usual)
{
    unsigned axis = usual, open = 0;
    for (unsigned i = batch + 1; i < s->rank; i++)
        if (!oc_is_known(s->dim[i]) || s->dim[i].v < 0) {
            axis = i;
            open++;
        }
    return open == 1 ? axis : usual;
}

static bool set_axes(const struct oc_model *m, struct oc_kv_pair *p)
{
    const struct oc_type *t = m->value[p->past].declared;
    const struct oc_shape *s = &t->shape;
    bool both = p->part == OC_KV_BOTH;
    if (t->kind != OC_T_TENSOR || !s->ranked)
        return false;
    if ((both || p->part == OC_KV_LATENT) &&
        s->rank == 3) { /* batch x length x size: all heads share one key */
        p->length_axis = (uint8_t)length_axis(s, 0, 1);
        p->size_axis = (uint8_t)(3 - p->length_axis);
        p->head_axis = UINT8_MAX;
        return true;
    }
    if (s->rank != (both ? 5 : 4))
        return false;
    unsigned batch = both && oc_is(s->dim[0], 2) ? 1 : 0;
    unsigned first = both && !batch ? 2 : batch + 1; /* from here on: heads, length and size */
    unsigned length = length_axis(s, first - 1, first + 1);
    p->batch_axis = (uint8_t)batch;
    p->length_axis = (uint8_t)length;
    p->head_axis = (uint8_t)(length == first ? first + 1 : first);
    p->size_axis = (uint8_t)(length == first + 2 ? first + 1 : first + 2);
    return true;
}

/* A paged cache without an owning sequence: its first dimension is not the batch. */
static bool is_paged(const struct oc_model *m, const struct oc_kv_pair *p)
{
    return p->reader != OC_NONE && !strcmp(m->node[p->reader].op_type, "PagedAttention");
}

/* ---- public functions ------------------------------------------------------------------------------- */

struct finder {
    const struct oc_model *m;
    struct oc_map outputs; /* from name to value */
    struct oc_diags *diags;
    struct oc_kv_pair *pair; /* heap */
    uint32_t n, cap;
};

static void kv_cache_leave_out(struct finder *f, uint32_t past, const char *why)
{
    oc_diag_add(f->diags, OC_WARNING, "W-kv-left-out", f->m->value[past].name, "%s: not used as a cache",
                why);
}

static uint32_t present_of(const struct finder *f, const char *pattern, unsigned part, uint32_t layer)
{
    char name[128], text[160];
    pattern_of_part(pattern, part, name);
    const char *hole = strstr(name, "%d");
    int n = snprintf(text, sizeof(text), "%.*s%u%s", (int)(hole - name), name, layer, hole + 2);
    return oc_map_get(&f->outputs, text, (size_t)n);
}

static void try_input(struct finder *f, uint32_t value)
{
    struct oc_kv_pair p = {.past = value, .present = OC_NONE, .reader = OC_NONE, .writer = OC_NONE};
    char text[128];
    for (size_t i = 0; i < 2 * OC_COUNT(patterns) && p.present == OC_NONE; i++) {
        const struct oc_kv_pattern *name = &patterns[i / 2];
        if (!pattern_of_part(name->past, i % 2, text) ||
            !oc_kv_match(text, f->m->value[value].name, &p.layer))
            continue;
        p.present = present_of(f, name->present, i % 2, p.layer);
        if (!p.name || p.present != OC_NONE) {
            p.name = name;
            p.part = name->part == OC_KV_KEY && i % 2 ? OC_KV_VALUE : name->part;
        }
    }
    if (!p.name)
        return;
    if (p.present == OC_NONE && !p.name->cross)
        kv_cache_leave_out(f, value, "no present output matches this past");
    else if (!set_axes(f->m, &p))
        kv_cache_leave_out(f, value, "its shape does not match keys or values");
    else if (p.present != OC_NONE && !connect(f->m, &p) && !p.name->cross)
        kv_cache_leave_out(f, value, "the present of that name is not computed from it");
    else if (is_paged(f->m, &p))
        kv_cache_leave_out(f, value, "its blocks are not per sequence (PagedAttention)");
    else if (f->n < MAX_PAIRS) {
        OC_GROW(f->pair, f->n, f->cap);
        f->pair[f->n++] = p;
    }
}

/* ---- caches by structure ---------------------------------------------------------------------------- */

/* Without names: the cache of an attention operator, or a graph input that a Concat extends to a graph
 * output, of which attention products read the keys (before the Softmax) or the values (after it). */

enum { MAX_VIEWS = 24 /* nodes between a product and its cache, or its Softmax */ };

static const struct oc_kv_pattern structure = {"", "", OC_KV_KEY, false,
                                               "found by the structure of the graph"};

static bool is_one_of(const struct oc_node *n, const char *set)
{
    return !*n->domain && oc_set_has(set, n->op_type, strlen(n->op_type));
}

/* The producer at the end of a chain of operators `through`, by their first input (Where: by its last). */
static uint32_t producer_through(const struct oc_model *m, uint32_t value, const char *through)
{
    for (unsigned i = 0; i < MAX_VIEWS && value != OC_NONE && m->value[value].producer != OC_NONE; i++) {
        uint32_t node = m->value[value].producer;
        const struct oc_node *n = &m->node[node];
        if (!is_one_of(n, through) || !n->n_in)
            return node;
        value = n->in[strcmp(n->op_type, "Where") ? 0 : n->n_in - 1];
    }
    return OC_NONE;
}

static bool is_input_of_rank(const struct oc_model *m, uint32_t value, unsigned rank)
{
    const struct oc_value *v = value == OC_NONE ? NULL : &m->value[value];
    return v && v->graph_input && !v->constant && v->graph == 0 && v->declared &&
           v->declared->kind == OC_T_TENSOR && v->declared->shape.ranked && v->declared->shape.rank == rank;
}

static void add_found(struct finder *f, struct oc_kv_pair p, unsigned part, uint32_t *layers)
{
    p.layer = layers[part];
    p.name = &structure;
    p.part = (uint8_t)part;
    if (f->n == MAX_PAIRS || layers[part] == OC_KV_MAX_LAYERS || !is_input_of_rank(f->m, p.past, 4) ||
        p.present == OC_NONE || !f->m->value[p.present].graph_output || !set_axes(f->m, &p) ||
        is_paged(f->m, &p))
        return;
    layers[part]++;
    OC_GROW(f->pair, f->n, f->cap);
    f->pair[f->n++] = p;
}

static void try_attention(struct finder *f, uint32_t node, uint32_t *layers)
{
    const struct oc_node *n = &f->m->node[node];
    uint32_t in, out;
    for (unsigned k = 0; k < 2; k++)
        if (oc_cache_slots(n, k, &in, &out))
            add_found(f,
                      (struct oc_kv_pair){.past = n->in[in],
                                          .present = n->out[out],
                                          .past_slot = in,
                                          .present_slot = out,
                                          .reader = node,
                                          .writer = node},
                      k ? OC_KV_VALUE : OC_KV_KEY, layers);
}

static void try_product(struct finder *f, const struct oc_node *n, uint32_t *layers)
{
    static const char views[] = " Cast Div Expand Identity Mul Reshape Slice Squeeze Transpose Unsqueeze ",
                      weights[] = " Cast Dropout Identity Reshape Where ";
    bool product = is_one_of(n, " MatMul ") && n->n_in == 2;
    uint32_t concat = product ? producer_through(f->m, n->in[1], views) : OC_NONE;
    const struct oc_node *c = concat == OC_NONE ? NULL : &f->m->node[concat];
    if (!c || !is_one_of(c, " Concat ") || c->n_in != 2 || c->n_out != 1)
        return;
    uint32_t from = producer_through(f->m, n->in[0], weights);
    bool value = from != OC_NONE && is_one_of(&f->m->node[from], " Softmax ");
    add_found(f,
              (struct oc_kv_pair){.past = c->in[0], .present = c->out[0], .reader = concat, .writer = concat},
              value ? OC_KV_VALUE : OC_KV_KEY, layers);
}

static void find_by_structure(struct finder *f)
{
    uint32_t layers[2] = {0};
    const struct oc_graph *g = &f->m->graph[0];
    for (uint32_t i = 0; i < g->n_node; i++) {
        try_attention(f, g->node[i], layers);
        try_product(f, &f->m->node[g->node[i]], layers);
    }
}

static int by_layer(const void *a, const void *b)
{
    const struct oc_kv_pair *x = a, *y = b;
    if (x->name->cross != y->name->cross)
        return x->name->cross ? 1 : -1;
    if (x->layer != y->layer)
        return x->layer < y->layer ? -1 : 1;
    return (x->part > y->part) - (x->part < y->part);
}

static void count_pairs(struct oc_kv_cache_info *kv)
{
    for (uint32_t i = 0; i < kv->n_pair; i++) {
        if (kv->pair[i].name->cross)
            continue;
        kv->n_self++;
        kv->layers += i == 0 || kv->pair[i].layer != kv->pair[i - 1].layer;
    }
}

static int none_found(const struct oc_model *m, const struct oc_diags *diags, struct oc_err *err)
{
    return oc_fail(err, OC_EUNSUPPORTED,
                   "'%.200s' has no KV cache: no input such as past_key_values.0.key with an output such as "
                   "present.0.key%s%s%.300s%s",
                   *m->path ? m->path : "the model", diags->n ? " (" : "",
                   diags->n ? diags->item[0].where : "",
                   diags->n ? oc_printf(diags->arena, ": %s", diags->item[0].text) : "", diags->n ? ")" : "");
}

int oc_kv_find(const struct oc_model *m, struct oc_arena *arena, struct oc_diags *diags,
               struct oc_kv_cache_info *out, struct oc_err *err)
{
    struct finder f = {.m = m, .outputs = {.arena = arena}, .diags = diags};
    const struct oc_graph *g = &m->graph[0];
    *out = (struct oc_kv_cache_info){0};
    for (uint32_t i = 0; i < g->n_output; i++)
        if (g->output[i] != OC_NONE)
            oc_map_set(&f.outputs, m->value[g->output[i]].name, strlen(m->value[g->output[i]].name),
                       g->output[i]);
    for (uint32_t i = 0; i < g->n_input; i++)
        if (g->input[i] != OC_NONE && !m->value[g->input[i]].constant)
            try_input(&f, g->input[i]);
    oc_map_free(&f.outputs);
    if (!f.n)
        find_by_structure(&f);
    out->pair = OC_NEW_ARRAY(arena, f.n, struct oc_kv_pair);
    out->n_pair = f.n;
    if (f.n) {
        qsort(f.pair, f.n, sizeof(*f.pair), by_layer);
        memcpy(out->pair, f.pair, f.n * sizeof(*f.pair));
    }
    free(f.pair);
    count_pairs(out);
    bool states = m->built.n && !f.n; /* of a config.json with layers of another kind only */
    for (uint32_t i = 0; states && i < g->n_input; i++)
        if (g->input[i] != OC_NONE && oc_has_nocase(m->value[g->input[i]].name, "past_recurrent"))
            return 0;
    return out->n_self ? 0 : none_found(m, diags, err);
}
