#!/usr/bin/env python3
"""Tests of the installed package onnxcost: prints `ok` and `not ok` lines without numbers.

usage: python_package.py PROGRAM WORK      WORK: a folder with the models and profiles of tests/check_python.sh
"""
import glob
import html.parser
import os
import socket
import subprocess
import sys
import threading
import time

import onnxcost as oc
from onnxcost import _api, _lib

program, work = sys.argv[1:]
os.chdir(work)
folder = os.path.dirname(oc.__file__)
SAME_DATA = dict(os.environ, ONNXCOST_HWDB=folder + "/hwdb")


def native(*args):
    return subprocess.run([program, *args, "-f", "json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          env=SAME_DATA, check=False).stdout.decode()


def result(title, problems):
    print(f"{'not ok' if problems else 'ok'} - {title}")
    for line in list(problems)[:10]:
        print(f"# {line}")


def skip(title, why):
    print(f"ok - {title} # SKIP {why}")


def differing(cases):
    """Names of the cases (name, result, arguments of the program) whose documents differ."""
    return [name for name, got, args in cases if got.write() != native(*args) or len(got.write()) < 300]


models = sorted(glob.glob("zoo/*.onnx"))[:20]
result(f"{len(models)} models of the zoo: the report is that of the program, byte by byte",
       differing((m, oc.analyze(m), [m]) for m in models) + ["few models"] * (len(models) < 20))
profiles = [(p, f"zoo/{p.split('.')[0]}.onnx") for p in sorted(glob.glob("*.json.gz"))]
result(f"{len(profiles)} profiles with their models: the report is that of the program, byte by byte",
       differing((p, oc.analyze(m, profile=p, hw="machine.t1.xml"), [m, "-p", p, "--hw", "machine.t1.xml"])
                 for p, m in profiles) + ["few profiles"] * (len(profiles) < 10))
R50, R18, P50 = "zoo/resnet50.onnx", "zoo/resnet18.onnx", "resnet50.disabled.t1.json.gz"
A50 = ["resnet50.all.t1.json.gz", "resnet50.disabled.t1.json.gz"]
model = oc.load(R50)
result("other results are those of the program, byte by byte", differing([
    ("dims", oc.analyze(R50, dims={"batch": 8}), [R50, "--dim", "batch=8"]),
    ("shapes", oc.analyze("zoo/vgg16.onnx", shapes={"input": (2, 3, 224, 224)}),
     ["zoo/vgg16.onnx", "--shape", "input=2x3x224x224"]),
    ("options", oc.analyze(R50, naive_bytes=True, convention="fvcore", if_mode="then"),
     [R50, "--count", "bytes=naive", "--convention", "fvcore", "--count", "if=then"]),
    ("profile", oc.profile(P50), [P50]),
    ("optimized", oc.analyze(R50, profile="resnet50.all.t1.json.gz", optimized="resnet50.all.optimized.onnx"),
     [R50, "-p", "resnet50.all.t1.json.gz", "--optimized-model", "resnet50.all.optimized.onnx"]),
    ("hw_set", oc.analyze(R50, hw="a100", hw_set={"dram.bandwidth": "400 GB/s"}),
     [R50, "--hw", "a100", "--hw-set", "dram.bandwidth=400 GB/s"]),
    ("estimate", oc.estimate(R50, hw="t4", as_="fp16"), ["estimate", R50, "--hw", "t4", "--as", "fp16"]),
    ("estimate of a profile", oc.estimate(R50, hw="machine.t1.xml", profile=P50),
     ["estimate", R50, "--hw", "machine.t1.xml", "-p", P50]),
    ("memory", oc.memory(R50, hw="t4", dims={"batch": 4}), ["memory", R50, "--hw", "t4", "--fit", "--dim", "batch=4"]),
    ("memory of ONNX Runtime", oc.memory(R50, as_onnxruntime=True), ["memory", R50, "--count", "allocator=ort"]),
    ("llm", oc.llm("llama.onnx", hw=["a100"], prompt=64, generate=8),
     ["llm", "llama.onnx", "--hw", "a100", "--prompt", "64", "--generate", "8"]),
    ("ranking", oc.estimate(R50, hw=["a100", "t4"], batches=[1, 8]),
     ["estimate", R50, "--hw", "a100,t4", "--batch", "1,8"]),
    ("ranking of a filter", oc.estimate(R18, hw="vendor=Intel"), ["estimate", R18, "--hw", "vendor=Intel"]),
    ("diff", oc.diff(R50, R18), ["diff", R50, R18]),
    ("diff of analyses", oc.diff(*[oc.analyze(model, dims={"batch": n}) for n in (1, 2)]),
     ["diff", R50, "-d", "batch=1", "-d", "batch=2"]),
    ("diff of recordings", oc.diff([oc.analyze(model, profile=p) for p in A50], [oc.analyze(model, profile=p) for p in A50[1:]]),
     ["diff", R50, "-p", ",".join(A50), "-p", A50[1]]),
    ("check", oc.check(R50, macs="3G", weight_bytes="200MB", forbid=["Loop", "Conv"]),
     ["check", R50, "--max", "macs=3G", "--max", "weight-bytes=200MB", "--forbid-op", "Loop", "--forbid-op", "Conv"]),
    ("check of a latency", oc.check(R50, latency="1ms", hw="a100"),
     ["check", R50, "--max", "latency=1ms", "--hw", "a100"]),
]))

report = oc.analyze(R50, profile=P50, hw="machine.t1.xml").report(
    "csv", group_by="type", order_by="macs", top=3, what_if=["Conv=2x", "hw=a100"], cache=False)
want = subprocess.run([program, R50, "-p", P50, "--hw", "machine.t1.xml", "-f", "csv", "--group-by", "type", "--order-by", "macs",
                       "--top", "3", "--what-if", "Conv=2x", "--what-if", "hw=a100", "--count", "cache=off"], env=SAME_DATA,
                      stdout=subprocess.PIPE, check=False).stdout.decode()
result("a report has the options of the program", [] if report == want and report.count("\n") >= 4 else [report, want])

# ---- models in memory

try:
    import numpy
    import onnx
    import onnx.numpy_helper

    problems = []
    for path in models[:5]:
        proto, data = onnx.load(path, load_external_data=False), open(path, "rb").read()
        want = oc.analyze(path)
        for got in (oc.analyze(proto), oc.analyze(data), oc.analyze(memoryview(data)), oc.analyze(oc.load(path))):
            if got.nodes != want.nodes or got.totals != want.totals:
                problems.append(path)
    made = onnx.helper.make_model(onnx.helper.make_graph(
        [onnx.helper.make_node("MatMul", ["x", "w"], ["y"], name="product")], "g",
        [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["batch", 16])],
        [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, ["batch", 4])],
        [onnx.numpy_helper.from_array(numpy.zeros((16, 4), "float32"), "w")]))
    if oc.analyze(made, dims={"batch": 3}).macs != 3 * 16 * 4:
        problems.append("a model made with onnx.helper")
    result("an onnx.ModelProto and bytes have the counts of the file", problems)
