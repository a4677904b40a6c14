/* Names that are too wide for their column. Paths keep their end, other texts both ends; where that makes
 * different names equal, what they have in common at the start is left out. */
#ifndef OC_SHORT_NAMES_H
#define OC_SHORT_NAMES_H

#include "base/arena.h"

/* Replaces in text[0], text[stride], ... (n of them) every text wider than `width` columns by one that fits.
 * Different texts stay different. The new texts are in the arena. Time is linear in the length of all texts.
 */
void oc_short_names(struct oc_arena *arena, const char **text, size_t stride, size_t n, size_t width);

#endif
