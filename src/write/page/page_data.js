/* Access to the data: columns, rows by name and node, sums per type. */
const N = D.rows;
/* Integers: a list, or a text with a character for each number from -1, without the backslash. */
function integers(v) {
  if (typeof v !== "string") return v;
  const out = new Int8Array(v.length);
  for (let i = 0; i < v.length; i++) { const c = v.charCodeAt(i); out[i] = c - 66 - (c > 92); }
  return out;
}
function addSteps(v) {
  const steps = integers(v), out = new Int32Array(steps.length);
  let sum = 0;
  for (let i = 0; i < out.length; i++) out[i] = sum += steps[i];
  return out;
}
const ROW_NODES = D.row_nodes || (D.row_node_steps ? addSteps(D.row_node_steps) : null);

const numberOf = x => x === null ? NaN : Number(x);
class Column {
  constructor(c, n) {
    this.key = c.key;
    this.kind = c.kind;
    this.title = c.title || (c.key || "").replace(/_ns$/, "").replace(/_/g, " ");
    this.shown = c.shown;
    this.bound = c.bound;
    this.same = c.same;
    this.values = c.values;
    this.dict = c.dict;
    this.packed = c.index;
    this.index = null; /* unpacked at the first use */
    this.n = n;
    this.text = c.kind === "text";
  }
  at(i) { /* text, number, large number as a string of digits, or null */
    if (this.same !== undefined) return this.same;
    if (this.values) return this.values[i];
    const k = (this.index ??= integers(this.packed))[i];
    return k < 0 ? null : this.dict[k];
  }
  get numbers() { /* NaN: unknown */
    if (!this.asNumbers) {
      const v = new Float64Array(this.n), { values } = this;
      if (values) for (let i = 0; i < v.length; i++) v[i] = numberOf(values[i]);
      else if (this.dict) { const { list, index } = this.coded; for (let i = 0; i < v.length; i++) v[i] = list[index[i]]; }
      else v.fill(numberOf(this.same));
      this.asNumbers = v;
    }
    return this.asNumbers;
  }
  /* { list, index }: the number of row i is list[index[i]]; without an index list[i]. Columns of numbers have no index of -1. */
  get coded() {
    if (!this.asCoded) this.asCoded = this.dict && !this.text ? { list: Float64Array.from(this.dict, numberOf), index: this.index ??= integers(this.packed) } : { list: this.keys, index: null };
    return this.asCoded;
  }
  get ranks() { /* sort ranks of texts (natural order of digits); NaN: no text */
    if (!this.asRanks) {
      const pad = s => s.replace(/\d+/g, d => d.padStart(9, "0"));
      const v = new Float64Array(this.n), seen = new Map();
      for (let i = 0; i < this.n; i++) { const s = this.at(i); if (s !== null && s !== "") seen.set(s, 0); }
      const list = [...seen.keys()].map(s => [pad(s), s]).sort((a, b) => a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0);
      list.forEach((p, i) => seen.set(p[1], i));
      for (let i = 0; i < this.n; i++) { const s = this.at(i); v[i] = s === null || s === "" ? NaN : seen.get(s); }
      this.asRanks = v;
    }
    return this.asRanks;
  }
  get keys() { return this.text ? this.ranks : this.numbers; }
}

