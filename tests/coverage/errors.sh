#!/bin/sh
# Coverage of the error branches of readers: every call that rejects input or warns about it.
# `make coverage` runs it. usage: tests/coverage/errors.sh GCOV.TXT [--all]
# GCOV.TXT: output of `gcov -b -c` (`make coverage` keeps it)
#
# A branch that no input can execute (a failing machine, or an earlier check makes it impossible) is listed in
# tests/coverage/exempt.tsv with its text and the reason. Exit code 1: a branch is neither covered nor exempt, or an
# exemption is obsolete.
cd "$(dirname "$0")/../.." || exit 1
[ -s "${1:-}" ] || { echo "usage: tests/coverage/errors.sh GCOV.TXT [--all]" >&2; exit 2; }
# files that read input: patterns below src/, without .c
readers='base/file base/http base/json_read base/stream base/text_filter base/unicode base/units base/wire base/xml_read
    model/* hw/* profile/* profile/core/* profile/formats/* provider/provider_file shape/* estimate/cal_read estimate/samples
    gate/limits ops/rule_parse ops/user_rules ops/matmul report/python'
files=
for pattern in $readers; do
    for file in src/$pattern.c; do
        [ -e "$file" ] || { echo "no such file: $file" >&2; exit 2; }
        files="$files $file"
    done
done
exec awk -v all="${2:-}" -v files="$files" '
function trim(s) { sub(/^[ \t]+/, "", s); sub(/[ \t]+$/, "", s); return s }
function settle() { # the previous line is complete: its calls are known
    if (!site) return
    n++
    missed = count ~ /[#=]/ || never
    key = file "\t" text
    if (!missed) { reached++; if (all == "--all") print "covered  " file ":" line ": " text }
    else if (key in exempt) { used[key] = 1; exempted++; if (all == "--all") print "exempt   " file ":" line ": " text " (" exempt[key] ")" }
    else { open++; print "not covered: " file ":" line ": " text }
    site = 0
}
BEGIN {
    n_file = split(files, name, " ")
    for (i = 1; i <= n_file; i++) is_reader[name[i]]
    raises = "(^|[^a-z_.>])(oc_[a-z_]*fail|fail|fail_at|fail_[a-z_]+|[a-z]+_fail|bad|bad_[a-z]+|cannot_[a-z]+|unexpected|cut|damaged|complain|oc_chrome_bad|oc_csv_error|oc_diag_add|over|oc_load_over|oc_stream_over|oc_prof_over)\\("
    while ((getline row < "tests/coverage/exempt.tsv") > 0) {
        if (row ~ /^#/ || row !~ /\t/) continue
        split(row, part, "\t")
        exempt[part[1] "\t" part[2]] = part[3]
        if (part[3] == "") { print "no reason: " row; open++ }
    }
}
/^ *[-0-9#=*]+:/ {
    settle()
    split($0, head, ":")
    count = trim(head[1])
    line = trim(head[2]) + 0
    text = trim(substr($0, length(head[1]) + length(head[2]) + 3))
    if (line == 0 && text ~ /^Source:/) { file = substr(text, 8); wanted = file in is_reader }
    never = 0
    # a definition starts at the first column, its head has no semicolon
    site = wanted && line > 0 && count != "-" && text ~ raises && text !~ /^(static |const |int |void |bool |__attr)/ && !(text ~ /^(\/\*|\*)/)
    next
}
/^call +[0-9]+ never executed/ { never = 1 }
END {
    settle()
    if (!n) { print "no coverage data"; exit 1 }
    for (key in exempt) if (!(key in used)) { print "obsolete exemption: " key; open++ }
    printf "error branches of readers: %d of %d covered, %d exempt (tests/coverage/exempt.tsv)\n", reached, n, exempted
    exit open > 0
}' "$1"
