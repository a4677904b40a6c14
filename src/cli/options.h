/* The options: tables that parsing, help, manual pages and completions read. An option of one command is in the file of
 * the command, with a struct for its value (command.h); option_table.c has those of several commands, and options.c joins the tables. */
#ifndef OC_CLI_OPTIONS_H
#define OC_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "onnxcost.h"

enum cli_kind {
    CLI_FLAG,   /* bool */
    CLI_TEXT,   /* const char *, the last one wins */
    CLI_CHOICE, /* const char *, one of `arg` separated by |; bool with `second` */
    CLI_LIST,   /* struct cli_list, repeatable */
    CLI_MAYBE,  /* the same; the value, after '=', is optional: "" */
    CLI_INT,    /* struct cli_int */
    CLI_KEYS    /* nothing: its values are those of the rows below it, whose `of` it is */
};

/* Sets of commands, each within the one before it. An option of a set is taken by every command of the set. */
enum cli_set {
    CLI_ALL = 1,
    CLI_READS = 3,   /* those that read models or profiles */
    CLI_SHAPED = 7,  /* those that infer shapes */
    CLI_MODEL = 15,  /* those that count the cost of a model */
    CLI_RECORDS = 17 /* those that run ONNX Runtime; in CLI_ALL alone */
};

/* What a value can be, for completions; file names also where the argument is called FILE. */
enum cli_value { CLI_FILES = 1, CLI_DEVICES = 2, CLI_OPERATORS = 4 };

struct cli_command;

struct cli_option {
    const char *name; /* without the two dashes */
    char letter;      /* 0: none */
    unsigned char kind;
    size_t offset;   /* of the value in struct cli_opts, or in the struct of the command's own options */
    const char *arg; /* name of the argument, or the choices; NULL for flags */
    const char *help;
    const char *unit;      /* of the argument, NULL: none */
    const char *otherwise; /* what holds without the option, NULL: nothing to say */
    bool second;           /* the value is whether the second of two choices is given */
    const char *range;     /* what a number has to be, in words; NULL: any number is accepted here */
    int64_t least, most;   /* bounds of it; most 0: none */
    bool input;            /* the argument is an input file, which can be "-" */
    unsigned char complete;
    const char *(*names)(size_t i); /* the values that there are, NULL: none are listed */
    const char
        *answer; /* in a tool of `mcp`: the file that the option names is the answer, and this describes it */
    /* A key of a CLI_KEYS option, written --OF NAME=VALUE, or --OF NAME for a flag; NULL: an option. Its row follows that
     * option's or another key's. Where the argument of that option has a comma, commas separate keys. */
    const char *of;
    unsigned set; /* enum cli_set; 0: taken by the commands that name it */
    /* Heading and place. In a table of several commands: on the first option of a group, or alone in a row. In that of
     * one command: on its first option, and on each that does not follow the one above it; at the end of the group, or before
     * an option of it. */
    const char *group, *before;
    const struct cli_command *owner; /* of an option of one command; cli_option_nth fills it in */
};

/* Is `name` one of the names, which are separated by blanks? NULL: there are none. */
bool cli_has_word(const char *names, const char *name);

/* Those of several commands, and rows that are headings alone. */
extern const struct cli_option cli_shared_options[];
extern const size_t cli_n_shared_options;

/* The options of all commands in the order of the help, each with its group; NULL past the end. */
const struct cli_option *cli_option_nth(size_t i);
/* "top", and of a key "count align". Returns `buf`. */
const char *cli_option_words(const struct cli_option *p, char *buf, size_t cap);
/* Whether a command has the option on its own page; whether it takes it. */
bool cli_shows(const struct cli_command *c, const struct cli_option *p);
bool cli_takes(const struct cli_command *c, const struct cli_option *p);
/* The option of this name, of `n` bytes, that the command takes, else one that others take; NULL: unknown. */
const struct cli_option *cli_option_named(const char *name, size_t n, const struct cli_command *c);
/* The same for a key of the option `of` (NULL: of any). */
const struct cli_option *cli_key_named(const char *of, const char *name, size_t n,
                                       const struct cli_command *c);
/* Where its value is; NULL: the command does not take it. */
struct cli_opts;
void *cli_option_value(const struct cli_opts *o, const struct cli_option *p);

struct cli_list {
    const char **item; /* heap array of borrowed texts */
    size_t n, cap;
};
void cli_list_add(struct cli_list *l, const char *text);

struct cli_int {
    bool set;
    int64_t v;
};

struct cli_opts {
    int argc; /* of main */
    char **argv;
    const struct cli_command *command;
    void *own;            /* its own options: the struct that its file declares */
    struct cli_list word; /* arguments that are not options */
    struct cli_list copy; /* heap: texts of keys, which are parts of an argument */
    bool help, version, verbose;
    /* input */
    struct cli_list profile, hw, hw_set;
    const char *profile_format, *map, *optimized_model, *cache, *op_rules, *kernel_names, *stat;
    struct cli_int warmup, iterations;
    bool partial;
    struct cli_list limit;
    struct oc_input_limits limits; /* of it */
    /* shapes */
    struct cli_list dim, shape, value, trip;
    const char *default_dim;
    /* counting */
    struct oc_analyze_opts analyze; /* what options set directly: see cli_analyze_opts */
    const char *bytes, *if_mode, *kv_share;
    struct cli_list convention;
    struct cli_int align;
    bool fit;
    /* recordings, estimates, language models */
    const char *ort_lib, *opt_level, *provider, *time_budget, *calibration, *fusion, *batch, *decoder;
    struct cli_int threads, runs, seed, repeat;
    struct cli_list session_config;
    /* choice and order of rows */
    struct cli_int top;
    bool all;
    const char *sort, *as;
    /* output */
    struct cli_int width; /* of the terminal; 0: no limit */
    const char *format, *output, *color;
    char *made; /* for an HTML page: how and when it was made; heap, NULL without a page */
};

/* Fills *o, which has the arguments of main; texts are borrowed from them. Returns 0, or -1 with a message in `why`. */
int cli_parse(struct cli_opts *o, char *why, size_t cap);
void cli_opts_free(struct cli_opts *o);

/* Whether the options are those of the command. Returns NULL, or the first one that is not, and in *value its value
 * (NULL: none). */
const struct cli_option *cli_foreign_option(const struct cli_opts *o, const char **value);

/* The first of these options, names with blanks between them, that is given; NULL: none of them. */
const char *cli_first_given(const struct cli_opts *o, const char *names);

/* Adds every value that the arguments give to an option, of which *o has the last one, to a list of the caller. */
void cli_option_values(const struct cli_opts *o, const char *name, struct cli_list *out);

/* Whether an option is given with this value. */
static inline bool cli_is(const char *value, const char *wanted)
{
    return value && !strcmp(value, wanted);
}

/* Is `value` one of the `choices`, which are separated by '|'? */
bool cli_is_choice(const char *choices, const char *value);

#endif
