/* ONNX Runtime's profile (enable_profiling): events to records. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/units.h"
#include "onnxcost/profile.h"
#include "profile/core/timeline.h"
#include "profile/formats/ort_trace.h"

#define MAX_US         ((int64_t)1 << 38) /* three days: sums of all events stay exact */
#define MAX_TS_US      ((int64_t)1 << 52)
#define MAX_EVENT_TEXT ((size_t)1 << 26)
#define PART_END       '\x1f' /* of the text of a key */
#define MAX_SETS       65536  /* sets of shapes that are kept: a record each */

/* ---- probe ------------------------------------------------------------------------------------------ */

static void onnxruntime_probe(const struct oc_peek *p, struct oc_bid *bid)
{
    bool rest = p->n && p->data[0] == '{' && !oc_peek_has(p, "\"traceEvents\""); /* of an array */
    if (!p->n || (p->data[0] != '[' && !rest) || !oc_peek_has(p, "\"cat\""))
        return;
    bool session = oc_peek_has(p, "\"Session\"") &&
                   (oc_peek_has(p, "\"model_loading") || oc_peek_has(p, "\"session_initialization\"") ||
                    oc_peek_has(p, "\"model_run\""));
    bool node = oc_peek_has(p, "_kernel_time\"") && oc_peek_has(p, "\"op_name\"");
    if ((session && !rest) || node)
        *bid = (struct oc_bid){.score = rest              ? 80
                                        : session && node ? 95
                                                          : 85,
                               .reason = "chrome trace array with Session or Node events"};
}

/* ---- keys ------------------------------------------------------------------------------------------- */

static bool drop_suffix(struct oc_str *s, const char *suffix)
{
    size_t n = strlen(suffix);
    if (s->n < n || memcmp(s->s + s->n - n, suffix, n) != 0)
        return false;
    s->n -= n;
    return true;
}

static bool has_body(struct oc_str op)
{
    static const char *const type[] = {"If",         "Loop",         "Scan",     "SequenceMap",
                                       "BeamSearch", "GreedySearch", "Sampling", "WhisperBeamSearch"};
    for (size_t i = 0; i < OC_COUNT(type); i++)
        if (oc_str_eq(op, type[i]))
            return true;
    return false;
}

static uint64_t size_field(const struct ort_reading *r, unsigned f)
{
    struct oc_str s = ort_field(r, f);
    uint64_t v;
    return oc_parse_u64(s.s, s.n, &v) ? v : UINT64_MAX;
}

static void onnxruntime_key_part(struct ort_reading *r, struct oc_str s)
{
    oc_buf_add(&r->key_text, s.s, s.n);
    oc_buf_char(&r->key_text, PART_END);
}

/* Looks up the key with the collected text; the caller fills a new key. */
static bool is_new_key(struct ort_reading *r, uint32_t *id)
{
    *id = (uint32_t)r->t->n_key;
    const char *text;
    if (!oc_map_add(&r->keys, r->key_text.data, r->key_text.n, id, &text))
        return false;
    OC_PUSH(r->t->key, r->t->n_key, r->t->key_cap) = (struct ort_key){.text = text,
                                                                      .n_text = (uint32_t)r->key_text.n,
                                                                      .next = OC_NONE,
                                                                      .index = -1,
                                                                      .where = r->where,
                                                                      .last_group = OC_NONE};
    return true;
}

static const char *onnxruntime_node_name(struct ort_reading *r, struct oc_str name, int64_t index)
{
    if (name.n)
        return oc_prof_text(r->t->out, name);
    struct oc_str op = ort_field(r, F_OP); /* 0.x writes no name for unnamed nodes */
    struct oc_buf *b = &r->key_text;
    oc_buf_clear(b);
    oc_buf_add(b, op.s, op.n);
    if (index >= 0)
        oc_buf_printf(b, "_%lld", (long long)index);
    return oc_prof_text(r->t->out, (struct oc_str){b->n ? b->data : "", b->n});
}

static bool has_shapes(const struct ort_reading *r)
{
    return r->field[F_IN].n || r->field[F_OUT].n;
}

