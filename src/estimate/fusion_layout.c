/* ONNX Runtime's blocked layout (NCHWc) for float convolutions and pools on x86: which operators use it, what
 * is fused to them there (residuals, activations), and where layouts change. Follows nchwc_transformer.cc of
 * ONNX Runtime, in its order: from the inputs on, each node depends on the layout of its inputs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "estimate/fusion_plan.h"
#include "estimate/kernels.h"

enum { ALIGN = 4 }; /* required multiple of channels of inputs */

/* Height and width of a blocked value: those of another value, halved so many times. ONNX Runtime compares
 * sizes that the model does not declare by this. */
struct sizes {
    uint32_t from[2], halved[2];
};

struct layout {
    struct oc_fuse *f;
    struct oc_kernel_list *out;
    struct sizes *size; /* by value */
};

static int64_t channels_of(const struct oc_fuse *f, uint32_t value)
{
    const struct oc_shape *s = oc_fuse_shape(f, value);
    return s && s->rank == 4 && oc_fuse_is_float(f, value) ? s->dim[1].v : -1;
}

static double fusion_layout_bytes_of(const struct oc_fuse *f, uint32_t value, bool blocked)
{
    const struct oc_shape *s = oc_fuse_shape(f, value);
    double n = oc_fuse_elements(f, value) * 4;
    if (!s || s->rank < 2 || !s->dim[1].v)
        return -1;
    int64_t channels = s->dim[1].v, block = oc_fusion_block(f->rules);
    int64_t whole = (channels + block - 1) / block * block;
    return blocked ? n / (double)channels * (double)whole : n;
}

/* ---- inserted kernels ------------------------------------------------------------------------------- */

static void fusion_layout_insert(struct layout *l, uint32_t value, bool to_blocked)
{
    double plain = fusion_layout_bytes_of(l->f, value, false),
           blocked = fusion_layout_bytes_of(l->f, value, true);
    oc_fuse_insert(l->f, to_blocked ? "nchwc.ReorderInput" : "nchwc.ReorderOutput", value,
                   to_blocked ? plain : blocked, to_blocked ? blocked : plain, l->out);
}

static void need_blocked(struct layout *l, uint32_t value)
{
    if (value == OC_NONE || l->f->blocked[value] || l->f->reordered[value])
        return;
    fusion_layout_insert(l, value, true);
    l->f->reordered[value] = true;
}

static void need_plain(struct layout *l, uint32_t value)
{
    if (value == OC_NONE || !l->f->blocked[value] || l->f->plain[value])
        return;
    fusion_layout_insert(l, value, false);
    l->f->plain[value] = true;
}

/* ---- sizes ------------------------------------------------------------------------------------------ */

/* like: a value with the same height and width; OC_NONE: they are known to be those of no other value. */
static void set_blocked(struct layout *l, uint32_t value, uint32_t like)
{
    l->f->blocked[value] = true;
    l->size[value] = like == OC_NONE ? (struct sizes){.from = {value, value}} : l->size[like];
}

/* A window whose padding is its size less 1 keeps a size, or halves it. */
static void slide_window(struct layout *l, uint32_t node, uint32_t from, uint32_t to)
{
    const struct oc_node *n = &l->f->m->node[node];
    const struct oc_attr *pad = oc_node_attr(n, "auto_pad");
    bool same = pad && pad->type == OC_ATTR_STRING && !strncmp(pad->s.s, "SAME", 4);
    const struct oc_shape *w = oc_fuse_is(l->f, node, " Conv ") ? oc_fuse_shape(l->f, n->in[1]) : NULL;
    for (unsigned i = 0; i < 2; i++) {
        int64_t kernel = w ? w->dim[2 + i].v : oc_node_int_at(n, "kernel_shape", i, -1);
        int64_t stride = oc_node_int_at(n, "strides", i, 1);
        int64_t padding = oc_node_int_at(n, "pads", i, 0) + oc_node_int_at(n, "pads", i + 2, 0);
        if (oc_node_int_at(n, "dilations", i, 1) != 1 || stride > 2 || (!same && padding + 1 != kernel))
            continue;
        l->size[to].from[i] = l->size[from].from[i];
        l->size[to].halved[i] = l->size[from].halved[i] + (stride == 2);
    }
}

