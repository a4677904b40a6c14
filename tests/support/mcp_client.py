"""A client of `onnxcost mcp`, by the definition of the protocol: its answers against the documents of the commands,
their size, pages, errors, and that no request ends it; an agent's session against its budget. TAP.
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
MOST, MOST_FULL, MOST_LIST, MOST_SESSION = 4000, 20000, 6000, 12000  # bytes
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
        self.largest = self.last = self.sent = self.received = 0

    def send(self, raw):
        raw = raw if isinstance(raw, bytes) else (json.dumps(raw) + "\n").encode()
        self.sent += len(raw)
        self.process.stdin.write(raw)
        self.process.stdin.flush()

    def receive(self):
        line = self.process.stdout.readline()
        self.received += len(line)
        self.largest = max(self.largest, len(line))
        return json.loads(line)

    def ask(self, method, **params):
        self.last += 1
        self.send({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params})
        answer = self.receive()
        assert answer["id"] == self.last, answer
        return answer

    def call(self, called, **arguments):
        arguments = {name.replace("_", "-"): value for name, value in arguments.items()}
        return self.ask("tools/call", name=called, arguments=arguments)["result"]

    def error(self, tool, **arguments):
        result = self.call(tool, **arguments)
        return result["content"][0]["text"] if result.get("isError") else f"no error: {result}"

    def answer(self, tool, **arguments):
        result = self.call(tool, **arguments)
        assert not result.get("isError"), result
        return json.loads(result["content"][0]["text"])

    def pages(self, tool, **arguments):
        """All pages of an answer, and the document that they make."""
        whole, pages = None, []
        while True:
            result = self.call(tool, **arguments)
            assert not result.get("isError"), result
            pages.append(result)
            part = json.loads(result["content"][0]["text"])
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
    before = s.largest
    tools = s.ask("tools/list")["result"]["tools"]
    expect("list of tools: at most 6,000 bytes", "" if before < s.largest <= MOST_LIST else s.largest)
    names = [tool["name"] for tool in tools]
    expect_eq("tools", "analyze why profile bounds memory estimate check diff llm summary providers scan devices device help",
              " ".join(names))
    for tool in tools:
        jsonschema.Draft202012Validator.check_schema(tool["inputSchema"])
    arguments = {name: [line.split(" ", 1)[0] for line in s.call("help", tool=name)["content"][0]["text"].split("\n")[1:]]
                 for name in names[:-1]}
    expect("help describes every argument of the list", [n for n in arguments
           if not set(tools[names.index(n)]["inputSchema"]["properties"]) <= set(arguments[n])] or "")
    expect_eq("help of a tool that does not exist", -32602, s.ask("tools/call", name="help", arguments={"tool": "x"})["error"]["code"])
    options = subprocess.run([PROGRAM, "help", "options"], capture_output=True, text=True, check=True).stdout
    files = ("model", "a", "b", "folder", "name", "cursor", "full")
    missing = [f"{tool}: {p}" for tool, names in arguments.items() for p in names if p not in files and f"--{p}" not in options]
    expect("every argument is an option of the program", ", ".join(missing))
    expect("more than forty arguments are tried", "" if len(set(sum(arguments.values(), []))) > 40 else arguments)
    expect_eq("unknown cursor of tools/list", -32602, s.ask("tools/list", cursor="x")["error"]["code"])
    expect_eq("unknown method", -32601, s.ask("resources/list")["error"]["code"])
    expect_eq("unknown tool", -32602, s.ask("tools/call", name="x")["error"]["code"])
    expect_eq("exit code at the end of input", 0, s.end())
    return {tool["name"]: tool for tool in tools}, arguments


# Five questions of src/doc/questions.md as calls of an agent: tool, arguments, and what of the answer is the answer.
SESSION = (
    ("why is it slow", "profile", {"model": "resnet50.onnx", "profile": ["resnet50.all.t1.json.gz"], "hw": ["machine.t1.xml"], "top": 3},
     lambda a: a["verdict"].startswith("51.2 ms per run, 76 % of what") and a["rows"]["rows"][0][1] == "Conv"),
    ("does it fit", "memory", {"model": "bert_base.onnx", "hw": ["t4"], "fit": True},
     lambda a: a["fit"]["fits"] == "yes" and a["fit"]["needs_bytes"] == 443047848),
    ("did the update make it slower", "diff", {"a": "resnet50.all.t1.json.gz", "b": "resnet50.all.t2.json.gz", "top": 1},
     lambda a: a["latency"]["verdict"] == "inconclusive" and a["latency"]["recordings_for_3_percent"] == 3),
    ("how many FLOPs has it", "analyze", {"model": "resnet50.onnx", "top": 1}, lambda a: a["totals"]["flops"] == 8217767080),
    ("which device is the fastest", "estimate", {"model": "resnet50.onnx", "hw": ["t4,l4"], "batch": "1,8"},
     lambda a: a["verdict"].startswith("l4 with batch = 1 is the fastest")),
)


def test_session():
    """The bytes of a whole session in both directions, with the list of tools."""
    folder = pathlib.Path(FOLDER, "models")
    for name in ("resnet50.all.t1.json.gz", "resnet50.all.t2.json.gz", "machine.t1.xml"):
        (folder / name).write_bytes(pathlib.Path("models/profiles", name).read_bytes())
    s = Server("--root", str(folder))
    s.ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={"name": "agent", "version": "1"})
    s.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    s.ask("tools/list")
    for question, tool, arguments, answers in SESSION:
        answer = s.answer(tool, **arguments)
        expect(f"session: {question}: {tool}", "" if answers(answer) else answer)
    expect(f"session of five questions: {s.sent} + {s.received} of 12,000 bytes", "" if s.sent + s.received <= MOST_SESSION else "too many")
    s.end()


def rounded(value):
    return float(f"{value:.6g}") if isinstance(value, float) and value != int(value) else value


def plain(value):
    """A value of a document as the brief form has it."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items() if v not in (None, [], {}, "")}
    if isinstance(value, list):
        return [plain(v) for v in value]
    return rounded(value)


