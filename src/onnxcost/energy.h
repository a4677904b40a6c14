/* Energy of the arithmetic and of the DRAM traffic of a model, from published energies per operation.
 * Conventions: onnxcost.h. */
#ifndef ONNXCOST_ENERGY_H
#define ONNXCOST_ENERGY_H

#include "onnxcost_types.h"

OC_API_BEGIN

struct oc_energy;

/* Energies of exact counts are lower bounds: neither SRAM, control, nor leakage is included; a division, root or
 * transcendental function counts as one multiplication; conversions, rounding, bit operations and random numbers
 * are left out. Sources:
 *   45nm   Horowitz, "Computing's Energy Problem", ISSCC 2014
 *   7nm    Jouppi et al., "Ten Lessons From Three Generations Shaped Google's TPUv4i", ISCA 2021, table 2
 * A product with integer operands is summed in 32 bits. Where a type has no figure, that of the next narrower
 * one is taken, so that bounds hold; types without any are counted in unknown_operators. */
struct oc_energy_info {
    const char *process, *source;      /* "7nm" */
    const char *memory;                /* "ddr4", "hbm2", "gddr6", "dram" (45nm) */
    double memory_lo_pj, memory_hi_pj; /* of 8 bytes moved */
    double compute_pj;                 /* of operators with a figure */
    uint64_t operators;                /* that ran */
    uint64_t unknown_operators;   /* of these without counts, or with arithmetic of a type without a figure */
    uint64_t uncounted_operators; /* of these without counts */
    uint64_t moved_bytes;         /* by operators with counts: from DRAM and to DRAM */
    uint64_t
        graph_bytes; /* constants, inputs and outputs of the graph once: what a runtime must move; unknown sizes
                             are left out */
    enum oc_quality quality,
        graph_quality; /* of moved_bytes and of the counts in compute_pj; of graph_bytes */
};

struct oc_energy_row {
    size_t node;  /* for oc_analysis_node */
    bool known;   /* compute_pj */
    bool counted; /* moved_bytes */
    double compute_pj;
    uint64_t moved_bytes;
    const char *note; /* why something is unknown; NULL */
};

/* what: "45nm", "7nm", or with a memory "7nm,hbm2" (the first memory of the process otherwise). OC_EARG: an unknown
 * process or memory, or an analysis that counts by the convention of another tool. The analysis must outlive the
 * result. */
int oc_energy_make(const struct oc_analysis *a, const char *what, struct oc_energy **out, struct oc_err *err);
void oc_energy_free(struct oc_energy *e);
const struct oc_energy_info *oc_energy_info(const struct oc_energy *e);
size_t oc_energy_rows(const struct oc_energy *e,
                      const struct oc_energy_row **out); /* operators that ran, in order */
/* format: "table" (NULL), "csv" or "json"; top: rows of the table, 0: all; width_chars: of the table, 0: no limit */
int oc_energy_write(const struct oc_energy *e, const char *format, size_t top, unsigned width_chars, FILE *f,
                    struct oc_err *err);

OC_API_END

#endif
