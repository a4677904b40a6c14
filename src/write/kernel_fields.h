/* Size and work of a kernel as fields. */
#ifndef OC_KERNEL_FIELDS_H
#define OC_KERNEL_FIELDS_H

#include "estimate/kernel.h"
#include "write/fields.h"

/* With the roofline of a device; device NULL: without. */
void oc_kernel_fields(struct oc_fields *f, const struct oc_kernel *k, const struct oc_device *device);
const char *oc_signature_text(struct oc_arena *a, uint64_t signature); /* 16 hexadecimal digits; NULL: none */

#endif
