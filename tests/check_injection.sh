#!/bin/sh
# Names from models, profiles, data files and arguments are escaped on a terminal: no control characters (C0, C1), no line
# ends, no bidirectional controls, no invalid UTF-8; in HTML and Markdown no markup either. Every command and format is run
# on a model and profiles with such names. Prints TAP.
# CSV is data: its cells keep the bytes of names, quoted.
# modes: release
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
: "${BUILD:=build/release}"
export ONNXCOST_HWDB="${ONNXCOST_HWDB:-$PWD/hwdb}"
work=$BUILD/injection
rm -rf "$work"
mkdir -p "$work"
program=$PWD/$BUILD/onnxcost zoo=$PWD/$BUILD/onnxzoo top=$PWD
cd "$work" || exit 1
unset NO_COLOR COLUMNS
export LC_ALL=C
check() { # title problems (may contain hostile text)
    result "$1" "$(printf '%s' "$2" | head -n "${SHOW:-6}" | cut -c 1-400 | cat -v)"
}

# ---- hostile input
# in a JSON string; the names of the model (models/zoo_hostile.c) also contain bytes that are not UTF-8
json='\u001b[31m\u001b]0;EVIL\u0007\u009b31m\nEVIL\r\nEVIL\u0085\u2028EVIL\u202e\u2066\u200f\u007f\b</script><img/src=x>|`'
esc=$(printf '\033[31m\302\233\342\200\256\n\rEVIL\377')
"$zoo" hostile -o h.onnx
"$zoo" hostile -o nul.onnx
sed -i 's/\(conv\|relu\|matmul\|unknown\)\x1b/\1\x00/g' nul.onnx # names of nodes: in names of values they are rejected
"$zoo" crnn -o plain.onnx
# models for memory plans and text generation: names of the same length
"$zoo" resnet18 -o clean.onnx
sed 's/layer/\x1b[2J\n/g; s/batch/b\xe2\x80\xae1/g; s/input/\xc2\x9b31m/g; s/relu/\xff\r\x07\x9b/g' clean.onnx >resnet.onnx
"$zoo" llama --size toy -o clean.onnx
sed 's/layers/\x1b[2J\n\r/g; s/batch/b\xe2\x80\xae1/g; s/proj/\xc2\x9b1m/g' clean.onnx >llama.onnx
cp h.onnx "m$esc.onnx"

event() { # cat name op dur ts
    printf '{"cat":"%s","pid":1,"tid":1,"dur":%s,"ts":%s,"ph":"X","name":"%s","args":{"op_name":"%s","provider":"%s","node_index":"0","input_type_shape":[{"float":[1,3,8,8]}],"output_type_shape":[{"float":[1,4,8,8]}]}}' \
        "$1" "$4" "$5" "$2" "$3" "P$json"
}
{
    printf '[\n'
    event Session model_run x 900 100
    printf ',\n'
    event Node "conv${json}_kernel_time" "Conv" 300 110
    printf ',\n'
    event Node "other${json}_kernel_time" "Op$json" 200 450
    printf ']\n'
} >ort.json
printf '{"traceEvents":[{"ph":"M","name":"process_name","pid":1,"args":{"name":"p%s"}},{"ph":"X","cat":"c%s","name":"n%s","pid":1,"tid":1,"ts":1,"dur":5,"args":{"k%s":"v%s"}},{"ph":"X","cat":"c","name":"m%s","pid":1,"tid":1,"ts":7,"dur":5}]}\n' \
    "$json" "$json" "$json" "$json" "$json" "$json" >chrome.json
printf 'name,type,time_us\r\n"conv%s",Conv,5\r\n"x%s","T%s",7\r\n' "$esc" "$esc" "$esc" >generic.csv
xml=$(printf '\302\233m\342\200\256\342\201\246EVIL')
sed "s/name=\"k/name=\"k$xml/; s/domain=\"/domain=\"$xml/" "$top/hwdb/op-rules/example.xml" >rules.xml
sed "s/class=\"/class=\"$xml/" "$top/hwdb/kernel-names/example.xml" >names.xml
sed "s/metric=\"/metric=\"$xml/; s/pattern=\"/pattern=\"$xml/" "$top/hwdb/budget/example.xml" >budget.xml
mkdir hwdb
sed -E "s/(title|section|note|vendor|sku)=\"/\\1=\"$xml/; s/<device id=\"[^\"]*\" name=\"/&$xml/" "$top/hwdb/amd.xml" >hwdb/amd.xml
sed "s/id=\"/id=\"$xml/; s/name=\"/name=\"$xml/" "$top/hwdb/intel.xml" >hw.xml

