# SPDX-License-Identifier: BSD-3-Clause
"""A report on how a model runs: from more and more threads, node by node."""
from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from typing import Any, Callable, Mapping, Sequence

from . import _page
from ._array import memory_stats
from ._backend import LeatError, why_no_device
from ._build import BUILD_ID, VERSION
from ._explain import explain
from ._register import EP_NAME, onnxruntime, register

_TYPES = {"float": "float32", "double": "float64"}
_PROFILED_RUNS = 10


def _inputs(session: Any, dims: Mapping[str, int]) -> dict[str, Any]:
    """An array for each input: floats between 0 and 1, and ones, which are indices and masks too."""
    import numpy as np
    random = np.random.default_rng(0)
    named = dict.fromkeys(dim for put in session.get_inputs() for dim in put.shape if isinstance(dim, str))
    unknown = [name for name in dims if name not in named]
    if unknown:
        raise LeatError(f"no input has a dimension '{unknown[0]}'; those with a name: {', '.join(named) or 'none'}")
    made = {}
    for put in session.get_inputs():
        # A dimension without a name and size is None.
        shape = [dims.get(dim, 1) if isinstance(dim, str) else 1 if dim is None else dim for dim in put.shape]
        kind = put.type.removeprefix("tensor(").removesuffix(")")
        try:
            dtype = np.dtype(_TYPES.get(kind, kind))
        except TypeError as cause:
            raise LeatError(f"input '{put.name}' is a {put.type}, for which no values can be made up") from cause
        made[put.name] = (random.random(shape) if dtype.kind == "f" else np.ones(shape)).astype(dtype)
    return made


class _Measurement:
    """Runs of a session from some threads at once."""

    def __init__(self, session: Any, inputs: Mapping[str, Any], threads: int, seconds: float) -> None:
        self._failure: BaseException | None = None
        latencies: list[list[float]] = [[] for _ in range(threads)]
        # The first runs wait for what is compiled and for clocks that rise; one of each thread counts at any rate.
        begin, end = time.perf_counter() + 0.1 * seconds, time.perf_counter() + 1.1 * seconds

        def work(own: list[float]) -> None:
            try:
                last = time.perf_counter()
                while last < end or not own:
                    session.run(None, inputs)
                    now = time.perf_counter()
                    if last >= begin:
                        own.append(now - last)
                    last = now
            except BaseException as cause:
                self._failure = cause
        workers = [threading.Thread(target=work, args=(own,)) for own in latencies]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        if self._failure:
            raise self._failure
        every = sorted(latency for own in latencies for latency in own)
        p50, p99 = (every[int(share * (len(every) - 1))] for share in (0.5, 0.99))
        self.point = {"threads": threads, "runs_per_second": len(every) / (time.perf_counter() - begin),
                      "p50_seconds": p50, "p99_seconds": p99}


def _session(ort: Any, model: str, device: Any) -> Any:
    options = ort.SessionOptions()
    if device is None:
        return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    options.add_provider_for_devices([device], {})
    return ort.InferenceSession(model, options, enable_fallback=0)


def _device_times(model: str, dims: Mapping[str, int]) -> list[tuple[str, str, float]]:
    """Device time a run in microseconds, by operator and node of what was launched: of a process of its own, because a
    profile changes what else is measured."""
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "trace.json")
        env = dict(os.environ, LEAT_PROFILE=trace,
                   PYTHONPATH=os.pathsep.join(entry or os.getcwd() for entry in sys.path))
        done = subprocess.run([sys.executable, "-m", __name__, model, json.dumps(dict(dims))], env=env, check=False,
                              stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, errors="replace")
        if done.returncode:
            last = [line for line in done.stderr.splitlines() if line.strip()][-1:] or ["it said nothing"]
            raise LeatError(f"{model} cannot be profiled: {last[0]}")
        with open(trace, encoding="utf-8") as file:
            events = json.load(file)
    events = events["traceEvents"] if isinstance(events, dict) else events
    first = float(done.stdout)
    spent: Counter[tuple[str, str]] = Counter()
    for event in events:
        if event.get("cat") in ("kernel", "copy") and event["ts"] >= first:
            spent[event["name"], event["args"].get("node name", "")] += event["dur"]
    return [(op, node, spent[op, node] / _PROFILED_RUNS) for op, node in sorted(spent, key=lambda key: -spent[key])]


