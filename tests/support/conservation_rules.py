"""Conservation of time in every output: rows + remainder = total = headline.

usage: conservation_rules.py ONNXCOST LIST [--all]    (LIST: a line per case: PROFILE<TAB>MODEL or -<TAB>...)

For each case, statistic and format the rows are added up here: times to the total and shares to 100 %, within what the
output prints of each; the total less the overlap is the latency, which has one value in all places. Without --all:
two statistics of each case. Prints TAP, a line per file, and how many (file, statistic, format) were compared.
"""
import csv
import html
import io
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from page_data import page_data_of

STATS = ["typical", "mean", "median", "min", "max", "sum"]
UNIT = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
EXACT_NS = 0.0006  # times are printed in thousandths of a nanosecond


class Unread(Exception):
    pass


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        raise Unread("exit code %d: %s" % (done.returncode, done.stderr.decode("utf-8", "replace").strip()[:200]))
    return done.stdout.decode("utf-8", "replace")


def duration(text):
    """Nanoseconds and half a unit of the last digit; None: no time."""
    m = re.fullmatch(r"(-?[\d,]+(?:\.(\d+))?) (ns|us|ms|s)", text.strip())
    if not m:
        return None
    return float(m[1].replace(",", "")) * UNIT[m[3]], 0.5 * 10 ** -len(m[2] or "") * UNIT[m[3]]


def add_up(what, times, shares, whole_ns, slack_ns, slack_share):
    """Problems of a list of rows whose times and shares (of 1) are given."""
    if abs(sum(times) - whole_ns) > slack_ns:
        yield "%s: the rows add up to %.3f ns, the total is %.3f" % (what, sum(times), whole_ns)
    if times and whole_ns > 0 and abs(sum(shares) - 1) > slack_share:
        yield "%s: the shares add up to %.9f" % (what, sum(shares))


def check_json(report):
    m, rows = report["measurement"], report["rows"]
    times = [row["time_ns"] for row in rows if row["time_ns"] is not None]
    yield from add_up("json", times, [row["share"] for row in rows if row["time_ns"] is not None], m["total_ns"],
                      EXACT_NS * (len(rows) + 1), 1e-9)
    headline = m["latency_ns"] if m["latency_ns"] is not None else m["total_ns"]
    for name, value in (("totals.time_ns", report["totals"]["time_ns"]), ("profile[0].time_ns", report["profile"][0]["time_ns"])):
        if abs(value - headline) > EXACT_NS * 2:
            yield "json: %s is %r, the headline %r" % (name, value, headline)
    two = m["overlap_ns"] is None  # rows and latency are of two measurements (TensorRT)
    if m["latency_ns"] is not None and not two and abs(m["total_ns"] - m["overlap_ns"] - m["latency_ns"]) > EXACT_NS * 4:
        yield "json: total %r less overlap %r is not the latency %r" % (m["total_ns"], m["overlap_ns"], m["latency_ns"])
    unnamed = [row for row in rows if not row["name"]]
    if unnamed:
        yield "json: %d rows without a name" % len(unnamed)


def check_csv(text, whole_ns):
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    times = [float(row["time_ns"]) for row in rows if row["time_ns"]]
    yield from add_up("csv", times, [float(row["time_fraction"]) for row in rows if row["time_fraction"]], whole_ns,
                      EXACT_NS * (len(rows) + 1), 1e-9)


def check_cells(what, titles, rows, whole_ns):
    """A table that people read: its columns time and %."""
    if "time" not in titles or "%" not in titles:
        return
    cells = [(duration(row[titles.index("time")]), row[titles.index("%")]) for row in rows]
    known = [(d, float(share)) for d, share in cells if d]
    yield from add_up(what, [d[0] for d, _ in known], [share / 100 for _, share in known], whole_ns,
                      sum(d[1] for d, _ in known) * 1.001 + 1, 0.00051 * (len(known) + 1))


