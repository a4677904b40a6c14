#!/usr/bin/env python3
"""Fits the efficiencies of src/estimate/pooled.c to the rows "fit" of hwdb/published.tsv and prints them with their
errors, the device or the family left out. The times of `estimate` are sums of parts, each in inverse proportion to one
figure, so the fit rescales the parts that the program prints.

usage: fit_published.py BINARY ZOO TABLE"""
import collections, csv, io, math, re, subprocess, sys

binary, zoo, table = sys.argv[1:4]
source = open(__file__.replace('tests/support/fit_published.py', 'src/estimate/pooled.c'), encoding='utf-8').read()
AS = {'f16': ['--as', 'fp16'], 'i8': ['--as', 'int8'], 'f32': ['--hw-set', 'matrix.tf32=none'], 'tf32': []}
RATES = ('f32', 'tf32', 'f16', 'i8')
PRIOR = 2    # weight of ln(figure / prior), in units of 0.7
HUBER = 0.4  # in ln t


def figures():
    out = {}
    for kind in ('conv', 'gemm'):
        values = re.search(kind + r'_efficiency\[RATE_COUNT\] = \{([^}]*)\}', source).group(1).split(',')
        out.update({(kind, r): float(v) for r, v in zip(RATES, values)})
    for name in ('MEMORY', 'LAUNCH_S'):
        out[name] = float(re.search(r'#define %s +([0-9.e-]+)' % name, source).group(1))
    return out


SHIPPED = figures()
START = {**{('conv', r): v for r, v in zip(RATES, (0.6, 0.45, 0.35, 0.7))},
         **{('gemm', r): v for r, v in zip(RATES, (0.7, 0.5, 0.6, 0.5))}, 'MEMORY': 0.75, 'LAUNCH_S': 2e-6}


def read_rows():
    """(device, family, weight group, ln seconds, {figure: seconds at the shipped figures})"""
    rows = [line.rstrip('\n').split('\t') for line in open(table, encoding='utf-8') if line.startswith('fit\t')]
    rows = [r for r in rows if r[7] != 'pytorch' or int(r[4]) >= 8]  # the host limits short eager runs
    out = []
    for _, family, model, dims, batch, precision, device, runtime, ms, _ in rows:
        text = subprocess.run([binary, 'estimate', '%s/%s.onnx' % (zoo, model), '--hw', device, '--dim', 'batch=' + batch,
                               *([] if dims == '-' else ['--dim', dims]), *AS[precision], '-f', 'csv'],
                              capture_output=True, text=True, check=True).stdout
        parts = collections.defaultdict(float)
        for line in csv.DictReader(io.StringIO(text)):
            calls, products = float(line['calls']), float(line['macs'] or 0) > 0
            kind = 'conv' if line['class'].startswith('conv') else 'gemm'
            parts[(kind, precision) if products else 'rest'] += calls * float(line['compute_part_s'])
            parts['MEMORY'] += calls * float(line['memory_part_s'])
            parts['LAUNCH_S'] += calls * float(line['launch_part_s'])
        out.append((device, family, (model, precision, device, runtime), math.log(float(ms) / 1e3), dict(parts)))
    return out


def time(parts, f):
    return sum(s if k == 'rest' else s * f[k] / SHIPPED[k] if k == 'LAUNCH_S' else s * SHIPPED[k] / f[k]
               for k, s in parts.items())


def loss(rows, f):
    size = collections.Counter(r[2] for r in rows)
    sum_ = 0
    for r in rows:
        a = abs(r[3] - math.log(time(r[4], f)))
        sum_ += (a * a / 2 if a < HUBER else HUBER * (a - HUBER / 2)) / math.sqrt(size[r[2]])
    return sum_ + PRIOR * sum((math.log(f[k] / START[k]) / 0.7) ** 2 for k in f)


def fit(rows):
    f, step = dict(START), 0.4
    best = loss(rows, f)
    while step > 0.01:
        moved = False
        for k in f:
            for factor in (math.exp(step), math.exp(-step)):
                g = {**f, k: f[k] * factor}
                value = loss(rows, g)
                if value < best:
                    f, best, moved = g, value, True
                    break
        step = step if moved else step / 2
    return f


def quantiles(errors):
    e = sorted(errors)
    return '  '.join('%3d %%: %+.2f' % (100 * q, e[int(q * (len(e) - 1))]) for q in (0.05, 0.1, 0.5, 0.9, 0.95))


def main():
    rows = read_rows()
    f = fit(rows)
    for k, v in f.items():
        print('%-18s %-9.3g shipped %.3g' % (' '.join(k) if isinstance(k, tuple) else k, v, SHIPPED[k]))
    print('in sample:          ' + quantiles([r[3] - math.log(time(r[4], f)) for r in rows]))
    for title, at in (('device left out:', 0), ('family left out:', 1)):
        errors = []
        for name in sorted({r[at] for r in rows}):
            g = fit([r for r in rows if r[at] != name])
            errors += [(r[3] - math.log(time(r[4], g)), r) for r in rows if r[at] == name]
        print('%-19s ' % title + quantiles([e for e, _ in errors]))
        for low, high in ((0, 0.1), (0.1, 0.25), (0.25, 1)):
            some = [e for e, r in errors if low <= r[4]['LAUNCH_S'] / time(r[4], SHIPPED) < high]
            if some:
                print('  launches %2d to %3d %% %4d rows  %s' % (100 * low, 100 * high, len(some), quantiles(some)))


main()
