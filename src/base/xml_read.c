/* The reader of the project's own XML files, over libxml2, which is loaded on demand. */
#include "base/xml_read.h"

#include <errno.h>
#include <libxml/parser.h>
#include <libxml/xmlreader.h>
#include <pthread.h>
#include <string.h>

#include "base/diag.h"
#include "base/os.h"
#include "base/str.h"

/* ---- libxml2 ---------------------------------------------------------------------------------------- */

#define FUNCTIONS(X)                                                                                         \
    X(init, xmlInitParser)                                                                                   \
    X(reader_for_memory, xmlReaderForMemory)                                                                 \
    X(reader_free, xmlFreeTextReader)                                                                        \
    X(reader_on_error, xmlTextReaderSetStructuredErrorHandler)                                               \
    X(reader_read, xmlTextReaderRead)                                                                        \
    X(reader_node_type, xmlTextReaderNodeType)                                                               \
    X(reader_is_empty, xmlTextReaderIsEmptyElement)                                                          \
    X(reader_name, xmlTextReaderConstName)                                                                   \
    X(reader_value, xmlTextReaderConstValue)                                                                 \
    X(reader_next_attribute, xmlTextReaderMoveToNextAttribute)                                               \
    X(reader_to_element, xmlTextReaderMoveToElement)                                                         \
    X(reader_node, xmlTextReaderCurrentNode)                                                                 \
    X(line_of, xmlGetLineNo)
struct library {
    void *handle;
    FUNCTIONS(OC_LIBRARY_MEMBER)
};
static const struct oc_library_symbol symbols[] = {FUNCTIONS(OC_LIBRARY_SYMBOL)};

static const struct oc_library_table libxml2 = {
    .name = "libxml2",
    .use = "XML files",
    .package = "libxml2",
    .soname = {"libxml2.so.2", "libxml2.so.16"}, /* 2.14 changed it; the functions used here are in both */
    .symbol = symbols,
    .n_symbol = OC_COUNT(symbols),
};

/* libxml2 initialises itself with its first reader, which must not happen in several threads at once. */
static void set_up(void)
{
    struct library lib;
    struct oc_err unused;
    if (oc_library_open(&libxml2, &lib, &unused))
        return;
    errno = 0;
    lib.init();
    oc_check_memory(errno);
    oc_library_close(&lib);
}

static pthread_once_t xml_once = PTHREAD_ONCE_INIT;

static int open_library(struct library *lib, struct oc_err *err)
{
    pthread_once(&xml_once, set_up);
    return oc_library_open(&libxml2, lib, err);
}

/* "20914" or "20914-GITv2.9.14": two digits per part. */
static void version_text(const char *number, char *out, size_t cap)
{
    unsigned n = 0;
    for (; oc_is_digit(*number) && n < 10000000; number++)
        n = n * 10 + (unsigned)(*number - '0');
    if (n)
        snprintf(out, cap, "%u.%u.%u", n / 10000, n / 100 % 100, n % 100);
}

int oc_xml_version(char *version, size_t version_cap, char *file, size_t file_cap, struct oc_err *err)
{
    struct library lib;
    if (open_library(&lib, err))
        return -1;
    const char *const *found = oc_library_symbol(&lib, "xmlParserVersion");
    version[0] = '\0';
    if (found)
        version_text(*found, version, version_cap);
    oc_library_file(found, file, file_cap);
    oc_library_close(&lib);
    return 0;
}

/* ---- one document ----------------------------------------------------------------------------------- */

struct oc_xml {
    const struct oc_xml_format *format;
    struct library lib;
    xmlTextReaderPtr parser;
    struct oc_arena *arena;
    void *user;
    struct oc_err *err;
    const char *path;
    char complaint[256]; /* first error of the parser */
    int complaint_line;
    struct oc_xml_elem stack[OC_XML_MAX_DEPTH];
    size_t depth;
};

/* ---- errors ----------------------------------------------------------------------------------------- */

const char *oc_xml_get(const struct oc_xml_elem *e, const char *name)
{
    for (size_t i = 0; i < e->n_attr; i++)
        if (strcmp(e->attr[i].name, name) == 0)
            return e->attr[i].value;
    return NULL;
}

