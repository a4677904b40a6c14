/* Takes the pictures of the README from the pages of the demo. usage: node gallery.js FOLDER OUT     (FOLDER: demo.html, diff.html,
 * memory.html, summary.html) Environment: PLAYWRIGHT (folder of playwright-core), CHROMIUM */
"use strict";
const path = require("path");
const { chromium } = require(process.env.PLAYWRIGHT);
const [folder, out] = process.argv.slice(2).map(p => path.resolve(p));

const PICTURES = [ /* name, page, what; hash: state of the page; before: what is done first */
  { name: "verdict", page: "demo", clip: { x: 0, y: 0, width: 1200, height: 560 } },
  { name: "structure", page: "demo", of: "#structure" },
  { name: "graph", page: "demo", hash: "#module=%2Flayer2%2Flayer2.0&graph=0", of: ".graph-view" },
  { name: "what-if", page: "demo", of: "#live", before: async page => {
    const batch = page.locator("#live input[type=number]").first();
    await batch.fill("16");
    await batch.press("Enter");
  } },
  { name: "comparison", page: "diff", of: "#roofline" },
  { name: "memory", page: "memory", clip: { x: 0, y: 0, width: 1200, height: 640 } },
  { name: "summary", page: "summary", clip: { x: 0, y: 0, width: 1200, height: 640 } },
];

(async () => {
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"] });
  for (const p of PICTURES) {
    const page = await browser.newPage({ viewport: { width: 1200, height: 800 }, colorScheme: "light" });
    await page.goto("file://" + path.join(folder, p.page + ".html") + (p.hash || ""));
    if (p.hash) await page.waitForSelector(p.of + " svg");
    if (p.of) await page.locator(p.of).scrollIntoViewIfNeeded();
    if (p.before) await p.before(page);
    await page.waitForTimeout(400);
    const file = path.join(out, p.name + ".png");
    if (p.of) await page.locator(p.of).screenshot({ path: file });
    else await page.screenshot({ path: file, clip: p.clip });
    await page.close();
  }
  await browser.close();
})().catch(e => { console.error(e.message); process.exit(1); });
