# SPDX-License-Identifier: BSD-3-Clause
"""BatchQueue, which needs no ONNX Runtime and no device."""
import asyncio
import gc
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

import onnxruntime_ep_leat as leat

np = pytest.importorskip("numpy")


def double(arrays):
    return [array * 2 for array in arrays]


def test_each_thread_gets_its_own_rows():
    sizes = []

    def run(arrays):
        sizes.append(len(arrays[0]))
        return [arrays[0] + arrays[1], arrays[0].sum(axis=1)]

    def ask(number):
        rows = np.full((1 + number % 3, 4), number, np.float32)
        added, summed = queue.run(rows, np.ones_like(rows))
        return np.array_equal(added, rows + 1) and np.array_equal(summed, rows.sum(axis=1))

    with leat.BatchQueue(run, 2, 2, max_rows=16, max_delay=0.01) as queue, ThreadPoolExecutor(8) as pool:
        assert all(pool.map(ask, range(64)))
    assert sum(sizes) == sum(1 + number % 3 for number in range(64)) and max(sizes) > 3


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int64", "int8", "uint8", "bool"])
def test_types_layouts_and_sizes(dtype):
    with leat.BatchQueue(lambda arrays: arrays, 1, 1, max_rows=8, max_delay=0) as queue:
        for array in (np.arange(24).reshape(2, 3, 4).astype(dtype), np.arange(24).reshape(4, 6).astype(dtype).T,
                      np.zeros((0, 3), dtype), np.zeros((2, 0), dtype)):
            got, = queue.run(array)
            assert got.dtype == array.dtype and np.array_equal(got, array)
            assert got.flags.owndata or got.base.flags.owndata


def test_coroutines():
    async def ask(queue):
        return await asyncio.gather(*(queue.run_async(np.full((1, 2), number)) for number in range(32)))

    with leat.BatchQueue(double, 1, 1, max_rows=8) as queue:
        told = asyncio.run(ask(queue))
    assert [int(got[0, 0]) for got, in told] == [2 * number for number in range(32)]


def test_a_function_that_raises_fails_its_batch_alone():
    def run(arrays):
        if arrays[0][0] < 0:
            raise ValueError("no negative numbers")
        return arrays

    with leat.BatchQueue(run, 1, 1, max_rows=1) as queue:
        good, bad, other = (queue.submit(np.array([number])) for number in (1, -1, 2))
        assert good.result()[0] == [1] and other.result()[0] == [2]
        with pytest.raises(leat.LeatError, match="ValueError: no negative numbers"):
            bad.result()


@pytest.mark.parametrize("raised", [RuntimeError, KeyboardInterrupt])
def test_what_has_no_text_is_told_by_its_kind(raised):
    class Mute(Exception):
        def __str__(self):
            raise raised

    def run(arrays):
        raise Mute

    with leat.BatchQueue(run, 1, 1, max_rows=1) as queue, pytest.raises(leat.LeatError, match="Mute, whose text"):
        queue.run(np.zeros(1))


@pytest.mark.parametrize("text", ["\ud800", "\u20ac" * 1000])
def test_any_text_is_told(text):
    def run(arrays):
        raise ValueError(text)

    with leat.BatchQueue(run, 1, 1, max_rows=1) as queue, pytest.raises(leat.LeatError, match="^ValueError: ."):
        queue.run(np.zeros(1))


def test_outputs_of_a_wrong_number_or_size_are_told():
    with leat.BatchQueue(lambda arrays: arrays * 2, 1, 1, max_rows=4) as queue:
        with pytest.raises(leat.LeatError, match="the function gave 2 outputs, and the queue has 1"):
            queue.run(np.zeros(2))
    with leat.BatchQueue(lambda arrays: [arrays[0][1:]], 1, 1, max_rows=4) as queue:
        with pytest.raises(leat.LeatError, match="rows"):
            queue.run(np.zeros(2))


def test_a_full_queue_refuses_or_waits_and_requests_can_be_withdrawn():
    go, inside = threading.Event(), threading.Event()

    def run(arrays):
        inside.set()
        go.wait()
        return arrays

    with leat.BatchQueue(run, 1, 1, max_rows=1, capacity=1) as queue:
        one = np.zeros(1)
        first = queue.submit(one)
        inside.wait()
        second = queue.submit(one)
        with pytest.raises(leat.LeatError):
            queue.submit(one, timeout=0)
        with pytest.raises(TimeoutError):
            queue.submit(one, timeout=0.01)
        with pytest.raises(TimeoutError):
            first.result(timeout=0.01)
        assert second.cancel() and not first.cancel()
        with pytest.raises(leat.LeatError):
            second.result()
        go.set()
        assert first.result()[0] == [0]


