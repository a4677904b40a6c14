#!/bin/sh
# Prints the C source of the table of fuzz targets (tests/fuzz/driver.h) of a program that has them all: in each,
# LLVMFuzzerTestOneInput is fuzz_NAME_TestOneInput. usage: tests/fuzz/targets.sh tests/fuzz/fuzz_NAME.c...
echo '#include "fuzz/driver.h"'
printf '%s\n' "$@" | sed 's|.*/\(.*\)\.c$|fuzz_input_fn \1_TestOneInput;\nfuzz_mutator_fn \1_CustomMutator __attribute__((weak));|'
echo 'const struct fuzz_target fuzz_targets[] = {'
printf '%s\n' "$@" | sed 's|.*/\(.*\)\.c$|    {"\1", \1_TestOneInput, \1_CustomMutator},|'
echo '    {0}};'
