#!/bin/sh
# Several processes write the same file at the same time: a reader always finds one of the complete files, never a mixture,
# a part, or no file. Prints TAP.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
: "${BUILD:=build/release}"
top=$PWD build=$PWD/$BUILD work=$PWD/$BUILD/writers zoo=$PWD/$BUILD/onnxzoo
export ONNXCOST_HWDB="$top/hwdb" LC_ALL=C
rm -rf "$work"
mkdir -p "$work/o"
cd "$work" || exit 1
"$zoo" squeezenet1_1 --weights random -o a.onnx
"$zoo" keyword_gru --weights random -o b.onnx
program=$build/onnxcost
: "${ROUNDS:=$(case $BUILD in */release) echo 60 ;; *) echo 15 ;; esac)}"
write() { # model file
    case $how in
    annotate) "$program" "$1" --annotate "$2" >/dev/null ;;
    plan) "$program" memory "$1" --plan "$2" -f json >/dev/null ;;
    *) "$program" "$1" -f "$how" -o "$2" ;;
    esac
}
writer() { # model
    i=0
    while [ $i -lt "$ROUNDS" ]; do
        write "$1" o/out || echo "exit code $?"
        i=$((i + 1))
    done
}
for how in json html annotate plan; do
    rm -f o/* ./*.problems
    for m in b a; do write $m.onnx o/out && cp o/out $m.whole; done
    writer a.onnx >a.problems 2>&1 &
    a=$!
    writer b.onnx >b.problems 2>&1 &
    b=$!
    # not with cp: it fails for a file that is replaced while it opens it
    (wait_for() { while kill -0 $a 2>/dev/null || kill -0 $b 2>/dev/null; do
        cat o/out >seen 2>/dev/null || echo 'the file was missing'
        if cmp -s seen a.whole; then echo a >>seen.which; elif cmp -s seen b.whole; then echo b >>seen.which; else echo "a mixture of $(wc -c <seen) bytes"; fi
    done; }; : >seen.which; wait_for >reader.problems)
    wait $a $b
    # shellcheck disable=SC2010
    result "$how: $(wc -l <seen.which) reads while two processes wrote $ROUNDS times each give complete files" "$(cat a.problems b.problems reader.problems
        [ "$(sort -u seen.which | tr -d '\n')" = ab ] || echo "seen: $(sort seen.which | uniq -c | tr '\n' ' ')"
        [ "$(ls o)" = out ] || echo "left: $(ls o)")"
done
finish
