#!/bin/sh
# Exit codes, messages, and output that is complete or absent. Prints TAP.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
: "${BUILD:=build/release}"
work=$BUILD/output
rm -rf "$work"
mkdir -p "$work"
onnxcost=$PWD/$BUILD/onnxcost
"$BUILD/onnxzoo" resnet18 -o "$work/model.onnx"
cd "$work" || exit 1
unset NO_COLOR COLUMNS
# expect CODE 'pattern of the one line on stderr' title command...
expect() {
    want=$1 pattern=$2 title=$3
    shift 3
    "$@" >out 2>err </dev/null
    code=$?
    [ "$code" -eq "$want" ] && [ "$(wc -l <err)" -le 1 ] && grep -qE -- "$pattern" err
    passed $? "$title" "exit code $code (not $want), stderr: $(head -c 300 err)"
}
expect_quiet() { # the same with empty stderr
    want=$1 title=$2
    shift 2
    "$@" >out 2>err </dev/null
    code=$?
    [ "$code" -eq "$want" ] && [ ! -s err ]
    passed $? "$title" "exit code $code (not $want), stderr: $(head -c 300 err)"
}

# ---- usage
expect_quiet 0 'version' "$onnxcost" --version
expect_quiet 0 'help' "$onnxcost" --help
expect_quiet 0 'help as a command' "$onnxcost" help
expect_quiet 0 'operators' "$onnxcost" ops
expect_quiet 0 'schema' "$onnxcost" schema
expect 2 "takes no argument, not 'memory'" 'schema takes no argument' "$onnxcost" schema memory
expect_quiet 0 'hardware' "$onnxcost" hw list
expect 2 "no file is given" 'no arguments' "$onnxcost"
expect 2 "unknown option '--nonsense'" 'unknown option' "$onnxcost" --nonsense
expect 2 "unknown option '--max-'; did you mean '--max'[?]" 'options are never abbreviated: the nearest is offered' "$onnxcost" check model.onnx --max- 700
expect 2 "unknown option '--input'; use .*--shape" 'the start of --input-dtype is not --input-dtype' "$onnxcost" model.onnx --input 1x3x8x8
options=$("$onnxcost" help options | sed -n 's/^ *\(-., \)*--\([a-z0-9-]*\).*/\2/p')
taken=$(for name in $options; do # without its last letter, unless that is an option itself
    printf '%s\n' "$options" | grep -qx -- "${name%?}" ||
        "$onnxcost" schema "--${name%?}" 2>&1 >/dev/null </dev/null | grep -q 'unknown option' || echo "$name"
done)
[ "$(printf '%s\n' "$options" | wc -l)" -gt 80 ] && [ "$(printf '%s\n' "$options" | sort -u | wc -l)" -le 100 ] && [ -z "$taken" ]
passed $? 'at most 100 options, none is taken without its last letter' "$(printf '%s\n' "$options" | wc -l) options, taken: $taken"
expect 2 "--dim needs a value: --dim NAME=N" 'missing value' "$onnxcost" model.onnx --dim
expect 2 "unknown value 'yaml' for --format; did you mean '[a-z]*'[?] Valid: table, " 'wrong choice' "$onnxcost" model.onnx --format yaml
expect 2 'is a format of .*, not of this command; valid: table, ' 'format of another command' "$onnxcost" hw list --format md
expect 2 'needs an integer' 'wrong number' "$onnxcost" model.onnx --top many
expect 2 'batch' 'unknown dimension lists the known ones' "$onnxcost" model.onnx --dim nonsense=1
expect 2 'needs NAME=N' 'malformed --dim' "$onnxcost" model.onnx --dim batch=x
expect 2 'needs INPUT=' 'malformed --shape' "$onnxcost" model.onnx --shape input=1x
expect 2 'needs INPUT=' 'negative --shape' "$onnxcost" model.onnx --shape input=-1x3
expect 2 'no such|unknown|nonsense' 'unknown hardware' "$onnxcost" model.onnx --hw nonsense
expect 2 "--dim is an option of" 'option of another command' "$onnxcost" ops --dim a=1
expect 2 "unknown column 'nonsense' for --order-by; valid: time, " 'unknown order' "$onnxcost" model.onnx --order-by nonsense
expect 2 'needs NAME=' 'malformed list of sizes' "$onnxcost" model.onnx -d batch=1,
expect 2 'needs NAME=' 'endless range' "$onnxcost" model.onnx -d 'batch=1..9*1'
expect 2 'needs NAME=' 'too many sizes' "$onnxcost" model.onnx -d batch=1..1000000+1
expect 2 'one at a time' '--formula with a list of sizes' "$onnxcost" model.onnx --formula -d batch=1,2
expect 2 '--top does not go with --formula' '--formula with --top' "$onnxcost" model.onnx --formula --top 3
expect 2 "no dimension is named 'nonsense'" 'sweep of an unknown dimension' "$onnxcost" model.onnx -d nonsense=1,2
expect 2 'opr-name|expression|pattern' 'broken expression' "$onnxcost" model.onnx --opr-name '('

