# SPDX-License-Identifier: BSD-3-Clause
"""Requests of many threads or coroutines, run as batches: libleat_batch (batch/leat/batch.h) for Python."""
from __future__ import annotations

import asyncio
import atexit
import contextlib
import ctypes
import itertools
import math
import operator
import threading
import weakref
from typing import Any, Callable, Sequence

from ._backend import Error, LeatError, library_path
from ._tensor import Tensor, array_of, describe

_INTERNAL, _TIMEOUT = 12, 5
_MESSAGE_MAX = 1000
_SECONDS_MAX = (1 << 63) / 1e9 - 1
_DRAIN, _FAIL = 0, 1


class _Call(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("worker", ctypes.c_uint32), ("input_count", ctypes.c_uint32),
                ("output_count", ctypes.c_uint32), ("request_count", ctypes.c_uint32), ("reserved", ctypes.c_uint32),
                ("rows", ctypes.c_int64), ("inputs", ctypes.POINTER(ctypes.POINTER(Tensor))),
                ("outputs", ctypes.POINTER(Tensor)), ("owner", ctypes.c_void_p)]


_RUN = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.POINTER(_Call), ctypes.POINTER(Error))
_RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)


class _Config(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("workers", ctypes.c_uint32), ("input_count", ctypes.c_uint32),
                ("output_count", ctypes.c_uint32), ("capacity", ctypes.c_uint32), ("pad_count", ctypes.c_uint32),
                ("follow_count", ctypes.c_uint32), ("reserved", ctypes.c_uint32), ("max_rows", ctypes.c_int64),
                ("row_multiple", ctypes.c_int64), ("max_delay_ns", ctypes.c_int64), ("max_bytes", ctypes.c_int64),
                ("pads", ctypes.c_void_p), ("follows", ctypes.c_void_p), ("run", _RUN), ("release", _RELEASE),
                ("user", ctypes.c_void_p)]


def _library() -> ctypes.CDLL:
    library = ctypes.CDLL(library_path("libleat_batch.so"))
    pointer, number, nanoseconds = ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int64
    error, out = ctypes.POINTER(Error), ctypes.POINTER(ctypes.c_void_p)
    tensors = ctypes.POINTER(ctypes.POINTER(Tensor))
    for name, *arguments in (
            ("queue_create", ctypes.POINTER(_Config), out, error), ("queue_shutdown", pointer, number, error),
            ("queue_destroy", pointer, number, error),
            ("submit", pointer, number, tensors, nanoseconds, out, error), ("wait", pointer, nanoseconds, error),
            ("cancel", pointer, error), ("outputs", pointer, number, ctypes.POINTER(Tensor), error),
            ("release", pointer, error)):
        getattr(library, "leat_batch_" + name).argtypes = arguments
    return library


def _check(code: int, error: Error) -> None:
    if code:
        message = error.message.decode(errors="replace")
        raise TimeoutError(message) if code == _TIMEOUT else LeatError(message)


def _new_error() -> Error:
    return Error(struct_size=ctypes.sizeof(Error))


def _nanoseconds(seconds: float | None) -> int:
    """As the C functions have it; what is longer than they can say is as long as it takes."""
    if seconds is not None and not seconds > -math.inf:
        raise LeatError("a number of seconds is NaN or minus infinity")
    return -1 if seconds is None or seconds > _SECONDS_MAX else round(max(0.0, seconds) * 1e9)


def _count(name: str, value: int, most: int = (1 << 32) - 1) -> int:
    """A number that its field holds; ctypes would cut off what it does not."""
    if not 0 <= operator.index(value) <= most:
        raise LeatError(f"{name} is {value}; allowed: a whole number from 0 to {most}")
    return value


def _text(cause: BaseException) -> bytes:
    """Kind and text of what a function raised, whose own text may fail in turn."""
    kind = type(cause).__name__
    try:
        text = f"{kind}: {cause}"
    except BaseException as second:
        text = f"{kind}, whose text cannot be had ({type(second).__name__})"
    return text.encode(errors="replace")


def _runner(run: Callable[[list[Any]], Sequence[Any]], alive: dict[int, Any]) -> Callable[..., int]:
    """A function of the C ABI that runs a batch. Its outputs live in `alive` until the queue has copied them."""
    owners = itertools.count(1)

    def run_batch(_: Any, call: Any, error: Any) -> int:
        try:
            batch = call.contents
            got = run([array_of(batch.inputs[i].contents) for i in range(batch.input_count)])
            import numpy as np
            arrays = [np.asarray(array, order="C") for array in got]
            if len(arrays) != batch.output_count:
                raise LeatError(f"the function gave {len(arrays)} outputs, and the queue has {batch.output_count}")
            owner = next(owners)
            alive[owner] = [describe(array, batch.outputs[i]) for i, array in enumerate(arrays)]
            batch.owner = owner
            return 0
        except BaseException as cause:  # Nothing may pass through the C code that calls this.
            if error:
                error.contents.message = _text(cause)[:_MESSAGE_MAX]
            return _INTERNAL
    return run_batch


