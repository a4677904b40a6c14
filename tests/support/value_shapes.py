#!/usr/bin/python3
# usage: value_shapes.py MODEL   name, element type and shape of each value, as the onnx package infers them
import sys
import onnx
from onnx import shape_inference

model = shape_inference.infer_shapes(onnx.load(sys.argv[1], load_external_data=False))
constants = {i.name for i in model.graph.initializer}
for value in [*model.graph.input, *model.graph.value_info, *model.graph.output]:
    tensor = value.type.tensor_type
    if value.name in constants or not tensor.HasField("shape"):
        continue
    sizes = [d.dim_param or (str(d.dim_value) if d.HasField("dim_value") else "?") for d in tensor.shape.dim]
    print(value.name, onnx.TensorProto.DataType.Name(tensor.elem_type).lower(), ",".join(sizes))
