# SPDX-License-Identifier: BSD-3-Clause
"""Whether models run here as they should."""
from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from ._backend import LeatError, library_path, why_no_device
from ._explain import RECORD, assignment
from ._register import EP_NAME, onnxruntime, register

_THREADS = 4
_RUNS = 8
# Ten bits for what sums of float32 lose in another order; leat-run --help derives it.
_TOLERANCE = 2.0**-10


@dataclass(frozen=True)
class Verdict:
    """What check() found.

    right: whether all is as it should be.
    text: one line for people.
    device: name of the device.
    software: whether the device runs on the CPU.
    runs: runs that were compared.
    worst: largest difference between an output of the device and of the CPU, relative to that output's largest value.
    nodes_on_device, nodes: nodes of the model that ran on the device, and all.
    """

    right: bool
    text: str
    device: str
    software: bool
    runs: int
    worst: float
    nodes_on_device: int
    nodes: int


def check(device: int = 0) -> Verdict:
    """Runs a small convolutional network on a device, from four threads on one session, and compares what comes out
    with ONNX Runtime's CPU provider.

    device: number of the device in what register() gives; 0 is the best.

    Returns what was found; a wrong output is no exception.

    Raises LeatError: as register(); there is no such device; the device fails.
    """
    ort = onnxruntime()
    import numpy as np
    found = register()
    if not found:
        raise LeatError("there is no usable device: " + why_no_device())
    if not 0 <= device < len(found):
        raise LeatError(f"there is no device {device}; there are {len(found)}, counted from 0")
    chosen = found[device]
    model = library_path("digits.onnx")
    options = ort.SessionOptions()
    options.add_session_config_entry(RECORD, "1")
    options.add_provider_for_devices([chosen], {})
    random = np.random.default_rng(0)
    images = [random.random((1 + i % 3, 1, 8, 8), dtype=np.float32) for i in range(_RUNS)]
    try:
        session = ort.InferenceSession(model, options, enable_fallback=0)
        cpu = ort.InferenceSession(model, providers=["CPUExecutionProvider"])
        with ThreadPoolExecutor(_THREADS) as pool:
            got = list(pool.map(lambda image: session.run(None, {"image": image})[0], images))
        want = [cpu.run(None, {"image": image})[0] for image in images]
        providers = [provider for *_, provider in assignment(session)]
    except Exception as cause:
        raise LeatError(f"the model does not run: {cause}") from cause
    worst = max(_difference(np, *pair) for pair in zip(got, want))
    facts = chosen.ep_metadata
    name, software = facts.get("leat_device_name", "unknown"), facts.get("leat_software") == "1"
    there = providers.count(EP_NAME)
    right = worst <= _TOLERANCE and there == len(providers)
    text = (f"{'right' if right else 'WRONG'}: {len(got)} runs from {_THREADS} threads on {name}"
            f"{' (a software device, slow)' if software else ''}, ONNX Runtime {ort.__version__}; "
            f"largest difference from the CPU {worst:.1e} of {_TOLERANCE:.1e} allowed, "
            f"{there} of {len(providers)} nodes on the device")
    return Verdict(right, text, name, software, len(got), worst, there, len(providers))


def _difference(np: Any, got: Any, want: Any) -> float:
    """Largest difference of two arrays of one shape, relative to the largest value; infinite where a NaN is."""
    if got.shape != want.shape or not np.isfinite(got).all():
        return float("inf")
    return float(np.abs(got - want).max() / np.abs(want).max())
