#!/usr/bin/python3
"""Compares the join of a recording with the optimized model that ONNX Runtime saved.

usage: join_truth.py <LIST
LIST: lines of a title, model, report as JSON, profile, optimized model, separated by tabs. Prints the title and, after a
tab, what is wrong: nothing if all of the operator time is on the right nodes.

For every record of the report the node of the saved model is found by its name (unnamed: by type and order). The nodes it may stand for lie between its output tensors and the tensors that the saved model still
has. Independent of src/join/: names of inlined tensors are derived here again. Needs
python3-onnx."""
import collections
import json
import re
import sys

import onnx

INSERTED = {"layout", "copies", "casts", "inserted"} # buckets of operators that the runtime adds ...
CONVERSIONS = {"Cast", "DequantizeLinear", "Gather", "Identity", "MemcpyFromHost", "MemcpyToHost", "QuantizeLinear",
               "ReorderInput", "ReorderOutput", "Reshape", "Squeeze", "Transpose", "Unsqueeze"} # ... and their types


class Node:
    def __init__(self, proto, scope, bind, inputs, outputs):
        self.proto, self.scope, self.bind, self.inputs, self.outputs = proto, scope, bind, inputs, outputs


def captured(node):
    """Names that the graphs in the node read from around it."""
    names = set()
    for g in [g for a in node.attribute for g in [a.g] * a.HasField("g") + list(a.graphs)]:
        own = {v.name for v in list(g.input) + list(g.initializer)}
        for n in g.node:
            names |= (set(n.input) | captured(n)) - own - {""}
            own.update(n.output)
        names |= {o.name for o in g.output} - own
    return names


def label(node, k, scope_label):
    own = node.name or f"{node.op_type}_{k}"
    return scope_label + own if node.name else own


