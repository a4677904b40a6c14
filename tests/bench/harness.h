/* Runs commands and compares their times. Two tables: commands.tsv lists the commands, targets.tsv their
 * targets. Parts: harness_table.c reads, harness_run.c runs, harness_figures.c computes the results,
 * harness_print.c prints, harness_json.c writes JSON. Everything is allocated until the program ends. */
#ifndef BENCH_HARNESS_H
#define BENCH_HARNESS_H

#include "base/arena.h"
#include "base/diag.h"

/* One input of a command: the command itself, or each line of a list when it has the word $each. */
struct item {
    const char *name; /* NULL: the command has no list */
    double *ms;       /* of each successful run, in order */
    uint32_t n;
    double median_ms, least_ms;
    double least_cpu_ms; /* user and system time, including children: more reliable under load */
    double rss_mb; /* peak resident memory, including file mappings; the median of the runs; 1 MB is 10^6 */
    double private_mb; /* peak of its anonymous part, sampled in a run that is not timed; NAN: not sampled */
    int code;          /* of the last failed run, otherwise 0 */
};

struct command {
    const char *group, *id, *title, *text; /* text: before $VARIABLES are expanded */
    uint32_t runs;
    double size;         /* unit of the rate: bytes, nodes, models; NAN: none */
    double count;        /* the number of events that the memory limit refers to; NAN */
    const char *missing; /* why it cannot be run; NULL: it can */
    struct item *item;
    uint32_t n_item;
};

enum relation { ANY, BELOW, AT_MOST, AT_LEAST };

struct wanted {
    enum relation relation;
    double value, each; /* each: multiplied by the count of the command */
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
/* Reads both tables. quick: uses the number of runs for QUICK=1. Errors name file and line. */
int bench_read_tables(struct tables *t, const char *commands, const char *targets, bool quick,
                      struct oc_err *err);
/* The words of a command for one item, terminated by NULL; in the arena. */
char **bench_words(struct tables *t, const struct command *c, const struct item *item);

/* ---- harness_run.c */
/* Runs every command, interleaving those of a group; standard error goes to the file `log`. Returns the
 * average number of processors used by other processes. */
double bench_run_all(struct tables *t, const char *log);

/* ---- harness_figures.c */
enum verdict { NO_VERDICT, MET, MISSED, SKIPPED };

struct figure {
    double value;
    const char *unit;
    enum verdict verdict;
    double limit;     /* the computed limit; NAN: no limit */
    const char *item; /* the item with this value, when it is one of a list */
};
struct figure bench_figure(const struct target *t);
struct figure bench_ratio(const struct target *t);
/* The verdict that does not depend on the machine: of the ratio if it has a limit, otherwise of an amount of
 * memory. */
enum verdict bench_machine_verdict(const struct target *t);
const char *bench_verdict_name(enum verdict v);
const char *bench_relation_sign(enum relation r);
double bench_median(double *v, uint32_t n); /* sorts; NAN of an empty list */
/* Exponent of time over size; NAN if unknown. */
double bench_growth(const struct command *of, const struct command *smaller);

/* ---- harness_print.c, harness_json.c ---- */
/* others: the result of bench_run_all. */
void bench_tell(const struct tables *t, double others);
/* The table of targets, for README.md. */
int bench_write_markdown(const struct tables *t, const char *path, double others, struct oc_err *err);
/* Reads it back to verify that it is JSON. */
int bench_write_json(const struct tables *t, const char *path, bool quick, double others, struct oc_err *err);

#endif
