/* Columns and metrics of Nsight's tables. */
#include "profile/formats/nsight_tables.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum base { TIME, BYTE, BYTE_PER_S, COUNT, PERCENT };

/* Metrics by their unique names (raw page, --metrics) and by their titles in the sections of the details
 * page. The prefix sm__ or smsp__ is the place of counting, not a different metric. */
static const struct {
    const char *section, *name; /* section NULL: a unique name, "*__" stands for any prefix */
    enum oc_ncu_value value;
    enum base base;
} metrics[] = {
    {NULL, "gpu__time_duration.sum", NCU_TIME_NS, TIME},
    {NULL, "gpu__time_duration_measured_wallclock.sum", NCU_TIME_NS, TIME},
    {"GPU Speed Of Light Throughput", "Duration", NCU_TIME_NS, TIME},
    {"GPU Speed Of Light", "Duration", NCU_TIME_NS, TIME},
    {NULL, "dram__bytes_read.sum", NCU_DRAM_READ, BYTE},
    {NULL, "dram__bytes_write.sum", NCU_DRAM_WRITE, BYTE},
    {NULL, "dram__bytes.sum", NCU_DRAM, BYTE},
    {NULL, "dram__bytes.sum.per_second", NCU_DRAM_RATE, BYTE_PER_S},
    {"Memory Workload Analysis", "Memory Throughput", NCU_DRAM_RATE, BYTE_PER_S},
    {NULL, "lts__t_bytes.sum", NCU_L2, BYTE},
    {NULL, "*__sass_thread_inst_executed_op_hadd_pred_on.sum", NCU_HADD, COUNT},
    {NULL, "*__sass_thread_inst_executed_op_hmul_pred_on.sum", NCU_HMUL, COUNT},
    {NULL, "*__sass_thread_inst_executed_op_hfma_pred_on.sum", NCU_HFMA, COUNT},
    {NULL, "*__sass_thread_inst_executed_op_fadd_pred_on.sum", NCU_FADD, COUNT},
    {NULL, "*__sass_thread_inst_executed_op_fmul_pred_on.sum", NCU_FMUL, COUNT},
    {NULL, "*__sass_thread_inst_executed_op_ffma_pred_on.sum", NCU_FFMA, COUNT},
    {NULL, "*__sass_thread_inst_executed_op_dadd_pred_on.sum", NCU_DADD, COUNT},
    {NULL, "*__sass_thread_inst_executed_op_dmul_pred_on.sum", NCU_DMUL, COUNT},
    {NULL, "*__sass_thread_inst_executed_op_dfma_pred_on.sum", NCU_DFMA, COUNT},
    {NULL, "*__inst_executed_pipe_tensor.sum", NCU_TENSOR_INST, COUNT},
    {NULL, "*__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", NCU_TENSOR_ACTIVE, PERCENT},
    {NULL, "*__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_active", NCU_TENSOR_ACTIVE,
     PERCENT},
    {NULL, "*__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active", NCU_TENSOR_ACTIVE, PERCENT},
    {NULL, "sm__throughput.avg.pct_of_peak_sustained_elapsed", NCU_SM_ACTIVE, PERCENT},
    {"GPU Speed Of Light Throughput", "Compute (SM) Throughput", NCU_SM_ACTIVE, PERCENT},
    {NULL, "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", NCU_DRAM_ACTIVE, PERCENT},
    {"GPU Speed Of Light Throughput", "DRAM Throughput", NCU_DRAM_ACTIVE, PERCENT},
};

void oc_ncu_clear(struct oc_ncu_metrics *launch)
{
    for (unsigned i = 0; i < NCU_VALUES; i++)
        launch->v[i] = NAN;
    launch->tensor_ops[0] = launch->tensor_ops[1] = NAN;
    launch->capability = 0;
}

/* "Kbyte", "Gbyte/s", "inst": powers of 1000; 0: another unit. */
static double scale_of(struct oc_str unit, const char *const *base)
{
    static const char prefixes[] = "KMGTP";
    for (; *base; base++) {
        if (oc_str_eq(unit, *base))
            return 1;
        const char *p = unit.n ? strchr(prefixes, unit.s[0] == 'k' ? 'K' : unit.s[0]) : NULL;
        if (p && *p && oc_str_eq(oc_str_skip(unit, 1), *base))
            return pow(1000, (double)(p - prefixes + 1));
    }
    return 0;
}

