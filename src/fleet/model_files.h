/* fleet/: Scans of many models or profiles in parallel processes, results in order. A job that crashes or
 * takes too long is a row of its own. Columns are in scan_tables.c alone.
 * Private to the folder: model_files.h worker_pool.h. */

/* Finds files to scan: every named file, and in folders, at any depth, those with a fitting name: of models,
 * files that end in ".onnx" and those that describe a model without an ONNX file. */
#ifndef OC_MODEL_FILES_H
#define OC_MODEL_FILES_H

#include <stddef.h>
#include <stdint.h>

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
    bool (*has_name)(
        const char *name); /* whether a file in a folder counts; NULL: those that end in ".onnx" */
    struct oc_model_file *item;
    size_t n, cap;
};

/* Named items are in the order given, items of a folder in byte order of their path, without duplicates.
 * Links are followed; a folder reachable in several ways is read once, through a link only if there is no
 * other way. A file or folder that cannot be examined is an item with an error. Named files need not be
 * models: loading them reports it. */
void oc_model_files_add(struct oc_model_files *files, const char *const *path, size_t n);
void oc_model_files_free(struct oc_model_files *files);

/* ---- models without an ONNX file -------------------------------------------------------------------- */

/* By its name alone. */
bool oc_may_describe(const char *name);

/* Of the names in a folder that may describe a model, the ones that do come first; returns their number. An
 * index of weight files stands for its files, the first part of a GGUF file for all; config.json is the model
 * only where no weights are, nor ONNX files (has_onnx). */
size_t oc_choose_described(const char *folder, const char **name, size_t n, bool has_onnx,
                           struct oc_arena *arena);

/* ---- file hash -------------------------------------------------------------------------------------- */

/* XXH64, in the format of xxhsum: fast enough for files of gigabytes. Not collision-resistant: it finds
 * candidates, callers that need certainty compare the files. */

uint64_t oc_xxh64(const void *data, size_t n, uint64_t seed);

#endif
