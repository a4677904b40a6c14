/* The tables: operators, types, modules, kernels. */
const gridOf = {}; /* indexed by tab */

function numberCell(kind, v, q) {
  if (!known(v)) return { text: UNKNOWN, title: "unknown", class: "dim" };
  return { text: (q ? MARK[q] : "") + human(kind, v), title: exact(kind, v) + (q ? " (" + WORD[q] + ")" : "") };
}

/* ---- operators ---- */
const BARRED = new Set(["time_ns", "wasted_ns", hasTime ? "" : "flo"]);
function operatorColumn(c) {
  const o = { key: c.key, title: c.title, text: c.text, about: c.key.replace(/_/g, " "), get keys() { return c.keys; }, get coded() { return c.coded; } };
  if (c.text) {
    o.mono = c.key === "name" || c.key === "nodes" || c.key === "inputs" || c.key === "outputs";
    o.most = SMALL ? 20 : c.key === "name" ? 46 : 34;
    o.cell = i => { const v = c.at(i) || ""; return { text: middle(v, o.most), title: v.length > o.most ? v.replace(/;/g, "\n") : null }; };
    return o;
  }
  let max = 0;
  if (BARRED.has(c.key)) for (const v of c.coded.list) if (v > max) max = v;
  o.cell = i => {
    const cell = numberCell(c.kind, c.at(i), boundNo(c, i));
    if (max > 0) cell.bar = Math.max(0, c.numbers[i] / max);
    return cell;
  };
  return o;
}
const shares = new Float64Array(N); /* indexed by row: cumulative share of the time */
const cumulative = {
  key: "cumulative", title: "cum %", about: "cumulative share of operator time, in the order shown",
  get keys() { return (hasTime ? C.time : C.share).numbers; },
  cell: i => ({ text: percent(shares[i]), title: (100 * shares[i]).toFixed(3) + " %" }),
};
function addShares(order) {
  let sum = 0;
  if (hasTime) for (const i of order) { const t = C.time.numbers[i]; if (t > 0) sum += t; shares[i] = sum / total.time; }
  else if (C.share) for (const i of order) shares[i] = sum += C.share.numbers[i] || 0; /* samples of another event */
}
const rowNumber = { key: "index", title: "#", about: "position in execution order", get keys() { return allRows; }, cell: i => ({ text: String(i + 1), class: "dim" }) };
const operatorColumns = (() => {
  const list = columns.map(operatorColumn), name = list.findIndex(c => c.key === (C.name ? "name" : "type"));
  const first = list.splice(Math.max(0, name), 1), type = list.findIndex(c => c.key === "type");
  const second = type >= 0 ? list.splice(type, 1) : [];
  const at = list.findIndex(c => c.key === "time_fraction");
  if (at >= 0) list.splice(at + 1, 0, cumulative);
  return [...first, rowNumber, ...second, ...list];
})();
const visible = new Set(operatorColumns.filter(c => (c === rowNumber && !SMALL) || c === cumulative || ((column(c.key) || {}).shown && someKnown(column(c.key)))).map(c => c.key));

