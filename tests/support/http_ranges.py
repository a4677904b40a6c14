"""Models of a web server, on 127.0.0.1: figures against those of the file, bytes that were sent, and servers that fail or
lie. TAP.
usage: http_ranges.py ONNXCOST ONNXZOO FOLDER"""
import http.server
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import threading
import time

PROGRAM, ZOO, FOLDER = sys.argv[1:4]
count = failed = 0
sent, requests = 0, []
PORT = 0


def expect(title, problem):
    global count, failed
    count += 1
    print(f"{'not ok' if problem else 'ok'} {count} - {title}")
    if problem:
        failed += 1
        print("# " + str(problem)[:600].replace("\n", "\n# "))


class Server(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def head(self, status, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()

    def body(self, data):
        global sent
        sent += len(data)
        self.wfile.write(data)

    def go_to(self, url):
        self.head(302, Location=url, Content_Length=0)

    def do_GET(self):
        requests.append(self.path)
        how, _, name = self.path[1:].partition("/")
        if how == "redirect":
            n, _, name = name.partition("/")
            return self.go_to(f"/redirect/{int(n) - 1}/{name}" if n != "0" else f"/ok/{name}")
        if how in ("to_file", "to_ftp"):
            return self.go_to({"to_file": "file:///etc/passwd", "to_ftp": "ftp://127.0.0.1/x"}[how])
        if how == "long_line": # longer than libcurl's limit for a line
            return self.head(206, X="b" * 300000)
        if how == "slow": # bytes come, but never all of them
            self.head(206, Content_Range="bytes 0-65535/1000000", Content_Length=65536)
            try:
                while True:
                    self.wfile.write(b"\0" * 400)
                    time.sleep(0.1)
            except OSError:
                return None
        if how == "status":
            return self.head(int(name), Content_Length=0)
        path = pathlib.Path(FOLDER, "hub" if how == "tiny" else "", self.path[1:] if how == "tiny" else name)
        if not path.is_file():
            return self.head(404, Content_Length=0)
        data = path.read_bytes()
        match = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        first, last = int(match[1]), min(int(match[2]), len(data) - 1)
        if how == "no_ranges":
            self.head(200, Content_Length=len(data))
            return self.body(data) if len(data) < 1 << 20 else None # the client has to see that it is too long
        if how == "chunked":
            self.head(200, Transfer_Encoding="chunked")
            parts = [data[at:at + 50000] for at in range(0, len(data), 50000)] + [b""]
            try:
                return [self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part)) for part in parts]
            except OSError: # the client does not want more
                self.close_connection = True
                return None
        if first >= len(data):
            return self.head(416, Content_Range=f"bytes */{len(data)}", Content_Length=0)
        part, total, tag, later = data[first:last + 1], len(data), '"1"', first > 0
        headers = {}
        if how == "gzip":
            headers["Content_Encoding"] = "gzip"
        if how == "hostile":
            total = 1 << 62
        if how == "huge_range":
            total = "99999999999999999999999999"
        if how == "lie" and later:
            first, last = first + 1, last + 1
        if how == "changed" and later:
            tag = '"2"'
        if how == "shrunk" and later:
            total -= 1
        if how == "endless_head":
            headers.update({f"X-{i}": "x" * 1000 for i in range(200)})
        if how == "short" and later:
            part = part[:len(part) // 2]
        length = len(part) + (1000 if how == "longer" and later else 0)
        self.head(206, Content_Range="nonsense" if how == "no_range" else f"bytes {first}-{last}/{total}",
                  Content_Length=length, ETag=tag, **headers)
        if how == "cut" and later:
            part = part[:len(part) // 2]
            self.close_connection = True
        if how == "longer" and later:
            part += bytes(1000)
        return self.body(part)


class Quiet(http.server.ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        """Clients that close a connection early are what is tested."""


def run(*arguments, **environment):
    global sent
    sent = 0
    requests.clear()
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False, timeout=120,
                          env={**os.environ, "HF_ENDPOINT": f"http://127.0.0.1:{PORT}", "no_proxy": "*", **environment})
    return done.returncode, done.stdout, done.stderr


def totals(*arguments, **environment):
    code, out, err = run(*arguments, "-f", "json", **environment)
    return json.loads(out)["totals"] if code == 0 else f"exit code {code}: {err}"


def url(how, name):
    return f"http://127.0.0.1:{PORT}/{how}/{name}"


def safetensors(tensors, padding=0):
    at, header = 0, {}
    for name, shape in tensors.items():
        size = 2
        for n in shape:
            size *= n
        header[name] = {"dtype": "F16", "shape": shape, "data_offsets": [at, at + size]}
        at += size
    text = (json.dumps(header) + " " * padding).encode()
    return struct.pack("<Q", len(text)) + text + bytes(at)


def make_files():
    subprocess.run([ZOO, "resnet18", "--weights", "random", "-o", f"{FOLDER}/r18.onnx"], check=True)
    subprocess.run([ZOO, "squeezenet1_1", "-o", f"{FOLDER}/small.onnx"], check=True)
    pathlib.Path(FOLDER, "empty.onnx").write_bytes(b"")
    config = {"model_type": "llama", "hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 2,
              "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 4000, "torch_dtype": "float16"}
    layer = {"self_attn.q_proj": (256, 256), "self_attn.k_proj": (128, 256), "self_attn.v_proj": (128, 256),
             "self_attn.o_proj": (256, 256), "mlp.gate_proj": (512, 256), "mlp.up_proj": (512, 256), "mlp.down_proj": (256, 512),
             "input_layernorm": (256,), "post_attention_layernorm": (256,)}
    repository = pathlib.Path(FOLDER, "hub/tiny/llama/resolve/main")
    repository.mkdir(parents=True, exist_ok=True)
    shards = [{"model.embed_tokens.weight": (4000, 256), "lm_head.weight": (4000, 256), "model.norm.weight": (256,)}, {}]
    for i in range(2):
        shards[i].update({f"model.layers.{i}.{k}.weight": v for k, v in layer.items()})
    names = [f"model-{i + 1:05}-of-00002.safetensors" for i in range(2)]
    for name, tensors in zip(names, shards):
        (repository / name).write_bytes(safetensors(tensors, 100000))
    (repository / "config.json").write_text(json.dumps(config))
    (repository / "model.safetensors.index.json").write_text(json.dumps(
        {"metadata": {}, "weight_map": {t: n for n, tensors in zip(names, shards) for t in tensors}}))
    other = pathlib.Path(FOLDER, "hub/tiny/config/resolve/v1.0")
    other.mkdir(parents=True, exist_ok=True)
    (other / "config.json").write_text(json.dumps(config))
    return repository


def cold_bytes(path, *command):
    """Bytes that a command reads from the disk when no page of the file is in memory."""
    with open(path, "rb") as f:
        os.fsync(f.fileno())
        os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        return 512 * os.wait4(process.pid, 0)[2].ru_inblock


def test_cold_file():
    path = f"{FOLDER}/large.onnx"
    subprocess.run([ZOO, "vit_b_16", "--weights", "random", "-o", path], check=True)
    size = os.path.getsize(path)
    if cold_bytes(path, "cat", path) < size // 2: # in memory: a file system without a disk
        print("# a cold file cannot be made here")
        return
    found = cold_bytes(path, PROGRAM, path)
    print(f"# {found} of {size} bytes of a cold file")
    expect("weights of a cold file are not read", "" if found < size / 8 else f"{found} of {size} bytes")
    os.unlink(path)


def main():
    global PORT
    test_cold_file()
    repository = make_files()
    server = Quiet(("127.0.0.1", 0), Server)
    PORT = server.server_address[1]
    threading.Thread(target=server.serve_forever, daemon=True).start()

    local = totals(f"{FOLDER}/r18.onnx")
    for title, how in (("ranges", "ok"), ("ten redirects", "redirect/9")):
        found = totals(url(how, "r18.onnx"))
        expect(f"figures of a URL are those of the file: {title}", "" if found == local else found)
        size = os.path.getsize(f"{FOLDER}/r18.onnx")
        expect(f"weights are not fetched: {title}", "" if sent < size / 8 else f"{sent} of {size} bytes")
        print(f"# {sent} of {size} bytes in {len(requests)} requests")
    small = totals(f"{FOLDER}/small.onnx")
    for how in ("no_ranges", "chunked"):
        found = totals(url(how, "small.onnx"))
        expect(f"small file of a server without ranges: {how}", "" if found == small else found)
    hub = totals(str(repository))
    for name in ("hf:tiny/llama", "hf:tiny/llama/model.safetensors.index.json", "hf:tiny/llama@main"):
        found = totals(name)
        expect(f"{name}: figures of the folder", "" if found == hub else found)
        expect(f"{name}: headers alone are fetched", "" if sent < 1000000 else sent)
    found = totals("hf:tiny/config@v1.0")
    expect("repository with config.json alone", "" if found["params"] == hub["params"] else found)
    code, out, err = run("llm", "hf:tiny/llama", "-f", "json")
    expect("llm reads a repository", "" if code == 0 and json.loads(out)["params"] else err)

    for title, wanted, words in (
        ("missing file", "the server has no such file (404)", [url("ok", "none.onnx")]),
        ("missing repository", "it has no model.safetensors, model.onnx or config.json", ["hf:none/none"]),
        ("private repository", "the server refuses it (403)", [url("status", "403")]),
        ("server error", "answers with status 503", [url("status", "503")]),
        ("too many requests", "too many requests (429)", [url("status", "429")]),
        ("large file of a server without ranges", "whole files only", [url("no_ranges", "r18.onnx"), "--limit", "remote-bytes=1M"]),
        ("large file in chunks", "whole files only", [url("chunked", "r18.onnx"), "--limit", "remote-bytes=1M"]),
        ("eleven redirects", "redirects", [url("redirect/20", "r18.onnx")]),
        ("redirect to a file", "rotocol", [url("to_file", "x")]), ("redirect to FTP", "rotocol", [url("to_ftp", "x")]),
        ("compressed answer", "the server compresses it", [url("gzip", "r18.onnx")]),
        ("hostile size", "4611686018427387904 bytes: more than", [url("hostile", "r18.onnx")]),
        ("size beyond the address space", "4611686018427387904 bytes: Cannot allocate memory",
         [url("hostile", "r18.onnx"), "--limit", "file-bytes=4611686018427387904"]),
        ("size beyond 64 bits", "does not say which part", [url("huge_range", "r18.onnx")]),
        ("answer without a range", "does not say which part", [url("no_range", "r18.onnx")]),
        ("other range than requested", "the server sends bytes", [url("lie", "r18.onnx")]),
        ("file that changes", "changed on the server", [url("changed", "r18.onnx")]),
        ("file that shrinks", "changed on the server", [url("shrunk", "r18.onnx")]),
        ("truncated answer", "cannot read", [url("cut", "r18.onnx")]),
        ("shorter answer than its range", "the connection ended after", [url("short", "r18.onnx")]),
        ("longer answer", "cannot read", [url("longer", "r18.onnx")]),
        ("endless head", "the head of the answer", [url("endless_head", "r18.onnx")]),
        ("endless line of a head", "the head of the answer is too long", [url("long_line", "r18.onnx")]),
        ("slow body", "more than 2 seconds of requests to a server (--limit remote-seconds=N)",
         [url("slow", "r18.onnx"), "--limit", "remote-seconds=2"]),
        ("empty file", "the file is empty", [url("ok", "empty.onnx")]),
        ("limit of fetched bytes", "more than 131072 bytes fetched from a server (--limit remote-bytes=N)",
         [url("ok", "r18.onnx"), "--limit", "remote-bytes=128KiB"]),
        ("closed port", "cannot read", ["http://127.0.0.1:1/m.onnx"]),
        ("user name in the URL", "user name or password", ["http://me:secret@127.0.0.1/m.onnx"]),
        ("blank in the URL", "write it as %20", ["http://127.0.0.1/a b.onnx"]),
        ("name of a hub without an organization", "is not hf:ORGANIZATION/NAME", ["hf:llama"]),
        ("name of a hub that leaves it", "is not hf:ORGANIZATION/NAME", ["hf:a/b/../../c"]),
        ("other scheme", "only files are read", ["ftp://127.0.0.1/m.onnx"]),
        ("copy of a file that is not fetched", "download it first", [url("ok", "r18.onnx"), "--annotate", f"{FOLDER}/x.onnx"]),
    ):
        code, _, err = run(*words)
        expect(title, "" if code in (2, 3) and wanted in err and err.count("\n") == 1 else f"exit code {code}: {err}")
    print(f"1..{count}")
    sys.exit(failed > 0)


main()
