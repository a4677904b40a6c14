/* Writes one row of a report as a model of its own: the nodes of the row as they are in the file, the weights that they read,
 * and the values that come from other nodes as inputs with the shapes and types of the analysis. What must hold: the file runs
 * without the model that it comes from, unless its message says which file of weights it needs.
 *
 * What decides shapes and is known, such as the target of a Reshape, is an initializer: generated values would be wrong.
 * Nodes that compute constants from weights come along, so that the runtime folds them as it does in the model. Weights are
 * constants in the file too, because runtimes pack and transform constants before a run; only those without data are inputs. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/analysis.h"
#include "annotate/annotate.h"
#include "annotate/onnx_fields.h"
#include "base/c_locale.h"
#include "base/diag.h"
#include "base/str.h"
#include "base/units.h"
#include "base/wire.h"
#include "join/join.h"
#include "onnxcost.h"
#include "onnxcost/report.h"
#include "report/report.h"
#include "report/select.h"

/* Weights of an external file up to this size are copied, so that the file can be sent alone; larger ones stay where they are,
 * because copying gigabytes for one row is slow and the limit of protobuf is near. */
#define MOST_COPIED_BYTES ((uint64_t)256 << 20)
#define MOST_FILE_BYTES   ((uint64_t)INT32_MAX) /* of a protobuf message */

enum { MODEL_IR = 1, MODEL_PRODUCER = 2, MODEL_GRAPH = 7, MODEL_OPSET = 8, MODEL_FUNCTION = 25 };
enum { GRAPH_NODE = 1, GRAPH_NAME = 2, GRAPH_INIT = 5, GRAPH_INPUT = 11, GRAPH_OUTPUT = 12 };
enum { NODE_IN = 1, NODE_OUT = 2, NODE_NAME = 3, NODE_ATTR = 5, ATTR_REF = 21 };
enum { LEAST_IR = 4 }; /* initializers without an input of their name */

enum taken { NOT_TAKEN, OF_ROW, FOR_CONSTANT };

struct extract {
    struct oc_report r;
    const struct oc_model *m;
    const struct oc_analysis *a;
    const struct oc_row *row;
    const char *path; /* of the new file; NULL: unknown */
    uint8_t *taken;   /* by node: enum taken */
    bool *inside;     /* by value: a taken node writes it */
    bool *seen;       /* by value: it is an input or a weight already */
    bool *used;       /* by value: read by what is not taken, or an output of the model */
    uint32_t *todo;   /* nodes whose inputs are not looked at yet */
    uint32_t n_todo;
    const char **name; /* by value: its name in the new file; NULL: none yet */
    struct oc_map names;
    struct oc_opset *opset; /* domains of the model, and the versions of the nodes; 0: of no node */
    uint32_t n_opset;
    struct oc_buf graph, inputs;
    struct oc_extracted *out;
    struct oc_err *err;
};

/* ---- the row ---------------------------------------------------------------------------------------- */

static const struct oc_join_rec *join_of(const struct extract *x, const struct oc_row *row)
{
    const struct oc_join *j = x->r.in->join;
    return j && row->record != OC_NONE ? &j->rec[row->record] : NULL;
}

static uint32_t nodes_of(const struct extract *x, const struct oc_row *row, const uint32_t **node)
{
    const struct oc_join_rec *rec = join_of(x, row);
    *node = rec ? rec->node : &row->node;
    return rec ? rec->n_node : row->node != OC_NONE;
}

static bool same_nodes(const struct extract *x, const struct oc_row *a, const struct oc_row *b)
{
    const uint32_t *na, *nb;
    uint32_t n = nodes_of(x, a, &na);
    return n == nodes_of(x, b, &nb) && n > 0 && !memcmp(na, nb, n * sizeof(*na));
}

