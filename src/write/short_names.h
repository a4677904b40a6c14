/* Shortens names that are too wide for their column. Paths keep their end, other texts both ends; if
 * different names become equal, their common prefix is removed. */
#ifndef OC_SHORT_NAMES_H
#define OC_SHORT_NAMES_H

#include "base/arena.h"

/* Replaces every text wider than `width` columns in text[0], text[stride], ... (n of them) by one that
 * fits. Different texts stay different. The new texts are allocated in the arena. O(total length of the
 * texts). */
void oc_short_names(struct oc_arena *arena, const char **text, size_t stride, size_t n, size_t width);

#endif
