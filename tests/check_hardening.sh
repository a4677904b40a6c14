#!/bin/sh
# The program and shared library are hardened: full RELRO, no executable stack or writable code, position-independent
# executable, stack protector, fortified calls. Prints TAP.
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
[ "$BUILD" = build/release ] || skip_all 'only the release build is hardened'
grep -q -e -fstack-protector-strong "$BUILD/flags" || skip_all 'built without hardening flags'
command -v readelf >/dev/null 2>&1 || skip_all 'readelf is missing'
readelf -h "$BUILD/onnxcost" >/dev/null 2>&1 || skip_all 'the program is not an ELF file'

for file in onnxcost libonnxcost.so.1; do
    path=$BUILD/$file
    segments=$(readelf -lW "$path")
    dynamic=$(readelf -dW "$path")
    symbols=$(readelf -sW --dyn-syms "$path")
    result "$file: position independent" "$(readelf -hW "$path" | grep -q 'Type: *DYN' || echo 'it has a fixed address')"
    result "$file: relocations are read-only (RELRO)" "$(echo "$segments" | grep -q GNU_RELRO || echo 'no GNU_RELRO')"
    result "$file: symbols are bound at start-up (BIND_NOW)" \
        "$(echo "$dynamic" | grep -Eq 'BIND_NOW|FLAGS.*NOW' || echo 'bound lazily')"
    result "$file: stack is not executable" \
        "$(echo "$segments" | awk '$1 == "GNU_STACK" { seen = 1; if ($7 ~ /E/) print "executable" } END { if (!seen) print "no GNU_STACK" }')"
    result "$file: no segment is writable and executable" "$(echo "$segments" | grep -E '^ *LOAD.* (RWE|WE) ')"
    # read-only data is not in code pages
    result "$file: code and read-only data are separate" \
        "$(echo "$segments" | awk '$1 == "LOAD" && $7 == "R" { r++ } $1 == "LOAD" && $0 ~ / R E / { x++ } END { if (x != 1 || r < 2) print r + 0 " read-only and " x + 0 " executable segments" }')"
    result "$file: stack protector is used" "$(echo "$symbols" | grep -q '__stack_chk_fail' || echo 'no __stack_chk_fail')"
    result "$file: copying calls are fortified" \
        "$(echo "$symbols" | grep -Eq '__(mem|str|sn?v?n?|v?f|v?s)[a-z]*_chk' || echo 'no call of a checked function')"
    result "$file: no RPATH of the build machine" "$(echo "$dynamic" | grep -E 'RPATH|RUNPATH')"
    result "$file: no text relocations" "$(echo "$dynamic" | grep TEXTREL)"
done
# what src/doc/security.md promises; execlp: `man`, by `help` on a terminal
for file in onnxcost libonnxcost.so.1; do
    result "$file: no network, and no shell or program but man" "$(readelf -sW --dyn-syms "$BUILD/$file" | awk '$7 == "UND" { sub(/@.*/, "", $8); print $8 }' |
        grep -xE 'socket|connect|bind|listen|accept4?|getaddrinfo|gethostby.*|system|popen|posix_spawnp?|exec(l|le|v|ve|vp|vpe|veat)|fexecve' | sort -u)"
done
if grep -q -e -fcf-protection "$BUILD/flags"; then
    # the linked program is only marked if the C library's objects are
    result 'objects are built with control-flow protection (IBT, SHSTK)' "$(find "$BUILD/obj/src" -name '*.o' -exec readelf -nW {} + |
        awk '/^File: / { if (file && !marked) print file; file = $2; marked = 0 } /IBT.*SHSTK/ { marked = 1 }
             END { if (!file) print "no objects"; else if (!marked) print file }' | head -n 3 | tr '\n' ' ')"
fi
finish
