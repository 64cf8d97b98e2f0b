# SPDX-License-Identifier: BSD-3-Clause
"""The server of serving.py: a session of one of the providers, and how it is asked, by HTTP and without."""
import asyncio
import collections
import concurrent.futures
import contextlib
import functools
import os
import platform
import random
import socket
import sys
import threading
import time

import numpy as np

from serving_load import Tally

PROVIDERS = ("leat", "cuda", "cpu")
TYPES = {"tensor(int64)": np.int64, "tensor(int32)": np.int32, "tensor(float)": np.float32,
         "tensor(float16)": np.float16}


class Failed(Exception):
    """What cannot be measured, or asked for; the text says why."""


# ---- Sessions ----------------------------------------------------------------------------------------------------


def settings_of(options, rows, servers):
    """What every provider's session is opened with, where there are so many servers. An axis of rows that stays at one
    is told, as other sizes are, so that what follows from it is computed once."""
    import onnxruntime as ort
    settings = ort.SessionOptions()
    settings.log_severity_level = 3
    settings.intra_op_num_threads = max(1, len(os.sched_getaffinity(0)) // servers)
    for name, size in options.size.items():
        settings.add_free_dimension_override_by_name(name, size)
    if rows == 1 and options.row_axis:
        settings.add_free_dimension_override_by_name(options.row_axis, 1)
    return settings


def open_session(options, provider, number, settings):
    """A session of a provider on the GPU of that number, and what the device is called."""
    import onnxruntime as ort
    if provider == "cpu":
        return ort.InferenceSession(options.model, settings, providers=["CPUExecutionProvider"]), platform.machine()
    if provider == "cuda":
        name = "CUDAExecutionProvider"
        if name not in ort.get_available_providers():
            raise Failed(f"this onnxruntime has no {name}; it has {', '.join(ort.get_available_providers())}")
        with contextlib.redirect_stdout(sys.stderr):  # It prints what it does not find.
            ort.preload_dlls()
        chosen = (name, {"device_id": str(number), "use_tf32": "0"})
        session = ort.InferenceSession(options.model, settings, providers=[chosen])
        called = f"CUDA device {number}"
    else:
        name = "LeatExecutionProvider"
        device = leat_device(options.library, number)
        settings.add_provider_for_devices([device], {})
        session = ort.InferenceSession(options.model, settings)
        called = f"{device.ep_metadata['leat_device_index']}: {device.ep_metadata['leat_device_name']}"
    # ONNX Runtime goes on with the CPU where a provider cannot be had.
    if name not in session.get_providers():
        raise Failed(f"the session has no {name}, but {', '.join(session.get_providers())}")
    return session, called


def leat_device(library, number):
    """The GPU of that number among those that Leat finds, or the software device where there is nothing else."""
    import onnxruntime as ort
    ort.register_execution_provider_library("leat", os.path.abspath(library))
    found = sorted((device for device in ort.get_ep_devices() if device.ep_name == "LeatExecutionProvider"),
                   key=lambda device: int(device.ep_metadata["leat_device_index"]))
    found = [device for device in found if device.ep_metadata["leat_software"] == "0"] or found
    if number >= len(found):
        raise Failed(f"there is no device {number} for Leat, which finds {len(found)}; leat-info says why")
    return found[number]


def inputs_of(session, sizes):
    """Name, type and shape for one row of each input, and the name of the axis of rows, if the model leaves it open."""
    found, axes = [], set()
    for put in session.get_inputs():
        if put.type not in TYPES:
            raise Failed(f"input {put.name} is a {put.type}; allowed: {', '.join(TYPES)}")
        shape = []
        for axis, size in enumerate(put.shape):
            if not isinstance(size, int) and size in sizes:
                size = sizes[size]
            elif not isinstance(size, int) and axis == 0:
                axes.add(size)
                size = 1
            elif not isinstance(size, int):
                raise Failed(f"axis {axis} of input {put.name} has no size; give it: --size {size}=N")
            shape.append(size)
        found.append((put.name, TYPES[put.type], shape))
    if len(axes) > 1:
        raise Failed(f"the first axes are {', '.join(sorted(map(str, axes)))}; one name may stand for rows, the others "
                     "want a --size")
    return found, axes.pop() if axes else None


class Model:
    """A session as it is served: bodies of requests in, bodies of answers out. Any thread may use it."""

    def __init__(self, session, inputs):
        self.session, self.inputs = session, inputs
        self.lengths = [int(np.prod(shape)) * np.dtype(kind).itemsize for _, kind, shape in inputs]
        self.body_length = sum(self.lengths)

    def answers(self, bodies):
        feeds, start = {}, 0
        for (name, kind, shape), length in zip(self.inputs, self.lengths):
            parts = [np.frombuffer(body[start:start + length], kind).reshape(shape) for body in bodies]
            feeds[name] = parts[0] if len(parts) == 1 else np.concatenate(parts)
            start += length
        output = np.asarray(self.session.run(None, feeds)[0], np.float32)
        if output.ndim == 3:
            output = output.mean(axis=1)
        if len(bodies) == 1:
            return [output.tobytes()]
        if output.shape[:1] != (len(bodies),):
            raise Failed(f"the first output is {list(output.shape)} for {len(bodies)} requests")
        return [row.tobytes() for row in output]


def draw_requests(options, inputs):
    draw = np.random.default_rng(options.seed)
    bodies = []
    for _ in range(options.requests):
        parts = []
        for name, kind, shape in inputs:
            if "mask" in name:
                parts.append(np.ones(shape, kind))
            elif np.issubdtype(kind, np.integer):
                parts.append(draw.integers(0, options.below, shape).astype(kind))
            else:
                parts.append(draw.standard_normal(shape, np.float32).astype(kind))
        bodies.append(b"".join(part.tobytes() for part in parts))
    return bodies


def prepare(options):
    """The requests, and what the CPU provider answers. Sets options.inputs and options.row_axis."""
    options.row_axis = None
    try:
        session, _ = open_session(options, "cpu", 0, settings_of(options, 1, 1))
        options.inputs, options.row_axis = inputs_of(session, options.size)
        requests, model = draw_requests(options, options.inputs), Model(session, options.inputs)
        answers = [model.answers([body])[0] for body in requests]
    except Exception as error:  # ONNX Runtime's own kinds of error have no common base.
        raise Failed(f"{options.model}: {error}") from None
    if max(options.batch) > 1 and not options.row_axis:
        raise Failed(f"{options.model}: it says how long the first axes are, so it takes no batches")
    return requests, answers


# ---- By HTTP, and without ----------------------------------------------------------------------------------------


class Collector:
    """Requests that wait for one of the threads, each of which takes up to `rows` of them when it becomes free. Used by
    the event loop's thread alone."""

    def __init__(self, model, threads, rows):
        self.model, self.free, self.rows = model, threads, rows
        self.pool = concurrent.futures.ThreadPoolExecutor(threads)
        self.waiting = collections.deque()
        self.batches = self.answered = 0

    async def run(self, body):
        future = asyncio.get_running_loop().create_future()
        self.waiting.append((body, future))
        self.start()
        return await future

    def start(self):
        while self.waiting and self.free:
            taken = [self.waiting.popleft() for _ in range(min(self.rows, len(self.waiting)))]
            self.free -= 1
            run = asyncio.get_running_loop().run_in_executor(self.pool, self.model.answers, [body for body, _ in taken])
            run.add_done_callback(functools.partial(self.finish, taken))

    def finish(self, taken, run):
        self.free += 1
        self.batches += 1
        self.answered += len(taken)
        error = run.exception()
        for number, (_, future) in enumerate(taken):
            if future.done():  # The client is gone.
                continue
            if error:
                future.set_exception(error)
            else:
                future.set_result(run.result()[number])
        self.start()


def serve(model, row, pipe, told):
    """Serves until the other end of the pipe says something."""
    import uvicorn
    from starlette.applications import Starlette
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route
    collector = Collector(model, row["threads"], row["batch"])

    async def embed(request):
        body = await request.body()
        if len(body) != model.body_length:
            return JSONResponse({"error": f"a body has {model.body_length} bytes, not {len(body)}"}, 400)
        return Response(await collector.run(body), media_type="application/octet-stream")

    async def batches(_):
        return JSONResponse([collector.answered, collector.batches])

    app = Starlette(routes=[Route("/embed", embed, methods=["POST"]), Route("/batches", batches)])
    server = uvicorn.Server(uvicorn.Config(app, lifespan="off", access_log=False, log_level="warning"))

    def end():
        with contextlib.suppress(EOFError):
            pipe.recv()
        server.should_exit = True

    with socket.create_server(("127.0.0.1", 0), backlog=1024) as listening:
        # Connections have it from here; asyncio sees to it only for sockets that it makes.
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=end, daemon=True).start()
        pipe.send({**told, "port": listening.getsockname()[1]})
        server.run(sockets=[listening])


