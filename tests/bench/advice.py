"""What suggestions of --advise are worth: rewrites and settings that `onnxcost tune` can try, each measured against the default,
alternated, next to what a recording made it expect.

usage: advice.py ONNXCOST LIST FOLDER [THREADS]      ONNXRUNTIME_LIB: the runtime
LIST: lines NAME <tab> options such as --dim batch=1; FOLDER/NAME.onnx are the models. Use an idle machine. Prints a line for
each suggestion and a summary; FOLDER/NAME.tune.json keeps the answers, which are not measured again."""
import json
import os
import subprocess
import sys

onnxcost, list_file, folder = sys.argv[1:4]
threads = sys.argv[4] if len(sys.argv) > 4 else "1"
# All settings that no suggestion is about are given, so that they are not tried.
GIVEN = ["--provider", "CPU", "--threads", threads, "--opt-level", "all"]
for entry in ("execution_mode=sequential", "enable_cpu_mem_arena=1", "enable_mem_pattern=1", "session.intra_op.allow_spinning=1",
              "session.disable_prepacking=0", "session.dynamic_block_base=0"):
    GIVEN += ["--session-config", entry]
LARGEST = 3  # suggestions of a network, by what they are expected to save


def answer_of(name, options):
    path = os.path.join(folder, name + ".tune.json")
    if not os.path.exists(path):
        command = [onnxcost, "tune", os.path.join(folder, name + ".onnx"), *options, *GIVEN, "--repeat", "8", "-f", "json"]
        run = subprocess.run(command, capture_output=True, text=True)
        if run.returncode:
            print(f"{name}: {run.stderr.strip()[:200]}")
            return None
        with open(path, "w") as f:
            f.write(run.stdout)
    with open(path) as f:
        return json.load(f)


def center(setting):
    return 1 - (setting["expected_low"] + setting["expected_high"]) / 2


networks, rows, refused = 0, [], 0
for line in open(list_file):
    name, options = (line.rstrip("\n").split("\t") + [""])[:2]
    answer = answer_of(name, options.split())
    if not answer:
        continue
    networks += 1
    refused += sum(s["failed"] is not None and "--apply" in s["setting"] for s in answer["settings"])
    tried = [s for s in answer["settings"] if s["expected_low"] is not None and s["failed"] is None]
    for s in sorted(tried, key=lambda s: -center(s))[:LARGEST]:
        rows.append((name, answer["default_ns"], s))
        print(f"{name:24} {s['setting'].split()[-1]:32} {answer['default_ns'] / 1e3:10.1f} us  expected {100 * center(s):5.1f} % "
              f"({100 - 100 * s['expected_high']:.1f} to {100 - 100 * s['expected_low']:.1f})  measured {100 - 100 * s['ratio']:5.1f} % "
              f"({100 - 100 * s['high']:.1f} to {100 - 100 * s['low']:.1f}){'  shown' if s['high'] < 1 else ''}")

shown = [r for r in rows if r[2]["high"] < 1]
near = [r for r in shown if 0.5 <= center(r[2]) / (1 - r[2]["ratio"]) <= 2]
inside = [r for r in rows if r[2]["expected_low"] <= r[2]["ratio"] <= r[2]["expected_high"]]
slower = [r for r in rows if r[2]["low"] > 1]
print(f"{networks} networks, {len(rows)} suggestions in {len({r[0] for r in rows})} of them, {refused} rewrites not run (they cannot, or outputs differ)")
if rows:
    print(f"shown to be faster {len(shown)} of {len(rows)}; of these expected within 0.5 to 2 of measured {len(near)}; "
          f"inside the expected interval {len(inside)} of {len(rows)}; slower {len(slower)}")
