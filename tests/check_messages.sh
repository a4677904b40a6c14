#!/bin/sh
# Mistakes that users make (tests/data/mistakes.tsv): the exit code, and that the first line on standard error says
# what failed, where, and what to do. Prints TAP.
# usage: tests/check_messages.sh        BUILD=build/<mode>
#
# A row: exit code, what, where, what to do, command; separated by tabs. The three texts are parts of the line.
# modes: release
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
: "${BUILD:=build/release}"
work=$BUILD/mistakes
top=$PWD
table=$top/tests/data/mistakes.tsv

# The files that the commands name: models and profiles, and what people take for them.
make_files() {
    rm -rf "$work"
    mkdir -p "$work/bin" "$work/empty" || exit 1
    ln -s "$top/$BUILD/onnxcost" "$work/bin/onnxcost"
    "$BUILD/onnxzoo" resnet18 -o "$work/m.onnx" && "$BUILD/onnxzoo" resnet50 -o "$work/m50.onnx" &&
        "$BUILD/onnxzoo" resnet18_dynamic -o "$work/d.onnx" || exit 1
    for name in resnet18:p resnet50:p50 bert_base:bert; do
        cp "models/profiles/${name%:*}.all.t1.json.gz" "$work/${name#*:}.gz"
    done
    cd "$work" || exit 1
    gzip -c m.onnx >m.onnx.gz
    printf 'PK\003\004\024\000\000\000m/data.pkl' >m.pt
    printf 'PK\003\004\024\000\000\000m/constants.pkl' >ts.pt
    printf 'PK\003\004\024\000\000\000arr_0.npy' >m.npz
    printf 'PK\003\004\024\000\000\000config.json' >m.keras
    printf '\200\004\225\000\000' >m.pkl
    printf '\034\000\000\000TFL3\000\000' >m.tflite
    printf '\211HDF\r\n\032\n' >m.h5
    printf 'GGUF\003\000\000\000' >m.gguf
    printf '\040\000\000\000\000\000\000\000{"w":{"dtype":"F32"}}' >m.safetensors
    printf '\040\000\000\000ORTM' >m.ort
    printf '\3757zXZ\000\000' >m.xz
    printf '\050\265\057\375\000' >m.zst
    printf 'BZh91AY' >m.bz2
    { head -c 257 /dev/zero && printf 'ustar'; } >m.tar
    printf 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 46\n' >lfs.onnx
    printf '<!DOCTYPE html>\n<html><title>404</title></html>\n' >page.onnx
    printf '{"error":"Repository not found"}\n' >err.onnx
    printf 'ir_version: 8\nproducer_name: "x"\n' >text.onnx
    printf 'ftrt\001\002\003\004' >m.engine
    printf '\001\002\003\004\005\006' >m.nsys-rep
    printf 'NVR\000\001' >m.ncu-rep
    printf '\177ELF\002\001\001' >lib.so
    printf '<?xml version="1.0"?>\n<net name="m" version="11"/>\n' >ir.xml
    printf 'just some notes\n' >notes.txt
    : >empty.onnx
    onnxcost m.onnx -f json >r.json 2>/dev/null || exit 1
    onnxcost check m.onnx --save-baseline base.xml --max macs=4G >/dev/null || exit 1
}

tab=$(printf '\t')
PATH=$top/$work/bin:$PATH
export ONNXCOST_HWDB="$top/hwdb" COLUMNS=120 TERM=dumb LC_ALL=C
make_files

# Each part that the first line on standard error lacks; what the command printed then.
check_row() {
    sh -c "$command" >/dev/null 2>stderr </dev/null
    code=$?
    line=$(head -n 1 stderr)
    missing=
    [ "$code" = "$want" ] || missing="exit code $code, not $want"
    for part in "$what" "$where" "$todo"; do
        case $line in
        *"$part"*) ;;
        *) missing="$missing
no '$part'" ;;
        esac
    done
    [ -z "$missing" ] || printf '%s\nin: %s\n' "$missing" "$line"
}

while IFS=$tab read -r want what where todo command; do
    case $want in '' | '#'*) continue ;; esac
    result "$command" "$(check_row)"
done <"$table"
passed "$([ "$n" -ge 180 ] && echo 0 || echo 1)" 'there are at least 180 mistakes' "$n"
finish
