/* Data movement: layout conversions, copies to and from a device, and operators that run on another device.
 */
#include <string.h>

#include "advice/advisor.h"
#include "base/units.h"
#include "profile/core/timeline.h"

static const char *advise_moves_format_of(const struct oc_advisor *x)
{
    return x->p ? x->p->format : "";
}

/* ---- layout ----------------------------------------------------------------------------------------- */

/* [0,2,3,1] or [0,3,1,2], and the same for other ranks: channels last, or channels first. */
static bool moves_channels(const struct oc_advisor *x, uint32_t node)
{
    const struct oc_attr *perm = oc_node_attr(&x->m->node[node], "perm");
    if (!oc_advisor_is(x, node, " Transpose ") || !perm || perm->type != OC_ATTR_INTS || perm->n < 4 ||
        perm->ints[0] != 0)
        return false;
    bool out = true, in = true;
    for (uint32_t i = 1; i < perm->n; i++) {
        out = out && perm->ints[i] == (i + 1 < perm->n ? (int64_t)i + 1 : 1);
        in = in && perm->ints[i] == (i > 1 ? (int64_t)i - 1 : (int64_t)perm->n - 1);
    }
    return out || in;
}

/* A Transpose can split heads as well; one that changes the layout is next to an operator with a layout. */
static bool is_spatial(const struct oc_advisor *x, uint32_t node)
{
    return node != OC_NONE && oc_op_has_channels(x->a->op[node]);
}

/* By value: whether such an operator reads it. */
static bool *read_by_spatial(struct oc_advisor *x)
{
    bool *read = x->m ? OC_NEW_ARRAY(x->arena, (size_t)x->m->n_value + 1, bool) : NULL;
    for (uint32_t i = 0; x->m && i < x->m->n_node; i++)
        for (uint32_t k = 0; k < x->m->node[i].n_in && is_spatial(x, i); k++)
            if (x->m->node[i].in[k] != OC_NONE)
                read[x->m->node[i].in[k]] = true;
    return read;
}

static bool near_spatial(const struct oc_advisor *x, const bool *read, uint32_t node)
{
    const struct oc_node *n = &x->m->node[node];
    bool before = n->n_in && is_spatial(x, oc_advisor_producer(x, n->in[0]));
    return before || (n->n_out && n->out[0] != OC_NONE && read[n->out[0]]);
}

static const char *advise_moves_layout_of(const struct oc_advisor *x, const bool *read,
                                          const struct oc_piece *p)
{
    if (p->bucket && oc_type_in(p->bucket, " layout reformat "))
        return "inserted by the runtime";
    if (oc_type_in(p->type, " ReorderInput ReorderOutput Reformat Reorder "))
        return "inserted by the runtime";
    if (x->m && p->n_node == 1 && moves_channels(x, p->node[0]) && near_spatial(x, read, p->node[0]))
        return "a Transpose of the model that moves the channels";
    return NULL;
}

static const char *layout_todo(const struct oc_advisor *x, bool own)
{
    if (!strcmp(advise_moves_format_of(x), "tensorrt"))
        return "give inputs and outputs the formats of the layers (trtexec --inputIOFormats, "
               "--outputIOFormats), and keep layers in one precision: a change of precision between layers "
               "is a Reformat as well";
    if (own)
        return "export the model in the layout of the runtime (tf2onnx --inputs-as-nchw), so that the "
               "Transposes cancel";
    return "the runtime converts around operators without a kernel in its own layout: replace them "
           "(neighbours of the rows below), or compare with a run without that layout (ONNX Runtime: level "
           "extended instead of all)";
}