/* ---- Transposes ------------------------------------------------------------------------------------- */

static const int64_t to_channels_last[] = {0, 2, 3, 1}, to_channels_first[] = {0, 3, 1, 2};

static bool permutes(const struct oc_fuse *f, uint32_t node, const int64_t order[4])
{
    const struct oc_attr *p = oc_node_attr(&f->m->node[node], "perm");
    return p && p->type == OC_ATTR_INTS && p->n == 4 && !memcmp(p->ints, order, 4 * sizeof(*order));
}

/* The layout change of an input with channels last includes the Transpose before it. */
static void take_transpose(struct layout *l, uint32_t at, uint32_t input)
{
    struct oc_fuse *f = l->f;
    uint32_t node = f->m->value[input].producer, owner = node == OC_NONE ? OC_NONE : f->owner[node];
    if (owner != OC_NONE && f->group[owner].n_node == 1 &&
        oc_fuse_group_is(&f->group[owner], " Transpose ") && permutes(f, node, to_channels_first) &&
        oc_fuse_users(f, input) == 1)
        oc_fuse_merge(f, at, owner, f->group[at].out, f->group[at].rule, NULL);
}

/* ---- operators in the blocked layout ---------------------------------------------------------------- */

static bool can_block_conv(const struct oc_fuse *f, const struct oc_fuse_group *g)
{
    const struct oc_node *n = &f->m->node[g->core];
    int64_t groups = oc_node_int(n, "group", 1), in = channels_of(f, oc_fuse_input(f, g->core, 0));
    const struct oc_shape *w = oc_fuse_shape(f, oc_fuse_input(f, g->core, 1));
    if (!w || w->rank != 4 || in < 1 || groups < 1 || !oc_fuse_const(f, n->in[1]) || n->n_out != 1 ||
        channels_of(f, n->out[0]) < 1)
        return false;
    int64_t out = w->dim[0].v, each = w->dim[1].v, block = oc_fusion_block(f->rules);
    if (groups == 1)
        return each < block || each % ALIGN == 0;
    if (each == 1 && out == groups)
        return out % ALIGN == 0;
    return each % block == 0 && out / groups % block == 0;
}

static bool is_blocked_conv(const struct oc_fuse *f, uint32_t group)
{
    return group != OC_NONE && f->group[group].blocked &&
           oc_fuse_group_is(&f->group[group], " Conv FusedConv ");
}

uint32_t oc_fuse_group_of(const struct oc_fuse *f, uint32_t value)
{
    uint32_t node = value == OC_NONE ? OC_NONE : f->m->value[value].producer;
    return node == OC_NONE ? OC_NONE : f->owner[node];
}

static void fusion_layout_conv(struct layout *l, uint32_t at)
{
    struct oc_fuse *f = l->f;
    struct oc_fuse_group *g = &f->group[at];
    uint32_t x = oc_fuse_input(f, g->core, 0);
    g->blocked = true;
    set_blocked(l, g->out, OC_NONE);
    if (channels_of(f, x) < oc_fusion_block(f->rules) && oc_node_int(&f->m->node[g->core], "group", 1) == 1) {
        need_plain(l, x);
        return;
    }
    if (f->blocked[x])
        slide_window(l, g->core, x, g->out);
    else
        take_transpose(l, at, x);
    need_blocked(l, x);
}

static bool all_blocked(const struct oc_fuse *f, uint32_t node)
{
    const struct oc_node *n = &f->m->node[node];
    for (uint32_t i = 0; i < n->n_in; i++) {
        uint32_t v = oc_fuse_input(f, node, i);
        if (v == OC_NONE || !f->blocked[v])
            return false;
    }
    return n->n_in > 0;
}

static bool same_shapes(const struct oc_fuse *f, uint32_t node)
{
    const struct oc_node *n = &f->m->node[node];
    const struct oc_shape *first = oc_fuse_shape(f, oc_fuse_input(f, node, 0));
    for (uint32_t i = 1; i < n->n_in; i++) {
        const struct oc_shape *s = oc_fuse_shape(f, oc_fuse_input(f, node, i));
        if (!first || !s || !oc_shape_equal(first, s))
            return false;
    }
    return first != NULL;
}

