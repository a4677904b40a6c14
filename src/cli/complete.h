/* What shells complete, taken from the tables of commands and options. One writer a shell. */
#ifndef OC_COMPLETE_H
#define OC_COMPLETE_H

#include <stdio.h>

#include "cli/cli.h"

enum complete_what { COMPLETE_FILES = 1, COMPLETE_DEVICES = 2, COMPLETE_OPERATORS = 4 };

/* Candidates at a position: some of these words, or names of enum complete_what. */
struct complete_value {
    unsigned what;
    char words[600]; /* with blanks between them; "": none */
};

/* The value of an option; empty for one that takes none, or any text. */
void complete_option(const struct cli_option *p, struct complete_value *out);

/* Arguments of a command: the words in its usage, each with its own arguments, or, for a command without such
 * words, names. Returns their number; word "": the command itself. */
enum { COMPLETE_MAX_WORDS = 16 };
struct complete_word {
    char word[24];
    unsigned what;
};
size_t complete_command(const char *name, struct complete_word out[COMPLETE_MAX_WORDS]);

/* The i-th command by name, each name once; NULL past the end. *mask: the options that it takes. */
const struct cli_command *complete_nth(size_t i);

/* An option's help up to the first pause, without what a shell would take for its own: a line of `cap`. */
void complete_title(const char *help, char *out, size_t cap);

void complete_bash(FILE *f);
void complete_zsh(FILE *f);
void complete_fish(FILE *f);

#endif
