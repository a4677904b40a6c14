/* Finds the files of a recording: those written by `onnxcost record` (X.profile.json, X.optimized.onnx, next
 * to the model X.onnx), or those in a list. Only file names are examined.
 *
 * A list is a table as CSV or TSV (its name ends so) with a header. Columns, in any order, all but the first
 * optional: profile; model; optimized; name (of the recording); id (of the network); family; dims
 * ("batch=4;sequence=128"); plain_ms (wall time of a run without profiling); warmup (runs to leave out).
 * Paths are relative to the list. */
#ifndef OC_RECORDINGS_H
#define OC_RECORDINGS_H

#include "base/arena.h"

#define OC_MAX_RECORDINGS 10000u

struct oc_recording_files {
    const char *profile, *model, *optimized; /* optimized: NULL, none */
    const char *name, *id, *family;
    const char *dims; /* "" */
    double plain_s;   /* NAN: unknown */
    int32_t warmup;   /* -1: not given */
};

struct oc_recordings {
    struct oc_arena arena;
    struct oc_recording_files *item; /* heap */
    size_t n, cap;
};

/* Profiles, models (for the profiles after them) and lists in any order. Without a model before it, that of
 * X.profile.json is X.onnx, or Y.onnx where X is "Y@..." or "Y.<anything>", in the folder or its parent; the
 * id is that model's name up to '@', the family the letters at the start of the id. */
int oc_recordings_find(const char *const *path, size_t n, struct oc_recordings *out, struct oc_err *err);
void oc_recordings_free(struct oc_recordings *r);

#endif
