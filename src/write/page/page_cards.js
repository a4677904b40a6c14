/* Headline, summary cards, and the time accounting of the profile. */
const T = D.totals, P = D.profile;
const asNumber = v => v === null || v === undefined ? NaN : Number(v);
const runTime = P ? asNumber(P.run_ns) : NaN;

function headline() {
  $("title").textContent = D.title;
  $("title").title = D.title;
  const device = D.hardware ? "hardware " + D.hardware.name : "";
  const source = P ? (P.producer || P.format) + (P.device ? ", " + P.device : "") : "static analysis";
  $("subtitle").textContent = [source, device].filter(Boolean).join("  ·  ");
  $("subtitle").title = $("subtitle").textContent;
  $("tool").textContent = D.tool;
}
function card(label, value, sub, title) {
  const [number, ...unit] = value.split(THIN);
  return el("div", { class: "card", title: title || null }, el("dt", null, label),
    el("dd", null, el("div", { class: "value" }, number, unit.length ? el("small", null, THIN + unit.join(THIN)) : null), el("div", { class: "sub" }, sub || "")));
}
/* The statistic over the runs, how much they differ, and the rate. */
function latencyNote() {
  const note = [], r = P.run_times;
  if (P.runs_total) note.push(P.statistic + " of " + P.runs_text + (P.runs_total > P.runs_used ? " (" + P.runs_total + " in the file)" : ""));
  if (r && r.runs > 1) note.push((r.noisy ? "noisy: " : "") + time(r.min_ns) + " to " + time(r.max_ns) + ", spread " + percent(r.spread) + " %" + (r.runs < 4 ? " assumed" : ""));
  if (known(P.inferences_per_s)) note.push(si(P.inferences_per_s) + "/s");
  return note.join(", ");
}
function cards() {
  const list = [], q = T.model ? qualityNo(T.quality) % 4 : 0, least = T.model && Number(T.unknown_nodes) > 0;
  const mark = least ? "≥" : MARK[q], word = least ? " (lower bound: some nodes have an unknown cost)" : q ? " (" + WORD[q] + ")" : "";
  const sums = totals(mark);
  if (P && !P.functions && runTime > 0)
    list.push(card("Latency", time(runTime), latencyNote(), exact("time", runTime) + ", " + P.time_kind));
  else if (P && !P.functions && P.total_ns > 0)
    list.push(card("Total time", time(asNumber(P.total_ns)), "over " + P.runs_text, exact("time", asNumber(P.total_ns)) + ", " + P.time_kind));
  if (P && P.flops_per_s > 0)
    list.push(card("Achieved", MARK[qualityNo(P.flops_quality)] + si(P.flops_per_s, "FLOP/s"), (P.ops_per_s > 0 ? si(P.ops_per_s, "OP/s") + ", " : "") + (P.bytes_per_s > 0 ? MARK[qualityNo(P.bytes_quality)] + si(P.bytes_per_s, "B/s") : ""), "FLOPs and bytes of the rows / " + (runTime > 0 ? "latency" : "total time")));
  if (D.hardware && known(D.hardware.roofline_ns)) {
    const h = D.hardware;
    const sum = "sum of the roofline times of all rows on " + h.name + ": " + exact("time", h.roofline_ns);
    if (P) list.push(card("Roofline time", (h.rows_without_limit ? "≥" : "") + time(h.roofline_ns), known(h.wasted_ns) && known(h.time_ns) ? "efficiency " + percent(h.roofline_ns / h.time_ns) + " %, gap " + time(h.wasted_ns) : "of the kernels that ran, on " + h.name, sum));
    else list.push(card("Unfused roofline time", time(h.roofline_ns), "not a bound: fusion makes it shorter", sum)); /* the bound is in the verdict */
  }
  if (sums.work.length) list.push(card("Operations", sums.work[0], [...sums.work.slice(1), ...sums.note].join(", "), sums.exact));
  if (sums.bytes !== null) list.push(card(T.model ? "Bytes moved, unfused" : "Bytes moved", sums.mark + si(Number(sums.bytes), "B"), sums.split, exact("bytes", sums.bytes) + (sums.mark ? word : "")));
  if (T.model) {
    list.push(card("Parameters", si(Number(T.params)), bytes(Number(T.const_bytes)) + " constants", grouped(T.params) + "; " + Object.entries(T.constants).map(([k, v]) => k + " " + bytes(Number(v))).join(", ")));
    const m = D.memory;
    if (m && m.peak !== null) list.push(card("Peak activation memory", (m.quality === "unknown" ? "≥" : MARK[qualityNo(m.quality) % 4]) + bytes(Number(m.peak)), bytes(Number(m.peak) + Number(m.const_bytes)) + " with constants", exact("bytes", m.peak) + " of activations"));
  }
  if (kernels.length) list.push(card("Device work", time(kernelTime), grouped(kernels.length) + " distinct kernels and copies", exact("time", kernelTime)));
  if (D.coverage && known(D.coverage.time_fraction) && D.coverage.time_fraction < .9995)
    list.push(card("Coverage", percent(D.coverage.time_fraction) + THIN + "%", "of operator time attributed to nodes" + (D.coverage.n_unmatched ? ", " + D.coverage.n_unmatched + " records unattributed" : ""), known(D.coverage.flops_fraction) ? percent(D.coverage.flops_fraction) + " % of the FLOPs have measured times" : null));
  return el("dl", { id: "cards", class: "cards" }, list);
}
/* Operators that the runtime fused move less than one by one: the tables have the bytes of the rows. */
const fused = unfused => P && C.bytes && total.bytes > 0 && total.bytes < .999 * unfused ? "; " + si(total.bytes, "B") + " in the rows, as the runtime fused them" : "";
/* Totals of the model if there is one, otherwise of the rows; each with its own mark, FLOPs and OPs apart. */
function totals(mark) {
  const least = T.model && Number(T.unknown_nodes) > 0, of = s => C[s] && types.some(t => known(t[s])) ? total[s] : null;
  const work = (list, m) => list.filter(([v], i) => v > 0 || (i === 0 && v === 0 && !list.some(p => p[0] > 0))).map(([v, unit]) => m + si(v, unit));
  if (T.model) {
    const parts = [[T.bytes_read_act, "act."], [T.bytes_read_weight, "weights"], [T.bytes_written, "written"]].filter(p => p[0] !== null);
    const counts = [[asNumber(T.flops), "FLOPs"], [asNumber(T.ops), "OPs"]].filter(p => known(p[0]));
    return {
      work: work(counts, !least && T.work_exact ? "" : mark), mark,
      note: [T.macs !== null ? (!least && T.macs_exact ? "" : mark) + si(Number(T.macs)) + " MACs" : "MACs unknown"],
      exact: counts.map(([v, unit]) => grouped(v) + " " + unit).join(", "),
      bytes: parts.length ? String(parts.reduce((a, p) => a + BigInt(p[0]), 0n)) : null,
      split: parts.map(p => si(Number(p[0]), "B") + " " + p[1]).join(", ") + fused(parts.reduce((a, p) => a + Number(p[0]), 0)),
    };
  }
  const s = (runTime > 0 ? runTime : asNumber(P && P.total_ns)) / 1e9, rates = P && (known(P.flops_per_s) || known(P.ops_per_s));
  const counts = rates ? [[(P.flops_per_s || 0) * s, "FLOPs"], [(P.ops_per_s || 0) * s, "OPs"]] : of("flo") !== null ? [[Number(of("flo")), "FLOPs"]] : [];
  return { work: work(counts, P ? MARK[qualityNo(P.flops_quality)] : ""), mark: P ? MARK[qualityNo(P.bytes_quality)] : "", note: ["of the rows"], exact: null, bytes: of("bytes"), split: "of the rows" };
}

