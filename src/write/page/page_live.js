/* The what-if panel: sizes, device and data type of the reader's choice. Every figure comes from the closed forms
 * (page_bound.js); where there is none, the figure is unknown. */
const LIVE = D.live && D.live.runs.length ? D.live : null;
const liveDefault = () => {
  const at = {};
  if (LIVE.decoder) for (const k of ["batch", "prompt", "generate"]) at[k] = LIVE.decoder[k];
  else for (const v of LIVE.runs[0].vars) at[v.name] = v.start;
  return at;
};
/* The sizes that a control offers, and its limits: those of the boxes. */
function liveRange(name) {
  if (name === "generate") return { from: 1, to: 4096, step: 1, start: LIVE.decoder.generate };
  const run = LIVE.runs.find(r => r.vars.some(v => v.name === name)), k = run.vars.findIndex(v => v.name === name), { start, step } = run.vars[k];
  const boxes = run.types.flatMap(t => t.boxes);
  return { from: Math.min(start, ...boxes.map(b => b[2 * k])), to: Math.max(start, ...boxes.map(b => b[2 * k + 1])), step, start };
}
function liveValues({ from, to, step, start }) {
  const list = [from, to, start];
  for (let p = 1; p <= to; p *= 2) for (const v of [p, 1.5 * p]) list.push(start + Math.round((v - start) / step) * step);
  return [...new Set(list)].filter(v => v >= from && v <= to).sort((a, b) => a - b);
}
/* The setting from the URL: sizes outside of the limits are clamped to them. */
function liveSetting() {
  const at = liveDefault();
  for (const k in at) {
    const r = liveRange(k), v = Number(S.live[k]);
    if (S.live[k] && Number.isFinite(v)) at[k] = Math.min(r.to, Math.max(r.from, r.start + Math.round((v - r.start) / r.step) * r.step));
  }
  const device = LIVE.devices.find(d => d.id === S.live.device) || (D.hardware && S.live.device !== "none" ? LIVE.devices[0] : null);
  const type = LIVE.types.includes(S.live.type) ? S.live.type : null, other = device ? LIVE.devices.find(d => d.id === S.live.with) || null : null;
  return { at, device, other, type };
}
const liveSizes = at => LIVE.runs[0].vars.map(v => at[v.name]);
const liveMemory = d => d.levels.length ? d.levels[d.levels.length - 1][0] : null;
/* The run whose rate is shown: a run of the model, or the last decode step. */
function liveRateAt({ at, device, type }) {
  const run = LIVE.decoder ? runOf(LIVE, "decode") : LIVE.runs[0];
  return run ? boundAt(LIVE, run, type, device, LIVE.decoder ? [at.batch, pastOfLast(at)] : liveSizes(at)) : null;
}
const liveBatch = () => LIVE.decoder ? "batch" : (LIVE.runs[0].vars.find(v => /batch|^n$/i.test(v.name)) || {}).name;
/* Tokens of one sequence in a run; null: the model has no sequence. */
function liveTokens(at) {
  if (LIVE.decoder) return 1;
  const v = LIVE.runs[0].vars.find(x => /^(seq|sequence|sequence_length|seq_len|tokens)$/i.test(x.name));
  return v ? at[v.name] : null;
}
/* The smallest batch in which arithmetic takes at least as long as memory: a batch, 0: none up to the limit, null: unknown. */
function liveRidge(setting) {
  const name = liveBatch(), r = liveRange(name);
  const isCompute = v => {
    const b = liveRateAt({ ...setting, at: { ...setting.at, [name]: v } });
    return b && b.compute > 0 && b.memory > 0 ? b.compute >= b.memory : null;
  };
  let low = r.from, is = isCompute(low);
  if (is !== false) return is === null ? null : low;
  for (const high of liveValues(r)) {
    if (high <= low) continue;
    is = isCompute(high);
    if (is === null) return null;
    if (!is) { low = high; continue; }
    let a = low, b = high;
    while (b - a > r.step) {
      const middle = a + Math.max(1, Math.floor((b - a) / r.step / 2)) * r.step;
      if (isCompute(middle)) b = middle; else a = middle;
    }
    return b;
  }
  return 0;
}
/* [title, text, tooltip] */
function liveCounts({ at }) {
  const t = LIVE.decoder ? decoderTotals(LIVE, at) : { first: totalsAt(LIVE.runs[0], liveSizes(at)), peak: peakAt(LIVE.runs[0], liveSizes(at)) };
  const mark = MARK[qualityNo(LIVE.quality) % 4], out = [];
  const figure = (title, kind, v) => out.push([title, v === null ? UNKNOWN : mark + human(kind, v), v === null ? "no closed form at these sizes" : exact(kind, String(v))]);
  const moved = c => c && c.bytes_read_act + c.bytes_read_weight + c.bytes_written;
  const all = (c, word) => {
    figure("MACs" + word, "si", c && c.macs);
    figure("FLOPs" + word, "si", c && c.flops + c.ops);
    figure("Bytes moved, unfused" + word, "bytes", moved(c));
  };
  if (LIVE.decoder) { all(t.prefill, ", prefill"); all(t.last, ", last decode step"); } else all(t.first, "");
  out.push(["Parameters", human("si", LIVE.params), exact("si", LIVE.params)]);
  return { out, peak: t.peak };
}
function liveTimes(setting) {
  const { at, device, type } = setting, out = [], ns = s => s === null || Number.isNaN(s) ? UNKNOWN : "≥" + time(s * 1e9);
  const rate = v => Number.isFinite(v) && v > 0 ? "≤" + si(v, "/s") : UNKNOWN;
  const tip = s => s === null ? "no closed form at these sizes" : Number.isNaN(s) ? "the device file has no figure for this work" : exact("time", s * 1e9);
  const item = (title, s) => out.push([title, ns(s), tip(s)]);
  const energy = (what, s) => {
    if (device.power_w) out.push(["Energy" + what + ", at the design power", s > 0 ? si(energyAt(device, s), "J") : UNKNOWN, "design power (TDP) of " + si(device.power_w, "W") + " during the lower bound of the time; the device only"]);
  };
  if (LIVE.decoder) {
    const b = decoderBounds(LIVE, type, device, at);
    item("Prefill (TTFT)", b.prefill);
    item("Decode step, first", b.first);
    item("Decode step, last", b.last);
    item("End to end", b.whole);
    out.push(["Tokens, decode", rate(at.batch * (at.generate - 1) / b.all), "upper bound, all sequences"]);
    energy(" of a token, decode", b.all / (at.batch * (at.generate - 1)));
    return out;
  }
  const b = liveRateAt(setting), batch = liveBatch(), tokens = liveTokens(at);
  item("Lower bound of the latency, any fusion", b ? b.s : null);
  if (batch) out.push(["Inferences", rate(b ? at[batch] / b.s : NaN), "upper bound"]);
  if (tokens) out.push(["Tokens", rate(b ? (batch ? at[batch] : 1) * tokens / b.s : NaN), "upper bound"]);
  energy(" of a run", b ? b.s : null);
  return out;
}
function liveBalance(setting) {
  const b = liveRateAt(setting), name = liveBatch(), what = LIVE.decoder ? "The last decode step" : "The run";
  if (!b || Number.isNaN(b.s)) return "";
  const side = b.compute >= b.memory ? "arithmetic" : "memory bandwidth";
  const text = [what + " is bound by " + side + ": its kernels need at least " + time(b.compute * 1e9) + " of arithmetic and " + time(b.memory * 1e9) + " of memory traffic."];
  if (name) {
    const ridge = liveRidge(setting), most = liveRange(name).to;
    text.push(ridge === null ? "" : ridge ? "Arithmetic takes longer than memory traffic from " + name + " " + grouped(ridge) + " on." : "Memory traffic takes longer than arithmetic up to " + name + " " + grouped(most) + ".");
  }
  return text.join(" ").trim();
}
/* Memory of a run against the device's: a meter. */
function liveMemoryView({ at, device, type }, peak) {
  const constants = BigInt(weightBytes(LIVE, type)), need = peak === null ? null : peak + constants, has = device ? liveMemory(device) : null;
  const parts = [];
  const kv = LIVE.decoder && LIVE.decoder.kv_bytes_per_token !== null ? BigInt(LIVE.decoder.kv_bytes_per_token) * BigInt(at.batch) * BigInt(at.prompt + at.generate - 1) : null;
  parts.push("constants " + bytes(Number(constants)), peak === null ? "activations unknown: no closed form at these sizes" : "activations at the peak " + bytes(Number(peak)));
  if (kv !== null) parts.push("KV cache at the end " + bytes(Number(kv)));
  if (type) parts.push(LIVE.decoder ? "activations in the model's data types" : "in the model's data types");
  const words = need === null ? "Memory: unknown" : "Memory: " + bytes(Number(need)) + (has ? " of " + bytes(has) + " of " + device.name + ", " + (Number(need) <= has ? "fits" : "does not fit") : "");
  const bar = need !== null && has ? el("div", { class: "meter" + (Number(need) > has ? " over" : ""), role: "img", "aria-label": words }, el("span", { style: { width: Math.min(100, 100 * Number(need) / has) + "%" } })) : null;
  return [el("p", null, el("b", null, words), " (" + parts.join(", ") + ")"), bar];
}
/* Points of the chart: [batch, rate, whether it is the present batch]. */
function liveCurve(setting, name) {
  const points = [], rate = v => {
    const at = { ...setting.at, [name]: v }, b = liveRateAt({ ...setting, at });
    if (b && b.s > 0) points.push([v, v * (liveTokens(at) || 1) / b.s, v === setting.at[name]]);
  };
  for (const v of new Set([...liveValues(liveRange(name)), setting.at[name]])) rate(v);
  return points.sort((a, b) => a[0] - b[0]);
}
/* Rate over batch, which has a logarithmic axis, of one or two devices. */
function liveChart(setting) {
  const name = liveBatch(), W = 420, H = 190, L = 58, R = 12, T = 14, B = 34;
  if (!name) return [];
  const unit = liveTokens(setting.at) ? "tokens/s" : "inferences/s";
  const curves = [setting.device, setting.other].filter(Boolean).map(d => [d, liveCurve({ ...setting, device: d }, name)]).filter(c => c[1].length > 1);
  if (!curves.length) return [];
  const svg = (tag, attrs, ...children) => {
    const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const k in attrs) e.setAttribute(k, attrs[k]);
    e.append(...children);
    return e;
  };
  const all = curves.flatMap(c => c[1]), most = Math.max(...all.map(p => p[1])), from = Math.min(...all.map(p => p[0])), to = Math.max(...all.map(p => p[0]));
  const x = v => L + (W - L - R) * Math.log(v / from) / Math.log(to / from), y = v => H - B - (H - T - B) * v / most;
  const label = (px, py, text, anchor) => svg("text", { x: px, y: py, "text-anchor": anchor }, text);
  const words = ([d, points]) => d.name + ": at most " + points.filter((p, i) => i % 4 === 0 || p[2]).map(p => si(p[1]) + " " + unit + " at " + name + " " + p[0]).join(", ");
  const chart = svg("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": curves.map(words).join("; ") },
    svg("line", { x1: L, x2: W - R, y1: H - B, y2: H - B, class: "axis" }), svg("line", { x1: L, x2: L, y1: T, y2: H - B, class: "axis" }),
    label(L - 6, T + 4, si(most), "end"), label(L - 6, H - B, "0", "end"),
    label(L, H - B + 14, grouped(from), "middle"), label(W - R, H - B + 14, grouped(to), "end"), label((L + W - R) / 2, H - 4, name + "; at most " + unit, "middle"));
  curves.forEach(([d, points], i) => {
    chart.append(svg("polyline", { points: points.map(p => x(p[0]).toFixed(1) + "," + y(p[1]).toFixed(1)).join(" "), class: i ? "curve other" : "curve" }));
    for (const p of points) {
      const dot = svg("circle", { cx: x(p[0]), cy: y(p[1]), r: p[2] ? 5 : 2.5, class: p[2] ? "now" : i ? "dot other" : "dot" });
      dot.append(svg("title", {}, name + " " + grouped(p[0]) + ": at most " + si(p[1]) + " " + unit + " on " + d.name));
      chart.append(dot);
    }
  });
  return [chart, curves.length > 1 ? el("div", { class: "legend" }, curves.map(([d], i) => el("span", null, el("i", { class: i ? "other" : null }), d.name))) : null];
}
function liveControl(name, set) {
  const range = liveRange(name), values = liveValues(range), id = "live-" + name.replace(/\W/g, "_");
  const nearest = v => values.reduce((best, x, i) => Math.abs(x - v) < Math.abs(values[best] - v) ? i : best, 0);
  const slider = el("input", { type: "range", id, "aria-label": name, min: 0, max: values.length - 1, step: 1, oninput: () => set(name, values[slider.value]) });
  const number = el("input", { type: "number", "aria-label": name + ", exact", min: range.from, max: range.to, step: range.step, onchange: () => set(name, number.value) });
  const box = el("div", { class: "size" }, el("label", { for: id }, name), slider, number);
  box.update = at => {
    const v = at[name];
    if (values[slider.value] !== v) slider.value = nearest(v);
    slider.setAttribute("aria-valuetext", String(v));
    number.value = v;
  };
  slider.disabled = number.disabled = values.length < 2;
  return box;
}
function liveSection() {
  if (!LIVE) return null;
  const set = (key, v) => {
    const live = { ...S.live, [key]: String(v) };
    if (String(liveDefault()[key]) === live[key] || v === "") delete live[key];
    change(["live"], { live });
  };
  const controls = Object.keys(liveDefault()).map(name => liveControl(name, set));
  const choose = (key, none) => {
    const list = el("select", { id: "live-" + key, onchange: () => set(key, list.value) }, el("option", { value: none }, "(none)"), LIVE.devices.map(d => el("option", { value: d.id }, d.name + (d.changed ? " (changed)" : ""))));
    return list;
  };
  const device = choose("device", "none"), other = choose("with", "");
  const type = el("select", { id: "live-type", onchange: () => set("type", type.value) }, el("option", { value: "" }, "as in the model"), LIVE.types.map(t => el("option", { value: t }, t)));
  const reset = el("button", { type: "button", onclick: () => change(["live"], { live: {} }) }, "Reset");
  const list = el("dl", { class: "figures" }), words = el("p", { class: "note" }), memory = el("div", { class: "need" }), plot = el("div", { class: "plot" });
  const s = section("live", "What if: sizes, device, data type", el("div", { class: "panel live-panel" },
    el("form", { onsubmit: e => e.preventDefault() }, controls, el("div", { class: "size" }, el("label", { for: "live-device" }, "device"), device),
      el("div", { class: "size" }, el("label", { for: "live-with" }, "compare with"), other),
      el("div", { class: "size" }, el("label", { for: "live-type" }, "data type"), type), reset),
    el("div", { class: "answers", role: "region", "aria-label": "Figures at these sizes" }, list, words, memory), plot));
  s.querySelector("h2").dataset.short = "What if";
  s.head.append(el("span", { class: "note" }, "exact counts from closed forms; times are lower bounds of any runtime, as printed by the program"));
  function update() {
    const setting = liveSetting(), { out, peak } = liveCounts(setting), times = setting.device ? liveTimes(setting) : [];
    for (const c of controls) c.update(setting.at);
    const others = setting.other ? liveTimes({ ...setting, device: setting.other }) : [];
    device.value = setting.device ? setting.device.id : "none";
    other.value = setting.other ? setting.other.id : "";
    other.disabled = !setting.device;
    type.value = setting.type || "";
    type.disabled = !setting.device;
    list.replaceChildren(...[...times, ...out].map(([title, text, tip], i) => el("div", { title: tip }, el("dt", null, title), el("dd", null, text),
      others[i] ? el("dd", { class: "other", title: others[i][2] }, others[i][1] + " on " + setting.other.name) : null)));
    words.textContent = setting.device ? liveBalance(setting) : "Choose a device for times, rates and its memory.";
    memory.replaceChildren(...[setting, setting.other && { ...setting, device: setting.other }].filter(Boolean).flatMap(x => liveMemoryView(x, peak)).filter(Boolean));
    plot.replaceChildren(...(setting.device ? liveChart(setting) : []).filter(Boolean));
    return times.length ? times[0][0] + " " + times[0][1] : out[0][0] + " " + out[0][1];
  }
  let seen = false;
  onState(what => { if (seen && what.includes("live")) announce(update()); });
  s.ready = () => { seen = true; update(); };
  return s;
}