/* Known to be equal when the model is loaded. */
static bool sizes_match(const struct layout *l, uint32_t node)
{
    const struct oc_node *n = &l->f->m->node[node];
    const struct sizes *first = &l->size[oc_fuse_input(l->f, node, 0)];
    for (uint32_t i = 1; i < n->n_in && !l->f->static_images; i++)
        if (memcmp(first, &l->size[oc_fuse_input(l->f, node, i)], sizeof(*first)) != 0)
            return false;
    return same_shapes(l->f, node);
}

static bool same_channels(const struct oc_fuse *f, uint32_t node)
{
    int64_t channels = channels_of(f, oc_fuse_input(f, node, 0));
    for (uint32_t i = 1; i < f->m->node[node].n_in; i++)
        if (channels_of(f, oc_fuse_input(f, node, i)) != channels)
            return false;
    return channels > 0;
}

/* Of sizes that are not known to be equal: each operand and the sum are viewed with five dimensions. */
static void fusion_layout_views(struct layout *l, uint32_t at)
{
    const struct oc_fuse_group *g = &l->f->group[at];
    for (uint32_t i = 0; i <= l->f->m->node[g->core].n_in; i++)
        oc_fuse_insert(l->f, "Reshape", g->out, 0, 0, l->out);
    set_blocked(l, g->out, OC_NONE);
}

/* A residual is fused into the convolution that produces one side of it, if that has no other reader. */
static void fusion_layout_sum(struct layout *l, uint32_t at)
{
    struct oc_fuse *f = l->f;
    const struct oc_fuse_group *g = &f->group[at];
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t v = oc_fuse_input(f, g->core, i), from = oc_fuse_group_of(f, v);
        if (!is_blocked_conv(f, from) || f->group[from].activated || f->group[from].summed ||
            f->group[from].out != v || oc_fuse_users(f, v) != 1)
            continue;
        uint32_t out = g->out;
        oc_fuse_merge(f, from, at, out, "conv+residual", NULL);
        f->group[from].summed = true;
        set_blocked(l, out, v);
        return;
    }
}

static void activation(struct layout *l, uint32_t at)
{
    struct oc_fuse *f = l->f;
    const struct oc_fuse_group *g = &f->group[at];
    uint32_t v = oc_fuse_input(f, g->core, 0), from = oc_fuse_group_of(f, v), out = g->out;
    set_blocked(l, out, v);
    if (!is_blocked_conv(f, from) || f->group[from].activated || f->group[from].out != v ||
        oc_fuse_users(f, v) != 1)
        return;
    oc_fuse_merge(f, from, at, out, "conv+act", NULL);
    f->group[from].activated = true;
}

static bool can_block_pool(const struct oc_fuse *f, const struct oc_fuse_group *g)
{
    uint32_t x = oc_fuse_input(f, g->core, 0);
    int64_t channels = channels_of(f, x);
    return channels > 0 && channels % oc_fusion_block(f->rules) == 0 && f->m->node[g->core].n_out == 1 &&
           (f->blocked[x] || (f->a->type[x].dtype == OC_DT_FLOAT &&
                              (f->m->value[x].producer == OC_NONE ||
                               !oc_fuse_group_is(g, " GlobalAveragePool GlobalMaxPool "))));
}

static void fusion_layout_pool(struct layout *l, uint32_t at, uint32_t x)
{
    struct oc_fuse_group *g = &l->f->group[at];
    g->blocked = true;
    set_blocked(l, g->out, OC_NONE);
    if (l->f->blocked[x])
        slide_window(l, g->core, x, g->out);
    else
        take_transpose(l, at, x);
    need_blocked(l, x);
}

static bool can_block_concat(const struct oc_fuse *f, const struct oc_fuse_group *g)
{
    const struct oc_node *n = &f->m->node[g->core];
    for (uint32_t i = 0; i < n->n_in; i++)
        if (channels_of(f, oc_fuse_input(f, g->core, i)) % oc_fusion_block(f->rules) != 0)
            return false;
    return oc_node_int(n, "axis", 0) == 1 && all_blocked(f, g->core);
}

