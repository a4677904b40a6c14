/* Uses build/web/onnxcost.html in headless Chromium as a person would. TAP on standard output.
 * usage: node web_test.js PAGE FOLDER      FOLDER: resnet50.onnx, symbolic.onnx, resnet50.json.gz, machine.xml, outside.onnx with
 *        outside.data (3 GB, sparse), inside.onnx (1.5 GB, sparse), long.onnx (takes seconds), cut.onnx and cut.txt; native.json (of resnet50.onnx --hw a100)
 * Environment: PLAYWRIGHT (folder of playwright-core), CHROMIUM, AXE (axe.min.js, may be missing), SHOTS (folder for screenshots) */
"use strict";
const fs = require("fs"), path = require("path");
const { chromium } = require(process.env.PLAYWRIGHT);
const [url, folder] = [path.resolve(process.argv[2]), path.resolve(process.argv[3])], file = name => path.join(folder, name);
const TIMEOUT = { timeout: 20000 };
let browser, count = 0;
const check = (right, text) => { if (!right) throw new Error(text); };
const equal = (a, b, text) => check(a === b, `${text}: ${a} is not ${b}`);

async function open() {
  const context = await browser.newContext({ viewport: { width: 1400, height: 1100 }, acceptDownloads: true }), page = await context.newPage();
  page.wrong = [];
  page.on("console", m => page.wrong.push("console " + m.type() + ": " + m.text()));
  page.on("pageerror", e => page.wrong.push("error: " + e.message));
  page.on("request", r => { if (r.url() !== "file://" + url && !/^(data|blob):/.test(r.url())) page.wrong.push("request: " + r.url()); });
  await page.goto("file://" + url);
  await page.waitForSelector("html[data-ready]", { ...TIMEOUT, state: "attached" });
  return page;
}
async function close(page) {
  await page.context().close();
  equal(page.wrong.join("; "), "", "console messages or requests");
}
const give = (page, ...names) => page.setInputFiles("#first input", names.map(file));
async function analyze(page) { /* the end of the line of state */
  await page.click("#run");
  await page.waitForFunction(() => /exit code/.test(document.getElementById("state").textContent), null, TIMEOUT);
  return page.textContent("#state");
}
async function report(page) {
  check(await page.isVisible("#report"), "no report: " + await page.textContent("#message"));
  const frame = await (await page.$("#report")).contentFrame();
  await frame.waitForSelector("#operators tbody tr[data-at]", TIMEOUT);
  return frame;
}
async function shot(page, name) {
  if (process.env.SHOTS) await page.screenshot({ path: path.join(process.env.SHOTS, name + ".png") });
}
const payload = html => JSON.parse(html.match(/<script type="application\/json"[^>]*>([^]*?)<\/script>/)[1]);

