/* Meaning of the device work that execution providers add to an ONNX Runtime trace. Private to the importer.
 */
#ifndef OC_ORT_PROVIDERS_H
#define OC_ORT_PROVIDERS_H

#include "profile/ort_event.h"

struct ort_work {
    struct oc_str parent; /* name of the node's event, "" if not recorded */
    struct oc_str graph;  /* otherwise: op type of the node (a partition), "" if not recorded */
    struct oc_str part,
        part_type;  /* operator of the provider inside the node, "": the work of the node itself */
    bool encloses;  /* contains the parts */
    bool own_clock; /* ts may be on another clock than the host events */
};

/* False: the event has no time of its own. */
bool ort_describe_work(const struct ort_reading *r, struct oc_str name, struct ort_work *w);

/* Whether node events of the provider end when the work is launched, not when it is done. has_device_work:
 * the trace has events of a device. */
bool ort_node_is_launch(const char *provider, bool has_device_work);

#endif
