#!/usr/bin/python3
"""Random graphs over 130 operators: the element type and the shape of every output, as the program prints them, against
the shape inference of the onnx package. A size that is unknown on one side is left out. Windows that do not fit are left out
(the package computes sizes below 1, the program refuses them), and --count ceil-mode=literal is the rule of packages before 1.17.

usage: random_shapes.py ONNXCOST FOLDER SEED COUNT [-v]       exit code 1: a difference; the models stay in FOLDER
"""
import collections
import json
import os
import random
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper, numpy_helper, shape_inference

UNARY = '''Abs Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Elu Erf Exp Floor HardSigmoid HardSwish Identity LeakyRelu Log Neg
Reciprocal Relu Round Selu Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Tan Tanh ThresholdedRelu Celu IsNaN IsInf
LogSoftmax Softmax Hardmax Shrink Dropout LpNormalization MeanVarianceNormalization RandomNormalLike Bernoulli'''.split()
BINARY = 'Add Sub Mul Div Pow Less Greater Equal LessOrEqual GreaterOrEqual'.split()
VARIADIC = 'Max Min Sum Mean'.split()
REDUCE = '''ReduceMax ReduceMean ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp
ReduceSumSquare'''.split()


class Graph:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.opset = self.r.choice([11, 12, 13, 14, 15, 16, 17])
        self.nodes, self.inputs, self.init, self.n = [], [], [], 0
        self.values = {}  # name: (element type, sizes; a str is a symbol)
        self.symbolic = self.r.random() < 0.3
        for rank in (4, 4, 3, 2, self.r.randrange(1, 6)):
            self.input(rank)

    def name(self):
        self.n += 1
        return f'v{self.n}'

    def size(self):
        return self.r.choice([1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 17])

    def input(self, rank, kind=T.FLOAT):
        shape = [self.size() for _ in range(rank)]
        if self.symbolic and shape:
            shape[0] = self.r.choice(['N', 'M'])
        return self.given(kind, shape)

    def given(self, kind, shape):
        name = self.name()
        self.inputs.append(helper.make_tensor_value_info(name, kind, shape))
        self.values[name] = (kind, list(shape))
        return name

    def const(self, array):
        name = self.name()
        self.init.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def ints(self, *values):
        return self.const(np.array(values, dtype=np.int64))

    def pick(self, rank=None, kind=T.FLOAT, least=0):
        names = [n for n, (k, s) in self.values.items()
                 if k == kind and (rank is None or len(s) == rank) and len(s) >= least]
        if names and self.r.random() < 0.9:
            return self.r.choice(names)
        return self.input(max(least, self.r.randrange(1, 5)) if rank is None else rank, kind)

    def shape(self, name):
        return self.values[name][1]

    def axis(self, rank, extra=0):
        return self.r.randrange(-rank - extra, rank + extra)

    def axes(self, rank):
        return [a - rank * self.r.randrange(2) for a in self.r.sample(range(rank), self.r.randrange(1, rank + 1))]

    def node(self, op, inputs, outputs=1, **attributes):
        out = [self.name() for _ in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, out, name=f'node{len(self.nodes)}', **attributes))
        return out


def some(r, **choices):  # each attribute is given half of the time
    return {k: r.choice(v) for k, v in choices.items() if r.random() < 0.5}


# ---- one function per family: adds one node ------------------------------------------------------------------
def unary(g):
    x = g.pick(least=1)
    op = g.r.choice(UNARY)
    attributes = {}
    if op in ('LogSoftmax', 'Softmax', 'Hardmax', 'LpNormalization'):
        attributes = {'axis': g.axis(len(g.shape(x)))}
    if op == 'MeanVarianceNormalization':
        x = g.pick(4)
    if op == 'Dropout':
        return g.node(op, [x], g.r.choice([1, 2]))
    return g.node(op, [x], **attributes)


def beside(g, shape):  # sizes that can be broadcast with it
    cut = g.r.randrange(len(shape) + 1)
    other = [1 if g.r.random() < 0.3 else d for d in shape[cut:]]
    if not cut and g.r.random() < 0.3:
        other = [g.size()] + other
    return other


