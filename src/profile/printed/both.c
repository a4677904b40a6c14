/* profile/printed/: Printed tables, logs and CSV of profilers as data. A description (*.xml of this folder, compiled in; or a
 * file of the user) says how the lines, titles and cells of one tool look; one engine reads all of them. A special case
 * of one tool belongs in its description; what a description cannot say has a name (via, sides, notation).
 * Readers in C take the rows of a description from read.h. Private to the folder: cells.h finish.h number.h row.h shapes.h
 * template.h. */

/* Rows with time on the host and on the device: each is one record, and kernels are listed next to them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "onnxcost/profile.h"
#include "profile/core/timeline.h"
#include "profile/printed/finish.h"
#include "profile/printed/shapes.h"

struct both {
    struct oc_printed_values *x;
    struct oc_rec_list list;
    struct oc_prof_kernel *kernel; /* heap */
    size_t n_kernel, cap_kernel, negative;
    const char *untimed; /* why the times of the device are not those of its work; NULL: they are */
    struct oc_map hosts; /* names of rows with time on the host */
    bool device, attributed;
};

static uint64_t calls_of(const struct oc_printed_value *v)
{
    return v->calls > 0 && v->calls < 1e18 ? (uint64_t)v->calls : 0;
}

static struct oc_str name_of(const struct oc_printed_value *v)
{
    return oc_str(v->name, strlen(v->name));
}

static void add_kernel(struct both *b, const struct oc_printed_value *v)
{
    struct oc_prof_kernel *k = &OC_PUSH(b->kernel, b->n_kernel, b->cap_kernel);
    *k = oc_prof_kernel_new(oc_prof_text(b->x->p, name_of(v)), OC_EV_KERNEL);
    k->calls = calls_of(v);
    k->total_ns = v->device_ns;
}

static void add_record(struct both *b, const struct oc_printed_value *v)
{
    struct oc_profile *p = b->x->p;
    const char *type = oc_printed_chars(v->row, OC_ROLE_TYPE), *notation = b->x->r->f->shapes;
    struct oc_printed_shapes shapes = {.format = b->x->r->f, .row = v->row};
    struct oc_op_row typed = {.name = name_of(v)};
    struct oc_prof_rec *rec = oc_rec_add(&b->list);
    if (notation)
        oc_printed_types(&p->arena, &shapes, &typed);
    rec->name = oc_prof_text(p, name_of(v));
    rec->op_type = *type ? oc_prof_text(p, oc_str(type, strlen(type))) : rec->name;
    rec->calls = calls_of(v);
    rec->total_ns = v->total_ns < 0 ? 0 : v->total_ns;
    rec->total_kernel_ns = v->device_ns;
    rec->where = v->row->where;
    rec->is_launch = b->untimed != NULL;
    rec->in = typed.in;
    rec->n_in = typed.n_in;
    rec->has_in = typed.n_in > 0;
    b->negative += v->total_ns < 0;
    p->imported_ns += isnan(rec->total_ns) ? 0 : rec->total_ns;
    p->imported_kernel_ns += isnan(rec->total_kernel_ns) ? 0 : rec->total_kernel_ns;
    b->device |= !isnan(rec->total_kernel_ns);
}

/* A range of the device has the name of a row of the host, or more time than all work. */
static bool is_range(const struct both *b, const struct oc_printed_value *v)
{
    const struct oc_printed_fact *all = &b->x->r->fact[OC_ROLE_STATED_DEVICE];
    return (all->text && v->device_ns > all->value) ||
           oc_map_get(&b->hosts, v->name, strlen(v->name)) != OC_NONE;
}

/* What the rows say together, before any is added. */
static void look(struct both *b)
{
    for (size_t i = 0; i < b->x->n; i++) {
        const struct oc_printed_value *v = &b->x->v[i];
        bool kernel = v->row->kind == OC_ROW_KERNEL;
        if (oc_printed_has(v->row, OC_ROLE_UNTIMED))
            b->untimed = oc_printed_chars(v->row, OC_ROLE_UNTIMED);
        if (!kernel)
            oc_map_add(&b->hosts, v->name, strlen(v->name), &(uint32_t){0}, NULL);
        b->attributed |= !kernel && v->device_ns > 0;
    }
    b->attributed &= !b->untimed;
}

/* The device time of operators contains that of kernels; of kernels alone there are only their rows. */
static void add_rows(struct both *b)
{
    size_t kept = 0;
    for (size_t i = 0; i < b->x->n; i++) {
        struct oc_printed_value v = b->x->v[i];
        bool kernel = v.row->kind == OC_ROW_KERNEL;
        if (kernel && (b->untimed || is_range(b, &v)))
            continue;
        if (b->untimed)
            v.device_ns = NAN;
        if (kernel)
            add_kernel(b, &v);
        if (!kernel || !b->attributed)
            add_record(b, &v);
        b->x->v[kept++] = v;
    }
    b->x->n = kept;
}

