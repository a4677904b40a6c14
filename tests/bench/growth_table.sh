#!/bin/sh
# Writes the exponents that `make growth` printed into README.md: a row per command, a column per kind of size.
# usage: tests/bench/growth_table.sh FILE      FILE: the output of build/release/bench/growth
set -eu
file=$1
readme=$(dirname "$0")/README.md
table=$(mktemp)
new=$(mktemp)
trap 'rm -f "$table" "$new"' EXIT
awk '
    function cut(at, n, s) { s = substr($0, at, n); gsub(/^ +| +$/, "", s); return s }
    function last(first, second) { return second != "" ? second "*" : first != "" ? first : "-" }
    # kinds with the same commands are one table
    function print_table(group,   n, k, i, c, line, rule) {
        for (i = 1; i <= n_kind; i++) n += of[kind[i]] == group
        if (!n) return
        line = "| command"; rule = "|---"
        for (i = 1; i <= n_kind; i++) if (of[kind[i]] == group) { line = line " | " kind[i] ", " size[kind[i]]; rule = rule "|---" }
        printf "%s |\n%s|\n", line, rule
        for (c = 1; c <= n_command; c++) {
            if (!((group, command[c]) in used)) continue
            line = "| `" command[c] "`"
            for (i = 1; i <= n_kind; i++) if (of[kind[i]] == group) line = line " | " cell[kind[i], command[c]]
            print line " |"
        }
        print ""
    }
    /^size / || /^largest exponent/ || !cut(32, 52) { next }
    {
        k = cut(1, 20); c = cut(32, 52)
        if (!(k in size)) { kind[++n_kind] = k; size[k] = cut(22, 8); of[k] = c ~ /-p %p|^cost %p|^summary/ ? (k ~ /^joined/ ? "joined" : "profile") : c ~ /%p/ ? "folder" : "model" }
        if (!(c in known)) { command[++n_command] = c; known[c] = 1 }
        used[of[k], c] = 1
        time = last(cut(94, 8), cut(103, 8)); memory = last(cut(121, 8), cut(130, 8)); bytes = cut(139, 8); word = cut(147, 12)
        cell[k, c] = (time == "-" && memory == "-" ? "-" : time " / " memory (bytes != "" ? " / " bytes : "")) (word != "" ? " " word : "")
        rows++; over += word ~ /above|failed/
        if (time + 0 > most_time) { most_time = time + 0; where_time = k ", `" c "`" }
        if (memory + 0 > most_memory) { most_memory = memory + 0; where_memory = k ", `" c "`" }
    }
    END {
        print "Exponents of time / memory / bytes for each of the size. `*`: measured again, in instructions or at 4 times the sizes. `-`:"
        print "less than 50 ms or 32 MiB above a tiny input. refused: a limit with its message.\n"
        print_table("model"); print_table("profile"); print_table("joined"); print_table("folder")
        printf "%d rows, %d above 1.15. Largest: time %.2f (%s), memory %.2f (%s).\n", rows, over, most_time, where_time, most_memory,
            where_memory
    }' "$file" >"$table"
sed -e '/^<!-- growth -->$/,/^<!-- end of growth -->$/{//!d;}' -e "/^<!-- growth -->\$/r $table" "$readme" >"$new"
cat "$new" >"$readme"
