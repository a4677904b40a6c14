const $ = id => document.getElementById(id);
const REPORTS = [ /* text, command, what it needs */
  ["automatic", null], ["cost of the model", []], ["memory", ["memory"]], ["summary of profiles", ["summary"]],
  ["difference of two", ["diff"]], ["estimated latency, ranking of devices", ["estimate"]],
  ["decoder with KV cache", ["llm"]],
];
const DTYPES = ["fp16", "bf16", "fp8", "int8", "int4", "fp16-weights", "int8-weights", "int4-weights"];
const USES = ["model", "external data", "profile", "hardware file", "other"];
const MODEL = /\.(onnx|ort|safetensors|gguf)$|(^|\/)config\.json$|index\.json$/i, DATA = /\.(data|onnx_data(_\d+)?|onnx\.data|bin|weights?|pb)$/i;

/* ---- the program: embedded as base64 in onnxcost.html, separate files next to index.html ---- */
async function unpacked(name) {
  const here = $("data-" + name);
  const stream = here ? new Blob([Uint8Array.from(atob(here.textContent), c => c.charCodeAt(0))]).stream() : (await fetch(name + ".gz")).body;
  return new Response(stream.pipeThrough(new DecompressionStream("gzip")));
}
async function loadProgram() {
  const [wasm, script, data] = await Promise.all(["wasm", "script", "hwdb"].map(unpacked));
  return { module: await WebAssembly.compile(await wasm.arrayBuffer()), data: await data.json(),
    url: URL.createObjectURL(new Blob([await script.text()], { type: "text/javascript" })) };
}
let program;
const loaded = () => program ||= loadProgram();

let worker = null, stopped = null;
async function run(args, files, progress = () => {}) {
  const { module, data, url } = await loaded();
  return new Promise(resolve => {
    worker = new Worker(url);
    stopped = () => resolve({ code: 130, text: "onnxcost: stopped", output: null });
    worker.onmessage = ({ data: m }) => m.done ? resolve(m) : progress(m.read);
    worker.onerror = e => resolve({ code: 4, text: "onnxcost: " + e.message, output: null });
    worker.postMessage({ module, data, files, args });
  }).finally(() => { worker.terminate(); worker = null; });
}

/* ---- files ---- */
let files = []; /* file, side (0, 1), use */
function useOf(file) {
  return MODEL.test(file.name) ? "model" : /\.xml$/i.test(file.name) ? "hardware file" : DATA.test(file.name) ? "external data" : "profile";
}
function take(list, side) {
  for (const file of list) files.push({ file, side, use: useOf(file) });
  showFiles();
}
const sizeText = n => n < 1e6 ? Math.ceil(n / 1e3) + " kB" : n < 1e9 ? (n / 1e6).toFixed(1) + " MB" : (n / 1e9).toFixed(2) + " GB";
function element(name, members, ...inside) {
  const e = Object.assign(document.createElement(name), members);
  e.append(...inside);
  return e;
}
function showFiles() {
  $("files").hidden = !files.length;
  $("files").tBodies[0].replaceChildren(...files.map(f => {
    const use = element("select", { ariaLabel: "Use of " + f.file.name, onchange: () => f.use = use.value }, ...USES.map(u => element("option", { selected: u === f.use }, u)));
    const remove = element("button", { type: "button", ariaLabel: "Remove " + f.file.name, onclick: () => { files = files.filter(o => o !== f); showFiles(); } }, "×");
    return element("tr", {}, element("td", {}, (f.side ? "compare with: " : "") + f.file.name), element("td", {}, sizeText(f.file.size)), element("td", {}, use), element("td", {}, remove));
  }));
}
const pathOf = f => (f.side ? "other/" : "") + f.file.name;

/* ---- the command line ---- */
function words(text) { /* quotes group words, as in a shell */
  return [...text.matchAll(/(?:[^\s"']|"[^"]*"|'[^']*')+/g)].map(m => m[0].replace(/"([^"]*)"|'([^']*)'/g, "$1$2"));
}
function commandLine() {
  const of = use => files.filter(f => f.use === use).map(pathOf), models = of("model"), profiles = of("profile");
  let command = REPORTS[$("command").selectedIndex][1];
  if (!command) command = models.length > 1 || (models.length && files.some(f => f.side && f.use === "profile")) ? ["diff"] : models.length || !profiles.length ? [] : ["summary"];
  const args = [...command, ...models];
  if (models.length) profiles.forEach(p => args.push("-p", p));
  else args.push(...profiles);
  for (const hw of [...of("hardware file"), $("device").value]) if (hw) args.push("--hw", hw);
  for (const dim of words($("dims").value.replace(/,/g, " "))) args.push("--dim", dim);
  if ($("dtype").value) args.push("--as", $("dtype").value);
  return [...args, ...words($("more").value), "-f", "html"];
}

/* ---- a run ---- */
let shownUrl = null;
function show(result, name) {
  const good = result.output && result.code <= 1;
  $("message").hidden = !result.text;
  $("message").textContent = result.text;
  for (const id of ["report", "save"]) $(id).hidden = !good;
  if (shownUrl) URL.revokeObjectURL(shownUrl);
  shownUrl = good ? URL.createObjectURL(new Blob([result.output], { type: "text/html" })) : null;
  if (!good) return;
  $("report").src = shownUrl;
  Object.assign($("saved"), { href: shownUrl, download: name.replace(/\.[^.]*$/, "") + ".html" });
}
async function analyze() {
  const args = commandLine(), start = performance.now(), total = files.reduce((sum, f) => sum + f.file.size, 0);
  const seconds = () => ((performance.now() - start) / 1000).toFixed(1) + " s";
  let read = 0;
  const tell = () => $("state").textContent = `onnxcost ${args.join(" ")}: running, ${seconds()}` + (read ? `, ${sizeText(read)} of ${sizeText(total)} read` : "");
  tell();
  const timer = setInterval(tell, 100);
  $("run").disabled = true;
  $("stop").hidden = false;
  const result = await run(args, files.map(f => [pathOf(f), f.file]), n => read = n)
    .catch(e => ({ code: 4, text: "onnxcost: " + e.message, output: null }));
  clearInterval(timer);
  $("run").disabled = false;
  $("stop").hidden = true;
  $("state").textContent = `onnxcost ${args.join(" ")}: exit code ${result.code}, ${seconds()}`;
  show(result, files.length ? files[0].file.name : "report");
}

/* ---- the form ---- */
for (const [text] of REPORTS) $("command").add(new Option(text));
for (const type of DTYPES) $("dtype").add(new Option(type));
["first", "second"].forEach((id, side) => {
  const drop = $(id), input = drop.querySelector("input"), over = on => e => { e.preventDefault(); drop.classList.toggle("over", on); };
  drop.ondragover = over(true);
  drop.ondragleave = over(false);
  drop.ondrop = e => { over(false)(e); take(e.dataTransfer.files, side); };
  input.onchange = () => { take(input.files, side); input.value = ""; };
});
$("form").onsubmit = e => { e.preventDefault(); analyze(); };
$("licences").ontoggle = async () => $("licences").lastChild.textContent = await (await unpacked("licences")).text();
$("stop").onclick = () => { if (worker) stopped(); };
run(["hw", "list", "-f", "json"], []).then(({ output, text }) => {
  if (!output) throw new Error(text);
  for (const { id, name } of JSON.parse(new TextDecoder().decode(output)).rows) $("device").add(new Option(name + " (" + id + ")", id));
  document.documentElement.dataset.ready = "yes";
}).catch(e => { $("message").hidden = false; $("message").textContent = "onnxcost: this browser cannot run the program: " + e.message; });
