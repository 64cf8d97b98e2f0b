#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""one_process_test.py TREE BUILD: examples/serve/one_process.py under load, under requests that are wrong in every way,
with clients that go away, on another device than the first, and at its end.

LEAT_TEST_SERVE is a Python with the packages of examples/serve/requirements.txt.
Exit status: 0 right, 1 not, 77 no Vulkan device, or no such Python.
"""
import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time

TREE, BUILD = map(os.path.abspath, sys.argv[1:])
SERVE = os.path.join(TREE, "examples", "serve")
sys.path.insert(0, os.path.join(TREE, "tests", "docs"))
import drivers  # noqa: E402 # page's folder has to be known before.
import page  # noqa: E402

WAIT_S = 60
IMAGE = json.dumps({"image": [[0.5] * 8] * 8})


def image(value):
    """An image with one value, as it stands in JSON, in its middle."""
    return IMAGE.replace("0.5", value, 30).replace(value, "0.5", 29)


BAD = [
    ("", 400, "is no JSON"), ("{", 400, "is no JSON"), (b"\xff", 400, "is no JSON"), ("[" * 9000, 400, "is no JSON"),
    ("[1]", 400, "must be an object"), ("null", 400, "must be an object"), ("{}", 400, "must be an object"),
    (IMAGE[:-1] + ', "more": 1}', 400, "nothing else"), ('{"image": 5}', 400, "8 lists of 8"),
    ('{"image": [[1]]}', 400, "8 lists of 8"), ('{"image": ' + str([[[0]] * 8] * 8) + "}", 400, "from 0 to 1"),
    ('{"image": ' + str([[0] * 8] * 7 + [[0] * 9]) + "}", 400, "8 lists of 8"),
    (image("NaN"), 400, "NaN is no number"), (image("-Infinity"), 400, "-Infinity is no number"),
    (image("1e999"), 400, "from 0 to 1"), (image("-0.1"), 400, "from 0 to 1"), (image('"1"'), 400, "from 0 to 1"),
    (image("true"), 400, "from 0 to 1"), (image("null"), 400, "from 0 to 1"), (image("9" * 6000), 400, "is no JSON"),
    (image("9" * 400), 400, "from 0 to 1"), ("x" * 5_000_000, 413, "at most"), ([b"x" * 10_000] * 500, 413, "at most"),
]


class Server:
    """The server in a process of its own, which prints where it serves."""

    def __init__(self, environment, *options):
        self.process = subprocess.Popen(
            [os.environ["LEAT_TEST_SERVE"], "-B", os.path.join(SERVE, "one_process.py"), "--port", "0", *options],
            env=environment, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if not line.startswith("serving http://"):
            sys.exit(f"the server did not start: {line!r}")
        self.url = line.split()[1]
        self.host, port = self.url.removeprefix("http://").split(":")
        self.port = int(port)

    def send(self, body, method="POST", path="/classify"):
        """A connection on which a request has been sent. A list: a body in parts whose number is not told before."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=WAIT_S)
        # A server may answer and close before all of a body has been sent.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            connection.request(method, path, iter(body) if isinstance(body, list) else body)
        return connection

    def ask(self, *request):
        return answer(self.send(*request))

    def health(self):
        status, _, content = self.ask(None, "GET", "/health")
        return status, content

    def end(self):
        """Waits for the end after SIGTERM, and gives how many requests were answered and refused."""
        said, _ = self.process.communicate(timeout=WAIT_S)
        if self.process.returncode != 0:
            sys.exit(f"the server ended with {self.process.returncode}, and said: {said}")
        words = said.split()
        return int(words[0]), int(words[3])


def answer(connection):
    """Status, headers and JSON of the answer to what was sent."""
    response = connection.getresponse()
    content = json.loads(response.read())
    connection.close()
    return response.status, response.headers, content


def expect(right, *what):
    if not right:
        sys.exit("wrong: " + " ".join(map(str, what)))


def wait_for(what, condition):
    until = time.monotonic() + WAIT_S
    while not condition():
        expect(time.monotonic() < until, what, "after", WAIT_S, "s")
        time.sleep(0.02)


def check_bad(server):
    for body, status, text in BAD:
        got, _, content = server.ask(body)
        expect(got == status and text in content["error"], repr(body)[:80], "got", got, content)
    expect(server.ask(None, "GET")[0] == 405, "GET /classify is not 405")
    expect(server.ask(IMAGE, "POST", "/nothing")[0] == 404, "/nothing is not 404")
    with socket.create_connection((server.host, server.port), WAIT_S) as raw:
        raw.sendall(b"\0\1\2 nonsense\r\n\r\n")
        expect(b" 400 " in raw.recv(1000), "what is no HTTP got another answer than 400")
    # Clients that go: within the head, within the body, and without reading the answer.
    head = f"POST /classify HTTP/1.1\r\nHost: x\r\nContent-Length: {len(IMAGE)}\r\n\r\n"
    for sent in (head[:20], head, head + IMAGE[:50], *[head + IMAGE] * 5):
        with socket.create_connection((server.host, server.port), WAIT_S) as raw:
            raw.sendall(sent.encode())
    wait_for("what nobody waits for is not answered",
             lambda: server.health()[1]["answered"] == 5 and server.health()[1]["waiting"] == 0)
    expect(server.health()[0] == 200, "after bad requests", server.health())


