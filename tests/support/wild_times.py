"""Total host and device time and number of rows of a profile, from the definition of its format alone.

Independent of the program: standard library only, no output of onnxcost is read. Each function takes the path of a
profile and returns {"host": ns, "device": ns, "rows": n, "runs": n or "unknown"}; what a format does not define, or what
has no simple definition, is left out.

Time of a trace with operators: on each thread the union of the intervals of operators and steps (nested calls count
once). Device time: the sum of kernels, copies and memory sets.
"""
import csv
import decimal
import gzip
import json
import math
import os
import re
import sqlite3


def read_text(path):
    data = open(path, "rb").read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    return data.decode("utf-8", "replace")


def events_of(path):
    text = read_text(path)
    trace = json.loads(text, strict=False, parse_float=decimal.Decimal)
    return trace if isinstance(trace, list) else trace["traceEvents"]


def union(spans):
    """Length of the union of (start, end)."""
    total = reached = 0
    for i, (start, end) in enumerate(sorted(spans)):
        if i == 0 or start > reached:
            reached = start
        if end > reached:
            total += end - reached
            reached = end
    return total


def union_per_thread(events):
    """ns; ts and dur are microseconds."""
    threads = {}
    if not events:
        return None
    for e in events:
        start = decimal.Decimal(e["ts"])
        threads.setdefault((e.get("pid"), e.get("tid")), []).append((start, start + decimal.Decimal(e["dur"])))
    return float(sum(union(spans) for spans in threads.values()) * 1000)


def sum_dur(events):
    return float(sum(decimal.Decimal(e["dur"]) for e in events) * 1000) if events else None


# ---- PyTorch ------------------------------------------------------------------------------------------------------

KINETO_DEVICE = {"kernel", "Kernel", "gpu_memcpy", "Memcpy", "gpu_memset", "Memset"}


def is_wait(name):
    return "wait" in name.lower()


def kineto_device(e):
    # The control processors of an MTIA device write their commands; waits and event records are not work.
    if e.get("cat") == "mtia_ccp_events":
        return not is_wait(e["name"]) and e["name"] != "event_record"
    return e.get("cat") in KINETO_DEVICE


def kineto(path):
    done = [e for e in events_of(path) if e.get("ph") == "X"]
    # "Operator" is the category of 2020, which also had the steps in it
    ops = [e for e in done if e.get("cat") in ("cpu_op", "Operator") and not e["name"].startswith(
        ("ProfilerStep#", "enumerate(DataLoader)", "Optimizer."))]
    steps = [e for e in done if e.get("cat") in ("cpu_op", "Operator", "user_annotation") and
             e["name"].startswith("ProfilerStep#")]
    # A step in which nothing ran is not a run: the profiler opens one more before it stops.
    used = [s for s in steps if any(s["ts"] <= o["ts"] < s["ts"] + s["dur"] for o in ops)]
    out = {"host": union_per_thread(ops + (used or steps)),
           "device": sum_dur([e for e in done if kineto_device(e)])}
    if used:
        out["runs"] = len(used)
    return out


def chrome(path):
    """B and E events do not occur in the set; X events nest by time."""
    return {"host": union_per_thread([e for e in events_of(path) if e.get("ph") == "X"])}


# ---- Ascend -------------------------------------------------------------------------------------------------------

def ascend(path):
    """msprof's timeline. Work is what the streams of the process "Ascend Hardware" execute; without that process, what
    the planes of the process "HCCL" execute. Waits, records and resets are not work. The lanes Step Trace,
    Communication Kernel, Overlap Analysis and CANN cover the same time again."""
    events = events_of(path)
    name = {e["pid"]: e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "process_name"}
    thread = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    done = [e for e in events if e["ph"] == "X"]
    steps = [e for e in done if e.get("cat") == "Iteration Time"]
    owner, lanes = "Ascend Hardware", "Stream"
    if not any(name.get(e["pid"]) == owner for e in done):
        owner, lanes = "HCCL", "Plane"
    if steps and not any(name.get(e["pid"]) == owner for e in done):  # only the stages of iterations
        return {"host": None, "runs": len(steps), "rows": 2,
                "device": sum_dur([e for e in done if e.get("cat") in ("FP_BP Time", "Iteration Refresh")])}
    work = [e for e in done if name.get(e["pid"]) == owner and thread[e["pid"], e["tid"]].startswith(lanes) and
            not re.search("wait|record|reset", e["name"], re.I)]
    return {"host": None, "device": sum_dur(work), "runs": len(steps) or "unknown",
            "rows": len({e["name"] for e in work if "memcpy" not in e["name"].lower()})}


