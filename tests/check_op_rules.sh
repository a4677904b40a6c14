#!/bin/sh
# The examples of operator rules are valid against the schema; the schema refuses what the reader refuses, as far
# as it can, and names what the program knows. Prints TAP.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh

validate() { # file: prints what is wrong
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

# The schema must not be one that accepts anything.
scratch=$(mktemp) || exit 1
trap 'rm -f "$scratch"' EXIT
while IFS='|' read -r what edit; do
    sed "$edit" hwdb/op-rules/example.xml >"$scratch"
    cmp -s hwdb/op-rules/example.xml "$scratch" && result "schema: $what" 'the edit changes nothing'
    case $(validate "$scratch") in
    *'fails to validate'*) result "schema: $what" '' ;;
    *) result "schema: $what" 'accepted' ;;
    esac
done <<'EDITS'
the version is known|s/version="1"/version="2"/
an operator has a domain|s/ domain="TRT"//
an operator has a first version|s/ since="1"//
classes are a closed list|s/class="conv"/class="convolution"/
slots are a closed list|s/slots="..q"/slots="..Q"/
flags are yes or no|s/upper="yes"/upper="true"/
primitives are a closed list|s/prim="DIV"/prim="FMA"/
an amount has an expression|s/ n="2\*offsets"//
slots have numbers|s/<read index="1"/<read index="w"/
unknown attributes are refused|s/<count prim="DEQ"/<count weight="2" prim="DEQ"/
unknown elements are refused|s/<let /<set /
EDITS

names_of() { # array in op_table.c
    sed -n "/$1\[\] = {/,/};/p" src/ops/op_table.c | grep -oE '"[A-Za-z]+"' | tr -d '"'
}
for array in prim_names class_names; do
    problems=$(for name in $(names_of $array); do
        [ "$name" = control ] || grep -q "<value>$name</value>" hwdb/op-rules/op-rules.rng || echo "the schema lacks $name"
        [ $array = class_names ] || grep -qw "$name" hwdb/op-rules/example.xml || echo "the list in the example lacks $name"
    done)
    [ "$(names_of $array | wc -l)" -ge 19 ] || problems="only $(names_of $array | wc -l) names were found"
    result "schema and example have all of $array" "$problems"
done
finish