def test_a_closed_queue_has_run_what_waited():
    queue = leat.BatchQueue(double, 1, 1, max_rows=8, max_delay=None)
    waiting = [queue.submit(np.array([number])) for number in range(3)]
    queue.close()
    queue.close()
    assert [int(request.result()[0][0]) for request in waiting] == [0, 2, 4]
    with pytest.raises(leat.LeatError):
        queue.run(np.zeros(1))


def test_bad_arguments_are_told():
    with pytest.raises(leat.LeatError, match="max_rows"):
        leat.BatchQueue(double, 1, 1, max_rows=0)
    # Numbers that would be others if their upper bits were cut off.
    for name, number in (("workers", 1 << 32 | 1), ("capacity", -1), ("max_rows", 1 << 64 | 1)):
        with pytest.raises(leat.LeatError, match=f"{name} is"):
            leat.BatchQueue(double, 1, 1, **{"max_rows": 1, name: number})
    for inputs, outputs in ((1 << 32 | 1, 1), (1, 1 << 32 | 1)):
        with pytest.raises(leat.LeatError, match="puts is"):
            leat.BatchQueue(double, inputs, outputs, max_rows=1)
    with pytest.raises(leat.LeatError, match="NaN"):
        leat.BatchQueue(double, 1, 1, max_rows=1, max_delay=float("nan"))
    with pytest.raises(leat.LeatError, match="minus infinity"):
        leat.BatchQueue(double, 1, 1, max_rows=1, max_delay=float("-inf"))
    with leat.BatchQueue(double, 1, 1, max_rows=1, max_delay=-1e300) as queue:  # As 0.
        with pytest.raises(leat.LeatError, match="minus infinity"):
            queue.submit(np.ones(1), timeout=float("-inf"))
        request = queue.submit(np.ones(1), timeout=float("inf"))
        with pytest.raises(leat.LeatError, match="NaN"):
            request.result(float("nan"))
        assert request.result(float("inf"))[0] == 2 and request.result(1e300)[0] == 2
    with leat.BatchQueue(double, 2, 2, max_rows=4) as queue:
        for inputs in ([np.zeros(1)], [np.zeros(1), np.zeros(2)], [np.zeros(5), np.zeros(5)], [np.array(1)] * 2,
                       [np.array(["text"]), np.array(["text"])]):
            with pytest.raises(leat.LeatError):
                queue.run(*inputs)


def test_a_queue_that_is_dropped_leaves_nothing():
    queue = leat.BatchQueue(double, 1, 1, max_rows=8, max_delay=None)
    request, gone = queue.submit(np.zeros(1)), weakref.ref(queue)
    del queue
    gc.collect()
    assert gone() is None
    with pytest.raises(leat.LeatError):
        request.result()


def test_a_queue_that_is_collected_in_its_own_function_ends(run):
    # A cycle that only the collector ends; what it frees too early, the process dies of.
    done = run("-c", "import gc, threading, weakref, numpy as np, onnxruntime_ep_leat as leat\n"
               "gc.disable()\n"
               "dropped, before = threading.Event(), threading.active_count()\n"
               "class Owner:\n    pass\n"
               "def work(arrays):\n    dropped.wait()\n    gc.collect()\n    return [arrays[0] + 1]\n"
               "def ask():\n"
               "    owner = Owner()\n    owner.self = owner\n"
               "    owner.queue = leat.BatchQueue(work, 1, 1, max_rows=1)\n"
               "    return owner.queue.submit(np.zeros(1)), weakref.ref(owner)\n"
               "for _ in range(10):\n"
               "    dropped.clear()\n    request, owner = ask()\n    dropped.set()\n"
               "    assert request.result()[0] == [1] and owner() is None\n"
               "print('ended')")
    assert done.returncode == 0 and done.stdout == "ended\n" and not done.stderr, done


def test_outputs_live_until_they_are_copied_and_no_longer():
    made = []

    def run(arrays):
        output = arrays[0] * 2
        made.append(weakref.ref(output))
        return [output]

    with leat.BatchQueue(run, 1, 1, max_rows=1, workers=4) as queue, ThreadPoolExecutor(4) as pool:
        assert all(pool.map(lambda number: queue.run(np.full((1, 1000), number))[0][0, 999] == 2 * number, range(200)))
    gc.collect()
    assert len(made) == 200 and not any(output() is not None for output in made)


