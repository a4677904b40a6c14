"""Checks a trace against the rules of the Trace Event Format as Perfetto and chrome://tracing apply them, and
prints a summary. usage: trace_rules.py TRACE [SUM_NS OF PROCESS ...]

 - strict JSON: an object with "traceEvents" and "displayTimeUnit" ms or ns
 - metadata first: every process has a name, every thread that has slices too, with distinct places
 - events in the order of their time; slices have ts and dur >= 0, name and category
 - slices of a thread are inside one another or apart: Perfetto drops others
 - where the writer puts slices one after another, they are so too for speedscope, which adds ts and dur as doubles
 - arrows begin and end in a slice of their thread, once each
 - counters have numbers, arguments are texts and finite numbers
"""
import json
import sys
from collections import defaultdict
from decimal import Decimal


def fail(text):
    sys.exit("trace_rules: " + text)


def no_constant(name):
    fail("not JSON: " + name)


def ns(value, what):
    if isinstance(value, bool) or not isinstance(value, (int, Decimal)):
        fail(f"{what} is not a number: {value!r}")
    scaled = Decimal(value) * 1000
    if scaled != scaled.to_integral_value():
        fail(f"{what} is not an integer number of nanoseconds: {value}")
    return int(scaled)


def check_args(event):
    for key, value in event["args"].items():
        if not isinstance(value, (str, int, Decimal)) or isinstance(value, bool):
            fail(f"argument {key} of {event['name']} is {value!r}")


class Trace:
    def __init__(self, path):
        with open(path, encoding="utf-8") as f:
            doc = json.load(f, parse_float=Decimal, parse_constant=no_constant)
        if not isinstance(doc, dict) or not isinstance(doc.get("traceEvents"), list):
            fail("no traceEvents")
        if doc.get("displayTimeUnit") not in ("ms", "ns"):
            fail("no displayTimeUnit")
        if not all(isinstance(v, str) for v in doc["otherData"].values()):
            fail("otherData contains values other than strings")
        self.process, self.thread, self.place = {}, {}, {}
        self.open = defaultdict(list)  # ends of the enclosing slices, by thread
        self.slices, self.counters = defaultdict(list), 0
        self.begin, self.end = {}, {}  # of arrows
        self.last = None
        for event in doc["traceEvents"]:
            getattr(self, "take_" + event.get("ph", "?"), self.unknown)(event)
        if self.begin.keys() != self.end.keys():
            fail("arrows without one end")

    def unknown(self, event):
        fail(f"unexpected event {event}")

    def take_M(self, event):
        if self.last is not None:
            fail("metadata after other events")
        pid, tid, args = event["pid"], event["tid"], event["args"]
        if event["name"] == "process_name":
            self.process[pid] = args["name"]
        elif event["name"] == "thread_name":
            if pid not in self.process or (pid, tid) in self.thread:
                fail(f"thread {pid}/{tid} twice, or before its process")
            self.thread[pid, tid] = args["name"]
        elif event["name"] in ("thread_sort_index", "process_sort_index"):
            where = (event["name"], pid if event["name"] == "thread_sort_index" else None, args["sort_index"])
            if not isinstance(args["sort_index"], int) or where in self.place:
                fail(f"sort index {where}")
            self.place[where] = True
        else:
            self.unknown(event)

    def at(self, event):
        start = ns(event["ts"], "ts")
        if self.last is not None and start < self.last:
            fail(f"{event['name']} at {start} after {self.last}")
        self.last = start
        return start

    def arrow(self, event, ends):
        start, where = self.at(event), (event["pid"], event["tid"])
        if event["id"] in ends or not self.slices[where] or self.slices[where][-1][0] != start:
            fail(f"arrow {event} twice, or outside of a slice")
        ends[event["id"]] = where

    def take_s(self, event):
        self.arrow(event, self.begin)

    def take_f(self, event):
        if event.get("bp") != "e":
            fail(f"arrow {event} to the next slice")
        self.arrow(event, self.end)

    def take_X(self, event):
        pid, tid = event["pid"], event["tid"]
        start, dur = self.at(event), ns(event["dur"], "dur")
        if (pid, tid) not in self.thread or dur < 0 or start < 0:
            fail(f"slice {event['name']} of an unnamed thread, or with {start} + {dur}")
        if not isinstance(event["name"], str) or not isinstance(event["cat"], str):
            fail("slice without name or category")
        check_args(event)
        around = self.open[pid, tid]
        while around and around[-1] <= start:
            around.pop()
        if around and start + dur > around[-1]:
            fail(f"{event['name']} overlaps another slice of its thread")
        if "back to back" in self.thread[pid, tid]:
            last = self.slices[pid, tid][-1] if self.slices[pid, tid] else None
            if last and last[3] == len(around) and float(last[2]["ts"]) + float(last[2]["dur"]) > float(event["ts"]):
                fail(f"{event['name']} begins before the end of the slice before it, in double precision")
        self.slices[pid, tid].append((start, dur, event, len(around)))
        around.append(start + dur)

    def take_C(self, event):
        self.at(event)
        if event["pid"] not in self.process or not event["args"]:
            fail("counter of an unnamed process, or without a number")
        for value in event["args"].values():
            if isinstance(value, bool) or not isinstance(value, (int, Decimal)):
                fail(f"counter {value!r}")
        self.counters += 1

    def sum_ns(self, of, rows):
        """Of the processes whose name begins with `of`: top-level slices, or slices of rows."""
        return sum(dur for (pid, _), list_ in self.slices.items() if self.process[pid].startswith(of)
                   for _, dur, event, depth in list_ if ("type" in event["args"] if rows else depth == 0))


def main():
    trace = Trace(sys.argv[1])
    report = {
        "processes": sorted(trace.process.values()),
        "threads": len(trace.thread),
        "slices": sum(len(v) for v in trace.slices.values()),
        "counters": trace.counters,
        "arrows": len(trace.begin),
        "lanes_ns": trace.sum_ns("", False),
        "measured_rows_ns": trace.sum_ns("measured", True),
        "estimated_rows_ns": trace.sum_ns("estimated", True),
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
