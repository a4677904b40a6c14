/* Weights of a decoder's graph and the operators that read them: matrices and tables, plain or packed in the
 * way of a quantization. */
#include <string.h>

#include "base/ck.h"
#include "model/decoder_graph.h"

/* ---- weights ---------------------------------------------------------------------------------------- */

const char *oc_dec_weight(struct decoder_graph *g, const char *name, unsigned dtype, size_t rank,
                          const int64_t *dim)
{
    const char *full = oc_gw_path(&g->w, name);
    uint64_t elements = 1, bytes = 0; /* sizes are limited: no overflow that matters to a comparison */
    for (size_t i = 0; i < rank; i++)
        elements *= (uint64_t)dim[i];
    dtype = g->stored ? oc_stored_dtype(g->stored, full, dtype) : dtype;
    if (*g->w.scope && oc_bytes_of(dtype, elements, &bytes)) {
        g->sum.elements += elements;
        g->sum.bytes += bytes;
    }
    oc_gw_weight(&g->w, full, dtype, rank, dim);
    return full;
}

/* How the weights of the current module are packed. A file for images and text has more parts in names. */
static struct oc_packing packing_of(struct decoder_graph *g, int64_t in)
{
    struct oc_packing all = {.bits = g->d->bits, .block = g->d->block};
    size_t n = strlen(g->w.scope);
    for (const struct oc_packing *p = g->d->own; p; p = p->next) {
        size_t m = strlen(p->module);
        if (m >= n && !strcmp(p->module + m - n, g->w.scope) && (m == n || p->module[m - n - 1] == '.')) {
            all = *p;
            break;
        }
    }
    if (g->d->mlx && all.bits && in % all.block)
        all.bits = 0;
    return all;
}

static struct oc_dec_packed packed_matrix(struct decoder_graph *g, struct oc_packing as, int64_t rows,
                                          int64_t columns)
{
    const struct oc_decoder *d = g->d;
    int64_t blocks = oc_ceil_div(columns, as.block), row[] = {rows, blocks, as.block * as.bits / 8};
    struct oc_dec_packed p = {.as = as, .zeros = ""};
    if (d->mlx) {
        p.weight = oc_dec_weight(g, "weight", UINT8, 2, (const int64_t[]){rows, blocks * row[2]});
        p.scales = WEIGHT(g, "scales", rows, blocks);
        p.zeros = WEIGHT(g, "biases", rows, blocks);
        return p;
    }
    p.weight = oc_dec_weight(g, "qweight", UINT8, 3, row);
    p.scales = WEIGHT(g, "scales", rows * blocks);
    return p;
}

const char *oc_dec_packed_product(struct decoder_graph *g, const char *x, const struct oc_dec_packed *p,
                                  int64_t in, int64_t out)
{
    oc_gw_attr_i(&g->w, "K", in);
    oc_gw_attr_i(&g->w, "N", out);
    oc_gw_attr_i(&g->w, "bits", p->as.bits);
    oc_gw_attr_i(&g->w, "block_size", p->as.block);
    return *p->zeros ? CONTRIB_OP(g, "MatMulNBits", x, p->weight, p->scales, p->zeros)
                     : CONTRIB_OP(g, "MatMulNBits", x, p->weight, p->scales);
}

/* The same for a matrix of 8-bit floating-point numbers, with a scale for each square. */
static const char *scaled_product(struct decoder_graph *g, const char *x, int64_t in, int64_t out)
{
    const struct oc_decoder *d = g->d;
    int64_t rows = oc_ceil_div(out, d->scale_block), columns = oc_ceil_div(in, d->scale_block);
    const char *w = oc_dec_weight(g, "weight", (unsigned)d->packed_dtype, 2, (const int64_t[]){out, in});
    const char *scales = oc_dec_weight(g, "weight_scale_inv", FLOAT, 2, (const int64_t[]){rows, columns});
    return CONTRIB_OP(g, "MatMulBlockQuantizedFp8Weight", x, w, scales);
}

/* packed: the quantization of the model applies to this layer */
const char *oc_dec_product(struct decoder_graph *g, const char *module, const char *x, int64_t in,
                           int64_t out, bool bias, bool packed)
{
    struct oc_gw_place p = oc_gw_enter(&g->w, module);
    struct oc_packing as = packing_of(g, in);
    if ((packed || g->d->mlx) && as.bits) {
        struct oc_dec_packed matrix = packed_matrix(g, as, out, in);
        x = oc_dec_packed_product(g, x, &matrix, in, out);
    } else {
        x = packed && g->d->scale_block ? scaled_product(g, x, in, out)
                                        : OP(g, "MatMul", x, WEIGHT(g, "weight", in, out));
    }
    if (bias)
        x = OP(g, "Add", x, WEIGHT(g, "bias", out));
    oc_gw_leave(&g->w, p);
    return x;
}

/* Rows of the current module's table. */
const char *oc_dec_rows(struct decoder_graph *g, int64_t rows, const char *at, struct oc_dec_packed *table)
{
    int64_t width = g->d->width;
    struct oc_packing as = packing_of(g, width);
    if (!g->d->mlx || !as.bits) {
        *table = (struct oc_dec_packed){.weight = WEIGHT(g, "weight", rows, width)};
        return OP(g, "Gather", table->weight, at);
    }
    *table = packed_matrix(g, as, rows, width);
    oc_gw_attr_i(&g->w, "bits", as.bits);
    oc_gw_attr_i(&g->w, "block_size", as.block);
    return CONTRIB_OP(g, "GatherBlockQuantized", table->weight, at, table->scales, table->zeros);
}