/* A conversion at an end of the graph may be necessary: the saving is an upper bound. */
void oc_advise_layout(struct oc_advisor *x)
{
    struct oc_advice_item *f = oc_advice_new(x, "layout", "Layout conversions");
    const bool *read = read_by_spatial(x);
    double sum = 0;
    uint32_t n = 0;
    bool own = false;
    for (uint32_t i = 0; i < x->n_piece; i++) {
        struct oc_piece *p = &x->piece[i];
        const char *what = oc_piece_timed(p) ? advise_moves_layout_of(x, read, p) : NULL;
        if (!what)
            continue;
        oc_advice_prove(x, f, p, p->time_ns, what);
        own = own || *what == 'a';
        sum += p->time_ns;
        n++;
    }
    f->low_ns = 0;
    f->high_ns = sum;
    f->basis = "at most the time of the conversions";
    f->found = oc_printf(x->arena, "%u kernel%s only change%s the layout or type of tensors: %s", n,
                         n == 1 ? "" : "s", n == 1 ? "s" : "", oc_advice_time(x, sum));
    f->todo = layout_todo(x, own);
    oc_advice_keep(x, f);
}

/* ---- copies ----------------------------------------------------------------------------------------- */

static bool is_copy(const struct oc_piece *p)
{
    return (p->bucket && !strcmp(p->bucket, "copies")) || !strncmp(p->type, "Memcpy", 6);
}

static void prove_kernel(struct oc_advisor *x, struct oc_advice_item *f, const struct oc_prof_kernel *k,
                         double ns)
{
    const struct oc_piece none = {
        .row = &(struct oc_row){.record = k->rec}, .name = k->name, .type = "copy", .bytes = k->bytes};
    double runs = x->p->runs_used ? x->p->runs_used : 1;
    oc_advice_prove(x, f, &none, ns,
                    oc_printf(x->arena, "%s a run", oc_number_text(x->arena, (double)k->calls / runs, 4)));
}

/* Copies from the device's own list, if there is one; else those with rows. */
static double prove_copies(struct oc_advisor *x, struct oc_advice_item *f, bool *pageable)
{
    double sum = 0;
    const struct oc_profile *p = x->p;
    for (uint32_t i = 0; i < p->n_kernel; i++) {
        const struct oc_prof_kernel *k = &p->kernel[i];
        if (k->kind != OC_EV_MEMCPY)
            continue;
        double ns = k->time_ns / x->r->runs;
        if (!(ns > 0))
            continue;
        *pageable = *pageable || strstr(k->name, "ageable");
        prove_kernel(x, f, k, ns);
        sum += ns;
    }
    for (uint32_t i = 0; !f->n_proof && i < x->n_piece; i++)
        if (oc_piece_timed(&x->piece[i]) && is_copy(&x->piece[i]))
            sum += x->piece[i].time_ns;
    for (uint32_t i = 0; !p->n_kernel && i < x->n_piece; i++)
        if (oc_piece_timed(&x->piece[i]) && is_copy(&x->piece[i]))
            oc_advice_prove(x, f, &x->piece[i], x->piece[i].time_ns, "a copy");
    return sum;
}

void oc_advise_copies(struct oc_advisor *x)
{
    struct oc_advice_item *f = oc_advice_new(x, "copies", "Copies to, from and on the device");
    bool pageable = false;
    double sum = prove_copies(x, f, &pageable);
    f->low_ns = 0;
    f->high_ns = sum;
    f->basis = "at most the time of the copies: necessary ones can overlap with kernels";
    f->found = oc_printf(x->arena, "copies take %s%s", oc_advice_time(x, sum),
                         pageable ? ", some from pageable memory" : "");
    f->todo = !strcmp(advise_moves_format_of(x), "onnxruntime")
                  ? "bind inputs and outputs to device memory (IoBinding)"
              : pageable ? "pin host memory (DataLoader(pin_memory=True), cudaHostAlloc) and copy "
                           "asynchronously (non_blocking=True) on a separate stream"
                         : "keep tensors on the device; copy on a separate stream while kernels run";
    oc_advice_keep(x, f);
}

/* ---- fallbacks -------------------------------------------------------------------------------------- */

