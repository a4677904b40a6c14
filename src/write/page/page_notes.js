/* What the numbers rest on: coverage, assumptions, findings, and what this report could not have. */
function missing() {
  const list = [];
  const want = (there, what, how) => { if (!there) list.push(el("span", null, el("b", null, what), " " + how)); };
  if (D.hardware && !hasRoof) want(false, "Roofline:", P && !T.model ? "nothing is known of the work of the rows; give the model beside the profile" : "the file of the device lacks a peak that the work needs");
  want(D.hardware, "Roofline, efficiency, wasted time:", P || T.model ? "add --hw NAME (onnxcost hw list)" : "");
  want(P, "Measured times:", "add --profile FILE of a runtime");
  want(T.model, "Counts by node, memory over the steps:", "give the model beside the profile");
  if (P) {
    want(D.timeline || hasTime, "Timeline:", "this profile has sums, no single events");
    want(D.kernels, "Kernels:", "a profile with device work (PyTorch's profiler, Nsight Systems, TensorRT)");
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
  if (strips.length) put("Coverage: where all of the imported time is", strips, known(cover.time_fraction) ? el("p", { class: "note" },
    "Of the operators’ time " + percent(cover.time_fraction) + " % is on nodes of the model, " + time(cover.overhead_ns || 0) + " in rows that the runtime added, " + time(cover.unmatched_ns || 0) + " unmatched" +
    (known(cover.flops_fraction) ? "; nodes with " + percent(cover.flops_fraction) + " % of the FLOPs have a time" : "") +
    (cover.nodes_without_time ? "; " + grouped(cover.nodes_without_time) + " executed nodes have none" : "") + ".") : null);
  if (cover && cover.unmatched && cover.unmatched.length) put("Records that no rule could place: " + cover.n_unmatched, table("Unmatched records", ["record", "type", "time"], cover.unmatched.map(u => [u.name, u.type, human("time", u.time_ns)])));
  const h = D.hardware;
  if (h) {
    const rows = [], row = (what, f) => { if (f) rows.push([what, ...f]); };
    for (const p of h.peaks) if (p.operations > 0) {
      if (p.figure) row(p.class + " " + p.unit + (p.fallback ? " (at the rate of f32)" : ""), p.figure);
      else rows.push([p.class + " " + p.unit, UNKNOWN, "not in the file", "", ""]);
    }
    for (const l of h.levels) row(l.name + " bandwidth", l.figure);
    row("overhead of a launch", h.overhead);
    put("Hardware: " + h.name + (h.cache ? ", bytes at the nearest memory that can have them" : ", all bytes from DRAM"), table("Figures of the hardware", ["figure", "value", "basis", "source", "how"], rows));
  }
  if (D.assumptions.length) put("Assumptions", table("Assumptions", ["what", "name", "value", "why"], D.assumptions));
  else if (T.model) put("Assumptions", el("p", { class: "note" }, "None: every size that the counts need is in the model or was given."));
  if (D.findings.length) put("Findings", table("Findings", ["severity", "code", "where", "text"], D.findings));
  const inexact = T.model ? Number(T.not_exact_nodes) : 0;
  if (inexact) put("Not exact", el("p", { class: "note" }, grouped(inexact) + " of " + grouped(T.nodes) + " nodes have counts that are bounds or estimates (≤ upper bound, ≥ lower bound, ~ estimate), " + grouped(T.unknown_nodes) + " have none (?). Sums say so too."));
  put("Summary, as on the terminal", table("Summary", null, D.about.map(([k, v]) => [k, v])));
  const s = section("notes", "Coverage and assumptions", el("div", { class: "notes" }, parts));
  s.classList.add("long");
  s.querySelector("h2").dataset.short = "Assumptions";
  themed.push(() => { const first = parts[0]; if (strips.length) { const again = importedTime(); first.querySelectorAll("h3 ~ div").forEach((d, k) => { if (again[k]) d.replaceWith(again[k]); }); } });
  return s;
}
