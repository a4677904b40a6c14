/* Shared by the loader's files: errors with an offset, interned text, new graphs and values. */
#include <stdarg.h>
#include <string.h>

#include "base/str.h"
#include "model/loader.h"

uint64_t oc_load_offset(const struct oc_loader *l, const uint8_t *at)
{
    return at >= l->base ? (uint64_t)(at - l->base) : 0;
}

int oc_load_fail(struct oc_loader *l, enum oc_code code, const uint8_t *at, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    uint64_t offset = at ? oc_load_offset(l, at) : 0;
    if (at)
        oc_fail(l->err, code, "%s (offset %llu)", text, (unsigned long long)offset);
    else
        oc_fail(l->err, code, "%s", text);
    return oc_err_at(l->err, l->m->path, 0, offset);
}

int oc_load_over(struct oc_loader *l, enum oc_cap which, uint64_t found, const uint8_t *at)
{
    char text[OC_CAP_TEXT];
    return oc_load_fail(l, OC_ELIMIT, at, "%s", oc_cap_text(l->caps, which, found, text));
}

const char *oc_load_keep(struct oc_loader *l, const void *text, size_t n)
{
    enum { TOGETHER = 4096 };
    if (n >= l->names_left) {
        l->names_left = n < TOGETHER ? TOGETHER : n + 1;
        l->names_room = oc_alloc(&l->m->arena, l->names_left);
    }
    char *kept = l->names_room;
    memcpy(kept, text, n);
    kept[n] = '\0';
    l->names_room += n + 1;
    l->names_left -= n + 1;
    return kept;
}

void oc_load_drop(struct oc_loader *l, size_t n)
{
    l->names_room -= n + 1;
    l->names_left += n + 1;
}

const char *oc_load_text(struct oc_loader *l, const char *text)
{
    size_t n = strlen(text);
    if (!n)
        return "";
    size_t first = (unsigned char)text[0], last = (unsigned char)text[n - 1];
    struct oc_recent_text *r = &l->recent[(n + 3 * first + 5 * last) % OC_COUNT(l->recent)];
    if (r->n != n || !oc_same(r->text, text, n))
        *r = (struct oc_recent_text){.text = oc_intern(&l->m->names, text, n), .n = n};
    return r->text;
}

uint32_t oc_load_new_graph(struct oc_loader *l)
{
    struct oc_model *m = l->m;
    OC_GROW(m->graph, m->n_graph, l->cap_graph);
    m->graph[m->n_graph] = (struct oc_graph){.name = "", .parent_node = OC_NONE, .scope = ""};
    return m->n_graph++;
}

void oc_load_reserve_values(struct oc_loader *l, uint32_t n)
{
    uint32_t need = l->m->n_value + n;
    if (need <= l->cap_value || need < n)
        return;
    l->cap_value = l->cap_value < need / 2 ? need : need + need / 2; /* repeated growth stays linear */
    l->m->value = oc_xrealloc(l->m->value, (size_t)l->cap_value * sizeof(*l->m->value));
}

uint32_t oc_load_new_value(struct oc_loader *l, const char *name, uint32_t graph)
{
    static const struct oc_type not_declared = {.kind = OC_T_NONE};
    struct oc_model *m = l->m;
    OC_GROW(m->value, m->n_value, l->cap_value);
    m->value[m->n_value] =
        (struct oc_value){.name = name, .declared = &not_declared, .producer = OC_NONE, .graph = graph};
    return m->n_value++;
}