static double factor_of(struct oc_str unit, enum base base)
{
    static const char *const bytes[] = {"byte", "B", NULL};
    static const char *const rates[] = {"byte/second", "byte/s", "B/s", NULL};
    static const char *const counts[] = {"inst", "", NULL};
    double ns;
    switch (base) {
    case TIME:
        return oc_csv_time_unit(unit, &ns) ? ns : 0;
    case BYTE:
        return scale_of(unit, bytes);
    case BYTE_PER_S:
        return scale_of(unit, rates);
    case COUNT:
        return scale_of(unit, counts);
    default:
        return oc_str_eq(unit, "%") ? 0.01 : 0;
    }
}

/* sm__ops_path_tensor_src_fp16_dst_fp32.sum; metrics with _sparsity_ are subsets of these. */
static bool add_tensor_ops(struct oc_ncu_metrics *launch, struct oc_str name, double value)
{
    bool sm = oc_str_starts(name, "sm__ops_path_tensor_src_");
    if ((!sm && !oc_str_starts(name, "smsp__ops_path_tensor_src_")) || !oc_find(name.s, name.n, ".sum", 4))
        return false;
    if (name.s[name.n - 1] == 'm' && !oc_find(name.s, name.n, "_sparsity_", 10)) {
        double *sum = &launch->tensor_ops[sm ? 0 : 1];
        *sum = (isnan(*sum) ? 0 : *sum) + value;
        launch->v[NCU_TENSOR_OPS] = fmax(launch->tensor_ops[0], launch->tensor_ops[1]);
    }
    return true;
}

void oc_ncu_take(struct oc_ncu_metrics *launch, struct oc_str section, struct oc_str name, struct oc_str unit,
                 struct oc_str text)
{
    double value;
    if (!oc_csv_number(text, &value, NULL) || !(value >= 0) || value > 1e300 ||
        add_tensor_ops(launch, name, value))
        return;
    const char *dash = oc_find(name.s, name.n, "__", 2);
    struct oc_str tail = {dash ? dash : name.s, dash ? name.n - (size_t)(dash - name.s) : 0};
    for (size_t i = 0; i < OC_COUNT(metrics); i++) {
        const char *known = metrics[i].name;
        bool fits =
            known[0] == '*'
                ? (oc_str_starts(name, "sm__") || oc_str_starts(name, "smsp__")) && oc_str_eq(tail, known + 1)
                : oc_str_eq(name, known) && (!metrics[i].section || oc_str_eq(section, metrics[i].section));
        double factor = fits ? factor_of(unit, metrics[i].base) : 0;
        if (factor > 0)
            launch->v[metrics[i].value] = value * factor;
    }
}

/* add + mul + 2 * fma */
static double flop_of(const double *v, enum oc_ncu_value add)
{
    return v[add] + v[add + 1] + 2 * v[add + 2];
}

static double bytes_of(const double *v, bool *rate)
{
    double both = v[NCU_DRAM_READ] + v[NCU_DRAM_WRITE];
    *rate = false;
    if (!isnan(both))
        return both;
    if (!isnan(v[NCU_DRAM]))
        return v[NCU_DRAM];
    *rate = !isnan(v[NCU_DRAM_RATE]) && !isnan(v[NCU_TIME_NS]);
    return v[NCU_DRAM_RATE] * v[NCU_TIME_NS] * 1e-9;
}

/* Tensor core operations: counted, none, or on Volta 512 per instruction (HMMA.884). */
static double tensor_flop(const struct oc_ncu_metrics *launch)
{
    const double *v = launch->v;
    if (!isnan(v[NCU_TENSOR_OPS]))
        return v[NCU_TENSOR_OPS];
    if (v[NCU_TENSOR_INST] <= 0 || (isnan(v[NCU_TENSOR_INST]) && v[NCU_TENSOR_ACTIVE] <= 0))
        return 0;
    return launch->capability >= 7.0 && launch->capability < 7.3 ? 512 * v[NCU_TENSOR_INST] : NAN;
}

void oc_ncu_sum(const struct oc_ncu_metrics *launch, double *flop, double *bytes, bool *rate,
                struct oc_prof_counters *counters)
{
    const double *v = launch->v;
    double half = flop_of(v, NCU_HADD), full = flop_of(v, NCU_FADD), dbl = flop_of(v, NCU_DADD);
    double tensor = tensor_flop(launch);
    *bytes = bytes_of(v, rate);
    *counters = (struct oc_prof_counters){.v = {[OC_CTR_DRAM_BYTES] = *bytes,
                                                [OC_CTR_L2_BYTES] = v[NCU_L2],
                                                [OC_CTR_FLOP_F16] = half,
                                                [OC_CTR_FLOP_F32] = full,
                                                [OC_CTR_FLOP_F64] = dbl,
                                                [OC_CTR_FLOP_TENSOR] = tensor,
                                                [OC_CTR_TENSOR_ACTIVE] = v[NCU_TENSOR_ACTIVE],
                                                [OC_CTR_SM_ACTIVE] = v[NCU_SM_ACTIVE],
                                                [OC_CTR_DRAM_ACTIVE] = v[NCU_DRAM_ACTIVE]}};
    /* double precision is rarely collected, and rarely used */
    *flop = half + full + (isnan(dbl) ? 0 : dbl) + tensor;
}

