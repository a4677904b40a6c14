/* Makes a screenshot smaller: a PNG of at most 256 colours. Text and charts have few colours but for their smooth edges, whose
 * steps become coarser until the colours fit. Reads what Chromium writes: 8 bits per channel, not interlaced. */
"use strict";
const zlib = require("zlib");

const CRC = Array.from({ length: 256 }, (_, n) => { for (let k = 0; k < 8; k++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1; return n >>> 0; });
function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]), head = Buffer.alloc(4), tail = Buffer.alloc(4);
  head.writeUInt32BE(data.length);
  tail.writeUInt32BE((body.reduce((c, b) => CRC[(c ^ b) & 255] ^ (c >>> 8), 0xffffffff) ^ 0xffffffff) >>> 0);
  return Buffer.concat([head, body, tail]);
}
function chunks(png) {
  const found = [];
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at)) found.push([png.toString("latin1", at + 4, at + 8), png.subarray(at + 8, at + 8 + png.readUInt32BE(at))]);
  return found;
}
/* The bytes of the pixels, without the prediction of each row. */
function pixels(data, width, height, size) {
  const row = width * size, out = Buffer.alloc(row * height);
  for (let y = 0; y < height; y++)
    for (let x = 0, filter = data[y * (row + 1)]; x < row; x++) {
      const a = x >= size ? out[y * row + x - size] : 0, b = y ? out[(y - 1) * row + x] : 0, c = x >= size && y ? out[(y - 1) * row + x - size] : 0;
      const p = a + b - c, pa = Math.abs(p - a), pb = Math.abs(p - b), pc = Math.abs(p - c);
      const guess = [0, a, b, (a + b) >> 1, pa <= pb && pa <= pc ? a : pb <= pc ? b : c][filter];
      out[y * row + x] = data[y * (row + 1) + 1 + x] + guess;
    }
  return out;
}
function paletteOf(data, size, step) {
  const colours = new Map(), at = new Uint8Array(data.length / size), coarse = v => Math.min(255, Math.round(v / step) * step);
  for (let i = 0; i < at.length; i++) {
    const key = coarse(data[i * size]) << 16 | coarse(data[i * size + 1]) << 8 | coarse(data[i * size + 2]);
    if (!colours.has(key) && colours.size === 256) return null;
    if (!colours.has(key)) colours.set(key, colours.size);
    at[i] = colours.get(key);
  }
  return { colours: [...colours.keys()], at };
}
exports.smaller = png => {
  const all = chunks(png), head = Buffer.from(all[0][1]), width = head.readUInt32BE(0), height = head.readUInt32BE(4), size = head[9] === 6 ? 4 : 3;
  const data = pixels(zlib.inflateSync(Buffer.concat(all.filter(c => c[0] === "IDAT").map(c => c[1]))), width, height, size);
  let found = null;
  for (const step of [1, 5, 17, 51, 85]) if ((found = paletteOf(data, size, step))) break;
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y++) rows.set(found.at.subarray(y * width, (y + 1) * width), y * (width + 1) + 1);
  head[9] = 3; /* colours by their place in the palette */
  return Buffer.concat([png.subarray(0, 8), chunk("IHDR", head), chunk("PLTE", Buffer.from(found.colours.flatMap(c => [c >> 16, c >> 8 & 255, c & 255]))),
    chunk("IDAT", zlib.deflateSync(rows, { level: 9 })), chunk("IEND", Buffer.alloc(0))]);
};
