#include "fleet/scan_row.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

#include "analyze/analysis.h"
#include "base/ck.h"
#include "fleet/file_hash.h"

#define TEXT(name)                                                                                           \
    {                                                                                                        \
#name, OC_SCAN_TEXT, offsetof(struct oc_scan_row, name)                                              \
    }
#define U64(name)                                                                                            \
    {                                                                                                        \
#name, OC_SCAN_U64, offsetof(struct oc_scan_row, name)                                               \
    }
#define I64(name)                                                                                            \
    {                                                                                                        \
#name, OC_SCAN_I64, offsetof(struct oc_scan_row, name)                                               \
    }

const struct oc_scan_field oc_scan_fields[] = {
    TEXT(path),         U64(size_bytes),
    I64(mtime_ns),      TEXT(hash),
    TEXT(duplicate_of), I64(ir_version),
    I64(opset),         TEXT(domains),
    TEXT(producer),     U64(nodes),
    U64(unknown_nodes), U64(params),
    U64(const_bytes),   U64(macs),
    U64(flops),         U64(ops),
    U64(bytes),         U64(peak_activation_bytes),
    TEXT(quality),      TEXT(peak_quality),
    U64(assumptions),   {"seconds", OC_SCAN_DOUBLE, offsetof(struct oc_scan_row, seconds)},
    TEXT(settings),     TEXT(error),
    TEXT(error_code),   TEXT(error_file),
    U64(error_line),    U64(error_offset),
};
const size_t oc_scan_n_fields = OC_COUNT(oc_scan_fields);

void oc_scan_row_clear(struct oc_scan_row *row)
{
    *row = (struct oc_scan_row){0};
    for (size_t i = 0; i < oc_scan_n_fields; i++) {
        char *at = (char *)row + oc_scan_fields[i].offset;
        if (oc_scan_fields[i].kind == OC_SCAN_U64)
            memcpy(at, &(uint64_t){OC_SCAN_UNKNOWN}, sizeof(uint64_t));
        else if (oc_scan_fields[i].kind == OC_SCAN_I64)
            memcpy(at, &(int64_t){INT64_MIN}, sizeof(int64_t));
        else if (oc_scan_fields[i].kind == OC_SCAN_DOUBLE)
            memcpy(at, &(double){NAN}, sizeof(double));
    }
}

static const char *text_or_null(const char *s)
{
    return *s ? s : NULL;
}

void oc_scan_result_texts(struct oc_scan_result *r)
{
    static const char *const quality[] = {NULL, "exact", "upper", "lower", "est", "unknown"};
    static const char *const code[] = {[OC_OK] = NULL,
                                       [OC_EIO] = "io",
                                       [OC_EFORMAT] = "format",
                                       [OC_ELIMIT] = "limit",
                                       [OC_EUNSUPPORTED] = "unsupported",
                                       [OC_EARG] = "argument",
                                       [OC_ENOTFOUND] = "notfound",
                                       [OC_EOUTPUT] = "output",
                                       [OC_ELIBRARY] = "library",
                                       [OC_ESTOPPED] = "stopped"};
    r->row.hash = text_or_null(r->hash);
    r->row.producer = text_or_null(r->producer);
    r->row.domains = text_or_null(r->domains);
    r->row.error = text_or_null(r->error);
    r->row.error_file = text_or_null(r->error_file);
    r->row.quality = quality[r->quality];
    r->row.peak_quality = quality[r->peak_quality];
    r->row.error_code = r->no_memory ? "memory" : r->crashed ? "crash" : code[r->error_code];
}

void oc_scan_failed(struct oc_scan_result *r, const struct oc_err *err)
{
    r->error_code = (uint8_t)err->code;
    snprintf(r->error, sizeof(r->error), "%s", err->msg);
    snprintf(r->error_file, sizeof(r->error_file), "%s", err->file);
    r->row.error_line = err->line ? err->line : OC_SCAN_UNKNOWN;
    r->row.error_offset = err->offset_bytes ? err->offset_bytes : OC_SCAN_UNKNOWN;
}

static void add_text(char *out, size_t cap, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void add_text(char *out, size_t cap, const char *fmt, ...)
{
    size_t n = strlen(out);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(out + n, cap - n, fmt, ap);
    va_end(ap);
}

static void take_model(struct oc_scan_result *out, const struct oc_model *m)
{
    const char *version = m->producer_version ? m->producer_version : "";
    out->row.ir_version = m->ir_version;
    snprintf(out->producer, sizeof(out->producer), "%s%s%s", m->producer_name ? m->producer_name : "",
             *version ? " " : "", version);
    for (uint32_t i = 0; i < m->n_opset; i++) {
        if (!*m->opset[i].domain)
            out->row.opset = m->opset[i].version;
        else
            add_text(out->domains, sizeof(out->domains), "%s%s %" PRId64, *out->domains ? ", " : "",
                     m->opset[i].domain, m->opset[i].version);
    }
}

/* A sum is unknown when no node has a cost. */
static void take_costs(struct oc_scan_result *out, const struct oc_analysis *a)
{
    struct oc_totals t = a->total;
    struct oc_scan_row *row = &out->row;
    row->nodes = t.nodes;
    row->unknown_nodes = t.unknown_nodes;
    row->params = t.params;
    row->const_bytes = t.const_bytes;
    row->assumptions = a->n_assumption;
    out->quality = (uint8_t)(t.quality + 1);
    out->peak_quality = (uint8_t)(a->peak.quality + 1);
    if (a->peak.quality != OC_UNKNOWN)
        row->peak_activation_bytes = a->peak.bytes;
    if (t.nodes && t.unknown_nodes == t.nodes)
        return;
    uint64_t read = t.bytes_read_act, bytes;
    row->macs = t.macs;
    row->flops = t.flops;
    row->ops = t.ops;
    if (oc_add_u64(read, t.bytes_read_weight, &bytes) && oc_add_u64(bytes, t.bytes_written, &bytes))
        row->bytes = bytes;
}

static void take_hash(const char *path, struct oc_scan_result *out)
{
    struct oc_file file;
    if (oc_file_map(path, 0, &file, NULL))
        return;
    snprintf(out->hash, sizeof(out->hash), "%016" PRIx64, oc_xxh64(file.data, (size_t)file.size_bytes, 0));
    oc_file_unmap(&file);
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void oc_scan_one(const char *path, const struct oc_analyze_opts *opts, const struct oc_caps *caps,
                 bool with_hash, struct oc_scan_result *out)
{
    struct oc_err err = {0};
    struct oc_model *m = NULL;
    struct oc_analysis *a = NULL;
    double start_s = now_s();
    oc_scan_row_clear(&out->row);
    if (oc_model_load(path, caps, &m, &err)) {
        oc_scan_failed(out, &err);
    } else {
        take_model(out, m);
        if (oc_analyze(m, opts, &a, &err))
            oc_scan_failed(out, &err);
        else
            take_costs(out, a);
    }
    oc_analysis_free(a);
    oc_model_free(m);
    if (with_hash)
        take_hash(path, out);
    out->row.seconds = round((now_s() - start_s) * 1e6) / 1e6;
}