/* ---- time accounting: every nanosecond of the profile ---- */
function strip(title, parts) {
  const sum = parts.reduce((s, p) => s + p[1], 0);
  return el("div", null, el("h3", null, title + " " + time(sum)),
    el("div", { class: "strip", role: "img", "aria-label": parts.map(p => p[0] + " " + percent(p[1] / sum) + " %").join(", ") },
      parts.map(([name, ns, c]) => el("span", { title: name + ": " + time(ns) + ", " + percent(ns / sum) + " %", style: { width: 100 * ns / sum + "%", background: c } }))),
    el("div", { class: "legend" }, parts.map(([name, ns, c]) => el("span", { title: exact("time", ns) }, el("i", { style: { background: c } }), name + " " + time(ns) + " (" + percent(ns / sum) + " %)"))));
}
function importedTime() {
  const out = [], cover = D.coverage;
  if (!cover) return out;
  for (const [side, key, title] of [["host", "total_ns", "All time in the profile:"], ["device", "total_kernel_ns", "Device time:"]]) {
    const c = cover[side], parts = [];
    if (!known(c.imported_ns) || !(c.imported_ns > 0)) continue;
    if (c.nodes_ns > 0) parts.push(["single nodes", c.nodes_ns, color(0)]);
    if (c.groups_ns > 0) parts.push(["fused groups", c.groups_ns, color(7)]);
    if (!known(c.nodes_ns) && c.operators_ns > 0) parts.push(["operators", c.operators_ns, color(0)]);
    cover.buckets.forEach((b, k) => { if (b[key] > 0) parts.push([b.name, b[key], color([1, 4, 5, 8, 6, 2, 9][k % 7])]); });
    if (c.lost_ns > 1) parts.push(["LOST", c.lost_ns, color(3)]);
    if (parts.length) out.push(strip(title, parts));
  }
  return out;
}