static void make_times(struct both *b)
{
    struct oc_printed_values *x = b->x;
    double runs = oc_prof_divide(x->p, x->runs > 0 && x->runs < 1e9 ? (uint64_t)x->runs : 0, x->opts->stat);
    for (size_t i = 0; i < b->list.n; i++) {
        struct oc_prof_rec *rec = &b->list.rec[i];
        rec->time_ns = rec->self_ns = rec->host_ns = rec->total_ns / runs;
        rec->kernel_ns = rec->total_kernel_ns / runs;
        rec->runs = x->p->runs_used;
        rec->calls_per_run = rec->calls ? (double)rec->calls / runs : (double)NAN;
    }
    for (size_t i = 0; i < b->n_kernel; i++)
        b->kernel[i].time_ns = b->kernel[i].total_ns / runs;
}

static void finish(struct both *b)
{
    struct oc_profile *p = b->x->p;
    make_times(b);
    if (!p->device[0])
        p->device = b->device || b->untimed ? "GPU" : "CPU";
    p->time_kind = b->device ? "device time" : "host time";
    if (b->x->runs > 0)
        p->run_ns = b->x->run_ns * (p->stat == OC_STAT_SUM ? b->x->runs : 1);
    if (!b->device)
        p->imported_kernel_ns = NAN;
    if (b->untimed)
        oc_diag_add(&p->diags, OC_WARNING, "W-device-time", "", "%s: only times of the CPU are read",
                    b->untimed);
    if (b->negative)
        oc_diag_add(&p->diags, OC_WARNING, "W-self-time", "",
                    "self times of %zu rows are negative, because what these operators called took longer "
                    "than they did: they "
                    "count 0",
                    b->negative);
    p->kernel = OC_COPY_ARRAY(&p->arena, b->kernel, b->n_kernel);
    p->n_kernel = (uint32_t)b->n_kernel;
    oc_rec_list_end(&b->list, p);
}

/* The first utilizations that the file states, in percent: rows of the table of devices. */
static size_t add_utilization(const struct both *b, struct oc_prof_table_row *row)
{
    static const struct {
        const char *fact, *name;
    } of[] = {{"cpu-process", "CPU(Process)"}, {"cpu-system", "CPU(System)"}, {"gpu", "GPU"}};
    const struct oc_printed_reading *r = b->x->r;
    size_t n = 0;
    for (size_t i = 0; i < OC_COUNT(of); i++)
        for (unsigned k = 0; k < r->f->n_field; k++)
            if (oc_str_eq(r->f->field[k], of[i].fact) && r->fact[k].text)
                row[n++] = (struct oc_prof_table_row){
                    "device", of[i].name, 0, {r->fact[k].value, NAN, NAN}, {NAN, NAN, NAN}};
    return n;
}

/* All tables of a summary, those of other levels too. The rows that are runs come first in the overview. */
static void add_tables(struct both *b)
{
    struct oc_printed_values *x = b->x;
    const struct oc_printed_value *v = x->n_all ? x->all : x->v;
    size_t n = x->n_all ? x->n_all : x->n;
    struct oc_prof_table_row *row = OC_NEW_ARRAY(&x->p->arena, n + 4, struct oc_prof_table_row);
    size_t kept = add_utilization(b, row), own = 0;
    if (x->runs > 0 && x->run_ns > 0)
        row[kept++] = (struct oc_prof_table_row){
            "overview", "ProfileStep", (uint64_t)x->runs, {x->run_ns * x->runs, NAN, NAN}, {NAN, NAN, NAN}};
    for (size_t i = 0; i < n; i++) {
        const struct oc_printed_row *of = v[i].row;
        own += of->t->after.n > 0;
        if (of->t->after.n)
            row[kept++] =
                (struct oc_prof_table_row){oc_prof_text(x->p, of->t->after),
                                           oc_prof_text(x->p, oc_str(v[i].name, strlen(v[i].name))),
                                           v[i].calls > 0 ? (uint64_t)v[i].calls : 0,
                                           {v[i].total_ns, oc_printed_value(x->r, of, OC_ROLE_MIN),
                                            oc_printed_value(x->r, of, OC_ROLE_MAX)},
                                           {v[i].device_ns, oc_printed_value(x->r, of, OC_ROLE_DEVICE_MIN),
                                            oc_printed_value(x->r, of, OC_ROLE_DEVICE_MAX)}};
    }
    x->p->table_row = row;
    x->p->n_table_row = own ? kept : 0;
}

void oc_printed_both(struct oc_printed_values *x)
{
    struct both b = {.x = x, .hosts = {.arena = x->r->arena}};
    look(&b);
    add_tables(&b);
    add_rows(&b);
    finish(&b);
    free(b.kernel);
    oc_map_free(&b.hosts);
}