# ---- checks
commands=0
forbidden() { # file: prints lines with forbidden bytes
    grep -anP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xd8\x9c|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]' "$1"
    grep -an '^[[:space:]]*EVIL' "$1"
    iconv -f UTF-8 -t UTF-8 "$1" >/dev/null 2>iconv.err || cat iconv.err
}
# arguments...: both output streams are checked
check_clean() {
    commands=$((commands + 1))
    timeout 600 "$program" "$@" >out 2>err </dev/null
    rc=$?
    problem=$(forbidden out; forbidden err)
    [ $rc -lt 90 ] || problem="exit code $rc
$problem"
    [ -s out ] || [ -s err ] || problem="no output
$problem"
    [ -z "$problem" ] || problems="${problems}onnxcost $(printf '%s ' "$@" | cut -c 1-150): $problem
"
}
begin() {
    problems=
}

begin
for m in h.onnx nul.onnx "m$esc.onnx" resnet.onnx llama.onnx; do
    for options in '' --megengine=style=grid --megengine=confluence --megengine=dump-only-opr --top=0 --group-by=type --group-by=module --group-by=signature \
        --hw=epyc-7742 --strict --formula --convention=torch --verbose '--what-if=conv=2x --hw=epyc-7742'; do
        # shellcheck disable=SC2086 # an empty option must not be an argument
        check_clean "$m" $options
    done
    for f in json md model-explorer netron; do check_clean "$m" -f $f; done
    check_clean "$m" --hw epyc-7742 --advise
    check_clean "$m" -d "$(printf 'b\342\200\2561')=1..4+1"
    check_clean diff "$m" --convention torch --convention fvcore
    check_clean estimate "$m" --hw epyc-7742 --hw epyc-7763 --batch 1,2
    check_clean memory "$m"
    check_clean providers "$m" --provider qnn+tensorrt+cpu
    check_clean memory "$m" --plan plan.out
    check_clean memory "$m" --fit --hw a100-sxm4-80gb
    check_clean memory "$m" -f json
    check_clean llm "$m" --prompt 8 --generate 4 --hw epyc-7742
    check_clean estimate "$m" --hw epyc-7742
    check_clean scan "$m"
    check_clean scan "$m" -f ndjson
    check_clean diff "$m" plain.onnx
    check_clean diff plain.onnx "$m"
    for f in json md; do check_clean diff "$m" plain.onnx -f $f; done
    check_clean check "$m" --max macs=1
    for f in md json junit sarif; do check_clean check "$m" --max macs=1 -f $f; done
    check_clean record "$m" --runs 1
    check_clean summary "$m"
done
check_clean scan .
check 'models: terminal output is escaped' "$problems"

begin
for p in ort.json chrome.json generic.csv; do
    for options in '' --top=0 --megengine=show-host --group-by=type --group-by=module --megengine=style=grid --explain-match --explain-match=c --verbose; do
        # shellcheck disable=SC2086 # an empty option must not be an argument
        check_clean $p $options
        # shellcheck disable=SC2086
        check_clean h.onnx -p $p $options
    done
    check_clean h.onnx -p $p -f json
    check_clean h.onnx -p $p -f md
    check_clean h.onnx -p $p --hw epyc-7742 --advise
    check_clean diff h.onnx -p $p,$p -p ort.json
    check_clean h.onnx -p $p -f trace
    check_clean h.onnx -p $p -f model-explorer
    check_clean summary $p
    check_clean summary $p ort.json
    check_clean summary $p -f json
    check_clean calibrate h.onnx $p --hw epyc-7742
    check_clean calibrate h.onnx $p --hw epyc-7742 --check
    check_clean diff h.onnx -p $p -p ort.json
    check_clean check h.onnx -p $p --max latency=1us
