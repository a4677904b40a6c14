/* Finds model files: every named file, and in folders, at any depth, files that end in ".onnx". */
#ifndef OC_MODEL_FILES_H
#define OC_MODEL_FILES_H

#include "base/map.h"

struct oc_model_file {
    const char *path; /* as named, or below the named folder */
    uint64_t size_bytes;
    int64_t mtime_ns;
    int error; /* errno of stat; 0: the other two are valid */
};

struct oc_model_files {
    struct oc_arena arena;
    struct oc_map seen; /* paths */
    struct oc_model_file *item;
    size_t n, cap;
};

/* Named items are in the order given, items of a folder in byte order of their path, without duplicates.
 * Links are followed; a folder reachable in several ways is read once, through a link only if there is no
 * other way. A file or folder that cannot be examined is an item with an error. Named files need not be
 * models: loading them reports it. */
void oc_model_files_add(struct oc_model_files *files, const char *const *path, size_t n);
void oc_model_files_free(struct oc_model_files *files);

#endif
