#!/usr/bin/env python3
"""Makes the files of a fleet whose faults are known: recordings of two days, models of two days, ranks of one job. All
times come from seeded random numbers, so the files are the same on every machine.

usage: make_fleet.py traces FOLDER COUNT RECORDED...   MODEL.LEVEL.t1.json.gz to FOLDER/DAY/MACHINE/MODEL/MODEL.NUMBER.json.gz
       make_fleet.py days FOLDER                       FOLDER/DAY_1/*.onnx to FOLDER/DAY_2, some of them changed
       make_fleet.py ranks FOLDER COUNT                FOLDER/rankN.json.gz; FOLDER.expected: the slow ranks
"""
import gzip
import json
import os
import random
import sys

DAYS = '2026-03-02', '2026-03-03'
MACHINES = {'m1': 1.0, 'm2': 1.15, 'm3': 0.9, 'm4': 1.3, 'm5': 1.05}  # times of a machine over those of the recording
RUNS = 14  # 2 warm-up, 12 that count: 10 are the fewest for a verdict
# what became slower on the second day: model, machine (None: all), operator type (None: all), by how much
REGRESSIONS = (('mobilenetv2', None, 'Conv', 1.5), ('resnet50', 'm3', None, 1.35), ('resnet18', None, None, 1.03))


def write(path, text):
    """The same bytes every time: without the time of the compression."""
    with open(path, 'wb') as f, gzip.GzipFile(filename='', mode='wb', compresslevel=1, fileobj=f, mtime=0) as z:
        z.write(text.encode())


# ---- recordings of ONNX Runtime ------------------------------------------------------------------------------------

KEPT = ('op_name', 'provider', 'node_index', 'input_type_shape', 'output_type_shape')


def one_run(path):
    """Kernels of the second recorded run: (type, microseconds, text of the event without its times)."""
    events = json.load(gzip.open(path))
    start, length = sorted((e['ts'], e['dur']) for e in events if e['name'] == 'model_run')[1]
    kernels = []
    for e in events:
        if e['name'].endswith('_kernel_time') and start <= e['ts'] < start + length:
            args = {k: e['args'][k] for k in KEPT if k in e['args']}
            kernels.append((args['op_name'], e['dur'],
                            f'"cat":"Node","name":{json.dumps(e["name"])},"args":{json.dumps(args)}}}'))
    return kernels


def slowdown(model, machine, day, kind):
    factor = MACHINES[machine]
    for m, where, what, by in REGRESSIONS:
        if day == DAYS[1] and m == model and where in (None, machine) and what in (None, kind):
            factor *= by
    return factor


def recording(kernels, factor_of, rng):
    lines, at = [], 1000
    whole = rng.lognormvariate(0, 0.015)  # of this process
    for _ in range(RUNS):
        run, start = whole * rng.lognormvariate(0, 0.008), at
        at += 20
        inner = []
        for kind, us, text in kernels:
            us = max(1, round(us * factor_of[kind] * run * rng.lognormvariate(0, 0.02)))
            inner.append(f'{{"ph":"X","pid":1,"tid":1,"ts":{at},"dur":{us},{text}')
            at += us + 1
        at += 20
        lines.append(f'{{"ph":"X","pid":1,"tid":1,"ts":{start},"dur":{at - start},"cat":"Session","name":"model_run","args":{{}}}}')
        lines += inner
        at += 100
    return '[\n' + ',\n'.join(lines) + '\n]\n'


def make_traces(folder, count, recorded):
    models = {os.path.basename(p).split('.')[0]: one_run(p) for p in recorded}
    cells = [(day, machine, model) for day in DAYS for machine in MACHINES for model in models]
    for i in range(count):
        day, machine, model = cells[i % len(cells)]
        kernels = models[model]
        factor_of = {kind: slowdown(model, machine, day, kind) for kind, _, _ in kernels}
        inner = f'{folder}/{day}/{machine}/{model}'
        os.makedirs(inner, exist_ok=True)
        write(f'{inner}/{model}.{i // len(cells):03}.json.gz', recording(kernels, factor_of, random.Random(i)))


# ---- models of two days --------------------------------------------------------------------------------------------