struct words {
    const char *list; /* separated by blanks */
    const char *word; /* the current one */
    size_t n;
};

static bool xml_read_next_word(struct words *w)
{
    for (w->word = w->list; *w->word == ' '; w->word++)
        ;
    for (w->list = w->word; *w->list && *w->list != ' '; w->list++)
        ;
    w->n = (size_t)(w->list - w->word);
    return w->n > 0;
}

static bool is_word(const struct words *w, const char *s)
{
    return strncmp(s, w->word, w->n) == 0 && !s[w->n];
}

static const char *value_of_word(const struct oc_xml_elem *e, const struct words *w)
{
    for (size_t i = 0; i < e->n_attr; i++)
        if (is_word(w, e->attr[i].name))
            return e->attr[i].value;
    return NULL;
}

struct text {
    char *s;
    size_t used, cap;
};

static void xml_read_append(struct text *t, const char *fmt, const char *s)
{
    int n = t->used < t->cap ? snprintf(t->s + t->used, t->cap - t->used, fmt, s) : 0;
    t->used += n > 0 ? (size_t)n : 0;
}

/* "peak 'f16': " */
static void add_element(const struct oc_xml *x, const struct oc_xml_elem *e, struct text *t)
{
    const struct oc_xml_spec *s = &x->format->spec[e->kind];
    struct words w = {.list = s->label ? s->label : ""};
    const char *before = " '";
    xml_read_append(t, "%s", s->name);
    while (xml_read_next_word(&w)) {
        const char *value = value_of_word(e, &w);
        if (!value)
            continue;
        xml_read_append(t, "%s", before);
        xml_read_append(t, "%.60s", value);
        before = ":";
    }
    xml_read_append(t, "%s", before[0] == ':' ? "': " : ": ");
}

/* "device 'a100': peak 'f16': ", outermost element first; the root is omitted. */
static void add_context(const struct oc_xml *x, char *s, size_t cap)
{
    struct text t = {.s = s, .cap = cap};
    s[0] = '\0';
    for (size_t i = 1; i < x->depth; i++)
        if (!x->format->spec[x->stack[i].kind].silent || i + 1 == x->depth)
            add_element(x, &x->stack[i], &t);
}

static void one_line(char *s)
{
    for (; *s; s++)
        if ((unsigned char)*s < 0x20 || *s == 0x7f)
            *s = '?';
}

static int fail_at(const struct oc_xml *x, uint32_t line, const char *context, const char *what)
{
    if (!x->err)
        return -1;
    oc_fail(x->err, OC_EFORMAT, "cannot read '%s': line %u: %s%s", x->path, line, context, what);
    one_line(x->err->msg);
    return oc_err_at(x->err, x->path, line, 0);
}

int oc_xml_fail(const struct oc_xml *x, const char *fmt, ...)
{
    char context[320], what[400];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof(what), fmt, ap);
    va_end(ap);
    add_context(x, context, sizeof(context));
    return fail_at(x, x->depth ? x->stack[x->depth - 1].line : 1, context, what);
}

/* ---- the parser's events ---------------------------------------------------------------------------- */

static bool in_list(const char *list, const char *word)
{
    struct words w = {.list = list};
    while (xml_read_next_word(&w))
        if (is_word(&w, word))
            return true;
    return false;
}

static int check_required(const struct oc_xml *x, const struct oc_xml_elem *e, const char *list)
{
    struct words w = {.list = list};
    while (xml_read_next_word(&w))
        if (!value_of_word(e, &w))
            return oc_xml_fail(x, "missing %.*s", (int)w.n, w.word);
    return 0;
}

