#!/bin/sh
# The Python package: its wheel in a fresh virtual environment without network, results compared with those of the program, the
# page src/doc/python.md as a test. Prints TAP.
# modes: release
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
: "${BUILD:=build/release}" "${CC:=cc}"
python=/usr/bin/python3 # of the distribution: that one has the package onnx
[ -x $python ] || python=$(command -v python3) || {
    echo '1..0 # SKIP no python3'
    exit 77
}
work=$PWD/$BUILD/python
rm -rf "$work"
mkdir -p "$work/zoo" "$work/first" "$work/second"
unset MAKEFLAGS MFLAGS MAKELEVEL PYTHONPATH ONNXCOST_LIBRARY ONNXCOST_HWDB

# ---- the wheel
make -s MODE="${BUILD#build/}" CC="$CC" PYTHON="$python" WHEEL_DIR="$work/first" wheel >"$work/log" 2>&1 &&
    touch -d 2001-01-01 build/python/onnxcost/*.py &&
    make -s MODE="${BUILD#build/}" CC="$CC" PYTHON="$python" WHEEL_DIR="$work/second" wheel >>"$work/log" 2>&1
passed $? 'make wheel succeeds' "$(tail -n 3 "$work/log")"
wheel=$(cd "$work/first" && echo onnxcost-*.whl)
cmp "$work/first/$wheel" "$work/second/$wheel" >"$work/log" 2>&1
passed $? 'the wheel is reproducible' "$(cat "$work/log")"
# glibc of the tag: the newest symbol of the library; no other libraries
library=$BUILD/wheel/libonnxcost.so.1
newest=$(objdump -T "$library" | grep -o 'GLIBC_2\.[0-9]*' | sort -t . -k 2n | tail -n 1 | tr . _)
case $wheel in onnxcost-*-py3-none-manylinux_"${newest#GLIBC_}"_"$(uname -m)".whl) true ;; *) false ;; esac
passed $? 'the tag of the wheel is that of its library' "$wheel, $newest"
needed=$(objdump -p "$library" | awk '$1 == "NEEDED" && $2 !~ /^ld-linux/ { print $2 }' | sort | tr '\n' ' ')
[ "$needed" = 'libc.so.6 libm.so.6 libz.so.1 ' ]; passed $? 'the library of the wheel needs libc, libm and libz only' "$needed"
nm -D --defined-only "$library" | awk '$3 !~ /^oc_.*@ONNXCOST_1$|^oc_.*@@ONNXCOST_1$|^ONNXCOST_1/' >"$work/log"
[ ! -s "$work/log" ]; passed $? 'the library of the wheel has no other public symbols' "$(head -n 3 "$work/log")"

# ---- installation
title='the wheel installs in a fresh environment without network'
if ! $python -c 'import ensurepip' 2>/dev/null; then
    skip "$title" 'no python3-venv'
    finish
fi
# --system-site-packages: onnx, numpy and pandas are there; --copies: the interpreter is below this folder
$python -m venv --copies --system-site-packages "$work/venv" >"$work/log" 2>&1 &&
    "$work/venv/bin/pip" --disable-pip-version-check install --no-index --no-compile "$work/first/$wheel" >>"$work/log" 2>&1
passed $? "$title" "$(tail -n 3 "$work/log")"
here=$work/venv/bin/python3
# data of another installation next to the interpreter
mkdir -p "$work/venv/share/onnxcost/hwdb"
cp hwdb/hwdb.rng "$work/venv/share/onnxcost/hwdb"
version=$(cd "$work" && $here -c 'import onnxcost; print(onnxcost.__version__)' 2>&1)
[ "onnxcost $version" = "$("$BUILD/onnxcost" --version)" ]; passed $? 'the package has the version of the program' "$version"
$here - "$work/venv" >"$work/log" 2>&1 <<'END'
import base64, csv, glob, hashlib, sys
(path,) = glob.glob(sys.argv[1] + "/lib/python3*/site-packages/onnxcost-*.dist-info/RECORD")
root = path[:path.index("onnxcost-")]
listed = [row for row in csv.reader(open(path)) if row[1] and "dist-info" not in row[0]]
for name, digest, size in listed:
    data = open(root + name, "rb").read()
    found = "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    if found != digest or len(data) != int(size):
        print(name)
