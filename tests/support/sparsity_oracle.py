"""Models with random zeros in their weights, dense, sparse and quantized, against a recount with numpy.
    sparsity_oracle.py ONNXCOST FOLDER SEEDS"""
import json
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def zeros_in(r, shape, axis, pattern):
    """Random numbers; with the pattern 2 of 4 along an axis, or a random part of them zero."""
    w = r.uniform(0.5, 1.5, shape) * r.choice([-1, 1], shape)
    if pattern:
        moved = np.moveaxis(w, axis, -1).reshape(-1, shape[axis] // 4, 4)
        for block in moved.reshape(-1, 4):
            block[r.permutation(4)[:2]] = 0
        return np.ascontiguousarray(np.moveaxis(moved.reshape(np.moveaxis(w, axis, -1).shape), -1, axis))
    w[r.random(shape) < r.choice([0.0, 0.1, 0.5, 0.9])] = 0
    return w


def has_pattern(w, axis):
    if w.shape[axis] % 4:
        return False
    blocks = np.moveaxis(w, axis, -1).reshape(-1, 4)
    return bool((np.count_nonzero(blocks, axis=1) <= 2).all())


class Model:
    def __init__(self, seed):
        self.r = np.random.default_rng(seed)
        self.nodes, self.inits, self.sparse, self.inputs, self.want = [], [], [], [], {}

    def store(self, name, w):
        """Dense in a random type, or sparse with linear or coordinate indices. Returns the value to read, and the zeros."""
        kind = self.r.choice(["f32", "f16", "f64", "sparse", "coordinates", "qdq"])
        if kind in ("sparse", "coordinates"):
            flat = w.astype(np.float32).ravel()
            at = np.flatnonzero(flat)
            extra = np.flatnonzero(flat == 0)[:3]  # zeros may be stored too
            at = np.sort(np.concatenate([at, extra]))
            index = at if kind == "sparse" else np.stack(np.unravel_index(at, w.shape), axis=1)
            values = helper.make_tensor(name, TensorProto.FLOAT, [len(at)], flat[at])
            indices = helper.make_tensor(name + "_i", TensorProto.INT64, index.shape, index.astype(np.int64).ravel())
            self.sparse.append(helper.make_sparse_tensor(values, indices, w.shape))
            return name, w, True
        if kind == "qdq":
            zero = int(self.r.choice([0, 7]))
            q = (np.sign(w) * 3 + zero).astype(np.int8)
            self.inits += [numpy_helper.from_array(q, name), numpy_helper.from_array(np.float32(0.5).reshape(()), name + "_s"),
                           numpy_helper.from_array(np.int8(zero).reshape(()), name + "_z")]
            self.nodes.append(helper.make_node("DequantizeLinear", [name, name + "_s", name + "_z"], [name + "_f"]))
            return name + "_f", q.astype(int) - zero, False
        w = w.copy()
        if (w == 0).any():
            w[tuple(np.argwhere(w == 0)[0])] = -0.0
        stored = w.astype({"f32": np.float32, "f16": np.float16, "f64": np.float64}[kind])
        self.inits.append(numpy_helper.from_array(stored, name))
        if kind == "f32":
            return name, stored, False
        self.nodes.append(helper.make_node("Cast", [name], [name + "_f"], to=TensorProto.FLOAT))
        return name + "_f", stored, False

    def add(self, index):
        r, name = self.r, "w%d" % index
        op = r.choice(["MatMul", "Gemm", "GemmT", "Conv", "Grouped", "Transposed"])
        batch, k, n = int(r.integers(1, 4)), int(r.choice([4, 8, 6])), int(r.choice([3, 8]))
        shape, axis = {"MatMul": ((k, n), 0), "Gemm": ((k, n), 0), "GemmT": ((n, k), 1), "Transposed": ((n, k), 1),
                       "Conv": ((n, k, 3, 3), 1), "Grouped": ((8, k // 2, 3, 3), 1)}[op]
        value, w, sparse = self.store(name, zeros_in(r, shape, axis, r.random() < 0.4 and shape[axis] % 4 == 0))
        x = (batch, k, 6, 6) if op in ("Conv", "Grouped") else (batch, k)
        self.inputs.append(helper.make_tensor_value_info("x%d" % index, TensorProto.FLOAT, x))
        if op == "Transposed":
            self.nodes.append(helper.make_node("Transpose", [value], [name + "_t"], perm=[1, 0]))
            value = name + "_t"
        attrs = {"GemmT": {"transB": 1}, "Conv": {"pads": [1] * 4}, "Grouped": {"group": 2}}.get(op, {})
        kind = {"GemmT": "Gemm", "Transposed": "MatMul", "Grouped": "Conv"}.get(op, op)
        self.nodes.append(helper.make_node(kind, ["x%d" % index, value], ["y%d" % index], name="n%d" % index, **attrs))
        uses = batch * (36 if op == "Conv" else 16 if op == "Grouped" else 1)
        self.want["n%d" % index] = (w.size, int((w == 0).sum()), sparse, "2:4" if has_pattern(w, axis) else "none",
                                    uses * w.size, uses * int(np.count_nonzero(w)))


def main():
    tool, folder, seeds = sys.argv[1], sys.argv[2], int(sys.argv[3])
    bad = 0
    for seed in range(seeds):
        m = Model(seed)
        for i in range(4):
            m.add(i)
        outputs = [helper.make_tensor_value_info("y%d" % i, TensorProto.FLOAT, None) for i in range(4)]
        graph = helper.make_graph(m.nodes, "g", m.inputs, outputs, m.inits, sparse_initializer=m.sparse)
        path = "%s/zeros%d.onnx" % (folder, seed)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), path)
        got = json.loads(subprocess.run([tool, path, "--sparsity", "-f", "json"], check=True, stdout=subprocess.PIPE).stdout)
        found = {r["name"]: (r["elements"], r["zeros"], r["stored_sparse"], r["pattern"], r["macs"], r["nonzero_macs"])
                 for r in got["rows"]}
        sums = [sum(w[i] for w in m.want.values()) for i in (0, 1, 4, 5)]
        if found != m.want or sums != [got[k] for k in ("elements", "zeros", "macs", "nonzero_macs")]:
            bad += 1
            print("# seed %d: %s, by numpy %s" % (seed, found, m.want))
    print("%sok 1 - %d models with zeros: elements, zeros, pattern and MACs as by numpy" % ("not " if bad else "", seeds))
    return bad > 0


sys.exit(main())
