/* A command of the program: everything about it that is not its code is one row, in its own file. Its line in the lists of
 * commands, its help, its part of the shells' completions, the synopsis and the options of its manual page, the check of
 * --format, the messages about options of other commands and its tools of `mcp` come from the row. A new command is a file
 * cmd_NAME.c with the row cmd_NAME, a line in the list below, and its manual page; nothing else of the program names it. */
#ifndef OC_CLI_COMMAND_H
#define OC_CLI_COMMAND_H

#include <stdio.h>

#include "cli/options.h"

enum { CLI_MOST_USES = 2, CLI_MOST_EXAMPLES = 3, CLI_MOST_TOOLS = 4 };

/* A tool of `onnxcost mcp`: the command with some of its options. Names are separated by blanks; '!' at the end: required. */
struct cli_tool {
    const char *name, *about;
    const char *files;   /* arguments without an option, in order */
    const char *options; /* of the command: those that the list of tools describes */
    const char *more;    /* those that only the tool `help` describes; NULL: none */
    const char *brief;   /* struct oc_mcp_tool */
    const char *fixed;   /* an argument of every call */
    const char *top;     /* default of the option top, NULL: that of the command */
    bool ranges;         /* sizes may be ranges */
    unsigned place;      /* in the list of tools, from 1 */
};

/* Names of options that many tools take. */
#define CLI_TOOL_SHAPES  " shape value default-dim"
#define CLI_TOOL_DEVICES " hw-set"
#define CLI_TOOL_COUNTS  " count convention op-rules"

struct cli_command {
    const char *name;
    const char *phrase; /* a few words, for the list of commands */
    struct {
        const char *usage, *title; /* "onnxcost hw measure [-o FILE.xml]", and what it does */
    } use[CLI_MOST_USES];
    int (*run)(const struct cli_opts *o); /* returns the exit code */
    /* options: those of the sets, those that are named, its own, and those of another command */
    unsigned sets;       /* enum cli_set */
    const char *options; /* separated by blanks; NULL: none */
    const char *usual; /* about ten that the help shows; `help COMMAND --all` shows all. NULL: all of them */
    struct {
        const struct cli_option *option; /* NULL: none */
        size_t n, size_bytes;            /* of the struct for their values */
    } own;
    const struct cli_command
        *also; /* its options are on its own page; its struct is the beginning of this one's; NULL */
    const char *formats; /* of --format, separated by '|'; NULL: table, CSV and JSON */
    bool names_devices;  /* or says that it needs one: --hw-set without --hw is not refused before */
    bool ranges, lists;  /* --dim may be a range, or a list of sizes */
    struct {
        const char *line, *text;
    } example[CLI_MOST_EXAMPLES]; /* tests/check_examples.sh runs them */
    struct cli_tool tool[CLI_MOST_TOOLS];
};

/* The table of a command's own options, and the struct with a member for each. */
#define CLI_OWN(table, type)                                                                                 \
    {                                                                                                        \
        table, sizeof(table) / sizeof((table)[0]), sizeof(type)                                              \
    }

/* The list of commands, in the order of the help; the first one needs no name. */
#define CLI_COMMANDS(X)                                                                                      \
    X(cost)                                                                                                  \
    X(llm)                                                                                                   \
    X(scan)                                                                                                  \
    X(memory)                                                                                                \
    X(providers)                                                                                             \
    X(summary)                                                                                               \
    X(record)                                                                                                \
    X(bisect)                                                                                                \
    X(tune)                                                                                                  \
    X(calibrate)                                                                                             \
    X(estimate)                                                                                              \
    X(hw)                                                                                                    \
    X(diff)                                                                                                  \
    X(check)                                                                                                 \
    X(ops)                                                                                                   \
    X(mcp)                                                                                                   \
    X(completion)                                                                                            \
    X(schema)                                                                                                \
    X(help)

#define CLI_DECLARE_COMMAND(name) extern const struct cli_command cmd_##name;
CLI_COMMANDS(CLI_DECLARE_COMMAND)

extern const struct cli_command *const cli_commands[];
extern const size_t cli_n_commands;

const struct cli_command *cli_command_named(const char *name); /* NULL: there is none */
const char *cli_formats(const struct cli_command *c);

#endif