static struct oc_str kept_text(struct ort_reading *r, unsigned f)
{
    struct oc_str s = ort_field(r, f);
    return (struct oc_str){s.n ? oc_prof_text(r->t->out, s) : NULL, s.n};
}

static uint32_t look_up_node(struct ort_reading *r, struct oc_str name)
{
    uint32_t id;
    oc_buf_clear(&r->key_text);
    oc_buf_char(&r->key_text, 'N');
    onnxruntime_key_part(r, name);
    for (unsigned f = F_OP; f <= F_INDEX; f++)
        onnxruntime_key_part(r, ort_field(r, f));
    bool shapes = has_shapes(r);
    size_t plain = r->key_text.n;
    for (unsigned f = shapes ? F_IN : F_PARAM; f <= (shapes ? F_OUT : F_OUT_SIZE); f++)
        onnxruntime_key_part(r, ort_field(r, f));
    bool bare = r->t->n_key >= MAX_SETS && oc_map_get(&r->keys, r->key_text.data, r->key_text.n) == OC_NONE;
    if (bare) {
        r->left_out = true;
        r->key_text.n = plain;
    }
    if (!is_new_key(r, &id))
        return id;
    struct ort_key *k = &r->t->key[id];
    struct oc_str index = ort_field(r, F_INDEX);
    if (!oc_parse_i64(index.s, index.n, &k->index) || k->index < 0)
        k->index = -1;
    k->name = onnxruntime_node_name(r, name, k->index);
    k->op_type = oc_prof_text(r->t->out, ort_field(r, F_OP));
    k->provider = oc_prof_text(r->t->out, ort_field(r, F_PROVIDER));
    if (!bare) {
        k->in = kept_text(r, F_IN);
        k->out = kept_text(r, F_OUT);
    }
    k->param_bytes = bare ? UINT64_MAX : size_field(r, F_PARAM);
    k->act_bytes = bare ? UINT64_MAX : size_field(r, F_ACT);
    k->out_bytes = bare ? UINT64_MAX : size_field(r, F_OUT_SIZE);
    k->kind = ORT_NODE;
    k->bare = bare;
    k->text = bare ? NULL : k->text;
    k->has_body = has_body(ort_field(r, F_OP));
    r->t->saw_shapes |= shapes;
    return id;
}

static bool next_part_is(const char **text, const char *end, struct oc_str s)
{
    const char *p = *text;
    *text += s.n + 1;
    return (size_t)(end - p) > s.n && p[s.n] == PART_END && oc_same(p, s.s, s.n);
}

/* Whether look_up_node would give this key. */
static bool is_key_of(const struct ort_reading *r, const struct ort_key *k, struct oc_str name)
{
    if (!k->text)
        return false;
    const char *p = k->text + 1, *end = k->text + k->n_text;
    if (!next_part_is(&p, end, name))
        return false;
    for (unsigned f = F_OP; f <= F_INDEX; f++)
        if (!next_part_is(&p, end, ort_field(r, f)))
            return false;
    bool shapes = has_shapes(r);
    for (unsigned f = shapes ? F_IN : F_PARAM; f <= (shapes ? F_OUT : F_OUT_SIZE); f++)
        if (!next_part_is(&p, end, ort_field(r, f)))
            return false;
    return p == end;
}

/* The key of a node event. Runs repeat: the one that followed last time is tried first. */
static uint32_t node_key(struct ort_reading *r, struct oc_str name)
{
    uint32_t last = r->last_key, id = last == OC_NONE ? OC_NONE : r->t->key[last].next;
    if (id == OC_NONE || !is_key_of(r, &r->t->key[id], name))
        id = look_up_node(r, name);
    if (last != OC_NONE)
        r->t->key[last].next = id;
    r->last_key = id;
    return id;
}

static uint32_t fence_key(struct ort_reading *r)
{
    uint32_t id;
    oc_buf_clear(&r->key_text);
    oc_buf_char(&r->key_text, 'F');
    if (is_new_key(r, &id)) {
        struct ort_key *k = &r->t->key[id];
        k->name = "(fences)";
        k->op_type = k->provider = "";
        k->kind = ORT_FENCE;
        k->param_bytes = k->act_bytes = k->out_bytes = UINT64_MAX;
    }
    return id;
}

