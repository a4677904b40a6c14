/* Shared by the two halves of the reader of hardware files: hwdb_read.c drives the parser, hwdb_elem.c gives
 * the elements their meaning. Private to the hw folder. */
#ifndef OC_HW_READER_H
#define OC_HW_READER_H

#include "base/map.h"
#include "hw/hwdb.h"
#include "hw/xml_lib.h"

#define OC_HW_MAX_ATTR  16
#define OC_HW_MAX_DEPTH 4

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
    E_KINDS,
    E_NONE = E_KINDS
};

struct oc_hw_attr {
    const char *name, *value;
};

struct oc_hw_elem {
    enum oc_hw_elem_kind kind;
    uint32_t line;
    struct oc_hw_attr attr[OC_HW_MAX_ATTR];
    size_t n_attr;
};

enum oc_hw_role { ROLE_PLAIN, ROLE_PEAK, ROLE_SIZE, ROLE_BANDWIDTH, ROLE_OVERHEAD };

struct oc_hw_entry { /* a figure until its device is complete */
    struct oc_hw_figure fig;
    enum oc_hw_role role;
    unsigned unit, cls;
    size_t level;
};

struct oc_hw_reader {
    struct oc_xml_lib lib;
    xmlTextReaderPtr xml;
    struct oc_arena *arena;
    struct oc_err *err;
    const char *path;
    char xml_text[256]; /* first complaint of the parser */
    int xml_line;
    struct oc_hw_elem stack[OC_HW_MAX_DEPTH];
    size_t depth;
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

struct oc_hw_spec {
    const char *name;
    enum oc_hw_elem_kind parent;
    const char *label; /* attribute that tells one from another in messages */
    const char *required, *optional;
    int (*start)(struct oc_hw_reader *, const struct oc_hw_elem *);
    int (*end)(struct oc_hw_reader *, const struct oc_hw_elem *);
};

/* What each element may hold and does; in hwdb_elem.c. */
extern const struct oc_hw_spec oc_hw_specs[E_KINDS];

const char *oc_hw_attr_of(const struct oc_hw_elem *e, const char *name); /* NULL: absent */

/* Fills r->err with file, line and the elements around, and returns -1. */
int oc_hw_fail(const struct oc_hw_reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
