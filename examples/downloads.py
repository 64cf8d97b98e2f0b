# SPDX-License-Identifier: BSD-3-Clause
"""Outputs where the device writes them itself. Usage: python3 examples/downloads.py build/libleat_onnxruntime.so"""
import os
import sys

import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

ROWS, WIDTH = 64, 4096
random = np.random.default_rng(0)
weights = (random.standard_normal((64, WIDTH)) / 8).astype(np.float32)
tensors = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [ROWS, 64]),
           helper.make_tensor_value_info("y", TensorProto.FLOAT, [ROWS, WIDTH])]
graph = helper.make_graph([helper.make_node("MatMul", ["x", "weights"], ["y"])], "layer", tensors[:1], tensors[1:],
                          [numpy_helper.from_array(weights, "weights")])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()

ort.register_execution_provider_library("leat", os.path.abspath(sys.argv[1]))
devices = [d for d in ort.get_ep_devices() if d.ep_name == "LeatExecutionProvider"]
if not devices:
    sys.exit("no Vulkan device; leat-info says why")
options = ort.SessionOptions()
options.add_provider_for_devices(devices[:1], {})
session = ort.InferenceSession(model, options)

# Memory of the host that the device writes to: no thread copies a result there.
memory = devices[0].memory_info(ort.OrtDeviceMemoryType.HOST_ACCESSIBLE)
result = ort.OrtValue.ortvalue_from_shape_and_type([ROWS, WIDTH], np.float32, memory_info=memory)
array = result.numpy()  # the same memory, not a copy of it

for _ in range(3):
    x = random.standard_normal((ROWS, 64)).astype(np.float32)
    binding = session.io_binding()
    binding.bind_cpu_input("x", x)
    binding.bind_ortvalue_output("y", result)
    session.run_with_iobinding(binding)
    np.testing.assert_allclose(array, x @ weights, rtol=1e-3, atol=1e-4)
print("3 results are right")
