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
class Module {
  constructor(name, path, parent) { this.name = name; this.path = path; this.parent = parent; this.children = null; this.row = -1; this.rows = 0; this.members = 1; this.each = null; this.own = null; }
  /* of an operator: read when it is shown, there may be 100,000 */
  get sums() {
    if (!this.own) {
      this.own = {};
      if (this.row >= 0) addSums(this.own, this.row);
    }
    return this.own;
  }
}
const SUMMED = SUMS.filter(s => C[s]);
function addSums(sums, i) { for (const s of SUMMED) { const v = num(C[s], i); if (v === v) sums[s] = (sums[s] || 0) + v; } }
/* The rows in the order of the model. */
function inModelOrder(rows) {
  const first = i => { const n = firstNode(i); return n < 0 ? Infinity : n; };
  for (let k = 1; k < rows.length; k++)
    if (first(rows[k - 1]) > first(rows[k])) return Array.from(rows).sort((a, b) => first(a) - first(b) || a - b);
  return rows;
}
function structureTree(rows) {
  const top = new Module("model", "", null);
  top.children = [];
  for (const i of inModelOrder(rows)) {
    let at = top;
    const path = pathOf(i), last = path.pop();
    for (const part of path) {
      if (!at.inner) at.inner = new Map();
      let next = at.inner.get(part);
      if (!next) {
        at.inner.set(part, next = new Module(part, at.path + "/" + part, at));
        next.children = [];
        at.children.push(next);
      }
      at = next;
    }
    const leaf = new Module(last, at.path + "/" + last, at); /* operators of the same name stay apart */
    leaf.row = i;
    leaf.rows = 1;
    at.children.push(leaf);
    for (let m = at; m; m = m.parent) { m.rows++; addSums(m.sums, i); }
  }
  return top;
}
const childrenOf = m => m.children || [];
/* A module with one child is one block with it. */
function withoutChains(m) {
  let kids = childrenOf(m);
  while (m.parent && kids.length === 1 && m.row < 0) {
    const only = kids[0];
    m.name += "/" + only.name;
    m.path = only.path;
    m.row = only.row;
    m.children = kids = childrenOf(only);
    kids.forEach(k => { k.parent = m; });
  }
  for (const k of kids) if (k.row < 0) withoutChains(k);
  return m;
}
/* What a module consists of, without the numbers in names. */
function shapeOf(m) {
  if (m.shape === undefined) m.shape = m.row >= 0 ? rowType(m.row) : "(" + childrenOf(m).map(shapeOf).join() + ")";
  return m.shape;
}
const pattern = name => name.replace(/\d+/g, "N");
function merged(list, parent) {
  const first = list[0], m = new Module(first.name, first.path, parent);
  m.members = list.reduce((n, x) => n + x.members, 0);
  m.row = first.row;
  m.rows = list.reduce((n, x) => n + x.rows, 0);
  m.each = list;
  m.own = {};
  for (const x of list) {
    if (x.row >= 0 && !x.own) addSums(m.own, x.row);
    else for (const s in x.sums) m.own[s] = (m.own[s] || 0) + x.sums[s];
  }
  m.children = childrenOf(first).map((k, at) => merged(list.map(x => childrenOf(x)[at]), m));
  return m;
}
/* Siblings whose names differ in numbers only, and that consist of the same operators. */
function folded(m) {
  const groups = new Map(), kids = childrenOf(m), listOf = new Map();
  for (const k of kids) {
    if (k.row >= 0) continue;
    const key = pattern(k.name) + "\n" + shapeOf(k);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(k);
    listOf.set(k, groups.get(key));
  }
  if (!listOf.size) return m;
  m.children = kids.flatMap(k => {
    const list = listOf.get(k);
    return !list || list.length < REPEATS ? [k] : k === list[0] ? [merged(list, m)] : [];
  });
  for (const k of m.children) { k.parent = m; if (k.row < 0) folded(k); }
  return m;
}
/* The tree of the rows that match the other filters. */
let treeNow = null, treeRows = null;
function moduleTree() {
  if (treeRows !== matchingRows) { treeNow = folded(withoutChains(structureTree(matchingRows))); treeRows = matchingRows; }
  return treeNow;
}
function findModule(path) {
  let at = moduleTree(), next = at;
  const leads = k => path && (path === k.path || path.startsWith(k.path + "/"));
  while (next) {
    at = next;
    next = childrenOf(at).find(leads);
    if (!next) for (const k of childrenOf(at)) if (k.each && !next) next = k.each.find(x => x !== k.each[0] && leads(x)); /* one of a fold */
    if (next && !next.each && !next.folds) { folded(next); next.folds = true; }
  }
  return at.row >= 0 ? at.parent : at;
}
function rowsUnder(m, out) {
  if (m.each) m.each.forEach(x => rowsUnder(x, out));
  else if (m.row >= 0) out.push(m.row);
  else childrenOf(m).forEach(k => rowsUnder(k, out));
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
  const graph = EDGES ? graphView({ weight: m => weight(m), text: m => human(metric()[2], weight(m)), words: m => words(m), name: () => metricName() }, m => change(["module", "graph"], { module: m.path || null, graph: "0" })) : null;
  if (graph) { s.head.append(toggle); s.querySelector(".panel").append(graph); }
  let tree = null;
  const weight = (m, key = metric()[0]) => Math.max(0, (m.own || m.row < 0 ? m.sums[key] : num(C[key], m.row)) || 0);
  const open = m => change(["module"], { module: m.path || null });
  const words = m => {
    const parts = [], all = weight(tree);
    parts.push(human(metric()[2], weight(m)) + " (" + percent(weight(m) / all) + " %)");
    if (m.each && m.each.length > 1) {
      const each = m.each.map(weight), mean = weight(m) / each.length;
      parts.push(human(metric()[2], mean) + " each, spread " + percent((Math.max(...each) - Math.min(...each)) / mean) + " %");
    }
    for (const [key, , kind] of metrics) if (key !== metric()[0] && m.sums[key] !== undefined) parts.push(metrics.find(x => x[0] === key)[1] + " " + human(kind, m.sums[key]));
    if (hasTime && m.sums.roof > 0 && m.sums.time > 0) parts.push("efficiency " + percent(Math.min(1, m.sums.roof / m.sums.time)) + " %");
    if (m.row < 0) parts.push(grouped(m.rows) + " rows");
    return parts.join(", ");
  };
  const wide = width => width * (box.clientWidth || 1000) > 16; /* room for a letter */
  function block(m, from, width, depth) {
    const leaf = m.row >= 0, type = leaf ? rowType(m.row) : null;
    const back = leaf ? typeColor(type) : null;
    const b = el("button", {
      type: "button", class: (leaf ? "leaf" : "module") + (wide(width) ? "" : " narrow"), tabindex: "-1", title: m.path + "\n" + words(m), "aria-label": labelOf(m) + ": " + words(m),
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
  s.ready = () => whenSeen(s, () => { s.drawn = true; draw(); });
  return s;
}