/* ---- tables of nsys stats --------------------------------------------------------------------------- */

/* Titles of columns in all versions, separated by '|'; '?': the table may lack it. The set of columns
 * identifies the report. */
struct spec {
    enum oc_nsys_table table;
    const char *without; /* a title that other tables share */
    const char *column[OC_NSYS_COLUMNS];
};

/* clang-format off */
#define SUM_COLUMNS \
    [OC_NSYS_SHARE] = "?Time (%)|Time(%)", [OC_NSYS_TOTAL] = "Total Time", [OC_NSYS_MIN] = "?Min|Minimum", \
    [OC_NSYS_MAX] = "?Max|Maximum"
static const struct spec specs[] = {
    {OC_NSYS_GPU_TRACE, NULL, {[OC_NSYS_START] = "Start", [OC_NSYS_DUR] = "Duration", [OC_NSYS_NAME] = "Name",
     [OC_NSYS_CALLS] = "CorrId", [OC_NSYS_STREAM] = "?Strm|Stream", [OC_NSYS_DEVICE] = "?Device",
     [OC_NSYS_BYTES] = "?Bytes"}},
    {OC_NSYS_EXEC_TRACE, NULL, {[OC_NSYS_START] = "Kernel Start", [OC_NSYS_DUR] = "Kernel Dur",
     [OC_NSYS_NAME] = "Kernel Name", [OC_NSYS_DEVICE] = "?DevId", [OC_NSYS_PROCESS] = "?PID"}},
    {OC_NSYS_NVTX_KERN, NULL, {SUM_COLUMNS, [OC_NSYS_RANGE] = "NVTX Range", [OC_NSYS_NAME] = "Kernel Name",
     [OC_NSYS_CALLS] = "Kern Inst", [OC_NSYS_INSTANCES] = "?NVTX Inst"}},
    {OC_NSYS_PROJ_TRACE, NULL, {[OC_NSYS_START] = "Projected Start", [OC_NSYS_DUR] = "Projected Duration",
     [OC_NSYS_RANGE] = "Name", [OC_NSYS_ID] = "?RangeId", [OC_NSYS_PARENT] = "?ParentId"}},
    {OC_NSYS_PROJ_SUM, NULL, {[OC_NSYS_RANGE] = "Range", [OC_NSYS_TOTAL] = "Total Proj Time",
     [OC_NSYS_INSTANCES] = "Range Instances", [OC_NSYS_CALLS] = "?Total GPU Ops",
     [OC_NSYS_CHILDREN] = "?Avg Num Child"}},
    {OC_NSYS_PUSHPOP, NULL, {[OC_NSYS_START] = "Start", [OC_NSYS_DUR] = "Duration", [OC_NSYS_RANGE] = "Name",
     [OC_NSYS_CHILDREN] = "NumChild", [OC_NSYS_ID] = "?RangeId", [OC_NSYS_PARENT] = "?ParentId"}},
    {OC_NSYS_GPU_SUM, NULL, {SUM_COLUMNS, [OC_NSYS_CALLS] = "Instances", [OC_NSYS_RANGE] = "Category",
     [OC_NSYS_NAME] = "Operation"}},
    {OC_NSYS_MEM_SUM, "Instances", {SUM_COLUMNS, [OC_NSYS_CALLS] = "Count|Operations",
     [OC_NSYS_NAME] = "Operation|Name"}},
    {OC_NSYS_MEM_SUM, NULL, {SUM_COLUMNS, [OC_NSYS_CALLS] = "Instances", [OC_NSYS_NAME] = "Operation"}},
    {OC_NSYS_KERN_SUM, "Range", {SUM_COLUMNS, [OC_NSYS_CALLS] = "Instances", [OC_NSYS_NAME] = "Name"}},
    {OC_NSYS_NVTX_SUM, NULL, {[OC_NSYS_SHARE] = "?Time (%)|Time(%)", [OC_NSYS_RANGE] = "Range",
     [OC_NSYS_TOTAL] = "Total Time", [OC_NSYS_INSTANCES] = "Instances"}},
};
/* clang-format on */

static size_t nsys_tables_find(const struct oc_str *field, size_t n, const char *titles)
{
    size_t at = OC_CSV_NONE;
    while (*titles && at == OC_CSV_NONE) {
        char title[32];
        size_t k = strcspn(titles, "|");
        snprintf(title, sizeof(title), "%.*s", (int)k, titles);
        at = oc_csv_column(field, n, title);
        titles += k + (titles[k] == '|');
    }
    return at;
}

