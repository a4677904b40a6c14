/* Derives precision, unit and type of a record from the kernels that take most of its time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "profile/kernel_names.h"
#include "profile/layer_type.h"

struct share {
    uint32_t rec;
    const char *kernel, *precision, *unit, *op_class;
    double ns;
};

static int by_record(const void *a, const void *b)
{
    const struct share *x = a, *y = b;
    if (x->rec != y->rec)
        return x->rec < y->rec ? -1 : 1;
    int order = strcmp(x->precision, y->precision);
    return order ? order : strcmp(x->unit, y->unit);
}

/* Shares of one record: the value with more than half of the time. */
static void set_record_facts(struct oc_prof_rec *rec, const struct share *share, size_t n)
{
    double whole = 0, same = 0;
    for (size_t i = 0; i < n; i++)
        whole += share[i].ns;
    for (size_t i = 0; i < n; i++) {
        same = i && by_record(&share[i - 1], &share[i]) == 0 ? same + share[i].ns : share[i].ns;
        if (2 * same > whole) {
            rec->precision = share[i].precision;
            rec->unit = share[i].unit;
            return;
        }
    }
}

static bool kernel_shares_is_empty(const char *s)
{
    return !s || !*s;
}

/* The class with more than half of the time: majority vote, then a check of the winner. "": none. */
static const char *kernel_shares_main_class(const struct share *share, size_t n)
{
    const char *best = "";
    double lead = 0, whole = 0, same = 0;
    for (size_t i = 0; i < n; i++) {
        bool equal = strcmp(share[i].op_class, best) == 0;
        if (!equal && share[i].ns > lead)
            best = share[i].op_class;
        lead = equal ? lead + share[i].ns : fabs(lead - share[i].ns);
        whole += share[i].ns;
    }
    for (size_t i = 0; i < n; i++)
        same += strcmp(share[i].op_class, best) == 0 ? share[i].ns : 0;
    return 2 * same > whole ? best : "";
}

/* A record without a type: that in the name of its range, which TensorRT names after the layer, otherwise the
 * class of its kernels. */
static void set_record_type(struct oc_profile *p, struct oc_prof_rec *rec, const struct share *share,
                            size_t n)
{
    bool is_kernel = false;
    for (size_t i = 0; i < n; i++)
        is_kernel = is_kernel || strcmp(share[i].kernel, rec->name) == 0;
    struct oc_str named = is_kernel ? (struct oc_str){"", 0}
                                    : trt_layer_type(&(struct trt_typed){
                                          .name = rec->name, .type = "", .param_type = "", .pooling = ""});
    rec->op_type = named.n ? oc_intern(&p->names, named.s, named.n) : kernel_shares_main_class(share, n);
    rec->type_by_name = *rec->op_type != '\0';
}

/* One kernel works for many records: facts are memoised per name. */
struct known {
    struct oc_arena arena;
    struct oc_map index_of; /* indexed by name */
    struct oc_kernel_facts *facts;
    uint32_t n, cap;
};

static const struct oc_kernel_facts *facts_of(struct known *known, const struct oc_kernel_names *own,
                                              const char *name)
{
    uint32_t index = known->n;
    if (oc_map_add(&known->index_of, name, strlen(name), &index, NULL)) {
        OC_GROW(known->facts, known->n, known->cap);
        oc_kernel_facts(own, name, &known->facts[known->n++]);
    }
    return &known->facts[index];
}

static void set_kernel_facts(struct oc_prof_kernel *k, const struct oc_kernel_facts *f)
{
    if (kernel_shares_is_empty(k->precision) && kernel_shares_is_empty(k->unit)) {
        k->precision = f->precision;
        k->unit = f->unit;
    }
    if (kernel_shares_is_empty(k->library))
        k->library = f->library;
}

void oc_profile_tell_kernels(struct oc_profile *p, const struct oc_kernel_names *own)
{
    struct share *share = oc_xmalloc((p->n_kernel + (size_t)1) * sizeof(*share));
    struct known known = {.index_of.arena = &known.arena};
    size_t n = 0;
    for (uint32_t i = 0; i < p->n_kernel; i++) {
        struct oc_prof_kernel *k = &p->kernel[i];
        set_kernel_facts(k, facts_of(&known, own, k->name));
        if (k->rec < p->n_rec && k->total_ns > 0)
            share[n++] = (struct share){
                .rec = k->rec,
                .kernel = k->name,
                .precision = k->precision,
                .unit = k->unit,
                .op_class = facts_of(&known, own, k->name)->op_class,
                .ns = k->total_ns,
            };
    }
    if (n)
        qsort(share, n, sizeof(*share), by_record);
    for (size_t i = 0, end; i < n; i = end) {
        struct oc_prof_rec *rec = &p->rec[share[i].rec];
        for (end = i + 1; end < n && share[end].rec == share[i].rec;)
            end++;
        if (kernel_shares_is_empty(rec->precision) && kernel_shares_is_empty(rec->unit))
            set_record_facts(rec, share + i, end - i);
        if (kernel_shares_is_empty(rec->op_type) && !rec->bucket)
            set_record_type(p, rec, share + i, end - i);
    }
    free(share);
    free(known.facts);
    oc_map_free(&known.index_of);
    oc_arena_free(&known.arena);
}
