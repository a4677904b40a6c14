#!/usr/bin/env python3
"""Computes the answers of src/doc/fleet.md again, from the files of the fleet and without the scan, Parquet or DuckDB, and
compares them with those of SQL. Of onnxcost it uses the rooflines of one report for each model.

usage: recompute.py gap ANSWER TRACES REPORTS       ANSWER: CSV of the SQL statement; REPORTS: folder of MODEL.csv
       recompute.py regressions ANSWER TRACES
       recompute.py types ANSWER TRACES REPORTS
       recompute.py ranks ANSWER RANKS EXPECTED     EXPECTED: which ranks are slow by construction
       recompute.py memory ANSWER MODELS
       recompute.py unsupported ANSWER MODELS
"""
import csv
import gzip
import json
import math
import os
import sys
from collections import defaultdict
from multiprocessing import Pool
from statistics import median

DAYS = '2026-03-02', '2026-03-03'


def files_below(folder, end=''):
    return sorted(os.path.join(top, name) for top, _, names in os.walk(folder) for name in names if name.endswith(end))


def near(got, want, what, tolerance=1e-9):
    assert abs(got - want) <= tolerance * max(abs(want), 1e-3), (what, got, want)


# ---- statistics of a recording -------------------------------------------------------------------------------------

def counted(runs):
    """Indices of the runs that count: without warm-up, then without the quarters of the shortest and of the longest ones."""
    kept = list(range(len(runs)))[2 if len(runs) >= 6 else 1 if len(runs) >= 2 else 0:]
    quarter = len(kept) // 4 if len(kept) >= 4 else 0
    return kept, sorted(kept, key=lambda i: runs[i])[quarter:len(kept) - quarter]


def spread(times):
    times, quarter = sorted(times), len(times) // 4
    return (times[len(times) - quarter - 1] - times[quarter]) / median(times) if len(times) >= 4 else 0.08


def ort_recording(path):
    """(run times in ns, run indices that count, ns of each node per counted run)"""
    events = json.load(gzip.open(path))
    spans = sorted((e['ts'], e['dur']) for e in events if e['name'] == 'model_run')
    runs = [dur * 1000 for _, dur in spans]
    kept, chosen = counted(runs)
    sums = defaultdict(float)
    place = {i: spans[i] for i in chosen}
    for e in events:
        if e['name'].endswith('_kernel_time'):
            for start, dur in place.values():
                if start <= e['ts'] < start + dur:
                    sums[e['name'][:-len('_kernel_time')]] += e['dur'] * 1000 / len(chosen)
    return [runs[i] for i in kept], [runs[i] for i in chosen], sums


def quantile(values, q):
    """Linear interpolation between order statistics."""
    values = sorted(values)
    at = q * (len(values) - 1)
    low = int(at)
    return values[low] + (at - low) * (values[min(low + 1, len(values) - 1)] - values[low])


def beta_fraction(a, b, x):
    """Continued fraction of the incomplete beta function, by Lentz's algorithm."""
    c, d, h = 1.0, 1 / (1 - (a + b) * x / (a + 1)), 1 / (1 - (a + b) * x / (a + 1))
    for m in range(1, 500):
        for top in (m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                    -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))):
            d, c = 1 / (1 + top * d), 1 + top / c
            h *= d * c
        if abs(d * c - 1) < 1e-15:
            break
    return h


def t_tail(t, dof):
    """P(T > t) of Student's t."""
    a, b, x = dof / 2, 0.5, dof / (dof + t * t)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log(1 - x))
    inside = front * beta_fraction(a, b, x) / a if x < (a + 1) / (a + b + 2) else 1 - front * beta_fraction(b, a, 1 - x) / b
    return inside / 2


def t_quantile(dof):
    """Of 97.5 %."""
    low, high = 1.0, 100.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if t_tail(middle, dof) > 0.025 else (low, middle)
    return low


