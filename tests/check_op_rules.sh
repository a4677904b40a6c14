#!/bin/sh
# The examples of operator rules are valid against the schema; the schema rejects what the reader rejects, as far as a
# schema can, and lists all names. Prints TAP.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh

validate() { # file: prints the problems
    xmllint --nonet --noout --relaxng hwdb/op-rules/op-rules.rng "$1" 2>&1 || echo "exit code $?"
}

if ! command -v xmllint >/dev/null 2>&1; then
    result 'schema' 'xmllint is missing (package libxml2-utils)'
    echo "1..$n"
    exit 1
fi

for file in hwdb/op-rules/*.xml tests/fuzz/seeds/op_rules/all.xml; do
    result "$file is valid" "$(validate "$file" | grep -v ' validates$')"
done

# The schema rejects invalid files.
scratch=$(mktemp) || exit 1
trap 'rm -f "$scratch"' EXIT
while IFS='|' read -r rule edit; do
    sed "$edit" hwdb/op-rules/example.xml >"$scratch"
    cmp -s hwdb/op-rules/example.xml "$scratch" && result "schema: $rule" 'the edit has no effect'
    case $(validate "$scratch") in
    *'fails to validate'*) result "schema: $rule" '' ;;
    *) result "schema: $rule" 'accepted' ;;
    esac
done <<'EDITS'
version must be known|s/version="1"/version="2"/
an operator must have a domain|s/ domain="TRT"//
an operator must have a first version|s/ since="1"//
unknown classes are rejected|s/class="conv"/class="convolution"/
unknown slots are rejected|s/slots="..q"/slots="..Q"/
flags must be yes or no|s/upper="yes"/upper="true"/
unknown primitives are rejected|s/prim="DIV"/prim="FMA"/
an amount must have an expression|s/ n="2\*offsets"//
slots must have numbers|s/<read index="1"/<read index="w"/
unknown attributes are rejected|s/<count prim="DEQ"/<count weight="2" prim="DEQ"/
unknown elements are rejected|s/<let /<set /
EDITS

names_of() { # array in op_table.c
    sed -n "/$1\[\] = {/,/};/p" src/ops/op_table.c | grep -oE '"[A-Za-z]+"' | tr -d '"'
}
for array in prim_names class_names; do
    problems=$(for name in $(names_of $array); do
        case $name in none | control) continue ;; esac # not for users
        grep -q "<value>$name</value>" hwdb/op-rules/op-rules.rng || echo "the schema lacks $name"
        [ $array = class_names ] || grep -qw "$name" hwdb/op-rules/example.xml || echo "the list in the example lacks $name"
    done)
    [ "$(names_of $array | wc -l)" -ge 19 ] || problems="only $(names_of $array | wc -l) names were found"
    result "schema and example list all of $array" "$problems"
done
finish
