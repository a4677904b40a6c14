/* Generates inputs for a run of a model: the shapes are the caller's, the contents random within the range
 * that the model accepts. */
#ifndef OC_MAKE_INPUTS_H
#define OC_MAKE_INPUTS_H

#include "model/model.h"
#include "onnxcost_types.h"

struct oc_run_input {
    uint32_t value; /* of the model: an input of its main graph */
    uint8_t dtype;  /* enum oc_dtype */
    uint32_t rank;
    const int64_t *dim; /* >= 0 */
    uint64_t elements, size_bytes;
    void *data;          /* packed elements, never NULL. Strings: const char *[elements] */
    const char *content; /* description: "-1 to 1", "0 to 30521", "1" */
    bool guessed;        /* a single integer or boolean without a given value */
};

/* Fills what follows `dim` in each of `in`, whose other fields are set; memory is the arena's. By type and name:
 *   floating point   -1 to 1
 *   masks            1 (names with "mask")
 *   positions        0, 1, 2 ... along the last axis (integers, names with "position")
 *   lengths          the longest dimension after the first of any other input (integers, "length", "lens")
 *   integers         rows of the smallest constant table that they are looked up in (Gather and its relatives,
 *                    also after Cast, Reshape and the like); a single one the constant that the model compares
 *                    it with, else 1; else 8-bit ones anything, others 0 and 1
 *   booleans         both; a single one false
 *   strings          "text"
 * `given` (oc_analyze_opts.value) replaces these: numbers, of which a single one fills the input, or @file.pb.
 * Errors: OC_ELIMIT inputs of more than the limit input-bytes, OC_EARG a value that does not fit,
 * OC_EUNSUPPORTED an element type that has no contents here. */
int oc_make_inputs(const struct oc_model *m, const struct oc_value_bind *given, size_t n_given, uint64_t seed,
                   struct oc_run_input *in, size_t n, struct oc_arena *a, struct oc_err *err);

/* Rows of the smallest table in which elements of the value are looked up; 0: none is known. */
uint64_t oc_table_rows(const struct oc_model *m, uint32_t value, struct oc_arena *a);

/* The first constant in the file that an Equal of the model compares the value with. False: none does. */
bool oc_compared_value(const struct oc_model *m, uint32_t value, int64_t *out);

#endif
