# SPDX-License-Identifier: BSD-3-Clause
"""Load for serving.py: what is counted of answers, and clients with one request at a time over HTTP."""
import array
import asyncio
import collections
import importlib.util
import random
import re
import time

import numpy as np

# How long an answer may take after the end.
PATIENCE_S = 30


class Tally:
    """What became of requests: answers within a window, and whatever went wrong at any time."""

    def __init__(self, options, wanted):
        self.wanted, self.every, self.tolerance = wanted, options.check_every, options.tolerance
        self.begin = self.end = 0.0
        self.latencies, self.errors = array.array("d"), collections.Counter()
        self.seen = self.checked = self.wrong = 0
        self.worst = 0.0

    def answer(self, index, asked, now, body):
        if self.begin <= now < self.end:
            self.latencies.append(now - asked)
        if self.seen % self.every == 0:
            self.checked += 1
            self.wrong += not self.right(body, self.wanted[index])
        self.seen += 1

    def right(self, body, wanted):
        if len(body) != len(wanted):
            return False
        got, want = np.frombuffer(body, np.float32), np.frombuffer(wanted, np.float32)
        off = float(np.abs(got - want).max() / max(np.abs(want).max(), np.finfo(np.float32).tiny))
        self.worst = max(self.worst, off)
        return off <= self.tolerance  # False for NaN.

    def told(self):
        return {name: getattr(self, name) for name in ("latencies", "errors", "checked", "wrong", "worst")}


class Client(asyncio.Protocol):
    """A connection that is kept, and one request after the other on it."""

    def __init__(self, messages, tally, port, seed):
        self.messages, self.tally, self.port, self.choice = messages, tally, port, random.Random(seed)
        self.loop = asyncio.get_running_loop()
        self.ended = self.loop.create_future()
        self.index = None  # of the request that is not answered yet

    async def connect(self):
        await self.loop.create_connection(lambda: self, "127.0.0.1", self.port)

    def connection_made(self, transport):
        self.transport, self.got, self.length = transport, b"", None

    def ask(self):
        self.asked = time.monotonic()
        if self.asked >= self.tally.end:
            self.index = None
            self.transport.close()
            return
        self.index = self.choice.randrange(len(self.messages))
        self.transport.write(self.messages[self.index])

    def data_received(self, data):
        self.got += data
        if self.length is None and not self.read_head():
            return
        if len(self.got) < self.start + self.length:
            return
        body, self.got, self.length = self.got[self.start:], b"", None
        if self.status == "200":
            self.tally.answer(self.index, self.asked, time.monotonic(), body)
        else:
            self.tally.errors[f"status {self.status}"] += 1
        self.ask()

    def read_head(self):
        """Whether all of it is there, and says how long the body is."""
        head = self.got.find(b"\r\n\r\n")
        if head < 0:
            return False
        found = re.search(rb"\r\ncontent-length: *(\d+)", self.got[:head], re.I)
        if not found:
            self.transport.close()  # What follows cannot be told apart.
            return False
        self.status, self.start, self.length = self.got[9:12].decode(), head + 4, int(found.group(1))
        return True

    def connection_lost(self, _):
        if self.index is None:
            self.ended.set_result(None)
            return
        self.tally.errors["connection lost"] += 1
        self.index = None
        self.loop.call_later(0.05, lambda: self.loop.create_task(self.connect_again()))

    async def connect_again(self):
        try:
            await self.connect()
        except OSError:
            self.tally.errors["no connection"] += 1
            self.ended.set_result(None)
        else:
            self.ask()


def message(body):
    return (b"POST /embed HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/octet-stream\r\n"
            b"Content-Length: %d\r\n\r\n" % len(body)) + body


async def drive(options, work, numbers, ports, pipe):
    """Clients of those numbers, from when the other end of the pipe says to when it says."""
    messages, tally = [message(body) for body in work[0]], Tally(options, work[1])
    clients = [Client(messages, tally, ports[number % len(ports)], options.seed + number) for number in numbers]
    for client in clients:
        await client.connect()
    pipe.send({})
    tally.begin, tally.end = await asyncio.get_running_loop().run_in_executor(None, pipe.recv)
    for client in clients:
        client.ask()
    await asyncio.wait([client.ended for client in clients], timeout=tally.end - time.monotonic() + PATIENCE_S)
    late = sum(not client.ended.done() for client in clients)
    if late:
        tally.errors[f"no answer in {PATIENCE_S} s"] += late
    pipe.send([tally.told()])


def client_process(options, work, numbers, ports, pipe):
    if importlib.util.find_spec("uvloop"):
        import uvloop
        uvloop.run(drive(options, work, numbers, ports, pipe))
    else:
        asyncio.run(drive(options, work, numbers, ports, pipe))