static int choose_row(struct extract *x, const char *name)
{
    uint32_t n = OC_ALL_ROWS(&x->r), found = 0;
    bool *hit = OC_NEW_ARRAY(&x->r.arena, (size_t)n + 1, bool);
    const uint32_t *node;
    if (oc_report_find(&x->r, OC_NAME_LITERAL, "--extract", name, NULL, 0, hit, x->err))
        return -1;
    for (uint32_t i = 0; i < n; i++) {
        const struct oc_row *row = &x->r.all.row[i];
        if (!hit[i] || (x->row && same_nodes(x, x->row, row)))
            continue;
        x->row = x->row ? x->row : row;
        found++;
    }
    if (found != 1)
        return oc_fail(x->err, OC_EARG,
                       "--extract '%.160s' selects %u rows; name one of them, or its place in the table, #N",
                       name, found);
    if (!nodes_of(x, x->row, &node))
        return oc_fail(x->err, OC_EARG,
                       "--extract '%.160s': this row has no node of the model; name a row of the model",
                       name);
    return 0;
}

/* ---- nodes ------------------------------------------------------------------------------------------ */

static const uint8_t *file_bytes(const struct oc_model *m, size_t *n)
{
    *n = m->built.n ? m->built.n : m->file.size_bytes;
    return m->built.n ? (const uint8_t *)m->built.data : m->file.data;
}

static struct oc_wire message_of(const struct extract *x, const struct oc_node *n)
{
    size_t all;
    const uint8_t *data = file_bytes(x->m, &all) + n->where;
    oc_os_need(data, n->n_bytes);
    return oc_wire_of(data, n->n_bytes);
}

static int fail_node(const struct extract *x, const struct oc_node *n, const char *why)
{
    char label[200];
    return oc_fail(x->err, OC_EUNSUPPORTED, "cannot extract '%s': %s",
                   oc_node_label(x->m, n, label, sizeof(label)), why);
}

/* The version of the node's domain in the new file: functions may import another one than the model. */
static int use_version(struct extract *x, const struct oc_node *n)
{
    for (uint32_t i = 0; i < x->n_opset; i++)
        if (!strcmp(x->opset[i].domain, n->domain)) {
            if (x->opset[i].version && n->opset && x->opset[i].version != n->opset)
                return fail_node(x, n, "nodes of the row use different versions of their operators");
            x->opset[i].version = x->opset[i].version ? x->opset[i].version : n->opset;
        }
    return 0;
}

/* Whether an attribute is a parameter of the function that the node is in. */
static bool has_parameter(const struct extract *x, const struct oc_node *n)
{
    struct oc_wire in = message_of(x, n);
    struct oc_wire_field f, g;
    while (oc_wire_next(&in, &f))
        if (f.num == NODE_ATTR && f.type == OC_WIRE_LEN)
            for (struct oc_wire attr = oc_wire_of(f.data, f.n); oc_wire_next(&attr, &g);)
                if (g.num == ATTR_REF && g.n)
                    return true;
    return false;
}

static uint32_t captures_of(const struct oc_model *m, uint32_t node, uint32_t *first)
{
    uint32_t n = 0;
    *first = oc_first_capture(m->capture, m->n_capture, node);
    while (*first + n < m->n_capture && m->capture[*first + n].node == node)
        n++;
    return n;
}

/* Whether the node means the same outside of its graph. */
static int check_node(struct extract *x, uint32_t node)
{
    const struct oc_node *n = &x->m->node[node];
    const struct oc_tensor *t;
    uint32_t first;
    if (!n->where)
        return fail_node(x, n, "it is not a node of a file");
    if (has_parameter(x, n))
        return fail_node(
            x, n, "an attribute is a parameter of its function; inline the functions of the model first");
    if (n->graph && captures_of(x->m, node, &first))
        return fail_node(x, n, "its body reads values of the graphs around it");
    for (uint32_t k = 0; k < n->n_attr; k++)
        for (uint32_t i = 0; (t = oc_attr_tensor_at(&n->attr[k], i)) != NULL; i++)
            if (t->external_path)
                return fail_node(x, n, "an attribute has its data in another file");
    return use_version(x, n);
}

