#!/usr/bin/env python3
"""Compares the structs and constants of the Python package with those of the C compiler.

usage: python_layouts.py CC SOURCES WORK      prints what differs; nothing: all are equal
"""
import ctypes
import os
import subprocess
import sys

from onnxcost import _api as api

cc, sources, work = sys.argv[1:]
want, lines = {}, []
for name in dir(api):
    kind = getattr(api, name)
    if isinstance(kind, type) and issubclass(kind, ctypes.Structure) and name.startswith("oc_") and not name[-1].isdigit():
        want[name] = ctypes.sizeof(kind)
        lines.append(f'printf("{name} %zu\\n", sizeof(struct {name}));')
        for field, declared in kind._fields_:
            member = getattr(kind, field)
            want[f"{name}.{field}"] = member.offset + (member.size << 32)
            lines.append(f'printf("{name}.{field} %zu\\n", offsetof(struct {name}, {field}) + '
                         f'(sizeof(((struct {name} *)0)->{field}) << 32));')
    elif isinstance(kind, int) and name.startswith("OC_"):
        want[name] = kind
        lines.append(f'printf("{name} %lld\\n", (long long){name});')
with open(work + "/layouts.c", "w", encoding="utf-8") as f:
    f.write("#include <stddef.h>\n#include <stdio.h>\n#include <onnxcost.h>\n")
    for header in os.listdir(sources + "/onnxcost"):
        f.write(f"#include <onnxcost/{header}>\n")
    f.write("int main(void)\n{\n" + "\n".join(lines) + "\nreturn 0;\n}\n")
subprocess.run([cc, "-I", sources, "-o", work + "/layouts", work + "/layouts.c"], check=True)
found = dict(line.rsplit(" ", 1) for line in subprocess.run(
    [work + "/layouts"], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines())
for name, value in want.items():
    if int(found[name]) != value:
        print(f"{name}: {value} in Python, {found[name]} in C")
if len(want) < 600:
    print(f"only {len(want)} sizes and offsets")
