/* The headline figures that a page shows, in the browser, against `-f json` and the terminal of the same command. */
"use strict";
const fs = require("fs"), path = require("path");
const SCALE = { "": 1, n: 1e-9, u: 1e-6, "µ": 1e-6, m: 1e-3, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, E: 1e18, Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40 };
const UNIT = /^([≥≤~]?)\s*(-?[\d.,]+(?:e[+-]?\d+)?)[\s\u2009\u202f\u00a0]*(Ki|Mi|Gi|Ti|[nuµmkMGTPE])?(s|B\/s|B|FLOP\/s|FLOPs|OP\/s|OPs|MACs|)(?![a-zA-Z])/;

/* "≥ 51.2 ms" as { value: 0.0512, step: 0.0001 }: step is one unit of the last digit shown. */
function figure(text) {
  const m = UNIT.exec(text.trim());
  if (!m) return null;
  const digits = m[2].replace(/,/g, ""), [mantissa, exponent] = digits.split("e"), scale = SCALE[m[3] || ""];
  const step = 10 ** (Number(exponent || 0) - (mantissa.split(".")[1] || "").length);
  return { mark: m[1], value: Number(digits) * scale, step: step * scale, unit: m[4] };
}
const near = (shown, exact) => Math.abs(shown.value - exact) <= 0.5000001 * shown.step + 1e-9 * Math.abs(exact);
const number = v => v === null || v === undefined ? NaN : Number(v);

/* What JSON says of a card: [label, part of the text, exact figure]. */
function expected(report) {
  const t = report.totals, sum = (...v) => v.every(x => x !== null && x !== undefined) ? v.reduce((a, b) => a + Number(b), 0) : NaN;
  const model = report.model !== null, least = t.unknown_nodes > 0;
  const run = report.verdict && report.verdict.run_ns !== null ? report.verdict.run_ns : t.time_ns; /* with --stat sum the time of the rows is that of all runs */
  const lines = [["Latency", "value", number(run) / 1e9], ["Total time", "value", number(t.time_ns) / 1e9],
    ["Achieved", "value", number(t.achieved_flops_per_s)], ["Achieved", "B/s", number(t.achieved_bytes_per_s)], ["Achieved", "OP/s", number(t.achieved_ops_per_s)]];
  if (report.verdict) lines.push(["Roofline time", "value", number(report.verdict.roofline_ns) / 1e9], ["Roofline time", "gap", number(report.verdict.above_roofline_ns) / 1e9]);
  if (model && !least) lines.push(["Operations", "value", t.flops || !t.ops ? t.flops : t.ops], ["Operations", "OPs", number(t.ops)], ["Operations", "MACs", number(t.macs)], ["Memory moved", "value", sum(t.bytes_read_act, t.bytes_read_weight, t.bytes_written)]);
  if (model) lines.push(["Parameters", "value", number(t.params)], ["Peak activation memory", "value", number(t.peak_activation_bytes)]);
  return lines;
}
/* The terminal: the same label in other words. */
const TERMINAL = [["Latency", "value", /^latency\s+(\S+ ?[nuµm]?s)\b/m], ["Total time", "value", /^(?:total|time)\s+(\S+ [nuµm]?s)\b/m],
  ["Achieved", "value", /^achieved\s[^\n]*?([\d.e+]+ [kMGT]?FLOP\/s)/m], ["Achieved", "B/s", /^achieved\s[^\n]*?([\d.e+]+ [kMGT]?B\/s)/m],
  ["Roofline time", "value", /roofline time of the kernels (\S+ [nuµm]?s)/], ["Unfused roofline time", "value", /unfused: roofline time (\S+ [nuµm]?s)/], ["Peak activation memory", "value", /peak activation memory (\S+ [KMGT]?i?B)/]];

/* Compares one report; returns { compared, problems }. */
async function compare(page, folder, name) {
  const read = suffix => fs.readFileSync(path.join(folder, name + suffix), "utf8");
  const report = JSON.parse(read(".json")), terminal = read(".term"), problems = [];
  let compared = 0;
  const cards = await page.$$eval("#cards .card", all => all.map(c => [c.querySelector("dt").textContent, c.querySelector(".value").textContent, c.querySelector(".sub").textContent]));
  const parts = {};
  for (const [label, value, sub] of cards) {
    parts[label + " value"] = value;
    for (const piece of sub.split(", ")) {
      const p = piece.replace(/^gap /, "");
      const f = figure(p);
      if (f && /^((B|OP|FLOP)\/s|OPs|MACs)$/.test(f.unit)) parts[label + " " + f.unit] = p;
      if (/^gap /.test(piece)) parts[label + " gap"] = p;
    }
  }
  for (const [label, part, exact] of expected(report)) {
    const text = parts[label + " " + part], shown = text === undefined ? null : figure(text);
    if (text === undefined) continue; /* which cards a page has depends on the source */
    if (!shown) problems.push(`${label} ${part}: "${text}" is not a figure`);
    else if (!Number.isFinite(exact)) problems.push(`${label} ${part}: the page shows ${text}, JSON nothing`);
    else if (!near(shown, exact)) problems.push(`${label} ${part}: the page shows ${text}, JSON has ${exact}`);
    else compared++;
  }
  const macs = figure(parts["Operations MACs"] || ""), total = report.totals; /* a bound of the FLOPs is none of the MACs */
  if (macs && macs.mark && !total.unknown_nodes && total.not_exact.macs === 0) problems.push(`Operations MACs: ${parts["Operations MACs"]} has a mark, in JSON they are exact`);
  for (const [label, part, pattern] of TERMINAL) {
    const text = parts[label + " " + part], match = pattern.exec(terminal);
    if (!match || text === undefined) continue;
    const here = figure(text), there = figure(match[1]);
    if (!here || !there) problems.push(`${label} ${part}: "${text}", on the terminal "${match[1]}"`);
    else if (Math.abs(here.value - there.value) > 0.5000001 * (here.step + there.step)) problems.push(`${label} ${part}: the page shows ${text}, the terminal ${match[1]}`);
    else compared++;
  }
  const sentence = await page.$eval("#verdict .verdict", e => e.textContent).catch(() => null);
  if (report.verdict && report.verdict.text && sentence !== report.verdict.text + ".") problems.push(`verdict: "${sentence}" is not "${report.verdict.text}"`);
  compared += Boolean(report.verdict && report.verdict.text);
  return { compared, problems };
}
module.exports = { compare };
