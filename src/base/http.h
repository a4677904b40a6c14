/* What a server says about a file: the lines of a response, and whether they fit the request. */
#ifndef OC_HTTP_H
#define OC_HTTP_H

#include "base/file.h"
#include "base/input_limits.h"
#include "onnxcost_types.h"

struct oc_http_answer { /* zero before the first line */
    unsigned status;
    bool has_range, has_total, has_length, compressed;
    uint64_t from, last, total; /* Content-Range: bytes FROM-LAST/TOTAL */
    uint64_t length;            /* Content-Length */
    char tag[80];               /* ETag */
};

/* One line of the head, with or without its line end. A status line begins a new answer (after a redirect).
 */
void oc_http_line(struct oc_http_answer *a, const char *line, size_t n);

/* Checks the answer to a request for bytes [from, from + n): `*whole`: the body is the whole file instead.
 * size, tag: those of earlier answers, UINT64_MAX and NULL: none. OC_EIO; 404 and the like are named. */
int oc_http_check(const struct oc_http_answer *a, uint64_t from, uint64_t n, uint64_t size, const char *tag,
                  bool *whole, struct oc_err *err);

/* The URL of a file next to another one, as a path relative to its folder; false: it does not fit. */
bool oc_http_beside(const char *url, const char *name, char *out, size_t cap);

/* "hf:ORG/NAME[@REVISION][/FILE]" with a default file as a URL; endpoint: of the Hugging Face Hub. */
bool oc_http_hub(const char *text, const char *endpoint, const char *file, char *out, size_t cap);

/* Whether a path is the URL of a file, or of the hub. */
bool oc_http_is_url(const char *path);

/* ---- remote -------------------------------------------------------------------------------------------- */

/* Files of a web server, mapped like others: oc_os_need fetches what is accessed by HTTP range requests, with
 * libcurl. */

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
