"""The data of a page (-f html): printed for the page on standard input."""
import base64
import gzip
import json
import re
import sys


def page_data_of(text):
    kind, data = re.search(r'<script type="application/(json|gzip)" id="data">(.*?)</script>', text, re.S).groups()
    return json.loads(gzip.decompress(base64.b64decode(data)) if kind == "gzip" else data)


if __name__ == "__main__":
    json.dump(page_data_of(sys.stdin.read()), sys.stdout, separators=(",", ":"))
