/* Timeline of one run by thread and stream, with zoom and pan; can be saved as a trace for Perfetto. */
/* Lists the events of the source, and lanes of rows laid out back to back: measured times if the source has no start
 * times, and roofline times. */
function eventList() {
  const T0 = D.timeline, n = T0 ? T0.n : 0, lanes = T0 ? T0.lanes.map(l => ({ ...l, group: l.device ? "device " + l.process : D.title, pid: l.device ? 1000000 + l.process : l.process || 1 })) : [];
  const start = T0 ? T0.start.slice() : [], dur = T0 ? T0.dur.slice() : [], lane = T0 ? T0.lane.slice() : [], rows = [], what = [];
  const line = (name, group, pid, c, kind) => {
    let at = 0;
    for (const i of allRows) if (c.numbers[i] > 0) {
      start.push(at);
      dur.push(c.numbers[i]);
      lane.push(lanes.length);
      rows.push(i);
      what.push(kind);
      at += c.numbers[i];
    }
    if (at > 0) lanes.push({ name, own_name: "", device: false, made: true, group, pid });
  };
  if (!n && hasTime && !D.grouped) line("rows back to back: the source has no start times", "measured", 2000001, C.time, "row");
  if (hasRoof && !D.grouped) line("estimated: roofline times on " + D.hardware.name + ", back to back", "estimated", 2000002, C.roof, "roofline");
  const texts = key => n ? new Column({ key, kind: "text", ...T0[key] }, n) : null, names = texts("name"), kinds = texts("kind");
  return {
    n: start.length, events: n, lanes, start, dur, lane,
    length: start.reduce((m, s, k) => Math.max(m, s + dur[k]), T0 ? T0.length_ns : 0),
    nameAt: i => i < n ? names.at(i) : rowName(rows[i - n]), kindAt: i => i < n ? kinds.at(i) : what[i - n], madeRow: i => i < n ? -1 : rows[i - n],
  };
}

let theEvents = null;
const allEvents = () => theEvents || (theEvents = eventList());
/* Finds the row of an event: by its name, or by the name without the suffix of the runtime. */
function rowFinder(E) {
  const byText = new Map(), cache = new Map();
  for (let i = N - 1; i >= 0; i--) byText.set(txt(C.runtime, i) || rowName(i), i);
  return i => {
    if (E.madeRow(i) >= 0) return E.madeRow(i);
    if (E.kindAt(i) !== "operator" && !E.nameAt(i).endsWith("_kernel_time")) return -1;
    const name = E.nameAt(i);
    if (!cache.has(name)) {
      const row = byText.get(name) ?? byText.get(name.replace(/_(kernel_time|fence_before|fence_after)$/, ""));
      cache.set(name, row === undefined ? -1 : row);
    }
    return cache.get(name);
  };
}
/* A part of the timeline as a filter: "from,to" in ns. */
function spanOf(span) {
  const v = (span || "").split(",").map(Number);
  return v.length === 2 && v[0] >= 0 && v[1] > v[0] ? v : null;
}
const spanText = span => spanOf(span).map(time).join(" to ");
function spanTest(span) {
  const s = spanOf(span);
  if (!s || !hasTimeline()) return null;
  const E = allEvents(), rowOf = rowFinder(E), rows = new Uint8Array(N);
  const counts = i => E.events ? i < E.events : E.kindAt(i) === (hasTime ? "row" : "roofline"); /* one set of times */
  for (let i = 0; i < E.n; i++) if (counts(i) && E.start[i] < s[1] && E.start[i] + E.dur[i] > s[0]) { const r = rowOf(i); if (r >= 0) rows[r] = 1; }
  return i => rows[i] === 1;
}
const hasTimeline = () => D.timeline || (!D.grouped && (hasTime || hasRoof));

