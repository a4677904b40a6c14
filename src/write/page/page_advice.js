/* Suggestions (--advise) with the rows that support them. */
function savingText(f) {
  const s = f.saving, share = known(s.share) && s.share >= 0 ? " (" + percent(s.share) + " % " + D.advice.share_of + ")" : "";
  if (known(s.high_ns) && known(s.low_ns) && s.low_ns > .95 * s.high_ns) return time(s.high_ns) + share;
  if (known(s.high_ns) && s.low_ns > 0) return time(s.low_ns) + " to " + time(s.high_ns) + share;
  if (known(s.high_ns)) return "at most " + time(s.high_ns) + share;
  if (s.low_ns > 0) return "at least " + time(s.low_ns) + share;
  return s.bytes > 0 ? si(s.bytes, "B") + " of memory traffic" : "unknown";
}
function evidence(f) {
  const body = f.evidence.map(e => {
    const row = known(e.node) && rowOfNode(e.node) >= 0 ? rowOfNode(e.node) : findRow(e.name);
    const name = middle(e.name, SMALL ? 24 : 60);
    return el("tr", null, el("th", { scope: "row", class: "left", title: e.name }, row >= 0 ? el("a", { href: "#", onclick: ev => { ev.preventDefault(); openRow(row); } }, name) : name),
      el("td", { class: "left" }, e.op_type || ""), el("td", null, known(e.time_ns) ? time(e.time_ns) : ""), el("td", null, known(e.bytes) ? si(e.bytes, "B") : ""), el("td", { class: "left wrap" }, e.text || ""));
  });
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Rows of: " + f.title }, el("table", { class: "plain", "aria-label": "Rows of: " + f.title },
    el("thead", null, el("tr", null, ["row", "type", "time", "bytes", ""].map((h, k) => el("th", { scope: "col", class: k === 2 || k === 3 ? "" : "left" }, h)))), el("tbody", null, body)));
}
function adviceSection() {
  const A = D.advice;
  if (!A) return null;
  const box = el("div", { class: "panel advice" }), s = section("advice", "Suggestions", box);
  s.querySelector("h2").dataset.short = "Advice";
  s.head.append(el("span", { class: "note" }, A.findings.length > 1 ? "savings overlap and are not additive" : A.findings.length ? "" : "none from " + A.rules + " applicable rules"));
  if (!A.findings.length) box.remove();
  for (const f of A.findings) {
    const d = el("details", null, el("summary", null, el("span", { class: "badge " + f.severity }, f.severity), el("b", null, f.title), el("span", { class: "saves" }, savingText(f))));
    d.fill = () => { /* filled when opened */
      if (d.childElementCount > 1) return;
      d.append(pairs([["evidence", f.found], ["saving", savingText(f) + (f.saving.basis ? ": " + f.saving.basis : "")], ["action", f.todo]]), evidence(f));
      if (f.rows > f.evidence.length) d.append(el("p", { class: "note" }, "and " + grouped(f.rows - f.evidence.length) + " more"));
    };
    d.addEventListener("toggle", d.fill);
    box.append(d);
  }
  return s;
}
