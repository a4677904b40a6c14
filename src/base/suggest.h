/* Suggestions for misspelled names, and the one form of "unknown name" messages (oc_fail_unknown). */
#ifndef OC_SUGGEST_H
#define OC_SUGGEST_H

#include "onnxcost_types.h"

/* Normalises a character of a name: ignores case, and treats '-', '_' and blank as equal. */
char oc_fold_char(char c);

/* Indices of the names that `given` is probably a misspelling of, nearest first; returns how many, at most
 * `max`. A name is near within an edit distance (optimal string alignment) of a third of the given name, at
 * least 1, or when one is in the other from the start of a word on. O(n) in the names. */
size_t oc_suggest(const char *given, const char *const *name, size_t n, size_t *near, size_t max);

#endif
