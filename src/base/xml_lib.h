/* libxml2, loaded when the first XML file is read. It is not linked: its own dependencies cost more at
 * start-up than all of the program. Part of xml_read.c: nobody else includes this. */
#ifndef OC_XML_LIB_H
#define OC_XML_LIB_H

#include "onnxcost.h"

#include <libxml/parser.h>
#include <libxml/xmlreader.h>

/* One entry per function used, with the type that the real header declares. */
struct oc_xml_lib {
    void *handle;
    __typeof__(xmlReaderForMemory) *reader_for_memory;
    __typeof__(xmlFreeTextReader) *reader_free;
    __typeof__(xmlTextReaderSetStructuredErrorHandler) *reader_on_error;
    __typeof__(xmlTextReaderRead) *reader_read;
    __typeof__(xmlTextReaderNodeType) *reader_node_type;
    __typeof__(xmlTextReaderIsEmptyElement) *reader_is_empty;
    __typeof__(xmlTextReaderConstName) *reader_name;
    __typeof__(xmlTextReaderConstValue) *reader_value;
    __typeof__(xmlTextReaderMoveToNextAttribute) *reader_next_attribute;
    __typeof__(xmlTextReaderMoveToElement) *reader_to_element;
    __typeof__(xmlTextReaderCurrentNode) *reader_node;
    __typeof__(xmlGetLineNo) *line_of;
};

/* Fills *lib. OC_ELIBRARY when the library is missing or lacks a function. The library stays in the
 * process, so opening it again is cheap. Several threads may do this at once, each with a table of its own.
 */
int oc_xml_lib_open(struct oc_xml_lib *lib, struct oc_err *err);
void oc_xml_lib_close(struct oc_xml_lib *lib);

#endif