def flatten(model, saved_names):
    """Nodes with the tensor names that the runtime gives them, and prefixes of expanded operators."""
    functions = {(f.domain, f.name): f for f in model.functions}
    queue, out, prefixes, taken, token = [], [], {}, set(), 0
    for k, n in enumerate(model.graph.node):
        queue.append(Node(n, "", {}, list(n.input) + sorted(captured(n)), list(n.output)))
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
            child = Node(n, scope, bind, [bind.get(i, f"{prefix}_{i}") if i else "" for i in [*n.input, *sorted(captured(n))]],
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
        self.saved_users = collections.defaultdict(list)
        for n in optimized.graph.node:
            for t in n.input:
                self.saved_users[t].append(n)
        self.saved_names = {re.sub("_token_[0-9]+$", "", n.name) for n in optimized.graph.node}
        self.present = set()
        for n in optimized.graph.node:
            self.present.update(self.tensors(n))

    def part_of(self, tensor):
        found = [p for p in self.prefixes if tensor.startswith(p)]
        return self.prefixes[max(found, key=len)] if found else None

    def tensors(self, n):
        """Original tensors that the outputs of a node of the saved model stand for."""
        plain = [t.removeprefix("InsertedPrecisionFreeCast_") for t in n.output] # in another type
        result = [t for t in plain if t in self.producer]
        for suffix in ("_bn_nchwc", "_mul_nchwc", "_nchwc"):
            if not result and n.name.endswith(suffix) and n.name[: -len(suffix)] in self.producer:
                result = [n.name[: -len(suffix)]]
        if not result: # another layout, the same name
            result = [t for o in self.named.get(n.name, []) if o.proto.op_type == n.op_type for t in o.outputs]
        return result

    def upstream(self, tensors):
        """Producers of the tensors, up to tensors that another node of the saved model has."""
        result, stack = {}, list(tensors)
        while stack:
            p = self.producer.get(stack.pop())
            if p is None or id(p) in result:
                continue
            result[id(p)] = p
            stack.extend(i for i in p.inputs if i not in self.present)
        return result

    def region(self, n):
        """Original nodes that can be a node of the saved model whose outputs have other names: those before the next
        tensors of the original. If it has the name of one of them, that one and the nodes around it that no
        other node of the saved model has the name of."""
        tensors, stack, seen = [], [n], set()
        while stack:
            for t in stack.pop().output:
                for user in self.saved_users[t]:
                    if id(user) not in seen:
                        seen.add(id(user))
                        tensors += self.tensors(user)
                        stack += [] if self.tensors(user) else [user]
        region = self.upstream(tensors)
        own = [p for p in self.named.get(re.sub("_token_[0-9]+$", "", n.name), []) if id(p) in region]
        if not own:
            return set(region)
        result, stack = set(), own
        while stack:
            p = stack.pop()
            result.add(id(p))
            near = [self.producer[i] for i in p.inputs if i in self.producer] + [u for o in p.outputs for u in self.users[o]]
            stack += [k for k in near if id(k) in region and id(k) not in result and k.proto.name not in self.saved_names]
        return result

    def may_be(self, n):
        """The original nodes that a node of the saved model may execute."""
        part = next((self.part_of(t) for t in n.output if self.part_of(t)), None)
        if part:
            return {id(part)}
        if not self.tensors(n):
            return self.region(n)
        result = set()
        active = {a.s.decode() for a in n.attribute if a.name == "activation"}
        for t in self.tensors(n):
            result |= set(self.upstream([t]))
            stack = [t] if n.name.endswith("_nchwc") else []
            while stack: # a fused sum or activation after it
                for user in self.users[stack.pop()]:
                    if id(user) not in result and not any(o in self.present for o in user.outputs):
                        result.add(id(user))
                        stack.extend(user.outputs)
                    elif id(user) not in result and user.proto.op_type in active | {"Add", "Relu", "Clip", "HardSwish"}:
                        result.add(id(user))
        return result

    def in_branches(self, n, nodes):
        """The nodes of the report in branches of an If that the node of the saved model may execute."""
        allowed = self.may_be(n)
        bodies = tuple((k.scope + "/" if k.scope else "") + k.label + "/" for k in self.nodes
                       if id(k) in allowed and k.proto.op_type == "If")
        return {k["index"] for k in nodes if k["scope"].startswith(bodies)}


def read_events(path):
    """Operators of a profile by name and type: index, first start, shapes of inputs and outputs (None: they vary)."""
    found = {}
    with open(path, encoding="utf-8") as f:
        data = json.load(f)
    for e in data:
        if e.get("cat") != "Node" or not e["name"].endswith("_kernel_time"):
            continue
        args = e["args"]
        key = e["name"][: -len("_kernel_time")], args["op_name"]
        shapes = [[next(iter(t.values())) for t in args.get(side, [])]
                  for side in ("input_type_shape", "output_type_shape")]
        old = found.setdefault(key, {"index": int(args["node_index"]), "start": e["ts"], "shapes": shapes})
        old["start"] = min(old["start"], e["ts"])
        if old["shapes"] != shapes:
            old["shapes"] = None
    return found


def pair_in_order(recorded, optimized, order):
    """Unnamed nodes of each type in the saved order, and unnamed records of the type in the given one; None: only
    named nodes."""
    pairs = {key: n for n in optimized.graph.node if n.name for key in [(n.name, n.op_type)] if key in recorded}
    unnamed = collections.defaultdict(list)
    for n in optimized.graph.node if order else ():
        if not n.name:
            unnamed[n.op_type].append(n)
    for op_type, nodes in unnamed.items():
        keys = [k for k, e in recorded.items() if k == (f"{op_type}_{e['index']}", op_type) and k not in pairs]
        keys.sort(key=lambda k: recorded[k][order])
        if len(keys) == len(nodes):
            pairs.update(zip(keys, nodes))
    return pairs


def conflicts(recorded, pairs):
    """Tensors that were recorded with one shape at their producer and with another one at a consumer, or read before
    they were computed."""
    shape, start, n = {}, {}, 0
    for key, node in pairs.items():
        start.update((o, recorded[key]["start"]) for o in node.output if o)
        if recorded[key]["shapes"]:
            shape.update(zip([o for o in node.output if o], recorded[key]["shapes"][1]))
    for key, node in pairs.items():
        inputs = [i for i in node.input if i]
        n += sum(start.get(i, 0) > recorded[key]["start"] for i in inputs)
        if recorded[key]["shapes"] and len(inputs) == len(recorded[key]["shapes"][0]):
            n += sum(shape.get(i, s) != s for i, s in zip(inputs, recorded[key]["shapes"][0]))
    return n


def agreeing(recorded, optimized, order):
    """Positions at which the saved model and the records in the order have the same type and name."""
    keys = sorted(recorded, key=lambda k: recorded[k][order])
    nodes = [n for n in optimized.graph.node if n.op_type != "Constant"]
    return sum(n.op_type == k[1] and n.name in ("", k[0]) for n, k in zip(nodes, keys))


def pair_nodes(recorded, optimized):
    """The node of the saved model for each record. The runtime saves nodes in the order of execution or of their
    indexes: only an order that agrees with all names and types, and in which no tensor has two shapes, is
    used for unnamed nodes, and only pairs that all such orders have."""
    named = pair_in_order(recorded, optimized, None)
    nodes = sum(n.op_type != "Constant" for n in optimized.graph.node)
    found = []
    for order in ("start", "index"):
        pairs = pair_in_order(recorded, optimized, order)
        if agreeing(recorded, optimized, order) == nodes and not conflicts(recorded, pairs):
            found.append(pairs)
    if not found:
        return named
    return {k: n for k, n in found[0].items() if all(other.get(k) is n for other in found)}


def measure(model, optimized, report, recorded):
    """Operator times by verdict, and a line per record that is not right."""
    truth = Truth(model, optimized)
    by_output = {}
    for n in report["nodes"]:
        for o in filter(None, n["outputs"]):
            by_output[n["scope"], o["name"], n["op_type"]] = n["index"]
    index = {id(n): by_output.get((n.scope, o, n.proto.op_type)) for n in truth.nodes for o in n.local if o}
    rows = [{**r, "name": r["runtime_name"]} for r in report["rows"] if not r["remainder"]]
    same = collections.Counter((r["name"], r["op_type"]) for r in rows) # in several bodies
    pairs = {k: n for k, n in pair_nodes(recorded, optimized).items() if same[k] == 1}
    times = dict.fromkeys(("right", "wrong", "unattributed", "inserted", "not verified"), 0.0)
    lines = []
    for r in rows:
        time, n = r["self_time_ns"] or 0, pairs.get((r["name"], r["op_type"]))
        line = f"{r['name']} ({r['op_type']}, {time / 1e3:.1f} us)"
        if r["bucket"] in INSERTED and r["op_type"] in CONVERSIONS:
            verdict = "inserted"
        elif not r["nodes"]:
            verdict = "unattributed"
        elif n is None or not truth.may_be(n):
            verdict = "not verified"
        elif set(r["nodes"]) <= {index[k] for k in truth.may_be(n)} | truth.in_branches(n, report["nodes"]):
            verdict = "right"
        else:
            verdict = "wrong"
            line += f": {r['nodes']}, not in {[index[k] for k in truth.may_be(n)]}"
        times[verdict] += time
        if verdict not in ("right", "inserted"):
            lines.append((verdict, line))
    return times, lines


def load(path):
    return onnx.load(path, load_external_data=False)


def problems(model_path, report_path, profile_path, optimized_path):
    """Records that are not on right nodes; a recording without operator time is one."""
    with open(report_path, encoding="utf-8") as f:
        report = json.load(f)
    times, lines = measure(load(model_path), load(optimized_path), report, read_events(profile_path))
    text = [f"{verdict}: {line}" for verdict, line in lines]
    return text if times["right"] > 0 else text + ["no time on right nodes"]


def main(find):
    """A process for all files: importing onnx takes longer than comparing."""
    for line in sys.stdin:
        title, *paths = line.rstrip("\n").split("\t")
        try:
            text = find(*paths)
        except (OSError, ValueError, KeyError) as e:
            text = [f"{type(e).__name__}: {e}"]
        print(title, "; ".join(text), sep="\t")


if __name__ == "__main__":
    main(problems)