static bool has_text(const struct oc_fuse *f, uint32_t node, const char *attribute, const char *text,
                     bool absent)
{
    const struct oc_attr *a = oc_node_attr(&f->m->node[node], attribute);
    return a ? a->type == OC_ATTR_STRING && !strcmp(a->s.s, text) : absent;
}

/* By whole factors: nearest with asymmetric coordinates that are rounded down, or linear. */
static bool can_block_resize(const struct oc_fuse *f, const struct oc_fuse_group *g)
{
    uint32_t n = g->core, x = oc_fuse_input(f, n, 0);
    const struct oc_shape *s = oc_fuse_shape(f, x), *y = oc_fuse_shape(f, g->out);
    bool upsample = oc_fuse_is(f, n, " Upsample ");
    bool nearest = has_text(f, n, "mode", "nearest", true) &&
                   has_text(f, n, "coordinate_transformation_mode", "asymmetric", upsample) &&
                   has_text(f, n, "nearest_mode", "floor", upsample);
    if ((!nearest && !has_text(f, n, "mode", "linear", false)) || x == OC_NONE || !f->blocked[x] || !s ||
        !y || s->rank != 4 || y->rank != 4)
        return false;
    return s->dim[2].v && s->dim[3].v && y->dim[2].v % s->dim[2].v == 0 && y->dim[3].v % s->dim[3].v == 0;
}

static void fusion_layout_leave(struct layout *l, uint32_t at)
{
    const struct oc_fuse *f = l->f;
    const struct oc_fuse_group *g = &f->group[at];
    for (uint32_t k = 0; k < g->n_node; k++) {
        const struct oc_node *n = &f->m->node[g->node[k]];
        for (uint32_t i = 0; i < n->n_in; i++) {
            uint32_t v = oc_fuse_source(f, n->in[i]);
            if (v != OC_NONE && oc_fuse_group_of(f, v) != at)
                need_plain(l, v);
        }
    }
}

static bool has_bias(const struct oc_fuse *f, const struct oc_fuse_group *g)
{
    const struct oc_node *n = &f->m->node[g->core];
    for (uint32_t i = 0; i < g->n_node; i++)
        if (oc_fuse_is(f, g->node[i], " BatchNormalization Add "))
            return true;
    return n->n_in > 2 && n->in[2] != OC_NONE;
}

/* Outside of the blocked layout: a residual with its activation is fused if it has no other reader. */
static void fusion_layout_plain_sum(struct oc_fuse *f, uint32_t at)
{
    struct oc_fuse_group *g = &f->group[at];
    uint32_t add = oc_fuse_user(f, g->out);
    if (g->activated || g->summed || !has_bias(f, g) || !f->static_images || channels_of(f, g->out) < 1 ||
        add == OC_NONE || !oc_fuse_is(f, add, " Add ") || !same_shapes(f, add))
        return;
    oc_fuse_merge(f, at, f->owner[add], f->m->node[add].out[0], "conv+residual", "FusedConv");
    g->summed = true;
    uint32_t act = oc_fuse_user(f, g->out);
    if (act == OC_NONE || !oc_fuse_is(f, act, " Relu "))
        return;
    oc_fuse_merge(f, at, f->owner[act], f->m->node[act].out[0], "conv+residual", "FusedConv");
    g->activated = true;
}

/* Of a blocked value with one constant for each channel: a depthwise convolution of 1x1. */
static bool scales_channels(const struct oc_fuse *f, const struct oc_fuse_group *g)
{
    uint32_t x = oc_fuse_input(f, g->core, 0), c = oc_fuse_input(f, g->core, 1);
    if (oc_fuse_const(f, x)) {
        x = oc_fuse_input(f, g->core, 1);
        c = oc_fuse_input(f, g->core, 0);
    }
    if (x == OC_NONE || !f->blocked[x] || !oc_fuse_const(f, c))
        return false;
    const struct oc_shape *s = oc_fuse_shape(f, c), *y = oc_fuse_shape(f, x);
    return s && y && y->rank == 4 && s->rank >= 3 && s->dim[s->rank - 3].v == y->dim[1].v &&
           oc_fuse_elements(f, c) == (double)y->dim[1].v;
}

