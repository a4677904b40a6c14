#!/usr/bin/env python3
"""Reports of the CUDA recordings of models/h200 against sums of the traces that are taken here a second time.

usage: cuda_recordings.py BINARY RECORDINGS WORK    prints TAP

Device time: of all events of kernels, copies and fills; without a model of the kernels, as copies are listed apart. Share of
it that the join gives to nodes: SHARE, where the exporter kept every operator, COMPILED of torch.compile; it folds batch normalizations into
convolutions, so that theirs have no node. WHOLE: every multiply-add of the model has a row. In the traces of the zoo, a
range has the name of its node: the time of a node is that of the kernels launched in it, as mean of the runs after the first."""
import bisect, collections, glob, gzip, json, math, os, subprocess, sys

binary, recordings, work = sys.argv[1:4]
SHARE = {'bert': 0.99, 'gpt2': 0.99, 'vit_b_16': 0.99, 'convnext_tiny': 0.99}
PRODUCTS = ('aten::conv1d', 'aten::conv2d', 'aten::conv_transpose2d', 'aten::linear', 'aten::matmul', 'aten::addmm',
            'aten::bmm', 'aten::mm', 'aten::baddbmm')
COMPILED = {'bert': 0.89, 'resnet50': 0.9}
WHOLE = ('bert', 'gpt2', 'vit_b_16')
count = 0


def result(name, problems):
    global count
    count += 1
    print('%s %d - %s' % ('not ok' if problems else 'ok', count, name))
    for problem in problems:
        print('# ' + problem)


