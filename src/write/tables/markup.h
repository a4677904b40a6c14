/* Text from files in Markdown, XML and HTML. */
#ifndef OC_MARKUP_H
#define OC_MARKUP_H

#include "base/buf.h"

/* Text from files in GitHub-flavoured Markdown. Any text is shown literally and has no effect: no markup,
 * cell, line, link, mention or issue number. */

/* A name as code. Names over 160 columns are shortened in the middle; "" becomes "-". */
void oc_md_code(struct oc_buf *b, const char *s);

/* Other text: unchanged if it is harmless, otherwise as code of any length. */
void oc_md_text(struct oc_buf *b, const char *s);

/* Text from files in XML 1.0 or HTML, in an element or between double quotes: escapes markup, writes line
 * ends and tabs as character references, and replaces characters that are not allowed (control characters,
 * invalid UTF-8, noncharacters) with U+FFFD. */

void oc_xml_text(struct oc_buf *b, const char *s);
/* ' name="text"' */
void oc_xml_attribute(struct oc_buf *b, const char *name, const char *text);

#endif
