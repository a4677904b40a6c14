#!/bin/sh
# Files that are cut or replaced while the program reads them. Prints TAP.
# The program is held where it writes into a pipe that nobody empties; then its model is changed.
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
same() { # title wanted got
    result "$1" "$([ "$2" = "$3" ] || echo "wanted '$2', got '$3'")"
}

bytes=$(wc -c <whole.onnx)
result 'the model is larger than a pipe' "$([ "$bytes" -gt 300000 ] || echo "$bytes bytes")"

mkfifo pipe
# starts the program, waits until it writes, changes the model, takes the rest; its exit code in rc
held() { # command that changes m.onnx
    cp whole.onnx m.onnx
    timeout 60 "$program" m.onnx --annotate pipe -o report.txt 2>err &
    pid=$!
    exec 3<pipe
    dd bs=1 count=1 <&3 >got 2>/dev/null
    sh -c "$1"
    cat <&3 >>got
    exec 3<&-
    wait $pid
    rc=$?
}

held 'truncate -s 0 m.onnx'
same 'a model that is cut: exit code 3' 3 $rc
same 'one line says so' "onnxcost: cannot read 'm.onnx': it was cut, or its disk failed, while it was read" "$(cat err)"
result 'and there is no report' "$([ ! -e report.txt ] || cat report.txt)"

held 'cp whole.onnx new.onnx && printf x >>new.onnx && mv new.onnx m.onnx'
same 'a model that is replaced was read as it had been' 0 $rc
"$program" got -f json | grep -v '"path"' >replaced.json
"$program" whole.onnx --annotate kept.onnx >/dev/null 2>&1
"$program" kept.onnx -f json | grep -v '"path"' >kept.json
result 'to its end' "$(diff kept.json replaced.json)"

# ---- weights go from the file into the pipe without a stop in between
"$zoo" squeezenet1_1 --fill random -o whole.onnx
held 'truncate -s 100000 m.onnx'
same 'weights that are cut: exit code 3' 3 $rc
result 'one line says so, whether it was the program or the kernel that read' "$([ "$(wc -l <err)" -eq 1 ] &&
    grep -qE "^onnxcost: cannot (read 'm.onnx': it|write 'pipe': the model) was cut" err || cat err)"

left=$(find . -name '*.??????' ! -name '*.json' ! -name '*.onnx' -type f)
same 'no temporary file is left' '' "$left"
finish
