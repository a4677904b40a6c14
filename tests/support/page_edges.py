#!/usr/bin/env python3
"""Compares the edges of an HTML report with the inputs and outputs of the nodes in its JSON document.

usage: page_edges.py PAGE.html JSON      of a model without bodies
Prints a line for every difference.
"""
import itertools
import json
import math
import sys

from page_data import page_data_of

SIZE = {"float": 4, "int64": 8, "int32": 4, "bool": 1, "float16": 2}


def main():
    edges, document = page_data_of(open(sys.argv[1], encoding="utf-8").read())["edges"], json.load(open(sys.argv[2], encoding="utf-8"))
    maker, inputs = {}, [v["name"] for v in document["model"]["inputs"]]
    for node in document["nodes"]:
        maker.update((v["name"], node["index"]) for v in node["outputs"] if v)
    want = []
    for node in document["nodes"]:
        for v in {v["name"]: v for v in node["inputs"] if v}.values():
            source = maker.get(v["name"], v["name"] if v["name"] in inputs else None)
            if source is None:
                continue
            dims = v["shape"]
            size = SIZE[v["dtype"]] * math.prod(dims) if all(isinstance(d, int) for d in dims) else None
            want.append((source, node["index"], f"{v['dtype']}[{','.join(map(str, dims))}]", size))
    have, readers = [], itertools.accumulate(edges["to_steps"])
    for reader, back, kind in zip(readers, edges["back"], edges["type"]):
        source = reader - back if back <= reader else edges["inputs"][back - reader - 1]
        have.append((source, reader, edges["types"][kind], edges["bytes"][kind]))
    for title, rows in (("only in JSON", set(want) - set(have)), ("only in the page", set(have) - set(want))):
        for row in sorted(rows, key=str)[:5]:
            print(sys.argv[1], title, row)
    if len(want) != len(have) or len(want) < 100:
        print(sys.argv[1], len(want), "edges in JSON,", len(have), "in the page")


if __name__ == "__main__":
    main()
