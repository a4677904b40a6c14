/* qsort and qsort_r for platforms whose C library lacks the second, and whose first is not stable. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

typedef int compare_fn(const void *a, const void *b, void *arg);

struct sort {
    char *item, *spare;
    size_t width;
    compare_fn *compare;
    void *arg;
};

/* Top-down merge sort: stable, as glibc's, so that equal elements have the same order on all platforms. */
static void merge_sort(const struct sort *s, size_t from, size_t n)
{
    size_t half = n / 2, w = s->width;
    if (n < 2)
        return;
    merge_sort(s, from, half);
    merge_sort(s, from + half, n - half);
    char *a = s->item + from * w, *b = a + half * w, *a_end = b, *b_end = a + n * w, *to = s->spare;
    while (a < a_end && b < b_end) {
        char **first = s->compare(a, b, s->arg) <= 0 ? &a : &b;
        memcpy(to, *first, w);
        *first += w;
        to += w;
    }
    memcpy(to, a, (size_t)(a_end - a)); /* what is left of b is in place */
    to += a_end - a;
    memcpy(s->item + from * w, s->spare, (size_t)(to - s->spare));
}

void qsort_r(void *base, size_t n, size_t width, compare_fn *compare, void *arg)
{
    struct sort s = {base, oc_xmalloc(n * width), width, compare, arg};
    merge_sort(&s, 0, n);
    free(s.spare);
}

static int compare_two(const void *a, const void *b, void *arg)
{
    return (*(int (**)(const void *, const void *))arg)(a, b);
}

void qsort(void *base, size_t n, size_t width, int (*compare)(const void *, const void *))
{
    qsort_r(base, n, width, compare_two, &compare);
}
