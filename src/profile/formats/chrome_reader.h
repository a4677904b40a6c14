/* Events of the Trace Event Format (chrome://tracing), read in sequence from a stream: a bare array or an
 * object with "traceEvents"; a truncated file is accepted. Independent of the producer: an importer
 * declares which arguments it needs and their keys.
 *
 *   {"ph": "X", "cat": "...", "name": "...", "pid": 1, "tid": 2, "ts": us, "dur": us, "args": {...}}
 *   ph: X complete, B and E begin and end, i instant, M metadata, s and f flows
 *
 * Values are views of the text as written, quotes and escapes included, valid until the next call. A
 * producer uses few event layouts: the reader memoises them and parses a matching event in one
 * pass (chrome_layout.c). */
#ifndef OC_CHROME_READER_H
#define OC_CHROME_READER_H

#include "base/arena.h"
#include "base/json_read.h"
#include "onnxcost_types.h"
#include "profile/core/timeline.h"
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
    OC_CH_ARG,       /* first field owned by the importer */
    OC_CH_COUNT = 24 /* maximum number of fields */
};

struct oc_chrome_key {
    const char *key; /* key of a member of "args" */
    uint8_t field;   /* OC_CH_ARG + n; several keys may map to one field */
};

struct oc_chrome_layouts;

/* What is wrong with a file of events, for the warnings. */
struct oc_event_faults {
    size_t number;        /* of complete events read */
    uint64_t last_offset; /* after the last of them */
    size_t broken, bad;   /* not valid JSON; skipped */
    uint64_t first_broken, first_bad;
    size_t first_bad_number; /* 0: not counted */
    char broken_why[160], bad_why[64];
};
/* Counts the syntax error at the cursor. False: there is none. */
bool oc_faults_broken(struct oc_event_faults *x, struct oc_json *j);
void oc_faults_bad(struct oc_event_faults *x, const char *why, uint64_t where, size_t number);
void oc_faults_warn(const struct oc_event_faults *x, struct oc_json *j, const struct oc_stream *s,
                    struct oc_profile *p);

/* What an importer may cache with an event layout, OC_NONE at first. The note stays valid for all events
 * of that layout ("ph" and "cat" are then equal), or only while their arrays and objects are equal too. */
enum oc_chrome_note { OC_CH_NOTE_CATEGORY, OC_CH_NOTE_ARRAYS, OC_CH_NOTES };

struct oc_chrome {
    struct oc_json *j;
    const struct oc_chrome_key *key;
    size_t n_key;
    struct oc_str f[OC_CH_COUNT]; /* n == 0: the event has no such member */
    uint32_t *note[OC_CH_NOTES];  /* name of the event read last; NULL: none */
    uint64_t where;               /* byte offset of the event */

    /* Called for every other member of the outer object: reads its value and returns true, or leaves it
     * and returns false. */
    bool (*other)(void *ctx, struct oc_str key, struct oc_json *j);
    void *ctx;

    /* inside the outer object */
    bool object, in_array, done, saw_events;
    struct oc_chrome_layouts *layouts;
    struct oc_buf text; /* decoded strings */
    struct oc_event_faults faults;
};

/* `key` must outlive the reader. Fails when the file is neither an array nor an object. */
int oc_chrome_open(struct oc_chrome *r, struct oc_stream *s, const struct oc_chrome_key *key, size_t n_key,
                   struct oc_err *err);
void oc_chrome_close(struct oc_chrome *r);

/* Reads the next event with all its members. False: end of input (oc_faults_warn reports why). */
bool oc_chrome_next(struct oc_chrome *r);

/* Skips the event read last and stores the reason for the warnings. */
void oc_chrome_bad(struct oc_chrome *r, const char *why);

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
                             unsigned f); /* decoded; numbers as text; valid until the next call */
bool oc_chrome_i64(const struct oc_chrome *r, unsigned f, int64_t *out);  /* also "123" and 123.0 */
bool oc_chrome_u64(const struct oc_chrome *r, unsigned f, uint64_t *out); /* also "0x1f" */
/* Microseconds as text to integer nanoseconds (absolute times need all digits), also "1.5 us"; and to
 * double nanoseconds. */
