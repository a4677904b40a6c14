#!/usr/bin/env python3
"""Compares the list of ONNX Runtime's CPU provider with ONNX Runtime: providers_ort.py ONNXCOST NODE_MODULES FOLDER [SEED N]

Makes models of one node for every operator and combination of types that the standard permits (python3-onnx), or N
of them, and creates a session of each with onnxruntime-node: NOT_IMPLEMENTED means that no kernel exists. Prints the
counts and every disagreement. Models that are invalid for another reason are left out.
"""
import collections
import csv
import io
import itertools
import os
import random
import subprocess
import sys

import onnx
from onnx import TensorProto, helper

SCRIPT = """
const ort = require(process.argv[2] + '/onnxruntime-node'), fs = require('fs');
(async () => {
  for (const file of fs.readFileSync(0, 'utf8').trim().split('\\n')) {
    let answer = 'ok';
    try { await ort.InferenceSession.create(file, {logSeverityLevel: 4, graphOptimizationLevel: 'disabled'}); }
    catch (e) { answer = /NOT_IMPLEMENTED|Could not find an implementation/i.test(e.message) ? 'none' : 'invalid'; }
    console.log(answer + '\\t' + file);
  }
})();
"""
MOST = 40  # combinations of types of one operator


def elem_type(text):
    if not text.startswith("tensor(") or not text.endswith(")"):
        return None
    return getattr(TensorProto, text[7:-1].upper(), None)


def attribute(a):
    kind = onnx.defs.OpSchema.AttrType
    if a.type == kind.INT:
        return 1
    if a.type == kind.INTS:
        return [1, 1]
    if a.type == kind.FLOAT:
        return 1.0
    if a.type == kind.FLOATS:
        return [1.0]
    return None


def models(schema, opset):
    """Models of one node: the types of its variables in all combinations."""
    inputs = [i for i in schema.inputs if i.option == onnx.defs.OpSchema.FormalParameterOption.Single]
    if len(inputs) < len(schema.inputs) and not inputs:
        inputs = list(schema.inputs[:1])
    attributes = {}
    for name, a in schema.attributes.items():
        if a.required:
            value = attribute(a)
            if value is None:
                return
            attributes[name] = value
    choices = {c.type_param_str: [t for t in (elem_type(x) for x in c.allowed_type_strs) if t]
               for c in schema.type_constraints}
    outputs = schema.outputs[:1]
    used = sorted({i.typeStr for i in list(inputs) + list(outputs) if i.typeStr in choices})
    if any(not choices[v] for v in used):
        return
    combinations = list(itertools.product(*(choices[v] for v in used)))
    random.shuffle(combinations)
    for types in combinations[:MOST]:
        of = dict(zip(used, types))

        def of_type(p):
            return of[p.typeStr] if p.typeStr in of else elem_type(p.typeStr)
        if any(of_type(p) is None for p in list(inputs) + list(outputs)):
            return
        if schema.name == "Cast":
            attributes["to"] = of_type(outputs[0])
        node = helper.make_node(schema.name, ["i%d" % k for k in range(len(inputs))], ["o"], name="node",
                                domain=schema.domain, **attributes)
        graph = helper.make_graph(
            [node], "g", [helper.make_tensor_value_info("i%d" % k, of_type(p), None) for k, p in enumerate(inputs)],
            [helper.make_tensor_value_info("o", of_type(outputs[0]), None)])
        yield types, helper.make_model(graph, ir_version=8,
                                       opset_imports=[helper.make_opsetid(schema.domain, opset)])


def write_models(folder):
    made = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain or schema.deprecated or schema.since_version < 7:
            continue
        for k, (types, model) in enumerate(models(schema, schema.since_version)):
            path = os.path.join(folder, "%s-%d-%d.onnx" % (schema.name, schema.since_version, k))
            made[path] = (schema.name, schema.since_version,
                          " ".join(TensorProto.DataType.Name(t).lower() for t in types), model)
    return made


def predicted(onnxcost, path):
    text = subprocess.run([onnxcost, "providers", path, "--provider", "cpu", "-f", "csv"], capture_output=True,
                          text=True).stdout
    row = next(csv.DictReader(io.StringIO(text)), None)
    if not row:
        return "invalid", "no row"
    if row["provider"] == "cpu":
        return "ok", row["reason"]
    return ("may" if "through its definition" in row["reason"] else "none"), row["reason"]


def main():
    onnxcost, modules, folder = sys.argv[1:4]
    random.seed(int(sys.argv[4]) if len(sys.argv) > 4 else 1)
    made = write_models(folder)
    paths = sorted(made)
    if len(sys.argv) > 5:
        paths = sorted(random.sample(paths, min(len(paths), int(sys.argv[5]))))
    for path in paths:
        onnx.save(made[path][3], path)
    script = os.path.join(folder, "probe.js")
    open(script, "w").write(SCRIPT)
    out = subprocess.run(["node", script, os.path.abspath(modules)], input="\n".join(paths), capture_output=True,
                         text=True).stdout
    count, bad = collections.Counter(), collections.Counter()
    for line in out.splitlines():
        answer, path = line.split("\t")
        if answer == "invalid":
            count["left out: invalid model"] += 1
            continue
        ours, reason = predicted(onnxcost, path)
        if ours == "invalid":
            count["left out: not analysed"] += 1
        elif ours == "may":
            count["not decided: may run through its definition"] += 1
        elif ours == answer:
            count["agree: " + ("runs" if ours == "ok" else "no kernel")] += 1
        else:
            count["differ"] += 1
            bad[(made[path][0], made[path][1], "list: " + ours, "ONNX Runtime: " + answer)] += 1
            if "-v" in sys.argv:
                print(path, made[path][2], reason)
    for key, n in sorted(count.items()):
        print("%-45s %d" % (key, n))
    for key, n in sorted(bad.items()):
        print("differs:", *key, n)


if __name__ == "__main__":
    main()