# ---- operator types by gap -----------------------------------------------------------------------------------------

def rows_of_report(reports, model):
    with open(f'{reports}/{model}.csv', newline='') as f:
        return {r['runtime_name'] or r['name']: r for r in csv.DictReader(f)}


def times_of(path):
    return path, ort_recording(path)[2]


def gap(answer, traces, reports):
    rows, gaps = {}, defaultdict(list)
    with Pool() as pool:
        for path, times in pool.imap_unordered(times_of, files_below(traces), 20):
            model = os.path.basename(path).split('.')[0]
            rows[model] = rows.get(model) or rows_of_report(reports, model)
            for node, r in rows[model].items():
                if r['roofline_ns']:
                    gaps[r['type']].append(times[node] - float(r['roofline_ns']))
    assert len(answer) == len(gaps), (len(answer), sorted(gaps))
    for r in answer:
        assert int(r['rows']) == len(gaps[r['type']]), r
        want = quantile(gaps[r['type']], 0.95) / 1e6
        # times and rooflines have three digits after the point
        assert abs(float(r['p95_gap_ms']) - want) <= 1e-9 * abs(want) + 2e-9, (r, want)
    return f'{sum(map(len, gaps.values()))} operators of {len(gaps)} types'


# ---- regressions between two days ----------------------------------------------------------------------------------

def comparison(a, b):
    """Ratio of B to A and its 95 % interval: moderated t, sides recorded at different times."""
    spreads = [spread(kept) for kept, _, _ in a + b]
    assert max(spreads) <= 0.08
    y = [[math.log(sum(chosen) / len(chosen)) for _, chosen, _ in side] for side in (a, b)]
    mean = [sum(side) / len(side) for side in y]
    dof = len(a) + len(b) - 2
    squares = sum((v - m) ** 2 for side, m in zip(y, mean) for v in side)
    usual = 0.015 ** 2 + 0.35 ** 2 * sum(s * s for s in spreads) / len(spreads)
    variance = (4 * usual + squares) / (4 + dof) * (1 / len(a) + 1 / len(b)) + 2 * 0.05 ** 2
    half = t_quantile(4 + dof) * math.sqrt(variance)
    return [math.exp(mean[1] - mean[0] + sign * half) for sign in (0, -1, 1)]


def cell(folder):
    return folder, [ort_recording(p) for p in files_below(folder)]


def cells_of(traces):
    folders = sorted({os.path.dirname(p) for p in files_below(traces)})
    with Pool() as pool:
        cells = dict(pool.imap_unordered(cell, folders))
    return {f[len(f'{traces}/{DAYS[0]}/'):]: (cells[f], cells[f.replace(*DAYS)]) for f in folders if f'/{DAYS[0]}/' in f}


def regressions(answer, traces):
    slower = {}
    for name, (a, b) in cells_of(traces).items():
        ratio, low, _ = comparison(a, b)
        if low > 1:
            slower[name] = ratio
    got = {f'{r["machine"]}/{r["model"]}': float(r['ratio']) for r in answer}
    assert got.keys() == slower.keys(), (got, slower)
    for name, ratio in slower.items():
        near(got[name], ratio, name)
    return f'{len(slower)} pairs are slower: {", ".join(slower)}'


def types(answer, traces, reports):
    want = {}
    for name, (a, b) in cells_of(traces).items():
        machine, model = name.split('/')
        sums = [defaultdict(float), defaultdict(float)]
        for node, r in rows_of_report(reports, model).items():
            for side, total in zip((a, b), sums):
                total[r['type']] += sum(times[node] for _, _, times in side) / len(side)
        for kind in sums[0]:
            more = sums[1][kind] - sums[0][kind]
            if more > 0.1 * sum(sums[0].values()):
                want[machine, model, kind] = more / 1e6
    got = {(r['machine'], r['model'], r['type']): float(r['more_ms']) for r in answer}
    assert got.keys() == want.keys(), (got, want)
    for key, more in want.items():
        near(got[key], more, key)
    return f'{len(want)} operator types: {", ".join(sorted({" ".join(k[1:]) for k in want}))}'


