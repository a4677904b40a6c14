#!/usr/bin/env python3
"""Rules for printed profiles, independent of the code of onnxcost. Prints TAP.

usage: profile_rules.py ONNXCOST FOLDER      FOLDER: an empty one for the files that are made"""
import json
import os
import re
import subprocess
import sys

BINARY, WORK = sys.argv[1], sys.argv[2]
lines = []


def ok(good, what, why=""):
    lines.append("%s %d - %s" % ("ok" if good else "not ok", len(lines) + 1, what))
    print(lines[-1])
    if not good and why:
        print("# " + str(why).strip().replace("\n", "\n# ")[:600])


def run(args):
    q = subprocess.run([BINARY] + args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    return q.returncode, q.stdout.decode("utf8", "replace"), q.stderr.decode("utf8", "replace")


def summary(path):
    """Runs and rows of all tables; the message if the file is refused."""
    rc, out, err = run(["summary", path, "-t", "0", "-f", "json"])
    if rc:
        return err
    p = json.loads(out)["profiles"][0]
    return [(p.get("producer"), p.get("runs"))] + [(v, json.dumps(r, sort_keys=True)) for v, rows in p.items()
                                                  if isinstance(rows, list) for r in rows]


# ---- prefixes: a line may follow any of them ------------------------------------------------------------------
def stamp(i, form="2026-07-14 09:%02d:%02d"):
    return form % (i // 60 % 60, i % 60)


PREFIX = {
    "Ray": lambda i: "(WorkerDict pid=1234) ",
    "Ray with an address and colors": lambda i: "\033[36m(Train pid=1, ip=10.0.0.1)\033[0m ",
    "Ray actor without a pid": lambda i: "(Actor(name=x) 7) ",
    "vLLM": lambda i: "(EngineCore_DP0 pid=43) INFO 07-14 09:12:44 [core.py:77] ",
    "SGLang": lambda i: "[%s DP0 TP0] " % stamp(i),
    "logging": lambda i: "%s,123 - bench.run - INFO - " % stamp(i),
    "logging with the file": lambda i: "%s,123 INFO bench.py:77 " % stamp(i),
    "basicConfig": lambda i: "INFO:root:",
    "transformers": lambda i: "[INFO|trainer.py:2128] %s,123 >> " % stamp(i),
    "Hydra": lambda i: "[%s,123][__main__][INFO] - " % stamp(i),
    "DeepSpeed": lambda i: "[%s,123] [INFO] [logging.py:128:log_dist] [Rank 0] " % stamp(i),
    "loguru": lambda i: "%s.123 | INFO     | a.b:main:42 - " % stamp(i),
    "loguru, another level": lambda i: "%s.123 | SUCCESS  | a.b:main:42 - " % stamp(i),
    "glog": lambda i: "I0714 09:12:44.%06d 1234 a.cc:88] " % i,
    "glog with the year": lambda i: "I20260714 09:12:44.%06d 1234 a.cc:88] " % i,
    "TensorFlow": lambda i: "%s.123: I tensorflow/core/x.cc:88] " % stamp(i),
    "journald": lambda i: "Jul 14 09:12:44 gpu01 python[3121]: ",
    "journald without a pid": lambda i: "Jul 14 09:12:44 gpu01 bench: ",
    "syslog": lambda i: "<14>Jul 14 09:12:44 gpu01 bench[31]: ",
    "compose": lambda i: "bench-1  | ",
    "compose with colors": lambda i: "\033[36mbench-1  |\033[0m ",
    "Kubernetes": lambda i: "2026-07-14T09:12:44.%09dZ stdout F " % i,
    "kubectl --prefix": lambda i: "[pod/bench-7d9f-abcde/main] ",
    "stern": lambda i: "bench-7d9f main ",
    "GitHub Actions": lambda i: "build\tRun bench\t2026-07-14T09:12:44.%07dZ " % i,
    "GitLab": lambda i: "2026-07-14T09:12:44.%06dZ 01O " % i,
    "mpirun": lambda i: "[1,0]<stdout>:",
    "srun": lambda i: "0: ",
    "torchrun": lambda i: "[rank0]: ",
    "a rank in words": lambda i: "Rank 0: ",
    "seconds": lambda i: "1783418531.%03d " % i,
    "logcat": lambda i: "07-14 09:12:44.123  1234  1234 I bench   : ",
    "MindSpore": lambda i: "[INFO] ME(1234:1400,MainProcess):2026-07-14-09:12:44.123 [a.py:77] ",
    "Paddle OCR": lambda i: "[2026/07/14 09:12:44] ppocr INFO: ",
    "Rust": lambda i: "2026-07-14T09:12:44.123456Z  INFO bench::run: ",
    "numbered lines": lambda i: "%6d\t" % (i + 1),
    "a quote": lambda i: "> ",
}
JSON_LINES = {"Docker": "log", "a logger": "message", "structlog": "event", "systemd": "MESSAGE"}
PRINTED = ["printed/executorch.txt", "printed/gpu_trace_cut.csv", "printed/migraphx.txt", "printed/mnn_types.txt",
           "printed/ncnn.txt", "printed/ncu_summary.csv", "printed/nsys_german.csv", "printed/onnx_mlir.log",
           "printed/operator_details.csv", "printed/paddle_summary.txt", "printed/qnn_viewer.txt",
           "printed/test_backend_ops.txt", "op_tables/nvprof.txt", "op_tables/pytorch_table.txt",
           "op_tables/rocprof_stats.csv", "op_tables/tflite.txt"]


def put(name, text):
    path = os.path.join(WORK, name)
    with open(path, "w", encoding="utf8", newline="") as f:
        f.write(text)
    return path


def check_prefixes():
    text = {f: open("tests/data/" + f, encoding="utf8").read().rstrip("\n").split("\n") for f in PRINTED}
    plain = {f: summary("tests/data/" + f) for f in PRINTED}
    for kind, prefix in list(PREFIX.items()) + [(k, None) for k in JSON_LINES]:
        bad = []
        for f in PRINTED:
            if prefix:
                made = "".join(prefix(i) + l + "\n" for i, l in enumerate(text[f]))
            else:
                made = "".join(json.dumps({"time": stamp(i), JSON_LINES[kind]: l + "\n"}) + "\n"
                               for i, l in enumerate(text[f]))
            got = summary(put("prefix.log", made))
            if got != plain[f]:
                bad.append("%s: %s" % (f, got if isinstance(got, str) else "other rows"))
        ok(not bad, "%d printed files after the prefix of %s are read as without" % (len(PRINTED), kind), "\n".join(bad))


def check_ranks():
    f = "op_tables/pytorch_table.txt"
    text = open("tests/data/" + f, encoding="utf8").read().rstrip("\n").split("\n")
    for kind, form in {"Ray": "(Worker pid=%d) ", "SGLang": "[2026-07-14 09:12:44 TP%d] ", "mpirun": "[1,%d]<stdout>:",
                       "torchrun": "[rank%d]: ", "words": "Rank %d: ", "local": "[Local Rank %d] ",
                       "kubectl": "[pod/bench-%d/main] "}.items():
        made = "".join(form % r + (l if r == 0 else l.replace("4.000ms", "9.000ms")) + "\n" for l in text for r in (0, 1))
        path = put("ranks.log", made)
        rc, out, err = run(["summary", path])
        ok(summary(path) == summary("tests/data/" + f) and "several processes" in err,
           "lines of two ranks are distinguished by the label of %s" % kind, err)


# ---- totals: what a file says of its rows is compared with them -----------------------------------------------------
TOTALS = [  # file, what is replaced by what, what the warning says
    ("op_tables/pytorch_table.txt", "Self CPU time total: 40.000ms", "Self CPU time total: 80.000ms", "40 ms.*80 ms"),
    ("op_tables/nvprof.txt", None, "relu", "shares of the rows add up to 87.5"),
    ("op_tables/rocprof_stats.csv", None, "gemm", "shares of the rows add up to"),
    ("printed/mnn_types.txt", "total time : 1.000000", "total time : 2.000000", "1 ms.*2 ms"),
    ("printed/migraphx.txt", "Total instructions time: ", "Total instructions time: 9", "rows add up to"),
    ("printed/paddle_summary.txt", None, "relu dygraph", "shares of the rows add up to 66.7"),
    ("printed/paddle_summary.txt", "1.00 / 77.59", "1.00 / 12.20", "34.6 %"),
    ("tensorrt/dump.log", None, "trainStation", "rows add up to|shares of the rows"),
    ("tensorrt/encoder.profile.json", '"percentage": 30.7692', '"percentage": 3.0', "shares of the rows"),
]


def check_totals():
    for f, old, new, want in TOTALS:
        text = open("tests/data/" + f, encoding="utf8").read()
        said = run(["summary", "tests/data/" + f])[2]
        ok(not re.search("add up to|they differ", said), "%s agrees with itself" % f, said)
        changed = text.replace(old, new, 1) if old else ""
        if not old:  # the first row of this name is lost
            rows = text.split("\n")
            at = next(i for i, l in enumerate(rows) if new in l)
            changed = "\n".join(rows[:at] + rows[at + 1:])
        rc, out, err = run(["summary", put("total_" + os.path.basename(f), changed)])
        ok(changed != text and re.search(want, err), "%s: %s is named" % (f, ("'%s'" % new) if old else "the lost row"), err)


# ---- the questions of src/doc/profiles.md ---------------------------------------------------------------------------
def check_questions():
    text = open("src/doc/profiles.md", encoding="utf8").read()
    part = text[text.index("<!-- questions -->"):text.index("<!-- end of questions -->")]
    for line in part.split("\n"):
        cell = [c.strip() for c in re.split(r"(?<!\\)\|", line.strip().strip("|"))]
        if len(cell) != 3 or not cell[1].startswith("`onnxcost"):
            continue
        args = [a.replace("\\|", "|") for a in re.findall(r"'[^']*'|\S+", cell[1].strip("`"))[1:]]
        rc, out, err = run([a.strip("'") for a in args])
        want = [w.replace("\\|", "|") for w in re.findall(r"`([^`]*)`", cell[2])]
        seen = re.sub(r"\s+", " ", out + err)
        miss = [w for w in want if re.sub(r"\s+", " ", w) not in seen]
        ok(rc == 0 and want and not miss, "%s: %s" % (cell[0], cell[1]), "missing: %s\n%s" % (miss, seen))


# ---- Paddle ---------------------------------------------------------------------------------------------------------
TITLES = ["Device", "Overview", "Model", "Distribution", "Operator", "Kernel", "Memory Manipulation", "UserDefined"]


def paddle_rows(text):
    """(table, name) -> the cells of the row, numbers without blanks."""
    rows, table = {}, None
    for line in text.split("\n"):
        m = re.match(r"\s*-+([A-Z][A-Za-z ]+) Summary-+\s*$", line)
        table = m.group(1) if m else table
        cell = re.split(r"\s{2,}", line.strip())
        if table and not m and len(cell) > 1 and not line.strip().startswith("-") and "Total" not in line and re.search(r"\d", line):
            rows.setdefault((table, cell[0]), [re.sub(r"\s", "", c) for c in cell[1:]])
    return rows


def times(cell):
    """Without the shares, which are rounded from rounded times."""
    return [re.sub(r"/[^/]*$", "", c) for c in cell] if "/" in cell[-1] else cell[:1]


def check_paddle():
    f = "tests/data/printed/paddle_summary.txt"
    want, (rc, out, err) = paddle_rows(open(f, encoding="utf8").read()), run(["summary", f, "-f", "paddle", "-t", "0"])
    got = paddle_rows(out)
    for table in TITLES:
        rows = {k: v for k, v in want.items() if k[0] == table and not k[1].startswith("conv2d::")}
        if table in ("Device", "Model"):  # utilizations are not times; the step of the model is in the overview
            rows = {k: v for k, v in rows.items() if table == "Model" and k[1] not in ("ProfileStep", "Others")}
        bad = ["%s: %s, printed %s" % (k, v, got.get(k)) for k, v in rows.items()
               if [c for c in got.get(k, [])[-len(v):]] != v and table != "Model"]
        bad += ["%s is not printed" % str(k) for k in rows if k not in got]
        ok((rows or table == "Device") and not bad, "Paddle's %s table is printed as it was read" % table, "\n".join(bad))
    trace = "tests/data/paddle/training.paddle_trace.json"
    rc, out, err = run(["summary", trace, "-f", "paddle", "-t", "0"])
    missing = [t for t in TITLES if t + " Summary" not in out and t != "Memory Manipulation"]
    ok(rc == 0 and not missing, "the tables of a trace have Paddle's titles", missing)
    again = run(["summary", put("again.txt", out), "-f", "paddle", "-t", "0"])[1]
    first, second = paddle_rows(out), paddle_rows(again)
    bad = ["%s: %s, then %s" % (k, v, second.get(k)) for k, v in first.items()
           if k[0] in ("Operator", "Kernel", "UserDefined", "Distribution") and k in second and times(second[k]) != times(v)]
    lost = [k for k in first if k[0] in ("Operator", "Kernel", "UserDefined") and k not in second and not k[1].startswith("(")]
    ok(first and not bad and not lost, "what was printed from a trace is read from print", "\n".join(map(str, bad + lost)))


check_prefixes()
check_ranks()
check_totals()
check_questions()
check_paddle()
print("1..%d" % len(lines))
sys.exit(any(l.startswith("not ok") for l in lines))
