"""Random graphs with loops, branches and local functions, and an interpreter that executes them and counts
multiply-accumulates. Compares the program's MACs: equal where it claims exact ones, not less than the truth where
it claims an upper bound, not more where it claims a lower one, never refused.

usage: random_control_flow.py ONNXCOST FOLDER FIRST COUNT
"""
import gzip
import json
import os
import random
import subprocess
import sys

import numpy as np
from onnx import TensorProto, helper, numpy_helper

INT64_MAX = 2**63 - 1


# ---- interpreter: executes a graph on arrays; counts MACs and executions of nodes -----------------------------
class Run:
    def __init__(self, model):
        self.functions = {(f.domain, f.name): f for f in model.functions}
        self.macs = 0
        self.events = []  # (name, op type, begin, end)
        self.clock = 0
        self.prefix = ['']  # of node names in the body of a local function, as ONNX Runtime expands it

    def graph(self, graph, env):
        env = dict(env)
        for t in graph.initializer:
            env[t.name] = numpy_helper.to_array(t)
        for node in graph.node:
            self.node(node, env)
        return [env[o.name] for o in graph.output]

    def node(self, node, env):
        begin = self.clock
        self.clock += 2
        get = [env[i] if i else None for i in node.input]
        attr = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        f = self.functions.get((node.domain, node.op_type))
        if f is not None:
            out = self.call(f, get)
        else:
            out = getattr(self, 'op_' + node.op_type)(get, attr, env)
        for name, value in zip(node.output, out):
            env[name] = value
        self.clock += 10
        if f is None and node.op_type not in ('Constant', 'Identity'):
            self.events.append((self.prefix[-1] + node.name, node.op_type, begin, self.clock))

    def call(self, f, get):
        env = dict(zip(f.input, get))
        self.prefix.append(f'_inlfunc_{f.name}_')
        for node in f.node:
            self.node(node, env)
        self.prefix.pop()
        return [env[o] for o in f.output]

    # products: MACs from the shapes of the operands alone
    def op_MatMul(self, x, a, env):
        r = np.matmul(x[0], x[1])
        self.macs += r.size * x[0].shape[-1]
        return [r]

    def op_Gemm(self, x, a, env):
        w = x[1].T if a.get('transB') else x[1]
        r = x[0] @ w + x[2]
        self.macs += r.shape[0] * r.shape[1] * x[0].shape[1]
        return [r]

    def op_Conv(self, x, a, env):  # [1,1,h,w] with a 3x3 kernel, padding 1
        h, w = x[0].shape[2:]
        p = np.pad(x[0][0, 0], 1)
        r = sum(p[i:i + h, j:j + w] * x[1][0, 0, i, j] for i in range(3) for j in range(3))
        self.macs += h * w * 9
        return [r.reshape(1, 1, h, w)]

    def op_If(self, x, a, env):
        return self.graph(a['then_branch' if bool(x[0]) else 'else_branch'], env)

    def op_Loop(self, x, a, env):
        body, limit = a['body'], None if x[0] is None else int(x[0])
        go, state = True if x[1] is None else bool(x[1]), list(x[2:])
        n = len(state)
        rows = [[] for _ in body.output[1 + n:]]
        trip = 0
        while go and (limit is None or trip < limit):
            inner = dict(env)
            names = [i.name for i in body.input]
            inner.update(zip(names, [np.int64(trip), np.bool_(go)] + state))
            r = self.graph(body, inner)
            go, state = bool(r[0]), r[1:1 + n]
            for k, v in enumerate(r[1 + n:]):
                rows[k].append(v)
            trip += 1
            assert trip < 100000
        return state + [np.stack(v) if v else np.zeros((0,), np.float32) for v in rows]

    def op_Scan(self, x, a, env):
        body, n_scan = a['body'], a['num_scan_inputs']
        n = len(x) - n_scan
        state, rows = list(x[:n]), [[] for _ in body.output[n:]]
        for t in range(x[n].shape[0]):
            inner = dict(env)
            inner.update(zip([i.name for i in body.input], state + [s[t] for s in x[n:]]))
            r = self.graph(body, inner)
            state = r[:n]
            for k, v in enumerate(r[n:]):
                rows[k].append(v)
        return state + [np.stack(v) for v in rows]

    def op_Constant(self, x, a, env):
        return [numpy_helper.to_array(a['value'])]

    def op_Identity(self, x, a, env):
        return [x[0]]

    def op_Relu(self, x, a, env):
        return [np.maximum(x[0], 0)]

    def op_Add(self, x, a, env):
        return [x[0] + x[1]]

    def op_Sub(self, x, a, env):
        return [x[0] - x[1]]

    def op_Mul(self, x, a, env):
        return [x[0] * x[1]]

    def op_Mod(self, x, a, env):
        return [np.mod(x[0], x[1])]

    def op_Tanh(self, x, a, env):
        return [np.tanh(x[0])]

    def op_Less(self, x, a, env):
        return [np.asarray(x[0] < x[1])]

    def op_LessOrEqual(self, x, a, env):
        return [np.asarray(x[0] <= x[1])]

    def op_Greater(self, x, a, env):
        return [np.asarray(x[0] > x[1])]

    def op_Equal(self, x, a, env):
        return [np.asarray(x[0] == x[1])]

    def op_And(self, x, a, env):
        return [np.logical_and(x[0], x[1])]

    def op_Not(self, x, a, env):
        return [np.logical_not(x[0])]

    def op_ReduceSum(self, x, a, env):
        return [np.asarray(np.sum(x[0]), np.float32)]

    def op_Concat(self, x, a, env):
        return [np.concatenate(x, axis=a['axis'])]

    def op_Reshape(self, x, a, env):
        return [np.reshape(x[0], [int(v) for v in x[1]])]

    def op_Transpose(self, x, a, env):
        return [np.transpose(x[0], a['perm'])]

    def op_Shape(self, x, a, env):
        return [np.asarray(x[0].shape, np.int64)]

    def op_Gather(self, x, a, env):
        return [np.take(x[0], x[1], axis=a.get('axis', 0))]

    def op_ReduceMean(self, x, a, env):
        return [np.mean(x[0], axis=tuple(a['axes']), keepdims=bool(a['keepdims'])).astype(np.float32)]


