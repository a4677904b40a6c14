#!/bin/sh
# --annotate: the annotated model is equivalent to the model, checked with Debian's python3-onnx if installed, and with ONNX
# Runtime if `make corpus` installed it; 300 MB of weights need little memory. Prints TAP.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
: "${BUILD:=build/release}"
work=$BUILD/annotate
rm -rf "$work"
mkdir -p "$work/elsewhere"
onnxcost=$PWD/$BUILD/onnxcost
export ONNXCOST_HWDB="${ONNXCOST_HWDB:-$PWD/hwdb}" NODE_PATH="${NODE_PATH:-$PWD/build/corpus/node_modules}"
python=
for p in /usr/bin/python3 python3; do
    # libonnx-testdata alone installs a folder `onnx` that Python imports as an empty package
    [ -z "$python" ] && "$p" -c 'import onnx.checker' 2>/dev/null && python=$p
done
check() { result "$2" "$1"; } # problems title
check_annotated() { # title model annotated
    if [ -z "$python" ]; then
        skip "$1" 'no python3-onnx'
        return
    fi
    "$python" tests/support/annotate_rules.py "$2" "$3" >"$work/lines" 2>&1
    check "$(grep -v '^ok ' "$work/lines"; [ "$(grep -c '^ok ' "$work/lines")" -ge 7 ] || echo 'not all checks ran')" "$1"
}
check_outputs() { # title model annotated shapes...
    title="$1: same outputs on ONNX Runtime"
    shift
    if ! command -v node >/dev/null || [ ! -d "$NODE_PATH/onnxruntime-node" ]; then
        skip "$title" "no onnxruntime-node in '$NODE_PATH' (make corpus installs it)"
        return
    fi
    out=$(node tests/corpus/annotate.js "$@" 2>&1)
    if [ $? -eq 77 ]; then
        skip "$title" "$out"
        return
    fi
    check "$(case "$out" in *'same '*outputs) ;; *) echo "$out" ;; esac)" "$title"
}
test_model() { # title name input shapes for the run -- options
    title=$1 name=$2 shape=$3
    shift 3
    "$onnxcost" "$work/$name.onnx" "$@" --annotate "$work/$name.out.onnx" -f csv >/dev/null 2>"$work/err" ||
        check "$(cat "$work/err")" "$title"
    check_annotated "$title" "$work/$name.onnx" "$work/$name.out.onnx"
    # shellcheck disable=SC2086 # a list
    check_outputs "$title" "$work/$name.onnx" "$work/$name.out.onnx" $shape
}

"$BUILD/onnxzoo" squeezenet1_1 --weights random -o "$work/squeezenet1_1.onnx"
"$BUILD/onnxzoo" mobilenetv2 --weights random -o "$work/mobilenetv2.onnx"
"$BUILD/onnxzoo" keyword_gru --weights random -o "$work/keyword_gru.onnx"
test_model 'model without a profile' squeezenet1_1 ''
test_model 'model with profile and hardware' mobilenetv2 '' -p models/profiles/mobilenetv2.all.t1.json.gz --hw a100
check "$("$onnxcost" "$work/mobilenetv2.out.onnx" -f json 2>/dev/null | cmp -s - "$work/missing" && echo empty
    a=$("$onnxcost" "$work/mobilenetv2.onnx" -f csv 2>/dev/null | cksum)
    b=$("$onnxcost" "$work/mobilenetv2.out.onnx" -f csv 2>/dev/null | cksum)
    [ "$a" = "$b" ] || echo 'costs differ')" 'annotated model has the costs of the model'
check "$(for name in group_time_ns roofline_ns; do
    grep -aq "onnxcost.$name" "$work/mobilenetv2.out.onnx" || echo "no $name"
done)" 'entries contain times of fused groups and rooflines'
test_model 'recurrent model' keyword_gru ''
for seed in if loop function; do # bodies and functions
    cp "tests/fuzz/seeds/model/$seed.onnx" "$work/$seed.onnx"
    test_model "$seed" "$seed" ''
done

# external weights
"$BUILD/onnxzoo" resnet18 -o "$work/external.onnx"
check "$("$onnxcost" "$work/external.onnx" --annotate "$work/same_folder.onnx" -t 1 2>&1 >/dev/null | grep cannot
    [ -s "$work/same_folder.onnx" ] || echo 'not written')" 'external weights: output in the folder of the weights'
expect_usage_error() { # pattern title arguments...
    pattern=$1 title=$2
    shift 2
    before=$(cksum <"$work/squeezenet1_1.onnx")
    "$onnxcost" "$@" >"$work/report" 2>"$work/err"
    code=$?
    check "$([ $code -eq 2 ] && grep -qE "$pattern" "$work/err" || echo "$code $(cat "$work/err")"
        [ "$before" = "$(cksum <"$work/squeezenet1_1.onnx")" ] || echo 'the model was changed'
        ls "$work"/*.onnx.?????? "$work"/elsewhere/* 2>/dev/null)" "$title"
}
expect_usage_error 'must be next to the model' 'external weights: output in another folder is rejected' "$work/external.onnx" --annotate "$work/elsewhere/a.onnx"
expect_usage_error 'the command reads this file' 'output over the model is rejected' "$work/squeezenet1_1.onnx" --annotate "$work/squeezenet1_1.onnx"
ln -s squeezenet1_1.onnx "$work/link.onnx"
expect_usage_error 'the command reads this file' 'output over the model through a link is rejected' "$work/squeezenet1_1.onnx" --annotate "$work/link.onnx"
expect_usage_error 'a file of its own' 'output to standard output is rejected' "$work/squeezenet1_1.onnx" --annotate -
expect_usage_error 'a file of its own' 'output to the report file is rejected' "$work/squeezenet1_1.onnx" --annotate "$work/x" -o "$work/x"
expect_usage_error 'needs a model' 'profile without a model is rejected' models/profiles/mobilenetv2.all.t1.json.gz --annotate "$work/x"

# large files are copied through the page cache, not through memory
if [ "${BUILD#build/}" = release ] && command -v python3 >/dev/null; then
    "$BUILD/onnxzoo" bigfile --bytes 200000000 -o "$work/big.onnx"
    mib=$(python3 -c '
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)' "$onnxcost" "$work/big.onnx" --annotate "$work/big.out.onnx")
    check "$([ "$mib" -lt 60 ] || echo "$mib MiB")" '200 MB of weights need less than 60 MiB of memory'
    check "$(python3 - "$work/big.onnx" "$work/big.out.onnx" 2>&1 <<'PYTHON'
import mmap, sys
files = [open(p, "rb") for p in sys.argv[1:]]
a, b = (mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) for f in files)
probe = 64
shift = b.find(a[10**6:10**6 + probe], 10**6 - 10**5, 10**6 + 10**5) - 10**6
bad = [at for at in range(10**6, len(a) - 10**6, len(a) // 997) if a[at:at + probe] != b[at + shift:at + shift + probe]]
print(bad[:3] or "" if len(b) > len(a) else "too small")
PYTHON
)" '200 MB of weights are complete'
    rm -f "$work"/big*
else
    skip '200 MB of weights need less than 60 MiB of memory' 'not the release mode'
fi
finish