wanted = ("onnxcost/py.typed", "onnxcost/hwdb/nvidia-ampere.xml", "onnxcost/hwdb/hwdb.rng", "onnxcost/libonnxcost.so.1")
print(*[name for name in wanted if name not in [row[0] for row in listed]])
END
result 'the files are those of its record' "$(grep . "$work/log")"

# ---- sources
$python - >"$work/log" 2>&1 <<'END'
import ast, glob
for path in glob.glob("build/python/onnxcost/*.py") + glob.glob("src/python/*.py"):
    ast.parse(open(path).read(), path, feature_version=(3, 9))
END
passed $? 'the sources are valid in Python 3.9' "$(tail -n 3 "$work/log")"
$here tests/support/python_layouts.py "$CC" src "$work" >"$work/log" 2>&1
[ ! -s "$work/log" ]; passed $? 'structs and constants are those of the C compiler' "$(head -n 5 "$work/log")"

# ---- results
for model in resnet18 resnet50 mobilenetv2 vgg16 vit_b_16 bert_base gpt2 distilbert t5_decoder crnn deepspeech2_lstm keyword_gru \
    resnet18_qdq resnet18_dynamic mobilenetv2_qoperator squeezenet1_1 densenet121 efficientnet_b0 yolov8n unet; do
    "$BUILD/onnxzoo" $model -o "$work/zoo/$model.onnx"
done
"$BUILD/onnxzoo" llama --size 1b -o "$work/llama.onnx"
sed 's|/conv1/Conv|<b>\&"x"</b>|g' "$work/zoo/resnet18.onnx" >"$work/<i>hostile.onnx"
"$BUILD/onnxzoo" chain --nodes 100000 -o "$work/chain.onnx"
cp models/profiles/*.gz models/profiles/*.onnx models/profiles/machine.t1.xml "$work"
head -c 4096 "$work/zoo/resnet50.onnx" >"$work/truncated.onnx"
ln -s truncated.onnx "$work/bad.xml.onnx"
printf '<?xml version="1.0"?>\n<hardware>\n<device>\n' >"$work/bad.xml"
# an operator without a rule
sed 's/\x04Relu/\x04Rulu/' "$work/zoo/resnet18.onnx" >"$work/unknown.onnx"
$here tests/support/python_package.py "$PWD/$BUILD/onnxcost" "$work" >"$work/out" 2>"$work/err"
status=$?
while read -r line; do
    case $line in
    'ok - '*) n=$((n + 1)); echo "ok $n - ${line#ok - }" ;;
    'not ok - '*) n=$((n + 1)); bad=1; echo "not ok $n - ${line#not ok - }" ;;
    *) echo "$line" ;;
    esac
done <"$work/out"
passed $status 'the tests of the package ran' "$(tail -n 5 "$work/err")"
title='src/doc/python.md shows what Python prints'
if $here -c 'import onnx, numpy, pandas' 2>/dev/null; then
    mkdir "$work/page"
    for file in zoo/resnet50.onnx zoo/resnet18.onnx llama.onnx truncated.onnx resnet50.disabled.t1.json.gz resnet50.all.t1.json.gz machine.t1.xml; do
        ln -s "$work/$file" "$work/page"
    done
    page=$PWD/src/doc/python.md
    (cd "$work/page" && $here -m doctest "$page") >"$work/log" 2>&1 && [ "$(grep -c '^>>>' "$page")" -gt 25 ]
    passed $? "$title" "$(head -n 20 "$work/log")"
else
    skip "$title" 'no package onnx, numpy or pandas'
fi
finish
