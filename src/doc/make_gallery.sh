#!/bin/sh
# The pictures of src/doc/gallery/pictures.tsv: pages of the report and what commands print, as Chromium shows them. Pages and texts
# are those of recorded profiles, so that they change with the program only; rows of the kind `runtime` measure this machine, and
# keep their picture unless ORT_LIBS is a folder with versions of ONNX Runtime (VERSION/libonnxruntime.so.1).
# usage: make gallery      (BUILD=build/<mode>; needs chromium and playwright-core, which `make browser` installs)
#        src/doc/make_gallery.sh --index      prints the lists of src/doc/gallery.md
set -eu
cd "$(dirname "$0")/../.."
: "${BUILD:=build/release}" "${PLAYWRIGHT:=$PWD/build/browser/node_modules/playwright-core}"
list=src/doc/gallery/pictures.tsv
most=2000000 # bytes of all pictures
rows() { grep -v '^#' "$list"; }
tab=$(printf '\t')

if [ "${1:-}" = --index ]; then
    rows | awk -F '\t' '
        function heading(text) { if (text != last) print "\n## " text; last = text }
        $1 == "runtime" || $1 == "terminal" { heading("Commands") }
        $1 == "page" || $1 == "part" { heading("Pages") }
        { print "\n**" $5 "**" ($1 == "part" ? " (part of a page)" : ": `" $6 "`") "\n\n![" $5 "](gallery/" $2 ".png)" }
        END { print "" }'
    exit 0
fi

export PLAYWRIGHT SOURCE_DATE_EPOCH=1767225600 ONNXCOST_HWDB=hwdb COLUMNS=80 LC_ALL=C TERM=xterm-256color
work=$PWD/$BUILD/gallery
rm -rf "$work"
mkdir -p "$work/models" "$work/bin"
ln -s "$PWD/$BUILD/onnxcost" "$PWD/$BUILD/onnxzoo" "$work/bin"
ln -s "$PWD/hwdb" "$work"
export PATH="$work/bin:$PATH"
onnxzoo resnet50 --weights random -o "$work/resnet50.onnx"
for model in bert_base llama; do onnxzoo $model -o "$work/$model.onnx"; done
for model in resnet18 mobilenetv2 squeezenet1_1; do onnxzoo $model -o "$work/models/$model.onnx"; done
cp models/profiles/*.t1.json.gz models/profiles/machine.t1.xml tests/data/paddle/training.paddle_trace.json src/doc/gallery/session.jsonl "$work"
if [ -d "${ORT_LIBS:-}" ]; then
    ln -s "$ORT_LIBS" "$work/versions"
    ONNXRUNTIME_LIB=$(cd "$work" && printf '%s\n' versions/*/libonnxruntime.so.1 | sort -V | tail -n 1)
    export ONNXRUNTIME_LIB
    onnxzoo squeezenet1_1 --weights random -o "$work/squeezenet1_1.onnx"
fi

colored() { # command: with the colours of a terminal; a list of commands has none
    case $1 in *'|'*) echo "$1" ;; *) echo "$1 --color always" ;; esac
}
# The exit code 1 of a check: a limit failed.
rows | while IFS=$tab read -r kind picture of _ _ command; do
    case $kind in
    page) (cd "$work" && sh -c "$command -o $of.html" 2>"$of.err") || [ $? -eq 1 ] || { cat "$work/$of.err" >&2; exit 1; } ;;
    runtime) [ -e "$work/versions" ] || continue ;;
    esac
    case $kind in
    terminal | runtime)
        { echo "$command"; (cd "$work" && sh -c "$(colored "$command")" 2>&1 </dev/null) || [ $? -eq 1 ]; } >"$work/$picture.txt" || {
            cat "$work/$picture.txt" >&2
            exit 1
        }
        ;;
    esac
done
make -s python
(cd "$work" && PYTHONPATH=$OLDPWD/build/python ONNXCOST_LIBRARY=$OLDPWD/$BUILD/libonnxcost.so.1 python3 -c '
import onnxcost as oc
r = oc.analyze("resnet50.onnx", profile="resnet50.disabled.t1.json.gz", hw="machine.t1.xml")
style = "<style>body { font: 13px sans-serif; margin: 0 }</style>"
print("<!DOCTYPE html><meta charset=utf-8>" + style + r._repr_html_())') >"$work/python.html"
node tests/browser/gallery.js "$list" "$work" src/doc/gallery
bytes=$(cat src/doc/gallery/*.png | wc -c)
echo "$(printf '%s\n' src/doc/gallery/*.png | wc -l) pictures, $bytes bytes"
[ "$bytes" -le $most ] || {
    echo "onnxcost: the pictures have $bytes bytes, more than $most" >&2
    exit 1
}
