"""Validates documents with a JSON Schema, and checks that the schema is strict. usage: schema_rules.py SCHEMA DOCUMENT...

 - the schema is one, and every document passes it
 - every member of a document is in the schema, and every member of the schema is in a document: so neither
   can drift away from the other
 - a document with one member of another type, or with one required member left out, is refused: each member
   of the schema is tried
Prints a line a check: `ok TITLE`, or `not ok TITLE: WHY`.
"""
import copy
import json
import sys

import jsonschema


def report(why, title):
    print(f"not ok {title}: {why}" if why else f"ok {title}")


def no_constant(name):
    raise ValueError(f"{name} is not JSON")


def read(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f, parse_constant=no_constant)


class Schema:
    def __init__(self, schema):
        self.schema = schema
        self.validator = jsonschema.Draft202012Validator(schema)
        strict = copy.deepcopy(schema)
        self.close(strict)
        self.strict = jsonschema.Draft202012Validator(strict)
        self.seen = {}  # (node of the schema, member): (document, path to it)

    def close(self, node):
        """Forbids members that are not listed; conditions list only some."""
        if isinstance(node, list):
            for child in node:
                self.close(child)
        if not isinstance(node, dict):
            return
        if isinstance(node.get("properties"), dict) and "required" in node and node.get("type") == "object":
            node["additionalProperties"] = False
        for key, child in node.items():
            if key not in ("if", "then", "else", "allOf"):
                self.close(child)

    def resolve(self, node):
        while "$ref" in node:
            node = self.schema["$defs"][node["$ref"].rsplit("/", 1)[1]]
        return node

    def walk(self, node, value, document, path):
        """Records the members of the schema that the value has."""
        node = self.resolve(node)
        for choice in node.get("anyOf", []):
            choice = self.resolve(choice)
            if value is not None and choice.get("type") != "null":
                if (choice.get("type") == "object") == isinstance(value, dict):
                    self.walk(choice, value, document, path)
        if isinstance(value, list) and "items" in node:
            for i, item in enumerate(value):
                self.walk(node["items"], item, document, path + [i])
        if isinstance(value, dict):
            for key, child in node.get("properties", {}).items():
                if key in value:
                    self.seen.setdefault((id(node), key), (document, path + [key], key in node.get("required", [])))
                    self.walk(child, value[key], document, path + [key])

    def members(self, node=None, where="", done=None):
        """Every member of the schema: (node, member), text."""
        done = set() if done is None else done
        node = self.schema if node is None else self.resolve(node)
        if id(node) in done:
            return
        done.add(id(node))
        for key, child in node.get("properties", {}).items():
            yield (id(node), key), f"{where}.{key}"
            yield from self.members(child, f"{where}.{key}", done)
        for child in [node["items"]] if "items" in node else node.get("anyOf", []):
            yield from self.members(child, where, done)


def around(document, path):
    """The document with long lists reduced to the items on the path."""
    at, other = [], {**document}
    for owner, key in ((other, "nodes"), (other, "rows")):
        if key not in owner:
            continue
        if owner[key]:
            other[key] = owner[key][:1]
    path = list(path)
    for i, step in enumerate(path[:-1]):
        at.append(step)
        if at in (["nodes"], ["rows"]):
            other[step], path[i + 1] = [document[step][path[i + 1]]], 0
    return other, path


def changed(document, path, change):
    document, path = around(document, path)
    other = copy.deepcopy(document)
    at = other
    for step in path[:-1]:
        at = at[step]
    change(at, path[-1])
    return other


def wrong_type(at, key):
    at[key] = [{"wrong": True}] if isinstance(at[key], (dict, str, int, float, type(None))) else {"wrong": True}


def drop(at, key):
    del at[key]


def first(errors):
    error = next(iter(errors), None)
    return error and f"{'/'.join(map(str, error.absolute_path))}: {error.message[:160]}"


def thin_out(document):
    """Long lists thinned out: the validator is slow."""
    for owner, key in ((document, "nodes"), (document.get("join") or {}, "rows"), (document, "groups"), (document, "rows")):
        if owner.get(key):
            step = len(owner[key]) // 80 + 1
            owner[key] = owner[key][::step]


def reject_wrong_reports(schema):
    wrong = {
        "a count below zero": lambda d: d["totals"].__setitem__("macs", -1),
        "a count with a fraction": lambda d: d["totals"].__setitem__("macs", 1.5),
        "a count as text": lambda d: d["totals"].__setitem__("macs", "12"),
        "an unknown quality": lambda d: d["totals"].__setitem__("quality", "good"),
        "another version": lambda d: d.__setitem__("version", 1),
        "numbers of a node without a cost":
            lambda d: d["nodes"][0].update({"quality": "unknown", "macs": 0}),
        "a node with a cost and no numbers": lambda d: d["nodes"][0].update({"quality": "exact", "macs": None}),
        "nodes without a model": lambda d: d.__setitem__("model", None),
        "a primitive that there is not": lambda d: d["nodes"][0].update({"hist": {"FOO": 1}}),
        "a size that is a text": lambda d: d["nodes"][0]["outputs"][0].update({"shape": ["N"]}),
    }
    base = next(read(p) for p in sys.argv[2:] if p.endswith("/model.json"))
    report(first(schema.validator.iter_errors(base)), "the unmodified document is valid")
    for title, change in wrong.items():
        document = copy.deepcopy(base)
        change(document)
        report("it passes" if schema.validator.is_valid(document) else None, f"rejected: {title}")


def main():
    schema = Schema(read(sys.argv[1]))
    try:
        jsonschema.Draft202012Validator.check_schema(schema.schema)
        report(None, "the schema is a JSON Schema")
    except jsonschema.SchemaError as error:
        report(error.message, "the schema is a JSON Schema")
    for path in sys.argv[2:]:
        name = path.rsplit("/", 1)[-1]
        document = read(path)
        thin_out(document)
        report(first(schema.strict.iter_errors(document)), f"{name} is valid, and has no member that is missing in the schema")
        schema.walk(schema.schema, document, document, [])
    unseen = [text for key, text in schema.members() if key not in schema.seen]
    report(", ".join(unseen), "every member of the schema is written by some report")

    passed_type, passed_drop, tried = [], [], 0
    for key, text in schema.members():
        if key not in schema.seen:
            continue
        document, path, required = schema.seen[key]
        tried += 1
        if schema.validator.is_valid(changed(document, path, wrong_type)):
            passed_type.append(text)
        if required and schema.validator.is_valid(changed(document, path, drop)):
            passed_drop.append(text)
    report(", ".join(passed_type) or (tried < 30 and f"only {tried} members"),
        "any member of another type is rejected")
    report(", ".join(passed_drop), "a document without any required member is rejected")

    if schema.schema["$id"].startswith("urn:onnxcost:schema:report:"):
        reject_wrong_reports(schema)


if __name__ == "__main__":
    main()