static void take_node(struct extract *x, uint32_t node, enum taken as)
{
    if (x->taken[node])
        return;
    x->taken[node] = as;
    x->todo[x->n_todo++] = node;
    *(as == OF_ROW ? &x->out->nodes : &x->out->constant_nodes) += 1;
    for (uint32_t i = 0; i < x->m->node[node].n_out; i++)
        if (x->m->node[node].out[i] != OC_NONE)
            x->inside[x->m->node[node].out[i]] = true;
}

/* Whether the node is in the body of a taken one, which is written with it. */
static bool is_contained(const struct extract *x, uint32_t node)
{
    uint32_t up = x->m->graph[x->m->node[node].graph].parent_node;
    for (; up != OC_NONE; up = x->m->graph[x->m->node[up].graph].parent_node)
        if (x->taken[up])
            return true;
    return false;
}

/* A constant whose elements are not known is computed in the new file. */
static void need_constant(struct extract *x, uint32_t value)
{
    const struct oc_value *v = value == OC_NONE ? NULL : &x->m->value[value];
    struct oc_buf raw = {0};
    if (v && !v->constant && x->a->is_const[value] && v->producer != OC_NONE &&
        !oc_known_bytes(x->a, value, &raw))
        take_node(x, v->producer, FOR_CONSTANT);
    oc_buf_free(&raw);
}

/* The nodes of the row, and those that compute its constants. */
static int take_nodes(struct extract *x)
{
    const uint32_t *node;
    uint32_t n = nodes_of(x, x->row, &node), first;
    for (uint32_t i = 0; i < n; i++)
        take_node(x, node[i], OF_ROW);
    for (uint32_t i = 0; i < n; i++)
        if (is_contained(x, node[i])) {
            x->taken[node[i]] = NOT_TAKEN;
            x->out->nodes--;
        }
    while (x->n_todo) {
        uint32_t at = x->todo[--x->n_todo];
        if (!x->taken[at])
            continue;
        if (check_node(x, at))
            return -1;
        for (uint32_t i = 0; i < x->m->node[at].n_in; i++)
            need_constant(x, x->m->node[at].in[i]);
        uint32_t n_capture = captures_of(x->m, at, &first);
        for (uint32_t i = 0; i < n_capture; i++)
            need_constant(x, x->m->capture[first + i].value);
    }
    return 0;
}

/* ---- names and types -------------------------------------------------------------------------------- */

/* The name in the file; values of functions and bodies may have the name of another value. */
static const char *name_of(struct extract *x, uint32_t value)
{
    if (value == OC_NONE)
        return "";
    if (x->name[value])
        return x->name[value];
    const char *base = x->m->value[value].name, *name = base;
    for (uint32_t i = 2; !oc_map_add(&x->names, name, strlen(name), &(uint32_t){value}, NULL); i++)
        name = oc_printf(&x->r.arena, "%s_%u", base, i);
    return x->name[value] = name;
}

/* The type that the profile has of input `slot` of a node that is a row alone; NULL: none. */
static const struct oc_type *recorded_type(const struct extract *x, uint32_t node, uint32_t slot)
{
    const struct oc_join_rec *rec = join_of(x, x->row);
    const struct oc_node *n = &x->m->node[node];
    uint32_t present = 0, at = 0;
    if (!rec || rec->n_node != 1 || rec->node[0] != node)
        return NULL;
    for (uint32_t i = 0; i < n->n_in; i++) {
        at += i < slot && n->in[i] != OC_NONE;
        present += n->in[i] != OC_NONE;
    }
    const struct oc_prof_rec *p = &x->r.in->profile->rec[x->row->record];
    return slot < n->n_in && p->has_in && p->n_in == present ? &p->in[at] : NULL;
}

/* ---- weights ---------------------------------------------------------------------------------------- */

