/* Writes build/web: onnxcost.html (everything in one file), index.html with its parts as separate files, and the folder npm.
 * usage: node make_web.js OUTPUT VERSION WASM_FOLDER LIBRARIES DATA_FILE...
 * WASM_FOLDER has web.js, web.wasm, node.js, node.wasm; LIBRARIES has copyright. */
"use strict";
const fs = require("fs"), path = require("path"), zlib = require("zlib");
const [output, version, wasm, libraries, ...data] = process.argv.slice(2);
const text = file => fs.readFileSync(file, "utf8"), source = name => text(path.join(__dirname, name));
const EMSCRIPTEN = "/usr/share/doc/emscripten/copyright", PAGE = path.join(__dirname, "../write/page");

const licences = text(path.join(libraries, "copyright")) + (fs.existsSync(EMSCRIPTEN) ? "==== emscripten\n" + text(EMSCRIPTEN) : "");
const packed = (bytes, name) => {
  const gz = zlib.gzipSync(bytes, { level: 9 });
  gz.fill(0, 4, 8); /* no time: builds are reproducible */
  fs.writeFileSync(path.join(output, name + ".gz"), gz);
  return `<script type="text/plain" id="data-${name}">${gz.toString("base64")}</script>\n`;
};

fs.mkdirSync(output, { recursive: true });
const embedded = packed(fs.readFileSync(path.join(wasm, "web.wasm")), "wasm") +
  packed(text(path.join(wasm, "web.js")) + "\n" + source("worker.js"), "script") +
  packed(JSON.stringify(Object.fromEntries(data.map(file => [file, text(file)]))), "hwdb") + packed(licences, "licences");
const parts = { version, css: text(path.join(PAGE, "report.css")) + source("page.css"), js: source("page.js") };
const page = parts => source("page.html").replace(/@(version|css|js|data)@/g, (_, name) => parts[name]);
fs.writeFileSync(path.join(output, "onnxcost.html"), page({ ...parts, data: embedded }));
fs.writeFileSync(path.join(output, "index.html"), page({ ...parts, data: "" }));

const npm = path.join(output, "npm");
const write = (name, content, mode = 0o644) => {
  fs.mkdirSync(path.dirname(path.join(npm, name)), { recursive: true });
  fs.writeFileSync(path.join(npm, name), content, { mode });
};
fs.rmSync(npm, { recursive: true, force: true });
write("package.json", JSON.stringify({ name: "onnxcost", version, description: "FLOPs, bytes, memory and time of ONNX models",
  license: "Apache-2.0", bin: { onnxcost: "bin/onnxcost.js" }, engines: { node: ">=16" } }, null, 2) + "\n");
write("bin/onnxcost.js", source("node_main.js"), 0o755);
write("lib/onnxcost.js", text(path.join(wasm, "node.js")));
write("lib/onnxcost.wasm", fs.readFileSync(path.join(wasm, "node.wasm")));
write("LICENSE", text("LICENSE"));
write("LICENSES-OF-LIBRARIES", licences);
for (const file of data) write(file, fs.readFileSync(file));
