#!/usr/bin/python3
"""Compares the join of a recording with the optimized model that ONNX Runtime saved.

usage: join_truth.py MODEL OPTIMIZED REPORT.json

For every record of the report the node of the saved model is found by its name (unnamed: by type and order of
execution). The nodes it may stand for lie between its output tensors and the tensors that the saved model still
has. Prints the share of the operator time on right nodes, wrong and unattributed records; exit code 1 if a record
is on a wrong node. Independent of src/join/: names of inlined tensors are derived here again. Needs
python3-onnx."""
import collections
import json
import sys

import onnx

INSERTED = {"layout", "copies", "casts", "inserted"} # buckets of operators that the runtime adds


class Node:
    def __init__(self, proto, scope, bind, inputs, outputs):
        self.proto, self.scope, self.bind, self.inputs, self.outputs = proto, scope, bind, inputs, outputs


def label(node, k, scope_label):
    own = node.name or f"{node.op_type}_{k}"
    return scope_label + own if node.name else own


def flatten(model, saved_names):
    """Nodes with the tensor names that the runtime gives them, and prefixes of expanded operators."""
    functions = {(f.domain, f.name): f for f in model.functions}
    queue, out, prefixes, taken, token = [], [], {}, set(), 0
    for k, n in enumerate(model.graph.node):
        queue.append(Node(n, "", {}, list(n.input), list(n.output)))
        queue[-1].label = label(n, k, "")
        queue[-1].local = list(n.output)
    queue = [n for n in queue if n.proto.op_type != "Constant"]
    at = 0
    while at < len(queue):
        node = queue[at]
        at += 1
        f = functions.get((node.proto.domain, node.proto.op_type))
        is_expanded = any(s.startswith("_inlfunc_" + node.proto.op_type + "_") for s in saved_names)
        if not f and not is_expanded:
            out.append(node)
            continue
        prefix = "_inlfunc_" + node.proto.op_type
        base = prefix
        while prefix in taken:
            prefix = f"{base}_token_{token}"
            token += 1
        taken.add(prefix)
        if not f:
            prefixes[prefix + "_"] = node
            out.append(node)
            continue
        bind = dict(zip(f.input, node.inputs))
        bind.update(zip(f.output, node.outputs))
        outer = dict(zip(f.output, node.local)) # the report has the caller's names of results
        scope = node.scope + ("/" if node.scope else "") + node.label
        for k, n in enumerate(f.node):
            if n.op_type == "Constant":
                continue
            child = Node(n, scope, bind, [bind.get(i, f"{prefix}_{i}") if i else "" for i in n.input],
                         [bind.get(o, f"{prefix}_{o}") if o else "" for o in n.output])
            child.label = label(n, k, node.label + "/")
            child.local = [outer.get(o, o) for o in n.output]
            queue.append(child)
    return out, prefixes


