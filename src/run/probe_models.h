/* Small networks that show how fast a machine runs each common class of kernels. Private to run/. */
#ifndef OC_PROBE_MODELS_H
#define OC_PROBE_MODELS_H

#include "base/arena.h"

/* "probe_images@64"; NULL past the end. */
const char *oc_probe_model_name(size_t i);
uint32_t oc_probe_model_runs(size_t i); /* to record */
/* Appends the network as an ONNX file with its weights: always the same bytes. */
void oc_probe_model_write(size_t i, struct oc_buf *out);

#endif
