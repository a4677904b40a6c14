/* Shared by the two halves of the reader of hardware files: hwdb_read.c reads files, hwdb_elem.c gives the
 * elements their meaning. Private to the hw folder. */
#ifndef OC_HW_READER_H
#define OC_HW_READER_H

#include "base/map.h"
#include "base/xml_read.h"
#include "hw/hwdb.h"

enum oc_hw_elem_kind {
    E_HWDB,
    E_SOURCE,
    E_DEVICE,
    E_ALIAS,
    E_COUNT,
    E_CLOCK,
    E_UNIT,
    E_PEAK,
    E_FALLBACK,
    E_MEMORY,
    E_SIZE,
    E_BANDWIDTH,
    E_OVERHEAD,
    E_KINDS
};

enum oc_hw_role { ROLE_PLAIN, ROLE_PEAK, ROLE_SIZE, ROLE_BANDWIDTH, ROLE_OVERHEAD };

struct oc_hw_entry { /* a figure until its device is complete */
    struct oc_hw_figure fig;
    enum oc_hw_role role;
    unsigned unit, cls;
    size_t level;
};

struct oc_hw_reader {
    const struct oc_xml *xml;
    struct oc_arena *arena;
    const char *path;
    struct oc_map source_ids, names;
    const struct oc_hw_source **source; /* by the number that source_ids has for an id */
    size_t n_source, cap_source;
    struct oc_device_list done;
    /* the device being read */
    struct oc_device *dev;
    struct oc_hw_entry *entry;
    size_t n_entry, cap_entry;
    struct oc_hw_level *level;
    size_t n_level, cap_level;
    const char **alias;
    size_t n_alias, cap_alias;
    unsigned unit, units_seen; /* present one; bit mask */
};

/* What each element may hold and does; in hwdb_elem.c. */
extern const struct oc_xml_spec oc_hw_specs[E_KINDS];

#endif
