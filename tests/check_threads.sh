#!/bin/sh
# Reports of several threads at once equal those of one thread, and ThreadSanitizer finds no data race. Prints TAP.
set -u
cd "$(dirname "$0")/.." || exit 1
: "${BUILD:=build/release}" "${CC:=cc}"
work=$BUILD/threads
rm -rf "$work"
mkdir -p "$work"
for model in resnet18 bert_base; do
    "$BUILD/onnxzoo" $model -o "$work/$model.onnx"
done
set -- "$work/resnet18.onnx" models/profiles/resnet18.all.t1.json.gz \
    "$work/bert_base.onnx" models/profiles/bert_base.disabled.t1.json.gz \
    -- tests/fuzz/seeds/nsys_sqlite/kernels.sqlite models/profiles/mobilenetv2.all.t2.json.gz
"$BUILD/oracle/many_threads" "$@" >"$work/out"
bad=$?
grep -v '^1\.\.' "$work/out"
[ "$BUILD" = build/release ] || { echo 1..2; exit $bad; }

# once, with the release build: a separate build of the library and this program
echo 'int main(void) { return 0; }' >"$work/empty.c"
if [ -z "${DEEP:-}" ]; then
    echo 'ok 3 - ThreadSanitizer finds no data races # SKIP make check-deep runs it'
elif ! { "$CC" -fsanitize=thread -o "$work/empty" "$work/empty.c" && "$work/empty"; } >"$work/log" 2>&1; then
    echo 'ok 3 - ThreadSanitizer finds no data races # SKIP ThreadSanitizer is not available'
else
    unset MAKEFLAGS MFLAGS MAKELEVEL
    if make -s MODE=tsan CC="$CC" build/tsan/oracle/many_threads >"$work/log" 2>&1 &&
        TSAN_OPTIONS=halt_on_error=1:exitcode=66 build/tsan/oracle/many_threads "$@" >"$work/log" 2>&1; then
        echo 'ok 3 - ThreadSanitizer finds no data races'
    else
        bad=1
        echo 'not ok 3 - ThreadSanitizer finds no data races'
        head -n 30 "$work/log" | sed 's/^/# /'
    fi
fi
echo 1..3
exit $bad
