"""Compares what the program reads in profiles of other people with expectations: TAP.

usage: wild_rules.py ONNXCOST TABLE FOLDER     (FOLDER: the files, unpacked; --facts: prints rows for the table instead)

TABLE has a row per file: file, reader, runs, rows, rule, note, todo. reader `-`: the file must be refused with an error
that contains the note. runs: a number, `mean` (means over a number of runs that is not in the file) or `unknown`. rule:
the function of wild_times.py that computes the times, `-`: none. todo: a known fault; a failing file is skipped with it.
A file passes if reader, runs, rows and both times agree, the report adds up, no rate is reported without a known
number of runs, and nothing is used more than 100 %.
"""
import json
import math
import os
import subprocess
import sys

import wild_times


def run(program, *args):
    done = subprocess.run([program, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")


def is_close(a, b):
    if a is None or b is None:
        return (a or 0) == (b or 0)
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=2)


def runs_of(profile):
    return profile["runs_total"] or profile["runs_from"] or "unknown"


def number(text):
    return int(text) if text.isdigit() else text


def facts_of(report):
    imported = report["join"]["imported"]
    return {"reader": report["profile"][0]["format"], "runs": runs_of(report["profile"][0]),
            "rows": sum(row["bucket"] is None for row in report["rows"]),
            "host": imported["host"]["imported_ns"], "device": imported["device"]["imported_ns"]}


def check_headline(report, summary):
    """Statements that no file can make true."""
    totals = report["totals"]
    if runs_of(report["profile"][0]) == "unknown" and totals["inferences_per_s"] is not None:
        yield "%g inferences/s without a known number of runs" % totals["inferences_per_s"]
    for side, times in report["join"]["imported"].items():
        if times["lost_ns"] and abs(times["lost_ns"]) >= 1:
            yield "%s time: %g ns are in no row" % (side, times["lost_ns"])
    for profile in summary["profiles"] if summary else []:
        for device in profile["device"]["devices"] or []:
            if device["utilization"] is not None and device["utilization"] > 1 + 1e-9:
                yield "summary: utilization %.1f %% of device %s" % (100 * device["utilization"], device["device"])


def check_read(row, report, summary, truth):
    facts = facts_of(report)
    expected = {"reader": row["reader"], "runs": number(row["runs"]), "rows": number(row["rows"])}
    for key, value in expected.items():
        if facts[key] != value:
            yield "%s: %s, expected %s" % (key, facts[key], value)
        if key in truth and truth[key] != value:
            yield "%s: the table has %s, the file has %s" % (key, value, truth[key])
    for side in ("host", "device"):
        if side in truth and not is_close(facts[side], truth[side]):
            yield "%s time: %s ns, expected %s" % (side, facts[side], truth[side])
    yield from check_headline(report, summary)


def check(program, path, row):
    rc, out, err = run(program, "-f", "json", "--top", "0", path)
    if row["reader"] == "-":
        if rc != 3:
            yield "exit code %d, expected an input error" % rc
        elif row["note"] not in err:
            yield "the error does not contain '%s': %s" % (row["note"], err.strip())
        return
    if rc != 0:
        yield "exit code %d: %s" % (rc, err.strip())
        return
    src, summary, _ = run(program, "summary", "-f", "json", path)
    truth = {} if row["rule"] == "-" else wild_times.RULES[row["rule"]](path)
    yield from check_read(row, json.loads(out), json.loads(summary) if src == 0 else None, truth)


def print_facts(program, rows, folder):
    for row in rows:
        path = os.path.join(folder, row["file"])
        rc, out, err = run(program, "-f", "json", "--top", "0", path)
        truth = {} if row["rule"] == "-" else wild_times.RULES[row["rule"]](path)
        print(row["file"], facts_of(json.loads(out)) if rc == 0 else err.strip()[-120:], truth, sep="\t")


def main():
    program, table, folder = [a for a in sys.argv[1:] if a != "--facts"]
    with open(table, encoding="utf-8") as f:
        lines = [line.rstrip("\n").split("\t") for line in f if line.strip() and not line.startswith("#")]
    rows = [dict(zip(lines[0], line)) for line in lines[1:]]
    if "--facts" in sys.argv:
        return print_facts(program, rows, folder)
    bad = 0
    present = {os.path.relpath(os.path.join(at, name), folder) for at, _, names in os.walk(folder) for name in names}
    missing = sorted(present.symmetric_difference(row["file"] for row in rows))
    print("%s 1 - the table lists each file once" % ("not ok" if missing else "ok"))
    for name in missing:
        print("#", name)
    for n, row in enumerate(rows, 2):
        problems = list(check(program, os.path.join(folder, row["file"]), row)) if row["file"] in present else ["absent"]
        todo = row.get("todo", "")
        print("%s %d - %s%s" % ("not ok" if problems and not todo else "ok", n, row["file"],
                                " # SKIP " + todo + ": " + problems[0] if problems and todo else ""))
        for problem in problems:
            print("#", problem)
        bad += bool(problems and not todo)
    print("1..%d" % (len(rows) + 1))
    return 1 if bad or missing else 0


if __name__ == "__main__":
    sys.exit(main())
