#!/usr/bin/env python3
"""Runs a model of the zoo on PyTorch and writes a Kineto trace in which each node has a range with its name.

usage: run_onnx.py MODEL.onnx OUTPUT.json.gz [BATCH [f16]]      needs torch with CUDA, and onnx; weights are random

ORIGIN.md says how far it was tested. Numbers of shapes stay on the host, as in runtimes: integers are
tensors of the CPU, floating-point values tensors of the GPU."""
import math
import sys

import numpy as np
import onnx
import torch
import torch.nn.functional as F
from onnx import numpy_helper

DEVICE = 'cuda'
SEQUENCE = 128
RUNS = 3
TYPE = {1: torch.float32, 6: torch.int32, 7: torch.int64, 9: torch.bool, 10: torch.float16, 11: torch.float64}


def numbers(tensor):
    return [int(n) for n in tensor.flatten().tolist()]


def place(tensor, half):
    """On the device if it is floating-point, in f16 if that is the type of the run."""
    if not tensor.dtype.is_floating_point:
        return tensor
    return tensor.to(DEVICE, torch.float16 if half and tensor.dtype == torch.float32 else tensor.dtype)


def together(tensors):
    if any(t.is_cuda for t in tensors):
        return [t.to(DEVICE) for t in tensors]
    return tensors


def optional(inputs, i):
    return inputs[i] if len(inputs) > i else None


# ---- operators: inputs, attributes, half -> output or outputs ---------------------------------------------------------
def divide(a, b):
    return torch.div(a, b) if a.dtype.is_floating_point else torch.div(a, b, rounding_mode='trunc')


def power(a, b):
    return torch.pow(a, float(b)) if b.numel() == 1 and not b.is_cuda else torch.pow(*together([a, b]))


def conv(x, a, _):
    dims = x[1].dim() - 2
    pads = a.get('pads', [0] * 2 * dims)
    begin, end, data = pads[:dims], pads[dims:], x[0]
    if begin != end:
        data = F.pad(data, [n for pair in zip(reversed(begin), reversed(end)) for n in pair])
        begin = [0] * dims
    kernel = {1: F.conv1d, 2: F.conv2d}[dims]
    return kernel(data, x[1], optional(x, 2), a.get('strides', [1] * dims), tuple(begin), a.get('dilations', [1] * dims),
                  a.get('group', 1))


def conv_transpose(x, a, _):
    return F.conv_transpose2d(x[0], x[1], optional(x, 2), a.get('strides', [1, 1]), a.get('pads', [0] * 4)[:2],
                              a.get('output_padding', [0, 0]), a.get('group', 1), a.get('dilations', [1, 1]))


def max_pool(x, a, _):
    return F.max_pool2d(x[0], a['kernel_shape'], a.get('strides', [1, 1]), a.get('pads', [0] * 4)[:2],
                        ceil_mode=bool(a.get('ceil_mode', 0)))


def average_pool(x, a, _):
    return F.avg_pool2d(x[0], a['kernel_shape'], a.get('strides', [1, 1]), a.get('pads', [0] * 4)[:2],
                        bool(a.get('ceil_mode', 0)), bool(a.get('count_include_pad', 0)))


def gemm(x, a, _):
    left = x[0].t() if a.get('transA', 0) else x[0]
    if a.get('transB', 0) and len(x) > 2 and x[2].dim() == 1:
        return F.linear(left, x[1], x[2])
    right = x[1].t() if a.get('transB', 0) else x[1]
    return torch.addmm(x[2], left, right) if len(x) > 2 else left @ right


def clip(x, _a, _):
    return torch.clamp(x[0], *(float(b) if b is not None else None for b in (optional(x, 1), optional(x, 2))))


def layer_norm(x, a, _):
    return F.layer_norm(x[0], list(x[1].shape), x[1], optional(x, 2), a.get('epsilon', 1e-5))


def reduce_mean(x, a, _):
    axes = a.get('axes') or (numbers(x[1]) if len(x) > 1 else list(range(x[0].dim())))
    return torch.mean(x[0], axes, keepdim=bool(a.get('keepdims', 1)))


def reshape(x, _a, _):
    return x[0].reshape([x[0].shape[i] if n == 0 else n for i, n in enumerate(numbers(x[1]))])


def flatten(x, a, _):
    return x[0].reshape(math.prod(x[0].shape[:a.get('axis', 1)]), -1)


def constant(_x, a, half):
    name, value = next((k, v) for k, v in a.items() if k.startswith('value'))
    if name == 'value':
        value = numpy_helper.to_array(value)
    return place(torch.from_numpy(np.array(value, dtype=np.float32 if 'float' in name else None)), half)


def constant_of_shape(x, a, half):
    value = torch.from_numpy(np.array(numpy_helper.to_array(a['value']) if 'value' in a else np.zeros(1, np.float32)))
    return place(torch.full(numbers(x[0]), value.item(), dtype=value.dtype), half)


def gather(x, a, _):
    axis, (data, index) = a.get('axis', 0), together(x)
    if data.dim() == 2 and axis == 0:
        return F.embedding(index, data)
    shape = list(data.shape)
    return torch.index_select(data, axis, index.flatten() % shape[axis]).reshape(
        shape[:axis] + list(index.shape) + shape[axis + 1:])


def slice_(x, _a, _):
    begin, end = numbers(x[1]), numbers(x[2])
    axes = numbers(x[3]) if len(x) > 3 else range(len(begin))
    steps = numbers(x[4]) if len(x) > 4 else [1] * len(begin)
    index = [slice(None)] * x[0].dim()
    for b, e, axis, step in zip(begin, end, axes, steps):
        index[axis] = slice(b, e, step)
    return x[0][tuple(index)]