/* Priority: ONNX Runtime assigns a node to the first provider of the session that supports it; accelerators
 * precede the general device, and that precedes the CPU. 0: not a provider. */
static int advise_moves_rank_of(const char *provider)
{
    static const char *const first[] = {"Tensorrt", "NvTensorRTRTX", "MIGraphX", "OpenVINO",
                                        "QNN",      "CoreML",        "VitisAI"};
    if (!*provider)
        return 0;
    if (!strncmp(provider, "CPU", 3))
        return 1;
    for (size_t i = 0; i < OC_COUNT(first); i++)
        if (!strncmp(provider, first[i], strlen(first[i])))
            return 3;
    return 2;
}

/* ONNX Runtime computes shapes on the CPU on purpose, where the results are needed. */
static bool advise_moves_is_shape_work(const struct oc_advisor *x, const struct oc_piece *p)
{
    if (oc_type_in(p->type, " Shape Size "))
        return true;
    for (uint32_t i = 0; x->m && i < p->n_node; i++)
        for (uint32_t k = 0; k < x->m->node[p->node[i]].n_out; k++) {
            uint32_t v = x->m->node[p->node[i]].out[k];
            if (v != OC_NONE && x->a->data[v])
                return true;
        }
    const struct oc_type *t = p->rec && p->rec->has_out && p->rec->n_out ? p->rec->out : NULL;
    uint64_t n;
    return t && (t->dtype == OC_DT_INT64 || t->dtype == OC_DT_INT32) && oc_type_elements(t, &n) && n <= 64;
}

static const char *best_provider(const struct oc_advisor *x, int *rank)
{
    const char *best = NULL;
    double most = 0;
    for (uint32_t i = 0; i < x->n_piece; i++) {
        const struct oc_piece *p = &x->piece[i];
        int r = p->rec && oc_piece_timed(p) && !is_copy(p) ? advise_moves_rank_of(p->rec->provider) : 0;
        if (r > *rank || (r && r == *rank && p->time_ns > most)) {
            *rank = r;
            most = p->time_ns;
            best = p->rec->provider;
        }
    }
    return best;
}

void oc_advise_fallbacks(struct oc_advisor *x)
{
    struct oc_advice_item *f = oc_advice_new(x, "fallback", "Operators that fall back to another provider");
    int rank = 0;
    const char *best = best_provider(x, &rank);
    double fallen = 0, copies = 0;
    uint32_t n = 0;
    for (uint32_t i = 0; i < x->n_piece && rank > 1; i++) {
        struct oc_piece *p = &x->piece[i];
        int r = p->rec && oc_piece_timed(p) && !is_copy(p) ? advise_moves_rank_of(p->rec->provider) : 0;
        if (!r || r >= rank || (r == 1 && advise_moves_is_shape_work(x, p)))
            continue;
        oc_advice_prove(x, f, p, p->time_ns, oc_printf(x->arena, "on %s", p->rec->provider));
        fallen += p->time_ns;
        n++;
    }
    for (uint32_t i = 0; i < x->n_piece && n; i++) {
        struct oc_piece *p = &x->piece[i];
        if (!oc_piece_timed(p) || !is_copy(p))
            continue;
        oc_advice_prove(x, f, p, p->time_ns, "a copy between providers, or of an input or output");
        copies += p->time_ns;
    }
    f->low_ns = 0;
    f->high_ns = fallen + copies;
    f->basis = "at most the time of these operators and of the copies; on the device they take time as well";
    f->found =
        oc_printf(x->arena, "%u operator%s do%s not run on %s: %s, and copies %s", n, n == 1 ? "" : "s",
                  n == 1 ? "es" : "", best ? best : "", oc_advice_time(x, fallen), oc_advice_time(x, copies));
    f->todo =
        "find the reason (ONNX Runtime: the verbose session log lists nodes with providers): a type, opset "
        "or attribute without a kernel in the provider; replace the operators, or convert their types";
    if (n)
        oc_advice_keep(x, f);
}
