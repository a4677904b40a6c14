#!/bin/sh
# The operator lists of execution providers are valid against the schema; the schema rejects what the reader rejects; and
# what a list says is what the command says. Prints TAP.
# modes: release
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
: "${BUILD:=build/release}"
onnxcost=$PWD/$BUILD/onnxcost
work=$BUILD/providers
rm -rf "$work"
mkdir -p "$work"
lists=hwdb/providers

validate() { # file: prints the problems
    xmllint --nonet --noout --relaxng $lists/providers.rng "$1" 2>&1 | grep -v ' validates$'
}
if ! command -v xmllint >/dev/null 2>&1; then
    result 'schema' 'xmllint is missing (package libxml2-utils)'
    echo "1..$n"
    exit 1
fi
for file in "$lists"/*.xml tests/fuzz/seeds/providers/*.xml; do result "$file is valid" "$(validate "$file")"; done
"$BUILD/onnxzoo" resnet18 -o "$work/resnet18.onnx"
while IFS='|' read -r rule edit; do
    sed "$edit" tests/fuzz/seeds/providers/all.xml >"$work/edited.xml"
    cmp -s tests/fuzz/seeds/providers/all.xml "$work/edited.xml" && result "schema: $rule" 'the edit has no effect'
    case $(validate "$work/edited.xml") in
    *'fails to validate'*) result "schema: $rule" '' ;;
    *) result "schema: $rule" 'accepted' ;;
    esac
    "$onnxcost" providers "$work/resnet18.onnx" --provider "$work/edited.xml" >/dev/null 2>"$work/err"
    [ $? -eq 3 ] && grep -q 'edited.xml.: line ' "$work/err"; passed $? "reader: $rule" "$(cat "$work/err")"
done <<'EDITS'
version must be known|s/version="1"/version="2"/
a provider has a name|s/ name="TestExecutionProvider"//
a provider has a source|s/source="a list"//
opsets are a range|s/opset="7-25"/opset="7"/
unknown attributes are rejected|s/ groups="yes"/ group="yes"/
unknown elements are rejected|s/<needs input="1"/<need input="1"/
slots are numbers|s/host-in="1"/host-in="one"/
limits are integers|s/min="0"/min="a"/
EDITS

# an installation without the lists: the program finds hwdb next to it
mkdir -p "$work/installed/hwdb" && cp "$onnxcost" "$work/installed/" && cp hwdb/hwdb.rng "$work/installed/hwdb/"
for arguments in "providers" "providers $work/resnet18.onnx --provider cuda"; do
    # shellcheck disable=SC2086 # several words
    "$work/installed/onnxcost" $arguments >"$work/out" 2>"$work/err"
    rc=$?
    [ $rc -gt 1 ] && [ ! -s "$work/out" ] && grep -q 'the folder hwdb/providers is missing: install' "$work/err"
    passed $? "missing lists are reported: ${arguments%% *} ${arguments##* }" "exit code $rc: $(cat "$work/err")"
done
rm -r "$work/installed"

# every list can be read and assigned, and every node of the model is somewhere
model=tests/data/torch_export/encoder.onnx
for file in "$lists"/*.xml; do
    id=$(basename "$file" .xml)
    "$onnxcost" providers "$model" --provider "$id,cpu" -f json -o "$work/$id.json" 2>"$work/err" ||
        [ "$id" = cpu ]; passed $? "$id is read" "$(cat "$work/err")"
done
"$onnxcost" providers "$model" --provider cuda -f csv -o "$work/nodes.csv" &&
    "$onnxcost" providers "$model" --provider CUDAExecutionProvider -f csv | cmp -s - "$work/nodes.csv"
passed $? 'the name in ONNX Runtime names the list' "$(head -n 2 "$work/nodes.csv")"
"$onnxcost" providers "$model" --provider cude+cpu >/dev/null 2>"$work/err"
[ $? -eq 2 ] && grep -q "did you mean 'cuda'" "$work/err"; passed $? 'a misspelled name gets a suggestion' "$(cat "$work/err")"
"$onnxcost" providers "$model" --provider cpu+cpu >/dev/null 2>"$work/err"
[ $? -eq 2 ] && grep -q 'twice' "$work/err"; passed $? 'a repeated name is rejected' "$(cat "$work/err")"

# counted again from the rows of nodes and from the list itself
python3 - "$onnxcost" "$work" "$lists" <<'END' >"$work/rules" 2>&1
import csv, io, json, re, subprocess, sys
from xml.etree import ElementTree
onnxcost, work, lists = sys.argv[1:4]
problems = []
for model, order in (("resnet18.onnx", "webnn,cpu"), ("bert_base.onnx", "coreml,cpu"), ("gpt2.onnx", "qnn,cuda,cpu")):
    path = work + "/" + model
    subprocess.run([onnxcost[:-8] + "onnxzoo", model[:-5], "-o", path])
    run = [onnxcost, "providers", path, "--provider", order, "-f"]
    report = json.loads(subprocess.run(run + ["json"], capture_output=True, text=True).stdout)
    rows = list(csv.DictReader(io.StringIO(subprocess.run(run + ["csv"], capture_output=True, text=True).stdout)))
    if len(rows) != report["nodes_that_run"] or len(rows) != len(report["nodes"]):
        problems.append(f"{model}: {len(rows)} rows, {report['nodes_that_run']} nodes run")
    for side, column in (("if_conditions_hold", "provider"), ("if_no_condition_holds", "provider_otherwise")):
        for p in report[side]["providers"]:
            own = [r for r in rows if r[column] == (p["provider"] or "")]
            if len(own) != p["nodes"]:
                problems.append(f"{model}: {side} {p['provider']}: {len(own)} rows, {p['nodes']} nodes")
            if sum(int(r["macs"] or 0) for r in own) != p["macs"]:
                problems.append(f"{model}: {side} {p['provider']}: MACs differ")
            if side == "if_conditions_hold" and p["provider"] and len({r["partition"] for r in own}) != p["partitions"]:
                problems.append(f"{model}: {p['provider']}: partitions differ")
    if sum(f["nodes"] for f in report["fallbacks"]) != sum(bool(r["falls_back_from"]) for r in rows):
        problems.append(f"{model}: fallbacks differ")
    text = subprocess.run(run[:-1], capture_output=True, text=True).stdout
    text = re.sub(r" \((at least )?[0-9.]+ \w+\)", "", " ".join(text.split()))
    both = [", ".join("{from} to {to} {tensors}".format(**t) for t in report[side]["transfers"]) or "none"
            for side in ("if_conditions_hold", "if_no_condition_holds")]
    both = both if any(r["decided"] == "0" for r in rows) else both[:1]
    if " transfers " + " if every condition that is not decided holds; if none does: ".join(both) + " nodes " not in text:
        problems.append(f"{model}: the text has no transfers {both}")
    first = order.split(",")[0]
    listed = {(o.get("domain", ""), o.get("name")) for o in ElementTree.parse(f"{lists}/{first}.xml").iter("op")}
    for r in rows:
        if ((r["domain"], r["type"]) in listed) == (r["reason"] == "not in the list"):
            problems.append(f"{model}: {r['name']}: {r['type']} {r['reason']}")
print("\n".join(problems[:5]))
END
result 'totals are those of the nodes, and nodes those of the list' "$(cat "$work/rules")"
finish
