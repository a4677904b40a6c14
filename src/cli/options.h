/* The options: one table drives parsing, --help and the tests. */
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
    CLI_CHOICE, /* const char *, one of `arg` separated by | */
    CLI_LIST,   /* struct cli_list, repeatable */
    CLI_MAYBE,  /* the same; the value, after '=', is optional: "" */
    CLI_INT     /* struct cli_int */
};

enum cli_mask {
    CLI_COST = 1,
    CLI_HW = 2,
    CLI_OPS = 4,
    CLI_HELP = 8,
    CLI_MEMORY = 32,
    CLI_LLM = 64,
    CLI_SUMMARY = 128,
    CLI_RECORD = 256,
    CLI_CALIBRATE = 512,
    CLI_ESTIMATE = 1024,
    CLI_BISECT = 2048,
    CLI_TUNE = 4096,
    CLI_DIFF = 8192,
    CLI_CHECK = 16384,
    CLI_SCAN = 32768,
    CLI_COMPLETION = 65536,
    CLI_SCHEMA = 0x100000,
    CLI_MCP = 0x200000,
    CLI_PROVIDERS = 0x400000,
    /* those that analyse a model */
    CLI_MODEL = CLI_COST | CLI_MEMORY | CLI_LLM | CLI_DIFF | CLI_CHECK | CLI_SCAN | CLI_PROVIDERS,
    CLI_TRIAL = CLI_BISECT | CLI_TUNE,                 /* those that measure in turn */
    CLI_SHAPED = CLI_MODEL | CLI_ESTIMATE | CLI_TRIAL, /* those that infer shapes */
    CLI_READS =
        CLI_SHAPED | CLI_SUMMARY | CLI_RECORD | CLI_CALIBRATE, /* those that read models or profiles */
    CLI_ALL = 0xffffff
};

struct cli_option {
    const char *name; /* without the two dashes */
    char letter;      /* 0: none */
    unsigned char kind;
    unsigned mask;         /* enum cli_mask */
    const char *arg;       /* name of the argument, or the choices; NULL for flags */
    const char *unit;      /* of the argument, NULL: none */
    const char *otherwise; /* what holds without the option, NULL: nothing to say */
    const char *help;
    const char *group; /* heading, on the first option of a group */
    size_t offset;     /* in struct cli_opts */
};
extern const struct cli_option cli_options[];
extern const size_t cli_n_options;

struct cli_list {
    const char **item; /* heap array of borrowed texts */
    size_t n, cap;
};

struct cli_int {
    bool set;
    int64_t v;
};

struct cli_opts {
    int argc; /* of main */
    char **argv;
    const char *command;
    struct cli_list word; /* arguments that are not options */
    bool help, version, verbose;
    /* input */
    struct cli_list profile, hw, hw_set;
    const char *providers;
    const char *profile_format, *map, *optimized_model, *cache, *op_rules, *kernel_names, *stat;
    struct cli_int warmup, iterations;
    bool partial;
    struct cli_list limit;
    const char *external_data;
    struct oc_input_limits limits; /* of the two */
    /* shapes */
    struct cli_list dim, shape, value, trip;
    bool ranges; /* the command takes ranges of --dim */
    struct cli_int default_dim;
    bool no_defaults, force;
    /* counting */
    const char *taps, *weights, *qdq, *bytes, *alias, *if_mode, *ceil_mode, *attention;
    const char *einsum, *trees, *moe_active, *kv_share, *dedup;
    struct cli_list convention;
    bool no_tf32, strict_reduce, no_fold, lut, inplace, rnn_reload, loop_cached, prefer_functions;
    /* as a function of the sizes */
    bool formula;
    struct cli_list sweep;
    const char *training; /* optimizer */
    bool sparsity;
    /* memory */
    struct cli_int align;
    bool keep_inputs, fit;
    const char *allocator, *plan, *emit;
    /* language models, comparison of devices */
    const char *batch;
    struct cli_int prompt, generate, draft_tokens;
    const char *parallel, *link, *draft, *acceptance, *measured, *reach, *decoder;
    /* recordings */
    const char *ort_lib, *opt_level, *provider, *simd, *time_budget, *figure;
    struct cli_int threads, runs, seed, repeat;
    struct cli_list session_config;
    bool report, embed;
    /* estimates */
    bool check;
    const char *calibration, *fusion, *runtime_version;
    /* differences */
    struct cli_list b_dim, b_shape, b_value;
    const char *b_optimized_model;
    bool exit_code;
    /* limits */
    const char *max_macs, *max_flops, *max_params, *max_weight_bytes, *max_peak_memory, *max_latency;
    const char *min_efficiency, *max_opset, *baseline, *save_baseline;
    bool no_unknown;
    struct cli_list forbid_op, budget, tolerance;
    /* agents */
    const char *root;
    /* many models */
    struct cli_int jobs;
    const char *files_from, *hash, *rows;
    struct cli_list join;
    bool null, profiles;
    /* measuring this machine */
    bool quick;
    /* summaries */
    struct cli_list view;
    const char *sort, *search, *time_unit;
    bool op_detail, per_thread;
    struct cli_int samples_per_step;
    /* choice and order of rows */
    struct cli_int top;
    bool all;
    struct cli_int width; /* of the terminal; 0: no limit */
    struct cli_list what_if;
    const char *as, *fuse;
    struct cli_list opr_name, type, input_dtype, why, explain_match;
    const char *order_by, *aggregate, *aggregate_by, *group_by, *top_end_key, *min_time, *max_time;
    /* output */
    const char *format, *style, *print_only, *output, *annotate, *color;
    bool roofline, advise, show_host, copy_time, confluence, dump_only_opr, strict;
};

/* Fills *o from the arguments; texts are borrowed from argv. Returns 0, or -1 with a message in `why`. */
int cli_parse(int argc, char **argv, struct cli_opts *o, char *why, size_t why_cap);
void cli_opts_free(struct cli_opts *o);

/* Whether the options are those of the command. Returns NULL, or the name of the first one that is not, and
 * in *value its value (NULL: none). */
const char *cli_foreign_option(int argc, char **argv, unsigned mask, const char **value);

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
