#!/bin/sh
# Memory plans for the whole zoo, for the recorded models in ../shared/samples and for the ONNX backend test set (Debian:
# libonnx-testdata): they are valid, and close to the peak live bytes.
# usage: tests/check_plans.sh [-t]        -t: with times. Prints a table (lines with '#') and TAP.
# modes: release
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
: "${BUILD:=build/release}" "${ONNX_TESTDATA:=/usr/share/libonnx-testdata/data}"
samples=../shared/samples/onnxruntime
work=$BUILD/plans
tests/make_zoo.sh "$work" || exit 1
times=
[ "${1:-}" = -t ] && times=-t
plan() { # title models...
    title=$1
    shift
    # shellcheck disable=SC2086 # -t or nothing
    "$BUILD/oracle/memory_plans" $times "$@" >"$work/table.txt" || bad=1
    grep '^#' "$work/table.txt"
    grep -E '^(not )?ok ' "$work/table.txt" | awk -v n="$n" -v title="$title" '
        { at = index($0, " - "); print (/^not/ ? "not ok " : "ok ") ++n " - " title ": " substr($0, at + 3) }'
    n=$((n + 2))
}
missing() { # title why
    echo "# SKIPPED: $2"
    skip "$1" "$2"
}
plan zoo "$work"/*.onnx
if [ -d $samples ]; then
    set --
    for model in "$samples"/*.onnx; do
        case "$model" in
        */silero_vad_legacy.onnx)
            set -- "$@" shape:input=1x1536 shape:h=2x1x64 shape:c=2x1x64 shape:sr= value:sr=16000
            ;;
        esac
        set -- "$@" "$model"
    done
    plan samples "$@"
else
    missing samples "no samples in '$samples'"
fi
if [ -d "$ONNX_TESTDATA" ]; then
    # shellcheck disable=SC2046 # no blanks in these names
    plan 'node tests' $(find "$ONNX_TESTDATA" -name '*.onnx' | LC_ALL=C sort)
else
    missing 'node tests' "no ONNX test data in '$ONNX_TESTDATA'"
fi
finish