def _nodes(model: str) -> dict[str, Any]:
    nodes = explain(model)
    return {"name": os.path.basename(model), "count": len(nodes),
            "on_leat": sum(node.provider == EP_NAME for node in nodes),
            "elsewhere": [(node.op_type, node.name, node.provider, node.reason)
                          for node in nodes if node.provider != EP_NAME]}


def report(model: str | os.PathLike[str], file: str | os.PathLike[str], *, threads: Sequence[int] = (1, 2, 4, 8),
           seconds: float = 1.0, dims: Mapping[str, int] | None = None,
           progress: Callable[[str], None] = lambda text: None) -> None:
    """Measures a model on the best device and on ONNX Runtime's CPU provider, and writes a page of HTML: throughput and
    latency from more and more threads on one session, which nodes run where and why, device time by node, memory. The
    page needs no network. Inputs are made up, so that what depends on their values (indices, masks) may differ from
    work.

    model: path of an ONNX file.
    file: where the page goes; what is there is replaced.
    threads: how many threads, for each point of the charts.
    seconds: of each point.
    dims: sizes of named dimensions of the model's inputs, such as {"batch": 4}; the others are 1.
    progress: is told what is done next.

    Raises LeatError: as register(); there is no device; an argument makes no sense; the model cannot be loaded or run;
    an input has a type for which nothing can be made up. OSError: the file cannot be written.
    """
    model = os.fspath(model)
    if not threads or min(threads) < 1 or not 0 < seconds < float("inf") or min((dims or {"": 1}).values()) < 0:
        raise LeatError("a report needs one thread or more, some seconds, and sizes that are not negative")
    folder = os.path.dirname(os.path.abspath(file))
    if (not os.path.basename(file) or os.path.isdir(file)
            or not os.access(file if os.path.exists(file) else folder, os.W_OK)):
        raise OSError(f"{os.fspath(file)} is no file that can be written")  # Told before anything is measured.
    ort = onnxruntime()
    found = register()
    if not found:
        raise LeatError("there is no usable device: " + why_no_device())
    name = found[0].ep_metadata.get("leat_device_name", "unknown")
    lines: list[dict[str, Any]] = []
    try:
        for label, device in (("Leat", found[0]), ("CPU provider", None)):
            progress(f"loading the model ({label})")
            session = _session(ort, model, device)
            inputs = _inputs(session, dims or {})
            lines.append({"name": label, "points": []})
            for count in threads:
                progress(f"running it from {count} thread{'s' if count > 1 else ''} ({label})")
                lines[-1]["points"].append(_Measurement(session, inputs, count, seconds).point)
            if device is not None:
                stats = memory_stats(int(device.ep_metadata.get("leat_device_index", "0")))
            del session
    except LeatError:
        raise
    except Exception as cause:
        raise LeatError(f"{model} does not run: {cause}") from cause
    progress("asking which nodes run where")
    nodes = _nodes(model)
    progress("profiling the device")
    times = _device_times(model, dims or {})
    text = _page.page({
        "title": f"{os.path.basename(model)} on {name}",
        "facts": [("Leat", f"{VERSION} ({BUILD_ID})"), ("ONNX Runtime", ort.__version__),
                  ("device", f"{name}, driver {found[0].ep_metadata.get('leat_driver', 'unknown')}"),
                  ("date", time.strftime("%Y-%m-%d")), ("work", f"one session for all threads, {seconds:g} s a point"),
                  *((f"dimension {dim}", str(size)) for dim, size in (dims or {}).items())],
        "lines": lines, "nodes": [nodes],
        "device_time": {"note": "from one thread, with a profile", "steps": times},
        "memory": {"note": "Of this process, after the runs",
                   "rows": [("taken from the driver", stats.reserved_bytes, stats.reserved_peak),
                            ("in use", stats.allocated_bytes, stats.allocated_peak),
                            ("for copies and arguments", stats.staging_bytes, None),
                            ("of the host, for downloads", stats.host_reserved_bytes, None)]}})
    with open(file, "w", encoding="utf-8") as out:
        out.write(text)


def _main(model: str, dims: str) -> int:
    """Runs a model under a profile, and prints when the runs that count begin, in microseconds of the trace's clock."""
    try:
        session = _session(onnxruntime(), model, register()[0])
        inputs = _inputs(session, json.loads(dims))
        session.run(None, inputs)
        print(time.clock_gettime(time.CLOCK_MONOTONIC) * 1e6)
        for _ in range(_PROFILED_RUNS):
            session.run(None, inputs)
    except Exception as cause:
        print(" ".join(str(cause).split()), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(_main(*sys.argv[1:]))
