#include <stdlib.h>
#include <string.h>

#include "join/join.h"
#include "profile/trt_name.h"

/* Names that list the nodes of a record (profile-formats 1, 3.4):
 *   [ONNX Layer: conv1]                 markers of TensorRT's metadata, several in one text
 *   Conv.3(conv1)                       NVTX ranges of ONNX Runtime
 *   A + B || PWN(C), ...                layers of TensorRT in a timeline (trt_name.h)
 *   {ForeignNode[first...last]}         every node on a path from first to last
 *   node_of_<tensor>, <tensor>          the node that produces it; names of weights are ignored */
#define MAX_PIECES 256
#define MAX_RANGE  4096
#define MAX_NAME   16384

struct parts {
    struct oc_matcher *x;
    uint32_t rec;
    unsigned known, unknown, made, generated;
    bool by_plain; /* some name matched in its plain form only */
};

struct piece {
    const char *s;
    size_t n;
};

static struct piece trimmed(struct piece p)
{
    while (p.n && p.s[0] == ' ') {
        p.s++;
        p.n--;
    }
    while (p.n && p.s[p.n - 1] == ' ')
        p.n--;
    return p;
}

/* ---- one name ------------------------------------------------------------------------------------------ */

enum found { NOTHING, WEIGHT, NODE };

static enum found find(struct parts *t, struct piece p, uint32_t *node)
{
    const struct oc_matcher *x = t->x;
    if (!p.n)
        return NOTHING;
    if ((*node = oc_match_node_named(x, t->rec, p.s, p.n)) != OC_NONE)
        return NODE;
    uint32_t v = oc_map_get(&x->x.values, p.s, p.n);
    if (v != OC_NONE && x->m->value[v].producer != OC_NONE) {
        *node = x->m->value[v].producer;
        return NODE;
    }
    if (v != OC_NONE && x->m->value[v].constant)
        return WEIGHT;
    *node = oc_match_plain_name(t->x, p.s, p.n);
    t->by_plain |= *node != OC_NONE;
    return *node != OC_NONE ? NODE : NOTHING;
}

static void add(struct parts *t, uint32_t node)
{
    if (t->x->match[t->rec].n_node)
        oc_match_add(t->x, t->rec, node);
    else
        oc_match_core(t->x, t->rec, node, "name parts", 1);
    t->known++;
}

static bool take(struct parts *t, struct piece p)
{
    uint32_t node;
    enum found f = find(t, trimmed(p), &node);
    if (f == NODE)
        add(t, node);
    return f != NOTHING;
}

/* ---- ranges -------------------------------------------------------------------------------------------- */

/* Marks the nodes that are reachable from the node, along the tensors or against them. */
static bool *reached(struct oc_matcher *x, uint32_t from, bool forward)
{
    bool *seen = OC_NEW_ARRAY(x->arena, (size_t)x->m->n_node + 1, bool);
    uint32_t *todo = oc_xmalloc(((size_t)x->m->n_node + 1) * sizeof(*todo)), n = 0;
    seen[from] = true;
    todo[n++] = from;
    while (n) {
        const struct oc_node *node = &x->m->node[todo[--n]];
        for (uint32_t k = 0; k < (forward ? node->n_out : node->n_in); k++) {
            uint32_t v = forward ? node->out[k] : node->in[k];
            uint32_t a = v == OC_NONE ? 0 : forward ? x->x.use_first[v] : 0;
            uint32_t b = v == OC_NONE ? 0 : forward ? x->x.use_first[v + 1] : 1;
            for (uint32_t i = a; i < b; i++) {
                uint32_t next = forward ? x->x.use[i] : x->m->value[v].producer;
                if (next == OC_NONE || seen[next])
                    continue;
                seen[next] = true;
                todo[n++] = next;
            }
        }
    }
    free(todo);
    return seen;
}

static void take_range(struct parts *t, struct piece first, struct piece last)
{
    uint32_t a, b, n = 0;
    if (find(t, first, &a) != NODE || find(t, last, &b) != NODE) {
        t->unknown++;
        return;
    }
    const bool *down = reached(t->x, a, true), *up = reached(t->x, b, false);
    for (uint32_t i = 0; i < t->x->m->n_node && n < MAX_RANGE; i++)
        if (down[i] && up[i] && oc_match_runs(t->x, i)) {
            add(t, i);
            n++;
        }
    t->unknown += !n;
    if (n)
        t->x->match[t->rec].rule = "range";
}

/* ---- the grammar --------------------------------------------------------------------------------------- */

static bool is_name(const void *ctx, const char *s, size_t n)
{
    const struct parts *t = ctx;
    return oc_match_node_named(t->x, t->rec, s, n) != OC_NONE || oc_map_get(&t->x->x.values, s, n) != OC_NONE;
}

static void take_part(struct parts *t, const struct trt_part *part)
{
    switch (part->kind) {
    case TRT_NODE:
    case TRT_TENSOR:
        t->unknown += !take(t, (struct piece){part->s, part->n});
        break;
    case TRT_RANGE:
        take_range(t, (struct piece){part->s, part->n}, (struct piece){part->last, part->n_last});
        break;
    case TRT_GENERATED:
        t->generated++;
        break;
    default:
        t->made++;
    }
}

static void parse(struct parts *t, const char *name)
{
    struct trt_part part[MAX_PIECES];
    struct trt_known known = {is_name, t};
    size_t len = strlen(name), n = 0;
    if (len < MAX_NAME && !take(t, (struct piece){name, len}))
        n = trt_split(name, len, &known, part, MAX_PIECES);
    for (size_t i = 0; i < n && i < MAX_PIECES; i++)
        take_part(t, &part[i]);
}

/* ---- markers ------------------------------------------------------------------------------------------- */

static bool layer_markers(struct parts *t, const char *name)
{
    static const char mark[] = "[ONNX Layer: ";
    bool any = false;
    for (const char *at = name; (at = strstr(at, mark)) != NULL;) {
        at += sizeof(mark) - 1;
        size_t n = strcspn(at, "]\x1e\x1f");
        any = true;
        if (!take(t, (struct piece){at, n}))
            t->unknown++;
    }
    return any;
}

/* "Conv.3(conv1)": type, index, name. */
static bool range_marker(struct parts *t, const char *name)
{
    size_t type = strcspn(name, "."), digits, n = strlen(name);
    if (!type || !name[type] || !(digits = strspn(name + type + 1, "0123456789")))
        return false;
    size_t open = type + 1 + digits;
    return name[open] == '(' && name[n - 1] == ')' && n > open + 2 &&
           take(t, (struct piece){name + open + 1, n - open - 2});
}

bool oc_match_by_parts(struct oc_matcher *x, uint32_t rec)
{
    const char *name = x->p->rec[rec].name;
    struct parts t = {.x = x, .rec = rec};
    struct oc_match *m = &x->match[rec];
    bool marked = layer_markers(&t, name) || range_marker(&t, name);
    if (!marked && (m->bucket = trt_overhead(name, strlen(name))) != NULL)
        return false;
    if (!marked)
        parse(&t, name);
    if (!m->n_node) {
        m->bucket = t.unknown ? NULL : t.generated ? "generated kernels" : t.made ? "inserted" : NULL;
        return false;
    }
    bool range = strcmp(m->rule, "range") == 0;
    if (!range)
        m->rule = marked ? "marker" : t.by_plain && t.known == 1 ? "plain name" : "name parts";
    m->confidence = (marked ? 1 : t.by_plain ? 0.7 : range ? 0.8 : 0.95) * t.known / (t.known + t.unknown);
    return true;
}
