#!/usr/bin/env python3
"""Compares the figures of an HTML page with the JSON documents of the same command.

usage: page_figures.py PAGE.html JSON [NAME=JSON...]
A figure names its place: data-key="activations.peak_bytes" or, of another document, "plan:size_bytes"; a table has the path of
its array (data-json), a column its member (data-field), a row its index (data-at; without: its position). data-v is the exact
number. Prints a line for every difference, for tags that are not closed, attributes that load or run something, and repeated
ids; the last line is the number of figures that agree.
"""
import html.parser
import json
import math
import sys

VOID = {"meta", "link", "input", "br", "rect", "line", "path", "col", "hr", "img"}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.problems, self.open, self.ids = [], [], set()
        self.facts, self.tables, self.text = [], [], ""

    def handle_starttag(self, tag, attrs):
        a = dict(attrs)
        for name, value in attrs:
            if name.startswith("on") or name == "src" or (name == "href" and not value.startswith(("#", "data:,"))):
                self.problems.append(f"<{tag} {name}={value!r}>")
        if tag in ("img", "iframe", "object", "embed", "base"):
            self.problems.append(f"<{tag}>")
        if "id" in a and a["id"] in self.ids:
            self.problems.append(f"repeated id {a['id']}")
        self.ids.add(a.get("id"))
        if tag not in VOID or (tag == "rect" and not self.get_starttag_text().endswith("/>")):
            self.open.append(tag)
        if "data-key" in a:
            self.facts.append((a["data-key"], a.get("data-v")))
        if tag == "table":
            self.tables.append({"json": a.get("data-json"), "fields": [], "rows": []})
        elif tag == "th" and self.tables:
            self.tables[-1]["fields"].append(a.get("data-field"))
        elif tag == "tr" and self.tables:
            self.tables[-1]["rows"].append([a.get("data-at"), []])
        elif tag == "td":
            self.tables[-1]["rows"][-1][1].append([a.get("data-v"), ""])
            self.cell = self.tables[-1]["rows"][-1][1][-1]

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"</{tag}> at {self.getpos()} closes another element")

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if self.open and self.open[-1] == tag:
            self.open.pop()

    def handle_data(self, data):
        if self.open and self.open[-1] == "td":
            self.cell[1] += data


def find(documents, path):
    name, _, rest = path.rpartition(":")
    at = documents[name]
    for key in rest.split("."):
        if at is None:
            return None
        at = at[int(key)] if isinstance(at, list) else at[key]
    return at


def flat(row):
    """Members of members too: host.total_ns is also host_total_ns, as in CSV; of lists the member "id" names one."""
    more = {f"{key}_{inner}": v for key, value in row.items() if isinstance(value, dict) for inner, v in value.items()}
    for key, value in row.items():
        for one in value if isinstance(value, list) else []:
            if isinstance(one, dict) and "id" in one:
                more.update({f"{key}_{one['id']}_{inner}": v for inner, v in one.items()})
    return {**more, **row}


def agree(value, text):
    if value is None or text is None:
        return value is None and text is None
    return math.isclose(float(value), float(text), rel_tol=1e-12, abs_tol=1e-12)


def main():
    documents = {}
    for argument in sys.argv[2:]:
        name, eq, file = argument.partition("=")
        documents[name if eq else ""] = json.load(open(file if eq else name, encoding="utf-8"))
    page, n = Page(), 0
    page.feed(open(sys.argv[1], encoding="utf-8").read())
    if page.open:
        page.problems.append(f"not closed: {page.open}")
    for key, v in page.facts:
        try:
            value = find(documents, key)
        except KeyError:
            page.problems.append(f"JSON has no {key}")
            continue
        n += 1
        if not agree(value, v):
            page.problems.append(f"{key}: JSON {value}, page {v}")
    for table in page.tables:
        if not table["json"]:
            continue
        rows = find(documents, table["json"])
        if isinstance(rows, dict):  # a member for each row
            rows = [r for r in rows.values() if isinstance(r, dict)]
        for position, (at, cells) in enumerate([r for r in table["rows"] if r[1]]):
            row = flat(rows[int(at) if at is not None else position])
            for field, (v, text) in zip(table["fields"], cells):
                if field not in row:
                    continue
                n += 1
                value = row[field]
                same = agree(value, v) if v is not None or isinstance(value, (int, float)) else True
                if isinstance(value, str) and v is None and value.isprintable() and value != text:
                    same = False
                if not same:
                    page.problems.append(f"{table['json']}[{at or position}].{field}: JSON {value!r}, page {v if v is not None else text!r}")
    print("\n".join(page.problems[:20] + [str(n)]))


if __name__ == "__main__":
    main()