static int put_external(struct extract *x, struct oc_buf *b, const char *name, const struct oc_tensor *t)
{
    if (x->path && oc_check_external_place(x->m, t, x->path, &x->r.arena, x->err))
        return -1;
    oc_put_tensor_head(b, name, t->dtype, t->rank, t->dim);
    oc_put_tensor_entry(b, "location", t->external_path);
    oc_put_tensor_entry(b, "offset", oc_printf(&x->r.arena, "%" PRIu64, t->external_offset_bytes));
    oc_put_tensor_entry(b, "length", oc_printf(&x->r.arena, "%" PRIu64, t->size_bytes));
    oc_wire_add_int(b, OC_TENSOR_PLACE, 1);
    x->out->external_weights++;
    return 0;
}

/* The weight as an initializer. Returns 1: done, 0: it has no data, -1: error. */
static int put_weight(struct extract *x, uint32_t value)
{
    const struct oc_tensor *t = x->m->value[value].constant;
    const char *name = name_of(x, value);
    struct oc_tensor_bytes bytes;
    struct oc_buf b = {0};
    int rc = 1;
    if (t->storage == OC_STORE_FIELDS) {
        oc_put_tensor_fields(&b, name, t);
    } else if (t->storage == OC_STORE_SPARSE || t->dtype >= OC_DT_COUNT ||
               !oc_tensor_bytes_open(x->m, t, &bytes)) {
        return 0;
    } else {
        if (t->storage == OC_STORE_EXTERNAL && bytes.size_bytes > MOST_COPIED_BYTES) {
            rc = put_external(x, &b, name, t) ? -1 : 1;
        } else {
            oc_os_need(bytes.data, bytes.size_bytes);
            oc_put_tensor_head(&b, name, t->dtype, t->rank, t->dim);
            oc_wire_add_bytes(&b, OC_TENSOR_RAW, bytes.data, bytes.size_bytes);
        }
        oc_tensor_bytes_close(&bytes);
    }
    if (rc > 0) {
        x->out->weights++;
        x->out->weight_bytes += t->size_bytes;
        oc_wire_add_bytes(&x->graph, GRAPH_INIT, b.data, b.n);
    }
    oc_buf_free(&b);
    return rc;
}

/* The inferred value as an initializer; false: it is not known. */
static bool put_known(struct extract *x, uint32_t value)
{
    const struct oc_type *t = &x->a->type[value];
    int64_t dim[OC_MAX_RANK];
    struct oc_buf raw = {0}, b = {0};
    bool known = oc_known_bytes(x->a, value, &raw);
    if (known) {
        for (unsigned i = 0; i < t->shape.rank; i++)
            dim[i] = t->shape.dim[i].v;
        oc_put_tensor_head(&b, name_of(x, value), t->dtype, t->shape.rank, dim);
        oc_wire_add_bytes(&b, OC_TENSOR_RAW, raw.data, raw.n);
        oc_wire_add_bytes(&x->graph, GRAPH_INIT, b.data, b.n);
        x->out->known_values++;
    }
    oc_buf_free(&raw);
    oc_buf_free(&b);
    return known;
}

/* ---- inputs and outputs ----------------------------------------------------------------------------- */

static int put_input(struct extract *x, uint32_t value, uint32_t node, uint32_t slot)
{
    const struct oc_type *t = &x->a->type[value];
    if (!oc_type_is_complete(t))
        t = recorded_type(x, node, slot);
    if (!oc_type_is_complete(t))
        return oc_fail(x->err, OC_EUNSUPPORTED,
                       "cannot extract the row: the shape or type of its input '%.160s' is unknown; give "
                       "--dim or --shape, or "
                       "a profile that records it",
                       x->m->value[value].name);
    oc_put_value(&x->inputs, GRAPH_INPUT, name_of(x, value), t);
    x->out->inputs++;
    return 0;
}

