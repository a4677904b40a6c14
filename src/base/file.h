/* Files for reading: mapped whole, and byte streams in windows (a .gz file is inflated on the way).
 * Knows nothing of formats. */
#ifndef OC_FILE_H
#define OC_FILE_H

#include "base/arena.h"

struct oc_file {
    const uint8_t *data; /* NULL when empty */
    uint64_t size_bytes;
    bool mapped;
};

/* Maps a regular file read-only. Errors name the path: no such file, is a directory, larger than max_bytes
 * (0: no limit). Page contents are not touched. A file that is cut later has pages that cannot be read any
 * more: touching them raises SIGBUS (oc_set_map_watch). */
int oc_file_map(const char *path, uint64_t max_bytes, struct oc_file *out, struct oc_err *err);
/* The same with the limit of input files (base/caps.h), whose name is in the message. */
int oc_file_map_capped(const char *path, const struct oc_caps *caps, struct oc_file *out, struct oc_err *err);
/* Likewise an open file, which the caller closes; the path is for messages. */
int oc_file_map_fd(int fd, const char *path, const struct oc_caps *caps, struct oc_file *out,
                   struct oc_err *err);
void oc_file_unmap(struct oc_file *f);
/* The bytes are not needed soon: their pages may go from memory. They can still be read. */
void oc_file_forget(const struct oc_file *f, uint64_t offset, size_t n);

/* A stream hands out windows of bytes. Plain files: windows into the mapping, which is forgotten behind them;
 * memory is one window. gzip (by magic, several members allowed): inflated piece by piece. Memory: one
 * window, never the whole file. */
struct oc_stream;
int oc_stream_open(const char *path, const struct oc_caps *caps, struct oc_stream **out, struct oc_err *err);
struct oc_stream *oc_stream_mem(const void *data, size_t n);              /* data must outlive the stream */
void oc_stream_set_caps(struct oc_stream *s, const struct oc_caps *caps); /* copies; NULL: the defaults */
void oc_stream_close(struct oc_stream *s);
const char *oc_stream_path(const struct oc_stream *s); /* "" for memory */

/* Drops the first `used` bytes of the window and makes the window larger or refills it: afterwards
 * [*data, *data + *n) starts at stream offset *offset_bytes. Returns false when no byte was added
 * (end of data, or a damaged .gz: then oc_stream_error tells). */
bool oc_stream_fill(struct oc_stream *s, size_t used, const char **data, size_t *n, uint64_t *offset_bytes);
const char *oc_stream_error(const struct oc_stream *s); /* NULL: none */

/* No more bytes once *stop is not 0: the stream ends there. A plain file then comes in pieces, so that the
 * flag is looked at now and then. `stop` must stay as long as the stream; NULL: none. */
void oc_stream_stop_on(struct oc_stream *s, const volatile int *stop);
/* Whether the flag cut it short, and after how many of the stored bytes (of a .gz: the compressed ones). */
bool oc_stream_stopped(const struct oc_stream *s, uint64_t *read_bytes, uint64_t *all_bytes);
/* What limits the text has (base/caps.h). A reader that meets one notes it, and the stream ends there: the
 * first one is an error of the file, whatever the reader makes of the end. found: how many, 0: not counted.
 */
uint64_t oc_stream_cap(const struct oc_stream *s, enum oc_cap which);
void oc_stream_over(struct oc_stream *s, enum oc_cap which, uint64_t found);
int oc_stream_cap_fail(const struct oc_stream *s, enum oc_cap which, uint64_t found, struct oc_err *err);
/* 0: none was met. Else fails with OC_ELIMIT. */
int oc_stream_check(const struct oc_stream *s, struct oc_err *err);

/* The first at most `max` bytes, inflated, for probing, of a file of any size. Bytes live in the arena. */
int oc_file_peek(const char *path, size_t max, struct oc_arena *a, const char **data, size_t *n,
                 struct oc_err *err);

#endif