def start_load(environment, server, *options):
    return subprocess.Popen([os.environ["LEAT_TEST_SERVE"], "-B", os.path.join(SERVE, "load.py"), server.url, *options],
                            env=environment, stdout=subprocess.PIPE, text=True)


def check_load(environment, picture):
    """Load, a picture of it, and the server's end in the middle of more: what it has answered has arrived."""
    server = Server(environment)
    check_bad(server)
    load = start_load(environment, server, "--clients", "4", "--seconds", "1", "--plot", picture)
    told = json.loads(load.communicate(timeout=WAIT_S)[0])
    print(json.dumps(told))
    expect(load.returncode == 0 and not told["errors"] and told["wrong"] == 0, "load:", told)
    expect(os.path.getsize(picture) > 1000, "the picture is empty")
    before = server.health()[1]["answered"]
    expect(before == told["answers"] + 5, before, "requests were answered in all")
    load = start_load(environment, server, "--clients", "4", "--seconds", "4")
    wait_for("no answer under load", lambda: server.health()[1]["answered"] > before)
    server.process.send_signal(signal.SIGTERM)
    answered, refused = server.end()
    told = json.loads(load.communicate(timeout=WAIT_S)[0])
    print(json.dumps(told))
    expect(load.returncode == 0 and told["wrong"] == 0, "load at the end:", told)
    expect(answered - before == told["answers"] and refused == 0, answered - before, "answered, but arrived:", told)
    expect(told["errors"].get("ConnectionRefusedError"), "the server has not closed its port:", told)


def check_room(environment):
    """Two requests that wait for more to come, a third that finds no room, and SIGTERM while they wait."""
    server = Server(environment, "--capacity", "2", "--max-rows", "3", "--max-delay", "5", "--notice", "2")
    first = [server.send(IMAGE) for _ in range(2)]
    wait_for("requests do not wait", lambda: server.health()[1]["waiting"] == 2)
    status, headers, content = server.ask(IMAGE)
    expect((status, headers["Retry-After"]) == (503, "1") and "2 requests wait" in content["error"], status, content)
    server.process.send_signal(signal.SIGTERM)
    wait_for("SIGTERM is not noticed", lambda: server.health()[1]["status"] == "draining")
    status, content = server.health()
    expect(status == 503, "draining:", status, content)
    server.process.send_signal(signal.SIGTERM)
    for connection in first:
        status, headers, content = answer(connection)
        expect((status, headers["Connection"]) == (200, "close"), status, headers, content)
    expect(server.end() == (2, 1), "not 2 answered and 1 refused")


def check_device(environment, last):
    """The server on the last device, and what it says of one that is not there."""
    server = Server(environment, "--device", str(last), "--notice", "0")
    status, _, content = server.ask(IMAGE)
    expect(status == 200, "device", last, "gives", status, content)
    server.process.send_signal(signal.SIGTERM)
    expect(server.end() == (1, 0), "not 1 answered")
    print(f"served on device {last}")
    command = [os.environ["LEAT_TEST_SERVE"], "-B", os.path.join(SERVE, "one_process.py"), "--device", "99"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=WAIT_S, check=False)
    expect(done.returncode == 1 and "no device is '99'; there are: 0 (" in done.stderr, done)


def main():
    if not os.environ.get("LEAT_TEST_SERVE"):
        print("LEAT_TEST_SERVE names no Python; ./dev unit sets it")
        sys.exit(page.NO_DEVICE)
    page.need_device(BUILD)
    folder = os.path.join(BUILD, "serve")
    page.put_package_together(TREE, BUILD, os.path.join(folder, "package"))
    environment = {**os.environ, "PYTHONPATH": os.path.join(folder, "package"), "MPLCONFIGDIR": folder}
    service_test = os.path.join(TREE, "tests", "serve", "service_test.py")
    several, there = drivers.several(os.environ["LEAT_TEST_SERVE"], environment, folder)
    subprocess.run([os.environ["LEAT_TEST_SERVE"], "-B", service_test, SERVE], env=several, check=True,
                   timeout=WAIT_S)
    check_device(several, there - 1)
    check_load(environment, os.path.join(folder, "latency.svg"))
    check_room(environment)


if __name__ == "__main__":
    main()