def run_directly(options, model, row, work, pipe, told):
    """The server's threads, each asking for one batch after the other."""
    requests, wanted = work
    tallies = [Tally(options, wanted) for _ in range(row["threads"])]

    def ask(tally, choice):
        now = time.monotonic()
        while now < tally.end:
            asked, taken = now, [choice.randrange(len(requests)) for _ in range(row["batch"])]
            answers = model.answers([requests[index] for index in taken])
            now = time.monotonic()
            for index, body in zip(taken, answers):
                tally.answer(index, asked, now, body)

    pipe.send(told)
    begin, end = pipe.recv()
    with concurrent.futures.ThreadPoolExecutor(row["threads"]) as team:
        runs = []
        for number, tally in enumerate(tallies):
            tally.begin, tally.end = begin, end
            runs.append(team.submit(ask, tally, random.Random(options.seed + number)))
    for run in runs:
        run.result()
    pipe.send([tally.told() for tally in tallies])


def server_process(options, row, index, work, pipe):
    session, device = open_session(options, row["provider"], index % row["gpus"],
                                   settings_of(options, row["batch"], row["gpus"] * row["processes"]))
    model = Model(session, options.inputs)
    # Every number of rows that a batch can have is run before anybody waits for it.
    for rows in range(1, row["batch"] + 1):
        for _ in range(3):
            model.answers([work[0][number % len(work[0])] for number in range(rows)])
    if row["way"] == "http":
        serve(model, row, pipe, {"device": device})
    else:
        run_directly(options, model, row, work, pipe, {"device": device})
