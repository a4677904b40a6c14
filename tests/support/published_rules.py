#!/usr/bin/env python3
"""Compares `estimate` with the published latencies of hwdb/published.tsv.

usage: published_rules.py BINARY ZOO TABLES HWDB [--rows]    prints a table (lines with '#') and TAP; --rows: every row

TABLES: files, separated by commas. Rows "own" were measured by this project and have no URL.

The lower bound is computed a second time, from the counts of operators and the peaks in the device files alone."""
import collections, csv, glob, io, json, math, subprocess, sys
import xml.etree.ElementTree as xml

binary, zoo, tables, hwdb = sys.argv[1:5]
AS = {'f32': None, 'tf32': None, 'f16': 'fp16', 'i8': 'int8'}
LARGE = 256
ORDER = math.log(1.25)  # pairs of devices that differ by more have an order

Row = collections.namedtuple('Row', 'use family model dims batch precision device runtime ms source')


def read_table():
    sources, rows = {}, []
    for line in (line for table in tables.split(',') for line in open(table, encoding='utf-8')):
        cell = line.rstrip('\n').split('\t')
        if line.startswith('#'):
            continue
        if cell[0] == 'source':
            sources[cell[1]] = cell[2:]
        else:
            rows.append(Row(*cell[:4], int(cell[4]), *cell[5:8], float(cell[8]), cell[9]))
    return sources, rows


