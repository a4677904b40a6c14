"""Writes two models with large weights that are holes in sparse files: outside.onnx with outside.data (3 GB), and inside.onnx (1.5 GB).
After the hole is a shape that the analysis needs. usage: large_models.py FOLDER"""
import os
import struct
import sys

from onnx import TensorProto as T, helper as h

ROWS = 12800


def model(weights):
    nodes = [h.make_node("MatMul", ["x", "w"], ["y"]), h.make_node("Reshape", ["y", "s"], ["z"])]
    x = h.make_tensor_value_info("x", T.FLOAT, [1, ROWS])
    return h.make_model(h.make_graph(nodes, "g", [x], [h.make_tensor_value_info("z", T.FLOAT, None)], weights))


def external(name, dtype, dims, offset, length):
    t = T(name=name, data_type=dtype, dims=dims, data_location=T.EXTERNAL)
    for key, value in {"location": "outside.data", "offset": str(offset), "length": str(length)}.items():
        t.external_data.add(key=key, value=value)
    return t


def write_outside(folder, columns=60000):
    end = 64 + ROWS * columns * 4
    weights = [external("w", T.FLOAT, [ROWS, columns], 64, end - 64), external("s", T.INT64, [3], end, 24)]
    with open(os.path.join(folder, "outside.onnx"), "wb") as f:
        f.write(model(weights).SerializeToString())
    with open(os.path.join(folder, "outside.data"), "wb") as f:
        f.seek(end)
        f.write(struct.pack("<3q", 2, -1, 100))


def varint(v):
    out = b""
    while v > 127:
        out += bytes([v & 127 | 128])
        v >>= 7
    return out + bytes([v])


def write_inside(folder, columns=31000):
    """The first initializer of the graph, and its raw_data, are written by hand around the hole."""
    raw = ROWS * columns * 4
    weight = T(name="w", data_type=T.FLOAT, dims=[ROWS, columns]).SerializeToString() + b"\x4a" + varint(raw)
    whole = model([h.make_tensor("s", T.INT64, [3], [2, -1, 100])])
    graph = whole.graph.SerializeToString()
    whole.ClearField("graph")
    first = b"\x2a" + varint(len(weight) + raw) + weight
    with open(os.path.join(folder, "inside.onnx"), "wb") as f:
        f.write(whole.SerializeToString() + b"\x3a" + varint(len(first) + raw + len(graph)) + first)
        f.seek(raw, os.SEEK_CUR)
        f.write(graph)


write_outside(sys.argv[1])
write_inside(sys.argv[1])
