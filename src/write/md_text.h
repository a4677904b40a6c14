/* Text from files inside GitHub-flavoured Markdown. Whatever a name holds, it is shown as it is and does
 * nothing: no markup, no cell or line of its own, no link, mention or number of an issue. */
#ifndef OC_MD_TEXT_H
#define OC_MD_TEXT_H

#include "base/buf.h"

/* A name, as code. Longer ones than 160 columns lose their middle; "" becomes "-". */
void oc_md_code(struct oc_buf *b, const char *s);

/* Other text: as it is where that is harmless, else as code of any length. */
void oc_md_text(struct oc_buf *b, const char *s);

#endif
