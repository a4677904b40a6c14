#!/usr/bin/python3
"""Compares `memory --profile` with the memory of ONNX Runtime's arena in the first run of recordings.

usage: memory_recordings.py ONNXCOST DIR [PATTERN]

DIR/NAME.profile.json of DIR/NAME.onnx, as `onnxcost record DIR/NAME.onnx --opt-level disabled -o DIR/NAME` writes
it; without DIR/NAME.onnx, DIR/NAME.optimized.onnx (whose nodes the runtime may have run in another order). Shapes are
those of the inputs in DIR/NAME.log. One line per comparison whose bytes requested are off by
more than 1 %, and a summary.
Exit code 1 if one that is called exact is off by more than 1 %, or fewer than 95 % are within 1 %."""
import fnmatch
import glob
import json
import os
import re
import subprocess
import sys

LIMIT = 0.01
FIGURES = ("requested", "in_use")


def recorded_sizes(log):
    """Options --shape of the recorded inputs."""
    options = []
    try:
        text = open(log, encoding="utf-8").read()
    except OSError:
        return options
    for line in re.findall(r"^(?:input)?\s+(\S+)\s+\w+\[([\d,]*)\]\s", text, re.M):
        if line[1]:
            options += ["--shape", "%s=%s" % (line[0], line[1].replace(",", "x"))]
    return options


def compare(program, profile):
    stem = profile[:-len(".profile.json")]
    model = stem + (".onnx" if os.path.exists(stem + ".onnx") else ".optimized.onnx")
    run = subprocess.run([program, "memory", model, "--profile", profile, "-f", "json"] +
                         recorded_sizes(stem + ".log"), capture_output=True, text=True)
    if run.returncode:
        return None, run.stderr.strip().splitlines()[-1:] or ["exit code %d" % run.returncode]
    seen = json.loads(run.stdout)["measured"]
    ours, apart = seen["predicted"], {}
    for figure in FIGURES:
        real = seen[figure + "_bytes"]
        predicted = seen[figure + "_before_bytes"] + ours[figure + "_bytes"]
        apart[figure] = (predicted - real) / real if real else float(predicted != 0)
    return apart, (ours["quality"], seen["requested_at"], ours["estimate_reason"] or "")


def main():
    program, folder = sys.argv[1:3]
    pattern = sys.argv[3] if len(sys.argv) > 3 else "*"
    n, near, wrong = 0, dict.fromkeys(FIGURES, 0), 0
    for profile in sorted(glob.glob(os.path.join(folder, pattern + ".profile.json"))):
        name = os.path.basename(profile)[:-len(".profile.json")]
        apart, rest = compare(program, profile)
        if apart is None:
            print("failed %s: %s" % (name, rest[0] if rest else "?"))
            continue
        n += 1
        for figure in FIGURES:
            near[figure] += abs(apart[figure]) <= LIMIT
        if abs(apart["requested"]) > LIMIT:
            wrong += rest[0] == "exact"
            print("%+8.2f %% %-9s %s: at %s; %s" % (apart["requested"] * 100, rest[0], name, *rest[1:]))
    print("%d comparisons within 1 %%: %d requested, %d in use (an estimate); called exact and off by more: %d" %
          (n, near["requested"], near["in_use"], wrong))
    return int(wrong > 0 or near["requested"] < 0.95 * n or not n)


if __name__ == "__main__":
    sys.exit(main())
