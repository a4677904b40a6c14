/* File names for Windows' functions, which take UTF-16. */
#ifndef OC_OS_WIN_TEXT_H
#define OC_OS_WIN_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* False: not UTF-8, or longer. */
bool oc_win_wide(const char *utf8, wchar_t *out, size_t cap);
bool oc_win_utf8(const wchar_t *wide, char *out, size_t cap);
void oc_win_slashes(char *path); /* "a\b" becomes "a/b" */

#endif
