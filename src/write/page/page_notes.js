/* Basis of the numbers: coverage, assumptions, warnings, and what is not in this report. */
function missing() {
  const list = [];
  const want = (there, what, how) => { if (!there) list.push(el("span", null, el("b", null, what), " " + how)); };
  if (D.hardware && !hasRoof) want(false, "Roofline:", P && !T.model ? "the profile does not contain the work of its rows; pass the model as well" : "the device file has no peak rate for these operators");
  else if ((hasTime || hasRoof) && !$("roofline")) want(false, "FLOP/s over arithmetic intensity:", "no row has a time, FLOPs and bytes" + (T.model ? "" : "; pass the model as well"));
  want(D.hardware, "Roofline time, efficiency, gap:", P || T.model ? "add --hw NAME (onnxcost hw list)" : "");
  want(P, "Measured times:", "add --profile FILE from a runtime");
  want(T.model, "Counts per node, activation memory:", "pass the model as well");
  if (P) {
    want(D.timeline || hasTime, "Timeline:", "the profile has sums only, no events");
    want(D.kernels, "Kernels:", "use a profile with device activity (PyTorch profiler, Nsight Systems, TensorRT)");
  }
  return list.length ? el("p", { class: "note", id: "missing" }, "Not in this report. ", list.map((e, k) => [k ? "  ·  " : "", e])) : null;
}
function table(label, head, rows) {
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, el("table", { class: "plain", "aria-label": label },
    head ? el("thead", null, el("tr", null, head.map(h => el("th", { scope: "col", class: "left" }, h)))) : null,
    el("tbody", null, rows.map(r => el("tr", null, r.map((v, k) => el(k ? "td" : "th", { scope: k ? null : "row", class: "wrap" + ((v || "").length < 17 ? " short" : "") }, v || "")))))));
}
function notesSection() {
  const parts = [], cover = D.coverage;
  const put = (title, ...content) => { const e = el("div", { class: "panel" }, el("h3", null, title), ...content); parts.push(e); return e; };
  const strips = importedTime();
  if (strips.length) put("Coverage: time accounting of the profile", strips, known(cover.time_fraction) ? el("p", { class: "note" },
    "Operator time: " + percent(cover.time_fraction) + " % attributed to nodes, " + time(cover.overhead_ns || 0) + " runtime-inserted, " + time(cover.unmatched_ns || 0) + " unattributed" +
    (known(cover.flops_fraction) ? "; nodes with " + percent(cover.flops_fraction) + " % of the FLOPs have measured times" : "") +
    (cover.nodes_without_time ? "; " + grouped(cover.nodes_without_time) + " executed nodes have no time" : "") + ".") : null);
  if (cover && cover.unmatched && cover.unmatched.length) put("Unattributed records: " + cover.n_unmatched, table("Unattributed records", ["record", "type", "time"], cover.unmatched.map(u => [u.name, u.type, human("time", u.time_ns)])));
  if (D.sizes) {
    const sets = D.sizes.sets, names = Object.keys(sets[0].values).filter(k => sets.some(s => s.values[k] !== sets[0].values[k]));
    const count = v => v === null ? UNKNOWN : si(v), rate = (v, unit) => known(v) ? si(v, unit) : UNKNOWN;
    put("Runs by size: " + sets.length + " sizes in " + grouped(D.sizes.runs) + " runs; the other figures are means over these runs",
      table("Runs by size", ["size", "runs", "median", "min", "max", "MACs", "FLOP/s", "B/s"], sets.map(s => [names.map(k => k + " = " + (s.values[k] === null ? UNKNOWN : s.values[k])).join(", "), grouped(s.runs),
        time(s.time_median_ns), time(s.time_min_ns), time(s.time_max_ns), count(s.macs), rate(s.achieved_flops_per_s, "FLOP/s"), rate(s.achieved_bytes_per_s, "B/s")])));
  }
  const h = D.hardware;
  if (h) {
    const rows = [], row = (what, f) => { if (f) rows.push([what, ...f]); };
    for (const p of h.peaks) if (p.operations > 0) {
      if (p.figure) row(p.class + " " + p.unit + (p.fallback ? " (rate of f32)" : ""), p.figure);
      else rows.push([p.class + " " + p.unit, UNKNOWN, "not in the device file", "", ""]);
    }
    for (const l of h.levels) row(l.name + " bandwidth", l.figure);
    row("launch overhead", h.overhead);
    put("Hardware: " + h.name + (h.cache ? ", each transfer at the smallest memory level that fits" : ", all transfers from DRAM"), table("Hardware figures", ["figure", "value", "basis", "source", "how"], rows));
  }
  if (D.assumptions.length) put("Assumptions", table("Assumptions", ["kind", "name", "value", "reason"], D.assumptions));
  else if (T.model) put("Assumptions", el("p", { class: "note" }, "None: the model or the options give every required size."));
  if (D.findings.length) put("Warnings", table("Warnings", ["severity", "code", "location", "text"], D.findings));
  const inexact = T.model ? Number(T.not_exact_nodes) : 0;
  if (inexact) put("Bounds and estimates", el("p", { class: "note" }, grouped(inexact) + " of " + grouped(T.nodes) + " nodes have counts that are bounds or estimates (≤ upper bound, ≥ lower bound, ~ estimate); " + grouped(T.unknown_nodes) + " have unknown counts (?). Sums carry the same marks."));
  put("Summary", table("Summary", null, D.about.map(([k, v]) => [k, v])));
  const s = section("notes", "Coverage and assumptions", el("div", { class: "notes" }, parts));
  s.classList.add("long");
  s.querySelector("h2").dataset.short = "Assumptions";
  themed.push(() => { const first = parts[0]; if (strips.length) { const again = importedTime(); first.querySelectorAll("h3 ~ div").forEach((d, k) => { if (again[k]) d.replaceWith(again[k]); }); } });
  return s;
}
