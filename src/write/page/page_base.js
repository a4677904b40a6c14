/* Helpers: DOM elements, number formats, the page state in the URL. */
/* Control characters and bidirectional overrides in names are shown as the replacement character. The writer
 * escapes them as \\uXXXX; after an escaped backslash, "u" is an ordinary letter. */
const UNSEEN = /\\(?:\\|u(?:00[0189][0-9a-f]|007f|061c|200[ef]|202[89a-e]|206[6-9]))/gi;
function fromBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text); /* browsers since 2025 */
  const letters = atob(text), bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i); /* Uint8Array.from calls a function for each */
  return bytes;
}
async function unpacked(e) {
  if (e.type !== "application/gzip") return e.textContent;
  const bytes = fromBase64(e.textContent);
  e.textContent = "";
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}
const documentOf = async id => JSON.parse((await unpacked(document.getElementById(id))).replace(UNSEEN, m => m.length > 2 ? "\ufffd" : m));
const D = await documentOf("data");
/* Runs a built-in library at its first use. */
const libraries = {};
function library(name) {
  libraries[name] ??= unpacked(document.getElementById("lib-" + name)).then(text => document.head.append(el("script", null, text)));
  return libraries[name];
}
const $ = id => document.getElementById(id);

/* el("td", {class: "left", title: "..."}, child or text, ...): creates an element; texts are never parsed as markup. */
function el(tag, attrs, ...children) {
  const e = document.createElement(tag);
  for (const k in attrs || {}) {
    const v = attrs[k];
    if (v === null || v === undefined) continue;
    if (k.startsWith("aria-")) e.setAttribute(k, v);
    else if (v === false) continue;
    else if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
    else if (k === "style") Object.assign(e.style, v);
    else e.setAttribute(k, v === true ? "" : v);
  }
  for (const c of children.flat(3)) if (c !== null && c !== undefined) e.append(c);
  return e;
}
function announce(text) { $("announce").textContent = text; } /* for screen readers */

/* ---- numbers ---- */
const THIN = " ", SMALL = innerWidth < 640;
function digits3(v) {
  const a = Math.abs(v);
  return a >= 100 ? v.toFixed(0) : a >= 10 ? v.toFixed(1) : v.toFixed(2);
}
function scaled(v, base, prefixes, unit) {
  let i = 0, a = Math.abs(v);
  while (a >= base * (base === 1000 ? .9995 : .99951) && i < prefixes.length - 1) { a /= base; v /= base; i++; }
  const u = prefixes[i] + unit;
  return (i === 0 && Number.isInteger(v) ? String(v) : digits3(v)) + (u ? THIN + u : "");
}
const SI = ["", "k", "M", "G", "T", "P", "E"], IEC = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const si = (v, unit = "") => v !== 0 && Math.abs(v) < 1 ? Number(v.toPrecision(3)) + (unit ? THIN + unit : "") : scaled(v, 1000, SI, unit);
const bytes = v => scaled(v, 1024, IEC, "B");
function time(ns) {
  const a = Math.abs(ns);
  if (ns === 0) return "0" + THIN + "ns";
  if (a < 999.5) return (a < 1 ? ns.toPrecision(2) : digits3(ns)) + THIN + "ns";
  if (a < 999500) return digits3(ns / 1e3) + THIN + "µs";
  if (a < 999.5e6) return digits3(ns / 1e6) + THIN + "ms";
  return digits3(ns / 1e9) + THIN + "s";
}
const percent = f => !Number.isFinite(f) ? UNKNOWN : f !== 0 && Math.abs(f) < .0005 ? "<0.1" : (100 * f).toFixed(1);
const ratio = v => v !== 0 && Math.abs(v) < .01 ? v.toExponential(1) : v < 10 ? v.toFixed(2) : v < 1000 ? v.toFixed(1) : si(v);
function grouped(v) { /* thousands separators; v: a number, or a string of digits */
  const s = typeof v === "string" ? v : Number.isInteger(v) ? String(v) : String(Number(v.toPrecision(10)));
  const [whole, rest] = s.split(".");
  return /e/.test(s) ? s : whole.replace(/\B(?=(\d{3})+$)/g, ",") + (rest ? "." + rest : "");
}
const KIND = { /* formats of each kind of number: rounded, and exact for the tooltip */
  count: { human: v => Math.abs(v) >= 1e7 ? si(v) : grouped(v), exact: grouped },
  si: { human: v => si(v), exact: grouped },
  giga: { human: v => v === 0 ? "0" : Math.abs(v) < 1e7 ? Number((v / 1e9).toPrecision(2)) + "" : v < 1e12 ? digits3(v / 1e9) : grouped((v / 1e9).toFixed(0)), exact: v => grouped(v) + " a second" },
  bytes: { human: v => si(v, "B"), exact: v => grouped(v) + " bytes" },
  time: { human: time, exact: v => grouped(v) + " ns" },
  energy: { human: v => scaled(v * 1e9, 1000, ["n", "µ", "m", "", "k"], "J"), exact: v => grouped(v) + " J" },
  fraction: { human: v => percent(v), exact: v => (100 * v).toPrecision(6) + " %" },
  ratio: { human: ratio, exact: v => String(v) },
};
const UNKNOWN = "?";
const MARK = ["", "≤", "≥", "~", ""], WORD = ["exact", "upper bound", "lower bound", "estimate", "unknown"];
const known = v => v !== null && v !== undefined && !Number.isNaN(v);
const human = (kind, v) => known(v) ? KIND[kind].human(Number(v)) : UNKNOWN;
const exact = (kind, v) => known(v) ? KIND[kind].exact(v) : "unknown";
const qualityNo = name => Math.max(0, ["exact", "upper", "lower", "est", "unknown"].indexOf(name));

