/* Text from files inside XML 1.0 or HTML, in an element or between double quotes: markup is escaped, line
 * ends and tabs survive as character references, and what neither may hold (control characters, broken UTF-8,
 * noncharacters) becomes U+FFFD. */
#ifndef OC_XML_TEXT_H
#define OC_XML_TEXT_H

#include "base/buf.h"

void oc_xml_text(struct oc_buf *b, const char *s);
/* ' name="text"' */
void oc_xml_attribute(struct oc_buf *b, const char *name, const char *text);

#endif
