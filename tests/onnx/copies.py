#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Copy values on two streams of an application's, which ONNX Runtime gives it no means to order, and let one fail.

Runs with the null driver and LEAT_MEMORY_GUARD=1, where a read that nothing orders after a write fails. What a failed
copy is for fails with it; what comes after somebody was told goes on.

Usage: copies.py LIBRARY. Exit status: 0 right, 1 not, 77 not the null driver, or an ONNX Runtime before release 1.28.
"""
import ctypes
import inspect
import sys

import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper

import on_leat

COUNT = 1 << 18
VK_ERROR_UNKNOWN = -13


class Check:
    def __init__(self, device, driver):
        self.device, self.driver = device, driver
        self.wrong = 0

    def session(self):
        ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n"]) for name in ("x", "y")]
        graph = helper.make_graph([helper.make_node("Add", ["x", "x"], ["y"])], "graph", ends[:1], ends[1:])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        options = ort.SessionOptions()
        options.add_provider_for_devices([self.device], {})
        return ort.InferenceSession(model.SerializeToString(), options, enable_fallback=0)

    def on_device(self):
        info = self.device.memory_info(ort.OrtDeviceMemoryType.DEFAULT)
        return ort.OrtValue.ortvalue_from_shape_and_type([COUNT], np.float32, memory_info=info)

    def on_host(self, value):
        return ort.OrtValue.ortvalue_from_numpy(np.full(COUNT, value, np.float32))

    def expect(self, what, call, fails=False):
        try:
            call()
            told = None
        except Exception as error:
            told = str(error)
        if (told is not None) != fails:
            self.wrong += 1
            print(f"{what}: {told or 'it should have failed'}")

    def order(self, up, down):
        """There, within the device, and back, each on the other stream than what it reads was written on."""
        for i in range(4):
            first, second, back = self.on_device(), self.on_device(), self.on_host(0)
            self.expect("up", lambda: ort.copy_tensors([self.on_host(i)], [first], up))
            self.expect("within", lambda: ort.copy_tensors([first], [second], down))
            self.expect("down", lambda: ort.copy_tensors([second], [back], up))
            if not (back.numpy() == i).all():
                self.wrong += 1
                print(f"round {i}: other values came back")

    def failure(self, up, down):
        session, value = self.session(), self.on_device()
        run = {"x": np.ones(COUNT, np.float32)}

        def copy(stream):
            ort.copy_tensors([self.on_host(1)], [value], stream)

        self.expect("Run", lambda: session.run(None, run))
        self.expect("copy", lambda: copy(up))
        self.driver.nulldriver_fail(b"vkQueueSubmit", 1, VK_ERROR_UNKNOWN)
        self.expect("copy that is not submitted", lambda: copy(up), fails=True)
        for stream in (up, down):
            self.expect("Run after the failure", lambda: session.run(None, run))
            self.expect("copy after the failure", lambda: copy(stream))


def main():
    driver = ctypes.CDLL("libvulkan.so.1")
    if not hasattr(driver, "nulldriver_fail"):
        print("libvulkan.so.1 is not the null driver")
        return on_leat.SKIPPED
    driver.nulldriver_fail.argtypes = [ctypes.c_char_p, ctypes.c_uint64, ctypes.c_int]
    if "memory_info" not in inspect.signature(ort.OrtValue.ortvalue_from_shape_and_type).parameters:
        print(f"ONNX Runtime {ort.__version__} makes no value in the device's memory")
        return on_leat.SKIPPED
    ort.set_default_logger_severity(4)
    device = on_leat.devices(sys.argv[1])[0]
    here = Check(device, driver)
    streams = [device.create_sync_stream() for _ in range(2)]
    here.order(*streams)
    here.failure(*streams)
    print(f"{here.wrong} wrong")
    return 1 if here.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
