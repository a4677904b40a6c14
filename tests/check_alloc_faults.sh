#!/bin/sh
# Memory that runs out: the program ends with exit code 4 and says so, or does what it would have done. One allocation
# fails in each run, over jobs of every kind (tests/faults/alloc_jobs.txt). Prints TAP.
# modes: release
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
: "${BUILD:=build/release}"
case $BUILD in
*/release | */debug) ;;
*)
    echo "1..1"
    echo "ok 1 - allocation faults # SKIP only in release: sanitizers and coverage have an allocator of their own"
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

# The test sees what it is for: a program that does not mind is found out.
cat >careless.sh <<'CARELESS'
#!/bin/sh
cat "$1" 2>/dev/null || echo nothing
CARELESS
chmod +x careless.sh
echo 'm.onnx' | "$build/alloc_runs" --all "$build/alloc_faults.so" state "$work/careless.sh" >careless.txt
result 'a program that goes on with less is found out' "$(grep -q '^bad: .*another' careless.txt || cat careless.txt)"

"$build/alloc_runs" --depth "${DEPTH:-4}" "$build/alloc_faults.so" state "$build/onnxcost" <"$top/tests/faults/alloc_jobs.txt" >log
tried=$(sed -n 's/ tried,.*//p' log)
result "$(tail -n 1 log)" "$(grep -A 2 '^bad' log; [ "${tried:-0}" -ge 1500 ] || tail -n 3 log)"
result 'each job ran' "$(wanted=$(grep -cv '^#' "$top/tests/faults/alloc_jobs.txt") ran=$(grep -c '^# .* allocations: ' log)
    [ "$wanted" -eq "$ran" ] || echo "$ran of $wanted")"

# The size is told where it is known: nobody has memory for this.
# shellcheck disable=SC3045 # dash has it, as the shells that are sh elsewhere
"$build/onnxzoo" bigfile --bytes 300000000 -o big.onnx && (ulimit -v 200000 && "$build/onnxcost" big.onnx) >out 2>err
rc=$?
result 'a file that does not fit into the address space' "$([ $rc -eq 4 ] && grep -qE '^onnxcost: out of memory \([0-9]{9} bytes\)$' err ||
    echo "exit code $rc: $(cat err)")"
rm -f big.onnx
finish