# ---- generator -----------------------------------------------------------------------------------------------
class Graph:
    """A model of random blocks over a state float[rows, 8]; rows may grow in loops."""

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.n = 0
        self.inputs, self.feed = [], {}
        self.functions = []
        self.open = False      # a condition or a trip count is known at run time only
        self.scopes = []       # lists of nodes under construction
        self.called_twice = False

    def name(self, what):
        self.n += 1
        return f'{what}{self.n}'

    def add(self, op, inputs, n_out=1, domain='', **attr):
        name = self.name(op.lower() + '_')
        out = [f'{name}.{i}' for i in range(n_out)]
        self.scopes[-1].append(helper.make_node(op, inputs, out, name=name, domain=domain, **attr))
        return out[0] if n_out == 1 else out

    def const(self, value, dtype=np.int64):
        a = np.asarray(value, dtype)
        return self.add('Constant', [], value=numpy_helper.from_array(a, ''))

    def weight(self, *shape):
        return self.const(np.random.RandomState(self.r.randrange(1 << 30)).uniform(-.4, .4, shape), np.float32)

    def input(self, value, dtype):
        name = self.name('in')
        a = np.asarray(value, dtype)
        self.inputs.append(helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(a.dtype) if hasattr(helper, 'np_dtype_to_tensor_dtype')
            else {'int64': TensorProto.INT64, 'bool': TensorProto.BOOL, 'float32': TensorProto.FLOAT}[a.dtype.name],
            list(a.shape)))
        self.feed[name] = a
        return name

    def body(self, inputs, build):
        """A graph with these (name, type, shape) inputs; build returns its outputs as (name, type, shape)."""
        self.scopes.append([])
        outputs = build()
        nodes = self.scopes.pop()
        info = helper.make_tensor_value_info
        return helper.make_graph(nodes, self.name('body'), [info(*i) for i in inputs], [info(*o) for o in outputs])

    # blocks: float[rows, 8] to the same shape
    def matmul(self, x, it, depth):
        wide = self.r.choice([4, 8, 16])
        return self.add('MatMul', [self.add('MatMul', [x, self.weight(8, wide)]), self.weight(wide, 8)])

    def gemm(self, x, it, depth):
        return self.add('Gemm', [x, self.weight(8, 8), self.weight(8)], transB=self.r.randrange(2))

    def conv(self, x, it, depth):
        y = self.add('Reshape', [x, self.add('Concat', [self.const([1, 1]), self.add('Shape', [x])], axis=0)])
        y = self.add('Conv', [y, self.weight(1, 1, 3, 3)], kernel_shape=[3, 3], pads=[1, 1, 1, 1])
        return self.add('Reshape', [y, self.add('Shape', [x])])

    def gram(self, x, it, depth):  # work that is quadratic in rows
        y = self.add('MatMul', [x, self.add('Transpose', [x], perm=[1, 0])])
        return self.add('Tanh', [self.add('MatMul', [y, x])])

    def element(self, x, it, depth):
        return self.add(self.r.choice(['Relu', 'Tanh', 'Identity']), [x])

    def condition(self, x, it):
        kind = self.r.choice(['const', 'input', 'data'] + ['trip', 'odd', 'both'] * (it is not None))
        if kind == 'const':
            return self.const(self.r.random() < .5, np.bool_)
        if kind == 'trip':
            return self.add(self.r.choice(['Less', 'LessOrEqual', 'Greater']), [it, self.const(self.r.randrange(5))])
        if kind == 'odd':
            return self.add('Equal', [self.add('Mod', [it, self.const(2)]), self.const(0)])
        if kind == 'both':
            low = self.add('Greater', [it, self.const(0)])
            return self.add('And', [low, self.add('Less', [it, self.const(self.r.randrange(1, 6))])])
        self.open = True
        if kind == 'input':
            return self.input(self.r.random() < .5, np.bool_)
        return self.add('Greater', [self.add('ReduceSum', [x], keepdims=0), self.const(0, np.float32)])

    def branch(self, x, it, depth):
        shape = [None, 8]
        def build(empty):
            y = self.element(x, it, depth) if empty else self.blocks(x, it, depth + 1)
            return [(y, TensorProto.FLOAT, shape)]
        condition = self.condition(x, it)
        return self.add('If', [condition], then_branch=self.body([], lambda: build(False)),
                        else_branch=self.body([], lambda: build(self.r.random() < .4)))

    def loop(self, x, it, depth):
        kind = self.r.choice(['for', 'for', 'for_it', 'while', 'counter', 'double', 'down', 'input', 'limit', 'data', 'none'])
        if kind == 'for_it' and it is None:
            kind = 'for'
        n = self.r.randrange(0, 7)
        limit, go, states = '', '', [x]
        if kind in ('for', 'data', 'limit'):
            limit = self.const(n + (self.r.randrange(20) if kind == 'limit' else 0))
        elif kind == 'for_it':  # as many trips as the enclosing loop has done
            limit = self.add('Add', [it, self.const(self.r.randrange(2))])
        elif kind == 'input':
            self.open, limit = True, self.input(n, np.int64)
        elif kind in ('while', 'down') or self.r.random() < .3:
            limit = self.const(INT64_MAX)
        if kind == 'none':
            go = self.const(False, np.bool_)
        if kind == 'counter':
            states.append(self.const(self.r.randrange(3)))
        if kind in ('double', 'down'):
            states.append(self.const(1 if kind == 'double' else n))
        end = self.const(n)
        if kind == 'limit':
            self.open, end = True, self.input(n, np.int64)
        tail = self.name('b')
        t, c, s = f'i{tail}', f'c{tail}', [f's{k}{tail}' for k in range(len(states))]
        grow = self.r.random() < .25

        def build():
            y = self.blocks(s[0], t, depth + 1)
            if grow:
                y = self.add('Concat', [y, self.weight(self.r.randrange(1, 3), 8)], axis=0)
            out, more = [(y, TensorProto.FLOAT, [None, 8])], self.add('Identity', [c])
            if kind == 'while' or kind == 'limit':
                more = self.add('Less', [t, end])
            if kind == 'data':
                self.open = True
                more = self.add('Less', [self.add('ReduceSum', [y], keepdims=0), self.const(1, np.float32)])
            if kind in ('counter', 'double', 'down'):
                step = {'counter': ['Add', self.r.randrange(1, 4)], 'double': ['Mul', 2], 'down': ['Sub', 1]}[kind]
                v = self.add(step[0], [s[1], self.const(step[1])])
                more = self.add('Greater', [v, self.const(0)]) if kind == 'down' else \
                    self.add('Not', [self.add('Greater', [v, end])])
                out.append((v, TensorProto.INT64, []))
            rows = self.add('ReduceMean', [y], axes=[0], keepdims=0)
            return [(more, TensorProto.BOOL, [])] + out + [(rows, TensorProto.FLOAT, [8])]

        info = [(t, TensorProto.INT64, []), (c, TensorProto.BOOL, []), (s[0], TensorProto.FLOAT, [None, 8])]
        info += [(k, TensorProto.INT64, []) for k in s[1:]]
        graph = self.body(info, build)
        out = self.add('Loop', [limit, go] + states, 2 + len(s) - 1, body=graph)
        return out[0]

    def scan(self, x, it, depth):
        s, e = self.name('s'), self.name('e')
        def build():
            y = self.blocks(s, None, depth + 1)
            return [(self.add('Add', [y, e]), TensorProto.FLOAT, [None, 8]),
                    (self.add('Relu', [e]), TensorProto.FLOAT, [8])]
        graph = self.body([(s, TensorProto.FLOAT, [None, 8]), (e, TensorProto.FLOAT, [8])], build)
        return self.add('Scan', [x, self.weight(self.r.randrange(1, 5), 8)], 2, body=graph, num_scan_inputs=1)[0]

    def call(self, x, it, depth):
        f = self.name('Block')
        self.scopes.append([])
        y = self.blocks('x', None, depth + 1)
        nodes = self.scopes.pop()
        opset = [helper.make_opsetid('', 16), helper.make_opsetid('local', 1)]
        captured = [i.name for i in self.inputs]
        self.functions.append(helper.make_function('local', f, ['x'] + captured, [y], nodes, opset))
        y = self.add(f, [x] + captured, domain='local')
        if self.r.random() < .5:
            return y
        self.called_twice = True
        return self.add(f, [y] + captured, domain='local')

    def blocks(self, x, it, depth):
        flat = [self.matmul, self.gemm, self.conv, self.gram, self.element]
        nested = [self.branch, self.loop, self.loop, self.scan, self.call] if depth <= 2 else []
        for _ in range(self.r.randrange(1, 3 if depth else 5)):
            x = self.r.choice(nested if nested and self.r.random() < .55 else flat)(x, it, depth)
        return x

    def model(self):
        self.scopes.append([])
        rows = self.r.randrange(1, 6)
        x = self.input(np.random.RandomState(self.r.randrange(1 << 30)).uniform(-1, 1, (rows, 8)), np.float32)
        y = self.add('Identity', [self.blocks(self.loop(x, None, 0) if self.r.random() < .8 else x, None, 0)])
        graph = helper.make_graph(self.scopes.pop(), 'main', self.inputs,
                                  [helper.make_tensor_value_info(y, TensorProto.FLOAT, [None, 8])])
        return helper.make_model(graph, functions=self.functions, ir_version=8, opset_imports=[
            helper.make_opsetid('', 16), helper.make_opsetid('local', 1)])