def wrong_cells(brief, whole):
    """Cells of the tables and figures of a brief answer that are not those of the document, by the names of its columns."""
    wrong, tried = [], 0
    for key, value in brief.items():
        source = whole.get(key)
        if isinstance(value, dict) and "columns" in value and isinstance(source, list):
            if len(value["rows"]) != len(source):
                wrong.append(f"{key}: {len(value['rows'])} rows, not {len(source)}")
            for cells, row in zip(value["rows"], source):
                for column, cell in zip(value["columns"], cells):
                    if column in row:
                        tried += 1
                        wrong += [] if plain(row[column]) == cell or (cell is None and row[column] == "") else [f"{key}.{column}: {cell} {row[column]}"]
        elif isinstance(value, dict) and isinstance(source, dict) and "columns" not in value:
            tried += len(value)
            wrong += [f"{key}.{k}: {v}" for k, v in value.items() if plain(source.get(k)) != v]
    return wrong if tried else ["no cell was compared"]


def test_documents():
    s = Server()
    resnet, small, profile = f"{FOLDER}/resnet50.onnx", f"{FOLDER}/mobilenetv2.onnx", "models/profiles/bert_base.all.t1.json.gz"
    for tool, arguments, command in (
        ("analyze", {"model": resnet, "top": 60, "dim": ["batch=2"], "hw": ["t4"]}, [resnet, "--top=60", "--dim=batch=2", "--hw=t4"]),
        ("analyze", {"model": small, "advise": True}, [small, "--top=10", "--advise"]),
        ("why", {"model": resnet, "why": ["/conv1/Conv"]}, [resnet, "--top=1", "--why=/conv1/Conv"]),
        ("profile", {"profile": [profile], "top": 5}, [f"--profile={profile}", "--top=5"]),
        ("estimate", {"model": small, "hw": ["t4,l4"], "batch": "1,8"}, ["estimate", small, "--hw=t4,l4", "--batch=1,8"]),
        ("memory", {"model": resnet}, ["memory", resnet, "--top=10"]),
        ("memory", {"model": small, "plan": True}, ["memory", small, "--plan=-"]),
        ("estimate", {"model": small, "hw": ["t4"]}, ["estimate", small, "--hw=t4"]),
        ("bounds", {"model": small, "dim": ["batch=1..64"]}, [small, "--dim=batch=1..64"]),
        ("check", {"model": small, "max": ["macs=1T"], "dim": ["batch=1..64"]}, ["check", small, "--max=macs=1T", "--dim=batch=1..64"]),
        ("check", {"model": small, "max": ["macs=1M"]}, ["check", small, "--max=macs=1M"]),
        ("diff", {"a": small, "b": resnet, "top": 30}, ["diff", small, resnet, "--top=30"]),
        ("llm", {"model": f"{FOLDER}/config.json", "hw": ["a100"]}, ["llm", f"{FOLDER}/config.json", "--hw=a100"]),
        ("summary", {"profile": profile}, ["summary", profile, "--top=10"]),
        ("providers", {"model": small, "provider": "qnn,cpu"}, ["providers", small, "--provider=qnn,cpu"]),
        ("devices", {}, ["hw", "list"]),
        ("device", {"name": "t4"}, ["hw", "show", "t4"]),
    ):
        wanted = document(*command)
        s.largest = 0
        whole, pages = s.pages(tool, full=True, **arguments)
        expect(f"{tool}, full: document of {' '.join(command)[:60]}, {len(pages)} pages", "" if whole == wanted else "it differs")
        expect(f"{tool}, full: at most 20,000 bytes a page", "" if s.largest <= MOST_FULL else s.largest)
        s.largest = 0
        brief, pages = s.pages(tool, **arguments)
        expect(f"{tool}: at most 4,000 bytes a page, {len(pages)} pages", "" if s.largest <= MOST else s.largest)
        if tool != "why" and tool != "summary":
            expect(f"{tool}: figures are those of the document", wrong_cells(brief, wanted) or "")
    brief = s.answer("why", model=resnet, why=["/conv1/Conv"])
    expect_eq("why: the formula and its numbers are those of the document", plain(document(resnet, "--top=1", "--why=/conv1/Conv")["receipts"]), brief["receipts"])
    brief, wanted = s.answer("summary", profile=profile), document("summary", profile, "--top=10")["profiles"][0]
    expect_eq("summary: types are those of the document", [[t["name"], t["both"]["total_ns"]] for t in wanted["type"]],
              [[row[0], row[2]] for row in brief["type"]["rows"]])
    expect_eq("scan lists the models of a folder", 3, s.answer("scan", folder=FOLDER + "/models")["models"])
    first = s.call("devices")
    expect_eq("an answer has its document once", ["content", "nextCursor"], list(first))
    result = s.call("check", model=small, max=["macs=1M"])
    expect_eq("check that fails is a result", False, json.loads(result["content"][0]["text"])["passed"])
    expect("check gives its reason", "" if "exceeds the limit of 1M" in result["content"][-1]["text"] else result)
    first = s.call("memory", model=resnet, plan=True)
    expect("cursor of other arguments", "" if "document changed" in s.error("memory", model=small, plan=True, cursor=first["nextCursor"]) else "accepted")
    expect("invalid cursor", "" if "cursor is not" in s.error("memory", model=small, cursor="5-xyz") else "accepted")
    s.end()


