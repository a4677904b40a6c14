/* The grammar of TensorRT's layer names (profile-formats 3.4): which layers the builder inserted, and the
 * parts of a fused layer. Independent of the model: the caller passes `known` to decide which texts are
 * names, because names may contain the separators " + ", " || ", ", ". Views point into the given text. */
#ifndef OC_TRT_NAME_H
#define OC_TRT_NAME_H

#include <stdbool.h>
#include <stddef.h>

enum trt_kind {
    TRT_NODE,      /* a node, tensor or initializer */
    TRT_TENSOR,    /* "node_of_X": the unnamed node that produces X */
    TRT_ADDED,     /* "reshape_after_X" ...: inserted by the parser for node X */
    TRT_UNNAMED,   /* "(Unnamed Layer* 360) [Shuffle]": inserted by the parser */
    TRT_RANGE,     /* "{ForeignNode[X...last]}" */
    TRT_GENERATED, /* "__myl_MulSum": a kernel of a fused region */
    TRT_KIND_COUNT
};

struct trt_part {
    enum trt_kind kind;
    const char *s; /* X */
    size_t n;
    const char *last; /* last name of a range */
    size_t n_last;
};

struct trt_known {
    bool (*is_name)(const void *ctx, const char *s, size_t n);
    const void *ctx;
};

/* Bucket of a layer that the builder inserted: "reformat", "copies", "DLA transfers", "inserted",
 * "framework"; NULL: none. */
const char *trt_overhead(const char *s, size_t n);

/* Length without a trailing " [profile N]" and "_myl<region>_<k>". */
size_t trt_stem(const char *s, size_t n);

/* Splits into parts, stores at most `max`; `known` may be NULL. Returns the number of parts, which may
 * exceed max. */
size_t trt_split(const char *s, size_t n, const struct trt_known *known, struct trt_part *out, size_t max);

#endif
