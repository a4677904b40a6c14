/* Speed of the memory planner and of the search for orders, on generated buffers of several kinds. Prints a
 * table: milliseconds, plan size / peak live bytes; for orders the peak compared with that of the file's
 * order. */
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "memory/memory_plan.h"

static uint32_t below(uint64_t *random, uint32_t n)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return (uint32_t)(*random >> 33) % n;
}

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

enum kind { SHORT, SKIPS, TRAINING, STACKED };
static const char *const names[] = {"short live ranges", "one in ten long live ranges",
                                    "saved for the backward pass", "most live at once"};

static struct oc_plan_box box_of(enum kind kind, uint32_t i, uint32_t n, uint64_t *random)
{
    uint32_t life = 1 + below(random, 4), first = i;
    if (kind == SKIPS && below(random, 10) == 0)
        life = below(random, n / 4 + 1);
    if (kind == TRAINING)
        life = i < n / 2 ? 2 * (n / 2 - i) : 1;
    if (kind == STACKED) {
        first = below(random, n / 8 + 1);
        life = below(random, n / 8 + 1);
    }
    return (struct oc_plan_box){(1 + below(random, 64)) * ((uint64_t)1 << below(random, 12)), first,
                                first + life};
}

static void plan(enum kind kind, uint32_t n)
{
    struct oc_plan_box *box = oc_xmalloc(n * sizeof(*box));
    uint64_t *offset = oc_xmalloc(n * sizeof(*offset)), random = 88172645463325252u;
    struct oc_offset_plan p;
    struct oc_err err;
    for (uint32_t i = 0; i < n; i++)
        box[i] = box_of(kind, i, n, &random);
    double start = now_ms();
    int rc = oc_offset_plan_make(box, n, NULL, offset, &p, &err);
    double made = now_ms();
    if (rc || oc_plan_check(box, offset, n, 0, p.size, &err)) {
        printf("%s\n", err.msg);
        exit(1);
    }
    printf("plan   %8" PRIu32 "  %-28s %9.1f ms  check %6.1f ms  %7.4f of live bytes  %s\n", n, names[kind],
           made - start, now_ms() - made, (double)p.size / (double)p.lower, p.method);
    free(box);
    free(offset);
}

/* Each step reads one or two of the last `reach` buffers and writes one. */
static void reorder(uint32_t n, uint32_t reach)
{
    struct oc_arena arena = {0};
    uint32_t *touch_at = OC_NEW_ARRAY(&arena, n + 1, uint32_t),
             *needs_at = OC_NEW_ARRAY(&arena, n + 1, uint32_t),
             *touch = OC_NEW_ARRAY(&arena, n * 3, uint32_t), *needs = OC_NEW_ARRAY(&arena, n * 2, uint32_t),
             *order = OC_NEW_ARRAY(&arena, n, uint32_t);
    uint64_t *bytes = OC_NEW_ARRAY(&arena, n, uint64_t), random = 4711;
    bool *never = OC_NEW_ARRAY(&arena, n, bool);
    for (uint32_t s = 0; s < n; s++) {
        uint32_t t = touch_at[s], k = needs_at[s], back = s < reach ? s : reach;
        for (uint32_t i = 1 + below(&random, 2); i && s; i--) {
            uint32_t b = s - 1 - below(&random, back);
            if (k > needs_at[s] && needs[k - 1] == b)
                continue;
            touch[t++] = needs[k++] = b;
        }
        touch[t++] = s;
        bytes[s] = (1 + below(&random, 64)) * ((uint64_t)1 << below(&random, 8));
        touch_at[s + 1] = t;
        needs_at[s + 1] = k;
    }
    struct oc_order_graph g = {.n_step = n,
                               .n_buffer = n,
                               .touch_at = touch_at,
                               .touch = touch,
                               .needs_at = needs_at,
                               .needs = needs,
                               .bytes = bytes,
                               .input = never,
                               .output = never,
                               .inner = OC_NEW_ARRAY(&arena, n, uint64_t)};
    struct oc_reorder r;
    oc_order_link(&arena, &g);
    double start = now_ms();
    oc_reorder_make(&g, 0, order, &r);
    printf("order  %8" PRIu32 "  reads from the last %-8" PRIu32
           " %9.1f ms  %5.1f %% less  lower bound %5.1f %% less  %s\n",
           n, reach, now_ms() - start, 100 * (1 - (double)r.after / (double)r.before),
           100 * (1 - (double)r.lower / (double)r.before), r.lower == r.after ? "proven" : "heuristic");
    oc_arena_free(&arena);
}

int main(void)
{
    for (uint32_t n = 1000; n <= 100000; n *= 10)
        for (enum kind k = SHORT; k <= STACKED; k++)
            plan(k, n);
    for (uint32_t n = 100; n <= 100000; n *= 10)
        for (uint32_t reach = 4; reach <= 64; reach *= 4)
            reorder(n, reach);
    return 0;
}