const tests = {
  async "a model and a device: the report has the totals of the native program"() {
    const page = await open(), native = JSON.parse(fs.readFileSync(file("native.json"), "utf8"));
    await give(page, "resnet50.onnx");
    await page.selectOption("#device", "a100-sxm4-40gb");
    check(/exit code 0, [\d.]+ s$/.test(await analyze(page)), "state");
    const frame = await report(page), text = await frame.evaluate(() => document.body.textContent);
    for (const n of [native.totals.macs, native.totals.flops])
      check(text.includes((n / 1e9).toFixed(2)) || text.includes(n.toLocaleString("en-US")), "no figure of " + n);
    await frame.waitForSelector("#live", TIMEOUT);
    await shot(page, "web");
    const [download] = await Promise.all([page.waitForEvent("download"), page.click("#saved")]);
    equal(download.suggestedFilename(), "resnet50.html", "name of the saved report");
    check(fs.readFileSync(await download.path(), "utf8").includes("</html>"), "the saved report is incomplete");
    await close(page);
  },
  async "dimensions, a profile and a hardware file"() {
    const page = await open();
    await give(page, "resnet50.onnx", "resnet50.json.gz", "machine.xml");
    await analyze(page);
    const frame = await report(page);
    check(/median|runs/.test(await frame.evaluate(() => document.body.textContent)), "no times of the profile");
    await page.context().close();
    const other = await open();
    await give(other, "symbolic.onnx");
    await other.fill("#dims", "height=448, width=448");
    check(/--dim height=448 --dim width=448/.test(await analyze(other)), "no dimensions");
    await report(other);
    await close(other);
  },
  async "files dropped with the mouse, by keyboard, in a window of 400 pixels"() {
    const page = await open();
    await page.setViewportSize({ width: 400, height: 800 });
    const bytes = ["resnet50.onnx", "resnet50.json.gz"].map(name => [name, fs.readFileSync(file(name)).toString("base64")]);
    const dropped = await page.evaluateHandle(bytes => {
      const list = new DataTransfer();
      for (const [name, text] of bytes) list.items.add(new File([Uint8Array.from(atob(text), c => c.charCodeAt(0))], name));
      return list;
    }, bytes);
    for (const type of ["dragover", "drop"]) await page.dispatchEvent("#first", type, { dataTransfer: dropped });
    equal(await page.locator("#files tbody tr").count(), 2, "files in the table");
    const fits = async where => {
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      check(width <= 400, `${where}: ${width} pixels wide`);
    };
    await fits("the form");
    /* every control is reached with the tab key, in the order of the page */
    const wanted = ["first", "second", "Use of resnet50.onnx", "Remove resnet50.onnx", "Use of resnet50.json.gz", "Remove resnet50.json.gz", "command",
      "device", "dims", "dtype", "more", "run"], reached = [];
    await page.evaluate(() => document.activeElement.blur());
    for (let i = 0; i < wanted.length + 2 && reached.length < wanted.length; i++) {
      await page.keyboard.press("Tab");
      const name = await page.evaluate(() => { const e = document.activeElement; return e.ariaLabel || e.id || (e.parentElement ? e.parentElement.id : ""); });
      if (name && name !== "BODY") reached.push(name);
    }
    equal(reached.join(), wanted.join(), "order of the tab key");
    await page.focus("#more");
    await page.keyboard.type("--top 5");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => /exit code 0/.test(document.getElementById("state").textContent), null, TIMEOUT);
    check(/^onnxcost resnet50.onnx -p resnet50.json.gz --top 5/.test(await page.textContent("#state")), await page.textContent("#state"));
    await report(page);
    await fits("the report");
    const axe = process.env.AXE && fs.existsSync(process.env.AXE) ? fs.readFileSync(process.env.AXE, "utf8") : null;
    if (axe) {
      await page.evaluate(axe);
      const found = (await page.evaluate(() => globalThis.axe.run(document, { iframes: false }))).violations.filter(v => /serious|critical/.test(v.impact));
      equal(found.map(v => v.id + " " + v.nodes[0].html.slice(0, 80)).join(), "", "axe-core");
    }
    await shot(page, "web-narrow");
    await close(page);
  },
  async "a profile alone, a wrong option, and a run that is stopped"() {
    const page = await open();
    await give(page, "resnet50.json.gz");
    check(/^onnxcost summary resnet50.json.gz.*exit code 0/.test(await analyze(page)), "no summary");
    await page.fill("#more", "--dimm batch=8");
    check(/exit code 2/.test(await analyze(page)), "exit code of a wrong option");
    check(/^onnxcost: .*--dimm/.test(await page.textContent("#message")), "message of a wrong option");
    check(!await page.isVisible("#report"), "an old report is shown");
    await page.fill("#more", "--hw all --batch 1,2,4,8,16,32,64,128");
    await page.selectOption("#command", { label: "ranking of devices" });
    await page.click('button[aria-label="Remove resnet50.json.gz"]');
    await give(page, "long.onnx");
    await page.click("#run");
    await page.click("#stop", TIMEOUT);
    await page.waitForFunction(() => /exit code 130/.test(document.getElementById("state").textContent), null, TIMEOUT);
    equal(await page.textContent("#message"), "onnxcost: stopped", "message of a stopped run");
    await close(page);
  },
  async "two models are compared"() {
    const page = await open();
    await give(page, "resnet50.onnx");
    await page.setInputFiles("#second input", file("resnet18.onnx"));
    check(/^onnxcost diff resnet50.onnx other\/resnet18.onnx/.test(await analyze(page)), "no diff");
    const frame = await (await page.$("#report")).contentFrame();
    await frame.waitForSelector("table", TIMEOUT);
    check(/resnet18/.test(await frame.evaluate(() => document.body.textContent)), "no second model");
    await close(page);
  },
  async "a damaged model: the message of the terminal"() {
    const page = await open();
    await give(page, "cut.onnx");
    check(/exit code 3/.test(await analyze(page)), "exit code");
    equal(await page.textContent("#message"), fs.readFileSync(file("cut.txt"), "utf8").trim(), "message");
    check(!await page.isVisible("#report"), "a report is shown");
    await page.click("#licences summary");
    await page.waitForFunction(() => /==== sqlite3[^]*==== protobuf-c/.test(document.querySelector("#licences pre").textContent), null, TIMEOUT);
    await page.click('button[aria-label="Remove cut.onnx"]');
    await give(page, "resnet50.onnx");
    await analyze(page);
    await report(page);
    await close(page);
  },
  async "a model with 3 GB of external data, and one with 1.5 GB inside: only what is needed is read"() {
    for (const names of [["outside.onnx", "outside.data"], ["inside.onnx"]]) {
      const page = await open();
      await give(page, ...names);
      await analyze(page);
      await report(page);
      const warnings = await page.textContent("#message");
      check(!/missing/.test(warnings), names[0] + ": " + warnings);
      await close(page);
    }
  },
};
(async () => {
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"] });
  let bad = 0;
  for (const [name, f] of Object.entries(tests)) {
    const start = Date.now(), failed = await f().then(() => null, e => e);
    bad += Boolean(failed);
    console.log(`${failed ? "not ok" : "ok"} ${++count} - page: ${name} (${Date.now() - start} ms)` + (failed ? "\n# " + failed.message.slice(0, 500).replace(/\n/g, "\n# ") : ""));
  }
  console.log("1.." + count);
  await browser.close();
  process.exit(bad ? 1 : 0);
})();
