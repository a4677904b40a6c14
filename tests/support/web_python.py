"""Compares JSON of the Python package with that of the WebAssembly build under node; paths of models on standard input. Prints
what is different. usage: web_python.py PROGRAM"""
import json
import subprocess
import sys

import onnxcost as oc

checked = 0
for path in sys.stdin.read().split():
    out = subprocess.run(["node", sys.argv[1], path, "-f", "json"], capture_output=True, check=True).stdout
    ours, theirs = oc.analyze(path).data, json.loads(out)
    checked += 1
    for key in sorted(set(ours) | set(theirs)):
        if ours.get(key) != theirs.get(key):
            print(f"{path}: {key}: {str(ours.get(key))[:100]} {str(theirs.get(key))[:100]}")
if not checked:
    print("no models")
