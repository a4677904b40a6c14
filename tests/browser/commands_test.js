/* Opens the pages of commands in headless Chromium and uses them as a person would. Prints a line for every problem.
 * usage: node commands_test.js FOLDER      with the pages of tests/check_pages.sh
 * Environment: PLAYWRIGHT (folder of playwright-core), CHROMIUM, AXE (axe.min.js, may be missing), ONLY (a regular expression of pages) */
"use strict";
const fs = require("fs"), path = require("path");
const { chromium } = require(process.env.PLAYWRIGHT), { textOfPages } = require("./pdf_pages.js");
const folder = path.resolve(process.argv[2]), axe = process.env.AXE && fs.existsSync(process.env.AXE) ? fs.readFileSync(process.env.AXE, "utf8") : null;
let browser, where = "";
const problem = text => console.log(where + ": " + text);
const equal = (a, b, what) => JSON.stringify(a) === JSON.stringify(b) || problem(what + ": " + JSON.stringify(a) + " is not " + JSON.stringify(b));

async function open(name, options, hash = "") {
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, bypassCSP: true, ...options }), page = await context.newPage();
  where = name;
  page.on("console", m => problem("console: " + m.text()));
  page.on("pageerror", e => problem("error: " + e.message));
  page.on("request", r => { if (!/^(data|blob):/.test(r.url()) && !r.url().startsWith("file://" + folder)) problem("request: " + r.url()); });
  await page.goto("file://" + path.join(folder, name + ".html") + hash);
  if (await page.locator("#details").count() && (!options || options.javaScriptEnabled !== false)) await page.waitForSelector("html[data-complete]"); /* of costs */
  return page;
}
const column = (page, table, field) => page.$$eval("#" + table + " tbody tr:not([hidden])",
  (rows, f) => rows.map(r => r.cells[[...r.closest("table").tHead.rows[0].cells].findIndex(h => h.dataset.field === f)].dataset.v), field);

