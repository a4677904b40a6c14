"""The data of a page (-f html): printed for the page on standard input."""
import base64
import json
import re
import sys
import zlib


INTEGERS = {"index", "row_node_steps", "to_steps", "node_steps", "back", "type"}


def integers_of(text):
    """A character for each number from -1: "A" and the following ones, without the backslash."""
    return ["ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwxyz{|}~".index(c) - 1 for c in text]


def unpacked(members, parent=""):
    for key, value in list(members.items()):
        if isinstance(value, str) and key in INTEGERS and (key != "type" or parent == "edges"):
            members[key] = integers_of(value)
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, dict):
                unpacked(part, key)
    return members


def unzipped(data):
    unzip = zlib.decompressobj(31)
    text = unzip.decompress(base64.b64decode(data, validate=True))
    if not unzip.eof or unzip.unused_data:
        raise ValueError("the data does not end with its archive")
    return text


def page_data_of(text):
    kind, data = re.search(r'<script type="application/(json|gzip)" id="data">(.*?)</script>', text, re.S).groups()
    return unpacked(json.loads(unzipped(data) if kind == "gzip" else data))


if __name__ == "__main__":
    json.dump(page_data_of(sys.stdin.read()), sys.stdout, separators=(",", ":"))
