"""What python3-onnx takes to load a model and infer its shapes, small values propagated.

usage: onnx_peer.py MODEL | --files-from LIST        exit code 1: it could not do one of them
"""
import sys

import onnx

if sys.argv[1] == '--files-from':
    paths = open(sys.argv[2]).read().splitlines()
else:
    paths = sys.argv[1:]
failed = 0
for path in paths:
    try:
        model = onnx.load(path, load_external_data=False)
        onnx.shape_inference.infer_shapes(model, data_prop=True)
    except Exception as error:  # whatever it is, the measurement is none
        failed += 1
        print(f'{path}: {error}', file=sys.stderr)
sys.exit(1 if failed and len(paths) == 1 else 0)
