#!/bin/sh
# Manual pages from src/man: headers, lists from the program (`onnxcost help man LIST`) in the place of lines
# `.\" list: LIST`, minus signs of options escaped; NAME.txt is the page as plain text, for `onnxcost help TOPIC`.
# usage: src/man/make_pages.sh PROGRAM FOLDER
set -eu
cd "$(dirname "$0")/../.."
program=$1
out=$2
version=$(sed -n 's/^#define ONNXCOST_VERSION "\(.*\)"/\1/p' src/onnxcost.h)
# the folder is debian/ when a package is built
changelog=src/deb/changelog
[ -e "$changelog" ] || changelog=debian/changelog
date=$(sed -n '/^ -- /{s/.*, *\([0-9]*\) \([A-Z][a-z]*\) \([0-9]*\) .*/\2 \1, \3/p;q;}' "$changelog")
mkdir -p "$out"
rm -f "$out"/onnxcost*
for page in src/man/*.[157]; do
    name=$(basename "$page")
    title=$(echo "${name%.*}" | tr '[:lower:]' '[:upper:]' | sed 's/-/\\-/g')
    # shellcheck disable=SC2016 # awk's fields
    awk -v program="$program" -v head=".TH $title ${name##*.} \"$date\" \"onnxcost $version\" \"onnxcost\"" '
        # -x and --long-name, at the beginning of a word
        function escape(line,    out, at, word) {
            while ((at = match(line, /(^|[ (\["|,]|\\f[BIR])--?[A-Za-z0][-A-Za-z0-9]*/)) > 0) {
                word = substr(line, at, RLENGTH)
                gsub(/-/, "\\-", word)
                out = out substr(line, 1, at - 1) word
                line = substr(line, at + RLENGTH)
            }
            return out line
        }
        NR == 1 { print head }
        /^\.\\" list: / {
            command = program " help man " substr($0, 11)
            while ((command | getline line) > 0) print line
            if (close(command)) exit 1
            next
        }
        /^\.\\"/ { next }
        { print escape($0) }' "$page" >"$out/$name"
    # bold and underlined text is overstruck: the last character stays
    mandoc -T ascii -O width=78 "$out/$name" | sed "s/.$(printf '\b')//g" >"$out/${name%.*}.txt"
done
