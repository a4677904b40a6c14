/* Roofline plot: FLOP/s over arithmetic intensity (FLOP/B), both axes logarithmic; one point per row or group, its
 * area proportional to its time. Drawn on a canvas; the tables are its text alternative. */
const ROOF = { known: false, points: [], x: null, y: null, at: -1, off: new Set(), view: null };

const KEY_OF = { type: rowType, module: moduleOf };
function roofPoints(rows = shownRows) {
  const list = [];
  const put = (i, type, name, flo, moved, t, roof, group) => {
    if (flo > 0 && moved > 0 && t > 0) list.push({ i, type, name, x: flo / moved, y: flo / t * 1e9, time: t, roof, group });
  };
  if (S.by === "op") {
    for (const i of rows) if (isRated(i)) put(i, rowType(i), null, num(C.flo, i), num(C.bytes, i), hasTime ? num(C.time, i) : num(C.roof, i), num(C.roof, i), null);
  } else {
    for (const g of addUp(rows, KEY_OF[S.by])) put(-1, S.by === "type" ? g.key : rowType(g.first), g.key, g.points.flo, g.points.bytes, g.points.time, g.points.roof, g);
  }
  return list.sort((a, b) => b.time - a.time);
}
/* A part of the plot as a filter: "op,x0,x1,y0,y1"; of groups of rows, those whose point is in it. */
function regionOf(region) {
  const [by, ...v] = (region || "").split(","), box = v.map(Number);
  return (by === "op" || KEY_OF[by]) && box.length === 4 && box.every(x => x > 0 && Number.isFinite(x)) ? { by, box } : null;
}
function regionText(region) {
  const [x0, x1, y0, y1] = regionOf(region).box;
  return ratio(x0) + " to " + ratio(x1) + " FLOP/B, " + si(y0) + " to " + si(y1) + " FLOP/s";
}
function regionTest(region) {
  const r = regionOf(region);
  if (!r || !C.flo || !C.bytes || (!hasTime && !hasRoof)) return null;
  const [x0, x1, y0, y1] = r.box, inside = (flo, moved, t) => flo > 0 && moved > 0 && t > 0 && flo / moved >= x0 && flo / moved <= x1 && flo / t * 1e9 >= y0 && flo / t * 1e9 <= y1;
  if (r.by === "op") return i => isRated(i) && inside(num(C.flo, i), num(C.bytes, i), num(hasTime ? C.time : C.roof, i));
  const keys = new Set(addUp(allRows, KEY_OF[r.by]).filter(g => inside(g.points.flo, g.points.bytes, g.points.time)).map(g => g.key));
  return i => keys.has(KEY_OF[r.by](i));
}
function lines() {
  const h = D.hardware;
  if (!h) return { roofs: [], slopes: [] };
  const seen = new Map(); /* equal rates share one line */
  for (const p of h.peaks) if (known(p.value)) {
    const name = p.class + " " + p.unit, k = p.value + "|" + p.unit;
    const old = seen.get(k);
    if (old) { old.name += ", " + p.class; old.used = old.used || p.operations > 0; } else seen.set(k, { name, value: p.value, used: p.operations > 0, key: p.unit + "." + p.class });
  }
  const roofs = [...seen.values()].sort((a, b) => b.value - a.value);
  if (!roofs.some(r => r.used)) for (const r of roofs) r.used = true;
  return { roofs, slopes: h.levels.filter(l => known(l.bandwidth)).map(l => ({ name: l.name, value: l.bandwidth })) };
}
const scaleLog = (lo, hi, a, b) => v => a + (Math.log10(v) - Math.log10(lo)) / (Math.log10(hi) - Math.log10(lo)) * (b - a);

const plain = v => si(v).replace(/\.0+(?=\D|$)|(\.\d*?)0+(?=\D|$)/, "$1"); /* "100 G", not "100.0 G" */

