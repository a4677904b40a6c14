#!/bin/sh
# A document with its transcripts written again: in fenced blocks what follows `$ COMMAND` is the output of the command. A
# command goes on after a backslash at the end of a line. The commands run in order in FOLDER; <!-- NAME --> is followed by
# the list NAME of the folder LISTS. `--commands` prints the commands only, one a line, with those of indented blocks.
# usage: tests/transcripts.sh DOCUMENT FOLDER [LISTS]
#        tests/transcripts.sh --commands DOCUMENT
set -u
commands=
[ "$1" = --commands ] && commands=yes && shift
awk -v folder="${2:-.}" -v lists="${3:-}" -v commands="$commands" '
    function run(command,    line) {
        gsub(/\047/, "\047\\\047\047", command)
        command = "cd " folder " && sh -c \047" command "\047 2>&1 </dev/null"
        while ((command | getline line) > 0) print line
        close(command)
    }
    function out(line) { if (!commands) print line }
    function act(text) {
        if (commands) { gsub(/  +/, " ", text); print text } else run(text)
        skip = 1
    }
    /^```/ { fenced = !fenced; skip = 0 }
    /^<!-- end -->/ { skip = 0 }
    more || (fenced && /^\$ /) {
        out($0)
        text = more ? text $0 : substr($0, 3)
        more = sub(/\\$/, " ", text)
        if (!more) act(text)
        next
    }
    commands && !fenced && /^    [a-z]/ { line = substr($0, 5); sub(/  +# .*/, "", line); print line }
    !skip { out($0) }
    /^<!-- (operators|devices|names|profiles|gallery) -->/ && lists {
        while ((getline line < (lists "/" $2)) > 0) out(line)
        skip = 1
    }' "$1"
