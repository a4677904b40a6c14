#!/bin/sh
# Files that are truncated or replaced while the program reads them. Prints TAP.
# The program blocks on a pipe without a reader; then its model is changed.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
: "${BUILD:=build/release}"
work=$BUILD/faults
rm -rf "$work"
mkdir -p "$work"
program=$PWD/$BUILD/onnxcost zoo=$PWD/$BUILD/onnxzoo
"$zoo" gpt2 -o "$work/whole.onnx"
cd "$work" || exit 1
expect_eq() { # title expected actual
    result "$1" "$([ "$2" = "$3" ] || echo "expected '$2', got '$3'")"
}

bytes=$(wc -c <whole.onnx)
result 'model is larger than a pipe' "$([ "$bytes" -gt 300000 ] || echo "$bytes bytes")"

mkfifo pipe
# starts the program, waits until it writes, changes the model, reads the rest; the exit code is in rc
run_blocked() { # command that changes m.onnx
    cp whole.onnx m.onnx
    timeout 600 "$program" m.onnx --annotate pipe -o report.txt 2>err &
    pid=$!
    exec 3<pipe
    dd bs=1 count=1 <&3 >got 2>/dev/null
    sh -c "$1"
    cat <&3 >>got
    exec 3<&-
    wait $pid
    rc=$?
}

run_blocked 'truncate -s 0 m.onnx'
expect_eq 'truncated model gives exit code 3' 3 $rc
expect_eq 'truncated model is reported in one line' "onnxcost: cannot read 'm.onnx': it was cut, or its disk failed, while it was read" "$(cat err)"
result 'truncated model gives no report' "$([ ! -e report.txt ] || cat report.txt)"

run_blocked 'cp whole.onnx new.onnx && printf x >>new.onnx && mv new.onnx m.onnx'
expect_eq 'replaced model is read as it was' 0 $rc
"$program" got -f json | grep -v '"path"' >replaced.json
"$program" whole.onnx --annotate kept.onnx >/dev/null 2>&1
"$program" kept.onnx -f json | grep -v '"path"' >kept.json
result 'replaced model is read to its end' "$(diff kept.json replaced.json)"

# ---- weights are copied from the file into the pipe in one call
"$zoo" squeezenet1_1 --weights random -o whole.onnx
run_blocked 'truncate -s 100000 m.onnx'
expect_eq 'truncated weights give exit code 3' 3 $rc
result 'truncated weights are reported in one line, read by the program or by the kernel' "$([ "$(wc -l <err)" -eq 1 ] &&
    grep -qE "^onnxcost: cannot (read 'm.onnx': it|write 'pipe': the model file) was (cut|truncated)" err || cat err)"

left=$(find . -name '*.??????' ! -name '*.json' ! -name '*.onnx' -type f)
expect_eq 'no temporary file remains' '' "$left"
finish