# ---- comparison ------------------------------------------------------------------------------------------------
def write_profile(path, run):
    """The trace that ONNX Runtime writes: an event for each execution of a node, the enclosing one last."""
    event = lambda name, begin, end, cat, args: {
        'cat': cat, 'pid': 1, 'tid': 1, 'ts': begin, 'dur': end - begin, 'ph': 'X', 'name': name, 'args': args}
    all_ = [event('session_initialization', 0, 1, 'Session', {})]
    offset = 10
    for name, op, begin, end in run.events:
        all_.append(event(name + '_kernel_time', begin + offset, end + offset, 'Node', {
            'op_name': op, 'provider': 'CPUExecutionProvider'}))
    all_.append(event('model_run', offset - 1, run.clock + offset + 1, 'Session', {}))
    with gzip.open(path, 'wt') as f:
        json.dump(all_, f)


def totals(program, args):
    p = subprocess.run([program, *args, '-f', 'json'], capture_output=True, text=True)
    if p.returncode not in (0, 1):
        return None, (p.stderr.strip() or f'exit code {p.returncode}')
    return json.loads(p.stdout)['totals'], ''


def check(title, program, args, truth, wanted, tally):
    t, why = totals(program, args)
    if t is None:
        return [f'{title}: refused: {why}']
    quality, macs = t['quality'], t['macs']
    tally[quality] = tally.get(quality, 0) + 1
    if macs is None: # a lower bound of 0 says nothing
        macs = 0 if quality == 'lower' else -1
    wrong = {'exact': macs != truth, 'upper': macs < truth, 'lower': macs > truth}.get(quality, False)
    if wrong:
        return [f'{title}: {quality} {macs}, executed {truth}']
    if wanted and quality != wanted:
        return [f'{title}: {quality} {macs}, not {wanted}; executed {truth}']
    return []


def summary(tally):
    return ', '.join(f'{tally[k]} {k}' for k in sorted(tally))


def main():
    program, folder, first, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    problems, plain, measured = [], {}, {}
    for seed in range(first, first + count):
        g = Graph(seed)
        model = g.model()
        run = Run(model)
        run.graph(model.graph, g.feed)
        path = os.path.join(folder, f'{seed}.onnx')
        with open(path, 'wb') as f:
            f.write(model.SerializeToString())
        write_profile(path + '.json.gz', run)
        problems += check(f'seed {seed}', program, [path], run.macs, None if g.open else 'exact', plain)
        if not run.events or g.called_twice:  # tokens make the names of a second call unique
            continue
        problems += check(f'seed {seed} with its profile', program, [path, '-p', path + '.json.gz'], run.macs, None,
                          measured)
    # a claim of everything as "est" would pass the comparisons
    if count >= 50 and (plain.get('est', 0) > .35 * count or measured.get('exact', 0) < .7 * sum(measured.values())):
        problems.append('too few numbers are exact or bounds')
    print(f'# {count} graphs; model alone: {summary(plain)}; with a profile: {summary(measured)}')
    print('\n'.join(problems), end='')


if __name__ == '__main__':
    main()
