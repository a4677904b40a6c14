#!/bin/sh
# The built program and shared library have what makes mistakes in memory hard to use: read-only relocations bound at
# the start, no executable stack or writable code, the program at any address, guards of stacks, checked calls. Prints TAP.
# modes: release
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
: "${BUILD:=build/release}"
skip_all() { # why
    echo "ok 1 - hardening # SKIP $1"
    echo "1..1"
    exit 0
}
[ "$BUILD" = build/release ] || skip_all 'only what is installed is hardened'
grep -q -e -fstack-protector-strong "$BUILD/flags" || skip_all 'it was built without'
command -v readelf >/dev/null 2>&1 || skip_all 'readelf is missing'
readelf -h "$BUILD/onnxcost" >/dev/null 2>&1 || skip_all 'the program is no ELF file'

for file in onnxcost libonnxcost.so.0; do
    path=$BUILD/$file
    segments=$(readelf -lW "$path")
    dynamic=$(readelf -dW "$path")
    symbols=$(readelf -sW --dyn-syms "$path")
    result "$file: position independent" "$(readelf -hW "$path" | grep -q 'Type: *DYN' || echo 'it has a fixed address')"
    result "$file: relocations become read-only" "$(echo "$segments" | grep -q GNU_RELRO || echo 'no GNU_RELRO')"
    result "$file: all symbols are bound at the start" \
        "$(echo "$dynamic" | grep -Eq 'BIND_NOW|FLAGS.*NOW' || echo 'bound lazily')"
    result "$file: the stack is not executable" \
        "$(echo "$segments" | awk '$1 == "GNU_STACK" { seen = 1; if ($7 ~ /E/) print "executable" } END { if (!seen) print "no GNU_STACK" }')"
    result "$file: nothing is writable and executable" "$(echo "$segments" | grep -E '^ *LOAD.* (RWE|WE) ')"
    # what is read only does not lie in pages of code
    result "$file: code apart from data" \
        "$(echo "$segments" | awk '$1 == "LOAD" && $7 == "R" { r++ } $1 == "LOAD" && $0 ~ / R E / { x++ } END { if (x != 1 || r < 2) print r + 0 " read-only and " x + 0 " executable segments" }')"
    result "$file: stacks are guarded" "$(echo "$symbols" | grep -q '__stack_chk_fail' || echo 'no __stack_chk_fail')"
    result "$file: calls that copy are checked" \
        "$(echo "$symbols" | grep -Eq '__(mem|str|sn?v?n?|v?f|v?s)[a-z]*_chk' || echo 'no call of a checked function')"
    result "$file: no path of the builder for libraries" "$(echo "$dynamic" | grep -E 'RPATH|RUNPATH')"
    result "$file: no relocations in code" "$(echo "$dynamic" | grep TEXTREL)"
done
if grep -q -e -fcf-protection "$BUILD/flags"; then
    # the program as a whole only says so where the C library's own objects do
    result 'jumps only go where they may (IBT, SHSTK)' "$(find "$BUILD/obj/src" -name '*.o' -exec readelf -nW {} + |
        awk '/^File: / { if (file && !marked) print file; file = $2; marked = 0 } /IBT.*SHSTK/ { marked = 1 }
             END { if (!file) print "no objects"; else if (!marked) print file }' | head -n 3 | tr '\n' ' ')"
fi
finish
