/* Roles of the inputs' dimensions: sequences, new tokens, cached tokens, or their sum. The cache determines
 * the first and third, the token input the second, names the rest. */
#include <string.h>

#include "base/str.h"
#include "base/map.h"
#include "llm/llm.h"
#include "onnxcost.h"

const char *const oc_llm_role_name[OC_LLM_ROLES] = {
    [OC_LLM_BATCH] = "sequences",
    [OC_LLM_NEW] = "new tokens",
    [OC_LLM_PAST] = "tokens in the cache",
    [OC_LLM_TOTAL] = "tokens in the cache and new ones",
};

struct roles {
    const struct oc_model *m;
    const struct oc_analyze_opts *opts;
    struct oc_arena *arena;
    struct oc_llm_sizes *out;
    struct oc_map by_symbol; /* to its index in out->size */
    uint32_t cap;
    struct oc_err *err;
};

static bool llm_sizes_contains(const char *text, const char *word)
{
    size_t n = strlen(word);
    for (; *text; text++)
        if (oc_ncasecmp(text, word, n) == 0)
            return true;
    return false;
}

/* Computed by the analysis from the other names. */
static bool llm_sizes_is_arithmetic(const char *name)
{
    return strpbrk(name, "+*/()") || (strchr(name, '-') && strchr(name, ' '));
}

/* The name of an open dimension, as in --dim; NULL: it is a number. */
static const char *symbol_at(const struct roles *r, uint32_t value, unsigned axis)
{
    const struct oc_value *v = &r->m->value[value];
    if (!v->declared->shape.ranked || axis >= v->declared->shape.rank)
        return NULL;
    struct oc_dim d = v->declared->shape.dim[axis];
    if (d.expr)
        return r->m->symbol[d.expr - 1];
    return d.v < 0 ? oc_printf(r->arena, "%s.%u", v->name, axis) : NULL;
}

static int assign_role(struct roles *r, const char *symbol, unsigned role)
{
    uint32_t at = oc_map_get(&r->by_symbol, symbol, strlen(symbol));
    if (at != OC_NONE)
        return r->out->size[at].role == role
                   ? 0
                   : oc_fail(r->err, OC_EUNSUPPORTED, "dimension '%s' has two roles: %s and %s", symbol,
                             oc_llm_role_name[r->out->size[at].role], oc_llm_role_name[role]);
    if (r->out->n_size == r->cap)
        return oc_fail(r->err, OC_ELIMIT, "too many dimensions");
    const char *kept = oc_map_set(&r->by_symbol, symbol, strlen(symbol), r->out->n_size);
    r->out->size[r->out->n_size++] = (struct oc_llm_size){kept, (uint8_t)role};
    return 0;
}

/* Assigns the role to the dimension: to its symbol, or to its fixed number. */
static int give_axis(struct roles *r, uint32_t value, unsigned axis, unsigned role)
{
    const char *symbol = symbol_at(r, value, axis);
    if (symbol && llm_sizes_is_arithmetic(symbol))
        return 0;
    if (symbol)
        return assign_role(r, symbol, role);
    const struct oc_shape *s = &r->m->value[value].declared->shape;
    if (s->ranked && axis < s->rank && r->out->fixed[role] < 0)
        r->out->fixed[role] = s->dim[axis].v;
    return 0;
}

static bool given_role(const struct roles *r, const char *symbol)
{
    return oc_map_get(&r->by_symbol, symbol, strlen(symbol)) != OC_NONE;
}

/* ---- the input with the new tokens ------------------------------------------------------------------ */

static const struct oc_value *input_at(const struct roles *r, uint32_t i)
{
    uint32_t v = r->m->graph[0].input[i];
    return v == OC_NONE || r->m->value[v].constant ? NULL : &r->m->value[v];
}

static bool is_integer(const struct oc_type *t)
{
    return t->dtype == OC_DT_INT64 || t->dtype == OC_DT_INT32;
}

/* input_ids[batch, tokens] or inputs_embeds[batch, tokens, width] by name; else the only one of that kind. */
static uint32_t find_tokens(const struct roles *r)
{
    static const char *const names[] = {"input_ids", "decoder_input_ids", "inputs_embeds", "tokens", "input"};
    const struct oc_graph *g = &r->m->graph[0];
    for (size_t k = 0; k < OC_COUNT(names); k++)
        for (uint32_t i = 0; i < g->n_input; i++) {
            const struct oc_value *v = input_at(r, i);
            unsigned rank = v && v->declared->shape.ranked ? v->declared->shape.rank : 0;
            if (v && !strcmp(v->name, names[k]) && (rank == 2 || rank == 3))
                return g->input[i];
        }
    for (uint32_t i = 0; i < g->n_input; i++) {
        const struct oc_value *v = input_at(r, i);
        if (v && v->declared->shape.ranked && v->declared->shape.rank == 2 && is_integer(v->declared) &&
            llm_sizes_contains(v->name, "ids") && !llm_sizes_contains(v->name, "position"))
            return g->input[i];
    }
    return OC_NONE;
}

