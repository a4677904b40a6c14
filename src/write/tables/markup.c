/* Text from files in Markdown, XML and HTML. */
#include "write/tables/plain_table.h"

#include <string.h>

#include "base/unicode.h"

/* ---- Markdown --------------------------------------------------------------------------------------- */

enum { MAX_COLUMNS = 160, HEAD = MAX_COLUMNS / 3 };

static bool is_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Characters without a special meaning in a table cell: an underscore inside a word has none. */
static bool is_harmless(const char *s)
{
    for (const char *p = s; *p; p++)
        if (!is_alnum(*p) && !strchr(" ,.()%:;/+-=?'", *p) &&
            !(*p == '_' && p > s && is_alnum(p[-1]) && is_alnum(p[1])))
            return false;
    return *s && !strstr(s, "://") && !strstr(s, "www.");
}

static void md_text_put(struct oc_buf *b, const char *p, const char *end)
{
    while (p < end) {
        const char *from = p;
        if (oc_uni_is_hidden(oc_utf8_next(&p, end)))
            oc_buf_char(b, '?');
        else
            oc_buf_add(b, from, (size_t)(p - from));
    }
}

/* The end of the first `columns` columns of the text. */
static const char *after(const char *p, const char *end, size_t columns)
{
    size_t n = 0;
    while (p < end) {
        const char *next = p;
        n += oc_uni_columns(oc_utf8_next(&next, end));
        if (n > columns)
            break;
        p = next;
    }
    return p;
}

/* The text without control characters, shortened in the middle when it is long. */
static void clean(struct oc_buf *b, const char *s, bool cut)
{
    const char *end = s + strlen(s);
    size_t columns = cut ? oc_utf8_columns(s, strlen(s)) : 0;
    if (columns <= MAX_COLUMNS) {
        md_text_put(b, s, end);
        return;
    }
    md_text_put(b, s, after(s, end, HEAD));
    oc_buf_str(b, "…");
    md_text_put(b, after(s, end, columns - (MAX_COLUMNS - HEAD - 1)), end);
}

/* A code span cannot contain its own fence, and tables split cells at bars before they parse code. A
 * <code> element with character references for all punctuation can contain anything and never forms a link
 * or mention. */
static void md_text_element(struct oc_buf *b, const char *s)
{
    oc_buf_str(b, "<code>");
    for (; *s; s++) {
        if (is_alnum(*s) || (unsigned char)*s >= 0x80)
            oc_buf_char(b, *s);
        else
            oc_buf_printf(b, "&#%u;", (unsigned char)*s);
    }
    oc_buf_str(b, "</code>");
}

static void code(struct oc_buf *b, const char *s, bool cut)
{
    struct oc_buf text = {0};
    clean(&text, s, cut);
    bool span = text.n && !strpbrk(text.data, "`|\\") && text.data[0] != ' ' && text.data[text.n - 1] != ' ';
    if (span)
        oc_buf_printf(b, "`%s`", text.data);
    else if (text.n)
        md_text_element(b, text.data);
    else
        oc_buf_char(b, '-');
    oc_buf_free(&text);
}

void oc_md_code(struct oc_buf *b, const char *s)
{
    code(b, s, true);
}

void oc_md_text(struct oc_buf *b, const char *s)
{
    if (is_harmless(s))
        oc_buf_str(b, s);
    else
        code(b, s, false);
}

/* ---- XML and HTML ----------------------------------------------------------------------------------- */

static const char *escape_of(uint32_t c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\t':
        return "&#9;";
    case '\n':
        return "&#10;";
    case '\r':
        return "&#13;";
    default:
        return NULL;
    }
}

/* Char of XML 1.0 without invisible characters and bidirectional overrides. */
static bool is_allowed(uint32_t c)
{
    return !oc_uni_is_hidden(c) && c != 0xfffe && c != 0xffff;
}

void oc_xml_text(struct oc_buf *b, const char *s)
{
    const char *end = s + strlen(s);
    while (s < end) {
        const char *from = s;
        uint32_t c = oc_utf8_next(&s, end);
        const char *escape = escape_of(c);
        if (escape)
            oc_buf_str(b, escape);
        else if (is_allowed(c))
            oc_buf_add(b, from, (size_t)(s - from));
        else
            oc_buf_str(b, "\xef\xbf\xbd");
    }
}

void oc_xml_attribute(struct oc_buf *b, const char *name, const char *text)
{
    oc_buf_printf(b, " %s=\"", name);
    oc_xml_text(b, text);
    oc_buf_char(b, '"');
}
