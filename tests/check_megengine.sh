#!/bin/sh
# Reports of a MegEngine profile equal those of MegEngine's own tool byte for byte (recorded outputs). Prints TAP.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
: "${BUILD:=build/release}"
samples=../shared/samples/megengine
[ -e "$samples/CASES.tsv" ] || { echo "1..1"; echo "ok 1 # SKIP recorded MegEngine outputs: $samples is missing"; exit 0; }
work=$BUILD/megengine
mkdir -p "$work"
unset NO_COLOR COLUMNS
tr '\t' '|' <"$samples/CASES.tsv" >"$work/cases" # an empty field between two blanks would be lost
# MegEngine's options as ours: --wiki becomes --megengine confluence
sed 's/--\(show-host\|copy-time\|dump-only-opr\|confluence\)/--megengine \1/g; s/--wiki/--megengine confluence/g
    s/--top-end-key /--megengine top-end-key=/g; s/--aggregate-by/--group-by/g' "$work/cases" >"$work/ours"
while IFS='|' read -r name arguments code; do
    # shellcheck disable=SC2086 # arguments are words; none holds a blank or a pattern that matches a file
    set -f && set -- $arguments && set +f
    "$BUILD/onnxcost" "$samples/megengine_cpu_synthetic.json" "$@" >"$work/out" 2>"$work/err" </dev/null
    rc=$?
    if [ "rc=$rc" = "$code" ] && cmp -s "$work/out" "$samples/$name.out"; then
        result "$name $arguments" ''
    else
        result "$name $arguments" "exit code $rc
$(diff "$samples/$name.out" "$work/out" | head -n 6)
$(head -n 3 "$work/err")"
    fi
done <"$work/ours"
finish