static const char *intern_part(struct ort_reading *r, struct oc_str s)
{
    return s.n ? oc_prof_text(r->t->out, s) : NULL;
}

static uint32_t kernel_key(struct ort_reading *r, struct oc_str name, const struct ort_work *w)
{
    uint32_t id;
    struct oc_str parent = w->parent;
    drop_suffix(&parent, "_kernel_time");
    oc_buf_clear(&r->key_text);
    oc_buf_char(&r->key_text, 'K');
    onnxruntime_key_part(r, name);
    for (unsigned f = F_GRID_X; f <= F_BLOCK_Z; f++)
        onnxruntime_key_part(r, ort_field(r, f));
    size_t launch = r->key_text.n;
    onnxruntime_key_part(r, parent);
    onnxruntime_key_part(r, ort_field(r, F_OP));
    onnxruntime_key_part(r, w->graph);
    onnxruntime_key_part(r, w->part);
    oc_buf_char(&r->key_text, w->encloses ? 'e' : '-');
    if (is_new_key(r, &id)) {
        struct ort_key *k = &r->t->key[id];
        k->name = oc_prof_text(r->t->out, name);
        k->op_type = oc_prof_text(r->t->out, parent);
        k->provider = oc_intern(&r->t->out->names, r->key_text.data, launch);
        k->part = intern_part(r, w->part);
        k->part_type = oc_prof_text(r->t->out, w->part_type);
        k->graph = intern_part(r, w->graph);
        k->encloses = w->encloses;
        k->own_clock = w->own_clock;
        k->kind = ORT_KERNEL;
    }
    return id;
}

/* ---- storing events --------------------------------------------------------------------------------- */

static uint32_t onnxruntime_lane_of(struct ort_reading *r)
{
    if (r->lane != OC_NONE && r->lane_pid == r->pid && r->lane_tid == r->tid)
        return r->lane;
    int64_t id[2] = {r->pid, r->tid};
    uint32_t lane = r->t->n_lane;
    if (oc_map_add(&r->lanes, (const char *)id, sizeof(id), &lane, NULL)) {
        OC_PUSH(r->t->lane, r->t->n_lane, r->t->lane_cap) = oc_lane_of_thread(r->pid, r->tid);
    }
    r->lane_pid = r->pid;
    r->lane_tid = r->tid;
    r->lane = lane;
    return lane;
}

static void store_session(struct ort_reading *r, struct oc_str name)
{
    struct ort_trace *t = r->t;
    if (oc_str_eq(name, "model_run")) {
        t->read_us += r->dur_us;
        OC_GROW(t->run, t->n_run, t->run_cap);
        t->n_first = t->n_run ? t->n_first : t->n_event;
        t->run[t->n_run++] =
            (struct ort_run){.start_us = r->ts_us, .dur_us = r->dur_us, .lane = onnxruntime_lane_of(r)};
        return;
    }
    if (drop_suffix(&name, "Executor::Execute")) /* encloses the nodes of one graph: no time of its own */
        return;
    t->read_us += r->dur_us;
    OC_PUSH(t->session, t->n_session, t->session_cap) =
        (struct ort_session){oc_prof_text(r->t->out, name), r->ts_us, r->dur_us, r->where};
}

/* The first run ends with its event; nodes of later runs do not count. */
static void store_memory(struct ort_reading *r, uint32_t key)
{
    struct oc_prof_memory *m = &r->t->out->memory;
    const int64_t *v = r->mem;
    if (r->t->n_run || r->mem_seen != (1u << MEM_COUNT) - 1 || v[MEM_REQUESTED] < 0 || v[MEM_IN_USE] < 0 ||
        v[MEM_REQUESTED_DELTA] > v[MEM_REQUESTED] || v[MEM_IN_USE_DELTA] > v[MEM_IN_USE])
        return;
    uint64_t requested = (uint64_t)v[MEM_REQUESTED], in_use = (uint64_t)v[MEM_IN_USE];
    if (!m->known || (double)r->ts_us < m->first_us) {
        m->first_us = (double)r->ts_us;
        m->before_requested = requested - (uint64_t)v[MEM_REQUESTED_DELTA];
        m->before_in_use = in_use - (uint64_t)v[MEM_IN_USE_DELTA];
    }
    if (!m->known || requested > m->max_requested) {
        m->max_requested = requested;
        m->requested_at = r->t->key[key].name;
    }
    if (!m->known || in_use > m->max_in_use) {
        m->max_in_use = in_use;
        m->in_use_at = r->t->key[key].name;
    }
    m->known = true;
}