static int read_attributes(struct oc_xml *x, struct oc_xml_elem *e)
{
    const struct oc_xml_spec *s = &x->format->spec[e->kind];
    int more;
    errno = 0;
    while ((more = x->lib.reader_next_attribute(x->parser)) == 1) {
        const char *name = (const char *)x->lib.reader_name(x->parser);
        const char *value = (const char *)x->lib.reader_value(x->parser);
        oc_check_memory(errno);
        if (!name || !value || e->n_attr == OC_XML_MAX_ATTR)
            return oc_xml_fail(x, "too many attributes");
        if (!in_list(s->required, name) && !in_list(s->optional, name))
            return oc_xml_fail(x, "unknown attribute '%.60s'", name);
        size_t n = strlen(value);
        if (n == 0 || n > OC_XML_MAX_VALUE)
            return oc_xml_fail(x, "attribute '%.60s' %s", name, n ? "is longer than 1000 bytes" : "is empty");
        e->attr[e->n_attr++] = (struct oc_xml_attr){oc_strdup(x->arena, name), oc_strdup(x->arena, value)};
    }
    x->lib.reader_to_element(x->parser);
    return more < 0 ? -1 : check_required(x, e, s->required);
}

/* Of the root: every format has the attribute. */
static int check_version(const struct oc_xml *x, const struct oc_xml_elem *e)
{
    const char *version = oc_xml_get(e, "version");
    return strcmp(version, x->format->version) == 0
               ? 0
               : oc_xml_fail(x, "version '%.20s' is not supported (this program reads version %s)", version,
                             x->format->version);
}

static int end_element(struct oc_xml *x)
{
    const struct oc_xml_elem *e = &x->stack[x->depth - 1];
    int rc = x->format->spec[e->kind].end ? x->format->spec[e->kind].end(x->user, e) : 0;
    if (rc == 0)
        x->depth--;
    return rc;
}

static uint32_t current_line(struct oc_xml *x)
{
    xmlNodePtr node = x->lib.reader_node(x->parser);
    long line = node ? x->lib.line_of(node) : 0;
    return line > 0 ? (uint32_t)line : 1;
}

/* Row of the element of that name inside the current one; n_spec: none. */
static uint32_t xml_read_find_kind(const struct oc_xml *x, const char *name)
{
    uint32_t parent = x->depth ? x->stack[x->depth - 1].kind : OC_XML_ROOT, kind = 0;
    const struct oc_xml_spec *s = x->format->spec;
    while (kind < x->format->n_spec && (s[kind].parent != parent || strcmp(s[kind].name, name) != 0))
        kind++;
    return kind;
}

static int start_element(struct oc_xml *x)
{
    const char *name = (const char *)x->lib.reader_name(x->parser);
    uint32_t line = current_line(x), kind = xml_read_find_kind(x, name);
    if (kind == x->format->n_spec || x->depth == OC_XML_MAX_DEPTH) {
        char context[320], what[120];
        add_context(x, context, sizeof(context));
        snprintf(what, sizeof(what), "unknown element '%.60s'", name);
        return fail_at(x, line, context, what);
    }
    const struct oc_xml_spec *s = &x->format->spec[kind];
    bool empty = x->lib.reader_is_empty(x->parser) == 1;
    struct oc_xml_elem *e = &x->stack[x->depth++];
    *e = (struct oc_xml_elem){.kind = kind, .line = line};
    if (read_attributes(x, e) || (x->depth == 1 && check_version(x, e)) || (s->start && s->start(x->user, e)))
        return -1;
    return empty ? end_element(x) : 0;
}

static int handle_node(struct oc_xml *x)
{
    switch (x->lib.reader_node_type(x->parser)) {
    case XML_READER_TYPE_ELEMENT:
        return start_element(x);
    case XML_READER_TYPE_END_ELEMENT:
        return end_element(x);
    case XML_READER_TYPE_COMMENT:
    case XML_READER_TYPE_PROCESSING_INSTRUCTION:
    case XML_READER_TYPE_WHITESPACE:
    case XML_READER_TYPE_SIGNIFICANT_WHITESPACE:
        return 0;
    case XML_READER_TYPE_TEXT:
    case XML_READER_TYPE_CDATA:
        return fail_at(x, current_line(x), "", "text outside of attributes");
    default:
        return fail_at(x, current_line(x), "", "document types and entities are not allowed");
    }
}

