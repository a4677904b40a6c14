/* Input files: mapped whole, or read as byte streams in windows (.gz files are inflated on the fly, UTF-16 is
 * converted); files of web servers. Independent of file formats. */
#ifndef OC_FILE_H
#define OC_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "onnxcost_types.h"

struct oc_file {
    const uint8_t *data; /* NULL when empty */
    uint64_t size_bytes;
    bool mapped;
    struct oc_remote *remote; /* of a web server (http.c), NULL: a file of this machine */
};

/* Opens a file to be read, as every reader does: inside the folders of oc_set_read_roots, if there are any. Does
 * not block on a pipe without a writer. -1: errno; EXDEV: outside of them. */
int oc_file_open(const char *path);
/* Reports a file that is an input though it is not opened (oc_set_read_watch). */
void oc_file_note(const char *path);
/* Whether a path is inside them (0, else errno), and whether URLs are read. */
int oc_look_readable(const char *path);
bool oc_may_read_urls(void);

/* Maps a regular file read-only; "-" is standard input. Errors name the path: no such file, is a directory,
 * larger than max_bytes (0: no limit). Does not touch page contents: call oc_os_need (base/os.h) for parts of
 * large files before they are accessed; streams and oc_wire_next do. If the file is truncated later, touching
 * the missing pages raises SIGBUS (oc_set_map_watch). */
int oc_file_map(const char *path, uint64_t max_bytes, struct oc_file *out, struct oc_err *err);
/* The same with the resource limit on input files (base/diag.h); the message names the limit. */
int oc_file_map_capped(const char *path, const struct oc_input_limits *limits, struct oc_file *out,
                       struct oc_err *err);
/* Maps a part of an open file, less if the file ends before; the caller closes the file, which has this path.
 */
int oc_file_map_part(int fd, const char *path, const struct oc_input_limits *limits, uint64_t offset_bytes,
                     uint64_t size_bytes, struct oc_file *out, struct oc_err *err);
void oc_file_unmap(struct oc_file *f);
/* Hint: the bytes are not needed soon and their pages may be released. They remain readable. */
void oc_file_forget(const struct oc_file *f, uint64_t offset, size_t n);

/* A stream returns windows of bytes. Plain files: windows into the mapping, whose pages are released after
 * use; memory is one window. UTF-16 becomes UTF-8 (text_filter.c). gzip (detected by magic, several
 * members allowed): inflated incrementally; memory is one window, never the whole file. */
struct oc_stream;
int oc_stream_open(const char *path, const struct oc_input_limits *limits, struct oc_stream **out,
                   struct oc_err *err);
struct oc_stream *oc_stream_mem(const void *data, size_t n); /* data must outlive the stream */
void oc_stream_set_limits(struct oc_stream *s,
                          const struct oc_input_limits *limits); /* copies; NULL: the defaults */
void oc_stream_close(struct oc_stream *s);
const char *oc_stream_path(const struct oc_stream *s); /* "" for memory */

/* Before the first fill: removes the prefix of every line, or drops the first bytes of the text. Not for .gz.
 */
struct oc_log_prefix;
void oc_stream_unwrap(struct oc_stream *s, const struct oc_log_prefix *prefix);
void oc_stream_skip(struct oc_stream *s, size_t bytes);

/* Drops the first `used` bytes of the window and makes the window larger or refills it: afterwards [*data,
 * *data + *n) starts at stream offset *offset_bytes. Returns false when no byte was added (end of data, or a
 * damaged .gz: see oc_stream_error). */
bool oc_stream_fill(struct oc_stream *s, size_t used, const char **data, size_t *n, uint64_t *offset_bytes);
const char *oc_stream_error(const struct oc_stream *s); /* NULL: none */

/* Ends the stream once *stop is not 0, and notes in *reading how far it is. Plain files are then returned in smaller
 * windows, so that both happen often. `stop` and `reading` must outlive the stream; NULL: none. */
void oc_stream_watch(struct oc_stream *s, const volatile int *stop, struct oc_reading *reading);
/* Whether the flag ended the stream early, and after how many stored bytes (of a .gz: compressed bytes). */
bool oc_stream_stopped(const struct oc_stream *s, uint64_t *read_bytes, uint64_t *all_bytes);
/* Resource limits of the text (base/diag.h). A reader that exceeds one records it here and the stream ends;
 * the first one becomes the error of the file, however the reader treats the early end. found: the number, 0:
 * not counted. */
uint64_t oc_stream_limit(const struct oc_stream *s, enum oc_input_limit which);
void oc_stream_over(struct oc_stream *s, enum oc_input_limit which, uint64_t found);
int oc_stream_limit_fail(const struct oc_stream *s, enum oc_input_limit which, uint64_t found,
                         struct oc_err *err);
/* 0: no limit was exceeded. Else fails with OC_ELIMIT. */
int oc_stream_check(const struct oc_stream *s, struct oc_err *err);

/* Returns the first at most `max` (inflated) bytes of a file of any size, for probing. Bytes are in the
 * arena. */
int oc_file_peek(const char *path, size_t max, struct oc_arena *a, const char **data, size_t *n,
                 struct oc_err *err);

