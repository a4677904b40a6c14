"""Every format of every command, read by a parser that is not ours. usage: format_rules.py PROGRAM FOLDER [--update]
FOLDER holds the models and becomes the working folder; the jobs come from standard input, one per line, separated by tabs:
command, formats that it accepts, arguments. A format that the command has and the line does not name must be refused.
The command `file` is a JSON document that is already there.
Members of JSON documents without a published schema, and of the data of the HTML page, are compared with tests/data/json_members.tsv (--update writes it).
Prints a line per check: `ok TITLE` or `not ok TITLE: WHY`."""
import csv
import html.parser
import io
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree
import zipfile

from page_data import unzipped

MEMBERS = os.path.join(os.path.dirname(__file__), "../data/json_members.tsv")
SCHEMAS = os.path.join(os.path.dirname(__file__), "../../src/write/%s.schema.json")
EMPTY_ELEMENTS = {"meta", "link", "br", "hr", "img", "input", "col"}
MEASURED = ("onnxcost.bisect", "onnxcost.tune")  # what is measured decides which of their members are null: tests/check_trials.sh
members = {}  # (schema, path of a member): types


class Wrong(Exception):
    pass


def expect(good, why):
    if not good:
        raise Wrong(why)


def no_constant(name):
    raise Wrong(f"{name} is not JSON")


def unique(pairs):
    names = [name for name, _ in pairs]
    expect(len(set(names)) == len(names), f"a member twice: {names}")
    return dict(pairs)


def load(text):
    return json.loads(text, parse_constant=no_constant, object_pairs_hook=unique)


def note_members(schema, path, value):
    kind = {str: "text", bool: "boolean", int: "number", float: "number", type(None): "null", list: "array", dict: "object"}[type(value)]
    members.setdefault((schema, path), set()).add(kind)
    if isinstance(value, dict):
        for name, child in value.items():
            note_members(schema, f"{path}.{name}", child)
    elif isinstance(value, list):
        for child in value:
            note_members(schema, path + "[]", child)


def check_json(text):
    document = load(text)
    head = list(document.items())[:3]
    expect([name for name, _ in head] == ["schema", "version", "tool"], "the document does not begin with schema, version, tool")
    schema, version, tool = (value for _, value in head)
    expect(re.fullmatch(r"onnxcost(\.[a-z]+)+", schema) and version == (2 if schema == "onnxcost.report" else 1), f"schema {schema} version {version}")
    expect(tool["name"] == "onnxcost" and tool["version"], "tool")
    published = SCHEMAS % schema.split(".")[-1]
    if os.path.exists(published):
        try:
            import jsonschema
        except ImportError:
            return
        with open(published, encoding="utf-8") as f:
            for error in jsonschema.Draft202012Validator(json.load(f)).iter_errors(document):
                raise Wrong(f"{error.json_path}: {error.message[:100]}")
    elif schema not in MEASURED:
        note_members(schema, "", document)


def check_ndjson(text):
    for line in text.splitlines():
        expect(isinstance(load(line), dict), "a line is not an object")


def check_csv(text):
    expect(text.endswith("\r\n"), "the last line does not end with CR LF")
    head, *rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    expect(all(head) and len(set(head)) == len(head), f"columns: {head}")
    for i, row in enumerate(rows, 2):
        expect(len(row) == len(head), f"row {i} has {len(row)} cells, not {len(head)}")
        # p, the exponent with which a curve joins its parts, is infinite where the larger part alone counts
        finite = (cell for name, cell in zip(head, row) if (name, cell) != ("p", "inf"))
        expect(not any(re.fullmatch(r"[-+]?(nan|inf(inity)?)", cell, re.I) for cell in finite), f"row {i} is not finite: {row}")


def cells_of(line):
    """The cells of a row of a table of GitHub Flavored Markdown: only a backslash protects a bar, also in code."""
    expect(line.endswith("|"), f"no bar at the end: {line}")
    return re.split(r"(?<!\\)\|", line[1:-1])


