/* Text from files in XML 1.0 or HTML, in an element or between double quotes: escapes markup, writes line
 * ends and tabs as character references, and replaces characters that are not allowed (control characters,
 * invalid UTF-8, noncharacters) with U+FFFD. */
#ifndef OC_XML_TEXT_H
#define OC_XML_TEXT_H

#include "base/buf.h"

void oc_xml_text(struct oc_buf *b, const char *s);
/* ' name="text"' */
void oc_xml_attribute(struct oc_buf *b, const char *name, const char *text);

#endif