except ImportError:
    skip("an onnx.ModelProto and bytes have the counts of the file", "no package onnx")

# ---- columns

nodes = oc.analyze(R50, profile=P50).nodes
try:
    array = nodes.to_numpy("macs")
    times = nodes.to_numpy("time_ns")
    limits = nodes.to_numpy("roofline_time_ns")
    result("columns are arrays of numpy; unknown figures are NaN, not 0", [
        text for text, bad in (("dtype", array.dtype.kind not in "iu"), ("sum", int(array.sum()) != 4089184256),
                               ("times", times.sum() <= 7e7), ("unknown", limits.any() and not all(limits != limits)))
        if bad])
except ImportError:
    skip("columns are arrays of numpy; unknown figures are NaN, not 0", "no package numpy")
try:
    frame = nodes.to_pandas()
    result("rows are a table of pandas with whole counts", [
        text for text, bad in (("sum", frame.macs.sum() != 4089184256), ("rows", len(frame) != len(nodes)),
                               ("type", str(frame.macs.dtype) != "Int64"), ("name", frame.name[0] != nodes[0].name)) if bad])
except ImportError:
    skip("rows are a table of pandas with whole counts", "no package pandas")

# ---- errors

bound = oc.time_bound(R50, "t4", {"batch": (1, 64)})
tokens = oc.time_bound(oc.llm("llama.onnx", hw="t4", batch=2, prompt=64), phase="decode", most_batch=8, most_tokens=256)
WANTED = [(b, oc.estimate(R50, hw="t4", dims={"batch": b}).bound_s * 1e9) for b in (1, 7, 64)]
result("closed forms of lower bounds are those of analyses", [
    text for text, ok in (
        *((f"batch {b}", abs(bound(b) / ns - 1) < 1e-9 and bound.is_closed(batch=b)) for b, ns in WANTED),
        ("list", bound.all([[b] for b, _ in WANTED]) == [bound(b) for b, _ in WANTED]),
        ("module", 0 < oc.time_bound(R50, "t4", {"batch": (1, 8)}, module="/layer1")(4) < bound(4)),
        ("type", oc.time_bound(R50, "t4", {"batch": (1, 8)}, as_="int8")(4) < bound(4)),
        ("decode", tokens.names == ("batch", "past") and 0 < tokens(1, 8) < tokens(batch=8, past=256)),
        ("beyond the range", bound(128) > bound(64) and not bound.is_closed(128))) if not ok])


