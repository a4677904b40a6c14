#!/usr/bin/env python3
"""Comparisons of real recordings: equal things, and things that were changed, through `record` and `diff`.

comparisons.py BIN record FOLDER --models DIR --library LIB [--older LIB] [--threads 1,2] [--changes] [--load] [--budget 2s]
    records sets into FOLDER: each model twice with the same settings (A/A), or with --changes once as it is and once
    changed (--models has X+NAME.onnx next to X.onnx: an added operator; graph level; --older library; threads);
    --load: a second process keeps a processor busy meanwhile
comparisons.py BIN evaluate FOLDER...
    compares 1, 3 and 5 recordings of each side of every set, in the order in which they were made, and counts the verdicts

The true change of a set is taken from all of its recordings. A change is missed when it is at least twice the smallest
difference that a comparison states, and the verdict does not have its direction; what is inconclusive is counted apart."""
import argparse, glob, json, math, os, subprocess, sys

ROUNDS = 5
SUBSETS = {1: [(0,), (1,), (2,), (3,), (4,)], 3: [(0, 1, 2), (2, 3, 4)], 5: [(0, 1, 2, 3, 4)]}


def run(command, **more):
    return subprocess.run(command, capture_output=True, text=True, **more)


def record(o):
    load = subprocess.Popen(["sh", "-c", "while :; do :; done"]) if o.load else None
    try:
        for name, models, options in sets(o):
            where = os.path.join(o.folder[0], name)
            if os.path.exists(where + "/set.json"):
                continue
            os.makedirs(where, exist_ok=True)
            done = run([o.bin, "record", *models, *options, "--repeat", str(ROUNDS), "--time-budget", o.budget, "-o", where + "/"])
            if done.returncode:
                print(name, done.stderr.strip(), file=sys.stderr)
                continue
            json.dump({"models": models, "options": options, "load": o.load, "changed": o.changes}, open(where + "/set.json", "w"))
            print(name, done.stdout.strip().splitlines()[-1][12:90], flush=True)
    finally:
        if load:
            load.kill()


def sets(o):
    """(name, models, options): two values of one of them."""
    library = ["--ort-lib", o.library]
    for path in sorted(glob.glob(o.models + "/*.onnx")):
        base = os.path.basename(path)[:-5]
        if "+" in base:
            continue
        for threads in o.threads.split(","):
            t = ["--threads", threads]
            if not o.changes:
                yield f"{base}-t{threads}", [path], library + t + t
                continue
            for added in sorted(glob.glob(f"{o.models}/{base}+*.onnx")):
                yield os.path.basename(added)[:-5] + f"-t{threads}", [path, added], library + t
            for level in ("basic",):
                yield f"{base}-{level}-t{threads}", [path], library + t + ["--opt-level", "all", "--opt-level", level]
            if o.older:
                yield f"{base}-older-t{threads}", [path], ["--ort-lib", o.older] + library + t
        if o.changes and "," in o.threads:
            yield f"{base}-threads", [path], library + ["--threads", "1", "--threads", "2"]


def compare(o, where, models, rounds):
    """The statements about the latency, the creation of the session and the first run."""
    sides = [",".join(sorted(glob.glob(f"{where}/*-{side}{r + 1}.profile.json"))[0] for r in rounds) for side in "ab"]
    done = run([o.bin, "diff", *models, "-p", sides[0], "-p", sides[1], "-f", "json"])
    if done.returncode:
        raise SystemExit(f"{where}: {done.stderr}")
    found = json.loads(done.stdout)
    return {"latency": found["totals"]["latency"], "session": found["session"], "first run": found["first_run"]}


def count(table, key, *what):
    row = table.setdefault(key, [0] * (1 + len(what)))
    for i, x in enumerate((True, *what)):
        row[i] += bool(x)


def evaluate(o):
    equal, changed, width, wrong = {}, {}, {}, []
    for file in sorted(f for folder in o.folder for f in glob.glob(folder + "/*/set.json")):
        where, info = os.path.dirname(file), json.load(open(file))
        truth = compare(o, where, info["models"], range(ROUNDS))["latency"]["ratio"]
        size = abs(math.log(truth))
        name = next((b for b, low, high in (("3 to 7 %", .03, .07), ("7 to 15 %", .07, .14), ("15 % and more", .14, 9)) if low <= size < high), "below 3 %")
        for k, rounds in ((k, rounds) for k, subsets in SUBSETS.items() for rounds in subsets):
            told = compare(o, where, info["models"], rounds)
            c = told["latency"]
            verdict = c["verdict"]
            width.setdefault(("loaded" if info["load"] else "idle", k), []).append(c["smallest_difference"])
            if not info["changed"]:
                for figure, x in told.items():
                    different = x["verdict"] in ("slower", "faster")
                    count(equal, (figure, "loaded" if info["load"] else "idle", k), different, x["verdict"] == "inconclusive")
                    if different:
                        wrong.append(f"equal, {figure} called {x['verdict']}: {where} {k} recordings, {x['ratio']:.3f} {x['ratio_interval']}")
                continue
            found = verdict == ("slower" if truth > 1 else "faster")
            missed = not found and verdict != "inconclusive" and size >= 2 * math.log1p(c["smallest_difference"])
            count(changed, (name, k), found, verdict == "inconclusive", missed)
            if missed or (verdict in ("slower", "faster") and not found and size > 0.01):
                wrong.append(f"change of {truth - 1:+.3f}, verdict {verdict}: {where} {k} recordings, {c['ratio']:.3f} {c['ratio_interval']}")
    print("equal                 recordings  comparisons  called different  inconclusive")
    for (figure, load, k), (n, different, unclear) in sorted(equal.items()):
        print(f"{figure:<11}{load:<9}{k:>12}{n:>13}{different:>18}{unclear:>14}")
    print("\nsmallest difference, median and 90 %")
    for (load, k), all_ in sorted(width.items()):
        print(f"{load:<20}{k:>12}{100 * sorted(all_)[len(all_) // 2]:>11.1f} %{100 * sorted(all_)[int(0.9 * len(all_))]:>8.1f} %")
    print("\nchange          recordings  comparisons  found  inconclusive  missed")
    for (name, k), (n, found, unclear, missed) in sorted(changed.items()):
        print(f"{name:<14}{k:>12}{n:>13}{found:>7}{unclear:>14}{missed:>8}")
    print("\n".join(wrong))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("bin")
    p.add_argument("what", choices=["record", "evaluate"])
    p.add_argument("folder", nargs="+")
    p.add_argument("--models")
    p.add_argument("--library")
    p.add_argument("--older")
    p.add_argument("--threads", default="1,2")
    p.add_argument("--changes", action="store_true")
    p.add_argument("--load", action="store_true")
    p.add_argument("--budget", default="2s")
    o = p.parse_args()
    (record if o.what == "record" else evaluate)(o)


main()
