/* Runs the report of a MegEngine dump as the command line does, for tests. */
#ifndef MGE_CASE_H
#define MGE_CASE_H

#include <stddef.h>

#include "onnxcost.h"
#include "profile/profile.h"
#include "onnxcost/report.h"

/* Reads a dump from memory with the importer; always clean up with mge_free. */
int mge_read(const char *text, size_t n, struct oc_profile *p, struct oc_err *err);
int mge_read_file(const char *path, struct oc_profile *p, struct oc_err *err);
void mge_free(struct oc_profile *p);

/* The options of profile_analyze. */
struct mge_args {
    struct oc_report_opts opts;
    const char *type[64], *name[64], *dtype[64];
};
/* False: an argument is not an option. `o` points into *a. */
bool mge_parse_args(struct mge_args *a, int argc, char **argv);

/* The report as text (malloc), or NULL with err filled. */
char *mge_report_text(const struct oc_profile *p, const struct oc_report_opts *o, struct oc_err *err);

#endif
