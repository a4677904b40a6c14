#!/bin/sh
# The help, the manual page and the README tell the same story as the program. Prints TAP.
# usage: tests/check_docs.sh [--update]      --update: writes the generated parts of the README anew
# modes: release
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
: "${BUILD:=build/release}"
work=$BUILD/docs
rm -rf "$work"
mkdir -p "$work/bin"
ln -s "$PWD/$BUILD/onnxcost" "$work/bin/onnxcost"
ln -s "$PWD/models" "$work/models"
tests/make_zoo.sh "$work/zoo"
unset NO_COLOR
export PATH="$PWD/$work/bin:$PATH" COLUMNS=120 TERM=dumb LC_ALL=C


# Names of the operators by domain, as in the README.
operators() {
    onnxcost ops | awk 'NR > 1 && !seen[$1 " " $2]++ { names[$1] = names[$1] " " $2; if (!(($1) in known)) { known[$1] = 1; order[++k] = $1 } }
        END { for (i = 1; i <= k; i++) print order[i] ":" names[order[i]] }' | sort | while IFS=: read -r domain names; do
        echo
        # shellcheck disable=SC2086 # names are meant to be split
        echo "**$domain**:$(printf '%s\n' $names | sort | tr '\n' ' ' | sed 's/^/ /; s/ $//')" | fold -s -w 118 | sed 's/ *$//'
    done
    echo
}

# Ids of the devices by vendor, as in the README.
devices() {
    onnxcost hw list --format csv | awk -F, 'NR > 1 { if (!($3 in ids)) order[++k] = $3; ids[$3] = ids[$3] " " $1 }
        END { for (i = 1; i <= k; i++) print "**" order[i] "**:" ids[order[i]] }' | while read -r line; do
        echo
        echo "$line" | fold -s -w 118 | sed 's/ *$//'
    done
    echo
}

# The README with its generated parts: command output after `$ onnxcost ...` in a fenced block, the operators and the
# devices.
regenerate() {
    awk -v work="$work" -v operators="$work/operators" -v devices="$work/devices" '
        /^```/ { fenced = !fenced; skip = 0 }
        /^<!-- end -->/ { skip = 0 }
        !skip { print }
        fenced && /^\$ onnxcost / {
            command = "cd " work " && " substr($0, 3)
            while ((command | getline line) > 0) print line
            close(command)
            skip = 1
        }
        /^<!-- operators -->/ {
            while ((getline line < operators) > 0) print line
            skip = 1
        }
        /^<!-- devices -->/ {
            while ((getline line < devices) > 0) print line
            skip = 1
        }' README.md
}

# Limits of input as the manual page has them. Columns of `onnxcost help limits`: name, amount, text.
limits() {
    onnxcost help limits | awk 'NR > 1 && $1 != "" && $1 != "fixed" {
        name = substr($0, 1, 17); amount = substr($0, 19, 14); text = substr($0, 34)
        sub(/ +$/, "", name); sub(/ +$/, "", amount); gsub(/-/, "\\-", name); gsub(/-/, "\\-", text)
        print ".TP"; print "\\fB" name "\\fR (" amount ")"; print toupper(substr(text, 1, 1)) substr(text, 2) "."
    }'
}

manual() {
    awk -v limits="$work/limits" '
        /^\.\\" end of limits/ { skip = 0 }
        !skip { print }
        /^\.\\" limits/ {
            while ((getline line < limits) > 0) print line
            skip = 1
        }' src/onnxcost.1
}

limits >"$work/limits"
manual >"$work/onnxcost.1"
operators >"$work/operators"
devices >"$work/devices"
regenerate >"$work/README.md"
if [ "${1:-}" = --update ]; then
    cp "$work/README.md" README.md
    cp "$work/onnxcost.1" src/onnxcost.1
    exit 0
fi
result 'README shows what the program prints' "$(diff README.md "$work/README.md")"

result 'the manual page has the limits of the program' "$(diff src/onnxcost.1 "$work/onnxcost.1")"
result 'there are limits' "$([ "$(grep -c '^.TP' "$work/limits")" -gt 25 ] || wc -l <"$work/limits")"

onnxcost --help >"$work/help"
sed -n 's/^  *\(-[a-zA-Z0-9], \)\{0,1\}--\([a-z-]*\).*/\1--\2/p' "$work/help" | sort >"$work/in_help"
sed -n 's/\\fB\\-\([a-zA-Z0-9]\)\\fR, /\\fB-\1\\fR, /; s/\\-/-/g; s/^\(\\fB\(-[a-zA-Z0-9]\)\\fR, \)\{0,1\}\\fB--\([a-z-]*\)\\fR.*/\2 --\3/p' src/onnxcost.1 |
    sed 's/^ //; s/^\(-.\) /\1, /' | sort >"$work/in_man"
result 'the manual page has the options of --help' "$(diff "$work/in_help" "$work/in_man")"
result 'there are options' "$([ "$(wc -l <"$work/in_help")" -gt 40 ] || echo "$(wc -l <"$work/in_help") options")"

grep -v pkg-config README.md | grep -oE -- '--[a-z][a-z-]+' | sort -u >"$work/in_readme"
sed 's/.*--/--/' "$work/in_help" | sort -u >"$work/long"
result 'the README names no option that is not there' "$(comm -23 "$work/in_readme" "$work/long")"

version=$(onnxcost --version | sed 's/onnxcost //')
result 'versions agree' "$(grep -q "\"onnxcost $version\"" src/onnxcost.1 || echo "the manual page is not of $version")"

problems=$(sed -n '/^Profile formats/,/^$/s/^  \([a-z_]*\) .*/\1/p' "$work/help" | while read -r format; do
    grep -q "\`$format\`" README.md || echo "$format is not in the README"
done)
result 'the README has every profile format' "$problems"

problems=$(sed -n 's/^| `\([a-z]*\)\/`.*/\1/p' src/README.md | while read -r folder; do
    [ -d "src/$folder" ] || echo "src/$folder is not there"
done; for folder in src/*/; do
    grep -q "^| \`$(basename "$folder")/\`" src/README.md || echo "$folder is not in src/README.md"
done)
result 'the map of the sources is complete' "$problems"
finish
