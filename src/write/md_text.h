/* Text from files in GitHub-flavoured Markdown. Any text is shown literally and has no effect: no markup,
 * cell, line, link, mention or issue number. */
#ifndef OC_MD_TEXT_H
#define OC_MD_TEXT_H

#include "base/buf.h"

/* A name as code. Names over 160 columns are shortened in the middle; "" becomes "-". */
void oc_md_code(struct oc_buf *b, const char *s);

/* Other text: unchanged if it is harmless, otherwise as code of any length. */
void oc_md_text(struct oc_buf *b, const char *s);

#endif
