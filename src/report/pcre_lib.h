/* PCRE2, loaded when the first pattern is compiled: linking it would slow down start-up, a third of the time
 * of a small model. Only pattern.c includes this file. */
#ifndef OC_PCRE_LIB_H
#define OC_PCRE_LIB_H

#include "onnxcost.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

/* One entry per function used, typed by the real header. */
struct oc_pcre_lib {
    void *handle;
    __typeof__(pcre2_compile_context_create) *context_create;
    __typeof__(pcre2_compile_context_free) *context_free;
    __typeof__(pcre2_set_newline) *set_newline;
    __typeof__(pcre2_compile) *compile;
    __typeof__(pcre2_code_free) *code_free;
    __typeof__(pcre2_match_data_create_from_pattern) *match_create;
    __typeof__(pcre2_match_data_free) *match_free;
    __typeof__(pcre2_match) *match;
    __typeof__(pcre2_get_error_message) *message;
    __typeof__(pcre2_config) *config;
};

/* Fills *lib. OC_ELIBRARY when the library is missing or lacks a function. The library stays loaded, so
 * opening it again is cheap. */
int oc_pcre_lib_open(struct oc_pcre_lib *lib, struct oc_err *err);
void oc_pcre_lib_close(struct oc_pcre_lib *lib);

#endif