def binary(g):
    x = g.pick()
    y = g.given(T.FLOAT, beside(g, g.shape(x)))
    pair = [x, y]
    g.r.shuffle(pair)
    return g.node(g.r.choice(BINARY), pair)


def variadic(g):
    x = g.pick()
    more = [g.given(T.FLOAT, beside(g, g.shape(x))) for _ in range(g.r.randrange(3))]
    return g.node(g.r.choice(VARIADIC), [x] + more)


def where(g):
    x = g.pick()
    return g.node('Where', [g.given(T.BOOL, beside(g, g.shape(x))), x, g.given(T.FLOAT, beside(g, g.shape(x)))])


def prelu(g):
    x = g.pick(least=2)
    return g.node('PRelu', [x, g.given(T.FLOAT, [g.shape(x)[1]] + [1] * (len(g.shape(x)) - 2))])


def matmul(g):
    x = g.pick(least=1)
    s = g.shape(x)
    y = [s[-1]] if g.r.random() < 0.2 else beside(g, s[:-2]) + [s[-1], g.size()]
    return g.node('MatMul', [x, g.given(T.FLOAT, y)])


def gemm(g):
    x = g.pick(2)
    s, a = g.shape(x), some(g.r, transA=[0, 1], transB=[0, 1], alpha=[0.5])
    k, n = s[0 if a.get('transA') else 1], g.size()
    w = g.given(T.FLOAT, [n, k] if a.get('transB') else [k, n])
    return g.node('Gemm', [x, w] + ([g.given(T.FLOAT, g.r.choice([[n], [1], [1, n]]))] if g.r.random() < 0.5 else []), **a)


def windows(g, n, small):
    a = some(g.r, strides=[[g.r.randrange(1, 4) for _ in range(n)]], dilations=[[g.r.randrange(1, 3) for _ in range(n)]])
    if g.r.random() < 0.5:
        a['pads'] = [g.r.randrange(small) for _ in range(2 * n)]
    elif g.r.random() < 0.5:
        a['auto_pad'] = g.r.choice(['SAME_UPPER', 'SAME_LOWER', 'VALID', 'NOTSET'])
    return a


