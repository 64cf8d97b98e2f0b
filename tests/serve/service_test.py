#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""service_test.py SERVE: the service of SERVE/one_process.py on queues that fail and that hang, which no device does on
request. Run by one_process_test.py."""
import asyncio
import json
import os
import socket
import sys

import numpy as np
import onnxruntime_ep_leat as leat

sys.path.insert(0, sys.argv[1])
import one_process  # noqa: E402 # Its folder has to be known before.

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


asyncio.run(asyncio.wait_for(scene(), 60))
with one_process.listen_on("127.0.0.1", 0) as listening, socket.create_connection(listening.getsockname(), 60):
    connection, _ = listening.accept()
    with connection:
        assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY), "answers wait for acknowledgements"
