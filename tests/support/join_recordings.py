#!/usr/bin/python3
"""Measures the join of many recordings, one line per profile, and a summary.

usage: join_recordings.py ONNXCOST DIR [PATTERN]

DIR/NAME.LEVEL.profile.json, its DIR/NAME.LEVEL.optimized.onnx and the model DIR/NAME.onnx or DIR/models/NAME.onnx,
as `onnxcost record MODEL --opt-level LEVEL -o DIR/NAME.LEVEL` writes them; LEVEL disabled has to be among them. Every
profile is joined without and with the optimized model. Measured:
  rows whose recorded output contradicts their nodes. The shapes of tensors are those recorded at level disabled,
  where every node runs and keeps its tensors; where that does not show one, those of onnx.shape_inference;
  operator time in rows without nodes that the runtime did not insert;
  operator time of rows with nodes that the optimized model refutes (join_truth.py);
  MACs that are in no row, or in two: those of the rows, and of nodes that equal one in a row, are those of the model;
  rows with other nodes when the optimized model is given.
Exit code 1 if a row contradicts its recorded shape or is on a wrong node, if MACs are missing or counted twice, if more
than 3 % of the operator time of a profile is unattributed, or more than 1 % in more than 5 % of them. Needs
python3-onnx, no network."""
import collections
import fnmatch
import glob
import json
import os
import subprocess
import sys

import onnx
import join_truth

LEVELS = ("disabled", "basic", "extended", "all")


def inferred_shapes(model):
    try:
        model = onnx.shape_inference.infer_shapes(model)
    except Exception:  # the checker of onnx rejects what the runtime accepts
        return {}
    shapes = {}
    for v in list(model.graph.value_info) + list(model.graph.output):
        dims = v.type.tensor_type.shape.dim
        if v.type.HasField("tensor_type") and v.type.tensor_type.HasField("shape") and \
                all(d.HasField("dim_value") and d.dim_value >= 0 for d in dims):
            shapes[v.name] = [d.dim_value for d in dims]
    return shapes


def tensor_shapes(model, plain, profile):
    """Shapes of tensors by name; `plain` is the model as it ran without optimization."""
    shapes = inferred_shapes(model)
    recorded = join_truth.read_events(profile)
    for key, n in join_truth.pair_nodes(recorded, plain).items():
        if recorded[key]["shapes"]:
            shapes.update(zip([o for o in n.output if o], recorded[key]["shapes"][1]))
    return shapes


def elements(shape):
    n = 1
    for d in shape:
        n *= d
    return n


def same_tensor(recorded, shape):
    """In any layout: permuted, or with channels padded to blocks of at most 16."""
    if elements(recorded) == elements(shape):
        return True
    if len(recorded) == 5 and len(shape) == 4:
        recorded = [recorded[0], recorded[1] * recorded[4], recorded[2], recorded[3]]
    return len(recorded) == 4 and len(shape) == 4 and 0 <= recorded[1] - shape[1] < 16 and \
        recorded[0] == shape[0] and recorded[2:] == shape[2:]


def contradictions(report, recorded, shapes):
    """Rows none of whose nodes has a recorded output."""
    nodes = {n["index"]: n for n in report["nodes"]}
    users = collections.defaultdict(set)
    for n in report["nodes"]:
        for t in filter(None, n["inputs"]):
            users[n["scope"], t["name"]].add(n["index"])
    found = []
    for r in report["rows"]:
        event = recorded.get((r.get("runtime_name"), r["op_type"]))
        if not event or not event["shapes"] or not r["nodes"] or r["rule"] == "function body":
            continue
        out = event["shapes"][1]
        known = []
        for i in r["nodes"]:
            n = nodes[i]
            for t in filter(None, n["outputs"]):
                inner = users[n["scope"], t["name"]]
                if inner and inner <= set(r["nodes"]):
                    continue # stays in the group
                known.append(shapes.get(t["name"]) if not n["scope"] else None)
        if known and None not in known and not any(same_tensor(o, s) for o in out for s in known):
            found.append(f"{r['name']} ({r['op_type']}): recorded {out}, {r['rule']}: nodes {r['nodes']} have {known}")
    return found


def same_nodes(graph):
    """The first of equal nodes by output: type, attributes and inputs are the same, small constants by content."""
    stands_for, first = {}, {}
    for t in graph.initializer:
        content = onnx.TensorProto()
        content.CopyFrom(t)
        content.name = ""
        key = content.SerializeToString()
        stands_for[t.name] = first.setdefault(key, t.name) if len(key) < 100 else t.name
    equal = {}
    for n in graph.node:
        if not n.output or n.op_type.startswith(("Random", "Multinomial", "Bernoulli")):
            continue
        key = (n.op_type, n.domain, b"".join(sorted(a.SerializeToString() for a in n.attribute)),
               tuple(stands_for.get(i, i) for i in n.input), len(n.output))
        node = first.setdefault(key, n.output[0])
        equal[n.output[0]] = node
        stands_for.update((o, (node, k)) for k, o in enumerate(n.output))
    return equal


