"""Extracts rows of a model and compares each with its row. usage: extract_rules.py ONNXCOST MODEL WORK STEP [options of onnxcost]
Every STEP-th row of the table: the file passes onnx.checker where python3-onnx is installed, has the MACs of its row, and of a
row without a profile also its FLOPs and its output shapes. Prints a line per problem, then `N rows`."""
import csv
import io
import json
import subprocess
import sys

try:
    import onnx.checker
except ImportError:
    onnx = None


def run(*arguments):
    done = subprocess.run(arguments, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def problems_of(program, path, row, recorded):
    if onnx:
        try:
            onnx.checker.check_model(path)
        except Exception as why:
            if "higher than the checker" not in str(why):
                yield f"onnx.checker: {str(why)[:200]}"
    code, out, err = run(program, path, "-f", "json")
    if code:
        yield err.strip()
        return
    totals = json.loads(out)["totals"]
    for key, column in [("macs", "macs")] + ([] if recorded else [("flops", "float_ops")]):
        if row[column] and int(float(row[column])) != totals[key]:
            yield f"{key} {totals[key]}, the row has {row[column]}"
    if not recorded:
        _, out, _ = run(program, path, "-f", "csv", "--opr-name", row["name"])
        shapes = [r["outputs"] for r in csv.DictReader(io.StringIO(out))]
        if row["outputs"] not in shapes:
            yield f"outputs {shapes}, the row has {row['outputs']}"


def main(program, model, work, step, *options):
    recorded = "-p" in options
    rows = list(csv.DictReader(io.StringIO(run(program, model, *options, "-f", "csv", "--all")[1])))
    path, done = f"{work}/row.onnx", 0
    for at in range(0, len(rows), int(step)):
        row = rows[at]
        code, _, err = run(program, model, *options, "--extract", f"#{at + 1}", "-o", path)
        if code == 2 and "has no node of the model" in err:
            continue
        for problem in problems_of(program, path, row, recorded) if not code else [err.strip()]:
            print(f"{row['name']}: {problem}")
        done += 1
    print(done, "rows")


main(*sys.argv[1:])