done
check 'profiles: terminal output is escaped' "$problems"

begin
check_clean h.onnx --op-rules rules.xml
check_clean hw lint hw.xml
check_clean hw lint hwdb/amd.xml
whole=$ONNXCOST_HWDB
ONNXCOST_HWDB=hwdb
check_clean hw list
check_clean hw show epyc-7742
check_clean hw diff epyc-7742 epyc-7763
check_clean h.onnx --hw epyc-7742
check_clean estimate h.onnx --hw epyc-7742 --hw epyc-7763
check_clean --version --verbose
cp hw.xml hwdb
check_clean hw list
ONNXCOST_HWDB=$whole
check_clean check h.onnx --budget budget.xml
check_clean h.onnx -p ort.json --kernel-names names.xml
check_clean estimate h.onnx --hw epyc-7742 --calibration hw.xml
for o in hw hw-set shape dim filter order-by group-by convention format print-only what-if as op-rules profile \
    baseline budget calibration columns select style explain-match sweep; do
    check_clean h.onnx "--$o=$esc"
    check_clean h.onnx "--$o" "$xml"
done
check_clean "$esc"
check_clean "no$esc.onnx"
check_clean help "$esc"
check_clean hw show "$esc"
check_clean hw diff "$esc" "$esc"
check_clean completion "$esc"
check_clean schema "$esc"
check_clean scan "no$esc"
check_clean diff "$esc" "$esc"
check_clean h.onnx -o "no$esc/no"
check_clean h.onnx "--no$esc"
check 'data files, arguments and paths: terminal output is escaped' "$problems"

# ---- formats for other programs
page() { # file: prints lines with unescaped markup
    grep -anE '<img|</script><' "$1"
    forbidden "$1"
}
begin
"$program" h.onnx -p ort.json --hw epyc-7742 --advise -f html >page.html 2>err
problems=$(page page.html)
"$program" diff h.onnx plain.onnx -f html >diff.html 2>err
problems=$problems$(page diff.html)
for c in 'memory h.onnx' 'memory resnet.onnx' 'memory llama.onnx --count allocator=ort' 'summary ort.json' \
    'summary chrome.json ort.json' 'scan .' 'estimate h.onnx --hw epyc-7742 --hw epyc-7763' 'estimate h.onnx --hw epyc-7742' \
    'llm llama.onnx --prompt 8 --hw epyc-7742'; do
    # shellcheck disable=SC2086
    "$program" $c -f html >command.html 2>err
    grep -q '</html>' command.html || problems="$problems$c: $(cat err)"
    problems=$problems$(page command.html)
done
"$program" memory "m$esc.onnx" -f html >command.html 2>err
problems=$problems$(page command.html)
check 'HTML contains no markup from names' "$problems"

begin
"$program" h.onnx -p ort.json -f md >out.md 2>err
problems=$(sed 's/<code>[^<]*<\/code>//g; s/`[^`]*`//g' out.md | grep -aE '<img|javascript:|</script')
check 'Markdown contains no markup from names' "$problems"

if command -v node >/dev/null || command -v python3 >/dev/null; then
    begin
    for c in 'h.onnx' 'h.onnx -p ort.json' 'memory h.onnx' 'summary ort.json' 'diff h.onnx plain.onnx'; do
        # shellcheck disable=SC2086
        "$program" $c -f json >out.json 2>err
        if command -v node >/dev/null; then
            node -e 'JSON.parse(require("fs").readFileSync("out.json", "utf8"))' 2>err || problems="$problems$c: $(cat err)"
        else
            python3 -c 'import json; json.load(open("out.json", encoding="utf-8"))' 2>err || problems="$problems$c: $(cat err)"
        fi
    done
    grep -q 'u009b31m' out.json || problems="${problems}the names are missing in out.json"
    check 'JSON contains the names, escaped' "$problems"
fi

check 'more than 250 commands were run' "$([ $commands -gt 250 ] || echo "only $commands")"
finish