../onnxzoo bert_base -o bert.onnx
expect 2 "open dimensions: 'batch' 'sequence'\$" 'each symbolic dimension is listed once' "$onnxcost" bert.onnx --dim seq=384
printf '[{"cat" : "Session","pid" :1,"tid" :1,"dur" :9,"ts" :1,"ph" : "X","name" :"model_run","args" : {}},
{"cat" : "Node","pid" :1,"tid" :1,"dur" :5,"ts" :2,"ph" : "X","name" :"a_kernel_time","args" : {"op_name" : "Relu","input_type_shape" : [{"float":[2]}]}}]
' >profile.json
expect 2 "unknown convention 'nonsense'; valid: mge, " 'unknown convention lists the known ones' "$onnxcost" model.onnx --convention nonsense
expect 2 'unknown profile format' 'unknown profile format without a profile' "$onnxcost" model.onnx --profile-format nonsense
expect 2 'number of runs' 'negative --warmup without a profile' "$onnxcost" model.onnx --warmup -1
expect 2 'needs NODE=N' 'malformed --trip' "$onnxcost" model.onnx --trip x
expect 2 'needs a model' 'sizes without a model' "$onnxcost" profile.json --dim x=1
expect 2 'needs a model and its profile' 'optimized model without a profile' "$onnxcost" model.onnx --optimized-model model.onnx
expect 2 'kernel start times' 'kernel times that the source lacks' "$onnxcost" profile.json --megengine top-end-key=kern
expect 0 'W-short-operators' 'element type by its usual name' "$onnxcost" profile.json -f csv --input-dtype float32
[ "$(wc -l <out)" -eq 2 ]; passed $? 'element type by its usual name: one row' "$(cat out)"
"$onnxcost" model.onnx -p profile.json --optimized-model model.onnx >out 2>err
grep -q '1 of the 1 operators of the profile are not in the optimized model' out
passed $? 'optimized model of another model is a warning' "$(grep warnings out)"

# ---- input
: >empty.onnx
echo 'hello, world' >text.onnx
echo '{"what": "is this"}' >unknown.json
printf "\012\300\001\002\000\377" >trace.pftrace
printf '\377\376\375\374' >noise.onnx
expect 3 "cannot read 'missing.onnx'" 'missing file' "$onnxcost" missing.onnx
expect 3 "cannot read 'empty.onnx'" 'empty file' "$onnxcost" empty.onnx
mkdir -p emptydir
expect 3 "'emptydir' is a directory without a profile" 'directory' "$onnxcost" emptydir
expect 3 "cannot read 'text.onnx'" 'text file' "$onnxcost" text.onnx
expect 3 "cannot read 'noise.onnx'" 'noise' "$onnxcost" noise.onnx
expect 3 "cannot read 'unknown.json': text of no known profile format: it begins '.\"what\": .*onnxcost help profiles lists" 'unknown profile: how it begins, and where the formats are listed' "$onnxcost" unknown.json
expect 2 "unknown command 'profile'; use onnxcost record MODEL --report" 'a command of other tools' "$onnxcost" profile model.onnx
expect 3 "'trace.pftrace': this is a Perfetto trace.*traceconv json" 'a Perfetto trace' "$onnxcost" summary trace.pftrace
expect 3 "cannot read 'missing.json'" 'missing profile' "$onnxcost" model.onnx --profile missing.json
expect 3 "cannot read 'empty.onnx'" 'empty profile' "$onnxcost" model.onnx --profile empty.onnx
size=$(wc -c <model.onnx)
worst=
for i in $(seq 1 63); do
    head -c $((size * i / 64)) model.onnx >cut.onnx
    "$onnxcost" cut.onnx >out 2>err </dev/null
    code=$?
    # a cut between two fields of the outermost message leaves a smaller valid file
    { [ "$code" -eq 3 ] && [ "$(wc -l <err)" -eq 1 ] && grep -q "cannot read 'cut.onnx'.*offset" err; } || worst="$worst $i:$code"
done
[ -z "$worst" ]
passed $? 'model truncated at every 1/64 of its length is an error with an offset' "part:exit code$worst"
expect 3 "cannot read 'nested.onnx'.*" '10,000 nested If are an error' sh -c "../onnxzoo nest --depth 10000 -o nested.onnx && '$onnxcost' nested.onnx"

