/* The modules of the model as an icicle chart: width is a share of the chosen figure, each line is one level deeper.
 * Modules that repeat ("32 × layer") are one block; a module opens, an operator shows its details. */
const LEVELS = 7, NARROW = .0015, REPEATS = 3;

/* "/layer4/layer4.0/conv2/Conv": layer4, layer4.0, conv2, Conv. Without slashes: split at dots. */
const partsOf = text => { const c = text.includes("/") ? "/" : "."; return text.includes(c) ? text.split(c).filter(Boolean) : text ? [text] : []; };
function pathOf(i) {
  const own = txt(C.module, i), node = firstNode(i), full = node >= 0 && NODE.name && NODE.name.at(node) || rowName(i), at = full.indexOf("(");
  const path = partsOf(at < 0 ? full : full.slice(0, at));
  return own ? [...own.split("."), path.pop() || rowType(i)] : path.length ? path : [rowType(i)];
}
/* kids: rows and modules, possibly 100,000; plain: chains among them are one module. children: the modules that are drawn, made
 * at the first use. each: the modules or rows that were merged into this one. inner: modules by name. */
class Module {
  constructor(name, parent, row = -1) { this.name = name; this.parent = parent; this.row = row; this.kids = []; this.rows = 0; this.each = null; this.inner = null; this.children = null; this.sums = null; this.plain = false; }
  get members() { return this.each ? this.each.length : 1; }
  get path() { return this.parent ? this.parent.path + "/" + this.name : ""; }
}
const isRow = k => typeof k === "number", rowsOf = k => isRow(k) ? 1 : k.rows;
function leafOf(row, parent) {
  const leaf = new Module(pathOf(row).pop(), parent, row); /* operators of the same name stay apart */
  leaf.rows = 1;
  return leaf;
}
/* The rows in the order of the model. */
function inModelOrder(rows) {
  const first = i => { const n = firstNode(i); return n < 0 ? Infinity : n; };
  for (let k = 1; k < rows.length; k++)
    if (first(rows[k - 1]) > first(rows[k])) return Array.from(rows).sort((a, b) => first(a) - first(b) || a - b);
  return rows;
}
function moduleAt(top, path) {
  let at = top;
  for (const part of path) {
    at.inner ??= new Map();
    let next = at.inner.get(part);
    if (!next) {
      at.inner.set(part, next = new Module(part, at));
      at.kids.push(next);
    }
    at = next;
  }
  return at;
}
/* The part of a name before its last separator: names that have it in common are in one module. */
function folderOf(name) {
  if (name.includes("(")) return null;
  const at = name.lastIndexOf("/"), to = at < 0 ? name.lastIndexOf(".") : at;
  return to > 0 && to < name.length - 1 ? name.slice(0, to + 1) : null;
}
function structureTree(rows) {
  const top = new Module("model", null);
  let folder = null, at = top;
  for (const i of inModelOrder(rows)) {
    const node = firstNode(i), here = txt(C.module, i) ? null : folderOf(node >= 0 && NODE.name && NODE.name.at(node) || rowName(i));
    if (here === null || here !== folder) at = moduleAt(top, pathOf(i).slice(0, -1));
    folder = here;
    at.kids.push(i);
    for (let m = at; m; m = m.parent) m.rows++;
  }
  return top;
}
/* A module with one child is one block with it. */
function withoutChain(m) {
  while (!isRow(m) && m.row < 0 && m.kids.length === 1) {
    const only = m.kids[0], name = isRow(only) ? pathOf(only).pop() : only.name;
    m.name += "/" + name;
    m.row = isRow(only) ? only : only.row;
    m.kids = isRow(only) ? [] : only.kids;
    for (const k of m.kids) if (!isRow(k)) k.parent = m;
  }
  return m;
}
/* What a module consists of, without the numbers in names. */
function shapeOf(k) {
  while (!isRow(k) && k.kids.length === 1) k = k.kids[0];
  return isRow(k) ? rowType(k) : k.row >= 0 ? rowType(k.row) : "(" + k.kids.map(shapeOf).join() + ")";
}
const pattern = name => name.replace(/\d+/g, "N");
function merged(list, parent) {
  const first = list[0], m = isRow(first) ? leafOf(first, parent) : new Module(first.name, parent, first.row);
  m.rows = list.reduce((n, x) => n + rowsOf(x), 0);
  m.each = list;
  return m;
}
/* Siblings before repeated ones are merged: rows and modules. */
function kidsOf(m) {
  if (m.each && m.row < 0) return kidsOf(m.each[0]).map((k, at) => merged(m.each.map(x => kidsOf(x)[at]), m));
  if (!m.plain) for (let i = 0; i < m.kids.length; i++) m.kids[i] = withoutChain(m.kids[i]);
  m.plain = true;
  return m.kids;
}
/* Siblings whose names differ in numbers only, and that consist of the same operators, are one block. */
function childrenOf(m) {
  if (m.children) return m.children;
  const groups = new Map(), kids = kidsOf(m);
  const lists = kids.map(k => {
    if (isRow(k) || k.row >= 0) return null;
    const key = pattern(k.name) + "\n" + shapeOf(k.each ? k.each[0] : k);
    let list = groups.get(key);
    if (!list) groups.set(key, list = []);
    list.push(k);
    return list;
  });
  m.children = [];
  kids.forEach((k, i) => {
    const list = lists[i];
    if (!list || list.length < REPEATS) m.children.push(isRow(k) ? leafOf(k, m) : k);
    else if (k === list[0]) m.children.push(merged(list.flatMap(x => x.each || [x]), m));
  });
  return m.children;
}
/* The sum of a column over the known values of its rows; undefined: none is known. */
function sumOf(m, key) {
  if (m.sums && key in m.sums) return m.sums[key];
  const v = C[key].numbers;
  let sum = 0, some = false;
  for (const k of m.each || (m.row >= 0 ? [m.row] : m.kids)) {
    const x = isRow(k) ? v[k] : sumOf(k, key);
    if (x !== undefined && x === x) { sum += x; some = true; }
  }
  if (m.rows > 16) (m.sums ??= {})[key] = some ? sum : undefined; /* few rows are added up again */
  return some ? sum : undefined;
}
/* The tree of the rows that match the other filters. */
let treeNow = null, treeRows = null;
function moduleTree() {
  if (treeRows !== matchingRows) { treeNow = structureTree(matchingRows); treeRows = matchingRows; }
  return treeNow;
}
function findModule(path) {
  let at = moduleTree(), next = at;
  const leads = k => path && (path === k.path || path.startsWith(k.path + "/"));
  while (next) {
    at = next;
    next = childrenOf(at).find(leads);
    if (!next) for (const k of childrenOf(at)) if (k.each && k.row < 0 && !next) next = k.each.find(x => x !== k.each[0] && leads(x)); /* one of a fold */
  }
  return at.row >= 0 ? at.parent : at;
}
function rowsUnder(m, out) {
  if (isRow(m)) out.push(m);
  else if (m.each) m.each.forEach(x => rowsUnder(x, out));
  else if (m.row >= 0) out.push(m.row);
  else m.kids.forEach(k => rowsUnder(k, out));
  return out;
}
function rowsInModule(path) {
  const m = findModule(path);
  return m.parent ? Uint32Array.from(rowsUnder(m, [])).sort() : matchingRows;
}
const labelOf = m => {
  const above = m.parent && m.parent.name.split("/").pop();
  const own = above && m.name.startsWith(above + ".") ? m.name.slice(above.length) : m.name;
  return m.each && m.each.length > 1 ? m.members + " × " + pattern(own).replace(/^\./, above + ".") : own;
};
function structureSection() {
  const metrics = [["time", "Time", "time"], ["wasted", "Gap", "time"], ["flo", "FLOPs", "si"], ["bytes", "Bytes", "bytes"]].filter(([k]) => C[k] && someKnown(C[k]));
  if (D.grouped || N < 8 || !metrics.length) return null;
  const some = Array.from({ length: Math.min(N, 400) }, (_, i) => pathOf(i).length);
  const flat = some.reduce((a, b) => a + b, 0) < 1.5 * some.length; /* names without modules */
  if (flat && !EDGES) return null;
  const metric = () => metrics.find(m => m[0] === S.mass) || metrics[0], metricName = () => metric()[1].replace(/^[A-Z](?=[a-z])/, c => c.toLowerCase());
  const box = el("div", { class: "icicle", role: "group", "aria-label": "Modules; arrow keys move, Enter opens" }), trail = el("nav", { class: "trail", "aria-label": "Opened module" }), note = el("p", { class: "note" });
  const by = choice("Width", metrics.map(m => [m[0], m[1]]), () => metric()[0], v => change(["mass"], { mass: v }));
  const s = section("structure", flat ? "Graph" : "Modules", el("div", { class: "panel" }, trail, box, note));
  s.head.append(by);
  const toggle = el("button", { type: "button", onclick: () => change(["graph"], { graph: S.graph === null ? "0" : null }) }, "Graph");
  const graph = EDGES ? graphView({ weight: m => weight(m, metric()[0]), text: m => human(metric()[2], weight(m, metric()[0])), words: m => words(m), name: () => metricName() }, m => change(["module", "graph"], { module: m.path || null, graph: "0" })) : null;
  if (graph) { s.head.append(toggle); s.querySelector(".panel").append(graph); }
  let tree = null;
  const weight = (k, key) => Math.max(0, (isRow(k) ? num(C[key], k) : sumOf(k, key)) || 0);
  const open = m => change(["module"], { module: m.path || null });
  const words = m => {
    const [shown, , kindShown] = metric(), parts = [], own = weight(m, shown);
    parts.push(human(kindShown, own) + " (" + percent(own / weight(tree, shown)) + " %)");
    if (m.each && m.each.length > 1) {
      let least = Infinity, most = 0;
      for (const x of m.each) { const w = weight(x, shown); least = Math.min(least, w); most = Math.max(most, w); }
      const mean = own / m.each.length;
      parts.push(human(kindShown, mean) + " each, spread " + percent((most - least) / mean) + " %");
    }
    for (const [key, , kind] of metrics) if (key !== shown && sumOf(m, key) !== undefined) parts.push(metrics.find(x => x[0] === key)[1] + " " + human(kind, sumOf(m, key)));
    const efficiency = hasTime && C.roof ? sumOf(m, "roof") / sumOf(m, "time") : 0;
    if (efficiency > 0 && efficiency < Infinity) parts.push("efficiency " + percent(Math.min(1, efficiency)) + " %");
    if (m.row < 0) parts.push(grouped(m.rows) + " rows");
    return parts.join(", ");
  };
  const wide = width => width * (box.clientWidth || 1000) > 16; /* room for a letter */
  function block(m, from, width, depth) {
    const leaf = m.row >= 0, type = leaf ? rowType(m.row) : null;
    const back = leaf ? typeColor(type) : null, about = words(m);
    const b = el("button", {
      type: "button", class: (leaf ? "leaf" : "module") + (wide(width) ? "" : " narrow"), tabindex: "-1", title: m.path + "\n" + about, "aria-label": labelOf(m) + ": " + about,
      style: { left: 100 * from + "%", width: 100 * width + "%", top: 26 * depth + "px", background: back, color: back ? inkOn(back) : null },
      onclick: () => leaf ? openRow(m.row) : open(m),
    }, wide(width) ? labelOf(m) : "");
    b.place = m;
    return b;
  }
  function lay(m, from, width, depth, out) {
    if (depth > LEVELS || width < NARROW) return depth - 1;
    if (depth >= 0) out.push(block(m, from, width, depth));
    let at = from, deepest = depth;
    const key = metric()[0], all = weight(m, key), kids = childrenOf(m);
    for (const k of kids) {
      const w = all > 0 ? width * weight(k, key) / all : 0;
      deepest = Math.max(deepest, lay(k, at, w, depth + 1, out));
      at += w;
    }
    return deepest;
  }
  function draw() {
    by.update();
    tree = moduleTree();
    const root = findModule(S.module || ""), out = [], deepest = flat ? 0 : lay(root, 0, 1, 0, out);
    box.style.height = 26 * (deepest + 1) + "px";
    box.hidden = flat;
    toggle.setAttribute("aria-pressed", S.graph !== null);
    if (graph) graph.draw(root);
    box.replaceChildren(...out);
    if (out.length) out[0].tabIndex = 0;
    const above = [];
    for (let m = root; m; m = m.parent) above.unshift(m);
    trail.replaceChildren(...above.flatMap((m, k) => [k ? " / " : "", m === root ? el("b", null, m === tree ? D.title : labelOf(m)) : el("a", { href: "#", onclick: e => { e.preventDefault(); open(m); } }, m === tree ? D.title : labelOf(m))]), " " + words(root));
    const n = childrenOf(root).length;
    note.textContent = flat ? "" : n ? "Width: share of " + metricName() + ". Colours are operator types; a module opens with a click." : "No row matches the filter.";
  }
  box.addEventListener("keydown", e => {
    const list = [...box.children], at = list.indexOf(document.activeElement);
    if (at < 0) return;
    const m = list[at].place, siblings = m.parent ? list.filter(b => b.place.parent === m.parent) : [list[at]], k = siblings.indexOf(list[at]);
    const to = e.key === "ArrowRight" ? siblings[k + 1] : e.key === "ArrowLeft" ? siblings[k - 1] : e.key === "ArrowUp" ? list.find(b => b.place === m.parent) : e.key === "ArrowDown" ? list.find(b => b.place.parent === m) : null;
    if (e.key === "Backspace" && m.parent) open(m.parent.parent || m.parent);
    if (!to) return;
    e.preventDefault();
    list[at].tabIndex = -1;
    to.tabIndex = 0;
    to.focus();
  });
  const again = what => {
    if ((filtered(what) || what.includes("mass") || what.includes("graph")) && s.drawn) draw();
  };
  onState(again);
  themed.push(() => { if (s.drawn) draw(); });
  s.ready = () => { s.drawn = true; draw(); };
  return s;
}
