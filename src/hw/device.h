/* One number of a hardware file: "312" with unit "TFLOP/s", and formulas such as "108 SM * 64 FMA * 2 FLOP
 * * 1.41 GHz" that verify a derived number. */
#ifndef OC_DEVICE_H
#define OC_DEVICE_H

#include "onnxcost_types.h"

/* Quantity of a number; each has its list of allowed units. */
enum oc_quantity {
    OC_Q_COUNT, /* no unit */
    OC_Q_FLOP_PER_S,
    OC_Q_OP_PER_S,
    OC_Q_BYTES,
    OC_Q_BYTES_PER_S,
    OC_Q_HZ,
    OC_Q_SECONDS,
    OC_Q_WATTS,
    OC_Q_QUANTITIES
};

const char *oc_quantity_unit(enum oc_quantity q);    /* base unit: "FLOP/s"; "" for a count */
const char *oc_quantity_choices(enum oc_quantity q); /* for messages: "GFLOP/s, TFLOP/s or PFLOP/s" */

/* Converts the number to the base unit. False: not a plain decimal number > 0, or the unit is not in the
 * list. */
bool oc_figure_value(const char *number, double *out);
bool oc_figure_scale(enum oc_quantity q, const char *unit, double *scale);

/* Sums of products and quotients of numbers with optional unit words: "8 core * 5.4 GHz + 16 core * 4.3 GHz".
 * Words that scale: kHz MHz GHz MT/s GT/s Mbit/s Gbit/s MB/s GB/s TB/s kB MB GB KiB MiB GiB GFLOP/s TFLOP/s
 * GOP/s TOP/s us; others name what is counted. False with *bad at the position of the syntax error. */
bool oc_formula_value(const char *formula, double *out, const char **bad);

/* The factors of a valid formula: "8 core" is 8 and "core". Returns their number, at most n. */
struct oc_formula_word {
    double number;
    char word[32]; /* the first word after the number, "" without */
};
size_t oc_formula_words(const char *formula, struct oc_formula_word *out, size_t n);

#endif
