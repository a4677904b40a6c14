/* Execution providers of a session of ONNX Runtime: the text that names them, how each is added to the options of a
 * session, and the operators that each of them ran. Private to src/run. */
#ifndef OC_RUN_PROVIDERS_H
#define OC_RUN_PROVIDERS_H

#include "base/arena.h"
#include "run/ort_lib.h"

/* Texts are in the arena. */
struct oc_session_provider {
    const char *name; /* as given */
    const char **key, **value;
    size_t n_option;
};

struct oc_session_providers {
    struct oc_session_provider *item; /* in order of priority */
    size_t n;
};

/* "NAME[:KEY=VALUE,...][+NAME...]"; a backslash before ',', '+' or a backslash makes it part of a name or value. NULL: an
 * empty list. Errors: OC_EARG. */
int oc_session_providers_parse(const char *text, struct oc_arena *a, struct oc_session_providers *out,
                               struct oc_err *err);

/* Adds them to the options of a session. Runs code of the library, so call it in a process of its own. Errors: OC_EARG an
 * unknown provider or options that it refuses, OC_ELIBRARY one that the library lacks or cannot load; the message
 * lists what the library offers. */
int oc_session_providers_add(const struct oc_ort *ort, const struct oc_session_providers *list,
                             struct ort_options *options, struct oc_arena *a, struct oc_err *err);

/* Which provider ran how many operators of a profile, and the operators that the CPU ran for another provider: "40 of 44
 * operators by WebGpuExecutionProvider; 4 by CPUExecutionProvider: ...". NULL: the profile names no provider. In the
 * arena. */
const char *oc_session_providers_placement(const char *profile, struct oc_arena *a);

#endif
