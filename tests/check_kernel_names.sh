#!/bin/sh
# The example of kernel names is valid against the schema; the schema refuses what the reader refuses, and names the
# classes that the program knows. Prints TAP.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh

validate() { # file: prints what is wrong
    xmllint --nonet --noout --relaxng hwdb/kernel-names/kernel-names.rng "$1" 2>&1 || echo "exit code $?"
}

if ! command -v xmllint >/dev/null 2>&1; then
    result 'schema' 'xmllint is missing (package libxml2-utils)'
    echo "1..$n"
    exit 1
fi
result 'the example is valid' "$(validate hwdb/kernel-names/example.xml | grep -v ' validates$')"

scratch=$(mktemp) || exit 1
trap 'rm -f "$scratch"' EXIT
while IFS='|' read -r what edit; do
    sed "$edit" hwdb/kernel-names/example.xml >"$scratch"
    cmp -s hwdb/kernel-names/example.xml "$scratch" && result "schema: $what" 'the edit changes nothing'
    case $(validate "$scratch") in
    *'fails to validate'*) result "schema: $what" '' ;;
    *) result "schema: $what" 'accepted' ;;
    esac
done <<'EDITS'
the version is known|s/version="1"/version="2"/
a row matches something|s/ match="^acme_conv"//
patterns are not empty|s/match="^acme_conv"/match=""/
precisions are a closed list|s/"f8"/"fp8"/
units are a closed list|s/"CUDA core"/"cores"/
classes are a closed list|s/"gemm"/"matmul"/
unknown attributes are refused|s/ library="acme"/ lib="acme"/
unknown elements are refused|s/<kernel /<name /
EDITS

names=$(sed -n '/class_names\[\] = {/,/};/p' src/profile/kernel_names.c | grep -oE '"[a-z]+"' | tr -d '"')
problems=$(for name in $names; do
    grep -q "<value>$name</value>" hwdb/kernel-names/kernel-names.rng || echo "the schema lacks $name"
done)
[ "$(printf '%s\n' "$names" | wc -l)" -ge 15 ] || problems="only $(printf '%s\n' "$names" | wc -l) classes were found"
result 'the schema has all classes' "$problems"
finish
