#include "report/columns.h"

#include <string.h>

#include "join/join.h"
#include "onnxcost.h"
#include "report/report.h"

static uint32_t group_keys_main_node(const struct oc_analysis *a, const struct oc_join_rec *j)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < j->n_node; i++)
        if (oc_report_node_flo(&a->cost[j->node[i]]) > oc_report_node_flo(&a->cost[j->node[best]]))
            best = i;
    return j->node[best];
}

static const struct oc_join_rec *join_of(const struct oc_report *r, const struct oc_row *row)
{
    const struct oc_join_rec *j =
        r->in->join && row->record != OC_NONE ? &r->in->join->rec[row->record] : NULL;
    return j && j->n_node ? j : NULL;
}

const char *oc_row_type(const struct oc_report *r, const struct oc_row *row)
{
    const struct oc_join_rec *j = join_of(r, row);
    if (row->type && *row->type)
        return row->type;
    return j ? r->in->model->node[group_keys_main_node(r->in->analysis, j)].op_type : "(unknown)";
}

const char *oc_row_label(struct oc_report *r, const struct oc_row *row)
{
    const struct oc_join_rec *j = join_of(r, row);
    char label[512];
    if (!j)
        return row->name && *row->name ? row->name : row->type ? row->type : "-";
    const struct oc_node *n = &r->in->model->node[group_keys_main_node(r->in->analysis, j)];
    const char *name = oc_node_label(r->in->model, n, label, sizeof(label));
    return j->n_node > 1 ? oc_printf(&r->arena, "%s +%u", name, j->n_node - 1) : oc_strdup(&r->arena, name);
}

const char *oc_row_members(struct oc_report *r, const struct oc_row *row)
{
    const struct oc_join_rec *j = join_of(r, row);
    if (!j || (j->n_node < 2 && row->name && !strcmp(row->name, oc_row_label(r, row))))
        return NULL;
    struct oc_buf b = {0};
    char label[512];
    for (uint32_t i = 0; i < j->n_node; i++) {
        const struct oc_node *n = &r->in->model->node[j->node[i]];
        oc_buf_printf(&b, "%s%s %s", i ? ", " : "", n->op_type,
                      oc_node_label(r->in->model, n, label, sizeof(label)));
    }
    const char *text =
        oc_printf(&r->arena, "%s; runtime name: %s", b.data, row->name && *row->name ? row->name : "none");
    oc_buf_free(&b);
    return text;
}

/* ---- group keys ------------------------------------------------------------------------------------- */

struct keying {
    struct oc_report *r; /* may be NULL */
    struct oc_arena *arena;
    const char *
        *kernel; /* by record: the name of the kernel with most of its device time; NULL until needed */
    unsigned depth;
};

typedef const char *(*key_rule)(struct keying *k, const struct oc_row *row);

static const struct oc_prof_rec *group_keys_record_of(const struct keying *k, const struct oc_row *row)
{
    return k->r && k->r->in->profile && row->record != OC_NONE ? &k->r->in->profile->rec[row->record] : NULL;
}

static uint32_t group_keys_node_of(const struct keying *k, const struct oc_row *row)
{
    return k->r ? oc_row_node(k->r, row) : row->node;
}

static const char *by_type(struct keying *k, const struct oc_row *row)
{
    (void)k;
    return row->type;
}

static const char *by_provider(struct keying *k, const struct oc_row *row)
{
    (void)k;
    return row->provider;
}

static const char *by_bound(struct keying *k, const struct oc_row *row)
{
    (void)k;
    return row->bound_by;
}

static const char *group_keys_by_rule(struct keying *k, const struct oc_row *row)
{
    (void)k;
    return row->rule;
}

/* A name with the node's module before the last dot; where the file does not record it, the node's name. */
static const char *name_with_module(struct keying *k, const struct oc_row *row)
{
    uint32_t node = group_keys_node_of(k, row);
    struct oc_origin from;
    if (node == OC_NONE)
        return row->name;
    oc_node_origin(k->r->in->model, node, k->arena, &from);
    if (from.module)
        return oc_printf(k->arena, "%s.", from.module);
    const char *name = k->r->in->model->node[node].name;
    return *name ? name : row->name;
}

