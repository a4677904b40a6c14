#!/usr/bin/env python3
"""Writes the module _api.py: structs, enums and prototypes of the public headers, for ctypes.

usage: make_api.py LIBRARY HEADER... >_api.py      LIBRARY: its file name, "libonnxcost.so.1"

Reads the subset of C that the headers use, and fails at anything else. tests/check_python.sh compares the layouts
with those of the C compiler.
"""
import re
import sys

SCALARS = {
    "bool": "c_bool", "char": "c_char", "int": "c_int", "unsigned": "c_uint", "double": "c_double", "size_t": "c_size_t",
    "int32_t": "c_int32", "uint32_t": "c_uint32", "int64_t": "c_int64", "uint64_t": "c_uint64",
}
TOKEN = re.compile(r'[A-Za-z_]\w*|-?\d\w*|\.\.\.|"[^"]*"|\S')


class Reader:
    def __init__(self, text):
        self.constants = {}
        for name, value in re.findall(r"^#define (\w+) +\(?(-?\d+)\)?\s*(?:/\*.*)?$", text, re.M):
            self.constants[name] = int(value)
        text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
        text = re.sub(r"^#.*?(?<!\\)$", "", text, flags=re.M | re.S)
        self.tokens = TOKEN.findall(re.sub(r"\bOC_API_(BEGIN|END)\b", " ", text))
        self.at = 0
        self.enums, self.structs, self.opaque, self.functions = {}, {}, set(), {}

    # ---- tokens

    def peek(self):
        return self.tokens[self.at]

    def take(self, wanted=None):
        token = self.tokens[self.at]
        if wanted and token != wanted:
            raise SystemExit(f"make_api: {wanted!r} expected: {' '.join(self.tokens[self.at - 8:self.at + 4])}")
        self.at += 1
        return token

    def accept(self, token):
        if self.peek() != token:
            return False
        self.at += 1
        return True

    def skip_parentheses(self):
        depth = 0
        while True:
            token = self.take()
            depth += (token == "(") - (token == ")")
            if not depth:
                return

    # ---- declarations

    def read(self):
        while self.at < len(self.tokens):
            kind, name = self.tokens[self.at], self.tokens[self.at + 1:self.at + 3]
            if kind == "enum" and name[1] == "{":
                self.read_enum()
            elif kind == "struct" and name[1] == "{":
                self.take(), self.take()
                self.read_struct(name[0])
                self.take(";")
            elif kind == "struct" and name[1] == ";":
                self.opaque.add(name[0])
                self.at += 3
            else:
                self.read_function()

    def read_enum(self):
        self.take("enum")
        members, value = {}, 0
        name = self.take()
        self.take("{")
        while not self.accept("}"):
            member = self.take()
            if self.accept("="):
                value = int(self.take())
            members[member] = value
            self.constants[member] = value
            value += 1
            self.accept(",")
        self.take(";")
        self.enums[name] = members

    def base(self):
        """The type before the declarators: a scalar, "enum", "void", "FILE" or "struct NAME"."""
        while self.accept("const") or self.accept("volatile"):
            pass
        kind = self.take()
        if kind == "enum":
            self.take()
        elif kind == "struct":
            kind = "struct " + self.take()
        elif kind not in SCALARS and kind not in ("void", "FILE"):
            raise SystemExit(f"make_api: unknown type {kind!r}")
        while self.accept("const") or self.accept("volatile"):
            pass
        return kind

    def stars(self):
        n = 0
        while self.peek() in ("*", "const", "volatile"):
            n += self.take() == "*"
        return n

    def array(self):
        """The lengths of `name[N]`, None without."""
        if not self.accept("["):
            return None
        n = self.take()
        self.take("]")
        return self.constants[n] if n in self.constants else int(n)

    def read_struct(self, name):
        self.take("{")
        fields = []
        self.structs[name] = None  # pointers to it are no longer opaque
        while not self.accept("}"):
            if self.peek() == "struct" and self.tokens[self.at + 1] == "{":
                self.take()
                inner = f"{name}_{len(fields)}"
                self.read_struct(inner)
                fields.append((self.take(), ("struct " + inner, 0, None)))
                self.take(";")
                continue
            base = self.base()
            while True:
                if self.accept("("):
                    self.take("*")
                    fields.append((self.take(), ("void", 1, None)))
                    self.take(")")
                    self.skip_parentheses()
                else:
                    n, field = self.stars(), self.take()
                    fields.append((field, (base, n, self.array())))
                if not self.accept(","):
                    break
            self.take(";")
        del self.structs[name]  # nested ones first
        self.structs[name] = fields

    def read_function(self):
        base = self.base()
        result = (base, self.stars(), None)
        name = self.take()
        self.take("(")
        parameters = []
        while not self.accept(")"):
            base = self.base()
            if self.accept("("):
                self.take("*"), self.take(), self.take(")")
                self.skip_parentheses()
                parameters.append(("void", 1, None))
            else:
                n = self.stars()
                if self.peek() not in (",", ")"):
                    self.take()
                n += self.array() is not None
                if (base, n) != ("void", 0):
                    parameters.append((base, n, None))
            self.accept(",")
        self.take(";")
        self.functions[name] = (result, parameters)

    # ---- as ctypes

    def ctype(self, declared):
        base, stars, length = declared
        if base.startswith("struct "):
            known = base[7:] in self.structs
            if not known and not stars:
                raise SystemExit(f"make_api: {base} is not declared")
            text, stars = (base[7:], stars) if known else ("c_void_p", stars - 1)
        elif base == "char" and stars:
            text, stars = "c_char_p", stars - 1
        elif base in ("void", "FILE"):
            text, stars = ("c_void_p", stars - 1) if stars else ("None", 0)
        else:
            text = SCALARS.get(base, "c_int")
        text = "POINTER(" * stars + text + ")" * stars
        return f"{text} * {length}" if length else text

    def write(self, library, version):
        print("# Written by make_api.py from the headers of onnxcost.")
        print("# flake8: noqa\n# mypy: ignore-errors\n# pylint: skip-file")
        print("from ctypes import *\n")
        print(f"LIBRARY = {library!r}\nVERSION = {version!r}\n")
        for name, value in self.constants.items():
            print(f"{name} = {value}")
        print(f"\nENUMS = {self.enums!r}\n")
        for name in self.structs:
            print(f"class {name}(Structure):\n    pass\n")
        for name, fields in self.structs.items():
            print(f"{name}._fields_ = [")
            for field, declared in fields:
                print(f"    ({field!r}, {self.ctype(declared)}),")
            print("]")
        print("\nFUNCTIONS = {")
        for name, (result, parameters) in sorted(self.functions.items()):
            print(f"    {name!r}: ({self.ctype(result)}, [{', '.join(self.ctype(p) for p in parameters)}]),")
        print("}")


def main():
    text = ""
    for path in sys.argv[2:]:
        with open(path, encoding="utf-8") as f:
            text += f.read()
    version = re.search(r'^#define ONNXCOST_VERSION "(.*)"', text, re.M)
    # macros for C++ linkage and visibility
    text = re.sub(r"^#define OC_API_(BEGIN|END).*$", "", text, flags=re.M)
    reader = Reader(text)
    reader.read()
    reader.write(sys.argv[1], version.group(1))


main()