class Truth:
    def __init__(self, model, optimized):
        names = [t for n in optimized.graph.node for t in n.output]
        self.nodes, self.prefixes = flatten(model, names)
        self.producer = {t: n for n in self.nodes for t in n.outputs if t}
        self.users = collections.defaultdict(list)
        self.named = collections.defaultdict(list)
        for n in self.nodes:
            if n.proto.name:
                self.named[n.proto.name].append(n)
            for t in n.inputs:
                self.users[t].append(n)
        unknown = [t for t in names if t.startswith("_inlfunc_") and t not in self.producer and not self.part_of(t)
                   and "_nchwc" not in t]
        if unknown:
            sys.exit(f"cannot verify: {len(unknown)} inlined tensors are not explained: {unknown[0]}")
        self.present = set()
        for n in optimized.graph.node:
            self.present.update(self.tensors(n))

    def part_of(self, tensor):
        found = [p for p in self.prefixes if tensor.startswith(p)]
        return self.prefixes[max(found, key=len)] if found else None

    def tensors(self, n):
        """Original tensors that the outputs of a node of the saved model stand for."""
        result = [t for t in n.output if t in self.producer]
        for suffix in ("_bn_nchwc", "_mul_nchwc", "_nchwc"):
            if not result and n.name.endswith(suffix) and n.name[: -len(suffix)] in self.producer:
                result = [n.name[: -len(suffix)]]
        if not result: # another layout, the same name
            result = [t for o in self.named.get(n.name, []) if o.proto.op_type == n.op_type for t in o.outputs]
        return result

    def may_be(self, n):
        """The original nodes that a node of the saved model may execute."""
        part = next((self.part_of(t) for t in n.output if self.part_of(t)), None)
        if part:
            return {id(part)}
        result = set()
        for t in self.tensors(n):
            stack = [t]
            while stack: # upstream, up to tensors that another node has
                p = self.producer.get(stack.pop())
                if p is None or id(p) in result:
                    continue
                result.add(id(p))
                stack.extend(i for i in p.inputs if i not in self.present)
            stack = [t] if n.name.endswith("_nchwc") else []
            while stack: # a fused sum or activation after it
                for user in self.users[stack.pop()]:
                    if id(user) not in result and not any(o in self.present for o in user.outputs):
                        result.add(id(user))
                        stack.extend(user.outputs)
                    elif id(user) not in result and user.proto.op_type in ("Add", "Relu", "Clip", "HardSwish"):
                        result.add(id(user))
        return result


def node_of_records(rows, optimized):
    named = {(n.name, n.op_type): n for n in optimized.graph.node if n.name}
    unnamed = collections.defaultdict(list)
    for n in optimized.graph.node:
        if not n.name:
            unnamed[n.op_type].append(n)
    seen, found = collections.Counter(), {}
    for i, r in enumerate(rows):
        n = named.get((r["name"], r["op_type"]))
        if n is None and r["name"].startswith(r["op_type"] + "_") and unnamed[r["op_type"]]:
            k = seen[r["op_type"]]
            seen[r["op_type"]] += 1
            n = unnamed[r["op_type"]][k] if k < len(unnamed[r["op_type"]]) else None
        found[i] = n
    return found


def main(model_path, optimized_path, report_path):
    model = onnx.load(model_path, load_external_data=False)
    optimized = onnx.load(optimized_path, load_external_data=False)
    with open(report_path, encoding="utf-8") as f:
        report = json.load(f)
    truth = Truth(model, optimized)
    by_output = {}
    for n in report["nodes"]:
        for o in n["outputs"]:
            by_output[n["scope"], o["name"], n["op_type"]] = n["index"]
    index = {id(n): by_output.get((n.scope, o, n.proto.op_type)) for n in truth.nodes for o in n.local if o}
    rows = [r for r in report["join"]["rows"] if r["op_type"]]
    nodes = node_of_records(rows, optimized)
    right = wrong = unattributed = unverified = 0.0
    bad = []
    for i, r in enumerate(rows):
        time, n = r["self_time_ns"] or 0, nodes[i]
        if r["bucket"] in INSERTED:
            continue
        if not r["nodes"]:
            unattributed += time
            print(f"unattributed: {r['name']} ({r['op_type']}, {time / 1e3:.1f} us)")
        elif n is None or not truth.may_be(n):
            unverified += time
            print(f"not verified: {r['name']} ({r['op_type']})")
        elif set(r["nodes"]) <= {index[k] for k in truth.may_be(n)}:
            right += time
        else:
            wrong += time
            bad.append(r["name"])
            print(f"wrong: {r['name']} ({r['op_type']}): {r['nodes']}, not in {[index[k] for k in truth.may_be(n)]}")
    total = (right + wrong + unattributed + unverified) or 1
    print(f"right {100 * right / total:.2f} %, wrong {len(bad)}, unattributed {100 * unattributed / total:.2f} %, "
          f"not verified {100 * unverified / total:.2f} %")
    return 1 if bad or right / total < 0.97 else 0


sys.exit(main(*sys.argv[1:4]))