def _check_rows(puts: Sequence[tuple[str, Any]], max_rows: int, batch_first: bool) -> None:
    """Raises LeatError unless axis 0 of all inputs and outputs of a model is the batch."""
    batch: Any = None
    for kind, put in puts:
        where = f"of {kind} '{put.name}', [{', '.join(map(str, put.shape))}],"
        first, *others = put.shape or [None]
        if isinstance(first, int) and first != max_rows:
            raise LeatError(f"axis 0 {where} has size {first}; batches of up to {max_rows} rows need a dynamic one")
        if batch_first:
            continue
        named = isinstance(first, str) and "batch" in first.lower()
        for axis, name in enumerate(others, 1):
            if isinstance(name, str) and (name == first if named else "batch" in name.lower()):
                raise LeatError(f"axis {axis} {where} is '{name}'; batches are made along axis 0, whose rows must not "
                                "depend on each other. batch_first=True says that this holds all the same")
        batch = batch or first
        if not named or first != batch:
            raise LeatError(f"axis 0 {where} is not declared to be the batch" +
                            (f", as '{batch}' is elsewhere" if first != batch else "") +
                            "; were it another axis, rows would be wrong without an error. batch_first=True says that "
                            "axis 0 of all inputs and outputs is the batch")


def _destroy(library: ctypes.CDLL, handle: ctypes.c_void_p, functions: Any) -> None:
    """Ends a queue that nobody has any more. The functions are handed in so that they live until then."""
    def end(_: Any) -> int:
        code: int = library.leat_batch_queue_destroy(handle, _FAIL, None)
        return code

    if end(functions):
        # Garbage may be collected inside of the queue's own function, where a queue cannot end. The process waits for
        # this thread, as it does for a batch that runs.
        threading.Thread(target=end, args=(functions,)).start()


class Request:
    """A request that was submitted. Dropping it withdraws it, if it does not run yet."""

    def __init__(self, library: ctypes.CDLL, handle: ctypes.c_void_p, outputs: int) -> None:
        self._library, self._handle, self._outputs = library, handle, outputs
        self._end = weakref.finalize(self, library.leat_batch_release, handle, None)
        # What is left at the end of the process goes with it.
        self._end.atexit = False

    def result(self, timeout: float | None = None) -> list[Any]:
        """Waits for the request and gives its own rows of each output, as arrays that belong to the caller.

        timeout: seconds; None: as long as it takes.

        Raises TimeoutError: it has not ended; LeatError: it was cancelled, the queue was closed, or the function that
        runs batches raised something, whose text is in the message.
        """
        error = _new_error()
        _check(self._library.leat_batch_wait(self._handle, _nanoseconds(timeout), ctypes.byref(error)), error)
        tensors = (Tensor * self._outputs)()
        _check(self._library.leat_batch_outputs(self._handle, self._outputs, tensors, ctypes.byref(error)), error)
        return [array_of(tensor).copy() for tensor in tensors]

    def cancel(self) -> bool:
        """Withdraws the request. False: too late, its batch runs or has ended."""
        code: int = self._library.leat_batch_cancel(self._handle, None)
        return code == 0