const columns = D.columns.map(c => new Column(c, N));
const column = key => columns.find(c => c.key === key) || null;
const C = {}; /* columns that the page refers to; null: not in this report */
for (const [name, key] of Object.entries({
  name: "name", type: "type", time: "time_ns", flo: "flo", bytes: "bytes", roof: "roofline_ns", wasted: "wasted_ns",
  intensity: "flop_per_byte", bound: "bound_by", params: "params", inputs: "inputs", outputs: "outputs", macs: "macs",
  efficiency: "roofline_efficiency", nodes: "nodes", rule: "matched_by", calls: "calls", above: "above_roofline",
  rate: "flop_per_s", bandwidth: "bytes_per_s", scope: "scope", provider: "provider", module: "module", source: "source_line",
  share: "time_fraction", runtime: "runtime_name",
})) C[name] = column(key);
const num = (c, i) => c ? c.numbers[i] : NaN;
const txt = (c, i) => c ? c.at(i) : null;
const someKnown = c => { if (!c) return false; for (let i = 0; i < N; i++) if (c.at(i) !== null) return true; return false; };
const hasTime = someKnown(C.time), hasRoof = !!D.hardware && someKnown(C.roof);
const rowName = i => txt(C.name, i) || txt(C.type, i) || "row " + (i + 1);
const rowType = i => txt(C.type, i) || "(no type)";
const quality = i => D.quality.charCodeAt(i) - 48;
const boundNo = (c, i) => !c.bound ? 0 : c.kind === "ratio" && quality(i) % 4 ? 3 : quality(i) % 4; /* a quotient of bounds is an estimate */

/* ---- nodes ---- */
const nodeTexts = key => D.nodes && D.nodes[key] ? new Column({ key, kind: "text", ...D.nodes[key] }, 0) : null;
const NODE = { name: nodeTexts("name"), type: nodeTexts("type"), formula: nodeTexts("formula") };
const nodesOf = i => {
  const n = ROW_NODES ? ROW_NODES[i] : -1;
  return Array.isArray(n) ? n : n < 0 ? [] : [n];
};
const firstNode = i => { /* -1: none */
  const n = ROW_NODES ? ROW_NODES[i] : -1;
  return Array.isArray(n) ? n.length ? n[0] : -1 : n;
};
let rowOfNodeMap = null;
function rowOfNode(node) {
  if (!rowOfNodeMap) {
    let most = -1;
    for (let i = 0; i < N; i++) { const n = ROW_NODES ? ROW_NODES[i] : -1; most = Array.isArray(n) ? Math.max(most, ...n) : Math.max(most, n); }
    rowOfNodeMap = new Int32Array(most + 1).fill(-1);
    for (let i = N - 1; i >= 0; i--) { const n = ROW_NODES ? ROW_NODES[i] : -1; if (Array.isArray(n)) n.forEach(k => { rowOfNodeMap[k] = i; }); else if (n >= 0) rowOfNodeMap[n] = i; }
  }
  return rowOfNodeMap[node] ?? -1;
}
function nodeName(node) {
  const own = NODE.name && NODE.name.at(node);
  if (own) return own;
  const row = rowOfNode(node);
  return row < 0 ? "node " + node : rowName(row);
}
let rowByName = null;
/* The row of that name, or that covers the node of that name; -1: none. */
function nodeRow(text) {
  if (!rowByName) {
    rowByName = new Map();
    for (let i = N - 1; i >= 0; i--) rowByName.set(rowName(i), i);
    if (ROW_NODES) for (let i = 0; i < N; i++) for (const k of nodesOf(i)) {
      const name = nodeName(k);
      if (!rowByName.has(name)) rowByName.set(name, i);
    }
  }
  return rowByName.get(text) ?? -1;
}
/* Finds a row by its name, by the name or number of a node that it covers, or by its own number (@). */
function findRow(text) {
  if (nodeRow(text) >= 0) return nodeRow(text);
  const row = /^@(\d+)$/.exec(text), m = /^#?(\d+)$/.exec(text);
  if (row) return Number(row[1]) >= 1 && Number(row[1]) <= N ? Number(row[1]) - 1 : -1;
  return m ? (ROW_NODES ? rowOfNode(Number(m[1])) : Number(m[1]) < N ? Number(m[1]) : -1) : -1;
}
/* The link text of a row: its name if unique, otherwise its node's number or its own number. */
function linkOf(i) {
  const nodes = nodesOf(i);
  return [rowName(i), nodes.length ? "#" + nodes[0] : "", "@" + (i + 1)].find(link => link && findRow(link) === i) || rowName(i);
}