# ---- ranks of one job ----------------------------------------------------------------------------------------------

def work_of(path):
    """(rank, ns per step of each piece of work with shapes, calls per step, ns of a step)"""
    trace = json.load(gzip.open(path))
    events = trace['traceEvents']
    steps = sorted((e['ts'], e['dur']) for e in events if e['name'].startswith('ProfilerStep'))
    _, chosen = counted([dur for _, dur in steps])
    operator = {e['args']['External id']: e for e in events if e['cat'] == 'cpu_op'}
    work = defaultdict(lambda: [0, 0])
    for e in events:
        if e['cat'] != 'kernel':
            continue
        o = operator[e['args']['External id']]
        if 'Input Dims' not in o['args'] or not any(steps[i][0] <= o['ts'] < sum(steps[i]) for i in chosen):
            continue
        piece = work[o['name'], json.dumps(o['args']['Input Dims'])]
        piece[0] += e['dur'] * 1000 / len(chosen)
        piece[1] += 1 / len(chosen)
    return trace['distributedInfo']['rank'], dict(work), sum(steps[i][1] for i in chosen) / len(chosen)


def ranks(answer, folder, expected):
    with Pool() as pool:
        found = pool.map(work_of, files_below(folder))
    usual = defaultdict(list)
    for _, work, _ in found:
        for piece, (ns, calls) in work.items():
            usual[piece].append(ns / calls)
    usual = {piece: median(values) for piece, values in usual.items()}
    ratio = {rank: sum(ns for ns, _ in work.values()) / sum(usual[p] * calls for p, (_, calls) in work.items())
             for rank, work, _ in found}
    center = median(ratio.values())
    limit = center + 6 * 1.4826 * median(abs(v - center) for v in ratio.values())
    slow = {rank: v for rank, v in ratio.items() if v > limit}
    got = {int(r['rank']): float(r['ratio']) for r in answer}
    assert got.keys() == slow.keys(), (got, slow)
    for rank, v in slow.items():
        near(got[rank], v, rank)
    made = {line.split()[0]: set(map(int, line.split()[1:])) for line in open(expected)}
    assert slow.keys() == made['slower'], (slow, made)
    longest = sorted(found, key=lambda r: -r[2])[:9]
    assert {r[0] for r in longest[:5]} == made['waiting'], 'the longest steps are not those of the ranks that wait'
    return (f'{len(found)} ranks, slower for the same work: '
            f'{", ".join(f"{rank} ({v:.3f})" for rank, v in sorted(slow.items()))}; longest steps, which wait: '
            f'{" ".join(map(str, sorted(made["waiting"])))}')


# ---- models --------------------------------------------------------------------------------------------------------

VIEWS = {'Reshape', 'Flatten', 'Squeeze', 'Unsqueeze', 'Identity', 'Dropout'}