static void keep_order(const struct ort_trace *t)
{
    struct oc_prof_memory *m = &t->out->memory;
    size_t n = t->n_run ? t->n_first : t->n_event;
    if (!m->known || n > UINT32_MAX)
        return;
    struct oc_prof_ran *ran = OC_NEW_ARRAY(&t->out->arena, n, struct oc_prof_ran);
    for (size_t i = 0; i < n; i++) {
        const struct ort_key *k = &t->key[t->event[i].key];
        if (k->kind == ORT_NODE)
            ran[m->n_ran++] = (struct oc_prof_ran){k->name, k->op_type, k->out_bytes};
    }
    m->ran = ran;
}

/* {"main_thread": {..., "Run": 90, "Wait": 4, "WaitRevoke": 0}, ...}: microseconds. "": one thread. */
static void add_waiting(struct ort_reading *r, struct ort_key *k)
{
    static const char mark[] = "\"Wait\": ";
    struct oc_str s = ort_field(r, F_THREAD_STATS);
    const char *at = s.n > sizeof(mark) ? oc_find(s.s, s.n, mark, sizeof(mark) - 1) : NULL;
    int64_t waited = 0;
    if (!at)
        return;
    for (at += sizeof(mark) - 1; at < s.s + s.n && oc_is_digit((unsigned char)*at) && waited <= r->dur_us;
         at++)
        waited = waited * 10 + (*at - '0');
    k->waited_us += waited < r->dur_us ? waited : r->dur_us;
    k->told_us += r->dur_us;
}

static void add_node_event(struct ort_reading *r, uint32_t key)
{
    struct ort_trace *t = r->t;
    add_waiting(r, &t->key[key]);
    t->read_us += r->dur_us;
    struct ort_event *e = &OC_PUSH(t->event, t->n_event, t->event_cap);
    *e = (struct ort_event){.ts_us = r->ts_us,
                            .dur_us = r->dur_us,
                            .self_us = r->dur_us,
                            .key = key,
                            .lane = onnxruntime_lane_of(r)};
    t->in_disorder |= t->n_event > 1 && ort_before(e, e - 1, t->key);
}

static void store_node(struct ort_reading *r, struct oc_str name)
{
    struct ort_trace *t = r->t;
    bool fence = drop_suffix(&name, "_fence_before") || drop_suffix(&name, "_fence_after");
    t->saw_fence |= fence;
    if (fence && !r->dur_us) /* most of them, and without time */
        return;
    if (!fence)
        drop_suffix(&name, "_kernel_time");
    add_node_event(r, fence ? fence_key(r) : node_key(r, name));
    if (!fence)
        store_memory(r, t->event[t->n_event - 1].key);
}

static void store_kernel(struct ort_reading *r, struct oc_str name)
{
    struct ort_trace *t = r->t;
    struct ort_work work;
    if (!oc_ort_describe_work(r, name, &work))
        return;
    OC_PUSH(t->kernel, t->n_kernel, t->kernel_cap) = (struct ort_event){.ts_us = r->ts_us,
                                                                        .dur_us = r->dur_us,
                                                                        .self_us = r->dur_us,
                                                                        .key = kernel_key(r, name, &work),
                                                                        .lane = OC_NONE};
}

static const char *why_bad_times(const struct ort_reading *r)
{
    if (r->dur_us < 0 || r->dur_us > MAX_US)
        return "\"dur\" is out of range";
    return r->ts_us < -MAX_TS_US || r->ts_us > MAX_TS_US ? "\"ts\" is out of range" : NULL;
}

