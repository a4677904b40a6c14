# shellcheck shell=sh
# TAP for the scripts tests/check_*.sh, which read this file: a line for each test and, at the end, how many there are.
n=0
bad=0

# title, problems: a line for each, none when all is well
result() {
    n=$((n + 1))
    if [ -z "$2" ]; then
        echo "ok $n - $1"
    else
        bad=1
        echo "not ok $n - $1"
        printf '%s\n' "$2" | head -n 20 | sed 's/^/# /'
    fi
}

# exit code, title, what is said if it is not 0
passed() {
    if [ "$1" -eq 0 ]; then result "$2" ''; else result "$2" "${3:-exit code $1}"; fi
}

# title, why
skip() {
    n=$((n + 1))
    echo "ok $n - $1 # SKIP $2"
}

# the same, where the list of what was skipped has to tell the title too
skip_named() {
    n=$((n + 1))
    echo "ok $n # SKIP $1: $2"
}

finish() {
    echo "1..$n"
    exit $bad
}
