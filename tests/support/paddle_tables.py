#!/usr/bin/env python3
"""Recomputes the tables of Paddle's Profiler.summary() from a trace, independently of the code of onnxcost,
and compares every number with `onnxcost summary --op-detail --format json`. Prints TAP.

usage: paddle_tables.py ONNXCOST TRACE..."""
import json
import re
import subprocess
import sys

HOST = ("Operator", "OperatorInner", "Dataloader", "ProfileStep", "UserDefined", "Forward", "Backward",
        "Optimization", "Communication", "PythonOp", "PythonUserDefined")
KIND = {"Operator": "operator", "OperatorInner": "inner", "Dataloader": "dataloader", "ProfileStep": "step",
        "UserDefined": "user", "PythonUserDefined": "user", "Forward": "forward", "Backward": "backward",
        "Optimization": "optimization", "Communication": "communication", "PythonOp": "python",
        "CudaRuntime": "api", "Kernel": "kernel", "Memcpy": "memcpy", "Memset": "memset"}


def ns(text):
    return round(float(text.split()[0]) * 1000)


class Event:
    def __init__(self, e):
        args = e["args"]
        self.name = re.sub(r"\[[0-9.]+ (ms|us)\]$", "", e["name"])
        self.cat = e["cat"]
        self.start, self.end = ns(args["start_time"]), ns(args["end_time"])
        self.tid = str(e["tid"]).split("(")[0]
        self.device = e["pid"]
        self.corr = args.get("correlation id")
        self.children, self.work, self.up = [], [], None

    def dur(self):
        return self.end - self.start

    def gpu(self):
        return sum(w.dur() for w in self.work) + sum(c.gpu() for c in self.children)

    def own_gpu(self):
        """Without the operators inside, which have rows of their own."""
        return sum(w.dur() for w in self.work) + sum(c.own_gpu() for c in self.children if c.cat != "Operator")


def union(ranges):
    total, reach = 0, None
    for a, b in sorted(ranges):
        if reach is None or a > reach:
            total, reach = total + b - a, b
        elif b > reach:
            total, reach = total + b - reach, b
    return total


def read(path):
    events = [Event(e) for e in json.load(open(path))["traceEvents"] if e.get("ph") == "X"]
    host = [e for e in events if e.cat in HOST or e.cat == "CudaRuntime"]
    device = [e for e in events if e.cat in ("Kernel", "Memcpy", "Memset")]
    for e in host:  # the smallest enclosing event of the thread
        around = [h for h in host if h is not e and h.tid == e.tid and h.start <= e.start and e.end <= h.end
                  and h.dur() > e.dur()]
        if around:
            e.up = min(around, key=lambda h: h.dur())
            e.up.children.append(e)
    for d in device:
        for h in host:
            if h.cat == "CudaRuntime" and h.corr == d.corr:
                h.work.append(d)
    return host, device


def row(calls, times, total):
    return {"calls": calls, "total_ns": sum(times), "avg_ns": sum(times) / calls, "max_ns": max(times),
            "min_ns": min(times), "ratio": sum(times) / total}


def kernels_of(event):
    """Kernels launched by the device runtime calls directly below the event."""
    return [w for c in event.children if c.cat == "CudaRuntime" for w in c.work]


def by_name(events):
    names = {}
    for e in events:
        names.setdefault(e.name, []).append(e)
    return names


