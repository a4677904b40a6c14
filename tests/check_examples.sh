#!/bin/sh
# Every example of the help and of the manual pages works as printed, with files of the names that it uses. Prints TAP.
# modes: release
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
: "${BUILD:=build/release}"
work=$PWD/$BUILD/examples
rm -rf "$work"
mkdir -p "$work/bin" "$work/files/models" "$work/files/recordings" "$work/files/traces"
ln -s "$PWD/$BUILD/onnxcost" "$work/bin/onnxcost"
export PATH="$work/bin:$PATH" LC_ALL=C COLUMNS=120 ONNXCOST_HWDB="$PWD/hwdb"
unset NO_COLOR

# ---- the files of the examples
zoo() { "$BUILD/onnxzoo" "$1" -o "$work/files/$2.onnx"; }
zoo resnet50 resnet50 && zoo bert_base bert && zoo mobilenetv2 mobilenetv2 && zoo resnet18 resnet18
"$BUILD/onnxzoo" llama --size 1b -o "$work/files/decoder.onnx"
cp tests/fuzz/seeds/decoder/dense.json "$work/files/config.json"
cp tests/fuzz/seeds/gguf/llama.gguf "$work/files/model.gguf"
profiles=models/profiles
cp $profiles/resnet50.all.t1.json.gz "$work/files/trace.json.gz"
gzip -dc $profiles/resnet50.all.t1.json.gz >"$work/files/profile.json"
for name in resnet18 mobilenetv2; do
    gzip -dc $profiles/$name.all.t1.json.gz >"$work/files/$name.profile.json"
done
cp $profiles/machine.t1.xml "$work/files/here.xml"
cp hwdb/calibrations/xeon-2-threads.onnxruntime.xml "$work/files/here.cal.xml"
sed -n '/^<hwdb/,/^<\/hwdb/p' src/man/onnxcost-hwdb.5 >"$work/files/my.xml"
sed -n '/^<budget/,/^<\/budget/p' src/man/onnxcost-budget.5 >"$work/files/budget.xml"
sed -n '/^<op-rules/,/^<\/op-rules/p' src/man/onnxcost-rules.5 >"$work/files/rules.xml"
sed -n '/^<kernel-names/,/^<\/kernel-names/p' src/man/onnxcost-profiles.5 >"$work/files/names.xml"
cd "$work/files" || exit 1
for name in ort_profile a b; do cp profile.json $name.json; done
cp resnet50.onnx model.onnx && cp mobilenetv2.onnx new.onnx && cp resnet18.onnx old.onnx
cp here.xml mine.xml && cp here.cal.xml mine.cal.xml && cp here.cal.xml there.cal.xml
cp resnet50.onnx before.onnx && cp resnet18.onnx after.onnx && cp a.json before.json && cp b.json after.json
for i in 1 2 3; do cp a.json a$i.json && cp b.json b$i.json; done
cp resnet18.onnx mobilenetv2.onnx models
cp ./*.profile.json resnet18.onnx mobilenetv2.onnx recordings
cp ./*.profile.json traces
cp resnet18.onnx huge.onnx && onnxcost check model.onnx --save-baseline baseline.xml >/dev/null
cd ..

try() { # where command line
    where=$1
    line=$2
    why=
    case $line in
    *'hw measure --probe'*) why='it needs ONNX Runtime: tests/check_measure.sh' ;;
    *'hw measure'*) line="$line --quick" ;; # 20 seconds otherwise
    *'onnxcost record '* | *'onnxcost bisect '* | *'onnxcost tune '*) why='it needs ONNX Runtime: tests/check_record.sh' ;;
    *PROFILE* | *RECORDING* | *...*) why='a pattern, not a command' ;;
    esac
    if [ -n "$why" ]; then
        skip "$where: $line" "$why"
        return
    fi
    rm -rf place && cp -al files place
    (cd place && timeout 600 sh -c "$line") >out 2>err </dev/null
    code=$?
    # exit code 1 is an answer of check and --fit
    case $line in *' check '* | *--fit*) [ $code -eq 1 ] && code=0 ;; esac
    if [ $code -eq 0 ] && ! grep -v '^onnxcost: warning: ' err | grep -q .; then
        result "$where: $line" ''
    else
        result "$where: $line" "exit code $code, $(grep -v '^onnxcost: warning: ' err | head -n 2)"
    fi
}

# ---- the help
commands=$(onnxcost help options | sed -n 's/^\(usage:\)\{0,1\} *onnxcost \([a-z]*\)\( .*\)\{0,1\}$/\2/p' | sort -u)
for command in $commands; do
    # shellcheck disable=SC2086 # an empty command adds no argument
    onnxcost help $command | sed -n '/^Examples/,/^$/s/^  \(onnxcost .*\)/\1/p' | sed 's/   *[^ ].*//; s/ *$//' >"lines.$command"
    if [ ! -s "lines.$command" ] && [ "$command" != cost ]; then
        result "help $command" 'no examples'
    fi
done
onnxcost help cost | sed -n '/^Examples/,/^$/s/^  \(onnxcost .*\)/\1/p' | sed 's/   *[^ ].*//; s/ *$//' >lines.cost
cat lines.* | sort -u >lines
while read -r line; do try help "$line"; done <lines

# ---- the manual pages, and the files that they show
cd ../../.. || exit 1
for page in src/man/*.[157]; do
    sed -n '/^\.SH EXAMPLES/,$s/^\.B \(onnxcost .*\)/\1/p' "$page"
done | sort -u >"$work/lines"
cd "$work" || exit 1
while read -r line; do try man "$line"; done <lines
try man 'onnxcost model.onnx --hw my.xml --hw-set clock.boost=1.2GHz --hw-set dram.bandwidth=240GB/s'
try man 'onnxcost check model.onnx --budget budget.xml'
try man 'onnxcost model.onnx -p profile.json --op-rules rules.xml --kernel-names names.xml'
[ "$n" -gt 40 ] || result 'there are examples' "$n"
finish
