/* Reader of hardware files. Layout (hwdb/hwdb.rng is the schema):
 *
 *   hwdb version="1"
 *     source id title [url] [section]                      a document that figures come from
 *     device id name vendor kind
 *       alias name
 *       count of                      FIGURE               how many of something (SM, core, channel)
 *       clock kind                    FIGURE
 *       unit kind name                                     vector, matrix or special
 *         peak class dense clock [accumulate]  FIGURE
 *         fallback class="f16" to="f32" note
 *       memory name [type]                                 nearest level first, DRAM last
 *         size FIGURE, bandwidth FIGURE
 *       overhead runtime              FIGURE               per launched operator
 *
 *   FIGURE: value [unit] basis [source] [section] [formula] [note]
 *
 * Everything not listed is an error. The file is read as UTF-8 whatever it declares, and a document type is
 * refused before the parser starts, so no entity can be declared. */
#include "hw/hw_reader.h"

#include "base/diag.h"
#include "base/file.h"

#include <stdlib.h>
#include <string.h>

#define MAX_VALUE 1000 /* bytes of an attribute */

/* ---- errors ----------------------------------------------------------------------------------------- */

const char *oc_hw_attr_of(const struct oc_hw_elem *e, const char *name)
{
    for (size_t i = 0; i < e->n_attr; i++)
        if (strcmp(e->attr[i].name, name) == 0)
            return e->attr[i].value;
    return NULL;
}

/* "device 'a100': peak 'f16': ", from the outside in; the unit and the root go without saying. */
static void add_context(const struct oc_hw_reader *r, char *text, size_t cap)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < r->depth && used < cap; i++) {
        const struct oc_hw_elem *e = &r->stack[i];
        if (e->kind == E_HWDB || (e->kind == E_UNIT && i + 1 < r->depth))
            continue;
        const struct oc_hw_spec *s = &oc_hw_specs[e->kind];
        const char *label = s->label ? oc_hw_attr_of(e, s->label) : NULL;
        int n = label ? snprintf(text + used, cap - used, "%s '%.60s': ", s->name, label)
                      : snprintf(text + used, cap - used, "%s: ", s->name);
        used += n > 0 ? (size_t)n : 0;
    }
}

static void one_line(char *s)
{
    for (; *s; s++)
        if ((unsigned char)*s < 0x20 || *s == 0x7f)
            *s = '?';
}

static int fail_at(const struct oc_hw_reader *r, uint32_t line, const char *context, const char *what)
{
    if (!r->err)
        return -1;
    oc_fail(r->err, OC_EFORMAT, "cannot read '%s': line %u: %s%s", r->path, line, context, what);
    one_line(r->err->msg);
    return oc_err_at(r->err, r->path, line, 0);
}

int oc_hw_fail(const struct oc_hw_reader *r, const char *fmt, ...)
{
    char context[320], what[400];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof(what), fmt, ap);
    va_end(ap);
    add_context(r, context, sizeof(context));
    return fail_at(r, r->depth ? r->stack[r->depth - 1].line : 1, context, what);
}

/* ---- the parser's events ----------------------------------------------------------------------------- */

static bool in_list(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = list; *p;) {
        size_t len = strcspn(p, " ");
        if (len == n && memcmp(p, word, n) == 0)
            return true;
        p += len + strspn(p + len, " ");
    }
    return false;
}

static int check_required(struct oc_hw_reader *r, const struct oc_hw_elem *e, const char *list)
{
    char name[32];
    for (const char *p = list; *p;) {
        size_t len = strcspn(p, " ");
        snprintf(name, sizeof(name), "%.*s", (int)len, p);
        if (!oc_hw_attr_of(e, name))
            return oc_hw_fail(r, "missing %s", name);
        p += len + strspn(p + len, " ");
    }
    return 0;
}