/* "/encoder/layer.3/attention/self/MatMul" to "/encoder/layer.3" for a depth of 2; names without slashes are
 * split at dots, as parameter names are: "encoder.layer.3.conv1". */
static const char *by_module(struct keying *k, const struct oc_row *row)
{
    const char *name = name_with_module(k, row);
    if (!name)
        return NULL;
    char cut = strchr(name, '/') ? '/' : '.';
    const char *last = strrchr(name, cut), *at = name + (*name == cut);
    for (unsigned d = 0; k->depth && at && at <= last; d++) {
        const char *next = strchr(at, cut);
        if (d + 1 == k->depth)
            last = next && next < last ? next : last;
        at = next ? next + 1 : NULL;
    }
    return last && last > name ? oc_strndup(k->arena, name, (size_t)(last - name)) : "(no module)";
}

/* What the exporter recorded of the row's node. */
static const char *by_origin(struct keying *k, const struct oc_row *row, bool class)
{
    uint32_t node = group_keys_node_of(k, row);
    struct oc_origin from = {NULL, NULL, NULL};
    if (node != OC_NONE && k->r)
        oc_node_origin(k->r->in->model, node, k->arena, &from);
    return class ? from.module_class : from.source;
}

static const char *by_class(struct keying *k, const struct oc_row *row)
{
    const char *name = by_origin(k, row, true);
    return name ? name : "(no class)";
}

static const char *by_source(struct keying *k, const struct oc_row *row)
{
    const char *place = by_origin(k, row, false);
    return place ? place : "(no source)";
}

static void group_keys_add_shapes(struct oc_buf *b, const struct oc_row_shape *s, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        oc_buf_str(b, i ? "," : "");
        oc_buf_str(b, s[i].text ? s[i].text : "?");
    }
}

static const char *group_keys_by_signature(struct keying *k, const struct oc_row *row)
{
    struct oc_row copy = *row;
    if (copy.in_state != OC_SHAPES_KNOWN && copy.node != OC_NONE && k->r && k->r->in->analysis)
        oc_report_node_shapes(k->r, &copy, &k->r->in->model->node[copy.node]);
    struct oc_buf b = {0};
    oc_buf_str(&b, copy.type ? copy.type : "");
    oc_buf_char(&b, ' ');
    if (copy.in_state == OC_SHAPES_KNOWN)
        group_keys_add_shapes(&b, copy.in, copy.n_in);
    else
        oc_buf_str(&b, "?");
    if (copy.out_state == OC_SHAPES_KNOWN) {
        oc_buf_str(&b, " -> ");
        group_keys_add_shapes(&b, copy.out, copy.n_out);
    }
    const char *text = oc_strndup(k->arena, b.data, b.n);
    oc_buf_free(&b);
    return text;
}

/* Precision by the kernels' names, else the type of the first input. */
static const char *by_precision(struct keying *k, const struct oc_row *row)
{
    const struct oc_prof_rec *rec = group_keys_record_of(k, row);
    uint32_t node = group_keys_node_of(k, row);
    if (rec && rec->precision && *rec->precision)
        return rec->precision;
    if (rec && rec->n_in)
        return oc_dtype_info(rec->in[0].dtype)->name;
    if (row->n_in_dtype && row->in_dtype[0])
        return row->in_dtype[0];
    if (node == OC_NONE || !k->r->in->analysis || !k->r->in->model->node[node].n_in)
        return NULL;
    uint32_t v = k->r->in->model->node[node].in[0];
    const struct oc_type *t = v == OC_NONE ? NULL : &k->r->in->analysis->type[v];
    return t && t->kind == OC_T_TENSOR ? oc_dtype_info(t->dtype)->name : NULL;
}

static void group_keys_find_kernels(struct keying *k, const struct oc_profile *p)
{
    double *most = OC_NEW_ARRAY(k->arena, (size_t)p->n_rec + 1, double);
    k->kernel = OC_NEW_ARRAY(k->arena, (size_t)p->n_rec + 1, const char *);
    for (uint32_t i = 0; i < p->n_kernel; i++) {
        const struct oc_prof_kernel *one = &p->kernel[i];
        if (one->rec >= p->n_rec || (k->kernel[one->rec] && one->total_ns <= most[one->rec]))
            continue;
        most[one->rec] = one->total_ns;
        k->kernel[one->rec] = one->name;
    }
}