static const char *why_bad(const struct ort_reading *r)
{
    return !r->has_name  ? "missing \"name\""
           : !r->has_ts  ? "missing \"ts\""
           : !r->has_dur ? "missing \"dur\""
                         : why_bad_times(r);
}

static double number_field(const struct ort_reading *r, unsigned f)
{
    struct oc_str s = ort_field(r, f);
    double v;
    return oc_parse_double(s.s, s.n, &v) && v > 0 && isfinite(v) ? v : 0;
}

/* "[12,13,14]" without those that are not positive. A file that has them several times gets no more memory. */
static void store_turns(struct ort_reading *r, double *ns, struct oc_prof_machine *m)
{
    struct oc_str s = ort_field(r, F_TURN_NS);
    double v;
    size_t n;
    m->turn_ns = ns = ns ? ns : OC_NEW_ARRAY(&r->t->out->arena, OC_MOST_TURNS, double);
    for (size_t at = s.n && s.s[0] == '['; at < s.n && m->n_turn < OC_MOST_TURNS; at += n + 1) {
        for (n = 0; at + n < s.n && s.s[at + n] != ',' && s.s[at + n] != ']'; n++)
            ;
        if (oc_parse_double(s.s + at, n, &v) && v > 0 && isfinite(v))
            ns[m->n_turn++] = v;
    }
}

/* What `onnxcost record` adds (run/record_files.c): the inputs that it assumed, the machine. */
static void store_recording(struct ort_reading *r, struct oc_str assumed)
{
    if (assumed.n)
        oc_diag_add(&r->t->out->diags, OC_INFO, "I-assumed-inputs", "", "recorded with assumed inputs: %.*s",
                    (int)assumed.n, assumed.s);
    double *turn_ns = (double *)r->t->out->machine.turn_ns;
    r->t->out->machine = (struct oc_prof_machine){.started_s = number_field(r, F_STARTED),
                                                  .turns_id = number_field(r, F_TURNS_ID),
                                                  .processors = number_field(r, F_PROCESSORS),
                                                  .threads = number_field(r, F_THREADS),
                                                  .others = number_field(r, F_OTHERS),
                                                  .probe_ns = number_field(r, F_PROBE_NS),
                                                  .probe_fastest_ns = number_field(r, F_PROBE_FASTEST_NS),
                                                  .session_ns = number_field(r, F_SESSION_NS),
                                                  .first_run_ns = number_field(r, F_FIRST_RUN_NS)};
    if (r->t->out->machine.turns_id > 0)
        store_turns(r, turn_ns, &r->t->out->machine);
}

static void store_event(struct ort_reading *r)
{
    struct oc_str cat = ort_field(r, F_CAT), name = ort_field(r, F_NAME);
    bool session = oc_str_eq(cat, "Session"), node = oc_str_eq(cat, "Node"),
         kernel = oc_str_eq(cat, "Kernel") || oc_str_eq(cat, "Api");
    if (oc_str_eq(cat, "onnxcost"))
        store_recording(r, name);
    if (!session && !node && !kernel)
        return; /* reserved categories and metadata carry no time */
    const char *why = why_bad(r);
    if (why) {
        oc_faults_bad(&r->faults, why, r->where, 0);
    } else if (session) {
        store_session(r, name);
    } else if (node) {
        store_node(r, name);
    } else {
        store_kernel(r, name);
    }
}

/* False: the event is incomplete. */
static bool onnxruntime_take_event(struct ort_reading *r)
{
    oc_json_peek(r->j); /* to the closing brace */
    r->where = oc_json_offset(r->j);
    size_t n = oc_ort_scan_event(r);
    if (!n && !oc_ort_read_event(r))
        return false;
    store_event(r);
    oc_json_step(r->j, n);
    return true;
}

/* ---- file ------------------------------------------------------------------------------------------- */

