#!/bin/sh
# The example of kernel names is valid against the schema; the schema rejects what the reader rejects and lists all kernel
# classes. Prints TAP.
# modes: release
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh

validate() { # file: prints the problems
    xmllint --nonet --noout --relaxng hwdb/kernel-names/kernel-names.rng "$1" 2>&1 || echo "exit code $?"
}

if ! command -v xmllint >/dev/null 2>&1; then
    result 'schema' 'xmllint is missing (package libxml2-utils)'
    echo "1..$n"
    exit 1
fi
result 'example is valid' "$(validate hwdb/kernel-names/example.xml | grep -v ' validates$')"

scratch=$(mktemp) || exit 1
trap 'rm -f "$scratch"' EXIT
while IFS='|' read -r rule edit; do
    sed "$edit" hwdb/kernel-names/example.xml >"$scratch"
    cmp -s hwdb/kernel-names/example.xml "$scratch" && result "schema: $rule" 'the edit has no effect'
    case $(validate "$scratch") in
    *'fails to validate'*) result "schema: $rule" '' ;;
    *) result "schema: $rule" 'accepted' ;;
    esac
done <<'EDITS'
version must be known|s/version="1"/version="2"/
a row must have a pattern|s/ match="^acme_conv"//
patterns must not be empty|s/match="^acme_conv"/match=""/
unknown precisions are rejected|s/"f8"/"fp8"/
unknown units are rejected|s/"CUDA core"/"cores"/
unknown classes are rejected|s/"gemm"/"matmul"/
unknown attributes are rejected|s/ library="acme"/ lib="acme"/
unknown elements are rejected|s/<kernel /<name /
EDITS

names=$(sed -n '/class_names\[\] = {/,/};/p' src/profile/core/kernel_names.c | grep -oE '"[a-z]+"' | tr -d '"')
problems=$(for name in $names; do
    grep -q "<value>$name</value>" hwdb/kernel-names/kernel-names.rng || echo "the schema lacks $name"
done)
[ "$(printf '%s\n' "$names" | wc -l)" -ge 15 ] || problems="only $(printf '%s\n' "$names" | wc -l) classes were found"
result 'schema lists all classes' "$problems"
finish
