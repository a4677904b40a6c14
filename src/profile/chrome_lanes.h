/* Shared by all importers of Chrome traces: threads and streams (their names come as metadata events
 * before or after the events), the event loop, and the warnings. */
#ifndef OC_CHROME_LANES_H
#define OC_CHROME_LANES_H

#include "profile/chrome_reader.h"
#include "profile/timeline.h"
#include "onnxcost.h"

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
/* The lane of a process and thread, or of a device and stream, given by the numbers in these two fields. */
uint16_t oc_chrome_lane_at(struct oc_chrome_lanes *l, const struct oc_chrome *r, struct oc_timeline *t,
                           bool device, const unsigned field[2]);

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
void oc_chrome_tell(struct oc_chrome *r, const struct oc_stream *s, const struct oc_timeline *t,
                    const struct oc_chrome_left_out *x);
/* The end of an importer: converts the timeline to records if rc is 0, and closes the reader. Ownership of
 * the timeline passes to the profile, or it is freed. Returns rc. */
int oc_chrome_finish(struct oc_chrome *r, struct oc_chrome_lanes *l, struct oc_timeline *t, int rc,
                     const struct oc_profile_opts *opts, const struct oc_timeline_rules *rules);

#endif
