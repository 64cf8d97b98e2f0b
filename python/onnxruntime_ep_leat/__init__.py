# SPDX-License-Identifier: BSD-3-Clause
"""Leat, an execution provider of ONNX Runtime for any Vulkan GPU, made for many threads.

>>> import onnxruntime as ort
>>> import onnxruntime_ep_leat as leat
>>> options = ort.SessionOptions()
>>> leat.add_provider(options)  # on the best device; the CPU serves where there is none
>>> session = ort.InferenceSession("model.onnx", options)

The package brings no ONNX Runtime; 1.24 or newer must be there for add_provider(), register(), explain(), report() and
check(). Every function may be called from any thread, and raises LeatError with a message that says what would help.

``python -m onnxruntime_ep_leat --help`` lists what the command line has.
"""
from ._array import Array, from_dlpack
from ._backend import Device, LeatError, devices, why_no_device
from ._batch import BatchQueue, Request
from ._build import BUILD_ID as build_id
from ._build import VERSION as __version__
from ._check import Verdict, check
from ._explain import Node, explain
from ._register import EP_NAME, add_provider, get_ep_name, get_ep_names, get_library_path, register
from ._report import report

__all__ = ["Array", "BatchQueue", "EP_NAME", "Device", "LeatError", "Node", "Request", "Verdict", "__version__",
           "add_provider", "build_id", "check", "devices", "explain", "from_dlpack", "get_ep_name", "get_ep_names",
           "get_library_path", "register", "report", "why_no_device"]
