/* Profiles from text, and lookups for tests. */
#ifndef TEST_PROFILES_H
#define TEST_PROFILES_H

#include "profile/profile.h"
#include "onnxcost/profile.h"

/* Writes the bytes to a temporary file, reads it and deletes the file. NULL with *err on failure. */
struct oc_profile *t_profile_mem(const void *data, size_t n, const struct oc_profile_opts *opts,
                                 struct oc_err *err);
struct oc_profile *t_profile_text(const char *text, const struct oc_profile_opts *opts, struct oc_err *err);

/* "../shared/samples/<name>", or NULL with a line that contains SKIPPED when it does not exist. Static
 * buffer. */
const char *t_sample(const char *name);

/* First record with that name, NULL: none. */
const struct oc_prof_rec *t_rec(const struct oc_profile *p, const char *name);
/* Sum of self_ns over the records of a bucket; NULL: over operators. */
double t_self_ns(const struct oc_profile *p, const char *bucket);
/* The text of the first warning with that code, NULL: none. */
const char *t_finding(const struct oc_profile *p, const char *code);

/* -1: the default, otherwise a number of runs. */
static inline int32_t t_warmup(int32_t runs)
{
    return runs < 0 ? 0 : runs ? runs : OC_WARMUP_NONE;
}

#endif