def make_days(folder):
    """Of the second day every 200th model is cut, every 200th has an operator that is in no schema, every 300th is gone and
    another one is new; and some that were broken on the first day are whole on the second."""
    import onnx
    names = sorted(os.listdir(f'{folder}/{DAYS[0]}'))
    os.makedirs(f'{folder}/{DAYS[1]}')
    for i, name in enumerate(names):
        old, new = f'{folder}/{DAYS[0]}/{name}', f'{folder}/{DAYS[1]}/{name}'
        data = open(old, 'rb').read()
        if i % 200 == 7:
            open(new, 'wb').write(data[:len(data) * 2 // 3])
        elif i % 200 == 77:
            model = onnx.load_model_from_string(data)
            model.graph.node[len(model.graph.node) // 2].op_type = 'FusedByHand'
            model.graph.node[len(model.graph.node) // 2].domain = 'com.example'
            model.opset_import.append(onnx.helper.make_opsetid('com.example', 1))
            onnx.save(model, new)
        elif i % 300 == 11:
            os.link(old, f'{folder}/{DAYS[1]}/new.{name}')
        else:
            os.link(old, new)
        if i % 400 == 33:
            os.unlink(old)  # not the file of the second day
            open(old, 'wb').write(data[:100])


# ---- ranks of one job ----------------------------------------------------------------------------------------------

STEPS, LAYERS = 8, 4
SEQUENCE, LONG_SEQUENCE, WIDTH = 2048, 3072, 4096
SYNC_US, TRANSFER_US = 24000, 900  # a step takes SYNC_US unless the work and the transfer take longer


def layer(tokens):
    """(operator, kernel, shapes, microseconds on the usual rank)"""
    wide = [tokens, 4 * WIDTH]
    scale = tokens / SEQUENCE
    return (('aten::mm', 'sm80_xmma_gemm_f16f16_f16f32_f32_tn_n', [[tokens, WIDTH], [WIDTH, 4 * WIDTH]], 2100 * scale),
            ('aten::gelu', 'void at::native::vectorized_elementwise_kernel', [wide], 260 * scale),
            ('aten::mm', 'sm80_xmma_gemm_f16f16_f16f32_f32_tn_n', [wide, [4 * WIDTH, WIDTH]], 2150 * scale),
            ('aten::add', 'void at::native::vectorized_elementwise_kernel', [[tokens, WIDTH], [tokens, WIDTH]], 90 * scale))


class Rank:
    """What a rank does in all steps: how much slower its work is, by operator, and how long it waits for others."""

    def __init__(self, rng):
        self.rng, self.slower, self.late_us, self.tokens = rng, {}, 0, SEQUENCE
        self.self_speed = rng.lognormvariate(0, 0.006)

    def kernels(self):
        for _ in range(LAYERS):
            for operator, kernel, dims, us in layer(self.tokens):
                us *= self.self_speed * self.slower.get(operator, 1) * self.rng.lognormvariate(0, 0.006)
                yield operator, kernel, dims, max(1, round(us))

    def trace(self, number, world):
        events, at, external = [], 1000, 0

        def put(operator, kernel, dims, host_at, device_at, us):
            args = {'External id': external}
            if dims:
                args |= {'Input Dims': dims, 'Input type': ['c10::Half'] * len(dims)}
            link = {'External id': external, 'correlation': external}
            events.append({'ph': 'X', 'cat': 'cpu_op', 'name': operator, 'pid': 1, 'tid': 1, 'ts': host_at, 'dur': 20, 'args': args})
            events.append({'ph': 'X', 'cat': 'cuda_runtime', 'name': 'cudaLaunchKernel', 'pid': 1, 'tid': 1, 'ts': host_at + 5,
                           'dur': 5, 'args': link})
            events.append({'ph': 'X', 'cat': 'kernel', 'name': kernel, 'pid': 0, 'tid': 7, 'ts': device_at, 'dur': us,
                           'args': link | {'device': 0, 'stream': 7}})
        for step in range(STEPS):
            host, device, begin = at + 10, at + 40, at
            for operator, kernel, dims, us in self.kernels():
                external += 1
                put(operator, kernel, dims, host, device, us)
                host, device = host + 30, device + us + 2
            external += 1
            wait = max(TRANSFER_US, SYNC_US - (device - begin)) + round(self.late_us * self.rng.lognormvariate(0, 0.1))
            put('c10d::allreduce_', 'ncclDevKernel_AllReduce_Sum_f16_RING_LL', None, host, device, wait)
            at = device + wait + 20
            events.append({'ph': 'X', 'cat': 'user_annotation', 'name': f'ProfilerStep#{step}', 'pid': 1, 'tid': 1, 'ts': begin,
                           'dur': at - begin})
            at += 10
        return json.dumps({'schemaVersion': 1, 'deviceProperties': [{'id': 0, 'name': 'NVIDIA A100-SXM4-40GB'}],
                           'distributedInfo': {'backend': 'nccl', 'rank': number, 'world_size': world}, 'traceEvents': events})


def make_ranks(folder, count):
    """3 ranks are slower for the same work, which their shorter wait hides; 5 wait for others, which makes their steps
    the longest; 4 have longer sequences, so more work."""
    chosen = random.Random(1).sample(range(count), 12)
    ranks = [Rank(random.Random(i)) for i in range(count)]
    ranks[chosen[0]].slower = {'aten::mm': 1.12}  # a lower clock
    ranks[chosen[1]].slower = {'aten::gelu': 2.5, 'aten::add': 2.5}  # a slower memory
    ranks[chosen[2]].slower = {name: 1.1 for name in ('aten::mm', 'aten::gelu', 'aten::add')}  # both
    for i in chosen[3:8]:
        ranks[i].late_us = 9000
    for i in chosen[8:]:
        ranks[i].tokens = LONG_SEQUENCE
    os.makedirs(folder, exist_ok=True)
    for i, rank in enumerate(ranks):
        write(f'{folder}/rank{i}.json.gz', rank.trace(i, count))
    with open(f'{folder}.expected', 'w') as f:
        for title, some in (('slower', chosen[:3]), ('waiting', chosen[3:8]), ('longer', chosen[8:])):
            print(title, *sorted(some), file=f)


if __name__ == '__main__':
    if sys.argv[1] == 'traces':
        make_traces(sys.argv[2], int(sys.argv[3]), sys.argv[4:])
    elif sys.argv[1] == 'days':
        make_days(sys.argv[2])
    else:
        make_ranks(sys.argv[2], int(sys.argv[3]))
