/* Events of the Trace Event Format (chrome://tracing), one after the other, from a stream: a bare array or an
 * object with "traceEvents"; the file may end anywhere. Knows no producer: an importer says which arguments
 * it wants and what they are called.
 *
 *   {"ph": "X", "cat": "...", "name": "...", "pid": 1, "tid": 2, "ts": us, "dur": us, "args": {...}}
 *   ph: X complete, B and E begin and end, i instant, M metadata, s and f flows
 *
 * Values are views of the text as written, quotes and escapes included, valid until the next call. Events of
 * one producer are written alike: the reader remembers how, and where the next one fits takes it in one pass.
 */
#ifndef OC_CHROME_READER_H
#define OC_CHROME_READER_H

#include "base/buf.h"
#include "base/json_read.h"
#include "profile/profile.h"

enum oc_chrome_field {
    OC_CH_PH,
    OC_CH_CAT,
    OC_CH_NAME,
    OC_CH_PID,
    OC_CH_TID,
    OC_CH_TS,
    OC_CH_DUR,
    OC_CH_ID,
    OC_CH_ARG,       /* the importer's own fields from here on */
    OC_CH_COUNT = 24 /* at most */
};

struct oc_chrome_key {
    const char *key; /* of a member of "args" */
    uint8_t field;   /* OC_CH_ARG + n; several keys may lead to one field */
};

struct oc_chrome_layouts;

/* What an importer may keep with a way of writing events, OC_NONE at first: it stays for events that are
 * written alike ("ph" and "cat" are the same then), or only while their arrays and objects are the same too.
 */
enum oc_chrome_note { OC_CH_NOTE_CATEGORY, OC_CH_NOTE_ARRAYS, OC_CH_NOTES };

struct oc_chrome {
    struct oc_json *j;
    const struct oc_chrome_key *key;
    size_t n_key;
    struct oc_str f[OC_CH_COUNT]; /* n == 0: the event has no such member */
    uint32_t *note[OC_CH_NOTES];  /* of the event read last; NULL: none */
    uint64_t where;               /* offset of the event */
    size_t number;                /* complete events read */

    /* Called for every other member of the outer object, to read (return true) or not to touch (false). */
    bool (*other)(void *ctx, struct oc_str key, struct oc_json *j);
    void *ctx;

    /* inside */
    bool object, in_array, done, saw_events;
    struct oc_chrome_layouts *layouts;
    struct oc_buf text; /* decoded strings */
    size_t broken, bad, first_bad_number;
    uint64_t first_broken, first_bad, last_offset;
    char broken_why[160], bad_why[64];
};

/* `key` must outlive the reader. Fails when the file is neither an array nor an object. */
int oc_chrome_open(struct oc_chrome *r, struct oc_stream *s, const struct oc_chrome_key *key, size_t n_key,
                   struct oc_err *err);
void oc_chrome_close(struct oc_chrome *r);

/* The next event with all its members. False: no more (oc_chrome_findings tells why). */
bool oc_chrome_next(struct oc_chrome *r);

/* Leaves the event read last out and remembers why, for the findings. */
void oc_chrome_bad(struct oc_chrome *r, const char *why);

/* Broken events, bad events, a file that ends early: to the profile's findings. */
void oc_chrome_findings(struct oc_chrome *r, const struct oc_stream *s, struct oc_profile *p);

/* Values of the event read last. */
static inline bool oc_chrome_has(const struct oc_chrome *r, unsigned f)
{
    return r->f[f].n != 0;
}
static inline struct oc_str oc_chrome_unquoted(struct oc_str v)
{
    return v.n >= 2 && v.s[0] == '"' ? (struct oc_str){v.s + 1, v.n - 2} : v;
}
/* A string without escapes. */
static inline bool oc_chrome_is(const struct oc_chrome *r, unsigned f, const char *text)
{
    return oc_str_eq(oc_chrome_unquoted(r->f[f]), text);
}
struct oc_str oc_chrome_text(struct oc_chrome *r,
                             unsigned f); /* decoded; numbers as written; until the next */
bool oc_chrome_i64(const struct oc_chrome *r, unsigned f, int64_t *out);  /* also "123" and 123.0 */
bool oc_chrome_u64(const struct oc_chrome *r, unsigned f, uint64_t *out); /* also "0x1f" */
/* Microseconds as written to whole nanoseconds (absolute times need all digits), also "1.5 us"; and to
 * nanoseconds. */
bool oc_chrome_ts_ns(const struct oc_chrome *r, unsigned f, int64_t *out);
bool oc_chrome_dur_ns(const struct oc_chrome *r, unsigned f, double *out);

#endif
