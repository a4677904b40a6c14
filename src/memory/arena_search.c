/* Local search for better orders: boxes that reach the top are placed earlier. */
#include <stdlib.h>
#include <string.h>

#include "memory/arena_fit.h"

#define PATIENCE 200 /* moves without improvement before a perturbation */

struct search {
    struct oc_fit *f;
    uint32_t *order; /* the current order and its placement */
    uint64_t *offset;
    uint64_t size;
    uint64_t random;
};

static uint32_t random_below(struct search *s, uint32_t n)
{
    s->random ^= s->random << 13;
    s->random ^= s->random >> 7;
    s->random ^= s->random << 17;
    return (uint32_t)(s->random >> 33) % n;
}

/* Position in the order of a random box that reaches the top. */
static uint32_t pick_top(struct search *s)
{
    uint32_t seen = 0, found = 0;
    for (uint32_t k = 0; k < s->f->n; k++) {
        uint32_t i = s->order[k];
        if (s->offset[i] + s->f->box[i].bytes == s->size && random_below(s, ++seen) == 0)
            found = k;
    }
    return found;
}

static void move_earlier(uint32_t *order, uint32_t from, uint32_t to)
{
    uint32_t i = order[from];
    memmove(order + to + 1, order + to, (from - to) * sizeof(*order));
    order[to] = i;
}

static void perturb_order(struct search *s)
{
    struct oc_fit *f = s->f;
    memcpy(s->order, f->best_order, f->n * sizeof(*s->order));
    for (uint32_t k = 0; k < 3; k++) {
        uint32_t a = random_below(s, f->n), b = random_below(s, f->n);
        move_earlier(s->order, a > b ? a : b, a > b ? b : a);
    }
    memcpy(f->order, s->order, f->n * sizeof(*s->order));
    s->size = oc_fit_order(f, false, UINT64_MAX, "search");
    memcpy(s->offset, f->offset, f->n * sizeof(*s->offset));
}

/* One move; true if the size decreased. */
static bool change(struct search *s)
{
    struct oc_fit *f = s->f;
    uint32_t from = pick_top(s), to = from ? random_below(s, from) : 0;
    memcpy(f->order, s->order, f->n * sizeof(*s->order));
    move_earlier(f->order, from, to);
    uint64_t size = oc_fit_order(f, false, s->size, "search");
    if (size > s->size)
        return false;
    bool less = size < s->size;
    s->size = size;
    memcpy(s->order, f->order, f->n * sizeof(*s->order));
    memcpy(s->offset, f->offset, f->n * sizeof(*s->offset));
    return less;
}

void oc_fit_search(struct oc_fit *f)
{
    if (!f->start || f->n < 2)
        return;
    struct search s = {.f = f,
                       .order = oc_xmalloc(f->n * sizeof(*s.order)),
                       .offset = oc_xmalloc(f->n * sizeof(*s.offset)),
                       .random = 88172645463325252u};
    memcpy(f->order, f->best_order, f->n * sizeof(*f->order));
    memcpy(s.order, f->best_order, f->n * sizeof(*f->order));
    s.size = oc_fit_order(f, false, UINT64_MAX, "search");
    memcpy(s.offset, f->offset, f->n * sizeof(*f->offset));
    for (uint32_t idle = 0; f->work && f->best > f->target; idle++) {
        if (change(&s))
            idle = 0;
        if (idle == PATIENCE) {
            perturb_order(&s);
            idle = 0;
        }
        oc_fit_spend(f, f->n);
    }
    free(s.order);
    free(s.offset);
}
