# SPDX-License-Identifier: BSD-3-Clause
"""Two sessions and a state that stays on the device. Usage: python3 examples/decode.py build/libleat_onnxruntime.so"""
import os
import sys

import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

WIDTH = 64
STEPS = 32
random = np.random.default_rng(0)
weights = (random.standard_normal((WIDTH, WIDTH)) / WIDTH**0.5).astype(np.float32)


def model(activation):
    """A layer: to = activation(from x weights)."""
    tensors = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, WIDTH]) for name in ("from", "to")]
    nodes = [helper.make_node("MatMul", ["from", "weights"], ["sum"]), helper.make_node(activation, ["sum"], ["to"])]
    graph = helper.make_graph(nodes, "layer", tensors[:1], tensors[1:], [numpy_helper.from_array(weights, "weights")])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return made.SerializeToString()


ort.register_execution_provider_library("leat", os.path.abspath(sys.argv[1]))
devices = [d for d in ort.get_ep_devices() if d.ep_name == "LeatExecutionProvider"]
if not devices:
    sys.exit("no Vulkan device; leat-info says why")
options = ort.SessionOptions()
options.add_provider_for_devices(devices[:1], {})
encoder = ort.InferenceSession(model("Sigmoid"), options)
decoder = ort.InferenceSession(model("Tanh"), options)

# ONNX Runtime finds the allocator by these three.
memory = devices[0].memory_info(ort.OrtDeviceMemoryType.DEFAULT)
place = {"device_type": "gpu", "device_id": memory.device_id, "vendor_id": memory.device_vendor_id}
prompt = random.standard_normal((1, WIDTH)).astype(np.float32)
first = ort.OrtValue.ortvalue_from_numpy(prompt, **place)  # the only copy to the device
states = [ort.OrtValue.ortvalue_from_shape_and_type([1, WIDTH], np.float32, **place) for _ in range(2)]


def bind(session, source, target):
    binding = session.io_binding()
    binding.bind_ortvalue_input("from", source)
    binding.bind_ortvalue_output("to", target)
    return binding


encoder.run_with_iobinding(bind(encoder, first, states[0]))
# A step reads one state and writes the other; no Run may write what it reads.
bindings = [bind(decoder, states[i], states[1 - i]) for i in range(2)]
for step in range(STEPS):
    decoder.run_with_iobinding(bindings[step % 2])

result = ort.OrtValue.ortvalue_from_numpy(np.empty((1, WIDTH), np.float32))
ort.copy_tensors([states[STEPS % 2]], [result], None)  # the only copy to the host

expected = 1 / (1 + np.exp(-(prompt @ weights)))
for _ in range(STEPS):
    expected = np.tanh(expected @ weights)
np.testing.assert_allclose(result.numpy(), expected, rtol=1e-3, atol=1e-4)
print(f"{STEPS} steps on the device are right")