def footprint(path):
    """(path, bytes of constants, peak of the live activations); None where a shape is unknown to onnx."""
    import onnx
    try:
        model = onnx.load(path, load_external_data=False)
        if not model.graph.node:
            return path, None, None
    except Exception:  # any file that onnx cannot parse
        return path, None, None
    for v in model.graph.input:
        for d in v.type.tensor_type.shape.dim:
            if d.dim_param:
                d.dim_value = 1  # as the scan assumes without --dim
    graph = onnx.shape_inference.infer_shapes(model, data_prop=True).graph
    sizes = {}
    for v in [*graph.input, *graph.value_info, *graph.output]:
        t = v.type.tensor_type
        dims = [d.dim_value if d.HasField('dim_value') else None for d in t.shape.dim]
        if t.HasField('shape') and None not in dims and t.elem_type:
            width = onnx.mapping.TENSOR_TYPE_TO_NP_TYPE[t.elem_type].itemsize
            sizes[v.name] = math.prod(dims) * width
    tensors = {t.name: t for t in graph.initializer}
    tensors |= {n.output[0]: n.attribute[0].t for n in graph.node if n.op_type == 'Constant'}
    constants = {name: math.prod(t.dims) * onnx.mapping.TENSOR_TYPE_TO_NP_TYPE[t.data_type].itemsize for name, t in tensors.items()}
    source, last = {}, {}
    for v in graph.input:
        if v.name not in constants:
            source[v.name], last[v.name] = v.name, 0
    born = dict.fromkeys(source, 0)
    for step, node in enumerate(graph.node):
        if node.op_type == 'Constant':
            continue
        body = any(a.HasField('g') for a in node.attribute)
        if body or node.op_type == 'Shape' or node.input and all(name in constants for name in node.input):
            return path, sum(constants.values()), None  # a value that is folded or of the host; a body
        for name in node.input:
            if name in source:
                last[source[name]] = step
        for k, name in enumerate(n for n in node.output if n):
            same = node.op_type == 'Expand' and name in sizes and sizes[name] == sizes.get(node.input[0])  # nothing is repeated
            view = k == 0 and (same or node.op_type in VIEWS) and node.input[0] in source
            source[name] = source[node.input[0]] if view else name
            born.setdefault(source[name], step)
            last.setdefault(source[name], step)
    for v in graph.output:
        last[source[v.name]] = len(graph.node) - 1
    if any(name not in sizes for name in born):
        return path, sum(constants.values()), None
    change = [0] * (len(graph.node) + 1)
    for name, step in born.items():
        change[step] += sizes[name]
        change[last[name] + 1] -= sizes[name]
    live, peak = 0, 0
    for c in change:
        live += c
        peak = max(peak, live)
    return path, sum(constants.values()), peak


def memory(answer, folder):
    with Pool() as pool:
        want = {path: rest for path, *rest in pool.imap_unordered(footprint, files_below(folder, '.onnx'), 20)}
    known, same_constants = 0, 0
    for r in answer:
        constants, peak = want[r['path']]
        if constants is not None:
            assert int(r['const_bytes']) == constants, (r, constants)
            same_constants += 1
        if peak is not None:
            assert int(r['peak_activation_bytes']) == peak, (r, peak)
            known += 1
    assert [r['path'] for r in answer] == [r['path'] for r in sorted(answer, key=lambda r: (-int(r['bytes']), r['path']))]
    assert known >= 0.8 * len(answer), (known, len(answer))
    return f'constants of {same_constants} and peak activation memory of {known} of {len(answer)} models'


def supported(path):
    """Whether onnx parses the file and has a schema of every operator."""
    import onnx
    try:
        model = onnx.load(path, load_external_data=False)
    except Exception:
        return path, False
    microsoft = {'com.microsoft', 'com.microsoft.nchwc'}  # onnx has no schema of these
    return path, bool(model.graph.node) and all(n.domain in microsoft or onnx.defs.has(n.op_type, n.domain)
                                                for n in model.graph.node)


def unsupported(answer, folder):
    with Pool() as pool:
        fine = dict(pool.imap_unordered(supported, files_below(folder, '.onnx'), 20))
    want = sorted(p for p, ok in fine.items() if f'/{DAYS[0]}/' in p and ok and fine.get(p.replace(*DAYS)) is False)
    assert [r['path'] for r in answer] == want, set(r['path'] for r in answer) ^ set(want)
    return f'{len(want)} of {sum(f"/{DAYS[0]}/" in p for p in fine)} models'


if __name__ == '__main__':
    question, rows, *arguments = sys.argv[1:]
    with open(rows, newline='') as f:
        print(f'{question}: {globals()[question](list(csv.DictReader(f)), *arguments)}: equal')
