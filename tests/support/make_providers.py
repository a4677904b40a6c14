#!/usr/bin/env python3
"""Makes hwdb/providers/*.xml from the operator lists that runtimes publish: make_providers.py DIR OUT

DIR holds copies of the lists by the names in PROVIDERS, and Operators.md, Operators-ml.md of ONNX, which say in
which opsets the schema of an operator changed: ONNX Runtime looks up a kernel by that version.
"""
import re
import sys
from xml.sax.saxutils import quoteattr

ORT = "https://github.com/microsoft/onnxruntime"
KERNELS = ("docs/OperatorKernels.md of ONNX Runtime, March 2026", ORT + "/blob/main/docs/OperatorKernels.md")
MOBILE = "tools/ci_build/github/"
PAGES = "https://onnxruntime.ai/docs/execution-providers/"
NO_TYPES = "the list has no data types"
QNN_TYPES = ("the list has no data types: those of an operator without quantization depend on the backend and "
             "the chip")

# id, name, file, reader, attributes, title and URL of the source
PROVIDERS = [
    ("cpu", "CPUExecutionProvider", "OperatorKernels.md", "kernels",
     {"release": "1.25", "opset": "1-25", "bodies": "yes", "cast": "float16 float", "memory": "host"}, *KERNELS),
    ("cuda", "CUDAExecutionProvider", "OperatorKernels.md", "kernels",
     {"release": "1.25", "opset": "1-25", "bodies": "yes", "host": "yes", "memory": "cuda"}, *KERNELS),
    ("dml", "DmlExecutionProvider", "OperatorKernels.md", "kernels",
     {"release": "1.25", "opset": "1-25", "bodies": "yes"}, *KERNELS),
    ("tensorrt", "TensorrtExecutionProvider", "onnx-tensorrt-operators.md", "tensorrt",
     {"release": "10.1", "opset": "9-20", "groups": "yes", "bodies": "yes", "maybe": "double", "memory": "cuda"},
     "docs/operators.md of onnx-tensorrt 10.1", "https://github.com/onnx/onnx-tensorrt/blob/main/docs/operators.md"),
    ("qnn", "QNNExecutionProvider", "QNN-ExecutionProvider.md", "notes",
     {"release": "1.18 to 1.22", "opset": "1-", "groups": "yes", "shapes": "static", "quantized": QNN_TYPES},
     "ONNX Runtime documentation, QNN Execution Provider", PAGES + "QNN-ExecutionProvider.html"),
    ("coreml", "CoreMLExecutionProvider", "coreml_supported_mlprogram_ops.md", "notes",
     {"release": "1.25", "opset": "1-", "groups": "yes", "variant": "MLProgram", "note": NO_TYPES},
     MOBILE + "apple/coreml_supported_mlprogram_ops.md of ONNX Runtime, March 2026",
     PAGES + "CoreML-ExecutionProvider.html"),
    ("coreml-nn", "CoreMLExecutionProvider", "coreml_supported_neuralnetwork_ops.md", "notes",
     {"release": "1.25", "opset": "1-", "groups": "yes", "variant": "NeuralNetwork", "note": NO_TYPES},
     MOBILE + "apple/coreml_supported_neuralnetwork_ops.md of ONNX Runtime, March 2026",
     PAGES + "CoreML-ExecutionProvider.html"),
    ("nnapi", "NnapiExecutionProvider", "nnapi_supported_ops.md", "notes",
     {"release": "1.25", "opset": "1-", "groups": "yes", "note": NO_TYPES},
     MOBILE + "android/nnapi_supported_ops.md of ONNX Runtime, March 2026", PAGES + "NNAPI-ExecutionProvider.html"),
    ("xnnpack", "XnnpackExecutionProvider", "Xnnpack-ExecutionProvider.md", "notes",
     {"release": "1.14 and later", "opset": "1-", "memory": "host", "note": NO_TYPES},
     "ONNX Runtime documentation, XNNPACK Execution Provider", PAGES + "Xnnpack-ExecutionProvider.html"),
    ("openvino-cpu", "OpenVINOExecutionProvider", "OpenVINO-CPU.md", "notes",
     {"release": "1.23", "opset": "1-", "groups": "yes", "variant": "CPU", "memory": "host", "note": NO_TYPES},
     "ONNX Runtime documentation, OpenVINO Execution Provider", PAGES + "OpenVINO-ExecutionProvider.html"),
    ("openvino-gpu", "OpenVINOExecutionProvider", "OpenVINO-GPU.md", "notes",
     {"release": "1.23", "opset": "1-", "groups": "yes", "variant": "GPU", "note": NO_TYPES},
     "ONNX Runtime documentation, OpenVINO Execution Provider", PAGES + "OpenVINO-ExecutionProvider.html"),
    ("webnn", "WebNNExecutionProvider", "webnn-operators.md", "opsets",
     {"release": "1.25", "opset": "7-", "groups": "yes", "note": NO_TYPES},
     "js/web/docs/webnn-operators.md of ONNX Runtime, March 2026", ORT + "/blob/main/js/web/docs/webnn-operators.md"),
    ("webgpu", "JsExecutionProvider", "webgpu-operators.md", "opsets",
     {"release": "1.25", "opset": "1-", "bodies": "yes", "note": NO_TYPES},
     "js/web/docs/webgpu-operators.md of ONNX Runtime, March 2026",
     ORT + "/blob/main/js/web/docs/webgpu-operators.md"),
]

