"""A client of `onnxcost mcp`, by the definition of the protocol: its answers against the documents of the commands,
their size, pages, errors, and that no request ends it. TAP.
usage: mcp_client.py ONNXCOST ONNXZOO FOLDER [release]"""
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import time

import jsonschema

PROGRAM, ZOO, FOLDER = map(os.path.abspath, sys.argv[1:4])
RELEASE = "release" in sys.argv[4:]
MOST = 20000
count = failed = 0


def expect(title, problem):
    global count, failed
    count += 1
    print(f"{'not ok' if problem else 'ok'} {count} - {title}")
    if problem:
        failed += 1
        print("# " + str(problem)[:600].replace("\n", "\n# "))


def expect_eq(title, wanted, found):
    expect(title, "" if wanted == found else f"expected {wanted!r}, got {found!r}")


class Server:
    def __init__(self, *options, memory=None, cwd=None):
        limit = (lambda: resource.setrlimit(resource.RLIMIT_AS, (memory, memory))) if memory else None
        self.process = subprocess.Popen([PROGRAM, "mcp", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, preexec_fn=limit, cwd=cwd)
        self.largest = self.last = 0

    def send(self, raw):
        self.process.stdin.write(raw if isinstance(raw, bytes) else (json.dumps(raw) + "\n").encode())
        self.process.stdin.flush()

    def receive(self):
        line = self.process.stdout.readline()
        self.largest = max(self.largest, len(line))
        return json.loads(line)

    def ask(self, method, **params):
        self.last += 1
        self.send({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params})
        answer = self.receive()
        assert answer["id"] == self.last, answer
        return answer

    def call(self, tool, **arguments):
        arguments = {name.replace("_", "-"): value for name, value in arguments.items()}
        return self.ask("tools/call", name=tool, arguments=arguments)["result"]

    def error(self, tool, **arguments):
        result = self.call(tool, **arguments)
        return result["content"][0]["text"] if result["isError"] else f"no error: {result}"

    def pages(self, tool, **arguments):
        """All pages of an answer, and the document that they make."""
        whole, pages = None, []
        while True:
            result = self.call(tool, **arguments)
            assert not result["isError"], result
            pages.append(result)
            part = result["structuredContent"]
            whole = part if whole is None else merge(whole, part)
            if "nextCursor" not in result:
                return whole, pages
            arguments["cursor"] = result["nextCursor"]

    def end(self):
        self.process.stdin.close()
        return self.process.wait(20)


def merge(a, b):
    """Rows of both; all else is the same in both."""
    if isinstance(a, dict):
        assert list(a) == list(b)
        return {key: merge(a[key], b[key]) for key in a}
    if isinstance(a, list) and a != b:
        return a + b
    assert a == b or isinstance(a, list), (a, b)
    return a


def document(*arguments):
    done = subprocess.run([PROGRAM, *arguments, "-f", "json"], capture_output=True, check=False)
    return json.loads(done.stdout)


def alive(server):
    return "" if server.ask("ping").get("result") == {} else "no answer to ping"


def test_protocol():
    s = Server()
    for version, wanted in [(v, v) for v in ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")] + [("1999-01-01", "2025-11-25")]:
        result = s.ask("initialize", protocolVersion=version, capabilities={}, clientInfo={"name": "t", "version": "1"})["result"]
        expect_eq(f"initialize with version {version}", wanted, result["protocolVersion"])
    s.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    tools, cursor = [], {}
    while True:
        result = s.ask("tools/list", **cursor)["result"]
        tools += result["tools"]
        if "nextCursor" not in result:
            break
        cursor = {"cursor": result["nextCursor"]}
    names = [tool["name"] for tool in tools]
    expect_eq("tools", "analyze why profile bounds memory estimate check diff llm devices", " ".join(names))
    for tool in tools:
        for schema in ("inputSchema", "outputSchema"):
            if schema in tool:
                jsonschema.Draft202012Validator.check_schema(tool[schema])
    options = subprocess.run([PROGRAM, "help", "options"], capture_output=True, text=True, check=True).stdout
    missing = [f"{tool['name']}: {p}" for tool in tools for p in tool["inputSchema"]["properties"]
               if p not in ("model", "a", "b", "cursor") and f"--{p}" not in options]
    expect("every parameter is an option of the program", ", ".join(missing))
    expect_eq("unknown cursor of tools/list", -32602, s.ask("tools/list", cursor="x")["error"]["code"])
    expect_eq("unknown method", -32601, s.ask("resources/list")["error"]["code"])
    expect_eq("unknown tool", -32602, s.ask("tools/call", name="x")["error"]["code"])
    expect_eq("exit code at the end of input", 0, s.end())
    return {tool["name"]: tool for tool in tools}, s.largest


def test_documents(tools):
    s = Server()
    resnet, small, profile = f"{FOLDER}/resnet50.onnx", f"{FOLDER}/mobilenetv2.onnx", "models/profiles/bert_base.all.t1.json.gz"
    cases = [
        ("analyze", {"model": resnet, "top": 60, "dim": ["batch=2"], "hw": ["t4"]}, [resnet, "--top=60", "--dim=batch=2", "--hw=t4"]),
        ("analyze", {"model": small, "advise": True}, [small, "--top=20", "--advise"]),
        ("why", {"model": resnet, "why": ["/conv1/Conv"]}, [resnet, "--top=1", "--why=/conv1/Conv"]),
        ("profile", {"profile": [profile], "top": 5}, [f"--profile={profile}", "--top=5"]),
        ("estimate", {"model": small, "hw": ["t4,l4"], "batch": "1,8", "top": 0}, ["estimate", small, "--hw=t4,l4", "--batch=1,8", "--top=0"]),
        ("memory", {"model": resnet}, ["memory", resnet]),
        ("memory", {"model": small, "plan": True}, ["memory", small, "--plan=-"]),
        ("estimate", {"model": small, "hw": ["t4"], "top": 0}, ["estimate", small, "--hw=t4", "--top=0"]),
        ("bounds", {"model": small, "dim": ["batch=1..64"]}, [small, "--dim=batch=1..64"]),
        ("check", {"model": small, "max-macs": "1T", "dim": ["batch=1..64"]}, ["check", small, "--max-macs=1T", "--dim=batch=1..64"]),
        ("check", {"model": small, "max-macs": "1M"}, ["check", small, "--max-macs=1M"]),
        ("diff", {"a": small, "b": resnet, "top": 30}, ["diff", small, resnet, "--top=30"]),
        ("llm", {"model": f"{FOLDER}/config.json", "hw": ["a100"]}, ["llm", f"{FOLDER}/config.json", "--hw=a100"]),
        ("devices", {}, ["hw", "list"]),
    ]
    full = json.loads(subprocess.run([PROGRAM, "schema"], capture_output=True, check=True).stdout)
    for tool, arguments, command in cases:
        whole, pages = s.pages(tool, **arguments)
        wanted = document(*command)
        expect(f"{tool}: document of {' '.join(command)[:60]}, {len(pages)} pages", "" if whole == wanted else "it differs")
        texts = [p["content"][0]["text"] for p in pages]
        same = sum(t[0] == "{" and json.loads(t) == p["structuredContent"] for t, p in zip(texts, pages))
        alone = sum(t == "The document is in structuredContent." for t in texts)
        expect(f"{tool}: text and structured content are the same", "" if same + alone == len(pages) and same else (same, alone))
        if "outputSchema" in tools[tool]:
            for page in pages:
                jsonschema.validate(page["structuredContent"], tools[tool]["outputSchema"])
            jsonschema.validate(whole, full)
            expect(f"{tool}: pages conform to the schema", "")
    expect("no answer has more than 20,000 bytes", "" if s.largest <= MOST else s.largest)
    result = s.call("check", model=small, max_macs="1M")
    expect_eq("check that fails is a result", False, result["structuredContent"]["passed"])
    expect("check gives its reason", "" if "exceeds the limit of 1M" in result["content"][-1]["text"] else result)
    first = s.call("memory", model=resnet)
    expect("cursor of other arguments", "" if "document changed" in s.error("memory", model=small, cursor=first["nextCursor"]) else "accepted")
    expect("invalid cursor", "" if "cursor is not" in s.error("memory", model=small, cursor="5-xyz") else "accepted")
    s.end()


def test_errors():
    s = Server()
    model = f"{FOLDER}/mobilenetv2.onnx"
    for title, wanted, tool, arguments in (
        ("missing file", "No such file or directory\n(exit code 3: input)", "analyze", {"model": f"{FOLDER}/none.onnx"}),
        ("missing argument", "tool 'analyze' needs the argument 'model'", "analyze", {}),
        ("unknown argument", "did you mean 'model'?", "analyze", {"modle": model}),
        ("argument of a wrong type", "argument 'top' must be an integer", "analyze", {"model": model, "top": "many"}),
        ("list of a wrong type", "argument 'dim' must be an array of strings", "analyze", {"model": model, "dim": [{}]}),
        ("flag of a wrong type", "argument 'advise' must be true or false", "analyze", {"model": model, "advise": "yes"}),
        ("null character", "argument 'model' must be a string", "analyze", {"model": model + "\0"}),
        ("unknown device", "(exit code 2: usage)", "analyze", {"model": model, "hw": ["h1000"]}),
        ("value that looks like an option", "cannot read '--help'", "analyze", {"model": "--help"}),
        ("range in another tool", "use the tool bounds", "analyze", {"model": model, "dim": ["batch=1..64"]}),
        ("option of the program that is not a parameter", "unknown argument 'output'", "analyze", {"model": model, "output": "/tmp/x"}),
    ):
        text = s.error(tool, **arguments)
        expect(title, "" if wanted in text else text)
    s.end()


def test_bad_requests():
    s = Server()
    ping = b'{"jsonrpc":"2.0","id":%s,"method":"ping"}'
    for title, raw, code in (
        ("no JSON", b"garbage\n", -32700), ("half a message", b'{"jsonrpc":"2.0","id":1,"method":"pi\n', -32700),
        ("two values", ping % b"1" + b" {}\n", -32700), ("a number", b"5\n", -32600), ("an empty array", b"[]\n", -32600),
        ("no version", b'{"id":1,"method":"ping"}\n', -32600), ("no method", b'{"jsonrpc":"2.0","id":1}\n', -32600),
        ("id that is an object", ping % b"{}" + b"\n", -32600), ("id that is null", ping % b"null" + b"\n", -32600),
        ("long id", ping % (b'"' + b"x" * 300 + b'"') + b"\n", -32600), ("bytes that are not UTF-8", b"\xff\xfe{\x80\n", -32700),
        ("nested arrays", b"[" * 100000 + b"\n", -32600), ("nested objects", b'{"a":' * 100000 + b"\n", -32700),
        ("more than 1 MiB", b'{"jsonrpc":"2.0","id":1,"method":"' + b"x" * (3 << 20) + b'"}\n', -32600),
        ("null characters", b"\0" * 100 + b"\n", -32700),
        *((f"id {n.decode()}", ping % n + b"\n", -32700) for n in (b"00012", b"-01", b"1.", b"1e", b"-", b"0x1")),
        *((f"id {n.decode()}", ping % n + b"\n", -32600) for n in (b"1.5", b"1e3", b"true")),
    ):
        s.send(raw)
        answer = s.receive()
        while isinstance(answer, list):
            answer = answer[0]
        expect(f"{title}: error {code}", "" if answer.get("error", {}).get("code") in (code, -32700) else answer)
    s.send(b"\n  \r\n")
    s.send({"jsonrpc": "2.0", "id": 7, "result": {}})
    s.send({"jsonrpc": "2.0", "method": "notifications/unknown"})
    expect("the server goes on", alive(s))
    s.send([{"jsonrpc": "2.0", "id": "a", "method": "ping"}, {"jsonrpc": "2.0", "method": "notifications/initialized"}, 5,
            {"jsonrpc": "2.0", "id": "b", "method": "tools/call",
             "params": {"name": "check", "arguments": {"model": f"{FOLDER}/mobilenetv2.onnx", "max-macs": "1T"}}}])
    answers = s.receive()
    expect_eq("array of messages has one array of answers", [None, "a", "b"], sorted((a["id"] for a in answers), key=str))
    calls = [{"jsonrpc": "2.0", "id": i, "method": "tools/call",
              "params": {"name": "check", "arguments": {"model": f"{FOLDER}/mobilenetv2.onnx", "max-macs": "1T"}}} for i in range(300)]
    s.send(calls)
    answers = s.receive()
    expect("more calls in an array than run at the same time wait", [a for a in answers if a["result"]["isError"]] or
           ("" if sorted(a["id"] for a in answers) == list(range(300)) else "ids"))
    for byte in json.dumps({"jsonrpc": "2.0", "id": 9, "method": "ping"}).encode() + b"\n":
        s.send(bytes([byte]))
    expect_eq("request in single bytes", 9, s.receive()["id"])
    expect_eq("exit code", 0, s.end())
    for title, raw, ids in (("last line without line end", ping % b"1" + b"\n" + ping % b"2", [1, 2]), ("only line", ping % b"3", [3])):
        done = subprocess.run([PROGRAM, "mcp"], input=raw, capture_output=True, check=False)
        expect_eq(f"{title} is answered", (ids, 0), ([json.loads(line)["id"] for line in done.stdout.splitlines()], done.returncode))
    if os.path.exists("/dev/full"):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([PROGRAM, "mcp"], input=ping % b"1" + b"\n", stdout=full, stderr=subprocess.PIPE, check=False)
        expect("full disk: exit code 4 and a message", "" if done.returncode == 4 and b"No space left" in done.stderr else done)


def children(pid):
    return [int(c) for c in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def slow_call(s, number):
    s.send({"jsonrpc": "2.0", "id": number, "method": "tools/call",
            "params": {"name": "analyze", "arguments": {"model": f"{FOLDER}/chain.onnx"}}})


def test_processes():
    s = Server()
    slow_call(s, 100)
    s.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 100}})
    expect("cancelled call has no answer", alive(s))
    expect_eq("its process has ended", [], children(s.process.pid))
    slow_call(s, 101)
    expect("ping is answered during a call", alive(s))
    victims = []
    while not victims:
        victims = children(s.process.pid)
        time.sleep(0.001)
    os.kill(victims[0], signal.SIGABRT)
    text = s.receive()["result"]["content"][0]["text"]
    expect("crash is an error of the call", "" if "ended by signal 6" in text else text)
    for i in range(12):
        slow_call(s, 200 + i)
    s.send({"jsonrpc": "2.0", "id": "ping", "method": "ping"})
    expect_eq("ping is answered while calls wait", "ping", s.receive()["id"])
    slow_call(s, 230)
    s.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 230}})
    expect_eq("twelve calls are answered", list(range(200, 212)), sorted(s.receive()["id"] for _ in range(12)))
    expect("the server goes on after a crash", alive(s))
    slow_call(s, 300)
    while not (left := children(s.process.pid)):
        time.sleep(0.001)
    os.kill(s.process.pid, signal.SIGKILL)
    s.process.wait()
    for _ in range(200):
        if not any(os.path.exists(f"/proc/{pid}") and "Z" not in pathlib.Path(f"/proc/{pid}/stat").read_text().split()[2] for pid in left):
            break
        time.sleep(0.01)
    else:
        left = None
    expect("calls end with the server", "" if left else "a process is left")
    if RELEASE:
        s = Server(memory=80 << 20)
        slow_call(s, 1)
        text = s.receive()["result"]["content"][0]["text"]
        expect("exhausted memory is an error of the call", "" if "out of memory" in text and "exit code 4" in text else text)
        expect("the server goes on after it", alive(s))
        s.end()


