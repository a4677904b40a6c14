#!/usr/bin/env python3
"""Writes the components of a release as an SPDX 2.3 document (JSON): what the linkers took, by Debian package.

usage: make_sbom.py VERSION OUT WORK >FILE
OUT has the files of the release; WORK the input files that the linkers named (--trace): wheel.trace, static.trace, web.trace.
Runs in the tree and the system where they were linked, where dpkg finds the package of each file. Environment: SOURCE_DATE_EPOCH.
"""
import glob
import hashlib
import json
import os
import re
import subprocess
import sys
import time

# libraries compiled from Debian's source packages (src/web/make_libs.sh): the package of each
SOURCES = {"xml2": "libxml2", "sqlite3": "sqlite3", "pcre2-8": "pcre2", "protobuf-c": "protobuf-c", "z": "zlib"}
# in the page of the HTML report, and so in every program and library
EMBEDDED = ("libjs-chart.js", "node-dagre-layout")
LICENCES = {"expat": "MIT", "mit": "MIT", "zlib": "Zlib", "bsd-2-clause": "BSD-2-Clause", "bsd-3-clause": "BSD-3-Clause"}
FILE = re.compile(r"[^\s()]+\.(?:a|o|so(?:\.[\d.]+)?)(?=[\s():]|$)")


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout


def read(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read()


def licence(path):
    """The licence of `Files: *` in Debian's form, where it is in the list of SPDX."""
    found = re.search(r"^Files: \*\n(?:.+\n)*?License: *(\S+) *$", read(path) if os.path.exists(path) else "", re.M)
    return LICENCES.get(found.group(1).lower(), "NOASSERTION") if found else "NOASSERTION"


def of_source(path):
    """Name, version and licence of the source package from which a library of build/*/lib was compiled."""
    name = SOURCES[re.search(r"lib([^/]+)\.a$", path).group(1)]
    (folder,) = glob.glob(os.path.join(os.path.dirname(path), "sources", name + "-[0-9]*/"))
    version = re.search(r"\((.*?)\)", read(folder + "debian/changelog")).group(1)
    return name, version, licence(folder + "debian/copyright")


def of_package(package):
    fields = run("dpkg-query", "-W", "-f", "${source:Package} ${source:Version}\n", package).split("\n")[0].split()
    if len(fields) != 2:
        raise SystemExit(f"make_sbom: {package} is not installed")
    return fields[0], fields[1], licence(f"/usr/share/doc/{package.split(':')[0]}/copyright")


def of_file(path):
    """The component of an input file of a linker; None: an object of the program itself."""
    if re.match(r"(?:.*/)?build/[a-z]+/lib/lib[^/]+\.a$", path):
        return of_source(path)
    if not path.startswith("/") or path.startswith("/tmp/") or "/build/" in path:
        return None
    if "/emscripten" in path:  # compiled by the compiler at the first use
        return of_package("emscripten")
    real = os.path.realpath(path)
    for name in (real, re.sub("^/usr/", "/", real), "/usr" + real):
        owner = run("dpkg", "-S", name)
        if owner:
            return of_package(owner.split(": ")[0].split(",")[0])
    raise SystemExit(f"make_sbom: {path} was linked and belongs to no package")


def linked(trace, product=None):
    """{component: relationship} of the files that a linker named. Of the shared libraries only those that the product needs."""
    found = {of_package(name): "CONTAINS" for name in EMBEDDED}
    needed = re.findall(r"NEEDED\s+(\S+)", run("objdump", "-p", product)) if product else []
    for path in sorted(set(FILE.findall(read(trace)))):
        component, shared = of_file(path), ".so" in os.path.basename(path)
        if component and shared:
            soname = re.search(r"SONAME\s+(\S+)", run("objdump", "-p", path))
            if soname and soname.group(1) in needed:
                found[component] = "DYNAMIC_LINK"
        elif component:
            found.setdefault(component, "STATIC_LINK")
    return found


def of_deb(path):
    """Of a Debian package: its dependencies as they were installed when it was linked."""
    name, architecture = (run("dpkg-deb", "-f", path, field).strip() for field in ("Package", "Architecture"))
    found = {}
    if name in ("onnxcost", "libonnxcost1", "libonnxcost-dev"):
        found.update((of_package(part), "CONTAINS") for part in EMBEDDED)
    for text in run("dpkg-deb", "-f", path, "Depends").split(","):
        depends = text.split()[0].split(":")[0] if text.strip() else ""
        if depends and "onnxcost" not in depends:
            suffix = ":" + architecture if depends.startswith(("lib", "zlib")) and architecture != "all" else ""
            found[of_package(depends + suffix)] = "DYNAMIC_LINK" if suffix else "DEPENDS_ON"
    return found


def components(file, work):
    if file.endswith(".deb"):
        return of_deb(file)
    name = os.path.basename(file)
    if name.endswith(".whl"):
        return linked(f"{work}/wheel.trace", glob.glob("build/release/wheel/lib*.so.*")[0])
    if "linux-x86_64" in name or name.endswith("-oci.tar"):
        return linked(f"{work}/static.trace")
    if name.endswith((".html", ".tgz")):
        return linked(f"{work}/web.trace")
    return {}


def identifier(*parts):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]+", "-", "-".join(parts))


def digest(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def main():
    version, out, work = sys.argv[1:]
    packages, relationships = {}, []

    def relate(a, kind, b):
        relationships.append({"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b})

    source = os.path.join(out, f"onnxcost-{version}.tar.gz")
    for file in [source] + sorted(glob.glob(out + "/*")):
        name = os.path.basename(file)
        me = identifier("file", name)
        if me in packages or name.endswith((".md", ".rb", ".yaml")):
            continue
        packages[me] = {"name": "onnxcost", "versionInfo": version, "packageFileName": name, "downloadLocation": "NOASSERTION",
                        "filesAnalyzed": False, "licenseConcluded": "NOASSERTION", "licenseDeclared": "Apache-2.0",
                        "copyrightText": "NOASSERTION", "checksums": [{"algorithm": "SHA256", "checksumValue": digest(file)}]}
        relate("SPDXRef-DOCUMENT", "DESCRIBES", me)
        if file != source:
            relate(me, "GENERATED_FROM", identifier("file", os.path.basename(source)))
        for (package, revision, terms), kind in sorted(components(file, work).items()):
            there = identifier("debian", package, revision)
            purl = f"pkg:deb/debian/{package}@{revision}?arch=source"
            packages.setdefault(there, {
                "name": package, "versionInfo": revision, "supplier": "Organization: Debian", "downloadLocation": "NOASSERTION",
                "filesAnalyzed": False, "licenseConcluded": "NOASSERTION", "licenseDeclared": terms, "copyrightText": "NOASSERTION",
                "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}]})
            relate(me, kind, there)
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"])))
    json.dump({"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"onnxcost-{version}",
               "documentNamespace": f"https://onnxcost.example/spdx/onnxcost-{version}-{digest(source)[:16]}",
               "creationInfo": {"created": created, "creators": ["Tool: onnxcost make_sbom.py"]},
               "packages": [{"SPDXID": key, **value} for key, value in packages.items()], "relationships": relationships},
              sys.stdout, indent=1)
    print()


main()
