#!/bin/sh
# Runs one suite; writes its result lines (`ok|not ok|skip<TAB>suite<TAB>test`) and its time (`suite<TAB>CPU seconds`).
# usage: tests/run_suite.sh 'name<TAB>command'   (RESULTS: folder for <name>.log, <name>.res and <name>.sec)
# LIMIT_S ends a suite that hangs. It is wall time, so it is generous: a loaded machine must not fail a suite.
#
# The command may print TAP (cmocka does); otherwise its exit code counts as one test: 0 passed, 77 skipped.
export PYTHONDONTWRITEBYTECODE=1 # a checkout stays as it was
name=${1%%	*}
command=${1#*	}
file=$RESULTS/$(printf '%s' "$name" | tr '/ ' '__')
timeout "${LIMIT_S:-1800}" sh -c "$command" >"$file.log" 2>&1 </dev/null
rc=$?
# `times`: second line, user and system time of the suite as 0m0.000s
times >"$file.times"
awk -v suite="$name" 'NR == 2 { for (i = 1; i <= 2; i++) { split($i, t, "m"); s += t[1] * 60 + t[2] }
    printf "%s\t%.2f\n", suite, s }' "$file.times" >"$file.sec"
rm -f "$file.times"
awk -v suite="$name" -v rc="$rc" '
    function out(kind, what) { printf "%s\t%s\t%s\n", kind, suite, what }
    /^1\.\.[0-9]+/ { plan = substr($1, 4) + 0; planned = 1; next }
    /^(not )?ok [0-9]+/ {
        text = $0
        sub(/^(not )?ok [0-9]+( - )?/, "", text)
        seen++
        if (text ~ /# *SKIP/) { sub(/.*# *SKIP */, "", text); out("skip", text) }
        else if ($1 == "ok") out("ok", text)
        else { failed++; out("not ok", text) }
    }
    END {
        if (!planned && !seen) {
            if (rc == 77) out("skip", "all")
            else out(rc == 0 ? "ok" : "not ok", "exit code " rc)
        } else if (planned && !seen && (rc == 0 || rc == 77)) out("skip", "no tests")
        else if (planned && seen != plan)
            out("not ok", "ended early: " seen + 0 " of " plan " tests, exit code " rc)
        else if (rc != 0 && !failed)
            out("not ok", "exit code " rc)
    }' "$file.log" >"$file.res"
