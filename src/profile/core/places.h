/* Where the work of a timeline ran, as rows distinguish it: the pairs of a process (a rank) and a device. A recording
 * of one device has one place, and no row names it. Also the kinds of work that no operator owns, and events that an
 * in-order stream cannot have. */
#ifndef OC_PLACES_H
#define OC_PLACES_H

#include "onnxcost_types.h"
#include "profile/core/timeline.h"

/* Types of rows without an operator. */
#define OC_REST_KERNELS       "(kernels without an operator)"
#define OC_REST_COMMUNICATION "(communication)"
#define OC_REST_COPIES        "(copies)"

/* Whether the name is of a collective library, of its kernels or of the operators that call them. */
bool oc_is_collective(const char *name);

/* The type of a kernel that no operator launched. */
static inline const char *oc_rest_of_kernel(const char *name)
{
    return oc_is_collective(name) ? OC_REST_COMMUNICATION : OC_REST_KERNELS;
}

enum { OC_NO_PLACE = UINT16_MAX };

struct oc_places {
    const char **name; /* heap array of texts in the arena: "device 1", "process 10001, device 1" */
    uint16_t *of_lane, *of_event; /* heap arrays; OC_NO_PLACE: none */
    uint32_t n;
};

/* After the timeline is linked and its records are marked. NULL: there is one place at most. */
struct oc_places *oc_places_find(const struct oc_profile *p, const struct oc_timeline *t, struct oc_arena *a);
void oc_places_free(struct oc_places *p); /* NULL is accepted */

static inline uint16_t oc_place_of(const struct oc_places *p, const struct oc_timeline *t, size_t i)
{
    uint16_t lane = p ? p->of_lane[t->event[i].lane] : OC_NO_PLACE;
    return p && lane == OC_NO_PLACE ? p->of_event[i] : lane;
}

/* Says how the time of records is split among their places; forgets the only one. For importers of tables, whose rows
 * name a device, after the records are made. */
void oc_places_report(struct oc_profile *p);

/* A stream runs its work one after another. Work that lasts until after later, whole work of its stream, which other
 * calls launched, has a wrong end: it is cut to the start of the next one, and named. */
void oc_timeline_cut_overlaps(struct oc_timeline *t);

#endif