# Inputs that CUDA kernels read from host memory (InputMemoryType in onnxruntime/core/providers/cuda and
# contrib_ops/cuda), and outputs that are there. Shape and Size have kernels of their own.
HOST_IN = {"ConstantOfShape": "0", "CumSum": "1", "Dropout": "1 2", "Expand": "1", "If": "0", "Loop": "0 1",
           "MatMulInteger": "2 3", "NonMaxSuppression": "2 3 4", "OneHot": "1 2", "Pad": "1 2 3", "Range": "0 1 2",
           "Reshape": "1", "Resize": "1 2 3", "Scan": "0", "SequenceAt": "1", "SequenceErase": "1",
           "SequenceInsert": "2", "Slice": "1 2 3 4", "Split": "1", "Squeeze": "1", "Tile": "1", "TopK": "1",
           "Trilu": "1", "Unsqueeze": "1", "Upsample": "1", "LSTM": "4", "GRU": "4", "RNN": "4",
           "GroupQueryAttention": "6"}
HOST_OUT = {"Shape": "0", "Size": "0", "SequenceLength": "0"}

# What GetCapability of the CUDA provider (cuda_execution_provider.cc) does not take although a kernel exists.
CUDA_RULES = {
    "Cast": ['attr="to" not="8"'],
    "LSTM": ['attr="clip" absent="yes"', 'attr="activations" absent="yes"', 'attr="input_forget" value="0"',
             'input="7" absent="yes"'],
    "GRU": ['attr="clip" absent="yes"', 'attr="activations" absent="yes"', 'attr="linear_before_reset" value="1"'],
    "RNN": ['attr="clip" absent="yes"', 'attr="activations" absent="yes"'],
    "ArgMax": ['attr="select_last_index" value="0"'],
    "ArgMin": ['attr="select_last_index" value="0"'],
    "ConvTranspose": ['attr="auto_pad" value="NOTSET VALID"', 'attr="pads" symmetric="yes"'],
}


def constant(*inputs):
    return ['input="%d" constant="yes"' % i for i in inputs]


def rank(i, *ranks):
    return ['input="%d" rank="%s"' % (i, " ".join(map(str, ranks)))]


QLINEAR = {"QLinearConv": constant(1, 2, 4, 5, 6, 7), "QLinearMatMul": constant(1, 2, 4, 5, 6, 7),
           "QLinearAdd": constant(1, 2, 4, 5, 6, 7), "QLinearAveragePool": constant(1, 2, 3, 4),
           "QLinearSigmoid": constant(1, 2, 3, 4), "QLinearSoftmax": constant(1, 2, 3, 4),
           "QLinearConvTranspose": constant(1, 2, 4, 5, 6, 7), "QuantizeLinear": constant(1, 2),
           "DequantizeLinear": constant(1, 2)}
REDUCE_AXES = constant(1)
RNN_WEBNN = ['attr="layout" value="0"', 'attr="clip" absent="yes"', 'attr="activations" value="Relu Tanh Sigmoid"']
ONLY_2D = rank(0, 4)

