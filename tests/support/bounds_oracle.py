"""Random models with open dimensions: the bounds of onnxcost --dim N=A..B against the figures at every size (lists of --dim), and
the verdicts of check against the largest of them.
    bounds_oracle.py ONNXCOST FOLDER SEEDS"""
import csv
import io
import json
import random
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

KEYS = {"macs": ["macs"], "flops": ["flops"], "ops": ["ops"], "params": ["params"],
        "bytes": ["bytes_read_act", "bytes_read_weight", "bytes_written"], "peak_activation_bytes": ["peak_activation_bytes"]}


class Net:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.nodes, self.inits, self.count = [], [], 0

    def name(self):
        self.count += 1
        return "t%d" % self.count

    def const(self, array):
        name = self.name()
        self.inits.append(numpy_helper.from_array(array, name))
        return name

    def node(self, op, ins, **attrs):
        out = self.name()
        self.nodes.append(helper.make_node(op, ins, [out], name="n" + out, **attrs))
        return out

    def images(self):
        """float[N,c,H,W]: convolutions, pools, branches, a classifier."""
        r, x, c = self.r, "x", 3
        for _ in range(r.randint(1, 4)):
            kind = r.choice(["conv", "conv", "depthwise", "max", "average", "branch", "resize"])
            if kind == "conv":
                k, n = r.choice([1, 3, 5]), r.choice([4, 8])
                pads = [r.randint(0, k // 2) for _ in range(4)]
                x = self.node("Conv", [x, self.const(np.zeros((n, c, k, k), np.float32))], strides=[r.randint(1, 3)] * 2, pads=pads)
                c = n
            elif kind == "depthwise":
                x = self.node("Conv", [x, self.const(np.zeros((c, 1, 3, 3), np.float32))], group=c, pads=[1] * 4)
            elif kind in ("max", "average"):
                x = self.node("MaxPool" if kind == "max" else "AveragePool", [x], kernel_shape=[2, 2], strides=[2, 2],
                              ceil_mode=r.randint(0, 1) if kind == "max" else 0)
            elif kind == "resize":
                x = self.node("Resize", [x, "", self.const(np.array([1, 1, 2, 2], np.float32))], mode="nearest")
            else:
                y = self.node("Relu", [x])
                x = self.node("Concat", [y, self.node("Sigmoid", [x])], axis=1)
                c *= 2
        if r.random() < 0.5:
            x = self.node("GlobalAveragePool", [x])
            x = self.node("Flatten", [x])
            x = self.node("Gemm", [x, self.const(np.zeros((c, 10), np.float32))])
        return x, ["N", 3, "H", "W"], {"N": (1, 3), "H": (12, 12 + r.randint(0, 30)), "W": (12, 12 + r.randint(0, 5))}

    def sequences(self):
        """float[B,S,8]: projections, attention, normalisation, slices; S appears squared."""
        r, x = self.r, "x"
        for _ in range(r.randint(1, 4)):
            kind = r.choice(["linear", "attention", "norm", "slice", "heads", "mean", "pad"])
            if kind == "linear":
                x = self.node("MatMul", [x, self.const(np.zeros((8, 8), np.float32))])
            elif kind == "attention":
                s = self.node("MatMul", [x, self.node("Transpose", [x], perm=[0, 2, 1])])
                x = self.node("MatMul", [self.node("Softmax", [s], axis=-1), x])
            elif kind == "norm":
                one = self.const(np.ones(8, np.float32))
                x = self.node("LayerNormalization", [x, one, one])
            elif kind == "slice":
                ends = [self.const(np.array([v], np.int64)) for v in (r.randint(0, 2), r.choice([-1, -2, 1000]), 1)]
                x = self.node("Slice", [x] + ends)
            elif kind == "heads":
                x = self.node("Reshape", [x, self.const(np.array([0, -1, 4, 2], np.int64))])
                x = self.node("Transpose", [x], perm=[0, 2, 1, 3])
                x = self.node("Transpose", [x], perm=[0, 2, 1, 3])
                x = self.node("Reshape", [x, self.const(np.array([0, 0, 8], np.int64))])
            elif kind == "pad":
                x = self.node("Pad", [x, self.const(np.array([0, 2, 0, 0, 1, 0], np.int64))])
            else:
                y = self.node("ReduceMean", [x], axes=[1], keepdims=1)
                x = self.node("Sub", [x, y])
        return x, ["N", "S", 8], {"N": (1, r.randint(1, 4)), "S": (6, 6 + r.randint(0, 60))}


def run(*args):
    p = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return p.returncode, p.stdout.decode(), p.stderr.decode()


def every_size(tool, path, ranges, options):
    sweep = [a for k, (lo, hi) in ranges.items() for a in ("-d", "%s=%d..%d+1" % (k, lo, hi))]
    rc, out, err = run(tool, path, "-f", "csv", *sweep, *options)
    assert rc == 0, err
    return [r for r in csv.DictReader(io.StringIO(out)) if not r["failure"] and r["quality"] == "exact"]


def main():
    tool, folder, seeds = sys.argv[1], sys.argv[2], int(sys.argv[3])
    bad = unclear = tight = figures = 0
    for seed in range(seeds):
        net = Net(seed)
        out, shape, ranges = net.images() if seed % 2 else net.sequences()
        for name in list(ranges):  # some sizes are fixed
            if net.r.random() < 0.3 and len(ranges) > 1 and name != "S":
                ranges[name] = (ranges[name][0],) * 2
        options = net.r.choice([[], ["--count", "taps=valid"], ["--count", "strict-reduce"], ["--count", "inplace"], ["--count", "align=64"]])
        graph = helper.make_graph(net.nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
                                  [helper.make_tensor_value_info(out, TensorProto.FLOAT, None)], net.inits)
        path = "%s/range%d.onnx" % (folder, seed)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)
        rows = every_size(tool, path, ranges, options)
        dims = [a for k, (lo, hi) in ranges.items() for a in ("--dim", "%s=%d..%d" % (k, lo, hi))]
        rc, text, err = run(tool, path, "-f", "json", *dims, *options)
        if rc and not (not rows and "exact" in err):
            bad += 1
            print("# seed %d: %s" % (seed, err.strip()))
            continue
        if rc:
            continue
        got = {f["figure"]: f for f in json.loads(text)["figures"]}
        if not rows:
            bad += any(f["proven"] for f in got.values())
            continue
        for key, parts in KEYS.items():
            values = [sum(int(r[p]) for p in parts) for r in rows]
            f = got[key]
            figures += 1
            if f["proven"] and not ((f["low"] or 0) <= min(values) and max(values) <= f["high"]):
                bad += 1
                print("# seed %d %s: %s to %s, but %d to %d" % (seed, key, f["low"], f["high"], min(values), max(values)))
            if f["least"] < min(values) or f["most"] > max(values):
                bad += 1
                print("# seed %d %s: found %d to %d, but %d to %d" % (seed, key, f["least"], f["most"], min(values), max(values)))
            unclear += not f["proven"]
            tight += f["proven"] and (f["low"], f["high"]) == (min(values), max(values))
        most = max(int(r["macs"]) for r in rows)
        for limit, want in ((most, 0), (max(most - 1, 0), 0 if most == 0 else 1)):
            rc, text, err = run(tool, "check", path, "--max", f"macs={limit}", *dims, *options)
            if rc != want and not (rc == 1 and "cannot be compared" in text):
                bad += 1
                print("# seed %d: check with %d of %d gave %d: %s" % (seed, limit, most, rc, text + err))
    print("# %d figures: %d with the bounds that they reach, %d not proven" % (figures, tight, unclear))
    print("%sok 1 - %d random models: bounds and verdicts as by enumeration" % ("not " if bad else "", seeds))
    return bad > 0


sys.exit(main())
