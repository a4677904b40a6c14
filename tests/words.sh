#!/bin/sh
# Plain words: finds the phrases of tests/words.tsv in comments, string literals, documents, descriptions of schemas, names
# of tests and help texts, and prints file:line: phrase -> replacement. Exit code 1: something was found.
# usage: tests/words.sh [FILE...]            check (all files of the project; no build is needed)
#        tests/words.sh --text [FILE...]     print every text that is checked
#        tests/words.sh --sample N [BASE]    N random strings of src that changed since the commit BASE, before and after
set -u
cd "$(dirname "$0")/.." || exit 1
TMPDIR=$(mktemp -d)
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT

# recorded data, expected output and generated files are not written by hand
list_files() {
    find src models tests hwdb .ci README.md Makefile -type f \
        \( -name '*.[ch]' -o -name '*.js' -o -name '*.html' -o -name '*.css' -o -name '*.py' -o -name '*.sh' -o -name '*.md' \
        -o -name '*.[1-8]' -o -name '*.xml' -o -name '*.json' -o -name Makefile -o -name '*.mk' -o -path '.ci/*' \
        -o -path 'src/deb/control' -o -path 'src/deb/changelog' -o -path 'src/deb/rules' \) |
        grep -vE '^tests/(golden|data|fuzz/seeds|words)|^models/profiles/.*json|\.pyc$' | sort
}
words() { perl tests/words.pl tests/words.tsv "$@"; }

# shellcheck disable=SC2046 # names of files of this project have no blanks
case ${1-} in
--sample)
    words --sample "${2:?a number of strings}" "${3:-5d885c1}" $(find src -name '*.[ch]' -o -name '*.js' | sort)
    exit
    ;;
--text)
    shift
    [ $# -gt 0 ] || set -- $(list_files)
    words --text "$@"
    exit
    ;;
esac
words --self-test >"$TMPDIR/self" || { cat "$TMPDIR/self"; exit 1; }
# shellcheck disable=SC2046
[ $# -gt 0 ] || set -- $(list_files)
words "$@"