def test_root():
    root = pathlib.Path(FOLDER, "root")
    for path, target in ((root / "in.onnx", "../mobilenetv2.onnx"), (root / "abs.onnx", "/etc/passwd")):
        path.parent.mkdir(exist_ok=True)
        path.unlink(missing_ok=True)
        path.symlink_to(target)
    (root / "m.onnx").write_bytes(pathlib.Path(FOLDER, "mobilenetv2.onnx").read_bytes())
    pathlib.Path(FOLDER, "device.xml").write_text("<hardware/>")
    (root / "folder").mkdir(exist_ok=True)
    link = root / "folder" / "config.json"
    link.unlink(missing_ok=True)
    link.symlink_to("../../config.json")
    s = Server("--root", str(root))
    expect_eq("file inside --root", 300774272, s.call("analyze", model="m.onnx")["structuredContent"]["totals"]["macs"])
    outside = "is not inside the folder of --root"
    for title, arguments in (
        ("path with ..", {"model": "../mobilenetv2.onnx"}), ("absolute path", {"model": os.path.abspath(f"{FOLDER}/mobilenetv2.onnx")}),
        ("link", {"model": "in.onnx"}), ("link to an absolute path", {"model": "abs.onnx"}), ("folder", {"model": "/usr"}),
        ("URL", {"model": "https://127.0.0.1/m.onnx"}), ("hub", {"model": "hf:o/n"}),
        ("device file", {"model": "m.onnx", "hw": ["../device.xml"]}), ("model in a folder", {"model": "folder/config.json"}),
        ("value from a file", {"model": "m.onnx", "value": ["input=@../config.json"]}), ("rules", {"model": "m.onnx", "op-rules": "/etc/passwd"}),
        ("device of --what-if", {"model": "m.onnx", "what-if": ["hw=../device.xml"]}),
    ):
        text = s.error("analyze", **arguments)
        expect(f"--root refuses: {title}", "" if outside in text else text)
    for tool, arguments in (("profile", {"profile": ["../device.xml"]}), ("profile", {"profile": [".."]}), ("llm", {"model": "folder/config.json"}),
                            ("estimate", {"model": "m.onnx", "hw": ["t4,../device.xml"]}), ("diff", {"a": "m.onnx", "b": "in.onnx"})):
        text = s.error(tool, **arguments)
        expect(f"--root refuses: {tool} {arguments}", "" if outside in text else text)
    expect("missing file inside --root", "" if "No such file" in s.error("analyze", model="none.onnx") else "other message")
    s.end()
    bad = subprocess.run([PROGRAM, "mcp", "--root", f"{FOLDER}/none"], capture_output=True, text=True, check=False, input="")
    expect_eq("--root that does not exist", (2, ""), (bad.returncode, bad.stdout))
    s = Server(cwd=root)
    expect("without --root it is the working directory", "" if outside in s.error("analyze", model="../mobilenetv2.onnx") else "read")
    expect("a URL without --root is tried", "" if "connect" in s.error("analyze", model="http://127.0.0.1:1/m.onnx") else "refused")
    s.end()