/* slot: of the node's inputs; OC_NONE: its body reads the value. */
static int add_input(struct extract *x, uint32_t value, uint32_t node, uint32_t slot)
{
    if (value == OC_NONE || x->inside[value] || x->seen[value])
        return 0;
    x->seen[value] = true;
    if (x->m->value[value].constant) {
        int rc = put_weight(x, value);
        x->out->absent_weights += rc == 0;
        return rc > 0 ? 0 : rc < 0 ? -1 : put_input(x, value, node, slot);
    }
    return put_known(x, value) ? 0 : put_input(x, value, node, slot);
}

static int add_inputs(struct extract *x)
{
    uint32_t first, n;
    for (uint32_t i = 0; i < x->m->n_node; i++) /* bodies keep the names that they read */
        if (x->taken[i]) {
            n = captures_of(x->m, i, &first);
            for (uint32_t k = 0; k < n; k++)
                (void)name_of(x, x->m->capture[first + k].value);
        }
    for (uint32_t i = 0; i < x->m->n_node; i++) {
        if (!x->taken[i])
            continue;
        for (uint32_t k = 0; k < x->m->node[i].n_in; k++)
            if (add_input(x, x->m->node[i].in[k], i, k))
                return -1;
        n = captures_of(x->m, i, &first);
        for (uint32_t k = 0; k < n; k++)
            if (add_input(x, x->m->capture[first + k].value, i, OC_NONE))
                return -1;
    }
    return 0;
}

static void mark_used(struct extract *x)
{
    const struct oc_model *m = x->m;
    for (uint32_t i = 0; i < m->n_node; i++)
        for (uint32_t k = 0; !x->taken[i] && !is_contained(x, i) && k < m->node[i].n_in; k++)
            if (m->node[i].in[k] != OC_NONE)
                x->used[m->node[i].in[k]] = true;
    for (uint32_t i = 0; i < m->n_capture; i++)
        if (!x->taken[m->capture[i].node] && !is_contained(x, m->capture[i].node))
            x->used[m->capture[i].value] = true;
    for (uint32_t g = 0; g < m->n_graph; g++)
        for (uint32_t i = 0; i < m->graph[g].n_output; i++)
            if (m->graph[g].output[i] != OC_NONE)
                x->used[m->graph[g].output[i]] = true;
}

/* What the rest of the model reads; of a row whose values nothing reads, all of them. */
static void put_outputs(struct extract *x)
{
    for (int all = 0; all < 2 && !x->out->outputs; all++)
        for (uint32_t i = 0; i < x->m->n_node; i++)
            for (uint32_t k = 0; x->taken[i] == OF_ROW && k < x->m->node[i].n_out; k++) {
                uint32_t value = x->m->node[i].out[k];
                if (value == OC_NONE || !(all || x->used[value]))
                    continue;
                oc_put_value(&x->graph, GRAPH_OUTPUT, name_of(x, value), &x->a->type[value]);
                x->out->outputs++;
            }
}

/* ---- the file --------------------------------------------------------------------------------------- */

static void put_node(struct extract *x, const struct oc_node *n)
{
    struct oc_buf b = {0};
    struct oc_wire in = message_of(x, n);
    struct oc_wire_field f;
    for (uint32_t i = 0; i < n->n_in; i++)
        oc_wire_add_text(&b, NODE_IN, name_of(x, n->in[i]));
    for (uint32_t i = 0; i < n->n_out; i++)
        oc_wire_add_text(&b, NODE_OUT, name_of(x, n->out[i]));
    if (*n->name)
        oc_wire_add_text(&b, NODE_NAME, n->name);
    for (const uint8_t *at = in.p; oc_wire_next(&in, &f); at = in.p)
        if (f.num != NODE_IN && f.num != NODE_OUT && f.num != NODE_NAME)
            oc_buf_add(&b, at, (size_t)(in.p - at));
    oc_wire_add_bytes(&x->graph, GRAPH_NODE, b.data, b.n);
    oc_buf_free(&b);
}