def lost_macs(report, model):
    """MACs of the model that neither rows nor nodes equal to those of rows have; negative: counted twice."""
    name = {n["index"]: (n["outputs"] or [None])[0] for n in report["nodes"]}
    name = {i: t["name"] if t else None for i, t in name.items()}
    equal = same_nodes(model.graph)
    covered = {i for r in report["rows"] for i in r["nodes"]}
    ran = {equal.get(name[i]) for i in covered} - {None}
    macs = sum(r["macs"] or 0 for r in report["rows"] if r["nodes"])
    macs += sum((n["macs"] or 0) * (n["trips"] or 1) for n in report["nodes"]
                if n["index"] not in covered and equal.get(name[n["index"]]) in ran)
    return (report["totals"]["macs"] or 0) - macs


def join(program, model, profile, optimized):
    command = [program, model, "-p", profile, "--format", "json"]
    if optimized:
        command += ["--optimized-model", optimized]
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode not in (0, 1):
        raise RuntimeError(done.stderr.decode(errors="replace").strip()[-300:])
    return json.loads(done.stdout)


class Totals:
    def __init__(self):
        self.profiles = self.above1 = self.above3 = self.contradictions = self.wrong = self.failed = 0
        self.lost = self.moved = self.rows = 0
        self.verified = self.time = 0.0
        self.networks = set()

    def add(self, name, unattributed, bad, wrong, verified):
        self.profiles += 1
        self.networks.add(name)
        self.above1 += unattributed > 1
        self.above3 += unattributed > 3
        self.contradictions += bad
        self.wrong += wrong
        self.verified += verified

    def show(self):
        n = self.profiles or 1
        print(f"{self.profiles} joins of {len(self.networks)} networks; rows that contradict a recorded shape: "
              f"{self.contradictions}; wrong rows: {self.wrong}; MACs missing or counted twice: {self.lost}; "
              f"{self.moved} of {self.rows} rows on other nodes with the optimized model; operator time unattributed: "
              f"<= 1 % in "
              f"{100 * (n - self.above1) / n:.1f} %, > 3 % in {self.above3}; verified {self.verified / n:.1f} % "
              f"of operator time on average; failed {self.failed}")
        faults = self.contradictions + self.wrong + self.lost + self.above3 + self.failed
        return 1 if faults or self.above1 > 0.05 * n else 0


def measure(program, folder, name, level, totals):
    base = os.path.join(folder, f"{name}.{level}")
    path = next(p for p in (os.path.join(folder, "models", name + ".onnx"), os.path.join(folder, name + ".onnx"))
                if os.path.exists(p))
    model, optimized = join_truth.load(path), join_truth.load(base + ".optimized.onnx")
    plain = os.path.join(folder, name + ".disabled")
    shapes = tensor_shapes(model, join_truth.load(plain + ".optimized.onnx"), plain + ".profile.json")
    recorded = join_truth.read_events(base + ".profile.json")
    nodes_of = {}
    for given in ("", base + ".optimized.onnx"):
        report = join(program, path, base + ".profile.json", given)
        lost = lost_macs(report, model)
        totals.lost += abs(lost) > 0.001 * (report["totals"]["macs"] or 0)
        for r in filter(lambda r: r["nodes"], report["rows"]):
            others = nodes_of.setdefault(r["name"], set(r["nodes"]))
            totals.rows += bool(given)
            totals.moved += not others & set(r["nodes"])
        bad = contradictions(report, recorded, shapes)
        times, lines = join_truth.measure(model, optimized, report, recorded)
        total = sum(times.values()) or 1
        wrong = sum(verdict == "wrong" for verdict, _ in lines)
        verified = 100 * (times["right"] + times["wrong"] + times["inserted"]) / total
        unattributed = 100 * times["unattributed"] / total
        totals.add(name, unattributed, len(bad), wrong, verified)
        print(f"{'FAIL' if bad or wrong or unattributed > 1 else 'ok':4} {name} {level}{' +model' if given else ''}: "
              f"unattributed {unattributed:.2f} %, contradictions {len(bad)}, wrong {wrong}, MACs lost {lost}, "
              f"verified {verified:.1f} %")
        for line in bad:
            print("    contradiction: " + line)
        for verdict, line in lines:
            if verdict == "wrong" or (verdict == "unattributed" and unattributed > 1) or "JOIN_VERBOSE" in os.environ:
                print(f"    {verdict}: {line}")


def main(program, folder, pattern="*"):
    totals = Totals()
    for path in sorted(glob.glob(os.path.join(glob.escape(folder), "*.profile.json"))):
        name, level = os.path.basename(path)[: -len(".profile.json")].rsplit(".", 1)
        if level not in LEVELS or not fnmatch.fnmatch(name, pattern):
            continue
        try:
            measure(program, folder, name, level, totals)
        except (Exception, SystemExit) as e:
            totals.failed += 1
            print(f"FAIL {name} {level}: {e}")
        sys.stdout.flush()
    return totals.show()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4]))