def state(folder):
    return {str(p): p.lstat().st_ino if p.is_symlink() else p.read_bytes() for p in pathlib.Path(folder).rglob("*") if not p.is_dir()}


def test_no_writing(tools):
    """Every argument of every tool with names of files: none is made or changed, inside the root or outside."""
    base = pathlib.Path(FOLDER, "writing")
    root = base / "root"
    root.mkdir(parents=True, exist_ok=True)
    for path in base.rglob("*.*"):
        path.unlink()
    (root / "m.onnx").write_bytes(pathlib.Path(FOLDER, "mobilenetv2.onnx").read_bytes())
    (root / ".dot.json").write_text("mine")
    (root / "out.json").symlink_to("../outside.json")
    before = state(base)
    for options in (("--root", str(root)), ()):
        s = Server(*options, cwd=None if options else root)
        for name, tool in tools.items():
            properties = tool["inputSchema"]["properties"]
            models = {p: "m.onnx" for p in ("model", "a", "b") if p in properties}
            for key, p in properties.items():
                for target in (".dot.json", "m.onnx", "new.json", "out.json", os.path.abspath(base / "other.json"), "-"):
                    value = {"boolean": True, "integer": 1, "array": [target]}.get(p["type"], target)
                    arguments = {**models, key: value}
                    if key not in models and key != "hw" and "hw" in tool["inputSchema"]["required"]:
                        arguments["hw"] = ["t4"]
                    s.call(name, **arguments)
        s.call("memory", model="m.onnx", plan=True)
        s.end()
    expect("no tool writes a file", "" if state(base) == before else set(state(base).items()) ^ set(before.items()))


def main():
    for model in ("resnet50", "mobilenetv2"):
        subprocess.run([ZOO, model, "-o", f"{FOLDER}/{model}.onnx"], check=True)
    subprocess.run([ZOO, "chain", "--nodes", "150000", "-o", f"{FOLDER}/chain.onnx"], check=True)
    pathlib.Path(FOLDER, "config.json").write_text(json.dumps(
        {"model_type": "llama", "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4,
         "num_key_value_heads": 2, "vocab_size": 100, "torch_dtype": "float16"}))
    tools, largest = test_protocol()
    expect("no page of tools/list has more than 20,000 bytes", "" if largest <= MOST else largest)
    test_documents(tools)
    test_errors()
    test_bad_requests()
    test_processes()
    test_root()
    test_no_writing(tools)
    print(f"1..{count}")
    sys.exit(failed > 0)


main()