static int read_attributes(struct oc_hw_reader *r, struct oc_hw_elem *e)
{
    const struct oc_hw_spec *s = &oc_hw_specs[e->kind];
    int more;
    while ((more = r->lib.reader_next_attribute(r->xml)) == 1) {
        const char *name = (const char *)r->lib.reader_name(r->xml);
        const char *value = (const char *)r->lib.reader_value(r->xml);
        if (!name || !value || e->n_attr == OC_HW_MAX_ATTR)
            return oc_hw_fail(r, "too many attributes");
        if (!in_list(s->required, name) && !in_list(s->optional, name))
            return oc_hw_fail(r, "unknown attribute '%.60s'", name);
        size_t n = strlen(value);
        if (n == 0 || n > MAX_VALUE)
            return oc_hw_fail(r, "attribute '%.60s' %s", name, n ? "is longer than 1000 bytes" : "is empty");
        e->attr[e->n_attr++] = (struct oc_hw_attr){oc_strdup(r->arena, name), oc_strdup(r->arena, value)};
    }
    r->lib.reader_to_element(r->xml);
    return more < 0 ? -1 : check_required(r, e, s->required);
}

static int end_element(struct oc_hw_reader *r)
{
    const struct oc_hw_elem *e = &r->stack[r->depth - 1];
    int rc = oc_hw_specs[e->kind].end ? oc_hw_specs[e->kind].end(r, e) : 0;
    if (rc == 0)
        r->depth--;
    return rc;
}

static uint32_t current_line(struct oc_hw_reader *r)
{
    xmlNodePtr node = r->lib.reader_node(r->xml);
    long line = node ? r->lib.line_of(node) : 0;
    return line > 0 ? (uint32_t)line : 1;
}

static int start_element(struct oc_hw_reader *r)
{
    const char *name = (const char *)r->lib.reader_name(r->xml);
    enum oc_hw_elem_kind parent = r->depth ? r->stack[r->depth - 1].kind : E_NONE, kind = E_HWDB;
    while (kind < E_KINDS &&
           (oc_hw_specs[kind].parent != parent || strcmp(oc_hw_specs[kind].name, name) != 0))
        kind++;
    uint32_t line = current_line(r);
    if (kind == E_KINDS || r->depth == OC_HW_MAX_DEPTH) {
        char context[320], what[120];
        add_context(r, context, sizeof(context));
        snprintf(what, sizeof(what), "unknown element '%.60s'", name);
        return fail_at(r, line, context, what);
    }
    bool empty = r->lib.reader_is_empty(r->xml) == 1;
    struct oc_hw_elem *e = &r->stack[r->depth++];
    *e = (struct oc_hw_elem){.kind = kind, .line = line};
    if (read_attributes(r, e) || oc_hw_specs[kind].start(r, e))
        return -1;
    return empty ? end_element(r) : 0;
}

static int handle_node(struct oc_hw_reader *r)
{
    switch (r->lib.reader_node_type(r->xml)) {
    case XML_READER_TYPE_ELEMENT:
        return start_element(r);
    case XML_READER_TYPE_END_ELEMENT:
        return end_element(r);
    case XML_READER_TYPE_COMMENT:
    case XML_READER_TYPE_PROCESSING_INSTRUCTION:
    case XML_READER_TYPE_WHITESPACE:
    case XML_READER_TYPE_SIGNIFICANT_WHITESPACE:
        return 0;
    case XML_READER_TYPE_TEXT:
    case XML_READER_TYPE_CDATA:
        return fail_at(r, current_line(r), "", "text outside of attributes");
    default:
        return fail_at(r, current_line(r), "", "document types and entities are not allowed");
    }
}

#if LIBXML_VERSION >= 21200
static void on_xml_error(void *user, const xmlError *e)
#else
static void on_xml_error(void *user, xmlErrorPtr e)
#endif
{
    struct oc_hw_reader *r = user;
    if (!e || !e->message || r->xml_text[0] || e->level < XML_ERR_ERROR)
        return;
    snprintf(r->xml_text, sizeof(r->xml_text), "%s", e->message);
    size_t n = strlen(r->xml_text);
    while (n && (r->xml_text[n - 1] == '\n' || r->xml_text[n - 1] == ' '))
        r->xml_text[--n] = '\0';
    r->xml_line = e->line;
}

