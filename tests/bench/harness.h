/* Measures commands and holds what they took against each other. Two tables say what: commands.tsv the
 * commands, targets.tsv what is wanted of them. Parts: harness_table.c reads, harness_run.c runs,
 * harness_figures.c judges, harness_tell.c prints, harness_json.c writes the results. Everything lives until
 * the program ends. */
#ifndef BENCH_HARNESS_H
#define BENCH_HARNESS_H

#include "base/arena.h"
#include "base/diag.h"

/* One thing that a command was run on: the command itself, or each line of a list when it has the word $each.
 */
struct item {
    const char *name; /* NULL: the command has no list */
    double *ms;       /* of each run that ended well, in their order */
    uint32_t n;
    double median_ms, least_ms;
    double least_cpu_ms; /* user and system, its children included: tells more where others are at work */
    double rss_mb; /* peak resident memory, file mappings included; the median of the runs; 1 MB is 10^6 */
    double private_mb; /* peak of its anonymous part, sampled in a run that is not timed; NAN: not sampled */
    int code;          /* of the last run that failed, else 0 */
};

struct command {
    const char *group, *id, *title, *text; /* text: before $VARIABLES are put in */
    uint32_t runs;
    double size;         /* what a rate is of: bytes, nodes, models; NAN: nothing */
    double count;        /* what memory is held against: events kept; NAN */
    const char *missing; /* why it cannot be run; NULL: it can */
    struct item *item;
    uint32_t n_item;
};

enum relation { ANY, BELOW, AT_MOST, AT_LEAST };

struct wanted {
    enum relation relation;
    double value, each; /* each: times the count of the command */
};

struct target {
    const char *title, *figure, *ratio;
    const struct command *of, *against; /* against: NULL for none */
    struct wanted figure_wanted, ratio_wanted;
    const char *note;
};

struct tables {
    struct command *command;
    struct target *target;
    uint32_t n_command, n_target, cap_command, cap_target;
    struct oc_arena arena;
};

/* ---- harness_table.c */
/* Reads both tables. quick: the column of runs for a try. Errors name file and line. */
int bench_read_tables(struct tables *t, const char *commands, const char *targets, bool quick,
                      struct oc_err *err);
/* The words of a command for one item, ended by NULL; in the arena. */
char **bench_words(struct tables *t, const struct command *c, const struct item *item);

/* ---- harness_run.c */
/* Runs every command, those of a group in turn with each other; standard error goes to the file `log`.
 * Returns how many processors others kept busy meanwhile, on average. */
double bench_run_all(struct tables *t, const char *log);

/* ---- harness_figures.c */
enum verdict { NO_VERDICT, MET, MISSED, SKIPPED };

struct figure {
    double value;
    const char *unit;
    enum verdict verdict;
    double limit;     /* what `wanted` comes to; NAN: nothing is wanted */
    const char *item; /* which one it was, when it is one of a list */
};
struct figure bench_figure(const struct target *t);
struct figure bench_ratio(const struct target *t);
/* The verdict that does not depend on the machine: of the ratio where something is wanted of it, or else of
 * an amount of memory. */
enum verdict bench_machine_verdict(const struct target *t);
const char *bench_verdict_name(enum verdict v);
const char *bench_relation_sign(enum relation r);
double bench_median(double *v, uint32_t n); /* sorts; NAN of none */
/* For how many times the size how many times the time, as an exponent; NAN where nothing is known. */
double bench_growth(const struct command *of, const struct command *smaller);

/* ---- harness_tell.c, harness_json.c */
/* others: what bench_run_all returned. */
void bench_tell(const struct tables *t, double others);
/* The table of targets, for README.md. */
int bench_write_markdown(const struct tables *t, const char *path, double others, struct oc_err *err);
/* Also reads it back to see that it is JSON. */
int bench_write_json(const struct tables *t, const char *path, bool quick, double others, struct oc_err *err);

#endif
