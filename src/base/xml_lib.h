/* libxml2, loaded when the first XML file is read. It is not linked: its dependencies cost more start-up time
 * than the rest of the program. Only xml_read.c includes this file. */
#ifndef OC_XML_LIB_H
#define OC_XML_LIB_H

#include "onnxcost_types.h"

#include <libxml/parser.h>
#include <libxml/xmlreader.h>

/* One entry per function used, typed by the real header. */
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

/* Fills *lib. OC_ELIBRARY when the library is missing or lacks a function. The library stays loaded, so
 * opening it again is cheap. Thread-safe; each thread passes its own table.
 */
int oc_xml_lib_open(struct oc_xml_lib *lib, struct oc_err *err);
void oc_xml_lib_close(struct oc_xml_lib *lib);

#endif
