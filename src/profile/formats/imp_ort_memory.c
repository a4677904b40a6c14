/* ONNX Runtime's memory statistics of nodes (session.collect_node_memory_stats_to_file): bytes, no times,
 * rows in any order. Header: #name,input_sizes,initializers_sizes,total_dynamic_sizes,total_temp_allocations;
 * the name is that of the node, '_' and a decimal hash. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/formats/ort_memory.h"
#include "profile/core/rec_list.h"

enum { NAME, INPUTS, INITIALIZERS, DYNAMIC, TEMP, N_COLUMN };
static const char *const column_name[N_COLUMN] = {"#name", "input_sizes", "initializers_sizes",
                                                  "total_dynamic_sizes", "total_temp_allocations"};

struct reading {
    struct oc_csv *c;
    struct oc_profile *p;
    struct oc_rec_list list;
    uint64_t *temp;
    size_t cap_temp;
    size_t column[N_COLUMN];
};

static bool ort_memory_is_header(void *ctx, const struct oc_str *f, size_t n)
{
    (void)ctx;
    for (unsigned i = 0; i < N_COLUMN; i++)
        if (oc_csv_column(f, n, column_name[i]) == OC_CSV_NONE)
            return false;
    return true;
}

/* Removes the last '_' and the digits after it. */
static struct oc_str ort_memory_node_name(struct oc_str s)
{
    size_t n = s.n;
    while (n && s.s[n - 1] >= '0' && s.s[n - 1] <= '9')
        n--;
    return n && n < s.n && s.s[n - 1] == '_' ? (struct oc_str){s.s, n - 1} : s;
}

static int ort_memory_take_row(struct reading *r, const struct oc_str *f, size_t n, struct oc_err *err)
{
    uint64_t bytes[N_COLUMN];
    for (unsigned i = INPUTS; i < N_COLUMN; i++) {
        struct oc_str s = oc_csv_at(f, n, r->column[i]);
        if (!oc_csv_u64(s, &bytes[i]))
            return oc_csv_fail(r->c, err, "column '%s': '%.*s' is not a number of bytes", column_name[i],
                               (int)(s.n < 80 ? s.n : 80), s.s);
    }
    if (r->list.n >= oc_csv_max_rows(r->c))
        return oc_csv_too_many(r->c, err);
    size_t at = r->list.n;
    OC_GROW(r->temp, at, r->cap_temp);
    r->temp[at] = bytes[TEMP];
    struct oc_prof_rec *rec = oc_rec_add(&r->list);
    rec->name = oc_prof_text(r->p, ort_memory_node_name(oc_csv_at(f, n, r->column[NAME])));
    rec->param_bytes = bytes[INITIALIZERS];
    rec->act_bytes = bytes[INPUTS];
    rec->out_bytes = bytes[DYNAMIC];
    rec->where = oc_csv_offset(r->c);
    return 0;
}

static int ort_memory_read_rows(struct reading *r, struct oc_err *err)
{
    const struct oc_str *f;
    size_t n;
    int rc = oc_csv_need(r->c, ort_memory_is_header, NULL, &f, &n, "with #name and total_dynamic_sizes", err);
    for (unsigned i = 0; rc == 0 && i < N_COLUMN; i++)
        r->column[i] = oc_csv_column(f, n, column_name[i]);
    while (rc == 0 && oc_csv_row(r->c, &f, &n)) {
        if (n && n < N_COLUMN && oc_csv_cut(r->c))
            oc_prof_cut(r->p, r->c);
        else if (n)
            rc = ort_memory_take_row(r, f, n, err);
    }
    return rc == 0 && oc_csv_failed(r->c) ? oc_csv_error(r->c, err) : rc;
}

static void ort_memory_finish(struct reading *r)
{
    struct oc_profile *p = r->p;
    struct oc_ort_memory *native = OC_NEW(&p->arena, struct oc_ort_memory);
    *native = (struct oc_ort_memory){.temp_bytes = OC_COPY_ARRAY(&p->arena, r->temp, r->list.n),
                                     .n = (uint32_t)r->list.n};
    p->native = native;
    p->producer = "ONNX Runtime, memory of nodes";
    p->time_kind = "no times";
    p->run_ns = p->busy_ns = NAN;
    oc_rec_list_end(&r->list, p);
    oc_diag_add(&p->diags, OC_INFO, "I-no-times", "",
                "memory of nodes without times: pass the session's profile as well to get times");
}

static int read_memory(const struct oc_source *src, const struct oc_profile_opts *opts,
                       struct oc_profile *out, struct oc_err *err)
{
    struct reading r = {.c = oc_csv_open(src->file[0].s), .p = out};
    (void)opts;
    int rc = ort_memory_read_rows(&r, err);
    if (rc == 0)
        ort_memory_finish(&r);
    oc_csv_close(r.c);
    free(r.list.rec);
    free(r.temp);
    return rc;
}

static void probe_memory(const struct oc_peek *peek, struct oc_bid *bid)
{
    if (oc_peek_has(peek, "total_dynamic_sizes") &&
        oc_csv_peek_header(peek->data, peek->n, ort_memory_is_header, NULL))
        *bid = (struct oc_bid){.score = 95, .reason = "header of ONNX Runtime's memory statistics"};
}

const struct oc_importer oc_importer_onnxruntime_memory = {
    .name = "onnxruntime_memory",
    .title = "ONNX Runtime memory statistics of nodes (CSV)",
    .seen = "1.30",
    .lost = "times; runs after the first",
    .probe = probe_memory,
    .may_lack_time = true,
    .read = read_memory,
};
