#include "hw/hwdb.h"

#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

#define MAX_NAME 64 /* longer names are compared by their first part */
#define MAX_NEAR 5

char oc_hw_fold_char(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (char)(c + 32);
    return (char)(c == '_' || c == ' ' ? '-' : c);
}

char *oc_hw_name_fold(struct oc_arena *arena, const char *name)
{
    char *s = oc_strdup(arena, name);
    for (char *p = s; *p; p++)
        *p = oc_hw_fold_char(*p);
    return s;
}

static size_t min3(size_t a, size_t b, size_t c)
{
    size_t m = a < b ? a : b;
    return m < c ? m : c;
}

/* Levenshtein distance. */
static size_t distance(const char *a, const char *b)
{
    size_t n = strnlen(a, MAX_NAME), m = strnlen(b, MAX_NAME), row[MAX_NAME + 1];
    for (size_t j = 0; j <= m; j++)
        row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t up = row[j];
            row[j] = min3(up + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
            diagonal = up;
        }
    }
    return row[m];
}

/* 0 is nearest; SIZE_MAX: not near. A part of a name is near, however much is missing. */
static size_t score(const char *wanted, const char *name)
{
    size_t n = strlen(wanted), d = distance(wanted, name);
    if (n >= 2 && strstr(name, wanted))
        return d < 3 ? d : 3;
    return d <= (n < 6 ? 2 : n / 3) ? d : SIZE_MAX;
}

static size_t device_score(struct oc_arena *scratch, const char *wanted, const struct oc_device *d)
{
    size_t best = score(wanted, oc_hw_name_fold(scratch, d->info.id));
    for (size_t i = 0; i < d->info.n_alias; i++) {
        size_t s = score(wanted, oc_hw_name_fold(scratch, d->info.alias[i]));
        best = s < best ? s : best;
    }
    return best;
}

struct candidate {
    size_t score;
    const char *id;
};

static int by_score(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->score != y->score)
        return x->score < y->score ? -1 : 1;
    return strcmp(x->id, y->id);
}

const char *oc_hw_near_names(struct oc_arena *arena, const char *name, struct oc_device *const *device,
                             size_t n_device)
{
    struct oc_arena scratch = {0};
    const char *wanted = oc_hw_name_fold(&scratch, name);
    struct candidate *list = OC_NEW_ARRAY(&scratch, n_device, struct candidate);
    for (size_t i = 0; i < n_device; i++)
        list[i] = (struct candidate){device_score(&scratch, wanted, device[i]), device[i]->info.id};
    qsort(list, n_device, sizeof(*list), by_score);
    struct oc_buf text = {0};
    for (size_t i = 0; i < n_device && i < MAX_NEAR && list[i].score != SIZE_MAX; i++)
        oc_buf_printf(&text, "%s%.60s", i ? ", " : "; near names: ", list[i].id);
    const char *out = oc_strdup(arena, text.data ? text.data : "");
    oc_buf_free(&text);
    oc_arena_free(&scratch);
    return out;
}
