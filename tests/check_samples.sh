#!/bin/sh
# Every recorded model in ../shared/samples: no unknown operator, inferred types equal those recorded by ONNX Runtime.
# Without the samples: exit code 77, skipped.
cd "$(dirname "$0")/.." || exit 1
: "${BUILD:=build/release}"
samples=../shared/samples
list=tests/data/recorded_shapes.tsv
if [ ! -d $samples/onnxruntime ]; then
    echo "SKIPPED: no samples in '$samples'"
    exit 77
fi
# The list must contain each model, and each profile of a model. ppocrv4_*: models of the corpus (make corpus).
missing=
for file in $(find $samples -name '*.onnx') $(grep -l output_type_shape $samples/onnxruntime/*.json); do
    case "$file" in
    */ppocrv4_*.json | *.synthetic.json) continue ;;
    esac
    grep -qF "$file	" $list || missing="$missing $file"
done
"$BUILD/oracle/recorded_shapes" $list
rc=$?
if [ -n "$missing" ]; then
    echo "not ok 0 - missing in the list:$missing"
    exit 1
fi
exit $rc
