/* Bars in tables: measured time and roofline time, and the longest kernels. */
const TOP_BARS = 15;

function barTable(label, head, rows, open, most = 38) {
  const table = el("table", { class: "plain bars", "aria-label": label },
    el("thead", null, el("tr", null, head.map((h, k) => el("th", { scope: "col", class: k < 2 ? "left" : "" }, h)))));
  table.append(el("tbody", null, rows.map(r => {
    const name = el("th", { scope: "row", class: "left", title: r.title || r.name }, open ? el("a", { href: "#", onclick: e => { e.preventDefault(); open(r); } }, middle(r.name, SMALL ? 22 : most)) : middle(r.name, SMALL ? 22 : most));
    const track = el("td", { class: "track left" }, el("div", null, r.parts.map(p => el("span", { title: p.title, style: { left: 100 * p.from + "%", width: Math.max(.15, 100 * (p.to - p.from)) + "%", background: p.color, border: p.border || "0" } }))));
    return el("tr", open ? { class: "click", onclick: e => { if (!e.target.closest("a")) open(r); } } : null, name, track, r.cells.map(c => el("td", { title: c.title || null, class: c.class || null }, c.text)));
  })));
  return el("div", { class: "scroll", style: { border: "0" }, tabindex: "0", role: "region", "aria-label": label }, table);
}

/* Default grouping: modules if one type has more than 90 % of the time, otherwise types. */
function usualLevel() {
  if (D.grouped) return "op";
  const first = types[0], share = hasTime ? first.time / total.time : first.flo / total.flo;
  if (types.length > 2 && !(share > .9)) return "type";
  if (N > 20000) return types.length > 2 ? "type" : "op";
  const modules = new Set(Array.from(allRows, moduleOf)).size;
  return modules > 2 && modules < 500 ? "module" : types.length > 2 ? "type" : "op";
}
function wasteSection() {
  if (!hasTime && !hasRoof) return null;
  const body = el("div", { class: "panel" }), both = hasTime && hasRoof, normal = N ? usualLevel() : "op";
  const title = both ? "Measured time and roofline time" : hasTime ? "Where the time goes" : "Roofline time";
  const options = D.grouped ? [["op", "Groups"]] : [["type", "Types"], ["module", "Modules"], ["op", "Operators"]];
  const level = () => S.wasteBy || normal;
  const by = choice("Bars", options, level, v => change(["wasteBy"], { wasteBy: v }));
  const s = section("waste", title, body);
  s.querySelector("h2").dataset.short = both ? "Gap" : "Time";
  s.head.append(by);
  function groups() {
    if (level() !== "op") return addUp(shownRows, level() === "type" ? rowType : moduleOf);
    return Array.from(shownRows, i => ({
      key: rowName(i), row: i, rows: 1, time: num(C.time, i), roof: num(C.roof, i), wasted: num(C.wasted, i), roofUnknown: 0, timeUnknown: 0, wastedUnknown: 0,
    }));
  }
  function draw() {
    by.update();
    const weight = g => (both ? (Number.isNaN(g.wasted) ? -1 : g.wasted) : hasTime ? g.time : g.roof) || 0;
    const list = groups().sort((a, b) => weight(b) - weight(a) || (b.time || 0) - (a.time || 0)), top = list.slice(0, TOP_BARS);
    const most = Math.max(1e-300, ...top.map(g => Math.max(g.time || 0, g.roof || 0)));
    const blue = color(0), lost = color(1), plain = color(-1);
    const rows = top.map(g => {
      const time_ = g.time || 0, roof = g.roof || 0, parts = [];
      const part = (name, from, to, c) => { if (to > from) parts.push({ from: from / most, to: to / most, color: c, title: name + " " + time(to - from) }); };
      if (!hasRoof) part("measured", 0, time_, blue);
      else if (!hasTime) part("roofline", 0, roof, blue);
      else if (Number.isNaN(g.roof)) part("measured, roofline unknown", 0, time_, plain);
      else if (roof > time_) { part("measured: faster than the roofline time", 0, time_, blue); parts.push({ from: time_ / most, to: roof / most, color: "transparent", border: "1px dashed " + css("--soft"), title: "roofline " + time(roof) }); }
      else {
        const w = known(g.wasted) ? g.wasted : 0;
        part("roofline", 0, roof, blue);
        part("gap", roof, roof + w, lost);
        part("rows without a known roofline", roof + w, time_, plain);
      }
      const few = k => g[k + "Unknown"] ? "≥" : "", cell = (k, v) => ({ text: known(v) ? few(k) + time(v) : UNKNOWN, title: exact("time", v), class: known(v) ? "" : "dim" });
      const cells = [];
      if (hasTime) cells.push(cell("time", g.time));
      if (hasRoof) cells.push(cell("roof", g.roof));
      if (both) cells.push({ text: g.time > 0 && known(g.roof) && !g.roofUnknown ? percent(g.roof / g.time) : UNKNOWN }, cell("wasted", g.wasted));
      if (hasTime && !both) cells.push({ text: percent(g.time / total.time) });
      return { name: g.key, title: g.key + (g.rows > 1 ? " (" + grouped(g.rows) + " rows)" : ""), group: g, parts, cells };
    });
    const head = [level() === "op" ? "operator" : level(), "", hasTime && "time", hasRoof && "roofline", both && "eff %", both && "gap", hasTime && !both && "%"].filter(h => h !== false);
    const table = barTable(title, head, rows, r => {
      if (r.group.row !== undefined) openRow(r.group.row);
      else if (level() === "type") change(["types", "tab"], { types: [r.name], tab: "ops" });
      else change(["q", "tab"], { q: r.name === "(top)" ? "" : r.name, re: false, tab: "ops" });
    });
    const legend = el("div", { class: "legend" });
    const item = (c, text) => legend.append(el("span", null, el("i", { style: { background: c } }), text));
    if (both) { item(blue, "roofline time of the kernels that ran"); item(lost, "gap: measured time above the roofline time"); }
    if (list.length > top.length) legend.append(el("span", null, "the " + top.length + " largest of " + grouped(list.length)));
    if (both && D.hardware.rows_without_limit) { item(plain, "roofline unknown: " + grouped(D.hardware.rows_without_limit) + " rows"); }
    body.replaceChildren(table, legend);
  }
  onState(what => { if (filtered(what) || what.includes("wasteBy")) draw(); });
  themed.push(draw);
  s.ready = draw;
  return s;
}

