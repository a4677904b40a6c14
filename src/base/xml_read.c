/* The reader of the project's own XML files, over libxml2, which is loaded on demand. */
#include "base/xml_read.h"

#include <errno.h>
#include <libxml/SAX2.h>
#include <libxml/parser.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/diag.h"
#include "base/os.h"
#include "base/str.h"

/* ---- libxml2 ---------------------------------------------------------------------------------------- */

#define FUNCTIONS(X)                                                                                         \
    X(init, xmlInitParser)                                                                                   \
    X(parser_new, xmlCreatePushParserCtxt)                                                                   \
    X(parser_options, xmlCtxtUseOptions)                                                                     \
    X(parser_read, xmlParseChunk)                                                                            \
    X(parser_stop, xmlStopParser)                                                                            \
    X(parser_free, xmlFreeParserCtxt)                                                                        \
    X(line, xmlSAX2GetLineNumber)

OC_LIBRARY(libxml2, FUNCTIONS, .name = "libxml2", .use = "XML files", .package = "libxml2",
           .soname = {"libxml2.so.2",
                      "libxml2.so.16"}); /* 2.14 changed it; the functions used here are in both */

/* libxml2 initialises itself with its first parser, which must not happen in several threads at once. */
static atomic_int set_up_error; /* errno, of the first call alone */

static void set_up(void)
{
    struct library lib;
    struct oc_err unused;
    if (oc_library_open(&libxml2, &lib, &unused))
        return;
    errno = 0;
    lib.init();
    atomic_store(&set_up_error, errno);
    oc_library_close(&lib);
}

static pthread_once_t xml_once = PTHREAD_ONCE_INIT;