/* ---- the other inputs ------------------------------------------------------------------------------- */

/* Role by the name of the symbol; OC_LLM_ROLES: none. */
static unsigned role_of_name(const char *symbol)
{
    if (llm_sizes_contains(symbol, "encoder") && !llm_sizes_contains(symbol, "decoder"))
        return OC_LLM_ROLES;
    if (llm_sizes_contains(symbol, "total"))
        return OC_LLM_TOTAL;
    if (llm_sizes_contains(symbol, "past"))
        return OC_LLM_PAST;
    if (llm_sizes_contains(symbol, "batch"))
        return OC_LLM_BATCH;
    return OC_LLM_ROLES;
}

static bool is_mask(const struct oc_value *v)
{
    return llm_sizes_contains(v->name, "attention_mask") && !llm_sizes_contains(v->name, "encoder");
}

/* attention_mask[batch, total] or [batch, 1, new, total] */
static int mask_roles(struct roles *r, uint32_t value)
{
    unsigned rank = r->m->value[value].declared->shape.rank;
    const char *last = symbol_at(r, value, rank - 1);
    if (last && llm_sizes_is_arithmetic(last) && rank == 2)
        r->out->mask = value;
    if (last && !llm_sizes_is_arithmetic(last) && !given_role(r, last) && assign_role(r, last, OC_LLM_TOTAL))
        return -1;
    if (rank != 4)
        return 0;
    const char *queries = symbol_at(r, value, 2);
    return queries && !llm_sizes_is_arithmetic(queries) && !given_role(r, queries)
               ? assign_role(r, queries, OC_LLM_NEW)
               : 0;
}

/* position_ids[batch, new], or with a leading axis of three kinds */
static int position_roles(struct roles *r, uint32_t value)
{
    unsigned rank = r->m->value[value].declared->shape.rank;
    const char *last = symbol_at(r, value, rank - 1);
    return last && !llm_sizes_is_arithmetic(last) && !given_role(r, last) ? assign_role(r, last, OC_LLM_NEW)
                                                                          : 0;
}

static int other_roles(struct roles *r, uint32_t value)
{
    const struct oc_value *v = &r->m->value[value];
    unsigned rank = v->declared->shape.ranked ? v->declared->shape.rank : 0;
    if (rank >= 2 && rank <= 4 && is_mask(v) && mask_roles(r, value))
        return -1;
    if (rank >= 2 && rank <= 3 && llm_sizes_contains(v->name, "position_ids") && position_roles(r, value))
        return -1;
    for (unsigned axis = 0; axis < rank; axis++) {
        const char *symbol = symbol_at(r, value, axis);
        unsigned role = symbol && v->declared->shape.dim[axis].expr ? role_of_name(symbol) : OC_LLM_ROLES;
        if (role != OC_LLM_ROLES && !llm_sizes_is_arithmetic(symbol) && !given_role(r, symbol) &&
            assign_role(r, symbol, role))
            return -1;
        if (symbol && role == OC_LLM_ROLES && axis == 0 && rank == 2 && !given_role(r, symbol) &&
            !llm_sizes_is_arithmetic(symbol) && (is_mask(v) || llm_sizes_contains(v->name, "position_ids")) &&
            assign_role(r, symbol, OC_LLM_BATCH))
            return -1;
    }
    return 0;
}

/* Scalar inputs with a length. */
static void scalar_roles(struct roles *r)
{
    static const struct oc_llm_size names[] = {
        {"total_sequence_length", OC_LLM_TOTAL}, {"total_seq_len", OC_LLM_TOTAL},
        {"past_seq_len", OC_LLM_PAST},           {"past_sequence_length", OC_LLM_PAST},
        {"past_key_values_length", OC_LLM_PAST},
    };
    r->out->scalar = OC_NEW_ARRAY(r->arena, OC_COUNT(names), struct oc_llm_size);
    for (uint32_t i = 0; i < r->m->graph[0].n_input; i++) {
        const struct oc_value *v = input_at(r, i);
        const struct oc_shape *s = v ? &v->declared->shape : NULL;
        if (!v || !is_integer(v->declared) || !s->ranked || s->rank > 1 ||
            (s->rank == 1 && !oc_is(s->dim[0], 1)))
            continue;
        for (size_t k = 0; k < OC_COUNT(names) && r->out->n_scalar < OC_COUNT(names); k++)
            if (!strcmp(v->name, names[k].symbol))
                r->out->scalar[r->out->n_scalar++] = (struct oc_llm_size){v->name, names[k].role};
    }
}

