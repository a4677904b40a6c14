/* Strict reader for this project's own XML files: elements in elements, all data in attributes, no text, no
 * document types, no entities. A table lists the allowed elements, their parents and attributes; a callback
 * per element receives the values.
 *
 * Errors: "cannot read 'x.xml': line 12: device 'a100': peak 'f16': missing unit". The file is read as UTF-8
 * whatever it declares, and a document type is refused before the parser starts, so no entity can be
 * declared. */
#ifndef OC_XML_READ_H
#define OC_XML_READ_H

#include "base/arena.h"

#define OC_XML_MAX_ATTR  20
#define OC_XML_MAX_VALUE 1000 /* size limit of an attribute */
#define OC_XML_MAX_DEPTH 8

#define OC_XML_ROOT      UINT32_MAX /* parent of the root element */

struct oc_xml_attr {
    const char *name, *value; /* arena memory */
};

struct oc_xml_elem {
    uint32_t kind; /* index of its table row */
    uint32_t line;
    struct oc_xml_attr attr[OC_XML_MAX_ATTR];
    size_t n_attr;
};

const char *oc_xml_get(const struct oc_xml_elem *e, const char *name); /* NULL: absent */

/* One row per element: its parent, attributes and callback. */
struct oc_xml_spec {
    const char *name;
    uint32_t parent;                 /* index of a row, or OC_XML_ROOT */
    const char *label;               /* attributes (separated by blanks) that identify it in messages */
    bool silent;                     /* messages name it only if it has no child elements */
    const char *required, *optional; /* attributes, separated by blanks */
    int (*start)(void *user, const struct oc_xml_elem *e); /* NULL: no callback */
    int (*end)(void *user, const struct oc_xml_elem *e);
};

struct oc_xml_format {
    const struct oc_xml_spec *spec;
    uint32_t n_spec;
    const char *version; /* the only value that the attribute "version" of the root may have */
    uint32_t max_bytes;  /* of a file */
};

/* A reader in progress, as seen by the callbacks. */
struct oc_xml;

/* Fails at the current element; the message has the file, the line and the enclosing elements. Returns -1. */
int oc_xml_fail(const struct oc_xml *x, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Reads a text (name: for messages; data may be NULL if n is 0). *x is set before the first callback; texts
 * of elements are in the arena. Returns 0, or -1 with *err (may be NULL) filled. OC_ELIBRARY: libxml2 is
 * missing. */
int oc_xml_read(const struct oc_xml_format *format, const char *name, const void *data, size_t n,
                struct oc_arena *arena, void *user, const struct oc_xml **x, struct oc_err *err);

/* The same for a document that the build has cut into elements, in their order, without libxml2. */
struct oc_xml_token {
    const char *name;
    const char *const *attr; /* names and values in turn, closed by NULL */
    uint16_t depth, line;    /* depth of the root: 0 */
};
int oc_xml_replay(const struct oc_xml_format *format, const char *name, const struct oc_xml_token *token,
                  size_t n, struct oc_arena *arena, void *user, const struct oc_xml **x, struct oc_err *err);

/* Version ("2.9.14") and file of libxml2, if available. */
int oc_xml_version(char *version, size_t version_cap, char *file, size_t file_cap, struct oc_err *err);

#endif
