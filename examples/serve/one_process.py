#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A server in one process: FastAPI takes requests, and a BatchQueue runs those that come together as one batch.

    POST /classify   an image to classify, see digits.py
    GET /health      200: it serves; 503: it drains, or the last batch failed; the body says which

What a client can get instead of an answer: 400 and 413 with a text that says what is wrong with the request, 408 where
its body does not come, 503 with Retry-After where as many requests wait as may, 500 where the model could not be run,
and 504 where that took too long.

SIGTERM drains: /health says 503, and answers close their connections, for --notice seconds, in which balancers and
clients go elsewhere; then nothing new is let in, what is there is answered, and the process ends with status 0. More
signals change nothing. Requests that a client does not wait for are run all the same.
"""
import argparse
import asyncio
import logging
import socket
import time

import fastapi
import numpy as np
import onnxruntime_ep_leat as leat
import uvicorn

import command_line
import digits

log = logging.getLogger("uvicorn.error")


class Service:
    """What serves requests. All but the queue is used by the event loop's thread alone."""

    def __init__(self, queue, capacity, deadline):
        self.queue, self.capacity, self.deadline = queue, capacity, deadline
        self.waiting = self.answered = self.refused = 0
        self.failure = None
        self.draining = False

    def reply(self, status, content, headers=None):
        headers = dict(headers or {})
        if self.draining:
            headers["Connection"] = "close"
        return fastapi.responses.JSONResponse(content, status, headers)

    def health(self):
        trouble = "draining" if self.draining else self.failure
        counts = {"waiting": self.waiting, "answered": self.answered, "refused": self.refused}
        return self.reply(503 if trouble else 200, {"status": trouble or "ok", **counts})

    async def classify(self, request):
        try:
            image = await digits.image_of_request(request, self.deadline)
        except digits.BadRequest as error:
            return self.reply(error.status, {"error": str(error)})
        if self.waiting >= self.capacity:
            self.refused += 1
            return self.reply(503, {"error": f"{self.waiting} requests wait already"}, {"Retry-After": "1"})
        self.waiting += 1
        run = asyncio.ensure_future(self.queue.run_async(image))
        run.add_done_callback(self.ended)
        try:
            # A request that takes too long goes on, and counts until it ends: a device that hangs fills the queue.
            async with asyncio.timeout(self.deadline):
                scores, = await asyncio.shield(run)
        except TimeoutError:
            self.failure = f"a request took longer than {self.deadline:g} s"
            return self.reply(504, {"error": self.failure})
        except leat.LeatError:
            return self.reply(500, {"error": "the model could not be run"})
        self.answered += 1
        return self.reply(200, digits.answer_of(scores[0]))

    def ended(self, run):
        self.waiting -= 1
        error = None if run.cancelled() else run.exception()
        self.failure = f"the last batch failed: {error}" if error else None
        if error:
            log.error("%s", self.failure)


class Server(uvicorn.Server):
    """uvicorn's, which closes its port at the first signal, with a notice before that."""

    def __init__(self, config, service, notice):
        super().__init__(config)
        self.service, self.notice, self.ends = service, notice, None

    def handle_exit(self, sig, frame):
        if self.ends is None:
            self.ends = time.monotonic() + self.notice
            self.service.draining = True

    async def on_tick(self, counter):
        if self.ends is not None and time.monotonic() >= self.ends:
            self.should_exit = True
        return await super().on_tick(counter)


def listen_on(host, port):
    try:
        listening = socket.create_server((host, port), backlog=1024)
    except OSError as error:
        raise SystemExit(f"{host}, port {port}, cannot be listened on: {error}") from None
    # An answer is sent in two parts, the second of which must not wait until the client has acknowledged the first.
    # asyncio sees to that only for sockets that it makes; connections have it from the one that listens.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def application(service):
    app = fastapi.FastAPI(title="Digits", openapi_url=None)

    @app.post("/classify")
    async def classify(request: fastapi.Request):
        return await service.classify(request)

    @app.get("/health")
    async def health():
        return service.health()

    return app


def read_options(arguments=None):
    """The options of a command line, which is that of the process if none is given."""
    whole, seconds = command_line.whole, command_line.seconds
    parser = argparse.ArgumentParser(description="Classifies images of digits, by HTTP.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=whole(0, 65535), default=8000, help="0: any that is free; it is printed")
    parser.add_argument("--device", help="index, UUID or part of the name (LEAT_VULKAN_DEVICE, else the best one)")
    parser.add_argument("--max-rows", type=whole(1, 4096), default=32, help="requests of a batch at most")
    parser.add_argument("--max-delay", type=seconds(), default=0.002, help="seconds that a request waits for others")
    parser.add_argument("--workers", type=whole(1, 64), default=2, help="batches that run at once")
    parser.add_argument("--capacity", type=whole(1, 1_000_000), default=256,
                        help="requests that may wait; more get 503")
    parser.add_argument("--deadline", type=seconds(0.001), default=10, help="seconds that a request may take")
    parser.add_argument("--notice", type=seconds(), default=1,
                        help="seconds from SIGTERM until nothing new is let in")
    return parser.parse_args(arguments)


def main():
    options = read_options()
    try:
        session = digits.open_session(options.device)
    except digits.NoDevice as error:
        raise SystemExit(str(error)) from None
    # The service counts what waits, so the queue has room for all that it lets in.
    with leat.BatchQueue.for_session(session, max_rows=options.max_rows, max_delay=options.max_delay,
                                     workers=options.workers, capacity=options.capacity) as queue:
        # The first run compiles kernels, for which no client shall wait. A full batch waits for no other request.
        queue.run(np.zeros((options.max_rows, 1, digits.SIDE, digits.SIDE), np.float32))
        service = Service(queue, options.capacity, options.deadline)
        config = uvicorn.Config(application(service), lifespan="off", access_log=False, log_level="info",
                                timeout_graceful_shutdown=round(options.deadline) + 1)
        with listen_on(options.host, options.port) as listening:
            host, port = listening.getsockname()[:2]
            print(f"serving http://{host}:{port}", flush=True)
            Server(config, service, options.notice).run(sockets=[listening])
    print(f"{service.answered} requests answered, {service.refused} refused", flush=True)


if __name__ == "__main__":
    main()
