/* The pages of commands: theme, tables that sort and filter, CSV of a table, blocks of a chart. The state is in the URL. */
const all = (from, what) => [...from.querySelectorAll(what)], state = new URLSearchParams(location.hash.slice(1));
function keep(key, value) {
  if (value) state.set(key, value); else state.delete(key);
  const hash = state.toString();
  try { history.replaceState(null, "", location.pathname + location.search + (hash ? "#" + hash : "")); } catch (e) { /* the browser limits the rate of changes */ }
}
function button(text, label, f) {
  const b = document.createElement("button");
  b.type = "button";
  b.textContent = text;
  if (label) b.setAttribute("aria-label", label);
  b.addEventListener("click", f);
  return b;
}

/* ---- light and dark theme ---- */
const dark = matchMedia("(prefers-color-scheme: dark)"), print = matchMedia("print"), themeButton = document.getElementById("theme");
const isDark = () => !print.matches && (state.get("theme") ? state.get("theme") === "dark" : dark.matches);
function applyTheme() {
  document.documentElement.dataset.theme = isDark() ? "dark" : "light";
  themeButton.textContent = isDark() ? "Light" : "Dark";
  themeButton.setAttribute("aria-label", isDark() ? "Switch to light colours" : "Switch to dark colours");
}
themeButton.hidden = false;
themeButton.addEventListener("click", () => { keep("theme", isDark() ? "light" : "dark"); applyTheme(); });
for (const m of [dark, print]) m.addEventListener("change", applyTheme);
applyTheme();

/* ---- links to the sections; the URL fragment holds the state of the page ---- */
for (const h of all(document, "main > section h2")) {
  const a = document.createElement("a");
  a.href = "#" + h.closest("section").id;
  a.textContent = h.textContent;
  a.addEventListener("click", e => {
    e.preventDefault();
    h.tabIndex = -1;
    h.closest("section").scrollIntoView();
    h.focus({ preventScroll: true });
  });
  document.getElementById("sections").append(a);
}

/* ---- tables ---- */
const keyOf = cell => cell.dataset.v !== undefined ? Number(cell.dataset.v) : cell.textContent;
/* Unknown numbers come last in either direction. */
function compare(a, b, sign) {
  if (a === b) return 0;
  if (a === "" || a === "-") return 1;
  if (b === "" || b === "-") return -1;
  return sign * (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true }));
}
function csvOf(table) {
  const quote = t => /[",\n\r]/.test(t) ? '"' + t.replace(/"/g, '""') + '"' : t;
  const lines = [all(table, "thead th").map(c => c.dataset.field), ...all(table, "tbody tr").filter(r => !r.hidden).map(r => [...r.children].map(c => c.dataset.v ?? c.textContent))];
  return lines.map(l => l.map(quote).join(",")).join("\r\n") + "\r\n";
}
function save(name, text) {
  const a = document.createElement("a");
  a.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 10000);
}
function setUpTable(table) {
  const part = table.closest("section"), id = part.id, body = table.tBodies[0], rows = [...body.rows], heads = all(table, "thead th");
  const title = part.querySelector("h2").textContent, texts = rows.map(r => r.textContent.toLowerCase());
  const count = document.createElement("span"), tools = document.createElement("div");
  function sort(field, sign) {
    const at = heads.findIndex(h => h.dataset.field === field);
    heads.forEach((h, i) => i === at ? h.setAttribute("aria-sort", sign < 0 ? "descending" : "ascending") : h.removeAttribute("aria-sort"));
    const keys = rows.map((r, i) => [at < 0 ? i : keyOf(r.children[at]), i]);
    keys.sort((a, b) => compare(a[0], b[0], sign) || a[1] - b[1]);
    body.append(...keys.map(k => rows[k[1]]));
  }
  function filter(text) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach((r, i) => { r.hidden = !words.every(w => texts[i].includes(w)); shown += !r.hidden; });
    count.textContent = shown === rows.length ? rows.length + " rows" : shown + " of " + rows.length + " rows";
  }
  heads.forEach(h => {
    const b = button(h.textContent, "", () => {
      const numeric = rows.some(r => r.children[h.cellIndex].dataset.v !== undefined), now = h.getAttribute("aria-sort");
      const sign = now === "descending" ? 1 : now === "ascending" ? -1 : numeric ? -1 : 1;
      sort(h.dataset.field, sign);
      keep("sort." + id, (sign < 0 ? "-" : "") + h.dataset.field);
    });
    h.replaceChildren(b);
  });
  tools.className = "tools-row";
  count.className = "note";
  count.setAttribute("role", "status");
  if (rows.length > 8) {
    const search = document.createElement("input");
    search.type = "search";
    search.placeholder = "Filter";
    search.setAttribute("aria-label", "Filter: " + title);
    search.value = state.get("q." + id) || "";
    search.addEventListener("input", () => { filter(search.value); keep("q." + id, search.value); });
    tools.append(count, search);
    filter(search.value);
  }
  tools.append(button("CSV", "CSV: " + title, () => save(id + ".csv", csvOf(table))));
  part.querySelector("header").append(tools);
  const order = state.get("sort." + id);
  if (order) sort(order.replace(/^-/, ""), order.startsWith("-") ? -1 : 1);
}
all(document, "table[data-json]").forEach(setUpTable);

/* ---- charts of blocks: the text of the block under the pointer or chosen with the arrow keys; a click opens its row ---- */
function setUpChart(chart) {
  const blocks = all(chart, "rect"), pick = chart.querySelector(".pick"), svg = chart.querySelector("svg"), hint = pick.textContent;
  let at = -1;
  function show(i) {
    if (blocks[at]) blocks[at].classList.remove("at");
    at = i;
    if (blocks[at]) blocks[at].classList.add("at");
    pick.textContent = blocks[at] ? blocks[at].querySelector("title").textContent : hint;
  }
  function open() {
    const row = blocks[at] && document.querySelector("#" + chart.dataset.table + ' tr[data-at="' + blocks[at].dataset.at + '"]');
    if (!row) return;
    all(document, "tr[aria-selected]").forEach(r => r.removeAttribute("aria-selected"));
    row.setAttribute("aria-selected", "true");
    row.scrollIntoView({ block: "center" });
  }
  blocks.forEach((b, i) => b.addEventListener("mouseenter", () => show(i)));
  svg.addEventListener("click", open);
  svg.addEventListener("focus", () => { if (at < 0 && blocks.length) show(Math.max(0, blocks.findIndex(b => b.classList.contains("peak")))); });
  svg.addEventListener("keydown", e => {
    const d = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[e.key];
    if (d && blocks.length) show((at + d + blocks.length) % blocks.length);
    else if (e.key === "Enter") open();
    else return;
    e.preventDefault();
  });
}
all(document, ".chart[data-table]").forEach(setUpChart);