# The conditions that a note states, by operator ("" for every operator) and note. What is not here is kept as a
# condition that cannot be decided.
NOTES = {
    ("", "Only 2D Pool is supported"): ONLY_2D,
    ("", "Only 2D Pool is supported currently. 3D and 5D support can be added if needed"): ONLY_2D,
    ("", "Only 2D Conv is supported"): ONLY_2D,
    ("", "Only 2D ConvTranspose is supported"): ONLY_2D,
    ("", "Only 1D/2D Conv is supported"): rank(0, 3, 4),
    ("", "Only 2D Resize is supported"): ONLY_2D,
    ("", "Only 2D Op is supported"): rank(0, 2) + rank(1, 2),
    ("", "Bias if provided must be constant"): constant(2),
    ("", "Weights and bias should be constant"): constant(1, 2),
    ("", "Weight and bias must be constant"): constant(1, 2),
    ("QLinearConv", "Weights and bias should be constant"): constant(3, 8),
    ("", "padding_type of SAME_UPPER/SAME_LOWER is not supported"): ['attr="auto_pad" value="NOTSET VALID"'],
    ("", "output_shape is not supported"): ['attr="output_shape" absent="yes"'],
    ("", "output_padding must have default values"): ['attr="output_padding" value="0"'],
    ("", "Input B must be constant"): constant(1),
    ("", "Input B should be constant"): constant(1),
    ("", "Only DCR mode DepthToSpace is supported"): ['attr="mode" value="DCR"'],
    ("", "If 'mode' is 'CRD' the input must have a fixed shape"): [],  # shapes are those of the analysis
    ("", "starts/ends/axes/steps must be constant initializers"): constant(1, 2, 3, 4),
    ("", "Inputs `starts`, `ends`, `axes`, and `steps` should be constant. Empty slice is not supported"):
        constant(1, 2, 3, 4),
    ("", "If provided, `splits` must be constant"): constant(1),
    ("", "Only supports cases when both inputs are fp32"): ['input="0" types="float"', 'input="1" types="float"'],
    ("MatMul", "Only support for transA == 0, alpha == 1.0 and beta == 1.0 is currently implemented"): [],
    ("", "Input slope should be constant"): constant(1),
    ("", "Input `indices` with scalar value is not supported"): rank(1, 1, 2, 3, 4, 5),
    ("", "Attribute `start` with non-default value is not supported"): ['attr="start" value="0"'],
    ("", "Attribute `end` is not supported"): ['attr="end" absent="yes"'],
    ("", "4D input"): ONLY_2D,
    ("Resize", "`coordinate_transformation_mode` == `asymmetric`"):
        ['attr="coordinate_transformation_mode" default="half_pixel" value="asymmetric"'],
    ("Resize", "`mode` == `linear` or `nearest`"): ['attr="mode" value="linear nearest"'],
    ("Resize", "`nearest_mode` == `floor`"): ['attr="nearest_mode" default="round_prefer_floor" value="floor"'],
    ("Resize", "`exclude_outside` == false"): ['attr="exclude_outside" value="0"'],
    ("Resize", "`scales` or `sizes` must be constant"): constant(2, 3),
    ("Pad", "Only constant mode Pad is supported"): ['attr="mode" value="constant"'],
    ("Pad", "Input pads and constant_value should be constant"): constant(1, 2),
    ("Pad", "If provided, axes should be constant"): constant(3),
    ("", "Input axes should be constant"): constant(1),
    ("", "3d supported since 1.18.0"): [],
    ("", "fp16 supported since 1.18.0"): [],
    ("", "fp16, int32 supported since 1.18.0"): [],
    ("", "p == 2"): ['attr="p" value="2"'],
    ("", "batch_dims must be 0"): ['attr="batch_dims" value="0"'],
    # WebNN
    ("", "Only supports 4-D input, 2-D 'kernel_shape'"): ONLY_2D,
    ("", "Only supports 4-D input"): ONLY_2D,
    ("", "Only supports 4-D input, 'p' value is 2"): ONLY_2D + ['attr="p" value="2"'],
    ("", "Only supports 4-D input, 2-D 'kernel_shape', 'p' value is 2"): ONLY_2D + ['attr="p" value="2"'],
    ("", "Only supports 4-D input, 2-D 'kernel_shape', 'storage_order' != 1, one output"):
        ONLY_2D + ['attr="storage_order" value="0"', 'outputs="1"'],
    ("", "Only supports 'training_mode' value is 0, one output"): ['attr="training_mode" value="0"', 'outputs="1"'],
    ("", "Only supports 3-D or 4-D input and 'W' (weight)"): rank(0, 3, 4) + rank(1, 3, 4),
    ("", "'axis' input should be a constant"): constant(1),
    ("", "Only supports test mode"): [],
    ("", "'shape' input should be a constant"): constant(1),
    ("", "Only supports 'batch_dims' == 0"): ['attr="batch_dims" value="0"'],
    ("GRU", "Only supports 'layout' == 0. 'clip' is not supported. The activation functions in 'activations' must be "
     "one of 'Relu', 'Tanh', 'Sigmoid'. Forward and backward activations must be the same if bidirectional. "
     "'sequence_lens' if present should be constant with values equal to the first dimension length of input 'X'"):
        RNN_WEBNN + constant(4),
    ("LSTM", "Only supports 'layout' == 0, 'input_forget' == 0. 'clip' is not supported. The activation functions in "
     "'activations' must be one of 'Relu', 'Tanh', 'Sigmoid'. Forward and backward activations must be the same if "
     "bidirectional. 'sequence_lens' if present should be constant with values equal to the first dimension length "
     "of input 'X'"): RNN_WEBNN + ['attr="input_forget" value="0"'] + constant(4),
    ("MatMulNBits", "Inputs 'B' and 'zero_points' (if present) should be constants, input 'g_idx' is not supported, "
     "only bits=4 is supported"): constant(1, 3) + ['input="4" absent="yes"', 'attr="bits" default="4" value="4"'],
    ("MultiHeadAttention", "Does not support inputs bias, key_padding_mask, past_sequence_length, or "
     "cache_indirection. Does not support output qk"):
        ['input="3" absent="yes"', 'input="4" absent="yes"', 'input="8" absent="yes"', 'input="9" absent="yes"',
         'outputs="3"'],
    ("", "modes == 'wrap' is not supported"): ['attr="mode" not="wrap"'],
    ("", "Input 'axes' if present should be a constant"): REDUCE_AXES,
    ("Reshape", "Input 'shape' should be a constant, 0 dimension value in 'shape' is not supported"):
        constant(1) + ['input="1" without="0"'],
    ("Resize", "Only supports 4-D input, antialias == 0, exclude_outside == 0, keep_aspect_ratio_policy == "
     "'stretch', 'linear' and 'nearest' modes, input 'scales' and 'sizes' if present must be a constant"):
        ONLY_2D + ['attr="antialias" value="0"', 'attr="exclude_outside" value="0"',
                   'attr="keep_aspect_ratio_policy" value="stretch"', 'attr="mode" value="linear nearest"'] +
        constant(2, 3),
    ("", "Only supports 'reduction' == 'none'"): ['attr="reduction" value="none"'],
    ("", "Input 'starts', 'ends', 'axes', and 'steps' if present must be a constant"): constant(1, 2, 3, 4),
    ("", "Input 'split' if present should be a constant"): constant(1),
    ("", "Input 'repeats' should be a constant"): constant(1),
    ("", "Input 'k' (option 'diagonal' for WebNN) if present should be a constant"): constant(1),
    # WebGPU
    ("", "need perf optimization"): [],
    ("", "need perf optimization; need implementing activation"): [],
    ("", "need perf optimization; conv3d is not supported; need implementing activation"): rank(0, 3, 4),
    ("", "need perf optimization; ConvTranspose3d is not supported; need implementing activation"): rank(0, 3, 4),
    ("", "no GPU kernel"): [],
    ("", "no GPU kernel; an ORT warning is generated - need to fix"): [],
    ("Resize", "Antialiasing is not supported"): ['attr="antialias" value="0"'],
    ("Gather", "Only supports positive indices"): ['input="1" min="0"'],
    ("Pad", "Input pads values should be non-negative"): ['input="1" min="0"'],
    ("GroupQueryAttention", "Does not support cos_cache and sin_cache inputs"):
        ['input="7" absent="yes"', 'input="8" absent="yes"'],
    # TensorRT
    ("TopK", "`K` input must be less than 3840"): ['input="1" max="3839"'],
    ("", "2D or 3D Pooling only"): rank(0, 4, 5),
    ("", "2D or 3D pooling only"): rank(0, 4, 5),
    ("", "`dilations` must be empty or all ones"): ['attr="dilations" value="1"'],
    ("", "`Indices` output tensor unsupported"): ['outputs="1"'],
    ("", "Only the first output `Y` is supported"): ['outputs="1"'],
    ("CumSum", "`axis` must be an initializer"): constant(1),
    ("Pad", "`axes` must be an initializer"): constant(3),
    ("Slice", "`axes` must be an initializer"): constant(3),
    ("", "`axes` must be an initializer"): constant(1),
    ("", "`axes` must be a constant tensor"): constant(1),
    ("", "`depth` must be a build-time constant"): constant(1),
    ("", "`input` must have static dimensions"): [],
    ("", "Input must be 4D input"): ONLY_2D,
    ("", "`input_forget` attribute must be 0"): ['attr="input_forget" value="0"'],
    ("", "`layout` attribute must be 0"): ['attr="layout" value="0"'],
    ("", "`reduction` is not supported"): ['attr="reduction" value="none"'],
    ("", "`seed` value is ignored by TensorRT"): [],
    ("", "`sorted` must be 1"): ['attr="sorted" value="1"'],
    ("", "`axis` dimension of input must be a build-time constant"): [],
    ("", "Supported resize transformation modes: `half_pixel`, `pytorch_half_pixel`, `tf_half_pixel_for_nn`, "
     "`asymmetric`, and `align_corners`"):
        ['attr="coordinate_transformation_mode" value="half_pixel pytorch_half_pixel tf_half_pixel_for_nn '
         'asymmetric align_corners"'],
    ("", "Supported resize modes: `nearest`, `linear`"): ['attr="mode" value="nearest linear"'],
    ("", "Supported nearest modes: `floor`, `ceil`, `round_prefer_floor`, `round_prefer_ceil`"):
        ['attr="nearest_mode" value="floor ceil round_prefer_floor round_prefer_ceil"'],
    ("", "Supported aspect ratio policy: `stretch`"): ['attr="keep_aspect_ratio_policy" value="stretch"'],
    ("", "`x_zero_point` must be zero"): ['input="2" only="0"'],
    ("", "`y_zero_point` must be 0"): ['input="2" only="0"'],
    ("Constant", "`sparse_value`, `value_string`, and `value_strings` attributes are unsupported"):
        ['attr="sparse_value" absent="yes"', 'attr="value_string" absent="yes"', 'attr="value_strings" absent="yes"'],
}
# Conditions of which only a part can be decided: where it holds, the whole does; else the note decides.
ONE_ACTIVATION = 'attr="activations" absent="yes"'
PARTS = {
    "For bidirectional GRUs, activation functions must be the same for both the forward and reverse pass":
        [ONE_ACTIVATION],
    "For bidirectional LSTMs, activation functions must be the same for both the forward and reverse pass":
        [ONE_ACTIVATION],
    "For bidirectional RNNs, activation functions must be the same for both the forward and reverse pass":
        [ONE_ACTIVATION],
    "If input B is not constant, transB should be 1": constant(1),
    "Input indices should be constant if not int32 type": constant(1),
    "kernel_shape must have default values": ['attr="kernel_shape" absent="yes"'],
    "need implementing mask and past/present":
        ['input="3" absent="yes"', 'input="4" absent="yes"', 'input="5" absent="yes"'],
    "all opset below 13 is supported, only support opset 13 when AXIS is the last dimension":
        ['attr="axis" value="-1"'],
    "`is_traning` must be an initializer and evaluate to False": ['input="2" absent="yes"'],
}
SPELLING = {"Argmax": "ArgMax", "Argmin": "ArgMin", "Prelu": "PRelu", "Matmul": "MatMul"}
TRT_TYPES = {"FP32": "float", "FP16": "float16", "BF16": "bfloat16", "INT32": "int32", "INT64": "int64",
             "INF64": "int64", "INT8": "int8", "UINT8": "uint8", "BOOL": "bool", "INT4": "int4",
             "FP8": "float8e4m3fn"}