def test_errors():
    s = Server()
    model = f"{FOLDER}/mobilenetv2.onnx"
    for title, wanted, tool, arguments in (
        ("missing file", 'No such file or directory\n(exit code 3: input)\nNext: call scan with {"folder": "."}', "analyze",
         {"model": f"{FOLDER}/none.onnx"}),
        ("missing argument", "tool 'analyze' needs the argument 'model'\nNext: call help with", "analyze", {}),
        ("unknown argument", "did you mean 'model'?", "analyze", {"modle": model}),
        ("value of full", "argument 'full' must be true or false", "analyze", {"model": model, "full": "yes"}),
        ("argument of a wrong type", "argument 'top' must be an integer", "analyze", {"model": model, "top": "many"}),
        ("list of a wrong type", "argument 'dim' must be an array of strings", "analyze", {"model": model, "dim": [{}]}),
        ("flag of a wrong type", "argument 'advise' must be true or false", "analyze", {"model": model, "advise": "yes"}),
        ("null character", "argument 'model' must be a string", "analyze", {"model": model + "\0"}),
        ("unknown device", '(exit code 2: usage)\nNext: call help with {"tool": "analyze"}', "analyze", {"model": model, "hw": ["h1000"]}),
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
             "params": {"name": "check", "arguments": {"model": f"{FOLDER}/mobilenetv2.onnx", "max": ["macs=1T"]}}}])
    answers = s.receive()
    expect_eq("array of messages has one array of answers", [None, "a", "b"], sorted((a["id"] for a in answers), key=str))
    calls = [{"jsonrpc": "2.0", "id": i, "method": "tools/call",
              "params": {"name": "check", "arguments": {"model": f"{FOLDER}/mobilenetv2.onnx", "max": ["macs=1T"]}}} for i in range(300)]
    s.send(calls)
    answers = s.receive()
    expect("more calls in an array than run at the same time wait", [a for a in answers if a["result"].get("isError")] or
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
    expect_eq("file inside --root", 300774272, s.answer("analyze", model="m.onnx")["totals"]["macs"])
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


def test_no_writing(tools, arguments):
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
            for key in arguments.get(name, []):
                kind = properties.get(key, {}).get("type", "array")
                for target in (".dot.json", "m.onnx", "new.json", "out.json", os.path.abspath(base / "other.json"), "-"):
                    value = {"boolean": True, "integer": 1, "array": [target]}.get(kind, target)
                    given = {**models, key: value}
                    if key not in models and key != "hw" and "hw" in tool["inputSchema"].get("required", []):
                        given["hw"] = ["t4"]
                    s.call(name, **given)
                    if key not in properties:
                        s.call(name, **{**given, key: target})
        s.call("memory", model="m.onnx", plan=True)
        s.end()
    expect("no tool writes a file", "" if state(base) == before else set(state(base).items()) ^ set(before.items()))


def main():
    os.makedirs(f"{FOLDER}/models", exist_ok=True)
    for model in ("resnet50", "mobilenetv2", "bert_base"):
        subprocess.run([ZOO, model, "-o", f"{FOLDER}/{model}.onnx"], check=True)
        subprocess.run([ZOO, model, "-o", f"{FOLDER}/models/{model}.onnx"], check=True)
    subprocess.run([ZOO, "chain", "--nodes", "150000", "-o", f"{FOLDER}/chain.onnx"], check=True)
    pathlib.Path(FOLDER, "config.json").write_text(json.dumps(
        {"model_type": "llama", "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4,
         "num_key_value_heads": 2, "vocab_size": 100, "torch_dtype": "float16"}))
    tools, arguments = test_protocol()
    test_session()
    test_documents()
    test_errors()
    test_bad_requests()
    test_processes()
    test_root()
    test_no_writing(tools, arguments)
    print(f"1..{count}")
    sys.exit(failed > 0)


main()
