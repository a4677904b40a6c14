/* Lines of JSON that hold a line of text each, as drivers of containers and loggers write them. */
#ifndef OC_BASE_LOG_JSON_H
#define OC_BASE_LOG_JSON_H

#include "base/str.h"

struct oc_buf;

/* The text of the line after its opening quote; NULL: no such line. */
const char *oc_log_json(struct oc_str line);
/* The text from there to its closing quote, without line ends at its end. */
void oc_log_json_text(const char *p, const char *end, struct oc_buf *out);

#endif