def conditions(op, note):
    """Conditions of a note, sentence by sentence where the whole is not known."""
    note = note.strip().strip(".").strip()
    if not note or "epislon" in note:  # Reciprocal of CoreML: about its accuracy
        return []
    if note == "All quantization scales and zero points should be constant":
        return QLINEAR[op]
    for key in ((op, note), ("", note)):
        if key in NOTES:
            return NOTES[key]
    parts = [p for p in re.split(r"<br ?/>|\.\s+(?=[A-Z`'])", note) if p.strip()]
    if len(parts) > 1:
        return sum((conditions(op, p) for p in parts), [])
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", note)
    if PARTS.get(note):
        return ["%s unknown=%s" % (p, quoteattr(text)) for p in PARTS[note]]
    return ["unknown=%s" % quoteattr(text)]


def schema_versions(folder):
    found = {}
    for name in ("Operators.md", "Operators-ml.md"):
        for line in open(folder + "/" + name):
            m = re.match(r'\|<a href="#([\w.]+)">[\w.]+</a>\|(.*?)\|', line)
            if m:
                versions = [int(v) for v in re.findall(r">(\d+)</a>", m.group(2))]
                found.setdefault(m.group(1).split(".")[-1], sorted(set(versions)))
    return found


def interval(text, versions):
    """The opsets of a model whose nodes a kernel "[7, 12]", "13" or "13+" serves; None: none."""
    start, end, still_open = None, None, text.endswith("+")
    numbers = [int(x) for x in re.findall(r"\d+", text)]
    start, end = numbers[0], numbers[-1]
    if not versions:
        return (start, None if still_open else end)
    served = [v for v in versions if (v == start or start < v <= end and not still_open)]
    if not served:
        return None
    later = [v for v in versions if v > served[-1]]
    return (served[0], later[0] - 1 if later else None)


