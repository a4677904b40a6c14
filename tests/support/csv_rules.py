"""Reads a CSV report with Python's csv, and with SQLite's import. usage: csv_rules.py CSV JSON
JSON is the report of the same rows. Prints `ok TITLE` or `not ok TITLE: WHY`, one line per check."""
import csv
import json
import sqlite3
import sys

TEXTS = {"name", "type", "bound_by", "above_roofline", "matched_by", "nodes", "provider", "scope", "quality", "id",
         "inputs", "outputs"}


def report_check(why, title):
    print(f"not ok {title}: {why}" if why else f"ok {title}")


def is_number(text):
    try:
        float(text)
        return text.strip() == text and text.lower() not in ("nan", "inf", "-inf", "infinity")
    except ValueError:
        return False


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as f:
        return list(csv.reader(f, strict=True))


def by_sqlite(head, rows):
    """Like `.import`: every cell is text, in columns with numeric affinity where they are numbers."""
    db = sqlite3.connect(":memory:")
    quoted = ", ".join('"%s" %s' % (name, "TEXT" if name in TEXTS else "NUMERIC") for name in head)
    db.execute(f"CREATE TABLE report ({quoted})")
    db.executemany(f"INSERT INTO report VALUES ({', '.join('?' * len(head))})", rows)
    return db


def check(path, report):
    head, *rows = rows_of(path)
    raw = open(path, "rb").read()
    report_check(None if raw.endswith(b"\r\n") else repr(raw[-2:]), "lines end with CR LF")
    report_check(None if len(set(head)) == len(head) and all(head) else head, "column names are unique")
    report_check(next((f"line {i}" for i, row in enumerate(rows, 2) if len(row) != len(head)), None), "every row has every column")
    bad = [f"{name}={row[i]!r}" for row in rows for i, name in enumerate(head)
           if name not in TEXTS and row[i] and not is_number(row[i])]
    report_check(", ".join(bad[:3]), "cells are a number, or empty if unknown")
    report_check(None if head[-1] == "csv_version" and all(row[-1] == "2" for row in rows) else head[-1], "the last column is csv_version 2")

    names = {node["name"] for node in report["nodes"]}
    column = head.index("name")
    executed = {n["name"] for n in report["nodes"] if n["name"] and not n["folded"]}
    missing = executed - {row[column] for row in rows}
    report_check(repr(sorted(missing)[:2]) if missing else None, "names equal those of the model")

    db = by_sqlite(head, rows)
    macs, unknown = db.execute("SELECT SUM(macs), SUM(macs = '') FROM report").fetchone()
    total = report["totals"]
    equal = not macs if total["macs"] is None else macs == total["macs"]  # null: a lower bound of 0
    report_check(None if equal else f"{macs} is not {total['macs']}", "MACs add up in SQLite")
    report_check(None if unknown == total["unknown_nodes"] else f"{unknown} is not {total['unknown_nodes']}",
        "what is not known is empty, and nothing else")
    if names:
        kinds = db.execute('SELECT DISTINCT typeof(float_ops) FROM report WHERE float_ops != \'\'').fetchall()
        report_check(None if kinds == [("integer",)] else kinds, "numbers have a numeric type in SQLite")


check(sys.argv[1], json.load(open(sys.argv[2], encoding="utf-8")))