/* ---- branches --------------------------------------------------------------------------------------- */

/* If nodes with a condition input such as use_cache_branch. */
static void find_branches(struct roles *r)
{
    const struct oc_graph *g = &r->m->graph[0];
    r->out->branch = OC_NEW_ARRAY(r->arena, g->n_node, uint32_t);
    for (uint32_t i = 0; i < g->n_node; i++) {
        const struct oc_node *n = &r->m->node[g->node[i]];
        uint32_t v = n->n_in && !strcmp(n->op_type, "If") ? n->in[0] : OC_NONE;
        for (int k = 0; k < 8 && v != OC_NONE && r->m->value[v].producer != OC_NONE; k++) {
            const struct oc_node *p = &r->m->node[r->m->value[v].producer];
            v = p->n_in == 1 ? p->in[0] : OC_NONE;
        }
        if (v != OC_NONE && r->m->value[v].graph_input && llm_sizes_contains(r->m->value[v].name, "cache"))
            r->out->branch[r->out->n_branch++] = g->node[i];
    }
}

/* ---- public functions ------------------------------------------------------------------------------- */

static int cache_roles(struct roles *r, const struct oc_kv_cache_info *kv)
{
    for (uint32_t i = 0; i < kv->n_pair; i++) {
        const struct oc_kv_pair *p = &kv->pair[i];
        if (give_axis(r, p->past, p->batch_axis, OC_LLM_BATCH) ||
            (i < kv->n_self && give_axis(r, p->past, p->length_axis, OC_LLM_PAST)))
            return -1;
    }
    return 0;
}

static int own_numbers(struct roles *r)
{
    static const char *const option[] = {"--batch", "--prompt", "--prompt and --generate",
                                         "--prompt and --generate"};
    for (size_t i = 0; i < r->opts->n_bind; i++) {
        const char *name = r->opts->bind[i].symbol;
        uint32_t at = oc_map_get(&r->by_symbol, name, strlen(name));
        if (at != OC_NONE)
            return oc_fail(r->err, OC_EARG, "dimension '%.60s' counts %s: set it with %s", name,
                           oc_llm_role_name[r->out->size[at].role], option[r->out->size[at].role]);
    }
    return 0;
}

static int find_all(struct roles *r, const struct oc_kv_cache_info *kv)
{
    const struct oc_graph *g = &r->m->graph[0];
    if (cache_roles(r, kv))
        return -1;
    r->out->tokens = find_tokens(r);
    if (r->out->tokens == OC_NONE)
        return oc_fail(r->err, OC_EUNSUPPORTED, "no input for the new tokens: none is named input_ids");
    if (give_axis(r, r->out->tokens, 0, OC_LLM_BATCH) || give_axis(r, r->out->tokens, 1, OC_LLM_NEW))
        return -1;
    for (uint32_t i = 0; i < g->n_input; i++)
        if (input_at(r, i) && other_roles(r, g->input[i]))
            return -1;
    scalar_roles(r);
    find_branches(r);
    return own_numbers(r);
}

int oc_llm_find_sizes(const struct oc_model *m, const struct oc_kv_cache_info *kv,
                      const struct oc_analyze_opts *opts, struct oc_arena *arena, struct oc_llm_sizes *out,
                      struct oc_err *err)
{
    struct roles r = {.m = m, .opts = opts, .arena = arena, .out = out, .err = err};
    size_t dims = 1;
    for (uint32_t i = 0; i < m->graph[0].n_input; i++)
        if (input_at(&r, i) && input_at(&r, i)->declared->shape.ranked)
            dims += input_at(&r, i)->declared->shape.rank;
    *out = (struct oc_llm_sizes){.size = OC_NEW_ARRAY(arena, dims, struct oc_llm_size), .mask = OC_NONE};
    for (unsigned i = 0; i < OC_LLM_ROLES; i++)
        out->fixed[i] = -1;
    r.cap = (uint32_t)dims;
    r.by_symbol.arena = arena;
    int rc = find_all(&r, kv);
    oc_map_free(&r.by_symbol);
    return rc;
}
