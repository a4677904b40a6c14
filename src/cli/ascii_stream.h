/* Text for terminals that do not show UTF-8: one ASCII character in the place of each column. */
#ifndef OC_CLI_ASCII_STREAM_H
#define OC_CLI_ASCII_STREAM_H

#include <stdbool.h>
#include <stdio.h>

/* What LC_ALL, LC_CTYPE or LANG, the first that is set, says. */
bool cli_locale_is_utf8(void);

/* A stream whose text goes on to `to` in ASCII. Closing it does not close `to`. */
FILE *cli_ascii_stream(FILE *to);

#endif