def ascend_display(path):
    """MindSpore's ascend_timeline_display: device work has args with "type"; the rest is work of the host."""
    done = [e for e in events_of(path) if e["ph"] == "X"]
    device = [e for e in done if "type" in e.get("args", {})]
    return {"device": sum_dur(device), "rows": len({e["args"]["fullname"] for e in device}), "runs": "unknown"}


def mindspore_timeline(path):
    """MindSpore's gpu_timeline_display: device work has args with "op_full_name"."""
    done = [e for e in events_of(path) if e["ph"] == "X"]
    device = [e for e in done if "op_full_name" in e.get("args", {})]
    return {"host": union_per_thread([e for e in done if e not in device]), "device": sum_dur(device), "runs": "unknown"}


# ---- ONNX Runtime -------------------------------------------------------------------------------------------------

def onnxruntime(path):
    """Runs, and loading and initialising (which contains what happens in it)."""
    done = events_of(path)
    runs = [e for e in done if e["cat"] == "Session" and e["name"] == "model_run"]
    session = [e for e in done if e["cat"] == "Session" and e["name"] in (
        "model_run", "model_loading_uri", "model_loading_array", "session_initialization")]
    nodes = [e for e in done if e["cat"] == "Node" and e["name"].endswith("_kernel_time")]
    return {"host": union_per_thread(session + nodes), "runs": len(runs),
            "device": sum_dur([e for e in done if e["cat"] in ("Kernel", "Api") and not is_part(e)]),
            "rows": len({e["name"] for e in nodes} | {e["name"] for e in done if is_child_node(e)})}


def is_child_node(e):
    """OpenVINO and QNN execute a partition of the model as one node and record its operators."""
    args = e.get("args", {})
    return "node_name" in args or (args.get("qnn_event_type") == "NODE" and args.get("unit") != "CYCLES")


def is_part(e):
    """QNN writes the time of a whole execution and the times of its parts."""
    return e.get("args", {}).get("level") == "SUB-EVENT"


# ---- Nsight Systems -----------------------------------------------------------------------------------------------

def nsys_sqlite(path):
    db = sqlite3.connect("file:%s?mode=ro&immutable=1" % path.replace("%", "%25").replace("?", "%3f"), uri=True)
    tables = {row[0] for row in db.execute("select name from sqlite_master where type = 'table'")}
    if "CUPTI_ACTIVITY_KIND_KERNEL" not in tables:
        return {}
    device = 0
    for kind in ("KERNEL", "MEMCPY", "MEMSET", "GRAPH_TRACE"):
        table = "CUPTI_ACTIVITY_KIND_" + kind
        if table in tables:
            device += db.execute("select coalesce(sum(end - start), 0) from " + table).fetchone()[0]
    out = {"host": None, "device": device}
    if "NVTX_EVENTS" not in tables and "CUPTI_ACTIVITY_KIND_GRAPH_TRACE" not in tables:
        out["rows"] = db.execute("select count(distinct demangledName) from CUPTI_ACTIVITY_KIND_KERNEL").fetchone()[0]
    return out


def nsys_text(path):
    """The tables of `nsys stats`: kernels and memory operations by time, whatever else is in the file."""
    device = 0
    names = set()
    table = None
    for line in read_text(path).splitlines():
        if re.search(r"cuda_gpu_kern_sum|gpukernsum|CUDA Kernel Statistics", line):
            table = "kernels"
        elif re.search(r"cuda_gpu_mem_time_sum|gpumemtimesum|CUDA Memory Operation Statistics \(by time\)", line):
            table = "memory"
        elif re.search(r"\*\* |Statistics", line):
            table = None
        found = re.match(r"\s*\d+\.\d\s+([\d,]+)\s+([\d,]+)\s", line)
        if table and found:
            device += int(found[1].replace(",", ""))
            if table == "kernels":
                names.add(re.split(r"  +", line.strip())[-1])
    return {"host": None, "device": device, "rows": len(names), "runs": "unknown"}


# ---- TensorRT -----------------------------------------------------------------------------------------------------

def tensorrt(path):
    items = json.loads(read_text(path))
    if isinstance(items, dict):
        return {"host": None, "device": None, "runs": "unknown"}
    return {"host": sum(i["timeMs"] for i in items if "timeMs" in i) * 1e6, "device": None,
            "runs": next(i["count"] for i in items if "count" in i)}


# ---- CPU functions ------------------------------------------------------------------------------------------------

def gprof(path):
    """The flat profile: the third number of a row is its self time in seconds; calls and times per call may be blank."""
    lines = iter(read_text(path).splitlines())
    total = rows = 0
    for line in lines:
        if re.match(r"\s*time\s+seconds\s+seconds", line):
            break
    for line in lines:
        found = re.match(r"\s*[\d.]+\s+[\d.]+\s+([\d.]+)\s", line)
        if not found:
            break
        total += round(float(found[1]) * 100)
        rows += 1
    return {"host": total * 1e7, "device": None, "rows": rows, "runs": "unknown"}