/* ---- sums of rows; rows with an unknown value are counted separately ---- */
const SUMS = ["time", "flo", "bytes", "params", "roof", "wasted", "macs"];
/* The sums of a group are computed at the first use: most columns of most pages are never summed up. */
class Group {
  constructor(all, no, key, first) { this.all = all; this.no = no; this.key = key; this.first = first; this.rows = 0; this.quality = 0; }
  get points() { return (this.all.points ??= pointsOf(this.all))[this.no]; }
}
for (const s of SUMS) {
  Object.defineProperty(Group.prototype, s, { get() { return sumsOf(this.all, s).sum[this.no]; } });
  Object.defineProperty(Group.prototype, s + "Unknown", { get() { return sumsOf(this.all, s).unknown[this.no]; } });
}
function sumsOf(all, s) {
  if (all.sums[s]) return all.sums[s];
  const { rows, of, list } = all, unknown = new Uint32Array(list.length), sum = new Float64Array(list.length), c = C[s];
  if (!c) list.forEach((g, k) => { unknown[k] = g.rows; });
  else {
    const { list: v, index } = c.coded;
    for (let k = 0; k < rows.length; k++) { const x = v[index ? index[rows[k]] : rows[k]]; if (x === x) sum[of[k]] += x; else unknown[of[k]]++; }
  }
  list.forEach((g, k) => { if (unknown[k] === g.rows) sum[k] = NaN; });
  return all.sums[s] = { sum, unknown };
}
function addUp(rows, keyOf) {
  const groups = new Map(), list = [], of = new Uint32Array(rows.length), all = { rows, of, list, sums: {}, points: null };
  for (let k = 0; k < rows.length; k++) {
    const key = keyOf(rows[k]);
    let at = groups.get(key);
    if (at === undefined) {
      groups.set(key, at = list.length);
      list.push(new Group(all, at, key, rows[k]));
    }
    of[k] = at;
  }
  for (let k = 0; k < rows.length; k++) {
    const g = list[of[k]], q = quality(rows[k]);
    g.rows++;
    if (q && q < 4) g.quality = !g.quality || g.quality === q ? q : 3;
  }
  return list.slice(); /* the caller may sort it */
}
/* A measured row without a rate has a time that is not that of its work: of a launch, of an unknown number of runs. */
const isRated = i => !hasTime || known(num(C.rate, i));
/* The roofline point of a group sums only rows for which FLOPs, bytes and time are known. */
function pointsOf({ rows, of, list }) {
  const points = list.map(() => ({ flo: 0, bytes: 0, time: 0, roof: 0, n: 0 }));
  const limit = C.roof ? C.roof.numbers : null, span = hasTime ? C.time.numbers : limit;
  if (!C.flo || !C.bytes || !span) return points;
  const flo = C.flo.numbers, moved = C.bytes.numbers;
  for (let k = 0; k < rows.length; k++) {
    const i = rows[k];
    if (!(flo[i] > 0) || !(moved[i] > 0) || !(span[i] > 0) || !isRated(i)) continue;
    const p = points[of[k]];
    p.flo += flo[i];
    p.bytes += moved[i];
    p.time += span[i];
    p.roof += limit ? limit[i] : NaN;
    p.n++;
  }
  return points;
}
const allRows = new Uint32Array(N);
for (let i = 0; i < N; i++) allRows[i] = i;
const byWeight = (a, b) => { const x = hasTime ? a.time : a.flo, y = hasTime ? b.time : b.flo; return (y || 0) - (x || 0) || b.rows - a.rows; };
const types = addUp(allRows, rowType).sort(byWeight);
const typeNo = new Map(types.map((t, i) => [t.key, i]));
const typeColor = type => { const i = typeNo.get(type); return color(i === undefined || i >= LIGHT.length ? -1 : i); };
/* The module of a row: "/layer1/layer1.0/conv/Conv" belongs to "/layer1/layer1.0". */
function moduleOf(i) {
  const own = txt(C.module, i), name = own ? own + "." : rowName(i).split("(", 1)[0], sep = name.includes("/") ? "/" : ".", from = name.startsWith(sep) ? 1 : 0;
  let end = name.indexOf(sep, from); /* end of the first part */
  if (end < 0) return "(top)";
  const second = name.indexOf(sep, end + 1);
  if (second > 0) end = second;
  return name.slice(0, end);
}
const total = {
  of(s) { return (this.sums ??= {})[s] ??= types.reduce((sum, t) => sum + (t[s] || 0), 0); },
  get time() { return this.of("time"); }, get flo() { return this.of("flo"); }, get bytes() { return this.of("bytes"); }, get params() { return this.of("params"); },
};

