# SPDX-License-Identifier: BSD-3-Clause
"""Usage: python -m onnxruntime_ep_leat [--check | --devices | --explain MODEL | --report MODEL -o FILE | --version]

Exit status: 0 right, or a device is usable; 1 not; 2 it cannot be told (ONNX Runtime is missing or too old, a bad
option or setting).
"""
from __future__ import annotations

import argparse
import re
import sys

from . import __version__, build_id
from ._backend import LeatError, devices, why_no_device
from ._check import check
from ._explain import explain, lacking
from ._register import EP_NAME, onnxruntime
from ._report import report


def _check() -> int:
    onnxruntime()
    reason = why_no_device()
    if reason:
        print("there is no usable device: " + reason)
        return 1
    verdict = check()
    print(verdict.text)
    return 0 if verdict.right else 1


def _devices() -> int:
    found = devices()
    for device in found:
        print(f"Device {device.index}: {device.name}" if device.usable else f"Unusable device: {device.name}")
        if device.reason:
            print(f"  reason    {device.reason}")
        print(f"  driver    {device.driver}")
        print(f"  memory    {device.memory_size / 2**30:.1f} GiB")
        print(f"  software  {'yes' if device.software else 'no'}")
        print(f"  uuid      {device.uuid}")
    if not any(device.usable for device in found):
        print("there is no usable device: " + why_no_device())
        return 1
    return 0


def _explain(model: str) -> int:
    nodes = explain(model)
    for node in nodes:
        if node.provider != EP_NAME:
            kind = f"{node.domain}.{node.op_type}" if node.domain else node.op_type
            print(f"{kind} '{node.name}' runs on {node.provider}: {node.reason or 'no reason is known'}")
    print(f"{sum(node.provider == EP_NAME for node in nodes)} of {len(nodes)} nodes run on Leat")
    more = lacking(nodes)
    if more:
        print(more)
    return 0


def _report(given: argparse.Namespace) -> int:
    dims = {}
    for text in given.dim:
        name, _, size = text.partition("=")
        # isdigit() takes what int() does not, such as a superscript two, and int() does not take thousands of digits.
        if not name or not re.fullmatch("[0-9]{1,18}", size):
            raise LeatError(f"--dim {text}: give a name and a size, such as batch=4")
        dims[name] = int(size)
    try:
        report(given.report, given.output, seconds=given.seconds, dims=dims,
               progress=lambda text: print(text, file=sys.stderr))
    except OSError as cause:
        raise LeatError(f"{given.output} cannot be written: {cause}") from cause
    return 0


def main() -> int:
    """Does what the command line says."""
    parser = argparse.ArgumentParser(
        prog="python -m onnxruntime_ep_leat",
        description="Leat, an execution provider of ONNX Runtime for Vulkan GPUs.",
        epilog="Exit status: 0 right, or a device is usable; 1 not; 2 it cannot be told (ONNX Runtime is missing or "
               "too old, a bad option or setting).")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--check", action="store_true",
                      help="run a small model on the device and compare it with the CPU")
    what.add_argument("--devices", action="store_true", help="list devices, and why others are not usable")
    what.add_argument("--explain", metavar="MODEL", help="say which nodes of a model do not run on Leat, and why")
    what.add_argument("--report", metavar="MODEL",
                      help="measure a model from 1, 2, 4 and 8 threads and write a page of HTML on it")
    what.add_argument("--version", action="version", version=f"onnxruntime-ep-leat {__version__}, build {build_id}")
    parser.add_argument("-o", "--output", metavar="FILE", default="report.html",
                        help="where --report writes (report.html)")
    parser.add_argument("--seconds", metavar="N", type=float, default=1.0, help="of each point of --report (1)")
    parser.add_argument("--dim", metavar="NAME=N", action="append", default=[],
                        help="for --report: the size of a dimension that the model names; else 1")
    given = parser.parse_args()
    try:
        if given.check:
            return _check()
        if given.report is not None:
            return _report(given)
        return _devices() if given.devices else _explain(given.explain)
    except LeatError as error:
        print(f"onnxruntime_ep_leat: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