def pstats(path):
    total = rows = 0
    started = False
    for line in read_text(path).splitlines():
        words = line.split()
        if words[:2] == ["ncalls", "tottime"]:
            started = True
        elif started and not words:
            break
        elif started:
            total += round(float(words[1]) * 1000)
            rows += 1
    return {"host": total * 1e6, "device": None, "rows": rows, "runs": "unknown"}


def perf(path):
    """Shares of an event that is not time: no total; a row per line of the first table that begins with shares."""
    rows = tables = 0
    for line in read_text(path).splitlines():
        tables += line.startswith("#") and "Symbol" in line and ("Overhead" in line or "Self" in line)
        if tables == 1 and re.match(r"\s*\d+\.\d\d%\s+(\d+\.\d\d%\s+)?\S", line):
            rows += 1
    return {"host": None, "device": None, "rows": rows, "runs": "unknown"}


# ---- tables -------------------------------------------------------------------------------------------------------

def table_rows(path):
    return list(csv.reader(line for line in read_text(path).splitlines() if line.strip()))


def aicore_types(path):
    """The table of operators in the same folder is read too; if it has the same time, its rows are shown."""
    operators, rows = path.replace("_type.csv", "_detail.csv"), table_rows(path)[1:]
    types = {"device": sum(float(r[1]) for r in rows) * 1e6, "rows": len(rows), "runs": "unknown"}
    detail = aicore_detail(operators) if os.path.exists(operators) else types
    return detail if math.isclose(detail["device"], types["device"], rel_tol=1e-3) else types


def aicore_detail(path):
    """The time of a row is an average per execution, in ms."""
    rows = table_rows(path)
    counted = len(rows[0]) > 2
    return {"device": sum(float(r[1]) * (int(r[2]) if counted else 1) for r in rows[1:]) * 1e6,
            "rows": len(rows) - 1, "runs": "unknown"}


def aicpu(path):
    rows = table_rows(path)[1:]
    return {"device": sum(float(r[2]) for r in rows) * 1e6, "rows": len({r[1] for r in rows}),
            "runs": "unknown"}


def step_trace(path):
    """Times are counts of 10 ns; the last row, without a step number, has the means."""
    rows = [r for r in table_rows(path)[1:] if r[0].isdigit() and int(r[0]) > 0]
    return {"device": sum(int(r[3]) for r in rows) * 10.0, "runs": len(rows)}


def rocm_stats(path):
    rows = table_rows(path)[1:]
    return {"host": None, "device": sum(float(r[2]) for r in rows), "rows": len(rows), "runs": "unknown"}


def paddle_report(path):
    """Rows indented below another row are part of its time; times in ms."""
    lines = read_text(path).splitlines()
    at = next(i for i, line in enumerate(lines) if line.split()[:2] == ["Event", "Calls"])
    indent = len(lines[at]) - len(lines[at].lstrip())
    gpu = "GPU Time" in lines[at]
    host = device = rows = 0
    for line in lines[at + 1:]:
        found = re.match(r"(\s*)(\S.*?)\s+(\d+)\s+([\d.]+)\s", line + " ")
        if not found or len(re.findall(r"[\d.]+", line)) < 5:
            break
        rows += 1
        if len(found[1]) > indent:
            continue
        host += round(float(found[4]) * 1e6)
        if gpu:
            device += round(float(re.findall(r"([\d.]+) \([\d.]+\)", line)[1]) * 1e6)
    return {"host": host, "device": device if gpu else None, "rows": rows, "runs": "unknown"}


def vtune_text(path):
    found = re.findall(r"^\S.*?\s+([\d.]+)s\s+[\d.]+s\s+[\d.]+s", read_text(path), re.M)
    return {"host": sum(round(float(s) * 1e6) for s in found) * 1e3, "device": None, "rows": len(found),
            "runs": "unknown"}


def onednn_verbose(path):
    rows = [line.split(",") for line in read_text(path).splitlines() if ",exec," in line]
    return {"host": sum(float(r[-1]) for r in rows) * 1e6, "device": None, "runs": "unknown"}


def openvino_text(path):
    seconds = re.findall(r"Status\.EXECUTED.*?realTime: \d+:\d+:([\d.]+?)cpu", read_text(path))
    return {"host": sum(float(s) for s in seconds) * 1e9, "device": None, "runs": "unknown"}


RULES = {f.__name__: f for f in (
    aicore_detail, aicore_types, aicpu, ascend, ascend_display, chrome, gprof, kineto, mindspore_timeline, nsys_sqlite,
    nsys_text, onednn_verbose, onnxruntime, openvino_text, paddle_report, perf, pstats, rocm_stats, step_trace, tensorrt,
    vtune_text)}