static int open_library(struct library *lib, struct oc_err *err)
{
    pthread_once(&xml_once, set_up);
    oc_check_memory(atomic_exchange(&set_up_error, 0)); /* not inside: the next call would wait for its end */
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
    xmlParserCtxtPtr parser;
    bool failed; /* *err is filled: later events are ignored */
    struct oc_arena *arena;
    void *user;
    struct oc_err *err;
    const char *path;
    char complaint[256]; /* first error of the parser */
    int complaint_line;
    struct oc_xml_elem stack[OC_XML_MAX_DEPTH];
    size_t depth;
    uint32_t line; /* of the token that is replayed */
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

/* Position of a word in a list, UINT32_MAX: not in it. */
static uint32_t position_in(const char *list, const char *word)
{
    struct words w = {.list = list};
    for (uint32_t i = 0; xml_read_next_word(&w); i++)
        if (is_word(&w, word))
            return i;
    return UINT32_MAX;
}

static int check_required(const struct oc_xml *x, uint32_t given, const char *list)
{
    struct words w = {.list = list};
    for (uint32_t i = 0; xml_read_next_word(&w); i++)
        if (!(given >> i & 1))
            return oc_xml_fail(x, "missing %.*s", (int)w.n, w.word);
    return 0;
}

/* As libxml2 passes an attribute. The value is not terminated. */
struct sax_attribute {
    const xmlChar *name, *prefix, *uri, *value, *end;
};

static int add_attribute(struct oc_xml *x, struct oc_xml_elem *e, const struct sax_attribute *a,
                         uint32_t *given)
{
    const struct oc_xml_spec *s = &x->format->spec[e->kind];
    const char *name = (const char *)a->name;
    uint32_t at = a->prefix ? UINT32_MAX : position_in(s->required, name);
    if (e->n_attr == OC_XML_MAX_ATTR)
        return oc_xml_fail(x, "too many attributes");
    if (a->prefix)
        return oc_xml_fail(x, "unknown attribute '%.40s%s%.60s'", (const char *)a->prefix, name ? ":" : "",
                           name ? name : "");
    if (at == UINT32_MAX && position_in(s->optional, name) == UINT32_MAX)
        return oc_xml_fail(x, "unknown attribute '%.60s'", name);
    size_t n = (size_t)(a->end - a->value);
    if (n == 0 || n > OC_XML_MAX_VALUE)
        return oc_xml_fail(x, "attribute '%.60s' %s", name, n ? "is longer than 1000 bytes" : "is empty");
    *given |= at < 32 ? 1u << at : 0;
    e->attr[e->n_attr++] = (struct oc_xml_attr){name, oc_strndup(x->arena, (const char *)a->value, n)};
    return 0;
}

static int read_attributes(struct oc_xml *x, struct oc_xml_elem *e, const struct sax_attribute *a, size_t n)
{
    uint32_t given = 0;
    for (size_t i = 0; i < n; i++)
        if (add_attribute(x, e, &a[i], &given))
            return -1;
    return check_required(x, given, x->format->spec[e->kind].required);
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

static uint32_t current_line(const struct oc_xml *x)
{
    int line = x->parser ? x->lib.line(x->parser) : (int)x->line;
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

static int start_element(struct oc_xml *x, const char *name, const struct sax_attribute *a, size_t n)
{
    uint32_t line = current_line(x), kind = xml_read_find_kind(x, name);
    if (kind == x->format->n_spec || x->depth == OC_XML_MAX_DEPTH) {
        char context[320], what[120];
        add_context(x, context, sizeof(context));
        snprintf(what, sizeof(what), "unknown element '%.60s'", name);
        return fail_at(x, line, context, what);
    }
    const struct oc_xml_spec *s = &x->format->spec[kind];
    struct oc_xml_elem *e = &x->stack[x->depth++];
    *e = (struct oc_xml_elem){.kind = kind, .line = line};
    if (read_attributes(x, e, a, n) || (x->depth == 1 && check_version(x, e)))
        return -1;
    return s->start ? s->start(x->user, e) : 0;
}

static bool goes_on(const struct oc_xml *x)
{
    return !x->failed && !x->complaint[0];
}

static void stop_if(struct oc_xml *x, int rc)
{
    if (!rc)
        return;
    x->failed = true;
    x->lib.parser_stop(x->parser);
}

static void on_start(void *user, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri, int n_space,
                     const xmlChar **space, int n, int n_default, const xmlChar **attribute)
{
    struct oc_xml *x = user;
    const struct sax_attribute xmlns = {.prefix = (const xmlChar *)"xmlns",
                                        .name = n_space ? space[0] : NULL},
                               *first = (const struct sax_attribute *)(const void *)attribute;
    const char *shown = (const char *)(prefix ? prefix : name); /* no element has a prefix */
    (void)uri, (void)n_default;
    if (goes_on(x))
        stop_if(x, start_element(x, shown, n_space ? &xmlns : first, n_space ? 1 : (size_t)n));
}

static void on_end(void *user, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri)
{
    struct oc_xml *x = user;
    (void)name, (void)prefix, (void)uri;
    if (goes_on(x))
        stop_if(x, end_element(x));
}

static void on_text(void *user, const xmlChar *s, int n)
{
    struct oc_xml *x = user;
    int i = 0;
    while (i < n && oc_is_space((char)s[i]))
        i++;
    if (i < n && goes_on(x))
        stop_if(x, fail_at(x, current_line(x), "", "text outside of attributes"));
}

static void on_reference(void *user, const xmlChar *name)
{
    struct oc_xml *x = user;
    (void)name;
    if (goes_on(x))
        stop_if(x, fail_at(x, current_line(x), "", "document types and entities are not allowed"));
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
    while (oc_is_space(text[n - 1]))
        n--;
    if (text[n - 1] != '>') /* libxml2 passes an element on before it sees the end of its tag */
        return fail_at(x, xml_read_line_at(text, text + n), "",
                       "not well-formed: the file does not end with a tag");
    return 0;
}

/* libxml2 does not report every failed allocation as an error, but malloc sets errno. */
static int parse_document(struct oc_xml *x, const char *data, size_t n)
{
    errno = 0;
    int rc = x->lib.parser_read(x->parser, data, (int)n, 1);
    oc_check_memory(errno);
    if (x->failed)
        return -1;
    if (rc == 0 && !x->complaint[0])
        return 0;
    char what[sizeof(x->complaint) + 32];
    snprintf(what, sizeof(what), "not well-formed: %s", x->complaint[0] ? x->complaint : "parser error");
    return fail_at(x, x->complaint_line > 0 ? (uint32_t)x->complaint_line : 1, "", what);
}

static int xml_read_parse(struct oc_xml *x, const char *data, size_t n)
{
    xmlSAXHandler events = {.initialized = XML_SAX2_MAGIC,
                            .startElementNs = on_start,
                            .endElementNs = on_end,
                            .characters = on_text,
                            .cdataBlock = on_text,
                            .reference = on_reference,
                            .serror = on_xml_error};
    if (open_library(&x->lib, x->err))
        return oc_err_prefix(x->err, "cannot read '%s'", x->path);
    errno = 0;
    x->parser = x->lib.parser_new(&events, x, NULL, 0, NULL);
    oc_check_memory(errno);
    int rc = -1;
    if (x->parser) {
        x->lib.parser_options(x->parser, XML_PARSE_NOENT | XML_PARSE_NONET | XML_PARSE_IGNORE_ENC);
        rc = parse_document(x, data, n);
        x->lib.parser_free(x->parser);
    } else {
        rc = fail_at(x, 1, "", "libxml2 could not create a parser");
    }
    oc_library_close(&x->lib);
    return rc;
}

static struct oc_xml *new_reader(const struct oc_xml_format *format, const char *name, struct oc_arena *arena,
                                 void *user, struct oc_err *err)
{
    struct oc_xml *x = OC_NEW(arena, struct oc_xml);
    x->format = format;
    x->arena = arena;
    x->user = user;
    x->err = err;
    x->path = oc_strdup(arena, name);
    return x;
}

int oc_xml_read(const struct oc_xml_format *format, const char *name, const void *data, size_t n,
                struct oc_arena *arena, void *user, const struct oc_xml **x, struct oc_err *err)
{
    struct oc_xml *own = new_reader(format, name, arena, user, err);
    *x = own;
    return check_text(own, data, n) ? -1 : xml_read_parse(own, data, n);
}

static int replay_token(struct oc_xml *x, const struct oc_xml_token *t)
{
    struct sax_attribute a[OC_XML_MAX_ATTR + 1] = {{0}};
    size_t n = 0;
    x->line = t->line;
    for (; t->attr[2 * n] && n <= OC_XML_MAX_ATTR; n++)
        a[n] = (struct sax_attribute){.name = (const xmlChar *)t->attr[2 * n],
                                      .value = (const xmlChar *)t->attr[2 * n + 1],
                                      .end = (const xmlChar *)strchr(t->attr[2 * n + 1], '\0')};
    return start_element(x, t->name, a, n);
}

int oc_xml_replay(const struct oc_xml_format *format, const char *name, const struct oc_xml_token *token,
                  size_t n, struct oc_arena *arena, void *user, const struct oc_xml **x, struct oc_err *err)
{
    struct oc_xml *own = new_reader(format, name, arena, user, err);
    int rc = 0;
    *x = own;
    for (size_t i = 0; i <= n && rc == 0; i++) {
        size_t depth = i < n ? token[i].depth : 0;
        while (rc == 0 && own->depth > depth)
            rc = end_element(own);
        if (rc == 0 && i < n)
            rc = replay_token(own, &token[i]);
    }
    return rc;
}
