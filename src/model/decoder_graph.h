/* Graph of a decoder under construction: macros for its nodes, its weights. */
#ifndef OC_DECODER_GRAPH_H
#define OC_DECODER_GRAPH_H

#include "model/decoder.h"
#include "model/graph_writer.h"
#include "shape/type.h"

enum { FLOAT = 1, UINT8 = 2, INT32 = 6, INT64 = 7 };

struct decoder_graph {
    struct oc_graph_writer w;
    const struct oc_decoder *d;
    const struct oc_stored_list *stored; /* tensors of weight files, NULL: none */
    const char *seqlens, *total;         /* inputs of GroupQueryAttention */
    const char *mask;                    /* added to the scores of latent attention */
    struct oc_stored_sum sum;            /* of the weights in modules */
};

#define TEXT(g, ...)             oc_printf(&(g)->w.arena, __VA_ARGS__)
#define NOTHING                  ((const char *const[]){NULL})
#define IN(...)                  ((const char *const[]){__VA_ARGS__, NULL})
#define OP(g, type, ...)         oc_gw_node(&(g)->w, "", (type), IN(__VA_ARGS__), NULL)
#define CONTRIB_OP(g, type, ...) oc_gw_node(&(g)->w, "com.microsoft", (type), IN(__VA_ARGS__), NULL)

#define WEIGHT(g, name, ...)                                                                                 \
    oc_dec_weight((g), (name), (unsigned)(g)->d->dtype,                                                      \
                  sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (const int64_t[]){__VA_ARGS__})
/* of the type that quantization gives to most weights */
#define EXPERT(g, name, ...)                                                                                 \
    oc_dec_weight((g), (name), (unsigned)((g)->d->packed_dtype ? (g)->d->packed_dtype : (g)->d->dtype),      \
                  sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (const int64_t[]){__VA_ARGS__})

struct oc_dec_packed { /* a matrix of `rows` rows packed in blocks of columns */
    struct oc_packing as;
    const char *weight, *scales, *zeros; /* zeros "": none */
};

/* A weight of the current module; dtype: unless the stored tensors have another one. Returns its name. */
const char *oc_dec_weight(struct decoder_graph *g, const char *name, unsigned dtype, size_t rank,
                          const int64_t *dim);

/* x times the weights of a module; packed: the quantization of the model applies to this layer. */
const char *oc_dec_product(struct decoder_graph *g, const char *module, const char *x, int64_t in,
                           int64_t out, bool bias, bool packed);
const char *oc_dec_packed_product(struct decoder_graph *g, const char *x, const struct oc_dec_packed *p,
                                  int64_t in, int64_t out);

/* Rows `at` of the current module's table, which is also returned. */
const char *oc_dec_rows(struct decoder_graph *g, int64_t rows, const char *at, struct oc_dec_packed *table);

#endif
