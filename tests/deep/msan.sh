#!/bin/sh
# The fuzz targets under clang's MemorySanitizer: seeds with fixed mutations, 2 s of processor time per target. Prints TAP.
# usage: tests/deep/msan.sh TARGET...     JOBS, MAKE
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
: "${JOBS:=2}" "${MAKE:=make}"
work=build/msan/runs
rm -rf "$work"
mkdir -p "$work"
echo 'int main(void) { return 0; }' >"$work/empty.c"
if ! { clang -fsanitize=memory -o "$work/empty" "$work/empty.c" && "$work/empty"; } >/dev/null 2>&1; then
    skip 'MemorySanitizer' 'clang or its runtime is missing: install clang and libclang-rt-dev'
    finish
fi
unset MAKEFLAGS MFLAGS MAKELEVEL
"$MAKE" -s "-j$JOBS" MODE=msan fuzz-bin >"$work/build.log" 2>&1
passed $? 'the fuzz targets are built with MemorySanitizer' "$(tail -n 5 "$work/build.log")"
cat >"$work/run" <<'END'
timeout 300 "build/msan/fuzz/fuzz_$1" --seconds 2 tests/fuzz/seeds/"$1"/* >"$0.$1.log" 2>&1
echo "exit code $?" >>"$0.$1.log"
END
export ONNXCOST_HWDB="$PWD/hwdb" LC_ALL=C.UTF-8
printf '%s\n' "$@" | xargs -P "$JOBS" -n 1 sh "$work/run"
for target in "$@"; do
    log=$work/run.$target.log
    result "$target" "$(grep -q '^exit code 0$' "$log" || grep -vE '^(fuzz_|$)' "$log" | head -n 14)"
done
finish