def error_of(function, *args, **kwargs):
    try:
        function(*args, **kwargs)
    except Exception as error:  # pylint: disable=broad-except
        return error
    return None


error = error_of(oc.analyze, "bad.xml.onnx")
missing = error_of(oc.analyze, "no such file.onnx")
device = error_of(oc.analyze, R50, hw="bad.xml")
wrong = error_of(oc.analyze, R50, profile="bert_base.disabled.t1.json.gz")
limit = error_of(oc.analyze, R50, limits={"nodes": "10"})
result("errors are exceptions with the members of the library", [
    f"{text}: {e!r}" for text, e, ok in (
        ("truncated", error, error.code == "format" and error.file == "bad.xml.onnx" and error.offset),
        ("missing", missing, missing.code == "io" and "No such file" in missing.message and str(missing) == missing.message),
        ("line", device, device.code == "format" and device.line == 2 and device.place == "bad.xml, line 2"),
        ("profile of another model", wrong, "wrong model" in str(wrong)),
        ("limit", limit, limit.code == "limit" and "nodes" in limit.message),
        ("option", error_of(oc.analyze, R50, naive_byte=True), "naive_bytes" in str(error_of(oc.analyze, R50, naive_byte=True))),
        ("enum", error_of(oc.analyze, R50, if_mode="both"), "then" in str(error_of(oc.analyze, R50, if_mode="both"))),
        ("list", error_of(oc.analyze, R50, bind=1), isinstance(error_of(oc.analyze, R50, bind=1), TypeError)),
        ("pointer", error_of(oc.estimate, R50, hw="a100", join=1),
         isinstance(error_of(oc.estimate, R50, hw="a100", join=1), TypeError)),
        ("size", error_of(bound, 1, 2), isinstance(error_of(bound, 1, 2), TypeError)),
        ("sizes", error_of(bound.all, [[1, 2]]), isinstance(error_of(bound.all, [[1, 2]]), ValueError)),
        ("range", error_of(oc.time_bound, R50, "t4", {"bach": (1, 2)}),
         "bach" in str(error_of(oc.time_bound, R50, "t4", {"bach": (1, 2)}))),
        ("module", error_of(oc.time_bound, R50, "t4", {"batch": (1, 2)}, module="/none"),
         "/none" in str(error_of(oc.time_bound, R50, "t4", {"batch": (1, 2)}, module="/none"))),
        ("zero byte", error_of(oc.analyze, "a\0b"), isinstance(error_of(oc.analyze, "a\0b"), ValueError)),
    ) if not ok])