/* ---- types, modules: sums of rows ---- */
function sumColumns(what, list, totals) {
  const col = (key, title, kind, value, more) => ({
    key, title, kind, ...more,
    keys: Float64Array.from(list, value),
    cell: k => numberCell(kind, value(list[k]), more && more.bound ? list[k].quality : 0),
  });
  const sum = (key, title, kind, bound) => C[key] && ({
    key, title,
    keys: Float64Array.from(list, g => g[key]),
    cell: k => {
      const g = list[k], left = g[key + "Unknown"], cell = numberCell(kind, g[key], bound ? g.quality : 0);
      if (left && known(g[key])) { cell.text = "≥" + cell.text.replace(/^[≤≥~]/, ""); cell.title += "; unknown for " + left + " of " + g.rows + " rows"; }
      if (key === "time" || (key === "flo" && !hasTime)) cell.bar = g[key] / Math.max(1e-300, ...[totals[key]]);
      return cell;
    },
  });
  const names = list.map(g => g.key), order = new Map([...names].sort((a, b) => a < b ? -1 : 1).map((n, i) => [n, i]));
  const first = { key: "key", title: what, text: true, mono: true, most: SMALL ? 24 : 44, keys: Float64Array.from(names, n => order.get(n)) };
  first.cell = k => ({ text: middle(names[k], first.most), title: names[k] });
  return [
    first,
    col("rows", "rows", "count", g => g.rows),
    sum("time", "time", "time"),
    C.time && col("time%", "time %", "fraction", g => g.time / totals.time),
    sum("flo", "FLOPs", "si", true),
    C.flo && col("flo%", "FLOPs %", "fraction", g => g.flo / totals.flo),
    hasTime && C.flo && col("rate", "GFLOP/s", "giga", g => g.points.n ? g.points.flo / g.points.time * 1e9 : NaN),
    sum("bytes", "moved", "bytes", true),
    C.bytes && col("bytes%", "moved %", "fraction", g => g.bytes / totals.bytes),
    hasTime && C.bytes && col("bandwidth", "GB/s", "giga", g => g.points.n ? g.points.bytes / g.points.time * 1e9 : NaN),
    C.flo && C.bytes && col("intensity", "FLOP/B", "ratio", g => g.points.n ? g.points.flo / g.points.bytes : NaN),
    sum("params", "params", "si"),
    sum("roof", "roofline", "time"),
    hasTime && hasRoof && col("eff", "eff %", "fraction", g => g.points.n ? g.points.roof / g.points.time : NaN),
    sum("wasted", "gap", "time"),
  ].filter(Boolean);
}
function groupGrid(tab, what, keyOf) {
  const list = () => addUp(shownRows, keyOf).sort(byWeight);
  let groups = list();
  const make = () => sumColumns(what, groups, total);
  const grid = new Grid({
    id: tab, label: "Sums by " + what, columns: make(), rows: groups.map((_, k) => k), sort: S.sort[tab] || [hasTime ? "time" : "flo", -1],
    onSort: sort => change(["sort"], { sort: { ...S.sort, [tab]: sort } }),
    onOpen: k => {
      if (what === "type") change(["types", "tab", "q"], { types: [groups[k].key], tab: "ops" });
      else change(["q", "tab"], { q: groups[k].key === "(top)" ? "" : groups[k].key, re: false, tab: "ops" });
    },
  });
  grid.refresh = () => {
    groups = list();
    grid.rows = groups.map((_, k) => k);
    grid.setColumns(make());
  };
  return grid;
}

