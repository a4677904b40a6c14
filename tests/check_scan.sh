#!/bin/sh
# Scans of many models: one row per model in every case; interrupted, in parts. Prints TAP.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
top=$PWD
: "${BUILD:=build/release}"
work=$BUILD/scan
rm -rf "$work"
mkdir -p "$work/bin" "$work/m/sub"
ln -s "$PWD/$BUILD/onnxcost" "$PWD/$BUILD/onnxzoo" "$work/bin"
samples=$PWD/../shared/samples
nodes=
for dir in /usr/share/libonnx-testdata/data/node /usr/lib/python3/dist-packages/onnx/backend/test/data/node; do
    [ -d "$dir" ] && nodes=$dir && break
done
"$BUILD/onnxzoo" resnet18 -o "$work/m/resnet18.onnx"
"$BUILD/onnxzoo" mobilenetv2 -o "$work/m/sub/mobilenet.onnx"
cd "$work" || exit 1
export PATH="$PWD/bin:$PATH"
unset NO_COLOR COLUMNS
expect_eq() { # title expected actual
    result "$1" "$([ "$2" = "$3" ] || echo "expected '$2', got '$3'")"
}
paths() { # of NDJSON rows
    sed 's/^{"path":"\([^"]*\)".*/\1/' "$1"
}
# rows without the members that differ between runs
plain() {
    sed 's/"seconds":[^,]*,//' "$1"
}

# ---- one row per model
cp m/resnet18.onnx m/copy.onnx
printf 'no model' >m/garbage.onnx
: >m/empty.onnx
head -c 5000 m/resnet18.onnx >m/cut.onnx
ln -s . m/sub/loop
onnxcost scan m -f ndjson -j 2 >rows 2>err
expect_eq 'error rows give exit code 1' 1 $?
expect_eq 'error rows are counted in one line' 'onnxcost: warning: 3 of 6 models could not be analysed' "$(cat err)"
expect_eq 'rows are sorted by path' 'm/copy.onnx m/cut.onnx m/empty.onnx m/garbage.onnx m/resnet18.onnx m/sub/mobilenet.onnx' "$(paths rows | tr '\n' ' ' | sed 's/ $//')"
result 'error row has message, code and offset' "$(grep '"m/cut.onnx"' rows | grep -q '"macs":null.*"error":"cannot read .*"error_code":"format".*"error_offset":[0-9]' || grep cut.onnx rows)"
expect_eq 'duplicate names the first file' '"m/copy.onnx"' "$(grep '^{"path":"m/resnet18.onnx"' rows | sed 's/.*"duplicate_of":\([^,]*\),.*/\1/')"
want=$(onnxcost m/resnet18.onnx -f json | sed -n '/"totals"/,/}/s/^ *"macs": \([0-9]*\),$/\1/p' | head -n 1)
expect_eq 'numbers equal those of the report' "$want" "$(grep '^{"path":"m/copy.onnx"' rows | sed 's/.*"macs":\([0-9]*\),.*/\1/')"
onnxcost scan m/resnet18.onnx m/sub/mobilenet.onnx >table 2>err
expect_eq 'without errors the exit code is 0' '0 ' "$? $(cat err)"
expect_eq 'table ends with a count' '2 models, 0 errors, 0 duplicates' "$(tail -n 1 table)"
onnxcost scan m/copy.onnx m/resnet18.onnx m/empty.onnx 2>err >table
expect_eq 'count of one error and one duplicate' '3 models, 1 error, 1 duplicate' "$(tail -n 1 table)"
onnxcost scan m/resnet18.onnx >table
expect_eq 'count of one model' '1 model, 0 errors, 0 duplicates' "$(tail -n 1 table)"
onnxcost scan m -f csv 2>/dev/null | tr -d '\r' >rows.csv
expect_eq 'CSV has a header and a row per model' 7 "$(grep -c . rows.csv)"
onnxcost scan m -f json 2>/dev/null >rows.json
result 'JSON is one object' "$(python3 -c 'import json; d = json.load(open("rows.json")); assert d["schema"] == "onnxcost.scan" and len(d["rows"]) == 6 and d["errors"] == 3' 2>&1)"

