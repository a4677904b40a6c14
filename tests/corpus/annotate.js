// Runs pairs of models on ONNX Runtime with the same inputs and compares the bits of the outputs:
// node annotate.js MODEL ANNOTATED [NAME=1x3x..]...      Prints "same N outputs" or the difference.
'use strict';
const ort = require('onnxruntime-node');

const [before, after, ...binds] = process.argv.slice(2);
const shapes = Object.fromEntries(binds.filter((b) => b.includes('=')).map((b) => b.split('=')));
const makers = {
  float32: (n) => Float32Array.from({ length: n }, (_, i) => Math.sin(i * 12.9898)),
  float64: (n) => Float64Array.from({ length: n }, (_, i) => Math.sin(i * 12.9898)),
  float16: (n) => new Uint16Array(n).fill(0x3800),
  int64: (n) => BigInt64Array.from({ length: n }, (_, i) => BigInt(i % 7 + 1)),
  int32: (n) => Int32Array.from({ length: n }, (_, i) => i % 7 + 1),
  bool: (n) => new Uint8Array(n).fill(1),
  uint8: (n) => Uint8Array.from({ length: n }, (_, i) => i % 251),
};

function input(meta) {
  const given = shapes[meta.name];
  const dims = given === 'scalar' ? [] : given ? given.split('x').map(Number)
    : meta.shape.map((d) => (typeof d === 'number' && d > 0 ? d : 1));
  const size = dims.reduce((a, b) => a * b, 1);
  if (meta.name === 'sr') return new ort.Tensor('int64', BigInt64Array.from([16000n]), dims);
  return new ort.Tensor(meta.type, makers[meta.type](size), dims);
}

const bytes = (t) => Buffer.from(t.data.buffer, t.data.byteOffset, t.data.byteLength);

async function main() {
  const options = { intraOpNumThreads: 1, logSeverityLevel: 3 };
  const a = await ort.InferenceSession.create(before, options).catch((error) => {
    console.log(`ONNX Runtime rejects the model itself: ${error.message}`.split('\n')[0]);
    process.exit(77);
  });
  const b = await ort.InferenceSession.create(after, options);
  const feeds = Object.fromEntries(a.inputMetadata.map((m) => [m.name, input(m)]));
  const [x, y] = [await a.run(feeds), await b.run(feeds)];
  const names = Object.keys(x);
  if (String(names) !== String(Object.keys(y))) throw new Error('other outputs');
  for (const name of names) if (!bytes(x[name]).equals(bytes(y[name]))) throw new Error(`${name} differs`);
  console.log(`same ${names.length} outputs`);
}

main().catch((error) => { console.log(`${error.message}`.split('\n')[0]); process.exit(1); });