/* ---- kernels ---- */
const kernelOfLaunch = [];
let launchesOfRow = null;
/* What the rows launched: numbers in the lists of D.kernels, those with the most time first. */
function launchesOf(row) {
  if (!launchesOfRow) {
    launchesOfRow = new Map();
    if (D.kernels) D.kernels.row.forEach((r, k) => { if (!launchesOfRow.has(r)) launchesOfRow.set(r, []); launchesOfRow.get(r).push(k); });
  }
  return (launchesOfRow.get(row) || []).sort((a, b) => D.kernels.time_ns[b] - D.kernels.time_ns[a]);
}
const kernels = (() => {
  const K = D.kernels;
  if (!K) return [];
  const t = key => new Column({ key, kind: "text", ...K[key] }, K.n);
  const name = t("name"), precision = t("precision"), unit = t("unit"), library = t("library"), kind = t("kind");
  const seen = new Map();
  for (let i = 0; i < K.n; i++) {
    const key = name.at(i) || "(unnamed)";
    let g = seen.get(key);
    if (!g) seen.set(key, g = { key, precision: precision.at(i), unit: unit.at(i), library: library.at(i), kind: kind.at(i), calls: 0, time: 0, total: 0, min: Infinity, max: 0, flop: NaN, bytes: NaN, rows: new Set() });
    g.calls += Number(K.calls[i]);
    kernelOfLaunch.push(g);
    if (K.time_ns[i] !== null) g.time += K.time_ns[i];
    if (K.total_ns[i] !== null) g.total += K.total_ns[i];
    if (K.min_ns[i] !== null) g.min = Math.min(g.min, K.min_ns[i]);
    if (K.max_ns[i] !== null) g.max = Math.max(g.max, K.max_ns[i]);
    if (K.row[i] >= 0) g.rows.add(K.row[i]);
  }
  for (const g of seen.values()) {
    if (!Number.isFinite(g.min)) g.min = g.max = NaN;
    g.mean = g.calls > 0 ? g.total / g.calls : NaN;
  }
  return [...seen.values()].sort((a, b) => b.time - a.time);
})();
const kernelTime = kernels.reduce((s, g) => s + g.time, 0);
function kernelColumns(list) {
  const text = (key, title, most) => {
    const rank = new Map([...new Set(list.map(g => g[key] || ""))].sort().map((s, i) => [s, i]));
    const o = { key, title, text: true, mono: key === "key", most, keys: Float64Array.from(list, g => g[key] ? rank.get(g[key]) : NaN) };
    o.cell = k => ({ text: middle(list[k][key] || "", o.most), title: list[k][key] });
    return o;
  };
  const number = (key, title, kind, value, bar) => ({ key, title, keys: Float64Array.from(list, value), cell: k => ({ ...numberCell(kind, value(list[k])), bar: bar ? value(list[k]) / list[0].time : 0 }) });
  return [
    text("key", "kernel", 60), number("time", "time", "time", g => g.time, true), number("share", "%", "fraction", g => g.time / kernelTime),
    number("calls", "calls", "count", g => g.calls), number("mean", "mean", "time", g => g.mean), number("min", "min", "time", g => g.min),
    number("max", "max", "time", g => g.max), number("rows", "rows", "count", g => g.rows.size), text("precision", "precision", 12),
    text("unit", "unit", 14), text("library", "library", 14), text("kind", "kind", 12),
  ];
}
function kernelGrid() {
  const list = () => {
    const inRows = g => !shownMask || [...g.rows].some(isShown);
    if (!S.q) return kernels.filter(inRows);
    let test;
    try { const re = S.re ? new RegExp(S.q, "i") : null, q = S.q.toLowerCase(); test = s => re ? re.test(s) : s.toLowerCase().includes(q); } catch (e) { return kernels; }
    return kernels.filter(g => test(g.key) || [...g.rows].some(i => test(rowName(i))));
  };
  let shown = list();
  const grid = new Grid({
    id: "kernels", label: "Kernels", columns: kernelColumns(shown), rows: shown.map((_, k) => k), sort: S.sort.kernels || ["time", -1],
    onSort: sort => change(["sort"], { sort: { ...S.sort, kernels: sort } }),
    onOpen: k => openKernel(shown[k]),
  });
  grid.refresh = () => {
    shown = list();
    grid.rows = shown.map((_, k) => k);
    grid.setColumns(shown.length ? kernelColumns(shown) : grid.columns);
  };
  return grid;
}

