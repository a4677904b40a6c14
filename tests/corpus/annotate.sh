#!/bin/sh
# Annotated real models (--annotate) compute the same outputs on ONNX Runtime as the models (make corpus). Prints TAP.
# BUILD=build/<mode>
cd "$(dirname "$0")/../.." || exit 1
: "${BUILD:=build/release}"
export NODE_PATH="${NODE_PATH:-$PWD/build/corpus/node_modules}"
if [ ! -d "$NODE_PATH/onnxruntime-node" ]; then
    echo "SKIPPED: no onnxruntime-node in '$NODE_PATH' (make corpus installs it)"
    exit 77
fi
out=$BUILD/annotated.onnx
tab=$(printf '\t')
n=0 failed=0
while IFS=$tab read -r id model _ binds; do
    case "$id" in '' | '#'*) continue ;; esac
    model=$(dirname "$(dirname "$NODE_PATH")")/${model#build/}
    [ -e "$model" ] || continue
    n=$((n + 1))
    shapes=$(echo "$binds" | tr "$tab" '\n' | sed -n 's/^shape:\(.*\)=$/\1=scalar/p; t; s/^shape://p')
    "$BUILD/onnxcost" "$model" --annotate "$out" -f csv >/dev/null 2>&1
    # shellcheck disable=SC2086 # a list
    result=$(node tests/corpus/annotate.js "$model" "$out" $shapes 2>&1)
    case "$result" in
    *'same '*outputs) echo "ok $n - $id: $result" ;;
    *)
        echo "not ok $n - $id: $result"
        failed=1
        ;;
    esac
done <tests/corpus/models.tsv
rm -f "$out"
echo "1..$n"
exit $failed