/* ---- inside ----------------------------------------------------------------------------------------- */

/* Opens files only inside a given folder, whatever links and ".." the path contains. */

/* Opens folder/path for reading if it is inside the folder after all links are followed ("": the working
 * directory). Returns a descriptor, or -1 with errno; EXDEV: outside. The opened file is the one that was
 * checked, even if links change concurrently (with openat2, Linux 5.6 or later). Never blocks: the file may
 * be a pipe. */
int oc_open_inside(const char *folder, const char *path);

/* 0: inside. Else errno as above. Opens nothing. */
int oc_look_inside(const char *folder, const char *path);

/* ---- data dir ------------------------------------------------------------------------------------------ */

/* Finds the data files that are installed with the program and the library. */

/* The folder NAME that contains NAME.rng. Searched in this order, and only the first match counts, so that a
 * build tree never mixes its data with an installed copy: above the shared library, above the program (NAME
 * in a checkout, share/onnxcost/NAME in an installation that may have been moved as a whole), the folder set
 * at build time. NULL: none exists. The path is in the arena. */
const char *oc_data_dir(struct oc_arena *a, const char *name);

/* ---- gz ----------------------------------------------------------------------------------------------- */

/* Inflates gzip data in memory, in windows. Readers share no state. */

struct oc_buf;

struct oc_gz;
struct oc_gz *oc_gz_open(const void *src, size_t n); /* src must outlive the reader */
void oc_gz_close(struct oc_gz *g);                   /* NULL is accepted */

/* Drops the first `used` bytes of the window and, if requested, appends inflated bytes. False: nothing
 * appended, at the end or after an error. The window is valid until the next call. */
bool oc_gz_more(struct oc_gz *g, size_t used, bool add, const char **data, size_t *n);
const char *oc_gz_error(const struct oc_gz *g); /* NULL: none */

/* Appends the data as one gzip member, the same for the same data. False: too large, or no memory. */
bool oc_gz_pack(const void *src, size_t n, struct oc_buf *out);

const char *oc_zlib_version(void);

/* ---- file type ---------------------------------------------------------------------------------------- */

/* Files that are neither an ONNX model nor a profile, recognized by their first bytes or the end of their
 * name. */

struct oc_signature {
    const char *what; /* "a GGUF model" */
    const char *todo; /* what the user does about it, in the imperative */
};

/* NULL: not recognized. `data`: the first `n` bytes, not inflated for a model, inflated for a profile. */
const struct oc_signature *oc_recognize(const char *path, const void *data, size_t n);

/* Models without an ONNX file. `data`: the first bytes; OC_DESCRIBED_BYTES are enough. */
#define OC_DESCRIBED_BYTES ((size_t)1 << 16)
enum oc_described {
    OC_DESCRIBED_NOT,         /* ONNX, or anything else */
    OC_DESCRIBED_CONFIG,      /* config.json of a language model: a JSON object with "model_type" */
    OC_DESCRIBED_INDEX,       /* index of safetensors files: a JSON object with "weight_map" */
    OC_DESCRIBED_SAFETENSORS, /* weights */
    OC_DESCRIBED_GGUF         /* weights and metadata */
};
/* By the content, and of weights also by the name: a broken file with such a name is one too. */
enum oc_described oc_described_by(const char *path, const void *data, size_t n);

/* The file that describes the model of a folder, in the arena: an index of safetensors files, a safetensors
 * file, or config.json. NULL: not a folder, or it has none. */
struct oc_arena;
const char *oc_model_of_folder(const char *path, struct oc_arena *arena);

/* At most one byte in a hundred is a control character. */
bool oc_is_text(const void *data, size_t n);

/* ---- text filter -------------------------------------------------------------------------------------- */

/* Text as programs read it, in windows: UTF-16 (PowerShell's `>`) becomes UTF-8, and the prefixes that
 * logging tools put before every line (time stamps, levels, container and rank labels) are removed. */

enum oc_text_encoding { OC_TEXT_BYTES, OC_TEXT_UTF16LE, OC_TEXT_UTF16BE };

/* From the byte order mark, or from ASCII characters with zero bytes between them. */
enum oc_text_encoding oc_text_encoding(const void *src, size_t n);

struct oc_text_filter;
/* src must outlive the filter. prefix: NULL or copied. */
struct oc_text_filter *oc_text_filter_open(const void *src, size_t n, enum oc_text_encoding encoding,
                                           const struct oc_log_prefix *prefix);
void oc_text_filter_close(struct oc_text_filter *f); /* NULL is accepted */
/* Drops the first `used` bytes of the window and, if requested, appends text. False: nothing appended. */
bool oc_text_filter_more(struct oc_text_filter *f, size_t used, bool add, const char **data, size_t *n);
size_t oc_text_filter_taken(const struct oc_text_filter *f); /* source bytes consumed so far */

/* ---- answers of web servers --------------------------------------------------------------------------- */

/* What a server says about a file: the lines of a response, and whether they fit the request. */

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

/* ---- files of web servers ----------------------------------------------------------------------------- */

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
