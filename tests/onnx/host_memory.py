#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Have outputs of Runs written to HOST_ACCESSIBLE memory, by every way that Python has, and keep them.

Bound by a place, an output is made there by ONNX Runtime, and may be kept when its session is gone (release 1.24
crashes then, with any provider's memory). From release 1.28 on a value can be made there, whose array is the same
memory: it may be used when session, value and library are gone. Outputs of Runs that ask for nothing are in memory of
ONNX Runtime's own. Bodies of If are tried likewise.

Usage: host_memory.py LIBRARY [--oldest]
With --oldest, ONNX Runtime is the one in the folder of packages that LEAT_TEST_OLDEST names. Exit status: 0 right,
1 not, 77 no Vulkan device, or no folder for --oldest.
"""
import gc
import inspect
import sys

import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.capi import _pybind_state as state

import on_leat

ROWS, WIDTH = 48, 700


def tensor(name, shape, kind=None):
    return helper.make_tensor_value_info(name, kind or TensorProto.FLOAT, shape)


def session(device, nodes, inputs, outputs, weights):
    graph = helper.make_graph(nodes, "graph", inputs, outputs, [numpy_helper.from_array(weights, "weights")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    options = ort.SessionOptions()
    options.add_provider_for_devices([device], {})
    return ort.InferenceSession(model.SerializeToString(), options, enable_fallback=0)


def layers(activation, name=""):
    return [helper.make_node("MatMul", ["x", "weights"], [name + "sum"]),
            helper.make_node(activation, [name + "sum"], [name + "y"])]


def branches(device, weights):
    """y = Tanh(x weights) if c, else Sigmoid(x weights)."""
    bodies = [helper.make_graph(layers(activation, name), name, [], [tensor(name + "y", [ROWS, WIDTH])])
              for activation, name in (("Tanh", "then_"), ("Sigmoid", "else_"))]
    node = helper.make_node("If", ["c"], ["y"], then_branch=bodies[0], else_branch=bodies[1])
    inputs = [tensor("x", [ROWS, WIDTH]), tensor("c", [], TensorProto.BOOL)]
    return session(device, [node], inputs, [tensor("y", [ROWS, WIDTH])], weights)


def main():
    on_leat.choose_runtime()
    ort.set_default_logger_severity(3)
    device = on_leat.devices(sys.argv[1])[0]
    info = device.memory_info(ort.OrtDeviceMemoryType.HOST_ACCESSIBLE)
    place = state.OrtDevice(1, 5, info.device_vendor_id, info.device_id)  # a GPU's, HOST_ACCESSIBLE
    random = np.random.default_rng(1)
    weights = (random.standard_normal((WIDTH, WIDTH)) / WIDTH**0.5).astype(np.float32)
    one = session(device, layers("Tanh"), [tensor("x", [ROWS, WIDTH])], [tensor("y", [ROWS, WIDTH])],
                  weights)
    two = branches(device, weights)
    makes = "memory_info" in inspect.signature(ort.OrtValue.ortvalue_from_shape_and_type).parameters

    def run(of, x, bind, **more):
        binding = of.io_binding()
        binding.bind_cpu_input("x", x)
        for name, value in more.items():
            binding.bind_cpu_input(name, value)
        bind(binding)
        of.run_with_iobinding(binding)
        return binding.get_outputs()[0]

    def right(array, expected):
        np.testing.assert_allclose(array, expected, rtol=1e-3, atol=1e-4)

    kept, made = [], []
    for _ in range(3):
        x = random.standard_normal((ROWS, WIDTH)).astype(np.float32)
        tanh, sigmoid = np.tanh(x @ weights), 1 / (1 + np.exp(-(x @ weights)))
        plain = one.run_with_ort_values(None, {"x": ort.OrtValue.ortvalue_from_numpy(x)})[0]
        assert plain.device_name() == "cpu", plain.device_name()
        right(plain.numpy(), tanh)
        ways = [lambda binding: binding._iobinding.bind_output("y", place)]
        if makes:
            value = ort.OrtValue.ortvalue_from_shape_and_type([ROWS, WIDTH], np.float32, memory_info=info)
            array = value.numpy()
            assert array.__array_interface__["data"][0] == value.data_ptr()
            ways.append(lambda binding: binding.bind_ortvalue_output("y", value))
        for way in ways:
            right(run(two, x, way, c=np.array(True)).numpy(), tanh)
            right(run(two, x, way, c=np.array(False)).numpy(), sigmoid)
            output = run(one, x, way)
            assert output.device_name() != "cpu"
            right(output.numpy(), tanh)
        if not ort.__version__.startswith("1.24."):
            made.append((output, tanh))
        if makes:
            right(array, tanh)
            # As an input, and copied from and to.
            right(one.run_with_ort_values(None, {"x": value})[0].numpy(), np.tanh(tanh @ weights))
            other = ort.OrtValue.ortvalue_from_numpy(np.zeros((ROWS, WIDTH), np.float32))
            ort.copy_tensors([value], [other], None)
            right(other.numpy(), tanh)
            kept.append((array, tanh))
        else:
            kept.append((output.numpy(), tanh))
    del one, two, plain, output, run, ways, way
    if makes:
        del value, other
    gc.collect()
    for output, expected in made:
        right(output.numpy(), expected)
    made.clear()
    for array, expected in kept:
        right(array, expected)
    ort.unregister_execution_provider_library("leat")
    for array, expected in kept:
        right(array, expected)
    print(f"{ort.__version__}: {len(kept)} outputs {'are where they were made' if makes else 'were copied'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