/* A lone BatchNormalization becomes a depthwise convolution, with a Relu. */
static void fusion_layout_norm(struct layout *l, uint32_t at)
{
    struct oc_fuse *f = l->f;
    struct oc_fuse_group *g = &f->group[at];
    uint32_t act = oc_fuse_user(f, g->out);
    uint32_t a = oc_fuse_input(f, g->core, 0);
    if (act != OC_NONE && oc_fuse_is(f, act, " Relu "))
        oc_fuse_merge(f, at, f->owner[act], f->m->node[act].out[0], "bn+act", NULL);
    g->blocked = true;
    set_blocked(l, g->out, f->blocked[a] ? a : oc_fuse_input(f, g->core, 1));
}

/* The layout change back writes channels last: it is the Transpose. */
static void fusion_layout_transpose(struct layout *l, uint32_t at)
{
    struct oc_fuse_group *g = &l->f->group[at];
    fusion_layout_insert(l, oc_fuse_input(l->f, g->core, 0), false);
    g->gone = true;
    g->n_node = 0;
}

static void visit(struct layout *l, uint32_t at)
{
    struct oc_fuse *f = l->f;
    struct oc_fuse_group *g = &f->group[at];
    uint32_t x = oc_fuse_input(f, g->core, 0);
    bool from_blocked = x != OC_NONE && f->blocked[x];
    if (oc_fuse_group_is(g, " Conv FusedConv ") && can_block_conv(f, g)) {
        fusion_layout_conv(l, at);
    } else if (oc_fuse_group_is(g, " MaxPool AveragePool GlobalAveragePool GlobalMaxPool ") &&
               can_block_pool(f, g)) {
        fusion_layout_pool(l, at, x);
    } else if (oc_fuse_group_is(g, " Add Mul Sum ") && all_blocked(f, g->core) && sizes_match(l, g->core)) {
        set_blocked(l, g->out, x);
        if (oc_fuse_group_is(g, " Add Sum "))
            fusion_layout_sum(l, at);
    } else if (oc_fuse_group_is(g, " Add Sum ") && all_blocked(f, g->core) && same_channels(f, g->core)) {
        fusion_layout_views(l, at);
    } else if (oc_fuse_group_is(g, " Relu Sigmoid Tanh ") && from_blocked) {
        activation(l, at);
    } else if ((oc_fuse_group_is(g, " BatchNormalization ") && from_blocked) ||
               (oc_fuse_group_is(g, " Mul ") && scales_channels(f, g))) {
        fusion_layout_norm(l, at);
    } else if ((oc_fuse_group_is(g, " QuickGelu ") && from_blocked) ||
               (oc_fuse_group_is(g, " Concat ") && can_block_concat(f, g))) {
        set_blocked(l, g->out, x);
    } else if (oc_fuse_group_is(g, " Resize Upsample ") && can_block_resize(f, g)) {
        g->blocked = true;
        set_blocked(l, g->out, OC_NONE);
    } else if (oc_fuse_group_is(g, " Transpose ") && from_blocked && permutes(f, g->core, to_channels_last)) {
        fusion_layout_transpose(l, at);
    } else {
        fusion_layout_leave(l, at);
    }
}

void oc_fuse_layout(struct oc_fuse *f, struct oc_kernel_list *out)
{
    struct layout l = {f, out, OC_NEW_ARRAY(f->arena, (size_t)f->m->n_value + 1, struct sizes)};
    for (uint32_t i = 0; i < f->n_group && oc_fusion_block(f->rules) > 1; i++)
        if (!f->group[i].gone && f->group[i].out != OC_NONE && !f->group[i].integers)
            visit(&l, i);
    for (uint32_t i = 0; i < f->n_group; i++)
        if (!f->group[i].gone && !f->group[i].blocked && oc_fuse_group_is(&f->group[i], " Conv "))
            fusion_layout_plain_sum(f, i);
    for (uint32_t v = 0; v < f->m->n_value; v++)
        if (f->m->value[v].graph_output)
            need_plain(&l, oc_fuse_source(f, v));
}