def report(*words):
    done = subprocess.run([binary, *words, '-f', 'json'], capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else {'error': done.stderr.strip()}


def device_ns(events, *categories):
    return sum(1e3 * e['dur'] for e in events if e.get('cat') in categories)


def products(events):
    """MACs of the linear layers, from the recorded shapes, without those that fused attention calls."""
    fused = [(e['ts'], e['ts'] + e['dur']) for e in events if e.get('name') == 'aten::_native_multi_head_attention']
    total = 0
    for e in events:
        if e.get('name') == 'aten::linear' and not any(begin <= e['ts'] < end for begin, end in fused):
            x, w = e['args']['Input Dims'][:2]
            total += math.prod(x[:-1]) * w[0] * w[1]
    return total


def linear_macs(report_of):
    return sum(r['macs'] or 0 for r in report_of['rows'] if r['op_type'] == 'aten::linear')


def unpacked(model):
    """The file of the model; none for traces of the zoo."""
    packed = os.path.join(recordings, model + '.onnx.gz')
    if not os.path.exists(packed):
        return []
    path = os.path.join(work, model + '.onnx')
    with gzip.open(packed) as f, open(path, 'wb') as out:
        out.write(f.read())
    return [path]


def check_compiled(name, trace, events):
    """Runs of torch.compile: the time from the first to the last kernel that each compiled region launched."""
    regions = sorted((e['ts'], e['ts'] + e['dur']) for e in events if e['name'].startswith('Torch-Compiled Region'))
    launch = {e['args']['correlation']: e['ts'] for e in events
              if e.get('cat') in ('cuda_runtime', 'cuda_driver') and 'correlation' in e.get('args', {})}
    spans = []
    for begin, end in regions:
        work = [(e['ts'], e['ts'] + e['dur']) for e in events
                if e.get('cat') in ('kernel', 'gpu_memset') and begin <= launch[e['args']['correlation']] < end]
        spans.append(max(w[1] for w in work) - min(w[0] for w in work))
    p = report(trace, '--stat', 'mean')['profile'][0]
    want = 1e3 * sum(spans[1:]) / (len(spans) - 1)
    got = p['runs_total'], p['runs_from'], p['time_ns']
    result('%s: %d runs, and their time' % (name, len(regions)),
           [] if got[:2] == (len(regions), 'repetition') and abs(got[2] - want) < 2 else ['%s, not %.0f ns' % (got, want)])


def times_of_ranges(events):
    """Nanoseconds of the kernels launched in each range, by name and by how often the name was seen before."""
    ranges = sorted((e['ts'], e['name']) for e in events if e.get('cat') == 'user_annotation')
    starts, seen, run = [ts for ts, _ in ranges], collections.Counter(), []
    for _, name in ranges:
        run.append(seen[name])
        seen[name] += 1
    launch = {e['args']['correlation']: e['ts'] for e in events
              if e.get('cat') in ('cuda_runtime', 'cuda_driver') and 'correlation' in e.get('args', {})}
    times = collections.defaultdict(collections.Counter)
    for e in events:
        if e.get('cat') == 'kernel':
            at = bisect.bisect_right(starts, launch[e['args']['correlation']]) - 1
            times[ranges[at][1]][run[at]] += 1e3 * e['dur']
    return times, max(seen.values())


def check_zoo(name, model, trace, events):
    """Rows of nodes: each has the time of its range."""
    path = os.path.join(work, model + '.onnx')
    subprocess.run([os.path.join(os.path.dirname(binary), 'onnxzoo'), model, '-o', path], check=True)
    r = report(path, '-p', trace, '--stat', 'mean')
    if 'error' in r:
        return result(name + ': join', [r['error']])
    times, runs = times_of_ranges(events)
    rows = {row['runtime_name']: row for row in r['rows'] if row['nodes']}
    problems = []
    for node, by_run in times.items():
        want = sum(ns for run, ns in by_run.items() if run) / (runs - 1)
        got = rows[node]['kernel_time_ns'] if node in rows else 0
        if abs(got - want) > 1:
            problems.append('%s: %.0f ns, its kernels %.0f' % (node, got, want))
    result('%s: time of each of %d nodes' % (name, len(times)), problems[:5])
    got = r['profile'][0]['runs_total'], r['profile'][0]['runs_from'], r['join']['time_matched_fraction']
    return result(name + ': runs, and all time is attributed', [] if got == (runs, 'marked', 1) else [str(got)])


def check_without_ranges(name, model, events):
    """The same trace without the ranges: the runs, and the node of each product, are those that the ranges show."""
    ranges = sorted((e['ts'], e['ts'] + e['dur'], e['name']) for e in events if e.get('cat') == 'user_annotation')
    starts, runs = [r[0] for r in ranges], collections.Counter(r[2] for r in ranges).most_common(1)[0][1]
    trace = os.path.join(work, name + '.bare.json')
    with open(trace, 'w', encoding='utf-8') as out:
        json.dump({'traceEvents': [e for e in events if e.get('cat') not in ('user_annotation', 'gpu_user_annotation')]}, out)
    truth, end = [], 0
    for ts, dur, op in sorted((e['ts'], e['dur'], e['name']) for e in events if e.get('cat') == 'cpu_op'):
        if ts < end:
            continue
        end = ts + dur
        if op in PRODUCTS:
            truth.append(ranges[bisect.bisect_right(starts, ts) - 1][2])
    r = report(os.path.join(work, model + '.onnx'), '-p', trace)
    nodes = [n['name'] for n in r['nodes']]
    rows = [row for row in r['rows'] if row.get('runtime_name') in PRODUCTS]
    problems = ['%d runs, not %d' % (r['profile'][0]['runs_total'], runs)] if r['profile'][0]['runs_total'] != runs else []
    for row, node in zip(rows, truth):
        if node not in [nodes[i] for i in row['nodes']]:
            problems.append('%s: %s, not %s' % (row['runtime_name'], [nodes[i] for i in row['nodes']], node))
    if len(rows) * runs != len(truth):
        problems.append('%d products in %d runs, %d in the trace' % (len(rows), runs, len(truth)))
    result('%s without ranges: runs, and nodes of %d products' % (name, len(rows)), problems[:5])


def check_bytes(name, model, trace):
    """Bytes of a model in f32 that ran in f16: those that follow from the recorded shapes and types alone."""
    alone = {}
    for row in report(trace)['rows']:
        alone.setdefault((row.get('runtime_name'), row['time_ns']), []).append(row.get('bytes'))
    problems, n = [], 0
    for row in report(*unpacked(model), '-p', trace)['rows']:
        want = alone.get((row.get('runtime_name'), row['time_ns']), [])  # each row of that time once
        if row['nodes'] and row['runtime_name'] in ('aten::linear', 'aten::gelu', 'aten::layer_norm', 'aten::add', 'aten::transpose'):
            n += 1
            if row['bytes'] in want:
                want.remove(row['bytes'])
            else:
                problems.append('%s: %s bytes, the recorded types give %s' % (row['name'], row['bytes'], sorted(want, key=str)))
    result('%s: bytes of %d operators in f16' % (name, n), problems[:5] if n > 9 else ['only %d operators' % n])


def check_join(name, model, r, events):
    device = r['join']['imported']['device']
    want = device_ns(events, 'kernel', 'gpu_memcpy', 'gpu_memset')
    result(name + ': device time of the whole trace', [] if abs(device['imported_ns'] - want) < 1 else
           ['%.0f ns, the events have %.0f' % (device['imported_ns'], want)])
    parts = sum(device[k] for k in ('nodes_ns', 'groups_ns', 'buckets_ns', 'lost_ns'))
    result(name + ': device time is conserved', [] if abs(parts - device['imported_ns']) < 1 else [str(device)])
    least = SHARE.get(model) if name.endswith('.f32') else COMPILED[model] if name.endswith('.compile') else None
    if least is not None:
        share = r['join']['time_matched_fraction']
        result(name + ': time of nodes', [] if share >= least else ['%.4f, not %g' % (share, least)])
    if model in WHOLE or name == 'resnet50.b8.f16.compile':
        got, want = sum(row['macs'] or 0 for row in r['rows'] if row['nodes']), r['totals']['macs']
        result(name + ': all multiply-adds of the model have a row', [] if got == want else
               ['%d of %d' % (got, want)])
    if r['profile'][0]['runs_total'] == 0 and name.endswith('.f32'):
        macs = linear_macs(r), products(events)
        result(name + ': MACs of linear layers', [] if macs[0] == macs[1] > 0 else ['%d, the shapes give %d' % macs])


def check(trace):
    name = os.path.basename(trace)[:-len('.json.gz')]
    model = name.split('.')[0]
    with gzip.open(trace) as f:
        events = json.load(f)['traceEvents']
    path = unpacked(model)
    r = report(*path, '-p', trace) if path else report(trace)
    if 'error' in r:
        return result(name, [r['error']])
    profile = r['profile'][0]
    result(name + ': the device is named', [] if profile['device'] == 'NVIDIA H200' else [str(profile['device'])])
    result(name + ': no error', [d['text'] for d in r['diagnostics'] if d['severity'] == 'error'])
    if name.endswith('.compile'):
        check_compiled(name, trace, events)
    if path:
        if name == 'bert.b8.f16':
            check_bytes(name, model, trace)
        return check_join(name, model, r, events)
    check_zoo(name, name.split('.')[1], trace, events)
    check_without_ranges(name, name.split('.')[1], events)
    if profile['runs_total'] == 0:
        got, want = profile['device_time_ns'], device_ns(events, 'kernel')
        result(name + ': device time of operators', [] if abs(got - want) < 1 else
               ['%.0f ns, the kernels have %.0f' % (got, want)])
    return None


for trace in sorted(glob.glob(os.path.join(recordings, '*.json.gz'))):
    check(trace)
print('1..%d' % count)