# ---- output
expect_quiet 0 'output file' "$onnxcost" model.onnx -o report.txt
[ -s report.txt ]; passed $? 'output file is written' 'no report.txt'
expect_quiet 0 'output file again' "$onnxcost" model.onnx -f json -o report.txt
head -n 1 report.txt | grep -q '^{'; passed $? 'output file is replaced' "$(head -n 1 report.txt)"
echo old >kept.txt
expect 3 "cannot read 'missing.onnx'" 'failure with an output file' "$onnxcost" missing.onnx -o kept.txt
[ "$(cat kept.txt)" = old ]; passed $? 'failure leaves the old file unchanged' "$(head -c 100 kept.txt)"
expect 4 "cannot write 'no/such/dir'" 'output into a missing folder' "$onnxcost" model.onnx -o no/such/dir
expect 4 "cannot write '\.'" 'output onto a folder' "$onnxcost" model.onnx -o .
if [ -c /dev/full ]; then
    expect 4 'cannot write .*No space left' 'full disk on standard output' sh -c "'$onnxcost' model.onnx >/dev/full"
    expect 4 "cannot write '/dev/full'.*No space left" 'full disk by name' "$onnxcost" model.onnx -o /dev/full
    expect 4 'cannot write .*No space left' 'full disk for --version' sh -c "'$onnxcost' --version >/dev/full"
fi
# a file size limit simulates a disk that fills up while writing; SIGXFSZ is ignored so that write fails
expect 4 "cannot write 'limited.json'" 'disk fills up while writing' \
    sh -c "trap '' XFSZ; ulimit -f 8; exec '$onnxcost' model.onnx -f json -o limited.json"
[ ! -e limited.json ]; passed $? 'no partial file remains' "$(ls -l limited.json 2>&1)"
! ls limited.json.* >/dev/null 2>&1; passed $? 'no temporary file remains' "$(ls)"
expect 4 'cannot write' 'closed standard output' sh -c "'$onnxcost' model.onnx >&-"
# the exit code of the first command of a pipe, through a file: sh has no PIPESTATUS
( "$onnxcost" model.onnx -f json --top 0; echo $? >code ) 2>err | head -c 1 >/dev/null
[ "$(cat code)" -eq 4 ] && [ ! -s err ]; passed $? 'closed pipe: exit code 4 and no message' "exit code $(cat code), stderr: $(head -c 200 err)"

# ---- the environment: descriptors, standard input without a name, terminals
# shellcheck disable=SC3045 # dash supports it, as do other shells installed as sh
expect 4 'Too many open files' 'no descriptors for workers' sh -c "ulimit -n 4; exec '$onnxcost' scan model.onnx bert.onnx -j 2"
if python3 -c 'import sqlite3' 2>/dev/null; then
    python3 -c 'import sqlite3; c = sqlite3.connect("a.sqlite"); c.execute("create table CUPTI_ACTIVITY_KIND_KERNEL(x)"); c.commit()'
    expect 3 "cannot read 'a.sqlite': .* has no column" 'SQLite by name' "$onnxcost" summary a.sqlite
    expect 3 "cannot read '-': .* has no column" 'SQLite through a pipe' sh -c "cat a.sqlite | '$onnxcost' summary -"
    expect 3 "cannot read '-': .* has no column" 'SQLite as standard input' sh -c "'$onnxcost' summary - <a.sqlite"
else
    skip 'SQLite through a pipe' 'no python3 with sqlite3'
fi
if command -v script >/dev/null && script -qec true /dev/null >out 2>&1 </dev/null; then
    for format in parquet xlsx; do
        script -qec "'$onnxcost' model.onnx -f $format" /dev/null >out 2>&1 </dev/null
        case $format in parquet) script -qec "'$onnxcost' scan model.onnx -f $format" /dev/null >out 2>&1 </dev/null ;; esac
        grep -q "format $format is binary: give --output FILE" out; passed $? "$format does not go to a terminal" "$(head -c 200 out)"
    done
else
    skip 'binary formats do not go to a terminal' 'no program script'
fi

