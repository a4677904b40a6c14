"use strict";
const zlib = require("zlib");
/* The number of texts and images on each page of a PDF, 0: blank. Chromium writes page objects as plain text and their contents deflated. */
function textOfPages(pdf) {
  const text = pdf.toString("latin1"), pages = [];
  for (const [, n] of text.matchAll(/\/Type\s*\/Page\b[^]*?\/Contents\s+(\d+) 0 R/g)) {
    const head = new RegExp("(?:^|[\\r\\n])" + n + " 0 obj[^]*?/Length (\\d+)[^]*?stream\\r?\\n").exec(text);
    const from = head.index + head[0].length, bytes = pdf.subarray(from, from + Number(head[1]));
    const drawn = (/FlateDecode/.test(head[0]) ? zlib.inflateSync(bytes) : bytes).toString("latin1"); /* a blank page is not compressed */
    pages.push((drawn.match(/\b(?:T[jJ]|Do)\b/g) || []).length);
  }
  return pages;
}
module.exports = { textOfPages };
