#!/usr/bin/env node
/* The program under node: reads and writes the files of the system. */
"use strict";
const fs = require("fs"), path = require("path"), tty = require("tty");
const root = path.join(__dirname, ".."), program = path.join(root, "bin", "onnxcost");
/* not process.stdout of a pipe: node makes it non-blocking, and the program's writes fail when it is full */
const columns = tty.isatty(1) && !process.env.COLUMNS ? { COLUMNS: String(process.stdout.columns) } : {};

require("../lib/onnxcost.js")({
  thisProgram: program,
  wasmBinary: fs.readFileSync(path.join(root, "lib", "onnxcost.wasm")),
  preRun: [module => Object.assign(module.ENV, process.env, columns, { _: program })],
}).then(module => {
  for (const fd of [0, 1, 2]) module.FS.streams[fd].tty = tty.isatty(fd);
  Object.assign(module.FS.streams[0], { path: "/dev/stdin", seekable: fs.fstatSync(0).isFile() });
  module.callMain(process.argv.slice(2));
}).catch(e => {
  console.error("onnxcost: " + (e instanceof RangeError ? "out of memory" : e.message));
  process.exitCode = 4;
});
