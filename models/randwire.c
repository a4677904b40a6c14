/* RandWire-WS in its small regime: Xie et al. 2019, "Exploring Randomly Wired Neural Networks for Image
 * Recognition", section 3 and table 1 (C = 78, three stages of 32 nodes). The wiring is a random
 * Watts-Strogatz graph WS(4, 0.75), different for every seed. The file lists nodes by number, as
 * implementations of the paper run them: an order that keeps many tensors live. */
#include "zoo.h"

enum { NODES = 32, NEIGHBOURS = 4, CHANNELS = 78, LAST = 1280, CLASSES = 1000 };

struct wiring {
    bool edge[NODES][NODES]; /* [from][to], from < to */
};

static uint32_t below(uint64_t *random, uint32_t n)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return (uint32_t)(*random >> 33) % n;
}

static bool *edge_of(struct wiring *w, uint32_t a, uint32_t b)
{
    return a < b ? &w->edge[a][b] : &w->edge[b][a];
}

/* A ring in which every node is connected to the next two on each side; three of four edges are rewired. */
static void draw(struct wiring *w, uint64_t *random)
{
    *w = (struct wiring){0};
    for (uint32_t i = 0; i < NODES; i++)
        for (uint32_t k = 1; k <= NEIGHBOURS / 2; k++)
            *edge_of(w, i, (i + k) % NODES) = true;
    for (uint32_t k = 1; k <= NEIGHBOURS / 2; k++)
        for (uint32_t i = 0; i < NODES; i++) {
            uint32_t old = (i + k) % NODES, new = below(random, NODES);
            if (below(random, 4) == 0 || !*edge_of(w, i, old))
                continue;
            while (new == i || *edge_of(w, i, new))
                new = below(random, NODES);
            *edge_of(w, i, old) = false;
            *edge_of(w, i, new) = true;
        }
}

/* The inputs of a node, each with a learned weight that goes through a sigmoid. */
static const char *weighted_sum(struct zoo *z, const struct wiring *w, const char *const *out, uint32_t to)
{
    const char *sum = NULL;
    for (uint32_t i = 0; i < to; i++) {
        if (!w->edge[i][to])
            continue;
        const char *weight = zoo_param(z, zoo_text(z, "weight.%u", i), "float[1]", ZOO_SMALL, 0);
        const char *x = zoo_op2(z, "Mul", out[i], zoo_op(z, "Sigmoid", weight, ""), "");
        sum = sum ? zoo_op2(z, "Add", sum, x, "") : x;
    }
    return sum;
}

static const char *conv_bn(struct zoo *z, const char *x, const struct zoo_conv *c)
{
    struct zoo_place p = zoo_enter(z, "conv");
    x = zoo_conv(z, x, c);
    zoo_leave(z, p);
    p = zoo_enter(z, "bn");
    x = zoo_batch_norm(z, x, c->out);
    zoo_leave(z, p);
    return x;
}

static const char *unit(struct zoo *z, const char *x, int in, int out, int stride)
{
    x = zoo_op(z, "Relu", x, "");
    struct zoo_place p = zoo_enter(z, "depthwise");
    x = zoo_conv(z, x, &(struct zoo_conv){in, in, 3, stride, 1, in, false});
    zoo_leave(z, p);
    return conv_bn(z, x, &(struct zoo_conv){in, out, 1, 1, 0, 1, false});
}

static const char *stage(struct zoo *z, const char *input, int index, int in, int channels, uint64_t *random)
{
    struct wiring w;
    const char *out[NODES], *sum = NULL;
    int ends = 0;
    draw(&w, random);
    struct zoo_place p = zoo_enter(z, zoo_text(z, "stage%d", index));
    for (uint32_t i = 0; i < NODES; i++) {
        struct zoo_place q = zoo_enter(z, zoo_text(z, "node%u", i));
        const char *x = weighted_sum(z, &w, out, i);
        out[i] = x ? unit(z, x, channels, channels, 1) : unit(z, input, in, channels, 2);
        zoo_leave(z, q);
    }
    for (uint32_t i = 0; i < NODES; i++) {
        bool end = true;
        for (uint32_t k = i + 1; k < NODES; k++)
            end &= !w.edge[i][k];
        if (!end)
            continue;
        sum = sum ? zoo_op2(z, "Add", sum, out[i], "") : out[i];
        ends++;
    }
    sum = zoo_op2(z, "Div", sum, zoo_const(z, zoo_text(z, "float[]{%d}", ends)), "");
    zoo_leave(z, p);
    return sum;
}

void zoo_randwire(struct zoo *z, uint64_t seed)
{
    uint64_t random = (seed + 1) * 0x9e3779b97f4a7c15u;
    const int c = CHANNELS;
    zoo_image_input(z);
    struct zoo_place p = zoo_enter(z, "conv1");
    const char *x = conv_bn(z, "input", &(struct zoo_conv){3, c / 2, 3, 2, 1, 1, false});
    zoo_leave(z, p);
    p = zoo_enter(z, "conv2");
    x = conv_bn(z, zoo_op(z, "Relu", x, ""), &(struct zoo_conv){c / 2, c, 3, 2, 1, 1, false});
    zoo_leave(z, p);
    for (int i = 0; i < 3; i++)
        x = stage(z, x, i + 3, i ? c << (i - 1) : c, c << i, &random);
    p = zoo_enter(z, "head");
    x = conv_bn(z, zoo_op(z, "Relu", x, ""), &(struct zoo_conv){4 * c, LAST, 1, 1, 0, 1, false});
    x = zoo_op(z, "Flatten", zoo_op(z, "GlobalAveragePool", zoo_op(z, "Relu", x, ""), ""), "axis=1");
    zoo_gemm(z, x, "output", LAST, CLASSES);
    zoo_leave(z, p);
    oc_b_output(z->b, "output", "float[batch,1000]");
}
