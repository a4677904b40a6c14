/* Metrics of Nsight Compute. */
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
