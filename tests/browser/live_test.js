/* The closed forms of the what-if panel against the program: random sizes, devices and types of every report.
 * usage: node live_test.js ONNXCOST PAGE_BOUND.js REPORT.html=MODEL.onnx ...      SEED=number SETTINGS=number
 * The functions are those of the page (src/write/page/page_bound.js). TAP on standard output. */
"use strict";
const fs = require("fs"), zlib = require("zlib"), { execFileSync } = require("child_process");
const [program, script, ...pairs] = process.argv.slice(2);
const settings = Number(process.env.SETTINGS || 200);
let seed = Number(process.env.SEED || 1);
console.log(`# SEED=${seed} SETTINGS=${settings}`);
const { totalsAt, peakAt, boundAt, energyAt, weightBytes, decoderTotals, decoderBounds } = new Function(fs.readFileSync(script, "utf8") +
  "\nreturn { totalsAt, peakAt, boundAt, energyAt, weightBytes, decoderTotals, decoderBounds };")();

function random() { /* mulberry32 */
  seed = (seed + 0x6d2b79f5) | 0;
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
}
const pick = list => list[Math.floor(random() * list.length)];
const between = (from, to) => from + Math.floor(random() * (to - from + 1));
function liveOf(html) {
  const m = /<script type="application\/(\w+)" id="data">([^]*?)<\/script>/.exec(fs.readFileSync(html, "utf8"));
  const text = m[1] === "gzip" ? zlib.gunzipSync(Buffer.from(m[2], "base64")).toString() : m[2];
  return JSON.parse(text).live;
}
const answer = args => JSON.parse(execFileSync(program, args, { maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "ignore"] }));

let tried = 0, figures = 0, failed = [];
function equal(what, page, program) {
  if (program === null) program = NaN;
  figures++;
  const same = typeof page === "bigint" ? Number(page) === program : Object.is(page, program) || Math.abs(page - program) <= 5.1e-4;
  if (!same) failed.push(`${what}: page ${page}, program ${program}`);
}
const seconds = (what, page, program) => {
  figures++;
  if (!(page === program || Number.isNaN(page) && program === null)) failed.push(`${what}: page ${page}, program ${program}`);
};
/* A point of a box, often near its ends. */
function point(boxes, vars) {
  const b = pick(boxes);
  return vars.map((v, k) => {
    const n = Math.floor((b[2 * k + 1] - b[2 * k]) / v.step), r = random();
    return b[2 * k] + v.step * (r < .4 ? between(0, Math.min(n, 8)) : r < .9 ? between(0, Math.min(n, 300)) : between(0, n));
  });
}
const powers = {};
function designPower(id) { /* of the device file; NaN: it has none */
  if (!(id in powers)) {
    const found = answer(["hw", "show", id, "-f", "json"]).rows.find(f => f.group === "power" && f.what === "TDP");
    powers[id] = found ? found.value : NaN;
  }
  return powers[id];
}
function askModel(live, model) {
  const run = live.runs[0], law = pick(run.types), d = pick(live.devices), x = point(law.boxes, run.vars), totals = totalsAt(run, x);
  const args = [model, "--hw", d.id, "-f", "json", "--top", "1", ...run.vars.flatMap((v, k) => ["--dim", `${v.name}=${x[k]}`]), ...(law.type ? ["--as", law.type] : [])];
  const json = answer(args), what = args.join(" ");
  for (const name in totals || {}) equal(what + " " + name, totals[name], json.totals[name]);
  const peak = peakAt(run, x);
  if (peak !== null) equal(what + " peak", peak, json.totals.peak_activation_bytes);
  equal(what + " bound", boundAt(live, run, null, d, x).s * 1e9, json.hardware.roofline.bound_time_ns);
  seconds(what + " energy of a second", d.power_w === null ? NaN : energyAt(d, 1), Number.isNaN(designPower(d.id)) ? null : designPower(d.id));
  if (law.type && json.hardware.roofline.bound_time_ns !== null) equal(what + " bound as " + law.type, boundAt(live, run, law.type, d, x).s * 1e9, json.what_if.bound_time_ns);
}
function askDecoder(live, model) {
  const type = pick(live.runs[0].types).type, d = pick(live.devices);
  const at = { batch: between(1, random() < .7 ? 16 : 512), prompt: between(2, 3000), generate: between(1, 500) };
  const args = ["llm", model, "--hw", d.id, "-f", "json", "--batch", at.batch, "--prompt", at.prompt, "--generate", at.generate, ...(type ? ["--as", type] : [])].map(String);
  const json = answer(args), what = args.join(" "), totals = decoderTotals(live, at), s = decoderBounds(live, type, d, at);
  const runs = Object.fromEntries(json.runs.map(r => [r.run, r])), roofs = Object.fromEntries(json.devices[0].roofs.map(r => [r.run, r]));
  for (const [mine, theirs] of [["prefill", "prompt"], ["first", "next_token"], ["last", "last_token"]]) {
    if (!roofs[theirs]) continue; /* no decode step after the first token, or only one */
    if (!type) for (const name in totals[mine]) equal(what + " " + mine + " " + name, totals[mine][name], runs[theirs][name]);
    seconds(what + " " + mine, s[mine], roofs[theirs].least_s);
  }
  if (totals.peak !== null) equal(what + " memory", totals.peak + BigInt(weightBytes(live, type)), json.devices[0].needed_bytes);
  if (roofs.decode) seconds(what + " all steps", s.all, roofs.decode.least_s);
  if (roofs.answer) seconds(what + " whole", s.whole, roofs.answer.least_s);
}

const reports = pairs.map(p => { const [html, model] = p.split("="); return { model, live: liveOf(html) }; });
console.log(`1..${reports.length}`);
reports.forEach(({ model, live }, i) => {
  failed = [];
  const before = figures, n = Math.ceil(settings / reports.length);
  for (let k = 0; k < n; k++, tried++) (live.decoder ? askDecoder : askModel)(live, model);
  const name = model.replace(/.*\//, "");
  console.log(`${failed.length ? "not ok" : "ok"} ${i + 1} - what-if of ${name}: ${n} settings, ${figures - before} figures equal the program's`);
  for (const f of failed.slice(0, 10)) console.log("# " + f);
  if (failed.length) process.exitCode = 1;
});
console.log(`# ${tried} settings, ${figures} figures`);
