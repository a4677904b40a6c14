/* Descriptions of printed formats in memory, as read_format.c makes them. The language is described in
 * onnxcost-profiles(5); names here are those of its elements and attributes. */
#ifndef OC_PRINTED_FORMAT_H
#define OC_PRINTED_FORMAT_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/str.h"
#include "profile/printed/number.h"
#include "profile/printed/template.h"

/* Fields of a row. Those of the list have a meaning; a description may name more. */
#define OC_PRINTED_ROLES(X)                                                                                  \
    X(NAME, "name")                                                                                          \
    X(TYPE, "type")                                                                                          \
    X(PROVIDER, "provider")                                                                                  \
    X(SHAPES, "shapes")                                                                                      \
    X(DTYPES, "dtypes")                                                                                      \
    X(OUT_SHAPES, "out-shapes")                                                                              \
    X(OUT_DTYPES, "out-dtypes")                                                                              \
    X(LANE, "lane")                                                                                          \
    X(KIND, "kind")                                                                                          \
    X(OVERHEAD, "overhead")                                                                                  \
    X(RANGE, "range")                                                                                        \
    X(STREAM, "stream")                                                                                      \
    X(PLACE, "place")                                                                                        \
    X(PROCESS, "process")                                                                                    \
    X(ID, "id")                                                                                              \
    X(PARENT, "parent")                                                                                      \
    X(UNTIMED, "untimed")                                                                                    \
    X(PHASE, "phase")                                                                                        \
    X(STEP, "step")                                                                                          \
    X(UNIT, "unit")                                                                                          \
    X(METRIC, "metric")                                                                                      \
    X(UNIT_OF, "unit-of")                                                                                    \
    X(CALLS, "calls")                                                                                        \
    X(SHARE, "share")                                                                                        \
    X(DEVICE_SHARE, "device-share")                                                                          \
    X(INSTANCES, "instances")                                                                                \
    X(CHILDREN, "children")                                                                                  \
    X(BYTES, "bytes")                                                                                        \
    X(RATE, "rate")                                                                                          \
    X(TOTAL, "total")                                                                                        \
    X(MEAN, "mean")                                                                                          \
    X(DURATION, "duration")                                                                                  \
    X(START, "start")                                                                                        \
    X(END, "end")                                                                                            \
    X(MIN, "min")                                                                                            \
    X(MAX, "max")                                                                                            \
    X(MEDIAN, "median")                                                                                      \
    X(DEVICE, "device")                                                                                      \
    X(DEVICE_MIN, "device-min")                                                                              \
    X(DEVICE_MAX, "device-max")                                                                              \
    X(RUN_TIME, "run-time")                                                                                  \
    X(STATED, "stated")                                                                                      \
    X(STATED_DEVICE, "stated-device")                                                                        \
    X(LATENCY, "latency")                                                                                    \
    X(LATENCY_RUNS, "latency-runs")                                                                          \
    X(RUNS, "runs")                                                                                          \
    X(VERSION, "version")
#define OC_PRINTED_ROLE(id, name) OC_ROLE_##id,
enum { OC_PRINTED_ROLES(OC_PRINTED_ROLE) OC_ROLE_COUNT };
#undef OC_PRINTED_ROLE
enum {
    OC_ROLE_FIRST_NUMBER = OC_ROLE_CALLS,
    OC_ROLE_FIRST_TIME = OC_ROLE_TOTAL,
    OC_ROLE_NUMBERS = OC_ROLE_STATED_DEVICE + 1, /* the end of times and of numbers */
    OC_PRINTED_FIELDS = 64,
    OC_PRINTED_CELLS = 64,
    OC_PRINTED_CSV_CELLS = 4096, /* rocprof writes a column for each counter of each channel of a cache */
    OC_PRINTED_LEVELS = 10
};

/* What a row is. */
enum oc_printed_kind {
    OC_ROW_OPERATOR,
    OC_ROW_KERNEL,
    OC_ROW_COPY,
    OC_ROW_SET,
    OC_ROW_CALL,
    OC_ROW_FUNCTION
};

enum oc_printed_cells {
    OC_CELLS_LINE,
    OC_CELLS_CSV,
    OC_CELLS_RULE,
    OC_CELLS_GAPS,
    OC_CELLS_WORDS,
    OC_CELLS_BARS,
    OC_CELLS_ENDS
};

struct oc_words { /* "a|b|c" */
    const struct oc_str *word;
    size_t n;
};

struct oc_printed_column {
    const struct oc_printed_column *next;
    const char *title; /* the first one, for messages */
    struct oc_words header;
    int role[6]; /* fields of the values that '/' separates; -1: none */
    unsigned n_role;
    int16_t fact, row; /* the cell is this fact; the column is a row of this name; -1: no */
    struct oc_str row_name;
    double unit_ns; /* 0: none */
    bool optional, wide, whole, whole_ns;
};

