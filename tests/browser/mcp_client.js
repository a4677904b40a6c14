/* onnxcost mcp with the SDK's own client, which checks every message and the output of tools against their schemas.
 * usage: mcp_client.js ONNXCOST MODEL. TAP. */
"use strict";
const { execFileSync } = require("child_process");
const path = require("path"), sdk = path.join(process.env.MCP_SDK, "dist", "cjs");
const { Client } = require(path.join(sdk, "client", "index.js"));
const { StdioClientTransport } = require(path.join(sdk, "client", "stdio.js"));
const [program, model] = process.argv.slice(2);
let n = 0, bad = 0;

function expect(title, good, found) {
  n++;
  bad += !good;
  console.log(`${good ? "ok" : "not ok"} ${n} - ${title}`);
  if (!good) console.log("# " + JSON.stringify(found).slice(0, 500));
}
const document = (...words) => JSON.parse(execFileSync(program, [...words, "-f", "json"], { maxBuffer: 1 << 28 }));
const merge = (a, b) =>
  Array.isArray(a) ? (JSON.stringify(a) === JSON.stringify(b) ? a : a.concat(b))
    : a && typeof a === "object" ? Object.fromEntries(Object.keys(a).map(k => [k, merge(a[k], b[k])])) : a;

async function main() {
  const client = new Client({ name: "check", version: "1" });
  const transport = new StdioClientTransport({ command: program, args: ["mcp"], env: process.env });
  await client.connect(transport);
  expect("the client connects", client.getServerVersion().name === "onnxcost", client.getServerVersion());
  const { tools } = await client.listTools();
  expect("tools", tools.length === 15, tools.map(t => t.name));
  for (const [tool, args, words] of [
    ["analyze", { model, hw: ["t4"], top: 40 }, [model, "--hw", "t4", "--top", "40"]],
    ["why", { model, why: ["/conv1/Conv"] }, [model, "--why", "/conv1/Conv", "--top", "1"]],
    ["memory", { model }, ["memory", model, "--top", "10"]],
    ["estimate", { model, hw: ["t4,l4"] }, ["estimate", model, "--hw", "t4,l4"]],
    ["estimate", { model, hw: ["t4"] }, ["estimate", model, "--hw", "t4"]],
    ["devices", {}, ["hw", "list"]],
  ]) {
    let whole, pages = 0, largest = 0;
    for (let cursor; ;) {
      const result = await client.callTool({ name: tool, arguments: { ...args, full: true, ...(cursor ? { cursor } : {}) } });
      const part = JSON.parse(result.content[0].text);
      largest = Math.max(largest, JSON.stringify(result).length);
      pages++;
      whole = whole ? merge(whole, part) : part;
      if (!(cursor = result.nextCursor)) break;
    }
    const same = JSON.stringify(whole) === JSON.stringify(document(...words));
    expect(`${tool}: ${pages} pages make the document of the command`, same && largest <= 20000, largest);
    const brief = JSON.stringify(await client.callTool({ name: tool, arguments: args }));
    expect(`${tool}: at most 4,000 bytes without full`, brief.length <= 4000, brief);
  }
  const result = await client.callTool({ name: "analyze", arguments: { model: "none.onnx" } });
  expect("error of a tool", result.isError && /No such file.*\n.*exit code 3/.test(result.content[0].text), result);
  const stop = new AbortController();
  const call = client.callTool({ name: "memory", arguments: { model } }, undefined, { signal: stop.signal });
  stop.abort("enough");
  expect("cancelled call", await call.then(() => false, () => true), "it was answered");
  expect("ping after it", Object.keys(await client.ping()).length === 0, "an answer with members");
  await client.close();
  console.log(`1..${n}`);
  process.exitCode = bad ? 1 : 0;
}
main().catch(e => { console.log("Bail out! " + e.stack); process.exitCode = 1; });
