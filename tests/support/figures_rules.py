"""Compares the figures of one report in every output: TAP, a line per profile and set of options.

usage: figures_rules.py ONNXCOST LIST [--all]    (LIST: a line per case: PROFILE<TAB>MODEL or -<TAB>PROFILE2 or -)

The table with all columns, CSV, JSON, Markdown and the data in the HTML page must have the same rows in the same
order, with the same time, share, FLOPs, bytes, rates and efficiency, as far as each prints digits; an unknown figure
is unknown in all of them, and a bound is marked in all of them. Rates, shares, sums of groups and totals are computed
here from the counts and times of the rows; times and MACs of ONNX Runtime's traces from the events. Without --all:
one or two sets of options of each case.
"""
import csv
import gzip
import html
import io
import json
import math
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from page_data import page_data_of

MARK = {"exact": "", "upper": "<=", "lower": ">=", "est": "~", "unknown": ""}
WORD = {"exact": "", "upper": "at most ", "lower": "at least ", "est": "about "}
DIGIT = ["exact", "upper", "lower", "est", "unknown"]
SCALE = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18,
         "B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "PB": 1e15,
         "ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
# title in tables: column of the CSV file, factor to its unit, whether bounds are marked
HUMAN = {"time": ("time_ns", 1, False), "%": (None, 0.01, False), "cum %": ("cumulative_fraction", 0.01, False),
         "FLOPs": ("flo", 1, True), "GFLOP/s": ("flop_per_s", 1e9, True), "moved": ("bytes", 1, True),
         "GB/s": ("bytes_per_s", 1e9, True), "FLOP/B": ("flop_per_byte", 1, True), "params": ("params", 1, False),
         "roofline": ("roofline_ns", 1, False), "eff %": ("roofline_efficiency", 0.01, False),
         "gap": ("wasted_ns", 1, False)}
OPTIONS = [[], ["--stat", "sum"], ["--stat", "mean"], ["--stat", "min"], ["--group-by", "type"],
           ["--aggregate", "sum", "--group-by", "type"], ["--order-by", "flops"], ["--order-by", "+bandwidth"],
           ["--top", "3"], ["--hw", "t4"], ["--hw", "t4", "--group-by", "type"], ["--stat", "sum", "--hw", "t4"],
           ["--iterations", "2"], ["--group-by", "module"]]