static void onnxruntime_read_all(struct ort_reading *r)
{
    struct ort_trace *t = r->t;
    uint64_t most = oc_input_limit(&t->out->limits, OC_LIMIT_EVENTS);
    for (;;) {
        while (oc_json_item(r->j)) {
            if (t->n_event + t->n_kernel + t->n_session + t->n_run >= most) {
                oc_prof_over(t->out, OC_LIMIT_EVENTS);
                return;
            }
            if (!onnxruntime_take_event(r))
                break;
            r->faults.last_offset = oc_json_offset(r->j);
            r->faults.number++;
        }
        if (!oc_faults_broken(&r->faults, r->j) || !oc_json_resync(r->j, 1))
            return;
    }
}

static void onnxruntime_add_warnings(struct ort_reading *r, struct oc_stream *s)
{
    if (r->left_out)
        oc_diag_add(&r->t->out->diags, OC_WARNING, "W-many-shapes", "",
                    "shapes change so often that only the first %d different sets are kept: later calls have "
                    "no shapes",
                    MAX_SETS);
    oc_faults_warn(&r->faults, r->j, s, r->t->out);
}

static const char *producer_of(const struct ort_trace *t)
{
    if (t->saw_memory)
        return "ONNX Runtime 1.28 or later";
    if (t->saw_node_index)
        return t->saw_fence ? "ONNX Runtime 1.14 to 1.21" : "ONNX Runtime 1.14 or later";
    if (t->saw_graph_index)
        return t->saw_shapes ? "ONNX Runtime 1.11 to 1.13" : "ONNX Runtime 1.10 or earlier";
    return "ONNX Runtime";
}

static int onnxruntime_read_trace(const struct oc_source *src, const struct oc_profile_opts *opts,
                                  struct oc_profile *out, struct oc_err *err)
{
    struct oc_stream *s = src->file[0].s;
    struct ort_trace t = {.out = out};
    struct oc_arena scratch = {0}; /* texts of the keys */
    struct ort_reading r = {.t = &t,
                            .j = oc_json_open(s),
                            .keys.arena = &scratch,
                            .lanes.arena = &scratch,
                            .last_key = OC_NONE,
                            .lane = OC_NONE};
    r.text.max = MAX_EVENT_TEXT;
    r.most_text = oc_input_limit(&out->limits, OC_LIMIT_STRING_BYTES);
    int rc = 0;
    bool rest = oc_json_peek(r.j) == OC_JSON_OBJECT; /* the end of a log that holds the trace */
    if (rest || oc_json_peek(r.j) == OC_JSON_ARRAY) {
        if (rest)
            oc_json_enter_rest(r.j);
        else
            oc_json_enter(r.j);
        onnxruntime_read_all(&r);
        if (rest && r.faults.number)
            oc_diag_add(&out->diags, OC_WARNING, "W-fragment", "",
                        "the file begins inside the trace (its first '[' is missing): the first run may lack "
                        "operators");
        onnxruntime_add_warnings(&r, s);
        out->producer = producer_of(&t);
        if (!t.n_event && !t.n_session && !t.n_run && !t.n_kernel)
            rc = oc_fail(err, OC_EFORMAT, "has no events of ONNX Runtime (offset %llu)",
                         (unsigned long long)oc_json_offset(r.j));
    } else {
        rc = oc_fail(err, OC_EFORMAT, "expected an array of events (offset 0)");
    }
    keep_order(&t);
    oc_map_free(&r.keys); /* before the events are summed, which takes memory too */
    oc_arena_free(&scratch);
    if (rc == 0 && opts->keep_events)
        oc_ort_keep_timeline(&t, opts);
    if (rc == 0)
        oc_ort_summarise(&t, opts);
    oc_json_close(r.j);
    oc_map_free(&r.lanes);
    oc_buf_free(&r.text);
    oc_buf_free(&r.key_text);
    free(t.event);
    free(t.kernel);
    free(t.key);
    free(t.run);
    free(t.session);
    free(t.lane);
    return rc;
}

const struct oc_importer oc_importer_onnxruntime = {
    .name = "onnxruntime",
    .title = "ONNX Runtime profiling JSON",
    .seen = "1.10 to 1.30 on CPU; execution providers from their sources",
    .lost = "operators below 1 us count 0; events after the first million",
    .probe = onnxruntime_probe,
    .read = onnxruntime_read_trace,
};

/* ---- ort timeline ----------------------------------------------------------------------------------- */

