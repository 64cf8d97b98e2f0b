#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""service_test.py SERVE: the service of SERVE/one_process.py on queues that fail and that hang, which no device does on
request; which device is chosen; which options are refused. Run by one_process_test.py."""
import asyncio
import collections
import contextlib
import io
import json
import os
import socket
import sys

import numpy as np
import onnxruntime_ep_leat as leat

sys.path.insert(0, sys.argv[1])
import digits  # noqa: E402 # Their folder has to be known before.
import load  # noqa: E402
import one_process  # noqa: E402

IMAGE = json.dumps({"image": [[0] * 8] * 8}).encode()
assert os.path.dirname(os.path.abspath(one_process.__file__)) == os.path.abspath(sys.argv[1])


class Request:
    """A request whose body comes in one part, or never."""

    def __init__(self, body):
        self.body = body

    async def stream(self):
        if self.body is None:
            await asyncio.Event().wait()
        yield self.body


class Queue:
    """A queue that does what it is told to."""

    def __init__(self):
        self.does = None
        self.released = asyncio.Event()

    async def run_async(self, image):
        if self.does == "fail":
            raise leat.LeatError("the device is lost")
        if self.does == "hang":
            await self.released.wait()
        return [np.arange(10, dtype=np.float32)[None]]


async def scene():
    queue = Queue()
    service = one_process.Service(queue, capacity=2, deadline=0.2)

    async def ask(body=IMAGE):
        reply = await service.classify(Request(body))
        return reply.status_code, json.loads(reply.body), reply.headers

    def health():
        reply = service.health()
        return reply.status_code, json.loads(reply.body)

    assert (await ask())[:2] == (200, {"digit": 9, "scores": list(range(10))})
    assert (await ask(None))[0] == 408
    assert health() == (200, {"status": "ok", "waiting": 0, "answered": 1, "refused": 0})
    queue.does = "fail"
    status, content, _ = await ask()
    assert (status, content) == (500, {"error": "the model could not be run"}), content
    assert health()[0] == 503 and "the device is lost" in health()[1]["status"], health()
    queue.does = None
    assert (await ask())[0] == 200
    assert health()[0] == 200
    # What hangs keeps its place, so that no more than the capacity pile up.
    queue.does = "hang"
    assert [reply[0] for reply in await asyncio.gather(ask(), ask())] == [504, 504]
    assert health()[0] == 503 and health()[1]["waiting"] == 2, health()
    status, content, headers = await ask()
    assert (status, headers["Retry-After"]) == (503, "1"), content
    queue.released.set()
    while service.waiting:
        await asyncio.sleep(0.01)
    assert health() == (200, {"status": "ok", "waiting": 0, "answered": 2, "refused": 1}), health()


Device = collections.namedtuple("Device", "ep_metadata")
# As on a machine with three cards, two of one model.
DEVICES = [Device({"leat_device_index": str(index), "leat_device_name": name, "leat_device_uuid": uuid})
           for index, name, uuid in ((0, "Card 1000", "0000000a-0000-0000-0000-000000000000"),
                                     (1, "Card 1000", "0000000b-0000-0000-0000-000000000000"),
                                     (2, "Other 7", "0000000c-0000-0000-0000-000000000000"))]


def check_choice():
    for wanted, index in ((None, 0), ("", 0), ("0", 0), ("1", 1), ("2", 2), ("other", 2), ("card 1", 0), ("Card", 0),
                          ("0000000b-0000-0000-0000-000000000000", 1), ("0000000C-0000-0000-0000-000000000000", 2)):
        chosen = digits.pick_device(DEVICES, wanted)
        assert chosen is DEVICES[index], (wanted, chosen)
    for wanted in ("3", "1000", "7", "-1", "01", "0000000b", "nothing"):
        try:
            chosen = digits.pick_device(DEVICES, wanted)
        except digits.NoDevice as error:
            assert f"'{wanted}'" in str(error) and "1 (Card 1000, 0000000b-" in str(error), error
        else:
            raise AssertionError((wanted, chosen))


def check_last_device():
    """The model on the last of the devices that there are, and on no other."""
    from onnxruntime_ep_leat._array import memory_stats
    last = len(leat.register()) - 1
    session = digits.open_session(str(last))
    image = np.full((1, 1, digits.SIDE, digits.SIDE), 0.5, np.float32)
    assert session.run(None, {"image": image})[0].shape == (1, 10)
    used = [memory_stats(index).allocated_peak > 0 for index in range(last + 1)]
    assert used == [False] * last + [True], used
    print(f"device {last} of {last + 1} runs the model")


def check_options():
    """What would fail later, or never end, is refused with a line that names the option."""
    one, client = one_process.read_options, load.read_options
    for read, option, *values in (
            (one, "--port", "70000", "-1", "x", ""), (one, "--max-rows", "0", "-1", "1.5", "9" * 30, "9" * 5000),
            (one, "--capacity", "0", "-5"), (one, "--workers", "0", "1000000"),
            (one, "--notice", "nan", "inf", "-inf", "-1", "1e999", "1e9", "x"),
            (one, "--max-delay", "nan", "inf", "-1"), (one, "--deadline", "nan", "inf", "-1", "0"),
            (client, "--seconds", "nan", "inf", "-1", "1e300"), (client, "--clients", "0", "-1", "1000000"),
            (client, "url", "https://h", "h:80", "http://h:x", "http://h:70000", "http://h:0", "http://", "http://[x")):
        for value in values:
            said = io.StringIO()
            try:
                with contextlib.redirect_stderr(said):
                    read([value] if option == "url" else [f"{option}={value}"])
            except SystemExit as end:
                assert end.code == 2 and f"argument {option}: '" in said.getvalue(), (option, value, said.getvalue())
            else:
                raise AssertionError(f"{option} {value} is taken")
    options = one(["--port", "0", "--notice", "0", "--deadline", "0.5", "--max-delay", "0", "--max-rows", "1"])
    assert (options.port, options.notice, options.deadline, options.max_delay, options.max_rows) == (0, 0, 0.5, 0, 1)
    assert client(["http://[::1]:80", "--seconds", "0.1"]).seconds == 0.1


check_choice()
check_last_device()
check_options()
asyncio.run(asyncio.wait_for(scene(), 60))
with one_process.listen_on("127.0.0.1", 0) as listening, socket.create_connection(listening.getsockname(), 60):
    connection, _ = listening.accept()
    with connection:
        assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY), "answers wait for acknowledgements"
    try:
        one_process.listen_on(*listening.getsockname())
    except SystemExit as end:
        assert "cannot be listened on" in str(end), end
    else:
        raise AssertionError("a port is listened on twice")
