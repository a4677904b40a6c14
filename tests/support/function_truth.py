#!/usr/bin/python3
"""Checks the join of a recording of a network of function_op_models.py.

usage: function_truth.py <LIST
LIST: lines of a title, model, report as JSON, recording, recording of sizes; the output is that of join_truth.py.

SIZES.json is the recording, at the same level, of the network with the same nodes in which each copy has another
prime number as a size: the shapes of its records show to which copy the record of the same name belongs. Nodes of the
network itself are known by name or by index. A record on a wrong node is a problem, and where less than 97 % of the time is on
right ones. Needs python3-onnx."""
import json
import sys

import onnx
import onnx.numpy_helper

import join_truth

INSERTED = {"layout", "copies", "casts", "inserted"}


def records(path):
    with open(path, encoding="utf-8") as f:
        events = json.load(f)
    found = {}
    for e in events:
        if e["cat"] == "Node" and e["name"].endswith("_kernel_time"):
            shapes = [d for k in ("input_type_shape", "output_type_shape") for t in e["args"].get(k, []) for d in t.values()]
            at = found.setdefault((e["name"][:-12], e["args"]["op_name"]), (int(e["args"]["node_index"]), set()))
            at[1].update(n for d in shapes for n in d)
    return found


def primes_of(sizes):
    return {p for p in range(11, 400) if all(p % k for k in range(2, 20) if k < p) and any(n and n % p == 0 for n in sizes)}


class Truth:
    def __init__(self, model, sized, recorded):
        self.nodes = model.graph.node
        self.named = {n.name: i for i, n in enumerate(self.nodes) if n.name}
        dims = {t.name: list(t.dims) for t in sized.graph.initializer}
        for t in sized.graph.initializer: # a list of sizes
            if t.data_type == onnx.TensorProto.INT64 and len(t.dims) == 1:
                dims[t.name] = onnx.numpy_helper.to_array(t).tolist()
        for v in sized.graph.input:
            dims[v.name] = [d.dim_value for d in v.type.tensor_type.shape.dim]
        primes, self.chain = {}, {}
        for i, n in enumerate(sized.graph.node): # sizes flow along the chain; a MatMul begins another
            own = set().union(*(primes_of(dims.get(t, [])) | primes.get(t, set()) for t in n.input[:1]))
            if n.op_type != "MatMul":
                own |= set().union(*(primes_of(dims.get(t, [])) for t in n.input[1:]), set())
            else:
                own = {dims[n.input[0]][0]}
            for p in own:
                self.chain.setdefault(p, set()).add(i)
            for t in n.output:
                primes[t] = own
        self.owner = {}
        self.find_owners(recorded)

    def find_owners(self, recorded):
        by_index = sorted((index, name, primes_of(sizes)) for name, (index, sizes) in recorded.items())
        for index, name, primes in by_index:
            if index < len(self.nodes) and self.nodes[index].op_type == name[1]:
                self.owner[name] = {index}
            elif name[0] in self.named:
                self.owner[name] = {self.named[name[0]]}
            elif primes:
                self.owner[name] = set().union(*(self.chain.get(p, set()) for p in primes))
        # without sizes: of a copy if the unnamed neighbours on both sides are
        by_index = [r for r in by_index if r[1][0] == f"{r[1][1]}_{r[0]}" and r[0] >= len(self.nodes)]
        known = [self.owner.get(name) for _, name, _ in by_index]
        for i, (_, name, _) in enumerate(by_index):
            if name in self.owner:
                continue
            before = next((k for k in reversed(known[:i]) if k), None)
            after = next((k for k in known[i + 1:] if k), None)
            if before and before == after:
                self.owner[name] = before


def problems(model_path, report_path, _, sizes_path):
    model = onnx.load(model_path)
    truth = Truth(model, onnx.load(model_path.replace(".onnx", ".sizes.onnx")), records(sizes_path))
    with open(report_path, encoding="utf-8") as f:
        report = json.load(f)
    by_output = {o: i for i, n in enumerate(model.graph.node) for o in n.output if o}
    index = {n["index"]: by_output[o["name"]] for n in report["nodes"] for o in n["outputs"] if o["name"] in by_output}
    right = unattributed = 0.0
    wrong, other = [], []
    for r in report["rows"]:
        if r["remainder"]:
            continue
        r = {**r, "name": r["runtime_name"]}
        time, nodes = r["self_time_ns"] or 0, {index[i] for i in r["nodes"]}
        if not r["op_type"] or (r["bucket"] in INSERTED and not nodes):
            continue
        allowed = truth.owner.get((r["name"], r["op_type"]))
        if not nodes:
            unattributed += time
            other.append(f"unattributed: {r['name']} ({time / 1e3:.1f} us)")
        elif allowed is None:
            other.append(f"not verified: {r['name']}")
        elif nodes <= allowed or (r["name"] in truth.named and truth.named[r["name"]] in nodes):
            right += time
        else:
            wrong.append(f"wrong: {r['name']}: {sorted(nodes)}, not in {sorted(allowed)}")
    total = (right + unattributed) or 1
    return wrong + other if wrong or right / total < 0.97 else []


join_truth.main(problems)
