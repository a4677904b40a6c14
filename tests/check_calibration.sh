#!/bin/sh
# Calibration files are valid against the schema; schema and reader reject the same mistakes, and the schema lists all
# kernel classes. A file that is read and written again is unchanged. Prints TAP.
# modes: release
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
: "${BUILD:=build/release}"

validate() { # file: prints the problems
    xmllint --nonet --noout --relaxng hwdb/calibration.rng "$1" 2>&1 || echo "exit code $?"
}

if ! command -v xmllint >/dev/null 2>&1; then
    result 'schema' 'xmllint is missing (package libxml2-utils)'
    echo "1..$n"
    exit 1
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
seed=tests/fuzz/seeds/calibration/curves.xml
for file in tests/fuzz/seeds/calibration/*.xml; do
    result "$file is valid" "$(validate "$file" | grep -v ' validates$')"
done

# The installed example.
shipped=hwdb/calibrations/xeon-2-threads
result 'installed calibration is valid' "$(validate $shipped.onnxruntime.xml | grep -v ' validates$')"
result 'device of the installed calibration is valid' "$("$BUILD/onnxcost" hw lint $shipped.xml | grep -v ' 0 problems$')"

# A calibration from the recordings of the repository.
BUILD=$BUILD tests/make_zoo.sh "$work/zoo" >/dev/null
{
    echo profile,model,optimized,id,warmup
    for model in resnet50 mobilenetv2 bert_base; do
        echo "$PWD/models/profiles/$model.all.t1.json.gz,$work/zoo/$model.onnx,$PWD/models/profiles/$model.all.optimized.onnx,$model,1"
    done
} >"$work/list.csv"
out=$("$BUILD/onnxcost" calibrate "$work/list.csv" --hw xeon-platinum-8480-plus -o "$work/cal.xml" 2>&1 >/dev/null)
result 'calibrate writes a file' "$out"
result 'the written calibration is valid' "$(validate "$work/cal.xml" | grep -v ' validates$')"
again=$("$BUILD/onnxcost" estimate "$work/zoo/resnet50.onnx" --hw xeon-platinum-8480-plus --calibration "$work/cal.xml" \
    --format csv 2>&1 | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "evidence") k = i } NR > 1 { seen[$k]++ }
        END { for (e in seen) print e, seen[e] }')
result 'estimate finds the calibrated kernels as exact evidence' "$(printf '%s\n' "$again" | grep -q '^exact' || echo "evidence: $again")"

# The share of the recorded time that the fusion plan predicts.
for model in resnet50 mobilenetv2 bert_base; do
    share=$("$BUILD/onnxcost" estimate "$work/zoo/$model.onnx" --hw xeon-platinum-8480-plus --format json \
        -p "models/profiles/$model.all.t1.json.gz" --optimized-model "models/profiles/$model.all.optimized.onnx" |
        sed -n 's/.*"equal_time_fraction": *\([0-9.]*\).*/\1/p')
    result "fusion plan of $model equals the recording" "$(awk -v s="${share:-0}" 'BEGIN { if (s < 0.99) print "share of the time: " s }')"
done

while IFS='|' read -r rule edit; do
    sed "$edit" $seed >"$work/edited.xml"
    cmp -s $seed "$work/edited.xml" && result "schema: $rule" 'the edit has no effect'
    case $(validate "$work/edited.xml") in
    *'fails to validate'*) result "schema: $rule" '' ;;
    *) result "schema: $rule" 'accepted' ;;
    esac
    "$BUILD/onnxcost" estimate "$work/zoo/resnet50.onnx" --hw xeon-platinum-8480-plus --calibration "$work/edited.xml" \
        >/dev/null 2>"$work/stderr"
    rc=$?
    result "reader: $rule" "$([ $rc -eq 3 ] && grep -q 'edited.xml.: line [0-9]' "$work/stderr" || { echo "exit code $rc"; cat "$work/stderr"; })"
done <<'EDITS'
version must be known|s/version="5"/version="6"/
calibration must have a device|s/ device="[^"]*"//
unknown classes are rejected|s/class="gemm"/class="gem"/
unknown types are rejected|s/dtype="f32"/dtype="float"/
unknown kinds are rejected|s/kind="curve"/kind="line"/
operator codes must be numbers|s/ peak="\([^"]*\)"/ peak="\1" ops="1 x"/
flags must be yes or no|s/ec-known="yes"/ec-known="true"/
numbers must be numeric|s/ ec="0.5"/ ec="half"/
ids must have sixteen digits|s/id="0/id="/
half-widths must be three|s/d80="[0-9.]* /d80="/
unknown attributes are rejected|s/<run /<run tao="1" /
unknown elements are rejected|s/<kernel /<kernels /
EDITS

names=$(sed -n '/^} classes\[\] = {/,/^};/p' src/estimate/kernel_class.c | grep -oE '"[a-z0-9_]+"' | tr -d '"')
problems=$(for name in $names; do
    grep -q "<value>$name</value>" hwdb/calibration.rng || echo "the schema lacks $name"
done)
[ "$(printf '%s\n' "$names" | wc -l)" -ge 25 ] || problems="only $(printf '%s\n' "$names" | wc -l) names were found"
result 'schema lists all classes' "$problems"
finish
