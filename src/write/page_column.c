#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "write/out_html.h"

#define EXACT_IN_SCRIPTS ((uint64_t)1 << 53)

void oc_page_u64(struct oc_json_out *w, uint64_t v)
{
    if (v <= EXACT_IN_SCRIPTS) {
        oc_jw_u64(w, v);
        return;
    }
    char text[24];
    snprintf(text, sizeof(text), "%llu", (unsigned long long)v);
    oc_jw_string(w, text);
}

void oc_page_key_u64(struct oc_json_out *w, const char *key, bool known, uint64_t v)
{
    oc_jw_key(w, key);
    if (known)
        oc_page_u64(w, v);
    else
        oc_jw_null(w);
}

void oc_page_number(struct oc_json_out *w, double v, int digits)
{
    if (isfinite(v) && v == floor(v) && v >= 0 && v <= (double)EXACT_IN_SCRIPTS) {
        oc_jw_u64(w, (uint64_t)v);
        return;
    }
    double scale = pow(10, digits - 1 - floor(log10(fabs(v))));
    double rounded = round(v * scale) / scale;
    oc_jw_double(w, isfinite(rounded) ? rounded : v);
}

void oc_page_numbers(struct oc_json_out *w, const double *v, size_t n)
{
    oc_jw_begin_array(w);
    for (size_t i = 0; i < n; i++)
        oc_page_number(w, v[i], 10);
    oc_jw_end_array(w);
}

void oc_page_steps(struct oc_json_out *w, const char *key, const int64_t *v, size_t n)
{
    oc_key_array(w, key);
    for (size_t i = 0; i < n; i++)
        oc_jw_i64(w, v[i] - (i ? v[i - 1] : 0));
    oc_jw_end_array(w);
}

/* ---- texts ------------------------------------------------------------------------------------------ */

static bool all_the_same(const char *const *text, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        if (text[i] != text[0] && (!text[i] || !text[0] || strcmp(text[i], text[0])))
            return false;
    return n > 1;
}

/* place[i]: index of text i in the list of distinct texts, or -1. Returns the size of the list. */
static uint32_t number_texts(const char *const *text, uint32_t n, struct oc_arena *arena, int32_t *place,
                             const char ***distinct)
{
    struct oc_map seen = {.arena = arena};
    const char **list = NULL;
    uint32_t count = 0, cap = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = count;
        place[i] = -1;
        if (!text[i])
            continue;
        if (oc_map_add(&seen, text[i], strlen(text[i]), &at, NULL)) {
            OC_GROW(list, count, cap);
            list[count++] = text[i];
        }
        place[i] = (int32_t)at;
    }
    oc_map_free(&seen);
    *distinct = list;
    return count;
}

static void page_column_list(struct oc_json_out *w, const char *key, const char *const *text, uint32_t n)
{
    oc_key_array(w, key);
    for (uint32_t i = 0; i < n; i++)
        oc_jw_string(w, text[i]);
    oc_jw_end_array(w);
}

void oc_page_texts(struct oc_json_out *w, const char *const *text, uint32_t n, struct oc_arena *arena)
{
    if (all_the_same(text, n)) {
        oc_key_text(w, "same", text[0]);
        return;
    }
    int32_t *place = OC_NEW_ARRAY(arena, n, int32_t);
    const char **distinct;
    uint32_t count = number_texts(text, n, arena, place, &distinct);
    if (count > n / 2) {
        page_column_list(w, "values", text, n);
    } else {
        page_column_list(w, "dict", distinct, count);
        oc_key_array(w, "index");
        for (uint32_t i = 0; i < n; i++)
            oc_jw_i64(w, place[i]);
        oc_jw_end_array(w);
    }
    free(distinct);
}

void oc_page_key_texts(struct oc_json_out *w, const char *key, const char *const *text, uint32_t n,
                       struct oc_arena *arena)
{
    oc_key_object(w, key);
    oc_page_texts(w, text, n, arena);
    oc_jw_end_object(w);
}