def conv(g):
    n = g.r.choice([1, 2, 2, 3])
    x = g.pick(n + 2)
    c = g.shape(x)[1]
    group = g.r.choice([1, c]) if isinstance(c, int) else 1
    if not isinstance(c, int) or not c:
        return None
    kernel = [g.r.randrange(1, 4) for _ in range(n)]
    w = g.given(T.FLOAT, [group * g.r.randrange(1, 4), c // group] + kernel)
    return g.node('Conv', [x, w], group=group, **windows(g, n, 3), **some(g.r, kernel_shape=[kernel]))


def conv_transpose(g):
    n = g.r.choice([1, 2, 3])
    x = g.pick(n + 2)
    c = g.shape(x)[1]
    if not isinstance(c, int) or not c:
        return None
    kernel = [g.r.randrange(1, 4) for _ in range(n)]
    a = windows(g, n, 2)
    if 'strides' in a and 'auto_pad' not in a and g.r.random() < 0.4:  # with SAME the package adds it twice
        a['output_padding'] = [g.r.randrange(s) for s in a['strides']]
    return g.node('ConvTranspose', [x, g.given(T.FLOAT, [c, g.size()] + kernel)], **a, **some(g.r, kernel_shape=[kernel]))


def pool(g):
    n = g.r.choice([1, 2, 2, 3])
    op = g.r.choice(['MaxPool', 'AveragePool', 'LpPool'])
    a = windows(g, n, 1 if g.r.random() < 0.5 else 2)
    kernel = [g.r.randrange(2, 4) for _ in range(n)]
    if op != 'MaxPool':
        a.pop('dilations', None)
    if op != 'LpPool':
        a.update(some(g.r, ceil_mode=[0, 1]))
    return g.node(op, [g.pick(n + 2)], g.r.choice([1, 2]) if op == 'MaxPool' else 1, kernel_shape=kernel, **a)


def global_pool(g):
    return g.node(g.r.choice(['GlobalMaxPool', 'GlobalAveragePool', 'GlobalLpPool']), [g.pick(least=3)])


def reduce(g):
    x = g.pick(least=1)
    a = some(g.r, keepdims=[0, 1])
    rank = len(g.shape(x))
    if g.r.random() < 0.3 and g.opset >= 13:
        return g.node('ReduceSum', [x, g.ints(*g.axes(rank))], **a)
    if g.r.random() < 0.8:
        a['axes'] = g.axes(rank)
    return g.node(g.r.choice(REDUCE), [x], **a)


def arg(g):
    x = g.pick(least=1)
    return g.node(g.r.choice(['ArgMax', 'ArgMin']), [x], axis=g.axis(len(g.shape(x))), **some(g.r, keepdims=[0, 1]))


def transpose(g):
    x = g.pick(least=1)
    order = list(range(len(g.shape(x))))
    g.r.shuffle(order)
    return g.node('Transpose', [x], **some(g.r, perm=[order]))


def reshape(g):
    x = g.pick(least=1)
    s = g.shape(x)
    if all(isinstance(d, int) for d in s):
        total, to = int(np.prod(s)), []
        for _ in range(g.r.randrange(1, 4)):
            part = g.r.choice([d for d in range(1, total + 1) if total % d == 0]) if total < 5000 else 1
            to.append(part)
            total //= part
        to.append(g.r.choice([-1, total]))
    else:
        to = [0] * g.r.randrange(len(s)) + [-1]
    return g.node('Reshape', [x, g.ints(*to)])


def flatten(g):
    x = g.pick(least=1)
    return g.node('Flatten', [x], axis=g.axis(len(g.shape(x))))


def squeeze(g):
    x = g.pick(least=1)
    ones = [i - g.r.choice([0, len(g.shape(x))]) for i, d in enumerate(g.shape(x)) if d == 1]
    if not ones:
        return None
    axes = ones if g.r.random() < 0.5 else ones[:1]
    return g.node('Squeeze', [x, g.ints(*axes)]) if g.opset >= 13 else g.node('Squeeze', [x], axes=axes)


def unsqueeze(g):
    x = g.pick()
    n = g.r.randrange(1, 3)
    rank = len(g.shape(x)) + n
    axes = [a - rank * g.r.randrange(2) for a in g.r.sample(range(rank), n)]
    return g.node('Unsqueeze', [x, g.ints(*axes)]) if g.opset >= 13 else g.node('Unsqueeze', [x], axes=axes)


def concat(g):
    x = g.pick(least=1)
    s = g.shape(x)
    at = g.r.randrange(len(s))
    more = [g.given(T.FLOAT, s[:at] + [g.size()] + s[at + 1:]) for _ in range(g.r.randrange(1, 4))]
    return g.node('Concat', [x] + more, axis=at - len(s) * g.r.randrange(2))


def split(g):
    x = g.pick(least=1)
    s = g.shape(x)
    at = g.r.randrange(len(s))
    if not isinstance(s[at], int) or s[at] < 2:
        return None
    cut = g.r.randrange(1, s[at])
    parts = [cut, s[at] - cut]
    if s[at] % 2 == 0 and g.r.random() < 0.5:
        return g.node('Split', [x], 2, axis=at)
    return g.node('Split', [x, g.ints(*parts)], 2, axis=at) if g.opset >= 13 else g.node('Split', [x], 2, axis=at, split=parts)


def slice_of(g):
    x = g.pick(least=1)
    rank = len(g.shape(x))
    axes = g.r.sample(range(rank), g.r.randrange(1, rank + 1))
    steps = [g.r.choice([1, 1, 2, 3, -1, -2]) for _ in axes]
    if 0 in g.shape(x):  # the package takes one element of none
        return None
    starts = [g.r.choice([0, 1, 2, -1, -3, 100, -100]) for _ in axes]
    ends = [g.r.choice([1, 3, 5, -1, 2**63 - 1, -2**63, 100]) for _ in axes]
    return g.node('Slice', [x, g.ints(*starts), g.ints(*ends), g.ints(*axes), g.ints(*steps)])


def gather(g):
    x = g.pick(least=1)
    index = g.const(np.zeros([g.r.randrange(1, 4) for _ in range(g.r.randrange(3))], dtype=np.int64))
    return g.node('Gather', [x, index], axis=g.axis(len(g.shape(x))))


def gather_elements(g):
    x = g.pick(least=1)
    s = g.shape(x)
    return g.node('GatherElements', [x, g.given(T.INT64, [g.size() if i == 0 else d for i, d in enumerate(s)])], axis=0)


def gather_nd(g):
    x = g.pick(least=1)
    depth = g.r.randrange(1, len(g.shape(x)) + 1)
    return g.node('GatherND', [x, g.given(T.INT64, [g.size() for _ in range(g.r.randrange(2))] + [depth])])


def scatter(g):
    x = g.pick(least=1)
    s = g.shape(x)
    if g.r.random() < 0.5:
        return g.node('ScatterElements', [x, g.given(T.INT64, s), g.given(T.FLOAT, s)], axis=g.axis(len(s)))
    return g.node('ScatterND', [x, g.given(T.INT64, [2, 1]), g.given(T.FLOAT, [2] + s[1:])])


def pad(g):
    x = g.pick(least=1)
    pads = [g.r.randrange(4) for _ in range(2 * len(g.shape(x)))]
    return g.node('Pad', [x, g.ints(*pads)], **some(g.r, mode=['constant', 'edge']))


def tile(g):
    x = g.pick(least=1)
    return g.node('Tile', [x, g.ints(*[g.r.randrange(1, 4) for _ in g.shape(x)])])


def expand(g):
    x = g.pick()
    s = [g.size() if d == 1 else g.r.choice([1, d]) for d in g.shape(x)]
    if any(isinstance(d, str) for d in s):
        return None
    return g.node('Expand', [x, g.ints(*([g.size()] * g.r.randrange(2) + s))])


def resize(g):
    x = g.pick(4)
    s = g.shape(x)
    none = g.const(np.array([], dtype=np.float32))
    if g.r.random() < 0.5 or isinstance(s[0], str):
        scales = g.const(np.array([1, 1, g.r.choice([0.5, 2, 1.5, 0.3]), g.r.choice([1, 2, 3])], dtype=np.float32))
        return g.node('Resize', [x, none, scales], mode='nearest')
    return g.node('Resize', [x, none, none, g.ints(s[0], s[1] if isinstance(s[1], int) else 1, g.size(), g.size())], mode='nearest')


def depth(g):
    x = g.given(T.FLOAT, [g.size(), 4 * g.r.randrange(1, 5), 4, 8])
    return g.node(g.r.choice(['DepthToSpace', 'SpaceToDepth']), [x], blocksize=2)


def recurrent(g):
    op, gates = g.r.choice([('RNN', 1), ('GRU', 3), ('LSTM', 4)])
    hidden, seq, batch, n = g.size(), g.size(), g.size(), g.size()
    a = {'hidden_size': hidden, **some(g.r, direction=['forward', 'reverse', 'bidirectional'])}
    d = 2 if a.get('direction') == 'bidirectional' else 1
    if g.opset >= 14 and g.r.random() < 0.3:
        a['layout'] = 1
    x = g.given(T.FLOAT, [batch, seq, n] if a.get('layout') else [seq, batch, n])
    w, w2 = g.given(T.FLOAT, [d, gates * hidden, n]), g.given(T.FLOAT, [d, gates * hidden, hidden])
    return g.node(op, [x, w, w2], g.r.randrange(1, 4 if op == 'LSTM' else 3), **a)


def norm(g):
    x = g.pick(least=3)
    c = g.shape(x)[1]
    f = lambda: g.given(T.FLOAT, [c])
    kind = g.r.choice(['BatchNormalization', 'InstanceNormalization', 'LRN', 'LayerNormalization'])
    if kind == 'LRN':
        return g.node(kind, [g.pick(4)], size=3)
    if kind == 'LayerNormalization':
        if g.opset < 17:
            return None
        at = g.r.randrange(len(g.shape(x)))
        return g.node(kind, [x, g.given(T.FLOAT, g.shape(x)[at:])], g.r.choice([1, 2, 3]), axis=at - len(g.shape(x)) * g.r.randrange(2))
    return g.node(kind, [x, f(), f()] + ([f(), f()] if kind == 'BatchNormalization' else []))


def topk(g):
    x = g.pick(least=1)
    at = g.axis(len(g.shape(x)))
    d = g.shape(x)[at]
    return g.node('TopK', [x, g.ints(g.r.randrange(1, d + 1) if isinstance(d, int) else 1)], 2, axis=at)


def one_hot(g):
    rank = g.r.randrange(1, 4)
    return g.node('OneHot', [g.input(rank, T.INT64), g.ints(g.size()), g.given(T.FLOAT, [2])], axis=g.axis(rank, 0))


def cast(g):
    return g.node('Cast', [g.pick()], to=g.r.choice([T.FLOAT16, T.INT64, T.INT32, T.BOOL, T.DOUBLE, T.FLOAT, T.UINT8]))


def shape_ops(g):
    x = g.pick(least=1)
    if g.r.random() < 0.3:
        return g.node('Size', [x])
    return g.node('Shape', [x], **(some(g.r, start=[0, 1, -1], end=[1, 2, -1, 9]) if g.opset >= 15 else {}))


def from_shape(g):  # sizes computed by the graph
    x = g.pick(least=1)
    s = g.node('Shape', [x])[0]
    way = g.r.randrange(4)
    if way == 0:
        return g.node('ConstantOfShape', [s])
    if way == 1:
        return g.node('Expand', [g.given(T.FLOAT, [1]), s])
    index = g.node('Gather', [s, g.ints(g.r.randrange(len(g.shape(x))))], axis=0)[0]
    if way == 2:
        return g.node('ConstantOfShape', [index])
    joined = g.node('Concat', [index, g.ints(-1)], axis=0)[0]
    return g.node('Reshape', [x, joined])


def range_of(g):
    start, limit, delta = g.r.choice([(0, 10, 3), (5, -5, -2), (0, 0, 1), (1, 9, 2), (3, 1, 1)])
    kind = g.r.choice([np.int64, np.float32])
    return g.node('Range', [g.const(np.array(v, dtype=kind)) for v in (start, limit, delta)])


def misc(g):
    op = g.r.choice(['EyeLike', 'NonZero', 'Trilu', 'CumSum', 'Compress', 'Det', 'Unique', 'ReverseSequence', 'Clip', 'Multinomial',
                     'Not', 'And', 'BitShift', 'Mod', 'GridSample', 'RoiAlign', 'NonMaxSuppression', 'MaxRoiPool', 'Einsum'])
    if op in ('EyeLike', 'Multinomial'):
        return g.node(op, [g.pick(2)])
    if op == 'NonZero':
        return g.node(op, [g.pick(least=1)])
    if op == 'Trilu':
        return g.node(op, [g.pick(least=2)]) if g.opset >= 14 else None
    if op == 'CumSum':
        return g.node(op, [g.pick(least=1), g.const(np.array(0, dtype=np.int64))])
    if op == 'Compress':
        x = g.pick(least=1)
        return g.node(op, [x, g.given(T.BOOL, [2])], **some(g.r, axis=[g.axis(len(g.shape(x)))]))
    if op == 'Det':
        return g.node(op, [g.given(T.FLOAT, [g.size()] * g.r.randrange(2) + [4, 4])])
    if op == 'Unique':
        x = g.pick(least=1)
        return g.node(op, [x], g.r.randrange(1, 5), **some(g.r, axis=[g.axis(len(g.shape(x)))]))
    if op == 'ReverseSequence':
        x = g.pick(least=2)
        return g.node(op, [x, g.given(T.INT64, [g.shape(x)[1]])])
    if op == 'Clip':
        return g.node(op, [g.pick(), g.given(T.FLOAT, [])])
    if op == 'Not':
        return g.node(op, [g.pick(kind=T.BOOL)])
    if op == 'And':
        x = g.pick(kind=T.BOOL)
        return g.node(g.r.choice(['And', 'Or', 'Xor']), [x, g.given(T.BOOL, beside(g, g.shape(x)))])
    if op in ('BitShift', 'Mod'):
        x = g.pick(kind=T.UINT8)
        return g.node(op, [x, g.given(T.UINT8, beside(g, g.shape(x)))], **({'direction': 'LEFT'} if op == 'BitShift' else {}))
    if op == 'GridSample':
        x = g.pick(4)
        return g.node(op, [x, g.given(T.FLOAT, [g.shape(x)[0], g.size(), g.size(), 2])]) if g.opset >= 16 else None
    if op == 'RoiAlign':
        return g.node(op, [g.pick(4), g.given(T.FLOAT, [5, 4]), g.given(T.INT64, [5])], **some(g.r, output_height=[2], output_width=[3]))
    if op == 'MaxRoiPool':
        return g.node(op, [g.pick(4), g.given(T.FLOAT, [6, 5])], pooled_shape=[2, 3])
    if op == 'NonMaxSuppression':
        return g.node(op, [g.given(T.FLOAT, [1, 6, 4]), g.given(T.FLOAT, [1, 2, 6])])
    x = g.pick(3)
    s = g.shape(x)
    return g.node(op, [x, g.given(T.FLOAT, [s[0], s[2], g.size()])], equation=g.r.choice(['bij,bjk->bik', 'bij,bjk', '...ij,...jk->...ik',
                                                                                         'bij,bjk->kb']))


def quantized(g):
    scale, zero = (lambda: g.const(np.array(0.1, dtype=np.float32))), (lambda: g.const(np.array(3, dtype=np.uint8)))
    way = g.r.randrange(6)
    if way == 0:
        return g.node('QuantizeLinear', [g.pick(), scale(), zero()])
    if way == 1:
        return g.node('DequantizeLinear', [g.pick(kind=T.UINT8), scale(), zero()])
    if way == 2:
        return g.node('DynamicQuantizeLinear', [g.pick()], 3)
    x = g.pick(kind=T.UINT8, least=2) if way < 5 else g.pick(4, kind=T.UINT8)
    s = g.shape(x)
    if way == 3:
        return g.node('MatMulInteger', [x, g.given(T.UINT8, s[:-2] + [s[-1], g.size()])])
    if way == 4:
        return g.node('QLinearMatMul', [x, scale(), zero(), g.given(T.UINT8, s[:-2] + [s[-1], g.size()]), scale(), zero(), scale(), zero()])
    w = g.given(T.UINT8, [g.size(), s[1], 1, 2])
    if g.r.random() < 0.5:
        return g.node('ConvInteger', [x, w], **windows(g, 2, 2))
    return g.node('QLinearConv', [x, scale(), zero(), w, scale(), zero(), scale(), zero()], **windows(g, 2, 2))


FAMILIES = [unary, unary, binary, binary, variadic, where, prelu, matmul, gemm, conv, conv, conv_transpose, pool, pool, global_pool, reduce,
            reduce, arg, transpose, reshape, flatten, squeeze, unsqueeze, concat, split, slice_of, slice_of, gather, gather_elements,
            gather_nd, scatter, pad, tile, expand, resize, depth, recurrent, norm, topk, one_hot, cast, shape_ops, from_shape, range_of,
            misc, misc, misc, quantized, quantized]


# ---- comparison ----------------------------------------------------------------------------------------------
def sizes_of(tensor):
    if not tensor.HasField('shape'):
        return None
    return [d.dim_value if d.HasField('dim_value') else d.dim_param or None for d in tensor.shape.dim]


WINDOWS = ('Conv', 'ConvInteger', 'QLinearConv', 'MaxPool', 'AveragePool', 'LpPool')


def infer(g):
    """The model with inferred types; None: the package refuses it."""
    outputs = [onnx.ValueInfoProto(name=o) for n in g.nodes for o in n.output]
    graph = helper.make_graph(g.nodes, 'g', g.inputs, outputs, g.init)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', g.opset)], ir_version=8)
    try:
        model = shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
    except Exception:  # the package has no class of its own for it
        return None
    kinds = {v.name: v.type.tensor_type for v in [*model.graph.input, *model.graph.value_info, *model.graph.output]}
    sizes = {i.name: list(i.dims) for i in g.init}
    sizes.update((name, sizes_of(kind)) for name, kind in kinds.items())
    return None if any(not fits(n, sizes) for n in g.nodes) else model


def fits(node, sizes):
    """Whether the window of a node is not larger than its input with padding, and leaves something."""
    if node.op_type == 'ConvTranspose':
        return all(isinstance(d, str) or d is None or d > 0 for d in sizes.get(node.output[0]) or [])
    attribute = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    x = sizes.get(node.input[0]) if node.op_type in WINDOWS else None
    if not x:
        return True
    if attribute.get('auto_pad', b'').startswith(b'SAME'):
        return 0 not in x[2:]
    weight = node.input[3 if node.op_type == 'QLinearConv' else 1] if len(node.input) > 1 else None
    kernel = attribute.get('kernel_shape') or sizes[weight][2:]
    n = len(kernel)
    pads = attribute.get('pads', [0] * 2 * n)
    return all(not isinstance(d, int) or d + pads[i] + pads[n + i] > (kernel[i] - 1) * attribute.get('dilations', [1] * n)[i]
               for i, d in enumerate(x[2:]))


def build(seed):
    g = Graph(seed)
    model = None
    for _ in range(g.r.randrange(3, 14)):
        kept = [len(g.nodes), len(g.inputs), len(g.init), dict(g.values)]
        try:
            made = g.r.choice(FAMILIES)(g)
        except (IndexError, ValueError):  # no such value
            made = None
        result = infer(g) if made else None
        if result is None:
            del g.nodes[kept[0]:], g.inputs[kept[1]:], g.init[kept[2]:]
            g.values = kept[3]
            continue
        model = result
        for v in [*model.graph.value_info, *model.graph.output]:
            s = sizes_of(v.type.tensor_type)
            if s is not None and v.name not in g.values and v.name in made and all(s_ is not None for s_ in s) and len(s) < 7:
                g.values[v.name] = (v.type.tensor_type.elem_type, s)
    return g, model


def is_different(theirs, ours):
    """Of a size: both have it and it is not the same. Symbols that are only on our side are computed sizes."""
    if theirs is None or ours is None or theirs == ours:
        return False
    if isinstance(theirs, int) and isinstance(ours, int):
        return True
    return isinstance(theirs, int) != isinstance(ours, int) and (theirs in ('N', 'M') or ours in ('N', 'M'))


def compare(program, path, model, seen, known):
    run = subprocess.run([program, 'cost', path, '--all', '--format=json', '--default-dim=none', '--count=ceil-mode=literal'], capture_output=True, text=True)
    if run.returncode:
        return [f'exit code {run.returncode}: {run.stderr.strip()[:300]}']
    theirs = {v.name: v.type.tensor_type for v in [*model.graph.value_info, *model.graph.output]}
    out = []
    for node in json.loads(run.stdout)['nodes']:
        seen[node['op_type']] += 1
        for o in node['outputs']:
            t = theirs.get(o['name'])
            if t is None or not t.elem_type:
                continue
            kind = T.DataType.Name(t.elem_type).lower()
            want, got = sizes_of(t), o['shape']
            if o['dtype'] not in (None, 'unknown') and o['dtype'] != kind:
                out.append(f"{node['op_type']} {o['name']}: type {o['dtype']}, the package: {kind}")
            if want is None or got is None:
                continue
            known[0] += len(want)
            if len(want) != len(got) or any(map(is_different, want, got)):
                out.append(f"{node['op_type']} {o['name']}: {got}, the package: {want}")
    return out


def main():
    program, folder, seed, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    os.makedirs(folder, exist_ok=True)
    seen, known, bad = collections.Counter(), [0], 0
    for i in range(count):
        g, model = build(f'{seed}/{i}')
        if model is None:
            continue
        path = f'{folder}/{i}.onnx'
        bare = onnx.ModelProto()
        bare.CopyFrom(model)
        del bare.graph.value_info[:]
        for o in bare.graph.output:  # nothing that the program could copy
            o.type.Clear()
        onnx.save(bare, path)
        found = compare(program, path, model, seen, known)
        bad += len(found)
        for line in found:
            print(f'# {path}, opset {g.opset}: {line}')
        if not found:
            os.remove(path)
    if '-v' in sys.argv:
        print('#', ' '.join(f'{op} {n}' for op, n in sorted(seen.items())))
    print(f'# seed {seed}: {count} graphs, {sum(seen.values())} nodes of {len(seen)} operators, {known[0]} sizes compared, '
          f'{bad} differences')
    sys.exit(bad > 0)


main()