static bool match_columns(const struct spec *s, const struct oc_str *field, size_t n,
                          struct oc_nsys_header *out)
{
    if (s->without && oc_csv_column(field, n, s->without) != OC_CSV_NONE)
        return false;
    for (size_t i = 0; i < OC_NSYS_COLUMNS; i++) {
        const char *titles = s->column[i] ? s->column[i] : "?";
        bool required = *titles != '?';
        out->at[i] = nsys_tables_find(field, n, titles + !required);
        if (out->at[i] == OC_CSV_NONE && required)
            return false;
    }
    out->table = s->table;
    return true;
}

static double unit_of_bytes(struct oc_str unit)
{
    static const struct {
        const char *name;
        double bytes;
    } known[] = {{"B", 1},        {"KB", 1e3},        {"MB", 1e6},          {"GB", 1e9},
                 {"KiB", 1024.0}, {"MiB", 1048576.0}, {"GiB", 1073741824.0}};
    for (size_t i = 0; i < OC_COUNT(known); i++)
        if (oc_csv_same(unit, known[i].name))
            return known[i].bytes;
    return 0;
}

void oc_nsys_header(const struct oc_str *field, size_t n, double title_ns, struct oc_nsys_header *out)
{
    struct oc_str unit;
    *out = (struct oc_nsys_header){.table = OC_NSYS_NONE};
    for (size_t i = 0; i < OC_COUNT(specs); i++)
        if (match_columns(&specs[i], field, n, out))
            break;
    if (out->table == OC_NSYS_NONE)
        return;
    size_t at = out->at[OC_NSYS_TOTAL] != OC_CSV_NONE ? out->at[OC_NSYS_TOTAL] : out->at[OC_NSYS_DUR];
    oc_csv_split_unit(field[at], &unit);
    if (!oc_csv_time_unit(unit, &out->ns))
        out->ns = title_ns > 0 ? title_ns : 1;
    if (out->at[OC_NSYS_BYTES] != OC_CSV_NONE) {
        oc_csv_split_unit(field[out->at[OC_NSYS_BYTES]], &unit);
        out->bytes = unit_of_bytes(unit);
    }
}

struct oc_str oc_nsys_text(const struct oc_nsys_header *h, const struct oc_str *field, size_t n,
                           enum oc_nsys_column column)
{
    return oc_csv_at(field, n, h->at[column]);
}

/* Copies the cell without the separators of groups of digits, which depend on the locale as the decimal point
 * does: "8,4521,1450", "15'456.0", "24.320,0". The share of the row has one decimal. */
static struct oc_str nsys_tables_cell(const struct oc_nsys_header *h, const struct oc_str *field, size_t n,
                                      enum oc_nsys_column column, char *out, size_t cap)
{
    static const char *const group[] = {",", ".", "'", "\xe2\x80\x99", "\xc2\xa0", "\xe2\x80\xaf"};
    struct oc_str s = oc_nsys_text(h, field, n, column), share = oc_nsys_text(h, field, n, OC_NSYS_SHARE);
    size_t k = 0;
    if (share.n < 3 || s.n >= cap || (share.s[share.n - 2] != '.' && share.s[share.n - 2] != ','))
        return s;
    char decimal = share.s[share.n - 2];
    for (size_t i = 0; i < s.n;) {
        size_t mark = 0;
        for (size_t g = 0; g < OC_COUNT(group) && k && oc_is_digit(out[k - 1]) && s.s[i] != decimal; g++)
            if (oc_str_starts(oc_str_skip(s, i), group[g]))
                mark = strlen(group[g]);
        if (mark && i + mark + 1 < s.n && oc_is_digit(s.s[i + mark]) && oc_is_digit(s.s[i + mark + 1])) {
            i += mark;
            continue;
        }
        out[k] = s.s[i++];
        if (out[k] == decimal)
            out[k] = '.';
        k++;
    }
    return (struct oc_str){out, k};
}

bool oc_nsys_number(const struct oc_nsys_header *h, const struct oc_str *field, size_t n,
                    enum oc_nsys_column column, double *out)
{
    char text[64];
    struct oc_str s = nsys_tables_cell(h, field, n, column, text, sizeof(text));
    return s.n && oc_csv_number(s, out, NULL);
}

uint64_t oc_nsys_count(const struct oc_nsys_header *h, const struct oc_str *field, size_t n,
                       enum oc_nsys_column column)
{
    char text[64];
    uint64_t v;
    return oc_csv_u64(nsys_tables_cell(h, field, n, column, text, sizeof(text)), &v) && v < (uint64_t)1 << 52
               ? v
               : 0;
}
