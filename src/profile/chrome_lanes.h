/* Threads and streams of chrome traces: their names come as metadata events, before or after the events. */
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
    struct oc_lane last; /* asked for last, and its index */
    uint16_t last_index;
    bool has_last;
};

/* A number as it stands in "pid" or "tid": 7, "7", "stream 7", "4242(C++)"; another text: a number made of
 * it, below zero. Absent: 0. */
int64_t oc_chrome_id(const struct oc_chrome *r, unsigned field);

/* A metadata event: keeps the name of a thread. `name_field` is the argument "name". */
void oc_chrome_note_thread(struct oc_chrome_lanes *l, struct oc_chrome *r, unsigned name_field,
                           struct oc_profile *p);
uint16_t oc_chrome_lane(struct oc_chrome_lanes *l, struct oc_timeline *t, const struct oc_lane *lane);
/* Gives the names to the lanes; before oc_timeline_finish. */
void oc_chrome_name_lanes(const struct oc_chrome_lanes *l, struct oc_timeline *t);
void oc_chrome_lanes_free(struct oc_chrome_lanes *l);

#endif