result("the force of the caller reports a profile of another model", [] if oc.analyze(
    R50, profile="bert_base.disabled.t1.json.gz", force=True).join.time_matched_fraction == 0 else ["matched"])
unknown = oc.analyze("unknown.onnx") if os.path.exists("unknown.onnx") else None
result("a model with unknown nodes is not exact, and a limit is inconclusive", [
    text for text, ok in (("quality", unknown.quality != "exact"), ("repr", "at least" in repr(unknown)),
                          ("rows", None in unknown.nodes["macs"]), ("check", not oc.check(unknown, macs="1G")),
                          ("reason", oc.check(unknown, macs="1G").inconclusive == 1)) if not ok])

# ---- numbers that no option can have: never another number

WRONG = [("dims", lambda v: oc.analyze(R50, dims={"batch": v}), (2**64 + 8, 2**63, -2**63 - 1, -1, 8.0, "8")),
         ("shapes", lambda v: oc.analyze(R50, shapes={"input": (v, 3, 224, 224)}), (2**64 + 8, 2**63, -1, 2.0, "2")),
         ("trips", lambda v: oc.analyze(R50, trips={"loop": v}), (2**64 + 8, -1, 1.5)),
         ("default_dim", lambda v: oc.analyze(R50, default_dim=v), (2**64 + 8, 2**63, -1, -8)),
         ("align_bytes", lambda v: oc.analyze(R50, align_bytes=v), (2**64 + 8, -1, 2**63)),
         ("if_mode", lambda v: oc.analyze(R50, if_mode=v), (99, -1, 4, 2**32, 1.0, "both")),
         ("kv_share", lambda v: oc.analyze(R50, kv_share=v), (3, -1, 2**32)),
         ("naive_bytes", lambda v: oc.analyze(R50, naive_bytes=v), (5, -1, "x")),
         ("warmup", lambda v: oc.profile(P50, warmup=v), (-1, -2, 2**31, 2**32 + 1)),
         ("iterations", lambda v: oc.profile(P50, iterations=v), (-1, 2**32, 2**32 + 1)),
         ("stat", lambda v: oc.profile(P50, stat=v), (6, 77, -1, "most")),
         ("prompt", lambda v: oc.llm("llama.onnx", prompt=v), (2**64 + 64, -1, 2**63)),
         ("generate", lambda v: oc.llm("llama.onnx", generate=v), (2**64 + 64, -1, 2**70)),
         ("batch", lambda v: oc.llm("llama.onnx", batch=v), (2**64 + 1, -1)),
         ("draft_tokens", lambda v: oc.llm("llama.onnx", draft_tokens=v), (2**64 + 1, -1)),
         ("batches", lambda v: oc.estimate(R50, hw=["a100", "t4"], batches=[v]), (2**64 + 1, -1, 0)),
         ("top", lambda v: oc.memory(R50, top=v), (2**64 + 1, -1))]
result("an integer that an option cannot have is an exception", [
    f"{name}={value!r}: {e!r}" for name, make, values in WRONG for value in values
    for e in [error_of(make, value)] if not isinstance(e, (oc.Error, OverflowError, ValueError, TypeError))])
result("integers at the ends of a range are taken", [
    f"{name}: {e!r}" for name, e in (
        ("dims", error_of(oc.analyze, R50, dims={"batch": 0})), ("warmup", error_of(oc.profile, P50, warmup=0)),
        ("if_mode", error_of(oc.analyze, R50, if_mode=3)), ("top", error_of(oc.memory, R50, top=2**64 - 1))) if e])
