#!/usr/bin/python3
"""Share of the recorded time whose kernels the fusion plan of `estimate` predicts, by class of network and level.

usage: plan_shares.py ONNXCOST DIR [--hw DEVICE] [--misses N] [--pattern NAMES]

DIR/NAME.LEVEL.profile.json and DIR/NAME.LEVEL.optimized.onnx of the model DIR/models/NAME.onnx, DIR/NAME.onnx or
DIR/../models/NAME.onnx, as `onnxcost record MODEL --opt-level LEVEL -o DIR/NAME.LEVEL` writes them, or without ".LEVEL"
for level all; or a folder of models/record_zoo.sh, whose recordings.tsv names the models. DEVICE: whose instruction
set the plan is for. A kernel is right if the plan has one of the same nodes; one inserted by the runtime, if the plan has
one of the same type and size. The class is that of the file NAME and of the operators:
quantized, transformer (a product after a Softmax), audio, ocr, detection, cnn, other.
--misses N prints the N groups of kernels with most time that the plan has not, as a share of their networks.
Exit code 1 if the mean share of a class is below its target at one level."""
import argparse
import collections
import concurrent.futures
import csv
import fnmatch
import glob
import json
import os
import re
import subprocess
import sys

LEVELS = ("disabled", "basic", "extended", "all")
TARGET = {"cnn": 0.97, "transformer": 0.97, "detection": 0.90, "ocr": 0.90, "quantized": 0.90, "audio": 0.90}
QUANTIZED = re.compile(r"Quantize|QLinear|Integer|QGemm|QAttention")
NAMES = (
    ("audio", r"audio|speech|voice|vad\b|_vad|vad_|silero|whisper|mel|wake|kws|keyword|openwake|hello_|stft|dnsmos|pitch|"
              r"visqol|gtcrn|dpcrn|ulunas|rnnoise|radio|sound|fsmn|\bsed\b|sed-"),
    ("ocr", r"ocr|crnn|lprnet|_rec_|captcha|alpr|dbnet"),
    ("detection", r"yolo|detect|nanodet|_det|det_|retinaface|scrfd|blazeface|ssd|deimv|palm|perceptor|face_fullrange|rfb"),
)


def class_of(name, types):
    """types: operators of the kernels, "Conv+Relu"."""
    operators = [t for group in types for t in group.split("+")]
    if any(QUANTIZED.search(t) for t in operators):
        return "quantized"
    for label, pattern in NAMES:
        if re.search(pattern, name, re.I):
            return label
    count = collections.Counter(operators)
    if count["Attention"] or count["MultiHeadAttention"] or (count["Softmax"] and count["MatMul"] >= 2 * count["Softmax"]):
        return "transformer"
    return "cnn" if count["Conv"] + count["ConvTranspose"] else "other"


def level_of(name):
    stem, _, level = name.rpartition(".")
    return (stem, level) if level in LEVELS else (name, "all")


def recordings(folder, pattern):
    """(name, level, model, profile, optimized)"""
    table = os.path.join(folder, "recordings.tsv")
    listed = {}
    if os.path.exists(table):
        with open(table, newline="", encoding="utf-8") as f:
            listed = {r["name"]: r["model"] for r in csv.DictReader(f, delimiter="\t")}
    for profile in sorted(glob.glob(os.path.join(glob.escape(folder), "*.profile.json"))):
        stem = profile[:-len(".profile.json")]
        name, level = level_of(os.path.basename(stem))
        models = [listed.get(name, ""), "models/%s.onnx" % name, "%s.onnx" % name, "../models/%s.onnx" % name]
        model = next((m for m in (os.path.join(folder, m) for m in models) if os.path.isfile(m)), None)
        if model and os.path.exists(stem + ".optimized.onnx") and fnmatch.fnmatch(name, pattern):
            yield name, level, model, profile, stem + ".optimized.onnx"


def measure(program, device, recording):
    name, level, model, profile, optimized = recording
    run = subprocess.run([program, "estimate", model, "-p", profile, "--optimized-model", optimized, "--hw", device,
                          "--opt-level", level, "-f", "json"], capture_output=True, text=True)
    try:
        seen = json.loads(run.stdout)
    except ValueError:
        print("failed %s.%s: %s" % (name, level, (run.stderr.strip().splitlines() or ["?"])[-1]))
        return None
    share = seen["plan"]["equal_time_fraction"]
    if share is None:
        return None
    kernels = [(k["types"], (k["measured_s"] or 0) * (k["calls"] or 1), k.get("planned")) for k in seen["kernels"]]
    total = sum(time for _, time, _ in kernels) or 1
    return {"name": name, "level": level, "class": class_of(name, [k[0] for k in kernels]), "share": share,
            "missed": [(types, time / total) for types, time, planned in kernels if not planned]}


def print_classes(rows):
    """Returns the number of classes and levels below their target."""
    below = 0
    print("%-12s %-9s %5s %7s %8s %8s" % ("class", "level", "n", "mean", ">= 97 %", "target"))
    for label in list(TARGET) + ["other"]:
        for level in LEVELS:
            shares = [r["share"] for r in rows if r["class"] == label and r["level"] == level]
            if not shares:
                continue
            mean, target = sum(shares) / len(shares), TARGET.get(label)
            bad = target is not None and mean < target
            below += bad
            print("%-12s %-9s %5d %5.1f %% %8d %6s %s" % (label, level, len(shares), 100 * mean, sum(s >= 0.97 for s in shares),
                                                       "%.0f %%" % (100 * target) if target else "-", "BELOW" if bad else ""))
    return below


def print_misses(rows, n):
    groups, where = collections.Counter(), collections.defaultdict(list)
    for r in rows:
        for types, share in r["missed"]:
            groups[(r["class"], types)] += share
            where[(r["class"], types)].append("%s.%s" % (r["name"], r["level"]))
    for (label, types), share in groups.most_common(n):
        names = sorted(set(where[(label, types)]))
        print("%6.2f networks  %-11s %-50s %d kernels: %s" % (share, label, types[:50], len(where[(label, types)]),
                                                            " ".join(names[:3])))


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("folder")
    parser.add_argument("--hw", default="hwdb/calibrations/xeon-2-threads.xml")
    parser.add_argument("--misses", type=int, default=0)
    parser.add_argument("--pattern", default="*")
    o = parser.parse_args()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        rows = [r for r in pool.map(lambda r: measure(o.program, o.hw, r), recordings(o.folder, o.pattern)) if r]
    if not rows:
        sys.exit("no recordings with a model in '%s'" % o.folder)
    label = {}
    for r in sorted(rows, key=lambda r: LEVELS.index(r["level"])): # by the operators of the lowest level
        r["class"] = label.setdefault(r["name"], r["class"])
    below = print_classes(rows)
    for r in sorted(rows, key=lambda r: r["share"]):
        if r["share"] < TARGET.get(r["class"], 0.9):
            print("%5.1f %%  %-12s %s.%s" % (100 * r["share"], r["class"], r["name"], r["level"]))
    print_misses(rows, o.misses)
    return 1 if below else 0


if __name__ == "__main__":
    sys.exit(main())