class BatchQueue:
    """Turns single requests of many threads into batches.

    run: called with a list of arrays, one for each input, in which the requests' rows (indices of axis 0) lie one
    behind the other; returns one array for each output, with as many rows. It is called by threads of the queue, by as
    many at once as there are workers, and must not keep what it was given.
    inputs, outputs: how many a request has.
    max_rows: rows of a batch at most, and of a request.
    max_delay: seconds that a request waits for others; None: until the batch is full.
    workers: batches that run at once; 1: strictly in the order of requests.
    capacity: requests that may wait for a worker; more are refused or wait for room, see submit().

    Requests go together whose inputs have the same types and sizes, but for axis 0. The queue cannot see whether axis 0
    is the batch of what run does with it: where it is another axis, requests get wrong rows without an error.

    Any thread may use a queue. Close it, or use it in a with statement: closing runs what waits already.

    Raises LeatError: an argument is out of its range, or no more threads can be made.
    """

    def __init__(self, run: Callable[[list[Any]], Sequence[Any]], inputs: int, outputs: int, *, max_rows: int,
                 max_delay: float | None = 0.002, workers: int = 1, capacity: int = 1024) -> None:
        self._library = _library()
        self._inputs, self._outputs = inputs, outputs
        alive: dict[int, Any] = {}
        functions = _RUN(_runner(run, alive)), _RELEASE(lambda _, owner: alive.pop(owner, None))
        config = _Config(struct_size=ctypes.sizeof(_Config), workers=_count("workers", workers),
                         input_count=_count("inputs", inputs), output_count=_count("outputs", outputs),
                         capacity=_count("capacity", capacity), row_multiple=1, run=functions[0],
                         max_rows=_count("max_rows", max_rows, (1 << 63) - 1),
                         max_delay_ns=_nanoseconds(max_delay), release=functions[1])
        error, handle = _new_error(), ctypes.c_void_p()
        _check(self._library.leat_batch_queue_create(ctypes.byref(config), ctypes.byref(handle), ctypes.byref(error)),
               error)
        self._handle = handle
        # The functions live until the workers are gone.
        weakref.finalize(self, _destroy, self._library, handle, functions).atexit = False
        _queues.add(self)

    @classmethod
    def for_session(cls, session: Any, *, max_rows: int, batch_first: bool = False, **options: Any) -> BatchQueue:
        """A queue that runs an InferenceSession, whose inputs and outputs all have the batch as axis 0.

        batch_first: True: axis 0 is the batch, as the caller has made sure of, whatever the model calls it; False: the
        model must say so, by one name with "batch" in it that every input and output has there and nowhere else.
        max_rows, options: as of the class.

        Raises LeatError: the model declares something else on axis 0, or nothing that tells. Rows of a model that has
        another axis 0 (such as [time, batch, features]), or that mixes rows, would be wrong without any other error:
        `leat-run MODEL --threads 8 --batch 8` compares them with what each request gives alone.
        """
        puts = [("input", put) for put in session.get_inputs()] + [("output", put) for put in session.get_outputs()]
        _check_rows(puts, max_rows, batch_first)
        names = [put.name for put in session.get_inputs()]

        def run(arrays: list[Any]) -> Sequence[Any]:
            outputs: Sequence[Any] = session.run(None, dict(zip(names, arrays)))
            return outputs
        return cls(run, len(names), len(session.get_outputs()), max_rows=max_rows, **options)

    def submit(self, *inputs: Any, timeout: float | None = None) -> Request:
        """Submits a request, whose arrays are copied, and does not wait for its result.

        timeout: seconds to wait for room where the queue is full; None: as long as it takes; 0: not at all.

        Raises TimeoutError: there was no room in time; LeatError: there is none and the timeout was 0, the queue is
        closed, or the arrays do not fit.
        """
        import numpy as np
        arrays = [np.asarray(array, order="C") for array in inputs]
        tensors = (Tensor * max(1, len(arrays)))()
        kept = [describe(array, tensor) for array, tensor in zip(arrays, tensors)]
        pointers = (ctypes.POINTER(Tensor) * max(1, len(arrays)))(*map(ctypes.pointer, tensors[:len(arrays)]))
        error, handle = _new_error(), ctypes.c_void_p()
        _check(self._library.leat_batch_submit(self._handle, len(kept), pointers, _nanoseconds(timeout),
                                               ctypes.byref(handle), ctypes.byref(error)), error)
        return Request(self._library, handle, self._outputs)

    def run(self, *inputs: Any) -> list[Any]:
        """Submits a request and waits for its result: submit() and Request.result() without timeouts."""
        return self.submit(*inputs).result()

    async def run_async(self, *inputs: Any) -> list[Any]:
        """As run(), for coroutines, each of which waits in a thread of its own that sleeps."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[list[Any]] = loop.create_future()

        def finish(result: list[Any] | None, error: Exception | None) -> None:
            if future.cancelled():
                return
            if error:
                future.set_exception(error)
            else:
                future.set_result(result or [])

        def wait() -> None:
            result, error = None, None
            try:
                result = self.run(*inputs)
            except Exception as cause:
                error = cause
            # A loop that has ended has nobody who waits.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(finish, result, error)

        # No thread of an executor: the end of the process would wait for it.
        threading.Thread(target=wait, daemon=True).start()
        return await future

    def close(self) -> None:
        """Runs what waits already, and lets nothing in that comes later. A second call does nothing.

        Raises LeatError: called from the function that runs batches.
        """
        error = _new_error()
        _check(self._library.leat_batch_queue_shutdown(self._handle, _DRAIN, ctypes.byref(error)), error)

    def __enter__(self) -> BatchQueue:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _end_all() -> None:
    """Before the process ends: threads of a queue must not call Python then. Nobody waits for results any more."""
    for queue in list(_queues):
        queue._library.leat_batch_queue_shutdown(queue._handle, _FAIL, None)


_queues: weakref.WeakSet[BatchQueue] = weakref.WeakSet()
atexit.register(_end_all)