def tables(path):
    host, device = read(path)
    total = union([(e.start, e.end) for e in host if e.cat == "ProfileStep"])
    flat = {}

    def put(view, name, side, calls, times):
        flat[(view, name, side)] = row(calls, times, total)

    def shares_of_table(view):
        """Operators and kernels: shares of the sum of the table; parts: of the row that contains them."""
        for side in ("host", "device"):
            rows = {n: r for (v, n, d), r in flat.items() if v == view and d == side}
            whole = sum(r["total_ns"] for n, r in rows.items() if (view, n) in top)
            for name, r in rows.items():
                up = rows.get(parent.get((view, name)))
                r["ratio"] = (r["total_ns"] / whole if (view, name) in top
                              else r["total_ns"] / up["total_ns"] if up and up["total_ns"] else None)

    top, parent = set(), {}

    for kind in sorted({KIND[e.cat] for e in host + device}):  # annotations of C++ and Python are one kind
        these = [e for e in host + device if KIND[e.cat] == kind]
        flat[("overview", kind, "")] = {
            "calls": len(these), "time_ns": union([(e.start, e.end) for e in these]),
            "ratio": union([(e.start, e.end) for e in these]) / total}
    phases = ("Dataloader", "Forward", "Backward", "Optimization")
    spent = 0
    for cat in phases:
        these = [e for e in host if e.cat == cat and not any(u.cat in phases for u in ancestors(e))]
        if these:
            put("model", KIND[cat], "host", len(these), [e.dur() for e in these])
            put("model", KIND[cat], "device", len(these), [e.gpu() for e in these])
            flat[("model", KIND[cat], "device")]["ratio"] = sum(e.gpu() for e in these) / sum(e.dur() for e in device)
            spent += sum(e.dur() for e in these)
    if any(e.cat in phases for e in host):
        flat[("model", "Others", "host")] = {"total_ns": total - spent, "ratio": (total - spent) / total}
    for name, calls in by_name([e for e in host if e.cat == "Operator"]).items():
        top.add(("operator", name))
        put("operator", name, "host", len(calls), [e.dur() for e in calls])
        put("operator", name, "device", len(calls), [e.own_gpu() for e in calls])
        for inner, parts in by_name([c for e in calls for c in e.children if c.cat != "CudaRuntime"]).items():
            parent[("operator", name + "/" + inner)] = name
            put("operator", name + "/" + inner, "host", len(parts), [p.dur() for p in parts])
            put("operator", name + "/" + inner, "device", len(parts), [p.gpu() for p in parts])
            for kernel, work in by_name([w for p in parts for w in kernels_of(p)]).items():
                parent[("operator", name + "/" + inner + "/" + kernel)] = name + "/" + inner
                put("operator", name + "/" + inner + "/" + kernel, "device", len(work), [w.dur() for w in work])
        for kernel, work in by_name([w for e in calls for w in kernels_of(e)]).items():
            parent[("operator", name + "/" + kernel)] = name
            put("operator", name + "/" + kernel, "device", len(work), [w.dur() for w in work])
    owned = {id(w) for e in host if any(u.cat == "Operator" for u in [e, *ancestors(e)]) for w in e.work}
    rest = {}  # work of no operator: kernels by name, copies
    for e in device:
        if id(e) not in owned:
            rest.setdefault(e.name if e.cat == "Kernel" else "(copies)", []).append(e.dur())
    for name, times in rest.items():
        top.add(("operator", name))
        put("operator", name, "device", len(times), times)
    for name, work in by_name([e for e in device if e.cat == "Kernel"]).items():
        top.add(("kernel", name))
        put("kernel", name, "device", len(work), [w.dur() for w in work])
    shares_of_table("operator")
    shares_of_table("kernel")
    user = [e for e in host if e.cat in ("UserDefined", "PythonUserDefined")]
    for name, calls in by_name(user).items():
        copies = any(w in name.lower() for w in ("memcpy", "memorycopy", "memset"))
        put("memory" if copies else "user", name, "host", len(calls), [e.dur() for e in calls])
        put("memory" if copies else "user", name, "device", len(calls), [e.gpu() for e in calls])
    extra = json.load(open(path)).get("ExtraInfo", {})
    for ours, theirs in (("cpu_process", "Process Cpu Utilization"), ("cpu_system", "System Cpu Utilization")):
        flat[("device", ours, "")] = {"share": float(extra[theirs])}
    for gpu in sorted({e.device for e in device}):
        busy = union([(e.start, e.end) for e in device if e.cat == "Kernel" and e.device == gpu])
        flat[("device", str(gpu), "")] = {"kernel_ns": busy, "utilization": busy / total}
    flat.update(distribution(host, device))
    steps = [e for e in host if e.cat == "ProfileStep"]
    flat[("benchmark", "batch_cost", "")] = {"mean": sum(e.dur() for e in steps) / len(steps),
                                             "max": max(e.dur() for e in steps),
                                             "min": min(e.dur() for e in steps)}
    rate = [32 / (e.dur() / 1e9) for e in steps]
    flat[("benchmark", "ips", "")] = {"mean": sum(rate) / len(rate), "max": max(rate), "min": min(rate)}
    return total, flat


