/* Shared by the parts of the reader of hardware files: hwdb_read.c parses files and validates the
 * elements, hw_build.c builds devices from them and resolves inheritance. Private to the hw folder. */
#ifndef OC_HW_READER_H
#define OC_HW_READER_H

#include "base/map.h"
#include "base/xml_read.h"
#include "hw/hwdb.h"
#include "onnxcost/hardware.h"

enum oc_hw_elem_kind {
    E_HWDB,
    E_SOURCE,
    E_DEVICE,
    E_ALIAS,
    E_COUNT,
    E_CLOCK,
    E_POWER,
    E_LINK,
    E_UNIT,
    E_PEAK,
    E_FALLBACK,
    E_MEMORY,
    E_SIZE,
    E_BANDWIDTH,
    E_OVERHEAD,
    E_LATENCY,
    E_KINDS
};

enum oc_hw_role { ROLE_PLAIN, ROLE_PEAK, ROLE_SIZE, ROLE_BANDWIDTH, ROLE_OVERHEAD, ROLE_POWER, ROLE_LINK };

#define OC_HW_MAX_FIGURES   256 /* of one device */
#define OC_HW_MAX_LEVELS    16
#define OC_HW_MAX_BASES     8      /* maximum levels of inheritance */
#define OC_HW_MAX_INHERITED 100000 /* figures of one file */

struct oc_hw_entry { /* a figure until its device is complete */
    struct oc_hw_figure fig;
    enum oc_hw_role role;
    unsigned unit, cls;
};

struct oc_hw_listed { /* a source of the file */
    const struct oc_hw_source *source;
    const char *id;
    uint32_t line;
    bool used;
};

/* The parsed elements of a device. Its own elements first; after the merge those of its bases too. */
struct oc_hw_draft {
    struct oc_device *dev;
    const char *base; /* id of its base device, NULL: none */
    struct oc_hw_entry *entry;
    size_t n_entry;
    struct oc_hw_level *level; /* names and types */
    size_t n_level;
    unsigned units; /* bit mask of the defined units */
    unsigned depth; /* number of bases below it */
    enum { DRAFT_READ, DRAFT_OPEN, DRAFT_MERGED } state;
};

struct oc_hw_reader {
    const struct oc_xml *xml;
    struct oc_arena *arena;
    const struct oc_hw_reading *how;
    struct oc_err *err;
    const char *path;
    struct oc_map source_ids, names;
    struct oc_hw_listed *source; /* indexed by the number of an id in source_ids */
    size_t n_source, cap_source;
    struct oc_hw_draft **draft; /* one per device, indexed by its number in `names` */
    size_t n_draft, cap_draft, n_inherited;
    /* the device being read */
    struct oc_device *dev;
    struct oc_hw_entry *entry;
    size_t n_entry, cap_entry;
    struct oc_hw_level *level;
    size_t n_level, cap_level;
    const char **alias;
    size_t n_alias, cap_alias;
    const char *base;
    const char *unit_name;
    unsigned unit, units_seen; /* attributes present; bit mask */
};

/* With a list of problems, records a wrong figure there and returns 0 to continue, else -1. */
int oc_hw_soften(struct oc_hw_reader *r);

/* Resolves inheritance and completes every device. */
int oc_hw_finish(struct oc_hw_reader *r);

/* Allowed children and callback of each element; in hwdb_read.c. */
extern const struct oc_xml_spec oc_hw_specs[E_KINDS];

#endif