static bool is_ready(const struct extract *x, const struct oc_node *n, const bool *written)
{
    for (uint32_t i = 0; i < n->n_in; i++)
        if (n->in[i] != OC_NONE && x->inside[n->in[i]] && !written[n->in[i]])
            return false;
    return true;
}

/* Nodes after those whose values they read: passes over the list, of which files need few. */
static void put_nodes(struct extract *x)
{
    bool *written = OC_NEW_ARRAY(&x->r.arena, (size_t)x->m->n_value + 1, bool);
    bool *done = OC_NEW_ARRAY(&x->r.arena, (size_t)x->m->n_node + 1, bool);
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = 0; i < x->m->n_node; i++) {
            const struct oc_node *n = &x->m->node[i];
            uint32_t first, n_capture = x->taken[i] ? captures_of(x->m, i, &first) : 0;
            bool ready = x->taken[i] && !done[i] && is_ready(x, n, written);
            for (uint32_t k = 0; ready && k < n_capture; k++) {
                uint32_t value = x->m->capture[first + k].value;
                ready = !x->inside[value] || written[value];
            }
            if (!ready)
                continue;
            put_node(x, n);
            done[i] = more = true;
            for (uint32_t k = 0; k < n->n_out; k++)
                if (n->out[k] != OC_NONE)
                    written[n->out[k]] = true;
        }
    }
}

static void put_opsets(const struct extract *x, struct oc_buf *out)
{
    struct oc_buf set = {0};
    for (uint32_t i = 0; i < x->n_opset; i++) {
        int64_t version = x->opset[i].version ? x->opset[i].version : x->m->opset[i].version;
        oc_buf_clear(&set);
        oc_wire_add_text(&set, 1, x->opset[i].domain);
        oc_wire_add_int(&set, 2, (uint64_t)version);
        oc_wire_add_bytes(out, MODEL_OPSET, set.data, set.n);
    }
    oc_buf_free(&set);
}

/* The functions of the model if a taken node may call one. */
static void put_functions(const struct extract *x, struct oc_buf *out)
{
    bool calls = false;
    uint32_t first;
    size_t n;
    for (uint32_t i = 0; i < x->m->n_node && !calls; i++)
        calls = x->taken[i] && (x->m->node[i].kind == OC_NODE_CALL || captures_of(x->m, i, &first));
    const uint8_t *data = file_bytes(x->m, &n);
    struct oc_wire in = oc_wire_of(data, n);
    struct oc_wire_field f;
    while (calls && x->m->n_function && oc_wire_next(&in, &f))
        if (f.num == MODEL_FUNCTION && f.type == OC_WIRE_LEN) {
            oc_os_need(f.data, f.n);
            oc_wire_add_bytes(out, MODEL_FUNCTION, f.data, f.n);
        }
}

static int write_file(struct extract *x, FILE *f)
{
    struct oc_buf head = {0}, tail = {0};
    uint8_t key[20];
    int64_t ir = x->m->ir_version > LEAST_IR ? x->m->ir_version : LEAST_IR;
    oc_wire_add_int(&head, MODEL_IR, (uint64_t)ir);
    oc_wire_add_text(&head, MODEL_PRODUCER, "onnxcost");
    put_opsets(x, &tail);
    put_functions(x, &tail);
    size_t n = oc_wire_put_head(key, MODEL_GRAPH, x->graph.n);
    uint64_t size = head.n + tail.n + n + x->graph.n;
    int rc = size > MOST_FILE_BYTES
                 ? oc_fail(x->err, OC_ELIMIT,
                           "the file would have %" PRIu64 " bytes, more than protobuf reads (%" PRIu64 ")",
                           size, MOST_FILE_BYTES)
                 : 0;
    if (!rc) {
        fwrite(head.data, 1, head.n, f);
        fwrite(key, 1, n, f);
        fwrite(x->graph.data, 1, x->graph.n, f);
        fwrite(tail.data, 1, tail.n, f);
    }
    oc_buf_free(&head);
    oc_buf_free(&tail);
    return rc;
}