# ---- options
ratios() {
    onnxcost scan m/resnet18.onnx m/sub/mobilenet.onnx -f csv "$@" 2>/dev/null | sed 1d | cut -d , -f 14
}
expect_eq 'dimensions apply to every model that has them' '3 3 ' "$(ratios >a; ratios -d batch=3 -d unused=7 >b; paste a b | awk '{ printf "%s ", $2 / $1 }')"
printf 'm/resnet18.onnx\n\nm/sub\n' | onnxcost scan --files-from - -f ndjson >rows2 2>err
expect_eq 'paths are read from standard input' 'm/resnet18.onnx m/sub/mobilenet.onnx' "$(paths rows2 | tr '\n' ' ' | sed 's/ $//')"
find m -name 'resnet*' -print0 | onnxcost scan --files-from - -f ndjson >rows2 2>err
expect_eq 'paths separated by null characters are read' m/resnet18.onnx "$(paths rows2)"
expect_eq 'empty list is accepted' '0 ' "$(onnxcost scan --files-from - -f ndjson </dev/null 2>&1; echo "$? ")"
onnxcost scan 2>err
expect_eq 'scan without arguments is an error' 2 $?
onnxcost scan m/gone.onnx -f ndjson >rows2 2>err
expect_eq 'missing file is an error row' '1 io' "$? $(sed 's/.*"error_code":"\([a-z]*\)".*/\1/' rows2)"

# ---- models without an ONNX file: the cache of the Hugging Face Hub, folders of models, unrelated files
python3 - <<'PY'
import json, os, pathlib, struct

