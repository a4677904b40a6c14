/* The TensorRT importer, the names of its layers, and the join with a model that has such node names. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "join/join.h"
#include "profile/core/kernel_names.h"
#include "profile/formats/trt_reading.h"
#include "support/build.h"
#include "onnxcost.h"
#include "onnxcost/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

extern const struct oc_importer oc_importer_tensorrt;

static uint8_t *model_bytes(size_t *n)
{
    struct oc_builder *b = oc_b_new(13);
    oc_b_input(b, "x", "float[N,3,9,9]");
    oc_b_init(b, "w1", "float[4,3,3,3]");
    oc_b_init(b, "w2", "float[4,6,2,2]");
    oc_b_node(b, "Conv", "stem", "x,w1", "c", "pads=1,1,1,1 strides=2,2");
    oc_b_node(b, "Relu", "relu[0]", "c", "r", "");
    oc_b_node(b, "MaxPool", "pool", "r", "p", "kernel_shape=2,2 strides=2,2");
    oc_b_node(b, "ConvTranspose", "up", "p,w2", "u", "strides=2,2");
    oc_b_node(b, "Relu", "a + b", "u", "v", "");
    oc_b_node(b, "Flatten", NULL, "v", "y", "");
    oc_b_output(b, "y", NULL);
    uint8_t *bytes = oc_b_pack(b, n);
    oc_b_free(b);
    return bytes;
}

static void join(const struct oc_profile *p)
{
    static uint8_t *bytes; /* one model for all inputs */
    static size_t size_bytes;
    struct oc_model *m;
    struct oc_analysis *a;
    struct oc_join *j;
    struct oc_err err;
    struct oc_analyze_opts opts = {0};
    struct oc_shape_bind *shape;
    if (!bytes)
        bytes = model_bytes(&size_bytes);
    if (oc_model_load_mem(bytes, size_bytes, NULL, &m, &err) != 0)
        abort();
    opts.n_shape = oc_profile_input_shapes(m, p, &shape);
    opts.shape = shape;
    if (oc_analyze(m, &opts, &a, &err) == 0) {
        if (oc_join_make(m, a, p, NULL, &j, &err) != 0)
            abort();
        for (uint32_t i = 0; i < p->n_rec; i++)
            if ((j->rec[i].n_node > 0) == (j->rec[i].bucket != NULL))
                abort();
        if (!isnan(j->host.lost_ns) && oc_time_is_lost(j->host.lost_ns, p->imported_ns))
            abort();
        oc_join_free(j);
        oc_analysis_free(a);
    }
    oc_profile_input_shapes_free(shape, opts.n_shape);
    oc_model_free(m);
}

static void read_log(const uint8_t *data, size_t n)
{
    struct oc_profile p = {.path = "", .producer = ""};
    struct trt_reading r = {.device = ""};
    struct oc_stream *s = oc_stream_mem(data, n);
    p.names.arena = p.diags.arena = &p.arena;
    p.exprs = oc_exprs_new(&p.arena);
    oc_trt_read_log(s, &p, &r, NULL);
    oc_stream_close(s);
    oc_trt_free_reading(&r);
    oc_exprs_free(p.exprs);
    oc_map_free(&p.names);
    oc_diags_free(&p.diags);
    oc_arena_free(&p.arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const struct oc_profile_opts opts = {0};
    struct oc_profile *p;
    struct oc_err err;
    struct trt_part part[8];
    size_t len = n < 4096 ? n : 4096;
    for (size_t i = oc_trt_split((const char *)data, len, NULL, part, 8); i-- > 0;)
        if (i < 8 && (part[i].s < (const char *)data || part[i].s + part[i].n > (const char *)data + len))
            abort();
    read_log(data, n);
    if (oc_profile_from_mem(&oc_importer_tensorrt, data, n, &opts, &p, &err) != 0)
        return 0;
    join(p);
    oc_profile_close(p);
    return 0;
}
