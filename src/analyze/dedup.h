/* Constants with the same bits (--dedup content). */
#ifndef OC_DEDUP_H
#define OC_DEDUP_H

#include "analyze/engine.h"

/* By value: the constant that stands for it, itself where it is the only one, or for what is no constant.
 * Reads the bytes of constants of the same type and shape; what cannot be read stays by itself, with a
 * finding. */
void oc_find_same(struct oc_engine *e, uint32_t *same);

#endif