/* What limits the shown rows, of their measured time; a button selects the rows of a limit. */
const boundNames = hasRoof ? [...new Set(Array.from(allRows, boundOf))].filter(b => b !== NO_BOUND) : [];
function boundStrip() {
  const key = hasTime ? "time" : "roof", list = hasRoof ? addUp(shownRows, boundOf).filter(b => b[key] > 0).sort((a, b) => b[key] - a[key]) : [];
  if (!list.length) return "";
  const all = list.reduce((s, b) => s + b[key], 0), part = b => b[key] / all, paint = b => color(b.key === NO_BOUND ? -1 : boundNames.indexOf(b.key) + 4);
  return el("div", null, el("h3", null, "Bound by, share of " + (hasTime ? "measured time" : "roofline time")),
    el("div", { class: "strip", role: "img", "aria-label": list.map(b => b.key + " " + percent(part(b)) + " %").join(", ") },
      list.map(b => el("span", { title: b.key + " " + percent(part(b)) + " %", style: { width: 100 * part(b) + "%", background: paint(b) } }))),
    el("div", { class: "chips" }, list.map(b => el("button", { type: "button", class: "chip", "aria-pressed": S.bounds.includes(b.key), "data-bound": b.key, onclick: () => change(["bounds"], { bounds: toggled(S.bounds, b.key) }) },
      el("i", { style: { background: paint(b) } }), b.key + " " + percent(part(b)) + " % (" + grouped(b.rows) + (b.rows === 1 ? " row)" : " rows)")))));
}

/* The steps of --what-if and --as; each one includes the previous ones. */
function whatIfSection() {
  const W = D.what_if;
  if (!W) return null;
  const body = el("div", { class: "panel" }), s = section("what-if", "What if", body);
  function draw() {
    const most = Math.max(1e-300, W.now_ns || 0, ...W.steps.map(x => x.after_ns || 0));
    const bar = (ns, c) => known(ns) ? [{ from: 0, to: ns / most, color: c, title: time(ns) }] : [];
    const cell = v => ({ text: human("time", v), title: exact("time", v) });
    const rows = [{ name: W.basis === "measured" ? "now, measured" : "now, roofline time", parts: bar(W.now_ns, color(0)), cells: [cell(W.now_ns), { text: "" }, { text: "" }, { text: grouped(W.rows) }] }];
    for (const x of W.steps) rows.push({
      name: x.what, title: [x.what, x.assumed, x.missing && "unknown: " + x.missing + " is missing"].filter(Boolean).join("\n"), parts: bar(x.after_ns, color(2)),
      cells: [cell(x.after_ns), cell(x.saved_ns), { text: known(x.speedup_in_all) ? ratio(x.speedup_in_all) + "×" : UNKNOWN }, { text: grouped(x.rows) }],
    });
    const notes = W.steps.map(x => [x.assumed, x.missing && "Unknown: " + x.missing + " is missing"].filter(Boolean).join(". ")).filter(Boolean);
    if (W.rest_ns > 0) notes.push(time(W.rest_ns) + " per run are outside operators and stay unchanged");
    body.replaceChildren(barTable("What if", ["step", "", "time", "saved", "speedup", "rows"], rows, null, 60), el("p", { class: "note" }, [...new Set(notes)].join(". ") + (notes.length ? "." : "")));
  }
  themed.push(draw);
  s.ready = draw;
  return s;
}

function kernelsSection() {
  if (!kernels.length) return null;
  const most = kernels[0].time || 1, body = el("div", { class: "panel" });
  const s = section("kernels", "Longest kernels", body);
  s.querySelector("h2").dataset.short = "Kernels";
  function draw() {
    const list = kernels.filter(g => !shownMask || [...g.rows].some(isShown));
    const rows = list.slice(0, TOP_BARS).map(g => ({
      name: g.key, kernel: g, parts: [{ from: 0, to: g.time / most, color: g.kind === "kernel" ? color(0) : color(4), title: time(g.time) }],
      cells: [{ text: time(g.time), title: exact("time", g.time) }, { text: percent(g.time / kernelTime) }, { text: grouped(g.calls) }, { text: human("time", g.mean) }, { text: g.precision || "", class: "hide-small" }],
    }));
    const head = ["kernel", "", "time", "%", "calls", "mean", "precision"];
    body.replaceChildren(barTable("Longest kernels", head, rows, r => openKernel(r.kernel), 72),
      el("p", { class: "note" }, (shownMask ? grouped(list.length) + " of " : "") + grouped(kernels.length) + " distinct kernels and copies, " + time(kernelTime) + " per run in total; calls and mean are over all used runs. The table Kernels lists all."));
  }
  onState(what => { if (filtered(what)) draw(); });
  themed.push(draw);
  s.ready = draw;
  return s;
}
