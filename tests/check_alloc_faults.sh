#!/bin/sh
# Out of memory: the program reports it and exits with 4, or gives the same result as without the failure. One allocation
# fails per run, over jobs of every kind (tests/faults/alloc_jobs.txt). Prints TAP.
# modes: release
set -u
# an installed ONNX Runtime is not tested: --version would load it
unset NODE_PATH ONNXRUNTIME_LIB VIRTUAL_ENV CONDA_PREFIX
export HOME=/nonexistent
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
: "${BUILD:=build/release}"
case $BUILD in
*/release | */debug) ;;
*)
    echo "1..1"
    echo "ok 1 - allocation faults # SKIP only in release: sanitizers and coverage have their own allocator"
    exit 0
    ;;
esac
top=$PWD work=$PWD/$BUILD/alloc_faults zoo=$PWD/$BUILD/onnxzoo build=$PWD/$BUILD
export ONNXCOST_HWDB="$top/hwdb" LC_ALL=C
unset LD_PRELOAD
rm -rf "$work"
mkdir -p "$work"
cd "$work" || exit 1
. "$top/tests/faults/inputs.sh"

# The test detects a program that ignores the failure.
cat >careless.sh <<'CARELESS'
#!/bin/sh
cat "$1" 2>/dev/null || echo nothing
CARELESS
chmod +x careless.sh
echo 'm.onnx' | "$build/alloc_runs" --all "$build/alloc_faults.so" state "$work/careless.sh" >careless.txt
result 'a program that ignores the failure is detected' "$(grep -q '^bad: .*differs' careless.txt || cat careless.txt)"

"$build/alloc_runs" --depth "${DEPTH:-4}" "$build/alloc_faults.so" state "$build/onnxcost" <"$top/tests/faults/alloc_jobs.txt" >log
tried=$(sed -n 's/ tried,.*//p' log)
result "$(tail -n 1 log)" "$(grep -A 2 '^bad' log; [ "${tried:-0}" -ge 1500 ] || tail -n 3 log)"
result 'every job ran' "$(wanted=$(grep -cv '^#' "$top/tests/faults/alloc_jobs.txt") ran=$(grep -c '^# .* allocations: ' log)
    [ "$wanted" -eq "$ran" ] || echo "$ran of $wanted")"

# A program without a handler: the library fails with OC_EMEMORY, and the program goes on.
# shellcheck disable=SC2086
${CC:-cc} -O1 -I"$top/src" -o host "$top/tests/faults/host.c" -L"$build" -l:libonnxcost.so.1 -Wl,-rpath,"$build" 2>log
result 'a program without a handler builds' "$(cat log)"
"$build/alloc_runs" --depth "${DEPTH:-4}" "$build/alloc_faults.so" state "$PWD/host" <"$top/tests/faults/host_jobs.txt" >log
tried=$(sed -n 's/ tried,.*//p' log)
result "the library never ends its host: $(tail -n 1 log)" "$(grep -A 2 '^bad' log; [ "${tried:-0}" -ge 200 ] || tail -n 3 log)"

# The message contains the size where it is known.
# shellcheck disable=SC3045 # dash supports it, as do other shells installed as sh
"$build/onnxzoo" bigfile --bytes 300000000 -o big.onnx && (ulimit -v 200000 && "$build/onnxcost" big.onnx) >out 2>err
rc=$?
result 'a file larger than the address space reports out of memory with the size' "$([ $rc -eq 4 ] && grep -qE '^onnxcost: out of memory \([0-9]{9} bytes\)$' err ||
    echo "exit code $rc: $(cat err)")"
rm -f big.onnx

# 20 million empty initializers of two bytes: nothing is kept of what exceeds the limit
perl -e 'my $graph = "\x2a\x00" x 20_000_000; my ($n, $length) = (length $graph, "");
    for (; $n > 127; $n >>= 7) { $length .= chr($n & 127 | 128) }
    print "\x08\x08\x42\x02\x10\x11\x3a", $length, chr $n, $graph' >views.onnx
# shellcheck disable=SC3045
(ulimit -v 250000 && "$build/onnxcost" views.onnx --limit model-memory=16MiB) >out 2>err
rc=$?
result 'a message of many fields takes no more memory than its limit' "$([ $rc -eq 3 ] &&
    grep -q 'graph: more than 16777216 bytes of memory for a model (--limit model-memory=N) (offset ' err || echo "exit code $rc: $(cat err)")"
rm -f views.onnx
finish
