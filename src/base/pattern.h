/* Patterns for names: '*' and '?', and simple regular expressions in bounded time. */
#ifndef OC_PATTERN_H
#define OC_PATTERN_H

#include <stdbool.h>

/* The whole text against a pattern in which '*' stands for any text and '?' for a character. */
bool oc_glob(const char *pattern, const char *text);

/* Regular expressions as in Python's re.search, of characters, '.', "\\d", "\\w", sets, "* + ?", '^', '$' and groups
 * of alternatives that are not nested or repeated. Without look-ahead and counts: those are not simple, and match
 * nothing. */
bool oc_regex_is_simple(const char *pattern);
bool oc_regex_find(const char *pattern, const char *text);

#endif
