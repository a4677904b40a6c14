/* Qualcomm QNN optrace of the HTP (qnn-profile-viewer with its optrace reader): a Chrome trace whose "ts" and "dur" are
 * cycles. The process "Core 0 Overview" has the events of its units (HVX threads, HMX, DMA) with the operator that each
 * is for; a process for each operator ("QNN::Conv_0") repeats them. The file has no time: operators get shares. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/core/records.h"
#include "profile/formats/chrome_reader.h"

enum { F_NAME = OC_CH_ARG, F_OP, F_TYPE, F_CYCLES, MAX_PROCESSES = 4096 };

static const struct oc_chrome_key arg_of[] = {
    {"name", F_NAME}, {"QNN Op Name", F_OP}, {"QNN Op Type", F_TYPE}, {"Duration (cycles)", F_CYCLES}};

struct process {
    int64_t pid;
    struct oc_str name; /* of a core: without " Overview" */
    bool repeats;
};

struct reading {
    struct oc_chrome c;
    struct oc_op_rows rows;
    struct process process[MAX_PROCESSES];
    size_t n_process;
    uint64_t repeated, n, most;
};

static void qnn_optrace_probe(const struct oc_peek *p, struct oc_bid *bid)
{
    bool operators = oc_peek_has(p, "\"QNN Op Name\"") || oc_peek_has(p, "\"HTP Op Type\"");
    if (p->n && p->data[0] == '{' && oc_peek_has(p, "\"traceEvents\"") &&
        (oc_peek_has(p, "\"QNN::") || oc_peek_has(p, "\"Duration (cycles)\"")) && operators)
        *bid = (struct oc_bid){.score = 90, .reason = "events with QNN operators and cycles"};
}

static const struct process *process_of(const struct reading *r, int64_t pid)
{
    for (size_t i = r->n_process; i-- > 0;)
        if (r->process[i].pid == pid)
            return &r->process[i];
    return NULL;
}

static void note_process(struct reading *r)
{
    struct oc_str name = oc_chrome_text(&r->c, F_NAME);
    if (!name.n || !oc_chrome_is(&r->c, OC_CH_NAME, "process_name") || r->n_process == MAX_PROCESSES)
        return;
    const char *tail = oc_find(name.s, name.n, " Overview", 9);
    struct oc_str core = tail ? oc_str_before(name, tail) : name;
    r->process[r->n_process++] = (struct process){
        oc_chrome_id(&r->c, OC_CH_PID), oc_str(oc_strndup(&r->rows.scratch, core.s, core.n), core.n),
        oc_str_starts(name, "QNN::")};
}

static const char *qnn_optrace_take(struct reading *r)
{
    const struct process *process = process_of(r, oc_chrome_id(&r->c, OC_CH_PID));
    double cycles;
    if (process && process->repeats) {
        r->repeated++;
        return NULL;
    }
    /* the unit of times in microseconds, which the reader converts, is a cycle */
    if (!oc_chrome_dur_ns(&r->c, oc_chrome_has(&r->c, F_CYCLES) ? F_CYCLES : OC_CH_DUR, &cycles) ||
        cycles < 0)
        return "\"dur\" is missing or not a number of cycles";
    unsigned name = oc_chrome_has(&r->c, F_OP) ? F_OP : OC_CH_NAME;
    struct oc_op_row row = {.kind = OC_EV_OPERATOR,
                            .total_ns = cycles / 1000,
                            .min_ns = (double)NAN,
                            .max_ns = (double)NAN,
                            .calls = 1,
                            .where = r->c.where,
                            .name = oc_chrome_unquoted(r->c.f[name]),
                            .type = oc_chrome_unquoted(r->c.f[F_TYPE]),
                            .provider = {"", 0},
                            .shapes = {"", 0},
                            .device_name = process ? process->name : oc_str("", 0)};
    row.type = row.type.n ? row.type : oc_str("", 0);
    if (!row.name.n)
        return "missing \"name\"";
    oc_op_rows_add(&r->rows, &row);
    r->n++;
    return NULL;
}

static void qnn_optrace_read_all(struct reading *r)
{
    while (r->n < r->most && oc_chrome_next(&r->c)) {
        const char *why = oc_chrome_is(&r->c, OC_CH_PH, "X") ? qnn_optrace_take(r) : NULL;
        if (why)
            oc_chrome_bad(&r->c, why);
        if (oc_chrome_is(&r->c, OC_CH_PH, "M"))
            note_process(r);
    }
    if (r->n == r->most)
        oc_prof_over(r->rows.p, OC_LIMIT_EVENTS);
}

static int qnn_optrace_read(const struct oc_source *src, const struct oc_profile_opts *opts,
                            struct oc_profile *out, struct oc_err *err)
{
    struct reading *r = oc_xcalloc(1, sizeof(*r));
    r->most = oc_input_limit(&out->limits, OC_LIMIT_EVENTS);
    oc_op_rows_init(&r->rows, out, opts);
    r->rows.event = "cycles";
    int rc = oc_chrome_open(&r->c, src->file[0].s, arg_of, OC_COUNT(arg_of), err);
    if (rc == 0)
        qnn_optrace_read_all(r);
    if (rc == 0 && !r->n)
        rc = oc_fail(err, OC_EFORMAT, "has no events of operators (offset %llu)",
                     (unsigned long long)oc_json_offset(r->c.j));
    if (rc == 0)
        oc_faults_warn(&r->c.faults, r->c.j, src->file[0].s, out);
    if (rc == 0 && r->repeated)
        oc_diag_add(&out->diags, OC_INFO, "I-overlay", "",
                    "%llu events of processes that repeat others were skipped",
                    (unsigned long long)r->repeated);
    out->producer = "QNN optrace";
    out->device = "QNN";
    if (rc == 0)
        oc_op_rows_finish(&r->rows);
    oc_op_rows_free(&r->rows);
    oc_chrome_close(&r->c);
    free(r);
    return rc;
}

const struct oc_importer oc_importer_qnn_optrace = {
    .name = "qnn_optrace",
    .title = "Qualcomm QNN optrace of the HTP (Chrome trace in cycles)",
    .seen = "the layout that public scripts read",
    .lost = "times: the file counts cycles; units, memory",
    .probe = qnn_optrace_probe,
    .read = qnn_optrace_read,
};
