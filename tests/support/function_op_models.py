#!/usr/bin/python3
"""Writes networks around the function operators of the ONNX standard and of com.microsoft, in the types for which
ONNX Runtime 1.30 has no CPU kernel and expands them: several copies of each, other operators between them, a random
order, nodes with and without names. Of each network there are two: NAME.onnx, in which all copies have the same
sizes, and NAME.sizes.onnx with the same nodes, in which the second but last dimension is another prime number for each
copy, so that recorded shapes show the copy (function_truth.py).

usage: function_op_models.py FOLDER SEED [mixed]     one network per operator and form; mixed: a few networks with many
                                                     forms each. Prints the names of the networks. Needs python3-onnx."""
import random
import sys

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper, numpy_helper

TYPES = {"f": (T.FLOAT, np.float32), "h": (T.FLOAT16, np.float16), "d": (T.DOUBLE, np.float64),
         "i": (T.INT64, np.int64), "B": (T.BOOL, np.bool_)}
N = -1 # the size that differs
X, FLAT, HEADS = [2, 8, N, 6], [2, N, 32], [2, 4, N, 8]
PRIMES = [n for n in range(11, 400) if all(n % k for k in range(2, 20) if k < n)]
FORMS = []
KEEPING = {"Mish", "HardSwish", "Swish", "Gelu", "LeakyRelu", "Softmax", "LogSoftmax", "Relu", "Elu", "Softplus", "Celu",
           "Shrink", "MeanVarianceNormalization", "PRelu", "GroupNormalization", "LayerNormalization",
           "RMSNormalization", "RotaryEmbedding", "Attention", "FastGelu", "QuickGelu", "Bernoulli"}


def form(op, opset, types, inputs, outputs=1, domain="", **attributes):
    """Inputs: a shape (an activation), (shape, None) (a weight), an array (a constant), None (absent)."""
    for t in types:
        FORMS.append({"op": op, "opset": opset, "type": t, "inputs": inputs, "outputs": outputs, "domain": domain,
                      "attributes": attributes})


def weight(*shape):
    return (list(shape), None)


def standard_forms():
    for op, opset, types in [
            ("Mish", 18, "fhd"), ("Mish", 22, "fh"), ("HardSwish", 14, "fh"), ("HardSwish", 22, "fh"),
            ("Swish", 24, "fhd"), ("Gelu", 20, "h"), ("LeakyRelu", 16, "hd"), ("Softmax", 13, "h"),
            ("LogSoftmax", 13, "h"), ("ReduceL1", 18, "h"), ("ReduceL2", 18, "h"), ("ReduceLogSum", 18, "h"),
            ("ReduceLogSumExp", 18, "h"), ("ReduceSumSquare", 18, "h"), ("Bernoulli", 15, "fd"),
            ("Relu", 14, "f"), ("Elu", 22, "f"), ("Softplus", 22, "f"), ("Celu", 12, "f"), ("Shrink", 9, "f"),
            ("MeanVarianceNormalization", 13, "f"), ("Det", 22, "f")]:
        form(op, opset, types, [[N, 6, 6] if op == "Det" else X])
    form("Gelu", 20, "hd", [X], approximate="tanh")
    form("PRelu", 16, "hd", [X, weight(8, 1, 1)])
    form("GreaterOrEqual", 16, "h", [X, X])
    form("LessOrEqual", 12, "h", [X, X])
    for opset in (15, 19, 24):
        form("CastLike", opset, "fd", [X, np.ones(1, np.float32)])
    form("GroupNormalization", 18, "fd", [X, weight(4), weight(4)], num_groups=4)
    form("GroupNormalization", 21, "fhd", [X, weight(8), weight(8)], num_groups=4)
    form("LayerNormalization", 17, "f", [X, weight(6), weight(6)])
    form("RMSNormalization", 23, "f", [X, weight(6)])
    form("RotaryEmbedding", 23, "f", [HEADS, weight(2, N, 4), weight(2, N, 4)])
    for opset in (23, 24):
        form("Attention", opset, "fd", [HEADS] * 3)
        form("Attention", opset, "d", [HEADS] * 3, softcap=2.0)
        form("Attention", opset, "d", [FLAT, FLAT, FLAT], q_num_heads=4, kv_num_heads=4, scale=0.25)
        form("Attention", opset, "d", [FLAT, [2, N, 16], [2, N, 16], weight(N, N)], q_num_heads=4, kv_num_heads=2)
        form("Attention", opset, "d", [HEADS, HEADS, HEADS, None, [2, 4, N, 8], [2, 4, N, 8]], 3)
    form("AffineGrid", 20, "h", [[2, 2, 3], ("dims", [2, 3, N, 6])])
    form("AffineGrid", 20, "h", [[2, 3, 4], ("dims", [2, 3, 4, N, 6])], align_corners=1)
    form("CenterCropPad", 18, "fhd", [X, np.array([4, 8], np.int64)], axes=[1, 3])
    form("CenterCropPad", 18, "f", [X, ("dims", [2, 4, N, 5])])
    labels = ("zeros", [2, N, 6])
    for opset in (12, 13, 22):
        for reduction in ("mean", "none", "sum"):
            form("NegativeLogLikelihoodLoss", opset, "f", [X, labels], reduction=reduction)
        form("NegativeLogLikelihoodLoss", opset, "fh", [X, labels, weight(8)])
        form("NegativeLogLikelihoodLoss", opset, "f", [X, labels, weight(8)], ignore_index=2)
    for opset in (12, 13):
        for reduction in ("mean", "none"):
            form("SoftmaxCrossEntropyLoss", opset, "fh", [X, labels], reduction=reduction)
        form("SoftmaxCrossEntropyLoss", opset, "f", [X, labels, weight(8)], 2, ignore_index=1)