static const char *by_kernel(struct keying *k, const struct oc_row *row)
{
    if (!group_keys_record_of(k, row))
        return NULL;
    if (!k->kernel)
        group_keys_find_kernels(k, k->r->in->profile);
    return k->kernel[row->record] ? k->kernel[row->record] : "(no kernel)";
}

static const struct {
    const char *name;
    key_rule rule;
    bool has_depth;
} keys[] = {
    {"type", by_type, false},
    {"module", by_module, true},
    {"class", by_class, false},
    {"source", by_source, false},
    {"signature", group_keys_by_signature, false},
    {"provider", by_provider, false},
    {"precision", by_precision, false},
    {"kernel", by_kernel, false},
    {"bound", by_bound, false},
    {"rule", group_keys_by_rule, false},
};

static int group_keys_read_one(const char *option, const char *s, size_t n, struct oc_group_by *out,
                               struct oc_err *err)
{
    const char *colon = memchr(s, ':', n);
    size_t len = colon ? (size_t)(colon - s) : n;
    for (size_t i = 0; i < OC_COUNT(keys); i++) {
        if (strlen(keys[i].name) != len || strncmp(keys[i].name, s, len) != 0 ||
            (colon && !keys[i].has_depth))
            continue;
        unsigned depth = 0;
        for (const char *at = colon ? colon + 1 : s + n; at < s + n; at++)
            depth = *at >= '0' && *at <= '9' && depth < 26 ? depth * 10 + (unsigned)(*at - '0') : 1000;
        if (colon && (depth < 1 || depth > 255))
            return oc_fail(err, OC_EARG, "invalid depth in '%.*s' for %s: a number from 1 to 255 is needed",
                           (int)(n < 80 ? n : 80), s, option);
        *out = (struct oc_group_by){.what = (uint8_t)i, .depth = (uint8_t)depth};
        return 0;
    }
    const char *names[OC_COUNT(keys)];
    char where[60];
    for (size_t i = 0; i < OC_COUNT(keys); i++)
        names[i] = keys[i].name;
    snprintf(where, sizeof(where), "for %s", option);
    if (!n)
        return oc_fail(err, OC_EARG, "%s: a key is missing, such as type or module:2", option);
    return oc_fail_unknown(err, OC_EARG,
                           &(struct oc_unknown){.what = "key",
                                                .where = where,
                                                .given = s,
                                                .given_n = n,
                                                .valid = names,
                                                .n = OC_COUNT(names),
                                                .more = "module:DEPTH"});
}

int oc_group_by_read(const char *option, const char *text, struct oc_group_by out[OC_MAX_GROUP_KEYS],
                     size_t *n, struct oc_err *err)
{
    *n = 0;
    for (const char *at = text;; at++) {
        size_t len = strcspn(at, ",");
        if (*n == OC_MAX_GROUP_KEYS)
            return oc_fail(err, OC_EARG, "more than %d keys for %s", OC_MAX_GROUP_KEYS, option);
        if (group_keys_read_one(option, at, len, &out[*n], err) != 0)
            return -1;
        ++*n;
        at += len;
        if (!*at)
            return 0;
    }
}

void oc_group_keys(struct oc_report *r, const struct oc_group_by *by, size_t n, struct oc_rows *rows)
{
    struct keying k = {.r = r, .arena = rows->arena};
    for (uint32_t i = 0; i < rows->n; i++) {
        const char *text = NULL;
        for (size_t b = 0; b < n; b++) {
            k.depth = by[b].depth;
            const char *part = keys[by[b].what].rule(&k, &rows->row[i]);
            /* a type may be empty: MegEngine's tool then prints an empty one */
            part = part && (*part || n == 1) ? part : "(unknown)";
            text = text ? oc_printf(rows->arena, "%s | %s", text, part) : part;
        }
        rows->row[i].group = text;
    }
}