def check_table(text, whole_ns):
    lines = text.split("\n")
    start = next((i for i, line in enumerate(lines) if re.match(r" *#  ", line)), None)
    if start is None:
        yield "table: no rows"
        return
    titles, rows = re.split(r"  +", lines[start].strip()), []
    for line in lines[start + 1:]:
        if not re.match(r" *\d+  ", line):
            break
        cells = re.split(r"  +", line.strip())
        rows.append(cells if len(cells) == len(titles) else cells[:2] + cells[2:3] + [""] * (len(titles) - 3))
    yield from check_cells("table", titles, rows, whole_ns)
    said = re.search(r"100 % is (?:the latency, )?([\d.,]+ [num]?s)\b", text)
    shown = said and duration(said[1])
    if not shown or abs(shown[0] - whole_ns) > shown[1] * 1.001:
        yield "table: '%s' for a total of %.3f ns" % (said and said[0], whole_ns)


def check_markdown(text, whole_ns):
    table = [[html.unescape(c).strip() for c in re.split(r"(?<!\\)\|", line)[1:-1]] for line in text.split("\n") if line.startswith("|")]
    start = next((i for i, row in enumerate(table) if row and row[0] == "#"), None)
    if start is not None:
        rows = [row for row in table[start + 2:] if len(row) == len(table[start])]
        yield from check_cells("markdown", table[start], rows, whole_ns)


def check_page(text, whole_ns):
    data = page_data_of(text)
    values = {}
    for column in data["columns"]:
        if column["key"] in ("time_ns", "time_fraction"):
            v = (column["values"] if "values" in column else [column["same"]] * data["rows"] if "same" in column
                 else [column["dict"][i] for i in column["index"]])
            values[column["key"]] = [float(x) for x in v if x is not None]
    yield from add_up("html", values.get("time_ns", []), values.get("time_fraction", [1]), whole_ns, 1e-6 * whole_ns + 1, 1e-4)


def check(program, files, stat):
    """Problems, and the number of formats compared."""
    command = [program, *files, "--stat", stat]
    report = json.loads(run(command + ["-f", "json"]))
    if not report["rows"] or report["measurement"]["total_ns"] is None:
        return None, 0
    whole_ns = report["measurement"]["total_ns"]
    problems = list(check_json(report))
    problems += check_csv(run(command + ["-f", "csv"]), whole_ns)
    n = 2
    if report["profile"][0]["format"] != "megengine":  # its table is that of MegEngine's tool
        problems += check_table(run(command + ["-w", "4000", "-a", "--megengine", "style=compact"]), whole_ns)
        problems += check_markdown(run(command + ["-f", "markdown", "--top", "0"]), whole_ns)
        problems += check_page(run(command + ["-f", "html"]), whole_ns)
        n += 3
    return problems, n


def main():
    program, table, *flags = sys.argv[1:]
    with open(table, encoding="utf-8") as f:
        cases = [line.rstrip("\n").split("\t")[:2] for line in f if line.strip()]

    def work(at):
        profile, model = cases[at]
        files = [profile] if model == "-" else [model, "-p", profile]
        problems, compared, unread = [], 0, ""
        for k, stat in enumerate(STATS):
            if "--all" not in flags and k not in (0, 1 + at % 5):
                continue
            try:
                found, n = check(program, files, stat)
            except Unread as err:
                unread = str(err)
                continue
            if found is None:
                unread = "no times"
                continue
            compared += n
            problems += ["--stat %s: %s" % (stat, text) for text in found]
        return problems, compared, unread

    total = bad = 0
    left_out = []
    with ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        for i, (problems, compared, unread) in enumerate(pool.map(work, range(len(cases)))):
            name = " ".join(os.path.basename(f) for f in cases[i] if f != "-")
            total += compared
            bad += bool(problems)
            left_out += [] if compared else [name + ": " + unread]
            print("%sok %d - %s: rows, remainder and total are equal in every output%s" %
                  ("not " if problems else "", i + 1, name, "" if compared else " # SKIP " + (unread or "no times")))
            for text in problems[:8]:
                print("# " + text)
    print("1..%d" % len(cases))
    print("# compared (file, statistic, format): %d; files with differences: %d; without times: %d" % (total, bad, len(left_out)))
    return 1 if bad else 0


sys.exit(main())
