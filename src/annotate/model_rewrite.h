/* An ONNX file written again with other metadata_props: everything else is copied byte for byte, from the
 * mapping to the file, so that gigabytes of weights never lie in memory. Only the lengths of the messages
 * around an added entry are new. Knows nothing of costs.
 *
 * Nodes of bodies and of local functions are rewritten too. The version of the file stays: readers of older
 * IR versions than 10, which have no metadata_props in nodes, skip them as an unknown field. */
#ifndef OC_MODEL_REWRITE_H
#define OC_MODEL_REWRITE_H

#include "base/buf.h"
#include "base/file.h"

/* Entries that a message gets, put into `out` by oc_rewrite_entry; must be the same when asked twice.
 * where: offset of the node's message, as in struct oc_node. */
struct oc_rewrite {
    const char *prefix; /* of keys; older entries with it are dropped */
    void (*model)(void *ctx, struct oc_buf *out);
    void (*node)(void *ctx, uint64_t where, struct oc_buf *out);
    void *ctx;
};

void oc_rewrite_model_entry(struct oc_buf *out, const char *key, const char *value);
void oc_rewrite_node_entry(struct oc_buf *out, const char *key, const char *value);

/* The file must be a model that was loaded. OC_ELIMIT: it would be larger than 2 GiB, which no reader of
 * protobuf takes. Failed writes are left to ferror(f). */
int oc_rewrite_model(const struct oc_file *file, const struct oc_rewrite *how, FILE *f, struct oc_err *err);

#endif
