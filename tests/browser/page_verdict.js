/* Opens build/web/onnxcost.html or that of a release in headless Chromium, gives it files, presses Analyze, and prints the text of the
 * report. usage: node page_verdict.js PAGE FILE...      Environment: PLAYWRIGHT (folder of playwright-core), CHROMIUM */
"use strict";
const path = require("path");
const { chromium } = require(process.env.PLAYWRIGHT);
const [url, ...files] = process.argv.slice(2).map(file => path.resolve(file)), TIMEOUT = { timeout: 60000 };
(async () => {
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--headless", "--no-sandbox", "--disable-gpu"] });
  const page = await browser.newPage();
  await page.goto("file://" + url);
  await page.waitForSelector("html[data-ready]", { ...TIMEOUT, state: "attached" });
  await page.setInputFiles("#first input", files);
  await page.click("#run");
  await page.waitForFunction(() => /exit code/.test(document.getElementById("state").textContent), null, TIMEOUT);
  const frame = await (await page.$("#report")).contentFrame();
  await frame.waitForSelector("#operators tbody tr[data-at]", TIMEOUT);
  console.log((await frame.evaluate(() => document.body.innerText)).replace(/\s+/g, " "));
  await browser.close();
})().catch(error => {
  console.error(error.message);
  process.exit(1);
});
