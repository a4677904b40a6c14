#!/usr/bin/env python3
"""Reports of the CUDA recordings of models/h200 against sums of the traces that are taken here a second time.

usage: cuda_recordings.py BINARY RECORDINGS WORK    prints TAP

Device time: of all events of kernels, copies and fills; without a model of the kernels, as copies are listed apart. Share of
it that the join gives to nodes: SHARE, where the exporter kept every operator; it folds batch normalizations into
convolutions, so that theirs have no node."""
import glob, gzip, json, math, os, subprocess, sys

binary, recordings, work = sys.argv[1:4]
SHARE = {'bert': 0.99, 'gpt2': 0.99, 'vit_b_16': 0.99, 'convnext_tiny': 0.99}
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
    return sum(r['macs'] or 0 for r in report_of['join']['rows'] if r['op_type'] == 'aten::linear')


def unpacked(model):
    """The file of the model; none for traces of the zoo, which tests/make_zoo.sh writes."""
    packed = os.path.join(recordings, model + '.onnx.gz')
    if not os.path.exists(packed):
        return []
    path = os.path.join(work, model + '.onnx')
    with gzip.open(packed) as f, open(path, 'wb') as out:
        out.write(f.read())
    return [path]


def check_join(name, model, r, events):
    device = r['join']['imported']['device']
    want = device_ns(events, 'kernel', 'gpu_memcpy', 'gpu_memset')
    result(name + ': device time of the whole trace', [] if abs(device['imported_ns'] - want) < 1 else
           ['%.0f ns, the events have %.0f' % (device['imported_ns'], want)])
    parts = sum(device[k] for k in ('nodes_ns', 'groups_ns', 'buckets_ns', 'lost_ns'))
    result(name + ': device time is conserved', [] if abs(parts - device['imported_ns']) < 1 else [str(device)])
    if model in SHARE and name.endswith('.f32'):
        share = r['join']['time_matched_fraction']
        result(name + ': time of nodes', [] if share >= SHARE[model] else ['%.4f, not %g' % (share, SHARE[model])])
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
    if path:
        return check_join(name, model, r, events)
    if profile['runs_total'] == 0:
        got, want = profile['device_time_ns'], device_ns(events, 'kernel')
        result(name + ': device time of operators', [] if abs(got - want) < 1 else
               ['%.0f ns, the kernels have %.0f' % (got, want)])
    return None


for trace in sorted(glob.glob(os.path.join(recordings, '*.json.gz'))):
    check(trace)
print('1..%d' % count)