function timelineSection() {
  if (!hasTimeline()) return null;
  const s = section("timeline", "Timeline", el("div", { class: "panel" }));
  s.ready = () => fillTimeline(s);
  return s;
}
function fillTimeline(s) {
  const E = allEvents(), T0 = D.timeline;
  const LINE = 17, names = { at: E.nameAt }, kinds = { at: E.kindAt }, rowOf = rowFinder(E);
  /* Interval partitioning: each event goes to the first free line of its lane. */
  const depth = new Uint16Array(E.n), order = Uint32Array.from({ length: E.n }, (_, i) => i).sort((a, b) => E.start[a] - E.start[b] || E.dur[b] - E.dur[a]);
  const lanes = E.lanes.map((l, k) => ({ ...l, k, ends: [], events: [] }));
  for (const i of order) {
    const l = lanes[E.lane[i]];
    let d = l.ends.findIndex(end => end <= E.start[i] + 1e-3);
    if (d < 0) d = l.ends.length < 60 ? l.ends.push(0) - 1 : 59;
    l.ends[d] = E.start[i] + E.dur[i];
    depth[i] = d;
    l.events.push(i);
  }
  const used = lanes.filter(l => l.events.length).sort((a, b) => (a.made || false) - (b.made || false) || a.device - b.device);
  let height = 0;
  for (const l of used) { l.top = height + 16; height = l.top + l.ends.length * LINE + 6; }
  const whole = [0, E.length || 1];
  let view = [...whole], at = -1;

  const ruler = el("canvas"), canvas = el("canvas", { tabindex: "0", role: "application", "aria-roledescription": "timeline", "aria-label": "Timeline, " + E.n + " events. Plus and minus zoom, arrow keys move, N and P select the next and previous event, Enter opens it, 0 shows all." });
  const frame = el("div", { class: "frame", hidden: true }), box = el("div", { id: "lanes", class: "canvas" }, canvas, frame), rulerBox = el("div", { id: "ruler", class: "canvas" }, ruler);
  box.style.height = Math.min(height + 4, 560) + "px";
  const button = (text, about, f) => el("button", { type: "button", title: about, "aria-label": about, onclick: f }, text);
  const zooms = el("div", { class: "group controls" }, button("−", "Zoom out", () => zoom(1.6)), button("+", "Zoom in", () => zoom(1 / 1.6)), button("All", "All of the run", () => { view = [...whole]; draw(); }),
    button("Only these", "Only these events everywhere; Shift and drag: only those of a span", () => select(...view)));
  const save = button("Save trace", "Save trace: these events for Perfetto or chrome://tracing", saveTrace);
  save.id = "save-trace";
  const what = !T0 ? grouped(N) + " rows" : (T0.run !== null && !T0.implicit ? "run " + T0.run + " of " + T0.runs + " (median length), " : "") + time(T0.length_ns) + ", " + grouped(T0.n) + " events" + (T0.left_out ? "; the " + grouped(T0.left_out) + " shortest are omitted" : "");
  s.querySelector(".panel").append(rulerBox, box, el("p", { class: "note" }, "Drag to pan, Ctrl+wheel to zoom (without Ctrl when focused), click an event for its cost breakdown."));
  const images = imageButtons("timeline", "the visible part of the timeline", () => [box.clientWidth, Math.min(height + 4, 4000) + 20], (g, w) => { drawRuler(g, w); g.translate(0, 20); drawLanes(g, w); });
  s.head.append(zooms, el("span", { class: "note" }, what), el("span", { class: "push" }), images, save);
  save.classList.add("controls");

  const paint = i => {
    const row = rowOf(i);
    return row >= 0 ? typeColor(rowType(row)) : KINDS[kinds.at(i)] !== undefined ? color(KINDS[kinds.at(i)]) : color(-1);
  };
  const labelOf = (i, chars) => { /* the type if the name does not fit */
    const name = names.at(i), row = rowOf(i), type = row < 0 ? "" : rowType(row);
    return name.length > chars && chars < 24 && type && type.length <= chars ? type : middle(name, Math.max(3, chars));
  };
  const X = t => (t - view[0]) / (view[1] - view[0]) * box.clientWidth;
  function fit(c, h) {
    const w = box.clientWidth, dpr = devicePixelRatio || 1;
    c.width = w * dpr;
    c.height = h * dpr;
    c.style.height = h + "px";
    const g = c.getContext("2d");
    g.scale(dpr, dpr);
    return g;
  }
  function draw() {
    const w = box.clientWidth;
    if (!w) return;
    drawRuler(fit(ruler, 20), w);
    drawLanes(fit(canvas, Math.min(height + 4, 16000)), w);
  }
  function drawLanes(g, w) {
    const soft = css("--soft"), hair = css("--hair"), panel = css("--panel");
    g.textBaseline = "middle";
    for (const l of used) {
      g.fillStyle = hair;
      g.fillRect(0, l.top - 16, w, 1);
      const last = new Float64Array(l.ends.length).fill(-1);
      for (const i of l.events) {
        const x0 = X(E.start[i]), x1 = X(E.start[i] + E.dur[i]), d = depth[i];
        if (x1 < 0 || x0 > w || (x1 - x0 < 1 && x0 < last[d] + .5)) continue;
        const a = Math.max(-1, x0), b = Math.min(w + 1, Math.max(x1, x0 + .8)), y = l.top + d * LINE;
        last[d] = b;
        g.globalAlpha = !shownMask || (rowOf(i) >= 0 && isShown(rowOf(i))) ? 1 : .2;
        g.fillStyle = paint(i);
        g.fillRect(a, y, b - a - (b - a > 3 ? .6 : 0), LINE - 2);
        if (b - a > 56) {
          g.font = "11px system-ui, sans-serif";
          g.fillStyle = inkOn(paint(i));
          g.fillText(labelOf(i, Math.floor((b - a - 8) / 6.3)), a + 4, y + LINE / 2 - .5);
        }
        g.globalAlpha = 1;
        if (i === at) { g.strokeStyle = css("--ink"); g.lineWidth = 2; g.strokeRect(a + 1, y + 1, b - a - 2, LINE - 4); }
      }
      g.font = "600 11px system-ui, sans-serif";
      const own = (l.own_name || "").trim(), text = l.name + (own && !l.name.includes(own) ? " " + own : "");
      g.fillStyle = panel;
      g.fillRect(0, l.top - 15, g.measureText(text).width + 8, 13);
      g.fillStyle = soft;
      g.fillText(text, 2, l.top - 8);
    }
  }
  function drawRuler(g, w) {
    const span = view[1] - view[0], raw = span / Math.max(2, w / 110), base = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].find(k => k * base >= raw) * base;
    g.font = "11px system-ui, sans-serif";
    g.fillStyle = css("--soft");
    g.textBaseline = "middle";
    for (let t = Math.ceil(view[0] / step) * step; t <= view[1]; t += step) {
      g.fillRect(X(t), 12, 1, 8);
      g.fillText(t === 0 ? "0" : time(Number(t.toPrecision(12))), X(t) + 3, 8);
    }
  }
  function zoom(by, x) {
    if (x === undefined) { /* around the selected event if visible */
      const middle_ = at >= 0 ? X(E.start[at] + E.dur[at] / 2) : -1;
      x = middle_ > 0 && middle_ < box.clientWidth ? middle_ : box.clientWidth / 2;
      hideTip();
    }
    const t = view[0] + x / box.clientWidth * (view[1] - view[0]), least = Math.max(20, whole[1] * 1e-6);
    const span = Math.min(whole[1], Math.max(least, (view[1] - view[0]) * by));
    move(t - x / box.clientWidth * span, span);
  }
  function move(from, span = view[1] - view[0]) {
    from = Math.max(0, Math.min(whole[1] - span, from));
    view = [from, from + span];
    draw();
  }
  const select = (from, to) => change(["span"], { span: Math.floor(from) + "," + Math.ceil(to) });
  function hit(e) {
    const r = canvas.getBoundingClientRect(), x = e.clientX - r.left, y = e.clientY - r.top;
    for (const l of used) {
      const d = Math.floor((y - l.top) / LINE);
      if (d < 0 || d >= l.ends.length) continue;
      let best = -1;
      for (const i of l.events) if (depth[i] === d) {
        const x0 = X(E.start[i]), x1 = Math.max(X(E.start[i] + E.dur[i]), x0 + 2);
        if (x >= x0 - 1 && x <= x1 + 1) best = i;
      }
      return best;
    }
    return -1;
  }
  function eventBox(i) {
    const row = rowOf(i);
    const d = el("div", { class: "breakdown" }, el("b", null, names.at(i)), pairs([["kind", kinds.at(i)], ["start", time(E.start[i])], ["duration", time(E.dur[i]), exact("time", E.dur[i])]]));
    if (row >= 0) { const r = breakdown(row); r.querySelector("b").remove(); d.append(el("div", { class: "formula" }, "row: " + rowName(row)), r); }
    return d;
  }
  const open = i => { const row = i < 0 ? -1 : rowOf(i); if (row >= 0) openRow(row); };
  let drag = null;
  const timeAt = e => { const r = canvas.getBoundingClientRect(); return view[0] + Math.min(1, Math.max(0, (e.clientX - r.left) / r.width)) * (view[1] - view[0]); };
  canvas.addEventListener("pointerdown", e => { drag = { x: e.clientX, from: view[0], moved: false, first: e.shiftKey ? timeAt(e) : null }; canvas.setPointerCapture(e.pointerId); });
  canvas.addEventListener("pointerup", e => {
    if (drag && drag.moved && drag.first !== null) select(Math.min(drag.first, timeAt(e)), Math.max(drag.first, timeAt(e)));
    else if (drag && !drag.moved && at >= 0) open(at);
    drag = null;
    frame.hidden = true;
    box.classList.remove("drag");
  });
  canvas.addEventListener("pointercancel", () => { drag = null; });
  canvas.addEventListener("pointermove", e => {
    if (drag && (drag.moved || Math.abs(e.clientX - drag.x) > 3)) {
      drag.moved = true;
      hideTip();
      if (drag.first !== null) {
        const x = X(timeAt(e)), from = X(drag.first);
        frame.hidden = false;
        Object.assign(frame.style, { left: Math.min(x, from) + "px", top: "0", width: Math.abs(x - from) + "px", height: canvas.style.height });
        return;
      }
      box.classList.add("drag");
      move(drag.from - (e.clientX - drag.x) / box.clientWidth * (view[1] - view[0]));
      return;
    }
    const i = hit(e);
    if (i !== at) { at = i; draw(); }
    if (i < 0) hideTip(); else showTip(eventBox(i), e.clientX, e.clientY);
  });
  canvas.addEventListener("pointerleave", () => { at = -1; hideTip(); draw(); });
  canvas.addEventListener("wheel", e => {
    if (!e.ctrlKey && !e.metaKey && document.activeElement !== canvas) return;
    e.preventDefault();
    if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) move(view[0] + e.deltaX / box.clientWidth * (view[1] - view[0]));
    else zoom(Math.exp(e.deltaY * .0022), e.clientX - canvas.getBoundingClientRect().left);
  }, { passive: false });
  canvas.addEventListener("keydown", e => {
    const span = view[1] - view[0], k = e.key.toLowerCase();
    const act = { "+": () => zoom(1 / 1.6), "=": () => zoom(1 / 1.6), w: () => zoom(1 / 1.6), "-": () => zoom(1.6), s: () => zoom(1.6), "0": () => { view = [...whole]; draw(); },
      arrowleft: () => move(view[0] - span / 6), a: () => move(view[0] - span / 6), arrowright: () => move(view[0] + span / 6), d: () => move(view[0] + span / 6),
      n: () => step(1), p: () => step(-1), enter: () => { hideTip(); open(at); }, escape: () => { at = -1; hideTip(); draw(); } }[k];
    if (!act || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    act();
  });
  let place = -1;
  function step(d) {
    place = Math.max(0, Math.min(order.length - 1, (at >= 0 ? order.indexOf(at) : place) + d));
    at = order[place];
    const t = E.start[at], span = view[1] - view[0];
    if (t < view[0] || t > view[1]) view = [Math.max(0, t - span / 4), Math.max(0, t - span / 4) + span];
    draw();
    const r = canvas.getBoundingClientRect(), l = lanes[E.lane[at]];
    showTip(eventBox(at), r.left + X(t), r.top + l.top + depth[at] * LINE);
    announce(names.at(at) + ", " + kinds.at(at) + ", at " + time(t) + ", " + time(E.dur[at]));
  }
  canvas.addEventListener("blur", () => { hideTip(); });

  function saveTrace() {
    const events = [], processes = new Set();
    for (const l of used) {
      if (!processes.has(l.pid)) {
        processes.add(l.pid);
        events.push({ name: "process_name", ph: "M", ts: 0, pid: l.pid, tid: 0, args: { name: l.group } });
      }
      events.push({ name: "thread_name", ph: "M", ts: 0, pid: l.pid, tid: l.k + 1, args: { name: l.name } });
    }
    for (const i of order) {
      const row = rowOf(i), l = lanes[E.lane[i]], args = {};
      if (row >= 0) for (const c of columns) {
        const v = c.at(row);
        if (v !== null && v !== "" && !["name", "rank"].includes(c.key)) args[c.key] = v;
      }
      events.push({ name: names.at(i), cat: kinds.at(i), ph: "X", ts: E.start[i] / 1e3, dur: E.dur[i] / 1e3, pid: l.pid, tid: l.k + 1, args });
    }
    const head = { displayTimeUnit: "ms", otherData: { model: D.title, tool: "onnxcost " + D.tool } };
    saveFile(D.title.replace(/\.[^.]*$/, "") + ".trace.json", "application/json", [JSON.stringify(head).slice(0, -1), ',"traceEvents":[', events.map(e => JSON.stringify(e)).join(",\n"), "]}"]);
    announce("trace saved");
  }
  themed.push(draw);
  onState(what => { if (filtered(what)) draw(); });
  new ResizeObserver(draw).observe(box);
  draw();
}
const KINDS = { kernel: 0, memcpy: 4, memset: 5, step: 9, user: 6, api: 8, sync: 3, python: -1, framework: 9 };
