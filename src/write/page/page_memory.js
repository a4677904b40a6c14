/* Activation memory per step with the peak, and the tensors that are live at the peak. Uses Chart.js. */
function memorySection() {
  const M = D.memory;
  if (!M || !M.steps || M.peak === null || !(Number(M.peak) > 0)) return null;
  const live = M.live, nodes = addSteps(M.node_steps), rough = M.quality === "unknown" ? "≥" : MARK[qualityNo(M.quality) % 4];
  const canvas = el("canvas", { role: "img", "aria-label": "Activation memory over " + M.steps + " steps; peak " + bytes(Number(M.peak)) + " at step " + (M.peak_step + 1) + ", " + nodeName(nodes[M.peak_step]) });
  const table = el("table", { class: "plain", "aria-label": "Live at the peak" },
    el("thead", null, el("tr", null, ["live at the peak", "bytes", "live range"].map((h, k) => el("th", { scope: "col", class: k ? "" : "left" }, h)))),
    el("tbody", null, M.at_peak.map(b => el("tr", null,
      el("th", { scope: "row", class: "left", title: b.name + "\n" + b.type }, middle(b.name, 40)),
      el("td", { title: exact("bytes", b.bytes) }, bytes(Number(b.bytes))), el("td", null, (b.first + 1) + "–" + (b.last + 1))))));
  const s = section("memory", "Activation memory per step", el("div", { class: "panel memory" },
    el("div", { class: "canvas", id: "mem" }, canvas), el("div", { class: "scroll live", tabindex: "0", role: "region", "aria-label": "Live at the peak" }, table)));
  s.querySelector("h2").dataset.short = "Memory";
  s.head.append(el("span", { class: "note" }, "live activations in file order, without " + bytes(Number(M.const_bytes)) + " of constants; lower bound for any order " + bytes(Number(M.lower)) +
    (M.n_live > M.at_peak.length ? "; the table shows the " + M.at_peak.length + " largest of " + M.n_live + " live tensors" : "")));
  /* Downsampling: one point per group of steps, its maximum. */
  const width = 1400, step = Math.max(1, Math.ceil(live.length / width)), points = [];
  for (let i = 0; i < live.length; i += step) {
    let best = i;
    for (let k = i; k < Math.min(live.length, i + step); k++) if (Number(live[k]) > Number(live[best])) best = k;
    points.push({ x: best + 1, y: Number(live[best]) });
  }
  const nice = most => { /* tick distance: a round number of KiB, MiB ... */
    const raw = most / 5, unit = 1024 ** Math.max(0, Math.floor(Math.log(raw) / Math.log(1024)));
    return unit * [1, 2, 4, 5, 8, 10, 16, 20, 32, 50, 64, 100, 128, 200, 256, 512, 1024].find(k => k * unit >= raw);
  };
  let chart = null, config = null;
  s.head.append(imageButtons("memory", "the memory chart", () => [canvas.clientWidth, canvas.clientHeight], chartDrawing(() => config)));
  function draw() {
    if (chart) chart.destroy();
    const c = color(0), peak = { x: M.peak_step + 1, y: Number(M.peak) };
    chart = new Chart(canvas, config = {
      type: "line",
      data: { datasets: [
        { data: points, stepped: points.length < 700 ? "middle" : false, borderColor: c, borderWidth: 1.3, backgroundColor: c + "33", fill: true, pointRadius: 0, pointHitRadius: 4 },
        { data: [peak], type: "scatter", pointRadius: 5, pointHoverRadius: 6, backgroundColor: color(3), borderColor: css("--panel"), borderWidth: 1.5 },
      ] },
      options: {
        maintainAspectRatio: false, interaction: { mode: "nearest", axis: "x", intersect: false }, layout: { padding: { top: 26, right: 10 } },
        onClick: (e, hits) => { if (hits.length) { const row = rowOfNode(nodes[hits[0].element.$context.raw.x - 1]); if (row >= 0) openRow(row); } },
        plugins: { legend: { display: false }, tooltip: { displayColors: false, filter: (t, k) => k === 0, callbacks: {
          title: t => "step " + grouped(t[0].raw.x) + " of " + grouped(M.steps), label: t => [middle(nodeName(nodes[t.raw.x - 1]), 60), rough + bytes(t.raw.y)],
        } } },
        scales: {
          x: { type: "linear", min: 1, max: Math.max(2, M.steps), grid: { display: false }, ticks: { color: css("--soft"), precision: 0, maxTicksLimit: 9, callback: v => grouped(v) } },
          y: { beginAtZero: true, grid: { color: css("--hair"), drawBorder: false }, ticks: { color: css("--soft"), stepSize: nice(Number(M.peak)), callback: v => bytes(v) } },
        },
      },
      plugins: [{ afterDatasetsDraw(ch) {
        const dot = ch.getDatasetMeta(1).data[0], g = ch.ctx, words = "peak " + rough + bytes(peak.y) + "  " + middle(nodeName(nodes[M.peak_step]), 40);
        g.font = "600 12px system-ui, sans-serif";
        const half = g.measureText(words).width / 2, x = Math.min(Math.max(dot.x, ch.chartArea.left + half), ch.chartArea.right - half);
        g.textAlign = "center";
        g.textBaseline = "bottom";
        g.fillStyle = css("--ink");
        g.fillText(words, x, dot.y - 8);
      } }],
    });
  }
  themed.push(() => { if (chart) draw(); });
  s.ready = () => withChart(draw);
  return s;
}