/* ---- the section ---- */
/* Rows of the filter and their time. */
function countText() {
  if (shownRows.length === N) return grouped(N) + (N === 1 ? " row" : " rows") + (D.rows < D.rows_of_all && !D.grouped ? " of " + grouped(D.rows_of_all) + " (selected by options)" : "");
  let t = 0;
  if (hasTime) for (const i of shownRows) t += C.time.numbers[i] || 0;
  return grouped(shownRows.length) + " of " + grouped(N) + " rows" + (hasTime ? ", " + time(t) + " (" + percent(t / total.time) + " % of operator time)" : "");
}
function tablesSection() {
  const tabs = [["ops", D.grouped ? "Groups" : "Operators"], ["types", "Types"], ["modules", "Modules"]];
  if (D.grouped) tabs.length = 1;
  if (kernels.length) tabs.push(["kernels", "Kernels"]);
  if (!tabs.some(t => t[0] === S.tab)) S.tab = "ops";
  const search = el("input", { type: "search", placeholder: "search name, type, #3", "aria-label": "Search name and type", value: S.q, id: "search" });
  const regex = el("button", { type: "button", "aria-pressed": S.re, title: "Search with a regular expression", onclick: () => change(["q"], { re: !S.re }) }, ".*");
  regex.setAttribute("aria-label", "Regular expression");
  let timer = null;
  search.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(() => change(["q"], { q: search.value }), N > 20000 ? 120 : 30); });
  const count = el("span", { class: "note", role: "status" });
  const clear = el("button", { type: "button", onclick: () => { search.value = ""; noFilter(); } }, "Clear");
  const menu = columnMenu(), csv = el("button", { type: "button", onclick: saveCsv, title: "Save the visible rows with all columns" }, "Save CSV");
  const pane = el("div", { id: "pane", role: "tabpanel" });
  const makers = {
    ops: () => new Grid({
      id: "ops", label: D.grouped ? "Groups" : "Operators", columns: operatorColumns.filter(c => visible.has(c.key)), rows: shownRows,
      onPaper: new Set(["name", "type", "time_ns", "time_fraction", "flo", "flop_per_s", "bytes", "flop_per_byte", "bound_by", "roofline_ns", "roofline_efficiency", "wasted_ns", "count", "params"]),
      sort: S.sort.ops || (hasTime ? ["time_ns", -1] : C.share ? ["time_fraction", -1] : ["flo", -1]), afterSort: addShares,
      onSort: sort => change(["sort"], { sort: { ...S.sort, ops: sort } }), onOpen: i => openRow(i),
    }),
    types: () => groupGrid("types", "type", rowType),
    modules: () => groupGrid("modules", "module", moduleOf),
    kernels: kernelGrid,
  };
  const tabBox = choice("Table", tabs, () => S.tab, tab => change(["tab"], { tab }));
  function show() {
    let grid = gridOf[S.tab];
    if (!grid) { grid = gridOf[S.tab] = makers[S.tab](); grid.stamp = filterNo; }
    pane.replaceChildren(grid.box);
    const stamp = filterNo;
    if (grid.stamp !== stamp) {
      grid.stamp = stamp;
      if (grid.refresh) grid.refresh(); else grid.setRows(shownRows);
    }
    grid.draw();
    pane.setAttribute("aria-label", tabs.find(t => t[0] === S.tab)[1]);
    menu.hidden = csv.hidden = S.tab !== "ops";
    tabBox.update();
    if (document.activeElement !== search) search.value = S.q;
    regex.setAttribute("aria-pressed", S.re);
    search.setAttribute("aria-invalid", !!searchError);
    clear.hidden = !isFiltered();
    count.textContent = searchError ? searchError : countText();
    count.classList.toggle("bad", !!searchError);
  }
  onState(what => {
    if (what.includes("sort")) for (const tab in gridOf) {
      const want = S.sort[tab], g = gridOf[tab];
      if (want && (g.sort[0] !== want[0] || g.sort[1] !== want[1])) { g.sort = want; g.sort_(); }
    }
    if (filtered(what) || what.includes("tab")) show();
  });
  const s = section("operators", "Tables", pane);
  s.classList.add("long");
  s.head.append(tabBox, search, regex, clear, count, el("span", { class: "push" }), csv, menu);
  for (const e of [search, regex, clear, csv, menu]) e.classList.add("controls");
  s.ready = show;
  return s;
}
/* Saves the visible rows in their order with all columns, in the format of --format csv. */
function saveCsv() {
  const quote = v => v === null || v === undefined ? "" : /[",\r\n]/.test(String(v)) ? '"' + String(v).replace(/"/g, '""') + '"' : String(v);
  const rows = [columns.map(c => c.key).join(",")];
  for (const i of gridOf.ops.order) rows.push(columns.map(c => quote(c.at(i))).join(","));
  saveFile(D.title.replace(/\.[^.]*$/, "") + ".csv", "text/csv", [rows.join("\r\n"), "\r\n"]);
  announce("table saved");
}
function columnMenu() {
  const list = el("div", { hidden: true }, operatorColumns.slice(1).map(c => el("label", null, el("input", {
    type: "checkbox", checked: visible.has(c.key), onchange: e => {
      if (e.target.checked) visible.add(c.key); else visible.delete(c.key);
      gridOf.ops.setColumns(operatorColumns.filter(x => visible.has(x.key)));
    },
  }), " " + c.title)));
  const button = el("button", { type: "button", "aria-expanded": "false", onclick: () => {
    list.hidden = !list.hidden;
    button.setAttribute("aria-expanded", !list.hidden);
  } }, "Columns");
  const box = el("div", { class: "menu" }, button, list);
  box.addEventListener("keydown", e => { if (e.key === "Escape" && !list.hidden) { list.hidden = true; button.setAttribute("aria-expanded", "false"); button.focus(); } });
  document.addEventListener("click", e => { if (!box.contains(e.target)) { list.hidden = true; button.setAttribute("aria-expanded", "false"); } });
  return box;
}