static int read_nodes(struct oc_hw_reader *r)
{
    int more;
    while ((more = r->lib.reader_read(r->xml)) == 1 && !r->xml_text[0])
        if (handle_node(r))
            return -1;
    if (more != 0 || r->xml_text[0]) {
        char what[sizeof(r->xml_text) + 32];
        snprintf(what, sizeof(what), "not well-formed: %s", r->xml_text[0] ? r->xml_text : "parser error");
        return fail_at(r, r->xml_line > 0 ? (uint32_t)r->xml_line : 1, "", what);
    }
    return 0;
}

static uint32_t line_at(const char *text, const char *place)
{
    uint32_t line = 1;
    for (; text < place; text++)
        line += *text == '\n';
    return line;
}

static int check_text(struct oc_hw_reader *r, const char *text, size_t n)
{
    if (n == 0)
        return fail_at(r, 1, "", "the file is empty");
    if (n > OC_HW_MAX_FILE_BYTES)
        return oc_fail(r->err, OC_ELIMIT, "cannot read '%s': larger than 16 MiB", r->path);
    if (memchr(text, '\0', n))
        return fail_at(r, line_at(text, memchr(text, '\0', n)), "",
                       "a zero byte (the encoding must be UTF-8)");
    const char *doctype = memmem(text, n, "<!DOCTYPE", 9);
    if (doctype)
        return fail_at(r, line_at(text, doctype), "", "document types and entities are not allowed");
    return 0;
}

static int parse(struct oc_hw_reader *r, const void *data, size_t n)
{
    const int options = XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_NOBLANKS |
                        XML_PARSE_COMPACT | XML_PARSE_IGNORE_ENC;
    if (oc_xml_lib_open(&r->lib, r->err))
        return oc_err_prefix(r->err, "cannot read '%s'", r->path);
    r->xml = r->lib.reader_for_memory(data, (int)n, NULL, "UTF-8", options);
    int rc = -1;
    if (r->xml) {
        r->lib.reader_on_error(r->xml, on_xml_error, r);
        rc = read_nodes(r);
        r->lib.reader_free(r->xml);
    } else {
        rc = fail_at(r, 1, "", "the parser does not start");
    }
    oc_xml_lib_close(&r->lib);
    return rc;
}

int oc_hw_read_mem(const char *name, const void *data, size_t n, struct oc_arena *arena,
                   struct oc_device_list *list, struct oc_err *err)
{
    struct oc_hw_reader r = {.arena = arena, .err = err, .path = oc_strdup(arena, name)};
    r.source_ids.arena = r.names.arena = arena;
    int rc = check_text(&r, data, n);
    if (rc == 0)
        rc = parse(&r, data, n);
    if (rc == 0 && list->n + r.done.n > OC_HW_MAX_DEVICES)
        rc =
            oc_fail(err, OC_ELIMIT, "cannot read '%s': more than %u devices in all", name, OC_HW_MAX_DEVICES);
    for (size_t i = 0; rc == 0 && i < r.done.n; i++) {
        OC_GROW(list->item, list->n, list->cap);
        list->item[list->n++] = r.done.item[i];
    }
    oc_map_free(&r.source_ids);
    oc_map_free(&r.names);
    free(r.source);
    free(r.done.item);
    free(r.entry);
    free(r.level);
    free(r.alias);
    return rc;
}

int oc_hw_read_file(const char *path, struct oc_arena *arena, struct oc_device_list *list, struct oc_err *err)
{
    struct oc_file file;
    if (oc_file_map(path, OC_HW_MAX_FILE_BYTES, &file, err))
        return -1;
    int rc = oc_hw_read_mem(path, file.data ? (const void *)file.data : "", (size_t)file.size_bytes, arena,
                            list, err);
    oc_file_unmap(&file);
    return rc;
}