enum oc_printed_test {
    OC_IS,
    OC_STARTS,
    OC_ENDS,
    OC_HAS,
    OC_LACKS,
    OC_CAMEL,
    OC_EMPTY,
    OC_IS_NUMBER,
    OC_ABOVE,
    OC_BELOW,
    OC_TESTS
};
enum oc_printed_use { OC_USE_NONE, OC_USE_DROP, OC_USE_END, OC_USE_RUN, OC_USE_TABLE_RUN, OC_USE_FACT };

struct oc_printed_set {
    const struct oc_printed_set *next;
    int field;
    struct oc_str value;
};

struct oc_printed_step {
    const struct oc_printed_step *next;
    enum { OC_STEP_WHEN, OC_STEP_SPLIT, OC_STEP_JOIN } what;
    int field;                      /* -1: none */
    struct oc_words test[OC_TESTS]; /* n 0: no such test */
    double limit[OC_TESTS];         /* of above and below */
    const struct oc_printed_set *set;
    uint8_t use;
    int use_fact;
    struct oc_template by; /* split */
    struct oc_str of;      /* join: "{a} {b}" */
};

struct oc_printed_list { /* fields in the order of the description */
    int field[8];
    size_t n;
};

struct oc_printed_metric {
    const struct oc_printed_metric *next;
    struct oc_words name;
    struct oc_printed_list role, from; /* take="total=value min=minimum" */
};

struct oc_printed_table {
    struct oc_printed_table *next;
    struct oc_printed_format *format;
    unsigned id; /* in its format */
    enum oc_printed_cells cells;
    struct oc_template line; /* OC_CELLS_LINE */
    const struct oc_printed_column *column;
    const struct oc_printed_step *step;
    const struct oc_printed_list *first;
    struct oc_printed_list id_fields,
        of; /* a row whose id had other values in `of` begins another recording; n 0: none */
    struct oc_template end;
    bool has_end;
    enum oc_printed_kind kind;
    bool device, blank_skip, add_again, units_row, counts_runs, calls_runs, trace, each, bad_skip, bad_fail,
        bad_damaged;
    bool counts_rows; /* each row is a run */
    bool means;       /* the rows are means of a run */
    unsigned level;
    const char *report;        /* name of the table, for `via` */
    struct oc_str after, unit; /* "" : none */
    double unit_ns;            /* of `unit`, if it is one; 0: none */
    int wrap, keep;            /* fields; -1: none */
    bool nest;                 /* by indent */
    bool inner_drop;
    const struct oc_printed_metric *metric; /* NULL: no pivot */
    struct oc_printed_list key;
    const struct oc_printed_also {
        const struct oc_printed_also *next;
        enum oc_printed_kind kind;
        int name, calls;
    } * also;
};

struct oc_printed_note { /* a context or a fact */
    const struct oc_printed_note *next;
    struct oc_template line;
    const struct oc_printed_set *set;
    struct oc_str mark;
    const char *hint; /* what to do if no row follows */
    bool fact, counts_runs, new_recording, new_if_changed, goes_on, last, sum, before,
        later; /* before: the last one before the first row; later: the first one after it */
};

struct oc_printed_check {
    const struct oc_printed_check *next;
    enum { OC_CHECK_SUM, OC_CHECK_HUNDRED, OC_CHECK_AGREE, OC_CHECK_BY, OC_CHECK_ROWS } what;
    bool device, both, per_run; /* both: host and device, each row once */
    int is, plus;               /* facts, -1: none */
    double hundred, within;
    const char *known; /* why the tool disagrees with itself: a warning; NULL: an error */
};

struct oc_printed_format {
    struct oc_printed_format *next;
    const char *name, *title, *producer, *seen, *lost, *device, *hint;
    const char *reader;        /* the importer that reads the rows; NULL: the format is one */
    struct oc_words see, json; /* json: a name of a member, where tables may be arrays of objects */
    bool user_locale, prefer_device, means, first_table, both; /* both: rows have host and device time */
    struct {                                                   /* defaults of its tables; NULL: none */
        const char *as, *lane, *unit, *level, *after;
    } given;
    int share_of; /* fact, -1: none */
    double default_unit_ns;
    const char *via;    /* "nsys": the function that reads the rows; NULL: operators */
    const char *shapes; /* notation, by the name of shapes.c; NULL: none */
    struct oc_printed_table *table;
    const struct oc_printed_note *note;
    const struct oc_printed_check *check;
    int scale_from, scale_to; /* facts; -1: none */
    unsigned n_table;
    struct oc_str field[OC_PRINTED_FIELDS]; /* names of the fields, those of the roles first */
    unsigned n_field;
};

/* The built-in formats, in the order of the files; made once. */
const struct oc_printed_format *oc_printed_formats(void);

/* The one of this name, which there is. */
const struct oc_printed_format *oc_printed_named(const char *name);

/* Reads a text of descriptions; name: for messages. */
int oc_printed_parse(const char *name, const void *data, size_t n, struct oc_arena *a,
                     const struct oc_printed_format **out, struct oc_err *err);

/* Reads a file of descriptions. The formats stay until the program ends. */
int oc_printed_load(const char *path, const struct oc_printed_format **out, struct oc_err *err);

#endif