bool oc_chrome_ts_ns(const struct oc_chrome *r, unsigned f, int64_t *out);
bool oc_chrome_dur_ns(const struct oc_chrome *r, unsigned f, double *out);

/* ---- chrome lanes ----------------------------------------------------------------------------------- */

/* Shared by all importers of Chrome traces: threads and streams (their names come as metadata events
 * before or after the events), the event loop, and the warnings. */

struct oc_chrome_thread {
    int64_t pid, tid;
    const char *name; /* allocated in the profile's arena */
};

struct oc_chrome_lanes {
    struct oc_chrome_thread *thread; /* on the heap */
    size_t n, cap;
    struct {
        struct oc_lane lane;
        uint16_t index;
        bool known;
    } last[2]; /* the two most recent lookups: a host lane, a device lane */
    struct oc_chrome_written {
        char text[2][20]; /* "pid" and "tid" as text */
        int64_t process;
        uint8_t n[2];
        uint16_t index;
        bool known;
    } written[2]; /* the same, keyed by the text of the numbers */
};

/* The number in "pid" or "tid": 7, "7", "stream 7", "4242(C++)". Any other text maps to a negative hash.
 * Absent: 0. */
int64_t oc_chrome_id(const struct oc_chrome *r, unsigned field);

/* A metadata event: stores the name of a thread. `name_field` is the argument "name". */
void oc_chrome_note_thread(struct oc_chrome_lanes *l, struct oc_chrome *r, unsigned name_field,
                           struct oc_profile *p);
uint16_t oc_chrome_lane(struct oc_chrome_lanes *l, struct oc_timeline *t, const struct oc_lane *lane);
/* The lane of a process and thread, or of a device and stream, given by the numbers in these two fields; process: of
 * the host that uses the device. */
uint16_t oc_chrome_lane_at(struct oc_chrome_lanes *l, const struct oc_chrome *r, struct oc_timeline *t,
                           int64_t process, bool device, const unsigned field[2]);

/* Events of unsupported categories: their count and the category of the first one. */
struct oc_chrome_left_out {
    size_t n;
    char category[48];
};
void oc_chrome_leave_out(struct oc_chrome_left_out *x, struct oc_str category);

/* Reads all events. Passes complete ones (ph "X") to `take`, which returns an error text or NULL; stores
 * thread names. Stops when the timeline is full. */
void oc_chrome_read(struct oc_chrome *r, struct oc_chrome_lanes *l, unsigned name_field,
                    const struct oc_timeline *t, const char *(*take)(void *ctx), void *ctx);
/* Adds the warnings that all Chrome importers share. x: NULL if every category is known. */
void oc_chrome_describe(struct oc_chrome *r, const struct oc_stream *s, const struct oc_timeline *t,
                        const struct oc_chrome_left_out *x);
/* The end of an importer: converts the timeline to records if rc is 0, and closes the reader. Ownership of
 * the timeline passes to the profile, or it is freed. Returns rc. */
int oc_chrome_finish(struct oc_chrome *r, struct oc_chrome_lanes *l, struct oc_timeline *t, int rc,
                     const struct oc_profile_opts *opts, const struct oc_timeline_rules *rules);

/* ---- chrome layout ------------------------------------------------------------------------------------ */

/* Private to the Chrome reader. Parses one event and memoises its layout: producers repeat their layouts, so
 * the reader stores which parts of the text vary and parses only those. */

struct oc_chrome_layouts *oc_chrome_layouts_new(void);
void oc_chrome_layouts_free(struct oc_chrome_layouts *all);

/* memoisation pays off in this file so far */
bool oc_chrome_layouts_pay(const struct oc_chrome_layouts *all);

/* Parses the event at the start of `ahead` into r->f and r->note if it has a memoised layout. Returns its
 * length, or 0 if no layout matches. */
size_t oc_chrome_take_alike(struct oc_chrome *r, struct oc_str ahead);

/* Number of events parsed by a memoised layout. */
size_t oc_chrome_alike(const struct oc_chrome *r);

/* Parses a whole event, member by member, into r->f and memoises its layout. False: it is not valid JSON. */
bool oc_chrome_take_apart(struct oc_chrome *r, struct oc_str event);

#endif
