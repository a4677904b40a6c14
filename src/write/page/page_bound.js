/* Closed forms of the what-if panel ("live" of the data), and the lower bound of a run made from them. This is
 * oc_bound_time (estimate/bound.c, roofline.c) in the same order of operations, so that the results are equal;
 * tests/check_live.sh compares them. No DOM here: the tests run it in node. */
function polyAt(p, x) { /* BigInt; null: not an integer */
  let sum = 0n;
  for (let t = 1; t < p.length; t++) {
    let v = BigInt(p[t][0]);
    for (let k = 0; k < x.length; k++) for (let e = p[t][k + 1]; e > 0; e--) v *= x[k];
    sum += v;
  }
  const den = BigInt(p[0]);
  return sum < 0n || sum % den ? null : sum / den;
}
/* The outputs of a group at sizes x (numbers by variable): a function by class, or null where no closed form was found. */
function formsAt(run, polys, boxes, x) {
  if (x.some((v, k) => !Number.isInteger(v) || (v - run.vars[k].start) % run.vars[k].step)) return null;
  const box = boxes.find(b => x.every((v, k) => v >= b[2 * k] && v <= b[2 * k + 1]));
  if (!box) return null;
  const at = x.map(BigInt), known = new Map();
  const one = p => {
    if (!known.has(p)) known.set(p, polyAt(polys[p], at));
    return known.get(p);
  };
  return c => {
    const form = box[2 * x.length + c];
    if (!Array.isArray(form)) return one(form);
    const a = one(form[0]), b = one(form[1]);
    return (form[2] === 1) === (b < a) ? b : a; /* the smaller, or the larger */
  };
}
const TOTAL_NAMES = ["macs", "flops", "ops", "bytes_read_act", "bytes_read_weight", "bytes_written"];
function totalsAt(run, x) { /* BigInt by name, or null */
  const value = formsAt(run, run.polys, run.totals.boxes, x);
  if (!value) return null;
  const out = {};
  TOTAL_NAMES.forEach((name, i) => { out[name] = value(run.totals.outputs[i]); });
  return out;
}
function peakAt(run, x) { /* BigInt or null */
  const value = run.peak ? formsAt(run, run.peak.polys, run.peak.boxes, x) : null;
  return value ? value(0) : null;
}
const WORK_KINDS = ["macs", "flops", "special", "specialFlops"];
function workAt(live, part, value) {
  const [[bytes, weights, written, launches], also, ops, fewer] = part;
  const w = { bytes: Number(value(bytes)), weights: Number(value(weights)), written: Number(value(written)), launches: Number(value(launches)), also };
  for (const k of WORK_KINDS) w[k] = live.classes.map(() => 0n);
  for (const [kind, c, output] of ops) w[WORK_KINDS[kind]][c] += value(output);
  for (const [c, output, by] of fewer) w.macs[c] += BigInt(Math.floor(Number(value(output)) / by)); /* Winograd's algorithm */
  return w;
}
const FLOATS = ["f4", "f8", "f16", "bf16", "tf32", "f32"];
function knownType(d, name) { /* in which products in a float type without a peak run */
  const peak = n => Math.max(d.vector[n] || 0, d.matrix[n] || 0), from = FLOATS.indexOf(name);
  if (from < 0 || from + 1 === FLOATS.length || d.vector[name] !== undefined || d.matrix[name] !== undefined) return name;
  return FLOATS.reduce((best, n, k) => (k > from || name === "bf16" && n === "f16") && peak(n) > peak(best) ? n : best, name);
}
const knownMax = (a, b) => Number.isNaN(a) || b > a ? b : a;
function arithmeticTime(live, d, w) {
  const seconds = [0, 0, 0], units = [d.vector, d.matrix, d.special];
  let missing = false;
  const add = (unit, name, n) => {
    if (units[unit][name] === undefined) missing = true;
    else seconds[unit] += Number(n) / units[unit][name];
  };
  const tf32 = d.matrix.tf32 !== undefined && !(d.matrix.f32 > d.matrix.tf32);
  const macs = live.classes.map(() => 0n);
  live.classes.forEach((name, c) => { macs[live.classes.indexOf(knownType(d, name))] += w.macs[c]; });
  live.classes.forEach((name, c) => {
    if (macs[c]) add(name === "f32" && tf32 || d.matrix[name] !== undefined ? 1 : 0, name === "f32" && tf32 ? "tf32" : name, 2 * Number(macs[c]));
    if (w.flops[c]) add(0, name, w.flops[c]);
    if (d.special[name] !== undefined) { if (w.special[c]) add(2, name, w.special[c]); }
    else if (w.specialFlops[c]) add(0, name, w.specialFlops[c]);
  });
  return missing && seconds.every(s => s === 0) ? NaN : Math.max(...seconds);
}
function placeBytes(d, w, cache, constants) { /* by level: [bytes, written] */
  const last = d.levels.length - 1, level = d.levels.map(() => [0, 0]), size = i => d.levels[i][0] || 0;
  if (!cache) { level[last][0] = w.bytes; return level; }
  const atMost = (v, limit) => v < limit ? Math.floor(v) : limit;
  const fill = (bytes, written) => {
    for (let i = 0; i < last; i++) {
      const held = atMost(size(i) * (w.launches || 1), bytes);
      level[i][0] += held;
      if (written) level[i][1] += held;
      bytes -= held;
    }
    level[last][0] += bytes;
  };
  const first = w.launches > 1 ? Math.floor(w.weights / w.launches) : w.weights, all = Math.max(constants, first);
  let left = first;
  for (let i = 0; i < last && all; i++) {
    const held = atMost(first * (size(i) / all), left);
    level[i][0] += held;
    left -= held;
  }
  level[last][0] += left;
  fill(w.weights - first, false);
  fill(w.written, true);
  fill(Math.max(0, w.bytes - w.weights - w.written), false);
  return level;
}
function memoryTime(d, w, cache, constants) {
  if (!w.bytes) return 0;
  if (!d.levels.length) return NaN;
  let slowest = NaN;
  placeBytes(d, w, cache, constants).forEach(([bytes, written], i) => {
    if (!bytes) return;
    const dram = i + 1 === d.levels.length, bandwidth = d.levels[i][1];
    slowest = knownMax(slowest, bandwidth ? (dram ? bytes : Math.max(bytes - written, written)) / bandwidth : NaN);
  });
  return slowest;
}
function rooflineTime(live, d, w, cache, constants) { /* of one piece of work: [both, arithmetic, memory] in seconds; unknown counts as 0 */
  const comp = arithmeticTime(live, d, w), mem = memoryTime(d, w, cache, constants), s = knownMax(comp, mem);
  return [s, comp, mem].map(v => Number.isNaN(v) ? 0 : v);
}
function productsIn(live, w, name) {
  const macs = w.macs.slice(), to = live.classes.indexOf(name);
  live.integers.forEach((is, c) => { if (!is && c !== to) { macs[to] += macs[c]; macs[c] = 0n; } });
  return { ...w, macs };
}
const ALSO = ["i8", "f8", "f4"];
/* Lower bound of a run at sizes x, in a type (null: the model's), on a device: {s, compute, memory} in seconds; null: no closed
 * form; s NaN: the device has no figure for the work. compute, memory: sums over the kernels of either alone. */
