"""The decomposition of a diff, computed again from the rows of its JSON. usage: decomposition_rules.py DIFF.json [PART...]

The parts must be those that the rows give, to the rounding of their times, and add up to the difference of the latencies, or
of the times where the recordings have none. PART: "copies>0", "copies<0": what must hold in addition. Prints what does not hold.
"""
import collections
import json
import re
import sys

HOST = re.compile(r"^\((outside operators|gaps|not attributed|framework)\)$")
COPIES = re.compile(r"^\(copies\)$|^copies$|^\[CUDA mem|^Memcpy|DLA transfers")
INSERTED = re.compile(r"^(layout|casts|inserted|no-op|reformat|Reformat)$")
COLLECTIVE = re.compile(r"(^|[^a-z0-9])(nccl|rccl|c10d|all_?reduce|all_?gather|all_?to_?all|reduce_?scatter)", re.I)


def work(row, side):
    flops, ops, moved = (row[f"{name}_{side}"] for name in ("flops", "ops", "bytes"))
    return (None if flops is None or ops is None else flops + ops), moved


def ratio(row):
    for a, b in zip(work(row, "a"), work(row, "b")):
        if a and b:
            return b / a
    return 1


def causes(row):
    """The parts of one row, as pairs."""
    delta, name = row["time_delta_ns"], row["name_a"] or row["name_b"]
    kind = row["op_type_a"] or row["op_type_b"] or name
    if HOST.match(name):
        return [("gaps and host", delta)]
    if COPIES.match(name) or COPIES.match(kind):
        return [("copies", delta)]
    if COLLECTIVE.search(name) or COLLECTIVE.search(kind):
        return [("communication", delta)]
    if INSERTED.match(kind) and row["status"] in ("added", "removed", "bucket"):
        return [("other kernels for the same work", delta)]
    if row["status"] in ("added", "removed"):
        return [(f"work {row['status']}", delta)]
    moved = row["time_a_ns"] * (ratio(row) - 1)
    other = set(row["changes"].split()) & {"types", "inputs", "fusion", "kernels"}
    lonely = not row["time_a_ns"] or not row["time_b_ns"]
    rest = "other kernels for the same work" if other or lonely else "same work at another speed"
    return [("work added" if moved > 0 else "work removed", moved), (rest, delta - moved)]


def expected(diff):
    parts, missing, totals = collections.defaultdict(float), 0, diff["totals"]
    for row in diff["rows"]:
        if row["time_delta_ns"] is None:
            missing += 1
            continue
        for part, delta in causes(row):
            parts[part, row["place"]] += delta
    of = totals[diff["decomposition_of"]]
    if missing:
        parts["rows without a time", None] = totals["time"]["b"] - totals["time"]["a"] - sum(parts.values())
    if diff["decomposition_of"] == "latency":
        overlap = [totals["time"][side] - totals["latency"][side] for side in "ab"]
        parts["overlap of operators", None] = overlap[0] - overlap[1]
    return parts, of["b"] - of["a"]


def problems(diff, wanted):
    if diff["decomposition_of"] is None:
        return [f"no decomposition: {diff['decomposition_missing']}"]
    parts, delta = expected(diff)
    given = {(p["part"], p["place"]): p["delta_ns"] for p in diff["decomposition"]}
    near = 0.01 * (len(diff["rows"]) + 2)  # times are rounded to a picosecond, and scaled with the work
    found = [f"{key}: {given.get(key, 0)}, expected {parts.get(key, 0)}" for key in {*given, *parts}
             if abs(given.get(key, 0) - parts.get(key, 0)) > near]
    if abs(sum(given.values()) - delta) > 0.001 * (len(given) + 2):
        found.append(f"the parts add up to {sum(given.values())}, the change is {delta}")
    for text in wanted:
        name, sign = text[:-2], text[-2]
        value = sum(ns for (part, _), ns in given.items() if part == name)
        if not (value > 0 if sign == ">" else value < 0):
            found.append(f"{name} is {value}")
    return found


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        found = problems(json.load(f), sys.argv[2:])
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
