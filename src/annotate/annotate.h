/* Copies an ONNX file with other metadata_props: everything else is copied byte for byte, from the mapping to
 * the file, so that weights are never held in memory. Only the lengths of the messages around an added entry
 * change.
 *
 * Nodes of bodies and of local functions are rewritten too. The IR version is unchanged: readers of IR
 * versions before 10, which have no metadata_props in nodes, skip them as an unknown field. */
#ifndef OC_ANNOTATE_H
#define OC_ANNOTATE_H

#include "base/arena.h"
#include "base/file.h"
#include "model/model.h"

/* Adds the entries of a message to `out` with oc_rewrite_entry; must return the same entries in both walks.
 * where: offset of the node's message, as in struct oc_node. */
struct oc_rewrite {
    const char *prefix; /* key prefix; older entries with it are dropped */
    void (*model)(void *ctx, struct oc_buf *out);
    void (*node)(void *ctx, uint64_t where, struct oc_buf *out);
    void *ctx;
};

void oc_rewrite_model_entry(struct oc_buf *out, const char *key, const char *value);
void oc_rewrite_node_entry(struct oc_buf *out, const char *key, const char *value);

/* The file must be a loaded model. OC_ELIMIT: the result would exceed 2 GiB, the limit of protobuf readers.
 * The caller checks failed writes with ferror(f). */
int oc_rewrite_model(const struct oc_file *file, const struct oc_rewrite *how, FILE *f, struct oc_err *err);

/* Copies bytes of a mapped file; file NULL: of memory. False: the file was truncated meanwhile (oc_fail_cut says so). */
bool oc_copy_mapped(const struct oc_file *file, const uint8_t *from, size_t n, FILE *f);
int oc_fail_cut(struct oc_err *err);

/* Tensors in an external file name it relative to the model: fails if `out` is this file, or is not in its folder. */
int oc_check_external_place(const struct oc_model *m, const struct oc_tensor *t, const char *out,
                            struct oc_arena *arena, struct oc_err *err);

#endif
