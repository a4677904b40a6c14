/* The opened module as a graph: operators and modules as blocks, tensors as edges. Only this module is laid out, by dagre;
 * what it reads from outside, and who reads it, are dashed blocks. Rows that the filter hides are passed through. */
const GRAPH_MOST = 150, PASSED_MOST = 4096, BLOCK_HEIGHT = 38, GRAPH_FONT = "11.5px system-ui, sans-serif";

const EDGES = D.edges ? { to: addSteps(D.edges.to_steps), back: integers(D.edges.back), type: integers(D.edges.type), types: D.edges.types, bytes: D.edges.bytes.map(b => b === null ? NaN : Number(b)), inputs: D.edges.inputs, first: null } : null;
/* The edges into a node: those from first[node] to first[node + 1]. */
function firstEdges() {
  if (!EDGES.first) {
    const n = EDGES.to.length ? EDGES.to[EDGES.to.length - 1] + 1 : 0, first = new Uint32Array(n + 2);
    for (const to of EDGES.to) first[to + 1]++;
    for (let i = 1; i <= n; i++) first[i] += first[i - 1];
    first[n + 1] = EDGES.to.length;
    EDGES.first = first;
  }
  return EDGES.first;
}
const fromNode = e => EDGES.to[e] - EDGES.back[e]; /* negative: -1 - the number of an input */