def test_a_process_may_end_with_a_queue_at_work(run):
    # What was registered first runs last: the queue has ended by then.
    done = run("-c", "import atexit, time\n"
               "def ended(request):\n"
               "    try:\n        request.result(timeout=0)\n    except leat.LeatError:\n        pass\n"
               "    return 1\n"
               "atexit.register(lambda: print(sum(map(ended, requests)), 'ended'))\n"
               "import numpy as np, onnxruntime_ep_leat as leat\n"
               "def work(arrays):\n    time.sleep(0.001)\n    return arrays\n"
               "queue = leat.BatchQueue(work, 1, 1, max_rows=1, workers=2)\n"
               "requests = [queue.submit(np.zeros(1)) for _ in range(1000)]")
    assert done.returncode == 0 and done.stdout == "1000 ended\n" and not done.stderr, done


def test_a_process_may_end_while_a_coroutine_waits(run):
    done = run("-c", "import asyncio, numpy as np, onnxruntime_ep_leat as leat\n"
               "queue = leat.BatchQueue(lambda arrays: arrays, 1, 1, max_rows=8, max_delay=None)\n"
               "async def ask():\n"
               "    try:\n        await asyncio.wait_for(queue.run_async(np.zeros(1)), 0.05)\n"
               "    except asyncio.TimeoutError:\n        print('end')\n"
               "asyncio.run(ask())")
    assert done.returncode == 0 and done.stdout == "end\n" and not done.stderr, done


def test_a_session_in_batches(ort, devices, model):
    options = ort.SessionOptions()
    options.add_provider_for_devices(devices[:1], {})
    session = ort.InferenceSession(model, options)
    images = np.random.default_rng(1).random((12, 1, 8, 8), dtype=np.float32)
    want = session.run(None, {"image": images})[0]
    with leat.BatchQueue.for_session(session, max_rows=4, workers=2) as queue, ThreadPoolExecutor(6) as pool:
        got = list(pool.map(lambda i: queue.run(images[i:i + 1])[0][0], range(12)))
    assert np.abs(np.array(got) - want).max() <= 2.0**-10 * np.abs(want).max()


class Declared:
    """A session by what it declares, which gives its input back."""

    def __init__(self, inputs, outputs):
        self.inputs, self.outputs = ([SimpleNamespace(name=f"{kind}{i}", shape=shape) for i, shape in enumerate(shapes)]
                                     for kind, shapes in (("x", inputs), ("y", outputs)))

    def get_inputs(self):
        return self.inputs

    def get_outputs(self):
        return self.outputs

    def run(self, _, feeds):
        return [feeds["x0"]] * len(self.outputs)


@pytest.mark.parametrize("inputs, outputs, reason", [
    ([["time", "batch", 3]], [["time", "batch", 3]], "axis 1 of input 'x0', \\[time, batch, 3\\], is 'batch'"),
    ([["batch", 3]], [["time", "batch", 3]], "axis 1 of output 'y0', .* is 'batch'"),
    ([["batch", 3]], [["batch", "batch"]], "axis 1 of output 'y0', .* is 'batch'"),
    ([["text_batch", 3], ["image_batch"]], [["text_batch"]], "axis 0 of input 'x1', .* as 'text_batch' is elsewhere"),
    ([["time", 1, 3]], [["time", 1, 3]], "axis 0 of input 'x0', .* is not declared to be the batch; .* batch_first"),
    ([[None, 3]], [[None, 3]], "axis 0 of input 'x0', .* is not declared"),
    ([[4, 3]], [[4, 3]], "axis 0 of input 'x0', .* is not declared"),
    ([["batch", 3]], [[]], "axis 0 of output 'y0', \\[\\], is not declared"),
    ([["batch", 3], [1, 3]], [["batch", 3]], "axis 0 of input 'x1', .* has size 1; batches of up to 4"),
])
def test_a_model_whose_axis_0_may_not_be_the_batch_is_refused(inputs, outputs, reason):
    with pytest.raises(leat.LeatError, match=reason):
        leat.BatchQueue.for_session(Declared(inputs, outputs), max_rows=4)


@pytest.mark.parametrize("shape, batch_first", [
    (["batch_size", 3], False), (["Batch", "time", 3], False), ([None, 3], True), (["time", "batch", 3], True),
    ([4, 3], True), ([], True)])
def test_what_is_declared_or_said_to_be_the_batch_is_taken(shape, batch_first):
    with leat.BatchQueue.for_session(Declared([shape], [shape]), max_rows=4, batch_first=batch_first) as queue:
        assert np.array_equal(queue.run(np.ones((4, 3)))[0], np.ones((4, 3)))


def test_a_size_of_axis_0_is_refused_whatever_is_said():
    with pytest.raises(leat.LeatError, match="output 'y0', .* has size 1"):
        leat.BatchQueue.for_session(Declared([["n", 3]], [[1, 3]]), max_rows=4, batch_first=True)