/* ---- rows that match the search and the selected types ---- */
const NO_BOUND = "no bound known";
const boundOf = i => txt(C.bound, i) || NO_BOUND;
/* matchingRows: without the filter for the module. filterNo counts the changes. */
let shownRows = allRows, matchingRows = allRows, shownMask = null, filterNo = 0, searchError = null, haystack = null;
/* Rows that a text names: by their number (#), the name that the table shows, or the name of a node that they cover; null: none. */
function namedRows(text) {
  const at = /^#(\d+)$/.exec(text);
  if (at) return at[1] >= 1 && at[1] <= N ? [at[1] - 1] : null;
  const same = allRows.filter(i => rowName(i) === text);
  if (same.length) return same;
  const row = nodeRow(text);
  return row < 0 ? null : [row];
}
/* "No row matches ...": names that hold the longest beginning of the text. */
function noMatch(text) {
  let near = [];
  for (let n = text.length - 1; n > 1 && !near.length; n--) near = allRows.filter(i => haystack[i].includes(text.slice(0, n).toLowerCase()));
  return "No row matches " + text + (near.length ? "; nearest: " + [...new Set(Array.from(near, rowName))].slice(0, 3).join(", ") : "");
}
function filterRows() {
  searchError = null;
  let test = null;
  if (S.q) {
    if (!haystack) haystack = Array.from({ length: N }, (_, i) => {
      const covered = txt(C.nodes, i);
      return [rowName(i), rowType(i), covered, txt(C.runtime, i)].filter(Boolean).join("\n").toLowerCase();
    });
    const named = namedRows(S.q);
    if (named) {
      const set = new Set(named);
      test = i => set.has(i);
    } else if (S.re) {
      try { const re = new RegExp(S.q, "im"); test = i => re.test(haystack[i]); }
      catch (e) { searchError = e.message.replace(/^Invalid regular expression: /, ""); }
    } else {
      const q = S.q.toLowerCase();
      test = i => haystack[i].includes(q);
    }
    if (test && !allRows.some(test)) searchError = noMatch(S.q);
  }
  const chosen = S.types.length ? new Set(S.types) : null;
  const bounds = S.bounds.length && C.bound ? new Set(S.bounds) : null;
  const inRegion = regionTest(S.region), inSpan = spanTest(S.span);
  matchingRows = !test && !chosen && !bounds && !inRegion && !inSpan ? allRows : allRows.filter(i => (!chosen || chosen.has(rowType(i))) && (!bounds || bounds.has(boundOf(i))) &&
    (!test || test(i)) && (!inRegion || inRegion(i)) && (!inSpan || inSpan(i)));
  shownRows = S.module ? rowsInModule(S.module) : matchingRows;
  shownMask = shownRows === allRows ? null : new Uint8Array(N);
  if (shownMask) for (const i of shownRows) shownMask[i] = 1;
  filterNo++;
}
const isShown = i => !shownMask || shownMask[i] === 1;
onState(what => { if (filtered(what)) filterRows(); }); /* runs before all other listeners */
