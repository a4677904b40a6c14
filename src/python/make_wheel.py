#!/usr/bin/env python3
"""Writes the wheel: the package, the shared library, hardware files and licences. The same input gives the same bytes.

usage: make_wheel.py OUT_FOLDER PACKAGE_FOLDER LIBRARY README LICENSE... -- DATA_FILE...
Prints the path. The platform tag is that of the newest glibc symbol that the library needs (PEP 600).
"""
import base64
import hashlib
import os
import platform
import re
import subprocess
import sys
import zipfile

# libraries that every system with the glibc of the tag has (PEP 600)
ALLOWED = {"libc.so.6", "libm.so.6", "libz.so.1", "libdl.so.2", "libpthread.so.0"}
METADATA = """Metadata-Version: 2.1
Name: onnxcost
Version: {version}
Summary: Cost, memory and measured time of ONNX models
License: Apache-2.0
Requires-Python: >=3.9
Classifier: Operating System :: POSIX :: Linux
Classifier: Typing :: Typed
Provides-Extra: numpy
Provides-Extra: pandas
Requires-Dist: numpy; extra == 'numpy'
Requires-Dist: pandas; extra == 'pandas'
Description-Content-Type: text/markdown

{readme}"""


def read(path):
    with open(path, "rb") as f:
        return f.read()


def platform_tag(library):
    text = subprocess.run(["objdump", "-p", library], check=True, stdout=subprocess.PIPE, text=True).stdout
    needed = {name for name in re.findall(r"NEEDED\s+(\S+)", text) if not name.startswith("ld-linux")}
    if needed - ALLOWED:
        raise SystemExit(f"make_wheel: {library} needs {', '.join(sorted(needed - ALLOWED))}: not on every system")
    versions = [tuple(map(int, v.split("."))) for v in re.findall(r"GLIBC_(\d+\.\d+)", text)]
    return "manylinux_{}_{}_{}".format(*max(versions), platform.machine())


def main():
    out, package, library, readme, *rest = sys.argv[1:]
    licences, data = rest[:rest.index("--")], rest[rest.index("--") + 1:]
    files = {"onnxcost/" + name: os.path.join(package, name) for name in os.listdir(package)
             if name.endswith((".py", ".typed"))}
    files["onnxcost/" + os.path.basename(library)] = library
    files.update({"onnxcost/" + path: path for path in data})
    version = re.search(rb"^VERSION = '(.*)'$", read(files["onnxcost/_api.py"]), re.M).group(1).decode()
    version = re.sub(r"-rc(\d*)$", lambda rc: "rc" + (rc.group(1) or "0"), version)  # 1.0.0-rc is 1.0.0rc0 (PEP 440)
    info = f"onnxcost-{version}.dist-info/"
    tag = "py3-none-" + platform_tag(library)
    contents = {name: read(path) for name, path in files.items()}
    for path in licences:
        name = "LICENSE" if os.path.basename(path) == "LICENSE" else "LICENSE." + os.path.basename(os.path.dirname(path))
        contents[info + name] = read(path)
    contents[info + "METADATA"] = METADATA.format(version=version, readme=read(readme).decode()).encode()
    contents[info + "WHEEL"] = f"Wheel-Version: 1.0\nGenerator: onnxcost\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    record = ""
    for name in sorted(contents):
        digest = base64.urlsafe_b64encode(hashlib.sha256(contents[name]).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(contents[name])}\n"
    contents[info + "RECORD"] = (record + info + "RECORD,,\n").encode()

    os.makedirs(out, exist_ok=True)
    path = os.path.join(out, f"onnxcost-{version}-{tag}.whl")
    with zipfile.ZipFile(path + ".new", "w") as z:
        for name in sorted(contents, key=lambda name: (name.startswith(info), name)):
            member = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            member.create_system, member.external_attr = 3, (0o100755 if ".so." in name else 0o100644) << 16
            z.writestr(member, contents[name], zipfile.ZIP_DEFLATED, 9)
    os.replace(path + ".new", path)
    print(path)


main()
