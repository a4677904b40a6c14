/* What importers of chrome traces share: threads and streams, whose names come as metadata events before or
 * after the events; the loop over the events; what they tell. */
#ifndef OC_CHROME_LANES_H
#define OC_CHROME_LANES_H

#include "profile/chrome_reader.h"
#include "profile/timeline.h"

struct oc_chrome_thread {
    int64_t pid, tid;
    const char *name; /* arena of the profile */
};

struct oc_chrome_lanes {
    struct oc_chrome_thread *thread; /* heap */
    size_t n, cap;
    struct {
        struct oc_lane lane;
        uint16_t index;
        bool known;
    } last[2]; /* asked for last: of the host, of a device */
    struct oc_chrome_written {
        char text[2][20]; /* its numbers as they were written */
        uint8_t n[2];
        uint16_t index;
        bool known;
    } written[2]; /* likewise */
};

/* A number as it stands in "pid" or "tid": 7, "7", "stream 7", "4242(C++)"; another text: a number made of
 * it, below zero. Absent: 0. */
int64_t oc_chrome_id(const struct oc_chrome *r, unsigned field);

/* A metadata event: keeps the name of a thread. `name_field` is the argument "name". */
void oc_chrome_note_thread(struct oc_chrome_lanes *l, struct oc_chrome *r, unsigned name_field,
                           struct oc_profile *p);
uint16_t oc_chrome_lane(struct oc_chrome_lanes *l, struct oc_timeline *t, const struct oc_lane *lane);
/* The lane of a process and a thread, or of a device and a stream, whose numbers stand in these fields. */
uint16_t oc_chrome_lane_at(struct oc_chrome_lanes *l, const struct oc_chrome *r, struct oc_timeline *t,
                           bool device, const unsigned field[2]);
/* Gives the names to the lanes; before oc_timeline_finish. */
void oc_chrome_name_lanes(const struct oc_chrome_lanes *l, struct oc_timeline *t);

/* Events of categories that the importer does not know: how many, and the first one's. */
struct oc_chrome_left_out {
    size_t n;
    char category[48];
};
void oc_chrome_leave_out(struct oc_chrome_left_out *x, struct oc_str category);

/* Reads all events: complete ones (ph "X") go to `take`, which returns what is wrong with one or NULL; names
 * of threads are kept. Stops when the timeline is full. */
void oc_chrome_read(struct oc_chrome *r, struct oc_chrome_lanes *l, unsigned name_field,
                    const struct oc_timeline *t, const char *(*take)(void *ctx), void *ctx);
/* The findings that all such importers share. x: NULL if every category is known. */
void oc_chrome_tell(struct oc_chrome *r, const struct oc_stream *s, const struct oc_timeline *t,
                    const struct oc_chrome_left_out *x);
/* From the timeline to records; the timeline is the profile's afterwards, or freed. */
void oc_chrome_finish(const struct oc_chrome_lanes *l, struct oc_timeline *t,
                      const struct oc_profile_opts *opts, const struct oc_timeline_rules *rules);
void oc_chrome_lanes_free(struct oc_chrome_lanes *l);

#endif