def check_markdown(text):
    tables = re.findall(r"(?:^\|.*\n)+", text, re.M)
    expect(tables, "no table")
    for table in tables:
        head, rule, *rows = table.splitlines()
        n = len(cells_of(head))
        expect(all(re.fullmatch(r" *:?-+:? *", cell) for cell in cells_of(rule)), f"the second line does not separate the header: {rule}")
        for line in [rule] + rows:
            expect(len(cells_of(line)) == n, f"{len(cells_of(line))} cells, not {n}: {line}")


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.in_script, self.data = [], False, []

    def handle_starttag(self, tag, attrs):
        if tag not in EMPTY_ELEMENTS:
            self.open.append(tag)
        self.in_script = tag == "script" and dict(attrs).get("id") == "data" and dict(attrs)["type"]

    def handle_endtag(self, tag):
        expect(self.open and self.open.pop() == tag, f"</{tag}> closes nothing")
        self.in_script = False

    def handle_data(self, data):
        if self.in_script:
            zipped = self.in_script == "application/gzip"
            note_members("page", "", load(unzipped(data).decode() if zipped else data))


def check_html(text):
    expect(text.lower().startswith("<!doctype html>"), text[:40])
    page = Page()
    page.feed(text)
    expect(not page.open, f"not closed: {page.open}")


def check_fragment(text):
    """One element or more, without a document around them and without scripts."""
    expect(not re.search(r"<!doctype|<html|<body|<script|<link", text, re.IGNORECASE), "a document or a script")
    page = Page()
    page.feed(text)
    expect("<div" in text and not page.open, f"not closed: {page.open}")


def check_trace(text):
    for event in load(text)["traceEvents"]:
        expect(event["ph"] in "XMCsfbei", f"phase {event['ph']}")
        expect(event["ph"] != "X" or event["dur"] >= 0, f"duration of {event['name']}")


def check_junit(text):
    for suite in xml.etree.ElementTree.fromstring(text).iter("testsuite"):
        case = suite.findall("testcase")
        expect(int(suite.get("tests")) == len(case), "the count of tests")
        expect(int(suite.get("failures")) == sum(c.find("failure") is not None for c in case), "the count of failures")


def check_sarif(text):
    log = load(text)
    expect(log["version"] == "2.1.0", "version")
    rules = {rule["id"] for rule in log["runs"][0]["tool"]["driver"]["rules"]}
    for result in log["runs"][0]["results"]:
        expect(result["ruleId"] in rules and result["message"]["text"], f"rule {result['ruleId']}")


