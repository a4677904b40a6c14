#include "estimate/rank_phases.h"

#include <string.h>

#include "estimate/rank_devices.h"

struct search {
    oc_phase_fn what;
    void *ctx;
    struct oc_rank_phase phase[OC_MOST_PHASES];
    size_t n;
};

static void begin(struct search *s, int64_t from, int what)
{
    if (s->n < OC_MOST_PHASES)
        s->phase[s->n++] = (struct oc_rank_phase){from, what};
}

/* Bisects all changes between lo, where `is` applies, and hi, where `end` does. */
static void find_changes(struct search *s, int64_t lo, int is, int64_t hi, int end)
{
    while (is != end && s->n < OC_MOST_PHASES) {
        int64_t a = lo, b = hi;
        int at_b = end;
        while (b - a > 1) {
            int64_t middle = a + (b - a) / 2;
            int at = s->what(s->ctx, middle);
            if (at == is) {
                a = middle;
            } else {
                b = middle;
                at_b = at;
            }
        }
        begin(s, b, at_b);
        lo = b;
        is = at_b;
    }
}

void oc_find_phases(oc_phase_fn what, void *ctx, int64_t most, struct oc_arena *arena,
                    struct oc_rank_phases *out)
{
    struct search s = {.what = what, .ctx = ctx};
    int64_t before = 1;
    int is = what(ctx, 1);
    begin(&s, 1, is);
    while (before < most) {
        int64_t next = before <= most / 2 ? before * 2 : most;
        int at = what(ctx, next);
        find_changes(&s, before, is, next, at);
        before = next;
        is = at;
    }
    struct oc_rank_phase *kept = OC_NEW_ARRAY(arena, s.n, struct oc_rank_phase);
    memcpy(kept, s.phase, s.n * sizeof(*kept));
    *out = (struct oc_rank_phases){kept, s.n};
}

const struct oc_rank_phase *oc_rank_phase_at(const struct oc_rank_phases *p, int64_t batch)
{
    const struct oc_rank_phase *found = NULL;
    for (size_t i = 0; i < p->n && p->item[i].from <= batch; i++)
        found = &p->item[i];
    return found;
}
