#include "write/tables/grid.h"

#include <string.h>

#include "base/unicode.h"

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
