/* Models among files and folders: every file that is named, and in folders, at any depth, those that end in
 * ".onnx". Knows nothing of what is in them. */
#ifndef OC_MODEL_FILES_H
#define OC_MODEL_FILES_H

#include "base/map.h"

struct oc_model_file {
    const char *path; /* as named, or below the folder as named */
    uint64_t size_bytes;
    int64_t mtime_ns;
    int error; /* errno of looking at it; 0: the other two are known */
};

struct oc_model_files {
    struct oc_arena arena;
    struct oc_map seen; /* paths */
    struct oc_model_file *item;
    size_t n, cap;
};

/* What is named comes in the order of the names, what is in a folder in the order of the bytes of its path; a
 * path comes once. Links are followed; a folder that can be reached in several ways is read once, by links
 * only if there is no other way. A file or folder that cannot be looked at is an item with an error.
 * Files that are no models can be named: reading them will tell. */
void oc_model_files_add(struct oc_model_files *files, const char *const *path, size_t n);
void oc_model_files_free(struct oc_model_files *files);

#endif
