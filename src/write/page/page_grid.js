/* A virtual table: only visible rows are in the document. Columns are objects with
 * key, title, text (left), keys (numbers to sort by, NaN last) or coded (of Column), cell(row) -> {text, title, bar}. */
const ROW = 26, OVER = 30, MAX_HEIGHT = 8e6, PRINTED = 60;
const MAX_VIEW = 820; /* max-height of .grid: so many pixels are filled whatever the height is now, a capture may change it */

/* Rows by the number of the column, those without one last; equal ones stay in their order: a counting sort by the rank of the
 * number, which calls no comparison function. */
function ordered(rows, { list, index }, up) {
  const sorted = Float64Array.from(list).sort(), rank = new Uint32Array(list.length), out = new Uint32Array(rows.length); /* NaN last */
  let ranks = 0;
  for (let k = 0; k < sorted.length && sorted[k] === sorted[k]; k++) if (!k || sorted[k] !== sorted[ranks - 1]) sorted[ranks++] = sorted[k];
  for (let k = 0; k < list.length; k++) {
    const v = list[k];
    let lo = 0, hi = ranks;
    if (v === v) while (hi - lo > 1) { const mid = (lo + hi) >> 1; if (sorted[mid] <= v) lo = mid; else hi = mid; }
    rank[k] = v !== v ? ranks : up < 0 ? ranks - 1 - lo : lo;
  }
  const starts = new Uint32Array(ranks + 2);
  for (let k = 0; k < rows.length; k++) starts[rank[index ? index[rows[k]] : rows[k]] + 1]++;
  for (let r = 1; r < starts.length; r++) starts[r] += starts[r - 1];
  for (let k = 0; k < rows.length; k++) out[starts[rank[index ? index[rows[k]] : rows[k]]]++] = rows[k];
  return out;
}

