/* Files of a web server, mapped like others: oc_os_need fetches what is accessed by HTTP range requests, with
 * libcurl. */
#ifndef OC_REMOTE_H
#define OC_REMOTE_H

#include "base/input_limits.h"
#include "base/file.h"

/* Maps the file of a URL ("https://...", "http://...") whose parts are fetched when they are needed. *missing
 * (may be NULL): the server has no such file. Failures while parts are fetched are recorded
 * (oc_remote_check). */
int oc_remote_map(const char *url, const struct oc_input_limits *limits, struct oc_file *out, bool *missing,
                  struct oc_err *err);
void oc_remote_unmap(const struct oc_file *f);

/* 0: every part that was needed has been fetched, or the file is not remote. Else the first failure: what was
 * read since then is zeros. */
int oc_remote_check(const struct oc_file *f, struct oc_err *err);

#endif
