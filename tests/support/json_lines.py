"""JSON on standard input: prints a line for each number, text or list of them, with its path; fractions with 6 digits.
Arguments: members to print (default: all)."""
import json
import sys


def print_lines(value, path):
    if isinstance(value, list) and any(isinstance(v, (dict, list)) for v in value):
        value = {f"[{i}]": v for i, v in enumerate(value)}
    if isinstance(value, dict) and value:
        for key, member in value.items():
            print_lines(member, path + (key if key.startswith("[") or not path else "." + key))
    else:
        print(path, json.dumps(value, ensure_ascii=False))


document = json.load(sys.stdin, parse_float=lambda text: float(f"{float(text):.6g}"))
for name in sys.argv[1:] or document:
    print_lines(document[name], name)