class Grid {
  constructor(o) { /* {id, label, columns, rows, sort: [key, dir], onSort, onOpen, head} */
    Object.assign(this, o);
    this.active = 0;
    this.order = Uint32Array.from(this.rows);
    this.body = el("tbody");
    this.thead = el("thead");
    this.cols = el("colgroup");
    this.table = el("table", { role: "grid", "aria-label": this.label }, this.cols, this.thead, this.body);
    this.box = el("div", { class: "scroll grid", role: "region", tabindex: "0", "aria-label": this.label + ", scrollable" }, this.table);
    this.box.addEventListener("scroll", () => this.later(), { passive: true });
    this.box.addEventListener("keydown", e => this.keys(e));
    this.body.addEventListener("click", e => {
      const tr = e.target.closest("tr[data-at]");
      if (tr) { this.active = Number(tr.dataset.at); this.open(); }
    });
    new ResizeObserver(() => this.later()).observe(this.box);
    this.setColumns(this.columns);
  }
  setColumns(columns) {
    this.columns = columns;
    this.widths = columns.map(c => this.widthOf(c));
    const over = this.widths.reduce((a, b) => a + b, 0) - (this.box.clientWidth || document.querySelector("main").clientWidth - 42);
    if (over > 0 && columns[0].most > 38) { /* shorten names first, down to a minimum */
      columns[0].most = Math.max(38, columns[0].most - Math.ceil(over / 7));
      this.widths[0] = this.widthOf(columns[0]);
    }
    this.cols.replaceChildren(...this.widths.map(w => el("col", { style: { width: w + "px" } })));
    this.thead.replaceChildren(el("tr", { "aria-rowindex": 1 }, columns.map((c, k) => el("th", {
      scope: "col", class: (c.text ? "left" : "") + (k === 0 ? " stick" : ""), "data-key": c.key, title: c.about || null,
    }, el("button", { type: "button", onclick: () => this.sortBy(c) }, c.title)))));
    this.table.setAttribute("aria-colcount", columns.length);
    this.sort_();
  }
  widthOf(c) {
    const n = this.rows.length, step = Math.max(1, Math.floor(n / 300));
    let most = c.title.length + 2;
    for (let i = 0; i < n; i += step) most = Math.max(most, c.cell(this.rows[i]).text.length);
    return Math.ceil(Math.min(most, c.most || 30) * (c.mono ? 7 : 6.9) + 17);
  }
  /* Printing shows only the columns that fit on paper. */
  paper(on) {
    if (on && !this.onScreen) {
      this.onScreen = this.columns;
      const fit = this.columns.filter(c => !this.onPaper || this.onPaper.has(c.key)).slice(0, 12);
      this.setColumns(fit);
    } else if (!on && this.onScreen) {
      const back = this.onScreen;
      this.onScreen = null;
      this.setColumns(back);
    }
  }
  setRows(rows) {
    this.rows = rows;
    this.sort_();
    this.box.scrollTop = 0;
  }
  sortBy(c) {
    const same = this.sort && this.sort[0] === c.key;
    this.sort = [c.key, same ? -this.sort[1] : c.text ? 1 : -1];
    this.sort_();
    this.box.scrollTop = 0;
    this.onSort(this.sort);
    announce("sorted by " + c.title + (this.sort[1] < 0 ? ", largest first" : ", smallest first"));
  }
  sort_() {
    const c = this.sort && this.columns.find(x => x.key === this.sort[0]);
    this.order = c ? ordered(this.rows, c.coded || { list: c.keys, index: null }, this.sort[1]) : Uint32Array.from(this.rows);
    for (const th of this.thead.querySelectorAll("th")) {
      const on = c && th.dataset.key === c.key;
      if (on) th.setAttribute("aria-sort", this.sort[1] < 0 ? "descending" : "ascending");
      else th.removeAttribute("aria-sort");
    }
    if (this.afterSort) this.afterSort(this.order);
    this.active = Math.min(this.active, Math.max(0, this.order.length - 1));
    this.table.setAttribute("aria-rowcount", this.order.length + 1);
    this.drawn = null;
    this.draw();
  }
  /* Index of the first visible row. Browsers limit the height of an element: very long tables scroll in larger steps. */
  get height() { return Math.min(this.order.length * ROW, MAX_HEIGHT); }
  get view() { return Math.max(ROW, (this.box.clientHeight || 500) - 30); }
  firstRow() {
    const room = this.height - this.view, rows = this.order.length - Math.floor(this.view / ROW);
    return room <= 0 ? 0 : Math.max(0, Math.min(rows, Math.floor(this.box.scrollTop / room * rows)));
  }
  later() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.draw(); });
  }
  draw() {
    if (!this.box.isConnected) return; /* of another tab: drawn when it is shown */
    const n = this.order.length, print = printing.matches;
    const seen = Math.ceil(Math.max(this.view, MAX_VIEW) / ROW), first = print ? 0 : Math.max(0, this.firstRow() - OVER);
    const last = Math.min(n, print ? PRINTED : this.firstRow() + seen + OVER);
    const stamp = first + " " + last + " " + print;
    if (this.drawn === stamp) return;
    this.drawn = stamp;
    const focused = this.body.contains(document.activeElement);
    const scale = n * ROW > MAX_HEIGHT;
    const above = print ? 0 : scale ? Math.max(0, this.box.scrollTop - (this.firstRow() - first) * ROW) : first * ROW;
    const below = print ? 0 : Math.max(0, this.height - above - (last - first) * ROW);
    const list = [this.gap(above)];
    for (let at = first; at < last; at++) list.push(this.row(at));
    list.push(this.gap(below));
    if (!n) list.push(el("tr", null, el("td", { class: "left dim", colspan: this.columns.length }, "no row matches")));
    if (print && n > last) list.push(el("tr", null, el("td", { class: "left dim", colspan: this.columns.length }, "and " + grouped(n - last) + " more")));
    this.body.replaceChildren(...list);
    if (focused) this.focusRow();
  }
  gap(height) { return el("tr", { class: "gap", "aria-hidden": "true" }, el("td", { colspan: this.columns.length, style: { height: height + "px" } })); }
  row(at) {
    const i = this.order[at];
    const tr = el("tr", { "data-at": at, "aria-rowindex": at + 2, tabindex: at === this.active ? "0" : "-1", "aria-selected": this.selected === i });
    this.columns.forEach((c, k) => {
      const v = c.cell(i), cell = el(k === 0 ? "th" : "td", k === 0 ? { scope: "row" } : null, v.text);
      cell.className = (c.text ? "left" : "") + (k === 0 ? " stick" : "") + (c.mono ? " mono" : "") + (v.class ? " " + v.class : "") + (v.bar > 0 ? " barred" : "");
      if (v.title) cell.title = v.title;
      if (v.bar > 0) cell.style.backgroundSize = (100 * v.bar).toFixed(1) + "% 70%";
      tr.append(cell);
    });
    return tr;
  }
  keys(e) {
    if (e.target.closest("thead")) return;
    const n = this.order.length, page = Math.max(1, Math.floor(this.view / ROW) - 1);
    const to = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -n, End: n }[e.key];
    if (to !== undefined) {
      e.preventDefault();
      this.active = Math.max(0, Math.min(n - 1, this.active + (e.target === this.box ? 0 : to)));
      this.reveal(this.active);
      this.focusRow();
    } else if ((e.key === "Enter" || e.key === " ") && e.target.closest("tr[data-at]")) {
      e.preventDefault();
      this.open();
    }
  }
  reveal(at) {
    const seen = Math.floor(this.view / ROW), first = this.firstRow();
    const target = at < first ? at : at >= first + seen ? at - seen + 1 : null;
    const rows = this.order.length - seen, room = this.height - this.view;
    if (target !== null && rows > 0) this.box.scrollTop = Math.ceil(target / rows * room);
    this.drawn = null;
    this.draw();
  }
  focusRow() {
    const tr = this.body.querySelector('tr[data-at="' + this.active + '"]');
    if (!tr) return;
    for (const x of this.body.querySelectorAll('tr[tabindex="0"]')) x.tabIndex = -1;
    tr.tabIndex = 0;
    tr.focus({ preventScroll: true });
  }
  open() { if (this.order.length) this.onOpen(this.order[this.active]); }
  select(i) {
    this.selected = i;
    const at = i === null ? -1 : this.order.indexOf(i);
    if (at >= 0) { this.active = at; this.reveal(at); } else { this.drawn = null; this.draw(); }
    return at >= 0;
  }
}
