#!/usr/bin/python3
"""Writes small networks in which ONNX Runtime gives its nodes generated names: operators that it expands as
functions (mish.onnx, groupnorm.onnx ...), local functions two levels deep, called several times (local.onnx ...), and
fusions (matmul.onnx, gemm_unnamed.onnx ...). Needs python3-onnx."""
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

random = np.random.default_rng(1)


class Graph:
    def __init__(self):
        self.nodes, self.weights = [], []

    def weight(self, name, *shape):
        data = random.standard_normal(shape).astype(np.float32) * np.float32(0.1)
        self.weights.append(numpy_helper.from_array(data, name))
        return name

    def add(self, op, inputs, output, **attributes):
        self.nodes.append(helper.make_node(op, inputs, [output], **attributes))
        return output

    def save(self, path, shape, output, opset, functions=()):
        graph = helper.make_graph(
            self.nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
            [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)], self.weights)
        opsets = [helper.make_opsetid("", opset)]
        if functions:
            opsets.append(helper.make_opsetid("local", 1))
        model = helper.make_model(graph, opset_imports=opsets, functions=list(functions))
        model.ir_version = 8
        onnx.save(model, path)


def convolution(g, x, k, channels_in, channels, **attributes):
    w = g.weight(f"w{k}", channels, channels_in, 3, 3)
    return g.add("Conv", [x, w, g.weight(f"b{k}", channels)], f"c{k}", name=f"conv{k}", pads=[1, 1, 1, 1],
                 **attributes)


def activations(path, op, opset, named):
    g, x = Graph(), "x"
    for k, (channels_in, channels) in enumerate([(3, 24), (24, 40), (40, 40), (40, 64)]):
        x = convolution(g, x, k, channels_in, channels)
        name = {"name": f"act{k}"} if named else {}
        x = g.add(op, [x], f"a{k}", **name)
    x = g.add("GlobalAveragePool", [x], "p", name="pool")
    x = g.add("Flatten", [x], "f", name="flat")
    x = g.add("Gemm", [x, g.weight("fc", 64, 32)], "fc_out", name="fc")
    g.add(op, [x], "y", name="last")
    g.save(path, [1, 3, 64, 64], "y", opset)


def group_norms(path, opset):
    g, x = Graph(), "x"
    for k, (channels_in, channels) in enumerate([(3, 32), (32, 32), (32, 64)]):
        x = convolution(g, x, k, channels_in, channels)
        n = channels if opset >= 21 else 8
        x = g.add("GroupNormalization", [x, g.weight(f"s{k}", n), g.weight(f"o{k}", n)], f"n{k}", name=f"norm{k}",
                  num_groups=8, epsilon=1e-5)
        s = g.add("Sigmoid", [x], f"sig{k}", name=f"sig{k}")
        x = g.add("Mul", [x, s], f"swish{k}", name=f"swish{k}")
    g.save(path, [1, 3, 48, 48], x, opset)


def local_functions(path, norm):
    at = [helper.make_opsetid("", 18), helper.make_opsetid("local", 1)]
    node, function = helper.make_node, helper.make_function
    linear = function("local", "Linear", ["x", "w", "b"], ["y"],
                      [node("MatMul", ["x", "w"], ["t"], name="mm"), node("Add", ["t", "b"], ["y"], name="ad")], at)
    half = numpy_helper.from_array(np.float32(0.5))
    act = function("local", "Act", ["x"], ["y"],
                   [node("Constant", [], ["c"], value=half), node("Mul", ["x", "c"], ["t"]),
                    node("Mish", ["t"], ["u"]), node("HardSwish", ["u"], ["y"], name="hs")], at)
    body = [node("Linear", ["x", "w", "b"], ["h"], domain="local", name="up"),
            node("Act", ["h"], ["a"], domain="local", name="act"),
            node("Linear", ["a", "v", "u"], ["z"], domain="local"),
            node("Add", ["z", "x"], ["s"], name="sum")]
    if norm:
        body.append(node("LayerNormalization", ["s", "g"], ["y"], name="norm", axis=-1))
    else:
        body.append(node("Softmax", ["s"], ["y"]))
    block = function("local", "Block", ["x", "w", "b", "v", "u", "g"], ["y"], body, at)
    g, x = Graph(), "x"
    for k in range(4):
        inputs = [x, g.weight(f"w{k}", 64, 160), g.weight(f"b{k}", 160), g.weight(f"v{k}", 160, 64),
                  g.weight(f"u{k}", 64), g.weight(f"g{k}", 64)]
        x = g.add("Block", inputs, f"y{k}", domain="local", **({} if k == 1 else {"name": f"block{k}"}))
    x = g.add("HardSwish", [x], "hs", name="hs")
    g.add("Linear", [x, g.weight("w9", 64, 32), g.weight("b9", 32)], "y", domain="local", name="head")
    g.save(path, [48, 64], "y", 18, [linear, act, block])


def dense(path, op, named):
    """Layers whose fusions get generated names: MatMul and Add, Gemm and activation, MatMul and normalization."""
    g, x, width = Graph(), "x", 96
    for k, n in enumerate([64, 64, 48, 32, 10]):
        name = {"name": f"dense{k}"} if named else {}
        add = {"name": f"bias{k}"} if named else {}
        if op == "Gemm":
            x = g.add("Gemm", [x, g.weight(f"w{k}", width, n), g.weight(f"b{k}", n)], f"m{k}", **name)
        else:
            x = g.add("MatMul", [x, g.weight(f"w{k}", width, n)], f"m{k}", **name)
        if op == "MatMul":
            x = g.add("Add", [x, g.weight(f"b{k}", n)], f"a{k}", **add)
        if op == "BatchNormalization":
            parts = [g.weight(f"{p}{k}", n) for p in ("scale", "shift", "mean")]
            g.weights.append(numpy_helper.from_array(np.ones(n, np.float32), f"v{k}"))
            x = g.add("BatchNormalization", [x, *parts, f"v{k}"], f"n{k}", **add)
        x = g.add("Relu" if k % 2 == 0 else "Tanh", [x], f"r{k}")
        width = n
    g.save(path, [16, 96], x, 17)


def scaled(path):
    """A normalization written as a product and a sum of constants."""
    g, x = Graph(), "x"
    for k, (channels_in, channels) in enumerate([(3, 32), (32, 32), (32, 32)]):
        x = convolution(g, x, k, channels_in, channels)
        x = g.add("MaxPool", [x], f"p{k}", name=f"pool{k}", kernel_shape=[2, 2])
        x = g.add("Mul", [x, g.weight(f"s{k}", channels, 1, 1)], f"m{k}", name=f"scale{k}")
        x = g.add("Add", [x, g.weight(f"o{k}", channels, 1, 1)], f"o{k}_sum", name=f"offset{k}")
        x = g.add("Relu", [x], f"r{k}", name=f"relu{k}")
    g.save(path, [1, 3, 64, 64], x, 17)


def main(folder):
    for op in ("MatMul", "Gemm", "BatchNormalization"):
        dense(f"{folder}/{op.lower()}.onnx", op, True)
        dense(f"{folder}/{op.lower()}_unnamed.onnx", op, False)
    scaled(f"{folder}/scaled.onnx")
    activations(f"{folder}/mish.onnx", "Mish", 18, True)
    activations(f"{folder}/hardswish_unnamed.onnx", "HardSwish", 14, False)
    group_norms(f"{folder}/groupnorm.onnx", 21)
    group_norms(f"{folder}/groupnorm18.onnx", 18)
    local_functions(f"{folder}/local.onnx", False)
    local_functions(f"{folder}/local_norm.onnx", True)


main(sys.argv[1])