def type_word(text):
    """float, seq(float); optional, map, sparse: of any element."""
    text = text.strip()
    for word, start in (("sparse", "sparse_"), ("optional", "optional("), ("map", "map("), ("map", "seq(map(")):
        if text.startswith(start):
            return word
    return re.sub(r"tensor\((\w+)\)", r"\1", text)


def parse_types(text):
    out = {}
    for m in re.finditer(r"\*\*(\w+)\*\* = ([^*]*?)(?:<br/>|$)", text.strip()):
        out[m.group(1)] = sorted({type_word(t) for t in re.split(r", (?=\w+\()", m.group(2))})
    return out


def parse_signature(text):
    """Lists of the variables of inputs and outputs, for each alternative."""
    all_of = []
    for one in text.split("<br><br>or<br><br>"):
        sides = {"in": [], "out": []}
        for m in re.finditer(r"\*(in|out)\* \w+:\*\*(.*?)\*\*", one):
            sides[m.group(1)].append(m.group(2))
        all_of.append(sides)
    return all_of


def choose_signature(signatures, types):
    def score(s):
        used = {v for side in s.values() for v in side if not v.startswith(("tensor(", "seq("))}
        return (len(used & set(types)), -len(used - set(types)))
    return max(signatures, key=score)


class Sets:
    """Sets of types get short names, which the rows use."""
    def __init__(self):
        self.name = {}

    def of(self, types):
        types = tuple(sorted(types))
        if types not in self.name:
            self.name[types] = "t%d" % (len(self.name) + 1)
        return self.name[types]


