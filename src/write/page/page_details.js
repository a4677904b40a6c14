/* The cost breakdown of a row: short in the tooltip, complete in the side panel. */
function pairs(list) {
  return el("dl", null, list.filter(p => p && p[1] !== null && p[1] !== "").map(([k, v, title]) => [el("dt", null, k), el("dd", { title: title || null }, v)]));
}
const number_ = (c, i, kind, unit) => c && known(c.at(i)) ? MARK[boundNo(c, i)] + human(kind || c.kind, c.at(i)) + (unit || "") : UNKNOWN;
const shapes = s => s ? s.split(";").join(", ") : "";

function facts(i, whole) {
  const q = quality(i), t = num(C.time, i);
  const list = [
    ["type", rowType(i)],
    C.inputs && ["shapes", middle(shapes(txt(C.inputs, i)), whole ? 400 : 90) + " → " + middle(shapes(txt(C.outputs, i)), whole ? 200 : 60)],
    C.time && ["time", known(t) ? time(t) + " (" + percent(t / total.time) + " %)" : "not measured", exact("time", t)],
    C.flo && ["FLOPs", number_(C.flo, i) + (q ? " (" + WORD[q] + ")" : "") + (C.macs && num(C.macs, i) > 0 ? ", " + number_(C.macs, i, "si") + " MACs" : ""), exact("si", C.flo.at(i))],
    C.bytes && ["bytes moved", number_(C.bytes, i) + split(i), exact("bytes", C.bytes.at(i))],
    C.intensity && ["arithmetic intensity", number_(C.intensity, i, "ratio", " FLOP/B")],
    C.rate && ["achieved", number_(C.rate, i, "giga", " GFLOP/s") + (C.bandwidth ? ", " + number_(C.bandwidth, i, "giga", " GB/s") : "")],
    hasRoof && ["roofline time", number_(C.roof, i) + (txt(C.bound, i) ? ", bound by " + txt(C.bound, i) : "")],
    C.efficiency && ["efficiency", known(num(C.efficiency, i)) ? percent(num(C.efficiency, i)) + " %, gap " + number_(C.wasted, i) : UNKNOWN],
    C.above && txt(C.above, i) && ["above roofline", txt(C.above, i)],
    C.params && num(C.params, i) > 0 && ["parameters", number_(C.params, i, "count")],
    C.rule && txt(C.rule, i) && ["matched by", txt(C.rule, i)],
    C.module && txt(C.module, i) && ["module", txt(C.module, i)],
    C.source && txt(C.source, i) && ["source line", middle(txt(C.source, i), whole ? 400 : 60), txt(C.source, i)],
  ];
  return list;
}
function split(i) {
  const act = column("bytes_read_act"), w = column("bytes_read_weight"), out = column("bytes_written");
  if (!act || !known(act.at(i)) || !known(out.at(i))) return "";
  return " (" + human("bytes", act.at(i)) + " activations, " + human("bytes", w.at(i)) + " weights, " + human("bytes", out.at(i)) + " written)";
}
function formulaLines(i, most) {
  if (!NODE.formula) return [];
  const nodes = nodesOf(i), lines = [];
  for (const k of nodes) {
    const f = NODE.formula.at(k);
    if (!f || f === "no arithmetic") continue;
    for (const line of f.split("\n")) if (!/= 0$/.test(line)) lines.push((nodes.length > 1 ? NODE.type.at(k) + ": " : "") + line.replace(/= (\d+)$/, (_, d) => "= " + grouped(d)));
  }
  return lines.length > most ? [...lines.slice(0, most), "and " + (lines.length - most) + " more"] : lines;
}
function breakdown(i) {
  const lines = formulaLines(i, 5);
  return el("div", { class: "breakdown" }, el("b", null, rowName(i)), pairs(facts(i, false)),
    lines.length ? el("div", { class: "formula" }, lines.join("\n")) : null);
}

/* ---- tooltip ---- */
const tip = $("tip");
function showTip(content, x, y) {
  tip.replaceChildren(content);
  tip.hidden = false;
  const w = tip.offsetWidth, h = tip.offsetHeight, room = document.documentElement.clientWidth;
  tip.style.left = Math.max(8, x + 16 + w > room - 8 ? Math.min(x - 16 - w, room - w - 8) : x + 16) + "px";
  tip.style.top = Math.max(8, Math.min(y + 14, innerHeight - h - 8)) + "px";
}
const hideTip = () => { tip.hidden = true; };