def axes_of(x, a):
    return a.get('axes') or numbers(x[1])


def squeeze(x, a, _):
    return torch.squeeze(x[0], tuple(axes_of(x, a)))


def unsqueeze(x, a, _):
    out, axes = x[0], axes_of(x, a)
    rank = out.dim() + len(axes)
    for axis in sorted(n % rank for n in axes):
        out = out.unsqueeze(axis)
    return out


def expand(x, _a, _):
    return torch.broadcast_to(x[0], torch.broadcast_shapes(tuple(x[0].shape), tuple(numbers(x[1])))).contiguous()


def resize(x, _a, _):
    given = next(t for t in x[2:] if t is not None and t.numel())
    if given.dtype.is_floating_point:
        return F.interpolate(x[0], scale_factor=tuple(given.flatten().tolist()[2:]), mode='nearest')
    return F.interpolate(x[0], size=tuple(numbers(given)[2:]), mode='nearest')


def unary(function):
    return lambda x, _a, _half: function(x[0])


def binary(function):
    return lambda x, _a, _half: function(*together(x[:2]))


OPERATOR = {
    'Abs': unary(torch.abs), 'Erf': unary(torch.erf), 'HardSigmoid': unary(F.hardsigmoid), 'HardSwish': unary(F.hardswish),
    'Identity': unary(lambda t: t), 'Log': unary(torch.log), 'Relu': unary(F.relu), 'Sigmoid': unary(torch.sigmoid),
    'Sqrt': unary(torch.sqrt), 'Tanh': unary(torch.tanh), 'GlobalAveragePool': unary(lambda t: F.adaptive_avg_pool2d(t, 1)),
    'Add': binary(torch.add), 'Sub': binary(torch.sub), 'Mul': binary(torch.mul), 'Div': binary(divide),
    'Equal': binary(torch.eq), 'Greater': binary(torch.gt), 'Less': binary(torch.lt), 'Min': binary(torch.minimum),
    'MatMul': binary(torch.matmul), 'Pow': lambda x, a, half: power(x[0], x[1]),
    'AveragePool': average_pool, 'MaxPool': max_pool, 'Conv': conv, 'ConvTranspose': conv_transpose, 'Gemm': gemm,
    'BatchNormalization': lambda x, a, half: F.batch_norm(x[0], x[3], x[4], x[1], x[2], False, 0.0, a.get('epsilon', 1e-5)),
    'Cast': lambda x, a, half: place(x[0].to(TYPE[a['to']]), half), 'Clip': clip, 'LayerNormalization': layer_norm,
    'Concat': lambda x, a, half: torch.cat(together(x), a['axis']), 'Constant': constant, 'ConstantOfShape': constant_of_shape,
    'DepthToSpace': lambda x, a, half: F.pixel_shuffle(x[0], a['blocksize']), 'Expand': expand, 'Flatten': flatten,
    'Gather': gather, 'Range': lambda x, a, half: torch.arange(*(t.item() for t in x)), 'ReduceMean': reduce_mean,
    'Reshape': reshape, 'Resize': resize, 'Shape': lambda x, a, half: torch.tensor(x[0].shape[a.get('start', 0):a.get('end')]),
    'Slice': slice_, 'Softmax': lambda x, a, half: F.softmax(x[0], a.get('axis', -1)), 'Squeeze': squeeze, 'Unsqueeze': unsqueeze,
    'Split': lambda x, a, half: torch.split(x[0], numbers(x[1]) if len(x) > 1 else a['split'], a.get('axis', 0)),
    'Transpose': lambda x, a, half: x[0].permute(a['perm']).contiguous(),
    'Where': lambda x, a, half: torch.where(*together(x)),
}


def weights(graph, half):
    out = {}
    for t in graph.initializer:
        if t.data_location == onnx.TensorProto.EXTERNAL:  # the zoo writes no weights
            value = (0.02 * torch.randn(list(t.dims))).to(TYPE[t.data_type])
            out[t.name] = place(value.abs() + 1 if 'var' in t.name else value, half)
        else:
            out[t.name] = place(torch.from_numpy(np.array(numpy_helper.to_array(t))), half)
    return out


def inputs(graph, batch, half):
    out = {}
    for i in graph.input:
        kind = i.type.tensor_type
        shape = [d.dim_value or (batch if d.dim_param == 'batch' else SEQUENCE) for d in kind.shape.dim]
        if kind.elem_type == onnx.TensorProto.FLOAT:
            out[i.name] = place(torch.randn(shape), half)
        else:
            out[i.name] = torch.full(shape, int('mask' in i.name), dtype=TYPE[kind.elem_type], device=DEVICE)
    return out


def run(graph, known, half):
    value = dict(known)
    for node in graph.node:
        attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
        with torch.profiler.record_function(node.name or node.op_type):
            out = OPERATOR[node.op_type]([value[name] if name else None for name in node.input], attributes, half)
        value.update(zip(node.output, out if isinstance(out, (tuple, list)) else (out,)))


def main():
    model, output = sys.argv[1:3]
    batch, half = int(sys.argv[3]) if len(sys.argv) > 3 else 1, sys.argv[4:] == ['f16']
    torch.set_grad_enabled(False)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    graph = onnx.load(model, load_external_data=False).graph
    known = {**weights(graph, half), **inputs(graph, batch, half)}
    for _ in range(3):
        run(graph, known, half)
    torch.cuda.synchronize()
    kinds = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=kinds, record_shapes=True) as profiler:
        for _ in range(RUNS):
            run(graph, known, half)
        torch.cuda.synchronize()
    profiler.export_chrome_trace(output)


main()