def run(*words):
    done = subprocess.run([binary, *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit('Bail out! %s: %s' % (' '.join(words), done.stderr.strip()))
    return done.stdout


def options(row):
    dims = [] if row.dims == '-' else ['--dim', row.dims]
    tf32 = ['--hw-set', 'matrix.tf32=none'] if row.precision == 'f32' else []
    return [*dims, *tf32, *(['--as', AS[row.precision]] if AS[row.precision] else [])]


def compared(rows):
    """By row: what `estimate` of several devices prints of it."""
    groups, out = collections.defaultdict(list), {}
    for row in rows:
        groups[row.model, row.dims, row.precision].append(row)
    for same in groups.values():
        first = same[0]
        for batch in sorted({r.batch for r in same}):
            devices = sorted({r.device for r in same if r.batch == batch})
            text = run('estimate', '%s/%s.onnx' % (zoo, first.model), '--hw', ','.join(devices),
                       '--batch', str(batch), *options(first), '-f', 'csv')
            for line in csv.DictReader(io.StringIO(text)):
                for row in same:
                    if row.batch == batch and row.device == line['device']:
                        out[row] = line
    return out


# ---- the independent bound -----------------------------------------------------------------------------------------
UNIT = {'GFLOP/s': 1e9, 'TFLOP/s': 1e12, 'PFLOP/s': 1e15, 'GOP/s': 1e9, 'TOP/s': 1e12, 'POP/s': 1e15, 'GB/s': 1e9, 'TB/s': 1e12}


def device_figures():
    out = {}
    for device in (d for path in glob.glob(hwdb + '/nvidia-*.xml') for d in xml.parse(path).getroot().findall('device')):
        peak = collections.defaultdict(float)
        for p in device.iter('peak'):
            peak[p.get('class')] = max(peak[p.get('class')], float(p.get('value')) * UNIT[p.get('unit')])
        rates = [b for m in device.findall('memory') if m.get('name') == 'DRAM' for b in m.findall('bandwidth')]
        caches = [float(s.get('value')) * {'KiB': 2**10, 'MiB': 2**20}[s.get('unit')]
                  for m in device.findall('memory') if m.get('name') != 'DRAM' for s in m.findall('size')]
        out[device.get('id')] = peak, float(rates[0].get('value')) * UNIT[rates[0].get('unit')], max(caches, default=0)
    return out


def counts(row, known={}):
    """FLOPs of products that no algorithm saves, and bytes of weights, of the model's operators."""
    key = row.model, row.dims, row.batch
    if key not in known:
        dims = ['--dim', 'batch=%d' % row.batch] + ([] if row.dims == '-' else ['--dim', row.dims])
        report = json.loads(run('estimate', '%s/%s.onnx' % (zoo, row.model), '--hw', row.device, '--fusion', 'none',
                                *dims, '-f', 'json'))
        flops = weights = 0
        for k in report['kernels']:
            taps = (k.get('kernel_h') or 1) * (k.get('kernel_w') or 1)
            winograd = 6 if k['class'].startswith('conv') and k.get('stride') == 1 and taps > 1 else 1
            flops += 2 * k['macs'] * k['calls'] / winograd
            weights += k['bytes_read_weight'] * k['calls'] if k['macs'] else 0
        known[key] = flops, weights
    return known[key]


def least_ms(row, figures):
    peak, bandwidth, cache = figures[row.device]
    flops, weights = counts(row)
    cls = {'f32': ['f32'], 'tf32': ['tf32', 'f32'], 'f16': ['f16', 'f32'], 'i8': ['i8', 'f16']}[row.precision]
    width = {'f32': 4, 'tf32': 4, 'f16': 2, 'i8': 1}[row.precision]
    return 1e3 * max(flops / max(peak[c] for c in cls), (weights * width / 4 - cache) / bandwidth)


# ---- rules ---------------------------------------------------------------------------------------------------------
count = 0


def result(name, problems):
    global count
    count += 1
    print('%s %d - %s' % ('not ok' if problems else 'ok', count, name))
    for problem in problems[:8]:
        print('# ' + problem)


def name_of(row):
    return ' '.join(map(str, (row.model, row.dims, row.batch, row.precision, row.device, row.runtime)))


def share(part, whole):
    return '%d of %d (%.0f %%)' % (part, whole, 100 * part / whole if whole else 0)


def pairs(rows, middle):
    groups = collections.defaultdict(list)
    for row in rows:
        groups[row.model, row.dims, row.batch, row.precision, row.runtime].append(row)
    right, wrong = 0, []
    for same in groups.values():
        for i, a in enumerate(same):
            for b in same[:i]:
                if a.device == b.device or abs(math.log(a.ms / b.ms)) <= ORDER:
                    continue
                if (a.ms < b.ms) == (middle[a] < middle[b]):
                    right += 1
                else:
                    wrong.append('%s: %g ms, %s %g ms' % (name_of(a), a.ms, b.device, b.ms))
    return right, wrong


def main():
    sources, rows = read_table()
    published = [r for r in rows if r.use != 'own']
    said = compared(rows)
    low = {r: 1e3 * float(said[r]['low_s']) for r in rows}
    middle = {r: 1e3 * float(said[r]['time_s']) for r in rows}
    high = {r: 1e3 * float(said[r]['high_s']) for r in rows}
    bound = {r: 1e3 * float(said[r].get('bound_s') or 'nan') for r in rows}
    figures = device_figures()
    inside = {r: low[r] <= r.ms <= high[r] for r in rows}
    if '--rows' in sys.argv:
        for r in rows:
            print('# %-4s %-64s %9.3f ms  bound %9.3f  %9.3f - %9.3f - %9.3f%s' % (
                r.use, name_of(r), r.ms, bound[r], low[r], middle[r], high[r], '' if inside[r] else '  OUTSIDE'))
    print('# %-22s %-18s %-20s %s' % ('rows', 'in the interval', 'median |error|', 'bound / measured, median'))
    for title, part in (('fit', lambda r: r.use == 'fit'), ('held out', lambda r: r.use == 'test'),
                        ('held out, eager', lambda r: r.use == 'test' and r.runtime == 'pytorch'),
                        ('held out, optimizing', lambda r: r.use == 'test' and r.runtime != 'pytorch'),
                        ('own, CUDA graphs', lambda r: r.use == 'own')):
        chosen = [r for r in rows if part(r)]
        errors = sorted(abs(math.log(middle[r] / r.ms)) for r in chosen)
        reach = sorted(bound[r] / r.ms for r in chosen)
        print('# %-22s %-18s %-20s %.2f' % (title, share(sum(inside[r] for r in chosen), len(chosen)),
                                            'x %.2f' % math.exp(errors[len(errors) // 2]), reach[len(reach) // 2]))
    result('every row has a source with a URL, at least 60 rows, at least half held out',
           [name_of(r) for r in published if not sources.get(r.source, [''])[0].startswith('https://')] +
           (['%d rows' % len(published)]
            if len(published) < 60 or 2 * sum(r.use == 'test' for r in published) < len(published) else []))
    result('no bound is above a published latency',
           ['%s: bound %.4g ms, measured %.4g ms' % (name_of(r), bound[r], r.ms) for r in rows if not bound[r] <= r.ms])
    result('no bound computed from counts and peaks alone is above a published latency',
           ['%s: %.4g ms, measured %.4g ms' % (name_of(r), least_ms(r, figures), r.ms)
            for r in rows if least_ms(r, figures) > r.ms])
    result('intervals begin at the bound or above', [name_of(r) for r in rows if low[r] < bound[r] * (1 - 1e-9)])
    for use in ('fit', 'test', 'own'):
        chosen = [r for r in rows if r.use == use]
        held = sum(inside[r] for r in chosen)
        result('the interval holds at least 75 %% of the rows "%s"' % use,
               [] if held >= 0.75 * len(chosen) else [share(held, len(chosen))])
    large = collections.defaultdict(list)
    for r in rows:
        if r.batch >= LARGE:
            large[r.model, r.precision].append(math.log(middle[r] / r.ms))
    result('estimates of batches of %d and more are within a factor of two, in the median of each model and type' % LARGE,
           ['%s %s: x %.2f' % (*key, math.exp(sorted(e)[len(e) // 2])) for key, e in large.items()
            if abs(sorted(e)[len(e) // 2]) > math.log(2)])
    right, wrong = pairs(rows, middle)
    print('# order of device pairs: %s' % share(right, right + len(wrong)))
    result('at least 90 % of device pairs that differ by more than 25 % are in order',
           wrong if right < 9 * len(wrong) else [])
    sample = [r for r in rows if r.use != 'fit'][::9]
    result('estimate of one device prints the interval that it prints of several', [name_of(r) for r in sample if not same_as_estimate(r, low, middle, high)])
    print('1..%d' % count)


def same_as_estimate(row, low, middle, high):
    total = json.loads(run('estimate', '%s/%s.onnx' % (zoo, row.model), '--hw', row.device, '--dim', 'batch=%d' % row.batch,
                           *options(row), '-f', 'json'))['total']
    return all(abs(a[row] - 1e3 * total[key]) <= 1e-6 * a[row]
               for a, key in ((low, 'low80_s'), (middle, 'time_s'), (high, 'high80_s')))


main()
