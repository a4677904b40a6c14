/* Files of a recording: written to a temporary folder next to their destination, and moved when they are
 * complete. */
#ifndef OC_RECORD_FILES_H
#define OC_RECORD_FILES_H

#include "base/arena.h"

struct oc_record_files {             /* texts are in the arena */
    const char *profile, *optimized; /* destinations */
    const char *folder;              /* temporary folder; NULL: none */
    const char *profile_prefix;      /* in the temporary folder */
    const char *temporary_optimized, *weights_name;
    const char *assumed; /* of the inputs, written into both files; NULL or "": nothing */
    struct oc_arena *a;
};

/* Creates the temporary folder, and missing folders of `output`. output: as oc_record_opts.output. Fails when
 * a file would overwrite the model. */
int oc_record_files_open(const char *model, const char *output, struct oc_arena *a,
                         struct oc_record_files *out, struct oc_err *err);

/* Moves the files to their destinations; `profile` is the file written by the runtime, NULL: discard. The
 * temporary folder is removed in any case. */
int oc_record_files_close(struct oc_record_files *f, const char *profile, struct oc_err *err);

#endif