/* Shortens a text in the middle, because names differ at their ends. */
function middle(text, max) {
  if (text.length <= max) return text;
  const head = Math.floor((max - 1) * .5);
  return text.slice(0, head) + "…" + text.slice(text.length - (max - 1 - head));
}

/* ---- page state, stored in the URL fragment ---- */
const S = { q: "", re: false, types: [], bounds: [], theme: null, tab: "ops", sort: {}, node: null, metric: null, by: "op", wasteBy: null, module: null, mass: null, live: {}, region: null, span: null, graph: null };
/* What selects rows; `filtered`: whether a change concerns it. */
const FILTERS = ["q", "types", "bounds", "module", "region", "span"], filtered = what => what.some(k => FILTERS.includes(k));
const isFiltered = () => !!(S.q || S.types.length || S.bounds.length || S.module || S.region || S.span);
const listeners = [];
const onState = f => listeners.push(f);
function readHash() {
  const p = new URLSearchParams(location.hash.slice(1));
  S.q = p.get("q") || "";
  S.re = p.get("re") === "1";
  S.types = p.get("type") ? p.getAll("type") : [];
  S.bounds = p.get("bound") ? p.getAll("bound") : [];
  S.theme = p.get("theme");
  S.tab = p.get("tab") || "ops";
  S.sort = {};
  for (const [k, v] of p) if (k.startsWith("sort.")) S.sort[k.slice(5)] = [v.replace(/^-/, ""), v.startsWith("-") ? -1 : 1];
  S.live = {};
  for (const [k, v] of p) if (k.startsWith("live.")) S.live[k.slice(5)] = v;
  S.metric = p.get("metric");
  S.by = p.get("by") || "op";
  S.wasteBy = p.get("waste");
  S.module = p.get("module");
  S.mass = p.get("width");
  S.region = p.get("region");
  S.span = p.get("span");
  S.graph = p.get("graph");
  S.node = p.get("node");
}
function hashText() {
  const p = new URLSearchParams();
  if (S.q) p.set("q", S.q);
  if (S.re) p.set("re", "1");
  for (const t of S.types) p.append("type", t);
  for (const b of S.bounds) p.append("bound", b);
  if (S.theme) p.set("theme", S.theme);
  if (S.tab !== "ops") p.set("tab", S.tab);
  for (const k in S.sort) p.set("sort." + k, (S.sort[k][1] < 0 ? "-" : "") + S.sort[k][0]);
  for (const k in S.live) p.set("live." + k, S.live[k]);
  if (S.metric) p.set("metric", S.metric);
  if (S.by !== "op") p.set("by", S.by);
  if (S.wasteBy) p.set("waste", S.wasteBy);
  if (S.module) p.set("module", S.module);
  if (S.mass) p.set("width", S.mass);
  if (S.region) p.set("region", S.region);
  if (S.span) p.set("span", S.span);
  if (S.graph !== null) p.set("graph", S.graph);
  if (S.node !== null) p.set("node", S.node);
  return p.toString();
}
/* what: the keys that changed. Back undoes a change of the node, and of a filter other than the text. */
function change(what, values) {
  Object.assign(S, values);
  const hash = hashText(), url = location.pathname + location.search + (hash ? "#" + hash : "");
  const push = what.some(k => ["node", "module", "types", "bounds", "region", "span", "graph"].includes(k));
  try { history[push ? "pushState" : "replaceState"](null, "", url); } catch (e) { /* the browser limits the rate of changes */ }
  for (const f of listeners) f(what);
}
function fromHistory() {
  readHash();
  for (const f of listeners) f([...FILTERS, "theme", "tab", "sort", "metric", "by", "wasteBy", "mass", "live", "graph", "node"]);
}
const toggled = (list, item) => list.includes(item) ? list.filter(x => x !== item) : [...list, item];
const noFilter = () => change(FILTERS, { q: "", re: false, types: [], bounds: [], module: null, region: null, span: null });