class Case:
    def __init__(self, program, files, options):
        self.program, self.files, self.why = program, files, []
        self.options = options if "--order-by" in options else options + ["--order-by", "time"]

    def run(self, *more, screen=False):
        done = subprocess.run([self.program, *self.files, *([] if screen else self.options), *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if done.returncode:
            raise RuntimeError("exit code %d: %s" % (done.returncode, done.stderr.decode("utf-8", "replace").strip()))
        return done.stdout.decode("utf-8", "replace")

    def fail(self, text, *args):
        self.why.append(text % args)

    def equal(self, what, a, b, digits=12):
        """None: unknown."""
        if a is None or b is None or isinstance(a, str) or isinstance(b, str):
            if a != b:
                self.fail("%s: %r, expected %r", what, a, b)
        elif not math.isclose(a, b, rel_tol=10 ** (1 - digits), abs_tol=0.001 if "time" in what else 1e-9):
            self.fail("%s: %r, expected %r", what, a, b)


def number(text):
    return float(text) if text not in ("", None) else None


def ratio(a, b):
    return a / b if a is not None and b else None


def total(values):
    known = [v for v in values if v is not None]
    return math.fsum(known) if known else None


# ---- the outputs -------------------------------------------------------------------------------------------------------

def csv_rows(case):
    return list(csv.DictReader(io.StringIO(case.run("-f", "csv"), newline="")))


def markdown_rows(case):
    lines = case.run("-f", "markdown", *([] if "--top" in case.options else ["--top", "0"])).split("\n")
    cells = [[html.unescape(c).strip().replace("\\|", "|") for c in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines
             if line.startswith("|")]
    summary = {row[0]: row[1] for row in cells if len(row) == 2}
    start = next((i for i, row in enumerate(cells) if row and row[0] == "#"), None)
    rows = []
    while start is not None and start + 2 + len(rows) < len(cells) and len(cells[start + 2 + len(rows)]) == len(cells[start]):
        rows.append(cells[start + 2 + len(rows)])
    return summary, cells[start] if start is not None else [], rows


def table_rows(case):
    """Titles and cells, cut at the columns of the title line; numbers are right-aligned, texts left-aligned."""
    text = case.run("--width", "4000", *([] if "--top" in case.options else ["-a"]))
    lines = text.split("\n")
    start = next((i for i, line in enumerate(lines) if re.match(r" *#  ", line)), None)
    if start is None:
        return lines, [], []
    titles = re.split(r"  +", lines[start].strip())
    rows = []
    for line in lines[start + 1:]:
        if not re.match(r" *\d+  ", line):
            break
        rows.append(re.split(r"  +", line.strip()))
    return lines, titles, rows


def page_data(case):
    text = case.run("-f", "html")
    data = page_data_of(text)
    sentence = re.search(r'<p class="verdict">(.*?)\.</p>', text, re.S)
    data["sentence"] = html.unescape(sentence.group(1)) if sentence else None
    columns = {}
    for column in data["columns"]:
        if column["kind"] == "text":
            continue
        if "values" in column:
            values = column["values"]
        elif "same" in column:
            values = [column["same"]] * data["rows"]
        else:
            values = [column["dict"][i] for i in column["index"]]
        columns.setdefault(column["key"], [None if v is None else float(v) for v in values])
    return data, columns


# ---- one report --------------------------------------------------------------------------------------------------------

def printed(text):
    """Value, half a unit of its last digit, mark; None: unknown."""
    m = re.match(r"^(<=|>=|~|)(-?[\d.]+(?:e[+-]?\d+)?) ?([a-zA-Z]*)$", text)
    if not m or m.group(3) not in SCALE:
        return None
    digits = m.group(2).split("e")[0].partition(".")[2]
    return float(m.group(2)) * SCALE[m.group(3)], 0.5 * 10 ** -len(digits) * SCALE[m.group(3)], m.group(1)


def ratio_quality(title, quality):
    """The quotient of two bounds is an estimate."""
    return "est" if title == "FLOP/B" and quality in ("lower", "upper") else quality


def check_text(case, what, titles, rows, truth):
    if len(rows) != len(truth):
        case.fail("%s has %d rows, CSV %d", what, len(rows), len(truth))
        return
    first_share = "time_fraction" if "time_fraction" in (truth[0] if truth else {}) else "flo_fraction"
    for i, (cells, row) in enumerate(zip(rows, truth)):
        if len(cells) != len(titles):
            continue  # a name with two blanks
        for title, cell in zip(titles, cells):
            if title not in HUMAN:
                continue
            key, factor, marked = HUMAN[title]
            key = key or first_share
            value, shown = number(row.get(key)), printed(cell)
            at = "%s, row %d, %s" % (what, i + 1, title)
            if value is None:
                if cell not in ("-", "inf"):
                    case.fail("%s: '%s' for an unknown", at, cell)
            elif shown is None:
                case.fail("%s: '%s', expected %g", at, cell, value / factor)
            elif abs(shown[0] - value / factor) > shown[1] * 1.001 + 1e-9 * abs(value / factor):
                case.fail("%s: '%s', expected %g", at, cell, value / factor)
            elif marked and "quality" in row and shown[2] != MARK[ratio_quality(title, row["quality"])]:
                case.fail("%s: '%s', but the quality is %s", at, cell, row["quality"])


def close(case, what, rate, amount, time):
    """A rate is amount / time; times are printed in thousandths of a nanosecond."""
    if rate is None or amount is None or not time:
        case.equal(what, rate, ratio(amount, time))
    elif abs(rate * time - amount) > 1e-9 * abs(amount) + 0.0006 * max(rate, 1):
        case.fail("%s: %r, expected %r", what, rate, amount / time)


def check_row(case, row, runs_known, grouped):
    """The figures that follow from the row's own time and counts."""
    at = "CSV row %s" % row.get("rank")
    time, flo, moved = number(row.get("time_ns")), number(row.get("flo")), number(row.get("bytes"))
    rate_time = time if runs_known else None
    for key, amount in (("flop_per_s", flo), ("bytes_per_s", moved)):
        if key not in row:
            continue
        close(case, "%s: %s" % (at, key), number(row[key]), None if amount is None else amount * 1e9, rate_time)
        if number(row[key]) == 0 and (amount is None or row.get("quality") == "unknown" and key == "flop_per_s"):
            case.fail("%s: %s is 0 for an unknown amount", at, key)
    if "flop_per_byte" in row and not grouped:
        case.equal(at + ": flop_per_byte", number(row["flop_per_byte"]), ratio(flo, moved), 9)
    # a lower bound of the roofline time, of a row whose limit is unknown, has no efficiency and no gap
    partial = row.get("bound_by", "unknown") in ("", "unknown") and not row.get("roofline_efficiency")
    if "roofline_efficiency" in row and not partial:
        close(case, at + ": roofline_efficiency", number(row["roofline_efficiency"]), number(row["roofline_ns"]), rate_time)
    if "wasted_ns" in row and not grouped and not partial and rate_time is not None and row["roofline_ns"]:
        if abs(number(row["wasted_ns"]) - (time - number(row["roofline_ns"]))) > 0.01:
            case.fail("%s: gap %s, expected %g", at, row["wasted_ns"], time - number(row["roofline_ns"]))


def check_json_rows(case, report, truth, runs):
    rows = report["rows"]
    if len(rows) != len(truth):
        return False
    for i, (a, b) in enumerate(zip(rows, truth)):
        if a["name"] != b["name"]:
            return False
    for i, (a, b) in enumerate(zip(rows, truth)):
        at = "JSON row %d (%s)" % (i + 1, a["name"])
        for key, column in (("time_ns", "time_ns"), ("share", "time_fraction"), ("achieved_flops_per_s", "flop_per_s"), ("achieved_bytes_per_s", "bytes_per_s")):
            case.equal("%s: %s" % (at, key), a.get(key), number(b.get(column)), 9)
        if "roofline_efficiency" in a:
            case.equal(at + ": roofline_efficiency", a["roofline_efficiency"], number(b.get("roofline_efficiency")), 9)
        if "flo" not in b:
            continue
        if "quality" in a and "quality" in b:
            case.equal(at + ": quality", a["quality"], b["quality"])
        if "macs" in a and "macs" in b and a["macs"] is not None and number(b["macs"]) is not None:
            case.equal(at + ": MACs", number(b["macs"]), a["macs"] * (1 if "calls_are_in" in a else runs), 9)
    return True


def check_nodes(case, report, truth):
    by_name = {}
    for row in truth:
        by_name.setdefault(row["name"], []).append(row)
    for node in report["nodes"]:
        rows = by_name.get(node["name"], [])
        if node["time_ns"] is None or len(rows) != 1 or rows[0].get("nodes") != node["name"]:
            continue
        at = "JSON node %s" % node["name"]
        case.equal(at + ": FLOP/s", node["achieved_flops_per_s"], number(rows[0].get("flop_per_s")), 9)
        case.equal(at + ": bytes/s", node["achieved_bytes_per_s"], number(rows[0].get("bytes_per_s")), 9)
        case.equal(at + ": efficiency", node["roofline_efficiency"], number(rows[0].get("roofline_efficiency")), 9)


def check_groups(case, report, truth, members):
    groups = report["groups"]
    if groups is None or len(groups) != len(truth):
        case.fail("JSON has %s groups, CSV %d", groups and len(groups), len(truth))
        return
    keys = {"time_ns": "time_ns", "achieved_flops_per_s": "flop_per_s", "achieved_bytes_per_s": "bytes_per_s", "operations": "flo",
            "bytes": "bytes", "roofline_efficiency": "roofline_efficiency", "quality": "quality"}
    for a, b in zip(groups, truth):
        for key, column in keys.items():
            if column in b:
                want = b[column] if column == "quality" else number(b[column])
                case.equal("JSON group %s: %s" % (a["group"], key), a[key], want, 9)
    for row in truth:
        mine = [m for m in members if (m.get("type") or "(unknown)") == row["type"] or m.get("type") == row["type"]]
        if "module" in case.options or len(mine) != int(row["count"]):
            continue
        for key in ("time_ns", "flo", "bytes"):
            if key in row:
                want = total(number(m[key]) for m in mine)
                if key == "time_ns" and want is not None and math.isclose(number(row[key]) or 0, want, abs_tol=0.001 * len(mine)):
                    continue  # rows are rounded to thousandths of a nanosecond
                if want == 0 and row.get("quality") == "lower":
                    want = None  # at least 0 is unknown
                case.equal("group %s: %s" % (row["type"], key), number(row[key]), want, 9)


def check_page(case, data, columns, truth, report):
    if data["rows"] != len(truth):
        case.fail("page has %s rows, CSV %d", data["rows"], len(truth))
        return
    for key in ("time_ns", "time_fraction", "flo", "flop_per_s", "bytes", "bytes_per_s", "macs", "roofline_ns", "roofline_efficiency",
                "wasted_ns", "calls"):
        if key not in columns or not truth or key not in truth[0]:
            continue
        for i, row in enumerate(truth):
            case.equal("page, row %d, %s" % (i + 1, key), columns[key][i], number(row[key]), 6)
    for i, row in enumerate(truth):
        if "quality" in row and DIGIT[int(data["quality"][i])] != row["quality"]:
            case.fail("page, row %d: quality %s, CSV %s", i + 1, DIGIT[int(data["quality"][i])], row["quality"])
    page, totals = data["profile"], report["totals"]
    for a, b in (("flops_per_s", "achieved_flops_per_s"), ("ops_per_s", "achieved_ops_per_s"), ("bytes_per_s", "achieved_bytes_per_s"),
                 ("inferences_per_s", "inferences_per_s"), ("total_ns", "time_ns")):
        case.equal("page: " + a, page[a], totals[b], 9)
    for a in ("flops", "bytes"):
        if totals["achieved_%s_per_s" % a] is not None:
            case.equal("page: quality of %s/s" % a, page[a + "_quality"], totals["achieved_%s_quality" % a])


def sum_of(rows, key):
    """Of the work of rows with a time; None: at least 0, or unknown."""
    amount = total(number(row.get(key)) for row in rows if number(row["time_ns"]) is not None)
    return None if amount == 0 and quality_of(rows, key) == "lower" else amount


def is_remainder(row):
    """Time of no operator."""
    return row["name"].startswith("(") and not row.get("type") and row.get("quality", "unknown") == "unknown"


def quality_of(rows, key):
    """Of a sum over the operators with a time."""
    rows = [row for row in rows if number(row["time_ns"]) is not None and not is_remainder(row)]
    missing = any(number(row.get(key)) is None for row in rows)
    seen = {row["quality"] for row in rows if number(row.get(key)) is not None}
    low, high = missing or "lower" in seen, "upper" in seen
    return "est" if "est" in seen or low and high else "lower" if low else "upper" if high else "exact"


def check_totals(case, report, rows, runs, about):
    """Rows: all of the report, without selection."""
    totals, profile = report["totals"], report["profile"][0]
    time = totals["time_ns"]
    known = profile["runs_from"] is not None
    measured = profile.get("throughput_runs_per_s") or (1e9 * runs / time if time else None)
    measurement = report["measurement"]
    whole = total(number(row["time_ns"]) for row in rows)
    if abs(whole - measurement["total_ns"]) > 0.0006 * (len(rows) + 1): # times are printed in thousandths of a nanosecond
        case.fail("the rows add up to %r, total_ns is %r", whole, measurement["total_ns"])
    if measurement["overlap_ns"] is not None: # else rows and latency are of two measurements (TensorRT)
        sums = measurement["total_ns"] - measurement["overlap_ns"] if known and measurement["latency_ns"] else None
        case.equal("latency and overlap: time", measurement["latency_ns"], sums, 12)
    case.equal("headline: time", time, measurement["total_ns"] if measurement["latency_ns"] is None else measurement["latency_ns"], 12)
    case.equal("inferences/s", totals["inferences_per_s"], measured if known else None, 9)
    rated = time and (known or report["model"] is None)
    flo, moved = sum_of(rows, "flo"), sum_of(rows, "bytes")
    both = total([totals["achieved_flops_per_s"], totals["achieved_ops_per_s"]])
    case.equal("FLOP/s of the run", both, flo / time * 1e9 if rated and flo is not None else None, 9)
    case.equal("bytes/s of the run", totals["achieved_bytes_per_s"], moved / time * 1e9 if rated and moved is not None else None, 9)
    if both is not None and rows and "quality" in rows[0]:
        case.equal("quality of FLOP/s", totals["achieved_flops_quality"], quality_of(rows, "flo"))
    if totals["achieved_bytes_per_s"] is not None and rows and "quality" in rows[0]:
        case.equal("quality of bytes/s", totals["achieved_bytes_quality"], quality_of(rows, "bytes"))
    line = about.get("achieved", "")
    if not known and re.search(r"(inferences|steps)/s", line):
        case.fail("'%s' without a known number of runs", line)
    for unit, rate, quality in (("GFLOP/s", totals["achieved_flops_per_s"], "flops"), ("GB/s", totals["achieved_bytes_per_s"], "bytes")):
        m = re.search(r"(at least |at most |about |)([\d.e+-]+) %s" % unit, line)
        if m and (rate is None or not math.isclose(float(m.group(2)), rate * 1e-9, rel_tol=1e-3)):
            case.fail("achieved '%s', expected %r", m.group(0), rate)
        word = WORD.get(totals["achieved_%s_quality" % quality])
        if m and m.group(1) != word and not (unit == "GB/s" and word == WORD[totals["achieved_flops_quality"]]):
            case.fail("achieved '%s', but the quality is %s", m.group(0), totals["achieved_%s_quality" % quality])


def check_shares(case, rows):
    """Of all rows: they add up to 100 %."""
    whole = total(number(row["time_ns"]) for row in rows)
    for row in rows:
        if row.get("time_fraction") and abs(number(row["time_fraction"]) * whole - number(row["time_ns"])) > 0.0006 * (len(rows) + 1):
            case.fail("share of row %s: %s of %g", row["rank"], row["time_fraction"], whole)


def check_screen(case, rows, runs_known):
    """The tables of the first screen: rates by type."""
    lines = Case(case.program, case.files, []).run("--width", "400", screen=True).split("\n")
    start = next((i for i, line in enumerate(lines) if line.startswith("Time by operator type")), None)
    if start is None:
        return
    titles = re.split(r"  +", lines[start + 1].strip())
    for line in lines[start + 2:]:
        cells = re.split(r"  +", line.strip())
        if len(cells) != len(titles):
            break
        mine = [row for row in rows if (row["type"] or "(unknown)") == cells[0]]
        if not mine or len(mine) != int(cells[titles.index("ops")]):
            continue
        time = total(number(row["time_ns"]) for row in mine)
        for title, key in (("GFLOP/s", "flo"), ("GB/s", "bytes")):
            if title not in titles or key not in mine[0]:
                continue
            cell, amount = cells[titles.index(title)], total(number(row[key]) for row in mine)
            want = amount / time if amount is not None and time and runs_known else None
            shown = printed(cell.lstrip("<") if re.match(r"<\d", cell) else cell)
            if want is None and cell != "-" or want is not None and shown is None:
                case.fail("first screen, type %s, %s: '%s', expected %r", cells[0], title, cell, want)
            elif want is not None and not re.match(r"<\d", cell) and abs(shown[0] - want) > shown[1] * 1.001:
                case.fail("first screen, type %s, %s: '%s', expected %g", cells[0], title, cell, want)


# ---- ONNX Runtime's events ---------------------------------------------------------------------------------------------

def ort_events(path):
    data = (gzip.open if path.endswith(".gz") else open)(path, "rb").read()
    try:
        return [e for e in json.loads(data.decode("utf-8")) if isinstance(e, dict)]
    except ValueError:
        return None


NESTING = ("If", "Loop", "Scan", "SequenceMap")


def ort_times(path, stat):
    """Self times of nodes over the selected runs, in nanoseconds by (name, type), and the time of a run; None: not for this
    simple reading (kernels, parallel or incomplete runs, varying shapes)."""
    events = ort_events(path)
    if not events or any(e.get("cat") == "Kernel" or e.get("cat") == "Api" for e in events):
        return None
    runs = sorted((e["ts"], e["ts"] + e["dur"]) for e in events if e["name"] == "model_run" and e["cat"] == "Session")
    nodes = [e for e in events if e.get("cat") == "Node" and e["name"].endswith("_kernel_time")]
    if not runs or any(a[1] > b[0] for a, b in zip(runs, runs[1:])) or len({e["tid"] for e in nodes}) != 1:
        return None
    if any(not any(a <= e["ts"] < b for a, b in runs) for e in nodes):
        return None
    if any(e["args"]["op_name"] in NESTING for e in nodes):
        return None
    used = runs[2 if len(runs) >= 6 else 1 if len(runs) > 1 else 0:]
    times = {("(outside operators)", ""): [(b - a) * 1000 for a, b in used]}
    for run, (start, end) in enumerate(used):
        for e in nodes:
            if start <= e["ts"] < end:
                key = e["name"][:-len("_kernel_time")], e["args"]["op_name"]
                times.setdefault(key, [0] * len(used))[run] += e["dur"] * 1000
                times["(outside operators)", ""][run] -= e["dur"] * 1000
    chosen, n = sorted(range(len(used)), key=lambda i: used[i][1] - used[i][0]), len(used)
    chosen = {"typical": chosen[n // 4:n - n // 4], "median": chosen[(n - 1) // 2:n // 2 + 1], "min": chosen[:1], "max": chosen[-1:]}.get(stat, chosen)
    divisor = 1 if stat == "sum" else len(chosen)
    means = {key: sum(v[i] for i in chosen) / divisor for key, v in times.items()}
    if not means["(outside operators)", ""]:
        del means["(outside operators)", ""]
    return means, sum((used[i][1] - used[i][0]) * 1000 for i in chosen) / divisor


def product_macs(event):
    """Multiply-adds of a convolution or a matrix product, from the recorded shapes; None: another operator, or packed."""
    shapes = [[next(iter(t.values())) for t in event["args"].get(key) or []] for key in ("input_type_shape", "output_type_shape")]
    op, (ins, outs) = event["args"]["op_name"], shapes
    if not ins or not outs:
        return None
    if op in ("Conv", "FusedConv") and len(ins) > 1 and len(ins[1]) == len(ins[0]) == len(outs[0]):
        return math.prod(outs[0]) * math.prod(ins[1][1:])
    if op == "MatMul" and len(ins[0]) > 1:
        return math.prod(outs[0]) * ins[0][-1]
    if op == "Gemm" and outs[0][0]:
        return math.prod(outs[0]) * math.prod(ins[0]) // outs[0][0]
    return None


def check_macs(case, profile, report, rows, runs):
    """Without a model: from the recorded shapes. With one: a row has the sum of its nodes."""
    if report["model"] is not None:
        macs = {node["index"]: node["macs"] for node in report["nodes"]}
        for row in report["rows"]:
            parts = [macs.get(i) for i in row["nodes"]]
            if row["bucket"] is None and row["macs"] is not None and not row["note"] and parts and None not in parts:
                case.equal("MACs of %s" % row["name"], row["macs"], sum(parts))
        return
    if report["profile"][0]["format"] != "onnxruntime":
        return
    want = {}
    for e in ort_events(profile) or []:
        if e.get("cat") == "Node" and e["name"].endswith("_kernel_time"):
            want.setdefault((e["name"][:-len("_kernel_time")], e["args"]["op_name"]), set()).add(product_macs(e))
    for row in rows:
        macs = want.get((row["name"], row["type"]), {None})
        if len(macs) == 1 and None not in macs and number(row.get("macs")) is not None:
            case.equal("MACs of %s" % row["name"], number(row["macs"]), min(macs) * number(row["calls"]) * runs, 9)


def check_summary(case, profile, report):
    """The command summary counts the same runs."""
    done = subprocess.run([case.program, "summary", profile, "-f", "json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        return
    runs = json.loads(done.stdout)["profiles"][0]["runs"]
    if runs and runs["used"] is not None and report["profile"][0]["runs_total"]:
        case.equal("runs of summary", runs["used"] + runs["dropped"], report["profile"][0]["runs_total"])


def check_ort(case, profile, report, rows):
    if report["profile"][0]["format"] != "onnxruntime" or "--iterations" in case.options:
        return
    read = ort_times(profile, report["profile"][0]["statistic"])
    if not read or report["model"] is not None:
        return
    times, run = read
    case.equal("time of a run", report["totals"]["time_ns"], run, 9)
    seen = {}
    for row in rows:
        seen.setdefault((row["name"], row["type"]), []).append(number(row["time_ns"]))
    if any(len(v) > 1 for v in seen.values()):
        return  # one record per set of shapes
    if set(seen) != set(times):
        case.fail("rows %s, the events have %s", sorted(set(seen) - set(times))[:3], sorted(set(times) - set(seen))[:3])
    for key in set(seen) & set(times):
        case.equal("time of %s" % key[0], seen[key][0], times[key], 9)


# ---- cases -------------------------------------------------------------------------------------------------------------

def check_report(program, files, options, profile):
    case = Case(program, files, options)
    try:
        truth = csv_rows(case)
    except RuntimeError as err:
        return case, str(err)
    report = json.loads(case.run("-f", "json"))
    if report["profile"] is None or not truth or "time_ns" not in truth[0]:
        return case, "no times"
    native = report["profile"][0]["format"] == "megengine"  # its table is that of MegEngine's tool
    if native and any("inf" in row.values() or number(row["time_ns"]) in (None, 0.0) for row in truth):
        return case, "rates of MegEngine's tool, infinite where the time is 0"
    grouped = bool({"--group-by", "--aggregate"} & set(options))
    selected = grouped or "--top" in options
    plain = Case(program, files, [o for i, o in enumerate(options) if not drop(options, i)])
    rows = csv_rows(plain) if selected else truth
    source = report["profile"][0]
    runs = source["runs_used"] if source["statistic"] == "sum" and source["runs_used"] > 1 else 1
    runs_known = source["runs_from"] is not None or report["model"] is None
    for row in truth:
        check_row(case, row, runs_known, grouped)
    about, titles, cells = markdown_rows(case)
    check_text(case, "Markdown", titles, cells, truth)
    if not native:
        check_text(case, "table", *table_rows(case)[1:], truth)
    data, columns = page_data(case)
    check_page(case, data, columns, truth, report)
    if not grouped and not selected:
        check_verdict(case, report, rows, data["sentence"])
    case.equal("achieved, page", dict(map(tuple, data["about"])).get("achieved"), about.get("achieved"))
    if grouped:
        check_groups(case, report, truth, rows)
    else:
        if not check_json_rows(case, report, truth, runs) and not report["model"] and "--top" not in options:
            case.fail("the rows of JSON and CSV differ")
        check_nodes(case, report, truth)
    check_totals(case, report, rows, runs, about)
    if not grouped:
        check_shares(case, rows) if not selected else None
        check_ort(case, profile, report, rows)
        check_macs(case, profile, report, rows, runs)
    if not options:
        check_screen(case, rows, runs_known)
        check_summary(case, profile, report)
    return case, None


PARTS = ("roofline_ns", "above_roofline_ns", "no_bound_ns", "added_ns", "unmatched_ns", "outside_ns")


def check_verdict(case, report, rows, sentence):
    """The parts of the time sum to all rows."""
    verdict = report["verdict"]
    case.equal("verdict, page", sentence, verdict and verdict["text"])
    if not verdict or verdict["whole_ns"] is None:
        return
    times = [number(row["time_ns"]) for row in rows]
    case.equal("verdict: sum of times", math.fsum(verdict[p] or 0 for p in PARTS), verdict["whole_ns"], 9)
    case.equal("verdict: whole time", verdict["whole_ns"], total(times) or 0, 7)
    bounded = total(t for t, row in zip(times, rows) if t is not None and number(row.get("roofline_ns", "")) is not None) or 0
    if report["hardware"]:
        if verdict["roofline_ns"] + verdict["above_roofline_ns"] > bounded * (1 + 1e-6):
            case.fail("verdict: %r ns have a bound, rows with one take %r", verdict["roofline_ns"] + verdict["above_roofline_ns"], bounded)
    elif verdict["roofline_ns"] is not None or verdict["above_roofline_ns"] is not None:
        case.fail("verdict: a roofline without a device")
    check_unbounded(case, report, rows, verdict)
    for part in PARTS:
        if verdict[part] is not None and verdict[part] < 0:
            case.fail("verdict: %s is %r", part, verdict[part])


def check_unbounded(case, report, rows, verdict):
    """Operators without a known bound that take a twentieth of the time are named with their time."""
    if not report["hardware"] or verdict["no_bound_ns"] < 0.05 * verdict["whole_ns"] or not verdict["roofline_ns"]:
        return
    named = re.search(r"([0-9.]+) (s|ms|us|ns) have no known bound, (?:([0-9.]+) (s|ms|us|ns)|all) of it in ([0-9]+) (\S+?)(?=[.,;]? |$)", verdict["text"])
    if not named:
        case.fail("verdict: %r ns without a known bound are not named: %s", verdict["no_bound_ns"], verdict["text"])
        return
    times = [number(row["time_ns"]) for row in rows
             if row["type"] == named[6].rstrip(".") and number(row.get("roofline_ns", "")) is None and number(row["time_ns"])]
    case.equal("verdict: operators without a known bound", len(times), int(named[5]))
    case.equal("verdict: their time", float(named[3] or named[1]) * SCALE[named[4] or named[2]], math.fsum(times), 2)


def drop(options, i):
    """Options that choose, order or join rows, and their values."""
    chosen = ("--group-by", "--aggregate", "--group-by", "--top", "--order-by")
    return options[i] in chosen or (i and options[i - 1] in chosen)


def jobs_of(cases, everything):
    for at, (profile, model) in enumerate(cases):
        files = [profile] if model == "-" else [model, "-p", profile]
        other = OPTIONS[1 + at % (len(OPTIONS) - 1)]
        sets = OPTIONS if everything else [OPTIONS[0], other] if model != "-" or at % 3 == 0 else [other]
        for options in sets:
            yield files, profile, options


def main():
    program, table, *flags = sys.argv[1:]
    with open(table, encoding="utf-8") as f:
        cases = [line.rstrip("\n").split("\t") for line in f if line.strip()]
    jobs = list(jobs_of(cases, "--all" in flags))

    def work(job):
        files, profile, options = job
        try:
            return check_report(program, files, options, profile)
        except (RuntimeError, KeyError, ValueError, AttributeError, IndexError, TypeError) as err:
            case = Case(program, files, options)
            case.fail("%s: %s", type(err).__name__, err)
            return case, None

    bad = i = left_out = 0
    with ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        for job, (case, skipped) in zip(jobs, pool.map(work, jobs)):
            left_out += bool(skipped)
            if skipped:
                continue
            i += 1
            name = " ".join(os.path.basename(f) for f in job[0] if f != "-p")
            title = "%s %s: the figures of all outputs are equal" % (name, " ".join(job[2]))
            if not case.why:
                print("ok %d - %s" % (i, title))
            else:
                bad = 1
                print("not ok %d - %s" % (i, title))
                for why in case.why[:12]:
                    print("# " + why.replace("\n", " "))
                if len(case.why) > 12:
                    print("# and %d more" % (len(case.why) - 12))
            sys.stdout.flush()
    print("# %d reports without rows or times" % left_out)
    print("1..%d" % i)
    sys.exit(bad or i < 20)


if __name__ == "__main__":
    main()
