#!/usr/bin/env python3
"""Holds published rates and latencies of language models against the bounds of `onnxcost llm`: no measured rate above its
bound, no measured time below; and the bounds of `llm` and of `estimate`, of one device and of several, are the same. usage: llm_published.py ONNXCOST TABLE FOLDER BYTES; the folder has a file for each model, BYTES are those of its GGUF files"""
import collections
import json
import pathlib
import statistics
import subprocess
import sys


def file_of(folder, model):
    """Its config.json, or its GGUF file."""
    path = pathlib.Path(folder) / f"{model}.gguf"
    return str(path if path.exists() else path.with_name(f"{model}.json"))


def bound(program, folder, row):
    model, device, devices, batch, prompt, generate, figure = row[:7]
    command = [program, "llm", file_of(folder, model), "--hw", device, "--batch", batch, "--prompt", prompt,
               "--generate", str(max(int(generate), 2)), "--parallel", devices, "-f", "json"]
    report = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    on = report["devices"][0]
    roof = {r["run"]: r for r in on["roofs"]}
    serving = on["serving"][0]
    if figure == "decode_tokens_per_s":
        return next(b["most_tokens_per_s"] for b in serving["batches"] if b["batch"] == int(batch))
    if figure == "output_tokens_per_s":  # prefill and every step
        time = sum(roof[run]["least_s"] for run in ("prompt", "decode"))
        return int(batch) * int(generate) / time
    prefill = serving["least_prefill_s"]
    return prefill if figure == "first_token_s" else int(prompt) / prefill


def differences(program, folder, model, device, batch, prompt):
    """The lower bounds of a prompt and of the step after it, where the commands differ."""
    def report(command, *options):
        return json.loads(subprocess.run([program, command, file_of(folder, model), "--hw", device, "-f", "json", *options],
                                         capture_output=True, text=True, check=True).stdout)
    roofs = report("llm", "--batch", batch, "--prompt", prompt)["devices"][0]["roofs"]
    for run, new, past in (("prompt", int(prompt), 0), ("next_token", 1, int(prompt))):
        dims = [word for name, size in (("batch_size", batch), ("sequence_length", new), ("past_sequence_length", past),
                                        ("total_sequence_length", new + past)) for word in ("--dim", f"{name}={size}")]
        bound_of = {"llm": next(r["least_s"] for r in roofs if r["run"] == run),
                "estimate": report("estimate", *dims)["total"]["bound_s"],
                "ranking": report("estimate", "--order-by", "time", *dims)["devices"][0]["bound_s"]}
        if max(bound_of.values()) > min(bound_of.values()) * (1 + 1e-9) or not min(bound_of.values()) > 0:
            yield f"{run}: {bound_of}"


def main():
    program, table, folder, sizes = sys.argv[1:]
    ratios, failed, lines, runs = collections.defaultdict(list), 0, 0, set()
    for line in open(table, encoding="utf-8"):
        if line.startswith("#"):
            continue
        row = line.rstrip("\n").split("\t")
        lines += 1
        runs.add((row[0], row[1], row[3], row[4]))
        value, limit = float(row[7]), bound(program, folder, row)
        ratio = limit / value if row[6] == "first_token_s" else value / limit
        ratios[row[8]].append(ratio)
        ok = ratio <= 1
        failed += not ok
        name = " ".join(row[:7])
        print(f"{'ok' if ok else 'not ok'} {lines} - {name}: {value:g} is {100 * ratio:.1f} % of the bound {limit:.4g}")
    compared = sorted(runs)[::3]  # of all the lower bound is that of the table
    wrong = [f"{run}: {text}" for run in compared for text in differences(program, folder, *run)]
    failed += bool(wrong)
    print(f"{'not ok' if wrong or not runs else 'ok'} {lines + 1} - llm and estimate, of one device and of several, have one bound: {len(compared)} runs")
    for text in wrong[:5]:
        print(f"# {text}")
    gibibytes = [round(int(b) / 2**30, 2) for b in sizes.split()]
    failed += gibibytes != [4.58, 39.59]
    print(f"{'ok' if gibibytes == [4.58, 39.59] else 'not ok'} {lines + 2} - the tensors of Q4_K_M have their published size: {gibibytes}")
    print(f"1..{lines + 2}")
    ratios["all"] = [r for of_one in ratios.values() for r in of_one]
    for runtime, of_one in sorted(ratios.items(), key=lambda item: len(item[1])):
        of_one.sort()
        print(f"# {runtime}: {len(of_one)} published figures; share of the bound: median {statistics.median(of_one):.2f}, "
              f"{of_one[0]:.2f} to {of_one[-1]:.2f}", file=sys.stderr)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