async function everyPage(name) { /* narrow and wide, light and dark: nothing wider than the window, nothing that axe calls serious */
  for (const [width, colorScheme] of [[2560, "light"], [1280, "dark"], [360, "light"], [360, "dark"]]) {
    const page = await open(name, { viewport: { width, height: 900 }, colorScheme });
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (over > 0) problem(over + " pixels wider than " + width);
    equal(await page.evaluate(() => document.documentElement.dataset.theme), colorScheme, "theme");
    if (axe) {
      await page.evaluate(axe);
      for (const v of (await page.evaluate(() => globalThis.axe.run())).violations)
        if (["serious", "critical"].includes(v.impact)) problem(width + " " + colorScheme + ": " + v.id + ": " + v.nodes[0].html.slice(0, 120));
    }
    await page.context().close();
  }
}
/* Tab reaches whatever can be used and comes round to the first control again; what scrolls does so by keys, wide and narrow. */
async function keyboard(name) {
  const page = await open(name, { viewport: { width: 1280, height: 900 } });
  const wanted = await page.evaluate(() => {
    const list = [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex]")].filter(e => e.tabIndex >= 0 && !e.disabled && e.checkVisibility({ visibilityProperty: true }) && e.getClientRects().length);
    globalThis.controls = list;
    globalThis.visits = new Map();
    document.addEventListener("focusin", e => globalThis.visits.set(e.target, 1 + (globalThis.visits.get(e.target) || 0)));
    return list.length;
  });
  for (let i = 0; i < wanted + 40; i++) await page.keyboard.press("Tab"); /* a few come into being on the way */
  const missed = await page.evaluate(() => globalThis.controls.filter(e => e.isConnected && e.tabIndex >= 0 && !globalThis.visits.has(e)).map(e => e.outerHTML.slice(0, 120)));
  if (!wanted || missed.length) problem("Tab misses " + missed.length + " of " + wanted + " controls: " + missed.slice(0, 3).join(" "));
  if (await page.evaluate(() => globalThis.visits.get(globalThis.controls[0]) < 2)) problem("Tab does not come round to the first control after " + wanted + " others");
  for (const width of [1280, 360]) {
    await page.setViewportSize({ width, height: 900 });
    const boxes = await page.evaluate(() => {
      globalThis.boxes = [...document.querySelectorAll("main *")].filter(e => /auto|scroll/.test(getComputedStyle(e).overflowX) && e.checkVisibility() && e.clientHeight > 0 && (e.scrollWidth > e.clientWidth + 1 || e.scrollHeight > e.clientHeight + 1));
      return globalThis.boxes.map(e => [e.tabIndex, e.scrollWidth > e.clientWidth + 1, e.outerHTML.slice(0, 80)]);
    });
    for (const [i, [tab, wide, html]] of boxes.entries()) {
      if (tab < 0) { problem(width + ": no key scrolls " + html); continue; }
      await page.evaluate(k => { const b = globalThis.boxes[k]; b.focus(); b.scrollTo({ left: 0, top: 0, behavior: "instant" }); }, i);
      for (let k = 0; k < 3; k++) await page.keyboard.press(wide ? "ArrowRight" : "PageDown");
      await page.waitForFunction(k => globalThis.boxes[k].scrollLeft + globalThis.boxes[k].scrollTop > 0, i, { timeout: 3000 }).catch(() => problem(width + ": keys do not scroll " + html));
    }
  }
  await page.context().close();
}
async function printed(name) { /* on paper: every page has text, none is cut off at the side */
  const page = await open(name, { colorScheme: "dark" });
  await page.emulateMedia({ media: "print" });
  if (await page.locator("#details").count()) await page.waitForTimeout(1000); /* its charts follow the width of the paper some frames later */
  const pages = textOfPages(await page.pdf({ format: "A4" }));
  if (!pages.length || pages.includes(0)) problem("text on the printed pages: " + pages);
  equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(255, 255, 255)", "the paper");
  await page.context().close();
}
async function withoutScripts() {
  const page = await open("memory", { javaScriptEnabled: false });
  if (await page.locator("#buffers tbody tr").count() !== 175) problem("no table of buffers without scripts");
  if (!await page.locator(".chart rect.peak").count()) problem("no chart without scripts");
  if (await page.locator("button:visible").count()) problem("a button without its script");
  await page.context().close();
}
async function tables() {
  let page = await open("memory");
  await page.click('#buffers th[data-field="first_step"] button');
  let steps = (await column(page, "buffers", "first_step")).map(Number);
  equal(steps, [...steps].sort((a, b) => b - a), "numbers begin with the largest");
  await page.click('#buffers th[data-field="first_step"] button');
  steps = (await column(page, "buffers", "first_step")).map(Number);
  equal(steps, [...steps].sort((a, b) => a - b), "the second click reverses the order");
  await page.fill("#buffers input", "layer1.0 downsample");
  const shown = await page.locator("#buffers tbody tr:not([hidden])").count();
  if (!(shown > 0 && shown < 175)) problem("the filter shows " + shown + " rows");
  const hash = await page.evaluate(() => location.hash);
  const [download] = await Promise.all([page.waitForEvent("download"), page.click('#buffers button[aria-label^="CSV"]')]);
  equal(fs.readFileSync(await download.path(), "utf8").trim().split("\r\n").length, shown + 1, "lines of the CSV file");
  await page.context().close();
  page = await open("memory", {}, hash);
  equal(await page.locator("#buffers tbody tr:not([hidden])").count(), shown, "rows of the same URL");
  equal(await page.getAttribute('#buffers th[data-field="first_step"]', "aria-sort"), "ascending", "order of the same URL");
  await page.context().close();
}
async function chart() {
  const page = await open("memory");
  await page.focus(".chart svg");
  const peak = await page.textContent(".pick");
  if (!/3\.06 MiB at offset .*, steps \d+ to \d+/.test(peak)) problem("the focused block is " + peak);
  await page.keyboard.press("ArrowRight");
  if (await page.textContent(".pick") === peak) problem("an arrow key does not choose the next block");
  await page.keyboard.press("Enter");
  const name = (await page.textContent(".pick")).split(",")[0], row = await page.textContent('#buffers tr[aria-selected="true"]');
  if (!row.includes(name)) problem("Enter finds " + row + " instead of " + name);
  await page.context().close();
}
async function fragments() { /* in the page of somebody else: its style stays, those of the fragments do not depend on it */
  for (const [width, colorScheme] of [[1400, "light"], [400, "dark"]]) {
    const page = await open("dashboard", { viewport: { width, height: 900 }, colorScheme });
    const seen = await page.evaluate(() => {
      const style = (e, name) => getComputedStyle(e)[name], all = [...document.querySelectorAll(".onnxcost")], first = all[0], last = all[all.length - 1];
      return {
        fragments: all.length, ids: document.querySelectorAll(".onnxcost [id]").length, own: [style(document.querySelector("#own td"), "padding"), style(document.querySelector("#own td"), "fontFamily"), style(document.querySelector("#text"), "fontSize")],
        term: style(first.querySelector("dt"), "float"), ink: style(first.querySelector("td"), "color") === style(document.body, "color"), same: first.offsetHeight === last.offsetHeight && first.innerHTML === last.innerHTML,
        wide: document.documentElement.scrollWidth - innerWidth, bars: [...document.querySelectorAll(".onnxcost .strip > span")].filter(e => e.offsetWidth > 0 && style(e, "backgroundColor") !== "rgba(0, 0, 0, 0)").length,
      };
    });
    if (seen.wide > 0) problem(seen.wide + " pixels wider than " + width);
    if (seen.bars < 10) problem("only " + seen.bars + " parts of bars are visible");
    equal({ ...seen, wide: 0, bars: 10 }, { fragments: 4, ids: 0, own: ["20px", "serif", "16px"], term: "none", ink: true, same: true, wide: 0, bars: 10 }, "fragments at " + width);
    if (axe) {
      await page.evaluate(axe);
      for (const v of (await page.evaluate(() => globalThis.axe.run())).violations)
        if (["serious", "critical"].includes(v.impact)) problem(width + " " + colorScheme + ": " + v.id + ": " + v.nodes[0].html.slice(0, 120));
    }
    if (process.env.SHOTS) await page.screenshot({ path: path.join(process.env.SHOTS, "fragments-" + colorScheme + ".png"), fullPage: true });
    await page.context().close();
  }
}
(async () => {
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"] });
  for (const name of ["memory", "summary_training", "ranking", "scan", "estimate", "llm", "diff", "diff_models", "diff_device", "estimate_measured", "memory_ort", "cost", "cost_static", "cost_profile", "cost_decoder", "record"].filter(n => new RegExp(process.env.ONLY || "").test(n))) {
    await everyPage(name);
    await printed(name);
    await keyboard(name);
  }
  if (!process.env.ONLY) for (const f of [withoutScripts, tables, chart, fragments]) await f();
  await browser.close();
})().catch(e => { problem(e.message); process.exit(1); });