#if LIBXML_VERSION >= 21200
static void on_xml_error(void *user, const xmlError *e)
#else
static void on_xml_error(void *user, xmlErrorPtr e)
#endif
{
    struct oc_xml *x = user;
    if (!e || !e->message || x->complaint[0] || e->level < XML_ERR_ERROR)
        return;
    snprintf(x->complaint, sizeof(x->complaint), "%s", e->message);
    size_t n = strlen(x->complaint);
    while (n && (x->complaint[n - 1] == '\n' || x->complaint[n - 1] == ' '))
        x->complaint[--n] = '\0';
    x->complaint_line = e->line;
}

/* libxml2 does not report every failed allocation as an error, but malloc sets errno. */
static int xml_read_node(struct oc_xml *x)
{
    errno = 0;
    int more = x->lib.reader_read(x->parser);
    oc_check_memory(errno);
    return more;
}

static int read_nodes(struct oc_xml *x)
{
    int more;
    while ((more = xml_read_node(x)) == 1 && !x->complaint[0])
        if (handle_node(x))
            return -1;
    if (more != 0 || x->complaint[0]) {
        char what[sizeof(x->complaint) + 32];
        snprintf(what, sizeof(what), "not well-formed: %s", x->complaint[0] ? x->complaint : "parser error");
        return fail_at(x, x->complaint_line > 0 ? (uint32_t)x->complaint_line : 1, "", what);
    }
    return 0;
}

static uint32_t xml_read_line_at(const char *text, const char *place)
{
    uint32_t line = 1;
    for (; text < place; text++)
        line += *text == '\n';
    return line;
}

/* UTF-16, too, for a message of its own. */
static bool begins_as_xml(const char *text, size_t n)
{
    size_t i = n >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;
    while (i < n && oc_is_space(text[i]))
        i++;
    bool wide = n >= 2 && (!memcmp(text, "\xff\xfe", 2) || !memcmp(text, "\xfe\xff", 2));
    return wide || (i < n && text[i] == '<');
}

static int check_text(const struct oc_xml *x, const char *text, size_t n)
{
    if (n == 0)
        return fail_at(x, 1, "", "the file is empty");
    if (n > x->format->max_bytes)
        return oc_fail(x->err, OC_ELIMIT, "cannot read '%s': larger than %u MiB", x->path,
                       x->format->max_bytes >> 20);
    if (!begins_as_xml(text, n))
        return oc_fail(x->err, OC_EFORMAT, "cannot read '%s': not XML: an XML file with <%s> is expected",
                       x->path, x->format->spec->name);
    if (memchr(text, '\0', n))
        return fail_at(x, xml_read_line_at(text, memchr(text, '\0', n)), "",
                       "a zero byte (the encoding must be UTF-8)");
    const char *doctype = oc_find(text, n, "<!DOCTYPE", 9);
    if (doctype)
        return fail_at(x, xml_read_line_at(text, doctype), "", "document types and entities are not allowed");
    return 0;
}

static int xml_read_parse(struct oc_xml *x, const void *data, size_t n)
{
    const int options = XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_NOBLANKS |
                        XML_PARSE_COMPACT | XML_PARSE_IGNORE_ENC;
    if (open_library(&x->lib, x->err))
        return oc_err_prefix(x->err, "cannot read '%s'", x->path);
    errno = 0;
    x->parser = x->lib.reader_for_memory(data, (int)n, NULL, "UTF-8", options);
    oc_check_memory(errno);
    int rc = -1;
    if (x->parser) {
        x->lib.reader_on_error(x->parser, on_xml_error, x);
        rc = read_nodes(x);
        x->lib.reader_free(x->parser);
    } else {
        rc = fail_at(x, 1, "", "libxml2 could not create a parser");
    }
    oc_library_close(&x->lib);
    return rc;
}

int oc_xml_read(const struct oc_xml_format *format, const char *name, const void *data, size_t n,
                struct oc_arena *arena, void *user, const struct oc_xml **x, struct oc_err *err)
{
    struct oc_xml *own = OC_NEW(arena, struct oc_xml);
    own->format = format;
    own->arena = arena;
    own->user = user;
    own->err = err;
    own->path = oc_strdup(arena, name);
    *x = own;
    return check_text(own, data, n) ? -1 : xml_read_parse(own, data, n);
}
