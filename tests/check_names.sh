#!/bin/sh
# Every name that an output prints selects the rows that print it, in every option that takes a name; what selects
# nothing is an error with the nearest names. Prints TAP.
# usage: tests/check_names.sh        BUILD=build/<mode>
# modes: release
set -u
cd "$(dirname "$0")/.." || exit 1
: "${BUILD:=build/release}"
work=$BUILD/names
rm -rf "$work"
mkdir -p "$work" || exit 1
for model in resnet18 resnet50 gpt2; do
    "$BUILD/onnxzoo" $model -o "$work/$model.onnx" || exit 1
done
BUILD=$BUILD WORK=$work python3 - <<'PYTHON'
import collections, csv, io, json, os, re, subprocess

BIN, WORK, N = os.environ["BUILD"] + "/onnxcost", os.environ["WORK"], 0
MOST = 40


def run(*words):
    return subprocess.run([BIN, *words], capture_output=True, text=True)


def rows_of(*words):
    r = run(*words, "-f", "csv")
    return list(csv.DictReader(io.StringIO(r.stdout))) if r.returncode == 0 else []


def say(problems, title):
    global N
    N += 1
    print(("not ok" if problems else "ok"), N, "-", title)
    for p in problems[:5]:
        print("#", p)


def key(rows):
    return sorted((r["name"], r["type"], r.get("time_ns"), r.get("macs")) for r in rows)


def check(title, case, joined):
    rows, bad = rows_of(*case), collections.defaultdict(list)
    by_name, by_type = collections.defaultdict(list), collections.defaultdict(list)
    for r in rows:
        by_name[r["name"]].append(r)
        by_type[r["type"]].append(r)
    fused = [n for n in by_name if re.search(r" \+\d+$", n)]
    chosen = (fused[:MOST // 2] + [n for n in by_name if n not in fused])[:MOST]
    say([] if len(chosen) > 10 and (fused or not joined) else ["too few"], f"{title}: {len(by_name)} names, {len(fused)} of fused rows")
    for name in chosen:
        want = key(by_name[name])
        if key(rows_of(*case, "--opr-name", name)) != want:
            bad["--opr-name"].append(name)
        if key(rows_of(*case, "--opr-name", re.sub(r"([][\\^$.|?*+(){}])", r"\\\1", name) + "$")) != want:
            bad["--opr-name as an expression"].append(name)
        if joined:
            for option in ("--why=", "--explain-match="):
                r = run(*case, option + name)
                if r.returncode or not r.stdout.startswith(name.rsplit(" +")[0] if option[2] == "e" else ""):
                    bad[option].append(name)
        if "time_ns" in rows[0]:
            step = json.loads(run(*case, "--what-if", name + "=2x", "-f", "json").stdout)["what_if"]["steps"][0]
            time = sum(float(r["time_ns"]) for r in by_name[name])
            if step["rows"] != len(want) or abs(step["before_ns"] - step["after_ns"] - time / 2) > 1:
                bad["--what-if"].append(name)
        for r in by_name[name] if joined else []:
            nodes = [n for n in r["nodes"].split(";") if n]
            for n in [*nodes[-1:], *([r["runtime_name"]] if r["runtime_name"] else [])]:
                if n not in by_name and key(rows_of(*case, "--opr-name", n)) != want:
                    bad["node or runtime's name"].append(f"{n} of {name}")
    for kind in filter(None, by_type):
        if key(rows_of(*case, "--type", kind)) != key(by_type[kind]):
            bad["--type"].append(kind)
    table = [r["name"] for r in rows_of(*case, "--top", "5")]
    for at, name in enumerate(table, 1):
        got = rows_of(*case, "--opr-name", f"#{at}")
        if [r["name"] for r in got] != [name]:
            bad["#N"].append(f"#{at}: {[r['name'] for r in got]}, not {name}")
    tried = ["--opr-name", "--opr-name as an expression", "--type", "#N"]
    tried += ["--why=", "--explain-match=", "node or runtime's name"] if joined else []
    tried += ["--what-if"] if "time_ns" in rows[0] else []
    for option in tried:
        say(bad[option], f"{title}: {option} selects the rows that print the name")


def fails(title, near, *words):
    r = run(*words)
    say([] if r.returncode == 2 and not r.stdout and near in r.stderr else [f"exit {r.returncode}: {r.stderr}{r.stdout[:99]}"], title)


MODEL, PROFILE = WORK + "/resnet18.onnx", "models/profiles/resnet18.all.t1.json.gz"
check("resnet18 with a profile", [MODEL, "-p", PROFILE], True)
check("gpt2 with a profile", [WORK + "/gpt2.onnx", "-p", "models/profiles/gpt2.all.t1.json.gz"], True)
check("a profile alone", [PROFILE], False)
check("a model alone", [MODEL], False)
both = [MODEL, "-p", PROFILE]
for option in ("--opr-name", "--why", "--explain-match"):
    fails(f"{option}: the nearest name is offered", "did you mean '/conv1/Conv +2'", *both, f"{option}=/conv1/Conv +7")
    fails(f"{option}: a part of several names is refused", "is part of", *both, f"{option}=layer1.0/conv")
fails("--what-if: the nearest name is offered", "did you mean '/conv1/Conv +2'", *both, "--what-if", "/conv1/Conv +7=2x")
fails("--type: the nearest type is offered", "did you mean 'Conv'", *both, "--type", "Cnv")
fails("--type and --opr-name that share no row", "for --opr-name", *both, "--type", "Gemm", "--opr-name", "/conv1/Conv +2")
fails("--explain-match in JSON", "for --explain-match", *both, "--explain-match=nothing", "-f", "json")
one = json.loads(run(*both, "--explain-match=/conv1/Conv +2", "-f", "json").stdout)["rows"]
for file, name in ("lines", r"u\?v$"), ("lines", r"line\?\?12$"), ("mixed", "ends with blank$"), ("mixed", r"lead\?and tab$"):
    shown = rows_of(f"tests/data/megengine/{file}.json", "--opr-name", name)
    say([] if len(shown) == 1 else [f"{len(shown)} rows"], f"the name that a table shows is accepted: {name}")
say([] if [r["name"] for r in one if "explanation" in r] == ["/conv1/Conv +2"] else ["others"], "--explain-match in JSON explains one row")
print(f"1..{N}")
PYTHON
