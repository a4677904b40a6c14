/* Takes the pictures that src/doc/gallery/pictures.tsv lists. usage: node gallery.js LIST FOLDER OUT
 * FOLDER: PAGE.html of each page, PICTURE.txt of each terminal: the command line, then what it printed, with its colours.
 * Sizes, theme and fonts are fixed; a picture changes when what it shows changes. Environment: PLAYWRIGHT (folder of
 * playwright-core), CHROMIUM */
"use strict";
const fs = require("fs"), path = require("path");
const { chromium } = require(process.env.PLAYWRIGHT), { smaller } = require("./palette_png.js");
const [list, folder, out] = process.argv.slice(2).map(p => path.resolve(p));
const LINES = 34;
const escaped = text => text.replace(/&/g, "&amp;").replace(/</g, "&lt;");

/* Text with SGR sequences as HTML: bold, faint and the sixteen colours of a terminal. */
function coloured(text) {
  let open = "";
  return escaped(text).replace(/\x1b\[([\d;]*)m/g, (all, codes) => {
    const on = codes.split(";").filter(c => c && c !== "0").map(c => "s" + c).join(" "), end = open;
    open = on ? "</span>" : "";
    return end + (on ? `<span class="${on}">` : "");
  }) + open;
}
const STYLE = `body { margin: 0; background: #fff } pre { margin: 0; padding: 12px 16px; width: 80ch; font: 14px/19px "DejaVu Sans Mono", monospace; color: #1f2328; overflow: hidden }
.prompt, .s1 { font-weight: 700 } .s2, .cut { color: #6e7781 } .s31, .s91 { color: #b3261e } .s32, .s92 { color: #1a7f37 } .s33, .s93 { color: #8a5a00 } .s34, .s94 { color: #0b57d0 } .s35 { color: #8250df } .s36 { color: #0b6b75 } .s4 { text-decoration: underline }`;
function terminal(picture) {
  const [command, ...text] = fs.readFileSync(path.join(folder, picture + ".txt"), "utf8").replace(/\n$/, "").split("\n");
  const lines = text.flatMap(l => l.includes("\x1b") || !l ? [l] : l.match(/.{1,80}/gu)); /* a terminal wraps lines */
  const shown = lines.length > LINES ? [...lines.slice(0, LINES - 1), "\u2026 " + (lines.length - LINES + 1) + " more lines"] : lines;
  const typed = command.match(/.{1,76}(?: |$)/g).map((l, i) => (i ? "    " : "$ ") + l.trim()).join(" \\\n");
  return `<!DOCTYPE html><meta charset="utf-8"><style>${STYLE}</style><pre><span class="prompt">${escaped(typed)}</span>\n${coloured(shown.join("\n"))}</pre>`;
}
async function take(browser, [kind, picture, of, selector]) {
  const page = await browser.newPage({ viewport: { width: 1200, height: 800 }, colorScheme: "light" }), file = path.join(out, picture + ".png");
  if (kind === "terminal" || kind === "runtime") {
    await page.setContent(terminal(picture));
    await page.locator("pre").screenshot({ path: file });
  } else {
    const [name, state] = of.split(/#(.*)/s);
    await page.goto("file://" + path.join(folder, name + ".html") + (state ? "#" + state : ""));
    if (await page.locator("#details").count()) await page.waitForSelector("html[data-complete]");
    if (kind === "part") {
      await page.waitForSelector(selector);
      await page.locator(selector).scrollIntoViewIfNeeded();
    }
    await page.waitForTimeout(400);
    if (kind === "part") await page.locator(selector).screenshot({ path: file });
    else await page.screenshot({ path: file, clip: { x: 0, y: 0, width: 1200, height: 720 } });
  }
  await page.close();
  fs.writeFileSync(file, smaller(fs.readFileSync(file)));
}
(async () => {
  const rows = fs.readFileSync(list, "utf8").split("\n").filter(l => l && !l.startsWith("#")).map(l => l.split("\t"));
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-lcd-text"] });
  for (const row of rows)
    if (row[0] !== "runtime" || fs.existsSync(path.join(folder, row[1] + ".txt"))) await take(browser, row);
  await browser.close();
})().catch(e => { console.error(e.message); process.exit(1); });
