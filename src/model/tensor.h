/* Constants as views: mapped bytes, typed protobuf fields, external data. Weights are read only when elements
 * are requested. */
#ifndef OC_TENSOR_H
#define OC_TENSOR_H

#include "base/diag.h"
#include "base/file.h"
#include "shape/type.h"

enum oc_storage {
    OC_STORE_NONE,     /* no data in the file (allowed: weights may be stripped) */
    OC_STORE_RAW,      /* raw_data: little-endian, packed */
    OC_STORE_FIELDS,   /* float_data, int32_data, ...: `data` is the whole TensorProto message */
    OC_STORE_EXTERNAL, /* in an external file */
    OC_STORE_SPARSE    /* values and indices */
};

struct oc_tensor {
    const char *name; /* interned, "" if none */
    uint8_t dtype, storage;
    uint8_t rank;
    const int64_t *dim;        /* >= 0 */
    uint64_t elements;         /* product of dim (checked at load) */
    const uint8_t *data;       /* RAW: the bytes; FIELDS: the whole TensorProto message */
    uint64_t message_bytes;    /* FIELDS: length of that message */
    uint64_t size_bytes;       /* stored size: of the data, of the external range, or elements x width */
    const char *external_path; /* as written, relative to the model's folder; NULL unless external */
    uint64_t external_offset_bytes;
    const struct oc_tensor *values, *indices; /* sparse */
    uint64_t where;                           /* offset of the message in the model file */
};

struct oc_model;

/* The first `n` elements as small values (integers, booleans, floats, strings); out has room for n. False
 * when the data is absent or cannot be read (missing external file: warns once). */
bool oc_tensor_elems(const struct oc_model *m, const struct oc_tensor *t, uint32_t n, struct oc_elem *out,
                     struct oc_arena *a);

/* All elements as bytes: little-endian, packed, as in raw_data. */
struct oc_tensor_bytes {
    const uint8_t *data;
    uint64_t size_bytes;
    struct oc_file file; /* owner of the memory */
    void *heap;
};
/* False when they are absent, cannot be read, or are not plain numbers (strings, sparse). Close `out` only
 * after true. More than OC_WIRE_READY_BYTES: call oc_os_need for what is accessed. */
bool oc_tensor_bytes_open(const struct oc_model *m, const struct oc_tensor *t, struct oc_tensor_bytes *out);
void oc_tensor_bytes_close(struct oc_tensor_bytes *b);

/* external.c: weights in external files. A file must be inside the model's folder unless the model's limits
 * permit otherwise. */
enum oc_external_state { OC_EXTERNAL_FOUND, OC_EXTERNAL_MISSING, OC_EXTERNAL_OUTSIDE };
/* Looks for the file at this location, as written in the model. Opens nothing. */
enum oc_external_state oc_external_look(const struct oc_model *m, const char *location);
/* Maps the first bytes of a tensor. False: outside the folder, missing, not a regular file, or too short. */
bool oc_external_map(const struct oc_model *m, const struct oc_tensor *t, uint64_t size_bytes,
                     struct oc_file *out);
/* Maps a file in the folder of the model's. */
bool oc_beside_map(const struct oc_model *m, const char *location, struct oc_file *out);

#endif
