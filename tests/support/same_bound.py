"""One engine: the lower bound on every device of the database, of one of the models each, is that of its report
and of estimate, alone and among others, and a device with a bandwidth or a peak has a roofline time above 0. Prints the problems of both kinds, a line each:
"roofline" or "bound", then the text.

usage: same_bound.py ONNXCOST MODEL...
"""
import csv
import io
import json
import math
import subprocess
import sys


def run(*arguments):
    return subprocess.run([sys.argv[1], *arguments], stdout=subprocess.PIPE, check=False).stdout.decode()


def same(a, b):
    """The report rounds to picoseconds."""
    if a is None or b is None:
        return a is None and b is None
    return a > 0 and math.isclose(a, b, rel_tol=1e-12, abs_tol=0.001)


def nanoseconds(seconds):
    return None if seconds is None else 1e9 * seconds


bandwidth = {d["id"]: d["memory_bytes_per_s"] for d in csv.DictReader(io.StringIO(run("hw", "list", "-f", "csv")))}
models = sys.argv[2:]
for k, model in enumerate(models):
    devices = sorted(bandwidth)[k::len(models)]
    made = json.loads(run("estimate", model, *[f"--hw={device}" for device in devices], "-f", "json"))
    ranked = {d["device"]: nanoseconds(d["bound_s"]) for d in made["devices"]}
    for cache in ("on", "off"):
        for device in devices:
            where = "%s on %s, --count cache=%s" % (model.split("/")[-1], device, cache)
            roofline = json.loads(run(model, "--hw", device, "--count", "cache=" + cache, "-f", "json"))["hardware"]["roofline"]
            least, bound = roofline["roofline_time_ns"], roofline["bound_time_ns"]
            if least is None and cache == "off" and bandwidth[device]:
                print("roofline", where, "is unknown")
            elif least is not None and not least > 0:
                print("roofline", where, "is", least)
            if cache == "on" and not same(bound, ranked.get(device, "missing")):
                print("bound", where, "is", bound, "and of estimate of several devices", ranked.get(device))
            if cache == "on":
                total = json.loads(run("estimate", model, "--hw", device, "-f", "json"))["total"]
                if not same(bound, nanoseconds(total["bound_s"])):
                    print("bound", where, "is", bound, "and of estimate", nanoseconds(total["bound_s"]))