def merge(rows):
    """Rows of one operator, oldest first; adjoining ones that say the same become one."""
    out = []
    for low, high, rest in sorted(rows, key=lambda r: r[0]):
        if out and out[-1][2] == rest and out[-1][1] is not None and out[-1][1] + 1 >= low:
            out[-1] = (out[-1][0], None if high is None else max(high, out[-1][1]), rest)
        else:
            out.append((low, high, rest))
    return out


def read_kernels(folder, file, provider, sets, versions):
    text = open(folder + "/" + file).read()
    part = text.split("## Operators implemented by " + provider)[1].split("## Operators implemented by")[0]
    ops, domain, name, signatures = {}, "", None, None
    for line in part.splitlines():
        if not line.startswith("|"):
            continue
        m = re.match(r"\|\*\*Operator Domain:\*\* \*([\w.]+)\*", line)
        if m:
            domain = "" if m.group(1) == "ai.onnx" else m.group(1)
            continue
        cell = re.split(r"(?<!\\)\|", line)[1:]
        if len(cell) < 4 or not re.search(r"\d", cell[2]):
            continue
        if cell[0].strip():
            name, signatures = cell[0].strip(), parse_signature(cell[1])
        opsets = interval(cell[2].strip(), versions.get(name) if domain in ("", "ai.onnx.ml") else None)
        if not opsets:
            continue
        types = parse_types(cell[3])
        chosen = choose_signature(signatures, types)

        def side(which):
            names = []
            for v in chosen[which]:
                m = re.match(r"tensor\((\w+)\)$", v)
                names.append(sets.of((m.group(1),)) if m else sets.of(types[v]) if v in types else "*")
            while len(names) > 1 and names[-1] == names[-2]:
                names.pop()
            return " ".join(names)
        rest = {"in": side("in"), "out": side("out")}
        rules = []
        if provider == "CUDAExecutionProvider":
            rest["host-in"], rest["host-out"] = HOST_IN.get(name, ""), HOST_OUT.get(name, "")
            rules = CUDA_RULES.get(name, []) if domain == "" else []
        ops.setdefault((domain, name), []).append((*opsets, (tuple(rest.items()), tuple(rules))))
    return ops