/* ---- what was written ------------------------------------------------------------------------------- */

static void print_line(struct oc_buf *b, const char *label, const char *text)
{
    oc_buf_printf(b, "%-8s%s\n", label, text);
}

static void describe(struct extract *x)
{
    struct oc_extracted *o = x->out;
    struct oc_arena *a = &x->r.arena;
    struct oc_buf b = {0};
    print_line(&b, "nodes",
               oc_printf(a, "%u of the row, %u that compute its constants", o->nodes, o->constant_nodes));
    print_line(&b, "inputs",
               oc_printf(a, "%u, outputs %u; %u known value%s as constants", o->inputs, o->outputs,
                         o->known_values, oc_plural(o->known_values)));
    print_line(&b, "weights", oc_printf(a, "%u, %s", o->weights, oc_bytes_text(a, (double)o->weight_bytes)));
    if (o->external_weights)
        print_line(&b, "",
                   oc_printf(a, "%u of them stay in their own file, which must be in the same folder",
                             o->external_weights));
    if (o->absent_weights)
        print_line(&b, "",
                   oc_printf(a, "%u without data are inputs: a runtime cannot pack them before a run",
                             o->absent_weights));
    if (!isnan(o->time_s))
        print_line(&b, "time", oc_printf(a, "%s in the profile", oc_seconds_text(a, o->time_s, "unknown")));
    snprintf(o->text, sizeof(o->text), "%s", b.data);
    oc_buf_free(&b);
}

static int extract(struct extract *x, const char *row, FILE *f)
{
    oc_report_rows(&x->r);
    if (choose_row(x, row) || take_nodes(x) || add_inputs(x))
        return -1;
    mark_used(x);
    put_nodes(x);
    oc_wire_add_text(&x->graph, GRAPH_NAME, "row");
    oc_buf_add(&x->graph, x->inputs.data, x->inputs.n);
    put_outputs(x);
    x->out->time_s = x->row->time_s;
    describe(x);
    return write_file(x, f);
}

int oc_extract_write(const struct oc_report_in *in, const struct oc_report_opts *given, const char *row,
                     const char *path, FILE *f, struct oc_extracted *out, struct oc_err *err)
{
    struct oc_report_opts full, *const opts = &full;
    if (OC_OPTIONS(&full, given, err))
        return -1;
    *out = (struct oc_extracted){.time_s = (double)NAN};
    if (!in->model || !in->analysis)
        return oc_fail(err, OC_EARG, "--extract needs a model");
    const struct oc_model *m = in->model;
    struct extract x = {
        .r = {.in = in, .o = opts}, .m = m, .a = in->analysis, .path = path, .out = out, .err = err};
    size_t n_node = (size_t)m->n_node + 1, n_value = (size_t)m->n_value + 1;
    x.names.arena = &x.r.arena;
    x.taken = OC_NEW_ARRAY(&x.r.arena, n_node, uint8_t);
    x.todo = OC_NEW_ARRAY(&x.r.arena, n_node, uint32_t);
    x.inside = OC_NEW_ARRAY(&x.r.arena, n_value, bool);
    x.seen = OC_NEW_ARRAY(&x.r.arena, n_value, bool);
    x.used = OC_NEW_ARRAY(&x.r.arena, n_value, bool);
    x.name = OC_NEW_ARRAY(&x.r.arena, n_value, const char *);
    x.opset = OC_NEW_ARRAY(&x.r.arena, (size_t)m->n_opset + 1, struct oc_opset);
    x.n_opset = m->n_opset;
    for (uint32_t i = 0; i < m->n_opset; i++)
        x.opset[i].domain = m->opset[i].domain;
    int rc = extract(&x, row, f);
    oc_buf_free(&x.graph);
    oc_buf_free(&x.inputs);
    oc_map_free(&x.names);
    oc_arena_free(&x.r.arena);
    return rc;
}
