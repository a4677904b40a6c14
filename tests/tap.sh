# shellcheck shell=sh
# TAP output for the scripts tests/check_*.sh, which source this file: a line per test and the plan at the end.
n=0
bad=0
# pages have the date of the run: two runs of a test are the same
export SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-0}"

# title, problems: one per line, empty if the test passed
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

# exit code, title, message if the code is not 0
passed() {
    if [ "$1" -eq 0 ]; then result "$2" ''; else result "$2" "${3:-exit code $1}"; fi
}

# title, why
skip() {
    n=$((n + 1))
    echo "ok $n - $1 # SKIP $2"
}

# the same, with the title in the reason, so that the list of skipped tests contains it
skip_named() {
    n=$((n + 1))
    echo "ok $n # SKIP $1: $2"
}

# The program fails so, prints nothing, and writes no file none.onnx. $onnxcost: the program
# title, exit code, text, arguments
expect_error() {
    title=$1 code=$2 text=$3
    shift 3
    "${onnxcost:?}" "$@" >out 2>err
    rc=$?
    result "$title" "$([ $rc -eq "$code" ] && grep -qF -- "$text" err && [ ! -s out ] && [ ! -e none.onnx ] || echo "exit code $rc"; [ $rc -eq "$code" ] || cat out err)"
}

finish() {
    echo "1..$n"
    exit $bad
}