CONFIG = {"model_type": "llama", "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2,
          "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 100, "torch_dtype": "float16"}
LAYER = {"self_attn.q_proj": (64, 64), "self_attn.k_proj": (32, 64), "self_attn.v_proj": (32, 64), "self_attn.o_proj": (64, 64),
         "mlp.gate_proj": (128, 64), "mlp.up_proj": (128, 64), "mlp.down_proj": (64, 128),
         "input_layernorm": (64,), "post_attention_layernorm": (64,)}


def safetensors(tensors):
    at, header = 0, {}
    for name, shape in tensors.items():
        size = 2
        for n in shape:
            size *= n
        header[name] = {"dtype": "F16", "shape": shape, "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + bytes(at)


hub = pathlib.Path("hub/models--o--tiny")
shot = hub / "snapshots/0123abcd"
shot.mkdir(parents=True)
(hub / "blobs").mkdir()


def put(name, content):
    blob = hub / "blobs" / f"b{len(list(hub.glob('blobs/*')))}"
    blob.write_bytes(content)
    os.symlink(f"../../blobs/{blob.name}", shot / name)


shards = [{"model.embed_tokens.weight": (100, 64), "lm_head.weight": (100, 64), "model.norm.weight": (64,)}, {}]
for i in range(2):
    shards[i].update({f"model.layers.{i}.{k}.weight": v for k, v in LAYER.items()})
names = [f"model-{i + 1:05}-of-00002.safetensors" for i in range(2)]
put("config.json", json.dumps(CONFIG).encode())
for name, tensors in zip(names, shards):
    put(name, safetensors(tensors))
put("model.safetensors.index.json", json.dumps(
    {"metadata": {}, "weight_map": {t: n for n, tensors in zip(names, shards) for t in tensors}}).encode())
put("consolidated.safetensors", safetensors(shards[0]))
put("tokenizer_config.json", b"{}")
for folder, files in {"only_config": {"config.json": json.dumps(CONFIG)}, "other": {"config.json": '{"a": 1}'},
                      "with_onnx": {"config.json": json.dumps(CONFIG), "m.onnx": ""}}.items():
    pathlib.Path("hub", folder).mkdir()
    for name, text in files.items():
        pathlib.Path("hub", folder, name).write_text(text)
parts = pathlib.Path("hub/parts")
parts.mkdir()
for i in (1, 2):
    (parts / f"x-{i:05}-of-00002.gguf").write_bytes(b"GGUF")
PY
onnxcost scan hub -f ndjson >rows 2>err
expect_eq 'model in several files is one row, and config.json is one where nothing else is the model' \
    'hub/models--o--tiny/snapshots/0123abcd/model.safetensors.index.json hub/only_config/config.json hub/parts/x-00001-of-00002.gguf hub/with_onnx/m.onnx' \
    "$(paths rows | tr '\n' ' ' | sed 's/ $//')"
# embedding and last layer 2*100*64, last norm 64, 2 layers of 2*64*64 + 2*32*64 + 3*128*64 + 2*64
expect_eq 'files that are links to blobs of the cache are read' "$((12800 + 64 + 2 * 36992))" \
    "$(grep '0123abcd' rows | sed 's/.*"params":\([0-9]*\),.*/\1/')"
rm -r hub/models--o--tiny/blobs/b1
ln -s ../../outside hub/models--o--tiny/blobs/b1
cp m/resnet18.onnx outside
expect_eq 'link that leaves the folder of the model is not followed' io \
    "$(onnxcost scan hub/models--o--tiny -f ndjson 2>/dev/null | sed 's/.*"error_code":"\([a-z]*\)".*/\1/')"

# ---- profiles next to their models
mkdir pair
onnxzoo resnet18 -o pair/resnet18.onnx >/dev/null
cp "$top/models/profiles/resnet18.all.t1.json.gz" pair
result 'operators of a profile have the MACs of the model next to it' "$(onnxcost scan pair --profiles --rows nodes -f csv 2>&1 | python3 -c '
import csv, json, subprocess, sys
rows = list(csv.DictReader(sys.stdin))
found = sum(int(r["macs"] or 0) for r in rows)
right = json.loads(subprocess.run(["onnxcost", "pair/resnet18.onnx", "-f", "json"], capture_output=True).stdout)["totals"]["macs"]
if not found == right or any(r["error"] for r in rows):
    print(found, right, len(rows), rows[:1])' 2>&1)"

# ---- a model that exceeds the memory limit
onnxzoo chain --nodes 100000 -o m/a_large.onnx
case $BUILD in
*release*)
    # shellcheck disable=SC3045 # dash supports it, as do other shells installed as sh
    (ulimit -v 40000 && onnxcost scan m -f ndjson -j 2) >rows 2>err
    expect_eq 'out of memory costs one row' '1 memory' "$? $(sed -n 's/^{"path":"m\/a_large.*"error_code":"\([a-z]*\)".*/\1/p' rows)"
    expect_eq 'out of memory does not affect other rows' 3 "$(grep -c '"error":null' rows)"
    ;;
*) skip_named 'out of memory costs one row' 'a sanitizer needs more memory than the limit' ;;
esac
rm m/a_large.onnx

