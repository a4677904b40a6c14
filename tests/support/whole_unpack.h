/* A second reader of models: protobuf-c unpacks the whole file with the full schema, and its graph is
 * compared with that of the loader. */
#ifndef WHOLE_UNPACK_H
#define WHOLE_UNPACK_H

#include "model/model.h"

/* The first difference, NULL: none. Not compared: bodies of expanded functions, and files that protobuf-c
 * refuses, that are nested deeper than 200 messages, or that repeat a message which may occur once (the
 * loader takes the last one, protobuf-c merges them). `text` has room for n bytes. */
const char *whole_unpack_difference(const struct oc_model *m, const void *data, size_t n_bytes, char *text,
                                    size_t n);

#endif
