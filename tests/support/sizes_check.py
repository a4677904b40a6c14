#!/usr/bin/env python3
"""Work of runs of different sizes, computed from what ONNX Runtime recorded.

sizes_check.py check PROFILE REPORT
    The multiply-adds of every product and convolution of the profile, summed over the used runs from the
    recorded shapes of each run, equal those of the report (rows[].sizes.macs_total); so do the times and,
    for each set of sizes, the number of runs. Prints one line per difference and "N rows, M sizes equal".
sizes_check.py make REPORT... > PROFILE
    Writes a profile in ONNX Runtime's format: one run for each report of a model (--format json), with the
    shapes of that report. Each file may be named several times. The first run is a warm-up.
"""
import collections
import gzip
import json
import sys


def load(path):
    with gzip.open(path, "rt") if path.endswith(".gz") else open(path) as f:
        return json.load(f)


def sizes(tensor):
    """The sizes of {"float": [1, 3]}."""
    return next(iter(tensor.values()))


def product(dims):
    n = 1
    for d in dims:
        n *= d
    return n


def macs_of(name, op, args):
    """Multiply-adds of one call; None: its recorded shapes do not give them."""
    inputs = [sizes(t) for t in args.get("input_type_shape", [])]
    outputs = [sizes(t) for t in args.get("output_type_shape", [])]
    if not inputs or not outputs:
        return None
    a, y = inputs[0], outputs[0]
    if op in ("MatMul", "FusedMatMul", "Gemm") and len(a) >= 2 and len(y) >= 2:
        depth = a[-1] if a[-2] == y[-2] else a[-2]
        return product(y) * depth
    if op in ("Conv", "FusedConv") and not name.endswith("_nchwc") and len(inputs) > 1:
        return product(y) * product(inputs[1][1:])
    return None


def runs_of(events):
    """Start and end of the runs that count: without the first, of 6 and more without the first two."""
    runs = sorted((e["ts"], e["ts"] + e["dur"]) for e in events if e["name"] == "model_run")
    return runs[2 if len(runs) >= 6 else 1 if len(runs) > 1 else 0:]


def recorded(events):
    """By name and type: multiply-adds and microseconds over the used runs."""
    runs = runs_of(events)
    suffix = "_kernel_time"
    macs, times = collections.Counter(), collections.Counter()
    unknown = set()
    at = 0
    for e in sorted(events, key=lambda e: e["ts"]):
        if e.get("cat") != "Node" or not e["name"].endswith(suffix):
            continue
        while at < len(runs) and runs[at][1] < e["ts"]:
            at += 1
        if at == len(runs) or e["ts"] < runs[at][0]:
            continue
        name, op = e["name"][: -len(suffix)], e["args"]["op_name"]
        count = macs_of(name, op, e["args"])
        times[name, op] += e["dur"]
        if count is None:
            unknown.add((name, op))
        else:
            macs[name, op] += count
    return {k: v for k, v in macs.items() if k not in unknown}, times, len(runs)


def check(profile, report):
    macs, times, n_runs = recorded(load(profile))
    doc = load(report)
    rows, wrong = 0, 0
    seen = collections.Counter((r["runtime_name"], r["op_type"]) for r in doc["rows"] if not r["remainder"])
    for row in doc["rows"]:
        if row["remainder"]:
            continue
        key = row["runtime_name"], row["op_type"]
        if row["bucket"] or key not in times or seen[key] > 1:
            continue
        got = row["sizes"]
        if key in macs and got["macs_total"] is not None:
            rows += 1
            if got["macs_total"] != macs[key]:
                wrong += 1
                print("%s %s: %d MACs in the report, %d recorded" % (*key, got["macs_total"], macs[key]))
            rate, flops = row["time_ns"] and got["flops_total"] / n_runs / row["time_ns"] * 1e9, got["flops_total"]
            real = flops / (times[key] * 1e3) * 1e9 if times[key] else 0
            if abs(rate - real) > 1e-6 * real and times[key] and row["self_time_ns"] == row["inclusive_time_ns"]:
                wrong += 1
                print("%s %s: %g FLOP/s in the report, %g recorded" % (*key, rate, real))
        if abs(got["time_total_ns"] - times[key] * 1e3) > 1 and row["self_time_ns"] == row["inclusive_time_ns"]:
            wrong += 1
            print("%s %s: %g ns in the report, %g recorded" % (*key, got["time_total_ns"], times[key] * 1e3))
    if sum(s["runs"] for s in doc["sizes"]["sets"]) != n_runs:
        wrong += 1
        print("the runs of the sizes do not sum to %d" % n_runs)
    print("%d rows, %d sizes %s" % (rows, len(doc["sizes"]["sets"]), "differ" if wrong else "equal"))
    return 1 if wrong or not rows else 0


def written_type(value):
    return {value["dtype"]: value["shape"]}


def node_event(doc, node, index, ts, dur):
    """Products keep only their activations: the runtime packs constant weights."""
    values = [v for v in node["inputs"] if v]
    constants = {v["name"] for v in values if v["quality"] == "exact" and node["bytes_read_weight"]}
    inputs = [written_type(v) for k, v in enumerate(values)
              if not (node["op_type"] in ("MatMul", "Gemm") and k == 1 and v["name"] in constants)]
    return {"cat": "Node", "pid": 1, "tid": 1, "dur": dur, "ts": ts, "ph": "X",
            "name": node["name"] + "_kernel_time",
            "args": {"op_name": node["op_type"], "provider": "CPUExecutionProvider", "node_index": str(index),
                     "input_type_shape": inputs, "output_type_shape": [written_type(v) for v in node["outputs"]]}}


def session(name, ts, dur):
    return {"cat": "Session", "pid": 1, "tid": 1, "dur": dur, "ts": ts, "ph": "X", "name": name, "args": {}}


def make(reports):
    events = [session("model_loading_uri", 0, 5), session("session_initialization", 5, 5)]
    ts = 100
    docs = {path: load(path) for path in reports}
    for number, path in enumerate(reports):
        start = ts
        ts += 3
        for index, node in enumerate(docs[path]["nodes"]):
            if node["folded"] or node["op_type"] == "Constant" or not node["name"]:
                continue
            dur = 2 + (node["flops"] or 0) // 50000 + (7 * index + number) % 5
            events.append(node_event(docs[path], node, index, ts, dur))
            ts += dur + 1
        events.append(session("model_run", start, ts - start + 2))
        ts += 20
    print("[")
    print(",\n".join(json.dumps(e) for e in events))
    print("]")
    return 0


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] == "check":
        sys.exit(check(sys.argv[2], sys.argv[3]))
    if len(sys.argv) > 2 and sys.argv[1] == "make":
        sys.exit(make(sys.argv[2:]))
    sys.exit(__doc__)
