/* Saves a drawing as PNG or SVG: it is drawn again, on a canvas of twice its size, or on a context that writes SVG. */
const xmlText = s => String(s).replace(/[&<>"]/g, c => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
const round2 = v => Math.round(v * 100) / 100;

/* The part of CanvasRenderingContext2D that the drawings and Chart.js use. */
class SvgContext {
  constructor(width, height) {
    Object.assign(this, { width, height, out: [], clips: [], stack: [], path: "", measure: document.createElement("canvas").getContext("2d") });
    this.state = { fillStyle: "#000", strokeStyle: "#000", lineWidth: 1, font: "10px sans-serif", textAlign: "start", textBaseline: "alphabetic", globalAlpha: 1, dash: [], clip: null, matrix: [1, 0, 0, 1, 0, 0] };
    for (const k of ["fillStyle", "strokeStyle", "lineWidth", "font", "textAlign", "textBaseline", "globalAlpha"]) Object.defineProperty(this, k, { get: () => this.state[k], set: v => { this.state[k] = v; } });
  }
  save() { this.stack.push({ ...this.state }); }
  restore() { if (this.stack.length) this.state = this.stack.pop(); }
  transform(a, b, c, d, e, f) {
    const [A, B, C_, D_, E, F] = this.state.matrix;
    this.state.matrix = [A * a + C_ * b, B * a + D_ * b, A * c + C_ * d, B * c + D_ * d, A * e + C_ * f + E, B * e + D_ * f + F];
  }
  translate(x, y) { this.transform(1, 0, 0, 1, x, y); }
  scale(x, y) { this.transform(x, 0, 0, y, 0, 0); }
  rotate(a) { this.transform(Math.cos(a), Math.sin(a), -Math.sin(a), Math.cos(a), 0, 0); }
  setTransform(...m) { this.state.matrix = m; }
  resetTransform() { this.state.matrix = [1, 0, 0, 1, 0, 0]; }
  setLineDash(list) { this.state.dash = list; }
  getLineDash() { return this.state.dash; }
  at(x, y) { const [a, b, c, d, e, f] = this.state.matrix; return round2(a * x + c * y + e) + " " + round2(b * x + d * y + f); }
  beginPath() { this.path = ""; }
  moveTo(x, y) { this.path += "M" + this.at(x, y); }
  lineTo(x, y) { this.path += (this.path ? "L" : "M") + this.at(x, y); }
  closePath() { this.path += "Z"; }
  bezierCurveTo(a, b, c, d, x, y) { this.path += "C" + this.at(a, b) + " " + this.at(c, d) + " " + this.at(x, y); }
  quadraticCurveTo(a, b, x, y) { this.path += "Q" + this.at(a, b) + " " + this.at(x, y); }
  rect(x, y, w, h) { this.path += "M" + this.at(x, y) + "L" + this.at(x + w, y) + "L" + this.at(x + w, y + h) + "L" + this.at(x, y + h) + "Z"; }
  arc(x, y, r, from, to, back) {
    const [a, b] = this.state.matrix, radius = round2(r * Math.hypot(a, b)), turn = Math.min(2 * Math.PI, Math.abs(to - from)), way = back ? -1 : 1;
    this.lineTo(x + r * Math.cos(from), y + r * Math.sin(from));
    for (let k = 1; k <= 2; k++) { /* two halves: one arc cannot be a circle */
      const at = from + way * turn * k / 2;
      this.path += `A${radius} ${radius} 0 0 ${back ? 0 : 1} ${this.at(x + r * Math.cos(at), y + r * Math.sin(at))}`;
    }
  }
  clip() {
    this.clips.push(`<clipPath id="c${this.clips.length}"><path d="${this.path}"/></clipPath>`);
    this.state.clip = this.clips.length - 1;
  }
  paint(name, style) {
    const m = /^#([0-9a-f]{6})([0-9a-f]{2})$/i.exec(style);
    return m ? ` ${name}="#${m[1]}" ${name}-opacity="${round2(parseInt(m[2], 16) / 255)}"` : ` ${name}="${xmlText(style)}"`;
  }
  put(element) { /* in a group: a clip path is in the coordinates of its element, without the transformation of a text */
    const s = this.state, how = (s.globalAlpha < 1 ? ` opacity="${s.globalAlpha}"` : "") + (s.clip === null ? "" : ` clip-path="url(#c${s.clip})"`);
    this.out.push(how ? `<g${how}>${element}</g>` : element);
  }
  lines() { const s = this.state; return this.paint("stroke", s.strokeStyle) + ` stroke-width="${s.lineWidth}"` + (s.dash.length ? ` stroke-dasharray="${s.dash.join(" ")}"` : ""); }
  fill() { if (this.path) this.put(`<path d="${this.path}"${this.paint("fill", this.state.fillStyle)}/>`); }
  stroke() { if (this.path) this.put(`<path d="${this.path}" fill="none"${this.lines()}/>`); }
  fillRect(x, y, w, h) { const path = this.path; this.path = ""; this.rect(x, y, w, h); this.fill(); this.path = path; }
  strokeRect(x, y, w, h) { const path = this.path; this.path = ""; this.rect(x, y, w, h); this.stroke(); this.path = path; }
  clearRect() {}
  measureText(text) { this.measure.font = this.state.font; return this.measure.measureText(text); }
  words(text, x, y, how) {
    const s = this.state, size = Number(/([\d.]+)px/.exec(s.font)[1]), family = s.font.replace(/^.*px(\/\S+)?\s*/, ""), weight = /\b(bold|[5-9]00)\b/.exec(s.font);
    const [a, b, c, d, e, f] = s.matrix.map(round2), down = { top: .8, hanging: .8, middle: .35, bottom: -.2, ideographic: -.2 }[s.textBaseline] || 0, anchor = { center: "middle", right: "end", end: "end" }[s.textAlign];
    this.put(`<text x="${round2(x)}" y="${round2(y + down * size)}" font-size="${size}" font-family="${xmlText(family)}"${weight ? ` font-weight="${weight[1]}"` : ""}${anchor ? ` text-anchor="${anchor}"` : ""}` +
      `${a === 1 && b === 0 && e === 0 && f === 0 ? "" : ` transform="matrix(${[a, b, c, d, e, f].join(" ")})"`}${how}>${xmlText(text)}</text>`);
  }
  fillText(text, x, y) { this.words(text, x, y, this.paint("fill", this.state.fillStyle)); }
  strokeText(text, x, y) { this.words(text, x, y, ' fill="none"' + this.lines()); }
  text() {
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${this.width}" height="${this.height}" viewBox="0 0 ${this.width} ${this.height}"><rect width="100%" height="100%" fill="${xmlText(css("--panel"))}"/>` +
      `<defs>${this.clips.join("")}</defs>${this.out.join("\n")}</svg>\n`;
  }
}
const IMAGE_SCALE = 2;
/* draw(g, width, height) */
function saveImage(form, name, width, height, draw) {
  const file = D.title.replace(/\.[^.]*$/, "") + "." + name + "." + form, w = Math.ceil(width), h = Math.ceil(height);
  if (form === "svg") {
    const g = new SvgContext(w, h);
    draw(g, w, h);
    saveFile(file, "image/svg+xml", [g.text()]);
  } else {
    const canvas = el("canvas", { width: w * IMAGE_SCALE, height: h * IMAGE_SCALE }), g = canvas.getContext("2d");
    g.scale(IMAGE_SCALE, IMAGE_SCALE);
    draw(g, w, h);
    g.resetTransform();
    g.globalCompositeOperation = "destination-over";
    g.fillStyle = css("--panel");
    g.fillRect(0, 0, canvas.width, canvas.height);
    canvas.toBlob(blob => saveFile(file, "image/png", [blob]));
  }
  announce("image saved");
}
/* Buttons for a section; size(): [width, height] */
function imageButtons(name, about, size, draw) {
  return el("div", { class: "group controls images" }, ["png", "svg"].map(form => el("button", { type: "button", "data-image": name + "." + form, title: "Save " + about + " as " + form.toUpperCase(), "aria-label": "Save " + about + " as " + form.toUpperCase(), onclick: () => saveImage(form, name, ...size(), draw) }, form.toUpperCase())));
}
/* A chart of Chart.js as a drawing. */
function chartDrawing(config) {
  return (g, w, h) => {
    const canvas = el("canvas", { width: w, height: h }), svg = g instanceof SvgContext;
    if (svg) { g.canvas = canvas; canvas.getContext = () => g; }
    const chart = new Chart(canvas, { ...config(), options: { ...config().options, responsive: false, animation: false, devicePixelRatio: svg ? 1 : IMAGE_SCALE } });
    if (!svg) g.drawImage(canvas, 0, 0, w, h);
    chart.destroy();
  };
}