/* The last lane is shared where there are more than a timeline has. */
static void add(struct oc_timeline *t, unsigned kind, uint32_t lane, const char *name, int64_t ts_us,
                int64_t dur_us, uint32_t detail)
{
    struct oc_event e = {.start_ns = oc_timeline_at(t, ts_us * NS_PER_US),
                         .dur_ns = (double)dur_us * NS_PER_US,
                         .name = oc_timeline_name(t, name, strlen(name)),
                         .detail = detail,
                         .lane = (uint16_t)(lane < t->n_lane ? lane : t->n_lane - 1),
                         .kind = (uint8_t)kind};
    oc_timeline_add(t, &e, 0, 0);
}

/* A kernel's node name, stored in its detail until it is linked. */
static uint32_t node_detail(struct oc_timeline *t, const char *node)
{
    bool new;
    uint32_t id = oc_timeline_detail(t, node, strlen(node), &new);
    if (new)
        t->detail[id].text = node;
    return id;
}

static void fill(const struct ort_trace *from, struct oc_timeline *t)
{
    for (uint32_t l = 0; l < from->n_lane; l++) /* with the numbers that the records use */
        oc_timeline_lane(t, &from->lane[l]);
    if (!from->n_lane && from->n_session)
        oc_timeline_lane(t, &(struct oc_lane){.device_id = OC_NO_ID});
    for (size_t i = 0; i < from->n_run; i++)
        add(t, OC_EV_STEP, from->run[i].lane, "model_run", from->run[i].start_us, from->run[i].dur_us,
            OC_NONE);
    for (size_t i = 0; i < from->n_event; i++) {
        const struct ort_event *e = &from->event[i];
        const struct ort_key *k = &from->key[e->key];
        add(t, k->kind == ORT_NODE ? OC_EV_OPERATOR : OC_EV_FRAMEWORK, e->lane, k->name, e->ts_us, e->dur_us,
            OC_NONE);
    }
    for (size_t i = 0; i < from->n_session; i++)
        add(t, OC_EV_FRAMEWORK, 0, from->session[i].name, from->session[i].ts_us, from->session[i].dur_us,
            OC_NONE);
    if (!from->n_kernel)
        return;
    struct oc_lane device = {.device = true, .process = OC_NO_ID};
    uint16_t stream = oc_timeline_lane(t, &device);
    for (size_t i = 0; i < from->n_kernel; i++) {
        const struct ort_event *e = &from->kernel[i];
        const struct ort_key *k = &from->key[e->key];
        add(t, OC_EV_KERNEL, stream, k->name, e->ts_us, e->dur_us, node_detail(t, k->op_type));
    }
}

/* A kernel belongs to the call of its node that began last before it. */
static void link_kernels(struct oc_timeline *t)
{
    struct oc_arena scratch = {0};
    struct oc_map last = {.arena = &scratch};
    for (size_t i = 0; i < t->n_event; i++) {
        struct oc_event *e = &t->event[i];
        const char *name = t->name[e->name];
        if (e->kind == OC_EV_OPERATOR)
            oc_map_set(&last, name, strlen(name), (uint32_t)i);
        if (e->kind != OC_EV_KERNEL || e->detail == OC_NONE)
            continue;
        const char *node = t->detail[e->detail].text;
        e->link = node && node[0] ? oc_map_get(&last, node, strlen(node)) : OC_NONE;
        if (e->link != OC_NONE)
            e->run = t->event[e->link].run;
    }
    oc_map_free(&last);
    oc_arena_free(&scratch);
}

void oc_ort_keep_timeline(const struct ort_trace *from, const struct oc_profile_opts *opts)
{
    static const struct oc_timeline_rules rules = {.find_runs = false};
    struct oc_profile *p = from->out;
    struct oc_timeline *t = oc_timeline_new(p);
    size_t n_diag = p->diags.n;
    fill(from, t);
    oc_timeline_finish(t, opts, &rules);
    if (from->n_kernel)
        link_kernels(t);
    p->diags.n = n_diag; /* already reported with the records */
    oc_timeline_keep(t, opts);
}