def read_notes(folder, file, provider, sets, versions):
    ops = {}
    for line in open(folder + "/" + file):
        m = re.match(r"\|(ai\.onnx|com\.microsoft)[:.](\w+)\|(.*)\|\s*$", line)
        if not m:
            continue
        domain, name = "" if m.group(1) == "ai.onnx" else m.group(1), SPELLING.get(m.group(2), m.group(2))
        ops[(domain, name)] = [(1, None, ((), tuple(conditions(name, m.group(3)))))]
    return ops


def read_opsets(folder, file, provider, sets, versions):
    ops = {}
    for line in open(folder + "/" + file):
        cell = [c.strip() for c in line.split("|")[1:-1]]
        if len(cell) < 3 or not re.search(r"\(\d", cell[1]):
            continue
        rules = tuple(conditions(cell[0], cell[-1]))
        for domain, numbers in re.findall(r"(ai\.onnx|com\.microsoft)\(([^)]*)\)", cell[1]):
            for one in numbers.split(","):
                opsets = interval(one.strip(), versions.get(cell[0]) if domain == "ai.onnx" else None)
                if opsets:
                    key = ("" if domain == "ai.onnx" else domain, cell[0])
                    ops.setdefault(key, []).append((*opsets, ((), rules)))
    return ops


def read_tensorrt(folder, file, provider, sets, versions):
    ops = {}
    for line in open(folder + "/" + file):
        cell = [c.strip() for c in line.strip().strip("|").split("|")]
        if len(cell) < 3 or not cell[1].startswith("Y"):
            continue
        types = sets.of(TRT_TYPES[t.strip()] for t in cell[2].split(",") if t.strip())
        rules = tuple(conditions(cell[0], cell[3] if len(cell) > 3 else ""))
        ops[("", cell[0])] = [(1, None, ((("in", types + " *"),), rules))]
    return ops


READERS = {"kernels": read_kernels, "notes": read_notes, "opsets": read_opsets, "tensorrt": read_tensorrt}


def write(folder, out, row, versions):
    ident, name, file, reader, attributes, title, url = row
    sets = Sets()
    ops = READERS[reader](folder, file, name, sets, versions)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>',
             "<!-- Made by tests/support/make_providers.py from the published list. -->",
             '<provider version="1" ' + " ".join("%s=%s" % (k, quoteattr(v)) for k, v in
                                                 [("id", ident), ("name", name), *attributes.items()]),
             "          source=%s" % quoteattr(title), "          url=%s>" % quoteattr(url)]
    lines += ['  <types id="%s" list="%s"/>' % (v, " ".join(k)) for k, v in sets.name.items()]
    for (domain, op), rows in sorted(ops.items()):
        for low, high, (rest, rules) in merge(rows):
            text = '  <op name="%s"' % op + (' domain="%s"' % domain if domain else "")
            text += "" if (low, high) == (1, None) else ' opset="%d-%s"' % (low, high or "")
            text += "".join(' %s="%s"' % (k, v) for k, v in rest if v)
            lines.append(text + ("/>" if not rules else ">" + "".join("<needs %s/>" % r for r in rules) + "</op>"))
    lines += ["</provider>", ""]
    open("%s/%s.xml" % (out, ident), "w").write("\n".join(lines))
    unknown = sum("unknown=" in r for rows in ops.values() for x in rows for r in x[2][1])
    print("%-13s %4d operators, %4d rows, %2d undecided conditions" %
          (ident, len(ops), sum(len(merge(r)) for r in ops.values()), unknown))


def main():
    versions = schema_versions(sys.argv[1])
    for row in PROVIDERS:
        write(sys.argv[1], sys.argv[2], row, versions)


if __name__ == "__main__":
    main()
