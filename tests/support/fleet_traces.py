#!/usr/bin/env python3
"""Traces of a fleet, varied from recorded profiles, and the p95 of the gap to roofline computed without the program's
scan, Parquet or DuckDB: times from the events of the traces, rooflines from one report for each recorded profile.

usage: fleet_traces.py make FOLDER COUNT RECORDED...        MODEL.LEVEL.t1.json.gz to FOLDER/MODEL.NUMBER.json.gz
       fleet_traces.py check FOLDER REPORTS STATS ANSWER    REPORTS: folder of MODEL.csv; STATS: CSV with the columns
                                                            path and stat; ANSWER: CSV type,rows,p95_gap_ms
"""
import csv
import gzip
import json
import os
import random
import re
import sys
from collections import defaultdict
from statistics import median

FIELD = re.compile(r'"(dur|ts)" :(\d+)')


def vary(text, rng):
    """Another machine: all times by one factor; each kernel is up to a third faster. Nesting stays."""
    factor = rng.lognormvariate(0, 0.3)

    def line(row):
        faster = rng.uniform(0.67, 1) if '_kernel_time"' in row else 1
        return FIELD.sub(lambda m: f'"{m[1]}" :{int(int(m[2]) * factor * (faster if m[1] == "dur" else 1))}', row)
    return '\n'.join(map(line, text.split('\n')))


def make(folder, count, recorded):
    texts = [(os.path.basename(p).split('.')[0], gzip.open(p, 'rt').read()) for p in recorded]
    for i in range(count):
        name, text = texts[i % len(texts)]
        with gzip.open(f'{folder}/{name}.{i:04}.json.gz', 'wt', compresslevel=1) as f:
            f.write(vary(text, random.Random(i)))


def times_of(path, stat):
    """Nanoseconds per run of each node, by the definition of the format: the runs are the events model_run, of which
    the first is the warm-up; a kernel belongs to the run that contains its start."""
    events = json.load(gzip.open(path))
    runs = sorted((e['ts'], e['dur']) for e in events if e['name'] == 'model_run')[1:]
    sums = defaultdict(lambda: [0] * len(runs))
    for e in events:
        if e['cat'] == 'Node' and e['name'].endswith('_kernel_time'):
            for i, (start, length) in enumerate(runs):
                if start <= e['ts'] < start + length:
                    sums[e['name'][:-len('_kernel_time')]][i] += e['dur'] * 1000
    return {name: {'median': median, 'min': min}[stat](runs_ns) for name, runs_ns in sums.items()}


def quantile(values, q):
    """Linear interpolation between order statistics."""
    values = sorted(values)
    at = q * (len(values) - 1)
    low = int(at)
    return values[low] + (at - low) * (values[min(low + 1, len(values) - 1)] - values[low])


def check(folder, reports, stats, answer):
    stat_of = {os.path.basename(r['path']): r['stat'] for r in csv.DictReader(open(stats))}
    rows_of, gaps = {}, defaultdict(list)
    for name in sorted(os.listdir(folder)):
        model = name.split('.')[0]
        if model not in rows_of:
            rows_of[model] = {r['name']: r for r in csv.DictReader(open(f'{reports}/{model}.csv'))}
        times = times_of(f'{folder}/{name}', stat_of[name])
        for node, r in rows_of[model].items():
            gaps[r['type']].append(times[node] - float(r['roofline_ns']))
    got = list(csv.DictReader(open(answer)))
    assert len(got) == len(gaps), f'{len(got)} types, not {len(gaps)}'
    for r in got:
        want = quantile(gaps[r['type']], 0.95) / 1e6
        assert int(r['rows']) == len(gaps[r['type']]), (r, len(gaps[r['type']]))
        # rooflines have three digits after the point in both
        assert abs(float(r['p95_gap_ms']) - want) <= 1e-9 * abs(want) + 2e-9, (r, want)
    print(f'{sum(map(len, gaps.values()))} operators of {len(gaps)} types: equal to the independent computation')


if __name__ == '__main__':
    if sys.argv[1] == 'make':
        make(sys.argv[2], int(sys.argv[3]), sys.argv[4:])
    else:
        check(*sys.argv[2:])
