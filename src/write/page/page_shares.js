/* Shares of the operator types as bars; the table Types has the numbers. Uses Chart.js. */
const TOP_TYPES = 20;
async function withChart(f) {
  await library("chart");
  Chart.defaults.animation = false;
  Chart.defaults.font.family = "system-ui, sans-serif";
  Chart.defaults.font.size = 12;
  f();
}

function sharesSection() {
  const metrics = [["time", "Time", "time"], ["flo", "FLOPs", "si"], ["bytes", "Bytes", "bytes"], ["params", "Parameters", "si"]].filter(m => C[m[0]] && total[m[0]] > 0);
  if (!metrics.length || types.length < 1 || D.grouped) return null;
  const metric = () => metrics.find(m => m[0] === S.metric) || metrics[0];
  const bar = el("canvas", { role: "img" });
  const note = el("p", { class: "note" }), bound = el("div", { class: "bound" });
  const list = el("div", { class: "canvas list" }, bar);
  const by = choice("Share of", metrics.map(m => [m[0], m[1]]), () => metric()[0], v => change(["metric"], { metric: v }));
  const s = section("shares", "Operator types", el("div", { class: "panel shares" }, el("div", { id: "share" }, list), note, bound));
  s.querySelector("h2").dataset.short = "Types";
  s.head.append(by, imageButtons("types", "the shares of types", () => [list.clientWidth, list.clientHeight], chartDrawing(() => config)));
  let chart = null, config = null;
  function draw() {
    by.update();
    const [key, name, kind] = metric();
    const list_ = shownRows === allRows ? types : addUp(shownRows, rowType);
    const order = list_.filter(t => t[key] > 0).sort((a, b) => b[key] - a[key]), top = order.slice(0, TOP_TYPES);
    const rest = order.slice(TOP_TYPES).reduce((v, t) => v + t[key], 0), unknown = list_.reduce((v, t) => v + t[key + "Unknown"], 0);
    const labels = top.map(t => t.key), values = top.map(t => t[key]), colors = top.map(t => typeColor(t.key));
    if (rest > 0) { labels.push((order.length - top.length) + " more types"); values.push(rest); colors.push(color(-1)); }
    const share = v => v / total[key];
    const tooltip = { callbacks: { label: c => " " + human(kind, values[c.dataIndex]) + ", " + percent(share(values[c.dataIndex])) + " %" } };
    const choose = (e, hits) => { if (hits.length && hits[0].index < top.length) change(["types", "tab"], { types: [labels[hits[0].index]], tab: "ops" }); };
    const words = top.slice(0, 6).map(t => t.key + " " + percent(share(t[key])) + " %").join(", ");
    bar.setAttribute("aria-label", name + " by operator type: " + words);
    list.style.height = Math.max(120, 21 * labels.length + 34) + "px";
    bound.replaceChildren(boundStrip());
    if (chart) chart.destroy();
    chart = new Chart(bar, config = {
      type: "bar",
      data: { labels: labels.map(l => middle(l, 26)), datasets: [{ data: values.map(v => 100 * share(v)), backgroundColor: colors, barThickness: 12 }] },
      options: {
        indexAxis: "y", maintainAspectRatio: false, onClick: choose, layout: { padding: { right: 44 } },
        plugins: { legend: { display: false }, tooltip },
        scales: {
          x: { grid: { color: css("--hair"), drawBorder: false }, ticks: { color: css("--soft"), callback: v => v + " %", maxTicksLimit: 6 }, beginAtZero: true },
          y: { grid: { display: false, drawBorder: false }, ticks: { color: css("--ink"), autoSkip: false } },
        },
      },
      plugins: [{ afterDatasetsDraw(drawn) {
        const g = drawn.ctx;
        g.fillStyle = css("--soft");
        g.font = "12px system-ui, sans-serif";
        g.textBaseline = "middle";
        g.textAlign = "left";
        drawn.getDatasetMeta(0).data.forEach((b, k) => g.fillText(percent(share(values[k])) + " %", b.x + 5, b.y));
      } }],
    });
    note.textContent = "of " + human(kind, total[key]) + " over all rows" + (shownMask ? "; bars: the " + grouped(shownRows.length) + " rows of the filter" : "") + (unknown ? "; " + grouped(unknown) + " rows with an unknown value are excluded" : "") + ". Click a bar to list its operators.";
  }
  onState(what => { if ((what.includes("metric") || filtered(what)) && chart) draw(); });
  themed.push(() => { if (chart) draw(); });
  s.ready = () => withChart(draw);
  return s;
}
