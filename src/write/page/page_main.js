/* Builds the page. */
function tools() {
  const b = $("theme"), set = () => { b.textContent = isDark() ? "Light" : "Dark"; b.setAttribute("aria-label", isDark() ? "Switch to light colours" : "Switch to dark colours"); };
  b.addEventListener("click", () => change(["theme"], { theme: isDark() ? "light" : "dark" }));
  onState(what => { if (what.includes("theme")) { applyTheme(); set(); } });
  systemDark.addEventListener("change", () => { applyTheme(); set(); });
  set();
}
/* The filters as buttons that remove them, below the title: visible wherever the page is scrolled to. */
function filterBar() {
  const bar = $("filter"), chip = (text, name, remove) => el("button", { type: "button", class: "chip", "aria-label": "Remove filter: " + name, title: name, onclick: remove }, middle(text, 40) + " ×");
  function draw() {
    const chips = [];
    if (S.q) chips.push(chip((S.re ? "regex " : "text ") + S.q, "text " + S.q, () => change(["q"], { q: "" })));
    for (const t of S.types) chips.push(chip(t, "type " + t, () => change(["types"], { types: toggled(S.types, t) })));
    for (const b of S.bounds) chips.push(chip(b, "bound by " + b, () => change(["bounds"], { bounds: toggled(S.bounds, b) })));
    if (regionTest(S.region)) chips.push(chip("roofline " + regionText(S.region), "part of the roofline, " + regionText(S.region), () => change(["region"], { region: null })));
    if (spanTest(S.span)) chips.push(chip("timeline " + spanText(S.span), "part of the timeline, " + spanText(S.span), () => change(["span"], { span: null })));
    if (S.module) chips.push(chip(S.module, "module " + S.module, () => change(["module"], { module: null })));
    bar.hidden = !chips.length;
    const at = [...bar.querySelectorAll("button")].indexOf(document.activeElement);
    bar.replaceChildren(...chips, el("span", { class: "note", role: "status" }, searchError || countText()), el("span", { class: "push" }), el("button", { type: "button", id: "no-filter", onclick: noFilter }, "Clear all"));
    const left = bar.querySelectorAll("button");
    if (at >= 0) (bar.hidden ? $("theme") : left[Math.min(at, left.length - 1)]).focus();
  }
  onState(what => { if (filtered(what)) draw(); });
  draw();
}
/* Rows that are named above the cards become links. */
function verdictLinks() {
  for (const place of document.querySelectorAll("#verdict .row")) {
    const row = findRow(place.dataset.row);
    if (row >= 0) place.replaceChildren(el("a", { href: "#", onclick: e => { e.preventDefault(); openRow(row); } }, place.textContent));
  }
}
function links(list) {
  const nav = $("sections");
  nav.append(...list.map(s => el("a", { href: "#" + s.id, onclick: e => {
    e.preventDefault(); /* the URL fragment holds the page state */
    s.scrollIntoView();
    const h = s.querySelector("h2");
    h.tabIndex = -1;
    h.focus({ preventScroll: true });
  } }, s.querySelector("h2").dataset.short || s.querySelector("h2").textContent)));
  document.querySelector(".skip").addEventListener("click", e => {
    e.preventDefault();
    const box = document.querySelector("#operators .grid");
    $("operators").scrollIntoView();
    if (box) box.focus();
  });
}
const FEW = N + (D.timeline ? D.timeline.n : 0) < 20000; /* rows and events that are drawn before the first frame */
const whenIdle = f => globalThis.requestIdleCallback ? requestIdleCallback(f, { timeout: 500 }) : setTimeout(f); /* Safari has none */
function start() {
  readHash();
  filterRows();
  applyTheme();
  headline();
  verdictLinks();
  const main = $("main"), sections = [];
  main.append(cards());
  const add = s => { if (s) { main.append(s); sections.push(s); } return s; };
  const both = (...list) => {
    const there = list.filter(Boolean);
    if (there.length === 1) return add(there[0]);
    if (there.length) main.append(el("div", { class: "pair" }, there));
    sections.push(...there);
  };
  both(wasteSection(), sharesSection());
  add(structureSection());
  add(adviceSection());
  add(whatIfSection());
  add(liveSection());
  add(rooflineSection());
  add(tablesSection());
  add(kernelsSection());
  add(memorySection());
  add(timelineSection());
  add(notesSection());
  const not = missing();
  if (not) main.append(not);
  links(sections);
  tools();
  filterBar();
  const first = sections.find(s => s.id === "operators"); /* the table is usable before the charts are drawn */
  first.ready();
  const rest = sections.filter(s => s.ready && s !== first);
  const drawAll = () => { while (rest.length) rest.shift().ready(); };
  const paper = () => {
    if (printing.matches) drawAll();
    for (const d of document.querySelectorAll(".advice details")) { if (printing.matches) d.fill(); d.open = printing.matches; }
    applyTheme();
    for (const tab in gridOf) { gridOf[tab].paper(printing.matches); gridOf[tab].drawn = null; gridOf[tab].draw(); }
  };
  /* Every section is drawn, near the window or not: a picture of the whole page shows all of it. Of a large report in sequence,
   * so that the table answers in between. */
  const next = async () => {
    if (FEW) drawAll();
    else if (rest.length) { rest.shift().ready(); whenIdle(next); return; }
    await library("chart"); /* printing does not wait for it */
    if (printing.matches) paper(); /* began before the sections were there */
    document.documentElement.dataset.complete = "";
  };
  if (FEW) next(); else whenIdle(next);
  addEventListener("popstate", fromHistory);
  addEventListener("hashchange", () => { if (location.hash.slice(1) !== hashText()) fromHistory(); });
  printing.addEventListener("change", paper);
  if (S.node !== null) showNode();
}
if (FEW) await withChart(start); else start();