/* ---- light and dark theme ---- */
const systemDark = matchMedia("(prefers-color-scheme: dark)"), printing = matchMedia("print");
function isDark() { return !printing.matches && (S.theme ? S.theme === "dark" : systemDark.matches); }
const themed = [];
function applyTheme() {
  document.documentElement.dataset.theme = isDark() ? "dark" : "light";
  for (const f of themed) f();
}
const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const LIGHT = ["#2f6cb3", "#d3701f", "#2f8f4e", "#bf3f3a", "#7a5fb8", "#8a6148", "#c45b9c", "#1b8fa0", "#8d8a14", "#5a6778"];
const DARK = ["#6ea6ea", "#f39d58", "#65c57f", "#f0807a", "#ad95ea", "#c29a80", "#ee97cf", "#52c8d8", "#cbc84f", "#98a6b8"];
const color = i => i < 0 ? (isDark() ? "#66717e" : "#98a2ad") : (isDark() ? DARK : LIGHT)[i % LIGHT.length];
/* Text colour with the higher contrast on a background colour (WCAG relative luminance). */
function inkOn(hex) {
  const part = k => { const v = parseInt(hex.slice(k, k + 2), 16) / 255; return v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; };
  return .2126 * part(1) + .7152 * part(3) + .0722 * part(5) > .179 ? "#0f1216" : "#ffffff";
}

/* ---- components ---- */
function section(id, title, ...children) {
  const head = el("header", null, el("h2", { id: id + "-title" }, title));
  const s = el("section", { id, "aria-labelledby": id + "-title" }, head, ...children);
  s.head = head;
  return s;
}
/* A radio group of buttons. */
function choice(label, options, get, set) {
  const box = el("div", { class: "group controls", role: "radiogroup", "aria-label": label });
  const buttons = options.map(([value, text]) => el("button", {
    type: "button", role: "radio", onclick: () => set(value),
    onkeydown: e => {
      const d = e.key === "ArrowRight" || e.key === "ArrowDown" ? 1 : e.key === "ArrowLeft" || e.key === "ArrowUp" ? -1 : 0;
      if (!d) return;
      e.preventDefault();
      const i = (options.findIndex(o => o[0] === get()) + d + options.length) % options.length;
      set(options[i][0]);
      buttons[i].focus();
    },
  }, text));
  box.append(...buttons);
  box.hidden = options.length < 2;
  box.update = () => options.forEach(([value], i) => {
    buttons[i].setAttribute("aria-checked", value === get());
    buttons[i].tabIndex = value === get() ? 0 : -1;
  });
  box.update();
  return box;
}
function saveFile(name, type, parts) {
  const a = el("a", { href: URL.createObjectURL(new Blob(parts, { type })), download: name });
  document.body.append(a);
  a.click();
  a.remove();
  setTimeout(() => URL.revokeObjectURL(a.href), 10000);
}