def distribution(host, device):
    def talks(e):
        return e.cat == "Communication" or e.cat == "Operator" and any(
            w in e.name for w in ("allreduce", "broadcast", "rpc"))
    under = {id(w) for e in host if any(talks(u) for u in [e, *ancestors(e)]) for w in e.work}
    kernels = [e for e in device if e.cat == "Kernel"]
    talk = [e for e in host if talks(e)] + [k for k in kernels if id(k) in under or "nccl" in k.name.lower()]
    work = [k for k in kernels if k not in talk]
    if not talk:
        return {}
    spans = [[(e.start, e.end) for e in part] for part in (talk, work)]
    both = union(spans[0]) + union(spans[1]) - union(spans[0] + spans[1])
    return {("distribution", "", ""): {"communication_ns": union(spans[0]), "computation_ns": union(spans[1]),
                                       "overlap_ns": both}}


def ancestors(e):
    while e.up:
        e = e.up
        yield e


def onnxcost_tables(program, path):
    text = subprocess.run([program, "summary", path, "--op-detail", "--batch", "32", "--format", "json"],
                          check=True, capture_output=True, text=True).stdout
    doc = json.loads(text)["profiles"][0]
    flat = {}
    for side in ("host", "device"):
        for k in doc["overview"][side]:
            flat[("overview", k["kind"], "")] = {f: k[f] for f in ("calls", "time_ns", "ratio")}
    for view in ("model", "operator", "kernel", "memory", "user"):
        path_of = []
        for item in doc[view]:
            path_of = path_of[:item["depth"]] + [item["name"]]
            for side in ("host", "device"):
                if item[side]:
                    flat[(view, "/".join(path_of), side)] = item[side]
    flat.pop(("model", "Others", "device"), None)
    if doc["distribution"]:
        flat[("distribution", "", "")] = doc["distribution"]
    for key in ("cpu_process", "cpu_system"):
        flat[("device", key, "")] = {"share": doc["device"][key]}
    for d in doc["device"]["devices"]:
        flat[("device", str(d["device"]), "")] = {f: d[f] for f in ("kernel_ns", "utilization")}
    for name, key in (("batch_cost", "batch_cost_ns"), ("ips", "samples_per_s")):
        flat[("benchmark", name, "")] = doc["benchmark"][key]
    return doc["total_ns"], flat


def compare(program, path):
    total, want = tables(path)
    got_total, got = onnxcost_tables(program, path)
    wrong = [] if got_total == total else ["total %s, not %s" % (got_total, total)]
    wrong += ["%s is missing" % (k,) for k in want if k not in got]
    wrong += ["%s is not in the trace" % (k,) for k in got if k not in want]
    numbers = 1
    for key, figures in want.items():
        for name, value in figures.items():
            numbers += 1
            have = got.get(key, {}).get(name)
            if (have is None) != (value is None) or have is not None and abs(have - value) > 1e-9 * max(1, abs(value)):
                wrong.append("%s %s: %s, not %s" % (key, name, have, value))
    return numbers, wrong


def main():
    bad = 0
    print("1..%d" % len(sys.argv[2:]))
    for n, path in enumerate(sys.argv[2:], 1):
        numbers, wrong = compare(sys.argv[1], path)
        bad += bool(wrong)
        print("%sok %d - %s: %d numbers of Paddle's tables" % ("not " if wrong else "", n, path.split("/")[-1], numbers))
        for text in wrong[:20]:
            print("# " + text)
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