# ---- interrupted
mkdir -p many
onnxzoo chain --nodes 30000 -o long.onnx
for i in $(seq 1 40); do ln -s ../long.onnx "many/$i.onnx"; done
python3 - <<'PY' 2>err
import os, signal, subprocess, sys, time
p = subprocess.Popen(['onnxcost', 'scan', 'many', '-j', '1', '-f', 'ndjson'], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
def workers():
    found = []
    for d in filter(str.isdigit, os.listdir('/proc') if os.path.exists('/proc/self') else []):
        try:
            with open('/proc/' + d + '/stat') as f:
                if int(f.read().rpartition(')')[2].split()[1]) == p.pid: found.append(int(d))
        except OSError: pass
    return found
found = []
while p.poll() is None and not found and os.path.exists('/proc/self'):
    found = workers()
time.sleep(0.02)
for pid in found: os.kill(pid, signal.SIGSEGV)
err = p.communicate()[1].decode()
sys.stderr.write(err)
sys.exit(77 if not found else 0 if p.returncode == 1 and ': the analysis crashed (1 of 40 models did)' in err else 1)
PY
code=$?
case $code in
77) skip_named 'crash of a worker is a row and a warning' 'no worker was found' ;;
*) expect_eq 'crash of a worker is a row and a warning' 0 $code ;;
esac
# the output is complete or not there, whatever the format and the signal
for how in csv:INT html:TERM ndjson:HUP table:HUP parquet:TERM ndjson:KILL parquet:KILL; do
    format=${how%:*} signal=${how#*:}
    for there in yes no; do
        rm -f "stop.$format"
        [ $there = no ] || echo old >"stop.$format"
        python3 - "$format" "SIG$signal" <<'PY' 2>err
import signal, subprocess, sys, time
form, number = sys.argv[1], getattr(signal, sys.argv[2])
p = subprocess.Popen(['onnxcost', 'scan', 'many', '-j', '1', '-f', form, '-o', 'stop.' + form], stderr=subprocess.PIPE)
def catches():  # whether the program has its handler already
    try:
        with open('/proc/%d/status' % p.pid) as f:
            return any(l.startswith('SigCgt:') and int(l.split()[1], 16) & 1 << signal.SIGINT - 1 for l in f)
    except OSError:
        return p.poll() is not None or time.sleep(1) is None
while p.poll() is None and not catches():
    time.sleep(0.005)
time.sleep(0.05)
p.send_signal(number)
err = p.communicate()[1].decode()
sys.stderr.write(err)
explained = number == signal.SIGKILL or 'stopped after' in err and 'is as it was' in err
sys.exit(0 if p.returncode == -number and explained else 77 if p.returncode == 0 else 1)
PY
        code=$?
        if [ $code = 77 ]; then skip_named "$how: output as it was ($there)" 'the scan ended before the signal'; continue; fi
        now=$(cat "stop.$format" 2>/dev/null)
        result "$how: output as it was, there before: $there" "$([ $code = 0 ] && case $there in yes) [ "$now" = old ] ;; no) [ ! -e "stop.$format" ] ;; esac || { cat err; ls -l stop.*; })"
        [ "$signal" = KILL ] && rm -f "stop.$format".??????
    done
done
left=$(find . -maxdepth 1 -name 'stop.*.??????')
result 'no temporary file remains' "$left"

# ---- many
if [ -n "$nodes" ]; then
    set -- "$nodes"
    [ -d "$samples" ] && set -- "$@" "$samples"
    onnxcost scan "$@" -j 2 -f ndjson >rows 2>err
    code=$?
    files=$(find "$@" -name '*.onnx' | wc -l)
    expect_eq 'every model of the node tests has a row' "$files" "$(wc -l <rows)"
    result 'there are at least 900 models' "$([ "$files" -ge 900 ] || echo "$files")"
    result 'no model crashes' "$(grep -E '"error_code":"(crash|memory)"' rows)"
    expect_eq 'all node tests are analyzed' 0 $code
    [ -d "$samples" ] || skip_named 'samples' 'SKIPPED: ../shared/samples is missing'
else
    skip_named 'the node tests' 'package libonnx-testdata is missing'
fi

# ---- the GNU parallel command of the documentation
recipe=$(sed -n '/ -print0 |$/,/ parallel -0 /p' "$top/src/doc/examples.md")
if parallel --version 2>/dev/null | grep -q '^GNU parallel'; then
    mv m models
    for i in $(seq 1 1100); do echo "ln models/resnet18.onnx models/more$i.onnx"; done | sh
    ( PARALLEL=--will-cite; export PARALLEL; eval "${recipe%%>*}" ) >parts.ndjson 2>err # more files than one call accepts
    onnxcost scan models -f ndjson --hash all >whole.ndjson 2>err2
    for f in parts whole; do plain $f.ndjson | sed 's/"duplicate_of":[^,]*,//' | sort >$f; done
    result 'GNU parallel: parts give the same rows as one scan' "$(cmp parts whole 2>&1; [ "$(wc -l <whole)" -gt 1000 ] || wc -l whole)"
else
    skip_named 'GNU parallel' 'package parallel is missing'
fi
finish