/* f(row or -1 - input, type) for every row that feeds an edge: producers without a shown row are passed through. */
function eachSource(e, isIn, f, type = EDGES.type[e], seen = new Set()) {
  const from = fromNode(e);
  if (from < 0) { f(from, type, from); return; }
  const row = rowOfNode(from), first = firstEdges();
  if (row >= 0 && isIn(row)) { f(row, type, from); return; }
  if (seen.has(from) || seen.size > PASSED_MOST || from + 1 >= first.length) return;
  seen.add(from);
  for (let k = first[from]; k < first[from + 1]; k++) eachSource(k, isIn, f, type, seen);
}
/* The blocks of a module, those from `start` on, and the edges between them: { blocks, edges, start, all }. */
function moduleGraph(root, start) {
  const one = root.each && root.row < 0 ? root.each[0] : root;
  const all = childrenOf(one).flatMap(k => k.each && k.row < 0 && k.each.length > 1 ? k.each : [k]);
  const kids = all.slice(start, start + GRAPH_MOST), blocks = kids.map(m => ({ m, name: m.name, into: [], out: [] }));
  const place = new Int32Array(N).fill(-1), isIn = matchingRows === allRows ? () => true : (mask => i => mask[i] === 1)(matchingRows.reduce((v, i) => { v[i] = 1; return v; }, new Uint8Array(N)));
  all.forEach((k, at) => { for (const i of rowsUnder(k, [])) place[i] = at < start ? -2 : at >= start + GRAPH_MOST ? -3 : at - start; });
  const outside = new Map(), above = (one.path || "").split("/").filter(Boolean);
  function blockOf(row, side) { /* of a row or an input, as a source or a reader */
    if (row >= 0 && place[row] >= 0) return blocks[place[row]];
    let name;
    if (row < 0) name = EDGES.inputs[-1 - row] || "input";
    else if (place[row] < -1) name = place[row] === -2 ? "before" : "after";
    else {
      const path = pathOf(row);
      let same = 0;
      while (same < above.length && path[same] === above[same]) same++;
      name = path.slice(0, same + 1).join("/");
    }
    const key = side + (row < 0 ? " input " : " ") + pattern(name); /* names that differ in numbers are one block */
    if (!outside.has(key)) outside.set(key, { m: null, name, names: new Set(), into: [], out: [] });
    const block = outside.get(key);
    block.names.add(name);
    if (block.names.size > 1) block.name = block.names.size + " × " + pattern(name);
    return block;
  }
  const edges = new Map(), no = new Map(blocks.map((b, i) => [b, i]));
  for (let e = 0; e < EDGES.to.length; e++) {
    const row = rowOfNode(EDGES.to[e]);
    if (row < 0 || !isIn(row)) continue;
    eachSource(e, isIn, (source, type, from) => {
      if (source === row || (place[row] < 0 && !(source >= 0 && place[source] >= 0))) return;
      const a = blockOf(source, "from"), b = blockOf(row, "to");
      if (a === b) return;
      for (const x of [a, b]) if (!no.has(x)) no.set(x, no.size);
      const key = no.get(a) + ">" + no.get(b);
      if (!edges.has(key)) { const edge = { a, b, tensors: new Map() }; edges.set(key, edge); a.out.push(edge); b.into.push(edge); }
      edges.get(key).tensors.set(from + ":" + type, type);
    });
  }
  return { blocks: [...blocks, ...outside.values()], edges: [...edges.values()], start, all: all.length };
}
const bytesOfEdge = e => [...e.tensors.values()].reduce((s, t) => s + EDGES.bytes[t], 0);
function edgeText(e) {
  const list = [...e.tensors.values()], size = bytesOfEdge(e);
  return (list.length === 1 ? middle(EDGES.types[list[0]], 34) : list.length + " tensors") + ", " + (known(size) ? bytes(size) : UNKNOWN);
}
/* Sets x, y (the center), w, h of blocks, points of edges; returns the size. */
function layOut(graph, measure) {
  const g = new dagre.graphlib.Graph();
  g.setGraph({ nodesep: 22, edgesep: 14, ranksep: 26, marginx: 10, marginy: 10 });
  graph.blocks.forEach((b, i) => {
    b.w = Math.ceil(Math.max(70, Math.min(230, measure(b.name) + 18, 230), b.value ? measure(b.value) + 18 : 0));
    b.h = b.m ? BLOCK_HEIGHT : 22;
    b.no = i;
    g.setNode(i, { width: b.w, height: b.h });
  });
  for (const e of graph.edges) { e.text = edgeText(e); g.setEdge(e.a.no, e.b.no, { width: Math.ceil(measure(e.text)) + 6, height: 15, labelpos: "c" }); }
  dagre.layout(g);
  graph.blocks.forEach((b, i) => { const n = g.node(i); b.x = n.x; b.y = n.y; });
  for (const e of graph.edges) { const k = g.edge(e.a.no, e.b.no); e.points = k.points; e.x = k.x; e.y = k.y; }
  const size = g.graph();
  return [Math.ceil(size.width) || 0, Math.ceil(size.height) || 0];
}
function drawEdges(g, graph) {
  g.lineWidth = 1.2;
  for (const e of graph.edges) {
    const p = e.points, end = p[p.length - 1], before = p[p.length - 2];
    g.strokeStyle = css("--soft");
    g.setLineDash(e.a.m && e.b.m ? [] : [4, 3]);
    g.beginPath();
    g.moveTo(p[0].x, p[0].y);
    for (let i = 1; i < p.length - 1; i++) {
      const to = i === p.length - 2 ? end : { x: (p[i].x + p[i + 1].x) / 2, y: (p[i].y + p[i + 1].y) / 2 };
      g.quadraticCurveTo(p[i].x, p[i].y, to.x, to.y);
    }
    if (p.length === 2) g.lineTo(end.x, end.y);
    g.stroke();
    g.setLineDash([]);
    const angle = Math.atan2(end.y - before.y, end.x - before.x);
    g.fillStyle = css("--soft");
    g.beginPath();
    g.moveTo(end.x, end.y);
    for (const side of [-1, 1]) g.lineTo(end.x - 7 * Math.cos(angle + side * .4), end.y - 7 * Math.sin(angle + side * .4));
    g.closePath();
    g.fill();
  }
  g.font = "10.5px system-ui, sans-serif";
  g.textAlign = "center";
  g.textBaseline = "middle";
  for (const e of graph.edges) {
    g.fillStyle = css("--panel");
    g.fillRect(e.x - g.measureText(e.text).width / 2 - 2, e.y - 7, g.measureText(e.text).width + 4, 14);
    g.fillStyle = css("--soft");
    g.fillText(e.text, e.x, e.y);
  }
}
/* The whole drawing, for an image. */
function drawGraph(g, graph) {
  drawEdges(g, graph);
  g.textAlign = "center";
  g.textBaseline = "middle";
  for (const b of graph.blocks) {
    g.fillStyle = css("--panel");
    g.fillRect(b.x - b.w / 2, b.y - b.h / 2, b.w, b.h);
    if (b.color) { g.fillStyle = b.color; g.fillRect(b.x - b.w / 2, b.y - b.h / 2, b.w, b.h); }
    g.strokeStyle = css(b.m ? "--soft" : "--line");
    g.setLineDash(b.m ? [] : [4, 3]);
    g.strokeRect(b.x - b.w / 2, b.y - b.h / 2, b.w, b.h);
    g.setLineDash([]);
    g.fillStyle = css("--ink");
    g.font = "600 " + GRAPH_FONT;
    g.fillText(b.shown, b.x, b.value ? b.y - 8 : b.y);
    g.font = GRAPH_FONT;
    if (b.value) { g.fillStyle = css("--soft"); g.fillText(b.value, b.x, b.y + 9); }
  }
}
/* measure of a module: { weight(m), text(m), words(m) }; open(m) opens it. */
function graphView(measureOf, open) {
  const g2 = document.createElement("canvas").getContext("2d"), widthOf = t => { g2.font = "600 " + GRAPH_FONT; return g2.measureText(t).width; };
  const inner = el("div", { class: "inner" }), box = el("div", { class: "graph scroll", role: "group", tabindex: "0", "aria-label": "Graph of the opened module; arrow keys follow the edges, Enter opens" }, inner), note = el("p", { class: "note", role: "status" });
  const view = el("div", { class: "graph-view", hidden: true }, note, box);
  let drawing = 0, now = null, size = [0, 0];
  const scale = () => Math.min(1, 7500 / Math.max(...size, 1)); /* canvases have a largest size */
  const images = imageButtons("graph", "the graph", () => size.map(v => v * scale()), g => { g.scale(scale(), scale()); drawGraph(g, now); });
  view.prepend(images);
  const listText = (edges, side) => edges.map(e => e[side].name + " (" + e.text + ")").slice(0, 4).join(", ") + (edges.length > 4 ? " and " + (edges.length - 4) + " more" : "");
  function button(b) {
    const leaf = b.m.row >= 0, about = measureOf.words(b.m) + (b.into.length ? "\nreads " + listText(b.into, "a") : "") + (b.out.length ? "\nread by " + listText(b.out, "b") : "");
    const e = el("button", { type: "button", tabindex: "-1", class: leaf ? "leaf" : "module", title: b.m.path + "\n" + about, "aria-label": b.name + ": " + about.replace(/\n/g, "; "), onclick: () => leaf ? openRow(b.m.row) : open(b.m),
      style: { left: b.x - b.w / 2 + "px", top: b.y - b.h / 2 + "px", width: b.w + "px", height: b.h + "px", background: b.color ? `linear-gradient(${b.color}, ${b.color}), var(--panel)` : null, borderLeftColor: leaf ? typeColor(rowType(b.m.row)) : null } }, el("b", null, b.shown), el("span", null, b.value));
    b.e = e;
    e.block = b;
    return e;
  }
  view.draw = async root => {
    const mine = ++drawing;
    view.hidden = S.graph === null || !root;
    if (view.hidden) { inner.replaceChildren(); return; }
    await library("dagre");
    if (mine !== drawing) return;
    const hadFocus = inner.contains(document.activeElement), start = Math.max(0, Math.floor(Number(S.graph) || 0)), graph = moduleGraph(root, start);
    const most = Math.max(...graph.blocks.map(b => b.m ? measureOf.weight(b.m) : 0), 0);
    for (const b of graph.blocks) {
      const share = b.m && most > 0 ? measureOf.weight(b.m) / most : 0;
      b.shown = middle(b.name, 30);
      b.value = b.m ? (b.m.row >= 0 ? middle(rowType(b.m.row), 16) + ", " : "") + measureOf.text(b.m) : "";
      b.color = b.m ? color(1) + Math.round(20 + 130 * share).toString(16).padStart(2, "0") : null;
    }
    now = graph;
    size = graph.blocks.length ? layOut(graph, widthOf) : [0, 0];
    const svg = new SvgContext(...size);
    drawEdges(svg, graph);
    const lines = document.importNode(new DOMParser().parseFromString(svg.text(), "image/svg+xml").documentElement, true);
    lines.setAttribute("aria-hidden", "true");
    inner.style.width = size[0] + "px";
    inner.style.height = size[1] + "px";
    const blocks = graph.blocks.filter(b => b.m).map(button);
    inner.replaceChildren(lines, ...blocks, ...graph.blocks.filter(b => !b.m).map(b => el("span", { class: "outside", title: b.name, style: { left: b.x - b.w / 2 + "px", top: b.y - b.h / 2 + "px", width: b.w + "px", height: b.h + "px" } }, b.shown)));
    box.scrollTo(Math.max(0, (size[0] - box.clientWidth) / 2), 0);
    if (blocks.length) blocks[0].tabIndex = 0;
    if (hadFocus && blocks.length) blocks[0].focus();
    const end = start + blocks.length, page = (to, text) => el("button", { type: "button", onclick: () => change(["graph"], { graph: String(to) }) }, text);
    note.replaceChildren((root.each && root.row < 0 && root.each.length > 1 ? "The first of " + root.members + " like it. " : "") + grouped(blocks.length) + " blocks, " + grouped(graph.edges.length) + " edges; a stronger colour is more " + measureOf.name() + ". A block opens with a click. ",
      graph.all > blocks.length ? grouped(start + 1) + " to " + grouped(end) + " of " + grouped(graph.all) + ", in the order of the model. " : "", start > 0 ? page(Math.max(0, start - GRAPH_MOST), "Previous") : "", end < graph.all ? page(end, "Next") : "");
  };
  inner.addEventListener("keydown", e => {
    const from = document.activeElement.block;
    if (!from) return;
    const sideways = d => now.blocks.filter(b => b.m && Math.abs(b.y - from.y) < BLOCK_HEIGHT / 2 && d * (b.x - from.x) > 0).sort((a, b) => d * (a.x - b.x))[0];
    const end = (edges, side) => (edges.find(x => x[side].m) || {})[side];
    const to = e.key === "ArrowDown" ? end(from.out, "b") : e.key === "ArrowUp" ? end(from.into, "a") : e.key === "ArrowRight" ? sideways(1) : e.key === "ArrowLeft" ? sideways(-1) : null;
    if (!to) return;
    e.preventDefault();
    from.e.tabIndex = -1;
    to.e.tabIndex = 0;
    to.e.focus();
  });
  return view;
}
