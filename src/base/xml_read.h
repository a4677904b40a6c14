/* Strict reader for this project's own XML files: elements in elements, all data in attributes, no text, no
 * document types, no entities. A table says which element may stand where with which attributes; a function
 * per element takes what was read. It knows nothing of what the files mean.
 *
 * Errors: "cannot read 'x.xml': line 12: device 'a100': peak 'f16': missing unit". The file is read as UTF-8
 * whatever it declares, and a document type is refused before the parser starts, so no entity can be
 * declared. */
#ifndef OC_XML_READ_H
#define OC_XML_READ_H

#include "base/arena.h"

#define OC_XML_MAX_ATTR  16
#define OC_XML_MAX_VALUE 1000 /* bytes of an attribute */
#define OC_XML_MAX_DEPTH 8

#define OC_XML_ROOT      UINT32_MAX /* parent of the root element */

struct oc_xml_attr {
    const char *name, *value; /* arena memory */
};

struct oc_xml_elem {
    uint32_t kind; /* index of its row in the table */
    uint32_t line;
    struct oc_xml_attr attr[OC_XML_MAX_ATTR];
    size_t n_attr;
};

const char *oc_xml_get(const struct oc_xml_elem *e, const char *name); /* NULL: absent */

/* One row for each element: where it may stand, and what it does. */
struct oc_xml_spec {
    const char *name;
    uint32_t parent;                 /* index of a row, or OC_XML_ROOT */
    const char *label;               /* attributes (parted by blanks) that tell it from others in messages */
    bool silent;                     /* messages name it only if nothing stands in it */
    const char *required, *optional; /* attributes, parted by blanks */
    int (*start)(void *user, const struct oc_xml_elem *e); /* NULL: nothing to do */
    int (*end)(void *user, const struct oc_xml_elem *e);
};

struct oc_xml_format {
    const struct oc_xml_spec *spec;
    uint32_t n_spec;
    uint32_t max_bytes; /* of a file */
};

/* A reading under way, as the functions of the table see it. */
struct oc_xml;

/* Fails at the present element, with file, line and the elements around. Returns -1. */
int oc_xml_fail(const struct oc_xml *x, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Reads a text (name: for messages). *x is set before the first function is called; texts of elements live in
 * the arena. Returns 0, or -1 with *err (may be NULL) filled. OC_ELIBRARY: libxml2 is missing. */
int oc_xml_read(const struct oc_xml_format *format, const char *name, const void *data, size_t n,
                struct oc_arena *arena, void *user, const struct oc_xml **x, struct oc_err *err);

/* libxml2's version ("2.9.14") and file, as far as they are told. */
int oc_xml_version(char *version, size_t version_cap, char *file, size_t file_cap, struct oc_err *err);

#endif
