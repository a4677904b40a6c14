"""Compares a workbook of --format xlsx with the CSV and the JSON of the same report: xlsx_rules.py XLSX CSV JSON (openpyxl).

Prints what differs.
"""
import csv
import json
import math
import sys

import openpyxl


def same(cell, text):
    if cell.value is None:
        return text == ""
    if cell.data_type == "n":  # integers exactly; the library writes 16 digits of others
        return text != "" and (int(text) == cell.value if text.lstrip("-").isdigit()
                               else math.isclose(float(text), cell.value, rel_tol=1e-15))
    return cell.data_type == "s" and (cell.value == text or (cell.value == "infinite" and text == ""))


def check_rows(sheet, path, problems):
    with open(path, encoding="utf-8", newline="") as f:
        rows = list(csv.reader(f))
    head = [c.value for c in next(sheet.iter_rows())]
    if head != rows[0][:-1]:
        problems.append(f"columns: {head}")
    if sheet.max_row != len(rows):
        problems.append(f"{sheet.max_row} rows, {len(rows)} in CSV")
    for number, (cells, texts) in enumerate(zip(sheet.iter_rows(), rows)):
        for cell, text in zip(cells, texts):
            if not same(cell, text):
                problems.append(f"row {number}, {head[cell.column - 1]}: {cell.value!r} ({cell.data_type}), CSV has {text!r}")


def check_types(sheet, report, problems):
    head, *rows = [[c.value for c in row] for row in sheet.iter_rows()]
    total = {}
    for node in report["nodes"]:
        key = (node["op_type"], node["domain"])
        sums = total.setdefault(key, [0, 0, 0])
        sums[0] += 1
        sums[1] += node["macs"] or 0
        sums[2] += node["flops"] or 0
    for row in rows:
        t = dict(zip(head, row))
        want = total.get((t["type"], t["domain"] or ""))
        if want and t["quality"] == "exact" and [t["nodes"], t["macs"], t["flops"]] != want:
            problems.append(f"types: {t}, nodes have {want}")
    if "nodes" not in head or len(rows) < 1:
        problems.append(f"types: {head}")


def main():
    book = openpyxl.load_workbook(sys.argv[1])
    with open(sys.argv[3], encoding="utf-8") as f:
        report = json.load(f)
    problems = []
    if book.sheetnames != ["summary", "operators", "types"]:
        problems.append(f"sheets: {book.sheetnames}")
    for sheet in book:
        if sheet.freeze_panes != "A2" or not sheet.auto_filter.ref:
            problems.append(f"{sheet.title}: panes {sheet.freeze_panes}, filter {sheet.auto_filter.ref}")
        for row in sheet.iter_rows():
            problems.extend(f"{sheet.title} {c.coordinate}: a formula: {c.value}" for c in row if c.data_type == "f")
    check_rows(book["operators"], sys.argv[2], problems)
    check_types(book["types"], report, problems)
    print("\n".join(problems[:8]))


main()
