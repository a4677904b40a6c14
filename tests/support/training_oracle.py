"""Random small graphs, differentiated by definition: every tensor is an array of scalars, every operator the additions and
products of its definition, and the reverse sweep multiplies by each partial derivative that is not 1 or -1. Compares with
onnxcost --training: multiplications of the backward pass, bytes that it reads of the forward pass, trainable parameters.
    training_oracle.py ONNXCOST FOLDER SEEDS"""
import json
import math
import random
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Scalar:
    """One number: its value, and for each operand it depends on the partial derivative with its cost in
    multiplications and the scalars that it reads."""
    __slots__ = ("v", "uses", "grad", "live", "tensor")

    def __init__(self, v, uses=()):
        self.v, self.uses, self.grad, self.live, self.tensor = v, uses, 0.0, False, None


class Net:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.order = []      # scalars in order of creation
        self.values = {}     # name: array of Scalar
        self.buffer = {}     # name: name of the tensor whose memory it shares
        self.params = set()
        self.nodes, self.inits, self.inputs = [], [], []
        self.read = set()    # names of tensors that the reverse sweep reads
        self.muls = 0

    def new(self, v, uses=()):
        s = Scalar(v, [u for u in uses if u[0].live])
        s.live = bool(s.uses)
        self.order.append(s)
        return s

    def put(self, name, array, source=None):
        self.values[name] = array
        self.buffer[name] = self.buffer[source] if source else name
        for s in array.flat:
            s.tensor = s.tensor or name

    def name(self, kind):
        return "%s%d" % (kind, len(self.values))

    def leaf(self, shape, param):
        name = self.name("w" if param else "x")
        array = np.empty(shape, dtype=object)
        for i in np.ndindex(*shape):
            array[i] = Scalar(self.r.uniform(-0.5, 0.5) + (1 if param else 0))
            array[i].live = param
        self.put(name, array)
        if param:
            self.params.add(name)
            data = np.vectorize(lambda s: s.v)(array).astype(np.float32)
            self.inits.append(numpy_helper.from_array(data, name))
        else:
            self.inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
        return name

    def node(self, op, ins, out, source=None, **attrs):
        name = self.name("t")
        self.put(name, out, source)
        self.nodes.append(helper.make_node(op, ins, [name], name="n" + name, **attrs))
        return name

    # ---- scalars

    def mul(self, a, b):
        return self.new(a.v * b.v, [(a, b.v, 1, [b]), (b, a.v, 1, [a])])

    def total(self, terms):
        return self.new(sum(t.v for t in terms), [(t, 1.0, 0, []) for t in terms])

    # ---- operators

    def broadcast(self, a, b):
        return np.broadcast_arrays(self.values[a], self.values[b])

    def each2(self, op, a, b):
        x, y = self.broadcast(a, b)
        out = np.empty(x.shape, dtype=object)
        for i in np.ndindex(*x.shape):
            p, q = x[i], y[i]
            if op == "Mul":
                out[i] = self.mul(p, q)
            elif op == "Div":
                s = self.new(p.v / q.v)
                s.uses = [u for u in [(p, 1 / q.v, 0, [q]), (q, -p.v / q.v / q.v, 1, [q, s])] if u[0].live]
                s.live = bool(s.uses)
                out[i] = s
            else:
                sign = -1.0 if op == "Sub" else 1.0
                out[i] = self.new(p.v + sign * q.v, [(p, 1.0, 0, []), (q, sign, 0, [])])
        return self.node(op, [a, b], out)

    def each1(self, op, a):
        out = np.empty(self.values[a].shape, dtype=object)
        for i in np.ndindex(*out.shape):
            p = self.values[a][i]
            if op == "Relu":
                s, d, n = max(p.v, 0.0), float(p.v > 0), 0
            elif op == "Sigmoid":
                s = 1 / (1 + math.exp(-p.v))
                d, n = s * (1 - s), 2
            elif op == "Tanh":
                s = math.tanh(p.v)
                d, n = 1 - s * s, 2
            else:
                s = math.exp(min(p.v, 5.0)) if op == "Exp" else math.sqrt(abs(p.v) + 1e-3)
                d, n = (s, 1) if op == "Exp" else (0.5 / s, 1)
            one = self.new(s)
            one.uses = [(p, d, n, [one])] if p.live else []
            one.live = p.live
            out[i] = one
        return self.node(op, [a], out)

    def softmax(self, a):
        x = self.values[a]
        out = np.empty(x.shape, dtype=object)
        for row in np.ndindex(*x.shape[:-1]):
            e = [math.exp(s.v - max(t.v for t in x[row])) for s in x[row]]
            for k in range(x.shape[-1]):
                out[row + (k,)] = self.new(e[k] / sum(e))
            live = any(s.live for s in x[row])
            for k in range(x.shape[-1]):
                out[row + (k,)].live = live
                out[row + (k,)].uses = [("softmax", out[row], x[row])] if live and k == 0 else []
        return self.node("Softmax", [a], out, axis=-1)

    def matmul(self, a, b, op="MatMul", bias=None):
        x, y = self.values[a], self.values[b]
        batch = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
        x, y = np.broadcast_to(x, batch + x.shape[-2:]), np.broadcast_to(y, batch + y.shape[-2:])
        out = np.empty(batch + (x.shape[-2], y.shape[-1]), dtype=object)
        for i in np.ndindex(*out.shape):
            terms = [self.mul(x[i[:-2] + (i[-2], k)], y[i[:-2] + (k, i[-1])]) for k in range(x.shape[-1])]
            if bias:
                terms.append(self.values[bias][i[-1]])
            out[i] = self.total(terms)
        return self.node(op, [a, b] + ([bias] if bias else []), out)

    def conv(self, a, b, group, stride, bias):
        x, w = self.values[a], self.values[b]
        k = w.shape[2]
        size = (x.shape[2] - k) // stride + 1
        out = np.empty((x.shape[0], w.shape[0], size, size), dtype=object)
        per = w.shape[0] // group
        for n, m, i, j in np.ndindex(*out.shape):
            terms = [self.mul(x[n, m // per * w.shape[1] + c, i * stride + p, j * stride + q], w[m, c, p, q])
                     for c in range(w.shape[1]) for p in range(k) for q in range(k)]
            if bias:
                terms.append(self.values[bias][m])
            out[n, m, i, j] = self.total(terms)
        return self.node("Conv", [a, b] + ([bias] if bias else []), out, group=group, strides=[stride, stride])

    # ---- the reverse sweep

    def backward(self, output):
        """Whole tensors have gradients, zeros included, as kernels compute them."""
        for s in self.values[output].flat:
            s.grad = 1.0
        reached = {output}
        inner = set()  # products and sums inside of an operator
        for s in reversed(self.order):
            if not (s.tensor in reached or id(s) in inner):
                continue
            for use in s.uses:
                if use[0] == "softmax":
                    self.softmax_row(use[1], use[2], reached)
                    continue
                p, partial, muls, reads = use
                p.grad += s.grad * partial
                reached.add(p.tensor) if p.tensor else inner.add(id(p))
                self.muls += muls
                self.read.update(t.tensor for t in reads if t.tensor)
        return reached

    def softmax_row(self, y, x, reached):
        dot = sum(t.grad * t.v for t in y)
        self.muls += 2 * len(y)
        self.read.add(y[0].tensor)
        for t, p in zip(y, x):
            if p.live:
                p.grad += t.v * (t.grad - dot)
                reached.add(p.tensor)


def random_net(seed):
    net = Net(seed)
    r = net.r
    image = r.random() < 0.4
    if image:
        x = net.leaf((r.randint(1, 2), 4, 6, 6), False)
        for _ in range(r.randint(1, 2)):
            group = r.choice([1, 1, 2, 4])
            channels = net.values[x].shape[1]
            if net.values[x].shape[2] < 3:
                break
            w = net.leaf((4, channels // group, 3, 3), True)
            x = net.conv(x, w, group, r.randint(1, 2), net.leaf((4,), True) if r.random() < 0.5 else None)
            x = net.each1(r.choice(["Relu", "Sigmoid"]), x)
        shape = net.values[x].shape
        x = net.node("Flatten", [x], net.values[x].reshape(shape[0], -1), source=x, axis=1)
    else:
        x = net.leaf((r.randint(2, 3), r.randint(2, 4)), False)
    have = [x]
    for _ in range(r.randint(3, 8)):
        a = r.choice(have[-3:])
        shape = net.values[a].shape
        kind = r.choice(["linear", "linear", "gemm", "gate", "same", "each", "softmax", "attend", "scale"])
        if kind == "linear":
            b = net.matmul(a, net.leaf((shape[-1], r.randint(2, 5)), True))
        elif kind == "gemm":
            n = r.randint(2, 5)
            b = net.matmul(a, net.leaf((shape[-1], n), True), "Gemm", net.leaf((n,), True))
        elif kind == "gate":
            b = net.each2("Mul", a, net.each1("Sigmoid", a))
        elif kind == "same":
            other = [t for t in have if net.values[t].shape == shape]
            b = net.each2(r.choice(["Add", "Sub", "Mul"]), a, r.choice(other))
        elif kind == "scale" and shape[-1] > 1:  # a single number is a constant, not a parameter
            b = net.each2(r.choice(["Mul", "Div", "Add"]), a, net.leaf((shape[-1],), True))
        elif kind == "each":
            b = net.each1(r.choice(["Relu", "Tanh", "Sigmoid", "Exp"]), a)
        elif kind in ("softmax", "scale"):
            b = net.softmax(a)
        else:
            copy = np.empty(shape[::-1], dtype=object)
            for i in np.ndindex(*shape):
                copy[i[::-1]] = net.new(net.values[a][i].v, [(net.values[a][i], 1.0, 0, [])])
            view = a if 1 in shape else None  # no data moves
            b = net.matmul(a, net.node("Transpose", [a], copy, view, perm=[1, 0]))
        have.append(b)
    return net, have[-1]


def numeric_check(net, output):
    """The tape's gradient of one parameter against the difference of two evaluations of the model."""
    names = sorted(net.params)
    if not names:
        return
    name = names[0]
    index = tuple(0 for _ in net.values[name].shape)
    exact = net.values[name][index].grad

    def evaluate(shift):
        value = {n: np.vectorize(lambda s: s.v)(net.values[n]).astype(float)
                 for n in list(net.params) + [i.name for i in net.inputs]}
        value[name][index] += shift
        for node in net.nodes:
            x = [value[i] for i in node.input]
            value[node.output[0]] = run(node, x)
        return value[output].sum()

    def run(node, x):
        attrs = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        op = node.op_type
        if op == "Conv":
            w, s, group = x[1], attrs["strides"][0], attrs["group"]
            k, size = w.shape[2], (x[0].shape[2] - x[1].shape[2]) // s + 1
            out = np.zeros((x[0].shape[0], w.shape[0], size, size))
            per = w.shape[0] // group
            for m in range(w.shape[0]):
                part = x[0][:, m // per * w.shape[1]:(m // per + 1) * w.shape[1]]
                for i in range(size):
                    for j in range(size):
                        out[:, m, i, j] = (part[:, :, i * s:i * s + k, j * s:j * s + k] * w[m]).sum(axis=(1, 2, 3))
            return out + x[2].reshape(1, -1, 1, 1) if len(x) > 2 else out
        table = {"MatMul": lambda: x[0] @ x[1], "Gemm": lambda: x[0] @ x[1] + x[2], "Add": lambda: x[0] + x[1],
                 "Sub": lambda: x[0] - x[1], "Mul": lambda: x[0] * x[1], "Div": lambda: x[0] / x[1],
                 "Relu": lambda: np.maximum(x[0], 0), "Sigmoid": lambda: 1 / (1 + np.exp(-x[0])),
                 "Tanh": lambda: np.tanh(x[0]), "Exp": lambda: np.exp(np.minimum(x[0], 5)),
                 "Flatten": lambda: x[0].reshape(x[0].shape[0], -1), "Transpose": lambda: x[0].T,
                 "Softmax": lambda: np.exp(x[0]) / np.exp(x[0]).sum(axis=-1, keepdims=True)}
        return table[op]()

    near = (evaluate(1e-6) - evaluate(-1e-6)) / 2e-6
    assert abs(near - exact) <= 1e-3 * max(1.0, abs(exact)), ("tape", exact, near)


def figures(net, output):
    reached = net.backward(output)
    saved = {net.buffer[t] for t in net.read} - net.params
    nbytes = sum(4 * net.values[t].size for t in saved)
    params = sum(net.values[p].size for p in net.params & reached)
    return net.muls, nbytes, params


def main():
    tool, folder, seeds = sys.argv[1], sys.argv[2], int(sys.argv[3])
    weights = folder + "/weights"
    with open(weights, "w", encoding="ascii") as f:
        f.write("MAC 1\nMUL 1\n" + "".join("%s 0\n" % k for k in (
            "ADD CMP RND BIT DIV SQRT EXP LOG SIN TAN TANH SIG ERF POW RNG").split()))
    bad = 0
    for seed in range(seeds):
        net, output = random_net(seed)
        shape = net.values[output].shape
        graph = helper.make_graph(net.nodes, "g", net.inputs, [
            helper.make_tensor_value_info(output, TensorProto.FLOAT, shape)], net.inits)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
        path = "%s/net%d.onnx" % (folder, seed)
        onnx.save(model, path)
        muls, nbytes, params = figures(net, output)
        if seed < 20:
            numeric_check(net, output)
        text = subprocess.run([tool, path, "--training", "sgd", "--count", f"weights={weights}", "-f", "json"],
                              check=True, stdout=subprocess.PIPE).stdout
        got = json.loads(text)
        found = (got["backward_flops"], got["memory"]["saved_bytes"], got["memory"]["trainable_params"])
        if found != (muls, nbytes, params) or got["unknown_nodes"]:
            bad += 1
            print("# seed %d: %s, by definition %s; %s" % (
                seed, found, (muls, nbytes, params), " ".join(n.op_type for n in net.nodes)))
    print("%sok 1 - %d random graphs: multiplications, saved bytes and parameters as by definition" % (
        "not " if bad else "", seeds))
    return bad > 0


sys.exit(main())