/* ---- side panel ---- */
const details = $("details");
let cameFrom = null;
const linkTo = i => { const p = new URLSearchParams(hashText()); p.set("node", linkOf(i)); return "#" + p; };
function openRow(i) {
  if (details.hidden) cameFrom = document.activeElement;
  change(["node"], { node: linkOf(i) });
}
function closeDetails() { change(["node"], { node: null }); }
function drawDetails(title, content, row) {
  const step = d => {
    const order = gridOf.ops ? gridOf.ops.order : allRows, at = order.indexOf(row) + d;
    if (at >= 0 && at < order.length) openRow(order[at]);
  };
  const name = el("h2", { id: "details-title", tabindex: "-1" }, title);
  details.replaceChildren(el("div", { class: "bar" },
    row === undefined ? null : el("button", { type: "button", onclick: () => step(-1), title: "Previous row of the table" }, "Previous"),
    row === undefined ? null : el("button", { type: "button", onclick: () => step(1), title: "Next row of the table" }, "Next"),
    row === undefined ? null : el("a", { href: linkTo(row) }, "Link"),
    el("span", { class: "push" }), el("button", { type: "button", onclick: closeDetails }, "Close")), name, ...content);
  details.hidden = false;
  details.scrollTop = 0;
  name.focus({ preventScroll: true });
}
/* The kernels and copies of a row; each opens its sums over all rows. */
function launchTable(list) {
  const most = 50, K = D.kernels;
  if (!list.length) return [];
  const rows = list.slice(0, most).map(k => el("tr", null,
    el("th", { scope: "row", class: "left", title: kernelOfLaunch[k].key }, el("a", { href: "#", onclick: e => { e.preventDefault(); openKernel(kernelOfLaunch[k]); } }, middle(kernelOfLaunch[k].key, 40))),
    el("td", null, grouped(K.calls[k])), el("td", { title: exact("time", K.time_ns[k]) }, human("time", K.time_ns[k]))));
  return [el("h3", null, list.length === 1 ? "Kernel" : grouped(list.length) + " kernels and copies"),
    el("table", { class: "plain launches" }, el("thead", null, el("tr", null, [["name", "left"], ["calls", ""], ["time", ""]].map(([t, c]) => el("th", { scope: "col", class: c }, t)))), el("tbody", null, rows)),
    list.length > most ? el("p", { class: "note" }, "and " + grouped(list.length - most) + " more") : null].filter(Boolean);
}
function rowDetails(i) {
  const nodes = nodesOf(i), out = [pairs(facts(i, true))];
  const rest = columns.filter(c => !["name", "type", "time_ns", "flo", "bytes", "inputs", "outputs", "nodes"].includes(c.key));
  out.push(el("details", null, el("summary", null, "All columns"),
    pairs(rest.map(c => [c.title, c.text ? txt(c, i) : known(c.at(i)) ? human(c.kind, c.at(i)) + "  (" + exact(c.kind, c.at(i)) + ")" : UNKNOWN]))));
  out.push(...launchTable(launchesOf(i)));
  if (nodes.length > 1) out.push(el("h3", null, nodes.length + " model nodes in this row"));
  for (const k of nodes) {
    const text = receipts[k], formula = NODE.formula.at(k);
    if (nodes.length === 1 && text) out.push(el("h3", null, "Cost breakdown"));
    if (text) out.push(el("pre", null, text.trimEnd()));
    else out.push(el("h3", null, nodeName(k)), el("pre", null, (formula || "no cost of its own") + "\n"),
      el("p", { class: "note" }, "Shortened: the report contains full cost breakdowns of the largest rows only. For this node run: onnxcost MODEL --why " + k));
  }
  return out;
}
function openKernel(g) {
  cameFrom = document.activeElement;
  const used = [...g.rows];
  drawDetails(g.key, [pairs([
    ["time", time(g.time) + " (" + percent(g.time / kernelTime) + " %)", exact("time", g.time)], ["calls", grouped(g.calls)], ["mean", human("time", g.mean)],
    ["min, max", human("time", g.min) + ", " + human("time", g.max)], ["precision", g.precision], ["unit", g.unit], ["library", g.library],
  ]), used.length ? el("h3", null, "launched by") : null,
  el("ul", null, used.slice(0, 200).map(i => el("li", null, el("a", { href: linkTo(i) }, rowName(i)))))]);
}
/* Cost breakdowns by node, read at the first use. */
let receipts = null, reading = null;
async function showNode() {
  if (S.node === null) {
    if (!details.hidden) {
      details.hidden = true;
      if (gridOf.ops) gridOf.ops.select(null);
      if (cameFrom && cameFrom.isConnected) cameFrom.focus({ preventScroll: true });
      else if (gridOf[S.tab]) gridOf[S.tab].focusRow(); /* the row was redrawn */
      cameFrom = null;
    }
    return;
  }
  const i = findRow(S.node);
  if (i < 0) {
    drawDetails(S.node, [el("p", null, "No row of this report has this name. The node may be constant-folded, or fused into another row.")]);
    return;
  }
  if (!receipts) {
    const wanted = S.node;
    receipts = await (reading ??= documentOf("receipts"));
    if (S.node !== wanted) return;
  }
  drawDetails(rowName(i), rowDetails(i), i);
  if (gridOf.ops && !gridOf.ops.select(i) && shownRows.length < N) { /* hidden by the search */
    noFilter();
    gridOf.ops.select(i);
  }
}
document.addEventListener("keydown", e => { if (e.key === "Escape" && !details.hidden) closeDetails(); });
onState(what => { if (what.includes("node")) showNode(); });
