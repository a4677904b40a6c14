/* Deduplication of constants by content (--dedup content). */
#ifndef OC_DEDUP_H
#define OC_DEDUP_H

#include "analyze/engine.h"

/* By value: the constant that represents it; itself when unique or not a constant. Reads the bytes of
 * constants of the same type and shape; unreadable ones are not merged, with a warning. */
void oc_find_same(struct oc_engine *e, uint32_t *same);

#endif