result("an unknown option is not its own suggestion", [
    f"{name}: {e}" for name in ("size", "n_bind", "has_top", "limits_") for e in [str(error_of(oc.profile, P50, **{name: 1}))]
    if f"did you mean '{name}'" in e or "unknown option" not in e])
result("warmup=0 leaves no run out", [] if [oc.profile(P50, warmup=w).data.profile[0]["runs_used"] for w in (0, 2)] == [5, 3] else ["the same runs"])

# ---- nothing ends the process

EXHAUSTED = """
import resource, onnxcost as oc
oc.analyze("zoo/resnet18.onnx")
node = b"\\x0a\\x17\\x0a\\x01x\\x12\\x0c%012d\\x22\\x04Relu"
model = b"\\x5a\\x03\\x0a\\x01x" + b"".join(node % i for i in range(400000))
n, size = len(model), b""
while n > 127:
    size += bytes([n & 127 | 128])
    n >>= 7
model = b"\\x08\\x08\\x42\\x02\\x10\\x11\\x3a" + size + bytes([n]) + model
before = resource.getrlimit(resource.RLIMIT_AS)
pages = int(open("/proc/self/statm").read().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (pages * 4096 + (24 << 20), before[1]))
try:
    oc.load(model)
    print("no error")
except oc.Error as error:
    print(error.code)
resource.setrlimit(resource.RLIMIT_AS, before)
print(oc.analyze("zoo/resnet18.onnx").totals.macs, len(oc.analyze(model).nodes))
"""
done = subprocess.run([sys.executable, "-c", EXHAUSTED], capture_output=True, text=True, check=False)
result("exhausted memory is an exception, and the process goes on",
       [] if done.stdout.split() == ["memory", str(oc.analyze(R18).totals.macs), "400000"] else [done])


def serve(answer):
    """The URL of a server that sends these bytes once."""
    listener = socket.create_server(("127.0.0.1", 0))

    def run():
        with listener:
            for _ in range(2): # the library tries twice
                client = listener.accept()[0]
                with client:
                    client.recv(65536)
                    try:
                        client.sendall(answer)
                    except OSError:
                        pass
    threading.Thread(target=run, daemon=True).start()
    return f"http://127.0.0.1:{listener.getsockname()[1]}/m.onnx"


head = b"HTTP/1.1 206 Partial\r\n"
data = open(R18, "rb").read()[:1000]
answers = {
    "long line": head + b"X: " + b"b" * 300000 + b"\r\n\r\n", "many lines": head + b"X: b\r\n" * 100000, "nothing": b"",
    "no HTTP": b"\0" * 100000, "no line": b"b" * 300000, "chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
    "length": b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n", "status": b"HTTP/1.1 999 ?\r\n\r\n",
    "cookies": head + b"Set-Cookie: a=" + b"b" * 60000 + b"\r\n\r\n", "half": head + b"Content-Range: bytes 0-999/99999\r\nContent-Length: 1000\r\n\r\n" + data,
    "redirect": b"HTTP/1.1 302 Found\r\nLocation: http://" + b"a" * 70000 + b"/\r\n\r\n"}
result("any answer of a server is an exception at worst", [
    f"{name}: {e!r}" for name, e in ((name, error_of(oc.load, serve(answer))) for name, answer in answers.items())
    if not isinstance(e, oc.Error)])

# ---- notebooks


class Tags(html.parser.HTMLParser):
    """Counts open elements; void ones do not occur."""

    def __init__(self):
        super().__init__()
        self.open, self.bad = [], []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        if tag in ("script", "link", "img", "iframe", "html", "body") or any(
                name in ("id", "src", "href") or name.startswith("on") for name, _ in attrs):
            self.bad.append(f"<{tag} {attrs}>")

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.bad.append(f"</{tag}>")