def check_text(text):
    expect(text.endswith("\n"), "the last line does not end")
    expect(not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", text.replace("\r\n", "\n")), "control characters")


def check_github(text):
    for line in text.splitlines():
        expect(not line.startswith("::") or re.fullmatch(r"::(error|warning|notice|debug)( \w+=[^,:]*(,\w+=[^,:]*)*)?::.+", line), line)


def check_netron(text):
    """Rules of Netron 9.2 for attachments."""
    data, seen = load(text), set()
    expect(data["signature"] == "netron:attachment", "signature")
    for m in data["metrics"]:
        expect(m["kind"] == "node" and m["target"] and "\n" not in m["target"] and isinstance(m["value"], (int, float)), str(m))
        expect((m["target"], m["name"]) not in seen, "twice: " + str(m))
        seen.add((m["target"], m["name"]))


CHECK = {"table": check_text, "csv": check_csv, "json": check_json, "ndjson": check_ndjson,
         "markdown": check_markdown, "md": check_markdown, "html": check_html, "fragment": check_fragment, "trace": check_trace,
         "model-explorer": load, "netron": check_netron, "junit": check_junit, "sarif": check_sarif, "github": check_github,
         "ort-node-stats": check_text, "paddle": check_text}


def check_xlsx(path):
    """A ZIP archive whose parts are XML."""
    with zipfile.ZipFile(path) as book:
        expect("xl/workbook.xml" in book.namelist() and book.testzip() is None, "not a workbook")
        for name in book.namelist():
            xml.etree.ElementTree.fromstring(book.read(name))


def check_parquet(path):
    """Marks at both ends; tests/check_parquet.sh reads the columns."""
    with open(path, "rb") as f:
        data = f.read()
    expect(len(data) > 12 and data[:4] == data[-4:] == b"PAR1", "not a Parquet file")


BINARY = {"xlsx": check_xlsx, "parquet": check_parquet}  # they go to a file


def run(program, command, arguments):
    done = subprocess.run([program] + ([] if command == "cost" else [command]) + arguments, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8")


def formats_of(program, command):
    found = re.search(r"valid: (.*)", run(program, command, ["x", "--format", "none"])[2])
    return found.group(1).split(", ")


def check_job(program, command, accepted, arguments):
    """Returns what is wrong. Exit code 1: check found something, scan did not read a file."""
    wrong = []
    for name in formats_of(program, command):
        if name in BINARY and name in accepted:
            try:
                if os.path.exists("out." + name):
                    os.remove("out." + name)
                code, out, err = run(program, command, arguments + ["--format", name, "--output", "out." + name])
                expect(code in (0, 1) and not out, f"exit code {code}: {err[:200]}")
                BINARY[name]("out." + name)
            except (Wrong, OSError, zipfile.BadZipFile, xml.etree.ElementTree.ParseError) as e:
                wrong.append(f"{name}: {type(e).__name__} {e}")
            continue
        code, out, err = run(program, command, arguments + ["--format", name])
        if name not in accepted:
            if code != 2 or out or not err:
                wrong.append(f"{name}: exit code {code}, not refused")
            continue
        try:
            expect(code == 0 or (code == 1 and command in ("check", "scan")), f"exit code {code}: {err[:200]}")
            CHECK[name](out)
        except (Wrong, ValueError, KeyError, LookupError, csv.Error, xml.etree.ElementTree.ParseError) as e:
            wrong.append(f"{name}: {type(e).__name__} {e}")
    return wrong


def check_file(text):
    try:
        check_json(text)
        return []
    except (Wrong, ValueError) as e:
        return [str(e)]


def report(wrong, title):
    print(f"not ok {title}: {'; '.join(wrong)}" if wrong else f"ok {title}", flush=True)


def main():
    program, folder = sys.argv[1:3]
    jobs = [line.rstrip("\n").split("\t") for line in sys.stdin]
    table = os.path.abspath(MEMBERS)
    globals()["SCHEMAS"] = os.path.abspath(SCHEMAS)
    os.chdir(folder)
    commands = re.search(r"_onnxcost_commands='(.*)'", run(program, "completion", ["bash"])[1]).group(1).split()
    covered = {}
    for command, accepted, arguments in jobs:
        if command == "file":
            with open(arguments, encoding="utf-8") as f:
                report(check_file(f.read()), f"{arguments}")
            continue
        covered.setdefault(command, set()).update(accepted.split())
        report(check_job(program, command, accepted.split(), arguments.split()), f"{command} {arguments}: {accepted}")
    without = {c for c in commands if "--format is an option of" in run(program, c, ["--format", "json"])[2]}
    report([f"{c} {f}" for c in commands if c not in without for f in formats_of(program, c) if f not in covered.get(c, ())],
           "every format of every command is tested")
    lines = ["\t".join((schema, path, " ".join(sorted(kinds)))) + "\n" for (schema, path), kinds in sorted(members.items()) if path]
    if "--update" in sys.argv:
        with open(table, "w", encoding="utf-8") as f:
            f.writelines(lines)
    with open(table, encoding="utf-8") as f:
        old = set(f)
    report([f"- {line.strip()}" for line in sorted(old - set(lines))] + [f"+ {line.strip()}" for line in sorted(set(lines) - old)],
           "members of JSON documents and their types are those of tests/data/json_members.tsv")


main()
