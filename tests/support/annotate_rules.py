"""Compares an annotated model with the model, using Debian's python3-onnx. usage: annotate_rules.py MODEL ANNOTATED
Prints `ok TITLE` or `not ok TITLE: WHY`, one line per check."""
import os
import sys

import onnx

PREFIX = b"onnxcost."


def report(why, title):
    print(f"not ok {title}: {why}" if why else f"ok {title}")


def varint(data, at):
    value, shift = 0, 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def fields(data):
    """(number, type, bytes of the value, bytes of all) of a message."""
    at = 0
    while at < len(data):
        begin = at
        key, at = varint(data, at)
        if key & 7 == 2:
            n, at = varint(data, at)
            end = at + n
        else:
            end = {0: lambda: varint(data, at)[1], 1: lambda: at + 8, 5: lambda: at + 4}[key & 7]()
        yield key >> 3, key & 7, data[at:end], data[begin:end]
        at = end


LAYOUT = {"model": ({7: "graph", 25: "function"}, 14), "graph": ({1: "node"}, 0), "node": ({5: "attribute"}, 9),
          "attribute": ({6: "graph", 11: "graph"}, 0), "function": ({7: "node"}, 0)}


def is_ours(entry):
    return any(number == 1 and bytes(value).startswith(PREFIX) for number, _, value, _ in fields(entry))


def bare(data, kind, found):
    """The message as a tree without the entries of onnxcost, which are appended to `found`."""
    children, props = LAYOUT[kind]
    out = []
    for number, wire, value, whole in fields(data):
        if wire == 2 and number == props and is_ours(value):
            found.append(value)
        elif wire == 2 and number in children:
            out.append((number, bare(value, children[number], found)))
        else:
            out.append(whole)
    return out


def checked(path):
    try:
        onnx.checker.check_model(path)
        return None
    except Exception as error:
        return str(error).splitlines()[0]


def main():
    path, annotated = sys.argv[1:3]
    before, after = (onnx.load(p, load_external_data=False) for p in (path, annotated))
    if checked(path) is None:  # the checker may not support the model itself
        report(checked(annotated), "the checker accepts the annotated model")
    else:
        report(None if checked(path) == checked(annotated) else checked(annotated), "the checker reports the same for both models")
    report(None if before.ir_version == after.ir_version else after.ir_version, "the IR version is unchanged")
    weights = [t.name for a, b in zip(before.graph.initializer, after.graph.initializer) for t in [a]
               if a.SerializeToString() != b.SerializeToString()]
    report(weights[:3] or (len(before.graph.initializer) != len(after.graph.initializer) and "another number of initializers"),
        "all initializers have equal bits")
    entries, none = [], []
    # only the lengths of enclosing messages differ
    trees = [bare(memoryview(open(p, "rb").read()), "model", found) for p, found in ((path, none), (annotated, entries))]
    report(None if trees[0] == trees[1] and not none else "the messages differ", "without the entries the message is the same")
    report(None if len(entries) > 5 * len(before.graph.node) else f"{len(entries)} entries", "every node has entries")
    props = {p.key: p.value for p in after.metadata_props}
    report(None if int(props.get("onnxcost.macs", -1)) >= 0 and props.get("onnxcost.quality") else props, "the model has totals")
    grown = os.path.getsize(annotated) - os.path.getsize(path)
    report(None if 0 < grown < 2000 * (len(before.graph.node) + 10) + len(entries) * 200 else f"{grown} bytes", "the file is not much larger")


main()