# ---- weights that cannot be read are not absent
weights() { # name, pattern of the message; the file of weights on standard input, next to a good config.json
    rm -rf weights
    mkdir weights
    echo '{"model_type":"llama","hidden_size":64,"intermediate_size":128,"num_hidden_layers":2,"num_attention_heads":4,"vocab_size":100}' >weights/config.json
    cat >weights/model.safetensors
    for how in llm cost; do
        expect 3 "cannot read 'weights/model.safetensors': $2" "broken weights: $1 ($how)" "$onnxcost" $how weights
    done
}
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n' >w.bin
weights 'Git LFS pointer' 'this is a Git LFS pointer.*git lfs pull' <w.bin
echo '<!DOCTYPE html><html></html>' >w.bin
weights 'HTML page' 'this is an HTML page' <w.bin
printf '\0\0\0\0\0\1\0\0{}' >w.bin
weights 'header of 2^40 bytes' 'a safetensors header of 1099511627776 bytes' <w.bin
printf '\5\0\0\0\0\0\0\0[1,2]' >w.bin
weights 'header that is an array' 'the safetensors header must be an object of tensors' <w.bin
weights 'empty file' 'a safetensors header of 0 bytes' </dev/null
head -c 100 /dev/zero >w.bin
weights 'zeros' 'a safetensors header of 0 bytes' <w.bin
ln -sf nowhere weights/model.safetensors
expect 3 "cannot read 'weights/model.safetensors': No such file" 'link to weights that are not there' "$onnxcost" llm weights
mv weights/model.safetensors weights/x
printf 'version https://git-lfs.github.com/spec/v1\n' >weights/a.safetensors
echo '{"weight_map":{"t":"a.safetensors"}}' >weights/model.safetensors.index.json
expect 3 'a.safetensors: this is a Git LFS pointer' 'pointer in an index' "$onnxcost" llm weights
echo '[]' >weights/model.safetensors.index.json
expect 3 'the index is damaged' 'damaged index' "$onnxcost" llm weights

# ---- no output replaces a file that the command reads
top=$OLDPWD
# FILE NAME command...: the file must stay, also where the output is a link to it or another name of it
keeps() {
    file=$1
    shift
    problem=
    cp "$file" before
    for name in "$file" link.out hard.out; do
        rm -f link.out hard.out
        ln -s "$file" link.out
        ln "$file" hard.out
        # shellcheck disable=SC2086 # the words of OUTPUT
        "$onnxcost" "$@" $OUTPUT $name >out 2>err </dev/null
        code=$?
        cmp -s "$file" before && cmp -s hard.out before && [ -L link.out ] && [ "$code" -eq 2 ] && [ "$(wc -l <err)" -eq 1 ] ||
            problem="$problem $name: exit code $code, $(head -c 200 err)"
        cp before "$file"
    done
    rm -f link.out hard.out
    result "'$file' stays: $* $OUTPUT" "$problem"
}
rm -rf models
mkdir models
cp model.onnx models/a.onnx
cp model.onnx b.onnx
head -c 1000 model.onnx >model.onnx.data # the weights that the model names
set -- "$top"/models/profiles/*.json.gz
cp "$1" profile.json.gz
cp "$top/hwdb/amd.xml" device.xml
cp "$top/hwdb/budget/"*.xml . 2>/dev/null
echo models/a.onnx >list.txt
echo '{"model_type":"llama","hidden_size":64,"intermediate_size":128,"num_hidden_layers":2,"num_attention_heads":4,"num_key_value_heads":2,"vocab_size":100}' >config.json
OUTPUT=-o
keeps model.onnx model.onnx -f json
keeps model.onnx.data model.onnx
keeps model.onnx diff model.onnx --convention onnxcost --convention thop
keeps model.onnx estimate model.onnx --hw t4 --hw l4
keeps model.onnx estimate model.onnx --hw t4
keeps model.onnx memory model.onnx
keeps model.onnx providers model.onnx --provider cuda+cpu
keeps model.onnx check model.onnx --max macs=1T
keeps b.onnx diff model.onnx b.onnx
keeps model.onnx model.onnx --formula
keeps profile.json.gz -p profile.json.gz -f csv
keeps profile.json.gz summary profile.json.gz
keeps device.xml model.onnx --hw device.xml
keeps device.xml hw lint device.xml
keeps config.json llm config.json
keeps models/a.onnx scan models
keeps models/a.onnx scan models -f csv
keeps models/a.onnx scan models -f parquet
keeps models/a.onnx scan models --rows nodes -f csv
keeps list.txt scan --files-from list.txt
cp model.onnx.data models/model.onnx.data
cp model.onnx models/model.onnx
keeps models/model.onnx.data scan models
OUTPUT=--plan
keeps model.onnx memory model.onnx
OUTPUT=--annotate
keeps model.onnx model.onnx
OUTPUT='--plan two.json -o'
keeps model.onnx memory model.onnx
expect 2 'has just written it' 'two outputs to one file' sh -c "ln -sf two.json three.json; '$onnxcost' memory model.onnx -f json --plan two.json -o three.json"
cp model.onnx summary.md
expect 2 'reads this file' 'step summary that is an input' env GITHUB_STEP_SUMMARY=summary.md "$onnxcost" check summary.md --max macs=1T -f github
cmp -s model.onnx summary.md; passed $? 'it stays' "$(ls -l summary.md)"
expect_quiet 0 'a baseline is updated' sh -c "'$onnxcost' check model.onnx --save-baseline base.xml && '$onnxcost' check model.onnx --baseline base.xml --save-baseline base.xml"
finish
