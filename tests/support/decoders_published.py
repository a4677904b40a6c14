"""Compares what onnxcost counts for a config.json with published sizes: one TAP line per model.
usage: decoders_published.py ONNXCOST TABLE FOLDER"""
import ast
import json
import operator
import pathlib
import subprocess
import sys

OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.floordiv}


def number(text):
    """The value of "2*8*128" or "(13476839424-8192)/2"."""

    def value(node):
        if isinstance(node, ast.BinOp):
            return OPERATORS[type(node.op)](value(node.left), value(node.right))
        return node.value

    return value(ast.parse(text, mode="eval").body)


def run(program, *arguments):
    return json.loads(subprocess.run([program, *arguments, "-f", "json"], check=True, capture_output=True).stdout)


def main():
    program, table, folder = sys.argv[1:]
    lines = [line for line in pathlib.Path(table).read_text().splitlines() if not line.startswith("#")]
    for n, line in enumerate(lines, 1):
        name, config, parameters, size, cache, _ = line.split("\t")
        path = pathlib.Path(folder) / f"{n}.json"
        path.write_text(config)
        model = run(program, "llm", str(path))
        stored = sum(w["bytes"] for w in model["weights"])
        problems = [
            f"{what}: {found}, published {value}"
            for what, found, value in (
                ("parameters", model["params"], number(parameters)),
                ("cache", model["kv_bytes_per_token"], number(cache)),
                ("bytes", stored, number(size)),
            )
            if found != value
        ]
        print(f"{'not ok' if problems else 'ok'} {n} - {name}: {model['params']} parameters, {stored} bytes, "
              f"{model['kv_bytes_per_token']} bytes of cache per token")
        for problem in problems:
            print(f"# {problem}")


main()