function rooflineSection() {
  if (!C.flo || !C.bytes || (!hasTime && !hasRoof) || !roofPoints(allRows).length) return null;
  const { roofs, slopes } = lines();
  for (const r of roofs) if (!r.used) ROOF.off.add(r.key);
  const canvas = el("canvas", { tabindex: "0", role: "application", "aria-roledescription": "chart", "aria-describedby": "roofline-text" });
  const ring = el("div", { class: "ring", hidden: true }), frame = el("div", { class: "frame", hidden: true });
  const box = el("div", { class: "canvas", id: "roofplot" }, canvas, ring, frame);
  const text = el("p", { class: "note", id: "roofline-text" });
  const by = choice("Points", [["op", D.grouped ? "Groups" : "Operators"], ["type", "Types"], ["module", "Modules"]].slice(0, D.grouped ? 1 : 3), () => S.by, v => change(["by"], { by: v }));
  const roofChips = el("div", { class: "chips controls", "aria-label": "Peak rates" });
  const chips = el("div", { class: "chips controls", "aria-label": "Types" });
  const s = section("roofline", D.hardware ? "Roofline" : "FLOP/s over arithmetic intensity", el("div", { class: "panel" }, box, chips, roofChips, text));
  s.querySelector("h2").dataset.short = "Roofline";
  const button = (name, about, f) => el("button", { type: "button", title: about, "aria-label": about, onclick: f }, name);
  const zooms = el("div", { class: "group controls" }, button("−", "Zoom the roofline out", () => zoom(1.5, ...center())), button("+", "Zoom the roofline in", () => zoom(1 / 1.5, ...center())),
    button("All", "Show all points", () => { ROOF.view = null; drawRoof(); }), button("Only these", "Only these points everywhere; Shift and drag: only those of a rectangle", () => select(...extent())));
  s.head.append(by, zooms, imageButtons("roofline", "the roofline", () => [box.clientWidth, box.clientHeight], (g, w, h) => { drawRoofOn(g, w, h); drawRoof(); }), el("span", { class: "note" }, hasTime ? "area: measured time; height: achieved FLOP/s" : "area and height: roofline time; nothing was measured"));
  drawTypeChips(chips);
  if (roofs.length > 1) roofChips.append(...roofs.map(r => el("button", {
    type: "button", class: "chip", "aria-pressed": !ROOF.off.has(r.key), onclick: e => {
      if (ROOF.off.has(r.key)) ROOF.off.delete(r.key); else ROOF.off.add(r.key);
      e.currentTarget.setAttribute("aria-pressed", !ROOF.off.has(r.key));
      drawRoof();
    },
  }, r.name + " " + si(r.value, "FLOP/s"))));

  function extent() {
    return ROOF.view || whole();
  }
  function whole() {
    const pts = ROOF.points, on = roofs.filter(r => !ROOF.off.has(r.key)), dram = slopes.length ? slopes[slopes.length - 1].value : 0;
    const xs = [], ys = [];
    for (const p of pts) { xs.push(p.x); ys.push(p.y); }
    const minmax = v => v.reduce((m, x) => [Math.min(m[0], x), Math.max(m[1], x)], [Infinity, 0]);
    let [x0, x1] = minmax(xs), [y0, y1] = minmax(ys);
    if (on.length && dram) { x1 = Math.max(x1, on[0].value / dram * 3); x0 = Math.min(x0, on[on.length - 1].value / dram / 8); }
    if (on.length) { y1 = Math.max(y1, on[0].value); y0 = Math.min(y0, on[0].value / 100); }
    if (!(x1 > 0)) { x0 = .1; x1 = 100; }
    if (!(y1 > 0)) { y0 = 1e9; y1 = 1e12; }
    return [x0 / 1.7, x1 * 1.7, y0 / 1.8, y1 * 1.9];
  }
  function drawRoof() {
    const w = box.clientWidth, h = box.clientHeight, dpr = devicePixelRatio || 1;
    if (!w || !ROOF.known) return; /* nothing is stated before the points are known */
    canvas.width = w * dpr;
    canvas.height = h * dpr;
    canvas.style.height = h + "px";
    const g = canvas.getContext("2d");
    g.scale(dpr, dpr);
    drawRoofOn(g, w, h);
    mark(ROOF.at);
    describe();
  }
  function drawRoofOn(g, w, h) {
    const [x0, x1, y0, y1] = extent();
    const left = w < 500 ? 44 : 58, right = w - 8, top = 10, bottom = h - 34;
    ROOF.box = [left, right, bottom, top];
    const X = ROOF.x = scaleLog(x0, x1, left, right), Y = ROOF.y = scaleLog(y0, y1, bottom, top);
    const ink = css("--ink"), soft = css("--soft"), hair = css("--hair"), line = css("--line"), roofInk = css("--limit"), panel = css("--panel");
    g.font = "11px system-ui, sans-serif";
    axes(g, { x0, x1, y0, y1, X, Y, left, right, top, bottom, soft, hair, line });
    g.save();
    g.beginPath();
    g.rect(left, top, right - left, bottom - top);
    g.clip();
    drawPoints(g, panel);
    drawRoofs(g, { x0, x1, y0, y1, X, Y, left, right, top, bottom, roofInk, panel, ink });
    g.restore();
  }
  /* Scales both axes by one factor around a point of the canvas, at most to the whole range. */
  function zoom(by, px, py) {
    const [x0, x1, y0, y1] = extent().map(Math.log10), all = whole().map(Math.log10);
    const fx = (px - ROOF.box[0]) / (ROOF.box[1] - ROOF.box[0]), fy = (py - ROOF.box[2]) / (ROOF.box[3] - ROOF.box[2]);
    const w = Math.max(.05, (x1 - x0) * by), h = Math.max(.05, (y1 - y0) * by);
    const x = x0 + fx * (x1 - x0) - fx * w, y = y0 + fy * (y1 - y0) - fy * h;
    ROOF.view = w >= all[1] - all[0] ? null : [x, x + w, y, y + h].map(v => 10 ** v);
    hideTip();
    drawRoof();
  }
  function select(x0, x1, y0, y1) {
    change(["region"], { region: [S.by, ...[x0, x1, y0, y1].map(v => Number(v.toPrecision(4)))].join(",") });
  }
  /* The rectangle that is dragged with Shift, in pixels of the canvas. */
  function selectRectangle(a, b) {
    const value = (p, lo, hi, from, to) => 10 ** (Math.log10(lo) + (Math.min(Math.max(p, Math.min(from, to)), Math.max(from, to)) - from) / (to - from) * (Math.log10(hi) - Math.log10(lo)));
    const [x0, x1, y0, y1] = extent(), [left, right, bottom, top] = ROOF.box;
    const xs = [a[0], b[0]].map(p => value(p, x0, x1, left, right)).sort((p, q) => p - q), ys = [a[1], b[1]].map(p => value(p, y0, y1, bottom, top)).sort((p, q) => p - q);
    select(...xs, ...ys);
  }
  function pan(dx, dy) {
    if (!ROOF.view) return;
    const [x0, x1, y0, y1] = ROOF.view.map(Math.log10), mx = dx / (ROOF.box[1] - ROOF.box[0]) * (x1 - x0), my = dy / (ROOF.box[3] - ROOF.box[2]) * (y1 - y0);
    ROOF.view = [x0 - mx, x1 - mx, y0 - my, y1 - my].map(v => 10 ** v);
    drawRoof();
  }
  const center = () => { const p = ROOF.points[ROOF.at]; return p ? [p.px, p.py] : [(ROOF.box[0] + ROOF.box[1]) / 2, (ROOF.box[2] + ROOF.box[3]) / 2]; };
  /* Ticks of an axis: powers of ten, and their multiples by 2 and 5 if there is room; labels where they fit. */
  function ticks(lo, hi, most) {
    const decades = Math.log10(hi) - Math.log10(lo), step = Math.ceil(decades / most), parts = decades < .7 ? [1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9] : step === 1 ? [1, 2, 5] : [1];
    const list = [];
    for (let e = Math.floor(Math.log10(lo)); e <= Math.log10(hi); e++) for (const k of parts) {
      const v = Number((k * 10 ** e).toPrecision(3));
      if (v >= lo && v <= hi) list.push({ v, name: k === 1 ? e % step === 0 : decades < 1.6, strong: k === 1 && e % step === 0 });
    }
    return list;
  }
  function axes(g, a) {
    const narrow = a.right - a.left < 500;
    g.textBaseline = "top";
    g.textAlign = "center";
    for (const t of ticks(a.x0, a.x1, narrow ? 5 : 9)) {
      const x = a.X(t.v);
      g.fillStyle = t.strong ? a.line : a.hair;
      g.fillRect(Math.round(x), a.top, 1, a.bottom - a.top);
      g.fillStyle = a.soft;
      if (t.name) g.fillText(plain(t.v), Math.max(x, a.left + 8), a.bottom + 5);
    }
    g.textAlign = "right";
    g.textBaseline = "middle";
    for (const t of ticks(a.y0, a.y1, 9)) {
      const y = a.Y(t.v);
      g.fillStyle = t.strong ? a.line : a.hair;
      g.fillRect(a.left, Math.round(y), a.right - a.left, 1);
      g.fillStyle = a.soft;
      if (t.name) g.fillText(plain(t.v), a.left - 6, y);
    }
    g.fillStyle = a.soft;
    g.textBaseline = "bottom";
    g.fillText("FLOP/B", a.right, a.bottom + 33);
    g.save();
    g.translate(11, a.top);
    g.rotate(-Math.PI / 2);
    g.textBaseline = "middle";
    g.fillText("FLOP/s", 0, 0);
    g.restore();
  }
  function drawPoints(g, panel) {
    const pts = ROOF.points, most = pts.length ? pts[0].time : 1, crowd = pts.length > 3000;
    const biggest = S.by === "op" ? (crowd ? 12 : 17) : 26;
    g.globalAlpha = crowd ? .55 : .78;
    const seen = new Set(), paint = new Map(); /* draw coinciding points once */
    for (const p of pts) {
      p.r = Math.max(crowd ? 1.6 : 2.6, biggest * Math.sqrt(p.time / most));
      p.px = ROOF.x(p.x);
      p.py = ROOF.y(p.y);
      if (!paint.has(p.type)) paint.set(p.type, typeColor(p.type));
      if (crowd) {
        const like = ((p.px * 2 | 0) * 4096 + (p.py * 2 | 0)) * 64 + (p.r * 2 | 0);
        if (seen.has(like)) continue;
        seen.add(like);
      }
      g.fillStyle = paint.get(p.type);
      if (crowd && p.r < 2.2) { g.fillRect(p.px - 1.5, p.py - 1.5, 3, 3); continue; }
      g.beginPath();
      g.arc(p.px, p.py, p.r, 0, 7);
      g.fill();
      if (!crowd) { g.strokeStyle = panel; g.lineWidth = 1; g.stroke(); }
    }
    g.globalAlpha = 1;
    if (S.by === "op" || pts.length > 40) return;
    g.fillStyle = css("--ink");
    g.textAlign = "center";
    g.textBaseline = "bottom";
    const taken = [];
    for (const p of pts) {
      const label = middle(p.name, 24), half = g.measureText(label).width / 2, y = p.py - p.r - 2;
      if (taken.some(t => Math.abs(t[0] - p.px) < t[2] + half + 4 && Math.abs(t[1] - y) < 13)) continue;
      taken.push([p.px, y, half]);
      g.fillText(label, p.px, y);
    }
  }
  function drawRoofs(g, a) {
    const on = roofs.filter(r => !ROOF.off.has(r.key));
    if (!on.length && !slopes.length) return;
    const most = on.length ? on[0].value : Infinity, fast = slopes.length ? Math.max(...slopes.map(s => s.value)) : 0;
    g.strokeStyle = g.fillStyle = a.roofInk;
    g.lineWidth = 1.3;
    const taken = [];
    slopes.forEach((s, k) => {
      const dram = k === slopes.length - 1, xe = Math.min(a.x1, most / s.value), xs = Math.max(a.x0, a.y0 / s.value);
      if (xe <= xs) return;
      g.setLineDash(dram ? [] : [5, 4]);
      g.beginPath();
      g.moveTo(a.X(xs), a.Y(xs * s.value));
      g.lineTo(a.X(xe), a.Y(xe * s.value));
      g.stroke();
      const angle = Math.atan2(a.Y(xe * s.value) - a.Y(xs * s.value), a.X(xe) - a.X(xs)), words = s.name + " " + si(s.value, "B/s");
      let part = .05; /* position of the label on the line, away from other labels */
      const place = () => { const x = Math.exp(Math.log(xs) + part * Math.log(xe / xs)); return [a.X(x), a.Y(x * s.value)]; };
      const room = 1 - g.measureText(words).width / Math.hypot(a.X(xe) - a.X(xs), a.Y(xe * s.value) - a.Y(xs * s.value));
      while (part < room && taken.some(t => Math.abs(t[0] - place()[0]) < 110 && Math.abs(t[1] - place()[1]) < 34)) part += .06;
      if (part < room || slopes.length === 1) {
        taken.push(place());
        label(g, words, place()[0], place()[1] - 3, angle, "left", a);
      }
    });
    let above = -Infinity;
    for (const r of on) {
      const from = fast ? Math.max(a.x0, r.value / fast) : a.x0, y = a.Y(r.value);
      g.setLineDash(r.used ? [] : [2, 3]);
      g.beginPath();
      g.moveTo(a.X(from), y);
      g.lineTo(a.right, y);
      g.stroke();
      const shift = y - above < 15 ? 13 : -3;
      above = y;
      label(g, r.name + " " + si(r.value, "FLOP/s"), a.right - 4, y + shift, 0, "right", a);
      if (slopes.length) {
        const ridge = r.value / slopes[slopes.length - 1].value, x = a.X(ridge);
        if (ridge > a.x0 && ridge < a.x1) {
          g.setLineDash([]);
          g.beginPath();
          g.moveTo(x, y - 4); g.lineTo(x + 4, y); g.lineTo(x, y + 4); g.lineTo(x - 4, y);
          g.fill();
          const name = g.measureText(r.name + " " + si(r.value, "FLOP/s")).width, beside = x + 36 > a.right - name - 10;
          const below = beside && x - 6 > a.right - name - 10;
          if (r === on[0]) label(g, "ridge " + ratio(ridge), beside ? x - 6 : x, below ? y + 18 : y - 7, 0, below ? "left" : beside ? "right" : "center", a);
        }
      }
    }
    g.setLineDash([]);
  }
  function label(g, words, x, y, angle, align, a) {
    g.save();
    g.translate(x, y);
    g.rotate(angle);
    g.textAlign = align;
    g.textBaseline = "bottom";
    g.lineWidth = 3;
    g.strokeStyle = a.panel;
    g.setLineDash([]);
    g.strokeText(words, 0, 0);
    g.fillStyle = a.roofInk;
    g.fillText(words, 0, 0);
    g.restore();
  }
  function describe() {
    const n = ROOF.points.length, rows = shownRows.length;
    let seen = 0;
    if (S.by === "op") for (const p of ROOF.points) seen += p.time;
    const apart = S.by === "op" && rows > n ? " " + grouped(rows - n) + " rows have no point: they have no arithmetic, or unknown FLOPs, bytes or time." : "";
    const loose = D.hardware && D.hardware.rows_above_roofline ? " " + D.hardware.rows_above_roofline + " rows are faster than their roofline time: see the column “above roofline”." : "";
    text.textContent = grouped(n) + (n === 1 ? " point." : " points.") + apart + loose + " Arrow keys select a point, Enter opens it; plus, minus and Ctrl+wheel zoom. The tables contain the same numbers.";
    canvas.setAttribute("aria-label", "Roofline with " + n + " points");
  }
  function content(p) {
    if (p.i >= 0) return breakdown(p.i);
    return el("div", { class: "breakdown" }, el("b", null, p.name), pairs([
      ["rows", grouped(p.group.rows)], [hasTime ? "time" : "roofline time", time(p.time)], ["FLOPs", si(p.group.points.flo)], ["bytes moved", si(p.group.points.bytes, "B")],
      ["arithmetic intensity", ratio(p.x) + " FLOP/B"], ["achieved", human("giga", p.y) + " GFLOP/s"], p.roof > 0 && hasTime ? ["roofline time", time(p.roof) + ", efficiency " + percent(p.roof / p.time) + " %"] : null,
    ]));
  }
  function mark(at) {
    const p = ROOF.points[at];
    ROOF.at = p ? at : -1;
    ring.hidden = !p || p.px < ROOF.box[0] || p.px > ROOF.box[1] || p.py > ROOF.box[2] || p.py < ROOF.box[3];
    if (!p) return;
    const size = 2 * p.r + 7;
    Object.assign(ring.style, { left: p.px + "px", top: p.py + "px", width: size + "px", height: size + "px" });
  }
  function nearest(x, y) {
    let best = -1, least = 14;
    ROOF.points.forEach((p, k) => {
      if (p.px < ROOF.box[0] - 2 || p.px > ROOF.box[1] + 2 || p.py > ROOF.box[2] + 2 || p.py < ROOF.box[3] - 2) return;
      const d = Math.max(0, Math.hypot(p.px - x, p.py - y) - p.r) + p.r * .02;
      if (d < least) { least = d; best = k; }
    });
    return best;
  }
  function open(p) {
    if (!p) return;
    if (p.i >= 0) openRow(p.i);
    else if (S.by === "type") change(["types", "tab"], { types: [p.name], tab: "ops" });
    else change(["q", "tab"], { q: p.name === "(top)" ? "" : p.name, re: false, tab: "ops" });
  }
  let drag = null;
  const at = e => { const r = canvas.getBoundingClientRect(); return [e.clientX - r.left, e.clientY - r.top]; };
  canvas.addEventListener("pointerdown", e => { drag = { x: e.clientX, y: e.clientY, moved: false, from: e.shiftKey ? at(e) : null }; if (drag.from) e.preventDefault(); });
  addEventListener("pointerup", e => {
    if (drag && drag.from && drag.moved) selectRectangle(drag.from, at(e));
    frame.hidden = true;
    setTimeout(() => { drag = null; });
  });
  canvas.addEventListener("wheel", e => {
    if (!e.ctrlKey && !e.metaKey && document.activeElement !== canvas) return;
    e.preventDefault();
    const r = canvas.getBoundingClientRect();
    zoom(Math.exp(e.deltaY * .002), e.clientX - r.left, e.clientY - r.top);
  }, { passive: false });
  canvas.addEventListener("dblclick", () => { ROOF.view = null; drawRoof(); });
  canvas.addEventListener("pointermove", e => {
    if (drag && drag.from) {
      const [x, y] = at(e), [fx, fy] = drag.from;
      drag.moved = drag.moved || Math.hypot(x - fx, y - fy) > 3;
      frame.hidden = !drag.moved;
      Object.assign(frame.style, { left: Math.min(x, fx) + "px", top: Math.min(y, fy) + "px", width: Math.abs(x - fx) + "px", height: Math.abs(y - fy) + "px" });
      hideTip();
      return;
    }
    if (drag && ROOF.view && (drag.moved || Math.hypot(e.clientX - drag.x, e.clientY - drag.y) > 3)) {
      pan(e.clientX - drag.x, e.clientY - drag.y);
      drag = { x: e.clientX, y: e.clientY, moved: true };
      hideTip();
      return;
    }
    const r = canvas.getBoundingClientRect(), k = nearest(e.clientX - r.left, e.clientY - r.top);
    mark(k);
    canvas.style.cursor = k < 0 ? "" : "pointer";
    if (k < 0) hideTip(); else showTip(content(ROOF.points[k]), e.clientX, e.clientY);
  });
  canvas.addEventListener("pointerleave", () => { mark(-1); hideTip(); });
  canvas.addEventListener("click", () => { if (!drag || !drag.moved) open(ROOF.points[ROOF.at]); });
  canvas.addEventListener("keydown", e => {
    const n = ROOF.points.length, d = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -n, End: n }[e.key];
    if (e.key === "Enter") { hideTip(); open(ROOF.points[ROOF.at]); }
    if (e.key === "Escape") { mark(-1); hideTip(); }
    if (e.key === "+" || e.key === "=") zoom(1 / 1.5, ...center());
    if (e.key === "-") zoom(1.5, ...center());
    if (e.key === "0") { ROOF.view = null; drawRoof(); }
    if (!d || !n) return;
    e.preventDefault();
    mark(Math.max(0, Math.min(n - 1, ROOF.at + d)));
    const p = ROOF.points[ROOF.at], r = canvas.getBoundingClientRect(), c = content(p);
    showTip(c, r.left + p.px, r.top + p.py);
    announce((p.name || rowName(p.i)) + ", " + p.type + ", " + time(p.time) + ", " + ratio(p.x) + " FLOP per byte, " + si(p.y, "FLOP/s"));
  });
  canvas.addEventListener("blur", () => { mark(-1); hideTip(); });
  const again = () => { ROOF.points = roofPoints(); ROOF.known = true; ROOF.at = -1; by.update(); drawRoof(); };
  onState(what => {
    if (filtered(what) || what.includes("by")) again();
    if (what.includes("types")) drawTypeChips(chips);
  });
  themed.push(() => { drawTypeChips(chips); drawRoof(); });
  new ResizeObserver(() => drawRoof()).observe(box);
  s.ready = again;
  return s;
}
/* Buttons for the types with the most time; pressed ones filter the rows. */
function drawTypeChips(box) {
  const focus = document.activeElement && box.contains(document.activeElement) ? document.activeElement.dataset.type : null;
  const most = types.slice(0, 14);
  box.replaceChildren(...most.map(t => {
    const on = S.types.includes(t.key);
    return el("button", {
      type: "button", class: "chip" + (on ? " on" : ""), "aria-pressed": on, "data-type": t.key, title: "show only " + t.key + " (" + grouped(t.rows) + " rows)",
      onclick: () => change(["types"], { types: toggled(S.types, t.key) }),
    }, el("i", { style: { background: typeColor(t.key) } }), t.key);
  }), types.length > most.length ? el("span", { class: "note" }, "and " + (types.length - most.length) + " more types") : "",
  S.types.length ? el("button", { type: "button", class: "chip", onclick: () => change(["types"], { types: [] }) }, "all types") : "");
  if (focus) for (const b of box.children) if (b.dataset.type === focus) b.focus();
}
