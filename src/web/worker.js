/* Runs the program once: a new worker for each run. Before it: emscripten's createOnnxcost.
 * Message: module, data (path: text of hwdb/), files ([path, Blob]), args. Answers: read (bytes of files so far), done. */
const OUTPUT = "/report.html";

function countReads(fs, files) { /* a message for each percent of the bytes, at most */
  const total = files.reduce((sum, [, blob]) => sum + blob.size, 0), read = fs.stream_ops.read;
  let bytes = 0, shown = 0;
  fs.stream_ops.read = (...call) => {
    const n = read(...call);
    bytes += n;
    if (bytes - shown >= Math.max(total / 100, 1 << 20)) postMessage({ read: shown = bytes });
    return n;
  };
}

function addFiles(FS, { data, files }) {
  for (const [path, text] of Object.entries(data)) {
    FS.mkdirTree("/onnxcost/" + path.replace(/[^/]*$/, ""));
    FS.writeFile("/onnxcost/" + path, text);
  }
  FS.mkdir("/files");
  FS.ignorePermissions = true; /* the only user is the page */
  const workerfs = FS.filesystems.WORKERFS;
  countReads(workerfs, files);
  FS.mount(workerfs, { blobs: files.map(([name, blob]) => ({ name, data: blob })) }, "/files");
  FS.chdir("/files");
}

onmessage = async ({ data: job }) => {
  const said = [], say = line => said.push(line.replace(/^\r?\x1b\[K/, "")); /* its standard streams look like a terminal */
  try {
    const program = await createOnnxcost({
      thisProgram: "/onnxcost/bin/onnxcost",
      print: say,
      printErr: say,
      preRun: [module => module.ENV.NO_COLOR = "1"],
      instantiateWasm(imports, ready) {
        WebAssembly.instantiate(job.module, imports).then(instance => ready(instance, job.module));
        return {};
      },
    });
    addFiles(program.FS, job);
    const code = program.callMain([...job.args, "-o", OUTPUT]);
    const output = program.FS.analyzePath(OUTPUT).exists ? program.FS.readFile(OUTPUT) : null;
    postMessage({ done: true, code, text: said.join("\n"), output }, output ? [output.buffer] : []);
  } catch (e) {
    const memory = e instanceof RangeError || /memory/i.test(e.message);
    said.push("onnxcost: " + (memory ? "out of memory: a browser gives at most 4 GiB; use the native program" : e.message));
    postMessage({ done: true, code: 4, text: said.join("\n"), output: null });
  }
};
