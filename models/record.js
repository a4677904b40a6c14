// Records an ONNX Runtime profile of a zoo model, for models/profiles:
//     npm install --ignore-scripts onnxruntime-node      (in a folder of its own; then NODE_PATH=.../node_modules)
//     node record.js MODEL.onnx --level all --threads 1 --runs 5 --sequence 128 -o NAME.json
// Inputs: batch 1; images are a sine, token ids count upwards, the attention mask is all ones.
// --shape x=1x3x48x192 (a scalar: --shape sr=) and --value sr=16000 say otherwise, also several times.
// Levels: disabled, basic, extended, all. --optimized FILE also keeps the graph that was executed.
'use strict';
const fs = require('fs');
const path = require('path');
const ort = require('onnxruntime-node');

const defaults = { level: 'all', threads: '1', runs: '5', sequence: '128', optimized: '', out: '', shape: {}, value: {} };

function parse(argv) {
  const args = { ...defaults, model: argv[0] };
  for (let i = 1; i < argv.length; i += 2) {
    const key = argv[i] === '-o' ? 'out' : argv[i].replace(/^--/, '');
    if (!(key in defaults) || i + 1 >= argv.length) throw new Error(`bad option ${argv[i]}`);
    if (typeof args[key] === 'object') {
      const eq = argv[i + 1].lastIndexOf('=');
      args[key] = { ...args[key], [argv[i + 1].slice(0, eq)]: argv[i + 1].slice(eq + 1) };
    } else {
      args[key] = argv[i + 1];
    }
  }
  if (!args.model || !args.out) throw new Error('usage: record.js MODEL.onnx [options] -o OUT.json');
  return args;
}

function shape(meta, args) {
  if (meta.name in args.shape) return args.shape[meta.name].split('x').filter((d) => d).map(Number);
  return meta.shape.map((d) => (typeof d === 'number' ? d : d === 'sequence' ? Number(args.sequence) : 1));
}

function input(meta, args) {
  const dims = shape(meta, args);
  const length = dims.reduce((a, b) => a * b, 1);
  const given = meta.name in args.value ? args.value[meta.name].split(',') : null;
  if (meta.type === 'float32') {
    return new ort.Tensor(meta.type, Float32Array.from({ length }, (_, i) => (given ? Number(given[i]) : Math.sin(i))), dims);
  }
  const value = { attention_mask: () => 1n, token_type_ids: () => 0n }[meta.name] || ((i) => BigInt(1000 + i));
  return new ort.Tensor('int64', BigInt64Array.from({ length }, (_, i) => (given ? BigInt(given[i]) : value(i))), dims);
}

async function main() {
  const args = parse(process.argv.slice(2));
  const folder = fs.mkdtempSync(path.join(require('os').tmpdir(), 'record-'));
  const options = {
    graphOptimizationLevel: args.level,
    executionMode: 'sequential',
    intraOpNumThreads: Number(args.threads),
    interOpNumThreads: 1,
    enableProfiling: true,
    profileFilePrefix: path.join(folder, 'profile'),
  };
  if (args.optimized) options.optimizedModelFilePath = args.optimized;
  const session = await ort.InferenceSession.create(args.model, options);
  const feeds = {};
  for (const meta of session.inputMetadata) feeds[meta.name] = input(meta, args);
  for (let run = 0; run < Number(args.runs); run++) await session.run(feeds);
  session.endProfiling();
  const [profile] = fs.readdirSync(folder);
  fs.copyFileSync(path.join(folder, profile), args.out);
  fs.rmSync(folder, { recursive: true });
}

main().catch((e) => {
  console.error(`record.js: ${e.message}`);
  process.exit(1);
});
