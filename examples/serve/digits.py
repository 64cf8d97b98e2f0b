# SPDX-License-Identifier: BSD-3-Clause
"""What the servers and their load have in common: the model, and what a request and an answer look like.

A request is {"image": [[...8 numbers...], ...8 rows...]}, each number from 0 (white) to 1 (black); its answer is
{"digit": 0 to 9, "scores": [...10 numbers, the highest that of the digit...]}.
"""
import asyncio
import json
import os

import numpy as np
import onnxruntime as ort
import starlette.requests

DEMO = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "demo")
MODEL = os.path.join(DEMO, "digits.onnx")
SIDE = 8
# Several times what a request needs.
BODY_MAX = 16384


class BadRequest(Exception):
    """A request that cannot be understood; the text says why, for the answer with a status of HTTP."""

    def __init__(self, text, status=400):
        super().__init__(text)
        self.status = status


class NoDevice(Exception):
    """There is no device, or not the one that is wanted; the text says which there are."""


def pick_device(devices, wanted):
    """The first of ONNX Runtime's devices whose index or UUID is `wanted`, or whose name has it as a part; without a
    wish the first, which is the best. Raises NoDevice."""
    there = []
    for device in devices:
        index, uuid, name = (device.ep_metadata["leat_device_" + fact] for fact in ("index", "uuid", "name"))
        # A number is no part of a name: "1" would be found in most of them.
        named = wanted and not wanted.isdecimal() and wanted.lower() in name.lower()
        if not wanted or wanted == index or wanted.lower() == uuid.lower() or named:
            return device
        there.append(f"{index} ({name}, {uuid})")
    raise NoDevice(f"no device is '{wanted}'; there are: {', '.join(there)}")


def open_session(wanted=None):
    """The model on the best device, or on the one that is wanted, see pick_device(). Raises NoDevice."""
    import onnxruntime_ep_leat as leat  # What makes the load and what only checks answers has no need of it.
    devices = leat.register()
    if not devices:
        raise NoDevice(f"no usable Vulkan device: {leat.why_no_device()}")
    options = ort.SessionOptions()
    # The provider runs on the device that it is given: of several it would take one, with a warning.
    options.add_provider_for_devices([pick_device(devices, wanted)], {})
    # A server that is meant for a GPU shall not run on the CPU unnoticed.
    return ort.InferenceSession(MODEL, options, enable_fallback=0)


def _refuse_constant(name):
    raise BadRequest(f"the body is no JSON: {name} is no number there")


def image_of(body):
    """The image of a request's body, as one row of the model's input. Raises BadRequest."""
    try:
        request = json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"the body is no JSON: {error}") from None
    if not isinstance(request, dict) or set(request) != {"image"}:
        raise BadRequest('the body must be an object with "image" and nothing else')
    rows = request["image"]
    if not isinstance(rows, list) or len(rows) != SIDE or any(
            not isinstance(row, list) or len(row) != SIDE for row in rows):
        raise BadRequest(f'"image" must be {SIDE} lists of {SIDE} numbers each')
    for row in rows:
        for value in row:
            # A bool is an int in Python.
            if type(value) not in (int, float) or not 0 <= value <= 1:
                raise BadRequest('"image" must have numbers from 0 to 1 alone')
    return np.array(rows, np.float32).reshape(1, 1, SIDE, SIDE)


async def image_of_request(request, deadline):
    """image_of() for the body of a request that comes by HTTP within so many seconds."""
    body = b""
    try:
        async with asyncio.timeout(deadline):
            async for part in request.stream():
                body += part
                if len(body) > BODY_MAX:
                    raise BadRequest(f"a body has {BODY_MAX} bytes at most", 413)
    except TimeoutError:
        raise BadRequest(f"the body did not come within {deadline:g} s", 408) from None
    except starlette.requests.ClientDisconnect:
        raise BadRequest("the client went away") from None  # Nobody reads it.
    return image_of(body)


def answer_of(scores):
    """The answer for one row of the model's output."""
    return {"digit": int(scores.argmax()), "scores": scores.tolist()}


def heldout():
    """Images that the model was not trained on, as rows of its input, and the scores that the CPU provider gives."""
    with np.load(os.path.join(DEMO, "digits_heldout.npz")) as file:
        images = file["image"].astype(np.float32).reshape(-1, 1, SIDE, SIDE) / 16
    session = ort.InferenceSession(MODEL, providers=["CPUExecutionProvider"])
    return images, session.run(None, {"image": images})[0]