function boundAt(live, run, type, d, x, cache = live.cache) {
  const law = run.types.find(t => t.type === type), value = law ? formsAt(run, run.polys, law.boxes, x) : null;
  if (!value) return null;
  const [stored, before, after] = law.constants.map(value);
  const constants = before ? Math.trunc(Number(stored < before ? stored : before) * (Number(after) / Number(before))) : 0;
  const all = workAt(live, law.all, value);
  all.weights += constants;
  all.bytes += constants;
  let sum = 0, compute = 0, memory = 0;
  const times = law.parts.map(p => {
    const w = workAt(live, p, value);
    if (cache && d.keeps) { w.bytes = w.weights; w.written = 0; } /* between products */
    let t = rooflineTime(live, d, w, cache, constants);
    ALSO.forEach((name, i) => {
      if (!(w.also >> i & 1) || (i || d.gpu) && d.vector[name] === undefined && d.matrix[name] === undefined) return;
      const u = rooflineTime(live, d, productsIn(live, w, name), cache, constants);
      if (u[0] < t[0]) t = u;
    });
    return t;
  });
  for (const i of law.order) {
    sum += times[i][0];
    compute += times[i][1];
    memory += times[i][2];
  }
  if (law.parts.some(p => p[1])) all.macs = all.macs.map(() => 0n); /* in which class each runs is open */
  const whole = rooflineTime(live, d, all, cache, constants);
  const s = Math.max(sum, whole[0]);
  return { s: s > 0 ? s : NaN, compute: Math.max(compute, whole[1]), memory: Math.max(memory, whole[2]) };
}
/* Bytes of the constants in memory: of a decoder in that type. */
const weightBytes = (live, type) => type && live.decoder ? live.decoder.weight_bytes[live.types.indexOf(type)] : live.const_bytes;
const energyAt = (d, s) => d.power_w * s; /* joules at the design power, as compare assumes it */
/* ---- decoders: prefill, then generate - 1 decode steps ---- */
const runOf = (live, name) => live.runs.find(r => r.run === name) || null;
const pastOfLast = at => at.prompt + (at.generate > 1 ? at.generate - 2 : 0);
/* Totals: {prefill, first, last}; each null where unknown. */
function decoderTotals(live, at) {
  const p = runOf(live, "prefill"), d = runOf(live, "decode");
  return {
    prefill: p ? totalsAt(p, [at.batch, at.prompt]) : null,
    first: d ? totalsAt(d, [at.batch, at.prompt]) : null,
    last: d ? totalsAt(d, [at.batch, pastOfLast(at)]) : null,
    peak: d ? peakAt(d, [at.batch, pastOfLast(at)]) : null,
  };
}
/* Lower bounds in seconds: all steps in ranges, each at the bound of its first step, as oc_llm_find_bounds. */
function decoderBounds(live, type, d, at) {
  const p = runOf(live, "prefill"), steps = runOf(live, "decode"), n = at.generate - 1;
  const step = past => { const b = steps ? boundAt(live, steps, type, d, [at.batch, past]) : null; return b ? b.s : NaN; };
  const prefill = p ? boundAt(live, p, type, d, [at.batch, at.prompt]) : null;
  const out = { prefill: prefill ? prefill.s : NaN, first: step(at.prompt), last: step(pastOfLast(at)), all: 0 };
  for (let i = 0; i < live.decoder.ranges; i++) {
    const from = Math.floor(n * i / live.decoder.ranges), to = Math.floor(n * (i + 1) / live.decoder.ranges);
    if (to > from) out.all += (to - from) * step(at.prompt + from);
  }
  out.whole = out.prefill + out.all;
  return out;
}
