#include <stdlib.h>
#include <string.h>

#include "join/join.h"

/* Names that say which nodes are in a record (profile-formats 1, 3.4):
 *   [ONNX Layer: conv1]                 markers of TensorRT's metadata, several in one text
 *   Conv.3(conv1)                       NVTX ranges of ONNX Runtime
 *   A + B || C                          fused, merged; PWN(A, PWN(B)) fused pointwise
 *   {ForeignNode[first...last]}         every node on a path from first to last
 *   node_of_<tensor>, <tensor>          the node that makes it; a weight's name stands for nothing
 * A name may itself have a separator in it: the longest known one is taken. */
#define MAX_DEPTH  16
#define MAX_PIECES 256
#define MAX_JOINED 8
#define MAX_RANGE  4096
#define MAX_NAME   16384

struct parts {
    struct oc_matcher *x;
    uint32_t rec;
    unsigned known, unknown;
    bool by_plain; /* some name was found in its plain form only */
};

struct piece {
    const char *s;
    size_t n;
};

static bool begins(struct piece p, const char *text)
{
    size_t n = strlen(text);
    return p.n >= n && memcmp(p.s, text, n) == 0;
}

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

/* ---- one name --------------------------------------------------------------------------------------------
 */

enum found { NOTHING, WEIGHT, NODE };

static enum found find(struct parts *t, struct piece p, uint32_t *node)
{
    const struct oc_matcher *x = t->x;
    if (!p.n)
        return NOTHING;
    if ((*node = oc_match_node_named(x, t->rec, p.s, p.n)) != OC_NONE)
        return NODE;
    if (begins(p, "node_of_"))
        p = (struct piece){p.s + 8, p.n - 8};
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

/* ---- ranges ----------------------------------------------------------------------------------------------
 */

/* Marks what can be reached from the node, along the tensors or against them. */
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

/* ---- the grammar -----------------------------------------------------------------------------------------
 */

/* Cuts at separators outside of brackets. Returns how many pieces. */
static size_t cut(struct piece p, const char *const *separator, size_t n_separator, struct piece *out)
{
    size_t n = 0, start = 0;
    int depth = 0;
    for (size_t i = 0; i < p.n && n + 1 < MAX_PIECES; i++) {
        depth += strchr("([{", p.s[i]) ? 1 : strchr(")]}", p.s[i]) ? -1 : 0;
        for (size_t k = 0; k < n_separator && depth <= 0; k++) {
            struct piece rest = {p.s + i, p.n - i};
            if (!begins(rest, separator[k]))
                continue;
            out[n++] = (struct piece){p.s + start, i - start};
            start = i + strlen(separator[k]);
            i = start - 1;
            break;
        }
    }
    out[n++] = (struct piece){p.s + start, p.n - start};
    return n;
}

static void parse(struct parts *t, struct piece p, unsigned depth);

static void parse_list(struct parts *t, const struct piece *piece, size_t n, unsigned depth)
{
    for (size_t i = 0; i < n;) {
        size_t last = n - i < MAX_JOINED ? n : i + MAX_JOINED, taken = 0;
        for (size_t k = last; k > i && !taken; k--) {
            struct piece whole = {piece[i].s, (size_t)(piece[k - 1].s + piece[k - 1].n - piece[i].s)};
            taken = take(t, whole) ? k - i : 0;
        }
        if (!taken)
            parse(t, piece[i], depth + 1);
        i += taken ? taken : 1;
    }
}

static void parse(struct parts *t, struct piece p, unsigned depth)
{
    static const char *const fused[] = {" + ", " || "}, *const comma[] = {", ", ","};
    struct piece piece[MAX_PIECES];
    p = trimmed(p);
    if (!p.n || depth > MAX_DEPTH)
        return;
    if (take(t, p))
        return;
    if (begins(p, "PWN(") && p.s[p.n - 1] == ')') {
        size_t n = cut((struct piece){p.s + 4, p.n - 5}, comma, OC_COUNT(comma), piece);
        parse_list(t, piece, n, depth + 1);
        return;
    }
    static const char region[] = "{ForeignNode[";
    size_t skip = sizeof(region) - 1;
    const char *dots = begins(p, region) ? memmem(p.s, p.n, "...", 3) : NULL;
    if (dots && p.n > skip + 2 && memcmp(p.s + p.n - 2, "]}", 2) == 0 && dots + 3 <= p.s + p.n - 2) {
        take_range(t, (struct piece){p.s + skip, (size_t)(dots - p.s) - skip},
                   (struct piece){dots + 3, (size_t)(p.s + p.n - 2 - (dots + 3))});
        return;
    }
    size_t n = cut(p, fused, OC_COUNT(fused), piece);
    if (n > 1)
        parse_list(t, piece, n, depth + 1);
    else
        t->unknown++;
}

/* ---- markers ---------------------------------------------------------------------------------------------
 */

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

/* ---- what the runtime added ------------------------------------------------------------------------------
 */

static bool ends(const char *s, const char *tail)
{
    size_t n = strlen(s), k = strlen(tail);
    return n >= k && strcmp(s + n - k, tail) == 0;
}

static const char *overhead(const char *name)
{
    static const struct {
        const char *begin, *bucket;
    } row[] = {
        {"Reformatting CopyNode", "layout"}, {"reshape_after_", "inserted"},
        {"reshape_before_", "inserted"},     {"unsqueeze_node_after_", "inserted"},
        {"squeeze_after_", "inserted"},      {"(Unnamed Layer*", "inserted"},
        {"[HostToDeviceCopy", "copies"},     {"[trainStation", "framework"},
        {"__myl_", "generated kernels"},
    };
    for (size_t i = 0; i < OC_COUNT(row); i++)
        if (strncmp(name, row[i].begin, strlen(row[i].begin)) == 0)
            return row[i].bucket;
    if (strstr(name, " + "))
        return NULL;
    if (ends(name, " copy") || strstr(name, "_clone_") || ends(name, "[DevicetoShapeHostCopy]"))
        return "copies";
    return NULL;
}

bool oc_match_by_parts(struct oc_matcher *x, uint32_t rec)
{
    const char *name = x->p->rec[rec].name;
    struct parts t = {.x = x, .rec = rec};
    struct oc_match *m = &x->match[rec];
    bool marked = layer_markers(&t, name) || range_marker(&t, name);
    if (!marked && (m->bucket = overhead(name)) != NULL)
        return false;
    if (!marked && strlen(name) < MAX_NAME)
        parse(&t, (struct piece){name, strlen(name)}, 0);
    if (!m->n_node)
        return false;
    bool range = strcmp(m->rule, "range") == 0;
    if (!range)
        m->rule = marked ? "marker" : t.by_plain && t.known == 1 ? "plain name" : "name parts";
    m->confidence = (marked ? 1 : t.by_plain ? 0.7 : range ? 0.8 : 0.95) * t.known / (t.known + t.unknown);
    return true;
}
