/* Speed of the memory planner on generated buffers of several kinds. Prints a table: milliseconds, plan size /
 * peak live bytes. */
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

int main(void)
{
    for (uint32_t n = 1000; n <= 100000; n *= 10)
        for (enum kind k = SHORT; k <= STACKED; k++)
            plan(k, n);
    return 0;
}
