/* Files of a recording: made in a folder of their own beside their place, and moved there when they are
 * complete.
 */
#ifndef OC_RECORD_FILES_H
#define OC_RECORD_FILES_H

#include "base/arena.h"

struct oc_record_files {             /* texts are in the arena */
    const char *profile, *optimized; /* where they will be */
    const char *folder;              /* for the time being; NULL: none */
    const char *profile_prefix;      /* in it */
    const char *temporary_optimized, *weights_name;
    const char *assumed; /* of the inputs, written into both files; NULL or "": nothing */
    struct oc_arena *a;
};

/* output: as oc_record_opts.output. Makes the temporary folder, and the ones of `output` that are missing.
 * Fails when a file would take the place of the model. */
int oc_record_files_open(const char *model, const char *output, struct oc_arena *a,
                         struct oc_record_files *out, struct oc_err *err);

/* Moves the files to their places; `profile` is the one that the runtime wrote, NULL: there is nothing to
 * keep. The folder is removed in any case. */
int oc_record_files_close(struct oc_record_files *f, const char *profile, struct oc_err *err);

#endif