problems = []
shown = {"report": oc.analyze(R50, profile=P50, hw="machine.t1.xml"), "hostile": oc.analyze("<i>hostile.onnx"),
         "rows": oc.analyze("<i>hostile.onnx").nodes, "check": oc.check(R50, macs="3G"), "unknown": unknown}
for name, one in shown.items():
    page = one._repr_html_()
    tags = Tags()
    tags.feed(page)
    problems += [f"{name}: {bad}" for bad in tags.bad + tags.open]
    if len(page) > 30000:
        problems.append(f"{name}: {len(page)} characters")
page = shown["report"]._repr_html_()
problems += [text for text in ('data-key="totals.macs" data-v="4089184256"', ">73.7 ms<", 'data-v="2487500.0"', "/conv1/Conv", "resnet50.onnx") if text not in page]
for name in ("hostile", "rows"):
    if "&lt;b&gt;&amp;&quot;x&quot;&lt;/b&gt;" not in shown[name]._repr_html_():
        problems.append(f"{name}: the hostile names are not shown")
if "&lt;i&gt;hostile.onnx" not in shown["hostile"]._repr_html_():
    problems.append("the hostile name of the file is not shown")
result("fragments for notebooks are small, closed and escaped", problems)

# ---- threads: the same call through CDLL, which releases the lock, and PyDLL, which does not


def turns_during_call(function, path):
    """How often another thread in Python ran while the function read a model."""
    counter, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            counter[0] += 1

    thread = threading.Thread(target=count)
    thread.start()
    while counter[0] < 1000:
        time.sleep(0.001)
    model, err = _lib.ctypes.c_void_p(), _api.oc_err()
    before = counter[0]
    function(path, None, _lib.ctypes.byref(model), _lib.ctypes.byref(err))
    after = counter[0]
    stop.set()
    thread.join()
    _lib.lib.oc_model_free(model)
    return after - before


holding = _lib.ctypes.PyDLL(_lib.lib._name).oc_model_load
holding.argtypes = _lib.lib.oc_model_load.argtypes
sys.setswitchinterval(1e-4)
released = max(turns_during_call(_lib.lib.oc_model_load, b"chain.onnx") for _ in range(3))
held = min(turns_during_call(holding, b"chain.onnx") for _ in range(3))
sys.setswitchinterval(5e-3)
result("another thread runs during a call", [] if released > 1000 and released > 5 * held else [
    f"{released} turns, {held} with the lock held"])


def overlap(function):
    """Share of the shorter of two concurrent calls during which both were in the library."""
    spans, barrier = [], threading.Barrier(2)

    def read():
        model, err = _lib.ctypes.c_void_p(), _api.oc_err()
        barrier.wait()
        begin = time.monotonic()
        function(b"chain.onnx", None, _lib.ctypes.byref(model), _lib.ctypes.byref(err))
        spans.append((begin, time.monotonic()))
        _lib.lib.oc_model_free(model)

    threads = [threading.Thread(target=read) for _ in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    both = min(e for _, e in spans) - max(b for b, _ in spans)
    return both / min(e - b for b, e in spans)


shares = sorted(overlap(_lib.lib.oc_model_load) for _ in range(5))
result("two threads are in the library at once", [] if shares[2] > 0.5 else [f"overlap {shares}"])

outcome = []
want = oc.analyze(R50, dims={"batch": 3}).write()
shared = oc.analyze(model, dims={"batch": 3})


def analyse():
    for _ in range(3):
        outcome.append(oc.analyze(model, dims={"batch": 3}).nodes == shared.nodes and shared.write()[20:] == want[20:])


workers = [threading.Thread(target=analyse) for _ in range(4)]
for t in workers:
    t.start()
for t in workers:
    t.join()
result("threads share a model and an analysis", [] if len(outcome) == 12 and all(outcome) else [outcome])

# ---- data

files = {d.file for d in oc.devices()}
result("devices are those of the package", [f for f in files if not f.startswith(folder + "/hwdb/")] + ["none"] * (len(files) < 3))