def contributed_forms():
    form("Gelu", 17, "fh", [X], domain="com.microsoft")
    form("FastGelu", 17, "fhd", [X], domain="com.microsoft")
    form("FastGelu", 17, "hd", [X, weight(6)], domain="com.microsoft")
    form("QuickGelu", 17, "fhd", [X], domain="com.microsoft")


class Network:
    def __init__(self, seed, opset, primes):
        self.rng, self.opset, self.primes = random.Random(seed), opset, primes
        self.data = np.random.default_rng(seed)
        self.nodes, self.inputs, self.weights, self.free, self.copies = [], [], [], {}, 0
        self.used, self.named = set(), self.rng.choice([0, 0.5, 1])

    def node(self, op, inputs, outputs, **attributes):
        if self.rng.random() < self.named:
            attributes["name"] = f"{op.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, outputs, **attributes))
        self.used.update(inputs)
        return outputs[0]

    def constant(self, data):
        self.weights.append(numpy_helper.from_array(data, f"w{len(self.weights)}"))
        return self.weights[-1].name

    def random_weight(self, kind, shape):
        data = self.data.uniform(0.1, 0.9, shape)
        return self.constant(np.asarray(data).astype(TYPES[kind][1]))

    def tensor(self, kind, shape, size):
        """An activation of that size: of another operator, or a new input."""
        dims = [size if d == N else d for d in shape]
        before = self.free.setdefault((kind, tuple(shape)), [])
        if N in shape and before and self.rng.random() < 0.7:
            x, old = self.rng.choice(before[-3:])
            x = self.node("MatMul", [self.random_weight(kind, [size, old]), x], [f"t{len(self.nodes)}"])
        else:
            x = f"x{len(self.inputs)}"
            self.inputs.append(helper.make_tensor_value_info(x, TYPES[kind][0], dims))
        for _ in range(self.rng.choice([0, 1, 1, 2])):
            x = self.other(x, kind, dims)
        return x

    def other(self, x, kind, dims):
        out = [f"t{len(self.nodes)}"]
        if self.rng.random() < 0.4:
            return self.node(self.rng.choice(["Sin", "Neg"] if kind == "f" else ["Abs", "Neg"]), [x], out)
        return self.node(self.rng.choice(["Add", "Mul"]), [x, self.random_weight(kind, dims[-1:])], out)

    def input_of(self, kind, i, size):
        if isinstance(i, np.ndarray):
            return self.constant(i)
        if isinstance(i, list):
            return self.tensor(kind, i, size)
        what, dims = i if isinstance(i[0], str) else ("weight", i[0])
        dims = [size if d == N else d for d in dims]
        if what == "weight":
            return self.random_weight(kind, dims)
        return self.constant(np.array(dims) if what == "dims" else np.zeros(dims, np.int64))

    def copy(self, f):
        kind, size = f["type"], PRIMES[self.copies] if self.primes else 7
        self.copies += 1
        names = ["" if i is None else self.input_of(kind, i, size) for i in f["inputs"]]
        outputs = [f"y{len(self.nodes)}_{k}" for k in range(f["outputs"])]
        attributes = dict(f["attributes"], domain=f["domain"]) if f["domain"] else f["attributes"]
        y = self.node(f["op"], names, outputs, **attributes)
        if f["op"] in KEEPING: # its output has the shape of its input
            self.free[kind, tuple(f["inputs"][0])].append((y, size))

    def save(self, path):
        outputs = [o for n in self.nodes for o in n.output if o not in self.used]
        results = [onnx.ValueInfoProto(name=o) for o in outputs]
        graph = helper.make_graph(self.nodes, "g", self.inputs, results, self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset),
                                                        helper.make_opsetid("com.microsoft", 1)])
        model.ir_version = 8
        onnx.save(model, path)


def write(path, forms, seed, copies, primes):
    net = Network(seed, forms[0]["opset"], primes)
    todo = [f for f in forms for _ in range(net.rng.randint(*copies))]
    net.rng.shuffle(todo)
    for f in todo:
        net.copy(f)
    net.save(path)


def main(folder, seed, mixed=""):
    standard_forms()
    contributed_forms()
    groups = {}
    for k, f in enumerate(FORMS):
        key = f"opset{f['opset']}" if mixed else f"{f['op'].lower()}{f['opset']}{f['type']}_{k}"
        groups.setdefault(key, []).append(f)
    for key, forms in groups.items():
        for primes in (False, True):
            write(f"{folder}/{key}{'.sizes' if primes else ''}.onnx", forms, int(seed), (1, 2) if mixed else (2, 4), primes)
        print(key)


main(*sys.argv[1:])
