/* A command line and its files, made from a sequence of choices: a model, a profile with names that are or
 * almost are those of the model, hardware and other files, and options of the command. The choices are the
 * bytes of a fuzzer, or random numbers: the same choices make the same case on every machine. */
#ifndef FUZZ_CASE_H
#define FUZZ_CASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

enum { FUZZ_MAX_FILES = 12, FUZZ_MAX_ARGS = 48, FUZZ_MAX_NAMES = 256 };

/* Bytes of a fuzzer; after them zeros, or random numbers if `endless`. */
struct fuzz_choices {
    const uint8_t *data;
    size_t n;
    uint64_t random;
    bool endless;
};

size_t fuzz_below(struct fuzz_choices *c, size_t n); /* 0 ... n - 1; 0 for n = 0 */
bool fuzz_one_in(struct fuzz_choices *c, size_t n);
const char *fuzz_pick(struct fuzz_choices *c, const char *const *text, size_t n);
#define FUZZ_PICK(c, array) fuzz_pick(c, array, sizeof(array) / sizeof((array)[0]))

enum fuzz_file_kind {
    FUZZ_MODEL,
    FUZZ_PROFILE,
    FUZZ_DEVICE,
    FUZZ_CALIBRATION,
    FUZZ_BUDGET,
    FUZZ_OP_RULES,
    FUZZ_KERNEL_NAMES,
    FUZZ_WEIGHTS,
    FUZZ_N_KINDS
};

struct fuzz_file {
    char path[160];
    struct oc_buf bytes;
};

struct fuzz_case {
    const char *folder;  /* of the files */
    const char *command; /* name in cli_commands */
    const char *format;  /* of --format, NULL: none */
    bool writes;         /* it names a file to be written */
    struct oc_buf arg[FUZZ_MAX_ARGS];
    char *argv[FUZZ_MAX_ARGS + 1];
    int argc;
    struct fuzz_file file[FUZZ_MAX_FILES];
    size_t n_file;
    struct fuzz_choices *choices;
    /* of the model made last, for profiles and options */
    struct oc_buf names; /* names of its nodes, operators and values, each with its null character */
    uint32_t name_at[FUZZ_MAX_NAMES];
    size_t n_name;
};

/* Loads the files of tests/fuzz/seeds, from which some files are made; without the folder all are made from
 * nothing. */
void fuzz_seeds_load(const char *folder);
void fuzz_seeds_free(void);

/* Makes the case; its files are not written yet. Freed with fuzz_case_free. */
void fuzz_case_make(struct fuzz_case *k, const char *folder, struct fuzz_choices *choices);
/* Writes the files. False: a file cannot be written. */
bool fuzz_case_write(const struct fuzz_case *k);
/* Removes the files, also those the program wrote. */
void fuzz_case_remove(const struct fuzz_case *k);
void fuzz_case_free(struct fuzz_case *k);

/* ---- parts ------------------------------------------------------------------------------------------ */

/* Appends a serialized model to `out`, and its names to the case. */
void fuzz_make_model(struct fuzz_case *k, struct oc_buf *out);
/* A profile of one of the formats that need no seed, and *suffix, how its file name ends. */
void fuzz_make_profile(struct fuzz_case *k, struct oc_buf *out, const char **suffix);
void fuzz_make_device(struct fuzz_choices *c, struct oc_buf *out);
/* A name of the model, or one that is almost like it. */
void fuzz_almost_name(struct fuzz_case *k, struct oc_buf *out);

#endif
