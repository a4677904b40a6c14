/* Graph of a decoder under construction: macros for its nodes, its weights, its mixers of tokens. */
#ifndef OC_DECODER_GRAPH_H
#define OC_DECODER_GRAPH_H

#include "model/decoder.h"
#include "model/graph_writer.h"
#include "shape/type.h"

enum { FLOAT = 1, UINT8 = 2, INT32 = 6, INT64 = 7 };

/* Queries, keys and values as the heads see them: projections, norms. */
struct heads {
    const char *q, *k, *v, *gate, *q_norm, *k_norm;
};

struct decoder_graph {
    struct oc_graph_writer w;
    const struct oc_decoder *d;
    const struct oc_stored_list *stored;   /* tensors of weight files, NULL: none */
    const char *seqlens, *total;           /* inputs of attention */
    const char *mask;                      /* of encoders */
    struct oc_messages cache[2], state[2]; /* inputs and outputs of the layers, see keep() */
    struct heads shared[2];   /* last keys and values with a cache, of layers without and with a window */
    struct oc_stored_sum sum; /* of the weights in modules */
};

#define TEXT(g, ...)               oc_printf(&(g)->w.arena, __VA_ARGS__)
#define NOTHING                    ((const char *const[]){NULL})
#define IN(...)                    ((const char *const[]){__VA_ARGS__, NULL})
#define OP(g, type, ...)           oc_gw_node(&(g)->w, "", (type), IN(__VA_ARGS__), NULL)
#define CONTRIB_OP(g, type, ...)   oc_gw_node(&(g)->w, "com.microsoft", (type), IN(__VA_ARGS__), NULL)
#define IS(g, field)               oc_dec_is((g)->d, OC_F_##field)
#define FIELD(g, field, otherwise) oc_dec_field(&(g)->d->f, OC_F_##field, (otherwise))

#define WEIGHT(g, name, ...)                                                                                 \
    oc_dec_weight((g), (name), (unsigned)(g)->d->dtype,                                                      \
                  sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (const int64_t[]){__VA_ARGS__})

struct oc_dec_packed { /* a matrix, or one for each expert */
    struct oc_packing as;
    const char *weight, *scales, *zeros; /* "": none */
};

/* A weight of the current module; dtype: unless the stored tensors have another one. Returns its name. */
const char *oc_dec_weight(struct decoder_graph *g, const char *name, unsigned dtype, size_t rank,
                          const int64_t *dim);
/* The same for a matrix in the packing of the current module. n: matrices, 0: one. */
struct oc_dec_packed oc_dec_matrix(struct decoder_graph *g, int64_t n, int64_t rows, int64_t columns,
                                   bool linear);
/* x times the weights of a module; linear: the quantization of the model applies to this layer. */
const char *oc_dec_product(struct decoder_graph *g, const char *module, const char *x, int64_t in,
                           int64_t out, bool bias, bool linear);
const char *oc_dec_packed_product(struct decoder_graph *g, const char *x, const struct oc_dec_packed *p,
                                  int64_t in, int64_t out);
/* Rows `at` of the current module's table, which is also returned. */
const char *oc_dec_rows(struct decoder_graph *g, int64_t rows, int64_t width, const char *at,
                        struct oc_dec_packed *table);

#define linear(g, module, x, in, out, bias) oc_dec_product((g), (module), (x), (in), (out), (bias), true)

/* decoder_graph.c. kind: OC_W_rms, OC_W_layer, OC_W_layer_no_bias */
const char *oc_dec_norm_of(struct decoder_graph *g, int64_t kind, const char *module, const char *x,
                           int64_t width);
#define oc_dec_norm(g, module, x, width) oc_dec_norm_of((g), FIELD(g, norm, OC_W_rms), (module), (x), (width))
#define oc_dec_rms(g, module, x, width)  oc_dec_norm_of((g), OC_W_rms, (module), (x), (width))
/* x times the sigmoid of a gate; the gate is x: SiLU */
const char *oc_dec_gate(struct decoder_graph *g, const char *x, const char *gate);
const char *oc_dec_reshape(struct decoder_graph *g, const char *x, const int64_t *dim, size_t n);
#define RESHAPE(g, x, ...)                                                                                   \
    oc_dec_reshape((g), (x), (const int64_t[]){__VA_ARGS__},                                                 \
                   sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))
/* The first `at` elements of the last axis and the rest. */
void oc_dec_split(struct decoder_graph *g, const char *x, int64_t at, int64_t rest, const char *part[2]);

/* decoder_mixers.c: attention and what replaces it, in a module of its own; appends the inputs and outputs that hold
 * what it keeps to g->cache and g->state. */
const char *oc_dec_mix(struct decoder_graph *g, int64_t layer, const char *x);
/* DeepSeek-V4: x from the streams of the residual, and the streams with y added. */
const char *oc_dec_from_streams(struct decoder_graph *g, const char *module, const char *streams,
                                const char *mix[2]);
const char *oc_dec_to_streams(struct decoder_graph *g, const char *streams, const char *y,
                              const char *const mix[2]);
const char *oc_dec_head_of_streams(struct decoder_graph *g, const char *streams);

#endif
