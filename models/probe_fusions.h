/* Graphs that show what ONNX Runtime fuses, and the table of it (tests/data/fusions.tsv). */
#ifndef OC_PROBE_FUSIONS_H
#define OC_PROBE_FUSIONS_H

#include "zoo.h"

typedef void zoo_probe_visit(void *context, const char *id, const char *text);
void zoo_each_probe(zoo_probe_visit *visit, void *context);

/* The model of a probe's text, to be freed with free(). */
uint8_t *zoo_probe(const char *text, size_t *n);

/* Lets ONNX Runtime optimize every probe at every level and writes the table: a line for each probe with its
 * operators at the levels disabled, basic, extended, all; "=": as at the level before. Models are files of
 * `folder`; optimized ones that exist there are used. */
int zoo_probe_table(const char *folder, FILE *out, struct oc_err *err);

#endif
